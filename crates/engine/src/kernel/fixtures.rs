//! What the tests of kernels and of what is built on them share.

use proptest::prelude::*;

use super::Profile;

/// Every profile, the rational quadratic with many shapes.
pub(crate) fn profiles() -> impl Strategy<Value = Profile> {
    prop_oneof![
        Just(Profile::SquaredExponential),
        (0.1..20.0_f64).prop_map(|alpha| Profile::RationalQuadratic { alpha }),
        Just(Profile::Matern32),
        Just(Profile::Matern52),
    ]
}
