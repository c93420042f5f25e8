//! The evaluation of one trial: the command, run until it has a result or its retries are used up.
//!
//! | the command | the trial |
//! |---|---|
//! | exits 0 with a finite value | has that value |
//! | exits 0 with `"infeasible": true`, or exits with the code for it (77) | is infeasible: not run again |
//! | exits otherwise, is killed, runs out of time, says nothing that can be read, NaN or infinity | failed, after `retries` more runs |
//! | was stopped by the study's stopping rule, however it then ends | has its last step as outcome |
//! | exits 0 without a result, in a study with a fidelity | has its last step as outcome |
//! | was to go on to a fidelity below the highest, and exits 0 | has its last step, or its result at that fidelity: the trial is paused |
//! | exits 130 or dies of SIGINT, or is stopped with the runner | is interrupted: back to the queue |
//! | cannot be started | back to the queue, and the runner stops: the next trial would fare no better |
//!
//! The same worker retries at once. They are not counted in the storage: a trial whose worker is lost in between begins
//! anew, so that a command is run (retries + 1) · (lost-retries + 1) times at most.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::process::Signal;

use super::finding::{self, Finding};
use super::live_steps::LiveSteps;
use super::process::{self, Ended, Invocation, Limits, Urgency};
use super::report_socket::REPORT;
use super::trial_folder::{self, TrialFolder};
use wimble::goal::{Fidelity, Goal};
use wimble::outcome::{Failure, Measurement, Outcome};

use crate::study_file::{Evaluation, Facts, StartIn, Template, variable};
use crate::trial::Claim;

/// What shells exit with after SIGINT.
const INTERRUPTED_EXIT: i32 = 130;
/// How much of the output is kept with a failure.
const KEPT_LINES: usize = 50;
const KEPT_CHARACTERS: usize = 4_000;

/// Evaluates trials of one study.
#[derive(Debug, Clone)]
pub struct Evaluator {
    /// The identity of the storage, which tells apart studies of one name.
    pub storage: String,
    /// The study's name.
    pub study: String,
    /// What its results are about.
    pub goal: Goal,
    /// The command and its surroundings.
    pub evaluation: Evaluation,
    /// The folder of the study file, from which its paths are meant.
    pub home: PathBuf,
}

/// How the command of a trial is run.
pub struct Attempt<'a> {
    /// The trial.
    pub claim: &'a Claim,
    /// The place of the command among those that run here.
    pub slot: usize,
    /// Whether it must end.
    pub urgency: &'a (dyn Fn() -> Urgency + Sync),
    /// Hears of each failure that is not the last.
    pub retried: &'a dyn Fn(&str),
    /// Where steps go, in a study with a fidelity.
    pub steps: Option<&'a Arc<LiveSteps>>,
    /// The socket for `wimble report`, if there is one.
    pub socket: Option<&'a Path>,
}

/// The environment variable with the file that a command finds once its trial is to be stopped.
pub const STOP_FILE: &str = "WIMBLE_STOP_FILE";

/// Why an evaluation has no outcome. Its trial goes back to the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfinished {
    /// The command was interrupted.
    Interrupted,
    /// The command cannot be run, and why. Other trials would fail in the same way.
    CannotRun(String),
}

impl Evaluator {
    /// Whether trials can be continued: the command takes the fidelity up to which it is to go, and each trial has a folder for its
    /// checkpoint.
    pub fn continues(&self) -> bool {
        let Some(Fidelity { name, .. }) = self.goal.partial() else { return false };
        let Evaluation { command, environment, folders, .. } = &self.evaluation;
        let mut taken =
            command.placeholders().chain(environment.values().flat_map(Template::placeholders));
        folders.is_some() && taken.any(|placeholder| placeholder == name)
    }

    /// The folder of a trial, where trials have folders that stay.
    pub fn folder(&self, trial: u64) -> Option<PathBuf> {
        let folders = self.home.join(self.evaluation.folders.as_ref()?);
        Some(trial_folder::path(&folders, &self.storage, &self.study, trial))
    }

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
            until: self.goal.partial().map(|range| {
                (range.name.clone(), claim.until.map_or(range.high, |until| until.min(range.high)))
            }),
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

