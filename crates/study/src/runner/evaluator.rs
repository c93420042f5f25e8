//! The evaluation of one trial: the command, run until it has a result or its retries are used up.
//!
//! | the command | the trial |
//! |---|---|
//! | exits 0 with a finite value | has that value |
//! | exits 0 with `"infeasible": true`, or exits with the code for it (77) | is infeasible: not run again |
//! | exits otherwise, is killed, runs out of time, says nothing that can be read, NaN or infinity | failed, after `retries` more runs |
//! | exits 130 or dies of SIGINT, or is stopped with the runner | is interrupted: back to the queue |
//! | cannot be started | back to the queue, and the runner stops: the next trial would fare no better |
//!
//! Retries happen at once, in the hands of the same worker. They are not counted in the storage: a trial whose worker is
//! lost in between begins anew, so that a command is run (retries + 1) · (lost-retries + 1) times at most.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};

use rustix::process::Signal;

use super::process::{self, Ended, Invocation, Limits, Urgency};
use super::result::{self, Found, Said};
use super::trial_folder::TrialFolder;
use crate::attributes::Attributes;
use crate::study_file::{Evaluation, Facts, StartIn, variable};
use crate::trial::{Claim, Failure, Outcome};

/// What shells exit with after SIGINT.
const INTERRUPTED_EXIT: i32 = 130;
/// How much of the output is kept with a failure.
const KEPT_LINES: usize = 50;
const KEPT_CHARACTERS: usize = 4_000;

/// Evaluates trials of one study.
#[derive(Debug, Clone)]
pub struct Evaluator {
    /// The study's name.
    pub study: String,
    /// The command and its surroundings.
    pub evaluation: Evaluation,
    /// The folder of the study file, from which its paths are meant.
    pub home: PathBuf,
}

/// What came of an evaluation.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Something to tell.
    Result {
        /// What came of it.
        outcome: Outcome,
        /// What was said beside it.
        attributes: Attributes,
    },
    /// Back to the queue.
    Interrupted,
    /// Back to the queue, and nothing more to be done: why.
    CannotRun(String),
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        Self::Result { outcome, attributes: Attributes::default() }
    }
}

impl Evaluator {
    /// The command of a trial as it would be run, with its folder and files under `folder`.
    pub fn invocation(
        &self,
        claim: &Claim,
        slot: usize,
        folder: &Path,
        files: [PathBuf; 2],
    ) -> Invocation {
        let [params_file, result_file] = files;
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let facts = Facts {
            trial: claim.trial,
            study: self.study.clone(),
            slot,
            params_file: text(&params_file),
            result_file: text(&result_file),
            folder: text(folder),
        };
        let configuration = &claim.configuration;
        let mut environment: Vec<(String, OsString)> = vec![
            ("WIMBLE_STUDY".into(), self.study.clone().into()),
            ("WIMBLE_TRIAL".into(), claim.trial.to_string().into()),
            ("WIMBLE_ATTEMPT".into(), claim.attempt.to_string().into()),
            ("WIMBLE_SLOT".into(), slot.to_string().into()),
            ("WIMBLE_FOLDER".into(), folder.into()),
            ("WIMBLE_PARAMS_FILE".into(), params_file.into()),
            ("WIMBLE_RESULT_FILE".into(), result_file.into()),
        ];
        environment.extend(
            configuration.iter().map(|(name, value)| (variable(name), value.to_string().into())),
        );
        let filled = self.evaluation.environment.iter().filter_map(|(name, template)| {
            Some((name.clone(), template.fill(configuration, &facts)?.into()))
        });
        environment.extend(filled);
        Invocation {
            arguments: self.evaluation.command.fill(configuration, &facts),
            environment,
            folder: match self.evaluation.start_in {
                StartIn::StudyFile => self.home.clone(),
                StartIn::Trial => folder.to_owned(),
            },
            logs: None,
        }
    }

    /// Runs the command of a trial. `retried` hears of each failure that is not the last.
    pub fn evaluate(
        &self,
        claim: &Claim,
        slot: usize,
        urgency: &(dyn Fn() -> Urgency + Sync),
        retried: &dyn Fn(&str),
    ) -> Verdict {
        let folders = self.evaluation.folders.as_ref().map(|folders| self.home.join(folders));
        let folder = match TrialFolder::create(
            folders.as_deref(),
            &self.study,
            claim.trial,
            &claim.configuration,
        ) {
            Ok(folder) => folder,
            Err(error) => {
                return Verdict::CannotRun(format!(
                    "the folder of trial {} cannot be made: {error}",
                    claim.trial
                ));
            }
        };
        let mut invocation = self.invocation(
            claim,
            slot,
            folder.path(),
            [folder.params_file(), folder.result_file()],
        );
        invocation.logs = folder.logs();
        let limits =
            Limits { timeout: self.evaluation.timeout, grace: self.evaluation.grace, urgency };
        let mut left = self.evaluation.retries;
        loop {
            let ended = folder.clear_result().and_then(|()| process::run(&invocation, &limits));
            let verdict = match ended {
                Ok(ended) => self.judge(&ended, &folder),
                Err(error) => Verdict::CannotRun(error.to_string()),
            };
            match verdict {
                Verdict::Result { outcome: Outcome::Failed(failure), .. } if left > 0 => {
                    left -= 1;
                    retried(&failure.reason);
                }
                verdict => return verdict,
            }
        }
    }

