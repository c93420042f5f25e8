//! Sums over the coordinates of two points.

/// aᵀb, as one sum in order: its bits depend on nothing but the numbers.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The products of `b` with each of some rows, which stand one after another. Each has the bits of [`dot`]; a sum in order waits for every
/// addition, and so several rows are summed side by side.
pub fn dots<'r>(rows: &'r [f64], b: &'r [f64]) -> impl Iterator<Item = f64> + 'r {
    products(rows, b.len(), move |_| b)
}

/// rᵀr of each of some rows of `len` entries; see [`dots`].
pub fn squared_norms(rows: &[f64], len: usize) -> impl Iterator<Item = f64> + '_ {
    products(rows, len, |row| row)
}

/// Rows that are summed side by side.
const BESIDE: usize = 8;

fn products<'r>(
    rows: &'r [f64],
    len: usize,
    other: impl Fn(&'r [f64]) -> &'r [f64] + 'r,
) -> impl Iterator<Item = f64> + 'r {
    rows.chunks(BESIDE * len.max(1)).flat_map(move |some| {
        let mut lanes = some.chunks_exact(len.max(1));
        let count = lanes.len();
        let lanes: [&[f64]; BESIDE] = std::array::from_fn(|_| lanes.next().unwrap_or_default());
        let mut sums = [-0.0; BESIDE];
        if count == BESIDE {
            let (lanes, others) =
                (lanes.map(|row| &row[..len]), lanes.map(|row| &other(row)[..len]));
            for i in 0..len {
                for lane in 0..BESIDE {
                    sums[lane] += lanes[lane][i] * others[lane][i];
                }
            }
        } else {
            let both = sums.iter_mut().zip(lanes).take(count);
            both.for_each(|(sum, lane)| *sum = dot(lane, other(lane)));
        }
        sums.into_iter().take(count)
    })
}

/// ‖a - b‖², the squared Euclidean distance.
pub fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};

    #[test]
    fn products_side_by_side_have_the_bits_of_single_ones() {
        let mut rng = Seed(1).stream("rows", 0);
        for (count, len) in [(0, 3), (1, 1), (7, 5), (8, 5), (9, 33), (27, 2)] {
            let mut draw =
                |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * uniform(&mut rng) - 1.0).collect() };
            let (rows, b) = (draw(count * len), draw(len));
            let bits = |products: Vec<f64>| -> Vec<u64> {
                products.into_iter().map(f64::to_bits).collect()
            };
            let single = rows.chunks_exact(len).map(|row| dot(row, &b)).collect();
            assert_eq!(bits(dots(&rows, &b).collect()), bits(single));
            let single = rows.chunks_exact(len).map(|row| dot(row, row)).collect();
            assert_eq!(bits(squared_norms(&rows, len).collect()), bits(single));
        }
        assert_eq!(dots(&[], &[]).count() + squared_norms(&[], 0).count(), 0);
    }
}
