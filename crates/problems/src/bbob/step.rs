//! Steps from a point of the box to the argument of a formula: shifts, rotations, stretches, and two maps that break
//! symmetry.

/// One map of ℝᵈ to itself.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// x + b.
    Shift(Vec<f64>),
    /// Each coordinate times a factor of its own.
    Stretch(Vec<f64>),
    /// A matrix, by rows.
    Linear(Vec<Vec<f64>>),
    /// Ripples that leave signs and the order of magnitude: T_osz.
    Oscillate,
    /// Positive coordinates to a power that grows with their index: T_asy.
    Asymmetric(f64),
    /// Positive coordinates of even index ten times as far, all by the powers of √10: of the Büche-Rastrigin function.
    Skew,
    /// Every coordinate pulled along by the one before it: of Schwefel's function, with the optimum's size.
    Chain(Vec<f64>),
}

impl Step {
    pub(super) fn apply(&self, x: &mut Vec<f64>) {
        match self {
            Self::Shift(by) => x.iter_mut().zip(by).for_each(|(x, b)| *x += b),
            Self::Stretch(by) => x.iter_mut().zip(by).for_each(|(x, b)| *x *= b),
            Self::Linear(rows) => {
                *x = rows.iter().map(|row| row.iter().zip(&*x).map(|(r, x)| r * x).sum()).collect();
            }
            Self::Oscillate => x.iter_mut().for_each(|x| *x = oscillated(*x)),
            Self::Asymmetric(beta) => {
                let parts: Vec<f64> = fractions(x.len()).collect();
                for (x, part) in x.iter_mut().zip(parts).filter(|(x, _)| **x > 0.0) {
                    *x = x.powf(1.0 + beta * part * x.sqrt());
                }
            }
            Self::Skew => {
                let factors = powers(x.len(), 10.0_f64.sqrt());
                for (i, (x, factor)) in x.iter_mut().zip(factors).enumerate() {
                    let far = *x > 0.0 && i.is_multiple_of(2_usize);
                    *x *= if far { 10.0 * factor } else { factor };
                }
            }
            Self::Chain(size) => {
                let before = x.clone();
                for i in 1..x.len() {
                    x[i] += 0.25 * (before[i - 1] - 2.0 * size[i - 1]);
                }
            }
        }
    }
}

/// T_osz of one number.
pub(super) fn oscillated(x: f64) -> f64 {
    if x == 0.0 {
        return 0.0;
    }
    let log = x.abs().ln() / 0.1;
    let (first, second) = if x > 0.0 { (1.0, 0.79) } else { (0.55, 0.31) };
    let log = log + 0.49 * ((first * log).sin() + (second * log).sin());
    log.exp().powf(0.1).copysign(x)
}

/// 0 to 1 in equal steps, one for each coordinate.
pub(super) fn fractions(dim: usize) -> impl Iterator<Item = f64> {
    (0..dim).map(move |i| i as f64 / (dim - 1) as f64)
}

/// 1 to `base`, each coordinate the same factor more than the one before.
pub(super) fn powers(dim: usize, base: f64) -> Vec<f64> {
    fractions(dim).map(|part| base.powf(part)).collect()
}

/// outer · diag(stretch) · inner, by rows.
pub(super) fn product(outer: &[Vec<f64>], stretch: &[f64], inner: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let entry = |row: &[f64], j: usize| {
        row.iter().zip(stretch).zip(inner).map(|((r, s), inner)| r * s * inner[j]).sum()
    };
    outer.iter().map(|row| (0..row.len()).map(|j| entry(row, j)).collect()).collect()
}
