//! The calls of the contract as JSON, and their answers.
//!
//! A call is an object with the field `call` and the arguments of the function of that name. Its answer is `{"done": …}`, or
//! `{"error": …}` with the kind of the error and its facts, so that the caller sees the error that the store gave.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use wimble::outcome::Outcome;

use crate::addition::Addition;
use crate::attributes::Attributes;
use crate::error::{Error, Result};
use crate::settings::{EngineSpan, Record};
use crate::step::{Report, Step};
use crate::store::{Ask, Filter, Proposal, Refused, Reply, Resume, Store, Tell, Transfer};
use crate::trial::{Token, Trial};

/// The most rows of one answer.
pub const LARGEST_PAGE: usize = 10_000;

/// A call of a store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "these are the functions of `Reader` and `Store`, with their arguments"
)]
pub enum Call {
    Study {
        study: String,
    },
    Studies {},
    ChangesSince {
        study: String,
        sequence: u64,
        limit: usize,
    },
    Trials {
        study: String,
        filter: Filter,
    },
    Trial {
        study: String,
        trial: u64,
    },
    Steps {
        study: String,
        trial: u64,
    },
    StepsSince {
        study: String,
        sequence: u64,
        limit: usize,
    },
    Best {
        study: String,
        count: usize,
    },
    Notes {
        study: String,
    },
    Counts {
        study: String,
    },
    Sequence {
        study: String,
    },
    Condition {},
    Identity {},
    Faults {},
    Create {
        record: Box<Record>,
    },
    Delete {
        study: String,
    },
    SetBudget {
        study: String,
        budget: u64,
    },
    SetPaused {
        study: String,
        paused: bool,
    },
    Note {
        study: String,
        trial: u64,
        text: String,
    },
    Ask {
        study: String,
        worker: String,
        #[serde(default)]
        incarnation: Option<String>,
        key: String,
        wanted: usize,
        #[serde(default)]
        fresh: bool,
        #[serde(default)]
        plans: bool,
        proposal: Option<Proposal>,
    },
    Resume {
        study: String,
        worker: String,
        incarnation: String,
        formerly: Vec<String>,
    },
    Add {
        study: String,
        additions: Vec<Addition>,
    },
    Transfer {
        study: String,
        engines: Vec<EngineSpan>,
        trials: Vec<Trial>,
        #[serde(default)]
        steps: Vec<Step>,
    },
    Heartbeats {
        study: String,
        tokens: Vec<Token>,
    },
    Reports {
        study: String,
        reports: Vec<Report>,
    },
    TellWith {
        study: String,
        token: Token,
        outcome: Outcome,
        attributes: Attributes,
        key: String,
    },
    Release {
        study: String,
        token: Token,
    },
    PauseTrial {
        study: String,
        token: Token,
    },
    Recount {
        study: String,
    },
}

/// What a call does to a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// It reads.
    Read,
    /// It is the work of a worker.
    Work,
    /// It changes what people decide: which studies there are, their budgets, and trials that no method proposed.
    Write,
}

impl Call {
    /// What the call does.
    pub fn reach(&self) -> Reach {
        match self {
            Self::Study { .. }
            | Self::Studies {}
            | Self::ChangesSince { .. }
            | Self::Trials { .. }
            | Self::Trial { .. }
            | Self::Steps { .. }
            | Self::StepsSince { .. }
            | Self::Best { .. }
            | Self::Notes { .. }
            | Self::Counts { .. }
            | Self::Sequence { .. }
            | Self::Condition {}
            | Self::Identity {}
            | Self::Faults {} => Reach::Read,
            Self::Ask { .. }
            | Self::Heartbeats { .. }
            | Self::Reports { .. }
            | Self::TellWith { .. }
            | Self::Release { .. }
            | Self::PauseTrial { .. }
            | Self::Resume { .. } => Reach::Work,
            Self::Create { .. }
            | Self::Delete { .. }
            | Self::SetBudget { .. }
            | Self::SetPaused { .. }
            | Self::Note { .. }
            | Self::Add { .. }
            | Self::Transfer { .. }
            | Self::Recount { .. } => Reach::Write,
        }
    }

