//! A trust region: where the search is, how far it dares to go, and what it has learnt.
//!
//! A region is its *elite*, the [`ELITE`] best trials that fell to it. The best of them is the centre; their spread about it is
//! the length of the box:
//!
//! ```text
//! length = κ · geometric mean over k of √(Σᵢ (xᵢₖ - cₖ)² / (μ - 1)),     box = c ± ½ length · w,     w = ℓ / geometric mean of ℓ
//! ```
//!
//! Under selection at random the elite would be spread as the box is, and the length stay; it shrinks only as far as better
//! trials lie closer together, and grows when the best one is far from the others. Hence noise cannot make it collapse: where
//! values differ by luck alone, the lucky trials are spread as all are. There are no counters of successes and failures, and
//! so no need to know which ask a trial came from.
//!
//! Cost: O(μd) a trial; that of the model for a patch.

use super::cloud::Cloud;
use super::expectation::{self, Scale};
use super::feasibility::Feasibility;
use super::frame::{Frame, Metric};
use super::jump::{self, Jump};
use super::local_model::{HyperParameters, LocalModel, Prior, Shape};
use super::local_step::{self, Radius};
use super::{Auto, NOISY, Part, target};
use crate::error::Result;
use crate::forecast::Forecast;
use crate::history::History;
use crate::points::{Points, squared_distance};

/// The length of the first region, and the longest.
pub(super) const WIDEST: f64 = 0.8;
/// The least length: beyond it the grid of real coordinates is near.
const LEAST: f64 = 1e-7;
/// μ: how many of its best trials make up a region. More make its box change more slowly.
const ELITE: usize = 6;
/// κ. A box of length 1 has a deviation of 1/√12 about its centre, and √2 times that about one of its points: 2.4 would keep the
/// length under selection at random, and the rest makes up for picks that crowd at the centre.
const KAPPA: f64 = 5.0;
/// The least spread of a coordinate in that of the widest: on a face of the cube there is no spread across it.
const FLATTEST: f64 = 0.03;
/// How far the widths of the box may differ from their mean.
const WIDTHS: (f64, f64) = (0.2, 5.0);
/// Resilient steps of the first fit, of those that follow, and after a turn.
const STEPS: [usize; 3] = [15, 2, 4];
/// The length below which a region is taken to hold a single valley: values count as they are, coordinates turn, and
/// the kernel has no sum over them.
const VALLEY: f64 = 0.2;
/// The share of that sum in a wider region.
const ADDITIVE: f64 = 0.5;
/// Fits from one turn to the next.
const TURN_EVERY: usize = 3;
/// Share of noise in the variance of the targets above which the best value is taken for luck. Of seven functions without
/// noise only rastrigin passed it, in two runs of five; of five with noise of 1 % or 10 % of the range, all but ackley-5 did
/// within 210 trials.
pub(super) const EVIDENT: f64 = 0.1;
/// Trials without a value that the feasibility sees: the nearest.
const FAILED: usize = 64;

/// A trust region.
#[derive(Debug, Clone)]
pub(super) struct Region {
    centre: Vec<f64>,
    length: f64,
    first_length: f64,
    /// Values and points, best first.
    elite: Vec<(f64, Vec<f64>)>,
    /// The trials near it.
    pub(super) cloud: Cloud,
    learnt: Option<Learnt>,
}

/// What fits leave for the next.
#[derive(Debug, Clone)]
struct Learnt {
    hyper_parameters: HyperParameters,
    metric: Option<Metric>,
    fits: usize,
    /// The quadratic of the trials at this fit, and how many trials there were.
    jump: Option<(usize, Jump)>,
}

impl Region {
    /// A region about `centre`, with the value there if it has one.
    pub(super) fn new(centre: Vec<f64>, value: Option<f64>, length: f64, cloud: Cloud) -> Self {
        let elite = value.map(|value| (value, centre.clone())).into_iter().collect();
        Self { centre, length, first_length: length, elite, cloud, learnt: None }
    }

    pub(super) fn centre(&self) -> &[f64] {
        &self.centre
    }

    pub(super) fn length(&self) -> f64 {
        self.length
    }

    /// The value at the centre; ∞ while it has none.
    pub(super) fn best(&self) -> f64 {
        self.elite.first().map_or(f64::INFINITY, |best| best.0)
    }

    /// Learns what came of a trial of its own.
    pub(super) fn tell(&mut self, x: &[f64], value: f64, settings: &Auto) {
        let place = self.elite.partition_point(|other| other.0 <= value);
        if place >= ELITE {
            return;
        }
        self.elite.insert(place, (value, x.to_vec()));
        self.elite.truncate(ELITE);
        self.centre.clone_from(&self.elite[0].1);
        if settings.uses(Part::Region) {
            self.length = self.spread(settings);
        }
    }

