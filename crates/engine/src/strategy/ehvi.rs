//! EHVI: the exact expected hypervolume improvement under a Gaussian process for each objective (Emmerich 2005; Yang, Emmerich, Deutz
//! and Bäck 2019), a baseline for two and three objectives.
//!
//! In batches, and with pending points, each point is chosen as if the earlier ones had been told the means that were expected of
//! them (the kriging believer). The reference point is a tenth beyond the nadir of the observed front (`pareto::reference_point`).

use serde::{Deserialize, Serialize};

use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::acquisition::{Acquisition, expected_gain};
use crate::batch::{BatchRule, Candidates};
use crate::domain::Domain;
use crate::error::Result;
use crate::forecast::{Expected, Forecast, Forecasts};
use crate::gaussian_process::{Prediction, Regression, Surrogate};
use crate::goal::Goal;
use crate::history::{End, History};
use crate::named::Named;
use crate::pareto::{Boxes, front, reference_point};
use crate::points::Points;
use crate::space::SearchSpace;

/// The most objectives: boxes of more are too many.
const MOST: usize = 3;
/// Trials of the front that the search for a maximum starts near.
const STARTS: usize = 20;

/// Settings of EHVI.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ehvi {
    /// The Gaussian-process regression that is fitted to each objective.
    pub regression: Regression,
    /// How the maximum of the expected improvement is searched for.
    pub candidates: Candidates,
    /// How many trials are drawn at random first; 10.
    pub initial: usize,
}

impl Named for Ehvi {
    const NAME: &'static str = "ehvi";
    const DESCRIPTION: &'static str = "Gaussian processes, expected hypervolume improvement";
}

impl Default for Ehvi {
    fn default() -> Self {
        Self { regression: Regression::default(), candidates: Candidates::default(), initial: 10 }
    }
}

/// The surrogates of all objectives.
struct Kept(Vec<Surrogate>);

impl Strategy for Ehvi {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn serves(&self, goal: &Goal) -> bool {
        (2..=MOST).contains(&goal.objectives().len()) && goal.constraints().is_empty()
    }

    fn scope(&self) -> &'static str {
        "it serves two or three objectives, without constraints"
    }

    fn check(&self, space: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        self.regression.check(space.dim())?;
        BatchRule::<ExpectedGain>::check(&self.candidates)
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        let initial = Initial::FirstAndUnvalued(self.initial);
        place(evidence, size, "ehvi", initial, |opening| {
            let Evidence { space, history, pending, .. } = opening.evidence;
            let fitted = self.surrogates(history, memory)?;
            let measured: Vec<usize> = measured(history).collect();
            let mut values = Points::from_rows(
                history.objectives().len(),
                measured.iter().map(|&i| history.row(i)),
            );
            let reference = reference_point(&values)?;
            // In units of the front's extent, so that volumes of extreme values stay finite.
            let least = |i: usize| values.rows().map(|row| row[i]).fold(f64::INFINITY, f64::min);
            let units: Vec<f64> =
                reference.iter().enumerate().map(|(i, r)| (r - least(i)).min(f64::MAX)).collect();
            let goal = history.goal().objectives().iter().zip(&reference);
            let reference: Vec<f64> = goal
                .map(|(objective, &inferred)| {
                    objective.reference.map_or(inferred, |given| objective.direction.turn(given))
                })
                .collect();
            let reference = scaled(&reference, &units);
            let on_front = front(&values)?;
            let starts =
                on_front.iter().take(STARTS).map(|&row| history.points().row(measured[row]));
            let incumbents = Points::from_rows(space.dim(), starts);
            let mut ahead = pending.clone();
            let mut surrogates = believing(&fitted, &ahead, &mut values)?;
            let mut chosen = Points::with_capacity(space.dim(), opening.count);
            for _ in 0..opening.count {
                let rows = values.rows().map(|row| scaled(row, &units));
                let boxes = Boxes::new(&Points::from_rows(values.dim(), rows), &reference)?;
                let gain = ExpectedGain { surrogates, boxes, units: units.clone() };
                // The surrogates know of what is pending: the rule need not keep clear of it, but must not repeat it.
                let none = Points::new(space.dim());
                let domain = Domain { pending: &none, ..opening.domain(&incumbents) };
                let best = self.candidates.choose(&gain, &domain, 1, &mut opening.rng)?;
                let domain = Domain { pending: &ahead, ..opening.domain(&incumbents) };
                let settled = domain.settle(&best, &mut opening.rng)?;
                surrogates = believing(&gain.surrogates, &settled, &mut values)?;
                chosen.extend(&settled);
                ahead.extend(&settled);
            }
            memory.keep(Kept(fitted));
            Ok(chosen)
        })
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        if measured(evidence.history).next().is_none() {
            return Ok(None);
        }
        let surrogates = self.surrogates(evidence.history, memory)?;
        let forecast = |x: &[f64]| {
            let expected = |surrogate: &Surrogate| {
                let Prediction { mean, deviation } = surrogate.predict(x);
                Expected { mean, deviation }
            };
            let objectives: Vec<Expected> = surrogates.iter().map(expected).collect();
            Forecast {
                mean: objectives.first().map(|first| first.mean),
                deviation: objectives.first().map(|first| first.deviation),
                objectives,
                ..Forecast::default()
            }
        };
        let forecasts = at.rows().map(forecast).collect();
        memory.keep(Kept(surrogates));
        Ok(Some(forecasts))
    }
}

