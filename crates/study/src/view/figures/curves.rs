//! Learning curves: those of running trials, of the latest that finished or were stopped, and of the best.

use serde::Serialize;
use wimble::outcome::Measurement;

use crate::view::chronicle::{Chronicle, Standing};
use crate::{Reader, Result, Step};

/// The most running trials, and the most others.
const MOST: usize = 60;
/// The most points of one curve.
const POINTS: usize = 150;

/// The curve of a trial.
#[derive(Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The trial.
    pub trial: usize,
    /// Where it is in its life.
    pub standing: Standing,
    /// Whether it is the best so far.
    pub best: bool,
    /// The fidelities, growing.
    pub x: Vec<f64>,
    /// The values of the objective there.
    pub y: Vec<f64>,
}

/// Whose curves are drawn: all running trials, the latest others, and the best. None without a fidelity.
pub struct Chosen(Vec<(usize, Standing, bool)>);

/// Chooses among the trials. What it chose is read without the chronicle, which others may write meanwhile.
pub fn choose(chronicle: &Chronicle) -> Chosen {
    if chronicle.goal().partial().is_none() {
        return Chosen(Vec::new());
    }
    let standings = chronicle.standings();
    let running = (0..chronicle.len()).rev().filter(|&id| standings[id] == Standing::Running);
    let mut chosen: Vec<usize> = running.take(MOST).collect();
    let curved = |id: &usize| {
        matches!(standings[*id], Standing::Complete | Standing::Stopped | Standing::Violating)
    };
    chosen.extend(chronicle.order().iter().rev().map(|&id| id as usize).filter(curved).take(MOST));
    let best = chronicle.best();
    if let Some(best) = best.filter(|best| !chosen.contains(best)) {
        chosen.push(best);
    }
    Chosen(chosen.into_iter().map(|id| (id, standings[id], best == Some(id))).collect())
}

/// The curves of the first objective.
pub fn curves(chosen: &Chosen, study: &str, store: &dyn Reader) -> Result<Vec<Curve>> {
    let mut curves = Vec::with_capacity(chosen.0.len());
    for &(trial, standing, best) in &chosen.0 {
        let (x, y) = points(&store.steps(study, trial as u64)?);
        if !x.is_empty() {
            curves.push(Curve { trial, standing, best, x, y });
        }
    }
    Ok(curves)
}

/// Fidelities and values, thinned evenly with both ends.
pub fn points(steps: &[Step]) -> (Vec<f64>, Vec<f64>) {
    let value = |told: &Measurement| told.objectives.first().map(|first| first.value);
    let all: Vec<(f64, f64)> = steps
        .iter()
        .filter_map(|step| Some((step.measurement.fidelity?, value(&step.measurement)?)))
        .collect();
    if all.len() <= POINTS {
        return all.into_iter().unzip();
    }
    (0..POINTS).map(|k| all[k * (all.len() - 1) / (POINTS - 1)]).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::curved;

    #[test]
    fn curves_of_running_and_finished_trials_are_what_was_reported() {
        let study = curved(8);
        let store = &**study.store();
        let mut chronicle = Chronicle::new(store.study("curved").unwrap());
        chronicle.catch_up(store).unwrap();
        let drawn = curves(&choose(&chronicle), "curved", store).unwrap();
        assert_eq!(drawn.iter().filter(|one| one.standing == Standing::Running).count(), 1);
        assert!(drawn.iter().any(|one| one.standing == Standing::Stopped));
        assert_eq!(drawn.iter().filter(|one| one.best).count(), 1);
        for curve in &drawn {
            let steps = study.steps(curve.trial as u64).unwrap();
            assert_eq!((curve.x.len(), curve.y.len()), (steps.len(), steps.len()));
            assert_eq!(curve.x[0], steps[0].fidelity());
            assert_eq!(Some(curve.y[0]), steps[0].measurement.value());
        }
    }

    #[test]
    fn a_long_curve_keeps_its_ends() {
        let step = |k: u32| Step {
            trial: 0,
            sequence: u64::from(k),
            at: crate::Timestamp(0),
            measurement: Measurement { fidelity: Some(f64::from(k)), ..f64::from(k).into() },
        };
        let steps: Vec<Step> = (1..=1_000).map(step).collect();
        let (x, y) = points(&steps);
        assert_eq!((x.len(), x[0], x[POINTS - 1]), (POINTS, 1.0, 1_000.0));
        assert_eq!(x, y);
    }
}