    /// Whether making it twice is the same as making it once.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Release { .. } | Self::Delete { .. } | Self::Resume { .. })
    }

    /// Makes the call. The answer is what the function of the contract returned.
    pub fn perform(&self, store: &dyn Store) -> Result<Json> {
        match self {
            Self::Study { study } => json(&store.study(study)?),
            Self::Studies {} => json(&store.studies()?),
            Self::ChangesSince { study, sequence, limit } => {
                json(&store.changes_since(study, *sequence, (*limit).min(LARGEST_PAGE))?)
            }
            Self::Trials { study, filter } => {
                let limit = filter.limit.map_or(LARGEST_PAGE, |limit| limit.min(LARGEST_PAGE));
                json(&store.trials(study, &Filter { limit: Some(limit), ..filter.clone() })?)
            }
            Self::Trial { study, trial } => json(&store.trial(study, *trial)?),
            Self::Steps { study, trial } => json(&store.steps(study, *trial)?),
            Self::StepsSince { study, sequence, limit } => {
                json(&store.steps_since(study, *sequence, (*limit).min(LARGEST_PAGE))?)
            }
            Self::Best { study, count } => json(&store.best(study, (*count).min(LARGEST_PAGE))?),
            Self::Notes { study } => json(&store.notes(study)?),
            Self::Counts { study } => json(&store.counts(study)?),
            Self::Sequence { study } => json(&store.sequence(study)?),
            Self::Condition {} => json(&store.condition()?),
            Self::Create { record } => json(&store.create(record)?),
            Self::Delete { study } => json(&store.delete(study)?),
            Self::SetBudget { study, budget } => json(&store.set_budget(study, *budget)?),
            Self::SetPaused { study, paused } => json(&store.set_paused(study, *paused)?),
            Self::Note { study, trial, text } => json(&store.note(study, *trial, text)?),
            Self::Ask { study, worker, incarnation, key, wanted, fresh, plans, proposal } => {
                let (incarnation, wanted) = (incarnation.as_deref(), *wanted);
                let (fresh, plans) = (*fresh, *plans);
                let ask = Ask { worker, incarnation, key, wanted, fresh, plans };
                json::<Reply>(&store.ask(study, &ask, proposal.as_ref())?)
            }
            Self::Add { study, additions } => json(&store.add(study, additions)?),
            Self::Transfer { study, engines, trials, steps } => {
                json(&store.transfer(study, &Transfer { engines, trials, steps })?)
            }
            Self::Heartbeats { study, tokens } => refusals(&store.heartbeats(study, tokens)?),
            Self::Reports { study, reports } => refusals(&store.reports(study, reports)?),
            Self::TellWith { study, token, outcome, attributes, key } => {
                json(&store.tell_with(study, &Tell { token: *token, outcome, attributes, key })?)
            }
            Self::Release { study, token } => json(&store.release(study, *token)?),
            Self::PauseTrial { study, token } => json(&store.pause_trial(study, *token)?),
            Self::Resume { study, worker, incarnation, formerly } => {
                json(&store.resume(study, &Resume { worker, incarnation, formerly })?)
            }
            Self::Recount { study } => json(&store.recount(study)?),
            Self::Identity {} => json(&store.identity()?),
            Self::Faults {} => json(&store.faults()?),
        }
    }
}

fn refusals(refused: &[Refused]) -> Result<Json> {
    let said = |refused: &Refused| (refused.token, Said::from(&refused.error));
    json(&refused.iter().map(said).collect::<Vec<(Token, Said)>>())
}

fn json<T: Serialize>(answer: &T) -> Result<Json> {
    serde_json::to_value(answer).map_err(|error| Error::Remote {
        message: format!("the answer cannot be written as JSON: {error}"),
    })
}

/// An answer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// What the function returned.
    Done(Json),
    /// Why it did not.
    Error(Said),
}

/// An error as it is sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[allow(missing_docs, reason = "these are the errors of a store, with their facts")]
pub enum Said {
    Invalid {
        study: String,
        field: String,
        value: String,
        allowed: String,
    },
    UnknownStudy {
        study: String,
    },
    Paused {
        study: String,
    },
    UnknownTrial {
        study: String,
        trial: u64,
        issued: u64,
    },
    LaterFormat {
        study: String,
        found: u32,
        known: u32,
    },
    LeaseLost {
        study: String,
        token: Token,
        reason: String,
    },
    AlreadyTold {
        study: String,
        trial: u64,
        outcome: String,
    },
    UnknownToken {
        study: String,
        token: Token,
        issued: u64,
    },
    KeyReused {
        study: String,
        key: String,
        before: String,
    },
    Corrupt {
        study: String,
        what: String,
        reason: String,
    },
    /// Any other refusal: asking again gives the same answer.
    Refused {
        message: String,
    },
    /// The store behind the server did not answer.
    Unanswered {
        message: String,
    },
}

