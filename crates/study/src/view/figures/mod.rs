//! Figures as numbers: each answer is as large as the picture, however many trials there are.

pub mod band;
pub mod curves;
pub mod front;
pub mod history;
pub mod landscape;
pub mod limits;
pub mod parallel;
pub mod scatter;
pub mod slices;
pub mod timeline;
pub mod volume;

use serde::Serialize;

/// A range of numbers, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Range {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Range {
    /// The range of what is finite among some numbers, with some width; from 0 to 1 if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Self {
        let mut range = Self { low: f64::INFINITY, high: f64::NEG_INFINITY };
        for number in numbers.into_iter().filter(|number| number.is_finite()) {
            range.low = range.low.min(number);
            range.high = range.high.max(number);
        }
        if range.low > range.high {
            return Self { low: 0.0, high: 1.0 };
        }
        if range.low == range.high {
            let around = if range.low == 0.0 { 1.0 } else { range.low.abs() * 0.1 };
            return Self { low: range.low - around, high: range.high + around };
        }
        range
    }

    /// Where a number lies among `cells` cells of the range; `None` outside.
    pub fn cell(&self, number: f64, cells: usize) -> Option<usize> {
        let share = (number - self.low) / (self.high - self.low);
        (0.0..=1.0).contains(&share).then(|| ((share * cells as f64) as usize).min(cells - 1))
    }
}

/// How many of many points lie in each cell of a grid: rows from the top (high), each from the left (low).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grid {
    /// Cells from left to right.
    pub width: usize,
    /// Cells from top to bottom.
    pub height: usize,
    /// The count of the fullest cell.
    pub most: u32,
    /// A byte a cell, in base 64: 0 for none, otherwise from 1 to 255 by the logarithm of the count.
    pub cells: String,
}

impl Grid {
    /// Of points within two ranges.
    pub fn new(
        points: impl Iterator<Item = (f64, f64)>,
        [x_range, y_range]: [Range; 2],
        [width, height]: [usize; 2],
    ) -> Self {
        let mut counts = vec![0_u32; width * height];
        // As `Range::cell`, without a division a point.
        let per = |range: Range, cells: usize| cells as f64 / (range.high - range.low);
        let (x_scale, y_scale) = (per(x_range, width), per(y_range, height));
        let is_inside = |range: Range, number: f64| range.low <= number && number <= range.high;
        for (x, y) in points {
            if is_inside(x_range, x) && is_inside(y_range, y) {
                let column = (((x - x_range.low) * x_scale) as usize).min(width - 1);
                let row = (((y - y_range.low) * y_scale) as usize).min(height - 1);
                counts[(height - 1 - row) * width + column] += 1;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let scale = 254.0 / f64::from(most.max(2)).ln();
        let shade = |count: u32| match count {
            0 => 0,
            count => 1 + (f64::from(count).ln() * scale) as u8,
        };
        let cells: Vec<u8> = counts.into_iter().map(shade).collect();
        Self { width, height, most, cells: base64(&cells) }
    }
}

/// The digits of base 64.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

impl Grid {
    /// A byte a cell, as [`cells`](Self::cells) says it.
    pub fn shades(&self) -> Vec<u8> {
        let value = |c: u8| DIGITS.iter().position(|&known| known == c).map(|place| place as u32);
        let mut shades = Vec::with_capacity(self.width * self.height);
        for group in self.cells.as_bytes().chunks(4) {
            let bits = group.iter().fold(0, |bits, &c| bits << 6 | value(c).unwrap_or(0));
            shades.extend([bits >> 16, bits >> 8, bits].map(|byte| byte as u8));
        }
        shades.truncate(self.width * self.height);
        shades
    }
}

/// Bytes in base 64, with padding.
pub fn base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            if place <= chunk.len() {
                text.push(DIGITS[(bits >> (18 - 6 * place)) as usize & 63] as char);
            } else {
                text.push('=');
            }
        }
    }
    text
}

/// About so many values are enough to find a percentile.
const JUDGED: usize = 20_000;

/// A range that leaves out the worst values where they would squeeze all others into a line.
///
/// `low_is_good` says which end is kept whole. The other end is cut at the 90th percentile if the whole range is more than
/// four times as wide. Of very many values, every n-th is enough to say where that percentile is.
pub fn telling_range(values: &[f64], low_is_good: bool) -> Range {
    let whole = Range::of(values.iter().copied());
    let every = (values.len() / JUDGED).max(1);
    let mut judged: Vec<f64> =
        values.iter().copied().step_by(every).filter(|value| value.is_finite()).collect();
    if judged.len() < 10 {
        return whole;
    }
    let place = if low_is_good { judged.len() * 9 / 10 } else { judged.len() / 10 };
    let (_, &mut cut, _) = judged.select_nth_unstable_by(place, f64::total_cmp);
    let inner = if low_is_good {
        Range { low: whole.low, high: cut }
    } else {
        Range { low: cut, high: whole.high }
    };
    let width = inner.high - inner.low;
    if width > 0.0 && whole.high - whole.low > 4.0 * width {
        let margin = width * 0.25;
        return if low_is_good {
            Range { high: inner.high + margin, ..inner }
        } else {
            Range { low: inner.low - margin, ..inner }
        };
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_that_of_everybody() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0x00]), "//4A");
    }

    #[test]
    fn a_grid_counts_every_point_once() {
        let unit = Range { low: 0.0, high: 1.0 };
        let points = [(0.0, 0.0), (1.0, 1.0), (0.1, 0.1), (2.0, 0.5), (f64::NAN, 0.5)];
        let grid = Grid::new(points.into_iter(), [unit, unit], [2, 2]);
        assert_eq!(grid.most, 2);
        // From the top: nothing and one; two and nothing.
        assert_eq!(grid.cells, base64(&[0, 1, 255, 0]));
        assert_eq!(grid.shades(), [0, 1, 255, 0]);
    }

    #[test]
    fn a_few_terrible_values_do_not_flatten_the_figure() {
        let mut values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(telling_range(&values, true), Range { low: 0.0, high: 99.0 });
        values.push(1e9);
        let range = telling_range(&values, true);
        assert!(range.low == 0.0 && range.high > 90.0 && range.high < 150.0, "{range:?}");
        // Where high is good, the outlier is the best.
        assert_eq!(telling_range(&values, false).high, 1e9);
        // Of very many values some are looked at, and the least and the largest are exact.
        let many = |i: u32| if i % 50 == 7 { 1e9 } else { f64::from(i % 1_000) };
        let many: Vec<f64> = (0..300_000).map(many).collect();
        let range = telling_range(&many, true);
        assert!(range.low == 0.0 && range.high > 900.0 && range.high < 1_400.0, "{range:?}");
        assert_eq!(telling_range(&many, false).high, 1e9);
        assert_eq!(Range::of([3.0, f64::NAN, 3.0]), Range { low: 2.7, high: 3.3 });
        assert_eq!(Range::of([]), Range { low: 0.0, high: 1.0 });
    }
}
