//! A symmetric positive-definite matrix, factored at once and as it is: no jitter, and a refusal if a pivot is not positive.
//!
//! [`Cholesky`](super::Cholesky) is for factors that grow and must not fail; this one is for matrices of which it is not known
//! whether they are definite.
//!
//! Cost: O(n³/3) to factor and to invert the factor, O(n²) a solve.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::{Mat, Par};

/// The factor L of A = LLᵀ.
#[derive(Debug, Clone)]
pub struct Definite(Mat<f64>);

impl Definite {
    /// Factors a matrix of n rows, whose lower triangle is `entry(i, j)`, j ≤ i; `None` if it is not positive definite.
    pub fn factor(n: usize, entry: impl Fn(usize, usize) -> f64) -> Option<Self> {
        let mut matrix = Mat::<f64>::zeros(n, n);
        for j in 0..n {
            let column = &mut matrix.col_as_slice_mut(j)[j..];
            column.iter_mut().zip(j..).for_each(|(target, i)| *target = entry(i, j));
        }
        let need = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let mut memory = MemBuffer::new(need);
        let no_regularization = Default::default();
        llt::factor::cholesky_in_place(
            matrix.as_mut(),
            no_regularization,
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .ok()?;
        // An entry that is not finite makes pivots that are not, which pass for positive.
        (0..n).all(|i| matrix[(i, i)].is_finite()).then_some(Self(matrix))
    }

    /// Replaces b by A⁻¹b.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.0.nrows();
        assert_eq!(b.len(), n, "the right-hand side must have one entry a row");
        for j in 0..n {
            let column = &self.0.col_as_slice(j)[j..];
            b[j] /= column[0];
            let known = b[j];
            b[j + 1..].iter_mut().zip(&column[1..]).for_each(|(b, l)| *b -= l * known);
        }
        for j in (0..n).rev() {
            let column = &self.0.col_as_slice(j)[j..];
            let sum: f64 = column[1..].iter().zip(&b[j + 1..]).map(|(l, b)| l * b).sum();
            b[j] = (b[j] - sum) / column[0];
        }
    }

    /// Lb, which turns independent normal numbers of variance 1 into a draw with the covariance A.
    pub fn times_lower(&self, b: &[f64]) -> Vec<f64> {
        let n = self.0.nrows();
        assert_eq!(b.len(), n, "the vector must have one entry a row");
        let mut product = vec![0.0; n];
        for (j, entry) in b.iter().enumerate() {
            let column = &self.0.col_as_slice(j)[j..];
            product[j..].iter_mut().zip(column).for_each(|(sum, l)| *sum += l * entry);
        }
        product
    }

    /// The columns of L⁻¹, from the diagonal on.
    pub fn inverse_factor(&self) -> InverseFactor {
        let n = self.0.nrows();
        let mut inverse = Mat::<f64>::zeros(n, n);
        invert_lower_triangular(inverse.as_mut(), self.0.as_ref(), Par::Seq);
        InverseFactor(inverse)
    }
}

/// L⁻¹ of A = LLᵀ.
#[derive(Debug, Clone)]
pub struct InverseFactor(Mat<f64>);

impl InverseFactor {
    /// The entries of column j from row j on; those above are zero.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.0.col_as_slice(j)[j..]
    }

    /// The entry in row i and column j ≤ i.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.0[(i, j)]
    }

    /// The diagonal of A⁻¹ = L⁻ᵀL⁻¹.
    pub fn diagonal_of_inverse(&self) -> Vec<f64> {
        let square = |j: usize| self.column(j).iter().map(|l| l * l).sum();
        (0..self.0.ncols()).map(square).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [[f64; 3]; 3] = [[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 2.0]];

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix() {
        let factor = Definite::factor(3, |i, j| A[i][j]).unwrap();
        // Columns of L, as its products with unit vectors.
        let columns = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let columns = columns.map(|unit| factor.times_lower(&unit));
        for (i, row) in A.iter().enumerate() {
            for (j, entry) in row.iter().enumerate() {
                let product: f64 = columns.iter().map(|column| column[i] * column[j]).sum();
                assert!((product - entry).abs() < 1e-13);
            }
        }
        assert_eq!(factor.times_lower(&[1.0, 0.0, 0.0])[0], 2.0);
    }

    #[test]
    fn solving_and_the_inverse_agree() {
        let factor = Definite::factor(3, |i, j| A[i][j]).unwrap();
        let inverse = factor.inverse_factor();
        for k in 0..3 {
            let mut x = [0.0; 3];
            x[k] = 1.0;
            factor.solve(&mut x);
            for (i, row) in A.iter().enumerate() {
                let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                assert!((product - f64::from(u8::from(i == k))).abs() < 1e-13);
            }
            assert!((inverse.diagonal_of_inverse()[k] - x[k]).abs() < 1e-13);
        }
        assert_eq!(inverse.entry(2, 1), inverse.column(1)[1]);
    }

    #[test]
    fn what_is_not_definite_is_refused() {
        assert!(Definite::factor(2, |i, j| [[1.0, 2.0], [2.0, 1.0]][i][j]).is_none());
        assert!(Definite::factor(1, |_, _| f64::NAN).is_none());
        assert!(Definite::factor(0, |_, _| 1.0).is_some());
    }
}
