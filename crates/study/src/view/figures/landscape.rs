//! The batch that was proposed last, and the model's landscape that it was drawn from, over two parameters.
//!
//! All other parameters are as in the best trial. Points of the batch differ from it there too: the picture is a shadow.

use crate::{Origin, Result};
use serde::Serialize;
use wimble::forecast::Forecast;
use wimble::space::{Configuration, Dimension};

use super::Range;
use super::slices::steps;
use crate::view::axes::moved;
use crate::view::chronicle::{Chronicle, Standing};
use crate::view::model::Model;

/// A batch is shown up to this size.
const LARGEST: usize = 200;

/// The trials that were proposed together last.
#[derive(Debug, Serialize)]
pub struct Batch {
    /// When, in milliseconds since 1970.
    pub proposed: Option<f64>,
    /// Their numbers.
    pub trial: Vec<usize>,
    /// Where they are in their lives.
    pub standing: Vec<Standing>,
    /// Other trials without an outcome, which repelled them.
    pub pending: Vec<usize>,
}

/// The trials that were proposed together last.
pub fn batch(chronicle: &Chronicle) -> Batch {
    let proposed = chronicle.proposed();
    let by_method =
        |id: &usize| chronicle.origins()[*id] == Origin::Proposed && proposed[*id].is_finite();
    let latest = (0..chronicle.len()).filter(by_method).map(|id| proposed[id]).reduce(f64::max);
    let in_batch = |id: &usize| by_method(id) && Some(proposed[*id]) == latest;
    let trial: Vec<usize> = (0..chronicle.len()).filter(in_batch).take(LARGEST).collect();
    let is_pending = |id: &usize| {
        !in_batch(id) && matches!(chronicle.standings()[*id], Standing::Queued | Standing::Running)
    };
    Batch {
        proposed: latest,
        standing: trial.iter().map(|&id| chronicle.standings()[id]).collect(),
        trial,
        pending: (0..chronicle.len()).filter(is_pending).take(LARGEST).collect(),
    }
}

/// The model over two parameters.
#[derive(Debug, Serialize)]
pub struct Landscape {
    /// The names of the two parameters.
    pub names: [String; 2],
    /// Places along each, from 0 to 1.
    pub places: [Vec<f64>; 2],
    /// What the model expects, row by row from low to high values of the second; `null` where the configuration is not in the space.
    pub forecast: Vec<Option<Forecast>>,
}

/// The landscape around a configuration, over a part of each of two dimensions; `None` if the method has no model yet.
pub fn landscape(
    model: &Model,
    [(x, x_part), (y, y_part)]: [(&Dimension, Range); 2],
    at: &Configuration,
) -> Result<Option<Landscape>> {
    let space = &model.study().settings().space;
    let (x_places, x_values) = steps(&x.kind, x_part);
    let (y_places, y_values) = steps(&y.kind, y_part);
    let mut asked = Vec::new();
    let mut there = Vec::new();
    for y_value in &y_values {
        for x_value in &x_values {
            let configuration = moved(space, at, &[(&x.name, x_value), (&y.name, y_value)]);
            let allowed = model.allows(&configuration);
            there.push(allowed);
            if allowed {
                asked.push(configuration);
            }
        }
    }
    let Some(mut forecasts) = model.predict(&asked)?.map(Vec::into_iter) else { return Ok(None) };
    Ok(Some(Landscape {
        names: [x.name.clone(), y.name.clone()],
        places: [x_places, y_places],
        forecast: there
            .into_iter()
            .map(|there| if there { forecasts.next() } else { None })
            .collect(),
    }))
}
