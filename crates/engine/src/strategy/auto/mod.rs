//! `auto`, the default: expected improvement by all classifiers at once, inside trust regions.
//!
//! BORE asks one classifier for the probability of a value below one threshold. Expected improvement is the integral of that
//! probability over all thresholds, and for kernel least squares the integral costs one solve (target.rs). What is left of
//! BORE++ is its shape: an estimate, its deviation, and an upper bound between them that says where to go.
//!
//! - Numbers only (regions): a *main* region follows the best trials and shrinks with their spread; an *explorer* opens
//!   once main has settled, and looks for another basin (region.rs, replay.rs). Each region has a model of its few hundred
//!   nearest trials (local_model.rs): while the region is wide, half of it is a sum of functions of one coordinate each; in a
//!   valley, coordinates turn along it (frame.rs). A batch climbs a ladder of widths
//!   from the mean to an optimistic bound, each pick lowering the deviation for the next (picks.rs).
//!   Where a quadratic describes the best trials, a pick leaps to its minimum, and its curvature gives the coordinates (leap.rs); where
//!   the valley bends, a polynomial of degree four does (quartic.rs). A main region that is stuck draws points about the mean of the best
//!   trials (consensus.rs).
//! - Choices, levels, finite lists: one model of the best and the latest trials (mixed.rs). Conditions make branches, with a model
//!   each (branches.rs).
//! - Several objectives, or measured constraints: a model of each, and picks by their gain in hypervolume or as solutions of constrained
//!   problems (objectives/).
//! - Learning curves of one objective: a process over parameters and fidelity decides anew between starting and continuing (curves/).
//! - Trials that fail teach a second classifier, and the batch keeps clear of their like (feasibility.rs).
//!
//! # Design
//! Regions are a function of history and seed: trials are replayed one after another, whoever asks (replay.rs). `Memory` holds
//! the replay as of the last ask.
//!
//! Cost of an ask: that of at most 160 trials in a model, O(160³ + 160² · batch), however long history is; a process that
//! starts anew reads history once. Fails with `Error::NotPositiveDefinite` once the jitter policy is exhausted.

mod branches;
mod cloud;
mod consensus;
mod curves;
mod expectation;
mod feasibility;
mod frame;
mod jump;
mod leap;
mod local_model;
mod local_step;
mod mixed;
mod objectives;
mod parts;
mod picks;
mod quadratic;
mod quartic;
mod region;
mod replay;
mod ridge;
mod simplex;
mod target;

use serde::{Deserialize, Serialize};

use super::opening::{Initial, Opening, place};
use super::sobol;
use super::{Evidence, FreeWorkers, Memory, Run, Strategy};
use crate::domain::Occupied;
use crate::error::{Error, Result};
use crate::forecast::Forecasts;
use crate::goal::Goal;
use crate::history::History;
use crate::levelled::levelled;
use crate::named::Named;
use crate::points::Points;
use crate::seed::{Rng, Seed};
use crate::space::{Dimension, Kind, SearchSpace};
use branches::Branches;
use consensus::Consensus;
use leap::Leap;
use objectives::Several;
pub use parts::{Part, Parts};
use picks::{Picker, SMALL, belief, ladder};
use region::Patch;
use replay::Replay;

/// The default method.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Auto {
    /// How many trials are drawn at random before the model is used. `None`: 10, the first of them the centre, for batches; for
    /// asks of fewer than 4 over numbers, the centre and one step along each coordinate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<usize>,
    /// The top of the ladder: deviations between the mean and the most optimistic bound of a batch; 3, the paper's β.
    pub width: f64,
    /// What the benchmarks leave out, to see what it brings: nothing, otherwise. Neither read nor written.
    #[doc(hidden)]
    #[serde(skip)]
    pub parts: Parts,
}

impl Named for Auto {
    const NAME: &'static str = "auto";
    const DESCRIPTION: &'static str =
        "the default: least squares over all thresholds, in trust regions";
}

impl Default for Auto {
    fn default() -> Self {
        Self { initial: None, width: 3.0, parts: Parts::default() }
    }
}

