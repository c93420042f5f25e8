//! Kernel rows over fixed points, several entries at a time.
//!
//! The points are kept coordinate by coordinate, so that k(x, p₁), k(x, p₂), … are computed side by side, in passes over a block of them: the
//! squared distances, then the profile, then the scale. Each entry sees the same operations in the same order as in
//! [`Kernel::scaled_value`], and so has the same bits, whatever the width of the processor's registers. The source is compiled twice, for any
//! processor and for x86-64 with AVX2, chosen when it runs.
//!
//! Points are in units of the length scales. Cost: O(d) an entry, like the kernel itself.

use super::{Kernel, Profile, additive, matern, rational_quadratic, squared_exponential};
use crate::points::Points;

/// Entries that are computed at a time: few enough for the processor's nearest memory.
const BLOCK: usize = 64;

/// Points in units of a kernel's length scales, coordinate by coordinate.
#[derive(Debug, Clone)]
pub struct Columns {
    len: usize,
    /// The first coordinate of every point, then the second, and so on.
    coordinates: Vec<f64>,
}

/// What k/s and the slope of its profile are multiplied by.
#[derive(Debug, Clone, Copy)]
struct Factors {
    value: f64,
    slope: f64,
}

impl Columns {
    /// Of points in units of the length scales.
    pub fn new(scaled: &Points) -> Self {
        let column = |k: usize| scaled.rows().map(move |x| x[k]);
        Self { len: scaled.len(), coordinates: (0..scaled.dim()).flat_map(column).collect() }
    }

    /// Writes k(x, p) for the first points p, as many as `row` has entries. The bits are those of [`Kernel::scaled_value`].
    pub fn fill(&self, kernel: &Kernel, x: &[f64], row: &mut [f64]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been found to have AVX2.
            return unsafe { fill_avx2(self, kernel, x, row) };
        }
        fill(self, kernel, x, row);
    }

    /// Writes k(x, p) and twice its slope in r² for the first points p: the bits of [`Kernel::scaled_value_and_slope`].
    pub fn fill_with_slopes(
        &self,
        kernel: &Kernel,
        x: &[f64],
        values: &mut [f64],
        slopes: &mut [f64],
    ) {
        let (scale, share) = (kernel.output_scale, 1.0 - kernel.additive);
        let factors = Factors { value: scale, slope: 2.0 * scale * share };
        self.sloped(kernel, x, 0, factors, values, slopes);
    }

    /// Writes k/s between x and the points from `first` on, and its slope in r² without the sum over coordinates: the bits of
    /// [`Kernel::scaled_slopes`].
    pub fn fill_unscaled(
        &self,
        kernel: &Kernel,
        x: &[f64],
        first: usize,
        values: &mut [f64],
        slopes: &mut [f64],
    ) {
        let factors = Factors { value: 1.0, slope: 1.0 - kernel.additive };
        self.sloped(kernel, x, first, factors, values, slopes);
    }

    fn sloped(
        &self,
        kernel: &Kernel,
        x: &[f64],
        first: usize,
        factors: Factors,
        values: &mut [f64],
        slopes: &mut [f64],
    ) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been found to have AVX2.
            return unsafe { sloped_avx2(self, kernel, x, first, factors, values, slopes) };
        }
        sloped(self, kernel, x, first, factors, values, slopes);
    }

    /// Each coordinate of x with that of `count` points from `first` on.
    #[inline(always)]
    fn beside<'c>(
        &'c self,
        x: &'c [f64],
        first: usize,
        count: usize,
    ) -> impl Iterator<Item = (f64, &'c [f64])> {
        let columns = self.coordinates.chunks_exact(self.len.max(1));
        x.iter().zip(columns).map(move |(x, column)| (*x, &column[first..first + count]))
    }

    /// r² between x and points from `first` on.
    #[inline(always)]
    fn squared_distances(&self, x: &[f64], first: usize, squares: &mut [f64]) {
        squares.fill(0.0);
        for (x, column) in self.beside(x, first, squares.len()) {
            for (squared, point) in squares.iter_mut().zip(column) {
                let gap = x - point;
                *squared += gap * gap;
            }
        }
    }

    /// (1 - a) φ + a ψ from the profile φ, each times `factor`.
    #[inline(always)]
    fn complete(&self, kernel: &Kernel, x: &[f64], first: usize, factor: f64, row: &mut [f64]) {
        let share = kernel.additive;
        if share == 0.0 {
            row.iter_mut().for_each(|entry| *entry *= factor);
            return;
        }
        let dim = x.len() as f64;
        let mut sums = [0.0; BLOCK];
        for (x, column) in self.beside(x, first, row.len()) {
            for (sum, point) in sums.iter_mut().zip(column) {
                *sum += additive::term(x - point, dim);
            }
        }
        for (entry, sum) in row.iter_mut().zip(&sums) {
            *entry = factor * ((1.0 - share) * *entry + share * (sum / dim));
        }
    }
}

/// [`fill`] for processors with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(columns: &Columns, kernel: &Kernel, x: &[f64], row: &mut [f64]) {
    fill(columns, kernel, x, row);
}

