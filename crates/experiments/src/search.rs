//! One trial: a method asks, a field answers, round by round. The loop of every experiment.

use std::collections::BTreeMap;

use cpu_time::ThreadTime;
use wimble::outcome::Outcome;
use wimble::session::Session;
use wimble::space::{Configuration, Kind, SearchSpace, Value};

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
/// the rounds of the batch's mean regret (Theorem 4); `on_a_face`, the share of points after the initial ones with a real coordinate
/// at an end of its range; `incumbent_regret`, that of the point with the least value told; `recommended_regret`, that of the point that the method recommends, at checkpoints; the least of whatever else the
/// objective shows.
pub(crate) struct Regrets<'c> {
    oracle: Oracle,
    batch_size: usize,
    /// Evaluations after which the method is asked for its recommendation, which takes as long as a proposal.
    checkpoints: &'c [usize],
    /// Of the regrets of all points but the initial ones.
    sum: f64,
    /// Points but the initial ones, and those of them on a face of the box.
    asked: usize,
    on_a_face: usize,
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
        Ok(Self { oracle, batch_size, checkpoints, sum: 0.0, asked: 0, on_a_face: 0 })
    }
}

impl Field for Regrets<'_> {
    fn observe(&mut self, configuration: &Configuration) -> Result<Outcome> {
        let seen = self.oracle.observe(configuration)?;
        self.sum += seen.regret;
        self.asked += 1;
        self.on_a_face += usize::from(is_on_a_face(self.oracle.space(), configuration));
        Ok(seen.told.into())
    }

    fn evaluations(&self) -> usize {
        self.oracle.evaluations()
    }

    fn metrics(&mut self, session: &mut Session) -> Result<BTreeMap<String, f64>> {
        let mut metrics = BTreeMap::from([
            ("cumulative_regret".to_owned(), self.sum / self.batch_size as f64),
            ("incumbent_regret".to_owned(), self.oracle.incumbent_regret()),
            ("on_a_face".to_owned(), self.on_a_face as f64 / self.asked as f64),
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

/// Whether a real coordinate is at an end of its range.
fn is_on_a_face(space: &SearchSpace, configuration: &Configuration) -> bool {
    space.dimensions().iter().any(|side| {
        let value = configuration.get(&side.name).and_then(Value::as_real);
        matches!((&side.kind, value), (Kind::Real { low, high, .. }, Some(x)) if x == *low || x == *high)
    })
}

#[cfg(test)]
mod tests {
    use wimble::space::Dimension;

    use super::*;

    #[test]
    fn a_point_is_on_a_face_if_one_of_its_real_coordinates_is_at_an_end() {
        let sides = [
            Dimension::real("x", -5.0, 10.0),
            Dimension::real("y", 0.0, 1.0),
            Dimension::integer("n", 1, 3),
        ];
        let space = SearchSpace::new(sides).unwrap();
        let point = |x: f64, y: f64, n: i64| -> Configuration {
            let values = [("x", Value::Real(x)), ("y", Value::Real(y)), ("n", Value::Integer(n))];
            values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        for (x, y, n, on_a_face) in [
            (0.0, 0.5, 2, false),
            (-5.0, 0.5, 2, true),
            (10.0, 0.5, 2, true),
            (9.999, 1.0, 2, true),
            (9.999, 0.999, 1, false),
        ] {
            assert_eq!(is_on_a_face(&space, &point(x, y, n)), on_a_face, "{x} {y} {n}");
        }
    }
}
