//! A trial of Figures 2, 3 and E.1: a method against an objective, round by round.
//!
//! Metrics: the simple regret (D.6), the least of all points so far, initial ones included; the cumulative regret, the sum
//! over the rounds of the batch's mean regret (Theorem 4); the least of whatever else the objective shows.

use std::collections::BTreeMap;

use cpu_time::ThreadTime;
use wimble::goal::Direction;
use wimble::outcome::Outcome;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::Configuration;

use crate::error::{Error, Result};
use crate::objective::Objective;
use crate::record::Round;
use crate::run::Sink;
use crate::settings::{Method, Settings, Subject};

/// Runs a trial.
pub(crate) fn run(
    method: &Method,
    subject: &Subject,
    settings: &Settings,
    objective: &dyn Objective,
    seed: Seed,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let Some(spec) = method.spec(subject)? else {
        return Err(Error::Unreadable {
            path: "settings".to_owned(),
            reason: format!("{} has no spec", method.name),
        });
    };
    let strategy = spec.build(settings.batch_size)?;
    let mut session = Session::new(objective.space()?, strategy, Direction::Minimise, seed)?;
    let mut tally =
        Tally { objective, seed, evaluations: 0, cumulative: 0.0, least: BTreeMap::new() };

    // The same initial points for every method, from a stream of their own.
    let mut rng = seed.stream("initial points", 0);
    for _ in 0..settings.initial {
        let configuration = session.space().decode(&session.space().sample(&mut rng));
        let told = tally.observe(&configuration)?;
        session.observe(&configuration, Outcome::from(told))?;
    }
    tally.cumulative = 0.0;
    for round in 1..=settings.rounds_on(subject) {
        let before = ThreadTime::now();
        let trials = session.ask(settings.batch_size)?;
        let seconds = before.elapsed().as_secs_f64();
        for trial in trials {
            let told = tally.observe(&trial.configuration)?;
            session.tell(trial.id, Outcome::from(told))?;
        }
        let cumulative = tally.cumulative / settings.batch_size as f64;
        let mut metrics = BTreeMap::from([("cumulative_regret".to_owned(), cumulative)]);
        metrics.extend(tally.least.iter().map(|(&name, &value)| (name.to_owned(), value)));
        if !sink(Round { round, evaluations: tally.evaluations, metrics }, seconds)? {
            break;
        }
    }
    Ok(())
}

/// What a trial has seen.
struct Tally<'o> {
    objective: &'o dyn Objective,
    seed: Seed,
    evaluations: usize,
    /// Over all points.
    cumulative: f64,
    /// The least of each quantity.
    least: BTreeMap<&'static str, f64>,
}

impl Tally<'_> {
    /// The value told. Its random part depends on its number alone and is the same for every method.
    fn observe(&mut self, configuration: &Configuration) -> Result<f64> {
        self.evaluations += 1;
        let mut rng = self.seed.stream("observation noise", self.evaluations as u64);
        let seen = self.objective.observe(configuration, &mut rng)?;
        self.cumulative += seen.regret;
        for (name, value) in [("simple_regret", seen.regret)].into_iter().chain(seen.others) {
            let least = self.least.entry(name).or_insert(value);
            *least = least.min(value);
        }
        Ok(seen.told)
    }
}