impl From<&Error> for Said {
    fn from(error: &Error) -> Self {
        match error {
            Error::Invalid { study, field, value, allowed } => Self::Invalid {
                study: study.clone(),
                field: (*field).to_owned(),
                value: value.clone(),
                allowed: allowed.clone(),
            },
            Error::UnknownStudy { study } => Self::UnknownStudy { study: study.clone() },
            Error::Paused { study } => Self::Paused { study: study.clone() },
            Error::UnknownTrial { study, trial, issued } => {
                Self::UnknownTrial { study: study.clone(), trial: *trial, issued: *issued }
            }
            Error::LaterFormat { study, found, known } => {
                Self::LaterFormat { study: study.clone(), found: *found, known: *known }
            }
            Error::LeaseLost { study, token, reason } => {
                Self::LeaseLost { study: study.clone(), token: *token, reason: reason.clone() }
            }
            Error::AlreadyTold { study, trial, outcome } => {
                Self::AlreadyTold { study: study.clone(), trial: *trial, outcome: outcome.clone() }
            }
            Error::UnknownToken { study, token, issued } => {
                Self::UnknownToken { study: study.clone(), token: *token, issued: *issued }
            }
            Error::KeyReused { study, key, before } => {
                Self::KeyReused { study: study.clone(), key: key.clone(), before: before.clone() }
            }
            Error::Corrupt { study, what, reason } => {
                Self::Corrupt { study: study.clone(), what: what.clone(), reason: reason.clone() }
            }
            error if error.is_refusal() => Self::Refused { message: error.to_string() },
            error => Self::Unanswered { message: error.to_string() },
        }
    }
}

impl Said {
    /// The error of the store; `place` is the address of the server.
    pub(super) fn into_error(self, place: &str) -> Error {
        match self {
            Self::Invalid { study, field, value, allowed } => {
                match FIELDS.into_iter().find(|known| *known == field) {
                    Some(field) => Error::Invalid { study, field, value, allowed },
                    None => Error::Remote {
                        message: format!(
                            "study `{study}`: {field} is {value}, but must be {allowed}"
                        ),
                    },
                }
            }
            Self::UnknownStudy { study } => Error::UnknownStudy { study },
            Self::Paused { study } => Error::Paused { study },
            Self::UnknownTrial { study, trial, issued } => {
                Error::UnknownTrial { study, trial, issued }
            }
            Self::LaterFormat { study, found, known } => Error::LaterFormat { study, found, known },
            Self::LeaseLost { study, token, reason } => Error::LeaseLost { study, token, reason },
            Self::AlreadyTold { study, trial, outcome } => {
                Error::AlreadyTold { study, trial, outcome }
            }
            Self::UnknownToken { study, token, issued } => {
                Error::UnknownToken { study, token, issued }
            }
            Self::KeyReused { study, key, before } => Error::KeyReused { study, key, before },
            Self::Corrupt { study, what, reason } => Error::Corrupt { study, what, reason },
            Self::Refused { message } => Error::Remote { message },
            Self::Unanswered { message } => Error::Backend {
                place: place.to_owned(),
                doing: "calling its store",
                source: message.into(),
            },
        }
    }
}

/// The fields that a store refuses, so that a program finds them by name.
const FIELDS: [&str; 10] = [
    "budget",
    "client key",
    "deviation",
    "fidelity of a step",
    "key of an addition",
    "name",
    "note",
    "number of trials asked for",
    "worker",
    "worker of an addition",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_back_as_they_were() {
        let (study, token) = ("s".to_owned(), Token { trial: 3, fence: 9 });
        for error in [
            Error::UnknownStudy { study: study.clone() },
            Error::Paused { study: study.clone() },
            Error::UnknownTrial { study: study.clone(), trial: 3, issued: 2 },
            Error::LeaseLost { study: study.clone(), token, reason: "it was released".into() },
            Error::AlreadyTold { study: study.clone(), trial: 3, outcome: "0.5".into() },
            Error::UnknownToken { study: study.clone(), token, issued: 1 },
            Error::KeyReused { study: study.clone(), key: "k".into(), before: "for more".into() },
            Error::Corrupt { study: study.clone(), what: "trial 3".into(), reason: "no".into() },
            Error::Invalid {
                study: study.clone(),
                field: "worker",
                value: "empty".into(),
                allowed: "text".into(),
            },
            Error::Invalid { study, field: "new field", value: "1".into(), allowed: "2".into() },
        ] {
            let text = serde_json::to_string(&Said::from(&error)).unwrap();
            let again = serde_json::from_str::<Said>(&text).unwrap().into_error("place");
            assert_eq!(again.to_string(), error.to_string());
            assert_eq!(again.is_refusal(), error.is_refusal());
        }
        let away =
            Error::Backend { place: "db".into(), doing: "writing", source: "disk full".into() };
        let again = Said::from(&away).into_error("http://h");
        assert!(!again.is_refusal() && again.to_string().contains("disk full"), "{again}");
    }

    #[test]
    fn calls_are_objects_with_their_name() {
        let call = Call::Release { study: "s".into(), token: Token { trial: 1, fence: 2 } };
        let text = serde_json::to_string(&call).unwrap();
        assert_eq!(text, r#"{"call":"release","study":"s","token":{"trial":1,"fence":2}}"#);
        assert_eq!(serde_json::from_str::<Call>(&text).unwrap(), call);
        assert_eq!((call.reach(), Call::Studies {}.reach()), (Reach::Work, Reach::Read));
        assert_eq!(
            serde_json::from_str::<Call>(r#"{"call":"studies"}"#).unwrap(),
            Call::Studies {}
        );
    }
}
