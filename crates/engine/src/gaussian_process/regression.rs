//! Gaussian-process regression of the values told: what GP-UCB, GP-EI, q-EI and LP-EI know of the objective.
//!
//! ```text
//! y = m + s (g(x) + ε),   g ~ GP(0, k),   ε ~ N(0, λ)
//! ```
//!
//! The values are standardised; constant mean, kernel (one length scale a coordinate, output scale) and noise λ
//! are those of the largest marginal likelihood under log-normal priors. The prior of the length scales is that
//! of Hvarfner, Hellsten and Nardi (2024), ln ℓ ~ N(√2 + ½ ln d, √3), which grows with the dimension as distances
//! do.
//!
//! Trials without a value are left out: what a failure says about the objective depends on why it failed.
//!
//! # Design
//! A fit depends on the points and values alone. Searches for hyper-parameters start at fixed places, never at
//! the previous maximum. From [`EVERY_TRIAL`] trials on hyper-parameters are renewed after every 16th to 32nd part
//! of the trials: those of n trials are the ones found from the first [`trials_fitted`], whichever process
//! asks, so that a previous fit only saves work.
//!
//! Cost: O(n³) for each of some dozens of evaluations of the likelihood, O(n³/3) to factor, O(n²) to predict.
//! Fails with `Error::NotPositiveDefinite` once the jitter policy of the factor is exhausted.

use std::f64::consts::SQRT_2;

use serde::{Deserialize, Serialize};

use super::marginal_likelihood::{
    LengthScales, LogNormal, MarginalLikelihood, Maximum, Mean, Range,
};
use super::posterior::{Posterior, Prediction};
use crate::error::{Error, Result};
use crate::kernel::{Kernel, Profile};
use crate::points::Points;

/// Up to how many trials hyper-parameters are found anew after each.
pub const EVERY_TRIAL: usize = 128;

/// How regression comes by its hyper-parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Regression {
    /// From the evidence.
    Fitted(Fitted),
    /// As given, for values as they are told: mean zero, nothing standardised. The setting of the theory.
    Fixed {
        /// The kernel.
        kernel: Kernel,
        /// λ, the variance of the noise.
        noise: f64,
    },
}

impl Default for Regression {
    fn default() -> Self {
        Self::Fitted(Fitted::default())
    }
}

impl Regression {
    /// The rational quadratic kernel, as in all Gaussian processes of the paper's experiments on real data.
    pub fn rational_quadratic() -> Self {
        let profile = Profile::RationalQuadratic { alpha: 1.0 };
        Self::Fitted(Fitted { profile, ..Fitted::default() })
    }
}

/// Hyper-parameters of the largest marginal likelihood under priors, for standardised values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fitted {
    /// The kernel's profile; α of the rational quadratic is where its search starts.
    pub profile: Profile,
    /// λ as a part of the variance of the values, at least 1e-10, if it is known; otherwise it is fitted.
    pub noise: Option<f64>,
    /// Whether each coordinate has a length scale of its own.
    #[serde(alias = "length_scales")]
    pub length_scales: LengthScales,
    /// What improvement is measured from.
    pub incumbent: Incumbent,
    /// Evaluations of the likelihood from each of two starts; fewer beyond 512 trials, where each takes long.
    pub evaluations: usize,
}

impl Default for Fitted {
    fn default() -> Self {
        Self {
            profile: Profile::Matern52,
            noise: None,
            length_scales: LengthScales::Each,
            incumbent: Incumbent::Mean,
            evaluations: 50,
        }
    }
}

/// What expected improvement is measured from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Incumbent {
    /// The lowest posterior mean at points told: under noise it does not follow a lucky draw.
    #[default]
    Mean,
    /// The lowest value told. A model with more noise than the values have then lies above it nearly everywhere.
    Value,
}

