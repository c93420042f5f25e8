//! The 24 functions of the black-box optimisation benchmark (BBOB).
//!
//! Hansen, Finck, Ros and Auger, *Real-parameter black-box optimization benchmarking 2009: noiseless functions definitions*,
//! INRIA research report RR-6829 (2009, updated 2010). A function has numbered *instances*, which differ by shifts, rotations and
//! the least value; all are functions on [-5, 5]ᵈ, d ≥ 2.
//!
//! ```text
//! f(x) = formula(step_n(… step_1(x))) + penalty · Σ max(0, |xₖ| - 5)² + least value
//! ```
//!
//! The functions fall into five groups: separable (1 to 5), moderate condition (6 to 9), ill-conditioned (10 to 14), multimodal
//! with global structure (15 to 19) and with weak structure (20 to 24).
//!
//! Values agree with those of the published packages to 1e-9, relative (tests/bbob_reference.rs).

mod draw;
mod formula;
mod gallagher;
mod name;
mod step;

use crate::Problem;
use formula::{DEEPER, Formula};
use gallagher::Gallagher;
pub use name::Name;
use step::{Step, powers, product};

/// The numbers of the functions.
pub const FUNCTIONS: std::ops::RangeInclusive<usize> = 1..=24;

/// Added to the seed of an instance for its second rotation.
const SECOND: u64 = 1_000_000;

/// A function of the benchmark.
#[derive(Debug, Clone)]
pub struct Bbob {
    function: usize,
    instance: u64,
    domain: Vec<(f64, f64)>,
    steps: Vec<Step>,
    formula: Formula,
    penalty: f64,
    least: f64,
    optimum: Vec<f64>,
}

impl Bbob {
    /// Function 1 to 24 in `dim` dimensions.
    ///
    /// # Panics
    /// If there is no such function, or `dim` is less than 2.
    pub fn new(function: usize, dim: usize, instance: u64) -> Self {
        assert!(FUNCTIONS.contains(&function), "there are functions 1 to 24, but not {function}");
        assert!(dim >= 2, "the functions have 2 dimensions or more, but not {dim}");
        // Two pairs of functions share their instances.
        let number = match function {
            4 => 3,
            18 => 17,
            other => other as u64,
        };
        let seed = number + 10_000 * instance;
        let Parts { steps, formula, penalty, optimum } = parts(function, dim, seed);
        Self {
            function,
            instance,
            domain: crate::cube(dim, -5.0, 5.0),
            steps,
            formula,
            penalty,
            least: draw::least_value(seed),
            optimum,
        }
    }
}

/// What a function is made of.
struct Parts {
    steps: Vec<Step>,
    formula: Formula,
    penalty: f64,
    optimum: Vec<f64>,
}

