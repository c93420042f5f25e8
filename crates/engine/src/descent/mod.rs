//! Descent: rules that turn gradients, or ranks, into steps.

pub mod augmented_lagrangian;
pub mod evolution;
pub mod lbfgs;
pub mod resilient;
pub mod root_mean_square;
