//! The surrogate of LCBench at every epoch.
//!
//! ```text
//! one objective:   score = (lowest validation error seen - lowest of the sample) / (median of the sample - lowest of the sample)
//! two objectives:  score = 1 - hypervolume of the whole trainings / hypervolume of the sample
//! ```
//! The hypervolume has the lowest of the sample scaled to 0 and its median to 1 in each objective, and ends at the medians.
//! The sample is [`SAMPLE`] random configurations, always the same, each trained to the end. A search may find more than the sample: its score is
//! then below 0.

use wimble::pareto;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};

use super::{Bench, Seen, Training};
use crate::data::Folder;
use crate::data::lcbench::{EPOCHS, Surrogate, Tuning};
use crate::error::Result;
use crate::objective::Objective as _;

/// The tasks, with their numbers at OpenML.
pub(in super::super) const TASKS: [(&str, u32); 6] = [
    ("lcbench-3945", 3945),
    ("lcbench-7593", 7593),
    ("lcbench-34539", 34539),
    ("lcbench-126025", 126_025),
    ("lcbench-168868", 168_868),
    ("lcbench-189908", 189_908),
];
/// Configurations of the sample.
pub(in super::super) const SAMPLE: usize = 2000;

/// A task.
pub(in super::super) struct Networks {
    tuning: Tuning,
    space: SearchSpace,
    /// Whether the seconds of a training are the second objective.
    pair: bool,
    /// The lowest and the median of the sample, of the error and of the seconds.
    lowest: [f64; 2],
    median: [f64; 2],
    /// The hypervolume of the sample.
    hypervolume: f64,
}

impl Networks {
    pub(in super::super) fn read(data: &Folder, task: usize, pair: bool) -> Result<Self> {
        let tuning = Surrogate::read(data)?.tuning(TASKS[task].1, 0.0)?;
        let space = tuning.space()?;
        let mut rng = Seed(0).stream("sample of LCBench's curves", 0);
        let mut sample = Points::with_capacity(2, SAMPLE);
        for _ in 0..SAMPLE {
            sample.push(&tuning.costs(&space.decode(&space.sample(&mut rng)))?);
        }
        let sorted = |objective: usize| {
            let mut values: Vec<f64> = sample.rows().map(|row| row[objective]).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let sorted = [sorted(0), sorted(1)];
        let (lowest, median) =
            ([sorted[0][0], sorted[1][0]], [sorted[0][SAMPLE / 2], sorted[1][SAMPLE / 2]]);
        let mut bench = Self { tuning, space, pair, lowest, median, hypervolume: 1.0 };
        bench.hypervolume = bench.volume(&sample)?;
        Ok(bench)
    }

    fn volume(&self, whole: &Points) -> Result<f64> {
        let scaled = |row: &[f64]| -> Vec<f64> {
            (0..2).map(|i| (row[i] - self.lowest[i]) / (self.median[i] - self.lowest[i])).collect()
        };
        let scaled = Points::from_rows(2, whole.rows().map(scaled));
        let rng = &mut Seed(0).stream("hypervolume of trainings", 0);
        Ok(pareto::hypervolume(&scaled, &[1.0; 2], rng)?.value)
    }
}

impl Bench for Networks {
    fn space(&self) -> &SearchSpace {
        &self.space
    }

    fn high(&self) -> usize {
        EPOCHS as usize
    }

    fn objectives(&self) -> &'static [&'static str] {
        if self.pair { &["error", "seconds"] } else { &["error"] }
    }

    fn begin<'b>(
        &'b self,
        configuration: &Configuration,
        _: Seed,
    ) -> Result<Box<dyn Training + 'b>> {
        Ok(Box::new(Network { bench: self, configuration: configuration.clone(), done: 0 }))
    }

    fn score(&self, seen: &Seen) -> Result<f64> {
        if self.pair {
            return Ok(1.0 - self.volume(&seen.whole)? / self.hypervolume);
        }
        Ok((seen.lowest - self.lowest[0]) / (self.median[0] - self.lowest[0]))
    }

    fn end(&self, configuration: &Configuration) -> Result<Option<f64>> {
        Ok(if self.pair { None } else { Some(self.tuning.costs(configuration)?[0]) })
    }
}

struct Network<'n> {
    bench: &'n Networks,
    configuration: Configuration,
    done: usize,
}

impl Training for Network<'_> {
    fn next(&mut self) -> Result<Option<Vec<f64>>> {
        self.done += 1;
        let costs = self.bench.tuning.costs_after(&self.configuration, self.done as f64)?;
        Ok(Some(costs[..self.bench.objectives().len()].to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::real_data;

    #[test]
    fn curves_fall_take_longer_and_end_at_the_whole_training() {
        let Some(folder) = real_data() else { return };
        let bench = Networks::read(&folder, 0, true).unwrap();
        let mut rng = Seed(1).stream("test", 0);
        let (mut whole, mut falls) = (Points::new(2), 0);
        for _ in 0..30 {
            let configuration = bench.space.decode(&bench.space.sample(&mut rng));
            let mut training = bench.begin(&configuration, Seed(0)).unwrap();
            let curve: Vec<Vec<f64>> =
                (0..bench.high()).map(|_| training.next().unwrap().unwrap()).collect();
            assert_eq!(curve[51], bench.tuning.costs(&configuration).unwrap());
            assert!(curve[51][1] > 2.0 * curve[0][1], "{curve:?}");
            falls += usize::from(curve[51][0] < curve[0][0]);
            whole.push(&curve[51]);
        }
        assert!(falls > 20, "{falls}");
        // More trainings find more of the front, and never all of it by chance.
        let score = |count: usize| {
            let whole = Points::from_rows(2, whole.rows().take(count));
            bench.score(&Seen { lowest: f64::INFINITY, whole }).unwrap()
        };
        assert_eq!(score(0), 1.0);
        assert!(score(30) < score(3) && score(30) > 0.0, "{} {}", score(3), score(30));
        let single = Networks::read(&folder, 0, false).unwrap();
        let at = |lowest: f64| single.score(&Seen { lowest, whole: Points::new(1) }).unwrap();
        assert_eq!((at(single.lowest[0]), at(single.median[0])), (0.0, 1.0));
    }
}
