//! Bayesian logistic regression on random Fourier features: the classifier of the paper's comparison by dimension.
//!
//! ```text
//! π(x) = σ(a(x)),   a(x) = vᵀφ(x) + c,   v ~ N(0, s²I),   c ~ N(0, s_c²)
//! ```
//!
//! with φ the [`FourierFeatures`] of the squared-exponential kernel, 300 of them. The posterior of the weights is
//! Gaussian, fitted by expectation maximisation (see `posterior.rs`), so that a(x) ~ N(μ(x), s²(x)) and
//!
//! ```text
//! π̂(x) = E[σ(a(x))] ≈ σ(μ(x) / √(1 + π s²(x)/8))                (MacKay 1992)
//! upper bound: σ(μ(x) + β s(x)), a quantile of the posterior of π(x)
//! ```
//!
//! What the paper leaves open: the prior, how the length scale ℓ is found, and whether BORE reads the mean of the
//! logit or that of the probability. Here ℓ is the candidate that best predicts each label from the
//! others ([`LengthScales`]), and BORE reads π̂ itself, the mean of the probability, on either scale of the target.
//!
//! The theory is about kernel least squares: β here is a heuristic, and `Confidence::Level` gives the posterior's
//! (1 - δ)-quantile at a point, β = Φ⁻¹(1 - δ), which is no guarantee over all points and rounds. Its norm bound is
//! not used.
//!
//! # Design
//! The features are drawn from a seed of their own, not from that of the fit: they stay the same from fit to fit, so
//! that the estimate changes with the evidence alone, and a fit needs no memory of the one before.
//!
//! Cost for n points, F features and d coordinates: O(n F²) a step of the fit for n > F, O(n³) below, some 10 steps;
//! O(F² + F d) a value or gradient. Fails with `Error::Diverged` if a number is not finite.
//!
//! A third of this file is tests.

mod acceleration;
mod draw;
mod posterior;

use serde::{Deserialize, Serialize};

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use self::posterior::{EIGHTH_OF_PI, Regression, Stopping, dot, shrinkage};
use super::fourier_features::FourierFeatures;
use super::logistic::{sigmoid, value_and_slope};
use super::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::error::{Error, Result};
use crate::gaussian_process::Prediction;
use crate::labels::Labels;
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, Seed};
use crate::theory::normal;

/// Settings of Bayesian logistic regression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BayesianLogistic {
    /// F, the number of random features, at least 1. More of them come nearer to the kernel, at a cost that grows with
    /// their square.
    pub features: usize,
    /// What the features are drawn from, for all fits alike.
    pub features_seed: Seed,
    /// ℓ, in sides of the unit cube: `Fixed`, one for each coordinate, or, by default, `LeaveOneOut`, that of some candidates
    /// under which each label is best predicted from the others. With longer ones the probability varies more slowly.
    pub length_scales: LengthScales,
    /// s², the variance of the logit before any label is seen, the intercept's aside.
    pub prior_variance: f64,
    /// s_c², the variance of the intercept.
    pub intercept_variance: f64,
    /// The fit has converged once a step raises the evidence bound by no more than this for each label.
    pub tolerance: f64,
    /// Steps of expectation maximisation at most.
    pub max_steps: usize,
}

impl Named for BayesianLogistic {
    const NAME: &'static str = "bayesian-logistic";
    const DESCRIPTION: &'static str = "Bayesian logistic regression on random Fourier features";
}

impl Default for BayesianLogistic {
    /// F = 300 is the paper's. With s² = 5, π lies between 0.01 and 0.99 for logits within two deviations, as it must
    /// where values have little noise. Of 5, 25 and 100 none was best for BORE in all of 2, 4 and 6 dimensions of
    /// Rosenbrock's function, but BORE++ was better with 5 than with 25 in all three: a wide prior makes a bound of three
    /// deviations say little. The intercept need only cover γ between 0.1 and 0.9.
    fn default() -> Self {
        Self {
            features: 300,
            features_seed: Seed(0),
            length_scales: LengthScales::default(),
            prior_variance: 5.0,
            intercept_variance: 1.0,
            tolerance: 1e-5,
            max_steps: 100,
        }
    }
}

