//! The hypervolume of the front over trials: what several objectives have instead of a best value so far.
//!
//! One reference point for the whole picture, that of the front as it is now, so that the line never falls: the study's own where it has
//! one, otherwise the one that `wimble best` infers. The line has some tens of points, however long the study is.

use serde::Serialize;
use wimble::goal::Objective;
use wimble::pareto;
use wimble::points::Points;
use wimble::seed::Seed;

use crate::Result;
use crate::view::chronicle::{Chronicle, Standing};

/// The most points of the line.
const POINTS: usize = 80;

/// The hypervolume over trials.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Volume {
    /// How many trials had finished.
    pub finished: Vec<usize>,
    /// When, in milliseconds since 1970.
    pub at: Vec<f64>,
    /// The hypervolume of the front then.
    pub volume: Vec<f64>,
    /// How many trials the front had.
    pub front: Vec<usize>,
    /// The reference point, as the user gives values.
    pub reference: Vec<f64>,
}

/// The hypervolume over trials; empty while no trial keeps all constraints.
pub fn volume(chronicle: &Chronicle) -> Result<Volume> {
    let objectives = chronicle.goal().objectives();
    let row = |id: usize| -> Vec<f64> {
        let columns = objectives.iter().zip(chronicle.objectives());
        columns.map(|(objective, column)| objective.direction.turn(column[id])).collect()
    };
    let order = chronicle.order();
    let parts = order.len().div_ceil(POINTS).max(1);
    let mut front = Points::new(objectives.len());
    let mut fronts: Vec<(usize, f64, Points)> = Vec::new();
    for (place, part) in order.chunks(parts).enumerate() {
        let new = part.iter().map(|&id| id as usize);
        let before = front.len();
        for id in new.filter(|&id| chronicle.standings()[id] == Standing::Complete) {
            front.push(&row(id));
        }
        if front.len() > before {
            let kept = pareto::front(&front)?;
            front = Points::from_rows(objectives.len(), kept.iter().map(|&at| front.row(at)));
        }
        if let (Some(&last), false) = (part.last(), front.is_empty()) {
            let finished = place * parts + part.len();
            fronts.push((finished, chronicle.finished()[last as usize], front.clone()));
        }
    }
    if front.is_empty() {
        return Ok(Volume::default());
    }
    let given = |Objective { direction, reference, .. }: &Objective| {
        reference.map(|reference| direction.turn(reference))
    };
    let inferred = pareto::reference_point(&front)?;
    let corner: Vec<f64> = objectives
        .iter()
        .zip(inferred)
        .map(|(objective, inferred)| given(objective).unwrap_or(inferred))
        .collect();
    let turn = |(objective, value): (&Objective, &f64)| objective.direction.turn(*value);
    let mut line = Volume {
        reference: objectives.iter().zip(&corner).map(turn).collect(),
        ..Volume::default()
    };
    for (finished, at, front) in fronts {
        let rng = &mut Seed(0).stream("hypervolume over trials", 0);
        line.finished.push(finished);
        line.at.push(at);
        line.volume.push(pareto::hypervolume(&front, &corner, rng)?.value);
        line.front.push(front.len());
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::two_objectives;

    #[test]
    fn the_line_is_that_of_the_fronts_of_all_beginnings() {
        let study = two_objectives(300);
        let mut chronicle = Chronicle::new(study.store().study("two").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        let line = volume(&chronicle).unwrap();
        assert!(line.finished.len() > 40 && line.finished.len() <= POINTS);
        assert!(line.volume.windows(2).all(|pair| pair[0] <= pair[1] + 1e-12));
        assert_eq!(line.finished.last(), Some(&300));
        // The end is what the command prints.
        let front = study.front().unwrap();
        assert_eq!(line.reference, front.reference);
        assert!((line.volume.last().unwrap() - front.hypervolume.value).abs() < 1e-9);
        assert_eq!(line.front.last(), Some(&front.trials.len()));
        // In the middle, by the naive area: the union of boxes, counted on a fine grid.
        let place = line.finished.len() / 3;
        let corner: Vec<f64> = vec![line.reference[0], -line.reference[1]];
        let rows: Vec<[f64; 2]> = chronicle.order()[..line.finished[place]]
            .iter()
            .map(|&id| id as usize)
            .filter(|&id| chronicle.standings()[id] == Standing::Complete)
            .map(|id| [chronicle.objective(0)[id], -chronicle.objective(1)[id]])
            .collect();
        let lowest = |k: usize| rows.iter().map(|row| row[k]).fold(f64::INFINITY, f64::min);
        let (cells, low) = (400, [lowest(0), lowest(1)]);
        let width = [corner[0] - low[0], corner[1] - low[1]];
        let mut inside = 0;
        for i in 0..cells {
            for j in 0..cells {
                let at =
                    |k: usize, n: i32| low[k] + width[k] * (f64::from(n) + 0.5) / f64::from(cells);
                let point = [at(0, i), at(1, j)];
                inside +=
                    i32::from(rows.iter().any(|row| row[0] <= point[0] && row[1] <= point[1]));
            }
        }
        let naive = f64::from(inside) / f64::from(cells * cells) * width[0] * width[1];
        assert!(
            (line.volume[place] - naive).abs() < 0.02 * naive,
            "{} {naive}",
            line.volume[place]
        );
    }
}
