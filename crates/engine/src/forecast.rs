//! What a method predicts for a configuration.
//!
//! Methods differ in what they model: a Gaussian process models the value, a classifier whether the value is good, and
//! some methods whether there is a value at all. What a method does not model is absent.

use serde::{Deserialize, Serialize};

use crate::goal::Goal;

/// What a method predicts for one configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The expected value; of several objectives, that of the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// The standard deviation of the method's uncertainty about the value, without the noise of a measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// The probability of a good value: its `probability`, the `threshold` up to which values are good where there is one, and the
    /// `upper_bound` of the probability where the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub good: Option<Good>,
    /// The probability that the trial has a value: it neither fails nor is infeasible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<f64>,
    /// The probability that the trial meets all constraints, if it has a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meets: Option<f64>,
    /// Of several objectives, what is expected of each, in the order of the goal: its `mean`, and the `deviation` of the
    /// method's uncertainty about it, without the noise of a measurement. Empty for one objective.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<Expected>,
}

/// What is expected of one of several objectives.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The expected value.
    pub mean: f64,
    /// The standard deviation of the method's uncertainty about it, without the noise of a measurement.
    pub deviation: f64,
}

/// The predictions for several configurations; `None` if the method has no model, or nothing to learn from yet.
pub(crate) type Forecasts = Option<Vec<Forecast>>;

/// The probability of a value that is at least as good as a threshold.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Good {
    /// The threshold: τ of a classifier; the best value known, for a model of the value. `None` where trials are good by their merit under a
    /// goal of several columns, which is no value of any of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// π̂(x), the probability of such a value.
    pub probability: f64,
    /// The upper confidence bound of that probability, where the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upper_bound: Option<f64>,
}

impl Forecast {
    /// Turns a forecast from the scale where low is good to the user's scale, and back.
    #[must_use]
    pub fn turned(self, goal: &Goal) -> Self {
        let direction = goal.first_direction();
        let turn = |value| direction.turn(value);
        let good = |good: Good| Good { threshold: good.threshold.map(turn), ..good };
        let objectives = self.objectives.into_iter().zip(goal.objectives());
        let objectives = objectives
            .map(|(at, objective)| Expected { mean: objective.direction.turn(at.mean), ..at })
            .collect();
        Self { mean: self.mean.map(turn), good: self.good.map(good), objectives, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Direction, Objective};

    #[test]
    fn turning_changes_values_and_leaves_probabilities() {
        let good = Good { threshold: Some(2.0), probability: 0.3, upper_bound: Some(0.7) };
        let forecast = Forecast {
            mean: Some(1.0),
            deviation: Some(0.5),
            good: Some(good),
            success: Some(0.9),
            ..Forecast::default()
        };
        let high = Goal::from(Direction::Maximise);
        let turned = forecast.clone().turned(&high);
        assert_eq!(
            (turned.mean, turned.deviation, turned.success),
            (Some(-1.0), Some(0.5), Some(0.9))
        );
        assert_eq!(turned.good, Some(Good { threshold: Some(-2.0), ..good }));
        assert_eq!(turned.turned(&high), forecast);
        assert_eq!(forecast.clone().turned(&Direction::Minimise.into()), forecast);
        // Each of several objectives has its own direction.
        let both = Goal::new([Objective::minimise("a"), Objective::maximise("b")]).unwrap();
        let expected = |mean| Expected { mean, deviation: 0.5 };
        let several = Forecast { objectives: vec![expected(1.0), expected(2.0)], ..forecast };
        assert_eq!(several.turned(&both).objectives, [expected(1.0), expected(-2.0)]);
    }
}
