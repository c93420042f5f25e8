//! What does a refit after ten more trials save over a fit from scratch? And what do predictions cost?

#![allow(missing_docs, reason = "criterion's macros make public functions")]

mod sphere;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wimble::acquisition::{Acquisition, SmoothAcquisition};
use wimble::classifier::MarginalLikelihood;
use wimble::classifier::{Classifier, Confidence, Learner, Target, Uncertain};
use wimble::classifier::{HyperParameters, LeastSquares};
use wimble::kernel::{Kernel, Profile};
use wimble::labels::Threshold;
use wimble::seed::Seed;

use sphere::{history, points};

const DIM: usize = 6;

fn learner() -> LeastSquares {
    let kernel = Kernel::isotropic(Profile::RationalQuadratic { alpha: 1.0 }, DIM, 0.5, 1.0)
        .expect("the hyper-parameters are positive");
    LeastSquares { hyper_parameters: HyperParameters::Fixed { kernel }, ..LeastSquares::default() }
}

fn fits(criterion: &mut Criterion) {
    let (learner, shorter, longer) = (learner(), history(DIM, 500), history(DIM, 510));
    let shorter = Threshold::default()
        .label(shorter.points(), shorter.objective())
        .expect("there are values");
    let longer =
        Threshold::default().label(longer.points(), longer.objective()).expect("there are values");
    let rng = &mut Seed(0).stream("fit", 0);
    let previous = learner.fit(&shorter, None, rng).expect("the matrix is positive definite");
    criterion.bench_function("least_squares_refit_500_plus_10", |bencher| {
        bencher.iter(|| learner.fit(black_box(&longer), Some(&previous), rng));
    });
    criterion.bench_function("least_squares_from_scratch_510", |bencher| {
        bencher.iter(|| learner.fit(black_box(&longer), None, rng));
    });
}

fn predictions(criterion: &mut Criterion) {
    let (learner, history) = (learner(), history(DIM, 500));
    let labels = Threshold::default()
        .label(history.points(), history.objective())
        .expect("there are values");
    let rng = &mut Seed(0).stream("fit", 0);
    let classifier = learner.fit(&labels, None, rng).expect("the matrix is positive definite");
    let bound = classifier
        .upper_bound(Confidence::default(), Target::Logit)
        .expect("the confidence is valid");
    let at = points(DIM, 1000, rng);
    let mut values = vec![0.0; at.len()];
    criterion.bench_function("least_squares_mean_1000_points", |bencher| {
        bencher.iter(|| classifier.acquisition(Target::Logit).values(black_box(&at), &mut values));
    });
    criterion.bench_function("least_squares_upper_bound_1000_points", |bencher| {
        bencher.iter(|| bound.values(black_box(&at), &mut values));
    });
    let mut gradient = [0.0; DIM];
    criterion.bench_function("least_squares_upper_bound_gradient_one_point", |bencher| {
        bencher.iter(|| bound.value_and_gradient(black_box(at.row(0)), &mut gradient));
    });
}

fn marginal_likelihood(criterion: &mut Criterion) {
    let history = history(DIM, 200);
    let labels = Threshold::default()
        .label(history.points(), history.objective())
        .expect("there are values");
    let targets = labels.to_vec();
    let settings = MarginalLikelihood::default();
    let mut group = criterion.benchmark_group("marginal_likelihood");
    group.sample_size(10);
    group.bench_function("maximise_200", |bencher| {
        bencher.iter(|| settings.maximise(history.points(), black_box(&targets), 0.025, None));
    });
    group.finish();
}

criterion_group!(benches, fits, predictions, marginal_likelihood);
criterion_main!(benches);
