//! A process that works on a study: the runner of its study file, ready to run.
//!
//! `wimble run` is one, and so is each task of `wimble.ray.run` in the Python package.

use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use wimble_study::exchange::Row;
use wimble_study::notice::{self, On};
use wimble_study::runner::process::Urgency;
use wimble_study::runner::{Evaluator, Event, KeptResults, Runner, Stop, Summary, WorkerKey};
use wimble_study::study_file::Evaluation;
use wimble_study::{Address, Store, Study, StudyFile};

/// What a worker of a study needs to know.
pub struct Plan {
    /// The study file.
    pub file: StudyFile,
    /// Its command.
    pub evaluation: Evaluation,
    /// The folder in which commands start, as an absolute path.
    pub home: PathBuf,
    /// Where the study is kept.
    pub address: Address,
    /// A name for people; made from the machine's name if there is none.
    pub name: Option<String>,
    /// How long to keep trying when the storage becomes unreachable.
    pub patience: Duration,
    /// How much of all evaluations is carried out, in the unit of the fidelity, before no more trials begin.
    pub spend: Option<f64>,
}

/// A worker.
pub struct Worker {
    /// The study, open.
    pub study: Study,
    runner: Runner,
    notices: Notices,
    kept: KeptResults,
}

impl Worker {
    /// A worker on an open study, whose storage it waits for by itself (see [`Address::open_impatient`]).
    pub fn new(plan: Plan, store: &Arc<dyn Store>, study: Study, stop: Stop) -> Result<Self> {
        let Plan { file, evaluation, home, address, name, patience, spend } = plan;
        let identity = store.identity()?;
        let state = state_folder()?;
        let kept = KeptResults::new(&state, &identity, &file.name).and_before(
            &state,
            &place(&address),
            &file.name,
        );
        // Where no state can be kept, trials of a killed run come back when their lease is over.
        let worker = WorkerKey::take(&state, &identity, &file.name, name.as_deref())
            .unwrap_or_else(|_| WorkerKey::passing(name));
        let runner = Runner {
            evaluator: Evaluator {
                storage: identity,
                study: file.name.clone(),
                goal: file.goal.clone(),
                evaluation,
                home: home.clone(),
            },
            worker,
            workers: file.workers,
            time: file.time,
            spend,
            stop_when: file.stop_when,
            patience,
            kept: Some(kept.clone()),
            stop,
        };
        Ok(Self { study, runner, notices: Notices { on: file.on, home }, kept })
    }

    /// Where results are kept while the storage is unreachable.
    pub fn kept(&self) -> &Path {
        self.kept.folder()
    }

    /// Runs until the study is done, the time is over or it is told to stop. `note` shows what else a user must know.
    pub fn run(
        &self,
        watch: &(dyn Fn(&Event) + Sync),
        note: &(dyn Fn(&str) + Sync),
    ) -> wimble_study::Result<Summary> {
        let (results, told) = mpsc::channel();
        std::thread::scope(|scope| {
            // One after the other, beside the trials: a slow command holds up nothing but the next of its kind.
            let noticing = scope.spawn(move || {
                let mut left_out = 0_u64;
                for trial in told {
                    if self.runner.stop.urgency() > Urgency::None {
                        left_out += 1;
                    } else if let Err(reason) = self.notices.result(&self.study, trial) {
                        note(&format!(
                            "trial {trial}: the command of `on.result` failed: {reason}"
                        ));
                    }
                }
                left_out
            });
            let summary = self.runner.run(&self.study, &|event| {
                if let (Event::Told { trial, .. }, true) =
                    (&event, self.notices.on.result.is_some())
                {
                    let _ = results.send(*trial);
                }
                watch(&event);
            });
            // Ends the thread above, once it is done with what it has. Until then the run can be interrupted.
            drop(results);
            let left_out = noticing.join().unwrap_or(0);
            if left_out > 0 {
                let results = if left_out == 1 { "result" } else { "results" };
                note(&format!("the command of `on.result` was not run for {left_out} {results}"));
            }
            summary
        })
    }

