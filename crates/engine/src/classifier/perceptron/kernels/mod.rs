//! The arithmetic of the network, compiled twice from one source: for any processor, and for x86-64 with AVX2
//! and FMA, chosen when it runs.
//!
//! The source is written in vectors of eight (see `lanes`) and in tiles that fit the registers (see `tile`).
//! The two builds round differently, since one fuses multiplication and addition: results are the same to the
//! bit between runs on one instruction set, not between instruction sets.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod lanes;
mod passes;
mod plain;
mod tile;

pub(super) use lanes::Lanes;
#[cfg(test)]
pub(super) use lanes::{Plain, WIDTH};
pub(super) use passes::{AdamStep, Minibatch, Moments, Parameters};
pub(super) use tile::{LANES, Panel, panels};

/// Whether the build for AVX2 and FMA can run here.
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

/// The logit of each sample. `activations` starts with the samples; the rest is overwritten.
pub(super) fn logits(parameters: &Parameters, activations: &mut [Panel], logits: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has just been found to have AVX2 and FMA.
        return unsafe { avx2::logits(parameters, activations, logits) };
    }
    plain::logits(parameters, activations, logits);
}

/// The logit of each sample, and its gradient in the inputs in place of the samples.
pub(super) fn gradients(parameters: &Parameters, activations: &mut [Panel], logits: &mut [f32]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has just been found to have AVX2 and FMA.
        return unsafe { avx2::gradients(parameters, activations, logits) };
    }
    plain::gradients(parameters, activations, logits);
}

