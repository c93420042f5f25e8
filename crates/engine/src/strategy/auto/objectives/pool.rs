//! Candidates with what the models of all objectives predict for them, kept up to date while points are picked.
//!
//! A pick that has no value yet counts as if each objective had its mean there: no mean moves, and the deviations fall (field.rs).

use std::cmp::Ordering;

use super::surrogate::Surrogate;
use crate::error::Result;
use crate::gaussian_process::{Field, Posterior};
use crate::points::Points;

/// Candidates, their means, and the fields that their deviations come from.
pub(super) struct Pool<'m> {
    models: &'m [Surrogate],
    /// The posterior of each model with the pending points and the picks.
    extended: Vec<Posterior>,
    /// A field for each model, for each group of candidates that was added at once.
    groups: Vec<Vec<Field>>,
    /// The group of each candidate and its place in it.
    places: Vec<(usize, usize)>,
    points: Points,
    means: Points,
    /// What each candidate's gain counts for: the probability that it has a value and meets the constraints.
    chances: Vec<f64>,
}

impl<'m> Pool<'m> {
    /// No candidates yet; `ahead` are points without a value.
    pub(super) fn new(models: &'m [Surrogate], ahead: &Points) -> Result<Self> {
        let extended: Result<Vec<Posterior>> =
            models.iter().map(|model| model.posterior().extend(ahead.rows())).collect();
        Ok(Self {
            models,
            extended: extended?,
            groups: Vec::new(),
            places: Vec::new(),
            points: Points::new(ahead.dim()),
            means: Points::new(models.len()),
            chances: Vec::new(),
        })
    }

    /// Adds candidates.
    pub(super) fn add(&mut self, points: &Points, chance: impl Fn(&[f64]) -> f64) {
        let fields: Vec<Field> = self
            .models
            .iter()
            .zip(&self.extended)
            .map(|(model, extended)| model.field(extended, points.clone()))
            .collect();
        for (place, x) in points.rows().enumerate() {
            let mean = |((model, field), extended): ((&Surrogate, &Field), &Posterior)| {
                model.turn(field.prediction(place, extended)).mean
            };
            let means: Vec<f64> =
                self.models.iter().zip(&fields).zip(&self.extended).map(mean).collect();
            self.means.push(&means);
            self.chances.push(chance(x));
            self.places.push((self.groups.len(), place));
        }
        self.points.extend(points);
        self.groups.push(fields);
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

    pub(super) fn chance(&self, i: usize) -> f64 {
        self.chances[i]
    }

    /// The deviation of each objective at a candidate.
    pub(super) fn deviations(&self, i: usize) -> Vec<f64> {
        let (group, place) = self.places[i];
        let deviation = |((model, field), extended): ((&Surrogate, &Field), &Posterior)| {
            model.turn(field.prediction(place, extended)).deviation
        };
        self.models.iter().zip(&self.groups[group]).zip(&self.extended).map(deviation).collect()
    }

    /// The means of a candidate, lowered by `width` deviations.
    pub(super) fn bound(&self, i: usize, width: f64) -> Vec<f64> {
        if width == 0.0 {
            return self.means.row(i).to_vec();
        }
        let deviations = self.deviations(i);
        self.means.row(i).iter().zip(&deviations).map(|(mean, s)| mean - width * s).collect()
    }

    /// Means and deviations at other points.
    pub(super) fn predict(&self, at: &Points) -> (Points, Points) {
        let mut means = Points::zeros(self.models.len(), at.len());
        let mut deviations = means.clone();
        for (j, (model, extended)) in self.models.iter().zip(&self.extended).enumerate() {
            for (i, prediction) in model.predict_all(extended, at).into_iter().enumerate() {
                means.row_mut(i)[j] = prediction.mean;
                deviations.row_mut(i)[j] = prediction.deviation;
            }
        }
        (means, deviations)
    }

    /// Takes a pick in.
    pub(super) fn take_in(&mut self, x: &[f64]) -> Result<()> {
        for (j, extended) in self.extended.iter_mut().enumerate() {
            *extended = extended.extend([x])?;
            self.groups.iter_mut().for_each(|fields| fields[j].take_in(extended));
        }
        Ok(())
    }

    /// The candidates that no other dominates, by their means lowered by `width` deviations; of those whose chance is at least
    /// `least`.
    pub(super) fn front(&self, width: f64, least: f64) -> Result<(Vec<usize>, Points)> {
        let likely: Vec<usize> = (0..self.len()).filter(|&i| self.chances[i] >= least).collect();
        let rows =
            Points::from_rows(self.models.len(), likely.iter().map(|&i| self.bound(i, width)));
        let front = crate::pareto::front(&rows)?;
        let values = Points::from_rows(rows.dim(), front.iter().map(|&i| rows.row(i)));
        Ok((front.into_iter().map(|i| likely[i]).collect(), values))
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