/// Trials with a value below which the lowest is recommended: a model of fewer knows nothing of noise.
const FEWEST: usize = 20;
/// Share of noise in the variance of the targets above which the model, not the lowest value, chooses the centre of a region.
const NOISY: f64 = 1e-3;
/// An integer with this many steps is treated as a real number.
const FINE: u64 = 32;
/// The fewest steps of an integer that is searched in regions beside real numbers.
const COARSE: u64 = 4;
/// Trials drawn at random before the model is used.
const INITIAL: usize = 10;
/// Main's share of a batch beside an explorer, while it gains, and where main is so small that there is little left to gain.
const MAIN_SHARE: f64 = 0.5;
const GAINING_SHARE: f64 = 0.75;
const SETTLED_SHARE: f64 = 0.15;
/// The length below which main is that small.
const SETTLED: f64 = 1e-5;
/// The fractional parts of its multiples visit the unit interval evenly.
const TURNS: f64 = 0.754_877_666_246_693;

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn serves(&self, _: &Goal) -> bool {
        true
    }

    fn scope(&self) -> &'static str {
        "it serves every goal"
    }

    fn check(&self, _: &SearchSpace, goal: &Goal) -> Result<()> {
        self.check_served(goal)?;
        if !(self.width >= 0.0 && self.width.is_finite()) {
            return Err(Error::invalid("width", self.width, "finite and not negative"));
        }
        Ok(())
    }

    fn propose(&self, evidence: Evidence, size: usize, memory: &mut Memory) -> Result<Points> {
        if self.reads_curves(evidence.history.goal()) {
            return curves::propose(evidence, size, memory);
        }
        if !evidence.history.goal().is_single() {
            return self.towards_several(evidence, size, memory);
        }
        let smooth = is_smooth(evidence.space);
        let opens = smooth && self.initial.is_none() && self.uses(Part::Opening);
        // Few at a time, the first trials go along the coordinates.
        let steps = opens && size < SMALL;
        let initial = self.initial.unwrap_or(if steps { 1 } else { INITIAL });
        let initial = match opens {
            true => Initial::CentreFirst(initial),
            false => Initial::FirstAndUnvalued(initial),
        };
        place(evidence, size, "auto", initial, |opening| {
            let mut occupied = opening.occupied();
            let &mut Opening { evidence, count, ref mut rng, .. } = opening;
            if !smooth {
                let branches = self.branches(evidence.space, evidence.history, memory)?;
                let chosen = branches.choose(evidence, count, self, &mut occupied, rng)?;
                memory.keep(branches);
                return Ok(chosen);
            }
            let most = if steps { count } else { 0 };
            let mut chosen = simplex::steps(evidence, most, &mut occupied);
            let mut ahead = evidence.pending.clone();
            ahead.extend(&chosen);
            let (evidence, left) = (Evidence { pending: &ahead, ..evidence }, count - chosen.len());
            if left > 0 {
                chosen.extend(&self.in_regions(evidence, left, &mut occupied, memory, rng)?);
            }
            Ok(chosen)
        })
    }

    fn reads_curves(&self, goal: &Goal) -> bool {
        goal.partial().is_some() && goal.whole().is_single()
    }

    fn plan(
        &self,
        evidence: Evidence<'_>,
        free: &FreeWorkers<'_>,
        memory: &mut Memory,
    ) -> Result<Vec<Run>> {
        curves::plan(evidence, free, memory)
    }

    fn recommend(&self, evidence: Evidence<'_>, memory: &mut Memory) -> Result<Option<usize>> {
        let Evidence { space, history, seed, .. } = evidence;
        if history.goal().partial().is_some() {
            return Ok(super::best(history));
        }
        let column = evidence.column();
        if !history.goal().is_single() {
            let front = self.front(evidence, memory)?.into_iter();
            let valued = front.filter_map(|i| column.value(i).map(|value| (value, i)));
            return Ok(valued.min_by(|a, b| a.0.total_cmp(&b.0)).map(|best| best.1));
        }
        if column.ranking().len() < FEWEST || !self.uses(Part::Smoothing) {
            return Ok(column.best());
        }
        let by_model = if is_smooth(space) {
            let replay = self.replayed(history, seed, memory)?;
            let by_model = match &replay.main {
                Some(main) => main.recommend(history, self)?,
                None => None,
            };
            memory.keep(replay);
            by_model
        } else {
            let branches = self.branches(space, history, memory)?;
            let by_model = branches.recommend(history, self)?;
            memory.keep(branches);
            by_model
        };
        Ok(by_model.or(column.best()))
    }

    fn front(&self, evidence: Evidence<'_>, memory: &mut Memory) -> Result<Vec<usize>> {
        let Evidence { space, history, .. } = evidence;
        if !history.goal().is_single() {
            let several = self.several(space, history, memory)?;
            let by_model = several.front(history)?;
            memory.keep(several);
            if let Some(front) = by_model {
                return Ok(front);
            }
        }
        super::observed_front(history)
    }

    fn predict(&self, evidence: Evidence, at: &Points, memory: &mut Memory) -> Result<Forecasts> {
        let Evidence { space, history, seed, .. } = evidence;
        if history.goal().partial().is_some() {
            let level = &levelled(history)?;
            let evidence = Evidence { history: level, ..evidence };
            return self.predict(evidence, at, &mut Memory::default());
        }
        let Some(best) = evidence.column().best_value() else { return Ok(None) };
        if !history.goal().is_single() {
            let several = self.several(space, history, memory)?;
            let forecasts = several.forecasts(history, self, at)?;
            memory.keep(several);
            return Ok(Some(forecasts));
        }
        if !is_smooth(space) {
            let branches = self.branches(space, history, memory)?;
            let forecasts = branches.forecasts(history, self, best, at)?;
            memory.keep(branches);
            return Ok(Some(forecasts));
        }
        let replay = self.replayed(history, seed, memory)?;
        let forecasts = match &replay.main {
            Some(main) => Some(main.forecasts(history, &replay.failed, self, best, at)?),
            None => None,
        };
        memory.keep(replay);
        Ok(forecasts)
    }
}

