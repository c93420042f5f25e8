//! A study in another storage: to move it, or as a backup while it runs.
//!
//! The copy has the same settings, trial numbers, outcomes, curves, attributes and notes, and its history in the same order: it continues as
//! the original would. A trial that runs in the original waits in the queue of the copy, and a paused one stays paused. Copying again brings
//! the copy up to
//! date, unless somebody worked on it meanwhile.

use crate::error::{Error, Result};
use crate::note::Note;
use crate::settings::{Record, Settings};
use crate::step::Step;
use crate::store::{Filter, Reader, Store, Transfer};
use crate::trial::{State, Trial};

/// Changes read at a time.
const PAGE: usize = 1_000;
/// The largest request, in bytes of JSON: a server takes a few times as much.
const LARGEST: usize = 1 << 20;

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Copied {
    /// Trials of the copy.
    pub trials: u64,
    /// How many of them were not in it before.
    pub new: u64,
    /// How many of them run in the original, and wait in the queue of the copy.
    pub running: u64,
}

/// Copies the study `name` to another storage, or to another name of the same one.
pub fn copy(from: &dyn Reader, name: &str, to: &dyn Store, new_name: &str) -> Result<Copied> {
    if name == new_name && from.identity()? == to.identity()? {
        let allowed = "another name, or another storage: this is the study itself".to_owned();
        return Err(invalid(name, format!("`{new_name}`"), allowed));
    }
    let record = from.study(name)?;
    let engines = record.engines.clone();
    let has_curves = record.settings.goal.partial().is_some();
    create(record, to, new_name)?;
    let before = to.counts(new_name)?.total();
    if before > from.counts(name)?.total() {
        let reason = "is only here: this study has more trials than the other".to_owned();
        return Err(Error::Diverged { study: new_name.to_owned(), trial: before - 1, reason });
    }
    let send = |load: &Load| {
        let Load { trials, steps, .. } = load;
        to.transfer(new_name, &Transfer { engines: &engines, trials, steps })
    };
    let (mut sequence, mut next) = (0, before);
    let mut load = Load::default();
    loop {
        let changes = from.changes_since(name, sequence, PAGE)?;
        let Some(last) = changes.last() else { break };
        sequence = last.sequence();
        for change in changes {
            // What has a smaller number comes first, and waits in the queue until its own change is read.
            while next < change.trial.id {
                let limit = usize::try_from(change.trial.id - next).unwrap_or(PAGE).min(PAGE);
                let filter = Filter { from: next, limit: Some(limit), ..Filter::default() };
                let earlier = from.trials(name, &filter)?;
                if earlier.is_empty() {
                    return Err(Error::Replaced { study: name.to_owned() });
                }
                next += earlier.len() as u64;
                for trial in earlier {
                    load.add(Trial { state: State::Queued(None), ..trial }, Vec::new(), &send)?;
                }
            }
            next = next.max(change.trial.id + 1);
            let steps = match &change.trial.state {
                State::Finished(_) | State::Paused(_) if has_curves => {
                    from.steps(name, change.trial.id)?
                }
                _ => Vec::new(),
            };
            load.add(change.trial, steps, &send)?;
        }
    }
    send(&load)?;
    let budget = from.study(name)?.settings.budget;
    if to.study(new_name)?.settings.budget != budget {
        to.set_budget(new_name, budget)?;
    }
    let trials = to.counts(new_name)?.total();
    copy_notes(from, name, to, new_name, trials)?;
    Ok(Copied { trials, new: trials - before, running: from.counts(name)?.running })
}

/// Brings the notes on the first `trials` trials up to date.
fn copy_notes(
    from: &dyn Reader,
    name: &str,
    to: &dyn Store,
    new_name: &str,
    trials: u64,
) -> Result<()> {
    let known = to.notes(new_name)?;
    for note in from.notes(name)?.into_iter().filter(|note| note.trial < trials) {
        let is_there = |other: &Note| (other.trial, &other.text) == (note.trial, &note.text);
        if !known.iter().any(is_there) {
            to.note(new_name, note.trial, &note.text)?;
        }
    }
    Ok(())
}

/// Creates the copy unless it is there, and refuses another study of its name.
fn create(record: Record, to: &dyn Store, name: &str) -> Result<()> {
    let settings = Settings { name: name.to_owned(), ..record.settings };
    let stored =
        to.create(&Record { settings: settings.clone(), engines: Vec::new(), ..record })?;
    Settings { budget: stored.settings.budget, ..settings }.check_same(&stored.settings)
}

fn invalid(study: &str, value: String, allowed: String) -> Error {
    Error::Invalid { study: study.to_owned(), field: "the name of the copy", value, allowed }
}

/// Trials that are sent together.
#[derive(Default)]
struct Load {
    trials: Vec<Trial>,
    steps: Vec<Step>,
    size: usize,
}

impl Load {
    fn add(
        &mut self,
        trial: Trial,
        steps: Vec<Step>,
        send: &impl Fn(&Self) -> Result<()>,
    ) -> Result<()> {
        let size = serde_json::to_vec(&(&trial, &steps)).map_or(0, |text| text.len());
        if self.size + size > LARGEST || self.trials.len() >= PAGE {
            send(self)?;
            *self = Self::default();
        }
        self.size += size;
        self.trials.push(trial);
        self.steps.extend(steps);
        Ok(())
    }
}
