//! Ensemble of perceptrons: a network classifier that knows its own uncertainty (paper, section 4.1).
//!
//! n networks are trained alike but for their random start and their random minibatches; where the data say
//! little they disagree. The class probability is the mean of theirs,
//!
//! ```text
//! π̂_t(x) = (1/n) Σᵢ σ(lᵢ(x)),     σ(l) = 1 / (1 + e⁻ˡ),     lᵢ the logit of member i,
//! ```
//!
//! and the upper bound of BORE++ is taken over the members' logits: mean and deviation for
//! [`Confidence::Width`], an empirical quantile for [`Confidence::Level`]; see [`EnsembleAcquisition`].
//! Both are heuristics: Theorem 1 says nothing about networks.
//!
//! A member's randomness depends on its index alone, so the same seed and labels give the same bits on any
//! number of threads, and adding members leaves the others as they were. A warm start continues each member
//! from its own previous fit.
//!
//! Cost: n fits of a perceptron, shared among the processor's cores where they are long enough; n gradients of a
//! perceptron for a gradient. Fails with `Error::Diverged` when a member does.
//!
//! Half of this file is tests.

use std::thread;

use rand_xoshiro::rand_core::Rng as _;
use serde::{Deserialize, Serialize};

use super::parallel::in_parallel;
use super::perceptron::{Network, Perceptron};
use super::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::error::{Error, Result};
use crate::labels::Labels;
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, Seed, below};

/// Members an ensemble may have at most.
const MAX_MEMBERS: usize = 256;

/// Settings of the ensemble.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Ensemble {
    /// How many networks; from 1 to 256.
    pub members: usize,
    /// What each of them is.
    pub perceptron: Perceptron,
}

impl Named for Ensemble {
    const NAME: &'static str = "ensemble";
    const DESCRIPTION: &'static str = "several perceptrons";
}

impl Default for Ensemble {
    /// Five networks, the size that Lakshminarayanan, Pritzel and Blundell (2017) found enough, of the paper's kind.
    fn default() -> Self {
        Self { members: 5, perceptron: Perceptron::default() }
    }
}

impl Learner for Ensemble {
    type Classifier = EnsembleClassifier;

    fn fit(
        &self,
        labels: &Labels<'_>,
        previous: Option<&EnsembleClassifier>,
        rng: &mut Rng,
    ) -> Result<EnsembleClassifier> {
        self.check(labels.dim())?;
        let threads = if self.work_to_share(labels) > WORTH_A_THREAD {
            thread::available_parallelism().map_or(1, usize::from)
        } else {
            1
        };
        self.fit_on(threads, labels, previous, rng)
    }

    fn kept_every(&self) -> Option<usize> {
        self.perceptron.kept_every()
    }

    fn for_batches(self, batch_size: usize) -> Self {
        Self { perceptron: self.perceptron.for_batches(batch_size), ..self }
    }

    fn takes_weights(&self) -> bool {
        self.perceptron.takes_weights()
    }

    fn has_posterior(&self) -> bool {
        true
    }

    fn check(&self, dim: usize) -> Result<()> {
        if !(1..=MAX_MEMBERS).contains(&self.members) {
            return Err(Error::invalid(
                "members",
                self.members,
                format!("from 1 to {MAX_MEMBERS}"),
            ));
        }
        self.perceptron.check(dim)
    }
}

/// Multiply-adds, about 50 µs of them, that pay for asking how many cores there are and for starting a thread.
const WORTH_A_THREAD: f64 = 2e6;

/// The points whose pass through the network takes as long as a step of Adam.
const POINTS_A_STEP: usize = 12;

impl Ensemble {
    /// About how many multiply-adds other threads could take over.
    fn work_to_share(&self, labels: &Labels<'_>) -> f64 {
        let Perceptron { hidden, steps, minibatch, .. } = &self.perceptron;
        let (mut inputs, mut weights) = (labels.dim(), 0.0);
        for &outputs in hidden.iter().chain(&[1]) {
            weights += inputs as f64 * outputs as f64;
            inputs = outputs;
        }
        let points = labels.len().min(*minibatch) + POINTS_A_STEP;
        // Each weight is used for the value, for the gradient, and to change it.
        3.0 * weights * points as f64 * *steps as f64 * (self.members - 1) as f64
    }

