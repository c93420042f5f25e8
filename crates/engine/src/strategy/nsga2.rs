//! NSGA-II: a genetic algorithm that sorts by levels of non-domination (Deb, Pratap, Agarwal and Meyarivan 2002), a baseline for several
//! objectives.
//!
//! ```text
//! population ── binary tournaments ──▶ parents ── simulated binary crossover, polynomial mutation ──▶ children
//! population + children ── by level, then by crowding distance ──▶ next population
//! ```
//! Constraints enter by constrained domination: a trial that meets them is ahead of one that does not; of two that do not,
//! the one with the smaller total violation is.
//!
//! A generation is as many finished trials as the population has members, in the order in which they were told, whoever asked for them: the
//! population is a function of history alone, in batches of any size. Trials of the unfinished generation compete with it until it is full.
//!
//! Numbers cross and mutate on the unit interval; a choice comes from either parent, and mutates to another one. Trials without a value
//! are no parents.
//!
//! Cost: O(p² k) for every p trials told, for a population of p and k objectives.

use serde::{Deserialize, Serialize};

use super::axis::{Axis, Scope};
use super::opening::{Initial, place};
use super::{Evidence, Memory, Strategy};
use crate::domain::Domain;
use crate::error::{Error, Result};
use crate::goal::Goal;
use crate::history::History;
use crate::named::Named;
use crate::pareto::crowding::crowding;
use crate::pareto::levels;
use crate::points::Points;
use crate::seed::{Rng, below, uniform};
use crate::space::SearchSpace;
use crate::violation::Violation;

/// Settings of NSGA-II.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Nsga2 {
    /// Members of the population, drawn at random first; 50, as in Optuna.
    pub population: usize,
    /// How often two parents cross; 0.9.
    pub crossover: f64,
    /// η of crossover: larger keeps children nearer to their parents; 15, as in pymoo.
    pub crossover_index: f64,
    /// η of mutation: larger mutates less; 20.
    pub mutation_index: f64,
}

impl Named for Nsga2 {
    const NAME: &'static str = "nsga2";
    const DESCRIPTION: &'static str = "NSGA-II, a genetic algorithm for several objectives";
}

impl Default for Nsga2 {
    fn default() -> Self {
        Self { population: 50, crossover: 0.9, crossover_index: 15.0, mutation_index: 20.0 }
    }
}

/// The population after all full generations.
#[derive(Debug, Clone, Default)]
struct Kept {
    trials: usize,
    population: Vec<usize>,
}

impl Strategy for Nsga2 {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn serves(&self, goal: &Goal) -> bool {
        !goal.is_single()
    }

    fn scope(&self) -> &'static str {
        "it serves several objectives, or constraints"
    }

    fn check(&self, _: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        if self.population < 2 {
            return Err(Error::invalid("population", self.population, "at least 2"));
        }
        if !(0.0..=1.0).contains(&self.crossover) {
            return Err(Error::invalid("crossover", self.crossover, "from 0 to 1"));
        }
        for (field, index) in
            [("crossover-index", self.crossover_index), ("mutation-index", self.mutation_index)]
        {
            if !(index > 0.0 && index.is_finite()) {
                return Err(Error::invalid(field, index, "positive and finite"));
            }
        }
        Ok(())
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        let initial = Initial::FirstAndUnvalued(self.population);
        place(evidence, size, "nsga2-initial", initial, |opening| {
            let Evidence { space, history, seed, .. } = opening.evidence;
            let violation = Violation::of(history);
            let kept = memory.take::<Kept>().filter(|kept| kept.trials <= history.len());
            let mut kept = kept.unwrap_or_default();
            while kept.trials + self.population <= history.len() {
                let generation = kept.trials..kept.trials + self.population;
                kept.trials = generation.end;
                kept.population.extend(generation);
                kept.population = self.survivors(history, &violation, &kept.population)?;
            }
            let mut competing = kept.population.clone();
            competing.extend(kept.trials..history.len());
            if violation.is_settled() {
                memory.keep(kept);
            }
            let population = ranked(history, &violation, &competing)?;
            let population = &population[..population.len().min(self.population)];
            let axes = Axis::all(space);
            let incumbents = Points::new(space.dim());
            let mut ahead = opening.evidence.pending.clone();
            let mut chosen = Points::with_capacity(space.dim(), opening.count);
            for place in opening.first..opening.first + opening.count {
                let mut rng = seed.stream("nsga2", place as u64);
                let domain = Domain { pending: &ahead, ..opening.domain(&incumbents) };
                // The population is in order: the earlier of two wins.
                let parent = |rng: &mut Rng| {
                    let winner = below(rng, population.len()).min(below(rng, population.len()));
                    history.points().row(population[winner])
                };
                let (a, b) = (parent(&mut rng), parent(&mut rng));
                let mut child = self.child(&axes, a, b, &mut rng);
                space.snap(&mut child);
                let settled = domain.settle(&Points::from_rows(space.dim(), [child]), &mut rng)?;
                chosen.extend(&settled);
                ahead.extend(&settled);
            }
            Ok(chosen)
        })
    }
}

impl Nsga2 {
    fn survivors(
        &self,
        history: &History,
        violation: &Violation,
        competing: &[usize],
    ) -> Result<Vec<usize>> {
        let mut survivors = ranked(history, violation, competing)?;
        survivors.truncate(self.population);
        Ok(survivors)
    }

