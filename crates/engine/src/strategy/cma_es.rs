//! CMA-ES: a normal distribution that follows the better points, with restarts.
//!
//! Every λ finished trials, in the order in which they were told, are a generation: ranked by value, they
//! move the distribution (see `descent::evolution`). New points are drawn from the distribution after the
//! last full generation, whatever is pending, so that batches may have any size and results may come in any
//! order; a point that is told late counts like one injected from outside. The first trials, drawn at random, are
//! left out unless `inject_initial` is set.
//!
//! - The first mean is the centre of the cube. Once the distribution has collapsed, or learnt nothing for
//!   long, it starts anew from a random mean with twice the population (IPOP, Auger and Hansen 2005).
//! - Draws outside the cube move to its nearest point, and no deviation exceeds half a side. Mirroring them
//!   at the faces, with which a wide distribution looks uniform and learns nothing, ended far from minima on
//!   the boundary.
//! - Discrete coordinates are drawn like real ones and rounded. Their deviation never falls so low that less
//!   than one draw in λ leaves the value of the mean in any of n coordinates (in the manner of the margin of
//!   Hamano et al. 2022), so that none of them freezes.
//! - An inactive coordinate counts as that of the mean: it pulls nowhere.
//! - Trials without a value rank last; a generation without any value teaches nothing.
//!
//! # Design
//! The distribution is a function of history and seed. `Memory` holds it as of the last full generation, so
//! that an ask replays new generations only.
//!
//! Batches much larger than λ are used less well: their later generations were all drawn from one
//! distribution. Set `population` to the size of the batch.
//!
//! Cost: O(n²) a point and O(λn² + n³) a generation, once.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::axis::{Axis, Scope};
use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::descent::evolution::Evolution;
use crate::error::{Error, Result};
use crate::goal::Goal;
use crate::history::History;
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Seed, uniform};
use crate::space::SearchSpace;
use crate::theory::normal;

/// CMA-ES.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CmaEs {
    /// How many trials are drawn at random before the distribution is used.
    pub initial: usize,
    /// λ, the trials of a generation before the first restart; 4 + ⌊3 ln n⌋ for n coordinates if not given.
    pub population: Option<usize>,
    /// σ, the deviation at the start as a share of each coordinate's range; a sixth, as in Optuna.
    pub step_size: f64,
    /// Whether CMA-ES learns from the first `initial` trials of history, as generations injected from outside. Default:
    /// no, as in Optuna: the first mean is the centre of the cube.
    pub inject_initial: bool,
}

impl Named for CmaEs {
    const NAME: &'static str = "cma-es";
    const DESCRIPTION: &'static str = "covariance matrix adaptation";
}

impl Default for CmaEs {
    fn default() -> Self {
        Self { initial: 10, population: None, step_size: 1.0 / 6.0, inject_initial: false }
    }
}

/// Deviations below which a run has collapsed: a hundred steps of the grid of real coordinates.
const LEAST_DEVIATION: f64 = 1e-10;
/// The largest deviation of a coordinate: with a wider one, most draws leave the cube.
const LARGEST_DEVIATION: f64 = 0.5;
/// The condition number of a covariance that rounding no longer resolves.
const LARGEST_CONDITION: f64 = 1e14;
/// Doublings of the population; more would make a generation of more trials than any run has.
const MOST_DOUBLINGS: u32 = 10;

impl Strategy for CmaEs {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn check(&self, _: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        if let Some(population) =
            self.population.filter(|population| !(2..=100_000).contains(population))
        {
            return Err(Error::invalid("population", population, "from 2 to 100000"));
        }
        if !(self.step_size > 0.0 && self.step_size <= LARGEST_DEVIATION) {
            return Err(Error::invalid("step-size", self.step_size, "above 0 and at most 0.5"));
        }
        Ok(())
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        let initial = Initial::First(self.initial);
        place(evidence, size, "cma-es-initial", initial, |opening| {
            let Evidence { space, history, seed, .. } = opening.evidence;
            let run = self.replay(space, history, seed, memory)?;
            let mut draws = Points::with_capacity(space.dim(), opening.count);
            for place in opening.first..opening.first + opening.count {
                let mut rng = seed.stream("cma-es", place as u64);
                let x: Vec<f64> =
                    run.evolution.sample(&mut rng).into_iter().map(|u| u.clamp(0.0, 1.0)).collect();
                draws.push(&x);
            }
            memory.keep(run);
            Ok(draws)
        })
    }
}

