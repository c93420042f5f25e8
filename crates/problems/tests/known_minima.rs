//! What every problem must satisfy: its minimum is attained where it says, and nowhere beaten.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use wimble_problems::{Problem, problem};

const NAMES: [&str; 38] = [
    "ackley-1",
    "ackley-5",
    "branin",
    "camel",
    "ellipsoid-2",
    "ellipsoid-10",
    "goldstein-price",
    "griewank-1",
    "griewank-2",
    "griewank-6",
    "hartmann3",
    "hartmann6",
    "levy-1",
    "levy-2",
    "levy-10",
    "michalewicz-1",
    "michalewicz-2",
    "michalewicz-5",
    "michalewicz-10",
    "rastrigin-1",
    "rastrigin-4",
    "rosenbrock-2",
    "rosenbrock-4",
    "rosenbrock-8",
    "shekel-5",
    "shekel-7",
    "shekel",
    "styblinski-tang-2",
    "styblinski-tang-5",
    "ackley-5+shifted",
    "branin+rotated",
    "camel+shifted+noise-10",
    "goldstein-price+shifted",
    "griewank-2+shifted+rotated",
    "hartmann6+rotated",
    "levy-10+shifted",
    "michalewicz-5+shifted+rotated",
    "rosenbrock-4+skewed",
];

fn problems() -> impl Iterator<Item = Box<dyn Problem>> {
    NAMES.iter().map(|name| problem(name).expect("every name of the list is legal"))
}

/// The largest coordinate-wise Newton step from `x`, as a share of the width of the domain: how far `x` is
/// from where finite differences see no slope.
fn relative_newton_step(problem: &dyn Problem, x: &[f64]) -> f64 {
    let mut worst = 0.0_f64;
    for (k, (low, high)) in problem.domain().iter().enumerate() {
        let width = high - low;
        let step = 1e-4 * width;
        let at = |offset: f64| {
            let mut moved = x.to_vec();
            moved[k] += offset;
            problem.evaluate(&moved)
        };
        let slope = (at(step) - at(-step)) / (2.0 * step);
        let curvature = (at(step) - 2.0 * at(0.0) + at(-step)) / (step * step);
        worst = worst.max((slope / curvature).abs() / width);
    }
    worst
}

/// The least value that a compass search reaches from `x` without leaving the domain.
fn descend(problem: &dyn Problem, mut x: Vec<f64>) -> f64 {
    let mut value = problem.evaluate(&x);
    let mut share = 0.05;
    let mut evaluations = 0;
    while share > 1e-12 && evaluations < 20_000 {
        let mut improved = false;
        for (k, &(low, high)) in problem.domain().iter().enumerate() {
            for sign in [-1.0, 1.0] {
                let before = x[k];
                x[k] = (before + sign * share * (high - low)).clamp(low, high);
                let moved = problem.evaluate(&x);
                evaluations += 1;
                if moved < value {
                    (value, improved) = (moved, true);
                } else {
                    x[k] = before;
                }
            }
        }
        share *= if improved { 1.5 } else { 0.5 };
    }
    value
}

#[test]
fn the_shape_is_consistent() {
    for problem in problems() {
        let name = problem.name();
        assert_eq!(problem.dim(), problem.domain().len(), "{name}");
        assert!(problem.domain().iter().all(|(low, high)| low < high), "{name}");
        assert!(!problem.title().is_empty(), "{name}");
        let minimisers = problem.minimisers();
        assert!(!minimisers.is_empty(), "{name}");
        for (i, x) in minimisers.iter().enumerate() {
            assert_eq!(x.len(), problem.dim(), "{name}");
            let inside =
                x.iter().zip(problem.domain()).all(|(x, (low, high))| (low..=high).contains(&x));
            assert!(inside, "{name}: {x:?}");
            assert!(!minimisers[..i].contains(x), "{name} lists {x:?} twice");
        }
    }
}

#[test]
fn every_minimiser_attains_the_minimum() {
    for problem in problems() {
        for x in problem.minimisers() {
            let gap = problem.evaluate(&x) - problem.minimum();
            // Rounding of a sum of d terms, each a few units in the last place of its size.
            let tolerance =
                8.0 * f64::EPSILON * problem.dim() as f64 * problem.minimum().abs().max(1.0);
            assert!(gap.abs() <= tolerance, "{}: {gap:e} at {x:?}", problem.name());
        }
    }
}

