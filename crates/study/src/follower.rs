//! A study's evidence, kept up to date from its changes.
//!
//! A follower reads each change once, so that the cost depends on what happened since it last looked, and not on the
//! length of the history. Trials enter the history in the order in which they finished, which is the same for every
//! reader: any two followers at the same sequence number propose the same.
//!
//! # Steps and ends
//! Under a goal with a fidelity, steps and changes have sequence numbers of their own. A trial that finished knows how many steps
//! there were before it ([`Finish::after_step`](crate::trial::Finish)), and a follower applies both in the order in which they came,
//! whether it looked all the time or starts now. It reads steps first and changes after them: every end that came before one of
//! those steps is then known. Where an end came after later steps, those up to it are read too; what lies beyond waits.
//!
//! What it knows is the engine's [`Ledger`], by the numbers of the store.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use wimble::curves::Curve;
use wimble::forecast::Forecast;
use wimble::history::History;
use wimble::importance::Importance;
use wimble::ledger::{Best, Ledger};
use wimble::outcome::{Measurement, Outcome};
use wimble::points::Points;
use wimble::space::{Configuration, Fixed};
use wimble::stopping::{Stopping, Verdict};
use wimble::strategy::{FreeWorkers, Strategy, Work};

use crate::error::{Error, Result};
use crate::settings::{ENGINE, Settings};
use crate::step::Step;
use crate::store::{Continuation, Proposal, Reader};
use crate::trial::{Change, State};

/// How many changes are read at a time.
pub(crate) const PAGE: usize = 1_000;

/// How many times more points are drawn than are wanted, at most, where given values make many of them the same.
const MOST_REPEATS: usize = 16;

/// How far a study is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Trials waiting for a worker.
    pub queued: u64,
    /// Trials being evaluated.
    pub running: u64,
    /// Trials that were evaluated in part.
    #[serde(default)]
    pub paused: u64,
    /// Trials with an outcome.
    pub finished: u64,
}

/// What is known of a study up to a sequence number.
pub struct Follower {
    study: String,
    sequence: u64,
    ledger: Ledger,
    running: BTreeSet<u64>,
    paused: BTreeSet<u64>,
    /// The number of the last step before a pause that was read since the last look.
    pauses: u64,
    /// The sequence number of the last step that was read.
    steps: u64,
    /// Steps that were read and not applied yet, in order.
    ahead: VecDeque<Step>,
    /// Trials that finished and were not told yet, in order, each with the number of the last step before it.
    finished: VecDeque<(u64, Outcome, u64)>,
    /// How much was carried out of the trials that finished, in the unit of the fidelity.
    spent: f64,
}

impl Follower {
    /// At the beginning of a study.
    pub fn new(settings: &Settings) -> Self {
        let Settings { name, space, goal, seed, .. } = settings;
        Self {
            study: name.clone(),
            sequence: 0,
            ledger: Ledger::new(space.clone(), goal.clone(), *seed),
            running: BTreeSet::new(),
            paused: BTreeSet::new(),
            pauses: 0,
            steps: 0,
            ahead: VecDeque::new(),
            finished: VecDeque::new(),
            spent: 0.0,
        }
    }

    /// Reads what changed since it last looked.
    pub fn catch_up(&mut self, store: &dyn Reader) -> Result<()> {
        if self.ledger.goal().partial().is_none() {
            self.read_changes(store)?;
            return self.apply_until(0);
        }
        self.read_steps(store, u64::MAX)?;
        let all = self.steps;
        self.read_changes(store)?;
        // Ends and pauses that came after later steps than those.
        let ends = self.finished.iter().map(|(_, _, after)| *after);
        let last = ends.fold(std::mem::take(&mut self.pauses), u64::max);
        if last > all {
            self.read_steps(store, last)?;
        }
        self.apply_until(all.max(last))
    }

