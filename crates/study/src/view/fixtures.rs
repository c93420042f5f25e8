//! A study to look at, for the tests of this crate and of the server, which includes this file.

use std::sync::Arc;

use wimble::prelude::*;
use wimble_study::{Memory, Settings, Store, Study, SystemClock};

/// A study of a parabola in memory: `finished` trials with a value, then one failed, one infeasible, two running.
pub fn parabola(finished: usize) -> Study {
    let space = SearchSpace::new([
        Dimension::real("x", -2.0, 2.0),
        Dimension::log_real("rate", 1e-4, 1.0),
        Dimension::categorical("kind", ["a", "b"]),
    ])
    .unwrap();
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let settings = Settings::new("parabola", space, "random".parse().unwrap()).budget(1_000_000);
    let study = Study::open_or_create(store, settings).unwrap();
    for i in 0..finished {
        let claim = study.ask("w0", &format!("k{i}"), 1).unwrap().remove(0);
        let x = claim.configuration.get("x").and_then(Value::as_real).unwrap();
        study.tell(claim.token, &(x * x).into(), "t").unwrap();
    }
    let claims = study.ask("w1", "rest", 4).unwrap();
    study.tell(claims[0].token, &Outcome::Failed("it broke".into()), "t").unwrap();
    study.tell(claims[1].token, &Outcome::Infeasible, "t").unwrap();
    study
}

/// A study with two objectives, of which the second is maximised, and a limit that a third of the trials miss.
#[allow(dead_code, reason = "the server does not need it")]
pub fn two_objectives(finished: usize) -> Study {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)]);
    let goal = Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
        .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
        .unwrap();
    let settings = Settings::new("two", space.unwrap(), "random".parse().unwrap()).goal(goal);
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let study = Study::open_or_create(store, settings.budget(finished as u64)).unwrap();
    for i in 0..finished {
        let claim = study.ask("w0", &format!("k{i}"), 1).unwrap().remove(0);
        let at = |name: &str| claim.configuration.real(name).unwrap();
        let outcome = Measurement {
            objectives: vec![(at("x") + at("y").powi(2)).into(), (3.0 * at("x").sqrt()).into()],
            constraints: vec![(12.0 * at("y")).into()],
            fidelity: None,
        };
        study.tell(claim.token, &outcome.into(), "t").unwrap();
    }
    study
}

/// A study with curves: of each trial some steps, every third is stopped, and the last is running.
#[allow(dead_code, reason = "the server does not need it")]
pub fn curved(trials: usize) -> Study {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    let goal = Goal::default().fidelity("epochs", 1.0, 9.0).unwrap();
    let settings = Settings::new("curved", space, "random".parse().unwrap()).goal(goal);
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let study = Study::open_or_create(store, settings).unwrap();
    for i in 0..trials {
        let claim = study.ask("w0", &format!("k{i}"), 1).unwrap().remove(0);
        let x = claim.configuration.real("x").unwrap();
        let at = |epoch: u32| Measurement {
            fidelity: Some(f64::from(epoch)),
            ..(x + 1.0 / f64::from(epoch)).into()
        };
        let last = if i % 3 == 2 { 4 } else { 9 };
        let steps: Vec<Measurement> = (1..=last).map(at).collect();
        study.report(claim.token, &steps).unwrap();
        if i + 1 < trials {
            study.tell(claim.token, &at(last).into(), "t").unwrap();
        }
    }
    study
}

/// A study whose method has a model of values.
#[allow(dead_code, reason = "the server does not need it")]
pub fn modelled(finished: usize) -> Study {
    told("modelled", "gp-ei initial=5", finished)
}

/// A study for which a theorem holds.
#[allow(dead_code, reason = "the server does not need it")]
pub fn certified(finished: usize) -> Study {
    let method = "bore++ level=0.1 norm-bound=2 threshold=0.5 initial=0 rule=ascent \
                  classifier.hyper-parameters.fixed.kernel.profile=squared-exponential \
                  classifier.hyper-parameters.fixed.kernel.length-scales=[0.3] \
                  classifier.hyper-parameters.fixed.kernel.output-scale=1";
    told("certified", method, finished)
}

/// A study of a parabola over 41 integers by one worker.
#[allow(dead_code, reason = "the server does not need it")]
fn told(name: &str, method: &str, finished: usize) -> Study {
    let space = SearchSpace::new([Dimension::integer("n", 0, 40)]).unwrap();
    let settings = Settings::new(name, space, method.parse().unwrap()).budget(finished as u64 + 1);
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let study = Study::open_or_create(store, settings).unwrap();
    for i in 0..finished {
        let claim = study.ask("w0", &format!("k{i}"), 1).unwrap().remove(0);
        let n = claim.configuration.get("n").and_then(Value::as_real).unwrap() / 40.0;
        study.tell(claim.token, &(n - 0.3).powi(2).into(), "t").unwrap();
    }
    study
}
