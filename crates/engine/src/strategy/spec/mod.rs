//! Strategies in words: from names and settings to a strategy, and back.
//!
//! A spec is written as text, or as a table in TOML or JSON; what is left out has its default.
//!
//! ```text
//! bore++ classifier=ensemble classifier.members=3 rule=svgd rule.steps=500 fraction=0.2 width=2
//! ```
//! ```json
//! { "name": "bore++", "classifier": { "name": "ensemble", "members": 3 },
//!   "rule": { "name": "svgd", "steps": 500 }, "fraction": 0.2, "width": 2.0 }
//! ```
//!
//! Both forms become the same JSON value, which is read by one function; printing goes the other way. The names are in
//! [`names`].

mod document;
pub mod names;
mod text;

use serde_json::Value as Json;

use super::{
    Auto, Bore, BorePlusPlus, CmaEs, GpEi, GpUcb, LpEi, QEi, Random, Sobol, Strategy, Tpe,
};
use crate::acquisition::SmoothAcquisition;
use crate::batch::{Ascent, Candidates, Softmax, SteinNewton, Svgd};
use crate::classifier::bayesian_logistic::BayesianLogistic;
use crate::classifier::boosting::Boosting;
use crate::classifier::ensemble::Ensemble;
use crate::classifier::forest::Forest;
use crate::classifier::least_squares::LeastSquares;
use crate::classifier::perceptron::{Perceptron, Start};
use crate::classifier::{Classifier, Confidence, Learner, Target, Uncertain};
use crate::error::{Error, Result};
use crate::labels::{Threshold, Weights};

/// A strategy with all its settings, in words.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a spec is built once a run")]
pub enum Spec {
    /// `auto`.
    Auto(Auto),
    /// `bore`.
    Bore(BoreSpec),
    /// `bore++`, with its confidence.
    BorePlusPlus(BoreSpec, Confidence),
    /// `gp-ucb`.
    GpUcb(GpUcb),
    /// `gp-ei`.
    GpEi(GpEi),
    /// `q-ei`.
    QEi(QEi),
    /// `lp-ei`.
    LpEi(LpEi),
    /// `tpe`.
    Tpe(Tpe),
    /// `random`.
    Random,
    /// `sobol`.
    Sobol(Sobol),
    /// `cma-es`.
    CmaEs(CmaEs),
}

/// What `bore` and `bore++` have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct BoreSpec {
    /// What is fitted to the labels.
    pub classifier: ClassifierSpec,
    /// How points are chosen. `None`: `svgd` for batches and `ascent` for single points, or `candidates` for a
    /// classifier without gradients.
    pub rule: Option<RuleSpec>,
    /// Where good ends.
    pub threshold: Threshold,
    /// How much each label counts.
    pub weights: Weights,
    /// The scale on which the rule sees the class probability.
    pub target: Target,
    /// How many trials are drawn at random first.
    pub initial: usize,
}

/// A classifier by name.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ClassifierSpec {
    Perceptron(Perceptron),
    LeastSquares(LeastSquares),
    BayesianLogistic(BayesianLogistic),
    Ensemble(Ensemble),
    Forest(Forest),
    Boosting(Boosting),
}

/// A batch rule by name.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum RuleSpec {
    Svgd(Svgd),
    SteinNewton(SteinNewton),
    Ascent(Ascent),
    Candidates(Candidates),
    Softmax(Softmax),
}

impl ClassifierSpec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Perceptron(_) => "perceptron",
            Self::LeastSquares(_) => "least-squares",
            Self::BayesianLogistic(_) => "bayesian-logistic",
            Self::Ensemble(_) => "ensemble",
            Self::Forest(_) => "forest",
            Self::Boosting(_) => "boosting",
        }
    }
}

impl RuleSpec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Svgd(_) => "svgd",
            Self::SteinNewton(_) => "stein-newton",
            Self::Ascent(_) => "ascent",
            Self::Candidates(_) => "candidates",
            Self::Softmax(_) => "softmax",
        }
    }
}

