//! Mean and deviation at a fixed set of points, kept up to date while points are chosen one by one.
//!
//! A point x that is chosen but has no value yet is taken in as if its value were its mean: no mean moves, and every
//! variance falls by
//!
//! ```text
//! σ²(c) ← σ²(c) - k_t(c, x)² / (σ²(x) + λ),     k_t(c, x) = k(c, x) - vᵀ(c) v(x),     v(x) = L⁻¹ k(x)
//! ```
//!
//! which are the variances of the posterior extended by x (Desautels, Krause and Burdick 2014 choose batches so).
//!
//! Cost for m points over n: O(mn²) at first, O(mn + n²) for each point taken in.

use super::posterior::{Posterior, Prediction};
use crate::kernel::Columns;
use crate::points::{Points, dot, dots, squared_norms};

/// Predictions at a set of points.
#[derive(Debug, Clone)]
pub struct Field {
    points: Points,
    /// The points in units of the length scales.
    scaled: Columns,
    means: Vec<f64>,
    variances: Vec<f64>,
    /// v(c) of each point, one after another, as of the first posterior.
    rows: Vec<f64>,
    /// What each point taken in added to v(c): one list over all points for each of them.
    added: Vec<Vec<f64>>,
    /// Entries of a row.
    len: usize,
}

impl Field {
    /// Predictions of `posterior` at `points`, given the weights of its targets.
    pub fn new(posterior: &Posterior, weights: &[f64], points: Points) -> Self {
        let len = posterior.len();
        let mut rows = vec![0.0; len * points.len()];
        for (x, row) in points.rows().zip(rows.chunks_exact_mut(len.max(1))) {
            posterior.fill_row(x, row);
        }
        let mut means: Vec<f64> = dots(&rows, weights).collect();
        posterior.factor().solve_lower_batch(&mut rows);
        let prior = posterior.kernel().output_scale();
        let mut variances: Vec<f64> =
            squared_norms(&rows, len).map(|explained| prior - explained).collect();
        // Without a row, the prior remains.
        means.resize(points.len(), 0.0);
        variances.resize(points.len(), prior);
        let scale = |x| posterior.kernel().scale(x);
        let scaled = Columns::new(&Points::from_rows(points.dim(), points.rows().map(scale)));
        Self { points, scaled, means, variances, rows, added: Vec::new(), len }
    }

    /// The points.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The prediction at the `i`-th point, given all points taken in.
    pub fn prediction(&self, i: usize, posterior: &Posterior) -> Prediction {
        let prior = posterior.kernel().output_scale();
        let deviation = self.variances[i].max(Posterior::least_variance(prior)).sqrt();
        Prediction { mean: self.means[i], deviation }
    }

    /// Takes in the point that `extended` has after those it had when last told: its last one.
    pub fn take_in(&mut self, extended: &Posterior) {
        let Some(last) = extended.len().checked_sub(1) else { return };
        assert_eq!(last, self.len + self.added.len(), "points are taken in one at a time");
        let kernel = extended.kernel();
        let x = kernel.scale(extended.points().row(last));
        let row = extended.factor().last_row();
        let pivot = row[last];
        // k(c, x) of each point, which becomes what x adds.
        let mut added = vec![0.0; self.points.len()];
        self.scaled.fill(kernel, &x, &mut added);
        for (p, added) in added.iter_mut().enumerate() {
            let own = &self.rows[p * self.len..(p + 1) * self.len];
            let mut explained = dot(own, &row[..self.len]);
            for (entries, l) in self.added.iter().zip(&row[self.len..]) {
                explained += entries[p] * l;
            }
            *added = (*added - explained) / pivot;
            self.variances[p] -= *added * *added;
        }
        self.added.push(added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Kernel, Profile};
    use crate::seed::{Seed, uniform};

    #[test]
    fn the_field_follows_the_extended_posterior() {
        let mut rng = Seed(3).stream("field", 0);
        let mut draw =
            |n: usize| Points::from_rows(2, (0..n).map(|_| [uniform(&mut rng), uniform(&mut rng)]));
        let (known, chosen, at) = (draw(37), draw(5), draw(20));
        let kernel = Kernel::new(Profile::Matern52, vec![0.3, 0.8], 1.7).unwrap();
        let mut posterior = Posterior::fit(kernel, 0.01, known.rows()).unwrap();
        let targets: Vec<f64> = known.rows().map(|x| (5.0 * x[0]).sin() + x[1]).collect();
        let weights = posterior.weights(&targets);
        let mut field = Field::new(&posterior, &weights, at.clone());
        for x in chosen.rows() {
            posterior = posterior.extend([x]).unwrap();
            field.take_in(&posterior);
            let mut extended = weights.clone();
            extended.resize(posterior.len(), 0.0);
            for (i, x) in at.rows().enumerate() {
                let expected = posterior.predict(&extended, x);
                let got = field.prediction(i, &posterior);
                assert!((got.mean - expected.mean).abs() < 1e-12);
                assert!((got.deviation - expected.deviation).abs() < 1e-9, "{got:?} {expected:?}");
            }
        }
    }
}
