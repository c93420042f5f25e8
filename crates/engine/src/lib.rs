//! Batch Bayesian optimisation by density-ratio estimation: BORE, BORE++ and their batch forms, from
//! "Batch Bayesian optimisation via density-ratio estimation with guarantees" (Oliveira, Tiao and Ramos 2022).
//!
//! # Algorithm 1 in a dozen lines
//! ```
//! use wimble::prelude::*;
//!
//! let space = SearchSpace::new([Dimension::real("x", -2.0, 2.0), Dimension::integer("n", 1, 9)])?;
//! let mut session = Session::new(space, Bore::batch(), Direction::Minimise, Seed(1))?;
//! for _round in 0..3 {
//!     // threshold τ → labels z → classifier π̂ → a batch from p̂ ∝ π̂
//!     for trial in session.ask(10)? {
//!         let (x, n) = (trial.configuration.real("x")?, trial.configuration.real("n")?);
//!         session.tell(trial.id, x * x + (n - 4.0).abs())?;
//!     }
//! }
//! assert!(session.best().is_some_and(|best| best.value < 4.0));
//! # Ok::<(), wimble::Error>(())
//! ```
//!
//! # Order of the data
//! ```text
//! tell: configuration, y ── space ──▶ history (append only)
//! ask:  history ── labels ──▶ classifier ──▶ acquisition ── batch ──▶ points ── space ──▶ configurations
//! ```
//! Each arrow sees only the value on its left: no callbacks, no shared mutability, no clock, no I/O. The same seed
//! and the same evidence give the same batch, on any number of threads, on machines with the same instruction set.

pub mod acquisition;
pub mod batch;
pub mod classifier;
pub mod domain;
pub mod error;
pub mod forecast;
pub mod goal;
pub mod history;
pub mod importance;
pub mod kernel;
pub mod labels;
pub mod outcome;
pub mod points;
pub mod seed;
pub mod session;
pub mod space;
pub mod stopping;
pub mod strategy;
pub mod theory;

mod descent;
mod gaussian_process;
mod levelled;
mod linalg;
mod merit;
mod ranking;
mod violation;

// What follows is public only because the other crates of this workspace, the tests and the benches are crates of their
// own. It is no part of the engine's face, is left out of its documentation, and may change in any version. These modules
// are hidden as a whole; `internals` has single items of modules that are private; and a few items of the modules above are
// hidden where they stand, because no program has to name them: choices that the documentation of a setting lists, and parts of a
// result.
#[doc(hidden)]
pub mod column;
#[doc(hidden)]
pub mod curves;
#[doc(hidden)]
pub mod ledger;
#[doc(hidden)]
pub mod named;
#[doc(hidden)]
pub mod pareto;
#[doc(hidden)]
pub mod portfolio;
#[doc(hidden)]
pub mod standing;

pub use error::{Error, Result};

/// What a program that optimises needs: `use wimble::prelude::*`.
pub mod prelude {
    pub use crate::batch::{Ascent, Candidates, Independent, Softmax, SteinNewton, Svgd, Thompson};
    pub use crate::classifier::{
        BayesianLogistic, Boosting, Confidence, Ensemble, Forest, LeastSquares, Perceptron, Target,
    };
    pub use crate::forecast::Forecast;
    pub use crate::goal::{Bound, Constraint, Direction, Fidelity, Goal, Objective};
    pub use crate::labels::{Threshold, Weights};
    pub use crate::outcome::{Failure, Measured, Measurement, Outcome};
    pub use crate::seed::Seed;
    pub use crate::session::{Best, Front, Session, Trial};
    pub use crate::space::{Configuration, Dimension, SearchSpace, Value};
    pub use crate::stopping::{Rule, Stopping, Verdict};
    pub use crate::strategy::{
        Auto, Bore, BorePlusPlus, CmaEs, Ehvi, GpEi, GpUcb, Grid, LpEi, Nsga2, QEi, Random, Sobol,
        Spec, Strategy, Tpe,
    };
}

#[doc(hidden)]
pub mod internals {
    pub use crate::gaussian_process::regression::rkhs_norm;
    pub use crate::named::serde_words::serde_words;
    pub use crate::named::spelling::{edits, nearest};
    pub use crate::pareto::scalarisation::Scalarisation;
    pub use crate::seed::draw::{below, uniform};
    pub use crate::seed::fnv::fnv1a;
    pub use crate::strategy::spec::names::{CLASSIFIERS, METHODS, RULES};
    pub use crate::strategy::spec::{BorePlusPlusSpec, BoreSpec};
    pub use crate::theory::uniform_boundary::uniform_boundary;

    /// The normal distribution.
    pub mod normal {
        pub use crate::theory::normal::{cumulative, density, quantile};
    }
}

/// The README and the guide, whose code is compiled and run with the documentation tests.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide/spaces.md")]
    struct Spaces;
    #[doc = include_str!("../../../docs/guide/methods.md")]
    struct Methods;
    #[doc = include_str!("../../../docs/guide/auto.md")]
    struct AutoGuide;
    #[doc = include_str!("../../../docs/guide/sessions.md")]
    struct Sessions;
    #[doc = include_str!("../../../docs/guide/objectives.md")]
    struct Objectives;
    #[doc = include_str!("../../../docs/guide/curves.md")]
    struct Curves;
    #[doc = include_str!("../../../docs/guide/theory.md")]
    struct Theory;
}
