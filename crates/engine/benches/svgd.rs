//! SVGD on a network's logit: the whole choice of a batch.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wimble::classifier::{Classifier as _, Learner as _};
use wimble::history::History;
use wimble::internals::uniform;
use wimble::points::Points;
use wimble::prelude::*;
use wimble::seed::Rng;

fn random_points(dim: usize, len: usize, rng: &mut Rng) -> Points {
    Points::from_rows(dim, (0..len).map(|_| (0..dim).map(|_| uniform(rng)).collect::<Vec<_>>()))
}

fn svgd(c: &mut Criterion) {
    let mut rng = Seed(1).stream("data", 0);
    let mut history = History::new(6);
    for x in random_points(6, 640, &mut rng).rows() {
        let value: f64 = x.iter().map(|x| (x - 0.3).powi(2)).sum();
        history.push(x, Outcome::from(value)).expect("a finite value");
    }
    let labels = Threshold::default()
        .label(history.points(), history.objective())
        .expect("there are values");
    let network = Perceptron::default().fit(&labels, None, &mut rng).expect("training converges");
    let acquisition = network.acquisition(Target::Logit);
    let none = Points::new(6);
    for (name, particles, steps) in
        [("svgd_6d_particles10_steps1000", 10, 1000), ("svgd_6d_particles1000_steps10", 1000, 10)]
    {
        let start = random_points(6, particles, &mut rng);
        let rule = Svgd { steps, ..Svgd::default() };
        c.bench_function(name, |b| {
            b.iter(|| {
                rule.transport(&acquisition, black_box(start.clone()), &none)
                    .expect("finite gradients")
            });
        });
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = svgd
}
criterion_main!(benches);
