//! The multivariate Parzen estimator: a mixture with one component for each observation, and a uniform one.
//!
//! ```text
//! p(x) = Σ_i w_i Π_j k_ij(x_j) + w_0 u(x),   j over the dimensions active at x
//! ```
//! The product inside the sum is what makes it multivariate: a component holds on to how the coordinates of
//! its observation belong together. The kernels k_ij are
//! - numbers: a Gaussian around the observation, cut off at the ends of the unit interval and scaled to
//!   integrate to one; discrete numbers have the mass of their cell;
//! - choices: (1/m + [x_j = x_ij]) / (1 + k/m) for k choices and m components, which tends to the
//!   frequencies as m grows (a kernel in the manner of Aitchison and Aitken 1976);
//! - a dimension that is active at x and not at the observation: uniform, for the observation says nothing
//!   about it.
//!
//! Dimensions are drawn in the order of their declaration, so that parents decide which children are active;
//! the density is that of the draws, on a conditional space too.
//!
//! Cost: O(n log n) a dimension to build, O(n) a dimension and point for the density.

use std::f64::consts::{FRAC_1_SQRT_2, TAU};

use rand_distr::{Distribution as _, StandardNormal};

use super::Bandwidth;
use crate::seed::{Rng, below, uniform};
use crate::space::SearchSpace;
use crate::strategy::axis::{Axis, Scope};

/// An observation: a legal point and how much it counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observation<'a> {
    pub(super) x: &'a [f64],
    pub(super) weight: f64,
}

/// A fitted mixture.
#[derive(Debug)]
pub(super) struct Parzen<'a> {
    space: &'a SearchSpace,
    axes: &'a [Axis],
    /// One column of kernels for each dimension.
    columns: Vec<Vec<Kernel>>,
    /// The logarithms of the weights, which sum to one; the last is that of the uniform component.
    log_weights: Vec<f64>,
    /// The weights up to each component.
    cumulative: Vec<f64>,
}

/// One dimension of one component.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kernel {
    Uniform,
    Gaussian {
        centre: f64,
        deviation: f64,
        /// ln of its mass inside the unit interval.
        log_inside: f64,
    },
    Choice {
        chosen: f64,
        /// ln of the probability of the observed choice.
        log_same: f64,
        /// ln of the probability of each other one.
        log_other: f64,
    },
}

/// The weight of the uniform component, when each observation of late has one.
const PRIOR_WEIGHT: f64 = 1.0;

