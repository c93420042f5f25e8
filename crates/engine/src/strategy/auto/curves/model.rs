//! One Gaussian process over parameters and fidelity.
//!
//! ```text
//! z(v)  = clip((v - lowest) / (median - lowest), 0, 1)          the target of a value; prior mean 1
//! k     = M(x, x') [.5² + .8² l l'] + [same trial] (.15² + .4² l l' + .05² exp(-|ln t - ln t'| / .5)) + .02² [same observation]
//! l(t)  = ln(t/low) / ln(high/low),   M: Matérn 5/2 with a length scale for each coordinate
//! ```
//! The terms in l l' are slopes: what is known about a curve grows with the fidelity, and neighbours have similar slopes. The target is
//! anew for every decision, and enters only the right-hand side: with length scales fixed between refits, an observation adds one row
//! to the factor L of K, and one number to L⁻¹ k(·, c) of each candidate c.
//!
//! Cost for n observations and N candidates: O(n² + n N) an observation, and the same a decision.

use super::stops::Stops;
use crate::error::{Error, Result};
use crate::kernel::Profile;

/// What was seen of a trial at a fidelity.
#[derive(Debug, Clone)]
pub(super) struct Observation {
    pub(super) trial: u64,
    pub(super) x: Vec<f64>,
    pub(super) fidelity: f64,
    /// The lowest value up to this fidelity; infinite if the trial failed.
    pub(super) value: f64,
}

/// Where the process is looked at: an unseen point, or a trial, at the highest fidelity.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) x: Vec<f64>,
    /// The trial, if it was started.
    pub(super) trial: Option<u64>,
    scaled: Vec<f64>,
    /// L⁻¹ k(·, c).
    solved: Vec<f64>,
    /// The squares of `solved` in sum.
    explained: f64,
}

/// From values to targets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Target {
    pub(super) lowest: f64,
    pub(super) median: f64,
}