/// Where the length scales of a fit come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LengthScales {
    /// Given, one for each coordinate.
    Fixed {
        /// ℓ, positive, in sides of the unit cube.
        length_scales: Vec<f64>,
    },
    /// The same for all coordinates: that of the candidates under which each label is best predicted from the others,
    /// anew in every fit. Of equal ones the longest is taken.
    ///
    /// Not the one of highest evidence bound: the wider the prior, the more the bound loses with every label that a
    /// short length scale makes independent of the others (0.3 nats for s² = 25), so that it favours long ones whatever
    /// the labels.
    LeaveOneOut {
        /// Candidates, in units of √d: distances in the unit cube grow with √d.
        candidates: Vec<f64>,
        /// How many of the labels are looked at, evenly spread over the history.
        labels: usize,
    },
}

impl Default for LengthScales {
    /// Five candidates, each twice the one before, from a twentieth to most of the cube's diagonal.
    fn default() -> Self {
        Self::LeaveOneOut { candidates: vec![0.05, 0.1, 0.2, 0.4, 0.8], labels: 128 }
    }
}

impl Learner for BayesianLogistic {
    type Classifier = BayesianLogisticClassifier;

    /// Starts anew, so that the fit is a function of the labels alone; about ten steps leave little for a warm start to save.
    fn fit(
        &self,
        labels: &Labels<'_>,
        _previous: Option<&BayesianLogisticClassifier>,
        _rng: &mut Rng,
    ) -> Result<BayesianLogisticClassifier> {
        self.check(labels.dim())?;
        let length_scales = match &self.length_scales {
            LengthScales::Fixed { length_scales } => length_scales.clone(),
            LengthScales::LeaveOneOut { candidates, labels: count } => {
                self.likeliest(labels, candidates, *count)?
            }
        };
        let features = self.draw(&length_scales);
        let regression = self.regression(&features, labels, 0..labels.len());
        let fit = regression.maximise(self.stopping())?;
        let posterior::Gaussian { mut mean, mut covariance } =
            regression.posterior(&fit.contacts)?;
        // From weights of unit prior variance to those of φ.
        let deviations = self.prior_deviations(&features);
        mean.iter_mut().zip(&deviations).for_each(|(m, s)| *m *= s);
        for (row, s) in covariance.chunks_exact_mut(features.len()).zip(&deviations) {
            row.iter_mut().zip(&deviations).for_each(|(c, t)| *c *= s * t);
        }
        Ok(BayesianLogisticClassifier {
            features,
            length_scales,
            mean,
            covariance,
            evidence_bound: fit.bound,
            steps: fit.steps,
            converged: fit.converged,
        })
    }

    fn takes_weights(&self) -> bool {
        true
    }

    fn has_posterior(&self) -> bool {
        true
    }

    fn check(&self, dim: usize) -> Result<()> {
        for (field, value) in [("features", self.features), ("max-steps", self.max_steps)] {
            if value == 0 {
                return Err(Error::invalid(field, value, "at least 1"));
            }
        }
        positive("prior-variance", self.prior_variance)?;
        positive("intercept-variance", self.intercept_variance)?;
        positive("tolerance", self.tolerance)?;
        match &self.length_scales {
            LengthScales::Fixed { length_scales } => {
                if length_scales.len() != dim {
                    let allowed = format!("{dim}, one for each coordinate");
                    let count = length_scales.len();
                    return Err(Error::invalid("number of length scales", count, allowed));
                }
                check_scales("length scale", length_scales)
            }
            LengthScales::LeaveOneOut { candidates, labels } => {
                if candidates.is_empty() {
                    return Err(Error::invalid("length-scale candidates", "[]", "at least one"));
                }
                if *labels == 0 {
                    return Err(Error::invalid("labels left out", 0, "at least 1"));
                }
                check_scales("length-scale candidate", candidates)
            }
        }
    }
}

impl BayesianLogistic {
    fn draw(&self, length_scales: &[f64]) -> FourierFeatures {
        FourierFeatures::draw(length_scales, self.features, self.features_seed).with_intercept()
    }

    fn stopping(&self) -> Stopping {
        Stopping { tolerance: self.tolerance, max_steps: self.max_steps }
    }

    /// The prior deviation of each weight; the intercept's undoes the scale of its feature.
    fn prior_deviations(&self, features: &FourierFeatures) -> Vec<f64> {
        let mut deviations = vec![self.prior_variance.sqrt(); features.len()];
        deviations[self.features] = self.intercept_variance.sqrt() / features.scale();
        deviations
    }

