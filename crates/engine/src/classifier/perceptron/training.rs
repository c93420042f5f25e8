//! Training: Adam on minibatches of the binary cross-entropy, equation (6) negated.
//!
//! The schedule is that of the original BORE: S steps become ⌊S / ⌈N/64⌉⌋ full passes over the N points,
//! each in a fresh random order, with a smaller last minibatch. Past N = 64 S that rule gives no pass at all;
//! then S minibatches are drawn without replacement, at a cost that does not grow with N. No other point is
//! looked at, so a fit costs O(S · minibatch) whatever the length of history. A given number of passes (`epochs`) replaces that
//! rule: 14 in each round are what the driver of the paper's batch experiments made of S = 100, 14 steps at N = 10 and 448 at N = 2,000.
//!
//! Adam has decay rates 0.9 and 0.999 and ε = 1e-7, in the form of Keras, which the original BORE used: both
//! corrections for the moments' start at zero go into the rate, and ε is added to the uncorrected √v.
//! Weights start Glorot uniform, ±√(6 / (inputs + outputs)), and biases at zero, also as in Keras.

use super::Perceptron;
use super::inputs::Inputs;
use super::kernels::{self, AdamStep, LANES, Minibatch, Moments, Panel, Parameters, panels};
use super::layout::Layout;
use crate::labels::Labels;
use crate::seed::{Rng, below, uniform};

const FIRST_DECAY: f64 = 0.9;
const SECOND_DECAY: f64 = 0.999;
const EPSILON: f32 = 1e-7;

/// Weights drawn anew.
pub(super) fn initialise(settings: &Perceptron, dim: usize, rng: &mut Rng) -> Parameters {
    let layout = Layout::new(dim, &settings.hidden);
    let mut parameters = Parameters::zeros(layout, settings.activation);
    let Parameters { layout, weights, .. } = &mut parameters;
    let mut draw = |inputs: usize, outputs: usize| {
        let limit = (6.0 / (inputs + outputs) as f64).sqrt();
        (limit * (2.0 * uniform(rng) - 1.0)) as f32
    };
    for layer in &layout.layers {
        for output in 0..layer.outputs {
            for input in 0..layer.inputs {
                *layer.weight_mut(weights, output, input) = draw(layer.inputs, layer.outputs);
            }
        }
    }
    let width = layout.last_width();
    for input in 0..width {
        weights[layout.output.start + input / LANES].0[input % LANES] = draw(width, 1);
    }
    parameters.transpose();
    parameters
}

/// Adam's state before the first step.
pub(super) fn fresh_moments(layout: &Layout) -> Moments {
    let zeros = vec![Panel::ZERO; layout.weights()];
    Moments { first: zeros.clone(), second: zeros, steps: 0 }
}

/// Trains `parameters` for one round, continuing from `moments`.
pub(super) fn train(
    settings: &Perceptron,
    labels: &Labels<'_>,
    parameters: &mut Parameters,
    moments: &mut Moments,
    rng: &mut Rng,
) {
    let layout = &parameters.layout;
    let size = settings.minibatch.min(labels.len());
    let mut minibatch = Minibatch {
        activations: vec![Panel::ZERO; size * layout.activations],
        labels: Vec::with_capacity(size),
        weights: Vec::with_capacity(size),
        deltas: Vec::with_capacity(size),
        gradient: vec![Panel::ZERO; layout.weights()],
    };
    let mut step = |indices: &[usize]| {
        load(&mut minibatch, settings.inputs, labels, indices);
        moments.steps += 1;
        let adam = adam_step(settings.learning_rate, moments.steps);
        kernels::step(parameters, moments, &mut minibatch, adam);
    };
    let steps_a_pass = labels.len().div_ceil(settings.minibatch);
    let passes = settings.epochs.unwrap_or(settings.steps / steps_a_pass);
    if passes == 0 {
        let drawn =
            draw_without_replacement(settings.steps * settings.minibatch, labels.len(), rng);
        drawn.chunks(settings.minibatch).for_each(&mut step);
    } else {
        let mut order: Vec<usize> = (0..labels.len()).collect();
        for _ in 0..passes {
            shuffle_first(&mut order, labels.len(), rng);
            order.chunks(settings.minibatch).for_each(&mut step);
        }
    }
    parameters.transpose();
}

/// The numbers of the `step`-th step, counted from 1.
pub(super) fn adam_step(learning_rate: f64, step: u64) -> AdamStep {
    // Beyond i32 both powers are zero long since.
    let step = i32::try_from(step).unwrap_or(i32::MAX);
    let correction = (1.0 - SECOND_DECAY.powi(step)).sqrt() / (1.0 - FIRST_DECAY.powi(step));
    AdamStep {
        first_decay: FIRST_DECAY as f32,
        second_decay: SECOND_DECAY as f32,
        epsilon: EPSILON,
        rate: (learning_rate * correction) as f32,
    }
}

/// Makes `minibatch` the points at `indices`.
fn load(minibatch: &mut Minibatch, inputs: Inputs, labels: &Labels<'_>, indices: &[usize]) {
    let rows = minibatch.activations.chunks_exact_mut(panels(labels.dim()));
    minibatch.labels.clear();
    minibatch.weights.clear();
    for (&i, row) in indices.iter().zip(rows) {
        inputs.write(labels.point(i), row);
        minibatch.labels.push(labels.target(i) as f32);
        minibatch.weights.push(labels.weight(i) as f32);
    }
    minibatch.deltas.resize(indices.len(), 0.0);
}