impl CmaEs {
    /// The run after all full generations of `history`.
    fn replay(
        &self,
        space: &SearchSpace,
        history: &History,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Run> {
        let kept = memory.take::<Run>().filter(|run| run.trials <= history.len());
        let first = if self.inject_initial { 0 } else { self.initial };
        let mut run = kept.unwrap_or_else(|| Run::new(self, space.dim(), seed, 0, first));
        let axes = Axis::all(space);
        while history.len() >= run.trials + run.evolution.population() {
            run.learn(space, &axes, history)?;
            if run.is_over(space, &axes) {
                run = Run::new(self, space.dim(), seed, run.restarts + 1, run.trials);
            }
        }
        Ok(run)
    }
}

/// The search from one start.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    /// How many trials of history have been learnt from, by this run and those before it.
    trials: usize,
    restarts: u32,
    evolution: Evolution,
    generation: usize,
    /// The best values of the latest generations.
    recent: VecDeque<f64>,
    best: f64,
    /// The generation of `best`.
    best_at: usize,
}

impl Run {
    fn new(settings: &CmaEs, dim: usize, seed: Seed, restarts: u32, trials: usize) -> Self {
        let population = settings.population.unwrap_or_else(|| Evolution::default_population(dim));
        let mean = if restarts == 0 {
            vec![0.5; dim]
        } else {
            let mut rng = seed.stream("cma-es-restart", u64::from(restarts));
            (0..dim).map(|_| uniform(&mut rng)).collect()
        };
        let population = population << restarts.min(MOST_DOUBLINGS);
        Self {
            trials,
            restarts,
            evolution: Evolution::new(mean, settings.step_size, population),
            generation: 0,
            recent: VecDeque::new(),
            best: f64::INFINITY,
            best_at: 0,
        }
    }

    /// Learns from the next generation of trials.
    fn learn(&mut self, space: &SearchSpace, axes: &[Axis], history: &History) -> Result<()> {
        let population = self.evolution.population();
        let trials = self.trials..self.trials + population;
        self.trials = trials.end;
        self.generation += 1;
        // Trials without a value rank last, and equal ones in the order in which they were told.
        let value = |i: usize| history.objective().value(i).unwrap_or(f64::INFINITY);
        let mut order: Vec<usize> = trials.collect();
        order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
        let best = value(order[0]);
        if best == f64::INFINITY {
            return Ok(());
        }
        let conditional = space.dimensions().iter().any(|dimension| dimension.condition.is_some());
        let ranked: Vec<Vec<f64>> = order
            .iter()
            .map(|&i| {
                let mut x = history.points().row(i).to_vec();
                if conditional {
                    let active = space.active(&x);
                    for axis in axes.iter().filter(|axis| !active[axis.dimension]) {
                        let range = axis.coordinates.clone();
                        x[range.clone()].copy_from_slice(&self.evolution.mean()[range]);
                    }
                }
                x
            })
            .collect();
        let least = least_deviations(space, axes, &self.evolution);
        self.evolution.update(&ranked, &least)?;
        self.evolution.cap_deviations(LARGEST_DEVIATION);

        if best < self.best {
            (self.best, self.best_at) = (best, self.generation);
        }
        self.recent.push_back(best);
        if self.recent.len() > self.memory_length() {
            self.recent.pop_front();
        }
        Ok(())
    }

    /// 10 + ⌈30n/λ⌉ generations, after which equal values count as a plateau.
    fn memory_length(&self) -> usize {
        let dim = self.evolution.mean().len();
        10 + (30 * dim).div_ceil(self.evolution.population())
    }

    /// Whether the distribution has collapsed, or has found nothing better for long (the stopping rules of
    /// the tutorial and of pycma).
    fn is_over(&self, space: &SearchSpace, axes: &[Axis]) -> bool {
        let dim = self.evolution.mean().len();
        let (mut real, mut collapsed) = (false, true);
        for axis in
            axes.iter().filter(|axis| axis.scope == Scope::Real || space.candidates().is_some())
        {
            real = true;
            collapsed &=
                axis.coordinates.clone().all(|i| self.evolution.deviation(i) < LEAST_DEVIATION);
        }
        let (low, high) = self
            .recent
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), &v| (a.min(v), b.max(v)));
        let flat = self.recent.len() >= self.memory_length()
            && high - low <= 1e-12 * low.abs().max(high.abs());
        let patience =
            100 + (100.0 * (dim as f64).powf(1.5)) as usize / self.evolution.population();
        (real && collapsed)
            || flat
            || self.generation - self.best_at > patience
            || self.evolution.condition() > LARGEST_CONDITION
    }
}