    /// The length of a box that just holds the elite. Places that are still open count as taken at the distance that the
    /// first length stands for. Coordinates in which the elite lies on a face do not count: they have arrived, and the others
    /// have not.
    fn spread(&self, settings: &Auto) -> f64 {
        let open = (ELITE - self.elite.len()) as f64;
        let prior = open * (self.first_length / KAPPA).powi(2);
        let squares: Vec<f64> = self
            .centre
            .iter()
            .enumerate()
            .map(|(k, c)| {
                let sum: f64 = self.elite.iter().map(|(_, x)| (x[k] - c).powi(2)).sum();
                (sum + prior) / (ELITE - 1) as f64
            })
            .collect();
        let floor = FLATTEST.powi(2) * squares.iter().copied().fold(0.0, f64::max);
        let counts = |k: usize| {
            !(settings.uses(Part::Faces) && is_on_face(self.centre[k]) && squares[k] <= floor)
        };
        let mut counted: Vec<f64> =
            (0..squares.len()).filter(|&k| counts(k)).map(|k| squares[k]).collect();
        if counted.is_empty() {
            counted = squares;
        }
        let logs = counted.iter().map(|square| 0.5 * square.max(floor).max(1e-16).ln());
        let mean = logs.sum::<f64>() / counted.len() as f64;
        (KAPPA * mean.exp()).clamp(LEAST, WIDEST)
    }

    /// The curvature of a quadratic with the coordinates on a face cut loose: across a face there is no valley to follow.
    fn free_hessian(&self, jump: &Jump, settings: &Auto) -> Vec<f64> {
        let dim = self.centre.len();
        let mut hessian = jump.hessian().to_vec();
        if !settings.uses(Part::Faces) {
            return hessian;
        }
        let logs = (0..dim).map(|k| hessian[k * dim + k].abs().max(1e-12).ln());
        let typical = (logs.sum::<f64>() / dim as f64).exp();
        for k in (0..dim).filter(|&k| is_on_face(self.centre[k])) {
            for j in 0..dim {
                hessian[k * dim + j] = 0.0;
                hessian[j * dim + k] = 0.0;
            }
            hessian[k * dim + k] = typical;
        }
        hessian
    }

    /// Forgets what was learnt from fits.
    pub(super) fn forget(&mut self) {
        self.learnt = None;
    }

    /// Fits the hyper-parameters further, from the priors if nothing was learnt.
    pub(super) fn learn(&mut self, history: &History, settings: &Auto) -> Result<()> {
        self.learnt = Some(self.fitted(history, settings)?);
        Ok(())
    }

    fn fitted(&self, history: &History, settings: &Auto) -> Result<Learnt> {
        let Neighbourhood { trials, targets } = self.neighbourhood(history, settings);
        let (dim, prior) = (self.centre.len(), self.prior());
        let shape = self.shape(settings);
        let (mut learnt, steps) = match self.learnt.clone() {
            Some(learnt) => (learnt, STEPS[1]),
            None => {
                let hyper_parameters = HyperParameters::new(dim, prior);
                (Learnt { hyper_parameters, metric: None, fits: 0, jump: None }, STEPS[0])
            }
        };
        let enter = |metric: &Option<Metric>| {
            let frame = Frame::new(self.centre.clone(), metric.clone());
            frame.enter_all(trials.iter().map(|&i| history.points().row(i)))
        };
        let points = enter(&learnt.metric);
        let before = learnt.hyper_parameters.improve(&shape, &points, &targets, prior, steps)?;
        learnt.jump = None;
        let turns = settings.uses(Part::Turning)
            && learnt.fits.is_multiple_of(TURN_EVERY)
            && self.length < VALLEY
            && dim > 1
            && points.len() > 2 * dim;
        let rounds = settings.uses(Part::Hessian) && dim > 1;
        learnt.fits += 1;
        if !turns && !rounds {
            return Ok(learnt);
        }
        let model = LocalModel::fit(&learnt.hyper_parameters, &shape, &points, &targets)?;
        if rounds && model.noise_share() <= EVIDENT {
            let jump = self.fit_jump(history, settings);
            let metric = jump.as_ref().filter(|jump| jump.describes(dim));
            let metric =
                metric.and_then(|jump| Metric::rounding(&self.free_hessian(jump, settings), dim));
            learnt.jump = jump.map(|jump| (history.len(), jump));
            if metric.is_some() {
                let mut rounded = learnt.hyper_parameters.clone();
                rounded.level();
                let points = enter(&metric);
                let after = rounded.improve(&shape, &points, &targets, prior, STEPS[2])?;
                if after > before {
                    learnt.metric = metric;
                    learnt.hyper_parameters = rounded;
                    return Ok(learnt);
                }
            }
        }
        if turns {
            let scales: Vec<f64> = learnt.hyper_parameters.scales().collect();
            let outer = model.gradient_outer();
            if let Some(metric) = Metric::turned(learnt.metric.as_ref(), &scales, &outer) {
                learnt.metric = Some(metric);
                learnt.hyper_parameters.level();
                let points = enter(&learnt.metric);
                learnt.hyper_parameters.improve(&shape, &points, &targets, prior, STEPS[2])?;
            }
        }
        Ok(learnt)
    }

