//! Shekel's foxholes in four variables: m wells, each deeper or shallower by its β.
//!
//! ```text
//! f(x) = -Σ_{i≤m} 1 / (β_i + Σ_j (x_j - C_ij)²)
//! ```
//!
//! Domain: [0, 10]⁴, with m = 5, 7 or 10.
//! Minimum: -10.153199... (m = 5), -10.402915... (7), -10.536443... (10), near (4, 4, 4, 4). The digits
//! stored solve ∇f = 0 (Newton's method in 50-digit arithmetic).
//!
//! Source: J. Shekel, "Test functions for multimodal search techniques", *Fifth Annual Princeton Conference
//! on Information Science and Systems*, 1971; Surjanovic and Bingham, "Shekel function". Dixon and Szegő,
//! 1978, put the seventh well at (5, 5, 3, 3), the library and this module at (5, 3, 5, 3); theirs would give
//! -10.402941 (m = 7) and -10.536410 (m = 10).

use crate::{Problem, coordinates};

const DOMAIN: [(f64, f64); 4] = [(0.0, 10.0); 4];
const BETA: [f64; 10] = [0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5];
const CENTRES: [[f64; 4]; 10] = [
    [4.0, 4.0, 4.0, 4.0],
    [1.0, 1.0, 1.0, 1.0],
    [8.0, 8.0, 8.0, 8.0],
    [6.0, 6.0, 6.0, 6.0],
    [3.0, 7.0, 3.0, 7.0],
    [2.0, 9.0, 2.0, 9.0],
    [5.0, 3.0, 5.0, 3.0],
    [8.0, 1.0, 8.0, 1.0],
    [6.0, 2.0, 6.0, 2.0],
    [7.0, 3.6, 7.0, 3.6],
];

/// Shekel's function of four variables.
#[derive(Debug, Clone, Copy)]
pub struct Shekel {
    wells: usize,
    minimum: f64,
    /// The first two coordinates of the minimiser; the other two repeat them, as every well's do.
    minimiser: [f64; 2],
}

impl Shekel {
    /// Shekel's function with `wells` wells.
    ///
    /// # Panics
    /// If `wells` is not 5, 7 or 10.
    pub fn new(wells: usize) -> Self {
        let (minimum, minimiser) = match wells {
            5 => (-10.153199679058227, [4.000037152819676, 4.00013327659156]),
            7 => (-10.402915336777744, [4.000572819251117, 3.9996062096096887]),
            10 => (-10.536443153483528, [4.000746868270634, 3.9995094800857736]),
            _ => panic!("Shekel's function has 5, 7 or 10 wells, not {wells}"),
        };
        Self { wells, minimum, minimiser }
    }
}

impl Default for Shekel {
    /// The function with all ten wells.
    fn default() -> Self {
        Self::new(10)
    }
}

impl Problem for Shekel {
    fn name(&self) -> String {
        if self.wells == 10 { "shekel".into() } else { format!("shekel-{}", self.wells) }
    }

    fn title(&self) -> String {
        format!("Shekel {}", self.wells)
    }

    fn domain(&self) -> &[(f64, f64)] {
        &DOMAIN
    }

    fn evaluate(&self, x: &[f64]) -> f64 {
        let x: &[f64; 4] = coordinates("shekel", x);
        let depth = |(beta, centre): (&f64, &[f64; 4])| {
            let distance: f64 = x.iter().zip(centre).map(|(x, c)| (x - c).powi(2)).sum();
            1.0 / (beta + distance)
        };
        -BETA.iter().zip(&CENTRES).take(self.wells).map(depth).sum::<f64>()
    }

    fn minimum(&self) -> f64 {
        self.minimum
    }

    fn minimisers(&self) -> Vec<Vec<f64>> {
        let [odd, even] = self.minimiser;
        vec![vec![odd, even, odd, even]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_by_hand() {
        // At the first centre: squared distances 36, 64, 16, 20 to the next four.
        let five = 10.0 + 1.0 / 36.2 + 1.0 / 64.2 + 1.0 / 16.4 + 1.0 / 20.4;
        assert!((Shekel::new(5).evaluate(&[4.0; 4]) + five).abs() < 1e-14);
        // Then 58 and 4.
        let seven = five + 1.0 / 58.6 + 1.0 / 4.3;
        assert!((Shekel::new(7).evaluate(&[4.0; 4]) + seven).abs() < 1e-14);
        // Then 50, 16 and 18.32.
        let ten = seven + 1.0 / 50.7 + 1.0 / 16.5 + 1.0 / 18.82;
        assert!((Shekel::default().evaluate(&[4.0; 4]) + ten).abs() < 1e-13);
    }

    #[test]
    #[should_panic(expected = "5, 7 or 10 wells, not 6")]
    fn six_wells_are_refused() {
        Shekel::new(6);
    }
}
