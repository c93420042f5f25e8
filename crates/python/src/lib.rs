//! The extension module `wimble._wimble`: the engine and the studies for Python.
//!
//! It converts values, lets go of the interpreter while Rust computes or waits, and turns errors into exceptions. What is
//! pleasant to use is written in Python on top of it (`python/wimble`), and what decides anything is in the crates below.
// The macro's own code.
#![allow(unused_qualifications, reason = "pyo3 writes full paths")]

mod error;
mod fixing;
mod forecast;
mod goal;
mod heartbeats;
mod outcome;
mod search;
mod space;
mod study;
mod study_file;
mod trial;
mod value;
mod waiting;
mod wanted;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The command `wimble`. Returns its exit code.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| wimble_cli::main(arguments))
}

/// The names of the methods, each with a line about it.
#[pyfunction]
fn methods() -> Vec<(&'static str, &'static str)> {
    wimble::internals::METHODS.iter().map(|named| (named.name, named.description)).collect()
}

#[pymodule]
mod _wimble {
    use super::*;

    #[pymodule_export]
    use super::search::Search;
    #[pymodule_export]
    use super::space::Space;
    #[pymodule_export]
    use super::study::Study;
    #[pymodule_export]
    use super::study_file::StudyFile;
    #[pymodule_export]
    use super::waiting::ending;
    #[pymodule_export]
    use super::{command, methods};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
