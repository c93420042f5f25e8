//! The batch of a region: points of its box at which the upper bound of the model is highest, one after another.
//!
//! ```text
//! pick j maximises (mean + βⱼ deviation - floor) · probability of a value,     βⱼ = width · j / (n - 1)
//! ```
//!
//! The first pick trusts the model, the last is as optimistic as the bound; each pick is taken in as a point without a value,
//! which lowers the deviation around it for the next (see `gaussian_process::field`). Pending points are taken in first.
//! A pick is the best of some candidates, climbed by resilient steps.
//!
//! Cost for n trials: O(n²) a candidate and a step.

use rand_distr::{Distribution as _, StandardNormal};

use super::leap::Leap;
use super::region::Patch;
use crate::descent::resilient::Resilient;
use crate::domain::Occupied;
use crate::error::Result;
use crate::gaussian_process::{Field, Posterior};
use crate::points::Points;
use crate::seed::{Rng, uniform};
use crate::space::SearchSpace;

/// Pending points that a model takes in, at most.
pub(super) const MOST_PENDING: usize = 128;

/// Batches smaller than this climb the ladder over several asks.
pub(super) const SMALL: usize = 4;
/// β of the prior: the number of trials after which it counts as it is.
const BELIEF: f64 = 10.0;
/// Candidates of a region.
const CANDIDATES: usize = 250;
/// Steps of a climb.
const STEPS: usize = 15;

/// The fractional parts of its multiples visit the unit interval evenly.
pub(super) const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Chooses points in a patch.
pub(super) struct Picker<'a> {
    pub(super) patch: &'a Patch,
    pub(super) space: &'a SearchSpace,
    /// Whether each pick climbs.
    pub(super) polish: bool,
    /// The power of the user's prior; see `belief`.
    pub(super) belief: f64,
}

