//! What the tests of acquisitions share: points, and surrogates of a smooth function.

use crate::gaussian_process::{Regression, Surrogate};
use crate::kernel::{Kernel, Profile};
use crate::points::Points;
use crate::seed::{Seed, uniform};

/// Points of the unit square.
pub(crate) fn points(len: usize, seed: u64) -> Points {
    let mut rng = Seed(seed).stream("points", 0);
    Points::from_rows(2, (0..len).map(|_| [(); 2].map(|()| uniform(&mut rng))))
}

/// A surrogate of sin(4 x₁) + `slope` x₂ at `told` points. Where the slope is steep, hardly any improvement is expected far
/// from the minimum.
pub(crate) fn surrogate(told: usize, slope: f64, noise: f64, seed: u64) -> Surrogate {
    let kernel = Kernel::new(Profile::Matern52, vec![0.3, 0.6], 1.4).unwrap();
    let told = points(told, seed);
    let values: Vec<f64> = told.rows().map(|x| (4.0 * x[0]).sin() + slope * x[1]).collect();
    Regression::Fixed { kernel, noise }.fit(&told, &values, None).unwrap()
}