impl Spec {
    /// The name in the table.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Auto(_) => "auto",
            Self::Bore(_) => "bore",
            Self::BorePlusPlus(..) => "bore++",
            Self::GpUcb(_) => "gp-ucb",
            Self::GpEi(_) => "gp-ei",
            Self::QEi(_) => "q-ei",
            Self::LpEi(_) => "lp-ei",
            Self::Tpe(_) => "tpe",
            Self::Random => "random",
            Self::Sobol(_) => "sobol",
            Self::CmaEs(_) => "cma-es",
        }
    }

    /// How many trials are drawn at random before the method begins.
    pub fn initial(&self) -> usize {
        match self {
            Self::Bore(spec) | Self::BorePlusPlus(spec, _) => spec.initial,
            Self::Auto(settings) => settings.initial.unwrap_or(super::auto::INITIAL),
            Self::GpUcb(settings) => settings.initial,
            Self::GpEi(settings) => settings.initial,
            Self::QEi(settings) => settings.initial,
            Self::LpEi(settings) => settings.initial,
            Self::Tpe(settings) => settings.initial,
            Self::CmaEs(settings) => settings.initial,
            Self::Random | Self::Sobol(_) => 0,
        }
    }

    /// The method of this name with its default settings.
    pub fn named(name: &str) -> Result<Self> {
        Self::from_json(Json::String(name.to_owned()))
    }

    /// The strategy, for batches of `batch_size`.
    ///
    /// The batch size decides what the spec leaves open: the rule, and the interval of a warm start, which follows the
    /// batches unless another than the default is given.
    pub fn build(&self, batch_size: usize) -> Result<Box<dyn Strategy>> {
        Ok(match self {
            Self::Bore(spec) => {
                let classifier = following_batches(&spec.classifier, batch_size);
                match classifier {
                    ClassifierSpec::Perceptron(learner) => smooth_bore(spec, learner, batch_size),
                    ClassifierSpec::LeastSquares(learner) => smooth_bore(spec, learner, batch_size),
                    ClassifierSpec::BayesianLogistic(learner) => {
                        smooth_bore(spec, learner, batch_size)
                    }
                    ClassifierSpec::Ensemble(learner) => smooth_bore(spec, learner, batch_size),
                    ClassifierSpec::Forest(learner) => rough_bore(spec, learner)?,
                    ClassifierSpec::Boosting(learner) => rough_bore(spec, learner)?,
                }
            }
            Self::BorePlusPlus(spec, confidence) => {
                let (classifier, c) =
                    (following_batches(&spec.classifier, batch_size), *confidence);
                match classifier {
                    ClassifierSpec::Perceptron(_) => return Err(no_uncertainty()),
                    ClassifierSpec::LeastSquares(learner) => {
                        smooth_plus(spec, learner, c, batch_size)
                    }
                    ClassifierSpec::BayesianLogistic(learner) => {
                        smooth_plus(spec, learner, c, batch_size)
                    }
                    ClassifierSpec::Ensemble(learner) => smooth_plus(spec, learner, c, batch_size),
                    ClassifierSpec::Forest(learner) => rough_plus(spec, learner, c)?,
                    ClassifierSpec::Boosting(learner) => rough_plus(spec, learner, c)?,
                }
            }
            Self::Auto(settings) => Box::new(*settings),
            Self::GpUcb(settings) => Box::new(settings.clone()),
            Self::GpEi(settings) => Box::new(settings.clone()),
            Self::QEi(settings) => Box::new(settings.clone()),
            Self::LpEi(settings) => Box::new(settings.clone()),
            Self::Tpe(settings) => Box::new(settings.clone()),
            Self::Random => Box::new(Random),
            Self::Sobol(settings) => Box::new(*settings),
            Self::CmaEs(settings) => Box::new(settings.clone()),
        })
    }
}

