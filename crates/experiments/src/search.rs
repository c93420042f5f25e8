//! One trial: a method asks, a field answers, round by round. The loop of every experiment.

use std::collections::BTreeMap;

use cpu_time::ThreadTime;
use wimble::outcome::Outcome;
use wimble::session::Session;
use wimble::space::Configuration;

use crate::error::Result;
use crate::oracle::Oracle;
use crate::record::{End, Round};

/// What a method meets: it answers configurations with values, and keeps the score.
pub(crate) trait Field {
    /// What the method is told.
    fn observe(&mut self, configuration: &Configuration) -> Result<Outcome>;

    /// Evaluations so far, initial points included.
    fn evaluations(&self) -> usize;

    /// The metrics after a round, by name.
    fn metrics(&mut self, session: &mut Session) -> Result<BTreeMap<String, f64>>;
}

/// How long a trial is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// Batches.
    pub rounds: usize,
    /// Points in each batch.
    pub batch_size: usize,
    /// Seconds of processor time that the trial's thread may spend asking. The round in which they are spent is the
    /// last one.
    pub time_limit: Option<f64>,
}

/// Runs the rounds of a trial, each handed to `sink` when it is over. Returns how it ended, and the seconds of each ask.
pub(crate) fn run(
    session: &mut Session,
    field: &mut dyn Field,
    schedule: &Schedule,
    sink: &mut dyn FnMut(Round) -> Result<()>,
) -> Result<(End, Vec<f64>)> {
    let (mut asks, mut spent) = (Vec::new(), 0.0);
    for round in 1..=schedule.rounds {
        let before = ThreadTime::now();
        let trials = session.ask(schedule.batch_size)?;
        let seconds = before.elapsed().as_secs_f64();
        spent += seconds;
        asks.push(seconds);
        for trial in trials {
            let told = field.observe(&trial.configuration)?;
            session.tell(trial.id, told)?;
        }
        let metrics = field.metrics(session)?;
        sink(Round { round, evaluations: field.evaluations(), metrics })?;
        if round < schedule.rounds && schedule.time_limit.is_some_and(|limit| spent > limit) {
            return Ok((End::Aborted, asks));
        }
    }
    Ok((End::Finished, asks))
}

/// An objective as a field.
///
/// Metrics: `simple_regret` (D.6), the least of all points so far, initial ones included; `cumulative_regret`, the sum over
/// the rounds of the batch's mean regret (Theorem 4); `incumbent_regret`, that of the point with the least value told;
/// `recommended_regret`, that of the point that the method recommends, at checkpoints; the least of whatever else the
/// objective shows.
pub(crate) struct Regrets<'c> {
    oracle: Oracle,
    batch_size: usize,
    /// Evaluations after which the method is asked for its recommendation, which takes as long as a proposal.
    checkpoints: &'c [usize],
    /// Over all points but the initial ones.
    sum: f64,
}

impl<'c> Regrets<'c> {
    /// Tells the session the first `initial` points of the oracle; the rounds come after them.
    pub fn begin(
        mut oracle: Oracle,
        session: &mut Session,
        initial: usize,
        batch_size: usize,
        checkpoints: &'c [usize],
    ) -> Result<Self> {
        for point in oracle.initial().take(initial) {
            let told = oracle.observe(&point)?.told;
            session.observe(&point, Outcome::from(told))?;
        }
        Ok(Self { oracle, batch_size, checkpoints, sum: 0.0 })
    }
}

impl Field for Regrets<'_> {
    fn observe(&mut self, configuration: &Configuration) -> Result<Outcome> {
        let seen = self.oracle.observe(configuration)?;
        self.sum += seen.regret;
        Ok(seen.told.into())
    }

    fn evaluations(&self) -> usize {
        self.oracle.evaluations()
    }

    fn metrics(&mut self, session: &mut Session) -> Result<BTreeMap<String, f64>> {
        let mut metrics = BTreeMap::from([
            ("cumulative_regret".to_owned(), self.sum / self.batch_size as f64),
            ("incumbent_regret".to_owned(), self.oracle.incumbent_regret()),
        ]);
        let least = self.oracle.least().iter();
        metrics.extend(least.map(|(&name, &value)| (name.to_owned(), value)));
        if self.checkpoints.contains(&self.oracle.evaluations())
            && let Some(best) = session.recommend()?
        {
            let regret = self.oracle.regret(&best.configuration)?;
            metrics.insert("recommended_regret".to_owned(), regret);
        }
        Ok(metrics)
    }
}
