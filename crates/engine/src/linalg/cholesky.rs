//! The Cholesky factor A = LLᵀ of a symmetric positive-definite matrix that grows by rows.
//!
//! Row i of L is computed from rows 0..=i of A by the same operations in the same order, however many rows
//! were appended at a time. Factors of the same matrix are therefore equal to the last bit, whether it was
//! given at once or row by row, and a suggestion that rests on one depends on the evidence alone.
//!
//! # Design
//! Rows are kept in tiles of 16, with boundaries fixed by the row's index. A tile is a panel of 16 rows by
//! all columns up to its diagonal, stored column by column. New rows take their own places in a panel that
//! is otherwise zero, and every product is taken over whole panels: its shape, and so the order in which a
//! row is summed, never depends on which rows are new. Complete tiles are shared between a factor and those
//! grown from it.
//!
//! Cost: O(n³/3) for n rows at once, O(n²) for up to 16 more rows, O(n²) a solve.
//! Fails with [`Error::NotPositiveDefinite`] when a pivot is lost to rounding even with the largest jitter.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::error::{Error, Result};

/// Rows of a tile. Smaller tiles make appending cheaper, larger ones make factoring at once cheaper.
const TILE: usize = 16;
/// Entries of a square block.
const BLOCK: usize = TILE * TILE;
/// Right-hand sides that are solved side by side: alone, each waits for its own divisions.
const LANES: usize = 8;
/// Jitters tried in turn, in units of the first diagonal entry.
pub(crate) const JITTERS: [f64; 8] = [0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4];

/// The lower triangular factor of A + jitter · I, with the smallest jitter of a fixed ladder that works.
///
/// The ladder is 0, 1e-10, 1e-9, … 1e-4 times the first diagonal entry: for a stationary kernel all diagonal
/// entries are equal, and unlike their mean the first one does not change as rows are appended.
#[derive(Debug, Clone, Default)]
pub struct Cholesky {
    len: usize,
    /// Index into [`JITTERS`].
    rung: usize,
    /// The first diagonal entry of A.
    scale: f64,
    tiles: Vec<Arc<[f64]>>,
}

impl Cholesky {
    /// Factors a matrix of `len` rows; `fill(i, row)` writes the entries `A[i][0..=i]`.
    pub fn factor(len: usize, fill: impl FnMut(usize, &mut [f64])) -> Result<Self> {
        Self::default().extend(len, fill)
    }

    /// The factor of the first `len` rows of a matrix whose first rows are those of this factor.
    ///
    /// `fill(i, row)` writes the entries `A[i][0..=i]`. Only new rows are asked for, unless they need a larger
    /// jitter: then all are.
    pub fn extend(&self, len: usize, mut fill: impl FnMut(usize, &mut [f64])) -> Result<Self> {
        assert!(len >= self.len, "a factor cannot lose rows");
        let mut factor = self.clone();
        if factor.len == 0 && len > 0 {
            let mut first = [0.0];
            fill(0, &mut first);
            factor.scale = first[0];
        }
        let mut failed = None;
        for rung in self.rung..JITTERS.len() {
            if rung > self.rung {
                factor.len = 0;
                factor.tiles.clear();
            }
            factor.rung = rung;
            match factor.append(len, &mut fill) {
                Ok(()) => return Ok(factor),
                Err(LostPivot(pivot)) => failed = Some(pivot),
            }
        }
        let pivot = failed.unwrap_or(0);
        Err(Error::NotPositiveDefinite { pivot, jitter: factor.jitter() })
    }

    /// Rows of the matrix.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// What was added to the diagonal.
    pub fn jitter(&self) -> f64 {
        JITTERS[self.rung] * self.scale
    }

