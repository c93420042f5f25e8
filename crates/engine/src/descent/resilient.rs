//! Resilient steps (iRprop⁻, Igel and Hüsken 2000): each coordinate moves by a step of its own, whose length depends on
//! the signs of its slopes alone.
//!
//! ```text
//! same sign as before: step ← min(1.2 step, most)      other sign: step ← ½ step, and no move this time
//! ```
//!
//! Made for functions whose slopes differ by orders of magnitude from one coordinate to the next, and where only a few
//! gradients can be afforded: there is no line search, and the state carries over to the next call.
//!
//! Cost: O(d) a step. A slope that is not finite moves nothing.

/// The step lengths and the last slopes.
#[derive(Debug, Clone, PartialEq)]
pub struct Resilient {
    steps: Vec<f64>,
    slopes: Vec<f64>,
    most: f64,
}

impl Resilient {
    /// Steps that begin at `steps`, one a coordinate, and grow to `most` times the longest of them.
    pub fn new(steps: Vec<f64>, most: f64) -> Self {
        let most = most * steps.iter().copied().fold(0.0, f64::max);
        Self { slopes: vec![0.0; steps.len()], steps, most }
    }

    /// Moves `position` uphill.
    pub fn ascend(&mut self, position: &mut [f64], gradient: &[f64]) {
        for (((x, &slope), step), last) in
            position.iter_mut().zip(gradient).zip(&mut self.steps).zip(&mut self.slopes)
        {
            if !slope.is_finite() {
                continue;
            }
            let turn = slope * *last;
            *last = slope;
            if turn < 0.0 {
                *step *= 0.5;
                *last = 0.0;
                continue;
            }
            if turn > 0.0 {
                *step = (1.2 * *step).min(self.most);
            }
            if slope != 0.0 {
                *x += *step * slope.signum();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_the_rule() {
        let mut rule = Resilient::new(vec![0.1, 0.1], 10.0);
        let mut x = [0.0, 0.0];
        rule.ascend(&mut x, &[3.0, -1e-9]);
        assert_eq!(x, [0.1, -0.1]);
        rule.ascend(&mut x, &[2.0, 5.0]);
        assert!((x[0] - 0.22).abs() < 1e-15 && x[1] == -0.1, "{x:?}");
        // After a turn the shorter step is taken whatever the sign.
        rule.ascend(&mut x, &[f64::NAN, 5.0]);
        assert!((x[0] - 0.22).abs() < 1e-15 && (x[1] + 0.05).abs() < 1e-15, "{x:?}");
    }

    #[test]
    fn an_ill_conditioned_bowl_is_climbed_down_coordinate_by_coordinate() {
        let mut rule = Resilient::new(vec![0.2; 2], 10.0);
        let mut x = [0.9, -0.7];
        for _ in 0..80 {
            let gradient = [-2.0 * x[0], -2e8 * (x[1] - 0.3)];
            rule.ascend(&mut x, &gradient);
        }
        assert!(x[0].abs() < 1e-4 && (x[1] - 0.3).abs() < 1e-4, "{x:?}");
    }
}
