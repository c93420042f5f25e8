//! BORE and BORE++, sequential and in batches.
//!
//! BORE (Algorithm 1) labels what was tried, fits a classifier π̂, and goes where it is most sure of a good
//! value; BORE++ (section 4) does the same with an upper confidence bound π_{t,δ}, equation (20), in place of
//! π̂. The batch forms (section 5) differ in the rule alone: [`Svgd`] samples from p̂ ∝ π where [`Ascent`]
//! takes the maximum.
//!
//! Algorithm 1 prints the fit of round t and the maximum of round t - 1; here the classifier is fitted to all
//! that is known, and that fit is used.
//!
//! Under a goal of several objectives or with constraints, trials are labelled by their merit (`merit.rs`): non-domination level, then
//! contribution to hypervolume, then violation.
//!
//! # Design
//! A learner with a warm start is trained further after every k trials (see [`Learner::kept_every`]). Which
//! trials a kept fit has seen depends on history alone, not on when batches were asked for; a process that
//! starts anew trains through the same sequence once and arrives at the same weights. After [`CHAIN`] kept fits the sequence begins
//! anew, with as much training at once as [`REFRESH`] fits have, so that a process that starts reads a million trials
//! without training through all of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::opening::{Initial, place};
use super::spec::{BorePlusPlusSpec, BoreSpec};
use super::{Evidence, Memory, Strategy, column_of};
use crate::acquisition::Acquisition as _;
use crate::batch::{Ascent, BatchRule, Svgd, Thompson};
use crate::classifier::least_squares::LeastSquares;
use crate::classifier::perceptron::{Perceptron, Start};
use crate::classifier::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::column::Column;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::forecast::{Forecast, Forecasts, Good};
use crate::goal::Goal;
use crate::history::History;
use crate::labels::{Labels, Threshold, Weights};
use crate::named::Named as _;
use crate::points::Points;
use crate::ranking::Ranking;
use crate::seed::{Rng, Seed};
use crate::space::SearchSpace;

/// BORE: a classifier, and a rule that turns it into points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bore<L, R> {
    /// The threshold τ: values up to it are good.
    pub threshold: Threshold,
    /// How much each label counts: `Weights::Uniform` (default), or `Weights::Improvement`, by how far good values lie below τ (LFBO;
    /// Song, Yu, Neiswanger and Ermon 2022).
    pub weights: Weights,
    /// The settings of the classifier that is fitted to the labels.
    pub learner: L,
    /// How points are chosen.
    pub rule: R,
    /// The scale on which the rule sees the class probability.
    pub target: Target,
    /// How many trials are drawn at random before the classifier is used; 10 in the paper.
    pub initial: usize,
}

impl<L, R> Bore<L, R> {
    /// BORE with this classifier and rule, the rest as in the paper: γ = 0.25 and 10 initial points.
    pub fn new(learner: L, rule: R) -> Self {
        Self {
            threshold: Threshold::default(),
            weights: Weights::default(),
            learner,
            rule,
            target: Target::default(),
            initial: 10,
        }
    }
}

impl Bore<Perceptron, Svgd> {
    /// Batch BORE as in the paper's section 5 and its table of settings.
    pub fn batch() -> Self {
        Self::new(Perceptron::default(), Svgd::default())
    }
}

impl Bore<Perceptron, Ascent> {
    /// BORE, Algorithm 1: one point at a time, and so a kept fit for every trial.
    pub fn sequential() -> Self {
        let start = Start::Warm { every: Some(1) };
        Self::new(Perceptron { start, ..Perceptron::default() }, Ascent::default())
    }
}

/// BORE++: BORE under an upper confidence bound.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BorePlusPlus<L, R> {
    /// The settings that it shares with BORE.
    pub bore: Bore<L, R>,
    /// How far above the estimate the bound lies. A wider one explores more.
    pub confidence: Confidence,
}

