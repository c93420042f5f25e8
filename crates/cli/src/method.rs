//! From the words of the command line to a strategy.

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use wimble::batch::{Ascent, Candidates, Svgd};
use wimble::classifier::least_squares::LeastSquares;
use wimble::classifier::perceptron::{Perceptron, Start};
use wimble::classifier::{Confidence, Target};
use wimble::labels::Threshold;
use wimble::strategy::{Bore, BorePlusPlus, Random, Strategy};

/// Which method, and its main settings.
#[derive(Args, Debug, Clone)]
pub struct Method {
    /// The method
    #[arg(long, value_enum, default_value_t = Name::Bore)]
    pub method: Name,
    /// What is fitted to the labels [default: perceptron for bore, least-squares for bore++]
    #[arg(long, value_enum)]
    classifier: Option<Learner>,
    /// How points are chosen [default: svgd for batches, ascent for single points]
    #[arg(long, value_enum)]
    rule: Option<Rule>,
    /// What the batch follows the gradient of
    #[arg(long, value_enum, default_value_t = Scale::Logit)]
    target: Scale,
    /// The part of the trials that count as good, between 0 and 1
    #[arg(long, default_value_t = 0.25)]
    fraction: f64,
    /// How many deviations above the estimate bore++ looks
    #[arg(long, default_value_t = 3.0, allow_negative_numbers = true)]
    width: f64,
    /// How many trials are drawn at random before the method begins
    #[arg(long, default_value_t = 10)]
    pub initial: usize,
}

/// The methods.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Name {
    /// Density-ratio estimation by a classifier
    Bore,
    /// The same under an upper confidence bound
    #[value(name = "bore++")]
    BorePlusPlus,
    /// Random search
    Random,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
enum Learner {
    /// A network of two hidden layers
    Perceptron,
    /// Kernel least squares
    LeastSquares,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
enum Rule {
    /// Stein variational gradient descent
    Svgd,
    /// Multi-start ascent
    Ascent,
    /// Random candidates with local search
    Candidates,
}

#[derive(ValueEnum, Debug, Clone, Copy)]
enum Scale {
    /// log p / (1 - p)
    Logit,
    /// log p
    LogProbability,
}

impl Method {
    /// The strategy, for batches of `batch_size`.
    pub fn strategy(&self, batch_size: usize) -> Result<Box<dyn Strategy>> {
        let rule = self.rule.unwrap_or(if batch_size == 1 { Rule::Ascent } else { Rule::Svgd });
        // The network learns once a round.
        let perceptron =
            Perceptron { start: Start::Warm { every: batch_size }, ..Perceptron::default() };
        Ok(match (self.method, self.classifier) {
            (Name::Random, _) => Box::new(Random),
            (Name::Bore, Some(Learner::Perceptron) | None) => match rule {
                Rule::Svgd => Box::new(self.bore(perceptron, Svgd::default())),
                Rule::Ascent => Box::new(self.bore(perceptron, Ascent::default())),
                Rule::Candidates => Box::new(self.bore(perceptron, Candidates::default())),
            },
            (Name::Bore, Some(Learner::LeastSquares)) => match rule {
                Rule::Svgd => Box::new(self.bore(LeastSquares::default(), Svgd::default())),
                Rule::Ascent => Box::new(self.bore(LeastSquares::default(), Ascent::default())),
                Rule::Candidates => {
                    Box::new(self.bore(LeastSquares::default(), Candidates::default()))
                }
            },
            (Name::BorePlusPlus, Some(Learner::LeastSquares) | None) => match rule {
                Rule::Svgd => Box::new(self.bore_plus_plus(Svgd::default())),
                Rule::Ascent => Box::new(self.bore_plus_plus(Ascent::default())),
                Rule::Candidates => Box::new(self.bore_plus_plus(Candidates::default())),
            },
            (Name::BorePlusPlus, Some(Learner::Perceptron)) => bail!(
                "bore++ needs a classifier that knows its own uncertainty, and a single perceptron does not; \
                 use --classifier least-squares"
            ),
        })
    }

    fn bore<L, R>(&self, learner: L, rule: R) -> Bore<L, R> {
        let target = match self.target {
            Scale::Logit => Target::Logit,
            Scale::LogProbability => Target::LogProbability,
        };
        let threshold = Threshold::Quantile { fraction: self.fraction };
        Bore { threshold, target, initial: self.initial, ..Bore::new(learner, rule) }
    }

    fn bore_plus_plus<R>(&self, rule: R) -> BorePlusPlus<LeastSquares, R> {
        let bore = self.bore(LeastSquares::default(), rule);
        BorePlusPlus { bore, confidence: Confidence::Width(self.width) }
    }
}
