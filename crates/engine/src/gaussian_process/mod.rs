//! Gaussian processes: the posterior, which least squares shares, the marginal likelihood of its
//! hyper-parameters, and regression, which the baselines rest on.

pub mod field;
pub mod joint;
pub mod marginal_likelihood;
pub mod posterior;
pub mod regression;
pub mod tail;

pub use field::Field;
pub use joint::Joint;
pub use marginal_likelihood::MarginalLikelihood;
pub use posterior::{Posterior, Prediction};
pub use regression::{Fitted, Regression, Surrogate, rkhs_norm};
