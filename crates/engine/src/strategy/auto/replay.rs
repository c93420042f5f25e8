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
const MOST_BASINS: usize = 24;
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
    thinned: Thinned,
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
        let Some(value) = history.outcomes()[trial].value() else { return };
        let x = history.points().row(trial);
        self.thinned.push(trial);
        for region in [&mut self.main, &mut self.explorer].into_iter().flatten() {
            region.cloud.push(trial, history, &region.centre);
        }
        self.remember_start(x, value, trial, tuning);
        let Some(main) = &mut self.main else {
            let mut cloud = Cloud::default();
            cloud.push(trial, history, x);
            self.main = Some(Region::new(x.to_vec(), value, WIDEST, cloud));
            return;
        };
        if trial < tuning.design {
            if value < main.best {
                main.centre = x.to_vec();
                main.best = value;
            }
            return;
        }
        let to_main = main.distance(x);
        let to_explorer = self.explorer.as_ref().map_or(f64::INFINITY, |region| region.distance(x));
        if to_main <= to_explorer {
            if to_main <= tuning.reach || value < main.best {
                main.tell(x, value, tuning);
            }
        } else if let Some(explorer) = &mut self.explorer
            && to_explorer <= tuning.reach
        {
            explorer.tell(x, value, tuning);
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
            let over = explorer.length < tuning.explorer_least
                || (explorer.best.is_finite() && main.distance(&explorer.centre) < 0.5);
            if over {
                let centre = explorer.centre.clone();
                self.explorer = None;
                self.remember_basin(centre, history, tuning);
            }
        }
        let Some(main) = &self.main else { return };
        if self.explorer.is_none() && main.length < tuning.explorer_opens && tuning.explorer {
            self.explorer = Some(self.start(history, seed, tuning));
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

    fn remember_start(&mut self, x: &[f64], value: f64, trial: usize, tuning: &Tuning) {
        let full = self.starts.len() >= MOST_STARTS;
        if full && self.starts.last().is_some_and(|last| last.0 <= value) {
            return;
        }
        if self.basins.iter().any(|basin| gap(x, basin) <= tuning.apart) {
            return;
        }
        let place = self.starts.partition_point(|start| start.0 <= value);
        self.starts.insert(place, (value, trial));
        self.starts.truncate(MOST_STARTS);
    }

    fn remember_basin(&mut self, centre: Vec<f64>, history: &History, tuning: &Tuning) {
        self.starts.retain(|(_, i)| gap(history.points().row(*i), &centre) > tuning.apart);
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