    /// The fit, shared among `threads` threads of which the caller's is one.
    fn fit_on(
        &self,
        threads: usize,
        labels: &Labels<'_>,
        previous: Option<&EnsembleClassifier>,
        rng: &mut Rng,
    ) -> Result<EnsembleClassifier> {
        let seed = Seed(rng.next_u64());
        let members = in_parallel(self.members, threads, |i| {
            let previous = previous.and_then(|previous| previous.members.get(i));
            self.perceptron.fit(labels, previous, &mut seed.stream("member", i as u64))
        });
        Ok(EnsembleClassifier { members: members.into_iter().collect::<Result<_>>()? })
    }
}

/// A trained ensemble.
#[derive(Debug, Clone)]
pub struct EnsembleClassifier {
    /// At least one.
    members: Vec<Network>,
}

impl EnsembleClassifier {
    /// The networks.
    pub fn members(&self) -> &[Network] {
        &self.members
    }
}

impl Classifier for EnsembleClassifier {
    type Acquisition<'c> = EnsembleAcquisition<'c>;

    fn dim(&self) -> usize {
        self.members[0].dim()
    }

    fn probability(&self, x: &[f64]) -> f64 {
        self.members.iter().map(|member| member.probability(x)).sum::<f64>()
            / self.members.len() as f64
    }

    fn acquisition(&self, target: Target) -> EnsembleAcquisition<'_> {
        EnsembleAcquisition { ensemble: self, reading: Reading::MeanProbability, target }
    }
}

impl Uncertain for EnsembleClassifier {
    type UpperBound<'c> = EnsembleAcquisition<'c>;

    /// The bound on the logit that the type's documentation gives. A `norm_bound` is not used.
    fn upper_bound(
        &self,
        confidence: Confidence,
        target: Target,
    ) -> Result<EnsembleAcquisition<'_>> {
        confidence.check()?;
        let reading = match confidence {
            Confidence::Width(width) => Reading::Width(width),
            Confidence::Level { failure_probability, .. } => {
                Reading::Quantile(1.0 - failure_probability)
            }
        };
        Ok(EnsembleAcquisition { ensemble: self, reading, target })
    }
}

/// An ensemble read as an acquisition: its probability, or an upper bound.
///
/// | reading | u(x), a logit |
/// |---|---|
/// | the probability | logit of the mean of σ(lᵢ) |
/// | [`Confidence::Width`] β | mean of lᵢ + β · deviation of lᵢ |
/// | [`Confidence::Level`] δ | (1 - δ)-quantile of lᵢ |
///
/// [`Target::Logit`] is u, [`Target::LogProbability`] is log σ(u).
///
/// # Design
/// The bounds are taken on the logits because these have no end: deviations are not squeezed where π is near 0
/// or 1, and no bound leaves (0, 1). The deviation is the members' own, √((1/n) Σ (lᵢ - mean)²): they are the
/// distribution that is averaged over, not a sample of something larger, and a single member has none. So that it
/// is smooth where the members agree, √(v + ε²) - ε is used for √v, with ε at the f32 rounding of a logit.
///
/// The quantile lies (1 - δ)(n - 1) places above the lowest logit, between two members by linear
/// interpolation: it runs from the lowest member to the highest, is continuous in x, and has a gradient
/// everywhere but where members change places. With δ < 1/n it is nearly the highest.
#[derive(Debug, Clone, Copy)]
pub struct EnsembleAcquisition<'c> {
    ensemble: &'c EnsembleClassifier,
    reading: Reading,
    target: Target,
}

