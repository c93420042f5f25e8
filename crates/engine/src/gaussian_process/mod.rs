//! Gaussian processes: the posterior, which least squares shares, and the marginal likelihood of its
//! hyper-parameters.

pub mod marginal_likelihood;
pub mod posterior;

pub use marginal_likelihood::MarginalLikelihood;
pub use posterior::{Posterior, Prediction};
