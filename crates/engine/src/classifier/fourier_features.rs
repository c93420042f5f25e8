//! Random Fourier features of stationary kernels (Rahimi and Recht 2007); of the squared exponential:
//!
//! ```text
//! φ_f(x) = √(2/F) cos(ω_f · x/ℓ + b_f),   ω_f ~ N(0, I),   b_f ~ U[0, 2π),   f = 1 … F
//! E[φ(x)·φ(x')] = exp(-½ ‖(x - x')/ℓ‖²),   with a standard deviation of at most √(2/F) an entry
//! ```
//!
//! A linear model of φ(x) is then a model of x under that kernel, whose cost grows with F and not with the square
//! of the number of points.
//!
//! # Design
//! Arguments are kept in turns, u = (ω·x/ℓ + b)/2π, so that whole turns are dropped without rounding: u - round(u)
//! is exact. Sine and cosine of what is left are one Taylor polynomial on a quarter turn, accurate to 3e-16, that the
//! compiler turns into vector instructions; a call of the library's for each feature would be most of a gradient's cost.
//!
//! Cost: O(F d) a point, for the features and for the gradient of a combination of them.

use std::f64::consts::TAU;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand_distr::{Distribution as _, Gamma, StandardNormal};

use crate::kernel::{Kernel, Profile};
use crate::seed::{Rng, Seed, below, uniform};

/// The features of points of d coordinates.
#[derive(Debug, Clone, PartialEq)]
pub struct FourierFeatures {
    dim: usize,
    /// ω/2πℓ: all features' first coordinates, then all second ones, …
    frequencies: Vec<f64>,
    /// b/2π.
    phases: Vec<f64>,
    /// √(2/F).
    scale: f64,
}

impl FourierFeatures {
    /// `count` features, at least one, for points with as many coordinates as there are length scales ℓ.
    ///
    /// They are those of `seed` alone: ω and b do not depend on ℓ.
    pub fn draw(length_scales: &[f64], count: usize, seed: Seed) -> Self {
        let (mut rng, dim) = (seed.stream("fourier features", 0), length_scales.len());
        let mut frequencies = vec![0.0; dim * count];
        let mut phases = vec![0.0; count];
        for (f, phase) in phases.iter_mut().enumerate() {
            *phase = uniform(&mut rng);
            for (k, scale) in length_scales.iter().enumerate() {
                let omega: f64 = StandardNormal.sample(&mut rng);
                frequencies[k * count + f] = omega / (TAU * scale);
            }
        }
        Self { dim, frequencies, phases, scale: (2.0 / count as f64).sqrt() }
    }

    /// `count` features of the kernel over its output scale s: E[φ(x)·φ(x')] = k(x, x')/s.
    ///
    /// Every profile is a mixture of squared exponentials, φ(r²) = E exp(-½ u r²), so that ω = √u z with z ~ N(0, I): u is Gamma(α, rate α) for
    /// the rational quadratic and 1/Gamma(ν, rate ν) for Matérn's kernel of smoothness ν. A feature of the additive part has one
    /// coordinate, whose 1/(1 + d r²) is the mixture with u = 2d Exp(1).
    pub fn of(kernel: &Kernel, count: usize, rng: &mut Rng) -> Self {
        let dim = kernel.dim();
        let mut frequencies = vec![0.0; dim * count];
        let mut phases = vec![0.0; count];
        for (f, phase) in phases.iter_mut().enumerate() {
            *phase = uniform(rng);
            let additive = kernel.additive() > 0.0 && uniform(rng) < kernel.additive();
            let (coordinates, mixed) = if additive {
                let k = below(rng, dim);
                (k..k + 1, -2.0 * dim as f64 * (1.0 - uniform(rng)).ln())
            } else {
                (0..dim, mixture(kernel.profile(), rng))
            };
            for k in coordinates {
                let omega: f64 = StandardNormal.sample(rng);
                frequencies[k * count + f] =
                    omega * mixed.sqrt() / (TAU * kernel.length_scales()[k]);
            }
        }
        Self { dim, frequencies, phases, scale: (2.0 / count as f64).sqrt() }
    }

    /// The same features and one more, of frequency and phase 0, that is √(2/F) everywhere: an intercept.
    #[must_use]
    pub fn with_intercept(mut self) -> Self {
        let columns = self.frequencies.chunks_exact(self.phases.len());
        self.frequencies = columns.flat_map(|column| column.iter().copied().chain([0.0])).collect();
        self.phases.push(0.0);
        self
    }

    /// Coordinates of a point.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How many features there are, with the intercept if there is one.
    pub fn len(&self) -> usize {
        self.phases.len()
    }

    /// √(2/F), the amplitude of a feature and the value of the intercept.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// φ at each of `points`, which stand row after row, point after point.
    pub fn map(&self, points: &[f64], features: &mut [f64]) {
        self.arguments(points, features);
        for feature in features {
            *feature = self.scale * cosine(fraction(*feature));
        }
    }

