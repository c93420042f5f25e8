//! `wimble show`: everything about one trial.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use wimble::forecast::{Forecast, Good};
use wimble_study::exchange::Row;
use wimble_study::runner::trial_folder;
use wimble_study::study_file::duration;
use wimble_study::{Neighbours, Origin, Outcome, Settings, Study, Trial};

use crate::best_trial;
use crate::columns::attempts;
use crate::exit::Usage;
use crate::fidelity;
use crate::format::Print;
use crate::front;
use crate::progress::short;
use crate::storage::{self, Storage, Which};

/// How many neighbours are shown.
const NEIGHBOURS: usize = 3;
/// How many lines of the log are shown.
const LINES: usize = 20;
/// How much of a log is read, in bytes.
const SHOWN: u64 = 64 << 10;

/// Arguments of `wimble show`.
#[derive(Args)]
pub struct Arguments {
    /// The study, if the storage has more than one, and the number of the trial: `wimble show bake 12`
    #[arg(value_name = "[STUDY] TRIAL", num_args = 1..=2, required = true)]
    words: Vec<String>,
    #[command(flatten)]
    storage: Storage,
    /// Also show what the method's model predicts here: a value, or the probability of a good one.
    /// Reads the whole history
    #[arg(long)]
    model: bool,
    #[command(flatten)]
    print: Print,
}

impl Arguments {
    /// Which study, and which of its trials. The number may also come first.
    fn meant(&self) -> Result<(Which, u64)> {
        let number = |word: &String| word.parse::<u64>().ok();
        let (study, trial) = match &self.words[..] {
            [only] => (None, number(only)),
            [study, trial] if number(trial).is_some() => (Some(study), number(trial)),
            [trial, study] => (Some(study), number(trial)),
            _ => (None, None),
        };
        let Some(trial) = trial else {
            let words = self.words.join(" ");
            let message =
                format!("`{words}` names no trial; write its number: wimble show STUDY 12");
            return Err(Usage(message).into());
        };
        Ok((Which::of(study.cloned(), self.storage.clone()), trial))
    }
}

/// Prints the trial.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (which, number) = arguments.meant()?;
    let study = which.look()?;
    let trial = study.trial(number)?;
    let record = study.store().study(&study.settings().name)?;
    // Users and other programs made the rest.
    let engine = (trial.origin == Origin::Proposed).then(|| record.engine_of(trial.id));
    let evidence = Neighbours::read(&**study.store(), &study.settings().name)?;
    let neighbours = evidence.nearest(study.settings(), &trial, NEIGHBOURS)?;
    let forecast = if arguments.model {
        study.predict(std::slice::from_ref(&trial.configuration))?.and_then(|mut all| all.pop())
    } else {
        None
    };
    let log = log(&which, &study, &trial)?;
    let steps = match study.settings().goal.partial() {
        Some(_) => study.steps(trial.id)?,
        None => Vec::new(),
    };
    let note = study.notes()?.into_iter().find(|note| note.trial == trial.id);
    let mut out = crate::terminal::out();
    if arguments.print.json {
        let goal = &study.settings().goal;
        let mut json = serde_json::to_value(Row::new(&trial, goal).with_steps(&steps, goal))?;
        json["nearest"] = serde_json::to_value(&neighbours)?;
        json["nearest_among"] = serde_json::json!({
            "trials": evidence.trials.len(),
            "only_the_best": evidence.only_the_best,
        });
        json["output"] = output(&trial).into();
        json["engine"] = engine.into();
        json["attempts"] = attempts(&trial).into();
        if let Some(note) = &note {
            json["note"] = note.text.clone().into();
        }
        if arguments.model {
            json["model"] = serde_json::to_value(forecast)?;
        }
        writeln!(out, "{json}")?;
        return Ok(());
    }
    let goal = &study.settings().goal;
    let engine = engine.filter(|_| record.engines.len() > 1);
    write!(out, "{}", describe(&trial, study.settings(), engine))?;
    write!(out, "{}", fidelity::curve(goal, &steps))?;
    if let Some(note) = &note {
        writeln!(out, "\nNote, {}\n  {}", note.at.to_utc(), note.text.replace('\n', "\n  "))?;
    }
    if arguments.model {
        writeln!(out, "\n{}", expected(forecast.as_ref(), study.settings().method.name()))?;
    }
    if !neighbours.is_empty() {
        let among = if evidence.only_the_best {
            format!(", among the {} best trials", evidence.trials.len())
        } else {
            String::new()
        };
        writeln!(out, "\nNearest trials{among}")?;
        for near in &neighbours {
            let objectives: Vec<String> =
                near.objectives.iter().map(|(_, measured)| short(measured.value)).collect();
            let what = match (near.value, objectives.is_empty()) {
                (Some(value), _) => short(value),
                (None, false) => objectives.join(", "),
                (None, true) => near.state.to_owned(),
            };
            writeln!(
                out,
                "  trial {:<6} {what:<12} at {:.3} of the diagonal",
                near.trial, near.distance
            )?;
        }
    }
    if let Some((name, text)) =
        log.or_else(|| output(&trial).map(|text| ("output".to_owned(), text.to_owned())))
    {
        writeln!(out, "\nEnd of {name}")?;
        let lines: Vec<&str> = text.lines().collect();
        for line in &lines[lines.len().saturating_sub(LINES)..] {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// The trial in words, with the version of wimble that proposed it if that is given.
fn describe(trial: &Trial, settings: &Settings, engine: Option<&str>) -> String {
    let goal = &settings.goal;
    let row = Row::new(trial, goal);
    let told = trial.outcome().and_then(Outcome::measurement);
    let part = told.map(|told| fidelity::part(goal, told)).unwrap_or_default();
    let paused = fidelity::paused(goal, trial);
    let mut text = format!("Trial {}: {}{part}{paused}", trial.id, row.state);
    let is_single = goal.whole().is_single();
    if let Some(value) = row.value.filter(|_| is_single) {
        text.push_str(&format!(", value {value}"));
        let deviation = row.deviation.map(|deviation| format!(" ± {deviation}"));
        text.push_str(&deviation.unwrap_or_default());
    }
    if let Some(reason) = &row.reason {
        text.push_str(&format!(": {reason}"));
    }
    text.push('\n');
    let values = told.filter(|_| !is_single);
    let values = values.map(|values| front::value_lines(goal, values)).unwrap_or_default();
    let width = values.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, value) in &values {
        text.push_str(&format!("  {name:width$}  {value}\n"));
    }
    if !values.is_empty() {
        text.push_str("parameters\n");
    }
    text.push_str(&best_trial::parameters(&settings.space, &trial.configuration));
    if !row.attributes.is_empty() {
        text.push_str("attributes\n");
        let width = row.attributes.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        for (name, value) in row.attributes.iter() {
            text.push_str(&format!("  {name:width$}  {value}\n"));
        }
    }
    let mut line = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(&format!("{name:<9} {value}\n"));
        }
    };
    line("engine", engine.map(|version| format!("wimble {version} proposed it")));
    line("worker", row.worker);
    line("started", row.started);
    let took =
        trial.started().zip(trial.finished()).map(|(from, to)| (to.0 - from.0).max(0) as u64);
    let took = took
        .map(|took| format!(", after {}", duration::show(std::time::Duration::from_millis(took))));
    line("finished", row.finished.map(|time| time + &took.unwrap_or_default()));
    line(
        "lost",
        (trial.lost > 0).then(|| format!("{} times, because its worker died", trial.lost)),
    );
    line("attempts", (trial.lost > 0).then(|| attempts(trial).to_string()));
    text
}