impl Ehvi {
    /// A surrogate for each objective, of all values told.
    fn surrogates(&self, history: &History, memory: &mut Memory) -> Result<Vec<Surrogate>> {
        let previous = memory.take::<Kept>();
        let points = Points::from_rows(
            history.points().dim(),
            measured(history).map(|i| history.points().row(i)),
        );
        let fit = |(j, column): (usize, &crate::column::Column)| {
            let values: Vec<f64> = column.values().flatten().collect();
            let previous = previous.as_ref().and_then(|kept| kept.0.get(j));
            self.regression.fit(&points, &values, previous)
        };
        history.objectives().iter().enumerate().map(fit).collect()
    }
}

fn measured(history: &History) -> impl Iterator<Item = usize> + '_ {
    (0..history.len()).filter(|&i| history.ends()[i] == End::Measured)
}

/// The surrogates that believe their means at some points; these means become rows of `values`.
fn believing(
    surrogates: &[Surrogate],
    points: &Points,
    values: &mut Points,
) -> Result<Vec<Surrogate>> {
    for x in points.rows() {
        let means: Vec<f64> =
            surrogates.iter().map(|surrogate| surrogate.predict(x).mean).collect();
        values.push(&means);
    }
    surrogates.iter().map(|surrogate| surrogate.believing(points.rows())).collect()
}

/// The logarithm of the expected hypervolume improvement.
struct ExpectedGain {
    surrogates: Vec<Surrogate>,
    boxes: Boxes,
    /// The unit of each objective in the boxes.
    units: Vec<f64>,
}

fn scaled(row: &[f64], units: &[f64]) -> Vec<f64> {
    row.iter().zip(units).map(|(value, unit)| value / unit).collect()
}

impl Acquisition for ExpectedGain {
    fn dim(&self) -> usize {
        self.surrogates.first().map_or(0, |surrogate| surrogate.kernel().dim())
    }

    fn value(&self, x: &[f64]) -> f64 {
        let predictions: Vec<Prediction> =
            self.surrogates.iter().map(|surrogate| surrogate.predict(x)).collect();
        let means: Vec<f64> = predictions.iter().map(|prediction| prediction.mean).collect();
        let deviations: Vec<f64> =
            predictions.iter().map(|prediction| prediction.deviation).collect();
        let (means, deviations) = (scaled(&means, &self.units), scaled(&deviations, &self.units));
        let deviations: Vec<f64> = deviations.iter().map(|s| s.max(1e-300)).collect();
        expected_gain(&self.boxes, &means, &deviations).max(f64::MIN_POSITIVE).ln()
    }
}
