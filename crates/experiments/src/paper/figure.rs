//! The figures of the paper that can be run.

use std::fmt;
use std::str::FromStr;

use super::settings::Settings;
use crate::error::{Error, Result};

/// A figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Figure 1: theory assessment.
    Theory,
    /// Figure 2: global optimisation.
    Global,
    /// Figure 3: real data.
    RealData,
    /// Figure E.1: Rosenbrock in 3, 4 and 5 dimensions.
    Rosenbrock,
}

impl Figure {
    /// All that can be run.
    pub const ALL: [Self; 4] = [Self::Theory, Self::Global, Self::RealData, Self::Rosenbrock];

    /// The name in commands, folders and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Theory => "fig1",
            Self::Global => "fig2",
            Self::RealData => "fig3",
            Self::Rosenbrock => "figE1",
        }
    }

    /// As the paper calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Theory => "Figure 1",
            Self::Global => "Figure 2",
            Self::RealData => "Figure 3",
            Self::Rosenbrock => "Figure E.1",
        }
    }

    /// Its settings, those of the paper where it gives them.
    pub fn settings(self) -> Result<Settings> {
        let (file, text) = match self {
            Self::Theory => ("fig1.toml", include_str!("../../settings/fig1.toml")),
            Self::Global => ("fig2.toml", include_str!("../../settings/fig2.toml")),
            Self::RealData => ("fig3.toml", include_str!("../../settings/fig3.toml")),
            Self::Rosenbrock => ("figE1.toml", include_str!("../../settings/figE1.toml")),
        };
        toml::from_str(text)
            .map_err(|error| Error::Unreadable { path: file.to_owned(), reason: error.to_string() })
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Figure {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = Self::ALL.map(Self::name);
        let found = Self::ALL.into_iter().find(|figure| figure.name().eq_ignore_ascii_case(text));
        found.ok_or_else(|| Error::unknown("figure", text, &names))
    }
}
