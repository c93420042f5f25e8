//! What a model of targets expects of a point, on the scale of the values.
//!
//! A model is fitted to targets, which fall as values rise (target.rs). The trials of the model say which value belongs to
//! which target; between two of them the value is interpolated, and beyond the last the line through the outer two goes
//! on. An uncertain target is therefore an interval of values:
//!
//! ```text
//! mean = v(m),   deviation = ½ (v(m - s) - v(m + s)),   P(value ≤ best) = Φ((m - t(best)) / s)
//! ```
//!
//! with the mean m and the deviation s of the model at the point. Far from the region, where all values lie above the highest
//! threshold, a forecast says that a point is worse, not how much.

use super::local_model::LocalModel;
use crate::forecast::{Forecast, Good};
use crate::gaussian_process::Prediction;
use crate::theory::normal::probability_within;

/// Which value belongs to which target.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    /// Targets and values, by rising target; no two targets are the same, and no two values.
    known: Vec<(f64, f64)>,
}

impl Scale {
    /// Of the trials that a model was fitted to.
    pub(super) fn new(targets: &[f64], values: &[f64]) -> Self {
        let mut known: Vec<(f64, f64)> =
            targets.iter().copied().zip(values.iter().copied()).collect();
        known.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        // Of values above every threshold, which share a target, the lowest.
        known.dedup_by(|next, kept| {
            let same = next.0 <= kept.0 || next.1 >= kept.1;
            if same && next.1 < kept.1 {
                kept.1 = next.1;
            }
            same
        });
        Self { known }
    }

    fn value(&self, target: f64) -> f64 {
        interpolate(&self.known, target, |pair| pair)
    }

    fn target(&self, value: f64) -> f64 {
        let turned: Vec<(f64, f64)> = self.known.iter().rev().copied().collect();
        interpolate(&turned, value, |(target, value)| (value, target))
    }
}

/// The line through the two known pairs around `at`, or through the two nearest.
fn interpolate(known: &[(f64, f64)], at: f64, pair: impl Fn((f64, f64)) -> (f64, f64)) -> f64 {
    let [.., last] = known else { return f64::NAN };
    if known.len() == 1 {
        return pair(*last).1;
    }
    let after = known.partition_point(|&known| pair(known).0 < at).clamp(1, known.len() - 1);
    let ((x, y), (next_x, next_y)) = (pair(known[after - 1]), pair(known[after]));
    let part = (at - x) / (next_x - x);
    y * (1.0 - part) + next_y * part
}

/// What a model expects of a point in its coordinates, where `best` is the best value known and `success` the probability
/// of a value.
pub(super) fn forecast(
    model: &LocalModel,
    scale: &Scale,
    u: &[f64],
    best: f64,
    success: f64,
) -> Forecast {
    let Prediction { mean, deviation } = model.posterior.predict(&model.weights, u);
    let (mean, deviation) = (mean + model.mean, deviation * model.scale);
    let probability = probability_within(mean - scale.target(best), deviation);
    Forecast {
        mean: Some(scale.value(mean)).filter(|mean| mean.is_finite()),
        deviation: Some(0.5 * (scale.value(mean - deviation) - scale.value(mean + deviation)))
            .filter(|deviation| deviation.is_finite()),
        good: Some(Good { threshold: Some(best), probability, upper_bound: None }),
        success: Some(success),
        ..Forecast::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::target;
    use super::*;
    use crate::goal::Direction;
    use crate::prelude::*;

    #[test]
    fn values_come_back_from_their_targets_and_go_on_beyond_them() {
        let values = [0.3, -1.2, 0.9, 7.0, 0.1, 0.35, 0.5, 2.0, 0.5];
        for targets in [target::compressed(&values), target::half_rank(&values)] {
            let scale = Scale::new(&targets, &values);
            for (target, value) in targets.iter().zip(&values) {
                assert!((scale.value(*target) - value).abs() < 1e-9, "{target} {value}");
                assert!((scale.target(*value) - target).abs() < 1e-9, "{target} {value}");
            }
            let most = targets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert!(scale.value(most + 0.5) < -1.2 && scale.value(most - 0.01) > -1.2);
        }
        // Values above the threshold share a target: the lowest of them stands for it.
        let scale = Scale::new(&[1.0, -1.0, -1.0], &[0.0, 5.0, 9.0]);
        assert_eq!((scale.value(-1.0), scale.value(0.0)), (5.0, 2.5));
        assert_eq!(Scale::new(&[0.0, 0.0], &[3.0, 3.0]).value(0.7), 3.0);
    }

    /// After a search, on both scales and in both kinds of space, forecasts are near the values of what was found.
    #[test]
    fn forecasts_tell_good_from_bad_and_know_the_best_value() {
        let real = [Dimension::real("x", -1.0, 1.0), Dimension::real("y", -1.0, 1.0)];
        let mixed = [Dimension::real("x", -1.0, 1.0), Dimension::categorical("y", ["a", "b"])];
        for (dimensions, direction) in [(real, Direction::Minimise), (mixed, Direction::Maximise)] {
            let space = SearchSpace::new(dimensions).unwrap();
            let value = |configuration: &Configuration| {
                let number = |name: &str| match configuration.get(name) {
                    Some(Value::Real(x)) => *x,
                    Some(Value::Text(text)) => f64::from(u8::from(text == "b")),
                    other => panic!("{other:?}"),
                };
                direction.turn(3.0 + (number("x") - 0.2).powi(2) + 0.5 * number("y").powi(2))
            };
            let mut session = Session::new(space, Auto::default(), direction, Seed(3)).unwrap();
            assert_eq!(session.predict(&[]).unwrap(), None, "nothing is known yet");
            for _ in 0..8 {
                for trial in session.ask(5).unwrap() {
                    session.tell(trial.id, value(&trial.configuration)).unwrap();
                }
            }
            let best = session.best().unwrap();
            let far: Configuration = match direction {
                Direction::Minimise => [("x", -0.8), ("y", 0.9)].into_iter().collect(),
                Direction::Maximise => {
                    let pairs: [(&str, Value); 2] = [("x", (-0.8).into()), ("y", "b".into())];
                    pairs.into_iter().collect()
                }
            };
            let forecasts = session.predict(&[best.configuration, far]).unwrap().unwrap();
            let [near, far_off] = &forecasts[..] else { panic!("{forecasts:?}") };
            assert!((near.mean.unwrap() - best.value).abs() < 0.05, "{near:?} {}", best.value);
            // Far from the region only that it is worse: thresholds end where the region's values do.
            let turned = |forecast: &Forecast| direction.turn(forecast.mean.unwrap());
            assert!(turned(far_off) > turned(near) + 0.05, "{forecasts:?}");
            assert!(near.deviation.unwrap() >= 0.0 && far_off.deviation.unwrap() >= 0.0);
            let chance = |forecast: &Forecast| forecast.good.unwrap().probability;
            assert!(chance(near) > chance(far_off), "{forecasts:?}");
            assert_eq!(near.good.unwrap().threshold, Some(best.value));
        }
    }
}
