//! The marginal likelihood of kernel and noise, and its maximum (Rasmussen and Williams 2006, section 5.4.1).
//!
//! ```text
//! log p(z | X) = -½ zᵀA⁻¹z - ½ log det A - (n/2) log 2π,   A = K + λI                (5.8)
//! ∂/∂θ         = ½ tr((aaᵀ - A⁻¹) ∂A/∂θ),                  a = A⁻¹z                  (5.9)
//! ```
//!
//! The parameters θ are the logarithms of the length scales, of the output scale, of the rational
//! quadratic's α and, if it is fitted, of the noise variance λ. A log-normal prior on any of them adds its
//! log density in log θ, and the maximum is then that of the posterior.
//!
//! A constant mean m, if it is fitted, is at its own maximum m = 1ᵀA⁻¹z / 1ᵀA⁻¹1 for every θ, and z - m takes
//! the place of z. The derivatives in θ need no further term: that in m is zero there.
//!
//! Cost: O(n³ + n²d) an evaluation, with memory for 3½n² numbers. Where A is not positive definite to
//! rounding the likelihood counts as zero, and the search steps back.
//!
//! A third of this file is tests; the likelihood and its search share the order of their parameters, and stay together.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::{Mat, Par};
use serde::{Deserialize, Serialize};

use crate::descent::lbfgs::{self, minimise_in_box};
use crate::error::{Error, Result};
use crate::kernel::{Columns, Kernel, Profile};
use crate::points::{Points, dot};

/// A normal distribution of the logarithm of a positive parameter.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LogNormal {
    /// The mean of the logarithm.
    pub mean: f64,
    /// The standard deviation of the logarithm, positive.
    pub deviation: f64,
}

/// Where a positive parameter is sought.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Range {
    /// The least value, positive.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// What is known of the parameter beforehand, if anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<LogNormal>,
}

impl Range {
    /// A range without a prior.
    pub const fn new(low: f64, high: f64) -> Self {
        Self { low, high, prior: None }
    }

    /// The range with a prior.
    pub const fn with_prior(self, prior: LogNormal) -> Self {
        Self { prior: Some(prior), ..self }
    }

    fn check(self, parameter: &str) -> Result<()> {
        if !(self.low > 0.0 && self.low <= self.high && self.high.is_finite()) {
            let value = format!("{}..{}", self.low, self.high);
            let allowed = "positive and finite, the lower bound at most the upper";
            return Err(Error::invalid(format!("range of the {parameter}"), value, allowed));
        }
        match self.prior {
            Some(LogNormal { mean, deviation })
                if !(mean.is_finite() && deviation > 0.0 && deviation.is_finite()) =>
            {
                let value = format!("({mean}, {deviation})");
                let allowed = "a finite mean and a positive, finite deviation";
                Err(Error::invalid(format!("prior of the {parameter}"), value, allowed))
            }
            _ => Ok(()),
        }
    }

    /// The log density of the prior at a logarithm, up to a constant; its slope is added to `slope`.
    fn log_prior(self, log: f64, slope: &mut f64) -> f64 {
        let Some(LogNormal { mean, deviation }) = self.prior else { return 0.0 };
        let gap = (log - mean) / deviation;
        *slope -= gap / deviation;
        -0.5 * gap * gap
    }
}

/// The mean of the process before there is evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mean {
    /// Zero everywhere.
    #[default]
    Zero,
    /// A constant, fitted.
    Constant,
}

/// How many length scales a kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LengthScales {
    /// One for each coordinate: coordinates that matter little get long ones.
    #[default]
    Each,
    /// One for all coordinates.
    One,
}

/// How hyper-parameters are found from points of the unit cube.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MarginalLikelihood {
    /// The kernel's profile; α of the rational quadratic is where its search starts.
    pub profile: Profile,
    /// Each of the length scales.
    #[serde(alias = "length_scale")]
    pub length_scale: Range,
    /// Whether each coordinate has its own.
    #[serde(alias = "length_scales")]
    pub length_scales: LengthScales,
    /// The output scale.
    #[serde(alias = "output_scale")]
    pub output_scale: Range,
    /// α of the rational quadratic.
    pub alpha: Range,
    /// The noise variance, if it is fitted; otherwise it stays as given.
    pub noise: Option<Range>,
    /// The mean.
    pub mean: Mean,
    /// The length scales that searches start from, beside the previous maximum if there is one.
    pub starts: Vec<f64>,
    /// Evaluations of the likelihood for each start.
    #[serde(alias = "max_evaluations")]
    pub max_evaluations: usize,
    /// Points that the likelihood is taken over. Of more, every k-th counts, with the least k that suffices:
    /// the hyper-parameters are few, while the cost grows with the cube of the points.
    #[serde(alias = "max_points")]
    pub max_points: usize,
}