impl<'a> Parzen<'a> {
    pub(super) fn fit(
        space: &'a SearchSpace,
        axes: &'a [Axis],
        observations: &[Observation<'_>],
        bandwidth: Bandwidth,
    ) -> Self {
        let active: Vec<Vec<bool>> = observations.iter().map(|o| space.active(o.x)).collect();
        let columns = axes
            .iter()
            .map(|axis| {
                let values: Vec<Option<f64>> = observations
                    .iter()
                    .zip(&active)
                    .map(|(o, active)| active[axis.dimension].then(|| axis.read(o.x)))
                    .collect();
                column(&axis.scope, &values, bandwidth, axes.len())
            })
            .collect();
        let total = observations.iter().map(|o| o.weight).sum::<f64>() + PRIOR_WEIGHT;
        let weights = observations.iter().map(|o| o.weight).chain([PRIOR_WEIGHT]);
        let (mut log_weights, mut cumulative, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for weight in weights {
            sum += weight;
            log_weights.push((weight / total).ln());
            cumulative.push(sum / total);
        }
        Self { space, axes, columns, log_weights, cumulative }
    }

    /// A legal point drawn from the mixture.
    pub(super) fn sample(&self, rng: &mut Rng) -> Vec<f64> {
        let u = uniform(rng);
        let last = self.cumulative.len() - 1;
        let component = self.cumulative.partition_point(|&sum| sum <= u).min(last);
        let mut x = vec![0.0; self.space.dim()];
        for (axis, column) in self.axes.iter().zip(&self.columns) {
            axis.write(column[component].sample(&axis.scope, rng), &mut x);
        }
        // Cells are drawn with their mass by rounding, and the draws of inactive dimensions fall away.
        self.space.snap(&mut x);
        x
    }

    /// ln p(x) at a legal point.
    pub(super) fn log_density(&self, x: &[f64]) -> f64 {
        let active = self.space.active(x);
        let mut sums = self.log_weights.clone();
        let is_active = |axis: &Axis| active[axis.dimension];
        for (axis, column) in
            self.axes.iter().zip(&self.columns).filter(|(axis, _)| is_active(axis))
        {
            let value = axis.read(x);
            let cell = axis.scope.cell(value);
            let log_uniform = match (&axis.scope, cell) {
                (Scope::Choices(count), _) => -(*count as f64).ln(),
                (_, Some((low, high))) => (high - low).ln(),
                (_, None) => 0.0,
            };
            for (sum, kernel) in sums.iter_mut().zip(column) {
                *sum += kernel.log_density(value, cell, log_uniform);
            }
        }
        let largest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        largest + sums.iter().map(|sum| (sum - largest).exp()).sum::<f64>().ln()
    }
}

/// The kernels of one dimension, the uniform one last. `None` stands for an observation where the dimension
/// is inactive.
fn column(
    scope: &Scope,
    values: &[Option<f64>],
    bandwidth: Bandwidth,
    dimensions: usize,
) -> Vec<Kernel> {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let mut kernels: Vec<Kernel> = Vec::with_capacity(values.len() + 1);
    if let Scope::Choices(count) = *scope {
        let share = 1.0 / (known.len() + 1) as f64;
        let total = 1.0 + count as f64 * share;
        let (log_same, log_other) = (((1.0 + share) / total).ln(), (share / total).ln());
        let kernel = |chosen| Kernel::Choice { chosen, log_same, log_other };
        kernels.extend(values.iter().map(|value| value.map_or(Kernel::Uniform, kernel)));
    } else {
        let mut deviations = deviations(&known, bandwidth, dimensions).into_iter();
        kernels.extend(values.iter().map(|value| {
            let Some((centre, deviation)) = value.zip(value.and_then(|_| deviations.next())) else {
                return Kernel::Uniform;
            };
            let log_inside = log_interval(-centre / deviation, (1.0 - centre) / deviation);
            Kernel::Gaussian { centre, deviation, log_inside }
        }));
    }
    kernels.push(Kernel::Uniform);
    kernels
}

/// The deviation of the kernel around each number.
fn deviations(numbers: &[f64], bandwidth: Bandwidth, dimensions: usize) -> Vec<f64> {
    let n = numbers.len();
    let least = 1.0 / (n as f64 + 2.0).min(100.0);
    match bandwidth {
        Bandwidth::Scott => {
            let rate = -1.0 / (dimensions as f64 + 4.0);
            vec![(0.2 * (n.max(1) as f64).powf(rate)).max(least); n]
        }
        Bandwidth::Neighbours => {
            let mut order: Vec<usize> = (0..n).collect();
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
            let mut deviations = vec![0.0; n];
            for (place, &i) in order.iter().enumerate() {
                let below = place.checked_sub(1).map(|place| numbers[i] - numbers[order[place]]);
                let above = order.get(place + 1).map(|&next| numbers[next] - numbers[i]);
                // A single number has the ends of the interval as its neighbours.
                let gap = match (below, above) {
                    (None, None) => numbers[i].max(1.0 - numbers[i]),
                    (below, above) => below.unwrap_or(0.0).max(above.unwrap_or(0.0)),
                };
                deviations[i] = gap.clamp(least, 1.0);
            }
            deviations
        }
    }
}

impl Kernel {
    #[inline]
    fn log_density(&self, value: f64, cell: Option<(f64, f64)>, log_uniform: f64) -> f64 {
        match *self {
            Self::Uniform => log_uniform,
            Self::Choice { chosen, log_same, log_other } => {
                if chosen == value {
                    log_same
                } else {
                    log_other
                }
            }
            Self::Gaussian { centre, deviation, log_inside } => {
                let standard = |u: f64| (u - centre) / deviation;
                let log = match cell {
                    Some((low, high)) => log_interval(standard(low), standard(high)),
                    None => log_normal(standard(value)) - deviation.ln(),
                };
                log - log_inside
            }
        }
    }

    /// A number or a choice; a number of a discrete dimension is rounded to its cell by the caller.
    fn sample(&self, scope: &Scope, rng: &mut Rng) -> f64 {
        match (*self, scope) {
            (Self::Uniform, Scope::Choices(count)) => below(rng, *count) as f64,
            (Self::Uniform, _) => uniform(rng),
            (Self::Choice { chosen, log_same, log_other }, Scope::Choices(count)) => {
                // With probability `same - other` the observed one, otherwise any.
                if uniform(rng) < log_same.exp() - log_other.exp() {
                    chosen
                } else {
                    below(rng, *count) as f64
                }
            }
            (Self::Choice { chosen, .. }, _) => chosen,
            (Self::Gaussian { centre, deviation, .. }, _) => {
                // The centre lies in the interval and the deviation is at most its length, so that at least
                // a third of the draws fall inside.
                loop {
                    let normal: f64 = StandardNormal.sample(rng);
                    let u = centre + deviation * normal;
                    if (0.0..=1.0).contains(&u) {
                        return u;
                    }
                }
            }
        }
    }
}

/// ln φ(z).
fn log_normal(z: f64) -> f64 {
    -0.5 * z * z - 0.5 * TAU.ln()
}

/// ln(Φ(high) - Φ(low)).
fn log_interval(low: f64, high: f64) -> f64 {
    if high - low < 1e-5 {
        // The difference would cancel; the midpoint rule errs by z²(high - low)²/24.
        return log_normal(0.5 * (low + high)) + (high - low).ln();
    }
    // In the lower tail, where Φ is small, no digits are lost.
    let (low, high) = if low > 0.0 { (-high, -low) } else { (low, high) };
    let cumulative = |z: f64| 0.5 * libm::erfc(-z * FRAC_1_SQRT_2);
    (cumulative(high) - cumulative(low)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use crate::space::Dimension;
    use crate::theory::normal;

    fn observations(rows: &[Vec<f64>]) -> Vec<Observation<'_>> {
        let weight = |i: usize| 1.0 / (i + 1) as f64;
        rows.iter().enumerate().map(|(i, x)| Observation { x, weight: weight(i) }).collect()
    }

    #[test]
    fn intervals_have_the_mass_of_the_normal_distribution() {
        for (low, high) in [(-1.0, 2.0), (1.0, 1.5), (-9.0, -8.0), (8.0, 9.0), (0.3, 0.3 + 1e-4)] {
            let (a, b) = if low > 0.0 { (-high, -low) } else { (low, high) };
            let expected = normal::cumulative(b) - normal::cumulative(a);
            let got = log_interval(low, high).exp();
            assert!((got - expected).abs() < 1e-9 * expected, "{low} {high}: {got} {expected}");
        }
        let (wide, narrow) = (log_interval(0.7, 0.7 + 1.01e-5), log_interval(0.7, 0.7 + 0.99e-5));
        assert!((wide - narrow - (1.01_f64 / 0.99).ln()).abs() < 1e-6);
    }

    #[test]
    fn the_density_integrates_to_one_by_quadrature() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let axes = Axis::all(&space);
        // At the ends, where kernels are cut off; twice the same; one only; none.
        let rows = [0.0, 1.0, 0.2, 0.2, 0.21, 0.9].map(|u| vec![u]);
        for bandwidth in [Bandwidth::Neighbours, Bandwidth::Scott] {
            for count in [0, 1, 2, 6] {
                let all = observations(&rows[..count]);
                let parzen = Parzen::fit(&space, &axes, &all, bandwidth);
                let n = 20_000;
                let density = |i: usize| parzen.log_density(&[(i as f64 + 0.5) / n as f64]).exp();
                let integral = (0..n).map(density).sum::<f64>() / n as f64;
                assert!((integral - 1.0).abs() < 1e-6, "{bandwidth:?} {count}: {integral}");
            }
        }
    }

    #[test]
    fn the_density_is_the_naive_mixture() {
        let space = SearchSpace::new([
            Dimension::real("x", 0.0, 1.0),
            Dimension::categorical("c", ["a", "b", "c"]),
        ])
        .unwrap();
        let axes = Axis::all(&space);
        let rows = [vec![0.25, 0.0, 1.0, 0.0], vec![0.75, 1.0, 0.0, 0.0]];
        let all = observations(&rows);
        let parzen = Parzen::fit(&space, &axes, &all, Bandwidth::Neighbours);
        let gaussian = |centre: f64, u: f64| {
            let z = |u: f64| (u - centre) / 0.5;
            normal::density(z(u)) / 0.5 / (normal::cumulative(z(1.0)) - normal::cumulative(z(0.0)))
        };
        let choice = |same: bool| (1.0 / 3.0 + f64::from(u8::from(same))) / 2.0;
        let u = 0.5;
        let expected = (gaussian(0.25, u) * choice(true)
            + 0.5 * gaussian(0.75, u) * choice(false)
            + 1.0 / 3.0)
            / 2.5;
        let got = parzen.log_density(&[u, 0.0, 1.0, 0.0]).exp();
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }

    #[test]
    fn draws_have_the_density_on_a_conditional_space() {
        let space = SearchSpace::new([
            Dimension::categorical("c", ["a", "b", "c"]),
            Dimension::integer("n", 1, 4).when("c", ["b"]),
            Dimension::boolean("f").when("c", ["b", "c"]),
            Dimension::log_integer("m", 1, 3).when("f", [true]),
        ])
        .unwrap();
        let axes = Axis::all(&space);
        let mut rng = Seed(5).stream("test", 0);
        let rows: Vec<Vec<f64>> = (0..6).map(|_| space.sample(&mut rng)).collect();
        let all = observations(&rows);
        let parzen = Parzen::fit(&space, &axes, &all, Bandwidth::Neighbours);
        let total = space.cardinality().unwrap() as usize;
        let points: Vec<Vec<f64>> = (0..total).map(|i| space.nth(i as u128).unwrap()).collect();
        let masses: Vec<f64> = points.iter().map(|x| parzen.log_density(x).exp()).collect();
        assert!((masses.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{masses:?}");
        let draws = 40_000;
        let mut counts = vec![0.0; total];
        for _ in 0..draws {
            let x = parzen.sample(&mut rng);
            counts[points.iter().position(|point| *point == x).unwrap()] += 1.0;
        }
        // Pearson's statistic has about `total` degrees of freedom: five deviations above its mean.
        let statistic: f64 = counts
            .iter()
            .zip(&masses)
            .map(|(count, mass)| {
                (count - mass * f64::from(draws)).powi(2) / (mass * f64::from(draws))
            })
            .sum();
        let freedom = total as f64;
        assert!(statistic < freedom + 5.0 * (2.0 * freedom).sqrt(), "{statistic} of {freedom}");
    }

    #[test]
    fn draws_of_a_real_number_have_the_density() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let axes = Axis::all(&space);
        let rows = [vec![0.02], vec![0.1], vec![0.97]];
        let all = observations(&rows);
        let parzen = Parzen::fit(&space, &axes, &all, Bandwidth::Neighbours);
        let mut rng = Seed(6).stream("test", 0);
        let (draws, bins) = (40_000, 20);
        let mut counts = vec![0.0; bins];
        for _ in 0..draws {
            counts[((parzen.sample(&mut rng)[0] * bins as f64) as usize).min(bins - 1)] += 1.0;
        }
        for (bin, count) in counts.iter().enumerate() {
            let fine = 500;
            let density = |i: usize| {
                parzen
                    .log_density(&[(bin as f64 + (i as f64 + 0.5) / fine as f64) / bins as f64])
                    .exp()
            };
            let mass = (0..fine).map(density).sum::<f64>() / (fine * bins) as f64;
            let (mean, n) = (mass * f64::from(draws), f64::from(draws));
            let deviation = (n * mass * (1.0 - mass)).sqrt();
            assert!((count - mean).abs() < 5.0 * deviation, "bin {bin}: {count} for {mean}");
        }
    }
}