impl<L, R> BorePlusPlus<L, R> {
    /// The confidence of one threshold: that of all that τ may be, shared among them.
    fn shared_confidence(&self) -> Confidence {
        self.confidence.shared_by(self.bore.threshold.choices().unwrap_or(1))
    }

    /// BORE++ with this classifier and rule and the paper's β = 3.
    pub fn new(learner: L, rule: R) -> Self {
        Self { bore: Bore::new(learner, rule), confidence: Confidence::default() }
    }
}

impl BorePlusPlus<LeastSquares, Svgd> {
    /// Batch BORE++ with kernel least squares, the setting of Theorem 4.
    pub fn batch() -> Self {
        Self::new(LeastSquares::default(), Svgd::default())
    }
}

impl BorePlusPlus<LeastSquares, Ascent> {
    /// BORE++ with kernel least squares, one point at a time, as in the paper's experiments on real data.
    pub fn sequential() -> Self {
        Self::new(LeastSquares::default(), Ascent::default())
    }
}

impl<L, R> Strategy for Bore<L, R>
where
    L: Learner,
    R: for<'c> BatchRule<<L::Classifier as Classifier>::Acquisition<'c>>,
{
    fn name(&self) -> &'static str {
        BoreSpec::NAME
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn scope(&self) -> &'static str {
        "it serves every goal"
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        self.check_model(space, goal)?;
        self.check_posterior(self.rule.needs_posterior())?;
        self.rule.check()
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        self.place(evidence, size, memory, |classifier, domain, count, rng| {
            self.rule.choose(&classifier.acquisition(self.target), domain, count, rng)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        self.forecasts(evidence, at, memory, |_| Ok(None))
    }
}

impl<L, R> Strategy for BorePlusPlus<L, R>
where
    L: Learner<Classifier: Uncertain>,
    R: for<'c> BatchRule<<L::Classifier as Uncertain>::UpperBound<'c>>,
{
    fn name(&self) -> &'static str {
        BorePlusPlusSpec::NAME
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn scope(&self) -> &'static str {
        "it serves every goal"
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        self.confidence.check()?;
        self.bore.check_model(space, goal)?;
        self.bore.check_posterior(self.bore.rule.needs_posterior())?;
        self.bore.rule.check()
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        self.bore.place(evidence, size, memory, |classifier, domain, count, rng| {
            let bound = classifier.upper_bound(self.shared_confidence(), self.bore.target)?;
            self.bore.rule.choose(&bound, domain, count, rng)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        self.bore.forecasts(evidence, at, memory, |classifier| {
            let bound = classifier.upper_bound(self.shared_confidence(), Target::LogProbability)?;
            let mut values = vec![0.0; at.len()];
            bound.values(at, &mut values);
            // A bound above 1 says no more than 1 does.
            Ok(Some(values.into_iter().map(|value| value.exp().min(1.0)).collect()))
        })
    }
}

/// After so many kept fits the next begins anew. A process that starts makes fewer: some seconds with the default network.
const CHAIN: usize = 10_000;
/// The training of the first fit of a chain, in fits: as much as makes a network that classifies as well as one that was never begun anew.
const REFRESH: usize = 4_000;

/// The latest fit that later ones continue from, and how much of history it has seen.
struct Kept<C> {
    trials: usize,
    ranking: Ranking,
    classifier: Option<Arc<C>>,
}

impl<C> Default for Kept<C> {
    fn default() -> Self {
        Self { trials: 0, ranking: Ranking::default(), classifier: None }
    }
}

impl<C> Kept<C> {
    /// Takes the values of the trials up to `end` into the ranking.
    fn see(&mut self, end: usize, column: &Column) {
        let values = (self.trials..end).filter_map(|trial| column.value(trial));
        values.for_each(|value| self.ranking.insert(value));
        self.trials = end;
    }
}

impl<L: Learner, R> Bore<L, R> {
    /// The classifier fitted to all `points`, whose numbers are `column`; `None` while there is nothing to label.
    ///
    /// `memory` is that of [`Strategy::propose`]; an empty one gives the same classifier.
    pub fn classifier(
        &self,
        points: &Points,
        column: &Column,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Option<Arc<L::Classifier>>> {
        let label = |len, ranking: &Ranking| {
            self.threshold.label_first(self.weights, points, column, len, ranking)
        };
        let Some(labels) =
            label(points.len(), column.ranking()).filter(|labels| !labels.is_empty())
        else {
            return Ok(None);
        };
        let kept = memory.take::<Kept<L::Classifier>>().filter(|kept| kept.trials <= points.len());
        let mut kept = kept.unwrap_or_default();
        // One stream for each number of trials seen, whichever process fits it.
        let stream = |labels: &Labels<'_>| seed.stream("fit", labels.len() as u64);
        let fit = |labels: &Labels<'_>, previous: &Option<Arc<L::Classifier>>| {
            self.learner.fit(labels, previous.as_deref(), &mut stream(labels)).map(Arc::new)
        };
        let fitted = match self.learner.kept_every() {
            None => {
                let fitted = fit(&labels, &kept.classifier)?;
                kept.trials = points.len();
                kept.classifier = Some(Arc::clone(&fitted));
                fitted
            }
            Some(every) => {
                let chain = every.saturating_mul(CHAIN);
                let begin = points.len() / chain * chain;
                if begin > kept.trials {
                    // What was trained before the chain began is not needed: only the values are.
                    kept.see(begin - every, column);
                    kept.classifier = None;
                }
                while kept.trials + every <= points.len() {
                    kept.see(kept.trials + every, column);
                    let Some(labels) = label(kept.trials, &kept.ranking) else { continue };
                    if !kept.trials.is_multiple_of(chain) {
                        kept.classifier = Some(fit(&labels, &kept.classifier)?);
                        continue;
                    }
                    let (mut rng, mut fitted) = (stream(&labels), None);
                    for _ in 0..REFRESH {
                        fitted = Some(self.learner.fit(&labels, fitted.as_ref(), &mut rng)?);
                    }
                    kept.classifier = fitted.map(Arc::new);
                }
                match &kept.classifier {
                    Some(classifier) if kept.trials == points.len() => Arc::clone(classifier),
                    previous => fit(&labels, previous)?,
                }
            }
        };
        memory.keep(kept);
        Ok(Some(fitted))
    }

    /// The relative density ratio (5) at each of the points `at`, π̂(x)/γ, where γ is the share of good trials: how much
    /// denser good trials lie there than all trials. `None` while there is nothing to label, or nothing is good.
    pub fn density_ratios(
        &self,
        evidence: Evidence<'_>,
        at: &Points,
        memory: &mut Memory,
    ) -> Result<Option<Vec<f64>>> {
        let (points, column) = (evidence.history.points(), column_of(evidence.history)?);
        let Some(labels) = self.threshold.label(points, &column) else { return Ok(None) };
        let fitted = self.fitted(evidence.history, &column, evidence.seed, memory)?;
        let Some(classifier) = fitted.filter(|_| labels.good() > 0) else { return Ok(None) };
        let ratio = |x: &[f64]| labels.density_ratio(classifier.probability(x));
        at.rows().map(ratio).collect::<Result<_>>().map(Some)
    }

    /// The classifier of the labels of a history. The merits of trials change with every further one, and so do the values of stopped
    /// ones: such fits cannot continue from those of earlier asks.
    fn fitted(
        &self,
        history: &History,
        column: &Column,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Option<Arc<L::Classifier>>> {
        let points = history.points();
        if history.is_settled() || self.learner.kept_every().is_none() {
            return self.classifier(points, column, seed, memory);
        }
        let labels = self.threshold.label_weighted(self.weights, points, column);
        let Some(labels) = labels.filter(|labels| !labels.is_empty()) else { return Ok(None) };
        let mut rng = seed.stream("fit", labels.len() as u64);
        self.learner.fit(&labels, None, &mut rng).map(Arc::new).map(Some)
    }

    fn check_model(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.threshold.check()?;
        let fixed = match self.threshold {
            Threshold::Fixed { value } => Some(("threshold", value.to_string())),
            Threshold::Grid { grid, .. } => {
                Some(("thresholds", format!("{} to {}", grid.low, grid.high)))
            }
            Threshold::Quantile { .. } => None,
        };
        if let (Some((field, value)), false) = (fixed, goal.is_single()) {
            let allowed = format!(
                "a quantile for a goal of {goal}: trials are good by their merit, which has no unit"
            );
            return Err(Error::invalid(field, value, allowed));
        }
        if self.weights != Weights::Uniform && !self.learner.takes_weights() {
            let allowed = "uniform with a classifier that takes no weights";
            return Err(Error::invalid("weights", "improvement", allowed));
        }
        self.learner.check(space.dim())
    }

    /// Refuses a rule that draws from a posterior under a classifier that has none.
    fn check_posterior(&self, needed: bool) -> Result<()> {
        if needed && !self.learner.has_posterior() {
            let allowed = "another with this classifier, which has no posterior to draw from; least-squares, bayesian-logistic and \
                           ensemble have one";
            return Err(Error::invalid("rule", Thompson::NAME, allowed));
        }
        Ok(())
    }

    /// Random points while there are too few trials, then those that `choose` places under the classifier.
    fn place(
        &self,
        evidence: Evidence<'_>,
        batch_size: usize,
        memory: &mut Memory,
        choose: impl FnOnce(&L::Classifier, &Domain<'_>, usize, &mut Rng) -> Result<Points>,
    ) -> Result<Points> {
        let initial = Initial::FirstAndUnvalued(self.initial);
        place(evidence, batch_size, "place", initial, |opening| {
            let Evidence { space, history, seed, .. } = opening.evidence;
            let (points, column) = (history.points(), column_of(history)?);
            let column = &*column;
            let leaders = column.leaders().iter().map(|&i| points.row(i));
            let incumbents = Points::from_rows(space.dim(), leaders);
            let domain = opening.domain(&incumbents);
            match self.fitted(history, column, seed, memory)? {
                Some(classifier) => choose(&classifier, &domain, opening.count, &mut opening.rng),
                None => domain.sample(opening.count, &mut opening.rng),
            }
        })
    }

    /// The class probability at each point, with the upper bounds that `upper_bounds` gives of it.
    fn forecasts(
        &self,
        evidence: Evidence<'_>,
        points: &Points,
        memory: &mut Memory,
        upper_bounds: impl FnOnce(&L::Classifier) -> Result<Option<Vec<f64>>>,
    ) -> Result<Forecasts> {
        let history = evidence.history;
        let column = column_of(history)?;
        let Some(classifier) = self.fitted(history, &column, evidence.seed, memory)? else {
            return Ok(None);
        };
        let Some(threshold) = self.threshold.value(column.ranking()) else { return Ok(None) };
        let threshold = Some(threshold).filter(|_| history.goal().is_single());
        let bounds = upper_bounds(&classifier)?;
        let forecast = |(i, x): (usize, &[f64])| {
            let probability = classifier.probability(x);
            let upper_bound = bounds.as_ref().map(|bounds| bounds[i]);
            let good = Good { threshold, probability, upper_bound };
            Forecast { good: Some(good), ..Forecast::default() }
        };
        Ok(Some(points.rows().enumerate().map(forecast).collect()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::outcome::Outcome;
    use crate::seed::uniform;

    /// A small perceptron that counts its fits.
    struct Counted(Perceptron, AtomicUsize);

    impl Counted {
        fn new(hidden: usize, steps: usize) -> Self {
            let (hidden, start) = (vec![hidden], Start::Warm { every: Some(1) });
            let small = Perceptron { hidden, steps, minibatch: 16, start, ..Perceptron::default() };
            Self(small, AtomicUsize::new(0))
        }
    }

    impl Learner for Counted {
        type Classifier = crate::classifier::perceptron::Network;

        fn fit(
            &self,
            labels: &Labels<'_>,
            previous: Option<&Self::Classifier>,
            rng: &mut Rng,
        ) -> Result<Self::Classifier> {
            self.1.fetch_add(1, Ordering::SeqCst);
            self.0.fit(labels, previous, rng)
        }

        fn kept_every(&self) -> Option<usize> {
            self.0.kept_every()
        }

        fn check(&self, dim: usize) -> Result<()> {
            self.0.check(dim)
        }
    }

    /// Points of the square, better the nearer to (0.7, 0.2).
    fn history(len: usize, stream: u64) -> History {
        let mut history = History::new(2);
        let mut rng = Seed(1).stream("test", stream);
        for _ in 0..len {
            let x = [uniform(&mut rng), uniform(&mut rng)];
            history.push(&x, Outcome::from((x[0] - 0.7).hypot(x[1] - 0.2))).unwrap();
        }
        history
    }

    fn first(history: &History, len: usize) -> History {
        let mut part = History::new(2);
        for i in 0..len {
            part.push(history.points().row(i), history.outcome(i)).unwrap();
        }
        part
    }

    #[test]
    fn a_new_process_trains_through_one_chain_at_most_and_arrives_at_the_same_bits() {
        let bore = Bore::new(Counted::new(4, 1), Svgd::default());
        let fitted = |history: &History, memory: &mut Memory| {
            let (points, column) = (history.points(), history.objective());
            bore.classifier(points, column, Seed(3), memory).unwrap().unwrap()
        };
        let whole = history(CHAIN + 40, 0);
        let mut memory = Memory::default();
        for len in [CHAIN - 7, CHAIN, CHAIN + 13] {
            fitted(&first(&whole, len), &mut memory);
        }
        let continued = fitted(&whole, &mut memory);
        let before = bore.learner.1.load(Ordering::SeqCst);
        let anew = fitted(&whole, &mut Memory::default());
        assert_eq!(bore.learner.1.load(Ordering::SeqCst) - before, REFRESH + 40);
        for x in history(50, 1).points().rows() {
            assert_eq!(anew.probability(x).to_bits(), continued.probability(x).to_bits());
        }
    }

    /// The mean cross-entropy of labels of new points.
    fn loss(network: &impl Classifier, threshold: f64, fresh: &History) -> f64 {
        let of = |i: usize| {
            let probability = network.probability(fresh.points().row(i)).clamp(1e-6, 1.0 - 1e-6);
            let good = fresh.objective().value(i).is_some_and(|value| value <= threshold);
            -(if good { probability } else { 1.0 - probability }).ln()
        };
        (0..fresh.len()).map(of).sum::<f64>() / fresh.len() as f64
    }

    #[test]
    fn a_chain_that_begins_anew_classifies_as_well_as_one_that_goes_on() {
        let bore = Bore::new(Counted::new(16, 20), Svgd::default());
        let (whole, fresh) = (history(CHAIN + 100, 0), history(4_000, 1));
        let (points, column) = (whole.points(), whole.objective());
        let anew =
            bore.classifier(points, column, Seed(3), &mut Memory::default()).unwrap().unwrap();
        let (mut unbroken, mut ranking) = (None, Ranking::default());
        for len in 1..=whole.len() {
            column.value(len - 1).into_iter().for_each(|value| ranking.insert(value));
            let labels = bore.threshold.label_first(bore.weights, points, column, len, &ranking);
            let mut rng = Seed(3).stream("fit", len as u64);
            unbroken =
                Some(bore.learner.fit(&labels.unwrap(), unbroken.as_ref(), &mut rng).unwrap());
        }
        let threshold = bore.threshold.value(column.ranking()).unwrap();
        let (anew, unbroken) =
            (loss(&*anew, threshold, &fresh), loss(&unbroken.unwrap(), threshold, &fresh));
        // Guessing the share of good points costs 0.562.
        assert!(anew < 0.15 && anew < unbroken + 0.03, "{anew} against {unbroken}");
    }
}