impl Default for MarginalLikelihood {
    /// The rational quadratic with a length scale a coordinate, as in the paper's real-data experiments;
    /// ranges that leave out only what a unit cube cannot show.
    fn default() -> Self {
        Self {
            profile: Profile::RationalQuadratic { alpha: 1.0 },
            length_scale: Range::new(0.01, 20.0),
            length_scales: LengthScales::Each,
            output_scale: Range::new(1e-3, 1e3),
            alpha: Range::new(0.05, 100.0),
            noise: None,
            mean: Mean::Zero,
            starts: vec![0.5, 0.15, 2.0],
            max_evaluations: 60,
            max_points: 400,
        }
    }
}

/// Hyper-parameters at which the marginal likelihood, or the posterior under the priors, is largest.
#[derive(Debug, Clone, PartialEq)]
pub struct Maximum {
    /// The kernel.
    pub kernel: Kernel,
    /// λ, the variance of the noise.
    pub noise: f64,
    /// The constant mean; 0 unless it is fitted.
    pub mean: f64,
    /// The log marginal likelihood, with the log density of the priors up to a constant.
    pub value: f64,
    /// Evaluations made.
    pub evaluations: usize,
}

impl MarginalLikelihood {
    /// Refuses ranges that are empty and starts that are not positive.
    pub fn check(&self) -> Result<()> {
        self.length_scale.check("length scale")?;
        self.output_scale.check("output scale")?;
        self.alpha.check("rational quadratic alpha")?;
        if let Some(noise) = self.noise {
            noise.check("noise")?;
        }
        Kernel::new(self.profile, vec![1.0], 1.0)?;
        if self.starts.is_empty() {
            return Err(Error::invalid("starts", "[]", "at least one length scale"));
        }
        if let Some(start) = self.starts.iter().find(|start| !(**start > 0.0 && start.is_finite()))
        {
            return Err(Error::invalid("starts", start, "positive and finite"));
        }
        for (field, limit) in
            [("max evaluations", self.max_evaluations), ("max points", self.max_points)]
        {
            if limit == 0 {
                return Err(Error::invalid(field, limit, "at least 1"));
            }
        }
        Ok(())
    }

    /// The best of the maxima found from each start, for one target a point.
    ///
    /// The first search starts at `previous` and its noise, if there is a previous maximum; the others at
    /// `noise` and the output scale 1.
    pub fn maximise(
        &self,
        points: &Points,
        targets: &[f64],
        noise: f64,
        previous: Option<&Maximum>,
    ) -> Result<Maximum> {
        self.check()?;
        assert_eq!(points.len(), targets.len(), "there must be one target a point");
        if !(noise > 0.0 && noise.is_finite()) {
            return Err(Error::invalid("noise", noise, "positive and finite"));
        }
        let every = points.len().div_ceil(self.max_points).max(1);
        let thinned = Points::from_rows(points.dim(), points.rows().step_by(every));
        let targets: Vec<f64> = targets.iter().copied().step_by(every).collect();
        let search = Search { settings: self, points: &thinned, targets: &targets, noise };
        let (low, high): (Vec<f64>, Vec<f64>) =
            search.ranges().iter().map(|range| (range.low.ln(), range.high.ln())).unzip();
        // Differences of a log likelihood below a thousandth say nothing about the hyper-parameters.
        let settings = lbfgs::Settings {
            max_evaluations: self.max_evaluations,
            gradient_tolerance: 1e-3,
            value_tolerance: 1e-7,
            ..Default::default()
        };
        let previous = previous
            .filter(|previous| previous.kernel.dim() == points.dim())
            .map(|previous| search.encode(&previous.kernel, previous.noise));
        let starts = self.starts.iter().map(|&start| search.start(start));
        let mut best: Option<lbfgs::Minimum> = None;
        let (mut evaluations, mut failure) = (0, None);
        for start in previous.into_iter().chain(starts) {
            let negative = |parameters: &[f64], gradient: &mut [f64]| {
                let value = search.value_and_gradient(parameters, gradient);
                gradient.iter_mut().for_each(|g| *g = -*g);
                -value
            };
            match minimise_in_box(negative, &start, &low, &high, settings) {
                Ok(found) => {
                    evaluations += found.evaluations;
                    if best.as_ref().is_none_or(|best| found.value < best.value) {
                        best = Some(found);
                    }
                }
                Err(error) => failure = Some(error),
            }
        }
        let diverged =
            Error::Diverged { model: "the marginal likelihood", doing: "being maximised" };
        let best = best.ok_or(failure.unwrap_or(diverged))?;
        let (kernel, noise) = search.decode(&best.point)?;
        let mean = match self.mean {
            Mean::Zero => 0.0,
            Mean::Constant => log_likelihood_with(self.mean, &kernel, noise, &thinned, &targets)
                .map_or(0.0, |likelihood| likelihood.mean),
        };
        Ok(Maximum { kernel, noise, mean, value: -best.value, evaluations })
    }
}

