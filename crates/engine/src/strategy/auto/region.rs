//! A trust region: where the search is, how far it dares to go, and what it has learnt.

use super::Tuning;
use super::cloud::Cloud;
use super::feasibility::Feasibility;
use super::frame::{Frame, Metric};
use super::local_model::{HyperParameters, LocalModel, Prior};
use super::target;
use crate::error::Result;
use crate::history::History;
use crate::points::{Points, squared_distance};

/// The length of a new main region.
pub(super) const WIDEST: f64 = 0.8;
/// The least length: beyond it the grid of real coordinates is near.
const LEAST: f64 = 1e-7;

/// A trust region.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) centre: Vec<f64>,
    /// The value at the centre; ∞ while it has none.
    pub(super) best: f64,
    pub(super) length: f64,
    elite: Vec<(f64, Vec<f64>)>,
    start_length: f64,
    pub(super) cloud: Cloud,
    learnt: Option<Learnt>,
}

/// What fits leave for the next.
#[derive(Debug, Clone)]
struct Learnt {
    hyper_parameters: HyperParameters,
    metric: Option<Metric>,
    fits: usize,
}

impl Region {
    pub(super) fn new(centre: Vec<f64>, best: f64, length: f64, cloud: Cloud) -> Self {
        let elite = if best.is_finite() { vec![(best, centre.clone())] } else { Vec::new() };
        Self { centre, best, length, elite, start_length: length, cloud, learnt: None }
    }

    /// How far a point is from the centre, in lengths: the largest of its coordinates.
    pub(super) fn distance(&self, x: &[f64]) -> f64 {
        let gaps = x.iter().zip(&self.centre).map(|(x, c)| (x - c).abs());
        gaps.fold(0.0, f64::max) / self.length
    }

    /// Learns what came of a trial of its own.
    pub(super) fn tell(&mut self, x: &[f64], value: f64, tuning: &Tuning) {
        let most = (tuning.elite + tuning.elite_dim * x.len() as f64).round() as usize;
        let place = self.elite.partition_point(|other| other.0 <= value);
        if place < most {
            self.elite.insert(place, (value, x.to_vec()));
            self.elite.truncate(most);
        }
        self.centre.clone_from(&self.elite[0].1);
        self.best = self.elite[0].0;
        let frame = Frame::new(self.centre.clone(), None);
        self.length = self.spread(&frame, &vec![0.0; x.len()], tuning);
    }

    /// The length of a box that just holds the elite, in the coordinates of `frame`. Places that are still open count as
    /// taken at the distance that the first length stands for.
    fn spread(&self, frame: &Frame, centre: &[f64], tuning: &Tuning) -> f64 {
        let dim = centre.len();
        let most = (tuning.elite + tuning.elite_dim * dim as f64).round();
        let prior = (most - self.elite.len() as f64) * (self.start_length / tuning.kappa).powi(2);
        let elite: Vec<Vec<f64>> = self.elite.iter().map(|member| frame.enter(&member.1)).collect();
        let squares: Vec<f64> = (0..dim)
            .map(|k| {
                let sum: f64 = elite.iter().map(|u| (u[k] - centre[k]).powi(2)).sum();
                (sum + prior) / (most - 1.0)
            })
            .collect();
        // On a face of the cube there is no spread across it.
        let floor = tuning.flattest.powi(2) * squares.iter().copied().fold(0.0, f64::max) + 1e-16;
        let mean = squares.iter().map(|s| 0.5 * s.max(floor).ln()).sum::<f64>() / dim as f64;
        (tuning.kappa * mean.exp()).clamp(LEAST, WIDEST)
    }

    /// Forgets what was learnt from fits.
    pub(super) fn forget(&mut self) {
        self.learnt = None;
    }

    /// Fits the hyper-parameters further, from the priors if nothing was learnt.
    pub(super) fn learn(&mut self, history: &History, tuning: &Tuning) -> Result<()> {
        let neighbourhood = self.neighbourhood(history);
        let dim = self.centre.len();
        let group: Vec<usize> = (0..dim).collect();
        let prior = self.prior();
        let (mut learnt, steps) = match self.learnt.take() {
            Some(learnt) => (learnt, tuning.steps),
            None => {
                let hyper_parameters = HyperParameters::new(dim, prior);
                (Learnt { hyper_parameters, metric: None, fits: 0 }, tuning.first_steps)
            }
        };
        let frame = Frame::new(self.centre.clone(), learnt.metric.clone());
        let points = frame.enter_all(neighbourhood.points(history));
        let targets = &neighbourhood.targets;
        learnt.hyper_parameters.improve(&group, &points, targets, prior, steps)?;
        let turns = tuning.turn_every > 0
            && learnt.fits % tuning.turn_every == 0
            && dim > 1
            && points.len() > 2 * dim
            && self.length < tuning.turn_below;
        learnt.fits += 1;
        if turns {
            let model = LocalModel::fit(&learnt.hyper_parameters, &group, &points, targets)?;
            let scales: Vec<f64> = learnt.hyper_parameters.scales().collect();
            let outer = model.gradient_outer();
            if let Some(metric) = Metric::turned(learnt.metric.as_ref(), &scales, &outer) {
                learnt.metric = Some(metric);
                learnt.hyper_parameters.level();
                let frame = Frame::new(self.centre.clone(), learnt.metric.clone());
                let points = frame.enter_all(neighbourhood.points(history));
                learnt.hyper_parameters.improve(
                    &group,
                    &points,
                    targets,
                    prior,
                    tuning.turn_steps,
                )?;
            }
        }
        self.learnt = Some(learnt);
        Ok(())
    }

