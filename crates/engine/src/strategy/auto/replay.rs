//! The state of the search as a function of history and seed: all trials, told one after another.
//!
//! - The first trial with a value opens *main*. Each trial falls to the region whose centre is nearer, whoever asked for
//!   it; what is far from both teaches neither.
//! - Once main is shorter than [`OPENS`], an *explorer* opens: at the best trial far from all known basins, or at random. It
//!   ends when it has settled, has come to a known basin or has found nothing better for [`PATIENCE`] trials; then another
//!   opens. When it is better than main the two change places.
//! - Regions fit their hyper-parameters further every [`EVERY`] trials. What fits carry from one to the next is forgotten every
//!   [`WINDOW`] trials, so that a process that starts anew fits only from there on and arrives at the same bits.
//!
//! Cost: O(d) a trial on average, and the fits of at most `WINDOW` trials.

use super::cloud::{Cloud, Thinned};
use super::consensus::{self, Consensus};
use super::local_step::Radius;
use super::region::{Region, WIDEST};
use super::{Auto, Part};
use crate::error::Result;
use crate::history::History;
use crate::points::squared_distance;
use crate::seed::{Seed, uniform};

/// Trials between two fits of a region.
pub(super) const EVERY: usize = 10;
/// Trials after which fits begin anew.
pub(super) const WINDOW: usize = 400;
/// The length of main at which an explorer opens.
const OPENS: f64 = 0.05;
/// The first length of an explorer, and the one at which it has settled.
const EXPLORER: (f64, f64) = (0.4, 0.02);
/// Trials, of whichever region, that an explorer may take to find something better than before.
const PATIENCE: usize = 100;
/// How often an explorer starts at a known trial rather than at random.
const AT_TRIAL: f64 = 0.8;
/// How far, in the largest difference of a coordinate, a start must be from known basins.
const APART: f64 = 0.15;
/// How near two centres are in one basin.
const SAME: f64 = 0.05;
/// How near two trials are so that only the better is kept as a start.
const NICHE: f64 = 0.05;
/// Trials after which a gain of main is no longer recent.
const LATELY: usize = 20;
/// Basins and starts that are remembered.
const MOST_BASINS: usize = 48;
const MOST_STARTS: usize = 128;

/// Regions, and what was seen besides.
#[derive(Debug, Clone, Default)]
pub(super) struct Replay {
    trials: usize,
    pub(super) main: Option<Region>,
    pub(super) explorer: Option<Region>,
    /// Trials without a value.
    pub(super) failed: Cloud,
    /// Where explorers began and ended.
    basins: Vec<Vec<f64>>,
    /// Where the present one began.
    began: Vec<f64>,
    /// The trial that opened it, or the last that was better than all before in it.
    improved: usize,
    /// Values and trials, best first, no two near each other.
    starts: Vec<(f64, usize)>,
    /// Values and trials, best first: those that agree on where to go when main is stuck.
    best: Vec<(f64, usize)>,
    restarts: u64,
    thinned: Thinned,
    /// The last trial at which main's best value fell.
    risen: usize,
    /// The radius of local steps about main's centre.
    pub(super) radius: Radius,
}

#[cfg(test)]
impl Replay {
    /// Two regions as of the end of a history of `trials` trials.
    pub(super) fn of(trials: usize, main: Region, explorer: Region) -> Self {
        Self { trials, main: Some(main), explorer: Some(explorer), ..Self::default() }
    }
}

impl Replay {
    /// How many trials have been read.
    pub(super) fn trials(&self) -> usize {
        self.trials
    }

    /// Whether main's best value fell lately.
    pub(super) fn is_gaining(&self) -> bool {
        self.trials.saturating_sub(self.risen) <= LATELY
    }

    /// What the best trials have in common, if main is wide and its best value has not fallen for long.
    pub(super) fn consensus(&self, history: &History) -> Option<Consensus> {
        let stuck = self.trials.saturating_sub(self.risen) > consensus::STUCK;
        let many = history.points().dim() >= consensus::FEWEST;
        (stuck && many && self.explorer.is_none()).then(|| Consensus::of(&self.best, history))
    }