impl Acquisition for EnsembleAcquisition<'_> {
    fn dim(&self) -> usize {
        self.ensemble.dim()
    }

    fn value(&self, x: &[f64]) -> f64 {
        let logits: Vec<f64> = self.ensemble.members.iter().map(|member| member.logit(x)).collect();
        self.reading.combine(self.target, &logits, &mut vec![0.0; logits.len()])
    }

    fn values(&self, points: &Points, values: &mut [f64]) {
        let members = &self.ensemble.members;
        // Member after member.
        let mut logits = vec![0.0; members.len() * points.len()];
        for (member, logits) in members.iter().zip(chunks(&mut logits, points.len())) {
            member.acquisition(Target::Logit).values(points, logits);
        }
        let (mut of_point, mut slopes) = (vec![0.0; members.len()], vec![0.0; members.len()]);
        for (p, value) in values.iter_mut().enumerate() {
            gather(&logits, points.len(), p, &mut of_point);
            *value = self.reading.combine(self.target, &of_point, &mut slopes);
        }
    }

    fn log_densities(&self, points: &Points, densities: &mut [f64]) -> Option<f64> {
        self.target.log_densities(self, points, densities)
    }

    /// One of the members, each as likely, whatever the reading.
    fn draw(&self, rng: &mut Rng) -> Result<Option<Box<dyn Acquisition + '_>>> {
        let members = &self.ensemble.members;
        Ok(Some(Box::new(members[below(rng, members.len())].acquisition(self.target))))
    }
}

impl SmoothAcquisition for EnsembleAcquisition<'_> {
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = [0.0];
        let mut gradients = Points::zeros(x.len(), 1);
        self.values_and_gradients(&Points::from_rows(x.len(), [x]), &mut value, &mut gradients);
        gradient.copy_from_slice(gradients.row(0));
        value[0]
    }

    fn values_and_gradients(&self, points: &Points, values: &mut [f64], gradients: &mut Points) {
        let members = &self.ensemble.members;
        let mut logits = vec![0.0; members.len() * points.len()];
        let mut of_members = vec![Points::zeros(points.dim(), points.len()); members.len()];
        for ((member, logits), gradients) in
            members.iter().zip(chunks(&mut logits, points.len())).zip(&mut of_members)
        {
            member.acquisition(Target::Logit).values_and_gradients(points, logits, gradients);
        }
        let (mut of_point, mut slopes) = (vec![0.0; members.len()], vec![0.0; members.len()]);
        for (p, (value, gradient)) in values.iter_mut().zip(gradients.rows_mut()).enumerate() {
            gather(&logits, points.len(), p, &mut of_point);
            *value = self.reading.combine(self.target, &of_point, &mut slopes);
            gradient.fill(0.0);
            for (slope, of_member) in slopes.iter().zip(&of_members) {
                for (sum, term) in gradient.iter_mut().zip(of_member.row(p)) {
                    *sum += slope * term;
                }
            }
        }
    }
}

/// Parts of `len` numbers; none at all if `len` is 0.
fn chunks(numbers: &mut [f64], len: usize) -> std::slice::ChunksExactMut<'_, f64> {
    numbers.chunks_exact_mut(len.max(1))
}

/// Collects what each member says about the `p`-th of `len` points.
fn gather(logits: &[f64], len: usize, p: usize, of_point: &mut [f64]) {
    for (logit, of_member) in of_point.iter_mut().zip(logits.chunks_exact(len)) {
        *logit = of_member[p];
    }
}

/// How the members' logits become one number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Reading {
    MeanProbability,
    /// β: the bound is the mean and so many deviations.
    Width(f64),
    /// 1 - δ: the bound is this quantile.
    Quantile(f64),
}

impl Reading {
    /// The acquisition's value where the members have these `logits`; its derivatives in them go to `slopes`.
    fn combine(self, target: Target, logits: &[f64], slopes: &mut [f64]) -> f64 {
        let logit = match self {
            Self::MeanProbability => return mean_probability(target, logits, slopes),
            Self::Width(width) => mean_and_deviation(width, logits, slopes),
            Self::Quantile(level) => quantile(level, logits, slopes),
        };
        match target {
            Target::Logit => logit,
            Target::LogProbability => {
                let tail = (-logit.abs()).exp();
                // d/du log σ(u) = σ(-u).
                let slope = if logit > 0.0 { tail } else { 1.0 } / (1.0 + tail);
                slopes.iter_mut().for_each(|s| *s *= slope);
                logit.min(0.0) - tail.ln_1p()
            }
        }
    }
}