/// The log marginal likelihood and its derivatives in the logarithms of the hyper-parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct LogLikelihood {
    /// log p(z | X).
    pub value: f64,
    /// The constant mean; 0 unless it is fitted.
    pub mean: f64,
    /// (z - m)ᵀA⁻¹(z - m) / n: the factor of kernel and noise at which the likelihood is largest.
    pub best_scale: f64,
    /// Its derivatives in log ℓ.
    pub in_length_scales: Vec<f64>,
    /// Its derivative in log s.
    pub in_output_scale: f64,
    /// Its derivative in log α; 0 for profiles without it.
    pub in_alpha: f64,
    /// Its derivative in log λ.
    pub in_noise: f64,
}

/// The log marginal likelihood of a kernel and a noise variance under mean zero, with its derivatives.
/// `None` where the kernel matrix is not positive definite to rounding.
#[cfg(test)]
pub(super) fn log_likelihood(
    kernel: &Kernel,
    noise: f64,
    points: &Points,
    targets: &[f64],
) -> Option<LogLikelihood> {
    log_likelihood_with(Mean::Zero, kernel, noise, points, targets)
}

/// The log marginal likelihood of a kernel and a noise variance under either mean, with its derivatives. `None` where the
/// kernel matrix is not positive definite to rounding.
pub fn log_likelihood_with(
    mean: Mean,
    kernel: &Kernel,
    noise: f64,
    points: &Points,
    targets: &[f64],
) -> Option<LogLikelihood> {
    evaluate(mean, Factor::Given, kernel, noise, points, targets)
}

/// The log marginal likelihood of c·(K + λI) under a constant mean, with c at its own maximum
/// c = (z - m)ᵀA⁻¹(z - m) / n, so that the scale of the targets need not be searched for:
///
/// ```text
/// max over c of log p(z | X) = -(n/2) (log 2πc + 1) - ½ log det A
/// ```
///
/// The derivatives need no further term: that in c is zero there. `None` as in [`log_likelihood`].
pub fn profiled_log_likelihood(
    kernel: &Kernel,
    noise: f64,
    points: &Points,
    targets: &[f64],
) -> Option<LogLikelihood> {
    evaluate(Mean::Constant, Factor::Profiled, kernel, noise, points, targets)
}

/// The factor c of kernel and noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    /// One.
    Given,
    /// Where the likelihood is largest.
    Profiled,
}

/// The least factor c, in units of the output scale: targets that are all the same have none.
const LEAST_FACTOR: f64 = 1e-12;

