//! ZDT1, ZDT2 and ZDT3: two objectives in any number of variables from two, with a convex, a concave and a
//! disconnected front.
//!
//! ```text
//! f₁ = x₁,   f₂ = g h(x₁, g),   g = 1 + 9 Σ_{i>1} x_i / (d - 1)
//! h = 1 - √(x₁/g)   |   1 - (x₁/g)²   |   1 - √(x₁/g) - (x₁/g) sin(10π x₁)
//! ```
//!
//! Domain: [0, 1]^d. Front: x₂ = ... = x_d = 0, where g = 1; of ZDT3 only the pieces that fall below all to their left.
//!
//! Scaled hypervolume (see [`KnownFront`]), analytic: ZDT1 1.21 - 1/3, ZDT2 1.21 - 2/3. ZDT3 by quadrature in 40 digits
//! between the ends of its five pieces.
//!
//! Source: E. Zitzler, K. Deb and L. Thiele, "Comparison of multiobjective evolutionary algorithms: empirical results",
//! *Evolutionary Computation* 8, 2000.

use std::borrow::Cow;
use std::f64::consts::PI;

use crate::assert_length;
use crate::task::{Answer, KnownFront, Measured, Task, Variable, numbered};

/// Which of the three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// ZDT1.
    Convex,
    /// ZDT2.
    Concave,
    /// ZDT3.
    Disconnected,
}

/// ZDT1, ZDT2 or ZDT3.
#[derive(Debug, Clone, Copy)]
pub struct Zdt {
    shape: Shape,
    dim: usize,
}

impl Zdt {
    /// The problem of `dim` variables.
    ///
    /// # Panics
    /// If `dim` is below 2.
    pub fn new(shape: Shape, dim: usize) -> Self {
        assert!(dim >= 2, "ZDT problems need at least 2 variables, not {dim}");
        Self { shape, dim }
    }

    fn number(self) -> u8 {
        match self.shape {
            Shape::Convex => 1,
            Shape::Concave => 2,
            Shape::Disconnected => 3,
        }
    }
}

impl Task for Zdt {
    fn name(&self) -> String {
        format!("zdt{}-{}", self.number(), self.dim)
    }

    fn title(&self) -> String {
        format!("ZDT{} {}D", self.number(), self.dim)
    }

    fn variables(&self) -> Vec<Variable> {
        Variable::unit_cube(self.dim)
    }

    fn objectives(&self) -> Vec<Cow<'static, str>> {
        numbered("f", 2).collect()
    }

    fn measure(&self, x: &[f64]) -> Measured {
        assert_length(&self.name(), self.dim, x);
        let g = 1.0 + 9.0 * x[1..].iter().sum::<f64>() / (self.dim - 1) as f64;
        let ratio = x[0] / g;
        let h = match self.shape {
            Shape::Convex => 1.0 - ratio.sqrt(),
            Shape::Concave => 1.0 - ratio * ratio,
            Shape::Disconnected => 1.0 - ratio.sqrt() - ratio * (10.0 * PI * x[0]).sin(),
        };
        Measured { objectives: vec![x[0], g * h], constraints: Vec::new() }
    }

    fn answer(&self) -> Answer {
        let (least, right, hypervolume) = match self.shape {
            Shape::Convex => (0.0, 1.0, 1.21 - 1.0 / 3.0),
            Shape::Concave => (0.0, 1.0, 1.21 - 2.0 / 3.0),
            Shape::Disconnected => {
                (-0.773_369_012_326_640_5, 0.851_832_865_436_413_9, 0.727_452_505_136_601)
            }
        };
        Answer::Front(KnownFront { ideal: vec![0.0, least], nadir: vec![right, 1.0], hypervolume })
    }
}
