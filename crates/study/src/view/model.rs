//! What the method of a study expects, for pages and agents.
//!
//! A forecast costs as much as asking: the first one reads the whole history and fits a model. So it is asked for only where somebody
//! looks at it, one at a time for each study, and never for a study so long that everybody would wait for it.

use crate::{Result, Study};
use wimble::forecast::Forecast;
use wimble::space::Configuration;

/// The most finished trials of a study whose model is shown.
pub const LONGEST: u64 = 20_000;

/// A study as its method sees it.
pub struct Model(Study);

impl Model {
    /// Of an open study.
    pub fn new(study: Study) -> Self {
        Self(study)
    }

    /// The study.
    pub fn study(&self) -> &Study {
        &self.0
    }

    /// Whether the study is short enough for its model to be shown.
    pub fn is_offered(&self) -> Result<bool> {
        Ok(self.0.counts()?.finished() <= LONGEST)
    }

    /// Whether the space has this configuration.
    pub fn allows(&self, configuration: &Configuration) -> bool {
        self.0.settings().space.encode(configuration).is_ok()
    }

    /// What the method expects of each configuration; `None` if it has no model yet, or the study is too long.
    pub fn predict(&self, configurations: &[Configuration]) -> Result<Option<Vec<Forecast>>> {
        if configurations.is_empty() || !self.is_offered()? {
            return Ok(None);
        }
        self.0.predict(configurations)
    }
}
