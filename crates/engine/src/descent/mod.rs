//! Descent: rules that turn gradients into steps.

pub mod lbfgs;