impl Auto {
    /// The same method with one part less, for the benchmarks.
    #[doc(hidden)]
    #[must_use]
    pub fn without(self, part: Part) -> Self {
        Self { parts: self.parts.without(part), ..self }
    }

    fn uses(&self, part: Part) -> bool {
        self.parts.has(part)
    }

    /// The regions as of the end of history.
    fn replayed(&self, history: &History, seed: Seed, memory: &mut Memory) -> Result<Replay> {
        let kept = memory.take::<Replay>().filter(|replay| replay.trials() <= history.len());
        let mut replay = kept.unwrap_or_default();
        replay.advance(history, seed, self)?;
        Ok(replay)
    }

    /// The branches as of the end of history.
    fn branches(
        &self,
        space: &SearchSpace,
        history: &History,
        memory: &mut Memory,
    ) -> Result<Branches> {
        let kept = memory.take::<Branches>().filter(|kept| kept.trials() <= history.len());
        let mut branches = kept.unwrap_or_else(|| Branches::new(space, self));
        branches.advance(history, self)?;
        Ok(branches)
    }

    /// What is known of a goal that is not a single objective, as of the end of history.
    fn several(
        &self,
        space: &SearchSpace,
        history: &History,
        memory: &mut Memory,
    ) -> Result<Several> {
        let kept = memory.take::<Several>().filter(|kept| kept.trials() <= history.len());
        let mut several = kept.unwrap_or_else(|| Several::new(space, history));
        several.advance(history)?;
        Ok(several)
    }

    /// A batch for a goal that is not a single objective.
    fn towards_several(
        &self,
        evidence: Evidence<'_>,
        size: usize,
        memory: &mut Memory,
    ) -> Result<Points> {
        place(evidence, size, "auto", Initial::First(0), |opening| {
            let mut occupied = opening.occupied();
            let &mut Opening { evidence, count, first, ref mut rng } = opening;
            let Evidence { space, history, pending, seed } = evidence;
            let unknown = evidence.column().ranking().is_empty();
            let left = self.initial.unwrap_or(INITIAL).saturating_sub(first).min(count);
            let initial = if unknown { count } else { left };
            let mut chosen = Points::with_capacity(space.dim(), count);
            for i in 0..initial {
                let mut x = sobol::point(space, seed, (first + i) as u64);
                space.settle(&mut x);
                occupied.insert(&x);
                chosen.push(&x);
            }
            if initial < count {
                let mut ahead = pending.clone();
                ahead.extend(&chosen);
                let evidence = Evidence { pending: &ahead, ..evidence };
                let several = self.several(space, history, memory)?;
                let trials = (first + initial, count - initial);
                chosen.extend(&several.choose(evidence, trials, self, &mut occupied, rng)?);
                memory.keep(several);
            }
            Ok(chosen)
        })
    }

