//! Searches that every method must get through, whatever its goal: conformance.rs runs them with one objective, objectives.rs
//! with several and with constraints.

use std::collections::HashSet;

use wimble::Error;
use wimble::prelude::*;

/// What a trial of a session gives.
pub type Evaluate<'a> = &'a dyn Fn(&Session, &Configuration) -> Outcome;

/// Dimensions of all kinds, one of them conditional.
pub fn mixed_dimensions() -> Vec<Dimension> {
    vec![
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::integer("layers", 1, 5),
        Dimension::boolean("augment"),
        Dimension::categorical("optimiser", ["adam", "sgd", "lion"]),
        Dimension::real("momentum", 0.0, 0.99).when("optimiser", ["sgd"]),
    ]
}

/// Asks for batches of these sizes, and tells each before the next.
pub fn in_batches(session: &mut Session, batches: &[usize], evaluate: Evaluate<'_>) -> Vec<Trial> {
    let mut all = Vec::new();
    for &size in batches {
        let trials = session.ask(size).unwrap();
        assert_eq!(trials.len(), size);
        for trial in &trials {
            let outcome = evaluate(session, &trial.configuration);
            session.tell(trial.id, outcome).unwrap();
        }
        all.extend(trials);
    }
    all
}

/// Asks for trials of a finite space until it has none left; `words` say which search this is.
pub fn until_used_up(
    strategy: Box<dyn Strategy>,
    goal: impl Into<Goal>,
    evaluate: Evaluate<'_>,
    words: &str,
) {
    let space = SearchSpace::new([
        Dimension::integer("a", 0, 4),
        Dimension::categorical("b", ["x", "y", "z"]),
    ]);
    let mut session = Session::new(space.unwrap(), strategy, goal, Seed(2)).unwrap();
    let mut seen = HashSet::new();
    for size in [4, 6, 3, 1] {
        for (i, trial) in session.ask(size).unwrap().into_iter().enumerate() {
            assert!(seen.insert(trial.configuration.to_string()), "{words}");
            // One of each batch stays pending.
            if i > 0 || size == 1 {
                let outcome = evaluate(&session, &trial.configuration);
                session.tell(trial.id, outcome).unwrap();
            }
        }
    }
    let exhausted = |tried, requested| Error::Exhausted { tried, total: 15, requested };
    assert_eq!(session.ask(2).unwrap_err(), exhausted(14, 2), "{words}");
    assert_eq!(session.ask(1).unwrap().len(), 1, "{words}");
    assert_eq!(session.ask(1).unwrap_err(), exhausted(15, 1), "{words}");
}

/// Tells trials in another order than that of their asks, and asks for one whenever one was told.
pub fn in_any_order(session: &mut Session, steps: usize, evaluate: Evaluate<'_>, words: &str) {
    let mut running: Vec<Trial> = session.ask(12).unwrap();
    let mut seen: HashSet<String> =
        running.iter().map(|trial| trial.configuration.to_string()).collect();
    for step in 0..steps {
        let done = running.swap_remove((step * 7) % running.len());
        let outcome = evaluate(session, &done.configuration);
        session.tell(done.id, outcome).unwrap();
        for trial in session.ask(1).unwrap() {
            assert!(seen.insert(trial.configuration.to_string()), "{words}");
            running.push(trial);
        }
    }
    assert_eq!(session.pending().count(), 12, "{words}");
}

/// Two equal sessions run alike; only the first predicts. Its forecasts are finite, come out the same again, and change no
/// suggestion.
pub fn with_forecasts(
    session: impl Fn() -> Session,
    evaluate: Evaluate<'_>,
    words: &str,
) -> Option<Vec<Forecast>> {
    let (mut session, mut other) = (session(), session());
    assert_eq!(session.predict(&[]).unwrap(), None, "{words} has nothing to learn from");
    let trials = in_batches(&mut session, &[10, 8], evaluate);
    in_batches(&mut other, &[10, 8], evaluate);
    let at: Vec<Configuration> = trials.into_iter().map(|trial| trial.configuration).collect();
    let forecasts = session.predict(&at).unwrap();
    assert_eq!(session.predict(&at).unwrap(), forecasts, "{words}");
    let count = session.goal().objectives().len();
    for forecast in forecasts.iter().flatten() {
        let Forecast { mean, deviation, good, success, meets, objectives } = forecast;
        assert!(mean.is_none_or(f64::is_finite), "{words}");
        assert!(deviation.is_none_or(|d| d >= 0.0 && d.is_finite()), "{words}");
        let several = count > 1 && mean.is_some();
        assert_eq!(objectives.len(), if several { count } else { 0 }, "{words}");
        for expected in objectives {
            assert!(expected.mean.is_finite() && expected.deviation >= 0.0, "{words}");
        }
        let good = good.iter().flat_map(|good| [Some(good.probability), good.upper_bound]);
        for probability in good.chain([*success, *meets]).flatten() {
            assert!((0.0..=1.0).contains(&probability), "{words}: {probability}");
        }
    }
    session.recommend().unwrap();
    assert_eq!(session.ask(3).unwrap(), other.ask(3).unwrap(), "{words}");
    forecasts
}
