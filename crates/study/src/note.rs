//! What people note on a trial: a text beside it, which no method reads.

use serde::{Deserialize, Serialize};

use crate::clock::Timestamp;
use crate::error::{Error, Result};

/// The longest note, in bytes.
pub const LONGEST_NOTE: usize = 10_000;

/// A note on a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The number of the trial.
    pub trial: u64,
    /// What somebody wrote.
    pub text: String,
    /// When, on the store's clock.
    pub at: Timestamp,
}

/// Refuses a text that no store keeps.
pub(crate) fn check_note(study: &str, text: &str) -> Result<()> {
    if text.len() > LONGEST_NOTE || text.contains('\0') {
        return Err(Error::Invalid {
            study: study.to_owned(),
            field: "note",
            value: format!("{} bytes long", text.len()),
            allowed: format!("text of at most {LONGEST_NOTE} bytes without zero bytes"),
        });
    }
    Ok(())
}