    /// Reads history to its end.
    pub(super) fn advance(&mut self, history: &History, seed: Seed, settings: &Auto) -> Result<()> {
        let window = history.len() / WINDOW * WINDOW;
        while self.trials < history.len() {
            self.tell(self.trials, history, seed, settings);
            self.trials += 1;
            if self.trials.is_multiple_of(EVERY) && self.trials >= window {
                for region in [&mut self.main, &mut self.explorer].into_iter().flatten() {
                    if self.trials.is_multiple_of(WINDOW) {
                        region.forget();
                    }
                    region.learn(history, settings)?;
                }
            }
        }
        Ok(())
    }

    fn tell(&mut self, trial: usize, history: &History, seed: Seed, settings: &Auto) {
        let x = history.points().row(trial);
        let Some(value) = history.objective().value(trial) else {
            let centre = self.main.as_ref().map_or(x, Region::centre);
            self.failed.push(trial, history, centre);
            return;
        };
        self.thinned.push(trial);
        for region in [&mut self.main, &mut self.explorer].into_iter().flatten() {
            let centre = region.centre().to_vec();
            region.cloud.push(trial, history, &centre);
        }
        self.remember_start(x, value, trial, history);
        let place = self.best.partition_point(|other| other.0 <= value);
        if place < consensus::wanted(x.len()) {
            self.best.insert(place, (value, trial));
            self.best.truncate(consensus::wanted(x.len()));
        }
        let Some(main) = &mut self.main else {
            let mut cloud = Cloud::default();
            cloud.push(trial, history, x);
            self.main = Some(Region::new(x.to_vec(), Some(value), WIDEST, cloud));
            return;
        };
        match &mut self.explorer {
            Some(explorer) if gap(x, explorer.centre()) < gap(x, main.centre()) => {
                if gap(x, explorer.centre()) <= explorer.length() {
                    if value < explorer.best() {
                        self.improved = trial;
                    }
                    explorer.tell(x, value, settings);
                }
            }
            _ => {
                let better = value < main.best();
                if better {
                    self.risen = trial;
                }
                // The first trials open the search; they do not test the radius.
                if trial > x.len() {
                    self.radius.tell(squared_distance(x, main.centre()).sqrt(), better);
                }
                main.tell(x, value, settings);
            }
        }
        if settings.uses(Part::Explorer) {
            self.tend(trial, history, seed);
        }
    }

    /// Opens, closes and exchanges regions after a trial.
    fn tend(&mut self, trial: usize, history: &History, seed: Seed) {
        let Some(main) = &mut self.main else { return };
        if let Some(explorer) = &mut self.explorer {
            if explorer.best() < main.best() {
                std::mem::swap(main, explorer);
                self.risen = trial;
            }
            let near = |x: &[f64]| gap(explorer.centre(), x) < SAME;
            let known = explorer.best().is_finite()
                && (near(main.centre()) || self.basins.iter().any(|basin| near(basin)));
            let stuck = trial - self.improved > PATIENCE;
            if explorer.length() < EXPLORER.1 || known || stuck {
                let (began, ended) = (std::mem::take(&mut self.began), explorer.centre().to_vec());
                self.explorer = None;
                self.basins.extend([began, ended]);
                let surplus = self.basins.len().saturating_sub(MOST_BASINS);
                self.basins.drain(..surplus);
            }
        }
        if self.explorer.is_none() && self.main.as_ref().is_some_and(|main| main.length() < OPENS) {
            let explorer = self.start(history, seed);
            self.began = explorer.centre().to_vec();
            self.improved = trial;
            self.explorer = Some(explorer);
        }
    }

