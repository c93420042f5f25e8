//! Training and gradients of the paper's network. `benches/reference/run` compares them with PyTorch.

mod sphere;

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use wimble::acquisition::{Acquisition as _, SmoothAcquisition as _};
use wimble::classifier::{Activation, Classifier as _, Learner, Perceptron, Target};
use wimble::history::History;
use wimble::labels::Threshold;
use wimble::points::Points;
use wimble::seed::Seed;

fn fit(settings: &Perceptron, history: &History) -> <Perceptron as Learner>::Classifier {
    let labels = Threshold::default()
        .label(history.points(), history.objective())
        .expect("there are values");
    settings.fit(&labels, None, &mut Seed(1).stream("fit", 0)).expect("training converges")
}

fn train(criterion: &mut Criterion) {
    // 10 passes over 10 minibatches.
    let history = sphere::history(6, 640);
    for (suffix, activation) in
        [("", Activation::Relu), ("_elu", Activation::Elu), ("_tanh", Activation::Tanh)]
    {
        let settings = Perceptron { activation, ..Perceptron::default() };
        let name = format!("perceptron_train_6_32_32_1_steps100_minibatch64{suffix}");
        criterion.bench_function(&name, |bencher| bencher.iter(|| fit(&settings, &history)));
    }
    let history = sphere::history(6, 100_000);
    let name = "perceptron_train_6_32_32_1_steps100_minibatch64_points100000";
    criterion
        .bench_function(name, |bencher| bencher.iter(|| fit(&Perceptron::default(), &history)));
}

fn gradient(criterion: &mut Criterion) {
    let history = sphere::history(6, 640);
    let network = fit(&Perceptron::default(), &history);
    let points = Points::from_rows(6, history.points().rows().take(10));
    let mut values = vec![0.0; points.len()];
    let mut gradients = Points::zeros(6, points.len());
    for (suffix, target) in [("", Target::Logit), ("_log_probability", Target::LogProbability)] {
        let acquisition = network.acquisition(target);
        let name = format!("perceptron_gradient_6_32_32_1_points10_calls1000{suffix}");
        criterion.bench_function(&name, |bencher| {
            bencher.iter(|| {
                for _ in 0..1000 {
                    let points = black_box(&points);
                    acquisition.values_and_gradients(points, &mut values, &mut gradients);
                    black_box(&gradients);
                }
            });
        });
    }
    let acquisition = network.acquisition(Target::Logit);
    let mut values = vec![0.0; history.len()];
    criterion.bench_function("perceptron_value_6_32_32_1_points640", |bencher| {
        bencher.iter(|| acquisition.values(black_box(history.points()), &mut values));
    });
}

criterion_group!(benches, train, gradient);
criterion_main!(benches);