    /// A batch shared between the regions.
    fn in_regions(
        &self,
        evidence: Evidence<'_>,
        count: usize,
        occupied: &mut Occupied<'_>,
        memory: &mut Memory,
        rng: &mut Rng,
    ) -> Result<Points> {
        let Evidence { space, history, pending, seed } = evidence;
        let replay = self.replayed(history, seed, memory)?;
        let mut ahead = pending.clone();
        let mut first = history.len() + ahead.len();
        let main_share = match (&replay.main, &replay.explorer) {
            (Some(main), Some(_)) => {
                let share = if main.length() < SETTLED {
                    SETTLED_SHARE
                } else if replay.is_gaining() && self.uses(Part::Share) {
                    GAINING_SHARE
                } else {
                    MAIN_SHARE
                };
                by_turns(share * count as f64, first).min(count)
            }
            _ => count,
        };
        let consensus = replay.consensus(history).filter(|_| self.uses(Part::Consensus));
        let mut chosen = Points::with_capacity(space.dim(), count);
        let shares =
            [(&replay.main, main_share, true), (&replay.explorer, count - main_share, false)];
        for (region, share, is_main) in shares {
            let Some(region) = region.as_ref().filter(|_| share > 0) else { continue };
            let patch = region.patch(history, &replay.failed, self)?;
            let mut share = share;
            if let Some(consensus) = consensus.as_ref().filter(|_| is_main) {
                let wanted = by_turns(consensus::SHARE * share as f64, first);
                let drawn = drawn(consensus, wanted, space, &patch, occupied, rng);
                ahead.extend(&drawn);
                chosen.extend(&drawn);
                (first, share) = (first + drawn.len(), share - drawn.len());
                if share == 0 {
                    continue;
                }
            }
            let leap = match is_main {
                true => {
                    let evidence = Evidence { pending: &ahead, ..evidence };
                    Leap::find(evidence, &replay, &patch, (first, share), occupied, self)
                }
                false => None,
            };
            let (polish, belief) = (self.uses(Part::Polish), belief(first));
            let picker = Picker { patch: &patch, space, polish, belief };
            let widths = match self.uses(Part::Ladder) {
                true => ladder(first, share, self.width),
                false => vec![self.width; share],
            };
            let picks = picker.choose(&widths, leap.as_ref(), &ahead, occupied, rng)?;
            ahead.extend(&picks);
            chosen.extend(&picks);
            first += share;
        }
        memory.keep(replay);
        Ok(chosen)
    }
}

/// A number of picks, rounded up or down by turns, so that asks for single points serve all.
fn by_turns(picks: f64, first: usize) -> usize {
    (picks + (first as f64 * TURNS).fract()) as usize
}

/// Up to so many free points about the consensus that will probably not fail.
fn drawn(
    consensus: &Consensus,
    wanted: usize,
    space: &SearchSpace,
    patch: &Patch,
    occupied: &mut Occupied<'_>,
    rng: &mut Rng,
) -> Points {
    let mut drawn = Points::with_capacity(space.dim(), wanted);
    for _ in 0..wanted {
        let mut x = consensus.draw(rng);
        space.settle(&mut x);
        let likely = patch.feasibility.probability(&patch.frame.enter(&x)) >= leap::LIKELY;
        if likely && occupied.is_free(&x) {
            occupied.insert(&x);
            drawn.push(&x);
        }
    }
    drawn
}