impl Fitted {
    /// The priors, for points of `dim` coordinates.
    fn likelihood(&self, dim: usize) -> MarginalLikelihood {
        let root = (dim as f64).sqrt();
        let typical = LogNormal { mean: SQRT_2 + root.ln(), deviation: 3.0_f64.sqrt() };
        MarginalLikelihood {
            profile: self.profile,
            length_scale: Range::new(0.005, 100.0 * root).with_prior(typical),
            length_scales: self.length_scales,
            // Standardised values have variance 1; a smooth trend across the cube has more.
            output_scale: Range::new(1e-3, 1e4).with_prior(LogNormal { mean: 0.0, deviation: 2.0 }),
            alpha: Range::new(0.05, 100.0),
            noise: match self.noise {
                None => Some(NOISE),
                Some(_) => None,
            },
            mean: Mean::Constant,
            // A wiggly and a smooth beginning: the likelihood often has a maximum of either kind.
            starts: vec![0.25 * root, root],
            max_evaluations: self.evaluations,
            max_points: MAX_POINTS,
        }
    }
}

/// Trials that the likelihood is computed from; longer histories are thinned evenly.
const MAX_POINTS: usize = 1024;
/// Where the variance of the noise is sought, as a part of the variance of the values. The prior is that of
/// Hvarfner and others; the lower end leaves functions without noise their precision, and is still well above
/// the rounding of a factored matrix.
const NOISE: Range = Range::new(1e-8, 1.0).with_prior(LogNormal { mean: -4.0, deviation: 1.0 });
/// Trials times evaluations of the likelihood from a start: 50 evaluations for 512 trials, 25 for 1024.
const EVALUATED_TRIALS: usize = 50 * 512;
/// Evaluations that are always allowed.
const LEAST_EVALUATIONS: usize = 10;
/// Where the search for the noise starts.
const FIRST_NOISE: f64 = 1e-3;

/// How many of n trials the hyper-parameters are found from: all of up to [`EVERY_TRIAL`], then the largest
/// multiple of a step that doubles with n.
pub fn trials_fitted(n: usize) -> usize {
    if n <= EVERY_TRIAL { n } else { n - n % (n.next_power_of_two() / 32) }
}

impl Regression {
    /// Refuses settings that no fit could use, for points of `dim` coordinates.
    pub fn check(&self, dim: usize) -> Result<()> {
        match self {
            Self::Fixed { kernel, noise } => {
                let scales = kernel.length_scales().to_vec();
                let kernel = Kernel::new(kernel.profile(), scales, kernel.output_scale())?;
                if kernel.dim() != dim {
                    let allowed = format!("{dim}, one for each coordinate");
                    return Err(Error::invalid("number of length scales", kernel.dim(), allowed));
                }
                if !(*noise > 0.0 && noise.is_finite()) {
                    return Err(Error::invalid("noise", noise, "positive and finite"));
                }
                Ok(())
            }
            Self::Fitted(fitted) => {
                if fitted.evaluations == 0 {
                    return Err(Error::invalid("regression evaluations", 0, "at least 1"));
                }
                // Less is lost in the rounding of a likelihood with repeated points.
                if let Some(noise) = fitted.noise.filter(|noise| !(1e-10..1e10).contains(noise)) {
                    let allowed = "from 1e-10 to 1e10, a part of the variance of the values";
                    return Err(Error::invalid("noise", noise, allowed));
                }
                fitted.likelihood(dim).check()
            }
        }
    }