    /// The diagonal of L.
    pub fn diagonal(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.len).map(|i| self.tiles[i / TILE][i * TILE + i % TILE])
    }

    /// The last row of L, up to its pivot; empty if there is no row.
    pub fn last_row(&self) -> Vec<f64> {
        let Some(last) = self.len.checked_sub(1) else { return Vec::new() };
        let tile = &self.tiles[last / TILE];
        (0..self.len).map(|j| tile[j * TILE + last % TILE]).collect()
    }

    /// log det A = 2 Σᵢ log Lᵢᵢ.
    #[cfg(test)]
    pub fn log_determinant(&self) -> f64 {
        2.0 * self.diagonal().map(f64::ln).sum::<f64>()
    }

    /// Replaces b by L⁻¹b.
    pub fn solve_lower(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.len, "the right-hand side must have one entry a row");
        for (t, tile) in self.tiles.iter().enumerate() {
            let first = t * TILE;
            let (done, rest) = b.split_at_mut(first);
            let rows = rest.len().min(TILE);
            let mut sum = [0.0; TILE];
            for (column, y) in tile.chunks_exact(TILE).zip(&*done) {
                for (s, l) in sum.iter_mut().zip(column) {
                    *s += l * y;
                }
            }
            for (b, s) in rest.iter_mut().zip(&sum) {
                *b -= s;
            }
            solve_lower_block(&tile[first * TILE..], &mut rest[..rows]);
        }
    }

    /// Replaces b by L⁻ᵀb.
    pub fn solve_upper(&self, b: &mut [f64]) {
        assert_eq!(b.len(), self.len, "the right-hand side must have one entry a row");
        for (t, tile) in self.tiles.iter().enumerate().rev() {
            let first = t * TILE;
            let rows = (self.len - first).min(TILE);
            let (before, rest) = b[..first + rows].split_at_mut(first);
            solve_upper_block(&tile[first * TILE..], rest);
            let mut x = [0.0; TILE];
            x[..rows].copy_from_slice(rest);
            for (b, column) in before.iter_mut().zip(tile.chunks_exact(TILE)) {
                *b -= column.iter().zip(&x).map(|(l, x)| l * x).sum::<f64>();
            }
        }
    }

    /// Replaces b by A⁻¹b.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// Replaces each of the right-hand sides b by L⁻¹b. They stand one after another in `batch`, `len`
    /// entries each. Faster than one by one; the results may differ in the last bits.
    pub fn solve_lower_batch(&self, batch: &mut [f64]) {
        if self.len == 0 {
            return;
        }
        assert_eq!(batch.len() % self.len, 0, "each right-hand side must have one entry a row");
        let count = batch.len() / self.len;
        for (t, tile) in self.tiles.iter().enumerate() {
            let first = t * TILE;
            let rows = (self.len - first).min(TILE);
            let matrix = MatMut::from_column_major_slice_mut(batch, self.len, count);
            let (done, rest) = matrix.split_at_row_mut(first);
            let panel = MatRef::from_column_major_slice(&tile[..first * TILE], TILE, first);
            let panel = panel.subrows(0, rows);
            let rest = rest.subrows_mut(0, rows);
            matmul(rest, Accum::Add, panel, done.as_ref(), -1.0, Par::Seq);
            for beside in batch.chunks_mut(LANES * self.len) {
                let mut beside = beside.chunks_exact_mut(self.len);
                let lanes = std::array::from_fn(|_| beside.next().map(|b| &mut b[first..][..rows]));
                solve_lower_block_beside(&tile[first * TILE..], lanes);
            }
        }
    }

    /// Replaces each of the right-hand sides b by L⁻ᵀb; see [`Self::solve_lower_batch`].
    pub fn solve_upper_batch(&self, batch: &mut [f64]) {
        if self.len == 0 {
            return;
        }
        assert_eq!(batch.len() % self.len, 0, "each right-hand side must have one entry a row");
        let count = batch.len() / self.len;
        for (t, tile) in self.tiles.iter().enumerate().rev() {
            let first = t * TILE;
            let rows = (self.len - first).min(TILE);
            for b in batch.chunks_exact_mut(self.len) {
                solve_upper_block(&tile[first * TILE..], &mut b[first..first + rows]);
            }
            let matrix = MatMut::from_column_major_slice_mut(batch, self.len, count);
            let (before, rest) = matrix.split_at_row_mut(first);
            let panel = MatRef::from_column_major_slice(&tile[..first * TILE], TILE, first);
            let panel = panel.subrows(0, rows).transpose();
            let rest = rest.as_ref().subrows(0, rows);
            matmul(before, Accum::Add, panel, rest, -1.0, Par::Seq);
        }
    }

    /// Replaces each of the right-hand sides b by A⁻¹b; see [`Self::solve_lower_batch`].
    #[cfg(test)]
    pub fn solve_batch(&self, batch: &mut [f64]) {
        self.solve_lower_batch(batch);
        self.solve_upper_batch(batch);
    }

    /// Appends rows up to `len` with the present jitter; on failure the factor is left short.
    fn append(
        &mut self,
        len: usize,
        fill: &mut impl FnMut(usize, &mut [f64]),
    ) -> Result<(), LostPivot> {
        let jitter = self.jitter();
        let mut row = vec![0.0; len];
        while self.len < len {
            let t = self.len / TILE;
            let first = t * TILE;
            let new = self.len - first..(len - first).min(TILE);
            let mut panel = vec![0.0; (t + 1) * BLOCK];
            for r in new.clone() {
                let row = &mut row[..=first + r];
                fill(first + r, row);
                for (entry, column) in row.iter().zip(panel.chunks_exact_mut(TILE)) {
                    column[r] = *entry;
                }
                panel[(first + r) * TILE + r] += jitter;
            }
            for (j, tile) in self.tiles[..t].iter().enumerate() {
                let (done, rest) = panel.split_at_mut(j * BLOCK);
                let block = &mut rest[..BLOCK];
                subtract_product(block, done, &tile[..j * BLOCK]);
                solve_block(block, &tile[j * BLOCK..]);
            }
            let (done, block) = panel.split_at_mut(t * BLOCK);
            let earlier = self.tiles.get(t);
            if let Some(tile) = earlier {
                copy_rows(done, &tile[..t * BLOCK], new.start);
            }
            let diagonal: [f64; TILE] = std::array::from_fn(|i| block[i * TILE + i]);
            subtract_product(block, done, done);
            if let Some(tile) = earlier {
                copy_rows(block, &tile[t * BLOCK..], new.start);
            }
            for r in new.clone() {
                // A pivot below the rounding error of its own sum says nothing about its sign.
                let lost = (first + r + 1) as f64 * f64::EPSILON * diagonal[r].abs();
                factor_row(block, r, lost).ok_or(LostPivot(first + r))?;
            }
            self.tiles.truncate(t);
            self.tiles.push(panel.into());
            self.len = first + new.end;
        }
        Ok(())
    }
}