impl Picker<'_> {
    /// One point for each of `widths`, the deviations between mean and bound; a leap takes the place of one.
    pub(super) fn choose(
        &self,
        widths: &[f64],
        leap: Option<&Leap>,
        pending: &Points,
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let Patch { model, frame, feasibility, .. } = self.patch;
        let candidates = self.candidates(rng);
        let mut chosen = Points::with_capacity(self.space.dim(), widths.len());
        if let (Some(leap), [_]) = (leap, widths) {
            // The only pick is a leap, which asks the model nothing.
            occupied.insert(&leap.point);
            chosen.push(&leap.point);
            return Ok(chosen);
        }
        let mut chances: Vec<f64> = candidates.rows().map(|u| feasibility.probability(u)).collect();
        self.rule_out(&candidates, &mut chances);
        for (chance, u) in chances.iter_mut().zip(candidates.rows()) {
            *chance *= self.expected(u);
        }
        let waiting = frame.enter_all(pending.rows().take(MOST_PENDING));
        let mut posterior = model.posterior.extend(waiting.rows())?;
        let mut weights = model.weights.clone();
        weights.resize(posterior.len(), 0.0);
        if let [0.0] = widths {
            // The only pick goes by the mean, which costs far less than a deviation.
            let mean = |i: usize| posterior.mean(&weights, candidates.row(i));
            let climb = Climb { posterior: &posterior, weights: &weights, width: 0.0 };
            chosen.push(&self.best(climb, &candidates, mean, &chances, occupied));
            occupied.insert(chosen.row(0));
            return Ok(chosen);
        }
        let mut field = Field::new(&posterior, &weights, candidates);
        for (j, &width) in widths.iter().enumerate() {
            if j > 0 {
                // The pick before this one.
                posterior = posterior.extend([frame.enter(chosen.row(j - 1)).as_slice()])?;
                weights.push(0.0);
                field.take_in(&posterior);
            }
            let width = width * model.scale;
            let x = match leap.filter(|leap| leap.pick == j) {
                Some(leap) => leap.point.clone(),
                None => {
                    let bound = |i: usize| {
                        let prediction = field.prediction(i, &posterior);
                        prediction.mean + width * prediction.deviation
                    };
                    let climb = Climb { posterior: &posterior, weights: &weights, width };
                    self.best(climb, field.points(), bound, &chances, occupied)
                }
            };
            occupied.insert(&x);
            chosen.push(&x);
        }
        Ok(chosen)
    }

    /// The user's prior at a point of the frame, to the power of the belief in it.
    fn expected(&self, u: &[f64]) -> f64 {
        if !self.space.has_prior() {
            return 1.0;
        }
        let mut x = self.patch.frame.leave(u);
        self.space.snap(&mut x);
        (self.belief * self.space.log_prior(&x)).exp()
    }

    /// Takes the chance of candidates that break a known constraint, unless all of them do.
    fn rule_out(&self, candidates: &Points, chances: &mut [f64]) {
        if self.space.known_constraints().is_empty() {
            return;
        }
        let is_legal = |u: &[f64]| {
            let mut x = self.patch.frame.leave(u);
            self.space.snap(&mut x);
            self.space.meets_known(&x)
        };
        let legal: Vec<bool> = candidates.rows().map(is_legal).collect();
        if legal.contains(&true) {
            let illegal = chances.iter_mut().zip(legal).filter(|(_, legal)| !legal);
            illegal.for_each(|(chance, _)| *chance = 0.0);
        }
    }

    /// The free point with the highest bound, of which `bound` says what it is at each candidate: the best candidate after its
    /// climb, or the next best candidate. Where the climb leads out of what is known to be legal, it ends at the edge, if that is
    /// better than where it began.
    fn best(
        &self,
        climb: Climb<'_>,
        candidates: &Points,
        bound: impl Fn(usize) -> f64,
        chances: &[f64],
        occupied: &Occupied<'_>,
    ) -> Vec<f64> {
        let Patch { frame, floor, .. } = self.patch;
        let possible = (0..candidates.len()).filter(|&i| chances[i] != 0.0);
        let mut order: Vec<(f64, usize)> =
            possible.map(|i| ((bound(i) - floor) * chances[i], i)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (top, start) = order[0];
        let mut polished = self.polish(climb, candidates.row(start));
        let rest = order.iter().map(|&(_, i)| candidates.row(i).to_vec());
        let legal = |u: &[f64]| {
            let mut x = frame.leave(u);
            self.space.settle(&mut x);
            x
        };
        // The climb knows neither known constraints nor the prior.
        if !self.space.known_constraints().is_empty() || self.space.has_prior() {
            let edge = frame.enter(&legal(&polished));
            let prediction = climb.posterior.predict(climb.weights, &edge);
            let chance = self.patch.feasibility.probability(&edge) * self.expected(&edge);
            let bound = prediction.mean + climb.width * prediction.deviation;
            if (bound - floor) * chance < top {
                polished = candidates.row(start).to_vec();
            }
        }
        std::iter::once(polished.clone())
            .chain(rest)
            .map(|u| legal(&u))
            .find(|x| occupied.is_free(x))
            .unwrap_or_else(|| legal(&polished))
    }

    /// Half of them uniform in the box, half normal about its centre at several scales.
    fn candidates(&self, rng: &mut Rng) -> Points {
        let Patch { frame, centre, half_widths, .. } = self.patch;
        let dim = half_widths.len();
        let chance = (20.0 / dim as f64).min(1.0);
        let mut points = Points::with_capacity(dim, CANDIDATES);
        for i in 0..CANDIDATES {
            let spread = 10.0_f64.powf(-1.5 * uniform(rng));
            let u: Vec<f64> = half_widths
                .iter()
                .zip(centre)
                .map(|(half, centre)| {
                    centre + {
                        if i.is_multiple_of(2_usize) {
                            let moves = chance >= 1.0 || uniform(rng) < chance;
                            if moves { half * (2.0 * uniform(rng) - 1.0) } else { 0.0 }
                        } else {
                            let normal: f64 = StandardNormal.sample(rng);
                            half * spread * normal
                        }
                    }
                })
                .collect();
            points.push(&frame.keep_inside(&u));
        }
        points
    }

    /// Climbs the bound from `start`, inside box and cube, and returns the highest point met.
    fn polish(&self, climb: Climb<'_>, start: &[f64]) -> Vec<f64> {
        let Climb { posterior, weights, width } = climb;
        let Patch { frame, centre, half_widths, feasibility, floor, .. } = self.patch;
        let steps = half_widths.iter().map(|half| 0.1 * half).collect();
        let mut rule = Resilient::new(steps, 5.0);
        let (mut u, mut best) = (start.to_vec(), (f64::NEG_INFINITY, start.to_vec()));
        let (mut gradient, mut slope) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        for _ in 0..if self.polish { STEPS } else { 1 } {
            let value = if width == 0.0 {
                posterior.mean_and_gradient(weights, &u, &mut gradient)
            } else {
                let prediction =
                    posterior.predict_with_gradients(weights, &u, &mut gradient, &mut slope);
                gradient.iter_mut().zip(&slope).for_each(|(g, s)| *g += width * s);
                prediction.mean + width * prediction.deviation
            };
            let chance = feasibility.probability_and_gradient(&u, &mut slope);
            let above = value - floor;
            gradient.iter_mut().zip(&slope).for_each(|(g, s)| *g = *g * chance + above * s);
            let value = above * chance;
            if value > best.0 {
                best = (value, u.clone());
            }
            rule.ascend(&mut u, &gradient);
            for ((u, half), centre) in u.iter_mut().zip(half_widths).zip(centre) {
                *u = u.clamp(centre - half, centre + half);
            }
            u = frame.keep_inside(&u);
        }
        best.1
    }
}

/// What a pick climbs: the mean of a posterior, given the weights of its targets, and so many of its deviations.
#[derive(Clone, Copy)]
struct Climb<'a> {
    posterior: &'a Posterior,
    weights: &'a [f64],
    width: f64,
}