    /// The quadratic of the best trials near by, of the last fit if no trial came since.
    pub(super) fn jump(&self, history: &History, settings: &Auto) -> Option<Jump> {
        let kept = self.learnt.as_ref().and_then(|learnt| learnt.jump.as_ref());
        match kept {
            Some((trials, jump)) if *trials == history.len() => Some(jump.clone()),
            _ => self.fit_jump(history, settings),
        }
    }

    fn fit_jump(&self, history: &History, settings: &Auto) -> Option<Jump> {
        let mut trials = self.nearest(jump::wanted(self.centre.len()), history);
        if self.first_length < WIDEST {
            // An explorer's valley is its box: beyond are other basins.
            let near =
                |x: &[f64]| x.iter().zip(&self.centre).all(|(x, c)| (x - c).abs() <= self.length);
            trials.retain(|&i| near(history.points().row(i)));
        }
        let (points, values) = self.told(&trials, history);
        Jump::fit(&points, &values, settings.uses(Part::Quartic))
    }

    /// The local step from the centre.
    pub(super) fn local_step(&self, radius: Radius, history: &History) -> Option<Vec<f64>> {
        let distance = |x: &[f64]| squared_distance(x, &self.centre);
        let trials = self.cloud.nearest(local_step::wanted(self.centre.len()), distance, history);
        let (points, values) = self.told(&trials, history);
        local_step::target(&points, &values, &self.centre, self.best(), radius)
    }

    /// Points and values of some trials that have one.
    fn told(&self, trials: &[usize], history: &History) -> (Points, Vec<f64>) {
        let row = |&i: &usize| history.points().row(i);
        let points = Points::from_rows(self.centre.len(), trials.iter().map(row));
        (points, trials.iter().filter_map(|&i| history.objective().value(i)).collect())
    }

    fn shape(&self, settings: &Auto) -> Shape {
        let dim = self.centre.len();
        let wide = self.length >= VALLEY && dim > 1 && settings.uses(Part::Sum);
        Shape { group: (0..dim).collect(), additive: if wide { ADDITIVE } else { 0.0 } }
    }

    /// Length scales of the order of the box's diagonal, and little noise.
    fn prior(&self) -> Prior {
        let middle = 0.7 * (self.centre.len() as f64).sqrt() * self.length;
        Prior { log_scale: (middle.ln(), 0.5), log_noise: (1e-4_f64.ln(), 4.0) }
    }

    /// The trials nearest to the centre, in the metric of what was learnt.
    fn nearest(&self, count: usize, history: &History) -> Vec<usize> {
        let metric = self.learnt.as_ref().and_then(|learnt| learnt.metric.clone());
        let frame = Frame::new(self.centre.clone(), metric);
        let widths = widths(self.learnt.as_ref(), self.centre.len());
        let mut u = vec![0.0; self.centre.len()];
        let distance = |x: &[f64]| -> f64 {
            frame.enter_into(x, &mut u);
            u.iter().zip(&widths).map(|(u, w)| (u / w) * (u / w)).sum()
        };
        self.cloud.nearest(count, distance, history)
    }

    /// The trials that a fit sees.
    fn neighbourhood(&self, history: &History, settings: &Auto) -> Neighbourhood {
        let trials = self.nearest((100 + 3 * self.centre.len()).min(160), history);
        let values: Vec<f64> =
            trials.iter().filter_map(|&i| history.objective().value(i)).collect();
        let targets = match settings.uses(Part::Thresholds) {
            true if self.length < VALLEY => target::winsorised(&values),
            true => target::compressed(&values),
            false => target::labels(&values),
        };
        Neighbourhood { trials, targets }
    }