    /// Fits values at points, one a point and at least one.
    ///
    /// `previous` is a fit by the same settings to an earlier part of the same evidence; it saves work only.
    pub fn fit(
        &self,
        points: &Points,
        values: &[f64],
        previous: Option<&Surrogate>,
    ) -> Result<Surrogate> {
        assert_eq!(points.len(), values.len(), "there must be one value a point");
        assert!(!values.is_empty(), "there must be a value");
        let previous = previous.filter(|previous| previous.begins(points, values));
        let first = match self {
            Self::Fixed { .. } => 0,
            Self::Fitted(_) => trials_fitted(values.len()),
        };
        let (units, posterior) = match (self, previous.filter(|p| p.trials_fitted == first)) {
            (_, Some(previous)) => (previous.units, previous.posterior.clone()),
            (Self::Fixed { kernel, noise }, None) => {
                let units = Units { centre: 0.0, scale: 1.0 };
                (units, Posterior::fit(kernel.clone(), *noise, [])?)
            }
            (Self::Fitted(fitted), None) => {
                let (maximum, units) = fitted.maximise(points, &values[..first])?;
                (units, Posterior::fit(maximum.kernel, maximum.noise, [])?)
            }
        };
        let posterior = posterior.extend(points.rows().skip(posterior.len()))?;
        let targets: Vec<f64> = values.iter().map(|&value| units.inward(value)).collect();
        let weights = posterior.weights(&targets);
        let incumbent = match self {
            Self::Fitted(Fitted { incumbent: Incumbent::Value, .. }) => {
                targets.iter().copied().fold(f64::INFINITY, f64::min)
            }
            _ => {
                let means = points.rows().map(|x| posterior.mean(&weights, x));
                means.fold(f64::INFINITY, f64::min)
            }
        };
        if !incumbent.is_finite() {
            let model = "the Gaussian process";
            return Err(Error::Diverged { model, doing: "fitting the values" });
        }
        let values = values.to_vec();
        Ok(Surrogate { posterior, weights, values, units, incumbent, trials_fitted: first })
    }
}

impl Fitted {
    /// Hyper-parameters for the first points, which have these values, with the units they are in.
    fn maximise(&self, points: &Points, values: &[f64]) -> Result<(Maximum, Units)> {
        let units = Units::standardising(values);
        let targets: Vec<f64> = values.iter().map(|&value| units.inward(value)).collect();
        let first = Points::from_rows(points.dim(), points.rows().take(values.len()));
        let noise = self.noise.unwrap_or(FIRST_NOISE);
        let affordable = (EVALUATED_TRIALS / values.len().max(1)).max(LEAST_EVALUATIONS);
        let evaluations = self.evaluations.min(affordable);
        let limited = Self { evaluations, ..*self };
        let maximum = limited.likelihood(points.dim()).maximise(&first, &targets, noise, None)?;
        let centre = units.centre + units.scale * maximum.mean;
        Ok((maximum, Units { centre, ..units }))
    }
}

/// From the values told to those of the process, whose mean is zero, and back.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Units {
    centre: f64,
    scale: f64,
}

impl Units {
    /// Units in which `values` have mean 0 and variance 1; variance 0 if they are all the same.
    fn standardising(values: &[f64]) -> Self {
        let n = values.len() as f64;
        // Divided before they are summed, and squared in units of the largest: no overflow.
        let centre: f64 = values.iter().map(|value| value / n).sum();
        let largest = values.iter().map(|value| (value - centre).abs()).fold(0.0, f64::max);
        // Differences that rounding alone explains are none.
        if largest <= 1e-13 * centre.abs() || largest < f64::MIN_POSITIVE {
            return Self { centre, scale: 1.0 };
        }
        let squares = values.iter().map(|value| ((value - centre) / largest).powi(2));
        Self { centre, scale: largest * (squares.sum::<f64>() / n).sqrt() }
    }

    fn inward(self, value: f64) -> f64 {
        (value - self.centre) / self.scale
    }

    fn outward(self, target: f64) -> f64 {
        self.centre + self.scale * target
    }
}

/// Regression fitted to evidence.
///
/// The process itself is in units of its own; [`Self::predict`] answers in those of the values told, and
/// acquisitions, whose maximum does not depend on units, read [`Self::posterior`] and [`Self::weights`].
#[derive(Debug, Clone)]
pub struct Surrogate {
    posterior: Posterior,
    weights: Vec<f64>,
    values: Vec<f64>,
    units: Units,
    incumbent: f64,
    trials_fitted: usize,
}

impl Surrogate {
    /// The posterior of the process, in its own units.
    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    /// The weights of its mean.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// What improvement is measured from, in the units of the process: the lowest mean at points told or believed, or the
    /// lowest value told ([`Incumbent`]). Without noise the two are the same.
    pub fn incumbent(&self) -> f64 {
        self.incumbent
    }

