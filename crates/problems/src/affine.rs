//! A problem moved, turned or squeezed: the variants `shifted`, `rotated` and `skewed`.
//!
//! ```text
//! g(x) = f(m + W A W⁻¹ (x - t))
//! ```
//!
//! m is the problem's first minimiser, t where it goes, W the widths of the domain as a diagonal matrix, and A, by the
//! variant:
//!
//! - shifted: the identity; t random, each coordinate 0.1 to 0.4 of the width from a face, so that neither the centre
//!   nor a symmetric place is the answer;
//! - rotated: a random rotation, t = m, so that no variable can be optimised alone;
//! - skewed: Q D R with random rotations Q and R and D from 1 down to 1/100, t = m: ill-conditioned, and not along the
//!   axes.
//!
//! The domain, the minimum and its attainment at t stay. Beyond the problem's own domain its formula goes on; where
//! that would give lower values ([`Problem::is_least_everywhere`]), points outside are reflected at the faces.
//!
//! Cost: O(d²) a value, O(d³) to build.

use crate::Problem;
use crate::stream::{Stream, dot};

/// The ratio of the longest and the shortest direction of a skewed problem.
const SKEW: f64 = 100.0;

/// A problem moved, turned or squeezed.
#[derive(Debug)]
pub struct Affine {
    inner: Box<dyn Problem>,
    word: String,
    /// m, the first minimiser of the inner problem.
    from: Vec<f64>,
    /// t, where this problem has it.
    to: Vec<f64>,
    /// A and its inverse, by rows; `None` for the identity.
    matrices: Option<(Rows, Rows)>,
}

type Rows = Vec<Vec<f64>>;

impl Affine {
    /// The problem with its first minimiser at a random place.
    pub fn shifted(inner: Box<dyn Problem>, seed: u64) -> Self {
        let mut stream = Stream::new(&format!("shifted {}", inner.name()), &[seed]);
        let place = |&(low, high): &(f64, f64)| {
            let share = 0.1 + 0.3 * stream.uniform();
            low + (high - low) * if stream.uniform() < 0.5 { share } else { 1.0 - share }
        };
        let to = inner.domain().iter().map(place).collect();
        Self { to, ..named(inner, "shifted", seed) }
    }

    /// The problem turned about its first minimiser.
    pub fn rotated(inner: Box<dyn Problem>, seed: u64) -> Self {
        let mut stream = Stream::new(&format!("rotated {}", inner.name()), &[seed]);
        let rotation = stream.rotation(inner.dim());
        let inverse = transpose(&rotation);
        Self { matrices: Some((rotation, inverse)), ..named(inner, "rotated", seed) }
    }

    /// The problem turned about its first minimiser, and squeezed.
    pub fn skewed(inner: Box<dyn Problem>, seed: u64) -> Self {
        let mut stream = Stream::new(&format!("skewed {}", inner.name()), &[seed]);
        let dim = inner.dim();
        let (left, right) = (stream.rotation(dim), stream.rotation(dim));
        let scales: Vec<f64> =
            (0..dim).map(|i| SKEW.powf(-(i as f64) / (dim - 1).max(1) as f64)).collect();
        // Q D R, and Rᵀ D⁻¹ Qᵀ.
        let matrix = product(&left, &scales, &right);
        let inverse_scales: Vec<f64> = scales.iter().map(|scale| 1.0 / scale).collect();
        let inverse = product(&transpose(&right), &inverse_scales, &transpose(&left));
        Self { matrices: Some((matrix, inverse)), ..named(inner, "skewed", seed) }
    }

    /// `origin` + W A W⁻¹ (`x` - `centre`).
    fn map(&self, matrix: Option<&Rows>, origin: &[f64], centre: &[f64], x: &[f64]) -> Vec<f64> {
        let Some(rows) = matrix else {
            return (0..x.len()).map(|i| origin[i] + (x[i] - centre[i])).collect();
        };
        let width: Vec<f64> = self.domain().iter().map(|(low, high)| high - low).collect();
        let away: Vec<f64> = (0..x.len()).map(|i| (x[i] - centre[i]) / width[i]).collect();
        rows.iter().enumerate().map(|(i, row)| origin[i] + width[i] * dot(row, &away)).collect()
    }
}

impl Problem for Affine {
    fn name(&self) -> String {
        format!("{}+{}", self.inner.name(), self.word)
    }

    fn title(&self) -> String {
        format!("{}, {}", self.inner.title(), self.word)
    }

    fn domain(&self) -> &[(f64, f64)] {
        self.inner.domain()
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        crate::assert_length(&self.name(), self.dim(), x);
        let mut x =
            self.map(self.matrices.as_ref().map(|(matrix, _)| matrix), &self.from, &self.to, x);
        if !self.inner.is_least_everywhere() {
            x.iter_mut().zip(self.domain()).for_each(|(x, &sides)| *x = reflect(*x, sides));
        }
        self.inner.evaluate(&x)
    }