/// log p or log p/(1 - p) of the mean p of σ(lᵢ).
///
/// Σ σ(lᵢ) and Σ σ(-lᵢ) are taken relative to their largest term, so that neither underflows.
fn mean_probability(target: Target, logits: &[f64], slopes: &mut [f64]) -> f64 {
    let highest = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = logits.iter().copied().fold(f64::INFINITY, f64::min);
    // Logarithms of what each sum is relative to: σ(l) = e^min(l, 0) / (1 + e^-|l|).
    let (good_unit, bad_unit) = (highest.min(0.0), (-lowest).min(0.0));
    let (mut good, mut bad) = (0.0, 0.0);
    for logit in logits {
        let denominator = 1.0 + (-logit.abs()).exp();
        good += (logit.min(0.0) - good_unit).exp() / denominator;
        bad += ((-logit).min(0.0) - bad_unit).exp() / denominator;
    }
    for (logit, slope) in logits.iter().zip(slopes) {
        // dσ/dl = σ(l) σ(-l) = e^-|l| / (1 + e^-|l|)².
        let distance = logit.abs();
        let denominator = 1.0 + (-distance).exp();
        let relative = |unit: f64| (-distance - unit).exp() / (denominator * denominator);
        *slope = relative(good_unit) / good;
        if target == Target::Logit {
            *slope += relative(bad_unit) / bad;
        }
    }
    match target {
        Target::LogProbability => good_unit + (good / logits.len() as f64).ln(),
        Target::Logit => good_unit - bad_unit + (good / bad).ln(),
    }
}

/// A deviation of the logits below which they are equal, for f32.
const ROUNDING: f64 = 1e-6;

/// Mean plus `width` deviations.
fn mean_and_deviation(width: f64, logits: &[f64], slopes: &mut [f64]) -> f64 {
    let share = 1.0 / logits.len() as f64;
    let mean = share * logits.iter().sum::<f64>();
    let variance = share * logits.iter().map(|logit| (logit - mean).powi(2)).sum::<f64>();
    let root = (variance + ROUNDING * ROUNDING).sqrt();
    for (logit, slope) in logits.iter().zip(slopes) {
        *slope = share * (1.0 + width * (logit - mean) / root);
    }
    // √(v + ε²) - ε, without its cancellation.
    mean + width * variance / (root + ROUNDING)
}

