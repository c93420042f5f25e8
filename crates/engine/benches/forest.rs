//! What do a forest and boosting cost to fit and to read, where `Candidates` reads about 2,000 points an ask?

#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod sphere;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wimble::acquisition::Acquisition;
use wimble::classifier::Boosting;
use wimble::classifier::Forest;
use wimble::classifier::{Confidence, Learner, Target, Uncertain};
use wimble::labels::Threshold;
use wimble::seed::Seed;

use sphere::{history, points};

const DIM: usize = 6;

/// `name` and `size` go into the names of the measurements, as in `forest_fit_n2000_d6_trees100`.
fn measure<L: Learner<Classifier: Uncertain>>(
    criterion: &mut Criterion,
    name: &str,
    size: &str,
    learner: &L,
) {
    let rng = &mut Seed(0).stream("fit", 0);
    for len in [200, 2_000, 10_000] {
        let history = history(DIM, len);
        let labels = Threshold::default()
            .label(history.points(), history.objective())
            .expect("there are values");
        criterion.bench_function(&format!("{name}_fit_n{len}_d6_{size}"), |bencher| {
            bencher.iter(|| learner.fit(black_box(&labels), None, rng));
        });
        let classifier = learner.fit(&labels, None, rng).expect("the settings are valid");
        let bound = classifier
            .upper_bound(Confidence::default(), Target::Logit)
            .expect("the confidence is valid");
        let at = points(DIM, 2_000, rng);
        let mut values = vec![0.0; at.len()];
        criterion.bench_function(
            &format!("{name}_bound_2000_points_n{len}_d6_{size}"),
            |bencher| {
                bencher.iter(|| bound.values(black_box(&at), &mut values));
            },
        );
    }
}

fn trees(criterion: &mut Criterion) {
    measure(criterion, "forest", "trees100", &Forest::default());
    measure(criterion, "boosting", "rounds100_members5", &Boosting::default());
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = trees
}
criterion_main!(benches);