/// Widths for `count` points of which the first is the `first`-th of the search: a ladder from 0 to `most`, which a
/// small batch climbs over several asks.
pub(super) fn ladder(first: usize, count: usize, most: f64) -> Vec<f64> {
    if count >= SMALL {
        return (0..count).map(|j| most * j as f64 / (count - 1) as f64).collect();
    }
    (first..first + count)
        .map(|i| if i.is_multiple_of(4) { 0.0 } else { most * (i as f64 * GOLDEN).fract() })
        .collect()
}

/// The power β/n of a user's prior after n trials (πBO): it counts fully at first and is forgotten as evidence grows.
pub(super) fn belief(issued: usize) -> f64 {
    BELIEF / issued.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::super::feasibility::Feasibility;
    use super::super::frame::Frame;
    use super::super::local_model::{HyperParameters, LocalModel, Prior, Shape};
    use super::*;
    use crate::domain::Domain;
    use crate::seed::Seed;
    use crate::space::{Dimension, Taken};

    #[test]
    fn the_ladder_rises_from_the_mean_to_the_widest_bound() {
        assert_eq!(ladder(7, 5, 4.0), [0.0, 1.0, 2.0, 3.0, 4.0]);
        // Single asks go over the ladder too, every fourth at the mean.
        let singles: Vec<f64> = (0..400).map(|i| ladder(i, 1, 4.0)[0]).collect();
        assert_eq!(singles.iter().filter(|width| **width == 0.0).count(), 100);
        let above = singles.iter().filter(|width| **width > 2.0).count();
        assert!((120..180).contains(&above), "{above}");
    }

    /// A function of one coordinate that rises to the right, known at a few points of the left half; `failed` are
    /// trials without a value.
    fn patch(values: f64, failed: &[f64]) -> Patch {
        let prior = Prior { log_scale: (0.2_f64.ln(), 0.5), log_noise: (-9.0, 4.0) };
        let shape = Shape { group: vec![0], additive: 0.0 };
        let points = Points::from_rows(1, (0..6).map(|i| [-0.5 + 0.1 * f64::from(i)]));
        let targets: Vec<f64> = points.rows().map(|u| values * u[0]).collect();
        let hyper_parameters = HyperParameters::new(1, prior);
        let model = LocalModel::fit(&hyper_parameters, &shape, &points, &targets).unwrap();
        let failed = Points::from_rows(1, failed.iter().map(|u| [*u]));
        let feasibility = Feasibility::fit(&failed, &points, model.posterior.kernel()).unwrap();
        let floor = targets[0] - model.mean;
        let frame = Frame::new(vec![0.5], None);
        Patch { model, frame, centre: vec![0.0], half_widths: vec![0.5], feasibility, floor }
    }

    fn picks(patch: &Patch, polish: bool, widths: &[f64], pending: &[f64]) -> Vec<f64> {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let (taken, none) = (Taken::default(), Points::new(1));
        let domain = Domain { space: &space, taken: &taken, pending: &none, incumbents: &none };
        let pending = Points::from_rows(1, pending.iter().map(|x| [*x]));
        let picker = Picker { patch, space: &space, polish, belief: 0.0 };
        let mut rng = Seed(1).stream("picks", 0);
        let picks = picker.choose(widths, None, &pending, &mut domain.occupied(), &mut rng);
        picks.unwrap().rows().map(|x| x[0]).collect()
    }

    #[test]
    fn a_pending_point_is_known_ground_to_the_model() {
        let patch = patch(1.0, &[]);
        let first = picks(&patch, true, &[100.0], &[])[0];
        let second = picks(&patch, true, &[100.0], &[first])[0];
        assert!((first - second).abs() > 0.05, "{first} {second}");
    }

    #[test]
    fn the_best_candidate_is_one_that_will_not_fail() {
        // The bound is highest where everything has failed. No climb hides what candidates are worth.
        let failed: Vec<f64> = (0..13).map(|i| 0.05 + 0.025 * f64::from(i)).collect();
        let free = picks(&patch(1.0, &[]), false, &[1.0], &[])[0];
        let careful = patch(1.0, &failed);
        let found = picks(&careful, false, &[1.0], &[])[0];
        let chance = |x: f64| careful.feasibility.probability(&careful.frame.enter(&[x]));
        assert!(chance(free) < 0.2, "{free}: {}", chance(free));
        assert!(chance(found) > 0.4, "{found}: {}", chance(found));
    }

    #[test]
    fn deviations_are_in_the_units_of_the_targets() {
        let picks = |values| picks(&patch(values, &[]), true, &[0.5, 1.0, 3.0], &[]);
        let (one, thousand) = (picks(1.0), picks(1000.0));
        for (one, thousand) in one.iter().zip(&thousand) {
            assert!((one - thousand).abs() < 1e-6, "{one} {thousand}");
        }
    }
}
