//! Branches of a conditional space: the values of the dimensions that others depend on, each with a model of its own.
//!
//! Where a choice decides which other parameters exist, one model for all would see little of a branch whose first values are poor: they lie
//! above the common median, where targets are ranks alone. So each branch has its own trials, targets and hyper-parameters
//! (mixed.rs), and trials are shared out between them, one after another, pending ones counted:
//!
//! ```text
//! 1. a branch with fewer trials than n/B · min(1, 10 B/n)^½ is served, the one with the fewest first;
//! 2. otherwise the branch with the least   best - 2 (best of the first half of its trials - best).
//! ```
//!
//! By the first rule no branch starves: its part falls with the square root of the number of trials n only. The second extrapolates the gain of a
//! branch's later half: one that still improves is ahead of one that has settled at the same value.
//!
//! Spaces without conditions, with more than [`MOST`] branches or with a finite list are one branch. Branches that known
//! constraints rule out do not count.
//!
//! Cost: that of a model for each branch that is served.

use super::mixed::Mixed;
use super::{Auto, Part};
use crate::domain::Occupied;
use crate::error::Result;
use crate::forecast::Forecast;
use crate::history::History;
use crate::points::Points;
use crate::seed::{Rng, Seed, uniform};
use crate::space::{Dimension, SearchSpace};
use crate::strategy::Evidence;

/// Branches beyond which there are too few trials for each.
const MOST: u128 = 8;
/// Trials for each branch before some get less than an equal part.
const EQUAL: f64 = 10.0;
/// How far the gain of the later half is extrapolated.
const GAIN: f64 = 2.0;
/// Draws from the space, and from a branch, of which one must meet the known constraints for the branch to count.
const LEGAL_DRAWS: usize = 256;
/// Draws for a random point of a branch that meets the known constraints.
const SAMPLE_DRAWS: usize = 32;
/// Values without which a branch is sampled at random.
const FEWEST: usize = 2;

/// One branch: the coordinates of the dimensions that others depend on, and what they are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Branch {
    fixed: Vec<(usize, f64)>,
}

impl Branch {
    /// All branches of a space; `None` if it has one only, or too many.
    fn all(space: &SearchSpace) -> Option<Vec<Self>> {
        let dimensions = space.dimensions();
        let is_parent = |dimension: &Dimension| {
            let conditions = dimensions.iter().filter_map(|other| other.condition.as_ref());
            conditions.into_iter().any(|condition| condition.parent == dimension.name)
        };
        let parents: Vec<usize> =
            (0..dimensions.len()).filter(|&i| is_parent(&dimensions[i])).collect();
        if parents.is_empty() || space.candidates().is_some() {
            return None;
        }
        // Parents are discrete, and the parents of parents are among them: a space of its own, whose points are the branches.
        let choices = SearchSpace::new(parents.iter().map(|&i| dimensions[i].clone())).ok()?;
        let count = choices.cardinality().filter(|count| (2..=MOST).contains(count))?;
        let coordinates: Vec<usize> = parents.iter().flat_map(|&i| space.coordinates(i)).collect();
        let branch =
            |values: Vec<f64>| Self { fixed: coordinates.iter().copied().zip(values).collect() };
        let all: Vec<Self> =
            (0..count).map(|i| choices.nth(i).map(branch)).collect::<Option<_>>()?;
        if space.known_constraints().is_empty() {
            return Some(all);
        }
        let mut rng = Seed(0).stream("legal branches", 0);
        let drawn: Vec<Vec<f64>> = (0..LEGAL_DRAWS).map(|_| space.sample(&mut rng)).collect();
        let mut is_legal = |branch: &Self| {
            drawn.iter().any(|x| branch.holds(x))
                || (0..LEGAL_DRAWS).any(|_| space.meets_known(&branch.sample(space, &mut rng)))
        };
        let legal: Vec<Self> = all.into_iter().filter(|branch| is_legal(branch)).collect();
        (legal.len() > 1).then_some(legal)
    }

    /// Whether a legal point lies in it.
    pub(super) fn holds(&self, x: &[f64]) -> bool {
        self.fixed.iter().all(|&(k, value)| x[k] == value)
    }

    /// A point of it at random, which meets the known constraints if one of a few draws does.
    pub(super) fn sample(&self, space: &SearchSpace, rng: &mut Rng) -> Vec<f64> {
        let mut x = vec![0.0; space.dim()];
        for _ in 0..SAMPLE_DRAWS {
            x.fill_with(|| uniform(rng));
            self.fixed.iter().for_each(|&(k, value)| x[k] = value);
            space.snap(&mut x);
            if space.meets_known(&x) {
                break;
            }
        }
        x
    }
}

/// How the best value of a branch fell.
#[derive(Debug, Clone, Default, PartialEq)]
struct Descent {
    /// Trials told, with or without a value.
    told: usize,
    /// Values told.
    values: usize,
    /// Each value that was the best so far, with the number of values before it.
    bests: Vec<(usize, f64)>,
}

