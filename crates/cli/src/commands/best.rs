//! `wimble best`: the best configurations, and the one to keep; with several objectives, the front.
//!
//! Under one objective, trials are listed by their values. Where values are noisy, the best of many may be luck, and the method may
//! recommend another trial; a line below the table says which. To find it the method reads the whole history. In a
//! study of more than [`SMALL`] trials it does so only with `--recommended`.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;
use wimble::standing::Standing;
use wimble_study::exchange::Row;
use wimble_study::{Best, Study, Trial};

use crate::exit::usage;
use crate::front::{Outlook, SCREEN, some_of, spread, trials as counted};
use crate::given;
use crate::storage::{Which, quoted};
use crate::{best_trial, fidelity, table};

/// The most trials for which `best` finds the recommended one without `--recommended`: it takes a fraction of a second.
const SMALL: u64 = 10_000;

/// Arguments of `wimble best`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Number of trials to show [default: 1; with several objectives 20, spread over the front]
    #[arg(short = 'n', long, allow_negative_numbers = true, value_parser = given::whole::<u32>(1, u64::from(u32::MAX)))]
    count: Option<u32>,
    /// Show only the trial to keep. Where values are noisy the best value may be luck, and a method that models the noise
    /// (auto) may recommend another trial. Reads the whole history
    #[arg(long)]
    recommended: bool,
    /// Print JSON: one object, or a list with --count; with several objectives one object with `front`, all of it unless
    /// --count is given. `recommended` is the number of the trial to keep; in a study of more
    /// than 10000 trials it is there only with --recommended
    #[arg(long)]
    json: bool,
}

/// Prints the best trials.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    if study.settings().goal.objectives().len() > 1 {
        return front(arguments, &study);
    }
    if arguments.recommended && arguments.count.is_some() {
        return Err(usage(
            "a study of one objective has one recommended trial: leave out -n, or --recommended",
        ));
    }
    let goal = &study.settings().goal;
    let count = arguments.count.unwrap_or(1) as usize;
    let mut trials = study.best_trials(count)?;
    let Some(best) = trials.first().cloned().and_then(|trial| trial.into_best(goal)) else {
        return paused(arguments, &study);
    };
    let recommended = match arguments.recommended || study.counts()?.finished() <= SMALL {
        true => study.recommend()?,
        false => None,
    };
    if let Some(kept) = recommended.as_ref().filter(|_| arguments.recommended) {
        trials = vec![study.trial(kept.trial)?];
    }
    let mut out = crate::terminal::out();
    if arguments.json {
        let outlook = match goal.is_single() {
            true => None,
            false => Some(Outlook::of(&study, 1)?.json()?),
        };
        let mut rows = Vec::with_capacity(trials.len());
        for trial in &trials {
            let mut row = serde_json::to_value(Row::new(trial, goal))?;
            if let Some(kept) = &recommended {
                row["recommended"] = kept.trial.into();
            }
            if let (Some(fields), Some(row)) = (&outlook, row.as_object_mut()) {
                let added = fields.iter().filter(|(name, _)| *name != "nearest");
                row.extend(added.map(|(name, value)| (name.clone(), value.clone())));
            }
            rows.push(row);
        }
        match &rows[..] {
            [only] if count == 1 => writeln!(out, "{only}")?,
            rows => writeln!(out, "{}", serde_json::to_string(rows)?)?,
        }
        return Ok(());
    }
    if let Some(kept) = recommended.as_ref().filter(|_| arguments.recommended) {
        write!(out, "{}", described(&study, "Recommended", kept)?)?;
        writeln!(out, "{}", reason(&study, kept, &best))?;
        return Ok(());
    }
    match count {
        1 if goal.is_single() => {
            write!(out, "{}", best_trial::describe("Best", study.settings(), &best))?;
        }
        _ if best.violating => write!(out, "{}", Outlook::of(&study, 1)?.text(&study))?,
        1 => write!(out, "{}", Outlook::of(&study, 1)?.text(&study))?,
        _ => write!(out, "{}", table::trials(study.settings(), &trials).text)?,
    }
    if let Some(kept) = recommended.filter(|kept| kept.trial != best.trial) {
        let (name, words) = (quoted(&study.settings().name), arguments.which.storage.words());
        writeln!(out, "\n{}", best_trial::expected_best(&study, &kept))?;
        writeln!(out, "To see it: wimble best {name} --recommended{words}")?;
    }
    Ok(())
}

