//! Trials in files that other programs read and write: CSV, JSON lines, and the SQLite storage of Optuna.
//!
//! Every format goes through a [`Row`]: a trial in one line, flat, with the same names everywhere.

pub mod csv;
pub mod json_lines;
#[cfg(feature = "sqlite")]
pub mod optuna;
pub mod row;

use std::path::Path;
use std::str::FromStr;

pub use row::Row;

use crate::error::{Error, Result};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A table with a header; parameters are columns `param.NAME`.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// The SQLite storage of Optuna.
    Optuna,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Jsonl, Self::Optuna];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Optuna => "optuna",
        }
    }

    /// What it is, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Csv => "A table with a header; parameters are columns `param.NAME`",
            Self::Jsonl => "One JSON object a line, as `wimble trials --json`",
            Self::Optuna => "The SQLite storage of Optuna",
        }
    }

    /// By the ending of a file's name, if that tells.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" | "json" => Some(Self::Jsonl),
            "db" | "sqlite" | "sqlite3" => Some(Self::Optuna),
            _ => None,
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            let reason = format!("there is no format `{name}`; the formats are {names}");
            Error::Exchange { reason }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::settings::Settings;
    use crate::store::memory::Memory;
    use crate::trial::Trial;
    use crate::{Addition, Filter, ManualClock, Study};
    use std::sync::Arc;
    use wimble::goal::{Bound, Goal, Objective};
    use wimble::outcome::{Failure, Measured, Measurement, Outcome};
    use wimble::space::{Configuration, Dimension, SearchSpace, Value};

    /// What a user is told about an import from Optuna.
    fn notes(found: &optuna::Found) -> Vec<String> {
        found.each::<Error>(&mut |_| Ok(())).unwrap()
    }

    /// A study with every state of a trial; texts that look like numbers, quotes and line breaks.
    fn study() -> Study {
        let clock = ManualClock::default();
        clock.set(Timestamp(1_793_534_400_250));
        let space = SearchSpace::new([
            Dimension::log_real("rate", 1e-5, 1.0),
            Dimension::categorical("kind", ["1", "a, \"b\"\nc"]),
            Dimension::integer("depth", 1, 9).when("kind", ["1"]),
            Dimension::boolean("flag"),
        ]);
        let settings = Settings::new("s", space.unwrap(), "random".parse().unwrap());
        let study = Study::open_or_create(Arc::new(Memory::new(clock)), settings).unwrap();
        let claims = study.ask("w", "k", 9).unwrap();
        for claim in &claims {
            let outcome = match claim.trial {
                0 => continue,
                1 => Outcome::Failed(Failure::from("exit status: 3, \"sadly\"\n")),
                2 => Outcome::Infeasible,
                3 => Measured { value: 0.31, deviation: Some(0.02) }.into(),
                number => Outcome::from(1.0 / number as f64 - 0.2),
            };
            let attributes = [
                ("epochs".to_owned(), claim.trial.into()),
                ("note".to_owned(), if claim.trial % 2 == 0 { "1".into() } else { "x".into() }),
            ];
            let attributes = attributes.into_iter().collect();
            study.tell_with(claim.token, &outcome, &attributes, "t").unwrap();
        }
        let queued: Configuration = [
            ("rate", Value::Real(0.5)),
            ("kind", Value::from("1")),
            ("depth", Value::Integer(3)),
            ("flag", Value::Boolean(true)),
        ]
        .into_iter()
        .collect();
        study.add(&[Addition::queued("mine", queued)]).unwrap();
        study
    }

    fn all<'r>(rows: &'r [Row]) -> impl Fn() -> csv::Rows<'r> {
        || Box::new(rows.iter().cloned().map(Ok))
    }

    fn from_csv(space: &SearchSpace, goal: &Goal, text: &str) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        csv::read(space, goal, text.as_bytes(), |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn from_lines(text: &[u8]) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        json_lines::read(text, |row| {
            rows.push(row);
            Ok(())
        })?;
        Ok(rows)
    }

    fn write_optuna(path: &Path, study: &Study, trials: &[Trial]) -> usize {
        let trials = trials.iter().cloned().map(Ok);
        optuna::write(path, study.settings(), trials, &|trial| study.steps(trial)).unwrap()
    }

    fn rows(study: &Study) -> (Vec<Trial>, Vec<Row>) {
        let trials = study.trials(&Filter::default()).unwrap();
        let rows = trials.iter().map(|trial| Row::new(trial, &study.settings().goal)).collect();
        (trials, rows)
    }

    #[test]
    fn rows_come_back_from_csv_and_json_lines() {
        let study = study();
        let (_, rows) = rows(&study);
        let states: Vec<&str> = rows.iter().take(4).map(|row| row.state.as_str()).collect();
        assert_eq!(states, ["running", "failed", "infeasible", "complete"]);
        let mut text = Vec::new();
        let Settings { space, goal, .. } = study.settings();
        csv::write(space, goal, &all(&rows), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(from_csv(space, goal, &text).unwrap(), rows);
        let mut lines = Vec::new();
        json_lines::write(all(&rows)(), &mut lines).unwrap();
        assert_eq!(from_lines(&lines).unwrap(), rows);
    }

    #[test]
    fn finished_trials_come_back_from_the_storage_of_optuna() {
        let (study, folder) = (study(), tempfile::tempdir().unwrap());
        let (trials, rows) = rows(&study);
        let path = folder.path().join("optuna.db");
        assert_eq!(write_optuna(&path, &study, &trials), 8);
        let found = optuna::read(&path, None).unwrap();
        assert_eq!((found.name.as_str(), notes(&found)), ("s", Vec::new()));
        let finished = rows.iter().filter(|row| row.finished.is_some());
        for (found, row) in found.rows().unwrap().iter().zip(finished) {
            let worker = Some("optuna".to_owned());
            // Optuna has no booleans of its own: a choice of two.
            assert_eq!(found, &Row { trial: found.trial, worker, ..row.clone() });
            study.settings().space.encode(&found.params).unwrap();
        }
        assert_eq!(found.rows().unwrap().len(), 8);
    }

    /// Two objectives with a reference, a limit on one of them and two on another quantity; some trials violate them.
    fn several() -> Study {
        let goal = Goal::new([
            Objective::minimise("error, test"),
            Objective::maximise("speed").reference(0.125),
        ])
        .and_then(|goal| goal.limit("memory", Bound::AtMost(8.1)))
        .and_then(|goal| goal.limit("speed", Bound::AtLeast(0.3)))
        .and_then(|goal| goal.limit("memory", Bound::AtLeast(0.1)));
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let settings = Settings::new("s", space, "random".parse().unwrap()).goal(goal.unwrap());
        let store = Arc::new(Memory::new(ManualClock::default()));
        let study = Study::open_or_create(store, settings).unwrap();
        for claim in study.ask("w", "k", 9).unwrap() {
            let k = claim.trial as f64;
            let speed = Measured { value: k / 9.0, deviation: (claim.trial == 5).then_some(0.25) };
            let outcome = match claim.trial {
                0 => continue,
                1 => Outcome::Infeasible,
                _ => Outcome::Measured(Measurement {
                    objectives: vec![(k * 0.7).into(), speed],
                    constraints: vec![(k * 1.1).into(), speed, (k * 1.1).into()],
                    fidelity: None,
                }),
            };
            study.tell(claim.token, &outcome, "t").unwrap();
        }
        study
    }

    #[test]
    fn several_objectives_and_constraints_come_back_by_name_from_every_format() {
        let (study, folder) = (several(), tempfile::tempdir().unwrap());
        let Settings { space, goal, .. } = study.settings();
        let (trials, rows) = rows(&study);
        let states: Vec<&str> = rows.iter().map(|row| row.state.as_str()).collect();
        let complete = ["complete"; 5];
        assert_eq!(states[..3], ["running", "infeasible", "violating"]);
        assert_eq!((&states[3..8], states[8]), (&complete[..], "violating"));
        assert!(rows.iter().all(|row| row.value.is_none()));
        let mut text = Vec::new();
        csv::write(space, goal, &all(&rows), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let header = "trial,state,\"objective.error, test\",objective.speed,constraint.memory,deviation.speed,reason";
        assert!(text.starts_with(header), "{text}");
        assert_eq!(from_csv(space, goal, &text).unwrap(), rows);
        let mut lines = Vec::new();
        json_lines::write(all(&rows)(), &mut lines).unwrap();
        assert_eq!(from_lines(&lines).unwrap(), rows);
        let path = folder.path().join("optuna.db");
        assert_eq!(write_optuna(&path, &study, &trials), 8);
        let found = optuna::read(&path, None).unwrap();
        assert_eq!((&found.goal, notes(&found)), (goal, Vec::new()));
        for (found, row) in found.rows().unwrap().iter().zip(&rows[1..]) {
            let worker = Some("optuna".to_owned());
            assert_eq!(found, &Row { trial: found.trial, worker, ..row.clone() });
        }
        // What is read is what was told, whatever its state says.
        for (trial, row) in trials.iter().zip(&rows).skip(1) {
            let row = Row { state: row.state.replace("violating", "complete"), ..row.clone() };
            assert_eq!(row.addition(goal).unwrap().outcome.as_ref(), trial.outcome());
        }
    }

    /// Trials with curves, some of which were stopped.
    fn stopped(goal: Goal) -> Study {
        let goal = goal.fidelity("epochs", 0.5, 81.0).unwrap();
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let settings = Settings::new("s", space, "random".parse().unwrap()).goal(goal.clone());
        let store = Arc::new(Memory::new(ManualClock::default()));
        let study = Study::open_or_create(store, settings).unwrap();
        for claim in study.ask("w", "k", 6).unwrap() {
            let step = |at: f64| Measurement {
                objectives: goal.objectives().iter().map(|_| (1.0 / at).into()).collect(),
                constraints: goal.constraints().iter().map(|_| at.into()).collect(),
                fidelity: Some(at),
            };
            let last = if claim.trial % 2 == 0 { 81.0 } else { 9.0 };
            let steps: Vec<Measurement> = [1.0, 3.0, 9.0, 27.0, 81.0].map(step).into();
            let steps: Vec<_> = steps.into_iter().filter(|s| s.fidelity <= Some(last)).collect();
            study.report(claim.token, &steps).unwrap();
            match claim.trial {
                4 => study.tell(claim.token, &Outcome::Failed("why".into()), "t").unwrap(),
                _ => study.tell(claim.token, &step(last).into(), "t").unwrap(),
            }
        }
        study
    }

    #[test]
    fn curves_and_stopped_trials_come_back() {
        let several = Goal::new([Objective::minimise("a"), Objective::maximise("b")])
            .and_then(|goal| goal.limit("c", Bound::AtMost(50.0)));
        for goal in [Goal::default(), several.unwrap()] {
            let (study, folder) = (stopped(goal), tempfile::tempdir().unwrap());
            let Settings { space, goal, .. } = study.settings();
            let (trials, plain) = rows(&study);
            let states: Vec<&str> = plain.iter().map(|row| row.state.as_str()).collect();
            let whole = if goal.constraints().is_empty() { "complete" } else { "violating" };
            assert_eq!(states, [whole, "stopped", whole, "stopped", "failed", "stopped"]);
            assert_eq!((plain[0].fidelity, plain[1].fidelity), (None, Some(9.0)));
            let mut text = Vec::new();
            csv::write(space, goal, &all(&plain), &mut text).unwrap();
            assert_eq!(from_csv(space, goal, &String::from_utf8(text).unwrap()).unwrap(), plain);
            let steps = |row: &Row| study.steps(row.trial.unwrap()).unwrap();
            let rows: Vec<Row> =
                plain.iter().map(|row| row.clone().with_steps(&steps(row), goal)).collect();
            assert_eq!((rows[0].steps.len(), rows[1].steps.len()), (5, 3));
            let mut lines = Vec::new();
            json_lines::write(all(&rows)(), &mut lines).unwrap();
            assert_eq!(from_lines(&lines).unwrap(), rows);
            let path = folder.path().join("optuna.db");
            assert_eq!(write_optuna(&path, &study, &trials), 6);
            let found = optuna::read(&path, None).unwrap();
            assert_eq!((&found.goal, notes(&found)), (goal, Vec::new()));
            for (found, row) in found.rows().unwrap().iter().zip(&rows) {
                let worker = Some("optuna".to_owned());
                assert_eq!(found, &Row { trial: found.trial, worker, ..row.clone() });
            }
            // What is read is what was told, and its curve.
            let settings = Settings { name: "again".to_owned(), ..study.settings().clone() };
            let again = Study::open_or_create(Arc::clone(study.store()), settings).unwrap();
            let additions: Vec<_> = rows.iter().map(|row| row.addition(goal).unwrap()).collect();
            again.add(&additions).unwrap();
            for trial in &trials {
                let imported = again.trial(trial.id).unwrap();
                assert_eq!(imported.outcome(), trial.outcome());
                let measured = |study: &Study| -> Vec<Measurement> {
                    let steps = study.steps(trial.id).unwrap();
                    steps.into_iter().map(|step| step.measurement).collect()
                };
                assert_eq!(measured(&again), measured(&study));
            }
        }
    }

    #[test]
    fn a_row_that_does_not_fit_the_goal_is_refused_by_name() {
        let study = several();
        let (goal, row) = (&study.settings().goal, &rows(&study).1[3]);
        let refused = |row: Row| row.addition(goal).unwrap_err().to_string();
        let value = Row { value: Some(1.0), objectives: Default::default(), ..row.clone() };
        assert_eq!(
            refused(value),
            "it has one value, but the goal has 2 objectives and 3 constraints"
        );
        let without = Row { constraints: Default::default(), ..row.clone() };
        assert_eq!(refused(without), "the constraint `memory` is missing");
        let text = "objective.sped,param.x\n";
        let error = from_csv(&study.settings().space, goal, text).unwrap_err().to_string();
        assert!(error.contains("column `objective.sped` is unknown"), "{error}");
        assert!(error.contains("objective.speed, constraint.memory, param.x"), "{error}");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_place() {
        let space = SearchSpace::new([Dimension::integer("n", 1, 9)]).unwrap();
        for (text, words) in [
            ("value,param.n\n0.5,x\n", "row 2: `n` is \"x\", but must be a whole number"),
            ("value,param.n\n0.5,1\nlow,2\n", "row 3: value is \"low\", but must be a number"),
            ("value,param.n\n0.5,1\n0.5\n", "row 3: it has 1 cells, and the header has 2;"),
            ("value,param.m\n", "column `param.m` is unknown; there are trial, state,"),
        ] {
            let error = from_csv(&space, &Goal::default(), text).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        let error = from_lines(b"\n{\"state\": 1}\n").unwrap_err().to_string();
        assert!(error.starts_with("line 2: 1 stands where text is expected"), "{error}");
        let row = Row { state: "asleep".to_owned(), ..rows(&study()).1[1].clone() };
        let error = row.addition(&Goal::default()).unwrap_err().to_string();
        assert!(error.contains("state is \"asleep\", but must be complete"), "{error}");
        assert_eq!("csv".parse::<Format>().unwrap(), Format::Csv);
        let error = "xml".parse::<Format>().unwrap_err().to_string();
        assert_eq!(error, "there is no format `xml`; the formats are csv, jsonl, optuna");
        assert_eq!(Format::of(Path::new("a/b.ndjson")), Some(Format::Jsonl));
        assert_eq!(Format::of(Path::new("b.txt")), None);
    }
}
