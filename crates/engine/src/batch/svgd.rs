//! Stein variational gradient descent: a batch as particles that approximate the target p̂_t.
//!
//! ```text
//! xⁱ ← xⁱ + α ζ(xⁱ)                                                                    (25)
//! ζ(x) := (1/M) Σⱼ [ k(xʲ, x) ∇ log p̂_t(xʲ) + ∇_{xʲ} k(xʲ, x) ]                        (26)
//! ```
//!
//! The first term drives particles to the modes of p̂_t ∝ π, the second makes them repel each other. Printed
//! (26) has no brackets; 1/M covers both terms (Liu and Wang 2016).
//!
//! Pending points are particles that never move: they take part in both sums, so that new particles keep
//! clear of them, and asynchronous use needs no invented values. A particle that leaves the cube is put back
//! on its face. Integer and categorical coordinates move as if they were real (a category is a block of
//! coordinates, one a choice) and are rounded once, at the end.
//!
//! Cost: O(M (M + P) d) a step for M particles and P pending points, plus M gradients of the acquisition, in
//! O(M (M + P)) memory.
//! Fails with [`Error::Diverged`] if a gradient is not finite.

use serde::{Deserialize, Serialize};

use super::{BatchRule, SteinKernel};
use crate::acquisition::SmoothAcquisition;
use crate::classifier::Target;
use crate::descent::root_mean_square::RootMeanSquare;
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, uniform};
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// Settings of SVGD.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Svgd {
    /// Steps a batch, at least 1. More of them bring the particles nearer to the target, at a cost that grows with them.
    pub steps: usize,
    /// α, the length of a step, positive, in sides of the unit cube. A larger one arrives sooner but settles less.
    pub step_size: f64,
    /// ρ, the share of the step rule's memory that is kept at each step, at least 0 and below 1. A larger one averages
    /// gradients over more steps.
    pub decay: f64,
}

impl Named for Svgd {
    const NAME: &'static str = "svgd";
    const DESCRIPTION: &'static str =
        "Stein variational gradient descent: a sample that spreads over the modes";
}

impl Default for Svgd {
    /// The paper's table of SVGD settings.
    fn default() -> Self {
        Self { steps: 1000, step_size: 0.001, decay: 0.9 }
    }
}

/// Particles whose pairs, some 270 MB of them, still fit an ordinary machine.
const MOST_PARTICLES: usize = 8192;

impl<A: SmoothAcquisition + ?Sized> BatchRule<A> for Svgd {
    fn choose(&self, density: &A, domain: &Domain, size: usize, rng: &mut Rng) -> Result<Points> {
        let start = scatter(domain.space.dim(), size, rng)?;
        self.transport(density, start, domain.pending)
    }

    fn check(&self) -> Result<()> {
        if self.steps == 0 {
            return Err(Error::invalid("svgd steps", self.steps, "at least 1"));
        }
        if !(self.step_size > 0.0 && self.step_size.is_finite()) {
            return Err(Error::invalid("svgd step size", self.step_size, "positive and finite"));
        }
        if !(0.0..1.0).contains(&self.decay) {
            return Err(Error::invalid("svgd decay", self.decay, "at least 0 and below 1"));
        }
        Ok(())
    }

    fn choice(&self, _space: &SearchSpace, target: Target, _plan: Plan) -> Choice {
        Choice::Draws { independent: false, of_bound: target == Target::LogProbability }
    }
}

