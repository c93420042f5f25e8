//! Shares: parts of a whole, from 0 to 1, that sum to one.
//!
//! k shares have k - 1 degrees of freedom, and k - 1 coordinates. The members are halved again and again: a coordinate
//! says how the share of a group is split between its two halves, and every share is the product of the splits
//! above it. With n₁ and n₂ members in the halves, coordinate u and fraction f of the first half are related by
//!
//! ```text
//! u = P(Beta(n₁, n₂) ≤ f) = Σ from j = n₁ to n of C(n, j) fʲ (1 - f)ⁿ⁻ʲ,     n = n₁ + n₂ - 1,
//! ```
//!
//! which makes uniform points of the cube uniform on the simplex (the fractions of a Dirichlet(1, …, 1) are independent
//! and have these distributions). So every method that draws from the cube draws fairly from the shares, and no
//! coordinate is idle, as one of k that are normalised would be. Halving treats members more alike than breaking
//! pieces off a stick one after another: log₂ k splits lie above each, and corners are not squeezed into a sliver of
//! one coordinate.
//!
//! Coordinates lie on a grid of 2⁻³⁶, so that a set of shares has one encoding that leads back to it: sums and products of
//! positive numbers are relatively exact, and the density of the distribution, below 0.8 √k, magnifies their error to
//! less than a quarter of a step. Where a group has no share at all, the split inside it means nothing, and its
//! coordinate is ½. Cost: O(k²) a set of shares, with about six steps of Newton's method for each coordinate.

use super::unit;

/// The most members.
pub(super) const MOST: usize = 64;

/// How far from 1 the sum of given shares may be.
pub(super) const TOLERANCE: f64 = 1e-9;

const RESOLUTION: f64 = 1.0 / (1_u64 << 36) as f64;

/// The encoding of shares.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shares {
    members: usize,
    /// A group comes before its halves.
    splits: Vec<Split>,
}

/// A group and its halves.
#[derive(Debug, Clone, PartialEq)]
struct Split {
    first: usize,
    /// The first of the second half.
    middle: usize,
    end: usize,
    /// C(n, j) for j from n₁ to n.
    weights: Vec<f64>,
}

impl Shares {
    /// For at least two members.
    pub fn new(members: usize) -> Self {
        let mut splits = Vec::with_capacity(members - 1);
        let mut groups = vec![(0, members)];
        while let Some((first, end)) = groups.pop() {
            if end - first < 2 {
                continue;
            }
            let middle = first + (end - first) / 2;
            splits.push(Split::new(first, middle, end));
            groups.push((middle, end));
            groups.push((first, middle));
        }
        Self { members, splits }
    }

    pub fn width(&self) -> usize {
        self.splits.len()
    }

    pub fn resolution(&self) -> f64 {
        RESOLUTION
    }

    /// Moves coordinates to the nearest legal ones.
    pub fn snap(&self, x: &mut [f64]) {
        // Whether the group that a member is in has a share.
        let mut alive = [true; MOST];
        for (split, u) in self.splits.iter().zip(x) {
            if !alive[split.first] {
                *u = 0.5;
                continue;
            }
            *u = round(*u);
            if *u == 0.0 {
                alive[split.first..split.middle].fill(false);
            } else if *u == 1.0 {
                alive[split.middle..split.end].fill(false);
            }
        }
    }

    /// The shares at legal coordinates.
    pub fn decode(&self, x: &[f64]) -> Vec<f64> {
        let mut shares = vec![1.0; self.members];
        for (split, &u) in self.splits.iter().zip(x) {
            let fraction = split.fraction(round(u));
            shares[split.first..split.middle].iter_mut().for_each(|share| *share *= fraction);
            shares[split.middle..split.end].iter_mut().for_each(|share| *share *= 1.0 - fraction);
        }
        shares
    }

    /// The legal coordinates of shares that sum to about one.
    pub fn encode(&self, shares: &[f64], x: &mut [f64]) {
        for (split, u) in self.splits.iter().zip(x.iter_mut()) {
            let first: f64 = shares[split.first..split.middle].iter().sum();
            let second: f64 = shares[split.middle..split.end].iter().sum();
            let whole = first + second;
            *u = if whole > 0.0 {
                round(split.coordinate(first / whole, second / whole))
            } else {
                0.5
            };
        }
        self.snap(x);
    }

    /// The share of one member.
    pub fn share(&self, x: &[f64], member: usize) -> f64 {
        let mut share = 1.0;
        for (split, &u) in self.splits.iter().zip(x) {
            if (split.first..split.end).contains(&member) {
                let fraction = split.fraction(round(u));
                share *= if member < split.middle { fraction } else { 1.0 - fraction };
            }
        }
        share
    }

    /// The least and the greatest share of one member, each coordinate being in a range.
    pub fn share_over(&self, ranges: &[(f64, f64)], member: usize) -> (f64, f64) {
        let (mut least, mut greatest) = (1.0, 1.0);
        for (split, &(low, high)) in self.splits.iter().zip(ranges) {
            if (split.first..split.end).contains(&member) {
                // A coordinate between two of the grid counts as the nearest.
                let low = split.fraction((low - RESOLUTION).max(0.0));
                let high = split.fraction((high + RESOLUTION).min(1.0));
                let (low, high) =
                    if member < split.middle { (low, high) } else { (1.0 - high, 1.0 - low) };
                least *= low;
                greatest *= high;
            }
        }
        (least, greatest)
    }
}

