//! How does a storage look that this version of the program wrote?
//!
//! usage: storage_fixture ADDRESS
//!
//! Writes a few small studies into an empty SQLite file or PostgreSQL schema, in every state that a trial can be in, on a
//! clock that stands at [`NOON`]. Later versions must open, migrate and continue what it wrote: see
//! `tests/fixtures/README.md`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use wimble::prelude::*;
use wimble_study::store::Store;
use wimble_study::{
    Addition, Address, Attributes, Claim, Failure, ManualClock, Outcome, Postgres, Settings,
    Sqlite, Study, Timestamp,
};

/// The 1st of November 2026, 12:00 UTC.
const NOON: Timestamp = Timestamp(1_793_534_400_000);

/// One study each, so that the stored form of every method stays readable.
const METHODS: [&str; 19] = [
    "auto",
    "bore",
    "bore classifier=least-squares rule=stein-newton",
    "bore classifier=bayesian-logistic rule=ascent",
    "bore classifier=ensemble rule=candidates",
    "bore classifier=forest rule=softmax",
    "bore classifier=boosting rule=candidates",
    "bore++ classifier=least-squares rule=svgd width=2",
    "bore++ classifier=bayesian-logistic rule=ascent",
    "bore++ classifier=ensemble rule=candidates",
    "bore++ classifier=forest rule=candidates",
    "gp-ucb",
    "gp-ei",
    "q-ei",
    "lp-ei",
    "tpe",
    "random",
    "sobol",
    "cma-es",
];

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let address = std::env::args().nth(1).ok_or("usage: storage_fixture ADDRESS")?;
    let clock = ManualClock::default();
    clock.set(NOON);
    let store: Arc<dyn Store> = match address.parse()? {
        Address::Sqlite(path) => Arc::new(Sqlite::open(path, clock.clone())?),
        Address::Postgres(address) => Arc::new(Postgres::open(&address, clock.clone())?),
        _ => return Err("a fixture is a file of SQLite or a database of PostgreSQL".into()),
    };
    minimise(&store, &clock)?;
    maximise(&store)?;
    for (number, method) in METHODS.iter().enumerate() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)])?;
        let settings =
            Settings::new(format!("method-{number:02}"), space, method.parse()?).budget(20);
        let study = Study::open_or_create(Arc::clone(&store), settings)?;
        for claim in study.ask("w", "first", 2)? {
            study.tell(claim.token, &Outcome::from(real(&claim, "x")), "told")?;
        }
    }
    // Its fencing numbers go on if there is another of its name.
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)])?;
    let deleted = Settings::new("deleted", space, "random".parse()?);
    Study::open_or_create(Arc::clone(&store), deleted)?.ask("w", "first", 3)?;
    store.delete("deleted")?;
    Ok(())
}

/// Every state of a trial, in a mixed space with a condition inside a condition.
fn minimise(store: &Arc<dyn Store>, clock: &ManualClock) -> Done<()> {
    let space = SearchSpace::new([
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::categorical("model", ["tree", "net"]),
        Dimension::integer("depth", 1, 40).when("model", ["tree"]),
        Dimension::boolean("dropout").when("model", ["net"]),
        Dimension::real("share", 0.0, 0.9).when("dropout", [true]),
        Dimension::ordinal("precision", ["low", "middle", "high"]),
    ])?;
    let settings = Settings::new("minimise", space, "auto".parse()?)
        .batch_size(4)
        .seed(Seed(u64::MAX))
        .budget(60)
        .retries(1)
        .lease(Duration::from_secs(90));
    let study = Study::open_or_create(Arc::clone(store), settings)?;
    let known: Configuration = [
        ("rate", Value::Real(0.01)),
        ("model", Value::from("tree")),
        ("depth", Value::Integer(7)),
        ("precision", Value::from("high")),
    ]
    .into_iter()
    .collect();
    let attributes = |epochs: u64| -> Attributes {
        [("epochs".to_owned(), json!(epochs)), ("curve".to_owned(), json!([1, 0.5, null, "naïve"]))]
            .into_iter()
            .collect()
    };
    // Evaluated elsewhere: trials 0 to 2.
    study.add(&[
        Addition {
            worker: Some("elsewhere".to_owned()),
            started: Some(Timestamp(NOON.0 - 7_200_000)),
            finished: Some(Timestamp(NOON.0 - 3_600_000)),
            attributes: attributes(3),
            ..Addition::finished("import-0", known.clone(), Outcome::from(0.75))
        },
        Addition::finished("import-1", known.clone(), Outcome::Failed("elsewhere".into())),
        Addition::finished("import-2", known.clone(), Outcome::Infeasible),
    ])?;
    // Trials 3 to 14: values, a failure with its output, one that is infeasible.
    for number in 0..12 {
        clock.advance(Duration::from_secs(5));
        let claims = study.ask("w1", &format!("ask-{number}"), 1)?;
        let claim = claims.first().ok_or("the budget is spent")?;
        let outcome = match number {
            4 => Outcome::Failed(Failure {
                reason: "exit status: 3".to_owned(),
                output: "epoch 1\nTraceback: «diverged»\n".to_owned(),
            }),
            7 => Outcome::Infeasible,
            _ => Outcome::from((real(claim, "rate").log10() + 2.0).powi(2) + 0.125),
        };
        let attributes = if number % 3 == 0 { attributes(number) } else { Attributes::default() };
        study.tell_with(claim.token, &outcome, &attributes, &format!("tell-{}", claim.token))?;
    }
    // One that a user enqueued and that was lost twice: failed.
    let enqueued = study.enqueue("mine", known)?;
    for key in ["lost-1", "lost-2"] {
        let claims = study.ask("w2", key, 1)?;
        assert_eq!(claims.first().map(|claim| claim.trial), Some(enqueued));
        clock.advance(Duration::from_secs(91));
    }
    // Two that run, one that was given back, one that was lost once.
    let running = study.ask("w4", "running", 2)?;
    study.ask("w5", "lost-3", 2)?;
    clock.advance(Duration::from_secs(60));
    for claim in &running {
        study.heartbeat(claim.token)?;
    }
    clock.advance(Duration::from_secs(31));
    for claim in study.ask("w3", "given-back", 1)? {
        study.release(claim.token)?;
    }
    Ok(())
}

/// More values than a first design has, so that the model is asked when the study goes on.
fn maximise(store: &Arc<dyn Store>) -> Done<()> {
    let space =
        SearchSpace::new([Dimension::real("x", -2.0, 2.0), Dimension::real("y", -2.0, 2.0)])?;
    let method = "bore classifier=least-squares rule=candidates";
    let settings = Settings::new("maximise", space, method.parse()?)
        .goal(Direction::Maximise)
        .batch_size(5)
        .seed(Seed(7))
        .budget(40);
    let study = Study::open_or_create(Arc::clone(store), settings)?;
    for number in 0..4 {
        for claim in study.ask("w1", &format!("ask-{number}"), 5)? {
            let value = 1.0 - real(&claim, "x").powi(2) - real(&claim, "y").powi(2);
            study.tell(claim.token, &Outcome::from(value), &format!("tell-{}", claim.token))?;
        }
    }
    Ok(())
}

fn real(claim: &Claim, name: &str) -> f64 {
    claim.configuration.get(name).and_then(Value::as_real).unwrap_or_default()
}
