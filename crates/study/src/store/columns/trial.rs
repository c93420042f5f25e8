//! The columns of a trial.
//!
//! A column that does not apply to the trial's state is empty: those of the lease before it is claimed, those of the
//! outcome before it is finished.

use wimble::goal::Direction;
use wimble::outcome::{Failure, Outcome};

use super::{
    Cell, Cells, Columns as _, Read, columns, json, meant, real, small, text, time, whole, word,
};
use crate::attributes::Attributes;
use crate::clock::Timestamp;
use crate::error::{Error, Result};
use crate::store::{OutcomeKind, Stage, Tell, ranked_value};
use crate::trial::{Ended, Finish, Lease, Origin, Pause, State, Trial};

/// What the cells of a trial are made of.
struct Parts<'t> {
    trial: &'t Trial,
    configuration: String,
    ended: Option<Ended>,
    paused: Option<&'t Pause>,
    lease: Option<&'t Lease>,
    finish: Option<&'t Finish>,
    told: Told<'t>,
    direction: Direction,
}

/// What a tell says, as cells.
#[derive(Default)]
struct Told<'t> {
    outcome: Option<OutcomeKind>,
    value: Option<f64>,
    /// The value of a whole evaluation.
    ranked: Option<f64>,
    /// A measurement that is more than a number.
    measurement: Option<String>,
    failure: Option<&'t Failure>,
    attributes: Option<String>,
    key: Option<&'t str>,
}

columns! {
    /// The columns of a trial, without the study that it belongs to. `score` is the value of a whole evaluation, turned so
    /// that low is good, for the index of the best trials.
    Column of it: Parts<'t>;
    Id "id" = it.trial.id;
    Configuration "configuration" = it.configuration;
    Origin "origin" = it.trial.origin.word();
    Stage "stage" = Stage::of(&it.trial.state).word();
    Lost "lost" = it.trial.lost;
    Sequence "sequence" = it.trial.sequence;
    Proposed "proposed" = it.trial.proposed;
    Ended "ended" = it.ended.map(Ended::word);
    Worker "worker" = it.lease.map(|lease| lease.worker.as_str());
    Fence "fence" = it.lease.map(|lease| lease.fence);
    Since "since" = it.lease.map(|lease| lease.since);
    Due "due" = it.lease.map(|lease| lease.due);
    Outcome "outcome" = it.told.outcome.map(OutcomeKind::word);
    Value "value" = it.told.value;
    Score "score" = it.told.ranked.map(|value| it.direction.turn(value));
    Message "message" = it.told.failure.map(|failure| failure.reason.as_str());
    Output "output" = it.told.failure.map(|failure| failure.output.as_str());
    Finished "finished" = it.finish.map(|finish| finish.at);
    TellKey "tell_key" = it.told.key;
    Attributes "attributes" = it.told.attributes;
    Measurement "measurement" = it.told.measurement;
    Incarnation "incarnation" = it.lease.and_then(|lease| lease.incarnation.as_deref());
    Notice "notice" = it.lease.and_then(|lease| lease.notice);
    Until "until" = it.trial.until;
    Paused "paused" = it.paused.map(|pause| pause.at);
    AfterStep "after_step" = it
        .finish
        .map(|finish| finish.after_step)
        .or(it.paused.map(|pause| pause.after_step));
}

impl<'t> Told<'t> {
    fn new(outcome: &'t Outcome, attributes: &Attributes, key: Option<&'t str>) -> Self {
        let failure = match outcome {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Measured(_) | Outcome::Infeasible => None,
        };
        Self {
            outcome: Some(OutcomeKind::of(outcome)),
            value: outcome.value(),
            ranked: ranked_value(outcome),
            measurement: outcome
                .measurement()
                .filter(|measurement| measurement.as_number().is_none())
                .map(|measurement| serde_json::json!(measurement).to_string()),
            failure,
            attributes: attributes.to_json(),
            key,
        }
    }
}

/// The cells of a trial, in the order of [`Column`].
pub(in crate::store) fn write<'t>(
    study: &str,
    trial: &'t Trial,
    direction: Direction,
) -> Result<Vec<Cell<'t>>> {
    let configuration = serde_json::to_string(&trial.configuration)
        .map_err(|error| Error::corrupt(study, format!("trial {}", trial.id), error))?;
    let (ended, paused, lease, finish) = match &trial.state {
        State::Queued(ended) => (*ended, None, None, None),
        State::Running(lease) => (None, None, Some(lease), None),
        State::Paused(pause) => (None, Some(pause), Some(&pause.lease), None),
        State::Finished(finish) => (None, None, Some(&finish.lease), Some(finish)),
    };
    let told = finish.map_or_else(Told::default, |finish| {
        Told::new(&finish.outcome, &finish.attributes, finish.key.as_deref())
    });
    Ok(cells(Parts { trial, configuration, ended, paused, lease, finish, told, direction }))
}