    /// The trial near by with the best posterior mean; `None` where noise is not evident.
    pub(super) fn recommend(&self, history: &History, settings: &Auto) -> Result<Option<usize>> {
        let Learnt { hyper_parameters, metric, .. } = self.learnt(history, settings)?;
        let Neighbourhood { trials, targets } = self.neighbourhood(history, settings);
        let frame = Frame::new(self.centre.clone(), metric);
        let shape = self.shape(settings);
        let points = frame.enter_all(trials.iter().map(|&i| history.points().row(i)));
        let model = LocalModel::fit(&hyper_parameters, &shape, &points, &targets)?;
        let noisy = model.noise_share() > EVIDENT;
        Ok(model.best_of(&points).filter(|_| noisy).map(|place| trials[place]))
    }

    fn learnt(&self, history: &History, settings: &Auto) -> Result<Learnt> {
        match &self.learnt {
            Some(learnt) => Ok(learnt.clone()),
            None => self.fitted(history, settings),
        }
    }

    /// The model at hand, with its box.
    pub(super) fn patch(
        &self,
        history: &History,
        failed: &Cloud,
        settings: &Auto,
    ) -> Result<Patch> {
        let Learnt { hyper_parameters, metric, .. } = self.learnt(history, settings)?;
        let Neighbourhood { trials, targets } = self.neighbourhood(history, settings);
        let frame = Frame::new(self.centre.clone(), metric);
        let shape = self.shape(settings);
        let row = |&i: &usize| history.points().row(i);
        let points = frame.enter_all(trials.iter().map(row));
        let model = LocalModel::fit(&hyper_parameters, &shape, &points, &targets)?;

        let mut centre = (f64::NEG_INFINITY, vec![0.0; self.centre.len()]);
        if model.noise_share() > NOISY && settings.uses(Part::Smoothing) {
            for (_, x) in &self.elite {
                let u = frame.enter(x);
                let mean = model.posterior.mean(&model.weights, &u);
                if mean > centre.0 {
                    centre = (mean, u);
                }
            }
        }
        let failed = match settings.uses(Part::Feasibility) {
            true => failed.nearest(FAILED, |x| squared_distance(x, &self.centre), history),
            false => Vec::new(),
        };
        let failed = frame.enter_all(failed.iter().map(row));
        let feasibility = Feasibility::fit(&failed, &points, model.posterior.kernel())?;
        let floor = targets.iter().copied().fold(f64::INFINITY, f64::min) - model.mean;
        let widths = relative(&hyper_parameters.scales().collect::<Vec<_>>());
        let half_widths = widths.iter().map(|w| 0.5 * self.length * w).collect();
        Ok(Patch { model, frame, centre: centre.1, half_widths, feasibility, floor })
    }
}

impl Region {
    /// What its model expects of each point, where `best` is the best value known.
    pub(super) fn forecasts(
        &self,
        history: &History,
        failed: &Cloud,
        settings: &Auto,
        best: f64,
        at: &Points,
    ) -> Result<Vec<Forecast>> {
        let Patch { model, frame, feasibility, .. } = self.patch(history, failed, settings)?;
        let Neighbourhood { trials, targets } = self.neighbourhood(history, settings);
        let values: Vec<f64> =
            trials.iter().filter_map(|&i| history.objective().value(i)).collect();
        let scale = Scale::new(&targets, &values);
        let forecast = |x: &[f64]| {
            let u = frame.enter(x);
            expectation::forecast(&model, &scale, &u, best, feasibility.probability(&u))
        };
        Ok(at.rows().map(forecast).collect())
    }
}

/// Trials and their targets.
struct Neighbourhood {
    trials: Vec<usize>,
    targets: Vec<f64>,
}

/// Whether a coordinate is on a face of the cube.
fn is_on_face(x: f64) -> bool {
    x <= 0.0 || x >= 1.0
}

/// The relative widths of the box; all 1 while nothing is learnt.
fn widths(learnt: Option<&Learnt>, dim: usize) -> Vec<f64> {
    match learnt {
        Some(learnt) => relative(&learnt.hyper_parameters.scales().collect::<Vec<_>>()),
        None => vec![1.0; dim],
    }
}

/// Length scales over their geometric mean.
fn relative(scales: &[f64]) -> Vec<f64> {
    let mean = (scales.iter().map(|l| l.ln()).sum::<f64>() / scales.len() as f64).exp();
    scales.iter().map(|l| (l / mean).clamp(WIDTHS.0, WIDTHS.1)).collect()
}