    /// φ and its derivatives dφ_f/du_f with respect to the arguments in turns, point after point.
    pub fn map_with_slopes(&self, points: &[f64], features: &mut [f64], slopes: &mut [f64]) {
        self.arguments(points, features);
        let steepest = -TAU * self.scale;
        for (feature, slope) in features.iter_mut().zip(slopes) {
            let turns = fraction(*feature);
            *feature = self.scale * cosine(turns);
            *slope = steepest * sine(turns);
        }
    }

    /// Σ_f c_f ∇ₓu_f for each point's coefficients c, which stand point after point.
    ///
    /// With c_f = v_f dφ_f/du_f this is the gradient of Σ_f v_f φ_f(x) for a fixed v.
    pub fn pull_back(&self, coefficients: &[f64], gradients: &mut [f64]) {
        let (dim, count) = (self.dim, gradients.len() / self.dim);
        let frequencies = MatRef::from_column_major_slice(&self.frequencies, self.len(), dim);
        let coefficients = MatRef::from_column_major_slice(coefficients, self.len(), count);
        let gradients = MatMut::from_column_major_slice_mut(gradients, dim, count);
        matmul(gradients, Accum::Replace, frequencies.transpose(), coefficients, 1.0, Par::Seq);
    }

    /// u at each of `points`.
    fn arguments(&self, points: &[f64], arguments: &mut [f64]) {
        let (dim, count) = (self.dim, points.len() / self.dim);
        for row in arguments.chunks_exact_mut(self.len()) {
            row.copy_from_slice(&self.phases);
        }
        let frequencies = MatRef::from_column_major_slice(&self.frequencies, self.len(), dim);
        let points = MatRef::from_column_major_slice(points, dim, count);
        let arguments = MatMut::from_column_major_slice_mut(arguments, self.len(), count);
        matmul(arguments, Accum::Add, frequencies, points, 1.0, Par::Seq);
    }
}

/// u of a profile, for which φ(r²) = E exp(-½ u r²).
fn mixture(profile: Profile, rng: &mut Rng) -> f64 {
    // The shapes are positive, as a checked kernel has them; were one not, the squared exponential would be meant.
    let gamma = |shape: f64, rng: &mut Rng| {
        Gamma::new(shape, shape.recip()).map_or(1.0, |gamma| gamma.sample(rng))
    };
    match profile {
        Profile::SquaredExponential => 1.0,
        Profile::RationalQuadratic { alpha } => gamma(alpha, rng),
        Profile::Matern32 => gamma(1.5, rng).recip(),
        Profile::Matern52 => gamma(2.5, rng).recip(),
    }
}

/// Terms of the Taylor series of sin 2πs: the first one left out is below 2e-18 for |s| ≤ ¼.
const TERMS: usize = 11;

/// Its coefficients, of s, s³, s⁵, …
const SINE: [f64; TERMS] = {
    let mut coefficients = [0.0; TERMS];
    let mut term = TAU;
    let mut k = 0;
    while k < TERMS {
        coefficients[k] = term;
        term *= -TAU * TAU / ((2 * k + 2) * (2 * k + 3)) as f64;
        k += 1;
    }
    coefficients
};

/// u less the nearest whole number, for |u| < 2⁵¹.
fn fraction(u: f64) -> f64 {
    // Adding 1.5 · 2⁵² leaves no bits for a fraction: the sum is rounded to a whole number, without a call.
    const WHOLE: f64 = 6_755_399_441_055_744.0;
    u - ((u + WHOLE) - WHOLE)
}

/// sin 2πs for |s| ≤ ¼.
fn quarter_sine(s: f64) -> f64 {
    let square = s * s;
    let mut sum = SINE[TERMS - 1];
    let mut k = TERMS - 1;
    while k > 0 {
        k -= 1;
        sum = sum * square + SINE[k];
    }
    s * sum
}

/// cos 2πt for |t| ≤ ½.
fn cosine(t: f64) -> f64 {
    quarter_sine(0.25 - t.abs())
}