    /// The kernel, in the units of the process.
    pub fn kernel(&self) -> &Kernel {
        self.posterior.kernel()
    }

    /// The standard deviation of the noise, in the units of the values.
    pub fn noise_deviation(&self) -> f64 {
        self.units.scale * self.posterior.ridge().sqrt()
    }

    /// Mean and deviation of the objective at x, noise left out, in the units of the values.
    pub fn predict(&self, x: &[f64]) -> Prediction {
        let Prediction { mean, deviation } = self.posterior.predict(&self.weights, x);
        Prediction { mean: self.units.outward(mean), deviation: self.units.scale * deviation }
    }

    /// The surrogate that believes its own mean at `points`, as if it had been told there: the mean stays as
    /// it is, the deviation shrinks, and the incumbent falls to the lowest belief.
    ///
    /// So GP-BUCB (Desautels, Krause and Burdick 2014) and the kriging believer (Ginsbourger, Le Riche and
    /// Carraro 2010) treat points without a value. A target k(x)ᵀα at a new x gives that x the weight 0.
    pub fn believing<'p>(&self, points: impl IntoIterator<Item = &'p [f64]>) -> Result<Self> {
        let posterior = self.posterior.extend(points)?;
        let believed = posterior.points().rows().skip(self.posterior.len());
        let means = believed.map(|x| self.posterior.mean(&self.weights, x));
        let incumbent = means.fold(self.incumbent, f64::min);
        let mut weights = self.weights.clone();
        weights.resize(posterior.len(), 0.0);
        let Self { units, trials_fitted, .. } = *self;
        Ok(Self {
            posterior,
            weights,
            values: self.values.clone(),
            units,
            incumbent,
            trials_fitted,
        })
    }

    /// Whether `points` and `values` begin with those of this fit.
    fn begins(&self, points: &Points, values: &[f64]) -> bool {
        values.starts_with(&self.values)
            && self.posterior.len() == self.values.len()
            && points.as_slice().starts_with(self.posterior.points().as_slice())
    }
}