/// What the method predicts, in words.
fn expected(forecast: Option<&Forecast>, method: &str) -> String {
    let Some(Forecast { mean, deviation, good, success, meets, .. }) = forecast else {
        return format!("Model: {method} has none, or nothing to learn from yet");
    };
    let mut lines = Vec::new();
    if let Some((mean, deviation)) = mean.zip(*deviation) {
        lines.push(format!("expects {} ± {}", short(mean), short(deviation)));
    }
    if let Some(Good { threshold, probability, upper_bound }) = good {
        let bound = upper_bound.map_or(String::new(), |bound| format!(", at most {bound:.4}"));
        let threshold = threshold.map_or_else(|| "the good trials".to_owned(), short);
        lines.push(format!(
            "a value as good as {threshold} has probability {probability:.4}{bound}"
        ));
    }
    if let Some(meets) = meets {
        lines.push(format!("it meets all constraints with probability {meets:.4}"));
    }
    if let Some(success) = success {
        lines.push(format!("the trial succeeds with probability {success:.4}"));
    }
    format!("Model: {}", lines.join("; "))
}

/// The end of what a failed trial printed.
fn output(trial: &Trial) -> Option<&str> {
    match trial.outcome() {
        Some(Outcome::Failed(failure)) if !failure.output.is_empty() => Some(&failure.output),
        _ => None,
    }
}

/// The log of a trial that has a folder, if the study was named by its file.
fn log(which: &Which, study: &Study, trial: &Trial) -> Result<Option<(String, String)>> {
    let Some((path, file)) = which.path().zip(which.file()?) else {
        return Ok(None);
    };
    let Some(folders) = file.evaluation.and_then(|evaluation| evaluation.folders) else {
        return Ok(None);
    };
    let (folders, name) = (storage::home(&path).join(folders), &file.name);
    let mut folder = trial_folder::path(&folders, &study.store().identity()?, name, trial.id);
    if !folder.exists() {
        folder = trial_folder::path_before(&folders, name, trial.id);
    }
    let read = |name: &str| -> Option<(String, String)> {
        let log: PathBuf = folder.join(name);
        let text = end_of(&log).ok()?;
        (!text.trim().is_empty()).then(|| (log.display().to_string(), text))
    };
    let names = match trial.outcome() {
        Some(Outcome::Failed(_)) => ["stderr.log", "stdout.log"],
        _ => ["stdout.log", "stderr.log"],
    };
    Ok(names.into_iter().find_map(read))
}

/// The last lines of a log, which may be of any length.
fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(log)?;
    let length = file.metadata()?.len();
    let cut = length.saturating_sub(SHOWN);
    file.seek(SeekFrom::Start(cut))?;
    let mut bytes = Vec::new();
    file.take(SHOWN).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if cut == 0 {
        return Ok(text);
    }
    let begin = text.find('\n').map_or(0, |at| at + 1);
    Ok(format!("({length} bytes, of which the end is shown)\n{}", &text[begin..]))
}