/// The point `level` of the way from the lowest to the highest, by rank.
fn quantile(level: f64, logits: &[f64], slopes: &mut [f64]) -> f64 {
    let mut order: Vec<usize> = (0..logits.len()).collect();
    order.sort_by(|&a, &b| logits[a].total_cmp(&logits[b]));
    let place = level * (logits.len() - 1) as f64;
    let (below, above) = (order[place.floor() as usize], order[place.ceil() as usize]);
    let part = place.fract();
    slopes.fill(0.0);
    slopes[below] += 1.0 - part;
    slopes[above] += part;
    logits[below] + part * (logits[above] - logits[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::logistic::sigmoid;
    use crate::classifier::perceptron::{Activation, Start};
    use crate::history::History;
    use crate::labels::Threshold;
    use crate::outcome::Outcome;
    use crate::seed::uniform;
    use proptest::prelude::*;

    const TARGETS: [Target; 2] = [Target::Logit, Target::LogProbability];

    fn level(failure_probability: f64) -> Confidence {
        Confidence::Level { failure_probability, norm_bound: 0.0 }
    }

    /// Smooth networks, so that finite differences meet no kinks.
    fn smooth() -> Ensemble {
        let perceptron = Perceptron { activation: Activation::Tanh, ..Perceptron::default() };
        Ensemble { perceptron, ..Ensemble::default() }
    }

    /// Points of the cube's lower corner, of half its side, better the nearer to 0.3.
    fn history(dim: usize, len: usize) -> History {
        let mut history = History::new(dim);
        let mut rng = Seed(1).stream("test", 0);
        for _ in 0..len {
            let x: Vec<f64> = (0..dim).map(|_| 0.5 * uniform(&mut rng)).collect();
            let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
            history.push(&x, Outcome::from(value)).unwrap();
        }
        history
    }

    fn fit(settings: &Ensemble, history: &History) -> EnsembleClassifier {
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        settings.fit(&labels, None, &mut Seed(1).stream("fit", 0)).unwrap()
    }

    fn random_points(dim: usize, len: usize, index: u64) -> Points {
        let mut rng = Seed(2).stream("points", index);
        let mut points = Points::zeros(dim, len);
        points.as_mut_slice().iter_mut().for_each(|x| *x = uniform(&mut rng));
        points
    }

    /// Every way of reading an ensemble as an acquisition.
    fn acquisitions(ensemble: &EnsembleClassifier) -> Vec<EnsembleAcquisition<'_>> {
        let of_target = |target| {
            let bound = move |confidence| ensemble.upper_bound(confidence, target).unwrap();
            let bounds = [Confidence::Width(0.0), Confidence::Width(3.0), level(0.1), level(0.6)];
            bounds.into_iter().map(bound).chain([ensemble.acquisition(target)])
        };
        TARGETS.into_iter().flat_map(of_target).collect()
    }

    /// The value as the documentation has it.
    fn naive(reading: Reading, target: Target, logits: &[f64]) -> f64 {
        let n = logits.len() as f64;
        let probability = match reading {
            Reading::MeanProbability => logits.iter().map(|l| sigmoid(*l)).sum::<f64>() / n,
            Reading::Width(width) => {
                let mean = logits.iter().sum::<f64>() / n;
                let squares = logits.iter().map(|l| (l - mean).powi(2)).sum::<f64>();
                sigmoid(mean + width * (squares / n).sqrt())
            }
            Reading::Quantile(level) => {
                let mut sorted = logits.to_vec();
                sorted.sort_by(f64::total_cmp);
                let place = level * (n - 1.0);
                let below = (place as usize).min(logits.len().saturating_sub(2));
                let above = (below + 1).min(logits.len() - 1);
                let part = place - below as f64;
                sigmoid((1.0 - part) * sorted[below] + part * sorted[above])
            }
        };
        match target {
            Target::Logit => (probability / (1.0 - probability)).ln(),
            Target::LogProbability => probability.ln(),
        }
    }

    fn readings() -> impl Strategy<Value = Reading> {
        prop_oneof![
            Just(Reading::MeanProbability),
            (0.0..5.0_f64).prop_map(Reading::Width),
            (0.0..1.0_f64).prop_map(Reading::Quantile),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn logits_are_combined_as_documented_and_the_slopes_are_those_of_finite_differences(
            reading in readings(),
            logits in prop::collection::vec(-5.0..5.0_f64, 1..9),
        ) {
            // Where members change places a quantile has a kink.
            let mut sorted = logits.clone();
            sorted.sort_by(f64::total_cmp);
            prop_assume!(sorted.windows(2).all(|pair| pair[1] - pair[0] > 1e-4));
            for target in TARGETS {
                let mut slopes = vec![f64::NAN; logits.len()];
                let mut ignored = slopes.clone();
                let value = reading.combine(target, &logits, &mut slopes);
                let expected = naive(reading, target, &logits);
                // The deviation is too small by at most ε; σ(25) leaves 1 - p five digits.
                prop_assert!((value - expected).abs() < 1e-5 * (1.0 + expected.abs()), "{} {}", value, expected);
                for i in 0..logits.len() {
                    let mut moved = |step: f64| {
                        let mut logits = logits.clone();
                        logits[i] += step;
                        reading.combine(target, &logits, &mut ignored)
                    };
                    let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                    prop_assert!((slopes[i] - numeric).abs() < 1e-6, "{} {}", slopes[i], numeric);
                }
            }
        }

        #[test]
        fn no_logits_are_too_large_or_too_alike(
            reading in readings(),
            logits in prop::collection::vec(
                prop_oneof![Just(0.0), Just(1.0), -1e36..1e36_f64, -1e3..1e3_f64], 1..9
            ),
        ) {
            for target in TARGETS {
                let mut slopes = vec![0.0; logits.len()];
                let value = reading.combine(target, &logits, &mut slopes);
                prop_assert!(value.is_finite(), "{}", value);
                prop_assert!(slopes.iter().all(|slope| slope.abs() <= 6.0), "{:?}", slopes);
            }
        }
    }

    #[test]
    fn the_mean_probability_keeps_its_logarithm_where_it_underflows() {
        let mut slopes = [0.0; 2];
        let mean = Reading::MeanProbability;
        let value = mean.combine(Target::LogProbability, &[-2000.0, -1000.0], &mut slopes);
        assert_eq!((value, slopes), (-1000.0 - 2.0_f64.ln(), [0.0, 1.0]));
        let value = mean.combine(Target::Logit, &[2000.0, 1000.0], &mut slopes);
        assert_eq!((value, slopes), (1000.0 + 2.0_f64.ln(), [0.0, 1.0]));
        let value = mean.combine(Target::Logit, &[-1000.0, 1000.0], &mut slopes);
        assert_eq!((value, slopes), (0.0, [0.0, 0.0]));
    }

    #[test]
    fn the_quantile_runs_from_the_lowest_member_to_the_highest() {
        let logits = [3.0, -1.0, 7.0, 0.0, 1.0];
        let mut slopes = [0.0; 5];
        for (level, expected) in
            [(0.0, -1.0), (0.25, 0.0), (0.5, 1.0), (0.625, 2.0), (0.875, 5.0), (1.0, 7.0)]
        {
            assert_eq!(quantile(level, &logits, &mut slopes), expected);
        }
        assert_eq!(quantile(0.625, &logits, &mut slopes), 2.0);
        assert_eq!(slopes, [0.5, 0.0, 0.0, 0.0, 0.5]);
        assert_eq!(quantile(0.3, &[4.0], &mut slopes[..1]), 4.0);
        assert_eq!(slopes[0], 1.0);
    }

    #[test]
    fn members_that_agree_have_no_deviation_and_its_slopes_do_not_jump() {
        let mut slopes = [0.0; 3];
        assert_eq!(mean_and_deviation(3.0, &[2.0; 3], &mut slopes), 2.0);
        assert_eq!(slopes, [1.0 / 3.0; 3]);
        mean_and_deviation(3.0, &[2.0, 2.0, 2.0 + 1e-9], &mut slopes);
        assert!(slopes.iter().all(|slope| (slope - 1.0 / 3.0).abs() < 1e-3), "{slopes:?}");
    }

    #[test]
    fn the_probability_is_the_mean_of_the_members() {
        let ensemble = fit(&Ensemble::default(), &history(3, 60));
        assert_eq!((ensemble.members().len(), ensemble.dim()), (5, 3));
        for x in random_points(3, 50, 0).rows() {
            let probability =
                ensemble.members().iter().map(|m| m.probability(x)).sum::<f64>() / 5.0;
            assert_eq!(ensemble.probability(x), probability);
            let logit = ensemble.acquisition(Target::Logit).value(x);
            assert!((sigmoid(logit) - probability).abs() < 1e-14);
            let log = ensemble.acquisition(Target::LogProbability).value(x);
            assert!((log - probability.ln()).abs() < 1e-13);
        }
    }

    #[test]
    fn gradients_are_those_of_finite_differences_and_many_points_give_the_same_bits_as_one() {
        let ensemble = fit(&smooth(), &history(3, 60));
        let points = random_points(3, 29, 1);
        for acquisition in acquisitions(&ensemble) {
            let (mut values, mut with_gradients) = (vec![0.0; 29], vec![0.0; 29]);
            let mut gradients = Points::zeros(3, 29);
            acquisition.values(&points, &mut values);
            acquisition.values_and_gradients(&points, &mut with_gradients, &mut gradients);
            assert_eq!(values, with_gradients);
            let (mut gradient, mut kinks) = ([0.0; 3], 0);
            for (i, x) in points.rows().enumerate() {
                assert_eq!(acquisition.value(x), values[i]);
                assert_eq!(acquisition.value_and_gradient(x, &mut gradient), values[i]);
                assert_eq!(gradient, gradients.row(i));
                for k in 0..3 {
                    let moved = |step: f64| {
                        let mut x = x.to_vec();
                        x[k] += step;
                        acquisition.value(&x)
                    };
                    // f32 networks: rounding of 1e-7 over a step of 2e-3.
                    let numeric = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                    kinks += usize::from((numeric - gradient[k]).abs() > 2e-3);
                }
            }
            let allowed = if matches!(acquisition.reading, Reading::Quantile(_)) { 4 } else { 0 };
            assert!(
                kinks <= allowed,
                "{:?} {:?}: {kinks}",
                acquisition.reading,
                acquisition.target
            );
            acquisition.values(&Points::new(3), &mut []);
            acquisition.values_and_gradients(&Points::new(3), &mut [], &mut Points::new(3));
        }
    }

    #[test]
    fn the_number_of_threads_and_of_members_changes_no_bit() {
        let history = history(2, 100);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let points = random_points(2, 20, 2);
        let bits = |ensemble: &EnsembleClassifier| -> Vec<Vec<u64>> {
            let of_member =
                |m: &Network| points.rows().map(|x| m.logit(x).to_bits()).collect::<Vec<_>>();
            ensemble.members().iter().map(of_member).collect()
        };
        let settings = Ensemble::default();
        let mut previous = None;
        // The second round is a warm start.
        for round in 0..2 {
            let fit = |settings: &Ensemble, threads: usize| {
                let mut rng = Seed(1).stream("fit", round);
                settings.fit_on(threads, &labels, previous.as_ref(), &mut rng).unwrap()
            };
            let alone = fit(&settings, 1);
            for threads in [0, 2, 3, 5, 64] {
                assert_eq!(bits(&fit(&settings, threads)), bits(&alone), "{threads} threads");
            }
            let more = fit(&Ensemble { members: 7, ..Ensemble::default() }, 2);
            assert_eq!(bits(&more)[..5], bits(&alone));
            for (i, member) in bits(&alone).iter().enumerate() {
                assert!(bits(&alone)[..i].iter().all(|other| other != member));
            }
            previous = Some(alone);
        }
    }

    #[test]
    fn a_warm_start_continues_each_member() {
        let history = history(2, 64);
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let loss = |network: &Network| -> f64 {
            let losses = (0..labels.len()).map(|i| {
                let probability = network.probability(labels.point(i));
                -if labels.is_good(i) { probability } else { 1.0 - probability }.ln()
            });
            losses.sum()
        };
        let warm = Ensemble::default();
        let first = fit(&warm, &history);
        let again = |settings: &Ensemble| {
            settings.fit(&labels, Some(&first), &mut Seed(1).stream("fit", 1)).unwrap()
        };
        for (before, after) in first.members().iter().zip(again(&warm).members()) {
            assert!(loss(after) < loss(before));
        }
        let perceptron = Perceptron { start: Start::Cold, ..Perceptron::default() };
        let cold = Ensemble { perceptron, ..Ensemble::default() };
        let anew = cold.fit(&labels, None, &mut Seed(1).stream("fit", 1)).unwrap();
        for (a, b) in again(&cold).members().iter().zip(anew.members()) {
            assert_eq!(a.logit(&[0.3, 0.7]), b.logit(&[0.3, 0.7]));
        }
        assert_eq!((warm.kept_every(), cold.kept_every()), (Some(10), None));
        assert!(warm.takes_weights());
    }

    #[test]
    fn uncertainty_is_larger_away_from_the_data() {
        let sum = |ensemble: &EnsembleClassifier, points: &Points| -> f64 {
            let bound = |confidence| ensemble.upper_bound(confidence, Target::Logit).unwrap();
            let (mean, bound, highest) =
                (bound(Confidence::Width(0.0)), bound(Confidence::Width(1.0)), bound(level(1e-9)));
            let deviation = |x: &[f64]| {
                let deviation = bound.value(x) - mean.value(x);
                // No member lies further above the mean than √(n - 1) deviations.
                let gap = highest.value(x) - mean.value(x);
                assert!(gap > 0.0 && gap < 2.001 * deviation, "{gap} {deviation}");
                deviation
            };
            points.rows().map(deviation).sum()
        };
        let (mut at, mut away) = (0.0, 0.0);
        for index in 0..8 {
            // Data in the middle, a thousandth of the volume.
            let data = random_points(3, 100, index);
            let mut history = History::new(3);
            for x in data.rows() {
                let x: Vec<f64> = x.iter().map(|x| 0.45 + 0.1 * x).collect();
                let value: f64 = x.iter().map(|x| (x - 0.47).powi(2)).sum();
                history.push(&x, Outcome::from(value)).unwrap();
            }
            let ensemble = fit(&Ensemble::default(), &history);
            at += sum(&ensemble, history.points());
            away += sum(&ensemble, &random_points(3, 100, 100 + index));
        }
        assert!(away > 1.5 * at, "{away} away from the data, {at} among them");
    }

    #[test]
    fn labels_of_one_kind_and_a_single_observation_are_fitted() {
        let few = [history(2, 1), history(2, 3)];
        let rng = &mut Seed(1).stream("fit", 0);
        for members in [1, 5] {
            let settings = Ensemble { members, ..Ensemble::default() };
            for history in &few {
                for threshold in [-1.0, 10.0] {
                    let labels = Threshold::Fixed { value: threshold }
                        .label(history.points(), history.objective())
                        .unwrap();
                    let ensemble = settings.fit(&labels, None, rng).unwrap();
                    let good = ensemble.probability(history.points().row(0));
                    assert_eq!(good > 0.5, threshold > 0.0);
                    for acquisition in acquisitions(&ensemble) {
                        let mut gradient = [0.0; 2];
                        let value = acquisition.value_and_gradient(&[0.2, 0.9], &mut gradient);
                        assert!(value.is_finite() && gradient.iter().all(|g| g.is_finite()));
                    }
                }
            }
        }
    }

    #[test]
    fn settings_and_levels_that_cannot_be_used_are_refused_by_name() {
        for members in [0, 257] {
            let settings = Ensemble { members, ..Ensemble::default() };
            let error = settings.check(2).unwrap_err();
            assert_eq!(error, Error::invalid("members", members, "from 1 to 256"));
        }
        let perceptron = Perceptron { steps: 0, ..Perceptron::default() };
        let error = Ensemble { perceptron, ..Ensemble::default() }.check(2).unwrap_err();
        assert!(error.to_string().contains("steps"), "{error}");
        assert!(Ensemble { members: 256, ..Ensemble::default() }.check(2).is_ok());

        let history = history(2, 64);
        let perceptron = Perceptron { learning_rate: 1e30, ..Perceptron::default() };
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let error = Ensemble { perceptron, ..Ensemble::default() }
            .fit(&labels, None, &mut Seed(1).stream("fit", 0))
            .unwrap_err();
        assert!(matches!(error, Error::Diverged { .. }), "{error}");

        let ensemble = fit(&Ensemble::default(), &history);
        for confidence in [Confidence::Width(-1.0), level(0.0), level(1.0), level(f64::NAN)] {
            assert!(ensemble.upper_bound(confidence, Target::Logit).is_err());
        }
    }

    #[test]
    fn settings_are_read_back_as_they_were_written() {
        for settings in [Ensemble::default(), Ensemble { members: 9, ..smooth() }] {
            let text = serde_json::to_string(&settings).unwrap();
            assert_eq!(serde_json::from_str::<Ensemble>(&text).unwrap(), settings, "{text}");
        }
        let text = r#"{"perceptron":{"learning-rate":0.01}}"#;
        let settings: Ensemble = serde_json::from_str(text).unwrap();
        assert_eq!((settings.members, settings.perceptron.learning_rate), (5, 0.01));
        assert!(serde_json::from_str::<Ensemble>(r#"{"member":1}"#).is_err());
    }

    #[test]
    fn a_draw_is_a_member_and_each_is_as_likely() {
        let history = history(2, 30);
        let mut rng = Seed(4).stream("draws", 0);
        let ensemble = fit(&Ensemble { members: 3, ..smooth() }, &history);
        let acquisition = ensemble.acquisition(Target::Logit);
        let x = history.points().row(0);
        let of_members: Vec<f64> = ensemble
            .members()
            .iter()
            .map(|member| member.acquisition(Target::Logit).value(x))
            .collect();
        let mut counts = [0; 3];
        for _ in 0..600 {
            let value = acquisition.draw(&mut rng).unwrap().unwrap().value(x);
            counts[of_members.iter().position(|member| *member == value).unwrap()] += 1;
        }
        // 200 each, five binomial standard errors (11.5) either way.
        assert!(counts.iter().all(|count| (142..=258).contains(count)), "{counts:?}");
    }
}
