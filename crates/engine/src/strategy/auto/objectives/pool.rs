//! Candidates with what the models of all objectives predict for them, kept up to date while points are picked.
//!
//! Means are known for every candidate. Deviations cost a hundred times as much, and most picks do not look at them: they are known for an even
//! [`SAMPLE`] of the candidates. A pick that has no value yet counts as if each objective had its mean there: no mean moves, and the
//! deviations fall (field.rs).
//!
//! Cost for m candidates over n trials and k objectives: O(mnk) for the means; O(`SAMPLE` n² k) for the first deviations, then
//! O(`SAMPLE` n k + n² k) a pick.

use std::cmp::Ordering;

use super::prospects::Prospects;
use super::surrogate::Surrogate;
use crate::error::Result;
use crate::gaussian_process::{Field, Posterior};
use crate::points::Points;

/// Candidates whose deviations are known.
const SAMPLE: usize = 256;

/// Candidates, their means, and the deviations of a sample.
pub(super) struct Pool<'m> {
    models: &'m [Surrogate],
    prospects: Prospects<'m>,
    /// Points without a value: those that are pending, then the picks.
    ahead: Points,
    points: Points,
    means: Points,
    /// Whether each candidate meets the constraints by their means.
    met: Vec<bool>,
    /// What each candidate's gain counts for, where that was asked for.
    chances: Vec<Option<f64>>,
    sample: Option<Sample>,
}

/// Candidates whose deviations are known.
struct Sample {
    candidates: Vec<usize>,
    /// The posterior of each model with the points without a value, and its field over the candidates.
    fields: Vec<(Posterior, Field)>,
}

impl<'m> Pool<'m> {
    /// No candidates yet; `ahead` are points without a value.
    pub(super) fn new(models: &'m [Surrogate], prospects: Prospects<'m>, ahead: &Points) -> Self {
        Self {
            models,
            prospects,
            ahead: ahead.clone(),
            points: Points::new(ahead.dim()),
            means: Points::new(models.len()),
            met: Vec::new(),
            chances: Vec::new(),
            sample: None,
        }
    }

    /// Adds candidates; all come before the first deviation is asked for.
    pub(super) fn add(&mut self, points: &Points) {
        self.means.extend(&self.means_at(points));
        self.met.extend(self.prospects.are_met(points));
        let known = self.prospects.are_certain().then_some(1.0);
        self.chances.extend(points.rows().map(|_| known));
        self.points.extend(points);
        self.sample = None;
    }

    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    pub(super) fn point(&self, i: usize) -> &[f64] {
        self.points.row(i)
    }

    /// The means of all candidates, one objective a column.
    pub(super) fn means(&self) -> &Points {
        &self.means
    }

    /// The means at other points.
    pub(super) fn means_at(&self, at: &Points) -> Points {
        let columns: Vec<Vec<f64>> = self.models.iter().map(|model| model.means(at)).collect();
        let row = |i: usize| columns.iter().map(|column| column[i]).collect::<Vec<f64>>();
        Points::from_rows(self.models.len(), (0..at.len()).map(row))
    }

    /// The chance of a candidate, if it was computed before or is certain.
    pub(super) fn known_chance(&self, i: usize) -> Option<f64> {
        self.chances[i]
    }

    /// The chance of a candidate.
    pub(super) fn chance(&mut self, i: usize) -> f64 {
        let (prospects, x) = (&self.prospects, self.points.row(i));
        *self.chances[i].get_or_insert_with(|| prospects.chance(x))
    }

    /// The chance at another point.
    pub(super) fn chance_at(&self, x: &[f64]) -> f64 {
        if self.prospects.are_certain() { 1.0 } else { self.prospects.chance(x) }
    }

    /// The sample, with the deviations of each objective.
    pub(super) fn sampled(&mut self) -> Result<Vec<(usize, Vec<f64>)>> {
        let models = self.models;
        let sample = self.known_sample()?;
        let deviations = |place: usize| -> Vec<f64> {
            let deviation = |(model, (posterior, field)): (&Surrogate, &(Posterior, Field))| {
                model.turn(field.prediction(place, posterior)).deviation
            };
            models.iter().zip(&sample.fields).map(deviation).collect()
        };
        Ok(sample.candidates.iter().enumerate().map(|(place, &i)| (i, deviations(place))).collect())
    }

    /// The deviations at other points.
    pub(super) fn deviations_at(&mut self, at: &Points) -> Result<Points> {
        let models = self.models;
        let sample = self.known_sample()?;
        let mut deviations = Points::zeros(models.len(), at.len());
        for (j, (model, (posterior, _))) in models.iter().zip(&sample.fields).enumerate() {
            for (i, prediction) in model.predict_all(posterior, at).into_iter().enumerate() {
                deviations.row_mut(i)[j] = prediction.deviation;
            }
        }
        Ok(deviations)
    }

    /// The sample with all points without a value taken in.
    fn known_sample(&mut self) -> Result<&Sample> {
        let mut sample = match self.sample.take() {
            Some(sample) => sample,
            None => {
                let step = self.len().div_ceil(SAMPLE).max(1);
                let candidates: Vec<usize> = (0..self.len()).step_by(step).collect();
                let rows = candidates.iter().map(|&i| self.points.row(i));
                let points = Points::from_rows(self.points.dim(), rows);
                let field = |model: &Surrogate| {
                    let posterior = model.posterior().extend(self.ahead.rows())?;
                    let field = model.field(&posterior, points.clone());
                    Ok((posterior, field))
                };
                let fields: Result<Vec<_>> = self.models.iter().map(field).collect();
                Sample { candidates, fields: fields? }
            }
        };
        for (model, (posterior, field)) in self.models.iter().zip(&mut sample.fields) {
            let known = posterior.len() - model.posterior().len();
            for x in self.ahead.rows().skip(known) {
                *posterior = posterior.extend([x])?;
                field.take_in(posterior);
            }
        }
        Ok(self.sample.insert(sample))
    }

    /// Takes a pick in.
    pub(super) fn take_in(&mut self, x: &[f64]) {
        self.ahead.push(x);
    }

    /// The candidates that meet the constraints by their means and that no other such candidate dominates, with their means.
    pub(super) fn front(&self) -> Result<(Vec<usize>, Points)> {
        let met: Vec<usize> = (0..self.len()).filter(|&i| self.met[i]).collect();
        let rows = Points::from_rows(self.models.len(), met.iter().map(|&i| self.means.row(i)));
        let front = crate::pareto::front(&rows)?;
        let values = Points::from_rows(rows.dim(), front.iter().map(|&i| rows.row(i)));
        Ok((front.into_iter().map(|i| met[i]).collect(), values))
    }
}

/// A candidate with a gain that was true when it was last computed. Gains only fall while points are picked, so that one that
/// is still the highest after it was computed anew is the highest of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Claim {
    pub(super) gain: f64,
    pub(super) candidate: usize,
    /// The pick at which it was computed.
    pub(super) at: usize,
    /// Whether the candidate's chance is in it; without, it is higher than it should be.
    pub(super) is_weighed: bool,
}

impl Eq for Claim {}

impl PartialOrd for Claim {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Claim {
    /// By gain; of equals the earlier candidate is greater.
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.candidate.cmp(&self.candidate))
    }
}
