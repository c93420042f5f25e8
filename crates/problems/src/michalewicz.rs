//! Michalewicz's function: steep valleys between plains that say nothing, with steepness m = 10.
//!
//! ```text
//! f(x) = Σ_i g_i(x_i),   g_i(x) = -sin x · sin²⁰(i x² / π)
//! ```
//!
//! Domain: [0, π]^d.
//! Minimum: -1.801303... (d = 2), -4.687658... (5), -9.660151... (10), at one point. No closed form exists;
//! the function is separable, so [`Michalewicz::new`] minimises each term to rounding, for any d.
//!
//! # Design
//! Between two neighbouring zeros of sin(i x²/π), that is on [π√(k/i), π√((k+1)/i)], the term is one
//! valley and log(-g_i) is strictly concave: with u = i x²/π its second derivative is
//! -1/sin² x + (40i/π) (sin u cos u - 2u) / sin² u < 0. So the slope of the logarithm falls through zero
//! once in each valley, where bisection finds it. The deepest valley is the one that starts at or before
//! π/2 and ends after it, k = ⌊i/4⌋: its bottom is the nearest to π/2, where sin x is greatest. A test
//! looks into every valley of every term up to [`MAX_DIM`](crate::MAX_DIM).
//!
//! Source: Z. Michalewicz, *Genetic Algorithms + Data Structures = Evolution Programs*, Springer, 1992;
//! Surjanovic and Bingham, "Michalewicz function".

use std::f64::consts::PI;

use crate::{Problem, assert_length, cube};

/// Michalewicz's function.
#[derive(Debug, Clone)]
pub struct Michalewicz {
    domain: Vec<(f64, f64)>,
    minimum: f64,
    minimiser: Vec<f64>,
}

impl Michalewicz {
    /// Michalewicz's function of `dim` variables; finds its minimum in O(`dim`) time.
    ///
    /// # Panics
    /// If `dim` is 0.
    pub fn new(dim: usize) -> Self {
        assert!(dim >= 1, "Michalewicz's function needs at least 1 variable");
        let minimiser: Vec<f64> = (1..=dim).map(term_minimiser).collect();
        Self { domain: cube(dim, 0.0, PI), minimum: sum(&minimiser), minimiser }
    }
}

impl Problem for Michalewicz {
    fn name(&self) -> String {
        format!("michalewicz-{}", self.dim())
    }

    fn title(&self) -> String {
        format!("Michalewicz {}D", self.dim())
    }

    fn domain(&self) -> &[(f64, f64)] {
        &self.domain
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        assert_length("michalewicz", self.dim(), x);
        sum(x)
    }

    fn minimum(&self) -> f64 {
        self.minimum
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![self.minimiser.clone()]
    }

    /// Beyond [0, π] the steep factor meets the crests of the sine: lower values.
    fn is_least_everywhere(&self) -> bool {
        false
    }
}

/// The whole function: its terms, numbered from 1.
fn sum(x: &[f64]) -> f64 {
    (1..).zip(x).map(|(i, &x)| term(i, x)).sum()
}

/// g_i(x).
fn term(i: usize, x: f64) -> f64 {
    -x.sin() * (i as f64 * x * x / PI).sin().powi(20)
}

/// Where g_i is least on [0, π].
fn term_minimiser(i: usize) -> f64 {
    valley_minimiser(i, i / 4)
}

/// The bottom of valley `k` of g_i: the zero of d/dx log(-g_i), which is positive to the left of it and
/// negative to the right.
fn valley_minimiser(i: usize, k: usize) -> f64 {
    let (mut left, mut right) = (valley_edge(i, k), valley_edge(i, k + 1));
    let slope = |x: f64| {
        let u = i as f64 * x * x / PI;
        1.0 / x.tan() + 40.0 * i as f64 * x / (PI * u.tan())
    };
    loop {
        let middle = 0.5 * (left + right);
        if middle <= left || middle >= right {
            return middle;
        }
        if slope(middle) > 0.0 {
            left = middle;
        } else {
            right = middle;
        }
    }
}

/// The `k`-th zero of sin(i x²/π).
fn valley_edge(i: usize, k: usize) -> f64 {
    PI * (k as f64 / i as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    #[test]
    fn published_minima() {
        for (dim, minimum) in [(2, -1.8013034100985537), (5, -4.687658179), (10, -9.66015171564)] {
            let computed = Michalewicz::new(dim).minimum();
            assert!((computed - minimum).abs() < 1e-9, "{dim}: {computed}");
        }
        // The second term is deepest at π/2, where both sines are 1.
        let second = term_minimiser(2);
        assert!((second - FRAC_PI_2).abs() < 1e-15);
    }

    #[test]
    fn values_by_hand() {
        // sin(π/2) sin²⁰(π/4) = 2⁻¹⁰ in the first term, and 1 in the second.
        let value = Michalewicz::new(2).evaluate(&[FRAC_PI_2, FRAC_PI_2]);
        assert!((value + 1.0 + 1.0 / 1024.0).abs() < 1e-14);
        assert_eq!(Michalewicz::new(3).evaluate(&[0.0; 3]), 0.0);
    }

    #[test]
    fn no_valley_of_any_term_is_deeper() {
        for i in 1..=crate::MAX_DIM {
            let least = term(i, term_minimiser(i));
            for k in 0..i {
                // sin x bounds the depth of a valley, which spares looking into nearly all of them.
                let (left, right) = (valley_edge(i, k), valley_edge(i, k + 1));
                if FRAC_PI_2.clamp(left, right).sin() > -least {
                    assert!(term(i, valley_minimiser(i, k)) >= least, "valley {k} of term {i}");
                }
            }
        }
    }

    #[test]
    fn no_term_goes_lower_on_a_dense_grid() {
        for i in (1..=30).chain([99, 100, 997]) {
            let least = term(i, term_minimiser(i));
            let steps = 2_000 * i;
            for step in 0..=steps {
                let value = term(i, PI * step as f64 / steps as f64);
                assert!(value >= least - 1e-15, "term {i} at step {step}: {value} < {least}");
            }
        }
    }
}