    fn judge(&self, ended: &Ended, folder: &TrialFolder) -> Verdict {
        let failed = |reason: String| {
            Verdict::from(Outcome::Failed(Failure { reason, output: last_words(ended) }))
        };
        let told = |said: Said| Verdict::Result {
            outcome: match said.found {
                Found::Value(value) => Outcome::Value(value),
                Found::Infeasible => Outcome::Infeasible,
            },
            attributes: said.attributes,
        };
        let found = || match folder.result() {
            Ok(Some(text)) => {
                result::read(&text).map_err(|reason| format!("result file: {reason}"))
            }
            Ok(None) => result::read(&ended.stdout),
            Err(error) => Err(format!("result file: {error}")),
        };
        // A command that was stopped and still ends well has done its work.
        if ended.stopped {
            return match (ended.status.success(), found()) {
                (true, Ok(result)) => told(result),
                _ => Verdict::Interrupted,
            };
        }
        if ended.timed_out {
            let limit =
                self.evaluation.timeout.map_or_else(String::new, crate::study_file::duration::show);
            return failed(format!("ran longer than its timeout of {limit}"));
        }
        let signal = ended.status.signal();
        if ended.status.code() == Some(INTERRUPTED_EXIT) || signal == Some(Signal::INT.as_raw()) {
            return Verdict::Interrupted;
        }
        if ended.status.code() == Some(self.evaluation.infeasible_exit) {
            return Verdict::from(Outcome::Infeasible);
        }
        if !ended.status.success() {
            return failed(ended.status.to_string());
        }
        match found() {
            Ok(found) => told(found),
            Err(reason) => failed(reason),
        }
    }
}

