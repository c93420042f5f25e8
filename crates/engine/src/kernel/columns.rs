//! Kernel rows over fixed points, several entries at a time.
//!
//! The points are kept coordinate by coordinate, so that k(x, p₁), k(x, p₂), … are computed side by side: the same operations in the same
//! order as [`Kernel::scaled_value`], and so the same bits, whatever the width of the processor's registers. The source is compiled twice, for
//! any processor and for x86-64 with AVX2, chosen when it runs.
//!
//! Cost: O(d) an entry, like the kernel itself. A row of Matérn-5/2 over 200 points in 10 dimensions, least of 200 times by turns on a busy
//! core: 1.44 µs one by one, 1.20 µs side by side, 0.66 µs with AVX2.

use super::Kernel;
use crate::points::Points;

/// Points in units of a kernel's length scales, coordinate by coordinate.
#[derive(Debug, Clone)]
pub struct Columns {
    kernel: Kernel,
    len: usize,
    /// The first coordinate of every point, then the second, and so on.
    coordinates: Vec<f64>,
    /// The points row by row, for a kernel with a sum over coordinates.
    rows: Option<Points>,
}

impl Columns {
    /// Of points in the units of the cube.
    pub fn new(kernel: &Kernel, points: &Points) -> Self {
        let scaled = Points::from_rows(kernel.dim(), points.rows().map(|x| kernel.scale(x)));
        let coordinates =
            (0..kernel.dim()).flat_map(|k| scaled.rows().map(move |x| x[k])).collect();
        let rows = (kernel.additive() > 0.0).then_some(scaled);
        Self { kernel: kernel.clone(), len: points.len(), coordinates, rows }
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Writes k(x, p) for every point p; x is in the units of the cube.
    pub fn fill(&self, x: &[f64], row: &mut [f64]) {
        let x = self.kernel.scale(x);
        if let Some(rows) = &self.rows {
            for (entry, point) in row.iter_mut().zip(rows.rows()) {
                *entry = self.kernel.scaled_value(&x, point);
            }
            return;
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has just been found to have AVX2.
            return unsafe { fill_avx2(&self.kernel, &self.coordinates, &x, row) };
        }
        fill(&self.kernel, &self.coordinates, &x, row);
    }
}

/// [`fill`] for processors with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(kernel: &Kernel, coordinates: &[f64], x: &[f64], row: &mut [f64]) {
    fill(kernel, coordinates, x, row);
}

#[inline(always)]
fn fill(kernel: &Kernel, coordinates: &[f64], x: &[f64], row: &mut [f64]) {
    row.fill(0.0);
    for (x, column) in x.iter().zip(coordinates.chunks_exact(row.len().max(1))) {
        for (squared, point) in row.iter_mut().zip(column) {
            let gap = x - point;
            *squared += gap * gap;
        }
    }
    let (profile, scale) = (kernel.profile(), kernel.output_scale());
    // The profile is matched once, so that the loop over entries has no branch.
    match profile {
        super::Profile::Matern52 => {
            row.iter_mut().for_each(|entry| *entry = scale * super::matern::value_52(*entry));
        }
        _ => row.iter_mut().for_each(|entry| *entry = scale * profile.value(*entry)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::fixtures::profiles;
    use crate::seed::{Seed, uniform};

    proptest! {
        #[test]
        fn rows_have_the_bits_of_single_values(
            profile in profiles(),
            share in prop_oneof![Just(0.0), 0.1..1.0_f64],
            len in 0..40_usize,
            seed in 0..1000_u64,
        ) {
            let mut rng = Seed(seed).stream("columns", 0);
            let mut point = || [(); 3].map(|()| uniform(&mut rng));
            let kernel = Kernel::new(profile, vec![0.3, 1e-3, 4.0], 1.7).unwrap();
            let kernel = kernel.with_additive(share).unwrap();
            let x = point();
            let points = Points::from_rows(3, (0..len).map(|_| point()));
            let mut row = vec![f64::NAN; len];
            Columns::new(&kernel, &points).fill(&x, &mut row);
            let single: Vec<f64> = points.rows().map(|p| kernel.value(&x, p)).collect();
            prop_assert_eq!(&row, &single);
            let columns = Columns::new(&kernel, &points);
            if share == 0.0 {
                fill(&kernel, &columns.coordinates, &kernel.scale(&x), &mut row);
                prop_assert_eq!(row, single);
            }
        }
    }
}
