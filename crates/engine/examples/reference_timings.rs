//! How long does the work take that `benches/reference/run` compares with PyTorch? Prints one JSON object:
//! seconds, each the minimum over repeats on one thread, and the bound that the arithmetic sets on this core.
#![allow(clippy::print_stdout, reason = "the output is the example's purpose")]

#[path = "../benches/sphere/mod.rs"]
mod sphere;

use std::hint::black_box;
use std::time::Instant;

use serde_json::json;
use wimble::acquisition::SmoothAcquisition as _;
use wimble::batch::Svgd;
use wimble::classifier::{Classifier as _, Learner, Perceptron, Target};
use wimble::history::History;
use wimble::labels::Threshold;
use wimble::points::Points;
use wimble::seed::Seed;

const DIM: usize = 6;

/// Multiply-adds of a 6-32-32-1 network for one sample.
const WEIGHTS: f64 = (6 * 32 + 32 * 32 + 32) as f64;

/// Training for 100 steps of 64 samples: forward, the weights' gradient, and the deltas of all layers but the
/// first, whose inputs need none. Adam, at 1313 weights a step, is not counted. A multiply-add is two.
const TRAIN_FLOPS: f64 = 2.0 * 100.0 * 64.0 * (3.0 * WEIGHTS - (6 * 32) as f64);

/// 1000 gradients at 10 points: forward and backward.
const GRADIENT_FLOPS: f64 = 2.0 * 1000.0 * 10.0 * 2.0 * WEIGHTS;

fn main() {
    let history = sphere::history(DIM, 640);
    let settings = Perceptron::default();
    let train = seconds(200, || {
        black_box(fit(&settings, &history));
    });

    let network = fit(&settings, &history);
    let acquisition = network.acquisition(Target::Logit);
    let points = Points::from_rows(DIM, history.points().rows().take(10));
    let mut values = vec![0.0; points.len()];
    let mut gradients = Points::zeros(DIM, points.len());
    let gradient = seconds(50, || {
        for _ in 0..1000 {
            acquisition.values_and_gradients(black_box(&points), &mut values, &mut gradients);
            black_box(&gradients);
        }
    });

    let svgd = seconds(20, || {
        let batch = Svgd::default().transport(&acquisition, points.clone(), &Points::new(DIM));
        black_box(batch.expect("the gradients are finite"));
    });

    let peak = peak_flops();
    let timings = json!({
        "perceptron_train_seconds": train,
        "perceptron_gradient_seconds": gradient,
        "svgd_seconds": svgd,
        "perceptron_train_bound_seconds": peak.map(|peak| TRAIN_FLOPS / peak),
        "perceptron_gradient_bound_seconds": peak.map(|peak| GRADIENT_FLOPS / peak),
    });
    println!("{timings}");
}

fn fit(settings: &Perceptron, history: &History) -> <Perceptron as Learner>::Classifier {
    let labels = Threshold::default()
        .label(history.points(), history.objective())
        .expect("there are values");
    settings.fit(&labels, None, &mut Seed(1).stream("fit", 0)).expect("training converges")
}

/// The shortest of `repeats` runs.
fn seconds(repeats: usize, mut work: impl FnMut()) -> f64 {
    let run = |_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..repeats).map(run).fold(f64::INFINITY, f64::min)
}

/// Single-precision operations a second on one core, measured; `None` where the kernels use no AVX2.
fn peak_flops() -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        const ROUNDS: usize = 100_000;
        let time = seconds(50, || {
            // SAFETY: the processor has just been found to have AVX2 and FMA.
            black_box(unsafe { multiply_adds(ROUNDS) });
        });
        return Some((2 * 8 * CHAINS * ROUNDS) as f64 / time);
    }
    None
}

/// Chains of multiply-adds that do not wait for each other: enough to fill two units of latency four or five.
#[cfg(target_arch = "x86_64")]
const CHAINS: usize = 12;

/// `rounds` vector multiply-adds in each of [`CHAINS`] chains, all in registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn multiply_adds(rounds: usize) -> [std::arch::x86_64::__m256; CHAINS] {
    use std::arch::x86_64::{_mm256_fmadd_ps, _mm256_set1_ps};
    let (factor, addend) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(1.0)));
    let mut chains = [_mm256_set1_ps(black_box(1.0)); CHAINS];
    for _ in 0..rounds {
        for chain in &mut chains {
            *chain = _mm256_fmadd_ps(*chain, factor, addend);
        }
    }
    chains
}
