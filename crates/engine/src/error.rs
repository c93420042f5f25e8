//! The crate's one error. Every variant carries the facts: what was wrong, the value, what is allowed.

/// A result with the crate's [`enum@Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong, with the facts needed to fix it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting or a field of the search space has a value that is not allowed.
    #[error("{field} is {value}, but must be {allowed}")]
    Invalid {
        /// The setting, as the user wrote it; for a dimension, `name.field`.
        field: String,
        /// The value given.
        value: String,
        /// What would have been accepted.
        allowed: String,
    },
    /// A configuration lacks a value for an active dimension.
    #[error("the configuration has no value for `{dimension}`, which must be {allowed}")]
    MissingValue {
        /// The dimension without a value.
        dimension: String,
        /// What would have been accepted.
        allowed: String,
    },
    /// A configuration has a value for a dimension that the space does not have, or that is inactive.
    #[error("the configuration has a value for `{dimension}`, but {reason}")]
    UnexpectedValue {
        /// The dimension named.
        dimension: String,
        /// Why no value belongs there.
        reason: String,
    },
    /// A known constraint cannot be read.
    #[error("known constraint `{constraint}`, {}column {column}: {reason}", line_words(*.line))]
    Expression {
        /// The constraint as written.
        constraint: String,
        /// The line of the mistake within the constraint, from 1.
        line: usize,
        /// The column of the mistake within its line, from 1.
        column: usize,
        /// Where the mistake begins, in bytes.
        offset: usize,
        /// How long it is, in bytes.
        length: usize,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// Known constraints leave no configuration, as is proven.
    #[error("{}", contradiction(.constraints))]
    Contradiction {
        /// A smallest set of constraints that contradict each other.
        constraints: Vec<String>,
    },
    /// No configuration was found that meets the known constraints.
    #[error(
        "no configuration that meets {} was found in {tries} tries; loosen them, or narrow the bounds of the \
         parameters to where they can be met", listed(.constraints)
    )]
    NothingLegal {
        /// The constraints.
        constraints: Vec<String>,
        /// How many configurations were tried.
        tries: usize,
    },
    /// A configuration breaks a known constraint.
    #[error("the configuration breaks the known constraint `{constraint}`: {values}")]
    Violates {
        /// The constraint as written.
        constraint: String,
        /// The values of the parameters in it.
        values: String,
    },
    /// Known constraints leave no untried configuration, or too few to find one.
    #[error(
        "no untried configuration that meets the known constraints was found in {draws} draws, with {tried} tried or \
         pending; allow repeats, or loosen the constraints"
    )]
    NothingFree {
        /// Configurations told or pending.
        tried: u128,
        /// Configurations drawn.
        draws: usize,
    },
    /// A finite search space has no untried configuration left.
    #[error(
        "the search space is exhausted: {tried} of {total} configurations are tried or pending, \
         {requested} more were asked for; ask for fewer, or allow repeats"
    )]
    Exhausted {
        /// Configurations told or pending.
        tried: u128,
        /// Configurations in the space.
        total: u128,
        /// Configurations asked for.
        requested: usize,
    },
    /// The value that was told for a trial is NaN or infinite.
    #[error(
        "trial {trial} was told the value {value}, which is not finite; \
         tell a failed or an infeasible outcome instead"
    )]
    NonFinite {
        /// The trial.
        trial: u64,
        /// The value.
        value: f64,
    },
    /// A measurement that was told for a trial does not fit the goal.
    #[error("trial {trial} was told a measurement that does not fit the goal: {reason}")]
    Measurement {
        /// The trial.
        trial: u64,
        /// What does not fit.
        reason: String,
    },
    /// A method cannot work towards a goal.
    #[error(
        "`{method}` cannot work towards a goal of {goal}: {reason}; methods that can: {serving}"
    )]
    Unserved {
        /// The method.
        method: &'static str,
        /// The goal, in words.
        goal: String,
        /// Why not.
        reason: &'static str,
        /// The methods that can.
        serving: String,
    },
    /// The outcome of a trial was told that nobody asked for.
    #[error("trial {trial} was never asked: {issued} trials were issued, numbered from 0")]
    UnknownTrial {
        /// The trial named.
        trial: u64,
        /// How many trials exist.
        issued: u64,
    },
    /// A trial was told a second time.
    #[error(
        "trial {trial} was told already, with the outcome {outcome}; finished trials never change"
    )]
    AlreadyTold {
        /// The trial.
        trial: u64,
        /// The outcome that stands.
        outcome: String,
    },
    /// A matrix that must be positive definite is not, even with the largest jitter of the policy.
    #[error(
        "the kernel matrix is not positive definite: pivot {pivot} fails even with jitter {jitter:e}; \
         use a larger ridge or shorter length scales"
    )]
    NotPositiveDefinite {
        /// The index of the first pivot that is not positive.
        pivot: usize,
        /// The largest jitter tried.
        jitter: f64,
    },
    /// A model produced NaN or infinity while it was fitted or searched.
    #[error("{model} produced a value that is not finite while {doing}")]
    Diverged {
        /// The model.
        model: &'static str,
        /// What it was doing.
        doing: &'static str,
    },
    /// A quantity rests on an assumption that the user has not supplied.
    #[error("{quantity} needs {assumption}, which was not given")]
    MissingAssumption {
        /// The quantity asked for.
        quantity: &'static str,
        /// The assumption it rests on.
        assumption: &'static str,
    },
    /// Text could not be read back.
    #[error("the {what} cannot be read: {reason}")]
    Corrupt {
        /// What was being read.
        what: &'static str,
        /// Why it is refused.
        reason: String,
    },
}

/// The line of a mistake, if it is not the first.
fn line_words(line: usize) -> String {
    if line == 1 { String::new() } else { format!("line {line}, ") }
}

/// Constraints in backticks.
fn listed(constraints: &[String]) -> String {
    let quoted: Vec<String> = constraints.iter().map(|text| format!("`{text}`")).collect();
    match &quoted[..] {
        [one] => format!("the known constraint {one}"),
        [first @ .., last] => format!("the known constraints {} and {last}", first.join(", ")),
        [] => "the known constraints".to_owned(),
    }
}

fn contradiction(constraints: &[String]) -> String {
    match constraints.len() {
        1 => format!("no configuration can meet {}", listed(constraints)),
        _ => format!("no configuration can meet {} together", listed(constraints)),
    }
}

impl Error {
    /// An [`Error::Invalid`] from anything that prints.
    pub fn invalid(
        field: impl Into<String>,
        value: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Invalid { field: field.into(), value: value.to_string(), allowed: allowed.into() }
    }
}
