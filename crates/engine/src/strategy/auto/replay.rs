//! The state of the search as a function of history and seed: all trials, told one after another.

use super::Tuning;
use super::cloud::{Cloud, Thinned};
use super::region::{Region, WIDEST};
use crate::error::Result;
use crate::history::History;
use crate::seed::{Seed, below, uniform};

/// Regions learn whenever so many more trials have been told.
const EVERY: usize = 10;
/// What fits leave for the next is forgotten whenever so many more trials have been told: a process that starts anew
/// need only fit from there on.
const WINDOW: usize = 400;
/// Basins that are remembered.
const MOST_BASINS: usize = 48;
/// Good trials outside of the known basins that are remembered.
const MOST_STARTS: usize = 128;

/// Regions, and what was seen besides.
#[derive(Debug, Clone, Default)]
pub(super) struct Replay {
    trials: usize,
    pub(super) main: Option<Region>,
    pub(super) explorer: Option<Region>,
    basins: Vec<Vec<f64>>,
    /// Indices and values, best first.
    starts: Vec<(f64, usize)>,
    restarts: u64,
    /// Where the present explorer began.
    began: Vec<f64>,
    thinned: Thinned,
    /// Trials without a value.
    pub(super) failed: Cloud,
}

impl Replay {
    pub(super) fn trials(&self) -> usize {
        self.trials
    }

    /// Reads history to its end.
    pub(super) fn advance(&mut self, history: &History, seed: Seed, tuning: &Tuning) -> Result<()> {
        let window = history.len() / WINDOW * WINDOW;
        while self.trials < history.len() {
            self.tell(self.trials, history, seed, tuning);
            self.trials += 1;
            if self.trials % EVERY == 0 && self.trials >= window {
                for region in [&mut self.main, &mut self.explorer].into_iter().flatten() {
                    if self.trials % WINDOW == 0 {
                        region.forget();
                    }
                    region.learn(history, tuning)?;
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, trial: usize, history: &History, seed: Seed, tuning: &Tuning) {
        let x = history.points().row(trial);
        let Some(value) = history.outcomes()[trial].value() else {
            let centre = self.main.as_ref().map_or(x, |main| &main.centre);
            self.failed.push(trial, history, centre);
            return;
        };
        self.thinned.push(trial);
        for region in [&mut self.main, &mut self.explorer].into_iter().flatten() {
            region.cloud.push(trial, history, &region.centre);
        }
        self.remember_start(x, value, trial, history, tuning);
        let Some(main) = &mut self.main else {
            let mut cloud = Cloud::default();
            cloud.push(trial, history, x);
            self.main = Some(Region::new(x.to_vec(), value, WIDEST, cloud));
            return;
        };
        // To the nearer of the two; what is far from both teaches neither.
        match &mut self.explorer {
            Some(explorer) if gap(x, &explorer.centre) < gap(x, &main.centre) => {
                if explorer.distance(x) <= tuning.reach {
                    explorer.tell(x, value, tuning);
                }
            }
            _ => main.tell(x, value, tuning),
        }
        self.tend(history, seed, tuning);
    }

    /// Opens, closes and exchanges regions.
    fn tend(&mut self, history: &History, seed: Seed, tuning: &Tuning) {
        let Some(main) = &mut self.main else { return };
        if let Some(explorer) = &mut self.explorer {
            if explorer.best < main.best {
                std::mem::swap(main, explorer);
            }
            let near = |x: &[f64]| gap(&explorer.centre, x) < tuning.same;
            let known = explorer.best.is_finite()
                && (near(&main.centre) || self.basins.iter().any(|basin| near(basin)));
            if explorer.length < tuning.explorer_least || known {
                let centre = explorer.centre.clone();
                self.explorer = None;
                let began = std::mem::take(&mut self.began);
                self.remember_basin(began);
                self.remember_basin(centre);
            }
        }
        let Some(main) = &self.main else { return };
        if self.explorer.is_none() && main.length < tuning.explorer_opens && tuning.explorer {
            let explorer = self.start(history, seed, tuning);
            self.began.clone_from(&explorer.centre);
            self.explorer = Some(explorer);
        }
    }

    /// A new region where little is known to be settled.
    fn start(&mut self, history: &History, seed: Seed, tuning: &Tuning) -> Region {
        let mut rng = seed.stream("auto-explorer", self.restarts);
        self.restarts += 1;
        let main = self.main.as_ref();
        let far = |x: &[f64]| {
            main.is_none_or(|main| gap(x, &main.centre) > tuning.apart)
                && self.basins.iter().all(|basin| gap(x, basin) > tuning.apart)
        };
        let best = self.starts.iter().find(|(_, i)| far(history.points().row(*i))).copied();
        let clouds = [Some(self.thinned.cloud()), main.map(|region| &region.cloud)];
        let cloud = Cloud::join(clouds.into_iter().flatten());
        let dim = history.points().dim();
        match best {
            Some((value, i)) if uniform(&mut rng) < tuning.from_start => {
                Region::new(history.points().row(i).to_vec(), value, tuning.explorer_length, cloud)
            }
            _ => {
                let mut centre: Vec<f64> = (0..dim).map(|_| uniform(&mut rng)).collect();
                for _ in 0..16 {
                    if far(&centre) {
                        break;
                    }
                    let k = below(&mut rng, dim);
                    centre[k] = uniform(&mut rng);
                }
                Region::new(centre, f64::INFINITY, tuning.explorer_length, cloud)
            }
        }
    }

    /// Keeps the best trial of every small neighbourhood.
    fn remember_start(
        &mut self,
        x: &[f64],
        value: f64,
        trial: usize,
        history: &History,
        tuning: &Tuning,
    ) {
        let full = self.starts.len() >= MOST_STARTS;
        if full && self.starts.last().is_some_and(|last| last.0 <= value) {
            return;
        }
        let near = |other: &[f64]| gap(x, other) <= tuning.niche;
        if self.starts.iter().any(|&(v, i)| v <= value && near(history.points().row(i))) {
            return;
        }
        self.starts.retain(|&(_, i)| !near(history.points().row(i)));
        let place = self.starts.partition_point(|start| start.0 <= value);
        self.starts.insert(place, (value, trial));
        self.starts.truncate(MOST_STARTS);
    }

    fn remember_basin(&mut self, centre: Vec<f64>) {
        self.basins.push(centre);
        if self.basins.len() > MOST_BASINS {
            self.basins.remove(0);
        }
    }
}

/// The largest distance of two points in a coordinate.
fn gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
