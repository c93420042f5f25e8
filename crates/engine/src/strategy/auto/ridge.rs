//! Polynomials of degree two or four by weighted ridge regression in dual form, chosen by their leave-one-out error.
//!
//! ```text
//! y = Kα + ε,     α = (K + λN)⁻¹ y,     K = 100 + 10 z·z' + further terms
//! ```
//!
//! The further terms are a full square, s (z·z')², one without mixed terms, s Σₖ zₖ² z'ₖ², or those of degree two to four,
//! (z·z')² + (z·z')³ + (z·z')⁴. N holds how far each point is disbelieved. The residual at a
//! point left out of the fit needs no second fit:
//!
//! ```text
//! yᵢ - ŷ₋ᵢ(zᵢ) = αᵢ / ((K + λN)⁻¹)ᵢᵢ
//! ```
//!
//! Dual, because there are often fewer points than the (d + 1)(d + 2)/2 coefficients. A constant costs a hundredth and a slope a
//! tenth of what curvature costs: with few points the polynomial stays close to a plane.
//!
//! Cost for n points: O(2n³/3) a fit.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};

use crate::linalg::definite::Definite;
use crate::points::Points;

/// The weights of constant and slope in the kernel.
const CONSTANT: f64 = 100.0;
const SLOPE: f64 = 10.0;

/// The terms of degree two and more, with their weight in the kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Terms {
    /// All products of two coordinates.
    Full(f64),
    /// The squares of coordinates alone.
    Diagonal(f64),
    /// All products of two, three and four coordinates.
    Quartic,
}

/// The kernel of degree four and its first two derivatives, as functions of u = z·z'.
pub(super) fn quartic(u: f64) -> [f64; 3] {
    [
        CONSTANT + u * (SLOPE + u * (1.0 + u * (1.0 + u))),
        SLOPE + u * (2.0 + u * (3.0 + u * 4.0)),
        2.0 + u * (6.0 + u * 12.0),
    ]
}

/// Polynomials in some coordinates z.
#[derive(Debug, Clone)]
pub(super) struct Polynomials<'a> {
    /// The points in these coordinates.
    pub(super) points: &'a Points,
    pub(super) terms: Terms,
}

/// A polynomial that was fitted.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ridge {
    /// α, the weight of each trial in the kernel expansion.
    pub(super) weights: Vec<f64>,
    /// yᵢ - ŷ₋ᵢ(zᵢ).
    pub(super) left_out: Vec<f64>,
}

/// Of several kinds of polynomials with several ridges λ, the place of the kind and the fit with the least weighted
/// leave-one-out error; `disbelief(λ, i, Kᵢᵢ)` is λNᵢᵢ.
pub(super) fn least_error(
    kinds: &[Polynomials<'_>],
    ridges: &[f64],
    disbelief: impl Fn(f64, usize, f64) -> f64,
    weights: &[f64],
    values: &[f64],
) -> Option<(usize, Ridge)> {
    let mut winner: Option<(f64, usize, Ridge)> = None;
    for (kind, polynomials) in kinds.iter().enumerate() {
        let kernel = polynomials.kernel();
        for &ridge in ridges {
            let disbelief: Vec<f64> =
                (0..values.len()).map(|i| disbelief(ridge, i, kernel[(i, i)])).collect();
            let Some(fit) = Polynomials::fit(&kernel, &disbelief, values) else { continue };
            let error: f64 = fit.left_out.iter().zip(weights).map(|(r, w)| w * r * r).sum();
            if error.is_finite() && winner.as_ref().is_none_or(|winner| error < winner.0) {
                winner = Some((error, kind, fit));
            }
        }
    }
    winner.map(|(_, kind, fit)| (kind, fit))
}

/// The slope and the curvature, by rows, at z = 0.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Taylor {
    pub(super) gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
}