    /// A child of two points, before it is moved to a legal one.
    fn child(&self, axes: &[Axis], a: &[f64], b: &[f64], rng: &mut Rng) -> Vec<f64> {
        let mut child = a.to_vec();
        let crosses = uniform(rng) < self.crossover;
        for axis in axes {
            let (from_a, from_b) = (axis.read(a), axis.read(b));
            let half = uniform(rng) < 0.5;
            let mut value = match axis.scope {
                _ if !crosses || half => from_a,
                Scope::Choices(_) => from_b,
                _ => self.crossed(from_a, from_b, rng),
            };
            if uniform(rng) < 1.0 / axes.len() as f64 {
                value = match axis.scope {
                    Scope::Choices(count) => below(rng, count) as f64,
                    _ => self.mutated(value, rng),
                };
            }
            axis.write(value, &mut child);
        }
        child
    }

    /// One of the two children of simulated binary crossover: (a + b ± s (b - a)) / 2 with a spread s of density ∝ s^η below 1 and
    /// ∝ s^-(η + 2) above.
    fn crossed(&self, a: f64, b: f64, rng: &mut Rng) -> f64 {
        let u = uniform(rng);
        let power = 1.0 / (self.crossover_index + 1.0);
        let spread = if u < 0.5 { (2.0 * u).powf(power) } else { (2.0 - 2.0 * u).powf(-power) };
        let side = if uniform(rng) < 0.5 { spread } else { -spread };
        (0.5 * (a + b + side * (b - a))).clamp(0.0, 1.0)
    }

    /// Polynomial mutation: a step of density ∝ (1 - |step|)^η.
    fn mutated(&self, value: f64, rng: &mut Rng) -> f64 {
        let u = uniform(rng);
        let power = 1.0 / (self.mutation_index + 1.0);
        let step =
            if u < 0.5 { (2.0 * u).powf(power) - 1.0 } else { 1.0 - (2.0 - 2.0 * u).powf(power) };
        (value + step).clamp(0.0, 1.0)
    }
}

/// Trials with a measurement in the order of NSGA-II, best first.
fn ranked(history: &History, violation: &Violation, trials: &[usize]) -> Result<Vec<usize>> {
    let meeting: Vec<usize> = trials.iter().copied().filter(|&i| history.meets(i)).collect();
    let rows =
        Points::from_rows(history.objectives().len(), meeting.iter().map(|&i| history.row(i)));
    let level = levels(&rows)?;
    let last = level.iter().max().map_or(0, |last| last + 1);
    let mut keys: Vec<(usize, f64, usize)> = Vec::with_capacity(trials.len());
    for current in 0..last {
        let members: Vec<usize> = (0..rows.len()).filter(|&row| level[row] == current).collect();
        let distances = crowding(&rows, &members);
        for (&row, distance) in members.iter().zip(distances) {
            keys.push((current, -distance, meeting[row]));
        }
    }
    for &i in trials {
        if let Some(total) = violation.total(history, i).filter(|_| !history.meets(i)) {
            keys.push((last, total, i));
        }
    }
    keys.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
    Ok(keys.into_iter().map(|key| key.2).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goal::{Bound, Objective};
    use crate::outcome::Measurement;
    use crate::seed::Seed;

    #[test]
    fn levels_then_violations_decide_who_survives() {
        let goal = Goal::new([Objective::minimise("a"), Objective::minimise("b")])
            .and_then(|goal| goal.limit("c", Bound::AtMost(0.0)))
            .unwrap();
        let mut history = History::of(1, goal);
        for (i, (row, limited)) in
            [([2.0, 2.0], -1.0), ([0.0, 0.0], 5.0), ([1.0, 1.0], -1.0), ([0.0, 0.0], 2.0)]
                .into_iter()
                .enumerate()
        {
            let measurement = Measurement {
                objectives: row.map(Into::into).to_vec(),
                constraints: vec![limited.into()],
                fidelity: None,
            };
            history.push(&[i as f64 / 4.0], measurement).unwrap();
        }
        let violation = Violation::of(&history);
        assert_eq!(ranked(&history, &violation, &[0, 1, 2, 3]).unwrap(), [2, 0, 3, 1]);
    }

    #[test]
    fn children_of_equal_parents_stay_there_but_for_mutation_and_crossover_keeps_the_mean() {
        let method = Nsga2::default();
        let mut rng = Seed(1).stream("nsga2 test", 0);
        let n = 20_000;
        let (mut sum, mut outside) = (0.0, 0);
        for _ in 0..n {
            let x = method.crossed(0.4, 0.6, &mut rng);
            assert_eq!(method.crossed(0.3, 0.3, &mut rng), 0.3);
            sum += x;
            outside += usize::from(!(0.4..=0.6).contains(&x));
        }
        // The mean of the children is that of the parents, and half of the spreads are above 1.
        assert!((sum / f64::from(n) - 0.5).abs() < 0.003);
        assert!((outside as f64 / f64::from(n) - 0.5).abs() < 0.02, "{outside}");
        let steps: Vec<f64> = (0..n).map(|_| method.mutated(0.5, &mut rng) - 0.5).collect();
        let mean_size = steps.iter().map(|step| step.abs()).sum::<f64>() / f64::from(n);
        // E|step| = 1 / (η + 2).
        assert!((mean_size - 1.0 / 22.0).abs() < 0.002, "{mean_size}");
    }
}