    /// A new explorer, away from what is known to be settled.
    fn start(&mut self, history: &History, seed: Seed) -> Region {
        let mut rng = seed.stream("auto-explorer", self.restarts);
        self.restarts += 1;
        let main = self.main.as_ref();
        let far = |x: &[f64]| {
            main.is_none_or(|main| gap(x, main.centre()) > APART)
                && self.basins.iter().all(|basin| gap(x, basin) > APART)
        };
        let clouds = [Some(self.thinned.cloud()), main.map(|main| &main.cloud)];
        let cloud = Cloud::join(clouds.into_iter().flatten());
        let best = self.starts.iter().find(|(_, i)| far(history.points().row(*i)));
        match best {
            Some(&(value, i)) if uniform(&mut rng) < AT_TRIAL => {
                let centre = history.points().row(i).to_vec();
                Region::new(centre, Some(value), EXPLORER.0, cloud)
            }
            _ => {
                let centre = (0..history.points().dim()).map(|_| uniform(&mut rng)).collect();
                Region::new(centre, None, EXPLORER.0, cloud)
            }
        }
    }

    /// Keeps the best trial of every small neighbourhood.
    fn remember_start(&mut self, x: &[f64], value: f64, trial: usize, history: &History) {
        let full = self.starts.len() >= MOST_STARTS;
        if full && self.starts.last().is_some_and(|last| last.0 <= value) {
            return;
        }
        let near = |i: usize| gap(x, history.points().row(i)) <= NICHE;
        if self.starts.iter().any(|&(other, i)| other <= value && near(i)) {
            return;
        }
        self.starts.retain(|&(_, i)| !near(i));
        let place = self.starts.partition_point(|start| start.0 <= value);
        self.starts.insert(place, (value, trial));
        self.starts.truncate(MOST_STARTS);
    }
}

/// The largest distance of two points in a coordinate.
fn gap(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::Outcome;

    /// Two wells, the deeper one at 0.8.
    fn history(trials: usize) -> History {
        let mut rng = Seed(3).stream("history", 0);
        let mut history = History::new(2);
        for i in 0..trials {
            let spread = 0.5 * 0.97_f64.powi(i as i32 % 150);
            let x = [(); 2].map(|()| (0.2 + spread * (uniform(&mut rng) - 0.3)).clamp(0.0, 1.0));
            let well = |at: f64| x.iter().map(|x| (x - at).powi(2)).sum::<f64>();
            let outcome = match i % 17 {
                0 => Outcome::failed(),
                _ => Outcome::from(well(0.2).min(well(0.8) - 0.1)),
            };
            history.push(&x, outcome).unwrap();
        }
        history
    }

    #[test]
    fn reading_at_once_and_in_parts_gives_the_same_state() {
        let history = history(870);
        let settings = Auto::default();
        let mut at_once = Replay::default();
        at_once.advance(&history, Seed(1), &settings).unwrap();
        let mut in_parts = Replay::default();
        let mut part = History::new(2);
        for (i, x) in history.points().rows().enumerate() {
            part.push(x, history.outcome(i)).unwrap();
            if i.is_multiple_of(7) || i + 1 == history.len() {
                in_parts.advance(&part, Seed(1), &settings).unwrap();
            }
        }
        assert!(at_once.explorer.is_some(), "the history is meant to open an explorer");
        assert_eq!(format!("{at_once:?}"), format!("{in_parts:?}"));
    }

    #[test]
    fn an_explorer_that_finds_nothing_for_long_makes_room_for_another() {
        let settings = Auto::default();
        let mut history = history(160);
        let mut replay = Replay::default();
        replay.advance(&history, Seed(1), &settings).unwrap();
        // Trials at main's centre alone: none falls to the explorer.
        let mut rng = Seed(5).stream("main", 0);
        let mut lives = Vec::new();
        for _ in 0..3 * PATIENCE {
            let restarts = replay.restarts;
            let centre = replay.main.as_ref().unwrap().centre().to_vec();
            let x: Vec<f64> = centre.iter().map(|c| c + 1e-4 * (uniform(&mut rng) - 0.5)).collect();
            history.push(&x, Outcome::from(10.0)).unwrap();
            replay.advance(&history, Seed(1), &settings).unwrap();
            if replay.restarts > restarts {
                lives.push(history.len());
            }
        }
        assert!(replay.explorer.is_some(), "another opens at once");
        assert!(lives.len() >= 2, "{lives:?}");
        assert!(lives.windows(2).all(|pair| pair[1] - pair[0] == PATIENCE + 1), "{lives:?}");
    }
}