/// The end of what a command said: its complaints if it had any, otherwise its output.
fn last_words(ended: &Ended) -> String {
    let complaints = ended.stderr.trim_end();
    let text = if complaints.is_empty() { ended.stdout.trim_end() } else { complaints };
    let lines: Vec<&str> = text.lines().collect();
    let end = lines[lines.len().saturating_sub(KEPT_LINES)..].join("\n");
    let cut = end.chars().count().saturating_sub(KEPT_CHARACTERS);
    // No database keeps zero bytes in text.
    end.chars().skip(cut).filter(|c| *c != '\0').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study_file::{Format, StudyFile};
    use crate::trial::Token;
    use std::time::Duration;
    use wimble::space::{Configuration, Value};

    fn evaluator(command: &str, more: &str) -> Evaluator {
        let text = format!(
            "name = \"s\"\ncommand = {command}\n{more}\n[space]\nx = {{ type = \"real\", low = 0, high = 1 }}\n\
             t = {{ type = \"categorical\", choices = [\"a\", \"b\"] }}\n"
        );
        let file = StudyFile::parse("s.toml", &text, Format::Toml)
            .unwrap_or_else(|error| panic!("{error}"));
        Evaluator { study: file.name, evaluation: file.evaluation.unwrap(), home: ".".into() }
    }

    fn claim(text: &str) -> Claim {
        let configuration: Configuration =
            [("x", Value::Real(0.25)), ("t", Value::from(text))].into_iter().collect();
        Claim { trial: 3, configuration, token: Token { trial: 3, fence: 1 }, attempt: 1 }
    }

    fn verdict(command: &str, more: &str) -> Verdict {
        evaluator(command, more).evaluate(&claim("a"), 0, &|| Urgency::None, &|_| {})
    }

    fn sh(script: &str) -> String {
        format!("[\"sh\", \"-c\", {}]", serde_json::to_string(script).unwrap())
    }

    #[test]
    fn every_way_to_end_has_its_verdict() {
        let outcome = Verdict::from;
        assert_eq!(verdict(&sh("echo noise; echo 0.5"), ""), outcome(Outcome::Value(0.5)));
        assert_eq!(verdict(&sh("echo '{{\"value\": {x}}}'"), ""), outcome(Outcome::Value(0.25)));
        assert_eq!(
            verdict(&sh("echo 7 > $WIMBLE_RESULT_FILE; echo 8"), ""),
            outcome(Outcome::Value(7.0))
        );
        assert_eq!(verdict(&sh("exit 77"), ""), outcome(Outcome::Infeasible));
        assert_eq!(verdict(&sh("exit 9"), "infeasible-exit = 9"), outcome(Outcome::Infeasible));
        assert_eq!(
            verdict(&sh("echo '{{\"infeasible\": true}}'"), ""),
            outcome(Outcome::Infeasible)
        );
        assert_eq!(
            verdict(&sh("echo '{{\"value\": 2, \"epochs\": 12}}'"), ""),
            Verdict::Result {
                outcome: Outcome::Value(2.0),
                attributes: [("epochs".to_owned(), 12.into())].into_iter().collect(),
            }
        );
        assert_eq!(verdict(&sh("exit 130"), ""), Verdict::Interrupted);
        assert_eq!(verdict(&sh("kill -INT $$; sleep 5"), ""), Verdict::Interrupted);
        assert!(matches!(verdict("[\"no-such-program\"]", ""), Verdict::CannotRun(_)));
        for (script, more, words) in [
            ("echo 1; echo oh no >&2; exit 3", "", "exit status: 3\noh no"),
            ("echo nan", "", "NaN, which is not finite"),
            ("echo done", "", "no result"),
            ("kill -KILL $$", "", "SIGKILL"),
            ("sleep 20", "timeout = 0.2\ngrace = 0.2", "its timeout of 200ms"),
            ("echo x > $WIMBLE_RESULT_FILE; echo 8", "", "result file: no result"),
        ] {
            let Verdict::Result { outcome: Outcome::Failed(failure), .. } =
                verdict(&sh(script), more)
            else {
                panic!("{script}")
            };
            let said = format!("{}\n{}", failure.reason, failure.output);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn failures_are_tried_again_as_often_as_allowed_and_infeasibility_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let script = |end: &str| sh(&format!("echo x >> '{}'; {end}", count.display()));
        let runs = || std::fs::read_to_string(&count).unwrap().lines().count();
        let flaky = format!("[ $(wc -l < '{}') -ge 3 ] && echo 1 || exit 1", count.display());
        assert_eq!(verdict(&script(&flaky), "retries = 5"), Verdict::from(Outcome::Value(1.0)));
        assert_eq!(runs(), 3);
        assert!(matches!(
            verdict(&script("exit 1"), "retries = 2"),
            Verdict::Result { outcome: Outcome::Failed(_), .. }
        ));
        assert_eq!(runs(), 6);
        verdict(&script("exit 77"), "retries = 2");
        assert_eq!(runs(), 7);
    }

    #[test]
    fn what_a_parameter_says_reaches_the_program_verbatim_and_no_shell() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "alive").unwrap();
        let nasty =
            format!("; rm -f '{0}' $(rm -f {0}) `rm -f {0}`\n\"two\" | > {0} *", victim.display());
        let script = "printf %s \"$1\" > $WIMBLE_FOLDER/seen; printf %s \"$WIMBLE_PARAM_T\" > $WIMBLE_FOLDER/env; echo 1";
        let command = format!(
            "[\"sh\", \"-c\", {}, \"sh\", \"{{t}}\"]",
            serde_json::to_string(script).unwrap()
        );
        let runs = serde_json::to_string(&folder.path().join("runs")).unwrap();
        let evaluator = evaluator(&command, &format!("folders = {runs}"));
        let verdict = evaluator.evaluate(&claim(&nasty), 0, &|| Urgency::None, &|_| {});
        assert_eq!(verdict, Verdict::from(Outcome::Value(1.0)));
        let trial = folder.path().join("runs/s/000003");
        assert_eq!(std::fs::read_to_string(trial.join("seen")).unwrap(), nasty);
        assert_eq!(std::fs::read_to_string(trial.join("env")).unwrap(), nasty);
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "alive");
        let params: Configuration =
            serde_json::from_str(&std::fs::read_to_string(trial.join("params.json")).unwrap())
                .unwrap();
        assert_eq!(params, claim(&nasty).configuration);
        assert_eq!(std::fs::read_to_string(trial.join("stdout.log")).unwrap(), "1\n");
    }

    #[test]
    fn a_command_that_is_stopped_goes_back_unless_it_ended_well() {
        let stop = |script: &str| {
            let evaluator = evaluator(&sh(script), "grace = 2");
            let since = std::time::Instant::now();
            let urgency = move || {
                if since.elapsed() > Duration::from_millis(300) {
                    Urgency::Ask
                } else {
                    Urgency::None
                }
            };
            evaluator.evaluate(&claim("a"), 0, &urgency, &|_| {})
        };
        assert_eq!(stop("sleep 20"), Verdict::Interrupted);
        assert_eq!(
            stop("trap 'echo 4; exit 0' TERM; sleep 20 & wait"),
            Verdict::from(Outcome::Value(4.0))
        );
    }
}
