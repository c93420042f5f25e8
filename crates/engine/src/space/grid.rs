//! The grid that makes real numbers round trip.
//!
//! A real value v of [low, high] has the coordinate u = (s(v) - s(low)) / (s(high) - s(low)), with s the
//! identity on a linear scale and the logarithm on a log scale, rounded to a multiple of the resolution.
//! The resolution is 2⁻⁴⁰, or the next power of two that leaves
//!
//! ```text
//! resolution · (s(high) - s(low)) ≥ 8 ulp (linear), 16 ulp (log),     ulp of the larger |s(bound)|,
//! ```
//!
//! so that half a step outweighs all rounding between u and v: less than 4 ulp for one product, one sum,
//! one difference and one quotient; less than 8 with exp and ln. Therefore every coordinate of the grid
//! has a value of its own that leads back to it, bit for bit, also on a machine whose exp and ln differ in
//! the last place. An arbitrary v moves by half a step at most: |s(v') - s(v)| ≤ (s(high) - s(low)) · 2⁻⁴¹
//! with the finest resolution.
//!
//! Fails with `Error::Invalid` if the bounds are so close that not even their two ends fit.

use super::kind::Scale;
use super::unit;
use super::value::Value;
use crate::error::{Error, Result};

const FINEST: f64 = 1.0 / (1_u64 << 40) as f64;

/// The values of a real dimension and their coordinates.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    low: f64,
    high: f64,
    scale: Scale,
    /// s(low).
    base: f64,
    /// s(high) - s(low).
    range: f64,
    resolution: f64,
}

impl Grid {
    /// The bounds must have passed [`Kind::check`](super::Kind).
    pub(super) fn new(name: &str, low: f64, high: f64, scale: Scale) -> Result<Self> {
        let (base, top, slack) = match scale {
            Scale::Linear => {
                let magnitude = low.abs().max(high.abs());
                (low, high, 8.0 * (magnitude - magnitude.next_down()))
            }
            Scale::Log => {
                let (base, top) = (low.ln(), high.ln());
                // An error of exp is one of the value: at least an ulp of 1 on the scale of the logarithm.
                let magnitude = base.abs().max(top.abs()).max(1.0);
                (base, top, 16.0 * (magnitude.next_up() - magnitude))
            }
        };
        let range = top - base;
        let mut resolution = FINEST;
        while resolution * range < slack && resolution <= 1.0 {
            resolution *= 2.0;
        }
        if resolution > 1.0 {
            let allowed = format!(
                "further above {name}.low, which is {low:?}: f64 has no numbers to choose from between them"
            );
            return Err(Error::invalid(format!("{name}.high"), Value::Real(high), allowed));
        }
        Ok(Self { low, high, scale, base, range, resolution })
    }