/// ‖f‖ₖ = √(fᵀ K⁻¹ f): the least norm of a function in the kernel's space with these values at a finite set of
/// points (paper, appendix D), for the width of GP-UCB under theory.
///
/// `jitter` is added to the diagonal of K, whose smallest eigenvalues are often below rounding. The norm falls as
/// the jitter rises, and more is added if this is not enough to factor K.
pub fn rkhs_norm(kernel: &Kernel, points: &Points, values: &[f64], jitter: f64) -> Result<f64> {
    assert_eq!(points.len(), values.len(), "there must be one value a point");
    let weights = Posterior::fit(kernel.clone(), jitter, points.rows())?.weights(values);
    let square: f64 = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
    Ok(square.max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::marginal_likelihood::log_likelihood;
    use super::*;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    const DIM: usize = 3;

    fn data(len: usize, seed: u64) -> (Points, Vec<f64>) {
        let mut rng = Seed(seed).stream("data", 0);
        let points =
            Points::from_rows(DIM, (0..len).map(|_| [(); DIM].map(|()| uniform(&mut rng))));
        let values = points.rows().map(|x| 40.0 + 5.0 * (6.0 * x[0]).sin() + 3.0 * x[1]).collect();
        (points, values)
    }

    fn fixed() -> Regression {
        let kernel = Kernel::new(Profile::Matern52, vec![0.3, 0.7, 1.9], 1.7).unwrap();
        Regression::Fixed { kernel, noise: 1e-3 }
    }

    /// scikit-learn's posterior, in `tests/golden/gaussian_process.json`.
    #[test]
    fn fixed_hyper_parameters_give_the_posterior_of_another_implementation() {
        let text = include_str!("../../tests/golden/gaussian_process.json");
        let golden: serde_json::Value = serde_json::from_str(text).unwrap();
        let read = |name: &str| -> Points {
            let rows: Vec<Vec<f64>> = serde_json::from_value(golden[name].clone()).unwrap();
            Points::from_rows(DIM, rows)
        };
        let (points, at) = (read("points"), read("at"));
        let values: Vec<f64> = serde_json::from_value(golden["values"].clone()).unwrap();
        let fits = golden["fits"].as_array().unwrap();
        assert_eq!(fits.len(), 4);
        for fit in fits {
            let kernel: Kernel = serde_json::from_value(fit["kernel"].clone()).unwrap();
            let noise = fit["noise"].as_f64().unwrap();
            let likelihood = log_likelihood(&kernel, noise, &points, &values).unwrap().value;
            assert!((likelihood - fit["log_likelihood"].as_f64().unwrap()).abs() < 1e-9);
            let regression = Regression::Fixed { kernel, noise };
            regression.check(DIM).unwrap();
            let surrogate = regression.fit(&points, &values, None).unwrap();
            for (i, x) in at.rows().enumerate() {
                let got = surrogate.predict(x);
                let mean = fit["mean"][i].as_f64().unwrap();
                let variance = fit["covariance"][i][i].as_f64().unwrap();
                assert!((got.mean - mean).abs() < 1e-10, "{} {mean}", got.mean);
                assert!((got.deviation.powi(2) - variance).abs() < 1e-10);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn predictions_turn_with_the_units_of_the_values(
            seed in 0..1000_u64,
            shift in -1e3..1e3_f64,
            log_scale in -20.0..20.0_f64,
        ) {
            let (points, values) = data(20, seed);
            let scale = log_scale.exp();
            let turned: Vec<f64> = values.iter().map(|value| scale * (value + shift)).collect();
            let regression = Regression::default();
            let one = regression.fit(&points, &values, None).unwrap();
            let other = regression.fit(&points, &turned, None).unwrap();
            let (a, b) = (one.predict(&[0.3, 0.4, 0.5]), other.predict(&[0.3, 0.4, 0.5]));
            // Rounding of the values, carried through a search that stops at a tolerance.
            prop_assert!((scale * (a.mean + shift) - b.mean).abs() < 0.01 * scale, "{:?} {:?}", a, b);
            prop_assert!((scale * a.deviation - b.deviation).abs() < 0.01 * scale);
        }

        #[test]
        fn a_previous_fit_leaves_no_trace(first in 1..40_usize, more in 0..20_usize, seed in 0..100_u64) {
            let (points, values) = data(first + more, seed);
            let earlier = Points::from_rows(DIM, points.rows().take(first));
            for regression in [fixed(), Regression::default()] {
                let previous = regression.fit(&earlier, &values[..first], None).unwrap();
                let continued = regression.fit(&points, &values, Some(&previous)).unwrap();
                let anew = regression.fit(&points, &values, None).unwrap();
                let x = [0.2, 0.9, 0.4];
                prop_assert_eq!(continued.predict(&x), anew.predict(&x));
                prop_assert_eq!(continued.weights(), anew.weights());
                // A fit to other values is not continued.
                let (_, others) = data(first + more, seed + 1);
                let misled = regression.fit(&points, &others, Some(&previous)).unwrap();
                prop_assert_eq!(misled.predict(&x), regression.fit(&points, &others, None).unwrap().predict(&x));
            }
        }
    }

    #[test]
    fn hyper_parameters_of_many_trials_are_those_of_a_first_part() {
        assert_eq!(
            [1, 128, 129, 135, 136, 256, 257, 271, 272, 1000].map(trials_fitted),
            [1, 128, 128, 128, 136, 256, 256, 256, 272, 992]
        );
        assert!((1..5000).all(|n| trials_fitted(n) <= trials_fitted(n + 1)));
        let (points, values) = data(131, 0);
        let quick = Regression::Fitted(Fitted { evaluations: 5, ..Fitted::default() });
        let previous = {
            let earlier = Points::from_rows(DIM, points.rows().take(129));
            quick.fit(&earlier, &values[..129], None).unwrap()
        };
        let continued = quick.fit(&points, &values, Some(&previous)).unwrap();
        let anew = quick.fit(&points, &values, None).unwrap();
        assert_eq!(continued.weights(), anew.weights());
        assert_eq!(continued.kernel(), previous.kernel());
    }

    #[test]
    fn a_smooth_function_without_noise_is_predicted_between_its_points() {
        let (points, values) = data(60, 1);
        for regression in [Regression::default(), Regression::rational_quadratic()] {
            let surrogate = regression.fit(&points, &values, None).unwrap();
            let (at, truth) = data(20, 2);
            for (x, truth) in at.rows().zip(truth) {
                let got = surrogate.predict(x);
                assert!((got.mean - truth).abs() < 0.3 + 4.0 * got.deviation, "{got:?} {truth}");
            }
            let scales = surrogate.kernel().length_scales();
            assert!(scales[0] < scales[1] && scales[0] < scales[2], "{scales:?}");
            assert!(surrogate.noise_deviation() < 0.2, "{}", surrogate.noise_deviation());
        }
    }

    #[test]
    fn beliefs_leave_the_mean_and_shrink_the_deviation() {
        let (points, values) = data(15, 3);
        let surrogate = fixed().fit(&points, &values, None).unwrap();
        let (more, _) = data(3, 4);
        let believing = surrogate.believing(more.rows()).unwrap();
        // Told the same means, a fit from scratch says the same.
        let mut all = points.clone();
        all.extend(&more);
        let mut told = values.clone();
        told.extend(more.rows().map(|x| surrogate.predict(x).mean));
        let naive = fixed().fit(&all, &told, None).unwrap();
        let (at, _) = data(10, 5);
        for x in at.rows() {
            let (before, after, naive) =
                (surrogate.predict(x), believing.predict(x), naive.predict(x));
            assert!((before.mean - after.mean).abs() < 1e-12);
            assert!((naive.mean - after.mean).abs() < 1e-9);
            assert!((naive.deviation - after.deviation).abs() < 1e-9);
            assert!(after.deviation <= before.deviation + 1e-12);
        }
        assert!((believing.incumbent() - naive.incumbent()).abs() < 1e-9);
        assert!(believing.incumbent() <= surrogate.incumbent());
    }

    #[test]
    fn the_incumbent_is_the_lowest_value_without_noise_and_no_lucky_draw_with_it() {
        let (points, values) = data(40, 6);
        let exact = Fitted { noise: Some(1e-8), ..Fitted::default() };
        let surrogate = Regression::Fitted(exact).fit(&points, &values, None).unwrap();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let incumbent = surrogate.units.outward(surrogate.incumbent());
        assert!((incumbent - lowest).abs() < 1e-4, "{incumbent} {lowest}");
        // One value far below what its neighbours say, under noise as large.
        let mut lucky = values.clone();
        lucky[7] -= 10.0;
        let noisy = Fitted { noise: Some(0.5), ..Fitted::default() };
        let surrogate = Regression::Fitted(noisy).fit(&points, &lucky, None).unwrap();
        let drawn = lucky.iter().copied().fold(f64::INFINITY, f64::min);
        let incumbent = surrogate.units.outward(surrogate.incumbent());
        assert!(incumbent > drawn + 3.0, "{incumbent} {drawn}");
    }

    #[test]
    fn repeated_points_with_different_values_are_fitted_as_noise() {
        let (mut points, mut values) = data(12, 8);
        let (again, _) = data(12, 8);
        points.extend(&again);
        values.extend(values.clone().iter().map(|value| value + 2.0));
        for noise in [None, Some(1e-10)] {
            let regression = Regression::Fitted(Fitted { noise, ..Fitted::default() });
            regression.check(DIM).unwrap();
            let surrogate = regression.fit(&points, &values, None).unwrap();
            let between = values[0] + 1.0;
            let got = surrogate.predict(points.row(0)).mean;
            assert!((got - between).abs() < 1.0, "{noise:?}: {got} {between}");
        }
    }

    #[test]
    fn values_that_say_nothing_or_are_huge_still_give_a_fit() {
        let (points, _) = data(6, 0);
        let huge: Vec<f64> = (0..6).map(|i| f64::from(i) * 2e307 - 5e307).collect();
        for values in [vec![7.0; 6], vec![0.0; 6], vec![1e-320; 6], huge, vec![1e12 + 0.1; 6]] {
            let surrogate = Regression::default().fit(&points, &values, None).unwrap();
            let prediction = surrogate.predict(&[0.5; DIM]);
            assert!(prediction.mean.is_finite() && prediction.deviation > 0.0, "{values:?}");
        }
        let one = Points::from_rows(DIM, [[0.1, 0.2, 0.3]]);
        let surrogate = Regression::default().fit(&one, &[5.0], None).unwrap();
        assert!((surrogate.predict(&[0.1, 0.2, 0.3]).mean - 5.0).abs() < 1e-9);
    }

    #[test]
    fn the_norm_of_a_combination_of_kernels_is_that_of_its_coefficients() {
        let kernel = Kernel::isotropic(Profile::Matern32, 1, 0.3, 1.0).unwrap();
        let points = Points::from_rows(1, (0..12).map(|i| [f64::from(i) / 11.0]));
        let (centres, alphas) = ([0.0, 5.0 / 11.0, 1.0], [0.4, -0.3, 0.8]);
        let value = |x: &[f64]| -> f64 {
            centres.iter().zip(alphas).map(|(c, alpha)| alpha * kernel.value(x, &[*c])).sum()
        };
        let values: Vec<f64> = points.rows().map(value).collect();
        // Its centres are among the points, so that the least norm is the function's own.
        let square: f64 = centres.iter().zip(alphas).map(|(c, alpha)| alpha * value(&[*c])).sum();
        let norm = rkhs_norm(&kernel, &points, &values, 1e-12).unwrap();
        assert!((norm - square.sqrt()).abs() < 1e-8, "{norm} {}", square.sqrt());
        assert!(rkhs_norm(&kernel, &points, &values, 0.1).unwrap() < norm);
        assert!(rkhs_norm(&kernel, &points, &values, 0.0).is_err());
    }

    #[test]
    fn improvement_is_measured_from_the_lowest_mean_or_the_lowest_value() {
        let (points, values) = data(30, 2);
        let lowest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
        let at = |incumbent| {
            let noisy = Fitted { noise: Some(0.5), incumbent, ..Fitted::default() };
            let surrogate = Regression::Fitted(noisy).fit(&points, &values, None).unwrap();
            let mean = lowest(&mut points.rows().map(|x| surrogate.predict(x).mean));
            (surrogate.units.outward(surrogate.incumbent()), mean)
        };
        let (incumbent, mean) = at(Incumbent::Mean);
        assert!((incumbent - mean).abs() < 1e-9, "{incumbent} {mean}");
        let (incumbent, mean) = at(Incumbent::Value);
        let value = lowest(&mut values.iter().copied());
        assert!((incumbent - value).abs() < 1e-9, "{incumbent} {value}");
        assert!(value < mean - 1e-3, "{value} {mean}");
    }

    #[test]
    fn settings_that_no_fit_could_use_are_refused_by_name() {
        let refused = |regression: Regression| regression.check(DIM).unwrap_err().to_string();
        let fitted = |fitted| Regression::Fitted(fitted);
        let defaults = Fitted::default();
        assert!(refused(fitted(Fitted { noise: Some(-1.0), ..defaults })).contains("noise is -1"));
        assert!(refused(fitted(Fitted { evaluations: 0, ..defaults })).contains("evaluations"));
        let profile = Profile::RationalQuadratic { alpha: 0.0 };
        assert!(refused(fitted(Fitted { profile, ..defaults })).contains("alpha is 0"));
        let kernel = Kernel::isotropic(Profile::Matern32, 2, 0.3, 1.0).unwrap();
        assert!(refused(Regression::Fixed { kernel, noise: 0.1 }).contains("length scales is 2"));
        Regression::default().check(DIM).unwrap();
    }
}