/// The coordinate of the grid nearest to `u`.
fn round(u: f64) -> f64 {
    const MANTISSA: f64 = (1_u64 << 52) as f64;
    let shift = RESOLUTION * MANTISSA;
    (unit(u) + shift) - shift
}

impl Split {
    fn new(first: usize, middle: usize, end: usize) -> Self {
        let (n1, n) = (middle - first, end - first - 1);
        // C(n, j) by Pascal's rule along a row: exact, as all are below 2⁵³ · 2¹¹ and rounded at most.
        let mut row = vec![1.0; n + 1];
        for j in 1..=n {
            row[j] = row[j - 1] * (n + 1 - j) as f64 / j as f64;
        }
        Self { first, middle, end, weights: row.split_off(n1) }
    }

    /// Members of the first half, and of both less one.
    fn sizes(&self) -> (usize, usize) {
        (self.middle - self.first, self.end - self.first - 1)
    }

    /// The coordinate of a fraction and what is left of one.
    fn coordinate(&self, fraction: f64, rest: f64) -> f64 {
        let (n1, n) = self.sizes();
        let term = |(i, weight): (usize, &f64)| {
            let j = n1 + i;
            weight * fraction.powi(j as i32) * rest.powi((n - j) as i32)
        };
        self.weights.iter().enumerate().map(term).sum()
    }

    /// The fraction at a coordinate of the grid.
    fn fraction(&self, u: f64) -> f64 {
        let (n1, n) = self.sizes();
        match (n1, n) {
            _ if u <= 0.0 => return 0.0,
            _ if u >= 1.0 => return 1.0,
            (1, 1) => return u,
            (1, 2) => return 1.0 - (1.0 - u).sqrt(),
            _ => {}
        }
        // Newton's method, kept between bounds by bisection.
        let slope = self.weights[0] * n1 as f64;
        let (mut low, mut high) = (0.0, 1.0);
        let mut fraction = n1 as f64 / (n + 1) as f64;
        for _ in 0..100 {
            let error = self.coordinate(fraction, 1.0 - fraction) - u;
            if error > 0.0 {
                high = fraction;
            } else {
                low = fraction;
            }
            let density =
                slope * fraction.powi(n1 as i32 - 1) * (1.0 - fraction).powi((n - n1) as i32);
            let newton = fraction - error / density;
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if (next - fraction).abs() <= 2.0 * f64::EPSILON * fraction {
                return next;
            }
            fraction = next;
        }
        fraction
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    #[test]
    fn a_corner_has_one_encoding() {
        let shares = Shares::new(5);
        let mut x = [0.0; 4];
        shares.encode(&[0.0, 0.0, 0.0, 1.0, 0.0], &mut x);
        // Halves 0-1 and 2-4; 2-4 halves into 2 and 3-4.
        assert_eq!(x, [0.0, 0.5, 0.0, 1.0]);
        assert_eq!(shares.decode(&x), [0.0, 0.0, 0.0, 1.0, 0.0]);
        let mut elsewhere = [0.0, 0.9, 0.0, 1.0];
        shares.snap(&mut elsewhere);
        assert_eq!(elsewhere, x);
    }

    #[test]
    fn uniform_coordinates_are_uniform_on_the_simplex() {
        // Of Dirichlet(1, …, 1), a share is Beta(1, k - 1): P(share > t) = (1 - t)^(k - 1), for every member.
        for members in [3, 6] {
            let shares = Shares::new(members);
            let mut rng = Seed(1).stream("test", 0);
            let draws = 20_000;
            let mut above = vec![0; members];
            for _ in 0..draws {
                let x: Vec<f64> = (0..members - 1).map(|_| uniform(&mut rng)).collect();
                for (count, share) in above.iter_mut().zip(shares.decode(&x)) {
                    *count += usize::from(share > 0.3);
                }
            }
            let expected = 0.7_f64.powi(members as i32 - 1);
            // Five standard deviations.
            let margin = 5.0 * (expected * (1.0 - expected) / f64::from(draws)).sqrt();
            for count in above {
                let share = count as f64 / f64::from(draws);
                assert!((share - expected).abs() < margin, "{members}: {share} {expected}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn coordinates_round_trip_and_shares_sum_to_one(
            members in 2..=MOST,
            seed: u64,
            extreme in 0..4_u32,
        ) {
            let shares = Shares::new(members);
            let mut rng = Seed(seed).stream("test", 0);
            let mut x: Vec<f64> = (0..members - 1)
                .map(|_| {
                    let u = uniform(&mut rng);
                    // Also near the faces, where the map is steep, and on them.
                    match extreme {
                        0 => u,
                        1 => u.powi(12),
                        2 => 1.0 - u.powi(12),
                        _ => (3.0 * u - 1.0).clamp(0.0, 1.0),
                    }
                })
                .collect();
            shares.snap(&mut x);
            let decoded = shares.decode(&x);
            prop_assert!((decoded.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(decoded.iter().all(|share| (0.0..=1.0).contains(share)));
            let mut back = vec![0.0; x.len()];
            shares.encode(&decoded, &mut back);
            prop_assert_eq!(&back, &x);
            let ranges: Vec<(f64, f64)> = x.iter().map(|&u| (u, u)).collect();
            for (member, &share) in decoded.iter().enumerate() {
                prop_assert!((shares.share(&x, member) - share).abs() <= 1e-15);
                let (low, high) = shares.share_over(&ranges, member);
                prop_assert!(low <= share * (1.0 + 1e-15) && share <= high * (1.0 + 1e-15));
            }
        }
    }
}