impl Descent {
    fn push(&mut self, value: Option<f64>) {
        self.told += 1;
        let Some(value) = value else { return };
        if self.bests.last().is_none_or(|best| value < best.1) {
            self.bests.push((self.values, value));
        }
        self.values += 1;
    }

    /// The best value, less twice what the later half of the values gained; -∞ without values.
    fn promise(&self) -> f64 {
        let Some(&(_, best)) = self.bests.last() else { return f64::NEG_INFINITY };
        let half = self.values.div_ceil(2);
        let early = self.bests.partition_point(|&(before, _)| before < half);
        let early = self.bests[early.max(1) - 1].1;
        best - GAIN * (early - best)
    }
}

/// The branches of a space, as a function of history.
#[derive(Debug, Clone)]
pub(super) struct Branches(Vec<Searched>);

#[derive(Debug, Clone)]
struct Searched {
    model: Mixed,
    branch: Option<Branch>,
    descent: Descent,
}

impl Branches {
    pub(super) fn new(space: &SearchSpace, settings: &Auto) -> Self {
        let branches = match settings.uses(Part::Branches) {
            true => Branch::all(space),
            false => None,
        };
        let searched = |branch: Option<Branch>| Searched {
            model: Mixed::new(space, branch.clone()),
            branch,
            descent: Descent::default(),
        };
        Self(match branches {
            Some(branches) => branches.into_iter().map(Some).map(searched).collect(),
            None => vec![searched(None)],
        })
    }

    /// How many trials have been read.
    pub(super) fn trials(&self) -> usize {
        self.0.first().map_or(0, |searched| searched.model.trials())
    }

    /// Reads history to its end.
    pub(super) fn advance(&mut self, history: &History, settings: &Auto) -> Result<()> {
        for searched in &mut self.0 {
            for trial in searched.model.trials()..history.len() {
                let x = history.points().row(trial);
                if searched.branch.as_ref().is_none_or(|branch| branch.holds(x)) {
                    searched.descent.push(history.objective().value(trial));
                }
            }
            searched.model.advance(history, settings)?;
        }
        Ok(())
    }

    /// The trial to keep, by the model of the branch with the lowest value; `None` where its noise is not evident.
    pub(super) fn recommend(&self, history: &History, settings: &Auto) -> Result<Option<usize>> {
        let least = |searched: &&Searched| {
            searched.descent.bests.last().map_or(f64::INFINITY, |best| best.1)
        };
        let best = self.0.iter().min_by(|a, b| least(a).total_cmp(&least(b)));
        match best.filter(|best| best.descent.values >= super::FEWEST) {
            Some(best) => best.model.recommend(history, settings),
            None => Ok(None),
        }
    }

    /// What the model of its branch expects of each point, where `best` is the best value known.
    pub(super) fn forecasts(
        &self,
        history: &History,
        settings: &Auto,
        best: f64,
        at: &Points,
    ) -> Result<Vec<Forecast>> {
        let mut forecasts = vec![Forecast::default(); at.len()];
        for searched in &self.0 {
            let holds = |x: &[f64]| searched.branch.as_ref().is_none_or(|branch| branch.holds(x));
            let places: Vec<usize> = (0..at.len()).filter(|&i| holds(at.row(i))).collect();
            let rows = places.iter().map(|&i| at.row(i));
            let found = searched.model.forecasts(history, settings, best, rows)?;
            places.iter().zip(found).for_each(|(&i, forecast)| forecasts[i] = forecast);
        }
        Ok(forecasts)
    }

    /// `count` free configurations.
    pub(super) fn choose(
        &self,
        evidence: Evidence<'_>,
        count: usize,
        settings: &Auto,
        occupied: &mut Occupied<'_>,
        rng: &mut Rng,
    ) -> Result<Points> {
        let mut chosen = Points::with_capacity(evidence.space.dim(), count);
        for (searched, share) in self.0.iter().zip(self.shares(evidence.pending, count)) {
            match &searched.branch {
                _ if share == 0 => {}
                Some(branch) if searched.descent.values < FEWEST => {
                    for _ in 0..share {
                        // A point that is taken gives way to a free one near it: the caller settles them.
                        let x = branch.sample(evidence.space, rng);
                        occupied.insert(&x);
                        chosen.push(&x);
                    }
                }
                _ => {
                    let picks = searched.model.choose(evidence, share, settings, occupied, rng)?;
                    chosen.extend(&picks);
                }
            }
        }
        Ok(chosen)
    }

    /// How many of the next `count` trials go to each branch.
    fn shares(&self, pending: &Points, count: usize) -> Vec<usize> {
        let waiting = |searched: &Searched| {
            let held = |x: &&[f64]| searched.branch.as_ref().is_none_or(|branch| branch.holds(x));
            pending.rows().filter(held).count()
        };
        let mut counts: Vec<usize> = self.0.iter().map(|s| s.descent.told + waiting(s)).collect();
        let promises: Vec<f64> = self.0.iter().map(|s| s.descent.promise()).collect();
        let mut shares = vec![0; counts.len()];
        for _ in 0..count {
            let branch = next(&counts, &promises);
            counts[branch] += 1;
            shares[branch] += 1;
        }
        shares
    }
}

