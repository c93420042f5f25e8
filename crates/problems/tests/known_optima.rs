//! What every task must satisfy: its variables, objectives and constraints fit together, and what it says of its best is
//! attained and not beaten.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use wimble_problems::{Answer, Bound, Task, task, tasks};

const NAMES: [&str; 24] = [
    "dtlz2-6-2",
    "dtlz2-8-3",
    "dtlz2-9-5",
    "dtlz7-6-2",
    "dtlz7-7-4",
    "g04",
    "g06",
    "gardner",
    "gramacy",
    "pressure-vessel",
    "re21",
    "re24",
    "re31",
    "re33",
    "re34",
    "re37",
    "speed-reducer",
    "spring",
    "townsend",
    "welded-beam",
    "zdt1-6",
    "zdt2-6",
    "zdt3-6",
    "branin+shifted",
];

fn all() -> impl Iterator<Item = Box<dyn Task>> {
    NAMES.iter().map(|name| task(name).expect("every name of the list is legal"))
}

/// Uniform numbers in [0, 1).
fn uniform(seed: u64) -> impl FnMut() -> f64 {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    move || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// A legal point.
fn point(task: &dyn Task, uniform: &mut impl FnMut() -> f64) -> Vec<f64> {
    let place = |v: &wimble_problems::Variable| v.nearest(v.low + uniform() * (v.high - v.low));
    task.variables().iter().map(place).collect()
}

/// The largest violation, as a share of the bound where that is not 0.
fn violation(task: &dyn Task, x: &[f64]) -> f64 {
    let measured = task.measure(x);
    let share = |(value, bound): (&f64, Bound)| {
        let (Bound::AtMost(limit) | Bound::AtLeast(limit)) = bound;
        bound.violation(*value) / if limit == 0.0 { 1.0 } else { limit.abs() }
    };
    let bounds = task.constraints().into_iter().map(|constraint| constraint.bound);
    measured.constraints.iter().zip(bounds).map(share).fold(0.0, f64::max)
}

#[test]
fn the_list_has_every_family() {
    for family in tasks() {
        assert!(NAMES.iter().any(|name| name.starts_with(family.name)), "{}", family.name);
    }
}

#[test]
fn variables_objectives_and_constraints_fit_together() {
    for task in all() {
        let name = task.name();
        let variables = task.variables();
        let x: Vec<f64> = variables.iter().map(|v| v.nearest(0.5 * (v.low + v.high))).collect();
        assert!(
            variables.iter().all(|v| v.low < v.high && v.step.is_none_or(|s| s > 0.0)),
            "{name}"
        );
        let measured = task.measure(&x);
        assert_eq!(measured.objectives.len(), task.objectives().len(), "{name}");
        assert_eq!(measured.constraints.len(), task.constraints().len(), "{name}");
        assert!(!task.title().is_empty() && !measured.objectives.is_empty(), "{name}");
        let names: Vec<_> = variables.iter().map(|v| v.name.clone()).collect();
        let constraints = task.constraints().into_iter().map(|c| c.name.into());
        for mut names in [names, task.objectives(), constraints.collect()] {
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{name}: {names:?}");
        }
        match task.answer() {
            Answer::Minimum { at, .. } => {
                assert_eq!(task.objectives().len(), 1, "{name}");
                assert!(at.iter().all(|x| x.len() == variables.len()), "{name}");
            }
            Answer::Front(front) => {
                assert!(task.objectives().len() > 1, "{name}");
                assert_eq!(front.ideal.len(), task.objectives().len(), "{name}");
                assert!(
                    front.ideal.iter().zip(&front.nadir).all(|(low, high)| low < high),
                    "{name}"
                );
                let cube = 1.1_f64.powi(front.ideal.len() as i32);
                assert!((0.0..=cube).contains(&front.hypervolume), "{name}");
                assert_eq!(front.scaled(&front.nadir), vec![1.0; front.nadir.len()], "{name}");
            }
        }
    }
}

#[test]
fn every_minimum_is_attained_at_a_legal_point_that_meets_the_constraints() {
    for task in all() {
        let Answer::Minimum { value, at } = task.answer() else { continue };
        for x in at {
            let legal: Vec<f64> =
                task.variables().iter().zip(&x).map(|(v, &x)| v.nearest(x)).collect();
            assert_eq!(legal, x, "{}", task.name());
            let gap = (task.measure(&x).objectives[0] - value).abs() / value.abs();
            assert!(gap < 1e-7, "{}: {gap:e}", task.name());
            let missed = violation(task.as_ref(), &x);
            assert!(missed < 1e-7, "{}: {missed:e}", task.name());
        }
    }
}

/// A random search that shrinks around the best point that meets the constraints, from near the optimum and from afar.
/// Tolerances as above: a point that misses a constraint by rounding may be lower by as much.
#[test]
fn no_search_finds_a_lower_feasible_value() {
    for task in all() {
        let Answer::Minimum { value, at } = task.answer() else { continue };
        let task = task.as_ref();
        let mut uniform = uniform(20_260_104);
        let variables = task.variables();
        let mut best = (f64::INFINITY, at[0].clone());
        for start in 0..4 {
            let mut x = if start == 0 { at[0].clone() } else { point(task, &mut uniform) };
            let mut here = (violation(task, &x), task.measure(&x).objectives[0]);
            for step in 0..40_000 {
                let share = 10_f64.powf(-6.0 * (f64::from(step % 4_000) / 4_000.0)) * 0.5;
                let moved: Vec<f64> = variables
                    .iter()
                    .zip(&x)
                    .map(|(v, &x)| {
                        let by = (2.0 * uniform() - 1.0) * share * (v.high - v.low);
                        v.nearest(x + if uniform() < 0.5 { by } else { 0.0 })
                    })
                    .collect();
                let there = (violation(task, &moved), task.measure(&moved).objectives[0]);
                if there <= here {
                    (x, here) = (moved, there);
                }
            }
            if here.0 == 0.0 && here.1 < best.0 {
                best = (here.1, x);
            }
        }
        let name = task.name();
        assert!(best.0.is_finite(), "{name}: nothing feasible was found");
        assert!(best.0 >= value - 1e-7 * value.abs(), "{name}: {best:?}");
        // The search is good enough to be worth something: it comes near.
        assert!(best.0 <= value + 0.2 * value.abs(), "{name}: {best:?}");
    }
}

#[test]
fn nothing_dominates_the_ideal_point_and_few_points_dominate_the_nadir() {
    for task in all() {
        let Answer::Front(front) = task.answer() else { continue };
        let mut uniform = uniform(20_260_105);
        let mut below = 0;
        for _ in 0..100_000 {
            let measured = task.measure(&point(task.as_ref(), &mut uniform));
            let scaled = front.scaled(&measured.objectives);
            // Digits of the published values: 1e-5 of the range.
            assert!(scaled.iter().all(|&y| y > -1e-5), "{}: {scaled:?}", task.name());
            below += usize::from(scaled.iter().all(|&y| y < 1.0));
        }
        assert!(below < 100_000, "{}", task.name());
    }
}

#[test]
fn a_point_of_the_wrong_dimension_is_refused_by_every_task() {
    for task in all() {
        let short = vec![0.5; task.variables().len() - 1];
        let outcome = catch_unwind(AssertUnwindSafe(|| task.measure(&short)));
        let panic = outcome.expect_err("a short point has no value");
        let message = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(message.contains("coordinates, but the point has"), "{}: {message}", task.name());
    }
}
