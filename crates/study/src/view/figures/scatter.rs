//! Values over one parameter.

use serde::Serialize;

use super::{Grid, Range, telling_range};
use crate::view::chronicle::{Chronicle, Standing};

/// Up to this many values are sent as points.
const POINTS: usize = 600;

/// The values of an objective over a parameter.
#[derive(Debug, Serialize)]
pub struct Scatter {
    /// What the picture shows from bottom to top.
    pub y: Range,
    /// The numbers of trials, where they are few.
    pub trial: Vec<usize>,
    /// Their places from 0 to 1, on the scale of the parameter.
    pub place: Vec<f64>,
    /// Their values.
    pub value: Vec<f64>,
    /// How dense they are, where they are many.
    pub grid: Option<Grid>,
}

/// The values of the first objective over each parameter.
pub fn scatters(chronicle: &Chronicle) -> Vec<Scatter> {
    let axes = chronicle.axes();
    let values = chronicle.objective(0);
    let complete: Vec<usize> = (0..chronicle.len())
        .filter(|&id| chronicle.standings()[id] == Standing::Complete)
        .collect();
    let low_is_good = chronicle.goal().first_direction().turn(1.0) > 0.0;
    let y = telling_range(&complete.iter().map(|&id| values[id]).collect::<Vec<_>>(), low_is_good);
    let of = |(place, axis): (usize, &wimble::space::Dimension)| {
        let column = chronicle.parameter(place);
        let points = || {
            complete
                .iter()
                .map(|&id| (id, super::slices::share(&axis.kind, column[id]), values[id]))
                .filter(|(_, share, _)| share.is_finite())
        };
        if complete.len() <= POINTS {
            let (mut trial, mut shares, mut shown) = (Vec::new(), Vec::new(), Vec::new());
            for (id, share, value) in points() {
                trial.push(id);
                shares.push(share);
                shown.push(value);
            }
            return Scatter { y, trial, place: shares, value: shown, grid: None };
        }
        let unit = Range { low: 0.0, high: 1.0 };
        let points = points().map(|(_, share, value)| (share, value));
        let grid = Grid::new(points, [unit, y], [80, 60]);
        Scatter { y, trial: Vec::new(), place: Vec::new(), value: Vec::new(), grid: Some(grid) }
    };
    axes.iter().enumerate().map(of).collect()
}
