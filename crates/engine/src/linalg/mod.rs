//! Dense linear algebra: what kernel methods need of it, and no more.
//!
//! Everything runs on one thread: the bits of a result must not depend on how many there are.

mod cholesky;
pub mod definite;
pub mod symmetric;

pub use cholesky::Cholesky;
pub(crate) use cholesky::JITTERS;