    /// The regression on the labels of some indices.
    fn regression(
        &self,
        features: &FourierFeatures,
        labels: &Labels<'_>,
        indices: impl Iterator<Item = usize> + Clone,
    ) -> Regression {
        let points = Points::from_rows(labels.dim(), indices.clone().map(|i| labels.point(i)));
        let width = features.len();
        let mut psi = vec![0.0; points.len() * width];
        features.map(points.as_slice(), &mut psi);
        let deviations = self.prior_deviations(features);
        for row in psi.chunks_exact_mut(width) {
            row.iter_mut().zip(&deviations).for_each(|(entry, s)| *entry *= s);
        }
        Regression::new(width, psi, indices.map(|i| (labels.target(i), labels.weight(i))))
    }

    /// The length scales of highest leave-one-out likelihood.
    fn likeliest(&self, labels: &Labels<'_>, candidates: &[f64], count: usize) -> Result<Vec<f64>> {
        let (all, dim) = (labels.len(), labels.dim());
        let count = count.min(all);
        let mut candidates = candidates.to_vec();
        candidates.sort_by(|a, b| b.total_cmp(a));
        let mut best = (f64::NEG_INFINITY, 0.0);
        for candidate in candidates {
            let scale = candidate * (dim as f64).sqrt();
            let features = self.draw(&vec![scale; dim]);
            let indices = (0..count).map(|i| i * all / count);
            let regression = self.regression(&features, labels, indices);
            let fit = regression.maximise(self.stopping())?;
            let likelihood = regression.leave_one_out(&fit.contacts)?;
            if likelihood > best.0 {
                best = (likelihood, scale);
            }
        }
        Ok(vec![best.1; dim])
    }
}

fn positive(field: &str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::invalid(field, value, "positive and finite"))
}

fn check_scales(field: &str, scales: &[f64]) -> Result<()> {
    scales.iter().enumerate().try_for_each(|(k, &scale)| positive(&format!("{field} {k}"), scale))
}

/// The fitted posterior N(m, S) of the weights of φ.
#[derive(Debug, Clone)]
pub struct BayesianLogisticClassifier {
    features: FourierFeatures,
    length_scales: Vec<f64>,
    /// m, the mean of the weights.
    mean: Vec<f64>,
    /// S, symmetric.
    covariance: Vec<f64>,
    evidence_bound: f64,
    steps: usize,
    converged: bool,
}

/// Points whose features are worked on together: enough to read S once for many, few enough to stay in cache.
const BLOCK: usize = 32;

/// Features and what follows from them, for a block of points.
#[derive(Default)]
struct Block {
    /// φ(x), point after point.
    features: Vec<f64>,
    /// Sφ(x).
    images: Vec<f64>,
    /// dφ/du, if gradients are wanted.
    slopes: Vec<f64>,
}

impl BayesianLogisticClassifier {
    /// μ(x) and s(x), the mean and the deviation of the logit.
    pub fn predict(&self, x: &[f64]) -> Prediction {
        let mut block = Block::default();
        self.map(x, false, &mut block);
        self.moments(&block, 0)
    }

    /// μ(x) + β s(x).
    pub fn upper(&self, confidence: Confidence, x: &[f64]) -> Result<f64> {
        let Prediction { mean, deviation } = self.predict(x);
        Ok(mean + confidence_width(confidence)? * deviation)
    }

    /// ℓ, the length scales of the fit.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// The lower bound on the log evidence that the fit reached.
    pub fn evidence_bound(&self) -> f64 {
        self.evidence_bound
    }

    /// Steps of expectation maximisation that the fit took.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Whether the bound had stopped rising when the fit ended.
    pub fn converged(&self) -> bool {
        self.converged
    }

    /// Fills `block` for `points`, which stand row after row.
    fn map(&self, points: &[f64], with_slopes: bool, block: &mut Block) {
        let (width, count) = (self.features.len(), points.len() / self.features.dim());
        block.features.resize(width * count, 0.0);
        block.images.resize(width * count, 0.0);
        if with_slopes {
            block.slopes.resize(width * count, 0.0);
            self.features.map_with_slopes(points, &mut block.features, &mut block.slopes);
        } else {
            self.features.map(points, &mut block.features);
        }
        let covariance = MatRef::from_column_major_slice(&self.covariance, width, width);
        let features = MatRef::from_column_major_slice(&block.features, width, count);
        let images = MatMut::from_column_major_slice_mut(&mut block.images, width, count);
        matmul(images, Accum::Replace, covariance, features, 1.0, Par::Seq);
    }

