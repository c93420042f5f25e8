//! Functions with known minima: a trial of Figures 2 and E.1 (paper, appendices D.2 and E).
//!
//! Metrics: the simple regret (D.6) of all points so far, initial ones included; the cumulative regret, the sum over the
//! rounds of the batch's mean regret (Theorem 4). Both are of the function itself, without noise.

use std::collections::BTreeMap;

use cpu_time::ThreadTime;
use wimble::history::Outcome;
use wimble::seed::{Seed, uniform};
use wimble::session::{Direction, Session};
use wimble::space::{Configuration, Dimension, SearchSpace, Value};
use wimble::theory::normal;
use wimble_problems::Problem;

use crate::error::{Error, Result};
use crate::record::Round;
use crate::run::Sink;
use crate::settings::{Method, Settings, Subject};

/// Runs a trial.
pub(crate) fn run(
    method: &Method,
    subject: &Subject,
    settings: &Settings,
    seed: Seed,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let problem = wimble_problems::problem(&subject.name)?;
    let Some(spec) = method.spec(subject)? else {
        return Err(Error::Unreadable {
            path: "settings".to_owned(),
            reason: format!("{} has no spec", method.name),
        });
    };
    let names: Vec<String> = (1..=problem.dim()).map(|k| format!("x{k}")).collect();
    let sides = names.iter().zip(problem.domain());
    let space =
        SearchSpace::new(sides.map(|(name, &(low, high))| Dimension::real(name, low, high)))?;
    let strategy = spec.build(settings.batch_size)?;
    let mut session = Session::new(space, strategy, Direction::Minimise, seed)?;
    let mut tally = Tally { simple: f64::INFINITY, cumulative: 0.0, evaluations: 0 };

    // The same initial points for every method, from a stream of their own.
    let mut rng = seed.stream("initial points", 0);
    for _ in 0..settings.initial {
        let configuration = session.space().decode(&session.space().sample(&mut rng));
        let value = tally.evaluate(problem.as_ref(), &names, &configuration);
        let told = value + tally.noise(settings.noise_variance, seed);
        session.observe(&configuration, Outcome::Value(told))?;
    }
    tally.cumulative = 0.0;
    for round in 1..=settings.rounds {
        let before = ThreadTime::now();
        let trials = session.ask(settings.batch_size)?;
        let seconds = before.elapsed().as_secs_f64();
        for trial in trials {
            let value = tally.evaluate(problem.as_ref(), &names, &trial.configuration);
            let told = value + tally.noise(settings.noise_variance, seed);
            session.tell(trial.id, Outcome::Value(told))?;
        }
        let metrics = BTreeMap::from([
            ("simple_regret".to_owned(), tally.simple),
            ("cumulative_regret".to_owned(), tally.cumulative / settings.batch_size as f64),
        ]);
        if !sink(Round { round, evaluations: tally.evaluations, metrics }, seconds)? {
            break;
        }
    }
    Ok(())
}

struct Tally {
    simple: f64,
    /// Over all points.
    cumulative: f64,
    evaluations: usize,
}

impl Tally {
    fn evaluate(
        &mut self,
        problem: &dyn Problem,
        names: &[String],
        configuration: &Configuration,
    ) -> f64 {
        let coordinate = |name: &String| match configuration.get(name) {
            Some(&Value::Real(x)) => x,
            other => unreachable!("the space has real dimensions only, not {other:?}"),
        };
        let x: Vec<f64> = names.iter().map(coordinate).collect();
        let value = problem.evaluate(&x);
        // Rounding may put a value an ulp below the known minimum.
        let regret = (value - problem.minimum()).max(0.0);
        self.simple = self.simple.min(regret);
        self.cumulative += regret;
        self.evaluations += 1;
        value
    }

    /// The noise of the latest evaluation, the same for every method.
    fn noise(&self, variance: f64, seed: Seed) -> f64 {
        gaussian(variance, seed, self.evaluations)
    }
}

/// Gaussian noise of an evaluation.
pub(crate) fn gaussian(variance: f64, seed: Seed, evaluation: usize) -> f64 {
    if variance == 0.0 {
        return 0.0;
    }
    let mut rng = seed.stream("observation noise", evaluation as u64);
    // Away from 0, where the quantile is infinite.
    variance.sqrt() * normal::quantile(uniform(&mut rng).max(f64::EPSILON))
}
