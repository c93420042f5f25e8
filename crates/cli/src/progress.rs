//! The progress of a run, on standard error: a bar on a terminal, plain lines elsewhere.

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wimble::goal::Goal;
use wimble::outcome::{Failure, Measurement};
use wimble_study::runner::{Damaged, Event};
use wimble_study::study_file::duration;
use wimble_study::{Clock as _, Counts, Outcome, Study, SystemClock, Timestamp};

use crate::fidelity;
use crate::front;
use crate::storage::quoted;

/// How often the bar is brought up to date.
const REFRESH: Duration = Duration::from_millis(200);

/// What a user sees of a run.
pub struct Display {
    bar: ProgressBar,
    kind: Kind,
    began: Instant,
    time: Option<Duration>,
    /// Trials that had an outcome before.
    before: u64,
    budget: u64,
    goal: Goal,
    standout: Mutex<Standout>,
    /// Where results wait for the storage.
    kept: PathBuf,
    is_unreachable: AtomicBool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quiet,
    Lines,
    Bar,
}

impl Display {
    /// The display of a run that begins.
    pub fn new(
        study: &Study,
        time: Option<Duration>,
        quiet: bool,
        existed: bool,
        kept: &Path,
    ) -> Result<Self> {
        let kind = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Kind::Quiet,
            (false, true) => Kind::Bar,
            (false, false) => Kind::Lines,
        };
        let counts = study.counts()?;
        let budget = study.store().study(&study.settings().name)?.settings.budget;
        let bar = match kind {
            Kind::Bar => ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr()),
            Kind::Quiet | Kind::Lines => ProgressBar::hidden(),
        };
        let display = Self {
            bar,
            kind,
            began: Instant::now(),
            time,
            before: counts.finished(),
            budget,
            goal: study.settings().goal.clone(),
            standout: Mutex::default(),
            kept: kept.to_owned(),
            is_unreachable: AtomicBool::new(false),
        };
        display.bar.set_style(ProgressStyle::with_template("{bar:20} {msg}")?);
        if existed && counts.total() > 0 {
            display.say(&format!(
                "continuing study `{}`: {} trials are finished",
                study.settings().name,
                counts.finished()
            ));
        }
        Ok(display)
    }

    /// A line for the user, above the bar.
    pub fn say(&self, line: &str) {
        let line = crate::terminal::plain(line);
        match self.kind {
            Kind::Quiet => {}
            Kind::Lines => print(&line),
            Kind::Bar => self.bar.println(line),
        }
    }

    /// Trouble that the user hears of even if the run is to be quiet.
    pub fn note(&self, line: &str) {
        match self.kind {
            Kind::Quiet => print(&format!("note: {}", crate::terminal::plain(line))),
            Kind::Lines | Kind::Bar => self.say(&format!("note: {line}")),
        }
    }

    /// Shows an event of the runner on this study.
    pub fn show(&self, study: &Study, event: &Event) {
        match event {
            Event::Told { trial, outcome: Outcome::Measured(measurement), took } => {
                if self.kind == Kind::Lines {
                    // One line at a time, so that the counts of a later line are not older.
                    let mut standout = self.standout.lock().unwrap_or_else(PoisonError::into_inner);
                    let counts = self.numbers(study, &mut standout);
                    let latest = counts.map_or_else(String::new, |counts| {
                        format!(" ({})", self.words(&counts, standout.words.as_deref()))
                    });
                    let took = took.map_or_else(
                        || "from an earlier run".to_owned(),
                        |took| format!("in {}", duration::show(took)),
                    );
                    let values = front::named(&self.goal, measurement);
                    let stopped = match self.goal.part(measurement) {
                        Some(_) => "stopped, ",
                        None => "",
                    };
                    self.say(&format!("trial {trial}: {stopped}{values} {took}{latest}"));
                }
            }
            Event::Told { trial, outcome: Outcome::Infeasible, .. } => {
                self.say(&format!("trial {trial}: infeasible"));
            }
            Event::Told { trial, outcome: Outcome::Failed(failure), .. } => {
                self.say(&format!("trial {trial}: failed: {}", in_a_line(failure)));
            }
            Event::Retried { trial, reason } => {
                self.say(&format!(
                    "trial {trial}: failed, retrying: {}",
                    first_line(reason)
                ));
            }
            Event::Paused { trial, at } => {
                if self.kind == Kind::Lines {
                    self.say(&format!("trial {trial}: paused{}", self.place(*at)));
                }
            }
            Event::Anew { trial, at } => self.say(&format!(
                "trial {trial}: begins anew, because its folder is not on this machine; it was{}",
                self.place(*at)
            )),
            Event::Released { trial } => self.say(&format!("trial {trial}: back in the queue")),
            Event::Dropped { trial, reason } => {
                self.say(&format!("trial {trial}: dropped: {reason}"));
            }
            Event::Damaged(Damaged { file, reason }) => self.say(&format!(
                "{}: the result of an earlier run, which cannot be read ({reason}); its trial is run again",
                file.display()
            )),
            Event::Kept { trial, outcome, trouble: None } => {
                self.say(&format!("trial {trial}: {outcome}, saved until the storage is reachable"));
            }
            Event::Kept { trial, outcome, trouble: Some(trouble) } => self.say(&format!(
                "trial {trial}: {outcome}, kept in memory until the storage is reachable, because {} cannot be written: \
                 {trouble}",
                self.kept.display()
            )),
            Event::StorageAway { reason, lasted, patience } => {
                self.is_unreachable.store(true, Ordering::SeqCst);
                self.say(&self.absence(reason, *lasted, *patience));
            }
            Event::StorageBack { lasted } => {
                self.is_unreachable.store(false, Ordering::SeqCst);
                self.say(&format!("storage reachable again after {}", duration::show(*lasted)));
            }
            Event::StepsLeftOut { trial, count, reason } => {
                let steps = if *count == 1 { "step was" } else { "steps were" };
                self.say(&format!("trial {trial}: {count} {steps} left out: {reason}"));
            }
            Event::Unjudged { reason } => self.say(&format!(
                "no trial is stopped early, because the stopping rule cannot judge: {reason}"
            )),
            Event::StudyPaused => self.say(&format!(
                "the study is paused: no trial begins until `wimble resume {}`",
                quoted(&study.settings().name)
            )),
            Event::StudyResumed => self.say("the study goes on"),
            Event::Started(_) => {}
        }
    }

    /// ` at 9/81`.
    fn place(&self, fidelity: f64) -> String {
        let reached = Measurement { fidelity: Some(fidelity), ..0.0.into() };
        fidelity::part(&self.goal, &reached)
    }

    /// What an unreachable storage means for the user.
    fn absence(&self, reason: &str, lasted: Duration, patience: Duration) -> String {
        let since = Timestamp(SystemClock.now().0 - lasted.as_millis() as i64).to_utc();
        let left = duration::show(Duration::from_secs(patience.saturating_sub(lasted).as_secs()));
        let folder = self.kept.display();
        if lasted < REFRESH {
            format!(
                "storage unreachable since {since}: {reason}\n\
                 Commands keep running. Their results are saved in {folder} and stored once it is back; \
                 wimble keeps trying for {left} (--patience)"
            )
        } else {
            format!("storage unreachable since {since}; wimble keeps trying for {left} more")
        }
    }

    /// Updates the numbers until `over`.
    pub fn keep(&self, study: &Study, over: &AtomicBool) {
        while !over.load(Ordering::SeqCst) {
            if self.kind == Kind::Bar {
                let mut standout = self.standout.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(counts) = self.numbers(study, &mut standout) {
                    self.update(&counts, standout.words.as_deref());
                }
            }
            std::thread::sleep(REFRESH);
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// The counts as they are now, and what stands out. The runner deals with an unreachable storage; the numbers wait.
    fn numbers(&self, study: &Study, standout: &mut Standout) -> Option<Counts> {
        if self.is_unreachable.load(Ordering::SeqCst) {
            return None;
        }
        let counts = study.counts().ok()?;
        standout.look(study).ok()?;
        Some(counts)
    }

    /// How many trials are done, and how many there will be; `None` if there is no limit.
    fn extent(&self, counts: &Counts) -> (u64, Option<u64>) {
        let done = counts.finished().saturating_sub(counts.imported);
        let total = self.budget.max(counts.total().saturating_sub(counts.imported));
        (done, Some(total).filter(|total| *total < i64::MAX as u64 / 2))
    }

    fn words(&self, counts: &Counts, standout: Option<&str>) -> String {
        let (done, total) = self.extent(counts);
        let mut text = match total {
            None => format!("{done} done"),
            Some(total) => format!("{done}/{total}"),
        };
        text.push_str(&format!(", {} running", counts.running));
        if counts.paused > 0 {
            text.push_str(&format!(", {} paused", counts.paused));
        }
        if counts.failed > 0 {
            text.push_str(&format!(", {} failed", counts.failed));
        }
        if let Some(words) = standout {
            text.push_str(&format!(", {words}"));
        }
        let left = self.left(counts, total.unwrap_or(u64::MAX));
        if let Some(left) = left.filter(|left| *left >= Duration::from_secs(1)) {
            text.push_str(&format!(", {} left", duration::show(left)));
        }
        text
    }

    fn update(&self, counts: &Counts, standout: Option<&str>) {
        let (done, total) = self.extent(counts);
        self.bar.set_length(total.unwrap_or(1));
        self.bar.set_position(total.map_or(0, |_| done));
        self.bar.set_message(self.words(counts, standout));
    }

    /// The time left at the rate so far, at most until the time budget is over.
    fn left(&self, counts: &Counts, total: u64) -> Option<Duration> {
        let elapsed = self.began.elapsed();
        let until = self.time.map(|time| time.saturating_sub(elapsed));
        let done = counts.finished().saturating_sub(self.before);
        let rest = total.saturating_sub(counts.finished().saturating_sub(counts.imported));
        let seconds = elapsed.as_secs_f64() / done as f64 * rest as f64;
        let rate = (done > 0)
            .then(|| Duration::try_from_secs_f64(seconds).ok())
            .flatten()
            .map(|left| Duration::from_secs(left.as_secs()));
        match (rate, until) {
            (Some(rate), Some(until)) => Some(rate.min(until)),
            (rate, until) => rate.or(until),
        }
    }
}

/// What stands out so far, in words that are made anew only when trials came.
#[derive(Default)]
struct Standout {
    trials: Option<(u64, u64)>,
    words: Option<String>,
}

impl Standout {
    fn look(&mut self, study: &Study) -> wimble_study::Result<()> {
        if study.settings().goal.objectives().len() == 1 {
            self.words = front::in_short(study)?;
            return Ok(());
        }
        let known = self.trials;
        let words = study.standing(|standing| {
            let trials = (standing.meeting(), standing.violating());
            (known != Some(trials)).then(|| (trials, front::front_in_short(standing)))
        })?;
        if let Some((trials, words)) = words {
            (self.trials, self.words) = (Some(trials), words);
        }
        Ok(())
    }
}

/// Six digits, for a narrow line; the report at the end has all of them.
pub fn short(value: f64) -> String {
    let plain = value == 0.0 || (1e-3..1e6).contains(&value.abs());
    if plain {
        let digits =
            5_i32.saturating_sub(value.abs().max(1.0).log10().floor() as i32).max(0) as usize;
        let text = format!("{value:.digits$}");
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    } else {
        format!("{value:.4e}")
    }
}

/// A line on standard error. A run goes on where nobody reads its lines any more, as after `wimble run … 2>&1 | head`.
fn print(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Characters of a command's last words that a line shows.
const LAST_WORDS: usize = 120;

/// Why a trial failed, and the last line that its command printed, which most often says what to mend.
fn in_a_line(failure: &Failure) -> String {
    let reason = first_line(&failure.reason);
    let last = failure.output.lines().map(str::trim).rfind(|line| !line.is_empty());
    match last.filter(|last| !reason.contains(last)) {
        None => reason.to_owned(),
        Some(last) if last.chars().count() <= LAST_WORDS => format!("{reason}: {last}"),
        Some(last) => format!("{reason}: {}…", last.chars().take(LAST_WORDS).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_with_the_last_words_of_its_command() {
        let failure = |output: &str| Failure {
            reason: "exit status: 2".to_owned(),
            output: output.to_owned(),
        };
        assert_eq!(in_a_line(&failure("")), "exit status: 2");
        assert_eq!(
            in_a_line(&failure("usage\nno such option\n \n")),
            "exit status: 2: no such option"
        );
        let long = in_a_line(&failure(&"é".repeat(500)));
        assert_eq!(long.chars().count(), "exit status: 2: ".len() + LAST_WORDS + 1);
    }

    #[test]
    fn values_are_short_and_not_wrong() {
        for (value, text) in [
            (0.0, "0"),
            (0.397887357, "0.39789"),
            (-3.0, "-3"),
            (123456.78, "123457"),
            (1e-7, "1.0000e-7"),
            (2.5e9, "2.5000e9"),
        ] {
            assert_eq!(short(value), text);
        }
    }
}