    /// μ and s at the `p`-th point of a block.
    fn moments(&self, block: &Block, p: usize) -> Prediction {
        let range = p * self.features.len()..(p + 1) * self.features.len();
        let features = &block.features[range.clone()];
        let variance = dot(features, &block.images[range]);
        // Positive but for rounding; the floor keeps the gradient of the root finite.
        let deviation = variance.max(f64::MIN_POSITIVE).sqrt();
        Prediction { mean: dot(features, &self.mean), deviation }
    }
}

impl Classifier for BayesianLogisticClassifier {
    type Acquisition<'c> = LogisticAcquisition<'c>;

    fn dim(&self) -> usize {
        self.features.dim()
    }

    fn probability(&self, x: &[f64]) -> f64 {
        let Prediction { mean, deviation } = self.predict(x);
        sigmoid(mean * shrinkage(deviation))
    }

    /// log π̂/(1 - π̂) or log π̂, with π̂ = E[σ(a(x))].
    fn acquisition(&self, target: Target) -> LogisticAcquisition<'_> {
        LogisticAcquisition { classifier: self, logit: Logit::Predictive, target }
    }
}

impl Uncertain for BayesianLogisticClassifier {
    type UpperBound<'c> = LogisticAcquisition<'c>;

    /// u(x) = μ(x) + β s(x) or log σ(u(x)). Where β = 0 this is the logit's mean, not the predictive π̂.
    fn upper_bound(
        &self,
        confidence: Confidence,
        target: Target,
    ) -> Result<LogisticAcquisition<'_>> {
        let width = confidence_width(confidence)?;
        Ok(LogisticAcquisition { classifier: self, logit: Logit::Upper { width }, target })
    }
}

/// β: the width given, or the quantile Φ⁻¹(1 - δ).
fn confidence_width(confidence: Confidence) -> Result<f64> {
    confidence.check()?;
    Ok(match confidence {
        Confidence::Width(width) => width,
        Confidence::Level { failure_probability, .. } => -normal::quantile(failure_probability),
    })
}

/// The posterior of the logit as one number a point.
#[derive(Debug, Clone, Copy)]
enum Logit {
    /// That of the predictive probability π̂.
    Predictive,
    /// μ + β s.
    Upper { width: f64 },
}

impl Logit {
    /// The number and its derivatives with respect to μ and s.
    fn read(self, Prediction { mean, deviation }: Prediction) -> (f64, f64, f64) {
        match self {
            Self::Predictive => {
                let shrinkage = shrinkage(deviation);
                let in_deviation = -mean * shrinkage.powi(3) * EIGHTH_OF_PI * deviation;
                (mean * shrinkage, shrinkage, in_deviation)
            }
            Self::Upper { width } => (mean + width * deviation, 1.0, width),
        }
    }
}

/// A fitted Bayesian logistic regression as an acquisition.
#[derive(Debug, Clone, Copy)]
pub struct LogisticAcquisition<'c> {
    classifier: &'c BayesianLogisticClassifier,
    logit: Logit,
    target: Target,
}

impl Acquisition for LogisticAcquisition<'_> {
    fn dim(&self) -> usize {
        self.classifier.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        let logit = self.logit.read(self.classifier.predict(x)).0;
        value_and_slope(self.target, logit).0
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let mut block = Block::default();
        let blocks = points.as_slice().chunks(BLOCK * points.dim());
        for (points, values) in blocks.zip(values.chunks_mut(BLOCK)) {
            self.classifier.map(points, false, &mut block);
            for (p, value) in values.iter_mut().enumerate() {
                let logit = self.logit.read(self.classifier.moments(&block, p)).0;
                *value = value_and_slope(self.target, logit).0;
            }
        }
    }

    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        self.target.log_densities(self, points, densities)
    }

    /// A draw of the weights, whatever the width.
    fn draw(&self, rng: &mut Rng) -> Result<Option<Box<dyn Acquisition + '_>>> {
        Ok(Some(Box::new(draw::Draw::new(self.classifier, self.target, rng)?)))
    }
}

