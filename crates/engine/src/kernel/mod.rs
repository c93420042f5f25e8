//! Positive-definite kernels k(x, x') = s · ((1 - a) φ(r²) + a ψ(x, x')), with r² = Σₖ ((xₖ - x'ₖ) / ℓₖ)².
//!
//! s is the output scale, ℓ the length scales (one a coordinate: automatic relevance determination) and φ a
//! profile with φ(0) = 1, one file each. Written in r², every profile has a finite slope at r = 0, so that
//! gradients need no special case there. a, which is 0 unless asked for, is the share of a sum over coordinates
//! (additive.rs).
//!
//! Cost: O(d) an evaluation.

mod additive;
mod columns;
mod decay;
#[cfg(test)]
pub(crate) mod fixtures;
mod matern;
mod rational_quadratic;
mod squared_exponential;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::points::squared_distance;

pub(crate) use columns::Columns;

/// The profile φ of a kernel.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// φ(r²) = exp(-r² / 2).
    SquaredExponential,
    /// φ(r²) = (1 + r² / 2α)^-α.
    RationalQuadratic {
        /// The shape α: the smaller, the heavier the tails; α → ∞ gives the squared exponential.
        alpha: f64,
    },
    /// φ(r²) = (1 + √3 r) exp(-√3 r).
    Matern32,
    /// φ(r²) = (1 + √5 r + 5r²/3) exp(-√5 r).
    Matern52,
}

impl Profile {
    /// φ at a squared scaled distance.
    #[inline]
    pub fn value(self, squared: f64) -> f64 {
        match self {
            Self::SquaredExponential => squared_exponential::value(squared),
            Self::RationalQuadratic { alpha } => rational_quadratic::value(squared, alpha),
            Self::Matern32 => matern::value_32(squared),
            Self::Matern52 => matern::value_52(squared),
        }
    }

    /// φ and dφ/d(r²) at a squared scaled distance.
    #[inline]
    pub fn value_and_slope(self, squared: f64) -> (f64, f64) {
        match self {
            Self::SquaredExponential => squared_exponential::value_and_slope(squared),
            Self::RationalQuadratic { alpha } => {
                rational_quadratic::value_and_slope(squared, alpha)
            }
            Self::Matern32 => matern::value_and_slope_32(squared),
            Self::Matern52 => matern::value_and_slope_52(squared),
        }
    }

    /// φ with its derivatives in r² and in α.
    #[inline]
    pub(crate) fn slopes(self, squared: f64) -> ProfileSlopes {
        let (value, in_squared, in_alpha) = match self {
            Self::RationalQuadratic { alpha } => {
                rational_quadratic::value_and_slopes(squared, alpha)
            }
            other => {
                let (value, slope) = other.value_and_slope(squared);
                (value, slope, 0.0)
            }
        };
        ProfileSlopes { value, in_squared, in_alpha }
    }
}

/// A profile and its derivatives at one squared scaled distance: what the marginal likelihood needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ProfileSlopes {
    /// φ, the profile itself.
    pub value: f64,
    /// dφ/d(r²).
    pub in_squared: f64,
    /// dφ/dα of the rational quadratic; 0 for the other profiles.
    pub in_alpha: f64,
}

/// A stationary kernel k(x, x') = s φ(r²) with its hyper-parameters: the function space in which classifiers and models are sought.
///
/// Its profile φ is `Profile::SquaredExponential`, `Profile::Matern52`, `Profile::Matern32` (from smooth to rough) or
/// `Profile::RationalQuadratic { alpha }`, a mixture of length scales.
///
/// ```
/// use wimble::kernel::{Kernel, Profile};
///
/// let kernel = Kernel::new(Profile::SquaredExponential, vec![0.2, 0.5], 1.0)?;
/// let r_squared = (0.1_f64 / 0.2).powi(2) + (0.3_f64 / 0.5).powi(2);
/// assert!((kernel.value(&[0.1, 0.2], &[0.2, 0.5]) - (-0.5 * r_squared).exp()).abs() < 1e-12);
/// # Ok::<(), wimble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kernel {
    profile: Profile,
    #[serde(alias = "length_scales")]
    length_scales: Vec<f64>,
    #[serde(alias = "output_scale")]
    output_scale: f64,
    /// a, the share of the kernel that is a sum over coordinates, from 0 (none) to 1.
    #[serde(default, skip_serializing_if = "is_zero")]
    additive: f64,
}