fn evaluate(
    mean: Mean,
    factor_of_kernel: Factor,
    kernel: &Kernel,
    noise: f64,
    points: &Points,
    targets: &[f64],
) -> Option<LogLikelihood> {
    let n = points.len();
    let (profile, scale) = (kernel.profile(), kernel.output_scale());
    let alpha = if let Profile::RationalQuadratic { alpha } = profile { alpha } else { 0.0 };
    let scaled = Points::from_rows(points.dim(), points.rows().map(|x| kernel.scale(x)));
    let mut factor = Mat::<f64>::zeros(n, n);
    let pairs = Pairs::new(kernel, &scaled);
    for j in 0..n {
        let column = &mut factor.col_as_slice_mut(j)[j..];
        column[0] = scale + noise;
        let values = &pairs.values[pairs.below(j)];
        column[1..].iter_mut().zip(values).for_each(|(entry, value)| *entry = scale * value);
    }
    let inverse = invert(&mut factor)?;
    let log_determinant: f64 = (0..n).map(|i| 2.0 * factor[(i, i)].ln()).sum();
    let solve = |z: &[f64]| -> Vec<f64> {
        // Row i of the lower triangle before the diagonal, and column i from it on. The rows are summed column by column, so
        // that memory is read in order and all sums go on side by side.
        let mut sums = vec![-0.0; n];
        for (j, z) in z.iter().enumerate() {
            let column = &inverse.col_as_slice(j)[j + 1..];
            sums[j + 1..].iter_mut().zip(column).for_each(|(sum, a)| *sum += a * z);
        }
        for (i, sum) in sums.iter_mut().enumerate() {
            *sum += dot(&inverse.col_as_slice(i)[i..], &z[i..]);
        }
        sums
    };
    let mut weights = solve(targets);
    let mut constant = 0.0;
    if mean == Mean::Constant && n > 0 {
        let ones = solve(&vec![1.0; n]);
        constant = weights.iter().sum::<f64>() / ones.iter().sum::<f64>();
        weights.iter_mut().zip(&ones).for_each(|(weight, one)| *weight -= constant * one);
    }
    // (z - m)ᵀA⁻¹(z - m) = zᵀA⁻¹(z - m), since 1ᵀA⁻¹(z - m) = 0.
    let fit: f64 = weights.iter().zip(targets).map(|(a, z)| a * z).sum();
    let best_scale = (fit / n.max(1) as f64).max(LEAST_FACTOR);
    let fit = match factor_of_kernel {
        Factor::Given => fit,
        Factor::Profiled => {
            // With A scaled by c, a = A⁻¹(z - m) counts over √c in aaᵀ - A⁻¹.
            weights.iter_mut().for_each(|weight| *weight /= best_scale.sqrt());
            n as f64 * (1.0 + best_scale.ln())
        }
    };
    let value = -0.5 * (fit + log_determinant + n as f64 * std::f64::consts::TAU.ln());

    // Off the diagonal each pair counts twice, which cancels the ½ of (5.9).
    let mut in_length_scales = vec![0.0; points.dim()];
    let (mut in_kernel, mut in_alpha, mut on_diagonal) = (0.0, 0.0, 0.0);
    for j in 0..n {
        let (column, below) = (inverse.col_as_slice(j), pairs.below(j));
        on_diagonal += 0.5 * (weights[j] * weights[j] - column[j]);
        let (b, own) = (scaled.row(j), weights[j]);
        let rows = scaled.rows().skip(j + 1).zip(&weights[j + 1..]).zip(&column[j + 1..]);
        let kernels = pairs.values[below.clone()].iter().zip(&pairs.in_squared[below.clone()]);
        for (((a, other), inverse), (value, whole)) in rows.zip(kernels) {
            let weight = scale * (other * own - inverse);
            in_kernel += weight * value;
            // ∂r²/∂ log ℓₖ = -2 ((aₖ - bₖ) / ℓₖ)²
            let factor = -2.0 * weight;
            if kernel.additive() == 0.0 {
                for ((sum, a), b) in in_length_scales.iter_mut().zip(a).zip(b) {
                    *sum += factor * whole * (a - b) * (a - b);
                }
            } else {
                for ((sum, a), b) in in_length_scales.iter_mut().zip(a).zip(b) {
                    let gap = a - b;
                    *sum += factor * (whole + kernel.additive_slope(gap)) * gap * gap;
                }
            }
        }
        if let Some(slopes) = pairs.in_alpha.get(below) {
            for ((other, inverse), slope) in
                weights[j + 1..].iter().zip(&column[j + 1..]).zip(slopes)
            {
                in_alpha += scale * (other * own - inverse) * slope;
            }
        }
    }
    Some(LogLikelihood {
        value,
        mean: constant,
        best_scale,
        in_length_scales,
        in_output_scale: in_kernel + scale * on_diagonal,
        in_alpha: alpha * in_alpha,
        in_noise: noise * on_diagonal,
    })
}

/// k/s between every two points with its derivatives: points 1, 2, … with point 0, then points 2, 3, … with point 1, and so on. Kept for
/// the gradient: a profile costs far more than the memory it is read back from.
struct Pairs {
    points: usize,
    values: Vec<f64>,
    /// In r², the sum over coordinates left out.
    in_squared: Vec<f64>,
    /// In α; empty for profiles without it.
    in_alpha: Vec<f64>,
}

