//! The step rule of SVGD: each coordinate moves by its direction over the root of a running mean square.
//!
//! ```text
//! v ← ρ v + (1 - ρ) ζ²   (v = ζ² at the first step),     x ← x + α ζ / (√v + ε)
//! ```
//!
//! The paper says "Adadelta" with step size α = 0.001 and decay rate ρ = 0.9 (its table of SVGD settings).
//! Adadelta proper has no step size to that effect; the rule here, with ε = 1e-6, is that of the authors'
//! earlier code and of Liu and Wang (2016). Since |ζ| / √v is about 1, α bounds the way of a particle:
//! 1000 steps of 0.001 cross the unit cube once.

/// Keeps a small v from blowing up a step.
const EPSILON: f64 = 1e-6;

/// A running mean square for each coordinate.
#[derive(Debug, Clone)]
pub struct RootMeanSquare {
    step_size: f64,
    decay: f64,
    mean_square: Vec<f64>,
    started: bool,
}

impl RootMeanSquare {
    /// A rule for `len` coordinates with step size α and decay rate ρ.
    pub fn new(len: usize, step_size: f64, decay: f64) -> Self {
        Self { step_size, decay, mean_square: vec![0.0; len], started: false }
    }

    /// Moves `position` along `direction`, uphill, and keeps it in the unit cube by clipping.
    pub fn ascend_in_cube(&mut self, position: &mut [f64], direction: &[f64]) {
        let decay = if self.started { self.decay } else { 0.0 };
        self.started = true;
        let steps = position.iter_mut().zip(direction).zip(&mut self.mean_square);
        for ((x, &direction), mean_square) in steps {
            *mean_square = decay * *mean_square + (1.0 - decay) * direction * direction;
            let step = self.step_size * direction / (mean_square.sqrt() + EPSILON);
            *x = (*x + step).clamp(0.0, 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_are_the_formula() {
        let mut rule = RootMeanSquare::new(1, 0.01, 0.9);
        let mut x = [0.5];
        rule.ascend_in_cube(&mut x, &[2.0]);
        let first = 0.5 + 0.01 * 2.0 / (2.0 + 1e-6);
        assert!((x[0] - first).abs() < 1e-15);
        rule.ascend_in_cube(&mut x, &[-1.0]);
        let v: f64 = 0.9 * 4.0 + 0.1 * 1.0;
        assert!((x[0] - (first - 0.01 / (v.sqrt() + 1e-6))).abs() < 1e-15);
    }

    #[test]
    fn positions_stay_in_the_cube_and_no_direction_means_no_step() {
        let mut rule = RootMeanSquare::new(2, 0.3, 0.9);
        let mut x = [0.9, 0.4];
        for _ in 0..5 {
            rule.ascend_in_cube(&mut x, &[1.0, 0.0]);
        }
        assert_eq!(x, [1.0, 0.4]);
    }
}