    /// Runs the command of a trial.
    pub fn evaluate(&self, attempt: &Attempt<'_>) -> Result<Finding, Unfinished> {
        let Attempt { claim, slot, urgency, retried, steps, socket } = *attempt;
        let folders = self.evaluation.folders.as_ref().map(|folders| self.home.join(folders));
        let folder = match TrialFolder::create(
            folders.as_deref(),
            &self.storage,
            &self.study,
            claim.trial,
            &claim.configuration,
        ) {
            Ok(folder) => folder,
            Err(error) => {
                return Err(Unfinished::CannotRun(format!(
                    "the folder of trial {} cannot be made: {error}",
                    claim.trial
                )));
            }
        };
        let limits =
            Limits { timeout: self.evaluation.timeout, grace: self.evaluation.grace, urgency };
        let mut left = self.evaluation.retries;
        loop {
            let result = folder.new_result_file();
            let files = [folder.params_file(), result.clone()];
            let mut invocation = self.invocation(claim, slot, folder.path(), files);
            invocation.logs = folder.logs();
            if let Some(steps) = steps {
                let stop_file = folder.path().join("stop");
                steps.begin(&stop_file);
                invocation.environment.push((STOP_FILE.into(), stop_file.into()));
            }
            if let Some(socket) = socket {
                invocation.environment.push((REPORT.into(), socket.into()));
            }
            let ended = process::run(&invocation, &limits, steps);
            let ended = ended.map_err(|error| Unfinished::CannotRun(error.to_string()))?;
            let is_stopped = steps.is_some_and(|steps| steps.is_stopped());
            let steps = steps.map(Arc::as_ref);
            let finding = self.judge(&ended, &folder.take_result(&result), steps)?;
            match self.in_part(claim, steps, finding) {
                Finding { outcome: Outcome::Failed(failure), .. } if left > 0 && !is_stopped => {
                    left -= 1;
                    retried(&failure.reason);
                }
                finding => return Ok(finding),
            }
        }
    }

    /// The result of a command that was to go on to a fidelity below the highest, at that fidelity. A step that it made there, or
    /// beyond, counts instead.
    fn in_part(&self, claim: &Claim, steps: Option<&LiveSteps>, finding: Finding) -> Finding {
        let (Some(until), Some(steps), Some(range)) = (claim.until, steps, self.goal.partial())
        else {
            return finding;
        };
        match &finding.outcome {
            Outcome::Measured(told) if told.fidelity.is_none() && until < range.high => {
                let told = Measurement { fidelity: Some(until), ..told.clone() };
                let last = steps.conclude(told);
                Finding { outcome: Outcome::Measured(last), attributes: finding.attributes }
            }
            _ => finding,
        }
    }

    /// What came of a run, by how it ended, what was in its result file and which steps it made.
    fn judge(
        &self,
        ended: &Ended,
        result: &io::Result<Option<String>>,
        steps: Option<&LiveSteps>,
    ) -> Result<Finding, Unfinished> {
        let failed = |reason: String| {
            Ok(Finding::from(Outcome::Failed(Failure { reason, output: last_words(ended) })))
        };
        let found = || match result {
            Ok(Some(text)) => {
                finding::read(text, &self.goal).map_err(|reason| format!("result file: {reason}"))
            }
            Ok(None) => finding::last(&ended.stdout, &self.goal)
                .or_else(|| steps.and_then(LiveSteps::result))
                .unwrap_or_else(|| finding::read("", &self.goal)),
            Err(error) => Err(format!("result file: {error}")),
        };
        let is_whole = |finding: &Finding| {
            finding.outcome.measurement().is_none_or(|measurement| measurement.fidelity.is_none())
        };
        // A command that was stopped, or was about to be, and still ends well with a whole result has done its work.
        let done = || found().ok().filter(|finding| ended.status.success() && is_whole(finding));
        // However it ends after the signal, and whatever else it then says: it was not to go on.
        if let Some(stopped) =
            steps.filter(|steps| steps.is_stopped()).and_then(LiveSteps::stopped_result)
        {
            return Ok(done().filter(|_| !ended.stopped).unwrap_or(stopped));
        }
        if ended.stopped {
            return done().ok_or(Unfinished::Interrupted);
        }
        if ended.timed_out {
            let limit =
                self.evaluation.timeout.map_or_else(String::new, crate::study_file::duration::show);
            return failed(format!("ran longer than its timeout of {limit}"));
        }
        let signal = ended.status.signal();
        if ended.status.code() == Some(INTERRUPTED_EXIT) || signal == Some(Signal::INT.as_raw()) {
            return Err(Unfinished::Interrupted);
        }
        if ended.status.code() == Some(self.evaluation.infeasible_exit) {
            return Ok(Outcome::Infeasible.into());
        }
        if !ended.status.success() {
            return failed(ended.status.to_string());
        }
        found().or_else(failed)
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
        Evaluator {
            storage: "db".to_owned(),
            study: file.name,
            goal: file.goal,
            evaluation: file.evaluation.unwrap(),
            home: ".".into(),
        }
    }