impl Svgd {
    /// Moves the particles from `start` towards the target, past the fixed `pending` ones.
    pub fn transport<A: SmoothAcquisition + ?Sized>(
        &self,
        acquisition: &A,
        start: Points,
        pending: &Points,
    ) -> Result<Points> {
        let (dim, moving) = (start.dim(), start.len());
        let mut particles = start;
        particles.extend(pending);
        let all = particles.len();

        // The pending points do not move, so neither do their gradients.
        let mut gradients = Points::zeros(dim, all);
        for i in moving..all {
            let x = particles.row(i).to_vec();
            acquisition.value_and_gradient(&x, gradients.row_mut(i));
        }

        let mut batch = Points::from_rows(dim, particles.rows().take(moving));
        let mut batch_gradients = Points::zeros(dim, moving);
        let mut values = vec![0.0; moving];
        let mut kernel = SteinKernel::default();
        let mut directions = Points::zeros(dim, moving);
        let mut rule = RootMeanSquare::new(moving * dim, self.step_size, self.decay);
        let len = moving * dim;
        for _ in 0..self.steps {
            acquisition.values_and_gradients(&batch, &mut values, &mut batch_gradients);
            gradients.as_mut_slice()[..len].copy_from_slice(batch_gradients.as_slice());
            kernel.update_first(&particles, moving);
            stein_directions(&particles, &gradients, &kernel, &mut directions);
            rule.ascend_in_cube(batch.as_mut_slice(), directions.as_slice());
            particles.as_mut_slice()[..len].copy_from_slice(batch.as_slice());
        }
        if batch.as_slice().iter().any(|x| !x.is_finite()) {
            return Err(Error::Diverged {
                model: "the acquisition's gradient",
                doing: "moving particles by SVGD",
            });
        }
        Ok(batch)
    }
}

/// Particles drawn uniformly from the cube, between the legal points too: two that start on the same one of few
/// legal points would have the same gradients and never part.
pub(super) fn scatter(dim: usize, count: usize, rng: &mut Rng) -> Result<Points> {
    if count > MOST_PARTICLES {
        let allowed = format!(
            "at most {MOST_PARTICLES} for a rule that moves particles, whose cost grows with the square; \
             the rule candidates takes more"
        );
        return Err(Error::invalid("batch size", count, allowed));
    }
    let mut particles = Points::zeros(dim, count);
    particles.as_mut_slice().fill_with(|| uniform(rng));
    Ok(particles)
}