    fn read_changes(&mut self, store: &dyn Reader) -> Result<()> {
        loop {
            let changes = store.changes_since(&self.study, self.sequence, PAGE)?;
            for change in &changes {
                self.note(change)?;
            }
            if changes.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Reads the steps since it last looked, at least up to this number.
    fn read_steps(&mut self, store: &dyn Reader, until: u64) -> Result<()> {
        loop {
            let steps = store.steps_since(&self.study, self.steps, PAGE)?;
            let is_all = steps.len() < PAGE;
            self.steps = steps.last().map_or(self.steps, |step| step.sequence);
            self.ahead.extend(steps);
            if is_all || self.steps >= until {
                return Ok(());
            }
        }
    }

    /// Applies the steps up to this number, and the ends among them, in the order in which they came.
    fn apply_until(&mut self, until: u64) -> Result<()> {
        loop {
            let step = self.ahead.front().map(|step| step.sequence).filter(|next| *next <= until);
            // All ends are known and came after steps that are: of a copy too, whose steps have numbers of their own.
            match (self.finished.front(), step) {
                (Some((_, _, after)), Some(next)) if next <= *after => self.apply_step()?,
                (Some(_), _) => self.finish()?,
                (None, Some(_)) => self.apply_step()?,
                (None, None) => return Ok(()),
            }
        }
    }

    fn apply_step(&mut self) -> Result<()> {
        let Some(step) = self.ahead.pop_front() else { return Ok(()) };
        self.ledger.report(step.trial, &step.measurement).map_err(|error| {
            let what = format!("step {} of trial {}", step.fidelity(), step.trial);
            Error::corrupt(&self.study, what, error)
        })
    }

    /// Tells the next trial that finished.
    fn finish(&mut self) -> Result<()> {
        let Some((trial, outcome, _)) = self.finished.pop_front() else { return Ok(()) };
        self.spent += self.cost(trial, &outcome);
        self.ledger
            .tell(trial, &outcome)
            .map_err(|error| Error::corrupt(&self.study, format!("trial {trial}"), error))
    }

    /// Applies one change, for a goal without a fidelity. A change that the follower knows already, by its sequence number,
    /// has no effect.
    pub fn apply(&mut self, change: &Change) -> Result<()> {
        self.note(change)?;
        self.apply_until(0)
    }

    /// Takes note of a change; a trial that finished is told later.
    fn note(&mut self, change: &Change) -> Result<()> {
        let trial = &change.trial;
        if change.sequence() <= self.sequence {
            return Ok(());
        }
        let corrupt = |error: wimble::Error| {
            Error::corrupt(&self.study, format!("trial {}", trial.id), error)
        };
        if !self.ledger.knows(trial.id) {
            let x = self.ledger.space().encode(&trial.configuration).map_err(corrupt)?;
            self.ledger.issue(trial.id, x);
        }
        self.running.remove(&trial.id);
        self.paused.remove(&trial.id);
        match &trial.state {
            State::Queued(_) => {}
            State::Running(_) => {
                self.running.insert(trial.id);
            }
            State::Paused(pause) => {
                self.pauses = self.pauses.max(pause.after_step);
                self.paused.insert(trial.id);
            }
            State::Finished(finish) => {
                // The texts of failures are not for the ledger.
                let outcome = match &finish.outcome {
                    Outcome::Failed(_) => Outcome::failed(),
                    outcome => outcome.clone(),
                };
                self.finished.push_back((trial.id, outcome, finish.after_step));
            }
        }
        self.sequence = change.sequence();
        Ok(())
    }

    /// `count` new points, given all finished and pending trials.
    pub fn propose(&mut self, strategy: &dyn Strategy, count: usize) -> Result<Proposal> {
        let mut exhausted = false;
        let points = match self.ledger.propose(strategy, count) {
            // Additions took a part of a finite space: propose what is left.
            Err(wimble::Error::Exhausted { tried, total, .. }) if total < u128::MAX => {
                exhausted = true;
                match usize::try_from(total.saturating_sub(tried)).unwrap_or(count) {
                    0 => Ok(Points::new(self.ledger.space().dim())),
                    left => self.ledger.propose(strategy, left.min(count)),
                }
            }
            points => points,
        };
        let failed = |source: wimble::Error| Error::Proposal {
            study: self.study.clone(),
            count,
            source: source.into(),
        };
        let points = points.map_err(failed)?;
        let configurations = points.rows().map(|x| self.ledger.space().decode(x)).collect();
        Ok(self.proposal(configurations, exhausted))
    }

    fn proposal(&self, configurations: Vec<Configuration>, exhausted: bool) -> Proposal {
        let (known, engine) = (self.ledger.issued(), ENGINE.to_owned());
        let (untils, continued) = (Vec::new(), Vec::new());
        Proposal { known, configurations, untils, continued, exhausted, engine }
    }

    /// What `count` workers do next that can continue paused trials, given all finished and pending trials; `room` more trials may
    /// begin. There is less to do than that if no trial may begin and no paused one is worth going on.
    pub fn plan(&mut self, strategy: &dyn Strategy, count: usize, room: usize) -> Result<Proposal> {
        let paused: Vec<u64> = self.paused.iter().copied().collect();
        let runs = |ledger: &mut Ledger, count: usize| {
            ledger.plan(strategy, &FreeWorkers { count, paused: &paused, room })
        };
        let runs = match runs(&mut self.ledger, count) {
            Err(wimble::Error::Exhausted { tried, total, .. }) if total < u128::MAX => {
                match usize::try_from(total.saturating_sub(tried)).unwrap_or(count) {
                    0 => Ok(Vec::new()),
                    left => runs(&mut self.ledger, left.min(count)),
                }
            }
            runs => runs,
        };
        let failed = |source: wimble::Error| Error::Proposal {
            study: self.study.clone(),
            count,
            source: source.into(),
        };
        let runs = runs.map_err(failed)?;
        let mut plan = self.proposal(Vec::new(), runs.len() < count);
        for run in runs {
            match run.work {
                Work::New(x) => {
                    plan.configurations.push(self.ledger.space().decode(&x));
                    plan.untils.push(run.until);
                }
                Work::Continue(trial) => {
                    plan.continued.push(Continuation { trial, until: run.until });
                }
            }
        }
        Ok(plan)
    }

    /// The same with given values. Points that differ only where a value is given are one configuration: each is proposed once, and
    /// only if it is new and meets what is known of the space.
    pub fn propose_fixed(
        &mut self,
        strategy: &dyn Strategy,
        count: usize,
        fixed: &Fixed,
    ) -> Result<Proposal> {
        let (mut wanted, most) = (count, count.saturating_mul(MOST_REPEATS));
        loop {
            let mut proposal = self.propose(strategy, wanted)?;
            let mut new: Vec<Configuration> = Vec::new();
            for suggestion in std::mem::take(&mut proposal.configurations) {
                let suggestion = fixed.apply(suggestion);
                if self.is_new(&suggestion, &new) {
                    new.push(suggestion);
                }
            }
            let enough = new.len() >= count;
            new.truncate(count);
            proposal.configurations = new;
            if enough || proposal.exhausted {
                return Ok(proposal);
            }
            if wanted >= most {
                return Ok(Proposal { exhausted: true, ..proposal });
            }
            wanted = wanted.saturating_mul(4);
        }
    }

    /// Whether a suggestion is in the space, and neither among these nor among the trials, unless the space allows repeats.
    fn is_new(&self, suggestion: &Configuration, others: &[Configuration]) -> bool {
        let space = self.ledger.space();
        let is_taken = |x: &[f64]| others.contains(suggestion) || self.ledger.is_taken(x);
        space.check_known(suggestion).is_ok()
            && space.encode(suggestion).is_ok_and(|x| space.repeats() || !is_taken(&x))
    }

    /// The finished trial to keep: the best by the strategy's model of the noise if it has one, otherwise the one with
    /// the best value.
    pub fn recommend(&mut self, strategy: &dyn Strategy) -> Result<Option<Best>> {
        self.ledger.recommend(strategy).map_err(|source| Error::Recommendation {
            study: self.study.clone(),
            source: source.into(),
        })
    }

    /// The trials to keep of several objectives; see [`Ledger::recommend_front`].
    pub fn recommend_front(&mut self, strategy: &dyn Strategy) -> Result<Vec<u64>> {
        self.ledger.recommend_front(strategy).map_err(|source| Error::Recommendation {
            study: self.study.clone(),
            source: source.into(),
        })
    }

    /// What the strategy predicts for each configuration; `None` if it has no model, or nothing to learn from yet.
    pub fn predict(
        &mut self,
        strategy: &dyn Strategy,
        configurations: &[Configuration],
    ) -> Result<Option<Vec<Forecast>>> {
        self.ledger.predict(strategy, configurations).map_err(|source| Error::Prediction {
            study: self.study.clone(),
            source: source.into(),
        })
    }

    /// What each parameter does to an objective or a constrained quantity.
    pub fn importance(&self, quantity: &str) -> Result<Importance> {
        self.ledger.importance(quantity).map_err(|source| Error::Importance {
            study: self.study.clone(),
            source: source.into(),
        })
    }

    /// Whether a running trial should go on, by its steps and those of all others. A trial that is not running here
    /// goes on: others decide about it.
    pub fn verdict(&self, trial: u64, rule: &Stopping) -> Result<Verdict> {
        if !self.ledger.pending().contains_key(&trial) {
            return Ok(Verdict::GoOn);
        }
        Ok(self.ledger.verdict(trial, rule)?)
    }

    /// The same, for a trial that is at this fidelity now. One whose steps reach elsewhere goes on: they are not those of the
    /// evaluation that is meant, which began anew.
    pub fn verdict_at(&self, trial: u64, fidelity: f64, rule: &Stopping) -> Result<Verdict> {
        match self.reached(trial) == fidelity {
            true => self.verdict(trial, rule),
            false => Ok(Verdict::GoOn),
        }
    }

    /// How much of all evaluations was carried out, in the unit of the fidelity: of trials with a value up to where it was
    /// measured, of the others up to their last step. Trials that were evaluated elsewhere count too.
    pub fn spent(&self) -> f64 {
        let begun = self.running.iter().chain(&self.paused);
        self.spent + begun.map(|&trial| self.reached(trial)).sum::<f64>()
    }

    /// How far a trial that finished went.
    fn cost(&self, trial: u64, outcome: &Outcome) -> f64 {
        let goal = self.ledger.goal();
        match (outcome.measurement(), goal.partial()) {
            (Some(told), Some(range)) => goal.part(told).unwrap_or(range.high),
            _ => self.reached(trial),
        }
    }

    /// How far the steps of a trial go.
    fn reached(&self, trial: u64) -> f64 {
        let curve = self.ledger.history().curves().get(trial);
        curve.filter(|curve| !curve.is_empty()).map_or(0.0, Curve::reached)
    }

    /// The steps of a trial, as far as they were followed.
    pub fn curve(&self, trial: u64) -> Vec<Measurement> {
        self.ledger.curve(trial)
    }

    /// The sequence number of the last change that was applied.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// How many trials exist.
    pub fn issued(&self) -> u64 {
        self.ledger.issued()
    }

    /// The finished trials, in the order in which they finished: encoded points, and values where low is good.
    pub fn history(&self) -> &History {
        self.ledger.history()
    }

    /// The numbers of the finished trials, in the order of history.
    pub fn told(&self) -> &[u64] {
        self.ledger.told()
    }

    /// How far the study is.
    pub fn progress(&self) -> Progress {
        let (running, paused) = (self.running.len() as u64, self.paused.len() as u64);
        Progress {
            queued: self.ledger.pending().len() as u64 - running - paused,
            running,
            paused,
            finished: self.ledger.told().len() as u64,
        }
    }
}