#[inline(always)]
fn fill(columns: &Columns, kernel: &Kernel, x: &[f64], row: &mut [f64]) {
    let mut first = 0;
    for row in row.chunks_mut(BLOCK) {
        columns.squared_distances(x, first, row);
        // Matched once a block, so that the loop over entries has no branch.
        match kernel.profile {
            Profile::SquaredExponential => each(row, squared_exponential::value),
            Profile::RationalQuadratic { alpha } => {
                each(row, |squared| rational_quadratic::value(squared, alpha));
            }
            Profile::Matern32 => each(row, matern::value_32),
            Profile::Matern52 => each(row, matern::value_52),
        }
        columns.complete(kernel, x, first, kernel.output_scale, row);
        first += row.len();
    }
}

#[inline(always)]
fn each(row: &mut [f64], profile: impl Fn(f64) -> f64) {
    row.iter_mut().for_each(|entry| *entry = profile(*entry));
}

/// [`sloped`] for processors with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sloped_avx2(
    columns: &Columns,
    kernel: &Kernel,
    x: &[f64],
    first: usize,
    factors: Factors,
    values: &mut [f64],
    slopes: &mut [f64],
) {
    sloped(columns, kernel, x, first, factors, values, slopes);
}

#[inline(always)]
fn sloped(
    columns: &Columns,
    kernel: &Kernel,
    x: &[f64],
    mut first: usize,
    factors: Factors,
    values: &mut [f64],
    slopes: &mut [f64],
) {
    for (values, slopes) in values.chunks_mut(BLOCK).zip(slopes.chunks_mut(BLOCK)) {
        columns.squared_distances(x, first, values);
        match kernel.profile {
            Profile::SquaredExponential => {
                each_sloped(values, slopes, factors, squared_exponential::value_and_slope);
            }
            Profile::RationalQuadratic { alpha } => {
                let profile = |squared| rational_quadratic::value_and_slope(squared, alpha);
                each_sloped(values, slopes, factors, profile);
            }
            Profile::Matern32 => each_sloped(values, slopes, factors, matern::value_and_slope_32),
            Profile::Matern52 => each_sloped(values, slopes, factors, matern::value_and_slope_52),
        }
        columns.complete(kernel, x, first, factors.value, values);
        first += values.len();
    }
}

#[inline(always)]
fn each_sloped(
    values: &mut [f64],
    slopes: &mut [f64],
    factors: Factors,
    profile: impl Fn(f64) -> (f64, f64),
) {
    for (value, slope) in values.iter_mut().zip(slopes) {
        let (at, rise) = profile(*value);
        *value = at;
        *slope = factors.slope * rise;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::fixtures::profiles;
    use crate::seed::{Seed, uniform};

    fn bits(row: &[f64]) -> Vec<u64> {
        row.iter().map(|entry| entry.to_bits()).collect()
    }

    proptest! {
        #[test]
        fn rows_have_the_bits_of_single_values(
            profile in profiles(),
            share in prop_oneof![Just(0.0), Just(1.0), 0.1..1.0_f64],
            len in 0..150_usize,
            first in 0..150_usize,
            seed in 0..1000_u64,
        ) {
            let mut rng = Seed(seed).stream("columns", 0);
            let mut point = || [(); 3].map(|()| uniform(&mut rng));
            let kernel = Kernel::new(profile, vec![0.3, 1e-3, 4.0], 1.7).unwrap();
            let kernel = kernel.with_additive(share).unwrap();
            let x = kernel.scale(&point());
            let mut scaled = Points::from_rows(3, (0..len).map(|_| kernel.scale(&point())));
            if len > 0 {
                // At no distance.
                scaled.row_mut(len / 2).copy_from_slice(&x);
            }
            let columns = Columns::new(&scaled);
            // Only the first of the points, where there are more than `first`.
            let (count, first) = (len - first.min(len) / 2, first.min(len));
            let single: Vec<f64> = scaled.rows().map(|p| kernel.scaled_value(&x, p)).collect();
            let mut row = vec![f64::NAN; count];
            columns.fill(&kernel, &x, &mut row);
            prop_assert_eq!(bits(&row), bits(&single[..count]));
            row.fill(f64::NAN);
            fill(&columns, &kernel, &x, &mut row);
            prop_assert_eq!(bits(&row), bits(&single[..count]));

            let mut slopes = vec![f64::NAN; count];
            columns.fill_with_slopes(&kernel, &x, &mut row, &mut slopes);
            let (values, expected): (Vec<f64>, Vec<f64>) =
                scaled.rows().map(|p| kernel.scaled_value_and_slope(&x, p)).unzip();
            prop_assert_eq!(bits(&row), bits(&values[..count]));
            prop_assert_eq!(bits(&slopes), bits(&expected[..count]));

            let (mut row, mut slopes) = (vec![f64::NAN; len - first], vec![f64::NAN; len - first]);
            let (values, expected): (Vec<f64>, Vec<f64>) = scaled
                .rows()
                .skip(first)
                .map(|p| kernel.scaled_slopes(&x, p))
                .map(|slopes| (slopes.value, slopes.in_squared))
                .unzip();
            columns.fill_unscaled(&kernel, &x, first, &mut row, &mut slopes);
            prop_assert_eq!(bits(&row), bits(&values));
            prop_assert_eq!(bits(&slopes), bits(&expected));
            let factors = Factors { value: 1.0, slope: 1.0 - share };
            sloped(&columns, &kernel, &x, first, factors, &mut row, &mut slopes);
            prop_assert_eq!(bits(&row), bits(&values));
            prop_assert_eq!(bits(&slopes), bits(&expected));
        }
    }
}