    fn claim(text: &str) -> Claim {
        let configuration: Configuration =
            [("x", Value::Real(0.25)), ("t", Value::from(text))].into_iter().collect();
        let token = Token { trial: 3, fence: 1 };
        Claim { trial: 3, configuration, token, attempt: 1, until: None }
    }

    fn attempt<'a>(
        claim: &'a Claim,
        urgency: &'a (dyn Fn() -> Urgency + Sync),
        steps: Option<&'a Arc<LiveSteps>>,
    ) -> Attempt<'a> {
        Attempt { claim, slot: 0, urgency, retried: &|_| {}, steps, socket: None }
    }

    fn found(command: &str, more: &str) -> Result<Finding, Unfinished> {
        evaluator(command, more).evaluate(&attempt(&claim("a"), &|| Urgency::None, None))
    }

    fn sh(script: &str) -> String {
        format!("[\"sh\", \"-c\", {}]", serde_json::to_string(script).unwrap())
    }

    #[test]
    fn every_way_to_end_has_its_found() {
        let outcome = |outcome: Outcome| Ok(Finding::from(outcome));
        assert_eq!(found(&sh("echo noise; echo 0.5"), ""), outcome(Outcome::from(0.5)));
        assert_eq!(found(&sh("echo '{{\"value\": {x}}}'"), ""), outcome(Outcome::from(0.25)));
        assert_eq!(
            found(&sh("echo 7 > $WIMBLE_RESULT_FILE; echo 8"), ""),
            outcome(Outcome::from(7.0))
        );
        assert_eq!(found(&sh("exit 77"), ""), outcome(Outcome::Infeasible));
        assert_eq!(found(&sh("exit 9"), "infeasible-exit = 9"), outcome(Outcome::Infeasible));
        assert_eq!(found(&sh("echo '{{\"infeasible\": true}}'"), ""), outcome(Outcome::Infeasible));
        assert_eq!(
            found(&sh("echo '{{\"value\": 2, \"epochs\": 12}}'"), ""),
            Ok(Finding {
                outcome: Outcome::from(2.0),
                attributes: [("epochs".to_owned(), 12.into())].into_iter().collect(),
            })
        );
        assert_eq!(found(&sh("exit 130"), ""), Err(Unfinished::Interrupted));
        assert_eq!(found(&sh("kill -INT $$; sleep 5"), ""), Err(Unfinished::Interrupted));
        assert!(matches!(found("[\"no-such-program\"]", ""), Err(Unfinished::CannotRun(_))));
        for (script, more, words) in [
            ("echo 1; echo oh no >&2; exit 3", "", "exit status: 3\noh no"),
            ("echo nan", "", "the value is NaN, but must be a finite number"),
            ("echo done", "", "no result"),
            ("kill -KILL $$", "", "SIGKILL"),
            ("sleep 20", "timeout = 0.2\ngrace = 0.2", "its timeout of 200ms"),
            ("echo x > $WIMBLE_RESULT_FILE; echo 8", "", "result file: no result"),
        ] {
            let Ok(Finding { outcome: Outcome::Failed(failure), .. }) = found(&sh(script), more)
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
        assert_eq!(found(&script(&flaky), "retries = 5"), Ok(Outcome::from(1.0).into()));
        assert_eq!(runs(), 3);
        assert!(matches!(
            found(&script("exit 1"), "retries = 2"),
            Ok(Finding { outcome: Outcome::Failed(_), .. })
        ));
        assert_eq!(runs(), 6);
        assert_eq!(found(&script("exit 77"), "retries = 2"), Ok(Outcome::Infeasible.into()));
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
        let finding = evaluator.evaluate(&attempt(&claim(&nasty), &|| Urgency::None, None));
        assert_eq!(finding, Ok(Outcome::from(1.0).into()));
        let trial = trial_folder::path(&folder.path().join("runs"), "db", "s", 3);
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
            evaluator.evaluate(&attempt(&claim("a"), &urgency, None))
        };
        assert_eq!(stop("sleep 20"), Err(Unfinished::Interrupted));
        assert_eq!(
            stop("trap 'echo 4; exit 0' TERM; sleep 20 & wait"),
            Ok(Outcome::from(4.0).into())
        );
    }

    #[test]
    fn the_last_step_is_the_result_where_no_other_is_printed() {
        let fidelity = "[fidelity]\nepochs = { low = 1, high = 9 }";
        let run = |script: &str, stop_at: Option<f64>| {
            let evaluator =
                evaluator(&sh(script), &format!("method = \"random\"\ngrace = 2\n{fidelity}"));
            let steps = Arc::new(LiveSteps::new(evaluator.goal.clone()));
            // As the rule does it: at a step, and from then on.
            let urgency = || {
                let last = steps.waiting().steps.last().and_then(|step| step.fidelity);
                if stop_at.is_some() && last >= stop_at {
                    steps.stop(last.unwrap_or(0.0));
                    return Urgency::Ask;
                }
                Urgency::None
            };
            evaluator.evaluate(&attempt(&claim("a"), &urgency, Some(&steps)))
        };
        let at = |fidelity: Option<f64>, value: f64| {
            Ok(Outcome::Measured(Measurement { fidelity, ..value.into() }).into())
        };
        let step =
            |at: u32, value: f64| format!("echo '{{{{\"step\": {at}, \"value\": {value}}}}}'");
        let (one, two, nine) = (step(1, 0.5), step(2, 0.25), step(9, 0.125));
        assert_eq!(run(&format!("{one}; {two}"), None), at(Some(2.0), 0.25));
        assert_eq!(run(&format!("{one}; {nine}"), None), at(None, 0.125));
        assert_eq!(run(&format!("{one}; echo 7"), None), at(None, 7.0));
        assert_eq!(run(&format!("echo 7; {one}"), None), at(None, 7.0));
        assert_eq!(run("echo 7", None), at(None, 7.0));
        // Stopped, it has its last step, however it ends and whatever it says.
        assert_eq!(run(&format!("{one}; sleep 20"), Some(1.0)), at(Some(1.0), 0.5));
        let last_words = format!(
            "trap \"{}; echo 9; exit 3\" TERM; {one}; sleep 20 & wait",
            two.replace('"', "\\\"")
        );
        assert_eq!(run(&last_words, Some(1.0)), at(Some(2.0), 0.25));
        let looks = format!(
            "trap '' TERM; {one}; while [ ! -e $WIMBLE_STOP_FILE ]; do sleep 0.05; done; {two}"
        );
        assert_eq!(run(&looks, Some(1.0)), at(Some(2.0), 0.25));
        for (script, words) in [
            (format!("{one}; exit 3"), "exit status: 3"),
            (
                format!("{one}; echo '{{{{\"step\": 2, \"value\": NaN}}}}'"),
                "its last step could not be read",
            ),
            ("echo hello".to_owned(), "no result: print a number"),
            ("echo '{{\"step\": 99, \"value\": 1}}'".to_owned(), "no result"),
        ] {
            let Ok(Finding { outcome: Outcome::Failed(failure), .. }) = run(&script, None) else {
                panic!("{script}")
            };
            assert!(failure.reason.contains(words), "{script}: {}", failure.reason);
        }
    }
}