/// `count` different numbers below `bound` in random order, at a cost of O(count) however large the bound.
fn draw_without_replacement(count: usize, bound: usize, rng: &mut Rng) -> Vec<usize> {
    if bound <= 4 * count {
        let mut all: Vec<usize> = (0..bound).collect();
        shuffle_first(&mut all, count, rng);
        all.truncate(count);
        return all;
    }
    // At most a quarter of the numbers is taken, so drawing again is rare; so are collisions in a table
    // that is at most a quarter full.
    const EMPTY: usize = usize::MAX;
    let bits = (4 * count).next_power_of_two().ilog2();
    let mut taken = vec![EMPTY; 1 << bits];
    let mut drawn = Vec::with_capacity(count);
    while drawn.len() < count {
        let number = below(rng, bound);
        let hash = (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - bits);
        let mut slot = hash as usize;
        while taken[slot] != EMPTY && taken[slot] != number {
            slot = (slot + 1) % taken.len();
        }
        if taken[slot] == EMPTY {
            taken[slot] = number;
            drawn.push(number);
        }
    }
    drawn
}

/// Puts a random sample of `numbers` in random order into the first `count` places (Fisher-Yates).
fn shuffle_first(numbers: &mut [usize], count: usize, rng: &mut Rng) {
    for i in 0..count.min(numbers.len()) {
        let j = i + below(rng, numbers.len() - i);
        numbers.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::labels::Threshold;
    use crate::outcome::Outcome;
    use crate::seed::Seed;

    /// Steps taken on `points` points with S = 5, or with `epochs`, and minibatches of 8.
    fn steps_taken(points: usize, epochs: Option<usize>) -> u64 {
        let mut history = History::new(2);
        let mut rng = Seed(3).stream("test", 0);
        for _ in 0..points {
            let x = [uniform(&mut rng), uniform(&mut rng)];
            history.push(&x, Outcome::from(x[0])).unwrap();
        }
        let labels = Threshold::default().label(history.points(), history.objective()).unwrap();
        let settings =
            Perceptron { hidden: vec![3], steps: 5, epochs, minibatch: 8, ..Perceptron::default() };
        let mut parameters = initialise(&settings, 2, &mut rng);
        let mut moments = fresh_moments(&parameters.layout);
        train(&settings, &labels, &mut parameters, &mut moments, &mut rng);
        moments.steps
    }

    #[test]
    fn steps_are_whole_passes_until_one_pass_is_too_long() {
        // floor(5 / ceil(N/8)) passes of ceil(N/8) steps each.
        for (points, steps) in [(1, 5), (8, 5), (9, 4), (16, 4), (17, 3), (24, 3), (25, 4), (40, 5)]
        {
            assert_eq!(steps_taken(points, None), steps, "{points} points");
        }
        for points in [41, 160, 161, 5000] {
            assert_eq!(steps_taken(points, None), 5, "{points} points");
        }
    }

    #[test]
    fn epochs_are_passes_over_all_points_however_many() {
        for (points, steps) in [(1, 14), (8, 14), (9, 28), (41, 84), (200, 350)] {
            assert_eq!(steps_taken(points, Some(14)), steps, "{points} points");
        }
    }

    #[test]
    fn draws_are_different_numbers_below_the_bound() {
        let mut rng = Seed(3).stream("test", 1);
        for (count, bound) in [(1, 1), (40, 41), (40, 160), (40, 161), (6400, 1_usize << 40)] {
            let mut drawn = draw_without_replacement(count, bound, &mut rng);
            assert!(drawn.iter().all(|&number| number < bound));
            drawn.sort_unstable();
            drawn.dedup();
            assert_eq!(drawn.len(), count);
        }
    }

    #[test]
    fn every_number_is_drawn_equally_often_in_every_place() {
        let mut rng = Seed(3).stream("test", 2);
        // One bound for each way of drawing.
        for bound in [6, 10] {
            let rounds = 20_000;
            let mut counts = vec![[0_u32; 2]; bound];
            for _ in 0..rounds {
                let drawn = draw_without_replacement(2, bound, &mut rng);
                counts[drawn[0]][0] += 1;
                counts[drawn[1]][1] += 1;
            }
            let mean = f64::from(rounds) / bound as f64;
            for count in counts.into_iter().flatten() {
                // Five standard deviations of a binomial count.
                assert!((f64::from(count) - mean).abs() < 5.0 * mean.sqrt());
            }
        }
    }

    #[test]
    fn weights_start_glorot_uniform_and_biases_at_zero() {
        let settings = Perceptron::default();
        let parameters = initialise(&settings, 6, &mut Seed(3).stream("test", 3));
        let layer = &parameters.layout.layers[1];
        let weights: Vec<f64> = (0..32 * 32)
            .map(|i| f64::from(layer.weight(&parameters.weights, i / 32, i % 32)))
            .collect();
        let limit = (6.0_f64 / 64.0).sqrt();
        assert!(weights.iter().all(|weight| weight.abs() <= limit));
        let variance = weights.iter().map(|weight| weight * weight).sum::<f64>() / 1024.0;
        // The mean of 1024 squares: five standard errors, √(4/45) limit² each.
        let error = (4.0_f64 / 45.0 / 1024.0).sqrt() * limit * limit;
        assert!((variance - limit * limit / 3.0).abs() < 5.0 * error);
        assert!((0..32).all(|output| layer.bias(&parameters.weights, output) == 0.0));
        assert_eq!(parameters.weights[parameters.layout.output_bias], Panel::ZERO);
    }
}