/// One step of Adam on the mean cross-entropy of a minibatch.
pub(super) fn step(
    parameters: &mut Parameters,
    moments: &mut Moments,
    minibatch: &mut Minibatch,
    adam: AdamStep,
) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has just been found to have AVX2 and FMA.
        return unsafe { avx2::step(parameters, moments, minibatch, adam) };
    }
    plain::step(parameters, moments, minibatch, adam);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::activation::Activation;
    use super::super::inputs::Inputs;
    use super::super::naive::{Naive, random_parameters, random_points};
    use super::super::training::{adam_step, fresh_moments};
    use super::*;
    use crate::seed::uniform;

    fn activations() -> impl Strategy<Value = Activation> {
        prop::sample::select(vec![Activation::Relu, Activation::Elu, Activation::Tanh])
    }

    /// Samples in panels, with room for their activations; the room is filled with what must be overwritten.
    fn loaded(parameters: &Parameters, points: &[Vec<f64>]) -> Vec<Panel> {
        let mut rows = vec![Panel([f32::NAN; LANES]); points.len() * parameters.layout.activations];
        for (x, row) in points.iter().zip(rows.chunks_exact_mut(panels(parameters.layout.dim))) {
            Inputs::Cube.write(x, row);
        }
        rows
    }

    fn minibatch(
        parameters: &Parameters,
        points: &[Vec<f64>],
        labels: &[f64],
        weights: &[f64],
    ) -> Minibatch {
        Minibatch {
            activations: loaded(parameters, points),
            labels: labels.iter().map(|&label| label as f32).collect(),
            weights: weights.iter().map(|&weight| weight as f32).collect(),
            deltas: vec![0.0; labels.len()],
            gradient: vec![Panel::ZERO; parameters.layout.weights()],
        }
    }

    /// The gradients that a build left in place of the samples, row after row.
    fn rows(activations: &[Panel], dim: usize, samples: usize) -> Vec<f64> {
        let rows = activations.chunks_exact(panels(dim)).take(samples);
        rows.flat_map(|row| row.iter().flat_map(|panel| panel.0).take(dim).map(f64::from)).collect()
    }

    fn close(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance * (1.0 + a.abs())
    }

    // The generator is fixed: a unit of a ReLU network may sit within rounding of its kink, where two correct
    // gradients differ.
    fn config() -> ProptestConfig {
        ProptestConfig { cases: 96, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn both_builds_give_the_definitions_logits_and_gradients(
            dim in 1..40_usize,
            hidden in prop::collection::vec(1..50_usize, 0..4),
            samples in 1..20_usize,
            activation in activations(),
            seed in 0..1000_u64,
        ) {
            let (parameters, mut rng) = random_parameters(dim, &hidden, activation, seed);
            let points = random_points(dim, samples, &mut rng);
            let naive = Naive::of(&parameters);
            for build in [gradients, plain::gradients] {
                let mut activations = loaded(&parameters, &points);
                let mut found = vec![f32::NAN; samples];
                build(&parameters, &mut activations, &mut found);
                let slopes = rows(&activations, dim, samples);
                for (i, x) in points.iter().enumerate() {
                    prop_assert!(close(naive.logit(x), f64::from(found[i]), 1e-5));
                    for k in 0..dim {
                        let h = 1e-7;
                        let (mut up, mut down) = (x.clone(), x.clone());
                        up[k] += h;
                        down[k] -= h;
                        let difference = (naive.logit(&up) - naive.logit(&down)) / (2.0 * h);
                        prop_assert!(
                            close(difference, slopes[i * dim + k], 1e-5),
                            "{} against {}", difference, slopes[i * dim + k]
                        );
                    }
                }
                let mut alone = vec![f32::NAN; samples];
                logits(&parameters, &mut loaded(&parameters, &points), &mut alone);
                plain::logits(&parameters, &mut loaded(&parameters, &points), &mut found);
                for (a, b) in alone.iter().zip(&found) {
                    prop_assert!(close(f64::from(*a), f64::from(*b), 1e-5));
                }
            }
        }

        #[test]
        fn both_builds_give_the_gradient_of_the_loss_in_the_weights(
            dim in 1..20_usize,
            hidden in prop::collection::vec(1..20_usize, 0..3),
            samples in 1..12_usize,
            activation in activations(),
            seed in 0..1000_u64,
        ) {
            let (parameters, mut rng) = random_parameters(dim, &hidden, activation, seed);
            let points = random_points(dim, samples, &mut rng);
            let labels: Vec<f64> = points.iter().map(|_| uniform(&mut rng).round()).collect();
            // Exact in f32.
            let label_weights: Vec<f64> =
                points.iter().map(|_| (8.0 * uniform(&mut rng)).round() / 4.0).collect();
            for build in [step, plain::step] {
                let mut trained = parameters.clone();
                let mut moments = fresh_moments(&parameters.layout);
                let mut minibatch = minibatch(&parameters, &points, &labels, &label_weights);
                build(&mut trained, &mut moments, &mut minibatch, adam_step(1e-3, 1));
                let found = Naive::from_panels(&parameters, &minibatch.gradient);
                let mut naive = Naive::of(&parameters);
                let h = 1e-7;
                for layer in 0..naive.layers.len() {
                    for output in 0..naive.layers[layer].1.len() {
                        for input in 0..=naive.layers[layer].0[output].len() {
                            let mut loss = |change: f64| {
                                let (weights, biases) = &mut naive.layers[layer];
                                let place =
                                    weights[output].get_mut(input).unwrap_or(&mut biases[output]);
                                let before = *place;
                                *place += change;
                                let loss = naive.loss(&points, &labels, &label_weights);
                                let (weights, biases) = &mut naive.layers[layer];
                                *weights[output].get_mut(input).unwrap_or(&mut biases[output]) =
                                    before;
                                loss
                            };
                            let difference = (loss(h) - loss(-h)) / (2.0 * h);
                            let (weights, biases) = &found.layers[layer];
                            let slope = *weights[output].get(input).unwrap_or(&biases[output]);
                            prop_assert!(
                                close(difference, slope, 1e-5),
                                "layer {}: {} against {}", layer, difference, slope
                            );
                        }
                    }
                }
            }
        }

        #[test]
        fn a_step_is_adams_and_leaves_unused_lanes_at_zero(
            dim in 1..20_usize,
            hidden in prop::collection::vec(1..40_usize, 0..3),
            steps in 1..4_u64,
            seed in 0..1000_u64,
        ) {
            let (mut parameters, mut rng) = random_parameters(dim, &hidden, Activation::Elu, seed);
            let points = random_points(dim, 9, &mut rng);
            let labels: Vec<f64> = points.iter().map(|x| x[0].round()).collect();
            let mut moments = fresh_moments(&parameters.layout);
            let numbers = |panels: &[Panel]| -> Vec<f64> {
                panels.iter().flat_map(|panel| panel.0).map(f64::from).collect()
            };
            let (mut first, mut second) = (numbers(&moments.first), numbers(&moments.second));
            for t in 1..=steps {
                let mut minibatch = minibatch(&parameters, &points, &labels, &vec![1.0; labels.len()]);
                let before = numbers(&parameters.weights);
                step(&mut parameters, &mut moments, &mut minibatch, adam_step(1e-3, t));
                let (gradient, after) =
                    (numbers(&minibatch.gradient), numbers(&parameters.weights));
                for i in 0..before.len() {
                    first[i] = 0.9 * first[i] + 0.1 * gradient[i];
                    second[i] = 0.999 * second[i] + 0.001 * gradient[i] * gradient[i];
                    let rate = 1e-3 * (1.0 - 0.999_f64.powi(t as i32)).sqrt()
                        / (1.0 - 0.9_f64.powi(t as i32));
                    let expected = before[i] - rate * first[i] / (second[i].sqrt() + 1e-7);
                    prop_assert!((after[i] - expected).abs() < 1e-6);
                }
            }
            let used = parameters.layout.layers.iter().map(|l| (l.inputs + 1) * l.outputs).sum::<usize>()
                + parameters.layout.last_width() + 1;
            let nonzero = numbers(&parameters.weights).iter().filter(|&&w| w != 0.0).count();
            prop_assert!(nonzero <= used);
            let transposed = parameters.transposed.clone();
            parameters.transpose();
            let inner = parameters.layout.layers.first().map_or(0, |layer| layer.transposed.end);
            prop_assert_eq!(&transposed[inner..], &parameters.transposed[inner..]);
        }
    }
}