/// The index of a pivot that is not clearly positive.
struct LostPivot(usize);

/// block -= left · rightᵀ, where left and right are panels of as many columns.
fn subtract_product(block: &mut [f64], left: &[f64], right: &[f64]) {
    let columns = left.len() / TILE;
    let block = MatMut::from_column_major_slice_mut(block, TILE, TILE);
    let left = MatRef::from_column_major_slice(left, TILE, columns);
    let right = MatRef::from_column_major_slice(right, TILE, columns);
    matmul(block, Accum::Add, left, right.transpose(), -1.0, Par::Seq);
}

/// block := block · L⁻ᵀ, where L is a complete diagonal block.
fn solve_block(block: &mut [f64], lower: &[f64]) {
    for c in 0..TILE {
        let (done, rest) = block.split_at_mut(c * TILE);
        let column = &mut rest[..TILE];
        for (k, earlier) in done.chunks_exact(TILE).enumerate() {
            let factor = lower[k * TILE + c];
            for (x, e) in column.iter_mut().zip(earlier) {
                *x -= factor * e;
            }
        }
        let pivot = lower[c * TILE + c];
        for x in column {
            *x /= pivot;
        }
    }
}

/// Copies the first `rows` rows of a panel.
fn copy_rows(to: &mut [f64], from: &[f64], rows: usize) {
    for (to, from) in to.chunks_exact_mut(TILE).zip(from.chunks_exact(TILE)) {
        to[..rows].copy_from_slice(&from[..rows]);
    }
}

