//! The formulas of the 24 functions, as functions of the point that the steps lead to. All have their minimum 0.

use std::f64::consts::{PI, TAU};

use super::gallagher::Gallagher;
use super::step::{fractions, oscillated};

/// A formula, with what it needs besides the point.
#[derive(Debug, Clone)]
pub(super) enum Formula {
    Sphere,
    Ellipsoid,
    Rastrigin,
    /// The optimum: ±5 in every coordinate.
    LinearSlope(Vec<f64>),
    /// The optimum of the function.
    AttractiveSector(Vec<f64>),
    StepEllipsoid {
        outer: Vec<Vec<f64>>,
    },
    Rosenbrock,
    Discus,
    BentCigar,
    SharpRidge,
    DifferentPowers,
    Weierstrass,
    Schaffers,
    GriewankRosenbrock,
    Schwefel,
    Gallagher(Gallagher),
    Katsuura,
    Lunacek {
        matrix: Vec<Vec<f64>>,
    },
}

impl Formula {
    pub(super) fn value(&self, z: &[f64]) -> f64 {
        match self {
            Self::Sphere => z.iter().map(|z| z * z).sum(),
            Self::Ellipsoid => weighted(z, 1e6),
            Self::Rastrigin => rastrigin(z),
            Self::LinearSlope(optimum) => {
                let term = |((z, best), part): ((&f64, &f64), f64)| {
                    let slope = 10.0_f64.powf(part).copysign(*best);
                    5.0 * slope.abs() - slope * if z * best < 25.0 { *z } else { *best }
                };
                z.iter().zip(optimum).zip(fractions(z.len())).map(term).sum()
            }
            Self::AttractiveSector(optimum) => {
                let term =
                    |(z, best): (&f64, &f64)| if z * best > 0.0 { 1e4 * z * z } else { z * z };
                oscillated(z.iter().zip(optimum).map(term).sum()).powf(0.9)
            }
            Self::StepEllipsoid { outer } => {
                let stair = |z: &f64| match z.abs() > 0.5 {
                    true => rounded(*z),
                    false => rounded(10.0 * z) / 10.0,
                };
                let stairs: Vec<f64> = z.iter().map(stair).collect();
                let turned: Vec<f64> = outer
                    .iter()
                    .map(|row| row.iter().zip(&stairs).map(|(r, s)| r * s).sum())
                    .collect();
                0.1 * weighted(&turned, 100.0).max(z[0].abs() * 1e-4)
            }
            Self::Rosenbrock => z.windows(2).map(valley).sum(),
            Self::Discus => 1e6 * z[0] * z[0] + z[1..].iter().map(|z| z * z).sum::<f64>(),
            Self::BentCigar => z[0] * z[0] + 1e6 * z[1..].iter().map(|z| z * z).sum::<f64>(),
            Self::SharpRidge => {
                z[0] * z[0] + 100.0 * z[1..].iter().map(|z| z * z).sum::<f64>().sqrt()
            }
            Self::DifferentPowers => {
                let term = |(z, part): (&f64, f64)| z.abs().powf(2.0 + 4.0 * part);
                z.iter().zip(fractions(z.len())).map(term).sum::<f64>().sqrt()
            }
            Self::Weierstrass => weierstrass(z),
            Self::Schaffers => {
                let term = |pair: &[f64]| {
                    let square = pair[0] * pair[0] + pair[1] * pair[1];
                    square.powf(0.25) * (1.0 + (50.0 * square.powf(0.1)).sin().powi(2))
                };
                (z.windows(2).map(term).sum::<f64>() / (z.len() - 1) as f64).powi(2)
            }
            Self::GriewankRosenbrock => {
                let term = |pair: &[f64]| valley(pair) / 4000.0 - valley(pair).cos();
                10.0 + 10.0 * z.windows(2).map(term).sum::<f64>() / (z.len() - 1) as f64
            }
            Self::Schwefel => {
                let sum: f64 = z.iter().map(|z| z * z.abs().sqrt().sin()).sum();
                let outside: f64 = z.iter().map(|z| (z.abs() - 500.0).max(0.0).powi(2)).sum();
                0.01 * (outside + 418.982_887_272_433_9 - sum / z.len() as f64)
            }
            Self::Gallagher(gallagher) => gallagher.value(z),
            Self::Katsuura => katsuura(z),
            Self::Lunacek { matrix } => lunacek(z, matrix),
        }
    }
}

/// Σ conditionᵖ z² with p from 0 to 1.
fn weighted(z: &[f64], condition: f64) -> f64 {
    z.iter().zip(fractions(z.len())).map(|(z, part)| condition.powf(part) * z * z).sum()
}

fn rastrigin(z: &[f64]) -> f64 {
    10.0 * (z.len() as f64 - z.iter().map(|z| (TAU * z).cos()).sum::<f64>())
        + z.iter().map(|z| z * z).sum::<f64>()
}

/// The term of Rosenbrock's function of two neighbours.
fn valley(pair: &[f64]) -> f64 {
    100.0 * (pair[0] * pair[0] - pair[1]).powi(2) + (pair[0] - 1.0).powi(2)
}

fn weierstrass(z: &[f64]) -> f64 {
    const SUMMANDS: i32 = 12;
    let ripple =
        |at: f64| (0..SUMMANDS).map(move |k| 0.5_f64.powi(k) * (TAU * 3.0_f64.powi(k) * at).cos());
    let least: f64 = ripple(0.5).sum();
    let sum: f64 = z.iter().flat_map(|z| ripple(z + 0.5)).sum();
    10.0 * (sum / z.len() as f64 - least).powi(3)
}

fn katsuura(z: &[f64]) -> f64 {
    const SUMMANDS: i32 = 32;
    let dim = z.len() as f64;
    let roughness = |z: f64| -> f64 {
        (1..=SUMMANDS)
            .map(|j| 2.0_f64.powi(j))
            .map(|power| (power * z - rounded(power * z)).abs() / power)
            .sum()
    };
    let factor =
        |(i, z): (usize, &f64)| (1.0 + (i + 1) as f64 * roughness(*z)).powf(10.0 / dim.powf(1.2));
    10.0 / dim / dim * (z.iter().enumerate().map(factor).product::<f64>() - 1.0)
}

/// The centre of the deeper of the two bowls of Lunacek's function.
pub(super) const DEEPER: f64 = 2.5;

fn lunacek(x: &[f64], matrix: &[Vec<f64>]) -> f64 {
    let dim = x.len() as f64;
    let share = 1.0 - 0.5 / ((dim + 20.0).sqrt() - 4.1);
    let other = -((DEEPER * DEEPER - 1.0) / share).sqrt();
    let bowl = |centre: f64| x.iter().map(|x| (x - centre).powi(2)).sum::<f64>();
    let ripple = |row: &Vec<f64>| -> f64 {
        let z: f64 = row.iter().zip(x).map(|(r, x)| r * (x - DEEPER)).sum();
        (2.0 * PI * z).cos()
    };
    let ripples: f64 = matrix.iter().map(ripple).sum();
    bowl(DEEPER).min(dim + share * bowl(other)) + 10.0 * (dim - ripples)
}

/// Halves up, as the benchmark has it.
fn rounded(x: f64) -> f64 {
    (x + 0.5).floor()
}