#[test]
fn the_slope_vanishes_at_every_minimiser() {
    for problem in problems() {
        for x in problem.minimisers() {
            let step = relative_newton_step(problem.as_ref(), &x);
            assert!(step < 1e-6, "{}: {step:e} at {x:?}", problem.name());
        }
    }
}

/// 200 000 uniform points, then a descent from the best 20 of them and from near every minimiser.
#[test]
fn no_search_finds_a_lower_value() {
    for problem in problems() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_260_101);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut best: Vec<(f64, Vec<f64>)> = Vec::new();
        for _ in 0..200_000 {
            let x: Vec<f64> =
                problem.domain().iter().map(|(low, high)| low + uniform() * (high - low)).collect();
            let value = problem.evaluate(&x);
            assert!(value.is_finite(), "{} is {value} at {x:?}", problem.name());
            if best.len() < 20 || value < best[19].0 {
                let place = best.partition_point(|(other, _)| *other <= value);
                best.insert(place, (value, x));
                best.truncate(20);
            }
        }
        let starts = best.into_iter().map(|(_, x)| x);
        let near = problem.minimisers().into_iter().map(|mut x| {
            for (x, &(low, high)) in x.iter_mut().zip(problem.domain()) {
                *x = (*x + 0.01 * (uniform() - 0.5) * (high - low)).clamp(low, high);
            }
            x
        });
        let reached: Vec<f64> =
            starts.chain(near.collect::<Vec<_>>()).map(|x| descend(problem.as_ref(), x)).collect();
        let lowest = reached.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(lowest >= problem.minimum() - 1e-11, "{}: {lowest}", problem.name());
    }
}

/// Moved and turned problems are evaluated beyond the domain of the formula.
#[test]
fn no_value_outside_the_domain_is_lower_where_a_problem_says_so() {
    for problem in problems().filter(|problem| problem.is_least_everywhere()) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_260_103);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        for _ in 0..50_000 {
            let place = |&(low, high): &(f64, f64)| low + (4.0 * uniform() - 1.5) * (high - low);
            let x: Vec<f64> = problem.domain().iter().map(place).collect();
            let value = problem.evaluate(&x);
            assert!(value >= problem.minimum(), "{} is {value} at {x:?}", problem.name());
        }
    }
}

/// Low dimensions can be searched so densely that the minimum must be found, not only not beaten.
#[test]
fn a_dense_search_reaches_the_minimum_in_low_dimensions() {
    for problem in problems().filter(|problem| problem.dim() <= 2) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(20_260_102);
        let mut uniform = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        let mut lowest = f64::INFINITY;
        for _ in 0..300 {
            let x: Vec<f64> =
                problem.domain().iter().map(|(low, high)| low + uniform() * (high - low)).collect();
            lowest = lowest.min(descend(problem.as_ref(), x));
        }
        // Griewank's bowl hides its minimum among thousands, the best of which differ by 0.01.
        let tolerance = if problem.name().starts_with("griewank") { 0.01 } else { 1e-8 };
        assert!(lowest - problem.minimum() < tolerance, "{}: {lowest}", problem.name());
    }
}

#[test]
fn large_dimensions_are_built_and_keep_their_minimum() {
    for family in wimble_problems::names() {
        if family.suffix.admits(wimble_problems::MAX_DIM) {
            let problem = problem(&family.example(Some(wimble_problems::MAX_DIM))).unwrap();
            let gap = problem.evaluate(&problem.minimisers()[0]) - problem.minimum();
            assert!(
                gap.abs() <= 1e-12 * problem.minimum().abs().max(1.0),
                "{}: {gap:e}",
                family.name
            );
        }
    }
}

#[test]
fn a_point_of_the_wrong_dimension_is_refused_by_every_problem() {
    for problem in problems() {
        let short = vec![0.5; problem.dim() - 1];
        let outcome = catch_unwind(AssertUnwindSafe(|| problem.evaluate(&short)));
        let panic = outcome.expect_err("a short point has no value");
        let message = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(
            message.contains("coordinates, but the point has"),
            "{}: {message}",
            problem.name()
        );
    }
}
