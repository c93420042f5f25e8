//! `wimble run`: a study from its file to its best configuration.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use wimble_study::runner::process::Urgency;
use wimble_study::runner::{End, Stop, Summary};
use wimble_study::store::OutcomeKind;
use wimble_study::study_file::duration;
use wimble_study::{Best, Counts, Filter, Stage, Study};

use crate::best_trial;
use crate::exit::{CommandBroken, Interrupted, StorageGone, Usage};
use crate::fidelity::Spent;
use crate::front::Outlook;
use crate::given;
use crate::progress::Display;
use crate::storage::{self, Storage, quoted};
use crate::worker::{Plan, Worker};

/// How long a run that must stop at once may take to kill its commands.
const PATIENCE: Duration = Duration::from_millis(500);

/// How many trials of a front the end of a run shows.
const SHOWN: usize = 10;

/// Arguments of `wimble run`.
#[derive(Args)]
pub struct Arguments {
    /// The study file; `-` reads it from standard input
    #[arg(default_value = "study.toml")]
    file: PathBuf,
    #[command(flatten)]
    storage: Storage,
    /// Number of commands to run at the same time on this machine [default: as in the study file]
    #[arg(long, allow_negative_numbers = true, value_parser = given::whole::<u32>(1, 4_096))]
    workers: Option<u32>,
    /// Number of trials of the study; it may be raised later [default: as in the study file]
    #[arg(long, allow_negative_numbers = true, value_parser = given::whole::<u64>(1, u64::MAX))]
    trials: Option<u64>,
    /// Only join a study that exists in the storage; do not create it. Each machine runs the command of its own study file
    #[arg(long)]
    join: bool,
    /// The name of this worker, for `trials` and `doctor` [default: made from the machine's name]
    #[arg(long, value_name = "NAME")]
    worker: Option<String>,
    /// How long to keep trying when the storage becomes unreachable, such as 90s, 10m, 2d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = patience)]
    patience: Duration,
    /// Show the study in the browser while it runs, at this port of this machine [default: 8765]
    #[cfg(feature = "serve")]
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "8765")]
    serve: Option<u16>,
    /// Print only how the run ended
    #[arg(short, long)]
    quiet: bool,
    /// Print one JSON object at the end
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Whether the study is shown in the browser while it runs.
    #[cfg(feature = "serve")]
    fn has_page(&self) -> bool {
        self.serve.is_some()
    }

    #[cfg(not(feature = "serve"))]
    fn has_page(&self) -> bool {
        false
    }
}

fn patience(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| format!("it must be {}", duration::ALLOWED))
}

/// Runs the study and reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut file = storage::read(&arguments.file)?;
    let Some(evaluation) = file.evaluation.clone() else {
        let message = format!(
            "{}: `command` is missing: the program that evaluates a configuration",
            arguments.file.display()
        );
        return Err(Usage(message).into());
    };
    file.trials = arguments.trials.or(file.trials);
    file.workers = arguments.workers.map_or(file.workers, |workers| workers as usize);
    // The runner waits by itself, says so and can be interrupted.
    let store = arguments.storage.address()?.open_impatient()?;
    if arguments.join
        && let Err(error) = store.study(&file.name)
    {
        return Err(anyhow::Error::new(error)
            .context("--join works on a study that exists; leave it out to create it"));
    }
    let (study, existed) = storage::open_or_create(&store, &file)?;
    let stop = Stop::default();
    let home = std::path::absolute(storage::home(&arguments.file))
        .context("the folder of the study file")?;
    let time = file.time;
    let plan = Plan {
        evaluation,
        home,
        address: arguments.storage.address()?,
        name: arguments.worker.clone(),
        patience: arguments.patience,
        spend: file.spend.filter(|_| arguments.trials.is_none()),
        file,
    };
    let worker = Worker::new(plan, &store, study, stop.clone())?;
    let study = &worker.study;
    let began = Instant::now();
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let handle = signals.handle();
    let quiet = arguments.quiet || arguments.json;
    let display = Display::new(study, time, quiet, existed, worker.kept())?;
    #[cfg(feature = "serve")]
    let _page = match arguments.serve {
        Some(port) => {
            let server = super::serve::local(&arguments.storage, port)?;
            display.say(&format!("the page is at {}", server.link(wimble_server::Level::Read)));
            Some(server)
        }
        None => None,
    };
    let over = AtomicBool::new(false);
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            for _signal in &mut signals {
                stop.request();
                if stop.urgency() == Urgency::Kill {
                    leave_at_once(&over);
                }
                display
                    .say("stopping: waiting for the commands to end; interrupt again to kill them");
            }
        });
        scope.spawn(|| display.keep(study, &over));
        let summary = worker.run(&|event| display.show(study, event), &|text| display.note(text));
        over.store(true, Ordering::SeqCst);
        handle.close();
        summary
    });
    display.finish();
    report(arguments, &worker, &summary?, began.elapsed())
}