/// Turns row `r` of a diagonal block into that of its factor, given the rows above. `None` if the pivot is
/// not larger than `lost`. The entries right of the diagonal are cleared.
fn factor_row(block: &mut [f64], r: usize, lost: f64) -> Option<()> {
    for c in 0..r {
        let sum: f64 = (0..c).map(|k| block[k * TILE + r] * block[k * TILE + c]).sum();
        block[c * TILE + r] = (block[c * TILE + r] - sum) / block[c * TILE + c];
    }
    let sum: f64 = (0..r).map(|k| block[k * TILE + r] * block[k * TILE + r]).sum();
    let pivot = block[r * TILE + r] - sum;
    // Written so that NaN fails.
    if !(pivot > lost && pivot.is_finite()) {
        return None;
    }
    block[r * TILE + r] = pivot.sqrt();
    for c in r + 1..TILE {
        block[c * TILE + r] = 0.0;
    }
    Some(())
}

/// b := L⁻¹b for a diagonal block L, of which the first `b.len()` rows count.
fn solve_lower_block(block: &[f64], b: &mut [f64]) {
    for k in 0..b.len() {
        let column = &block[k * TILE..(k + 1) * TILE];
        b[k] /= column[k];
        let y = b[k];
        for i in k + 1..b.len() {
            b[i] -= column[i] * y;
        }
    }
}

/// The same for several right-hand sides of as many rows: the operations of [`solve_lower_block`] on each, and so its bits, side by side.
fn solve_lower_block_beside(block: &[f64], mut lanes: [Option<&mut [f64]>; LANES]) {
    let rows = lanes[0].as_ref().map_or(0, |b| b.len());
    let mut all = [[0.0; LANES]; TILE];
    for (lane, b) in lanes.iter().enumerate() {
        for (row, b) in all.iter_mut().zip(b.iter().flat_map(|b| b.iter())) {
            row[lane] = *b;
        }
    }
    for k in 0..rows {
        let column = &block[k * TILE..(k + 1) * TILE];
        let (done, rest) = all.split_at_mut(k + 1);
        let y = &mut done[k];
        y.iter_mut().for_each(|y| *y /= column[k]);
        for (b, l) in rest[..rows - k - 1].iter_mut().zip(&column[k + 1..]) {
            b.iter_mut().zip(&*y).for_each(|(b, y)| *b -= l * y);
        }
    }
    for (lane, b) in lanes.iter_mut().enumerate() {
        for (row, b) in all.iter().zip(b.iter_mut().flat_map(|b| b.iter_mut())) {
            *b = row[lane];
        }
    }
}