impl Target {
    pub(super) fn of(self, value: f64) -> f64 {
        let range = self.median - self.lowest;
        if value <= self.lowest {
            return 0.0;
        }
        if range > 0.0 && value.is_finite() {
            ((value - self.lowest) / range).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

const LEVEL: f64 = 0.25;
const SLOPE: f64 = 0.64;
const OWN_LEVEL: f64 = 0.0225;
const OWN_SLOPE: f64 = 0.16;
const WIGGLE: f64 = 0.0025;
const WIGGLE_LENGTH: f64 = 0.5;
const NOISE: f64 = 4e-4;

/// Where on its curve something is.
#[derive(Debug, Clone, Copy)]
struct Time {
    way: f64,
    log: f64,
}

/// The process after some observations.
#[derive(Debug, Clone)]
pub(super) struct Model {
    stops: Stops,
    scales: Vec<f64>,
    observations: Vec<Observation>,
    scaled: Vec<Vec<f64>>,
    times: Vec<Time>,
    /// L, row by row.
    rows: Vec<Vec<f64>>,
    candidates: Vec<Candidate>,
    high: Time,
}

/// The part of the kernel between different trials whose points are so far apart.
fn shared(squared: f64, a: f64, b: f64) -> f64 {
    Profile::Matern52.value(squared) * (LEVEL + SLOPE * a * b)
}

/// The variance of an observation at this way, with its noise.
pub(super) fn variance(way: f64) -> f64 {
    LEVEL + OWN_LEVEL + WIGGLE + (SLOPE + OWN_SLOPE) * way * way + NOISE
}

/// The kernel between last observations of different trials: for the likelihood.
pub(super) fn between_trials(a: &[f64], b: &[f64], way_a: f64, way_b: f64) -> f64 {
    shared(distance(a, b), way_a, way_b)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Eight sums at a time: the compiler may then use wide registers.
    let mut sums = [0.0; 8];
    let whole = a.len() / 8 * 8;
    for (a, b) in a[..whole].chunks_exact(8).zip(b[..whole].chunks_exact(8)) {
        for k in 0..8 {
            sums[k] += a[k] * b[k];
        }
    }
    let tail: f64 = a[whole..].iter().zip(&b[whole..a.len()]).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + tail
}

impl Model {
    pub(super) fn new(stops: Stops, high: f64, scales: Vec<f64>) -> Self {
        Self {
            high: Time { way: stops.way(high), log: high.ln() },
            stops,
            scales,
            observations: Vec::new(),
            scaled: Vec::new(),
            times: Vec::new(),
            rows: Vec::new(),
            candidates: Vec::new(),
        }
    }

    /// How many observations it knows.
    pub(super) fn len(&self) -> usize {
        self.observations.len()
    }

    pub(super) fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    fn time(&self, fidelity: f64) -> Time {
        Time { way: self.stops.way(fidelity), log: fidelity.ln() }
    }

    fn scale(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.scales).map(|(x, scale)| x / scale).collect()
    }

    /// k between an observation and something at a point and a time.
    fn kernel(&self, i: usize, scaled: &[f64], trial: Option<u64>, time: Time) -> f64 {
        let (own, there) = (self.times[i], self.observations[i].trial);
        let value = shared(distance(&self.scaled[i], scaled), own.way, time.way);
        if Some(there) != trial {
            return value;
        }
        let wiggle = WIGGLE * (-(own.log - time.log).abs() / WIGGLE_LENGTH).exp();
        value + OWN_LEVEL + OWN_SLOPE * own.way * time.way + wiggle
    }

    /// Makes a point, or a trial, a candidate.
    pub(super) fn consider(&mut self, x: Vec<f64>, trial: Option<u64>) {
        let scaled = self.scale(&x);
        let mut solved = Vec::with_capacity(self.rows.len() + 64);
        for (i, row) in self.rows.iter().enumerate() {
            let k = self.kernel(i, &scaled, trial, self.high);
            solved.push((k - dot(&row[..i], &solved)) / row[i]);
        }
        let explained = dot(&solved, &solved);
        self.candidates.push(Candidate { x, trial, scaled, solved, explained });
    }

    /// Forgets a candidate that was a trial.
    pub(super) fn dismiss(&mut self, trial: u64) {
        self.candidates.retain(|candidate| candidate.trial != Some(trial));
    }

    /// Forgets a candidate that was a new point.
    pub(super) fn begin(&mut self, x: &[f64]) {
        self.candidates.retain(|candidate| candidate.trial.is_some() || candidate.x != x);
    }

    /// Adds an observation.
    ///
    /// # Errors
    /// If the kernel matrix is no longer positive definite, which the noise term prevents.
    pub(super) fn observe(&mut self, observation: Observation) -> Result<()> {
        let (scaled, time) = (self.scale(&observation.x), self.time(observation.fidelity));
        let (count, trial) = (self.rows.len(), Some(observation.trial));
        let mut row = Vec::with_capacity(count + 1);
        for (i, other) in self.rows.iter().enumerate() {
            let k = self.kernel(i, &scaled, trial, time);
            row.push((k - dot(&other[..i], &row)) / other[i]);
        }
        let left = variance(time.way) - dot(&row, &row);
        if left.is_nan() || left <= 1e-9 {
            return Err(Error::NotPositiveDefinite { pivot: count, jitter: 0.0 });
        }
        row.push(left.sqrt());
        self.observations.push(observation);
        self.scaled.push(scaled);
        self.times.push(time);
        let mut candidates = std::mem::take(&mut self.candidates);
        for candidate in &mut candidates {
            let k = self.kernel(count, &candidate.scaled, candidate.trial, self.high);
            let solved = (k - dot(&row[..count], &candidate.solved)) / row[count];
            candidate.solved.push(solved);
            candidate.explained += solved * solved;
        }
        self.candidates = candidates;
        self.rows.push(row);
        Ok(())
    }

    /// L⁻¹ (z - 1).
    pub(super) fn weights(&self, target: Target) -> Vec<f64> {
        let mut weights = Vec::with_capacity(self.rows.len());
        for (i, row) in self.rows.iter().enumerate() {
            let z = target.of(self.observations[i].value);
            weights.push((z - 1.0 - dot(&row[..i], &weights)) / row[i]);
        }
        weights
    }

    /// The mean and the standard deviation of a candidate at the highest fidelity.
    pub(super) fn predict(&self, candidate: &Candidate, weights: &[f64]) -> (f64, f64) {
        let prior = variance(self.high.way) - NOISE;
        let mean = 1.0 + dot(weights, &candidate.solved);
        (mean, (prior - candidate.explained).max(1e-12).sqrt())
    }

    /// Adds what is expected of a run that is under way, so that nobody else does the same. Returns L⁻¹ (z - 1) with it.
    pub(super) fn expect(
        &mut self,
        trial: u64,
        x: Vec<f64>,
        until: f64,
        mut weights: Vec<f64>,
    ) -> Result<Vec<f64>> {
        self.observe(Observation { trial, x, fidelity: until, value: f64::NAN })?;
        let Some(row) = self.rows.last() else { return Ok(weights) };
        let (before, last) = (dot(&row[..weights.len()], &weights), row[row.len() - 1]);
        // As the mean has it, within the range of targets.
        let expected = (1.0 + before).clamp(0.0, 1.0) - 1.0;
        weights.push((expected - before) / last);
        Ok(weights)
    }

    /// What candidates know now, to return to after runs that are only expected.
    pub(super) fn mark(&self) -> Mark {
        let explained = self.candidates.iter().map(|candidate| candidate.explained).collect();
        Mark { observations: self.rows.len(), explained }
    }

    /// Forgets all observations after a mark.
    pub(super) fn restore(&mut self, mark: &Mark) {
        self.observations.truncate(mark.observations);
        self.scaled.truncate(mark.observations);
        self.times.truncate(mark.observations);
        self.rows.truncate(mark.observations);
        self.candidates.truncate(mark.explained.len());
        for (candidate, explained) in self.candidates.iter_mut().zip(&mark.explained) {
            candidate.solved.truncate(mark.observations);
            candidate.explained = *explained;
        }
    }
}

/// The state of a model at some time.
pub(super) struct Mark {
    observations: usize,
    explained: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Fidelity;
    use crate::linalg::Cholesky;
    use crate::seed::Seed;
    use crate::seed::draw::uniform;

    fn stops() -> Stops {
        Stops::of(&Fidelity { name: "epochs".into(), low: 1.0, high: 51.0 })
    }

    /// The kernel of the module's first lines, read off.
    fn naive(a: &Observation, b: &Observation, same: bool, scales: &[f64]) -> f64 {
        let l = |t: f64| t.ln() / 51.0_f64.ln();
        let r2: f64 = (0..2).map(|i| ((a.x[i] - b.x[i]) / scales[i]).powi(2)).sum();
        let r = (5.0 * r2).sqrt();
        let matern = (1.0 + r + r * r / 3.0) * (-r).exp();
        let mut k = matern * (0.5_f64.powi(2) + 0.8_f64.powi(2) * l(a.fidelity) * l(b.fidelity));
        if a.trial == b.trial {
            let gap = (a.fidelity.ln() - b.fidelity.ln()).abs();
            k += 0.15_f64.powi(2) + 0.4_f64.powi(2) * l(a.fidelity) * l(b.fidelity);
            k += 0.05_f64.powi(2) * (-gap / 0.5).exp();
        }
        k + if same { 0.02_f64.powi(2) } else { 0.0 }
    }

    #[test]
    fn rows_added_one_by_one_give_the_posterior_of_the_whole_matrix() {
        let mut rng = Seed(3).stream("test", 0);
        let scales = vec![0.4, 1.3];
        let mut model = Model::new(stops(), 51.0, scales.clone());
        let mut all = Vec::new();
        model.consider(vec![0.3, 0.9], None);
        for trial in 0..12_u64 {
            let x = vec![uniform(&mut rng), uniform(&mut rng)];
            for fidelity in [2.0, 3.0, 8.0].into_iter().take(1 + trial as usize % 3) {
                let value = 1.0 + 3.0 * uniform(&mut rng);
                all.push(Observation { trial, x: x.clone(), fidelity, value });
                model.observe(all[all.len() - 1].clone()).unwrap();
            }
            if trial == 5 {
                model.consider(x, Some(trial));
            }
        }
        let target = Target { lowest: 1.0, median: 2.5 };
        let weights = model.weights(target);
        let n = all.len();
        let factor = Cholesky::factor(n, |i, row| {
            (0..row.len()).for_each(|j| row[j] = naive(&all[i], &all[j], i == j, &scales));
        })
        .unwrap();
        for candidate in model.candidates() {
            let at = Observation {
                trial: candidate.trial.unwrap_or(99),
                x: candidate.x.clone(),
                fidelity: 51.0,
                value: 0.0,
            };
            let k: Vec<f64> = all.iter().map(|other| naive(&at, other, false, &scales)).collect();
            let mut solved: Vec<f64> = all.iter().map(|one| target.of(one.value) - 1.0).collect();
            factor.solve(&mut solved);
            let mean = 1.0 + k.iter().zip(&solved).map(|(a, b)| a * b).sum::<f64>();
            let mut inverse = k.clone();
            factor.solve(&mut inverse);
            let variance = naive(&at, &at, false, &scales)
                - k.iter().zip(&inverse).map(|(a, b)| a * b).sum::<f64>();
            let (found, deviation) = model.predict(candidate, &weights);
            assert!((found - mean).abs() < 1e-9, "{found} {mean}");
            assert!((deviation - variance.sqrt()).abs() < 1e-9, "{deviation} {variance}");
        }
    }

    #[test]
    fn what_is_expected_lowers_deviations_and_is_forgotten_without_a_trace() {
        let mut model = Model::new(stops(), 51.0, vec![0.5]);
        for (trial, x) in [(0, 0.1), (1, 0.9)] {
            model.observe(Observation { trial, x: vec![x], fidelity: 3.0, value: x }).unwrap();
        }
        model.consider(vec![0.5], None);
        let target = Target { lowest: 0.0, median: 0.5 };
        let weights = model.weights(target);
        let before = model.predict(&model.candidates()[0], &weights);
        let mark = model.mark();
        let wider = model.expect(9, vec![0.5], 51.0, weights.clone()).unwrap();
        let after = model.predict(&model.candidates()[0], &wider);
        assert!(after.1 < 0.7 * before.1, "{after:?} {before:?}");
        model.restore(&mark);
        assert_eq!(model.predict(&model.candidates()[0], &model.weights(target)), before);
    }

    #[test]
    fn targets_lie_between_the_lowest_and_the_median() {
        let target = Target { lowest: 1.0, median: 3.0 };
        assert_eq!(
            [0.5, 1.0, 2.0, 3.0, 9.0, f64::INFINITY].map(|v| target.of(v)),
            [0.0, 0.0, 0.5, 1.0, 1.0, 1.0]
        );
        let flat = Target { lowest: 1.0, median: 1.0 };
        assert_eq!([1.0, 2.0].map(|v| flat.of(v)), [0.0, 1.0]);
    }
}
