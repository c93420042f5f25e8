//! The register tile: the one loop nest in which the time goes.
//!
//! Numbers are stored in panels of 16, one cache line or two AVX2 vectors. A matrix of n rows (samples) is
//! n × p panels, row after row; the weights of a layer are, for each panel of outputs, one panel for each
//! input. Lanes thus run over units, never over samples, so that ten particles waste no lane, and both
//! passes and the weights' gradient take the same form:
//!
//! ```text
//! tile[r] += scalar[r] · panel        for up to six rows r
//! ```
//!
//! Six rows of two vectors are twelve accumulators, enough to hide the latency of two fused
//! multiply-adds a cycle, and with two vectors of operands and a broadcast they fit 16 registers.

use super::lanes::{Lanes, WIDTH};

/// Numbers in a panel.
pub(in super::super) const LANES: usize = 2 * WIDTH;

/// 16 numbers in memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub(in super::super) struct Panel(pub [f32; LANES]);

impl Panel {
    /// All lanes zero.
    pub const ZERO: Self = Self([0.0; LANES]);

    /// The panel as two vectors in memory.
    #[inline(always)]
    pub fn halves(&self) -> &[[f32; WIDTH]] {
        self.0.as_chunks().0
    }

    /// The panel as two vectors in memory, to be changed.
    #[inline(always)]
    pub fn halves_mut(&mut self) -> &mut [[f32; WIDTH]] {
        self.0.as_chunks_mut().0
    }
}

/// A panel in registers.
#[derive(Clone, Copy)]
pub(super) struct Pair<L>(L, L);

impl<L: Lanes> Pair<L> {
    #[inline(always)]
    pub fn splat(number: f32) -> Self {
        Self(L::splat(number), L::splat(number))
    }

    #[inline(always)]
    pub fn load(panel: &Panel) -> Self {
        let halves = panel.halves();
        Self(L::load(&halves[0]), L::load(&halves[1]))
    }

    #[inline(always)]
    pub fn store(self, panel: &mut Panel) {
        let halves = panel.halves_mut();
        self.0.store(&mut halves[0]);
        self.1.store(&mut halves[1]);
    }

    /// self + other.
    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0), self.1.add(other.1))
    }

    /// self · factor + addend.
    #[inline(always)]
    pub fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(self.0.mul_add(factor.0, addend.0), self.1.mul_add(factor.1, addend.1))
    }

    /// The sum of the lanes, pairwise.
    #[inline(always)]
    pub fn sum(self) -> f32 {
        let mut lanes = [0.0; WIDTH];
        self.0.add(self.1).store(&mut lanes);
        ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
            + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
    }
}

/// How many panels hold `width` numbers.
pub(in super::super) fn panels(width: usize) -> usize {
    width.div_ceil(LANES)
}

/// Rows for the next tile when `left` remain: 16 rows go as 6 + 6 + 4, 10 as 6 + 4, 64 as ten sixes and a 4.
#[inline(always)]
fn next_tile(left: usize) -> usize {
    match left {
        4 | 5 | 8 => 4,
        6.. => 6,
        2 | 3 => 2,
        _ => 1,
    }
}

/// What becomes of a product. A type rather than a closure: a closure that is not inlined is not compiled for
/// the instruction set of the kernel around it.
pub(super) trait Finish {
    /// The new numbers at a place of the outputs, from the old ones and the product.
    fn finish<L: Lanes>(old: L, product: L) -> L;
}

/// A matrix product: each row of `outputs` is `start` plus the row of `inputs` times `weights`.
///
/// `weights` has, for each panel of outputs, one panel for each of the `width` inputs. `F` decides what is
/// stored.
#[inline(always)]
pub(super) fn product<L: Lanes, F: Finish>(
    width: usize,
    weights: &[Panel],
    start: Option<&[Panel]>,
    inputs: &[Panel],
    outputs: &mut [Panel],
) {
    let input_panels = panels(width);
    let output_panels = weights.len() / width;
    let samples = inputs.len() / input_panels;
    let mut first = 0;
    while first < samples {
        let tile = next_tile(samples - first);
        let inputs = &inputs[first * input_panels..][..tile * input_panels];
        let outputs = &mut outputs[first * output_panels..][..tile * output_panels];
        match tile {
            6 => rows::<L, F, 6>(width, weights, start, inputs, outputs),
            4 => rows::<L, F, 4>(width, weights, start, inputs, outputs),
            2 => rows::<L, F, 2>(width, weights, start, inputs, outputs),
            _ => rows::<L, F, 1>(width, weights, start, inputs, outputs),
        }
        first += tile;
    }
}