/// Whether a space is searched in regions: every dimension is a number of some levels, and most are as good as real.
/// Where most are coarse, or one is a choice, a small box holds hardly a configuration.
fn is_smooth(space: &SearchSpace) -> bool {
    let levels = |dimension: &Dimension| match &dimension.kind {
        _ if dimension.condition.is_some() => 0,
        Kind::Real { .. } | Kind::Shares { .. } => u64::MAX,
        Kind::Integer { low, high, step, .. } => high.abs_diff(*low) / step.unsigned_abs(),
        Kind::Ordinal { .. } | Kind::Boolean | Kind::Categorical { .. } => 0,
    };
    let levels: Vec<u64> = space.dimensions().iter().map(levels).collect();
    let fine = levels.iter().filter(|levels| **levels >= FINE).count();
    space.candidates().is_none()
        && levels.iter().all(|levels| *levels >= COARSE)
        && 2 * fine > levels.len()
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::goal::Direction;
    use crate::outcome::Outcome;
    use crate::session::Session;
    use crate::space::{Configuration, Value};

    #[test]
    fn fine_numbers_are_searched_in_regions_and_all_else_without() {
        let smooth = |dimensions: Vec<Dimension>| is_smooth(&SearchSpace::new(dimensions).unwrap());
        let real = |name| Dimension::real(name, 0.0, 1.0);
        let integer = |high| Dimension::integer("n", 0, high);
        assert!(smooth(vec![real("x"), integer(100)]));
        assert!(smooth(vec![real("x"), real("y"), integer(4)]));
        assert!(!smooth(vec![real("x"), integer(9)]));
        assert!(!smooth(vec![real("x"), real("y"), integer(3)]));
        assert!(!smooth(vec![real("x"), Dimension::boolean("b")]));
        let gated = Dimension::real("y", 0.0, 1.0).when("b", [true]);
        assert!(!smooth(vec![Dimension::boolean("b"), gated]));
    }

    /// The distance from the minimum of a bowl, under noise, of what is recommended and of the lowest value.
    fn kept(space: impl Fn() -> SearchSpace, noise: f64, seed: u64) -> (f64, f64) {
        let auto = Auto::default();
        let mut session = Session::new(space(), auto, Direction::Maximise, Seed(seed)).unwrap();
        let mut rng = Seed(seed).stream("noise of a bowl", 0);
        let bowl = |configuration: &Configuration| -> f64 {
            let number = |value: &Value| match value {
                Value::Real(x) => *x,
                Value::Integer(n) => *n as f64 / 12.0,
                other => unreachable!("the spaces here have numbers only, not {other:?}"),
            };
            configuration.iter().map(|(_, value)| (number(value) - 0.6).powi(2)).sum()
        };
        for _ in 0..12 {
            for trial in session.ask(10).unwrap() {
                let luck: f64 = StandardNormal.sample(&mut rng);
                let value = -bowl(&trial.configuration) + noise * luck;
                session.tell(trial.id, Outcome::from(value)).unwrap();
            }
        }
        let recommended = session.recommend().unwrap().unwrap();
        assert_eq!(session.outcome(recommended.trial), Some(Outcome::from(recommended.value)));
        let best = session.best().unwrap();
        (bowl(&recommended.configuration), bowl(&best.configuration))
    }

    #[test]
    fn under_noise_what_is_recommended_is_better_than_the_lowest_value() {
        let real =
            || SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)]);
        let mixed =
            || SearchSpace::new([Dimension::integer("n", 0, 12), Dimension::real("y", 0.0, 1.0)]);
        // Coarse numbers have little to choose from.
        for (space, part) in [(real as fn() -> Result<SearchSpace>, 0.7), (mixed, 1.0)] {
            let mut sums = (0.0, 0.0);
            for seed in 0..24 {
                let (recommended, lowest) = kept(|| space().unwrap(), 0.1, seed);
                sums = (sums.0 + recommended, sums.1 + lowest);
            }
            assert!(sums.0 < part * sums.1, "{sums:?}");
            // Without noise it is the lowest value.
            let (recommended, lowest) = kept(|| space().unwrap(), 0.0, 1);
            assert_eq!(recommended, lowest);
        }
    }

    #[test]
    fn no_document_takes_out_a_part() {
        let written = serde_json::to_string(&Auto::default().without(Part::Region)).unwrap();
        assert_eq!(written, r#"{"width":3.0}"#);
        let read = serde_json::from_str::<Auto>(r#"{"initial":10,"without":"region"}"#);
        let error = read.unwrap_err().to_string();
        assert!(
            error.starts_with("unknown field `without`, expected `initial` or `width`"),
            "{error}"
        );
    }

    #[test]
    fn a_width_that_is_no_number_is_refused() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let error = Auto { width: f64::NAN, ..Auto::default() }
            .check(&space, &Goal::default())
            .unwrap_err();
        assert_eq!(error.to_string(), "width is NaN, but must be finite and not negative");
    }

    /// Values of a bowl about (0.4, 0.4), all told, in a cube of two dimensions.
    fn bowl(trials: usize) -> (SearchSpace, History) {
        let space =
            SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)]);
        let mut rng = Seed(3).stream("bowl", 0);
        let mut history = History::new(2);
        for _ in 0..trials {
            let x = [(); 2].map(|()| 0.2 + 0.4 * crate::seed::uniform(&mut rng));
            let value = x.iter().map(|x| (x - 0.4).powi(2)).sum::<f64>();
            history.push(&x, Outcome::from(value)).unwrap();
        }
        (space.unwrap(), history)
    }

    #[test]
    fn pending_trials_count_on_the_ladder_of_single_asks() {
        // Every fourth trial of a search goes to the best mean, the others as far as a huge width takes them.
        let auto = Auto { width: 1e3, initial: Some(1), ..Auto::default() };
        let auto = auto.without(Part::Jump).without(Part::LocalStep);
        let (space, history) = bowl(23);
        for waiting in 0..8 {
            let rows = (0..waiting).map(|i| [0.9, 0.1 * f64::from(i)]);
            let pending = Points::from_rows(2, rows);
            let evidence =
                Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
            let x = auto.propose(evidence, 1, &mut Memory::default()).unwrap();
            let far = x.row(0).iter().map(|x| (x - 0.4).abs()).fold(0.0, f64::max);
            let at_the_mean = (history.len() + pending.len()).is_multiple_of(4);
            assert_eq!(far < 0.05, at_the_mean, "{waiting} pending: {:?}", x.row(0));
        }
    }

    /// What main picks is pending for the explorer: both picks of one batch, made by hand with and without that.
    #[test]
    fn the_explorer_takes_main_s_picks_for_pending_points() {
        let (space, history) = bowl(30);
        // The same region twice: what one finds worth exploring, so does the other.
        let mut cloud = cloud::Cloud::default();
        (0..30).for_each(|trial| cloud.push(trial, &history, &[0.4, 0.4]));
        let region = region::Region::new(vec![0.4, 0.4], Some(0.0), 0.4, cloud);
        let auto =
            Auto { width: 1e3, ..Auto::default() }.without(Part::Jump).without(Part::LocalStep);
        let (none, taken) = (Points::new(2), crate::space::Taken::default());
        let domain = crate::domain::Domain {
            space: &space,
            taken: &taken,
            pending: &none,
            incumbents: &none,
        };
        let stream = || Seed(1).stream("test", 0);
        let evidence = Evidence { space: &space, history: &history, pending: &none, seed: Seed(1) };
        let mut memory = Memory::default();
        memory.keep(Replay::of(history.len(), region.clone(), region.clone()));
        let batch = auto
            .in_regions(evidence, 8, &mut domain.occupied(), &mut memory, &mut stream())
            .unwrap();

        let patch = region.patch(&history, &cloud::Cloud::default(), &auto).unwrap();
        let by_hand = |share: usize, heeds: bool| {
            let (mut occupied, mut rng) = (domain.occupied(), stream());
            let mut picks = |first: usize, count: usize, pending: &Points| {
                let picker =
                    Picker { patch: &patch, space: &space, polish: true, belief: belief(first) };
                let widths = ladder(first, count, auto.width);
                picker.choose(&widths, None, pending, &mut occupied, &mut rng).unwrap()
            };
            let mut all = picks(30, share, &none);
            let pending = if heeds { all.clone() } else { none.clone() };
            all.extend(&picks(30 + share, 8 - share, &pending));
            all
        };
        // However many of the eight are main's.
        assert!((1..8).any(|share| by_hand(share, true) == batch), "{batch:?}");
        assert!((1..8).all(|share| by_hand(share, false) != batch), "heeding makes a difference");
    }
}
