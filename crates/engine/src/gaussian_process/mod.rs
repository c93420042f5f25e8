//! Gaussian processes: the posterior, which least squares shares, the marginal likelihood of its
//! hyper-parameters, and regression, which the baselines rest on.

mod field;
pub(crate) mod joint;
pub(crate) mod marginal_likelihood;
mod posterior;
pub(crate) mod regression;
pub(crate) mod tail;

pub(crate) use field::Field;
pub use marginal_likelihood::MarginalLikelihood;
pub(crate) use posterior::Posterior;
pub(crate) use posterior::Prediction;
pub(crate) use regression::Surrogate;
pub use regression::{Fitted, Regression};