/// The branch that the next trial goes to.
fn next(counts: &[usize], promises: &[f64]) -> usize {
    let branches = counts.len() as f64;
    let total = (counts.iter().sum::<usize>() + 1) as f64;
    let least = total / branches * (EQUAL * branches / total).min(1.0).sqrt();
    let starved = (0..counts.len()).filter(|&b| (counts[b] + 1) as f64 <= least);
    let promising = |&a: &usize, &b: &usize| {
        promises[a].total_cmp(&promises[b]).then(counts[a].cmp(&counts[b]))
    };
    starved.min_by_key(|&b| counts[b]).or_else(|| (0..counts.len()).min_by(promising)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::Direction;
    use crate::session::Session;
    use crate::space::{Configuration, Value};

    /// A choice of three models with three parameters each.
    fn models() -> SearchSpace {
        let model = Dimension::categorical("model", ["a", "b", "c"]);
        let own = ["a", "b", "c"].into_iter().flat_map(|name| {
            (0..3)
                .map(move |k| Dimension::real(format!("{name}{k}"), 0.0, 1.0).when("model", [name]))
        });
        SearchSpace::new(std::iter::once(model).chain(own)).unwrap()
    }

    /// The best value is in the last branch, which looks worst until it is searched.
    fn deceptive(configuration: &Configuration) -> f64 {
        let Some(Value::Text(model)) = configuration.get("model") else {
            panic!("every trial has a model")
        };
        let (floor, slope) = match model.as_str() {
            "a" => (1.0, 0.6),
            "b" => (0.8, 1.0),
            _ => (0.0, 12.0),
        };
        let gap = |k: usize| match configuration.get(&format!("{model}{k}")) {
            Some(Value::Real(x)) => (x - 0.3 - 0.2 * k as f64).powi(2),
            other => panic!("{other:?}"),
        };
        floor + slope * (0..3).map(gap).sum::<f64>()
    }

    #[test]
    fn the_right_branch_is_found_where_it_looks_worst_at_first() {
        let found = |auto: Auto, seed: u64| {
            let mut session =
                Session::new(models(), auto, Direction::Minimise, Seed(seed)).unwrap();
            for _ in 0..50 {
                for trial in session.ask(4).unwrap() {
                    session.tell(trial.id, deceptive(&trial.configuration)).unwrap();
                }
            }
            session.best().unwrap().value < 0.1
        };
        let right = (0..20).filter(|&seed| found(Auto::default(), seed)).count();
        let together = Auto::default().without(Part::Branches);
        let before = (0..20).filter(|&seed| found(together, seed)).count();
        assert!(right >= 19 && before <= 15, "{right} of 20 with branches, {before} without");
    }

    #[test]
    fn branches_are_the_combinations_that_exist() {
        let nested = SearchSpace::new([
            Dimension::real("r", 0.0, 1.0),
            Dimension::categorical("model", ["tree", "net"]),
            Dimension::integer("depth", 1, 40).when("model", ["tree"]),
            Dimension::boolean("dropout").when("model", ["net"]),
            Dimension::real("share", 0.0, 0.9).when("dropout", [true]),
        ])
        .unwrap();
        let branches = Branch::all(&nested).unwrap();
        assert_eq!(branches.len(), 3);
        let mut rng = Seed(1).stream("branches", 0);
        for _ in 0..100 {
            let x = nested.sample(&mut rng);
            assert_eq!(branches.iter().filter(|branch| branch.holds(&x)).count(), 1);
        }
        for branch in &branches {
            let x = branch.sample(&nested, &mut rng);
            assert!(branch.holds(&x));
            assert_eq!(nested.encode(&nested.decode(&x)).unwrap(), x);
        }
        let flat = SearchSpace::new([Dimension::boolean("b"), Dimension::real("r", 0.0, 1.0)]);
        assert!(Branch::all(&flat.unwrap()).is_none());
        let many = SearchSpace::new([
            Dimension::integer("n", 0, 40),
            Dimension::real("r", 0.0, 1.0).when("n", [3]),
        ]);
        assert!(Branch::all(&many.unwrap()).is_none());
    }

    #[test]
    fn no_branch_starves_and_the_one_that_still_gains_is_ahead() {
        let mut counts = [0, 0, 0];
        for _ in 0..1000 {
            counts[next(&counts, &[0.0, 1.0, 2.0])] += 1;
        }
        // √(1000 · 10 · 3) / 3 = 57.
        assert!((55..60).contains(&counts[1]) && (55..60).contains(&counts[2]), "{counts:?}");
        let mut gains = Descent::default();
        [9.0, 8.0, 4.0, 3.0].into_iter().for_each(|v| gains.push(Some(v)));
        assert_eq!(gains.promise(), 3.0 - 2.0 * (8.0 - 3.0));
        let mut settled = Descent::default();
        [2.0, 7.0, 2.0, 5.0].into_iter().for_each(|v| settled.push(Some(v)));
        settled.push(None);
        assert_eq!((settled.promise(), settled.told, settled.values), (2.0, 5, 4));
        assert_eq!(Descent::default().promise(), f64::NEG_INFINITY);
    }
}