impl Polynomials<'_> {
    /// The kernel matrix K of the points.
    fn kernel(&self) -> Mat<f64> {
        let (n, dim) = (self.points.len(), self.points.dim());
        let gram = |rows: &[f64]| {
            let columns = MatRef::from_column_major_slice(rows, dim, n);
            let mut gram = Mat::<f64>::zeros(n, n);
            matmul(gram.as_mut(), Accum::Replace, columns.transpose(), columns, 1.0, Par::Seq);
            gram
        };
        let mut kernel = gram(self.points.as_slice());
        let squares = match self.terms {
            Terms::Full(_) | Terms::Quartic => None,
            Terms::Diagonal(_) => {
                let squares: Vec<f64> = self.points.as_slice().iter().map(|z| z * z).collect();
                Some(gram(&squares))
            }
        };
        for j in 0..n {
            for (i, entry) in kernel.col_as_slice_mut(j).iter_mut().enumerate() {
                let square = match (self.terms, &squares) {
                    (Terms::Diagonal(weight), Some(squares)) => weight * squares[(i, j)],
                    (Terms::Full(weight) | Terms::Diagonal(weight), _) => weight * *entry * *entry,
                    (Terms::Quartic, _) => {
                        *entry = quartic(*entry)[0];
                        continue;
                    }
                };
                *entry = CONSTANT + SLOPE * *entry + square;
            }
        }
        kernel
    }

    /// The fit to `values`, with `disbelief`ᵢ = λNᵢᵢ; `None` if it is singular to rounding.
    fn fit(kernel: &Mat<f64>, disbelief: &[f64], values: &[f64]) -> Option<Ridge> {
        let n = values.len();
        let entry = |i: usize, j: usize| kernel[(i, j)] + if i == j { disbelief[i] } else { 0.0 };
        let factor = Definite::factor(n, entry)?;
        let mut weights = values.to_vec();
        factor.solve(&mut weights);
        let diagonal = factor.inverse_factor().diagonal_of_inverse();
        let left_out: Vec<f64> = weights.iter().zip(&diagonal).map(|(a, d)| a / d).collect();
        left_out.iter().all(|r| r.is_finite()).then_some(Ridge { weights, left_out })
    }

    /// Slope and curvature of a fit.
    pub(super) fn taylor(&self, ridge: &Ridge) -> Taylor {
        let dim = self.points.dim();
        let mut taylor = Taylor { gradient: vec![0.0; dim], hessian: vec![0.0; dim * dim] };
        for (z, weight) in self.points.rows().zip(&ridge.weights) {
            taylor.gradient.iter_mut().zip(z).for_each(|(g, z)| *g += SLOPE * weight * z);
            match self.terms {
                // Terms of higher degree have no curvature at 0.
                Terms::Full(_) | Terms::Quartic => {
                    let square = if let Terms::Full(square) = self.terms { square } else { 1.0 };
                    for (row, a) in taylor.hessian.chunks_exact_mut(dim).zip(z) {
                        row.iter_mut()
                            .zip(z)
                            .for_each(|(h, b)| *h += 2.0 * square * weight * a * b);
                    }
                }
                Terms::Diagonal(square) => {
                    for (k, z) in z.iter().enumerate() {
                        taylor.hessian[k * dim + k] += 2.0 * square * weight * z * z;
                    }
                }
            }
        }
        taylor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};

    fn data(n: usize) -> (Points, Vec<f64>) {
        let mut rng = Seed(4).stream("ridge", 0);
        let points =
            Points::from_rows(3, (0..n).map(|_| [(); 3].map(|()| 2.0 * uniform(&mut rng) - 1.0)));
        let value = |x: &[f64]| 2.0 + x[0] - 3.0 * x[1] + x[0] * x[1] + 4.0 * x[2] * x[2];
        let values = points.rows().map(value).collect();
        (points, values)
    }

    #[test]
    fn a_residual_left_out_is_that_of_a_fit_without_the_point() {
        let (points, values) = data(17);
        let disbelief: Vec<f64> = (0..17).map(|i| 0.01 + 0.02 * f64::from(i)).collect();
        for terms in [Terms::Full(1.0), Terms::Diagonal(3.0), Terms::Quartic] {
            let all = Polynomials { points: &points, terms };
            let kernel = all.kernel();
            let ridge = Polynomials::fit(&kernel, &disbelief, &values).unwrap();
            for out in 0..17 {
                let keep: Vec<usize> = (0..17).filter(|i| *i != out).collect();
                let few = Points::from_rows(3, keep.iter().map(|&i| points.row(i)));
                let few_kernel = Polynomials { points: &few, terms }.kernel();
                let few_disbelief: Vec<f64> = keep.iter().map(|&i| disbelief[i]).collect();
                let few_values: Vec<f64> = keep.iter().map(|&i| values[i]).collect();
                let naive = Polynomials::fit(&few_kernel, &few_disbelief, &few_values).unwrap();
                let predicted: f64 =
                    keep.iter().zip(&naive.weights).map(|(&i, a)| kernel[(out, i)] * a).sum();
                let expected = values[out] - predicted;
                assert!((ridge.left_out[out] - expected).abs() < 1e-9, "{out} {expected}");
            }
        }
    }

    #[test]
    fn the_derivatives_of_the_kernel_of_degree_four_are_those_of_finite_differences() {
        for u in [-1.3, -0.4, 0.0, 0.7, 1.9] {
            let [_, slope, curvature] = quartic(u);
            let (above, below) = (quartic(u + 1e-6), quartic(u - 1e-6));
            assert!((slope - (above[0] - below[0]) / 2e-6).abs() < 1e-6, "{u}");
            assert!((curvature - (above[1] - below[1]) / 2e-6).abs() < 1e-6, "{u}");
        }
    }

    #[test]
    fn slope_and_curvature_are_those_of_the_polynomial() {
        let (points, values) = data(30);
        let full = Polynomials { points: &points, terms: Terms::Full(1.0) };
        let ridge = Polynomials::fit(&full.kernel(), &[1e-9; 30], &values).unwrap();
        let Taylor { gradient, hessian } = full.taylor(&ridge);
        let expected = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 8.0];
        for (g, e) in gradient.iter().zip([1.0, -3.0, 0.0]) {
            assert!((g - e).abs() < 1e-6, "{gradient:?}");
        }
        for (h, e) in hessian.iter().zip(expected) {
            assert!((h - e).abs() < 1e-6, "{hessian:?}");
        }
        let four = Polynomials { points: &points, terms: Terms::Quartic };
        let ridge = Polynomials::fit(&four.kernel(), &[1e-9; 30], &values).unwrap();
        let at_zero = four.taylor(&ridge);
        assert!((at_zero.gradient[1] + 3.0).abs() < 0.5, "{at_zero:?}");
        // Without mixed terms, x₀x₁ cannot be seen, but the square can.
        let diagonal = Polynomials { points: &points, terms: Terms::Diagonal(3.0) };
        let ridge = Polynomials::fit(&diagonal.kernel(), &[1e-3; 30], &values).unwrap();
        let Taylor { hessian, .. } = diagonal.taylor(&ridge);
        assert!(hessian[1] == 0.0 && (hessian[8] - 8.0).abs() < 1.0, "{hessian:?}");
    }
}