    fn minimum(&self) -> f64 {
        self.inner.minimum()
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        let back = self.matrices.as_ref().map(|(_, inverse)| inverse);
        let inside = |x: &Vec<f64>| {
            x.iter().zip(self.domain()).all(|(x, (low, high))| (low..=high).contains(&x))
        };
        let others = self.inner.minimisers().into_iter().skip(1);
        let others = others.map(|x| self.map(back, &self.to, &self.from, &x)).filter(inside);
        std::iter::once(self.to.clone()).chain(others).collect()
    }

    fn noise(&self) -> f64 {
        self.inner.noise()
    }
}

/// The wrapper that changes nothing yet.
fn named(inner: Box<dyn Problem>, variant: &str, seed: u64) -> Affine {
    let word = if seed == 0 { variant.to_owned() } else { format!("{variant}-{seed}") };
    let from = inner.minimisers().swap_remove(0);
    Affine { inner, word, to: from.clone(), from, matrices: None }
}

fn transpose(rows: &Rows) -> Rows {
    (0..rows.len()).map(|j| rows.iter().map(|row| row[j]).collect()).collect()
}

/// L diag(s) R.
fn product(left: &Rows, scales: &[f64], right: &Rows) -> Rows {
    let columns = transpose(right);
    let scaled = left.iter().map(|row| row.iter().zip(scales).map(|(x, s)| x * s).collect());
    scaled.map(|row: Vec<f64>| columns.iter().map(|column| dot(&row, column)).collect()).collect()
}

/// `x` between `low` and `high`, reflected at both as often as it takes.
fn reflect(x: f64, (low, high): (f64, f64)) -> f64 {
    if (low..=high).contains(&x) {
        return x;
    }
    let width = high - low;
    let along = (x - low).rem_euclid(2.0 * width);
    (low + if along > width { 2.0 * width - along } else { along }).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem;

    #[test]
    fn a_shift_moves_values_and_keeps_them() {
        let (plain, moved) =
            (problem("rosenbrock-3").unwrap(), problem("rosenbrock-3+shifted").unwrap());
        let to = &moved.minimisers()[0];
        let x = [0.3, -2.0, 1.7];
        let there: Vec<f64> = x.iter().zip(to).map(|(x, to)| x - 1.0 + to).collect();
        assert!((moved.evaluate(&there) / plain.evaluate(&x) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_shifted_minimiser_is_off_the_centre_and_off_the_faces() {
        for seed in 0..20 {
            let moved = problem(&format!("ackley-8+shifted-{seed}")).unwrap();
            for (x, (low, high)) in moved.minimisers()[0].iter().zip(moved.domain()) {
                let share = (x - low) / (high - low);
                assert!((0.1..=0.4).contains(&share) || (0.6..=0.9).contains(&share), "{share}");
            }
        }
    }

    #[test]
    fn a_rotation_keeps_the_values_at_every_distance() {
        // A function of the distance to the minimiser alone.
        #[derive(Debug)]
        struct Distance;
        impl Problem for Distance {
            fn name(&self) -> String {
                "distance".into()
            }
            fn title(&self) -> String {
                "distance".into()
            }
            fn domain(&self) -> &[(f64, f64)] {
                &[(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)]
            }
            fn evaluate(&self, x: &[f64]) -> f64 {
                x.iter().map(|x| (x - 0.3).powi(2)).sum()
            }
            fn minimum(&self) -> f64 {
                0.0
            }
            fn minimisers(&self) -> Vec<Vec<f64>> {
                vec![vec![0.3; 3]]
            }
        }
        let turned = Affine::rotated(Box::new(Distance), 4);
        let x = [0.9, 0.1, 0.5];
        assert!((turned.evaluate(&x) - Distance.evaluate(&x)).abs() < 1e-14);
        // Squeezed, the value along the directions lies between (1/100)² and 1 of the bowl's.
        let skewed = Affine::skewed(Box::new(Distance), 4);
        let ratio = skewed.evaluate(&x) / Distance.evaluate(&x);
        assert!((1e-4..=1.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn every_kept_minimiser_attains_the_minimum() {
        for name in ["branin", "camel", "michalewicz-5", "hartmann6", "shekel", "goldstein-price"] {
            for variant in ["shifted-3", "rotated-3", "skewed-3", "shifted-1+rotated-2"] {
                let problem = problem(&format!("{name}+{variant}")).unwrap();
                for x in problem.minimisers() {
                    let gap = problem.evaluate(&x) - problem.minimum();
                    assert!(gap.abs() < 1e-10, "{}: {gap:e}", problem.name());
                }
            }
        }
    }

    proptest! {
        #[test]
        fn reflection_is_the_nearest_mirror_image(x in -50.0..50.0_f64) {
            // The naive way: one face at a time.
            let mut folded = x;
            while !(-2.0..=3.0).contains(&folded) {
                folded = if folded < -2.0 { -4.0 - folded } else { 6.0 - folded };
            }
            prop_assert!((reflect(x, (-2.0, 3.0)) - folded).abs() < 1e-12);
        }
    }
}