/// The columns that a tell fills with what it says, for a statement that finishes a trial without reading it. The rest
/// (`stage`, `sequence`, `score`, `finished`, `after_step`) follows from the row and the clock.
pub(in crate::store) const TOLD: [Column; 7] = [
    Column::Outcome,
    Column::Value,
    Column::Message,
    Column::Output,
    Column::Attributes,
    Column::TellKey,
    Column::Measurement,
];

/// Their cells, in the order of [`TOLD`].
pub(in crate::store) fn told<'t>(tell: &Tell<'t>) -> [Cell<'t>; TOLD.len()] {
    let told = Told::new(tell.outcome, tell.attributes, Some(tell.key));
    [
        told.outcome.map(OutcomeKind::word).into(),
        told.value.into(),
        told.failure.map(|failure| failure.reason.as_str()).into(),
        told.failure.map(|failure| failure.output.as_str()).into(),
        told.attributes.into(),
        told.key.into(),
        told.measurement.into(),
    ]
}

/// The trial in a row whose columns are those of [`Column`], in their order.
pub(in crate::store) fn read(study: &str, row: &impl Cells) -> Result<Trial> {
    let id = whole(row, Column::Id).map_err(|error| Error::corrupt(study, "trial", error))?;
    trial_of(row, id).map_err(|error| Error::corrupt(study, format!("trial {id}"), error))
}

fn trial_of(row: &impl Cells, id: u64) -> Read<Trial> {
    let stage = meant(Column::Stage, word(row, Column::Stage)?, &Stage::ALL, Stage::word)?;
    let paused = row.integer(Column::Paused.place())?.map(Timestamp);
    let state = match (stage, paused) {
        (Stage::Queued | Stage::Paused, Some(at)) => {
            State::Paused(Pause { at, lease: lease_of(row)?, after_step: after_step(row)? })
        }
        (Stage::Queued | Stage::Paused, None) => State::Queued(
            text(row, Column::Ended)?
                .map(|word| meant(Column::Ended, word, &Ended::ALL, Ended::word))
                .transpose()?,
        ),
        (Stage::Running, _) => State::Running(lease_of(row)?),
        (Stage::Finished, _) => State::Finished(Finish {
            outcome: outcome_of(row)?,
            attributes: Attributes::from_json(text(row, Column::Attributes)?)
                .map_err(|error| format!("{}: {error}", Column::Attributes.name()))?,
            at: time(row, Column::Finished)?,
            lease: lease_of(row)?,
            key: text(row, Column::TellKey)?.map(str::to_owned),
            after_step: after_step(row)?,
        }),
    };
    Ok(Trial {
        id,
        configuration: json(row, Column::Configuration)?,
        origin: meant(Column::Origin, word(row, Column::Origin)?, &Origin::ALL, Origin::word)?,
        state,
        lost: small(row, Column::Lost)?,
        sequence: whole(row, Column::Sequence)?,
        proposed: time(row, Column::Proposed)?,
        until: row.real(Column::Until.place())?,
    })
}

/// Empty in what versions without it wrote.
fn after_step(row: &impl Cells) -> Read<u64> {
    match row.integer(Column::AfterStep.place())? {
        Some(_) => whole(row, Column::AfterStep),
        None => Ok(0),
    }
}

fn lease_of(row: &impl Cells) -> Read<Lease> {
    Ok(Lease {
        worker: word(row, Column::Worker)?.to_owned(),
        incarnation: text(row, Column::Incarnation)?.map(str::to_owned),
        fence: whole(row, Column::Fence)?,
        since: time(row, Column::Since)?,
        due: time(row, Column::Due)?,
        notice: row.integer(Column::Notice.place())?.map(Timestamp),
    })
}