fn parts(function: usize, dim: usize, seed: u64) -> Parts {
    use Step::{Asymmetric, Chain, Linear, Oscillate, Shift, Skew, Stretch};
    let mut optimum = match function {
        12 => draw::optimum(dim, seed + SECOND),
        _ => draw::optimum(dim, seed),
    };
    let rotation = || draw::rotation(dim, seed);
    let second = || draw::rotation(dim, seed + SECOND);
    // The second rotation, a stretch of the given condition, the first.
    let both = |base: f64| Linear(product(&second(), &powers(dim, base), &rotation()));
    let towards = |optimum: &[f64]| Shift(optimum.iter().map(|x| -x).collect());
    let times = |rows: Vec<Vec<f64>>, by: f64| {
        let scaled = |row: Vec<f64>| row.iter().map(|r| by * r).collect();
        Linear(rows.into_iter().map(scaled).collect())
    };
    let root = 10.0_f64.sqrt();
    // Of Rosenbrock's functions.
    let factor = ((dim as f64).sqrt() / 8.0).max(1.0);
    let mut penalty = 0.0;
    let shift = |optimum: &[f64], rest: Vec<Step>| {
        std::iter::once(towards(optimum)).chain(rest).collect::<Vec<_>>()
    };
    let (steps, formula) = match function {
        1 => (shift(&optimum, vec![]), Formula::Sphere),
        2 => (shift(&optimum, vec![Oscillate]), Formula::Ellipsoid),
        3 => {
            let rest = vec![Oscillate, Asymmetric(0.2), Stretch(powers(dim, root))];
            (shift(&optimum, rest), Formula::Rastrigin)
        }
        4 => {
            optimum.iter_mut().step_by(2).for_each(|x| *x = x.abs());
            penalty = 100.0;
            (shift(&optimum, vec![Oscillate, Skew]), Formula::Rastrigin)
        }
        5 => {
            optimum.iter_mut().for_each(|x| *x = 5.0_f64.copysign(*x));
            (vec![], Formula::LinearSlope(optimum.clone()))
        }
        6 => (shift(&optimum, vec![both(root)]), Formula::AttractiveSector(optimum.clone())),
        7 => {
            penalty = 1.0;
            let rest = vec![Linear(rotation()), Stretch(powers(dim, root))];
            (shift(&optimum, rest), Formula::StepEllipsoid { outer: second() })
        }
        8 => {
            optimum.iter_mut().for_each(|x| *x *= 0.75);
            let rest = vec![Stretch(vec![factor; dim]), Shift(vec![1.0; dim])];
            (shift(&optimum, rest), Formula::Rosenbrock)
        }
        9 | 19 => {
            let rows = rotation();
            let along = |k: usize| rows.iter().map(|row| row[k]).sum::<f64>() * 0.5 / factor;
            optimum = (0..dim).map(along).collect();
            let steps = vec![times(rows, factor), Shift(vec![0.5; dim])];
            let formula =
                if function == 9 { Formula::Rosenbrock } else { Formula::GriewankRosenbrock };
            (steps, formula)
        }
        10 => (shift(&optimum, vec![Linear(second()), Oscillate]), Formula::Ellipsoid),
        11 => (shift(&optimum, vec![Linear(second()), Oscillate]), Formula::Discus),
        12 => {
            let rest = vec![Linear(second()), Asymmetric(0.5), Linear(second())];
            (shift(&optimum, rest), Formula::BentCigar)
        }
        13 => (shift(&optimum, vec![both(root)]), Formula::SharpRidge),
        14 => (shift(&optimum, vec![Linear(second())]), Formula::DifferentPowers),
        15 => {
            let rest = vec![Linear(second()), Oscillate, Asymmetric(0.2), both(root)];
            (shift(&optimum, rest), Formula::Rastrigin)
        }
        16 => {
            penalty = 10.0 / dim as f64;
            let rest = vec![Linear(second()), Oscillate, both(0.1)];
            (shift(&optimum, rest), Formula::Weierstrass)
        }
        17 | 18 => {
            penalty = 10.0;
            let base = if function == 17 { root } else { 1000.0_f64.sqrt() };
            let stretch = Stretch(powers(dim, base));
            let rest = vec![Linear(second()), Asymmetric(0.5), Linear(rotation()), stretch];
            (shift(&optimum, rest), Formula::Schaffers)
        }
        20 => {
            let signs = draw::uniform(dim, seed).into_iter();
            let signs: Vec<f64> = signs.map(|u| if u < 0.5 { -1.0 } else { 1.0 }).collect();
            const PLACE: f64 = 4.209_687_463_7;
            optimum = signs.iter().map(|sign| 0.5 * PLACE * sign).collect();
            let steps = vec![
                Stretch(signs.iter().map(|sign| 2.0 * sign).collect()),
                Chain(vec![0.5 * PLACE; dim]),
                Shift(vec![-PLACE; dim]),
                Stretch(powers(dim, root)),
                Shift(vec![PLACE; dim]),
                Stretch(vec![100.0; dim]),
            ];
            (steps, Formula::Schwefel)
        }
        21 | 22 => {
            penalty = 1.0;
            let (gallagher, highest) = match function {
                21 => Gallagher::new(101, 1000.0, 10.0, dim, seed),
                _ => Gallagher::new(21, 1_000_000.0, 9.8, dim, seed),
            };
            optimum = highest;
            (vec![], Formula::Gallagher(gallagher))
        }
        23 => {
            penalty = 1.0;
            (shift(&optimum, vec![both(10.0)]), Formula::Katsuura)
        }
        _ => {
            penalty = 1e4;
            let signs = draw::normal(dim, seed).into_iter();
            let signs: Vec<f64> = signs.map(|g| if g < 0.0 { -1.0 } else { 1.0 }).collect();
            optimum = signs.iter().map(|sign| 0.5 * DEEPER * sign).collect();
            let matrix = product(&second(), &powers(dim, 10.0), &rotation());
            let stretch = Stretch(signs.iter().map(|sign| 2.0 * sign).collect());
            (vec![stretch], Formula::Lunacek { matrix })
        }
    };
    Parts { steps, formula, penalty, optimum }
}

impl Problem for Bbob {
    fn name(&self) -> String {
        let Self { function, instance, .. } = *self;
        Name { function, dim: self.dim(), instance }.to_string()
    }

    fn title(&self) -> String {
        format!("BBOB f{} instance {} {}D", self.function, self.instance, self.dim())
    }

    fn domain(&self) -> &[(f64, f64)] {
        &self.domain
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        crate::assert_length("a function of BBOB", self.dim(), x);
        let mut z = x.to_vec();
        self.steps.iter().for_each(|step| step.apply(&mut z));
        let outside: f64 = x.iter().map(|x| (x.abs() - 5.0).max(0.0).powi(2)).sum();
        self.formula.value(&z) + self.penalty * outside + self.least
    }

    fn minimum(&self) -> f64 {
        self.least
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![self.optimum.clone()]
    }
}