/// A warm start of the default interval learns once a batch.
fn following_batches(classifier: &ClassifierSpec, batch_size: usize) -> ClassifierSpec {
    let follow = |perceptron: &mut Perceptron| {
        if perceptron.start == Start::default() {
            perceptron.start = Start::Warm { every: batch_size };
        }
    };
    let mut classifier = classifier.clone();
    match &mut classifier {
        ClassifierSpec::Perceptron(perceptron) => follow(perceptron),
        ClassifierSpec::Ensemble(ensemble) => follow(&mut ensemble.perceptron),
        _ => {}
    }
    classifier
}

fn no_uncertainty() -> Error {
    let allowed = "least-squares, bayesian-logistic, ensemble, forest or boosting with bore++, which needs a classifier \
                   that knows its own uncertainty";
    Error::invalid("classifier", "perceptron", allowed)
}

impl BoreSpec {
    fn bore<L, R>(&self, learner: L, rule: R) -> Bore<L, R> {
        Bore {
            threshold: self.threshold,
            weights: self.weights,
            learner,
            rule,
            target: self.target,
            initial: self.initial,
        }
    }

    fn smooth_rule(&self, batch_size: usize) -> RuleSpec {
        let open = if batch_size == 1 {
            RuleSpec::Ascent(Ascent::default())
        } else {
            RuleSpec::Svgd(Svgd::default())
        };
        self.rule.unwrap_or(open)
    }

    fn rough_rule(&self) -> Result<RuleSpec> {
        match self.rule {
            None => Ok(RuleSpec::Candidates(Candidates::default())),
            Some(rule @ (RuleSpec::Candidates(_) | RuleSpec::Softmax(_))) => Ok(rule),
            Some(rule) => {
                let classifier = self.classifier.name();
                let allowed = format!(
                    "candidates or softmax with the classifier {classifier}, which has no gradients"
                );
                Err(Error::invalid("rule", rule.name(), allowed))
            }
        }
    }
}

fn smooth_bore<L>(spec: &BoreSpec, learner: L, batch_size: usize) -> Box<dyn Strategy>
where
    L: Learner + 'static,
    for<'c> <L::Classifier as Classifier>::Acquisition<'c>: SmoothAcquisition,
{
    match spec.smooth_rule(batch_size) {
        RuleSpec::Svgd(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::SteinNewton(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Ascent(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Candidates(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Softmax(rule) => Box::new(spec.bore(learner, rule)),
    }
}

fn rough_bore<L: Learner + 'static>(spec: &BoreSpec, learner: L) -> Result<Box<dyn Strategy>> {
    Ok(match spec.rough_rule()? {
        RuleSpec::Softmax(rule) => Box::new(spec.bore(learner, rule)),
        RuleSpec::Candidates(rule) => Box::new(spec.bore(learner, rule)),
        _ => unreachable!("rough_rule returns no rule that needs gradients"),
    })
}

fn smooth_plus<L>(
    spec: &BoreSpec,
    learner: L,
    confidence: Confidence,
    batch_size: usize,
) -> Box<dyn Strategy>
where
    L: Learner<Classifier: Uncertain> + 'static,
    for<'c> <L::Classifier as Uncertain>::UpperBound<'c>: SmoothAcquisition,
{
    match spec.smooth_rule(batch_size) {
        RuleSpec::Svgd(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::SteinNewton(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Ascent(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Candidates(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Softmax(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
    }
}

fn rough_plus<L>(spec: &BoreSpec, learner: L, confidence: Confidence) -> Result<Box<dyn Strategy>>
where
    L: Learner<Classifier: Uncertain> + 'static,
{
    Ok(match spec.rough_rule()? {
        RuleSpec::Softmax(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        RuleSpec::Candidates(rule) => {
            Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
        }
        _ => unreachable!("rough_rule returns no rule that needs gradients"),
    })
}