impl SmoothAcquisition for LogisticAcquisition<'_> {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = [0.0];
        self.gradients_in_block(x, &mut value, gradient, &mut Block::default());
        value[0]
    }

    fn values_and_gradients(&self, points: &Points, values: &mut [f64], gradients: &mut Points) {
        let mut block = Block::default();
        let length = BLOCK * points.dim();
        let blocks = points.as_slice().chunks(length);
        let gradients = gradients.as_mut_slice().chunks_mut(length);
        for ((points, values), gradients) in blocks.zip(values.chunks_mut(BLOCK)).zip(gradients) {
            self.gradients_in_block(points, values, gradients, &mut block);
        }
    }
}

impl LogisticAcquisition<'_> {
    /// Values and gradients at the points of one block, by ∇s = (Sφ)ᵀ∇φ / s.
    fn gradients_in_block(
        &self,
        points: &[f64],
        values: &mut [f64],
        gradients: &mut [f64],
        block: &mut Block,
    ) {
        let BayesianLogisticClassifier { features, mean, .. } = self.classifier;
        self.classifier.map(points, true, block);
        for (p, value) in values.iter_mut().enumerate() {
            let prediction = self.classifier.moments(block, p);
            let (logit, in_mean, in_deviation) = self.logit.read(prediction);
            let slope;
            (*value, slope) = value_and_slope(self.target, logit);
            let (in_mean, in_image) =
                (slope * in_mean, slope * in_deviation / prediction.deviation);
            let range = p * features.len()..(p + 1) * features.len();
            // The slopes become the coefficients of the arguments' gradients.
            let coefficients = block.slopes[range.clone()].iter_mut();
            for ((c, m), image) in coefficients.zip(mean).zip(&block.images[range]) {
                *c *= in_mean * m + in_image * image;
            }
        }
        features.pull_back(&block.slopes, gradients);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::labels::{Threshold, Weights};
    use crate::outcome::Outcome;
    use crate::seed::uniform;
    use proptest::prelude::*;

    const DIM: usize = 2;
    const TARGETS: [Target; 2] = [Target::Logit, Target::LogProbability];

    /// Values of a bowl at random points.
    fn history(len: usize, seed: u64) -> History {
        let mut rng = Seed(seed).stream("history", 0);
        let mut history = History::new(DIM);
        for _ in 0..len {
            let x = [(); DIM].map(|()| uniform(&mut rng));
            let value: f64 = x.iter().map(|x| (x - 0.3) * (x - 0.3)).sum();
            history.push(&x, Outcome::from(value)).unwrap();
        }
        history
    }

    fn small() -> BayesianLogistic {
        let length_scales = LengthScales::Fixed { length_scales: vec![0.2, 0.5] };
        BayesianLogistic { features: 40, length_scales, ..BayesianLogistic::default() }
    }

    fn fit_labels(learner: &BayesianLogistic, labels: &Labels<'_>) -> BayesianLogisticClassifier {
        learner.fit(labels, None, &mut Seed(0).stream("fit", 0)).unwrap()
    }

    fn fit(learner: &BayesianLogistic, history: &History) -> BayesianLogisticClassifier {
        fit_labels(
            learner,
            &Threshold::default().label(history.points(), history.objective()).unwrap(),
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn gradients_are_those_of_finite_differences_and_batches_of_single_points(
            len in 1..80_usize,
            seed in 0..1000_u64,
            width in prop_oneof![Just(None), Just(Some(0.0)), (0.1..4.0_f64).prop_map(Some)],
        ) {
            let classifier = fit(&small(), &history(len, seed));
            let mut rng = Seed(seed).stream("at", 0);
            let count = BLOCK + 3;
            let rows = (0..count).map(|_| [(); DIM].map(|()| uniform(&mut rng)));
            let at = Points::from_rows(DIM, rows);
            for target in TARGETS {
                let acquisition = match width {
                    None => classifier.acquisition(target),
                    Some(width) => {
                        classifier.upper_bound(Confidence::Width(width), target).unwrap()
                    }
                };
                let (mut values, mut batched) = (vec![0.0; count], vec![0.0; count]);
                let mut gradients = Points::zeros(DIM, count);
                acquisition.values(&at, &mut values);
                acquisition.values_and_gradients(&at, &mut batched, &mut gradients);
                for (p, x) in at.rows().enumerate() {
                    let mut gradient = [0.0; DIM];
                    let value = acquisition.value_and_gradient(x, &mut gradient);
                    for other in [acquisition.value(x), values[p], batched[p]] {
                        prop_assert!((value - other).abs() < 1e-10 * (1.0 + value.abs()));
                    }
                    for k in 0..DIM {
                        let moved = |step: f64| {
                            let mut x = x.to_vec();
                            x[k] += step;
                            acquisition.value(&x)
                        };
                        let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                        let error = (gradient[k] - numeric).abs();
                        prop_assert!(error < 1e-6 * (1.0 + numeric.abs()), "{} {}", gradient[k], numeric);
                        let error = (gradients.row(p)[k] - gradient[k]).abs();
                        prop_assert!(error < 1e-9 * (1.0 + numeric.abs()));
                    }
                }
            }
        }

        #[test]
        fn readings_agree_with_probability_and_prediction(len in 1..60_usize, seed in 0..1000_u64) {
            let classifier = fit(&small(), &history(len, seed));
            let x = [0.4, 0.7];
            let (probability, Prediction { mean, deviation }) =
                (classifier.probability(&x), classifier.predict(&x));
            let value = |target| classifier.acquisition(target).value(&x);
            let logit = (probability / (1.0 - probability)).ln();
            prop_assert!((value(Target::Logit) - logit).abs() < 1e-9);
            prop_assert!((value(Target::LogProbability) - probability.ln()).abs() < 1e-9);
            let level = Confidence::Level { failure_probability: 0.1, norm_bound: 7.0 };
            for (confidence, width) in [(Confidence::Width(3.0), 3.0), (level, 1.281_551_565_544_6)] {
                let upper = mean + width * deviation;
                prop_assert!((classifier.upper(confidence, &x).unwrap() - upper).abs() < 1e-9);
                let bound = classifier.upper_bound(confidence, Target::Logit).unwrap();
                prop_assert!((bound.value(&x) - upper).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_predictive_probability_is_near_the_integral() {
        // E[σ(a)] for a ~ N(μ, s²) by the trapezium rule; MacKay's approximation is good to two digits.
        for (mean, deviation) in [(0.5, 1.0_f64), (-2.0, 2.0), (3.0, 4.0)] {
            let (mut sum, step) = (0.0, 1e-3);
            for i in -8000..=8000 {
                let u = f64::from(i) * step;
                sum += normal::density(u) * sigmoid(mean + deviation * u) * step;
            }
            let (logit, ..) = Logit::Predictive.read(Prediction { mean, deviation });
            assert!((sigmoid(logit) - sum).abs() < 0.02, "{} {sum}", sigmoid(logit));
        }
    }

    #[test]
    fn the_default_finds_the_good_region_and_knows_where_it_knows_little() {
        let classifier = fit(&BayesianLogistic::default(), &history(60, 7));
        assert!(classifier.converged());
        assert!(classifier.probability(&[0.3, 0.3]) > 0.8);
        assert!(classifier.probability(&[0.9, 0.9]) < 0.2);
        let crowded = fit(&small(), &history(200, 7));
        let alone = fit(&small(), &history(1, 7));
        assert!(crowded.predict(&[0.5, 0.5]).deviation < alone.predict(&[0.5, 0.5]).deviation);
    }

    #[test]
    fn left_out_labels_tell_short_scales_from_long_ones() {
        // Stripes of width 0.125 against two halves.
        let label = |wavelength: f64| {
            let mut rng = Seed(1).stream("stripes", 0);
            let mut history = History::new(DIM);
            for _ in 0..300 {
                let x = [(); DIM].map(|()| uniform(&mut rng));
                let value = -(x[0] / wavelength * std::f64::consts::TAU).sin();
                history.push(&x, Outcome::from(value)).unwrap();
            }
            let labels = Threshold::Fixed { value: 0.0 }
                .label(history.points(), history.objective())
                .unwrap();
            fit_labels(&BayesianLogistic::default(), &labels).length_scales()[0]
        };
        let (stripes, halves) = (label(0.25), label(1.0));
        assert!(stripes < 0.2 && halves > stripes, "{stripes} {halves}");
    }

    #[test]
    fn fits_are_pure_and_heed_weights() {
        let history = history(50, 3);
        let learner = BayesianLogistic { features: 60, ..BayesianLogistic::default() };
        let first = fit(&learner, &history);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let rng = &mut Seed(9).stream("another", 9);
        let again = learner.fit(&labels, Some(&fit(&learner, &self::history(20, 5))), rng).unwrap();
        assert_eq!((&first.mean, &first.covariance), (&again.mean, &again.covariance));
        let weighted = Threshold::default()
            .label_weighted(Weights::Improvement, history.points(), history.objective())
            .unwrap();
        let weighted = fit_labels(&learner, &weighted);
        assert_ne!(first.mean, weighted.mean);
        // The best point counts most.
        assert!(weighted.probability(&[0.3, 0.3]) > 0.5);
    }

    #[test]
    fn few_equal_and_repeated_observations_are_fitted() {
        let mut all_good = History::new(DIM);
        let mut all_bad = History::new(DIM);
        let mut repeated = History::new(DIM);
        for i in 0..400 {
            let x = [f64::from(i) / 400.0, 0.5];
            all_good.push(&x, Outcome::from(1.0)).unwrap();
            all_bad.push(&x, Outcome::failed()).unwrap();
            repeated.push(&[0.5, 0.5], Outcome::from(f64::from(i))).unwrap();
        }
        for learner in [small(), BayesianLogistic::default()] {
            let labels = Threshold::Fixed { value: 0.0 }
                .label(all_bad.points(), all_bad.objective())
                .unwrap();
            let (good, bad) = (fit(&learner, &all_good), fit_labels(&learner, &labels));
            assert!(good.probability(&[0.5, 0.5]) > 0.95 && bad.probability(&[0.5, 0.5]) < 0.05);
            let repeated = fit(&learner, &repeated);
            assert!((repeated.probability(&[0.5, 0.5]) - 0.25).abs() < 0.02);
            for classifier in [good, bad, repeated, fit(&learner, &history(1, 0))] {
                for target in TARGETS {
                    let bound = classifier.upper_bound(Confidence::default(), target).unwrap();
                    let mut gradient = [0.0; DIM];
                    let value = bound.value_and_gradient(&[0.5, 0.5], &mut gradient);
                    assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()));
                }
            }
        }
    }

    #[test]
    fn far_logits_keep_their_order_and_their_gradient() {
        let (low, slope) = value_and_slope(Target::LogProbability, -800.0);
        assert_eq!((low, slope), (-800.0, 1.0));
        let (high, slope) = value_and_slope(Target::LogProbability, 30.0);
        assert!(high < 0.0 && high > -1e-12 && slope > 0.0);
    }

    #[test]
    fn settings_that_no_fit_could_use_are_refused_by_name() {
        let good = BayesianLogistic::default;
        let candidates = |candidates| LengthScales::LeaveOneOut { candidates, labels: 9 };
        for (learner, field) in [
            (BayesianLogistic { features: 0, ..good() }, "features is 0"),
            (BayesianLogistic { prior_variance: 0.0, ..good() }, "prior-variance is 0"),
            (BayesianLogistic { intercept_variance: -1.0, ..good() }, "intercept-variance is -1"),
            (BayesianLogistic { tolerance: f64::NAN, ..good() }, "tolerance is NaN"),
            (BayesianLogistic { length_scales: candidates(vec![]), ..good() }, "[]"),
            (
                BayesianLogistic { length_scales: candidates(vec![1.0, 0.0]), ..good() },
                "candidate 1",
            ),
        ] {
            let error = learner.check(DIM).unwrap_err().to_string();
            assert!(error.contains(field), "{error}");
        }
        assert!(small().check(3).unwrap_err().to_string().contains("number of length scales is 2"));
        assert!(good().check(DIM).is_ok());
    }

    #[test]
    fn settings_are_read_back_as_they_were_written() {
        for learner in [BayesianLogistic::default(), small()] {
            let text = serde_json::to_string(&learner).unwrap();
            assert_eq!(serde_json::from_str::<BayesianLogistic>(&text).unwrap(), learner, "{text}");
        }
        let partial: BayesianLogistic = serde_json::from_str(r#"{"max-steps": 7}"#).unwrap();
        assert_eq!(partial, BayesianLogistic { max_steps: 7, ..BayesianLogistic::default() });
        assert!(serde_json::from_str::<BayesianLogistic>(r#"{"steps": 7}"#).is_err());
    }
}
