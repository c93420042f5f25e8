//! A study whose proposals have given values, one for each set of values that was asked for lately.

use std::sync::{Arc, Mutex, PoisonError};

use wimble::space::Configuration;
use wimble_study::{Result, Study};

/// How many sets of given values are kept ready: each has read the history of the study.
const KEPT: usize = 16;

/// The same study with given values, for the latest of them.
#[derive(Default)]
pub struct Fixing(Mutex<Vec<(Configuration, Arc<Study>)>>);

impl Fixing {
    /// The same study, whose proposals have these values.
    pub fn with(&self, study: &Study, values: Configuration) -> Result<Arc<Study>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match kept.iter().position(|(given, _)| *given == values) {
            Some(place) => kept.remove(place),
            None => {
                let same = Study::open(Arc::clone(study.store()), &study.settings().name)?;
                (values.clone(), Arc::new(same.fixing(values)?))
            }
        };
        let study = Arc::clone(&found.1);
        kept.push(found);
        let many = kept.len().saturating_sub(KEPT);
        kept.drain(..many);
        Ok(study)
    }
}