/// b := L⁻ᵀb for a diagonal block L, of which the first `b.len()` rows count.
fn solve_upper_block(block: &[f64], b: &mut [f64]) {
    for i in (0..b.len()).rev() {
        let column = &block[i * TILE..(i + 1) * TILE];
        let below: f64 = (i + 1..b.len()).map(|k| column[k] * b[k]).sum();
        b[i] = (b[i] - below) / column[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::points::dot;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    /// A random positive-definite matrix GGᵀ/n + ridge · I, row by row.
    fn matrix(len: usize, ridge: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Seed(seed).stream("test", 0);
        let g: Vec<Vec<f64>> =
            (0..len).map(|_| (0..len).map(|_| uniform(&mut rng) - 0.5).collect()).collect();
        (0..len)
            .map(|i| {
                (0..len)
                    .map(|j| dot(&g[i], &g[j]) / len as f64 + if i == j { ridge } else { 0.0 })
                    .collect()
            })
            .collect()
    }

    fn fill(a: &[Vec<f64>]) -> impl FnMut(usize, &mut [f64]) + '_ {
        |i, row| row.copy_from_slice(&a[i][..=i])
    }

    fn entry(factor: &Cholesky, i: usize, j: usize) -> f64 {
        factor.tiles[i / TILE][j * TILE + i % TILE]
    }

    fn bits(factor: &Cholesky) -> Vec<u64> {
        (0..factor.len)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| entry(factor, i, j).to_bits())
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn the_factor_multiplies_back_and_the_solves_invert(len in 1..90_usize, seed in 0..1000_u64) {
            let a = matrix(len, 0.01, seed);
            let factor = Cholesky::factor(len, fill(&a)).unwrap();
            prop_assert_eq!(factor.jitter(), 0.0);
            for (i, row) in a.iter().enumerate() {
                for (j, expected) in row[..=i].iter().enumerate() {
                    let product: f64 =
                        (0..=j).map(|k| entry(&factor, i, k) * entry(&factor, j, k)).sum();
                    prop_assert!((product - expected).abs() < 1e-14 * len as f64);
                }
            }
            let x: Vec<f64> = (0..len).map(|i| (i as f64).sin()).collect();
            let b: Vec<f64> = a.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
            let mut solved = b.clone();
            factor.solve(&mut solved);
            let mut batch = [b.clone(), b.clone(), b.clone()].concat();
            factor.solve_batch(&mut batch);
            for (i, x) in x.iter().enumerate() {
                prop_assert!((solved[i] - x).abs() < 1e-10, "{} {}", solved[i], x);
                prop_assert!((batch[len + i] - x).abs() < 1e-10);
            }
            let mut lower = b.clone();
            factor.solve_lower(&mut lower);
            for (i, expected) in b.iter().enumerate() {
                let product: f64 = (0..=i).map(|k| entry(&factor, i, k) * lower[k]).sum();
                prop_assert!((product - expected).abs() < 1e-12);
            }
            let mut batch = [b.clone(), b].concat();
            factor.solve_lower_batch(&mut batch);
            for i in 0..len {
                prop_assert!((batch[len + i] - lower[i]).abs() < 1e-11);
            }
        }

        #[test]
        fn the_path_of_appends_leaves_no_trace(
            steps in prop::collection::vec(1..40_usize, 1..8),
            seed in 0..1000_u64,
        ) {
            let len = steps.iter().sum();
            let a = matrix(len, 0.01, seed);
            let mut grown = Cholesky::default();
            for step in steps {
                grown = grown.extend(grown.len() + step, fill(&a)).unwrap();
            }
            let at_once = Cholesky::factor(len, fill(&a)).unwrap();
            prop_assert_eq!(bits(&grown), bits(&at_once));
            let mut one_by_one = Cholesky::default();
            for i in 0..len {
                one_by_one = one_by_one.extend(i + 1, fill(&a)).unwrap();
            }
            prop_assert_eq!(bits(&one_by_one), bits(&at_once));
        }

        #[test]
        fn the_jitter_does_not_depend_on_the_path(
            len in 2..60_usize,
            rank in 1..20_usize,
            step in 1..20_usize,
        ) {
            // Repeated points make the matrix singular: rows i and i + rank are equal.
            let a: Vec<Vec<f64>> = (0..len)
                .map(|i| {
                    (0..len)
                        .map(|j| (-0.5 * ((i % rank) as f64 - (j % rank) as f64).powi(2) / 4.0).exp())
                        .collect()
                })
                .collect();
            let at_once = Cholesky::factor(len, fill(&a)).unwrap();
            let mut grown = Cholesky::default();
            while grown.len() < len {
                grown = grown.extend((grown.len() + step).min(len), fill(&a)).unwrap();
            }
            prop_assert_eq!(grown.jitter(), at_once.jitter());
            prop_assert_eq!(bits(&grown), bits(&at_once));
            prop_assert_eq!(at_once.jitter() > 0.0, len > rank);
        }
    }

    #[test]
    fn the_determinant_is_that_of_the_textbook() {
        let a = [vec![4.0], vec![2.0, 3.0], vec![1.0, 0.5, 2.0]];
        let factor = Cholesky::factor(3, |i, row| row.copy_from_slice(&a[i])).unwrap();
        // 4 (3·2 - 0.25) - 2 (2·2 - 0.5) + (2·0.5 - 3)
        assert!((factor.log_determinant() - 14.0_f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn long_rows_leave_no_trace_of_the_path_either() {
        // Long enough for the products to be split along the rows.
        let entry = |i: usize, j: usize| {
            (-0.01 * (i as f64 - j as f64).powi(2)).exp() + if i == j { 0.1 } else { 0.0 }
        };
        let fill = |i: usize, row: &mut [f64]| {
            row.iter_mut().enumerate().for_each(|(j, value)| *value = entry(i, j));
        };
        let mut grown = Cholesky::default();
        while grown.len() < 1100 {
            grown = grown.extend(grown.len() + 11, fill).unwrap();
        }
        assert_eq!(bits(&grown), bits(&Cholesky::factor(1100, fill).unwrap()));
    }

    #[test]
    fn a_complete_tile_is_shared_with_the_grown_factor() {
        let a = matrix(50, 0.1, 0);
        let factor = Cholesky::factor(40, fill(&a)).unwrap();
        let mut asked = Vec::new();
        let grown = factor
            .extend(50, |i, row| {
                asked.push(i);
                row.copy_from_slice(&a[i][..=i]);
            })
            .unwrap();
        assert_eq!(asked, (40..50).collect::<Vec<_>>());
        assert!(Arc::ptr_eq(&factor.tiles[1], &grown.tiles[1]));
        assert_eq!(factor.len(), 40);
    }

    #[test]
    fn a_matrix_with_a_negative_eigenvalue_is_refused_with_its_pivot() {
        let a = [vec![1.0], vec![0.0, 1.0], vec![0.0, 2.0, 1.0]];
        let error = Cholesky::factor(3, |i, row| row.copy_from_slice(&a[i])).unwrap_err();
        assert_eq!(error, Error::NotPositiveDefinite { pivot: 2, jitter: 1e-4 });
        let error = Cholesky::factor(1, |_, row| row[0] = f64::NAN).unwrap_err();
        assert!(matches!(error, Error::NotPositiveDefinite { pivot: 0, .. }), "{error}");
    }

    #[test]
    fn no_rows_have_determinant_one_and_nothing_to_solve() {
        let factor = Cholesky::factor(0, |_, _| unreachable!()).unwrap();
        assert_eq!(factor.len(), 0);
        assert_eq!(factor.log_determinant(), 0.0);
        factor.solve(&mut []);
        factor.solve_batch(&mut []);
    }

    #[test]
    fn right_hand_sides_beside_each_other_have_the_bits_of_single_ones() {
        let mut rng = Seed(2).stream("block", 0);
        let block: Vec<f64> = (0..BLOCK).map(|_| 0.5 + uniform(&mut rng)).collect();
        for rows in [1, 5, TILE] {
            for count in 1..=LANES {
                let sides: Vec<Vec<f64>> =
                    (0..count).map(|_| (0..rows).map(|_| uniform(&mut rng)).collect()).collect();
                let mut beside = sides.clone();
                let mut each = beside.iter_mut();
                let lanes = std::array::from_fn(|_| each.next().map(Vec::as_mut_slice));
                solve_lower_block_beside(&block, lanes);
                for (mut single, beside) in sides.into_iter().zip(beside) {
                    solve_lower_block(&block, &mut single);
                    let bits = |b: &[f64]| b.iter().map(|b| b.to_bits()).collect::<Vec<_>>();
                    assert_eq!(bits(&beside), bits(&single), "{rows} rows, {count} beside");
                }
            }
        }
    }
}