impl Pairs {
    /// Of points in units of the length scales.
    fn new(kernel: &Kernel, scaled: &Points) -> Self {
        let points = scaled.len();
        let count = points * points.saturating_sub(1) / 2;
        let (values, in_squared) = (vec![0.0; count], vec![0.0; count]);
        let mut pairs = Self { points, values, in_squared, in_alpha: Vec::new() };
        let columns = Columns::new(scaled);
        for (j, x) in scaled.rows().enumerate() {
            let below = pairs.below(j);
            let values = &mut pairs.values[below.clone()];
            columns.fill_unscaled(kernel, x, j + 1, values, &mut pairs.in_squared[below]);
            if let Profile::RationalQuadratic { .. } = kernel.profile() {
                let others = scaled.rows().skip(j + 1);
                pairs.in_alpha.extend(others.map(|a| kernel.scaled_slopes(a, x).in_alpha));
            }
        }
        pairs
    }

    /// Where the pairs of point j with those after it are.
    fn below(&self, j: usize) -> std::ops::Range<usize> {
        let first = j * (2 * self.points - j - 1) / 2;
        first..first + self.points - j - 1
    }
}

/// Replaces the lower triangle of a matrix by its Cholesky factor and returns that of its inverse.
fn invert(matrix: &mut Mat<f64>) -> Option<Mat<f64>> {
    let n = matrix.nrows();
    let mut memory = MemBuffer::new(
        llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default())
            .or(llt::inverse::inverse_scratch::<f64>(n, Par::Seq)),
    );
    let stack = MemStack::new(&mut memory);
    let no_regularization = Default::default();
    llt::factor::cholesky_in_place(
        matrix.as_mut(),
        no_regularization,
        Par::Seq,
        stack,
        Default::default(),
    )
    .ok()?;
    let mut inverse = Mat::zeros(n, n);
    llt::inverse::inverse(inverse.as_mut(), matrix.as_ref(), Par::Seq, stack);
    Some(inverse)
}

/// The likelihood as a function of one vector of logarithms: length scales, output scale, then α and noise
/// where they are fitted.
struct Search<'a> {
    settings: &'a MarginalLikelihood,
    points: &'a Points,
    targets: &'a [f64],
    noise: f64,
}

