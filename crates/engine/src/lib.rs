//! Batch Bayesian optimisation by density-ratio estimation.

pub mod acquisition;
pub mod batch;
pub mod classifier;
pub mod descent;
pub mod domain;
pub mod error;
pub mod gaussian_process;
pub mod history;
pub mod kernel;
pub mod labels;
pub mod linalg;
pub mod points;
pub mod ranking;
pub mod seed;
pub mod session;
pub mod space;
pub mod strategy;
pub mod theory;

pub use error::{Error, Result};
