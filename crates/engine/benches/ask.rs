//! A whole `ask(10)` of batch BORE with the paper's settings, at two lengths of history: its cost must stay flat.

use criterion::{Criterion, criterion_group, criterion_main};
use wimble::prelude::*;
use wimble::seed::uniform;

/// A session over six reals that has been told `len` trials.
fn session(len: usize) -> Session {
    let space = SearchSpace::new((0..6).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))
        .expect("a legal space");
    let mut session =
        Session::new(space, Bore::batch(), Direction::Minimise, Seed(1)).expect("legal settings");
    let mut rng = Seed(2).stream("data", 0);
    for _ in 0..len {
        let x: Vec<f64> = (0..6).map(|_| uniform(&mut rng)).collect();
        let value = x.iter().map(|x| (x - 0.3).powi(2)).sum();
        let configuration: Configuration =
            x.iter().enumerate().map(|(i, x)| (format!("x{i}"), *x)).collect();
        session.observe(&configuration, Outcome::Value(value)).expect("a legal observation");
    }
    session
}

/// One round: ask for ten and tell them.
fn round(session: &mut Session) {
    for trial in session.ask(10).expect("a batch") {
        session.tell(trial.id, Outcome::Value(trial.id as f64)).expect("an outcome");
    }
}

fn ask(c: &mut Criterion) {
    for (name, len) in
        [("ask10_bore_svgd_6d_n2000", 2_000), ("ask10_bore_svgd_6d_n200000", 200_000)]
    {
        let mut session = session(len);
        // The first ask trains through the kept fits once.
        round(&mut session);
        c.bench_function(name, |b| b.iter(|| round(&mut session)));
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = ask
}
criterion_main!(benches);