/// A model and the box, in the coordinates of a frame, in which it is believed.
#[derive(Debug, Clone)]
pub(super) struct Patch {
    pub(super) model: LocalModel,
    pub(super) frame: Frame,
    /// The centre of the box.
    pub(super) centre: Vec<f64>,
    pub(super) half_widths: Vec<f64>,
    pub(super) feasibility: Feasibility,
    /// The least target, as the posterior has it: what a point that fails counts as.
    pub(super) floor: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;
    use crate::seed::{Seed, uniform};

    fn region() -> Region {
        Region::new(vec![0.5; 3], None, 0.4, Cloud::default())
    }

    #[test]
    fn the_length_follows_the_spread_of_the_best() {
        let settings = Auto::default();
        let mut region = region();
        let mut rng = Seed(1).stream("region", 0);
        let mut tell = |region: &mut Region, size: f64, value: f64| {
            let x: Vec<f64> = (0..3).map(|_| 0.5 + size * (uniform(&mut rng) - 0.5)).collect();
            region.tell(&x, value, &settings);
        };
        (0..20).for_each(|i| tell(&mut region, 0.4, 10.0 + f64::from(i)));
        assert!((0.1..=WIDEST).contains(&region.length()), "{}", region.length());
        // Better trials ten times closer together.
        (0..6).for_each(|i| tell(&mut region, 0.04, f64::from(i)));
        assert!((0.01..0.12).contains(&region.length()), "{}", region.length());
        let before = region.length();
        // Worse ones change nothing; a much better one far away widens the box.
        (0..50).for_each(|_| tell(&mut region, 0.4, 50.0));
        assert_eq!(region.length(), before);
        region.tell(&[0.8, 0.2, 0.9], -1.0, &settings);
        assert!(region.length() > 3.0 * before);
        assert_eq!((region.best(), region.centre()), (-1.0, &[0.8, 0.2, 0.9][..]));
    }

    #[test]
    fn a_coordinate_that_has_arrived_at_a_face_does_not_shrink_the_others() {
        let length = |settings: &Auto| {
            let mut region = Region::new(vec![0.5; 10], None, 0.4, Cloud::default());
            let mut rng = Seed(4).stream("face", 0);
            for i in 0..20 {
                // Eight coordinates are on a face; two are still wide apart.
                let mut x = vec![1.0; 10];
                x[0] = 0.5 + 0.2 * (uniform(&mut rng) - 0.5);
                x[1] = 0.5 + 0.2 * (uniform(&mut rng) - 0.5);
                region.tell(&x, f64::from(i), settings);
            }
            region.length()
        };
        assert!(length(&Auto::default()) > 0.1, "{}", length(&Auto::default()));
        assert!(length(&Auto::default().without(Part::Faces)) < 0.05);
    }

    #[test]
    fn noise_alone_does_not_shrink_a_region() {
        let settings = Auto::default();
        let mut region = region();
        let mut rng = Seed(2).stream("noise", 0);
        for _ in 0..1000 {
            let half = 0.5 * region.length();
            let x: Vec<f64> = region
                .centre()
                .iter()
                .map(|c| (c + half * (2.0 * uniform(&mut rng) - 1.0)).clamp(0.0, 1.0))
                .collect();
            let value = uniform(&mut rng);
            region.tell(&x, value, &settings);
        }
        assert!(region.length() > 0.1, "{}", region.length());
    }

    #[test]
    fn under_noise_the_box_lies_about_the_best_mean_of_the_elite() {
        let settings = Auto::default();
        let (mut apart, mut history) = (0, History::new(2));
        let mut rng = Seed(7).stream("noise", 0);
        let mut region = Region::new(vec![0.5; 2], None, 0.4, Cloud::default());
        for trial in 0..60 {
            let x = [(); 2].map(|()| 0.3 + 0.4 * uniform(&mut rng));
            let value = x.iter().map(|x| (x - 0.4).powi(2)).sum::<f64>() + 0.05 * uniform(&mut rng);
            history.push(&x, Outcome::from(value)).unwrap();
            let centre = region.centre().to_vec();
            region.cloud.push(trial, &history, &centre);
            region.tell(&x, value, &settings);
            if trial < 20 || trial % 5 > 0 {
                continue;
            }
            region.learn(&history, &settings).unwrap();
            let patch = region.patch(&history, &Cloud::default(), &settings).unwrap();
            assert!(patch.model.noise_share() > NOISY);
            let mean = |u: &[f64]| patch.model.posterior.mean(&patch.model.weights, u);
            let means: Vec<f64> =
                region.elite.iter().map(|(_, x)| mean(&patch.frame.enter(x))).collect();
            let best = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(mean(&patch.centre), best, "{means:?}");
            apart += usize::from(means[0] < best);
        }
        assert!(apart > 0, "the lowest value is meant to be luck now and then");
    }
}
