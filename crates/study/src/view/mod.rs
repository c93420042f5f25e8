//! What a page, a picture or a table shows of a study: its trials as columns of numbers, filters over them, and figures as
//! numbers. The page of `wimble serve`, `wimble plot` and `wimble trials --where` prepare their data here.

pub mod axes;
pub mod certificate;
pub mod chronicle;
pub mod figures;
pub mod filter;
#[cfg(test)]
mod fixtures;
pub mod model;
pub mod table;

pub use chronicle::{Chronicle, Standing};