/// ζ of equation (26) at the first `directions.len()` of `particles`, from the gradients at all of them.
pub(super) fn stein_directions(
    particles: &Points,
    gradients: &Points,
    kernel: &SteinKernel,
    directions: &mut Points,
) {
    let (all, moving) = (particles.len(), directions.len());
    // A particle's own term: k = 1, and no repulsion.
    for i in 0..moving {
        directions.row_mut(i).copy_from_slice(gradients.row(i));
    }
    let repulsion = 2.0 / kernel.bandwidth();
    let mut pairs = kernel.pairs().iter();
    for i in 0..moving {
        for (j, &k) in (i + 1..all).zip(&mut pairs) {
            // ∇_{xʲ} k(xʲ, xⁱ) = k (2/h) (xⁱ - xʲ), and the opposite for the other of the two.
            let scale = k * repulsion;
            let (x, y) = (particles.row(i), particles.row(j));
            let direction = directions.row_mut(i).iter_mut();
            for (((d, g), x), y) in direction.zip(gradients.row(j)).zip(x).zip(y) {
                *d += k * g + scale * (x - y);
            }
            if j < moving {
                let direction = directions.row_mut(j).iter_mut();
                for (((d, g), x), y) in direction.zip(gradients.row(i)).zip(x).zip(y) {
                    *d += k * g + scale * (y - x);
                }
            }
        }
    }
    let share = 1.0 / all as f64;
    for direction in directions.as_mut_slice() {
        *direction *= share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Ascent;
    use crate::batch::fixtures::{TWO_MODES, TwoModes};
    use crate::points::squared_distance;
    use crate::seed::Seed;
    use crate::space::{Dimension, SearchSpace, Taken};

    fn square() -> SearchSpace {
        SearchSpace::new([Dimension::real("a", 0.0, 1.0), Dimension::real("b", 0.0, 1.0)]).unwrap()
    }

    fn random_points(dim: usize, len: usize, index: u64) -> Points {
        let mut rng = Seed(3).stream("points", index);
        let rows: Vec<Vec<f64>> =
            (0..len).map(|_| (0..dim).map(|_| uniform(&mut rng)).collect()).collect();
        Points::from_rows(dim, rows)
    }

    fn batch(rule: &impl BatchRule<TwoModes>, pending: &Points, size: usize, index: u64) -> Points {
        let (space, taken) = (square(), Taken::default());
        let domain = Domain { space: &space, taken: &taken, pending, incumbents: &Points::new(2) };
        rule.choose(&TWO_MODES, &domain, size, &mut Seed(5).stream("batch", index)).unwrap()
    }

    fn mean_gap(points: &Points) -> f64 {
        let n = points.len();
        let sum: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| squared_distance(points.row(i), points.row(j)).sqrt())
            .sum();
        sum / (n * (n - 1) / 2) as f64
    }

    #[test]
    fn directions_are_equation_26() {
        let (particles, gradients) = (random_points(3, 7, 0), random_points(3, 7, 1));
        let mut kernel = SteinKernel::default();
        kernel.update(&particles);
        let mut directions = Points::zeros(3, 5);
        stein_directions(&particles, &gradients, &kernel, &mut directions);
        let h = kernel.bandwidth();
        for i in 0..5 {
            for c in 0..3 {
                let mut naive = 0.0;
                for j in 0..7 {
                    let k = (-squared_distance(particles.row(j), particles.row(i)) / h).exp();
                    let slope = k * (-2.0 / h) * (particles.row(j)[c] - particles.row(i)[c]);
                    naive += (k * gradients.row(j)[c] + slope) / 7.0;
                }
                assert!((directions.row(i)[c] - naive).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_batch_covers_both_modes_of_a_bimodal_target() {
        for index in 0..20 {
            let batch = batch(&Svgd::default(), &Points::new(2), 10, index);
            let near =
                |mode: &[f64; 2]| batch.rows().filter(|x| squared_distance(x, mode) < 0.09).count();
            let counts = TWO_MODES.modes.each_ref().map(near);
            assert!(counts.iter().all(|&count| count >= 2), "batch {index}: {counts:?}");
        }
    }

    /// What the Stein discrepancy is for: settled particles come as near to the target as draws do; where they began, and heaps, do not.
    #[test]
    fn the_stein_discrepancy_tells_settled_particles_from_others() {
        let (none, runs) = (Points::new(2), 10);
        let mut means = [0.0; 4];
        for index in 0..runs {
            let of = |points: &Points| TWO_MODES.stein_discrepancy(points).unwrap();
            let settled = of(&batch(&Svgd::default(), &none, 20, index));
            let begun = of(&batch(&Svgd { steps: 1, ..Svgd::default() }, &none, 20, index));
            let heap =
                of(&Points::from_rows(2, (0..20).map(|i| [0.25, 0.25 + 1e-3 * f64::from(i)])));
            let found = [settled.value, settled.of_draws, begun.value, heap.value];
            means.iter_mut().zip(found).for_each(|(mean, one)| *mean += one / runs as f64);
        }
        let [settled, of_draws, begun, heap] = means;
        println!("settled {settled:.3}, draws {of_draws:.3}, begun {begun:.3}, heap {heap:.3}");
        assert!(settled < 1.2 * of_draws && settled < heap && settled < 0.5 * begun, "{means:?}");
    }

    #[test]
    fn a_batch_is_more_spread_than_independent_maximisations() {
        let none = Points::new(2);
        for index in 0..10 {
            let together = mean_gap(&batch(&Svgd::default(), &none, 10, index));
            let single =
                |i| batch(&Ascent { samples: 1, restarts: 1, ..Ascent::default() }, &none, 1, i);
            let apart: Vec<Vec<f64>> =
                (0..10).map(|i| single(1000 * index + i).row(0).to_vec()).collect();
            // Maximisations fall on the two modes; within a mode they coincide, particles do not.
            let within = |points: &Points, mode: &[f64; 2]| {
                let near = points.rows().filter(|x| squared_distance(x, mode) < 0.125);
                Points::from_rows(2, near.map(<[f64]>::to_vec).collect::<Vec<_>>())
            };
            let apart = Points::from_rows(2, apart);
            for mode in &TWO_MODES.modes {
                let (spread, clumped) = (
                    within(&batch(&Svgd::default(), &none, 10, index), mode),
                    within(&apart, mode),
                );
                if clumped.len() > 1 && spread.len() > 1 {
                    assert!(mean_gap(&spread) > 10.0 * mean_gap(&clumped));
                }
            }
            assert!(together > 0.1);
        }
    }

    #[test]
    fn pending_points_repel_and_stay() {
        // All pending points sit on the first mode: new ones should mostly take the second.
        let rows: Vec<[f64; 2]> = (0..10).map(|i| [0.2 + 0.01 * f64::from(i), 0.25]).collect();
        let pending = Points::from_rows(2, rows);
        let first = |points: &Points| points.rows().filter(|x| x[0] + x[1] < 1.0).count();
        let (mut free, mut crowded) = (0, 0);
        for index in 0..20 {
            free += first(&batch(&Svgd::default(), &Points::new(2), 4, index));
            crowded += first(&batch(&Svgd::default(), &pending, 4, index));
        }
        assert!(
            crowded < free,
            "{crowded} of 80 on the crowded mode, {free} without pending points"
        );
        let closest = |points: &Points| {
            let gaps =
                points.rows().flat_map(|x| pending.rows().map(move |p| squared_distance(x, p)));
            gaps.fold(f64::INFINITY, f64::min)
        };
        let near: f64 =
            (0..20).map(|index| closest(&batch(&Svgd::default(), &pending, 4, index))).sum();
        let unaware: f64 =
            (0..20).map(|index| closest(&batch(&Svgd::default(), &Points::new(2), 4, index))).sum();
        assert!(near > unaware, "{near} {unaware}");
    }

    #[test]
    fn thousands_of_pending_points_are_only_met_by_those_that_move() {
        // 2·10⁸ pairs of pending points, which would take gigabytes to hold and seconds to look at, in every step.
        let pending = random_points(2, 20_000, 0);
        let moved = batch(&Svgd { steps: 50, ..Svgd::default() }, &pending, 3, 0);
        assert!(moved.as_slice().iter().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn one_particle_climbs_to_a_mode_and_many_fill_the_cube_legally() {
        let one = batch(&Svgd::default(), &Points::new(2), 1, 0);
        let gap = TWO_MODES
            .modes
            .iter()
            .map(|m| squared_distance(one.row(0), m))
            .fold(f64::INFINITY, f64::min);
        assert!(gap.sqrt() < 0.01, "{gap}");
        let many = batch(&Svgd { steps: 20, ..Svgd::default() }, &Points::new(2), 1500, 0);
        assert_eq!(many.len(), 1500);
        assert!(many.as_slice().iter().all(|x| (0.0..=1.0).contains(x)));
    }

    #[test]
    fn bad_settings_are_refused_by_name() {
        let refused = |svgd: Svgd| BatchRule::<TwoModes>::check(&svgd).unwrap_err().to_string();
        assert!(refused(Svgd { steps: 0, ..Svgd::default() }).contains("svgd steps is 0"));
        assert!(
            refused(Svgd { step_size: -1.0, ..Svgd::default() }).contains("svgd step size is -1")
        );
        assert!(refused(Svgd { decay: 1.0, ..Svgd::default() }).contains("svgd decay is 1"));
    }

    #[test]
    fn pending_points_pull_by_their_own_gradient() {
        /// Steep where the pending point is, flat where the particle starts.
        struct Cliff;
        impl crate::acquisition::Acquisition for Cliff {
            fn dim(&self) -> usize {
                1
            }
            fn value(&self, x: &[f64]) -> f64 {
                -1e3 * (x[0] - 0.45).min(0.0)
            }
        }
        impl SmoothAcquisition for Cliff {
            fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
                gradient[0] = if x[0] < 0.45 { -1e3 } else { 0.0 };
                crate::acquisition::Acquisition::value(self, x)
            }
        }
        let one = |pending: &Points| {
            let start = Points::from_rows(1, [[0.5]]);
            let rule = Svgd { steps: 1, ..Svgd::default() };
            rule.transport(&Cliff, start, pending).unwrap().row(0)[0]
        };
        // (26): the pending point's k g outweighs its repulsion, which alone would push the particle to the right.
        assert!(one(&Points::from_rows(1, [[0.4]])) < 0.5);
        assert_eq!(one(&Points::new(1)), 0.5);
    }
}