fn outcome_of(row: &impl Cells) -> Read<Outcome> {
    let kind = word(row, Column::Outcome)?;
    Ok(match meant(Column::Outcome, kind, &OutcomeKind::ALL, OutcomeKind::word)? {
        OutcomeKind::Value => match text(row, Column::Measurement)? {
            Some(_) => Outcome::Measured(json(row, Column::Measurement)?),
            None => real(row, Column::Value)?.into(),
        },
        OutcomeKind::Failed => Outcome::Failed(Failure {
            reason: word(row, Column::Message)?.to_owned(),
            output: word(row, Column::Output)?.to_owned(),
        }),
        OutcomeKind::Infeasible => Outcome::Infeasible,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::trial::Token;
    use wimble::outcome::Measured;

    impl Cells for Vec<Cell<'_>> {
        fn integer(&self, place: usize) -> Read<Option<i64>> {
            match &self[place] {
                Cell::Null => Ok(None),
                Cell::Integer(number) => Ok(Some(*number)),
                other => Err(format!("{other:?} is no integer").into()),
            }
        }

        fn real(&self, place: usize) -> Read<Option<f64>> {
            match &self[place] {
                Cell::Null => Ok(None),
                Cell::Real(number) => Ok(Some(*number)),
                other => Err(format!("{other:?} is no real").into()),
            }
        }

        fn text(&self, place: usize) -> Read<Option<&str>> {
            match &self[place] {
                Cell::Null => Ok(None),
                Cell::Text(text) => Ok(Some(text)),
                other => Err(format!("{other:?} is no text").into()),
            }
        }
    }

    fn trials() -> Vec<Trial> {
        let lease = Lease {
            worker: "w".to_owned(),
            incarnation: Some("one".to_owned()),
            fence: 5,
            since: Timestamp(10),
            due: Timestamp(20),
            notice: Some(Timestamp(25)),
        };
        let finish = |outcome, key: Option<&str>| {
            State::Finished(Finish {
                outcome,
                attributes: [("epochs".to_owned(), 12.into())].into_iter().collect(),
                at: Timestamp(30),
                lease: lease.clone(),
                key: key.map(str::to_owned),
                after_step: 7,
            })
        };
        let failure = Failure { reason: "why".to_owned(), output: "last words".to_owned() };
        let states = [
            State::Queued(None),
            State::Queued(Some(Ended::RanOut)),
            State::Queued(Some(Ended::Released)),
            State::Running(lease.clone()),
            State::Paused(Pause { at: Timestamp(28), lease: lease.clone(), after_step: 6 }),
            finish(Outcome::from(-0.5), Some("t")),
            finish(Measured { value: 0.25, deviation: Some(0.5) }.into(), Some("t")),
            finish(Outcome::Failed(failure), None),
            finish(Outcome::Infeasible, Some("t")),
        ];
        let origins = [Origin::Proposed, Origin::Enqueued, Origin::Imported];
        (0..)
            .zip(states)
            .map(|(id, state)| Trial {
                id,
                configuration: [("x", 0.25)].into_iter().collect(),
                origin: origins[id as usize % 3],
                state,
                lost: id as u32,
                sequence: 40 + id,
                proposed: Timestamp(5),
                until: (id % 2 == 0).then_some(0.5 + id as f64),
            })
            .collect()
    }

    #[test]
    fn every_trial_comes_back_from_its_cells() {
        for trial in trials() {
            let row = write("s", &trial, Direction::Maximise).unwrap();
            assert_eq!(row.len(), Column::NAMES.len());
            assert_eq!(read("s", &row).unwrap(), trial);
        }
    }

    #[test]
    fn a_tell_writes_the_cells_of_the_trial_that_it_finishes() {
        for trial in trials() {
            let State::Finished(finish) = &trial.state else { continue };
            let Some(key) = &finish.key else { continue };
            let row = write("s", &trial, Direction::Minimise).unwrap();
            let token = Token { trial: trial.id, fence: finish.lease.fence };
            let Finish { outcome, attributes, .. } = finish;
            let told = told(&Tell { token, outcome, attributes, key });
            for (column, cell) in TOLD.into_iter().zip(told) {
                assert_eq!(cell, row[column.place()], "{}", column.name());
            }
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_column() {
        let trial = &trials()[5];
        for (column, cell, words) in [
            (Column::Stage, Cell::from("asleep"), "trial 5 cannot be read: stage is `asleep`"),
            (Column::Outcome, Cell::Null, "outcome is missing"),
            (Column::Lost, Cell::from(1_u64 << 40), "lost is 1099511627776"),
            (Column::Sequence, Cell::from(-1_i64), "sequence is -1"),
            (Column::Configuration, Cell::from("{"), "configuration: EOF"),
            (Column::Attributes, Cell::from("no"), "attributes: expected"),
        ] {
            let mut row = write("s", trial, Direction::Minimise).unwrap();
            row[column.place()] = cell;
            let error = read("s", &row).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