    /// Runs the command that the study file has for the end, with a report as JSON. The error says how it failed.
    pub fn end(&self, report: serde_json::Value) -> Result<(), String> {
        self.notices.end(&self.study, report)
    }

    /// Whether the study file has a command for the end.
    pub fn has_end(&self) -> bool {
        self.notices.on.end.is_some()
    }
}

/// The commands that a study file has for results and for the end.
pub struct Notices {
    /// The commands.
    pub on: On,
    /// Where they start.
    pub home: PathBuf,
}

impl Notices {
    fn result(&self, study: &Study, trial: u64) -> Result<(), String> {
        let Some(command) = &self.on.result else { return Ok(()) };
        let trial = study.trial(trial).map_err(|error| error.to_string())?;
        let row = Row::new(&trial, &study.settings().goal);
        let mut variables = variables(study, "result");
        variables.push(("WIMBLE_TRIAL", trial.id.to_string()));
        variables.push(("WIMBLE_STATE", row.state.clone()));
        variables.extend(row.value.map(|value| ("WIMBLE_VALUE", value.to_string())));
        let json = serde_json::to_value(&row).map_err(|error| error.to_string())?;
        notice::run(command, &self.home, &variables, &named(study, "result", json))
    }

    /// Runs the command for the end. The error says how it failed.
    pub fn end(&self, study: &Study, report: serde_json::Value) -> Result<(), String> {
        let Some(command) = &self.on.end else { return Ok(()) };
        let mut variables = variables(study, "end");
        let end = report["end"].as_str().unwrap_or_default().to_owned();
        variables.push(("WIMBLE_END", end));
        notice::run(command, &self.home, &variables, &named(study, "end", report))
    }
}

fn variables(study: &Study, event: &str) -> Vec<(&'static str, String)> {
    let study = study.settings().name.clone();
    vec![("WIMBLE_EVENT", event.to_owned()), ("WIMBLE_STUDY", study)]
}

fn named(study: &Study, event: &str, mut json: serde_json::Value) -> serde_json::Value {
    json["event"] = event.into();
    json["study"] = study.settings().name.clone().into();
    json
}

/// The address of a storage, the same from whatever folder it is given.
fn place(address: &Address) -> String {
    let address = address.to_string();
    std::fs::canonicalize(&address).map_or(address, |path| path.display().to_string())
}

/// Where the state of this user's runs is kept: who they are, and results that wait for a storage.
fn state_folder() -> Result<PathBuf> {
    let from = |variable, below: &str| {
        std::env::var_os(variable)
            .filter(|folder| Path::new(folder).is_absolute())
            .map(|folder| PathBuf::from(folder).join(below))
    };
    match from("XDG_STATE_HOME", "wimble").or_else(|| from("HOME", ".local/state/wimble")) {
        Some(folder) => Ok(folder),
        None => private_folder(&std::env::temp_dir()),
    }
}

/// A folder that only this user can write to, in one that everybody can: otherwise another user could leave results there,
/// and this one would tell them.
fn private_folder(shared: &Path) -> Result<PathBuf> {
    let user = rustix::process::geteuid().as_raw();
    let folder = shared.join(format!("wimble-{user}"));
    match std::fs::DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| folder.display().to_string());
        }
        _ => {}
    }
    // Not of what a link leads to.
    let found = std::fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        bail!(
            "{} is open to other users, so that nothing in it can be trusted; set HOME or XDG_STATE_HOME to a folder of \
             your own",
            folder.display()
        );
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn a_state_folder_that_others_can_write_to_is_refused() {
        let shared = tempfile::tempdir().unwrap();
        let folder = private_folder(shared.path()).unwrap();
        assert_eq!(private_folder(shared.path()).unwrap(), folder);
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        let error = private_folder(shared.path()).unwrap_err().to_string();
        assert!(error.contains("open to other users"), "{error}");
        // One that another user made, as a link to a folder of his.
        std::fs::remove_dir(&folder).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &folder).unwrap();
        assert!(private_folder(shared.path()).is_err());
    }
}
