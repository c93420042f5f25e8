//! The random numbers of an instance: shift, rotation and least value, as the benchmark defines them by a seed.
//!
//! The generator is the multiplicative one of Lewis, Goodman and Miller (a = 16807, m = 2³¹ - 1) behind a shuffle table of
//! Bays and Durham. Two instances are the same function only if these numbers agree to the last bit, so nothing here may be
//! replaced by a better generator.

use std::f64::consts::TAU;

/// 2³¹ - 1.
const MODULUS: i64 = 2_147_483_647;
/// Schrage's factorisation of the modulus: m = 16807 q + r.
const QUOTIENT: i64 = 127_773;
const REMAINDER: i64 = 2_836;
const MULTIPLIER: i64 = 16_807;
/// The size of the shuffle table, and the divisor that takes a number to a place in it.
const TABLE: usize = 32;
const PLACE: i64 = 67_108_865;

fn next(state: i64) -> i64 {
    let high = state / QUOTIENT;
    let next = MULTIPLIER * (state - high * QUOTIENT) - REMAINDER * high;
    if next < 0 { next + MODULUS } else { next }
}

/// `count` numbers between 0 and 1.
pub(super) fn uniform(count: usize, seed: u64) -> Vec<f64> {
    let mut state = (seed as i64).max(1);
    let mut table = [0_i64; TABLE];
    for i in (0..TABLE + 8).rev() {
        state = next(state);
        if let Some(entry) = table.get_mut(i) {
            *entry = state;
        }
    }
    let mut shuffled = table[0];
    (0..count)
        .map(|_| {
            state = next(state);
            let place = (shuffled / PLACE) as usize;
            shuffled = std::mem::replace(&mut table[place], state);
            let number = shuffled as f64 / MODULUS as f64;
            if number == 0.0 { 1e-99 } else { number }
        })
        .collect()
}

/// `count` normal numbers, by Box and Muller.
pub(super) fn normal(count: usize, seed: u64) -> Vec<f64> {
    let uniform = uniform(2 * count, seed);
    let (radii, angles) = uniform.split_at(count);
    let pair = |(radius, angle): (&f64, &f64)| (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos();
    radii.iter().zip(angles).map(pair).map(|g| if g == 0.0 { 1e-99 } else { g }).collect()
}

/// The rows of a random rotation: normal numbers, made orthonormal column by column.
pub(super) fn rotation(dim: usize, seed: u64) -> Vec<Vec<f64>> {
    let numbers = normal(dim * dim, seed);
    // Columns first: Gram and Schmidt go over them.
    let mut columns: Vec<Vec<f64>> = numbers.chunks_exact(dim).map(<[f64]>::to_vec).collect();
    for i in 0..dim {
        let (before, rest) = columns.split_at_mut(i);
        let column = &mut rest[0];
        for other in before.iter() {
            let along: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
            column.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
        }
        let length = column.iter().map(|a| a * a).sum::<f64>().sqrt();
        column.iter_mut().for_each(|a| *a /= length);
    }
    (0..dim).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

/// A point of [-4, 4]ᵈ on a grid of 0.0008.
pub(super) fn optimum(dim: usize, seed: u64) -> Vec<f64> {
    let place = |u: f64| 8.0 * (1e4 * u).floor() / 1e4 - 4.0;
    uniform(dim, seed).into_iter().map(place).map(|x| if x == 0.0 { -1e-5 } else { x }).collect()
}

/// The least value, between -1000 and 1000 and with two decimals.
pub(super) fn least_value(seed: u64) -> f64 {
    let ratio = normal(1, seed)[0] / normal(1, seed + 1)[0];
    ((100.0 * 100.0 * ratio + 0.5).floor() / 100.0).clamp(-1000.0, 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_keeps_lengths_and_angles() {
        let rows = rotation(7, 42);
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-12);
            }
        }
    }
}