/// sin 2πt for |t| ≤ ½.
fn sine(t: f64) -> f64 {
    quarter_sine((0.25 - (t.abs() - 0.25).abs()).copysign(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Profile};
    use crate::points::Points;
    use proptest::prelude::*;

    fn random_points(dim: usize, len: usize, index: u64) -> Points {
        let mut rng = Seed(3).stream("points", index);
        let rows = (0..len).map(|_| (0..dim).map(|_| uniform(&mut rng)).collect::<Vec<_>>());
        Points::from_rows(dim, rows)
    }

    #[test]
    fn products_of_features_are_the_kernel_within_monte_carlo_error() {
        let scales = [0.3, 0.5, 1.0];
        let kernel = Kernel::new(Profile::SquaredExponential, scales.to_vec(), 1.0).unwrap();
        let (points, count) = (random_points(3, 20, 0), 300);
        let (mut squares, mut pairs) = (0.0, 0.0);
        for seed in 0..20 {
            let features = FourierFeatures::draw(&scales, count, Seed(seed));
            let mut phi = vec![0.0; 20 * count];
            features.map(points.as_slice(), &mut phi);
            for (i, a) in phi.chunks_exact(count).enumerate() {
                for (j, b) in phi.chunks_exact(count).enumerate() {
                    let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                    let error = product - kernel.value(points.row(i), points.row(j));
                    // Five of the largest standard deviations.
                    assert!(error.abs() < 5.0 * (2.0 / count as f64).sqrt(), "{error}");
                    squares += error * error;
                    pairs += 1.0;
                }
            }
        }
        let deviation = (squares / pairs).sqrt();
        assert!(deviation < (1.5 / count as f64).sqrt(), "{deviation}");
        let mean_error = {
            let features = FourierFeatures::draw(&scales, 100_000, Seed(1));
            let pair = Points::from_rows(3, [[0.1, 0.2, 0.3], [0.3, 0.6, 0.1]]);
            let mut phi = vec![0.0; 200_000];
            features.map(pair.as_slice(), &mut phi);
            let (a, b) = phi.split_at(100_000);
            let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            product - kernel.value(pair.row(0), pair.row(1))
        };
        assert!(mean_error.abs() < 5.0 * 2e-5_f64.sqrt(), "{mean_error}");
    }

    #[test]
    fn features_and_gradients_are_the_formula() {
        let (dim, count) = (4, 17);
        let features =
            FourierFeatures::draw(&[0.1, 0.2, 0.4, 2.0], count, Seed(5)).with_intercept();
        let points = random_points(dim, 5, 1);
        let len = features.len();
        assert_eq!(len, count + 1);
        let (mut plain, mut phi, mut slopes) =
            (vec![0.0; 5 * len], vec![0.0; 5 * len], vec![0.0; 5 * len]);
        features.map(points.as_slice(), &mut plain);
        features.map_with_slopes(points.as_slice(), &mut phi, &mut slopes);
        assert_eq!(plain, phi);
        let mut gradients = Points::zeros(dim, 5);
        features.pull_back(&slopes, gradients.as_mut_slice());
        for (p, x) in points.rows().enumerate() {
            let mut gradient = [0.0; 4];
            for f in 0..len {
                let frequency = |k: usize| TAU * features.frequencies[k * len + f];
                let argument =
                    (0..dim).map(|k| frequency(k) * x[k]).sum::<f64>() + TAU * features.phases[f];
                let amplitude = (2.0 / count as f64).sqrt();
                assert!((phi[p * len + f] - amplitude * argument.cos()).abs() < 1e-14);
                for (k, g) in gradient.iter_mut().enumerate() {
                    *g -= amplitude * argument.sin() * frequency(k);
                }
            }
            assert!((phi[p * len + count] - features.scale()).abs() < 1e-16);
            for (g, expected) in gradients.row(p).iter().zip(gradient) {
                assert!((g - expected).abs() < 1e-12, "{g} {expected}");
            }
        }
    }

    #[test]
    fn features_depend_on_the_seed_and_scale_with_the_lengths() {
        let draw = |scale, seed| FourierFeatures::draw(&[scale, scale], 9, Seed(seed));
        assert_eq!(draw(1.0, 1), draw(1.0, 1));
        assert_ne!(draw(1.0, 1), draw(1.0, 2));
        let (wide, narrow) = (draw(1.0, 1), draw(0.5, 1));
        assert_eq!(wide.phases, narrow.phases);
        for (wide, narrow) in wide.frequencies.iter().zip(&narrow.frequencies) {
            assert_eq!(2.0 * wide, *narrow);
        }
    }

    proptest! {
        #[test]
        fn turns_have_the_sine_and_cosine_of_the_library(u in -1000.0..1000.0_f64) {
            let t = fraction(u);
            prop_assert!(t.abs() <= 0.5 && (u - t).fract() == 0.0);
            prop_assert!((cosine(t) - (TAU * t).cos()).abs() < 1e-15);
            prop_assert!((sine(t) - (TAU * t).sin()).abs() < 1e-15);
        }
    }

    #[test]
    fn features_of_a_kernel_have_its_values_on_average() {
        let profiles = [
            Profile::SquaredExponential,
            Profile::RationalQuadratic { alpha: 0.7 },
            Profile::Matern32,
            Profile::Matern52,
        ];
        let points = [[0.1, 0.2], [0.15, 0.9], [0.7, 0.25]];
        for profile in profiles {
            for share in [0.0, 0.4] {
                let kernel = Kernel::new(profile, vec![0.3, 0.8], 2.0).unwrap();
                let kernel = kernel.with_additive(share).unwrap();
                let count = 200_000;
                let features =
                    FourierFeatures::of(&kernel, count, &mut Seed(1).stream("features", 0));
                let map = |x: &[f64; 2]| {
                    let mut row = vec![0.0; count];
                    features.map(x, &mut row);
                    row
                };
                let rows: Vec<Vec<f64>> = points.iter().map(map).collect();
                for (a, x) in rows.iter().zip(&points) {
                    for (b, y) in rows.iter().zip(&points) {
                        let found: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                        // A product has a standard deviation of at most √(2/F): five of them.
                        let gap = found - kernel.value(x, y) / 2.0;
                        let error = (2.0 / count as f64).sqrt();
                        assert!(gap.abs() < 5.0 * error, "{profile:?} {share}: {gap} {error}");
                    }
                }
            }
        }
    }
}
