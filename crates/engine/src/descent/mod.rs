//! Descent: rules that turn gradients into steps.

pub mod lbfgs;
pub mod root_mean_square;