impl Search<'_> {
    fn has_alpha(&self) -> bool {
        matches!(self.settings.profile, Profile::RationalQuadratic { .. })
    }

    /// How many length scales are sought.
    fn scales(&self) -> usize {
        match self.settings.length_scales {
            LengthScales::Each => self.points.dim(),
            LengthScales::One => self.points.dim().min(1),
        }
    }

    /// The range of each entry.
    fn ranges(&self) -> Vec<Range> {
        let mut ranges = vec![self.settings.length_scale; self.scales()];
        ranges.push(self.settings.output_scale);
        ranges.extend(self.has_alpha().then_some(self.settings.alpha));
        ranges.extend(self.settings.noise);
        ranges
    }

    /// The same length scale in each coordinate, and output scale 1.
    fn start(&self, length_scale: f64) -> Vec<f64> {
        let mut parameters = vec![length_scale.ln(); self.scales()];
        parameters.push(0.0);
        if let Profile::RationalQuadratic { alpha } = self.settings.profile {
            parameters.push(alpha.ln());
        }
        parameters.extend(self.settings.noise.map(|_| self.noise.ln()));
        parameters
    }

    fn encode(&self, kernel: &Kernel, noise: f64) -> Vec<f64> {
        let scales = kernel.length_scales().iter().take(self.scales());
        let mut parameters: Vec<f64> = scales.map(|l| l.ln()).collect();
        parameters.push(kernel.output_scale().ln());
        if let Profile::RationalQuadratic { alpha } = self.settings.profile {
            let previous = match kernel.profile() {
                Profile::RationalQuadratic { alpha } => alpha,
                _ => alpha,
            };
            parameters.push(previous.ln());
        }
        parameters.extend(self.settings.noise.map(|_| noise.ln()));
        parameters
    }

    fn decode(&self, parameters: &[f64]) -> Result<(Kernel, f64)> {
        // The exponential of a bound's logarithm can lie beyond the bound by rounding.
        let mut values = parameters
            .iter()
            .zip(self.ranges())
            .map(|(log, range)| log.exp().clamp(range.low, range.high));
        let mut length_scales: Vec<f64> = values.by_ref().take(self.scales()).collect();
        if self.settings.length_scales == LengthScales::One {
            length_scales = length_scales.repeat(self.points.dim());
        }
        let output_scale = values.next().unwrap_or(1.0);
        let profile = match self.settings.profile {
            Profile::RationalQuadratic { alpha } => {
                Profile::RationalQuadratic { alpha: values.next().unwrap_or(alpha) }
            }
            other => other,
        };
        let noise = values.next().unwrap_or(self.noise);
        Ok((Kernel::new(profile, length_scales, output_scale)?, noise))
    }

    /// The log likelihood with the priors; -∞ where there is none.
    fn value_and_gradient(&self, parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let Ok((kernel, noise)) = self.decode(parameters) else { return f64::NEG_INFINITY };
        let mean = self.settings.mean;
        let Some(likelihood) = log_likelihood_with(mean, &kernel, noise, self.points, self.targets)
        else {
            return f64::NEG_INFINITY;
        };
        let scales = self.scales();
        match self.settings.length_scales {
            LengthScales::Each => gradient[..scales].copy_from_slice(&likelihood.in_length_scales),
            LengthScales::One => {
                gradient[..scales].fill(likelihood.in_length_scales.iter().sum());
            }
        }
        gradient[scales] = likelihood.in_output_scale;
        let mut next = scales + 1;
        if self.has_alpha() {
            gradient[next] = likelihood.in_alpha;
            next += 1;
        }
        if self.settings.noise.is_some() {
            gradient[next] = likelihood.in_noise;
        }
        let ranges = self.ranges();
        let priors: f64 = ranges
            .iter()
            .zip(parameters)
            .zip(gradient)
            .map(|((range, log), slope)| range.log_prior(*log, slope))
            .sum();
        likelihood.value + priors
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::fixtures::profiles;
    use crate::seed::{Seed, uniform};
    use proptest::prelude::*;

    const DIM: usize = 2;

    fn data(len: usize, seed: u64) -> (Points, Vec<f64>) {
        let mut rng = Seed(seed).stream("data", 0);
        let points =
            Points::from_rows(DIM, (0..len).map(|_| [(); DIM].map(|()| uniform(&mut rng))));
        let targets = points.rows().map(|x| f64::from(u8::from(x[0] < 0.4))).collect();
        (points, targets)
    }

    /// The determinant and the inverse by Gauss-Jordan elimination, without pivoting.
    fn naive(kernel: &Kernel, noise: f64, points: &Points, targets: &[f64]) -> f64 {
        let n = points.len();
        let mut a: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut row: Vec<f64> =
                    points.rows().map(|b| kernel.value(points.row(i), b)).collect();
                row[i] += noise;
                row.extend((0..n).map(|j| f64::from(u8::from(i == j))));
                row
            })
            .collect();
        let mut determinant = 1.0;
        for k in 0..n {
            let pivot = a[k][k];
            determinant *= pivot;
            a[k].iter_mut().for_each(|x| *x /= pivot);
            let row = a[k].clone();
            for (_, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
                let factor = other[k];
                other.iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            }
        }
        let fit: f64 = (0..n)
            .map(|i| (0..n).map(|j| targets[i] * a[i][n + j] * targets[j]).sum::<f64>())
            .sum();
        -0.5 * fit - 0.5 * determinant.ln() - 0.5 * n as f64 * (2.0 * std::f64::consts::PI).ln()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_value_is_that_of_explicit_inverse_and_determinant(
            profile in profiles(),
            len in 0..12_usize,
            seed in 0..1000_u64,
        ) {
            let (points, targets) = data(len, seed);
            let kernel = Kernel::new(profile, vec![0.4, 0.9], 1.3).unwrap();
            let fast = log_likelihood(&kernel, 0.1, &points, &targets).unwrap().value;
            let slow = naive(&kernel, 0.1, &points, &targets);
            prop_assert!((fast - slow).abs() < 1e-9 * (1.0 + slow.abs()), "{} {}", fast, slow);
        }

        #[test]
        fn the_gradient_is_that_of_finite_differences(
            profile in profiles(),
            len in 1..40_usize,
            seed in 0..1000_u64,
            prior in any::<bool>(),
            mean in prop_oneof![Just(Mean::Zero), Just(Mean::Constant)],
            length_scales in prop_oneof![Just(LengthScales::Each), Just(LengthScales::One)],
        ) {
            let (points, targets) = data(len, seed);
            let normal = LogNormal { mean: 0.3, deviation: 0.7 };
            let with = |range: Range| if prior { range.with_prior(normal) } else { range };
            let settings = MarginalLikelihood {
                profile,
                length_scale: with(Range::new(0.01, 20.0)),
                length_scales,
                output_scale: with(Range::new(1e-3, 1e3)),
                alpha: with(Range::new(0.05, 100.0)),
                noise: Some(with(Range::new(1e-6, 1.0))),
                mean,
                ..Default::default()
            };
            let search = Search { settings: &settings, points: &points, targets: &targets, noise: 0.05 };
            let kernel = Kernel::new(profile, vec![0.4, 0.9], 1.3).unwrap();
            let parameters = search.encode(&kernel, 0.05);
            let (decoded, noise) = search.decode(&parameters).unwrap();
            prop_assert!((decoded.output_scale() - 1.3).abs() < 1e-12 && (noise - 0.05).abs() < 1e-12);
            let mut gradient = vec![0.0; parameters.len()];
            search.value_and_gradient(&parameters, &mut gradient);
            let mut ignored = gradient.clone();
            for k in 0..parameters.len() {
                let mut moved = |step: f64| {
                    let mut parameters = parameters.clone();
                    parameters[k] += step;
                    search.value_and_gradient(&parameters, &mut ignored)
                };
                let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                prop_assert!(
                    (gradient[k] - numeric).abs() < 1e-5 * (1.0 + numeric.abs()),
                    "{}: {} {}", k, gradient[k], numeric
                );
            }
        }
    }

    #[test]
    fn the_profiled_likelihood_is_the_largest_over_the_factor_and_has_its_slopes() {
        for additive in [0.0, 0.5] {
            check_profiled_likelihood(additive);
        }
    }

    fn check_profiled_likelihood(additive: f64) {
        let (points, targets) = data(30, 4);
        let kernel = |scales: [f64; 2], factor: f64| {
            let kernel = Kernel::new(Profile::Matern52, scales.to_vec(), factor).unwrap();
            kernel.with_additive(additive).unwrap()
        };
        let at = |scales: [f64; 2], noise: f64| {
            profiled_log_likelihood(&kernel(scales, 1.0), noise, &points, &targets).unwrap()
        };
        let (scales, noise) = ([0.4, 0.9], 0.05);
        let profiled = at(scales, noise);
        let given = |factor: f64| {
            let kernel = kernel(scales, factor);
            log_likelihood_with(Mean::Constant, &kernel, factor * noise, &points, &targets)
                .unwrap()
                .value
        };
        assert!((profiled.value - given(profiled.best_scale)).abs() < 1e-9);
        for other in [0.8, 0.97, 1.03, 1.25] {
            assert!(profiled.value > given(other * profiled.best_scale));
        }
        let step = 1e-5_f64;
        let up = step.exp();
        let numeric =
            (at([0.4 * up, 0.9], noise).value - at([0.4 / up, 0.9], noise).value) / (2.0 * step);
        assert!((profiled.in_length_scales[0] - numeric).abs() < 1e-5 * (1.0 + numeric.abs()));
        let numeric = (at(scales, noise * up).value - at(scales, noise / up).value) / (2.0 * step);
        assert!((profiled.in_noise - numeric).abs() < 1e-5 * (1.0 + numeric.abs()));
    }

    #[test]
    fn the_constant_mean_is_where_the_likelihood_of_the_rest_is_largest() {
        let (points, targets) = data(30, 2);
        let kernel = Kernel::new(Profile::Matern52, vec![0.4, 0.9], 1.3).unwrap();
        let fitted = log_likelihood_with(Mean::Constant, &kernel, 0.1, &points, &targets).unwrap();
        let around = |mean: f64| {
            let rest: Vec<f64> = targets.iter().map(|z| z - mean).collect();
            log_likelihood(&kernel, 0.1, &points, &rest).unwrap().value
        };
        assert!((around(fitted.mean) - fitted.value).abs() < 1e-10);
        for step in [-0.3, -1e-3, 1e-3, 0.3] {
            assert!(around(fitted.mean + step) < fitted.value);
        }
        let moved: Vec<f64> = targets.iter().map(|z| z + 7.0).collect();
        let moved = log_likelihood_with(Mean::Constant, &kernel, 0.1, &points, &moved).unwrap();
        assert!((moved.mean - fitted.mean - 7.0).abs() < 1e-10);
        assert!((moved.value - fitted.value).abs() < 1e-8);
    }

    #[test]
    fn the_coordinate_that_matters_gets_the_shorter_length_scale() {
        let (points, targets) = data(80, 3);
        for profile in [Profile::Matern52, Profile::RationalQuadratic { alpha: 1.0 }] {
            let settings = MarginalLikelihood { profile, ..Default::default() };
            let found = settings.maximise(&points, &targets, 0.025, None).unwrap();
            let scales = found.kernel.length_scales();
            assert!(scales[0] < 0.5 * scales[1], "{found:?}");
            assert_eq!(found.noise, 0.025);
            let at_start = Kernel::isotropic(profile, DIM, 0.5, 1.0).unwrap();
            let start = log_likelihood(&at_start, 0.025, &points, &targets).unwrap().value;
            assert!(found.value > start);
            // The search goes on from where it ended, and ends there.
            let again = settings.maximise(&points, &targets, 0.025, Some(&found)).unwrap();
            assert!(again.value >= found.value - 1e-9);
        }
    }

    #[test]
    fn one_length_scale_for_all_is_the_best_of_those_that_are_equal() {
        let (points, targets) = data(80, 3);
        let one = MarginalLikelihood { length_scales: LengthScales::One, ..Default::default() };
        let found = one.maximise(&points, &targets, 0.025, None).unwrap();
        let scales = found.kernel.length_scales();
        assert_eq!(scales, [scales[0]; DIM]);
        for factor in [0.7, 0.9, 1.1, 1.4] {
            let (profile, scale) = (found.kernel.profile(), found.kernel.output_scale());
            let other = Kernel::isotropic(profile, DIM, factor * scales[0], scale).unwrap();
            let value = log_likelihood(&other, found.noise, &points, &targets).unwrap().value;
            assert!(value < found.value, "{factor}: {value} {}", found.value);
        }
        let each = MarginalLikelihood::default();
        assert!(each.maximise(&points, &targets, 0.025, None).unwrap().value > found.value);
    }

    #[test]
    fn of_too_many_points_every_kth_counts() {
        let (points, targets) = data(30, 4);
        let settings = MarginalLikelihood { max_points: 10, ..Default::default() };
        let found = settings.maximise(&points, &targets, 0.025, None).unwrap();
        let third = Points::from_rows(DIM, points.rows().step_by(3));
        let targets: Vec<f64> = targets.into_iter().step_by(3).collect();
        let all = MarginalLikelihood::default();
        assert_eq!(found, all.maximise(&third, &targets, 0.025, None).unwrap());
    }

    #[test]
    fn fitted_noise_is_near_that_of_the_targets() {
        let (points, _) = data(150, 5);
        let mut rng = Seed(5).stream("noise", 0);
        // Uniform noise of variance 0.04 around a smooth function.
        let width = (12.0 * 0.04_f64).sqrt();
        let targets: Vec<f64> =
            points.rows().map(|x| (3.0 * x[0]).sin() + width * (uniform(&mut rng) - 0.5)).collect();
        let settings = MarginalLikelihood {
            profile: Profile::SquaredExponential,
            noise: Some(Range::new(1e-6, 1.0)),
            ..Default::default()
        };
        let found = settings.maximise(&points, &targets, 0.5, None).unwrap();
        // A variance from 150 draws is known to about a tenth; three times that is allowed.
        assert!((found.noise - 0.04).abs() < 0.012, "{found:?}");
    }

    #[test]
    fn labels_that_say_nothing_still_give_hyper_parameters_in_range() {
        let (points, _) = data(10, 0);
        for targets in [vec![0.0; 10], vec![1.0; 10]] {
            let settings = MarginalLikelihood::default();
            let found = settings.maximise(&points, &targets, 0.025, None).unwrap();
            assert!(found.value.is_finite());
            for scale in found.kernel.length_scales() {
                assert!((0.01..=20.0).contains(scale));
            }
        }
        let none = Points::new(DIM);
        assert!(MarginalLikelihood::default().maximise(&none, &[], 0.025, None).is_ok());
    }

    #[test]
    fn settings_that_no_search_could_use_are_refused_by_name() {
        let refused = |settings: MarginalLikelihood| settings.check().unwrap_err().to_string();
        let defaults = MarginalLikelihood::default;
        let range = Range::new(2.0, 1.0);
        assert!(refused(MarginalLikelihood { alpha: range, ..defaults() }).contains("alpha"));
        assert!(refused(MarginalLikelihood { starts: vec![], ..defaults() }).contains("starts"));
        assert!(refused(MarginalLikelihood { max_points: 0, ..defaults() }).contains("max points"));
        let prior = LogNormal { mean: 0.0, deviation: 0.0 };
        let output_scale = Range::new(0.1, 1.0).with_prior(prior);
        assert!(refused(MarginalLikelihood { output_scale, ..defaults() }).contains("prior"));
        let (points, targets) = data(3, 0);
        assert!(defaults().maximise(&points, &targets, 0.0, None).is_err());
    }
}