/// [`product`] for `ROWS` rows.
#[inline(always)]
fn rows<L: Lanes, F: Finish, const ROWS: usize>(
    width: usize,
    weights: &[Panel],
    start: Option<&[Panel]>,
    inputs: &[Panel],
    outputs: &mut [Panel],
) {
    let input_panels = inputs.len() / ROWS;
    let output_panels = outputs.len() / ROWS;
    for (panel, weights) in weights.chunks_exact(width).enumerate() {
        let start = match start {
            Some(start) => Pair::load(&start[panel]),
            None => Pair::splat(0.0),
        };
        let mut tile = [start; ROWS];
        for (block, weights) in weights.chunks(LANES).enumerate() {
            let inputs: [&Panel; ROWS] =
                std::array::from_fn(|row| &inputs[row * input_panels + block]);
            for (lane, weights) in (0..LANES).zip(weights) {
                let weights = Pair::load(weights);
                for row in 0..ROWS {
                    tile[row] = Pair::splat(inputs[row].0[lane]).mul_add(weights, tile[row]);
                }
            }
        }
        for row in 0..ROWS {
            let output = &mut outputs[row * output_panels + panel];
            let old = Pair::<L>::load(output);
            Pair(F::finish(old.0, tile[row].0), F::finish(old.1, tile[row].1)).store(output);
        }
    }
}

/// The gradient of a layer's weights, laid out as they are: the sum over samples of input times delta.
#[inline(always)]
pub(super) fn outer_products<L: Lanes>(
    width: usize,
    inputs: &[Panel],
    deltas: &[Panel],
    gradient: &mut [Panel],
) {
    let input_panels = panels(width);
    let output_panels = gradient.len() / width;
    for (panel, gradient) in gradient.chunks_exact_mut(width).enumerate() {
        for (block, gradient) in gradient.chunks_mut(LANES).enumerate() {
            let inputs = Column { panels: &inputs[block..], stride: input_panels };
            let deltas = Column { panels: &deltas[panel..], stride: output_panels };
            let mut first = 0;
            while first < gradient.len() {
                let tile = next_tile(gradient.len() - first);
                let gradient = &mut gradient[first..first + tile];
                match tile {
                    6 => columns::<L, 6>(first, inputs, deltas, gradient),
                    4 => columns::<L, 4>(first, inputs, deltas, gradient),
                    2 => columns::<L, 2>(first, inputs, deltas, gradient),
                    _ => columns::<L, 1>(first, inputs, deltas, gradient),
                }
                first += tile;
            }
        }
    }
}

/// Every `stride`-th panel: one panel of each sample.
#[derive(Clone, Copy)]
struct Column<'a> {
    panels: &'a [Panel],
    stride: usize,
}

/// [`outer_products`] for `COLUMNS` inputs from lane `first` of one panel, and one panel of outputs.
#[inline(always)]
fn columns<L: Lanes, const COLUMNS: usize>(
    first: usize,
    inputs: Column<'_>,
    deltas: Column<'_>,
    gradient: &mut [Panel],
) {
    let mut tile = [Pair::<L>::splat(0.0); COLUMNS];
    let rows = inputs.panels.chunks(inputs.stride).zip(deltas.panels.chunks(deltas.stride));
    for (input, delta) in rows {
        let input = &input[0].0[first..][..COLUMNS];
        let delta = Pair::load(&delta[0]);
        for column in 0..COLUMNS {
            tile[column] = Pair::splat(input[column]).mul_add(delta, tile[column]);
        }
    }
    for (sum, gradient) in tile.iter().zip(gradient) {
        sum.store(gradient);
    }
}
