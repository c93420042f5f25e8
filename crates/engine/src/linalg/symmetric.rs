//! Eigenvalues and eigenvectors of a symmetric matrix.
//!
//! Cost: O(n³). Fails if the matrix has an entry that is not finite.

use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};

/// Eigenvalues in ascending order, and their vectors of unit length one after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Eigen {
    /// The eigenvalues.
    pub values: Vec<f64>,
    /// The eigenvectors.
    pub vectors: Vec<f64>,
}

/// The eigenvalues and eigenvectors of a symmetric matrix of `n` rows; `None` if they cannot be found.
pub fn eigen(matrix: &[f64], n: usize) -> Option<Eigen> {
    assert_eq!(matrix.len(), n * n, "the matrix must be square");
    if !matrix.iter().all(|entry| entry.is_finite()) {
        return None;
    }
    let matrix = Mat::from_fn(n, n, |i, j| matrix[i * n + j]);
    let (mut values, mut vectors) = (Diag::<f64>::zeros(n), Mat::<f64>::zeros(n, n));
    let params = Spec::default();
    let need = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
    let mut memory = MemBuffer::new(need);
    self_adjoint_evd(
        matrix.as_ref(),
        values.as_mut(),
        Some(vectors.as_mut()),
        Par::Seq,
        MemStack::new(&mut memory),
        params,
    )
    .ok()?;
    let column = values.column_vector();
    Some(Eigen {
        values: (0..n).map(|k| column[k]).collect(),
        vectors: (0..n).flat_map(|k| vectors.col_as_slice(k).to_vec()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_matrix_is_the_sum_of_its_parts() {
        let a = [4.0, 1.0, -2.0, 1.0, 3.0, 0.5, -2.0, 0.5, 1.0];
        let Eigen { values, vectors } = eigen(&a, 3).unwrap();
        assert!(values.is_sorted());
        for i in 0..3 {
            for j in 0..3 {
                let sum: f64 =
                    (0..3).map(|k| values[k] * vectors[3 * k + i] * vectors[3 * k + j]).sum();
                assert!((sum - a[3 * i + j]).abs() < 1e-12);
            }
        }
        assert!(eigen(&[f64::NAN], 1).is_none());
    }
}
