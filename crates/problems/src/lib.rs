//! Functions with known minima, for testing and comparing optimisers. The crate knows no optimiser.
//!
//! A [`Problem`] is a function on a box, to be minimised, with its minimum and every point known to attain
//! it. [`problem`] finds one by name, [`names`] lists the families:
//!
//! ```
//! let rosenbrock = wimble_problems::problem("rosenbrock-4")?;
//! assert_eq!(rosenbrock.dim(), 4);
//! assert_eq!(rosenbrock.domain()[0], (-5.0, 10.0));
//! assert_eq!(rosenbrock.evaluate(&[1.0; 4]), rosenbrock.minimum());
//! # Ok::<(), wimble_problems::UnknownProblem>(())
//! ```
//!
//! After a plus sign stand the [`variants`] of any problem, such as `ackley-5+shifted` or `levy-10+rotated+noise-10`.
//!
//! A [`Task`] is more general: variables, some of them in steps, one or more objectives, and constraints that are
//! measured with them. [`task()`] finds every problem and those with several objectives or constraints, which [`tasks`]
//! lists:
//!
//! ```
//! use wimble_problems::Answer;
//!
//! let truss = wimble_problems::task("re21")?;
//! assert_eq!(truss.objectives(), ["volume", "displacement"]);
//! assert_eq!(truss.measure(&[1.0, 2.0, 2.0, 1.0]).objectives.len(), 2);
//! assert!(matches!(truss.answer(), Answer::Front(front) if front.nadir[1] == 0.04));
//! # Ok::<(), wimble_problems::UnknownProblem>(())
//! ```
//!
//! # Design
//! Formulas, coefficients and domains follow Surjanovic and Bingham's *Virtual Library of Simulation
//! Experiments* (Simon Fraser University, 2013), because most tools do and figures can then be compared.
//! Where the library differs from the original article, the module of the function says so. Minima and
//! minimisers are given to full precision, so that a regret can be followed down to rounding; formulas are
//! rearranged where the printed form loses digits near the minimum.

mod catalogue;
mod constrained;
mod name;
mod real_world;
mod stream;

pub mod ackley;
pub mod affine;
pub mod bbob;
pub mod branin;
pub mod camel;
pub mod dtlz;
pub mod ellipsoid;
pub mod goldstein_price;
pub mod griewank;
pub mod hartmann;
pub mod levy;
pub mod michalewicz;
pub mod noisy;
pub mod rastrigin;
pub mod rosenbrock;
pub mod scalable;
pub mod shekel;
pub mod styblinski_tang;
pub mod task;
pub mod variant;
pub mod zdt;

pub use ackley::Ackley;
pub use affine::Affine;
pub use bbob::Bbob;
pub use branin::Branin;
pub use camel::Camel;
pub use catalogue::{Family, MAX_DIM, MAX_OBJECTIVES, Suffix, names, tasks};
pub use dtlz::Dtlz;
pub use ellipsoid::Ellipsoid;
pub use goldstein_price::GoldsteinPrice;
pub use griewank::Griewank;
pub use hartmann::{Hartmann3, Hartmann6};
pub use levy::Levy;
pub use michalewicz::Michalewicz;
pub use name::{UnknownProblem, problem, task};
pub use noisy::Noisy;
pub use rastrigin::Rastrigin;
pub use rosenbrock::Rosenbrock;
pub use scalable::Scalable;
pub use shekel::Shekel;
pub use styblinski_tang::StyblinskiTang;
pub use task::{Answer, Bound, Constraint, KnownFront, Measured, Task, Variable};
pub use variant::{Number, Variant, variants};
pub use zdt::Zdt;

/// A function on a box, to be minimised, whose minimum is known.
pub trait Problem: std::fmt::Debug + Send + Sync {
    /// The name that [`problem`] finds it by, such as `rosenbrock-4`.
    fn name(&self) -> String;

    /// The name for headings and plots, such as `Rosenbrock 4D`.
    fn title(&self) -> String;

    /// The least and the greatest value of each coordinate.
    fn domain(&self) -> &[(f64, f64)];

    /// How many coordinates a point has.
    fn dim(&self) -> usize {
        self.domain().len()
    }

    /// The value at `x`. Outside the domain the formula still holds.
    ///
    /// # Panics
    /// If `x` does not have [`dim`](Self::dim) coordinates.
    fn evaluate(&self, x: &[f64]) -> f64;

    /// The least value on the domain.
    fn minimum(&self) -> f64;

    /// Every point of the domain known to attain the minimum; never empty.
    fn minimisers(&self) -> Vec<Vec<f64>>;

    /// Whether the formula has no lower value outside the domain either.
    fn is_least_everywhere(&self) -> bool {
        true
    }

    /// The standard deviation of an observation's Gaussian noise.
    fn noise(&self) -> f64 {
        0.0
    }

    /// What an experiment sees at `x`: the value with its noise, which depends on the seed and the number of the
    /// evaluation alone, so that every optimiser meets the same.
    ///
    /// # Panics
    /// If `x` does not have [`dim`](Self::dim) coordinates.
    fn observe(&self, x: &[f64], seed: u64, evaluation: u64) -> f64 {
        let value = self.evaluate(x);
        let deviation = self.noise();
        if deviation == 0.0 {
            return value;
        }
        value + deviation * stream::Stream::new("noise", &[seed, evaluation]).gaussian()
    }
}

/// A box whose `dim` sides are all alike.
fn cube(dim: usize, low: f64, high: f64) -> Vec<(f64, f64)> {
    vec![(low, high); dim]
}

/// `x` as an array of the dimension that `problem` has.
#[track_caller]
fn coordinates<'x, const DIM: usize>(problem: &str, x: &'x [f64]) -> &'x [f64; DIM] {
    assert_length(problem, DIM, x);
    x.first_chunk().expect("the length was checked")
}

/// Refuses a point of the wrong dimension: a shorter or longer sum would be a plausible wrong number.
#[track_caller]
fn assert_length(problem: &str, dim: usize, x: &[f64]) {
    assert!(x.len() == dim, "{problem} needs {dim} coordinates, but the point has {}", x.len());
}
