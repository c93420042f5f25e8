//! What the model expects of the trials that were the best so far: its mean and two deviations at each of them.
//!
//! Where values are noisy, the best of many is often lucky; the band lies above it then. A method without a model of values has none.

use serde::Serialize;

use super::history::{History, Points};
use crate::Result;
use crate::view::model::Model;

/// The most trials that the model is asked about.
const MOST: usize = 60;
/// How many deviations the band has on each side.
const DEVIATIONS: f64 = 2.0;

/// What the model expects of the best so far.
#[derive(Debug, PartialEq, Serialize)]
pub struct Band {
    /// The trials, in the order of the picture.
    pub trial: Vec<usize>,
    /// Their places in the picture.
    pub x: Vec<f64>,
    /// The values that the model expects of them.
    pub mean: Vec<f64>,
    /// Two deviations below.
    pub low: Vec<f64>,
    /// Two deviations above.
    pub high: Vec<f64>,
}

/// The band over the best so far of a history of the first objective; `None` if the method has no model of values.
pub fn band(history: &History, model: &Model) -> Result<Option<Band>> {
    if model.study().settings().goal.objectives().len() != 1 {
        return Ok(None);
    }
    let Points { trial, x, .. } = &history.best;
    let every = trial.len().div_ceil(MOST).max(1);
    // The latest is always among them.
    let mut places: Vec<usize> = (0..trial.len()).rev().step_by(every).collect();
    places.reverse();
    let (study, store) = (model.study(), model.study().store());
    let name = &study.settings().name;
    let configurations: Result<Vec<_>> = places
        .iter()
        .map(|&place| Ok(store.trial(name, trial[place] as u64)?.configuration))
        .collect();
    let Some(forecasts) = model.predict(&configurations?)? else { return Ok(None) };
    let (mut trials, mut xs) = (Vec::new(), Vec::new());
    let (mut mean, mut low, mut high) = (Vec::new(), Vec::new(), Vec::new());
    for (place, forecast) in places.into_iter().zip(forecasts) {
        let Some(expected) = forecast.mean else { continue };
        let spread = DEVIATIONS * forecast.deviation.unwrap_or(0.0);
        trials.push(trial[place]);
        xs.push(x[place]);
        mean.push(expected);
        low.push(expected - spread);
        high.push(expected + spread);
    }
    Ok((!mean.is_empty()).then_some(Band { trial: trials, x: xs, mean, low, high }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::chronicle::Chronicle;
    use crate::view::figures::history::{View, history};
    use crate::view::fixtures::{modelled, parabola};

    #[test]
    fn the_band_is_the_forecast_at_the_best_trials() {
        let study = modelled(24);
        let mut chronicle = Chronicle::new(study.store().study("modelled").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        let drawn = history(&chronicle, &View::default()).unwrap();
        let model = Model::new(study);
        let band = band(&drawn, &model).unwrap().unwrap();
        assert_eq!(band.trial, drawn.best.trial);
        let last = *band.trial.last().unwrap();
        let configuration = model.study().trial(last as u64).unwrap().configuration;
        let forecast = model.predict(&[configuration]).unwrap().unwrap().remove(0);
        assert_eq!(*band.mean.last().unwrap(), forecast.mean.unwrap());
        let spread = 2.0 * forecast.deviation.unwrap();
        assert!((band.high.last().unwrap() - band.mean.last().unwrap() - spread).abs() < 1e-12);
    }

    #[test]
    fn a_method_without_a_model_has_no_band() {
        let study = parabola(20);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        let drawn = history(&chronicle, &View::default()).unwrap();
        assert_eq!(band(&drawn, &Model::new(study)).unwrap(), None);
    }
}