    fn prior(&self) -> Prior {
        let middle = 0.7 * (self.centre.len() as f64).sqrt() * self.length.min(1.0);
        Prior { log_scale: (middle.ln(), 1.0), log_noise: (1e-4_f64.ln(), 4.0) }
    }

    /// The relative widths of the box: the length scales over their geometric mean.
    fn widths(&self) -> Vec<f64> {
        let Some(learnt) = &self.learnt else { return vec![1.0; self.centre.len()] };
        let scales: Vec<f64> = learnt.hyper_parameters.scales().collect();
        let mean = (scales.iter().map(|l| l.ln()).sum::<f64>() / scales.len() as f64).exp();
        scales.iter().map(|l| (l / mean).clamp(0.2, 5.0)).collect()
    }

    fn frame(&self) -> Frame {
        let metric = self.learnt.as_ref().and_then(|learnt| learnt.metric.clone());
        Frame::new(self.centre.clone(), metric)
    }

    fn neighbourhood(&self, history: &History) -> Neighbourhood {
        let dim = self.centre.len();
        let count = (100 + 3 * dim).min(160);
        let (frame, widths) = (self.frame(), self.widths());
        let distance = |x: &[f64]| -> f64 {
            frame.enter(x).iter().zip(&widths).map(|(u, w)| (u / w) * (u / w)).sum()
        };
        let trials = self.cloud.nearest(count, distance, history);
        let values: Vec<f64> =
            trials.iter().filter_map(|&i| history.outcomes()[i].value()).collect();
        Neighbourhood { trials, targets: target::winsorised(&values) }
    }

    /// The model at hand, with its box.
    pub(super) fn patch(
        &mut self,
        history: &History,
        failed: &Cloud,
        tuning: &Tuning,
    ) -> Result<Patch> {
        if self.learnt.is_none() {
            self.learn(history, tuning)?;
        }
        let neighbourhood = self.neighbourhood(history);
        let frame = self.frame();
        let distance = |x: &[f64]| squared_distance(x, &self.centre);
        let group: Vec<usize> = (0..self.centre.len()).collect();
        let points = frame.enter_all(neighbourhood.points(history));
        let Some(learnt) = &self.learnt else { unreachable!("learnt above") };
        let model =
            LocalModel::fit(&learnt.hyper_parameters, &group, &points, &neighbourhood.targets)?;
        // Where there is noise, the centre is where the model, not the luckiest value, is best.
        let mut centre = (f64::NEG_INFINITY, vec![0.0; self.centre.len()]);
        if learnt.hyper_parameters.noise() > tuning.noisy {
            for (_, x) in &self.elite {
                let u = frame.enter(x);
                let mean = model.mean_at(&u);
                if mean > centre.0 {
                    centre = (mean, u);
                }
            }
        }
        let centre = centre.1;
        let length = self.length;
        let half_widths = self.widths().iter().map(|w| 0.5 * length * w).collect();
        let failed =
            if tuning.feasibility { failed.nearest(64, distance, history) } else { Vec::new() };
        let failed = frame.enter_all(failed.iter().map(|&i| history.points().row(i)));
        let feasibility = Feasibility::fit(&failed, &points, model.posterior.kernel())?;
        let floor =
            neighbourhood.targets.iter().copied().fold(f64::INFINITY, f64::min) - model.mean;
        Ok(Patch { model, frame, centre, half_widths, feasibility, floor })
    }
}

/// The trials that a fit sees.
struct Neighbourhood {
    trials: Vec<usize>,
    targets: Vec<f64>,
}

impl Neighbourhood {
    fn points<'h>(&self, history: &'h History) -> impl Iterator<Item = &'h [f64]> {
        self.trials.iter().map(|&i| history.points().row(i))
    }
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
    /// The least target, as the posterior has it.
    pub(super) floor: f64,
}

impl Patch {
    pub(super) fn dim(&self) -> usize {
        self.half_widths.len()
    }

    pub(super) fn empty(&self) -> Points {
        Points::new(self.dim())
    }
}
