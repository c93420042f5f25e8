//! Candidates: points spread over the space, and children of good ones.
//!
//! A child of a and b in a space of numbers (is_smooth in auto/mod.rs):
//!
//! ```text
//! 30 %   a + u (b - a), u uniform in [-0.3, 1.3]; half of these without noise
//! 15 %   each coordinate from a or from b
//! else   a
//! noise  normal; its deviation log-uniform in a range; every coordinate with probability max(U(0, 1), 1/d), at least one
//! ```
//! What leaves the cube is set on its face or reflected, half each: many optima lie on a face. In other spaces, a child
//! takes each dimension from a or b (30 %), or is a; then it moves to a neighbour.
//!
//! A finite list has no children: its candidates are those of the list.

use rand_distr::{Distribution as _, StandardNormal};

use super::super::is_smooth;
use crate::points::Points;
use crate::seed::{Rng, Seed, below, uniform};
use crate::space::SearchSpace;
use crate::strategy::sobol;

/// Candidates of a finite list that are looked at.
const LISTED: usize = 1024;

/// Where candidates come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nursery<'a> {
    space: &'a SearchSpace,
    smooth: bool,
}

impl<'a> Nursery<'a> {
    pub(super) fn new(space: &'a SearchSpace) -> Self {
        Self { space, smooth: is_smooth(space) }
    }

    /// Whether candidates have children.
    pub(super) fn breeds(self) -> bool {
        self.space.candidates().is_none()
    }

    /// Legal points all over the space: `count` of a quasi-random sequence after the first `from * count`, or an even sample of a finite list.
    pub(super) fn spread(self, count: usize, from: usize, seed: Seed, rng: &mut Rng) -> Points {
        let mut points = Points::with_capacity(self.space.dim(), count);
        if let Some(listed) = self.space.candidates() {
            let start = below(rng, listed.len());
            let step = listed.len().div_ceil(LISTED).max(1);
            for offset in (0..listed.len()).step_by(step) {
                points.push(listed.row((start + offset) % listed.len()));
            }
            return points;
        }
        for i in 0..count {
            let mut x = sobol::point(self.space, seed, (from * count + i) as u64);
            self.space.settle(&mut x);
            points.push(&x);
        }
        points
    }

    /// `count` legal children of `parents`, of which there must be one, with noise of a deviation in `range`.
    pub(super) fn children(
        self,
        parents: &Points,
        count: usize,
        range: (f64, f64),
        rng: &mut Rng,
    ) -> Points {
        let mut children = Points::with_capacity(self.space.dim(), count);
        for _ in 0..count {
            let a = parents.row(below(rng, parents.len()));
            let b = parents.row(below(rng, parents.len()));
            let deviation = range.0 * (range.1 / range.0).powf(uniform(rng));
            let child = if self.smooth {
                self.of_numbers(a, b, deviation, rng)
            } else {
                self.of_dimensions(a, b, deviation, rng)
            };
            children.push(&child);
        }
        children
    }

    fn of_numbers(self, a: &[f64], b: &[f64], deviation: f64, rng: &mut Rng) -> Vec<f64> {
        let dim = a.len();
        let kind = uniform(rng);
        let mut still = false;
        let mut x: Vec<f64> = if kind < 0.3 {
            let u = 1.6 * uniform(rng) - 0.3;
            still = uniform(rng) < 0.5;
            a.iter().zip(b).map(|(a, b)| a + u * (b - a)).collect()
        } else if kind < 0.45 {
            a.iter().zip(b).map(|(a, b)| if uniform(rng) < 0.5 { *a } else { *b }).collect()
        } else {
            a.to_vec()
        };
        if !still {
            let chance = uniform(rng).max(1.0 / dim as f64);
            let certain = below(rng, dim);
            for (k, x) in x.iter_mut().enumerate() {
                if k == certain || uniform(rng) < chance {
                    let normal: f64 = StandardNormal.sample(rng);
                    *x += deviation * normal;
                }
            }
        }
        for x in &mut x {
            if !(0.0..=1.0).contains(x) {
                let face = x.clamp(0.0, 1.0);
                *x = if uniform(rng) < 0.5 { face } else { (2.0 * face - *x).clamp(0.0, 1.0) };
            }
        }
        self.space.settle(&mut x);
        x
    }

    fn of_dimensions(self, a: &[f64], b: &[f64], deviation: f64, rng: &mut Rng) -> Vec<f64> {
        let mut x = a.to_vec();
        if uniform(rng) < 0.3 {
            for i in 0..self.space.dimensions().len() {
                let block = self.space.coordinates(i);
                if uniform(rng) < 0.5 {
                    x[block.clone()].copy_from_slice(&b[block]);
                }
            }
            self.space.snap(&mut x);
        }
        self.space.neighbour(&x, rng, deviation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Dimension;

    #[test]
    fn candidates_are_legal_in_every_kind_of_space() {
        let real = |name| Dimension::real(name, -1.0, 3.0);
        let numbers =
            SearchSpace::new([real("x"), real("y"), Dimension::integer("n", 0, 7)]).unwrap();
        let mixed = SearchSpace::new([
            real("x"),
            Dimension::categorical("c", ["a", "b", "d"]),
            real("z").when("c", ["b"]),
        ])
        .unwrap();
        let listed = (0..5).map(|i| [("x", f64::from(i) * 0.5)].into_iter().collect());
        let finite = SearchSpace::finite([real("x")], listed).unwrap();
        for space in [numbers, mixed, finite] {
            let mut rng = Seed(4).stream("nursery", 0);
            let nursery = Nursery::new(&space);
            let mut all = nursery.spread(50, 3, Seed(1), &mut rng);
            if nursery.breeds() {
                all.extend(&nursery.children(&all.clone(), 200, (1e-3, 0.3), &mut rng));
                assert_eq!(all.len(), 250);
            } else {
                assert_eq!(all.len(), 5);
            }
            for x in all.rows() {
                let mut snapped = x.to_vec();
                space.snap(&mut snapped);
                assert_eq!(snapped, x);
            }
        }
    }
}
