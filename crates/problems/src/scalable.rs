//! Functions of any number of variables on a cube, with one minimiser whose coordinates are all alike: what differs
//! between them is a [`Formula`], and everything else is said here once.

use std::marker::PhantomData;

use crate::{Problem, assert_length, cube};

/// A formula for any number of variables.
pub trait Formula: std::fmt::Debug + Send + Sync + 'static {
    /// The name of the family, such as `ackley`.
    const NAME: &'static str;
    /// The name for headings, such as `Ackley`.
    const TITLE: &'static str;
    /// The least and the greatest value of every coordinate.
    const SIDE: (f64, f64);
    /// The least number of variables.
    const LEAST: usize = 1;
    /// Every coordinate of the minimiser.
    const MINIMISER: f64 = 0.0;

    /// The value at `x`, which has at least [`LEAST`](Self::LEAST) coordinates.
    fn value(x: &[f64]) -> f64;

    /// The least value in `dim` variables.
    fn minimum(_dim: usize) -> f64 {
        0.0
    }
}

/// The function of a [`Formula`] in a number of variables.
#[derive(Debug, Clone)]
pub struct Scalable<F> {
    domain: Vec<(f64, f64)>,
    formula: PhantomData<F>,
}

impl<F: Formula> Scalable<F> {
    /// The function of `dim` variables.
    ///
    /// # Panics
    /// If `dim` is below [`Formula::LEAST`].
    pub fn new(dim: usize) -> Self {
        assert!(dim >= F::LEAST, "{} needs at least {} variables, not {dim}", F::NAME, F::LEAST);
        Self { domain: cube(dim, F::SIDE.0, F::SIDE.1), formula: PhantomData }
    }
}

impl<F: Formula> Problem for Scalable<F> {
    fn name(&self) -> String {
        format!("{}-{}", F::NAME, self.dim())
    }

    fn title(&self) -> String {
        format!("{} {}D", F::TITLE, self.dim())
    }

    fn domain(&self) -> &[(f64, f64)] {
        &self.domain
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        assert_length(F::NAME, self.dim(), x);
        F::value(x)
    }

    fn minimum(&self) -> f64 {
        F::minimum(self.dim())
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![vec![F::MINIMISER; self.dim()]]
    }
}

#[cfg(test)]
mod tests {
    use crate::Rosenbrock;

    #[test]
    #[should_panic(expected = "rosenbrock needs at least 2 variables, not 1")]
    fn too_few_variables_are_refused() {
        Rosenbrock::new(1);
    }
}