/// The deviation of each discrete coordinate at which one draw in λn leaves a cell from its centre; 0 for
/// real coordinates, and among candidates.
fn least_deviations(space: &SearchSpace, axes: &[Axis], evolution: &Evolution) -> Vec<f64> {
    let mut least = vec![0.0; space.dim()];
    if space.candidates().is_some() {
        return least;
    }
    let chance = 1.0 / (evolution.population() * space.dim()) as f64;
    let reach = normal::quantile(1.0 - 0.5 * chance);
    for axis in axes {
        for i in axis.coordinates.clone() {
            let half = match axis.scope {
                Scope::Real => 0.0,
                Scope::Choices(_) => 0.5,
                _ => axis.scope.cell(evolution.mean()[i]).map_or(0.0, |(a, b)| 0.5 * (b - a)),
            };
            least[i] = half / reach;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::space::Dimension;

    fn cube(dim: usize) -> SearchSpace {
        SearchSpace::new((0..dim).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0))).unwrap()
    }

    fn mixed() -> SearchSpace {
        SearchSpace::new([
            Dimension::categorical("c", ["x", "y", "z"]),
            Dimension::boolean("b"),
            Dimension::log_real("r", 1e-4, 1.0).when("b", [true]),
            Dimension::integer("n", 1, 50),
            Dimension::log_integer("m", 1, 1000).when("c", ["x", "z"]),
        ])
        .unwrap()
    }

    /// `asks` batches of `size`, told in reverse order; with memory, or without.
    fn search(
        settings: &CmaEs,
        space: &SearchSpace,
        size: usize,
        asks: usize,
        keep: bool,
        f: impl Fn(&[f64]) -> Outcome,
    ) -> History {
        let mut history = History::new(space.dim());
        let none = Points::new(space.dim());
        let mut memory = Memory::default();
        for _ in 0..asks {
            let evidence = Evidence { space, history: &history, pending: &none, seed: Seed(1) };
            let batch = settings.propose(evidence, size, &mut memory).unwrap();
            assert_eq!(batch.len(), size);
            for i in (0..size).rev() {
                let x = batch.row(i);
                let mut snapped = x.to_vec();
                space.snap(&mut snapped);
                assert_eq!(snapped, x);
                history.push(x, f(x)).unwrap();
            }
            if !keep {
                memory = Memory::default();
            }
        }
        assert_eq!(history.taken().len(), history.len(), "no point is asked twice");
        history
    }

    fn sphere(x: &[f64]) -> Outcome {
        Outcome::from(x.iter().map(|x| (x - 0.3).powi(2)).sum::<f64>())
    }

    #[test]
    fn the_sphere_is_solved_with_batches_of_any_size() {
        for (size, asks) in [(1, 900), (7, 130), (10, 90)] {
            let history = search(&CmaEs::default(), &cube(5), size, asks, true, sphere);
            let best = history.objective().best_value().unwrap();
            assert!(best < 1e-8, "batches of {size}: {best}");
        }
        let wide = CmaEs { population: Some(100), ..CmaEs::default() };
        let best = search(&wide, &cube(5), 100, 40, true, sphere).objective().best_value().unwrap();
        assert!(best < 1e-8, "batches of 100: {best}");
        let narrow = search(&CmaEs::default(), &cube(5), 100, 40, true, sphere);
        assert!(
            narrow.objective().best_value().unwrap() < 1e-4,
            "{:?}",
            narrow.objective().best_value()
        );
    }

    #[test]
    fn rosenbrock_is_solved_and_a_minimum_on_an_edge_is_reached() {
        let rosenbrock = |x: &[f64]| {
            let x: Vec<f64> = x.iter().map(|x| 4.0 * x - 2.0).collect();
            let pairs = x.windows(2);
            Outcome::from(
                pairs
                    .map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2))
                    .sum::<f64>(),
            )
        };
        let history = search(&CmaEs::default(), &cube(4), 8, 400, true, rosenbrock);
        assert!(
            history.objective().best_value().unwrap() < 1e-8,
            "{:?}",
            history.objective().best_value()
        );
        let corner = |x: &[f64]| Outcome::from(x[0] + (1.0 - x[1]) + (x[2] - 0.3).powi(2));
        let history = search(&CmaEs::default(), &cube(3), 7, 120, true, corner);
        assert!(
            history.objective().best_value().unwrap() < 1e-4,
            "{:?}",
            history.objective().best_value()
        );
    }

    #[test]
    fn memory_changes_nothing() {
        for space in [cube(3), mixed()] {
            let f = |x: &[f64]| match (1000.0 * x[0]) as usize % 5 {
                3 => Outcome::failed(),
                _ => sphere(x),
            };
            for inject_initial in [false, true] {
                let settings = CmaEs { inject_initial, ..CmaEs::default() };
                let with = search(&settings, &space, 4, 25, true, f);
                let without = search(&settings, &space, 4, 25, false, f);
                assert_eq!(with.points(), without.points());
            }
        }
    }

    #[test]
    fn a_batch_is_what_single_asks_give_and_pending_points_are_kept_clear_of() {
        let space = cube(3);
        let history = search(&CmaEs::default(), &space, 10, 3, true, sphere);
        let mut pending = Points::new(3);
        let evidence =
            Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
        let propose = |evidence: Evidence<'_>, size: usize| {
            CmaEs::default().propose(evidence, size, &mut Memory::default()).unwrap()
        };
        let batch = propose(evidence, 100);
        for x in batch.rows() {
            let evidence =
                Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
            assert_eq!(propose(evidence, 1).row(0), x);
            pending.push(x);
        }
    }

    #[test]
    fn mixed_spaces_are_searched_and_no_discrete_coordinate_freezes() {
        let space = mixed();
        let f = |x: &[f64]| {
            Outcome::from(
                (x[5] - 0.83).powi(2) + (1.0 - x[1]) + (1.0 - x[3]) + (x[4] - 0.2).powi(2),
            )
        };
        let history = search(&CmaEs::default(), &space, 10, 60, true, f);
        assert!(
            history.objective().best_value().unwrap() < 1e-3,
            "{:?}",
            history.objective().best_value()
        );
        let run =
            CmaEs::default().replay(&space, &history, Seed(1), &mut Memory::default()).unwrap();
        let least = least_deviations(&space, &Axis::all(&space), &run.evolution);
        for (i, least) in least.iter().enumerate() {
            // The mean, and with it the width of a logarithmic cell, moves after the bound is applied.
            assert!(run.evolution.deviation(i) >= 0.5 * least, "coordinate {i}");
        }
    }

    #[test]
    fn long_runs_restart_with_twice_the_population() {
        let space = cube(2);
        let history = search(&CmaEs::default(), &space, 6, 400, true, sphere);
        let run =
            CmaEs::default().replay(&space, &history, Seed(1), &mut Memory::default()).unwrap();
        assert!(run.restarts >= 1);
        assert_eq!(run.evolution.population(), 6 << run.restarts);
        // A constant objective, and one that never has a value.
        let flat = search(&CmaEs::default(), &space, 6, 200, true, |_| Outcome::from(1.0));
        let run = CmaEs::default().replay(&space, &flat, Seed(1), &mut Memory::default()).unwrap();
        assert!(run.restarts >= 1);
        search(&CmaEs::default(), &space, 6, 50, true, |_| Outcome::Infeasible);
    }

    #[test]
    fn settings_are_checked_and_read() {
        let space = cube(1);
        let error = CmaEs { step_size: 0.0, ..CmaEs::default() }
            .check(&space, &Goal::default())
            .unwrap_err();
        assert_eq!(error.to_string(), "step-size is 0, but must be above 0 and at most 0.5");
        assert!(
            CmaEs { population: Some(1), ..CmaEs::default() }
                .check(&space, &Goal::default())
                .is_err()
        );
        assert!(
            CmaEs { step_size: f64::NAN, ..CmaEs::default() }
                .check(&space, &Goal::default())
                .is_err()
        );
        let read: CmaEs = serde_json::from_str(r#"{"population": 12, "step-size": 0.2}"#).unwrap();
        assert_eq!(read, CmaEs { population: Some(12), step_size: 0.2, ..CmaEs::default() });
        assert!(serde_json::from_str::<CmaEs>(r#"{"sigma": 1}"#).is_err());
    }
}
