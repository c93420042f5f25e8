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
