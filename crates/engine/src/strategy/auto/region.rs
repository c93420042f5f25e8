//! A trust region: where the search is, how far it dares to go, and what it has learnt.

use super::Tuning;
use super::cloud::Cloud;
use super::frame::{Axes, Frame};
use super::local_model::{HyperParameters, LocalModel, Prior};
use super::target;
use crate::error::Result;
use crate::history::History;
use crate::points::Points;

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
    successes: u32,
    failures: u32,
    pub(super) cloud: Cloud,
    learnt: Option<Learnt>,
}

/// What fits leave for the next.
#[derive(Debug, Clone)]
struct Learnt {
    hyper_parameters: HyperParameters,
    axes: Option<Axes>,
}

impl Region {
    pub(super) fn new(centre: Vec<f64>, best: f64, length: f64, cloud: Cloud) -> Self {
        Self { centre, best, length, successes: 0, failures: 0, cloud, learnt: None }
    }

    /// How far a point is from the centre, in lengths: the largest of its coordinates.
    pub(super) fn distance(&self, x: &[f64]) -> f64 {
        let gaps = x.iter().zip(&self.centre).map(|(x, c)| (x - c).abs());
        gaps.fold(0.0, f64::max) / self.length
    }

    /// Learns what came of a trial of its own.
    pub(super) fn tell(&mut self, x: &[f64], value: f64, tuning: &Tuning) {
        if value < self.best {
            let way = self.distance(x);
            self.failures = 0;
            if self.best.is_finite() {
                self.successes += 1;
                if way < tuning.short_move {
                    self.length *= 0.5;
                    self.successes = 0;
                } else if way > tuning.long_move && self.successes >= 2 {
                    self.length *= 2.0;
                    self.successes = 0;
                }
            }
            self.centre = x.to_vec();
            self.best = value;
        } else {
            self.successes = 0;
            self.failures += 1;
            if self.failures >= tuning.failures {
                self.failures = 0;
                self.length *= 0.5;
            }
        }
        self.length = self.length.clamp(LEAST, WIDEST);
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
                (Learnt { hyper_parameters, axes: None }, tuning.first_steps)
            }
        };
        let frame = Frame::new(self.centre.clone(), learnt.axes.clone());
        let points = frame.enter_all(neighbourhood.points(history));
        learnt.hyper_parameters.improve(&group, &points, &neighbourhood.targets, prior, steps)?;
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
        let axes = self.learnt.as_ref().and_then(|learnt| learnt.axes.clone());
        Frame::new(self.centre.clone(), axes)
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
    pub(super) fn patch(&mut self, history: &History, tuning: &Tuning) -> Result<Patch> {
        if self.learnt.is_none() {
            self.learn(history, tuning)?;
        }
        let neighbourhood = self.neighbourhood(history);
        let frame = self.frame();
        let group: Vec<usize> = (0..self.centre.len()).collect();
        let points = frame.enter_all(neighbourhood.points(history));
        let Some(learnt) = &self.learnt else { unreachable!("learnt above") };
        let model =
            LocalModel::fit(&learnt.hyper_parameters, &group, &points, &neighbourhood.targets)?;
        let half_widths = self.widths().iter().map(|w| 0.5 * self.length * w).collect();
        Ok(Patch { model, frame, half_widths })
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
    pub(super) half_widths: Vec<f64>,
}

impl Patch {
    pub(super) fn dim(&self) -> usize {
        self.half_widths.len()
    }

    pub(super) fn empty(&self) -> Points {
        Points::new(self.dim())
    }
}
