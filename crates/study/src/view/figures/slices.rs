//! What the model expects when one parameter changes and all others stay as in the best trial.

use crate::Result;
use serde::Serialize;
use wimble::forecast::Forecast;
use wimble::space::{Configuration, Kind, Scale, Value};

use super::Range;
use crate::view::axes::{axes, moved};
use crate::view::model::Model;

/// How many configurations along a parameter of numbers.
const STEPS: usize = 33;

/// All of a dimension.
pub const WHOLE: Range = Range { low: 0.0, high: 1.0 };

/// One slice through the model.
#[derive(Debug, Serialize)]
pub struct Slice {
    /// The parameter.
    pub name: String,
    /// The places along it, from 0 to 1.
    pub place: Vec<f64>,
    /// The values at these places.
    pub at: Vec<Value>,
    /// What the model expects there.
    pub forecast: Vec<Forecast>,
}

/// The slices of all parameters that the configuration has; `None` if the method has no model yet.
pub fn slices(model: &Model, at: &Configuration) -> Result<Option<Vec<Slice>>> {
    let mut all = Vec::new();
    let mut asked = Vec::new();
    let space = &model.study().settings().space;
    for dimension in axes(space) {
        if at.get(&dimension.name).is_none() {
            continue;
        }
        let (place, values) = steps(&dimension.kind, WHOLE);
        // Another choice may switch other parameters on or off: such configurations are not in the space.
        let mut slice = Slice {
            name: dimension.name.clone(),
            place: Vec::new(),
            at: Vec::new(),
            forecast: Vec::new(),
        };
        for (place, value) in place.into_iter().zip(values) {
            let configuration = moved(space, at, &[(&dimension.name, &value)]);
            if model.allows(&configuration) {
                asked.push(configuration);
                slice.place.push(place);
                slice.at.push(value);
            }
        }
        all.push(slice);
    }
    let Some(mut forecasts) = model.predict(&asked)?.map(Vec::into_iter) else { return Ok(None) };
    for slice in &mut all {
        slice.forecast = forecasts.by_ref().take(slice.place.len()).collect();
    }
    Ok(Some(all))
}

/// Values along a part of a dimension, with their places; the whole dimension is [`WHOLE`]. Choices are not divided.
pub fn steps(kind: &Kind, part: Range) -> (Vec<f64>, Vec<Value>) {
    let shares =
        (0..STEPS).map(|step| part.low + (part.high - part.low) * step as f64 / (STEPS - 1) as f64);
    match kind {
        Kind::Real { low, high, scale } => shares
            .map(|at| (at, Value::Real(between(*low, *high, *scale, at).clamp(*low, *high))))
            .unzip(),
        Kind::Integer { low, high, scale, step } => {
            let mut values: Vec<i64> = shares
                .map(|at| {
                    let value = between(*low as f64, *high as f64, *scale, at).round() as i64;
                    let level = value.saturating_sub(*low).max(0) / step;
                    (low + level * step).min(*high)
                })
                .collect();
            values.dedup();
            values
                .into_iter()
                .map(|value| (share(kind, value as f64), Value::Integer(value)))
                .unzip()
        }
        Kind::Boolean => (vec![0.25, 0.75], vec![Value::Boolean(false), Value::Boolean(true)]),
        Kind::Categorical { choices: values } => {
            let places = (0..values.len()).map(|place| share(kind, place as f64)).collect();
            (places, values.clone())
        }
        // Real numbers with a step may have thousands of them.
        Kind::Ordinal { levels } => {
            let last = levels.len().saturating_sub(1);
            let mut places: Vec<usize> =
                shares.map(|at| (at * last as f64).round() as usize).collect();
            places.dedup();
            let level = |place: usize| (share(kind, place as f64), levels[place].clone());
            places.into_iter().map(level).unzip()
        }
        // Its shares are axes of their own.
        Kind::Shares { .. } => (Vec::new(), Vec::new()),
    }
}

fn between(low: f64, high: f64, scale: Scale, share: f64) -> f64 {
    match scale {
        Scale::Linear => low + (high - low) * share,
        Scale::Log => (low.ln() + (high.ln() - low.ln()) * share).exp(),
    }
}

/// Where a number of the chronicle lies between 0 and 1; choices lie in the middle of equal parts.
pub fn share(kind: &Kind, number: f64) -> f64 {
    match kind {
        Kind::Real { low, high, scale } => along(*low, *high, *scale, number),
        Kind::Integer { low, high, scale, .. } if low < high => {
            along(*low as f64, *high as f64, *scale, number)
        }
        Kind::Integer { .. } => number * 0.0 + 0.5,
        Kind::Boolean => (number + 0.5) / 2.0,
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            (number + 0.5) / values.len() as f64
        }
        Kind::Shares { .. } => f64::NAN,
    }
}

fn along(low: f64, high: f64, scale: Scale, number: f64) -> f64 {
    match scale {
        Scale::Linear => (number - low) / (high - low),
        Scale::Log => (number.ln() - low.ln()) / (high.ln() - low.ln()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_values_of_the_parameter_and_lie_where_they_say() {
        for (kind, count) in [
            (Kind::Real { low: -2.0, high: 4.0, scale: Scale::Linear }, STEPS),
            (Kind::Real { low: 1e-4, high: 1.0, scale: Scale::Log }, STEPS),
            (Kind::Integer { low: 3, high: 12, scale: Scale::Linear, step: 4 }, 3),
            (Kind::Integer { low: 1, high: 1_000, scale: Scale::Log, step: 1 }, 28),
            (Kind::Boolean, 2),
            (Kind::Categorical { choices: vec!["a".into(), 2.5.into()] }, 2),
        ] {
            let (places, values) = steps(&kind, WHOLE);
            assert!(
                values.len() == count || (count == 28 && values.len() > 20),
                "{kind:?} {values:?}"
            );
            for (place, value) in places.iter().zip(&values) {
                let number = crate::view::chronicle::number(&kind, value);
                assert!(!number.is_nan(), "{value} of {kind:?}");
                assert!((share(&kind, number) - place).abs() < 1e-9, "{value} of {kind:?}");
            }
        }
    }

    #[test]
    fn a_part_of_a_parameter_has_as_many_steps_inside_it() {
        let kind = Kind::Real { low: 1e-4, high: 1.0, scale: Scale::Log };
        let (places, values) = steps(&kind, Range { low: 0.5, high: 0.75 });
        assert_eq!((places.len(), places[0], places[STEPS - 1]), (STEPS, 0.5, 0.75));
        assert!(matches!(values[0], Value::Real(x) if (x - 0.01).abs() < 1e-12), "{values:?}");
        assert_eq!(steps(&Kind::Boolean, Range { low: 0.5, high: 0.75 }).1.len(), 2);
    }
}
