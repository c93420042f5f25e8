//! Studies: trials that outlive the process, shared by many workers.
//!
//! A [`Study`] asks and tells like a session of the engine, but keeps its trials in a [`store::Store`]. Any number of
//! threads and processes may work on one study. Each may die at any moment: nothing that was acknowledged is lost or
//! done twice. The module [`store`] states the contract.
//!
//! ```
//! use std::sync::Arc;
//! use wimble::prelude::*;
//! use wimble_study::{Memory, Settings, Study, SystemClock};
//!
//! let space = SearchSpace::new([Dimension::real("x", -2.0, 2.0)])?;
//! let store = Arc::new(Memory::new(SystemClock));
//! let study = Study::open_or_create(store, Settings::new("parabola", space, "sobol".parse()?).budget(8))?;
//! let mut key = 0;
//! loop {
//!     key += 1;
//!     let claims = study.ask("worker-1", &format!("ask-{key}"), 1)?;
//!     let Some(claim) = claims.first() else { break };
//!     let x = claim.configuration.real("x")?;
//!     study.tell(claim.token, &(x * x).into(), "told")?;
//! }
//! assert!(study.best()?.is_some_and(|best| best.value < 1.0));
//! # Ok::<(), wimble_study::Error>(())
//! ```

#![cfg_attr(
    not(all(feature = "postgres", feature = "sqlite")),
    allow(dead_code, reason = "some code serves only the back ends that are left out")
)]

// Files that other crates include name this one as they do.
#[cfg(test)]
extern crate self as wimble_study;

pub mod addition;
pub mod advice;
pub mod attributes;
pub mod clock;
pub mod copy;
pub mod counts;
mod crowd;
pub mod diagnosis;
mod difference;
pub mod error;
pub mod exchange;
pub mod extension;
mod fingerprint;
pub mod follower;
pub mod front;
pub mod lessons;
pub mod named_values;
pub mod neighbours;
pub mod note;
pub mod notice;
mod random;
pub mod runner;
pub mod settings;
pub mod step;
pub mod store;
pub mod study;
pub mod study_file;
pub mod trial;
mod utc;
pub mod view;

pub use addition::Addition;
pub use advice::{Advice, StopWhen, advise};
pub use attributes::Attributes;
pub use clock::{Clock, ManualClock, SystemClock, Timestamp};
pub use copy::{Copied, copy};
pub use counts::Counts;
pub use diagnosis::{Condition, Diagnosis, Holding, StudyHealth};
pub use error::{Error, Result};
pub use extension::{Extended, Extension};
pub use follower::{Follower, Progress};
pub use front::Front;
pub use lessons::Lessons;
pub use named_values::NamedValues;
pub use neighbours::{Neighbour, Neighbours};
pub use note::Note;
pub use settings::{EngineSpan, Record, Settings};
pub use step::{Report, Step};
pub use store::address::{Address, open};
pub use store::http::Http;
pub use store::memory::Memory;
#[cfg(feature = "postgres")]
pub use store::postgres::Postgres;
#[cfg(feature = "sqlite")]
pub use store::sqlite::Sqlite;
pub use store::{Filter, Reader, Refused, Stage, Store};
pub use study::Study;
pub use study_file::StudyFile;
pub use trial::{Change, Claim, Origin, State, Token, Trial};
pub use wimble::goal::Goal;
pub use wimble::outcome::{Failure, Measured, Measurement, Outcome};
pub use wimble::session::Best;
