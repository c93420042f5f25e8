//! The local step: the minimum of a quadratic about the centre, within a radius that shrinks when it misleads.
//!
//! For single asks early in a search, when the values met span orders of magnitude and no quadratic of the best trials (jump.rs) deserves
//! trust. A small enough neighbourhood of the centre is a quadratic all the same:
//!
//! ```text
//! z = (x - c)/Δ,     disbelief of a point: λ (10⁻⁶ + |z|⁶/10),     step: minimum of the quadratic in |s| ≤ Δ and the cube
//! ```
//!
//! since the error of a Taylor polynomial of degree two grows with |z|³. Of two kinds of quadratics and three λ, the least
//! leave-one-out error, with weights 1/(1 + |z|⁶/10), wins.
//!
//! The radius is a function of the trials alone, whoever asked for them: each trial that came within 1.01 Δ of the centre tests it.
//! One that is better and went more than 0.7 Δ doubles Δ; one that is not shrinks it to 0.7 of the distance that it went, or
//! of Δ/2 where that is more.
//!
//! Cost for n ≤ 160 points: six fits, O(4n³).

use super::jump::coefficients;
use super::quadratic::Quadratic;
use super::ridge::{Polynomials, Taylor, Terms, least_error};
use crate::points::Points;

/// The first radius.
pub(super) const FIRST: f64 = 0.2;
/// The longest and the shortest.
const LONGEST: f64 = 0.5;
const SHORTEST: f64 = 1e-6;
/// How far from the centre, in Δ, a trial still tests the radius, and from where on it may lengthen it.
const WITHIN: f64 = 1.01;
const FAR: f64 = 0.7;
const LONGER: f64 = 2.0;
const SHORTER: f64 = 0.7;
/// The trials that a step looks at, at most.
const MOST: usize = 160;
/// |z|⁶ in units of which points are disbelieved, and the disbelief of the centre.
const DISTANT: f64 = 10.0;
const CENTRE: f64 = 1e-6;
const RIDGES: [f64; 3] = [1e-6, 1e-3, 3e-2];

/// How many trials a local step wants to see.
pub(super) fn wanted(dim: usize) -> usize {
    coefficients(dim).max(2 * dim + 1).min(MOST)
}

/// The radius of local steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Radius(f64);

impl Default for Radius {
    fn default() -> Self {
        Self(FIRST)
    }
}

impl Radius {
    pub(super) fn get(self) -> f64 {
        self.0
    }

    /// Takes in a trial that went so far from the centre.
    pub(super) fn tell(&mut self, distance: f64, better: bool) {
        if distance > WITHIN * self.0 {
            return;
        }
        if !better {
            self.0 = (SHORTER * distance.max(0.5 * self.0)).max(SHORTEST);
        } else if distance > FAR * self.0 {
            self.0 = (LONGER * self.0).min(LONGEST);
        }
    }
}

/// The step from `centre`, where the value is `best`, by the trials near by. `None` if they are too few or do not differ.
pub(super) fn target(
    points: &Points,
    values: &[f64],
    centre: &[f64],
    best: f64,
    radius: Radius,
) -> Option<Vec<f64>> {
    let (dim, n, radius) = (points.dim(), points.len(), radius.get());
    if n < dim + 1 || !best.is_finite() {
        return None;
    }
    let enter =
        |x: &[f64]| -> Vec<f64> { x.iter().zip(centre).map(|(x, c)| (x - c) / radius).collect() };
    let seen = Points::from_rows(dim, points.rows().map(enter));
    let distrust: Vec<f64> = seen
        .rows()
        .map(|z| CENTRE + z.iter().map(|z| z * z).sum::<f64>().powi(3) / DISTANT)
        .collect();
    let weights: Vec<f64> = distrust.iter().map(|v| 1.0 / (1.0 + v)).collect();
    let unit = values.iter().zip(&weights).map(|(y, w)| w * (y - best).abs()).sum::<f64>()
        / weights.iter().sum::<f64>();
    if !(unit > 0.0 && unit.is_finite()) {
        return None;
    }
    let gaps: Vec<f64> = values.iter().map(|y| (y - best) / unit).collect();
    let kinds =
        [Terms::Diagonal(1.0), Terms::Full(0.5)].map(|terms| Polynomials { points: &seen, terms });
    let disbelief = |ridge: f64, i: usize, own: f64| ridge * distrust[i] + 1e-10 * own;
    let (kind, fit) = least_error(&kinds, &RIDGES, disbelief, &weights, &gaps)?;
    let Taylor { mut gradient, mut hessian } = kinds[kind].taylor(&fit);
    gradient.iter_mut().for_each(|g| *g /= radius);
    hessian.iter_mut().for_each(|h| *h /= radius * radius);
    let quadratic = Quadratic { origin: centre.to_vec(), slopes: Taylor { gradient, hessian } };
    let mut shape = vec![0.0; dim * dim];
    (0..dim).for_each(|k| shape[k * dim + k] = 1.0 / (radius * radius));
    quadratic.minimiser(&shape, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_radius_doubles_after_a_far_success_and_shrinks_after_a_failure() {
        let mut radius = Radius::default();
        radius.tell(0.3, false);
        assert_eq!(radius.get(), FIRST, "too far to say anything");
        radius.tell(0.05, true);
        assert_eq!(radius.get(), FIRST, "a short success asks for nothing");
        radius.tell(0.2, true);
        assert_eq!(radius.get(), 0.4);
        radius.tell(0.39, false);
        assert!((radius.get() - 0.273).abs() < 1e-12);
        radius.tell(0.0, false);
        assert!((radius.get() - 0.5 * 0.7 * 0.273).abs() < 1e-12);
        (0..100).for_each(|_| radius.tell(0.0, false));
        assert_eq!(radius.get(), SHORTEST);
    }

    /// A step function of the valley: far values are of no use to a quadratic.
    #[test]
    fn a_simplex_is_enough_for_a_step_downhill_within_radius_and_cube() {
        let dim = 4;
        let f = |x: &[f64]| x.iter().map(|x| (x - 0.9).powi(2)).sum::<f64>();
        let centre = vec![0.95, 0.5, 0.5, 0.5];
        let mut points = Points::from_rows(dim, [centre.clone()]);
        for k in 0..dim {
            let mut x = centre.clone();
            x[k] -= 0.2;
            points.push(&x);
        }
        let values: Vec<f64> = points.rows().map(f).collect();
        let x = target(&points, &values, &centre, f(&centre), Radius::default()).unwrap();
        let distance = crate::points::squared_distance(&x, &centre).sqrt();
        assert!(distance <= 0.2 * (1.0 + 1e-9) && x.iter().all(|x| (0.0..=1.0).contains(x)));
        assert!(f(&x) < f(&centre) - 0.1, "{x:?} {}", f(&x));
        assert!(target(&points, &[3.0; 5], &centre, 3.0, Radius::default()).is_none());
    }
}