/// Waits until the slots have killed their commands, and for nothing else.
fn leave_at_once(over: &AtomicBool) {
    let since = Instant::now();
    while !over.load(Ordering::SeqCst) {
        if since.elapsed() > PATIENCE {
            std::process::exit(130);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn report(arguments: &Arguments, worker: &Worker, summary: &Summary, took: Duration) -> Result<()> {
    let study = &worker.study;
    // The run says how it ended even if the storage is unreachable.
    let (counts, best) = match (study.counts(), study.best()) {
        (Ok(counts), Ok(best)) => (Some(counts), best),
        _ => (None, None),
    };
    let goal = &study.settings().goal;
    let (is_single, several) = (goal.is_single(), goal.objectives().len() > 1);
    let recommended = if several { None } else { recommended(study, summary) };
    let outlook = |count: usize| {
        let reachable = counts.is_some() && !is_single;
        reachable.then(|| Outlook::of(study, count)).transpose()
    };
    let spent = match counts {
        Some(_) => Spent::of(study)?,
        None => None,
    };
    let json = || -> Result<serde_json::Value> {
        let end = match summary.end {
            End::BudgetSpent => "budget-spent",
            End::GainedEnough(_) => "gained-enough",
            End::TimeOver => "time-over",
            End::Stopped => "stopped",
            End::NothingWorks(_) | End::CannotRun(_) => "command-broken",
            End::StorageGone(_) => "storage-gone",
        };
        let mut report = serde_json::json!({
            "study": study.settings().name,
            "end": end,
            "told": summary.told,
            "released": summary.released,
            "kept": summary.kept,
            "seconds": took.as_secs_f64(),
            "counts": counts,
            "best": best.as_ref().map(best_trial::json),
            "recommended": recommended.as_ref().map(best_trial::json),
        });
        if let End::GainedEnough(gain) = &summary.end {
            report["gain"] = serde_json::to_value(gain)?;
        }
        if let (Some(fields), Some(spent)) = (report.as_object_mut(), &spent) {
            fields.insert("stopped".to_owned(), spent.stopped.into());
            fields.insert("paused".to_owned(), spent.paused.into());
            fields.insert("fidelity_spent".to_owned(), spent.spent.into());
            fields.insert("fidelity_in_full".to_owned(), spent.in_full.into());
        }
        if let Some(fields) = report.as_object_mut() {
            if several {
                fields.retain(|name, _| !["best", "recommended"].contains(&name.as_str()));
            }
            if let Some(outlook) = outlook(usize::MAX)? {
                fields.extend(outlook.json()?);
            }
        }
        Ok(report)
    };
    let mut out = crate::terminal::out();
    if arguments.json {
        writeln!(out, "{}", json()?)?;
    } else {
        write!(out, "{}", ending(summary, counts.as_ref(), took))?;
        if let End::GainedEnough(gain) = &summary.end {
            let expected = crate::progress::short(gain.expected);
            writeln!(
                out,
                "{} more trials are expected to improve the best value by about {expected}: by `stop-when` that is too little to \
                 go on.",
                gain.trials
            )?;
        }
        if let Some(spent) = &spent {
            writeln!(out, "{}: {}.", spent.ended_early(), spent.text(goal))?;
        }
        if summary.kept > 0 {
            let (results, folder) = (plural(summary.kept, "result"), worker.kept().display());
            writeln!(
                out,
                "{results} could not be stored; the next run stores what is in {folder}"
            )?;
        }
        if let Some(best) = best.as_ref().filter(|_| is_single) {
            write!(out, "\n{}", best_trial::describe("Best", study.settings(), best))?;
        }
        let shown = if several { SHOWN } else { 1 };
        if let Some(outlook) = outlook(shown)?.filter(|outlook| !outlook.is_empty()) {
            write!(out, "\n{}", outlook.text(study))?;
        }
        if let (Some(kept), Some(best)) = (&recommended, &best)
            && kept.trial != best.trial
        {
            writeln!(out, "\n{}", best_trial::expected_best(study, kept))?;
            write!(out, "{}", best_trial::describe("Recommended", study.settings(), kept))?;
        }
        let name = quoted(&study.settings().name);
        let worth_a_look = match &counts {
            Some(counts) if best.is_none() && counts.failed > 0 => {
                format!("trials {name} --state failed")
            }
            Some(counts) if best.is_none() && counts.infeasible > 0 => {
                format!("trials {name} --state infeasible")
            }
            _ if several => format!("best {name}"),
            _ => format!("trials {name} --sort value"),
        };
        if let Some(counts) = &counts
            && best.is_some()
            && 2 * counts.failed > counts.finished()
            && let Some(trial) = first_failed(study)
        {
            let words = arguments.storage.words();
            writeln!(
                out,
                "\nMost trials failed; why trial {trial} did: wimble show {name} {trial}{words}"
            )?;
        }
        writeln!(out, "\n{}", next(arguments, study, summary, &worth_a_look))?;
    }
    out.flush()?;
    if worker.has_end()
        && let Err(reason) =
            json().map_err(|error| error.to_string()).and_then(|report| worker.end(report))
    {
        crate::terminal::say(&format!("note: the command of `on.end` failed: {reason}"));
    }
    match &summary.end {
        // Every trial is finished, and none has a value: whatever calls wimble must not take that for a result.
        End::BudgetSpent | End::GainedEnough(_)
            if best.is_none() && counts.is_some_and(|counts| counts.finished() > 0) =>
        {
            let message = match counts.is_some_and(|counts| counts.failed > 0) {
                true => "no trial has a value; `wimble show TRIAL` says why a trial failed",
                false => "no trial has a value: all configurations that were tried are infeasible",
            };
            Err(CommandBroken(message.to_owned()).into())
        }
        End::BudgetSpent | End::GainedEnough(_) | End::TimeOver => Ok(()),
        End::Stopped => Err(Interrupted.into()),
        End::CannotRun(reason) => Err(CommandBroken(reason.clone()).into()),
        End::StorageGone(reason) => {
            let patience = duration::show(arguments.patience);
            let message = format!(
                "the storage was unreachable for longer than {patience} (--patience), so the run ended: {reason}"
            );
            Err(StorageGone(message).into())
        }
        End::NothingWorks(failure) => {
            let message = format!(
                "the first trials all failed, so nothing more was started. The latest: {}\n{}",
                failure.reason, failure.output
            );
            Err(CommandBroken(message.trim_end().to_owned()).into())
        }
    }
}

/// The trial to keep, if finding it costs little, because a run that proposed has most of the history in memory. A run
/// that was stopped does not look for it: its user wants it to end.
fn recommended(study: &Study, summary: &Summary) -> Option<Best> {
    if summary.told == 0
        || !matches!(summary.end, End::BudgetSpent | End::GainedEnough(_) | End::TimeOver)
    {
        return None;
    }
    study.recommend().unwrap_or_else(|error| {
        crate::terminal::say(&format!("note: {error}"));
        None
    })
}

/// The first trial that failed. What cannot be read is not worth an error at the end of a run.
fn first_failed(study: &Study) -> Option<u64> {
    let outcome = Some(OutcomeKind::Failed);
    let failed =
        Filter { stage: Some(Stage::Finished), outcome, limit: Some(1), ..Filter::default() };
    Some(study.trials(&failed).ok()?.first()?.id)
}

fn plural(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

fn ending(summary: &Summary, counts: Option<&Counts>, took: Duration) -> String {
    let how = match summary.end {
        End::BudgetSpent | End::GainedEnough(_) => "Done",
        End::TimeOver => "Time is up",
        End::Stopped => "Stopped",
        End::NothingWorks(_) | End::CannotRun(_) | End::StorageGone(_) => "Given up",
    };
    let took = duration::show(took);
    let Some(counts) = counts else {
        return format!(
            "{how} after {took}: {} in this run; the storage is unreachable.\n",
            plural(summary.told, "result")
        );
    };
    let mut parts = vec![format!("{} of {} trials with a value", counts.valued, counts.total())];
    let mut part = |count: u64, words: &str| {
        if count > 0 {
            parts.push(format!("{count} {words}"));
        }
    };
    part(counts.failed, "failed");
    part(counts.infeasible, "infeasible");
    part(counts.paused, "paused");
    part(counts.running, "running elsewhere");
    part(counts.queued, "in the queue");
    format!("{how} after {took}: {}.\n", parts.join(", "))
}

fn next(arguments: &Arguments, study: &Study, summary: &Summary, worth_a_look: &str) -> String {
    let (file, words) = (quoted(&arguments.file.display().to_string()), arguments.storage.words());
    let name = quoted(&study.settings().name);
    let page = if arguments.has_page() {
        format!("\nThe page ended with the run. To open it again: wimble serve{words}")
    } else {
        String::new()
    };
    match &summary.end {
        End::BudgetSpent | End::GainedEnough(_) => {
            format!("Next: wimble {worth_a_look}{words}{page}")
        }
        End::TimeOver | End::Stopped => format!("To continue: wimble run {file}{words}{page}"),
        End::CannotRun(_) | End::StorageGone(_) => {
            format!("Once this is fixed: wimble run {file}{words}")
        }
        // Failures are evidence against their configurations, which are not to blame.
        End::NothingWorks(_) => format!(
            "To forget these failures: wimble delete {name}{words}\nOnce this is fixed: wimble run {file}{words}"
        ),
    }
}