/// The best of the paused trials, before any other has a value.
fn paused(arguments: &Arguments, study: &Study) -> Result<()> {
    let Some(best) = study.best()? else { return nothing(study) };
    let goal = &study.settings().goal;
    let mut out = crate::terminal::out();
    if arguments.json {
        writeln!(out, "{}", best_trial::json(&best))?;
        return Ok(());
    }
    write!(out, "{}", best_trial::describe("Best", study.settings(), &best))?;
    if let Some(reached) = best.fidelity {
        writeln!(out, "\n{}", fidelity::so_far(goal, reached))?;
    }
    Ok(())
}

/// That there is no value to show.
fn nothing(study: &Study) -> Result<()> {
    let counts = study.counts()?;
    bail!(
        "study `{}` has no value yet: {} running, {} queued, {} failed, {} infeasible",
        study.settings().name,
        counts.running,
        counts.queued,
        counts.failed,
        counts.infeasible
    );
}

/// Prints the front.
fn front(arguments: &Arguments, study: &Study) -> Result<()> {
    let whole = if arguments.json { usize::MAX } else { SCREEN };
    let count = arguments.count.map_or(whole, |count| count as usize);
    let outlook = Outlook::of(study, count)?;
    if outlook.is_empty() {
        return nothing(study);
    }
    let mut out = crate::terminal::out();
    if !arguments.recommended {
        match arguments.json {
            true => writeln!(out, "{}", serde_json::Value::Object(outlook.json()?))?,
            false => write!(out, "{}", outlook.text(study))?,
        }
        return Ok(());
    }
    let kept = study.recommend_front()?;
    if arguments.json {
        let mut fields = outlook.json()?;
        fields.insert("recommended".to_owned(), kept.into());
        writeln!(out, "{}", serde_json::Value::Object(fields))?;
        return Ok(());
    }
    let trials: Vec<Trial> = spread(kept.len(), count)
        .into_iter()
        .map(|place| study.trial(kept[place]))
        .collect::<Result<_, _>>()?;
    let method = study.settings().method.name();
    writeln!(out, "Recommended by {method}: a front of {}", counted(kept.len() as u64))?;
    if trials.len() < kept.len() {
        writeln!(out, "{}", some_of(trials.len(), kept.len()))?;
    }
    writeln!(out)?;
    write!(out, "{}", table::values(study.settings(), &trials).text)?;
    let mut by_values = study.standing(Standing::front)?;
    let mut by_model = kept;
    by_values.sort_unstable();
    by_model.sort_unstable();
    let same = by_values == by_model;
    let why = match same {
        true => "It is the front of the values as they were told.",
        false => "Values are noisy: these are expected to be the front on average.",
    };
    writeln!(out, "\n{why}")?;
    Ok(())
}

/// A trial to keep, under a heading.
fn described(study: &Study, heading: &str, best: &Best) -> Result<String> {
    let goal = &study.settings().goal;
    Ok(match goal.is_single() {
        true => best_trial::describe(heading, study.settings(), best),
        false => crate::front::describe(heading, &study.trial(best.trial)?, goal),
    })
}

/// Why a trial is recommended.
fn reason(study: &Study, kept: &Best, best: &Best) -> String {
    let method = study.settings().method.name();
    if kept.trial == best.trial {
        return "It also has the best value found.".to_owned();
    }
    format!(
        "{method}'s model expects it to be best on average; the best value, {} (trial {}), is probably luck.",
        best.value, best.trial
    )
}