    /// The lowest and the highest value.
    pub(super) fn bounds(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// From one coordinate of the grid to the next.
    pub(super) fn resolution(&self) -> f64 {
        self.resolution
    }

    /// The coordinate of the grid nearest to `u`.
    #[inline]
    pub(super) fn round(&self, u: f64) -> f64 {
        // Between `shift` and twice `shift` the numbers of f64 are one resolution apart, so the sum itself
        // rounds, to even on ties, without a call.
        const MANTISSA: f64 = (1_u64 << 52) as f64;
        let shift = self.resolution * MANTISSA;
        (unit(u) + shift) - shift
    }

    /// The value at a coordinate of the grid.
    pub(super) fn value(&self, u: f64) -> f64 {
        if u == 0.0 {
            return self.low;
        }
        if u == 1.0 {
            return self.high;
        }
        let scaled = self.base + self.range * u;
        let value = match self.scale {
            Scale::Linear => scaled,
            Scale::Log => scaled.exp(),
        };
        value.clamp(self.low, self.high)
    }

    /// The coordinate of a value; `None` outside the bounds.
    pub(super) fn coordinate(&self, value: f64) -> Option<f64> {
        if !(self.low..=self.high).contains(&value) {
            return None;
        }
        let scaled = match self.scale {
            Scale::Linear => value,
            Scale::Log => value.ln(),
        };
        Some(self.round((scaled - self.base) / self.range))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trips(grid: &Grid, u: f64) -> bool {
        let u = grid.round(u);
        let value = grid.value(u);
        let back = grid.coordinate(value);
        back.is_some_and(|back| {
            back.to_bits() == u.to_bits() && grid.value(back).to_bits() == value.to_bits()
        })
    }

    #[test]
    fn the_ends_are_exact_and_close_bounds_get_a_coarser_grid() {
        let grid = Grid::new("x", 0.1, 0.7, Scale::Log).unwrap();
        assert_eq!((grid.value(0.0), grid.value(1.0)), (0.1, 0.7));
        assert_eq!((grid.coordinate(0.1), grid.coordinate(0.7)), (Some(0.0), Some(1.0)));
        assert_eq!(grid.resolution(), FINEST);
        assert_eq!(grid.coordinate(0.7_f64.next_up()), None);
        assert_eq!(grid.coordinate(f64::NAN), None);

        let grid = Grid::new("x", 1e10, 1e10 + 1.0, Scale::Linear).unwrap();
        assert_eq!(grid.resolution(), 1.0 / 65536.0);
        for i in 0..=65536 {
            assert!(round_trips(&grid, i as f64 / 65536.0));
        }
        let error = Grid::new("x", 1.0, 1.0_f64.next_up(), Scale::Linear).unwrap_err().to_string();
        assert!(error.starts_with("x.high is 1.0000000000000002"), "{error}");
    }

    #[test]
    fn extreme_bounds_round_trip() {
        let bounds = [
            (-f64::MAX / 4.0, f64::MAX / 4.0),
            (0.0, f64::MAX),
            (0.0, 1e-310),
            (-1e-320, 1e-320),
            (-1.0, 1.0),
            (1.0 - 1e-13, 1.0),
        ];
        for (low, high) in bounds {
            let grid = Grid::new("x", low, high, Scale::Linear).unwrap();
            assert!((0..=10_000).all(|i| round_trips(&grid, i as f64 * 1e-4)), "{low} {high}");
        }
        for (low, high) in [(f64::MIN_POSITIVE, f64::MAX), (1e300, 1e301), (1.0, 1.0 + 1e-12)] {
            let grid = Grid::new("x", low, high, Scale::Log).unwrap();
            assert!((0..=10_000).all(|i| round_trips(&grid, i as f64 * 1e-4)), "{low} {high}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn rounding_is_to_the_nearest_multiple(u in -0.5..1.5_f64, width in 1e-12..1.0_f64) {
            let grid = Grid::new("x", 1.0, 1.0 + width, Scale::Linear).unwrap();
            let rounded = grid.round(u);
            let steps = rounded / grid.resolution();
            prop_assert_eq!(steps, steps.round());
            prop_assert!((rounded - u.clamp(0.0, 1.0)).abs() <= grid.resolution() / 2.0);
        }

        #[test]
        fn linear_grids_round_trip(
            centre in -1e6..1e6_f64, exponent in -9.0..9.0_f64, u in 0.0..=1.0_f64,
        ) {
            let half = 10_f64.powf(exponent);
            let grid = Grid::new("x", centre - half, centre + half, Scale::Linear).unwrap();
            prop_assert!(round_trips(&grid, u));
        }

        #[test]
        fn log_grids_round_trip(exponent in -300.0..300.0_f64, decades in -9.0..2.0_f64, u in 0.0..=1.0_f64) {
            let low = 10_f64.powf(exponent.min(200.0));
            let grid = Grid::new("x", low, low * 10_f64.powf(10_f64.powf(decades)), Scale::Log).unwrap();
            prop_assert!(round_trips(&grid, u));
        }

        #[test]
        fn any_value_moves_by_half_a_step_at_most(t in 0.0..=1.0_f64) {
            let linear = Grid::new("x", -3.0, 7.0, Scale::Linear).unwrap();
            let value = -3.0 + 10.0 * t;
            let moved = linear.value(linear.coordinate(value).unwrap());
            prop_assert!((moved - value).abs() <= 10.0 * FINEST / 2.0 + 1e-14);
            let log = Grid::new("x", 1e-5, 1.0, Scale::Log).unwrap();
            let value = 10_f64.powf(-5.0 * t).clamp(1e-5, 1.0);
            let moved = log.value(log.coordinate(value).unwrap());
            prop_assert!((moved / value).ln().abs() <= 5.0 * 10_f64.ln() * FINEST / 2.0 + 1e-14);
        }
    }
}