fn is_zero(share: &f64) -> bool {
    *share == 0.0
}

impl Kernel {
    /// A kernel over points with as many coordinates as there are length scales.
    pub fn new(profile: Profile, length_scales: Vec<f64>, output_scale: f64) -> Result<Self> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if length_scales.is_empty() {
            return Err(Error::invalid("length scales", "[]", "one for each coordinate"));
        }
        for (k, &scale) in length_scales.iter().enumerate() {
            if !positive(scale) {
                return Err(Error::invalid(
                    format!("length scale {k}"),
                    scale,
                    "positive and finite",
                ));
            }
        }
        if !positive(output_scale) {
            return Err(Error::invalid("output scale", output_scale, "positive and finite"));
        }
        if let Profile::RationalQuadratic { alpha } = profile
            && !positive(alpha)
        {
            return Err(Error::invalid("rational quadratic alpha", alpha, "positive and finite"));
        }
        Ok(Self { profile, length_scales, output_scale, additive: 0.0 })
    }

    /// The same length scale in each of `dim` coordinates.
    pub fn isotropic(
        profile: Profile,
        dim: usize,
        length_scale: f64,
        output_scale: f64,
    ) -> Result<Self> {
        Self::new(profile, vec![length_scale; dim], output_scale)
    }

    /// The kernel with a share, from 0 to 1, for the sum over coordinates.
    pub fn with_additive(self, share: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&share) {
            return Err(Error::invalid("additive share", share, "from 0 to 1"));
        }
        Ok(Self { additive: share, ..self })
    }

    /// Coordinates of a point.
    pub fn dim(&self) -> usize {
        self.length_scales.len()
    }

    /// The profile φ.
    pub fn profile(&self) -> Profile {
        self.profile
    }

    /// ℓ, one length scale a coordinate, in sides of the unit cube. Along a longer one the function varies more slowly.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// s = k(x, x).
    pub fn output_scale(&self) -> f64 {
        self.output_scale
    }

    /// a: the share of the sum over coordinates.
    pub fn additive(&self) -> f64 {
        self.additive
    }

    /// A point in units of the length scales.
    pub fn scale(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.dim(), "a point must have one coordinate a length scale");
        x.iter().zip(&self.length_scales).map(|(x, scale)| x / scale).collect()
    }

    /// k(a, b).
    pub fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        self.scaled_value(&self.scale(a), &self.scale(b))
    }

    /// k(a, b); ∇ₐ k(a, b), multiplied by `weight`, is added to `gradient`.
    pub fn value_adding_gradient(
        &self,
        a: &[f64],
        b: &[f64],
        weight: f64,
        gradient: &mut [f64],
    ) -> f64 {
        let (a, b) = (self.scale(a), self.scale(b));
        let (value, slope) = self.scaled_value_and_slope(&a, &b);
        let mut scaled = vec![0.0; self.dim()];
        self.add_gradient(&a, &b, slope, weight, &mut scaled);
        for ((g, scaled), scale) in gradient.iter_mut().zip(&scaled).zip(&self.length_scales) {
            *g += scaled / scale;
        }
        value
    }

    /// k between points in units of the length scales.
    #[inline]
    pub fn scaled_value(&self, a: &[f64], b: &[f64]) -> f64 {
        let whole = self.profile.value(squared_distance(a, b));
        self.output_scale * self.with_sum(whole, a, b)
    }

    /// k between points in units of the length scales, and twice its slope in r² (the sum over coordinates left out):
    /// what [`Self::add_gradient`] needs.
    #[inline]
    pub fn scaled_value_and_slope(&self, a: &[f64], b: &[f64]) -> (f64, f64) {
        let (whole, slope) = self.profile.value_and_slope(squared_distance(a, b));
        let share = 1.0 - self.additive;
        (self.output_scale * self.with_sum(whole, a, b), 2.0 * self.output_scale * share * slope)
    }

    /// Adds ∇ₐ k(a, b), multiplied by `weight`, to `gradient`; all in units of the length scales.
    #[inline]
    pub fn add_gradient(
        &self,
        a: &[f64],
        b: &[f64],
        slope: f64,
        weight: f64,
        gradient: &mut [f64],
    ) {
        let whole = slope * weight;
        if self.additive == 0.0 {
            for ((g, a), b) in gradient.iter_mut().zip(a).zip(b) {
                *g += whole * (a - b);
            }
            return;
        }
        let dim = self.dim() as f64;
        let sum = 2.0 * self.output_scale * self.additive * weight;
        for ((g, a), b) in gradient.iter_mut().zip(a).zip(b) {
            let gap = a - b;
            *g += (whole + sum * additive::slope(gap, dim)) * gap;
        }
    }

    /// k/s with its derivatives, between points in units of the length scales. `in_squared` leaves the sum over
    /// coordinates out: see [`Self::additive_slope`].
    #[inline]
    pub(crate) fn scaled_slopes(&self, a: &[f64], b: &[f64]) -> ProfileSlopes {
        let slopes = self.profile.slopes(squared_distance(a, b));
        let share = 1.0 - self.additive;
        ProfileSlopes {
            value: self.with_sum(slopes.value, a, b),
            in_squared: share * slopes.in_squared,
            in_alpha: share * slopes.in_alpha,
        }
    }

    /// The derivative of the sum over coordinates, in k/s, in the square of one scaled gap.
    #[inline]
    pub fn additive_slope(&self, gap: f64) -> f64 {
        self.additive * additive::slope(gap, self.dim() as f64)
    }

    /// (1 - a) φ + a ψ.
    #[inline]
    fn with_sum(&self, whole: f64, a: &[f64], b: &[f64]) -> f64 {
        match self.additive {
            0.0 => whole,
            share => (1.0 - share) * whole + share * additive::value(a, b),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixtures::profiles;
    use super::*;
    use proptest::prelude::*;

    fn shares() -> impl Strategy<Value = f64> {
        prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64]
    }

    proptest! {
        #[test]
        fn the_slope_is_the_derivative_of_the_value(profile in profiles(), squared in 1e-3..30.0_f64) {
            let step = 1e-6 * squared;
            let numeric = (profile.value(squared + step) - profile.value(squared - step)) / (2.0 * step);
            let (value, slope) = profile.value_and_slope(squared);
            prop_assert!((slope - numeric).abs() < 1e-6 * (1.0 + slope.abs()), "{} {}", slope, numeric);
            prop_assert!((value - profile.value(squared)).abs() < 1e-15);
            let slopes = profile.slopes(squared);
            prop_assert!((value - slopes.value).abs() < 1e-15);
            prop_assert!((slope - slopes.in_squared).abs() < 1e-15);
        }

        #[test]
        fn the_slope_in_alpha_is_the_derivative_of_the_value(alpha in 0.05..50.0_f64, squared in 0.0..30.0_f64) {
            let value = |alpha: f64| Profile::RationalQuadratic { alpha }.value(squared);
            let step = 1e-5 * alpha;
            let numeric = (value(alpha + step) - value(alpha - step)) / (2.0 * step);
            let slope = Profile::RationalQuadratic { alpha }.slopes(squared).in_alpha;
            prop_assert!((slope - numeric).abs() < 1e-7 / alpha, "{} {}", slope, numeric);
        }

        #[test]
        fn the_gradient_is_that_of_finite_differences(
            profile in profiles(),
            share in shares(),
            a in prop::array::uniform3(0.0..1.0_f64),
            b in prop::array::uniform3(0.0..1.0_f64),
        ) {
            let kernel = Kernel::new(profile, vec![0.3, 0.7, 1.5], 2.5).unwrap();
            let kernel = kernel.with_additive(share).unwrap();
            let mut gradient = [0.0; 3];
            let value = kernel.value_adding_gradient(&a, &b, 1.0, &mut gradient);
            prop_assert_eq!(value, kernel.value(&a, &b));
            for k in 0..3 {
                let shifted = |step: f64| {
                    let mut x = a;
                    x[k] += step;
                    kernel.value(&x, &b)
                };
                let numeric = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                prop_assert!((gradient[k] - numeric).abs() < 1e-5, "{} {}", gradient[k], numeric);
            }
        }

        #[test]
        fn kernels_are_symmetric_bounded_and_one_at_no_distance(profile in profiles(), squared in 0.0..1e6_f64) {
            prop_assert!((profile.value(0.0) - 1.0).abs() < 1e-15);
            prop_assert!((0.0..=1.0).contains(&profile.value(squared)));
            prop_assert!(profile.value_and_slope(0.0).1.is_finite());
        }
    }

    #[test]
    fn profiles_have_the_values_of_their_textbook_formulas() {
        let r: f64 = 0.8;
        let close = |profile: Profile, expected: f64| {
            let got = profile.value(r * r);
            assert!((got - expected).abs() < 1e-15, "{profile:?}: {got} {expected}");
        };
        close(Profile::SquaredExponential, (-0.32_f64).exp());
        close(Profile::RationalQuadratic { alpha: 2.0 }, (1.0 + 0.64 / 4.0_f64).powi(-2));
        close(Profile::Matern32, (1.0 + 3.0_f64.sqrt() * r) * (-3.0_f64.sqrt() * r).exp());
        let root = 5.0_f64.sqrt() * r;
        close(Profile::Matern52, (1.0 + root + 5.0 * r * r / 3.0) * (-root).exp());
    }

    #[test]
    fn the_additive_part_is_a_mean_of_rational_quadratics_of_one_coordinate() {
        let scales = [0.3, 0.8];
        let whole = Kernel::new(Profile::Matern52, scales.to_vec(), 2.0).unwrap();
        let (a, b) = ([0.1, 0.9], [0.5, 0.2]);
        let sum: f64 = (0..2)
            .map(|k| {
                // Half the square, over a length scale that is √(2d) times shorter.
                let scale = scales[k] / 4.0_f64.sqrt();
                let profile = Profile::RationalQuadratic { alpha: 1.0 };
                profile.value(((a[k] - b[k]) / scale).powi(2))
            })
            .sum();
        let expected = 0.7 * whole.value(&a, &b) + 0.3 * 2.0 * sum / 2.0;
        let kernel = whole.with_additive(0.3).unwrap();
        assert!((kernel.value(&a, &b) - expected).abs() < 1e-15);
        assert_eq!(kernel.value(&a, &a), 2.0);
    }

    #[test]
    fn bad_hyper_parameters_are_refused_by_name() {
        let refused = |kernel: Result<Kernel>| kernel.unwrap_err().to_string();
        let profile = Profile::Matern52;
        assert!(refused(Kernel::new(profile, vec![], 1.0)).contains("length scales"));
        assert!(refused(Kernel::new(profile, vec![1.0, 0.0], 1.0)).contains("length scale 1 is 0"));
        assert!(refused(Kernel::new(profile, vec![1.0], f64::NAN)).contains("output scale"));
        let kernel = Kernel::new(profile, vec![1.0], 1.0).unwrap();
        assert!(refused(kernel.with_additive(1.5)).contains("additive share is 1.5"));
        let profile = Profile::RationalQuadratic { alpha: -1.0 };
        assert!(refused(Kernel::new(profile, vec![1.0], 1.0)).contains("alpha is -1"));
    }
}
