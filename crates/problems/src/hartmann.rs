//! Hartmann's functions of three and of six variables: four Gaussian wells of unequal depth.
//!
//! ```text
//! f(x) = -Σ_{i≤4} α_i exp(-Σ_j A_ij (x_j - P_ij)²),   α = (1, 1.2, 3, 3.2)
//! ```
//!
//! Domain: [0, 1]³ and [0, 1]⁶.
//! Minimum: -3.862779... and -3.322368..., each at one point. The digits stored solve ∇f = 0 (Newton's
//! method in 50-digit arithmetic).
//!
//! Source: J. K. Hartman, "Some experiments in global optimization", *Naval Research Logistics Quarterly* 20,
//! 1973, with the coefficients of Dixon and Szegő, 1978; Surjanovic and Bingham, "Hartmann 3-D function" and
//! "Hartmann 6-D function". In three variables, Dixon and Szegő print P₄₁ = 0.03815 where the library and
//! this module have 0.0381; theirs would give the minimum -3.862782.

use crate::{Problem, coordinates};

const ALPHA: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const DOMAIN3: [(f64, f64); 3] = [(0.0, 1.0); 3];
const A3: [[f64; 3]; 4] =
    [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]];
const P3: [[f64; 3]; 4] = [
    [0.3689, 0.1170, 0.2673],
    [0.4699, 0.4387, 0.7470],
    [0.1091, 0.8732, 0.5547],
    [0.0381, 0.5743, 0.8828],
];
const MINIMUM3: f64 = -3.8627797873326624;
const MINIMISER3: [f64; 3] = [0.11458887665506896, 0.55564889461693, 0.8525469846866774];

const DOMAIN6: [(f64, f64); 6] = [(0.0, 1.0); 6];
const A6: [[f64; 6]; 4] = [
    [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
    [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
    [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
    [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
];
const P6: [[f64; 6]; 4] = [
    [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
    [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
    [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
    [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
];
const MINIMUM6: f64 = -3.3223680114155147;
const MINIMISER6: [f64; 6] = [
    0.20168951100670543,
    0.15001069182345797,
    0.476873974221897,
    0.2753324304940561,
    0.31165161660011326,
    0.6573005340656203,
];

/// Hartmann's function of three variables.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hartmann3;

/// Hartmann's function of six variables.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hartmann6;

impl Problem for Hartmann3 {
    fn name(&self) -> String {
        "hartmann3".into()
    }

    fn title(&self) -> String {
        "Hartmann 3D".into()
    }

    fn domain(&self) -> &[(f64, f64)] {
        &DOMAIN3
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        wells(coordinates("hartmann3", x), &A3, &P3)
    }

    fn minimum(&self) -> f64 {
        MINIMUM3
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![MINIMISER3.to_vec()]
    }
}

impl Problem for Hartmann6 {
    fn name(&self) -> String {
        "hartmann6".into()
    }

    fn title(&self) -> String {
        "Hartmann 6D".into()
    }

    fn domain(&self) -> &[(f64, f64)] {
        &DOMAIN6
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        wells(coordinates("hartmann6", x), &A6, &P6)
    }

    fn minimum(&self) -> f64 {
        MINIMUM6
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        vec![MINIMISER6.to_vec()]
    }
}

/// The sum of the four wells.
fn wells<const DIM: usize>(x: &[f64; DIM], a: &[[f64; DIM]; 4], p: &[[f64; DIM]; 4]) -> f64 {
    let mut sum = 0.0;
    for i in 0..4 {
        let exponent: f64 = (0..DIM).map(|j| a[i][j] * (x[j] - p[i][j]).powi(2)).sum();
        sum -= ALPHA[i] * (-exponent).exp();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_wells_by_hand() {
        // At the centre of well 4, by the exponents written out; well 2 shares its widths.
        let x = [0.0381, 0.5743, 0.8828];
        let one = 3.0 * 0.3308_f64.powi(2) + 10.0 * 0.4573_f64.powi(2) + 30.0 * 0.6155_f64.powi(2);
        let two = 0.1 * 0.4318_f64.powi(2) + 10.0 * 0.1356_f64.powi(2) + 35.0 * 0.1358_f64.powi(2);
        let three = 3.0 * 0.071_f64.powi(2) + 10.0 * 0.2989_f64.powi(2) + 30.0 * 0.3281_f64.powi(2);
        let expected = -(-one).exp() - 1.2 * (-two).exp() - 3.0 * (-three).exp() - 3.2;
        assert!((Hartmann3.evaluate(&x) - expected).abs() < 1e-14);
    }

    #[test]
    fn six_wells_at_the_published_minimiser() {
        // The six digits that the library prints.
        let x = [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573];
        assert!((Hartmann6.evaluate(&x) + 3.32237).abs() < 5e-6);
        // At the far corner every exponent is beyond 10.
        let corner = Hartmann6.evaluate(&[1.0; 6]);
        assert!(corner < 0.0 && corner > -1e-4, "{corner}");
    }
}
