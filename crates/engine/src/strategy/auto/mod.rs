//! The default: kernel least squares on all thresholds at once, inside trust regions.

mod cloud;
mod feasibility;
mod frame;
mod local_model;
mod mixed;
mod picks;
mod region;
mod replay;
mod target;

use serde::{Deserialize, Serialize};

use super::{Evidence, Memory, Strategy};
use crate::domain::{Domain, Occupied};
use crate::error::Result;
use crate::points::Points;
use crate::seed::{Rng, Seed};
use crate::space::{Dimension, Kind, SearchSpace};
use mixed::Mixed;
use picks::{Picker, ladder};
use replay::Replay;

/// The default method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Auto {
    /// How many trials are drawn at random before the model is used.
    pub initial: usize,
    /// Numbers.
    pub tuning: Tuning,
}

impl Default for Auto {
    fn default() -> Self {
        Self { initial: 10, tuning: Tuning::default() }
    }
}

/// The numbers of the method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[allow(missing_docs)]
pub struct Tuning {
    pub elite: f64,
    pub elite_dim: f64,
    pub kappa: f64,
    pub noisy: f64,
    pub feasibility: bool,
    pub same: f64,
    pub flattest: f64,
    pub niche: f64,
    pub turn_every: usize,
    pub turn_steps: usize,
    pub turn_below: f64,
    pub reach: f64,
    pub steps: usize,
    pub first_steps: usize,
    pub candidates: usize,
    pub polish: usize,
    pub width: f64,
    pub explorer: bool,
    pub explorer_opens: f64,
    pub explorer_length: f64,
    pub explorer_least: f64,
    pub from_start: f64,
    pub apart: f64,
    pub share: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            elite: 6.0,
            elite_dim: 0.0,
            kappa: 3.0,
            noisy: 1e-3,
            feasibility: true,
            same: 0.05,
            flattest: 0.03,
            niche: 0.05,
            turn_every: 3,
            turn_steps: 4,
            turn_below: 0.2,
            reach: 1.0,
            steps: 2,
            first_steps: 15,
            candidates: 250,
            polish: 15,
            width: 3.0,
            explorer: true,
            explorer_opens: 0.1,
            explorer_length: 0.4,
            explorer_least: 0.02,
            from_start: 0.8,
            apart: 0.15,
            share: 0.5,
        }
    }
}

impl Strategy for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn check(&self, _: &SearchSpace) -> Result<()> {
        Ok(())
    }

    fn propose(
        &self,
        evidence: Evidence<'_>,
        batch_size: usize,
        seed: Seed,
        memory: &mut Memory,
    ) -> Result<Points> {
        let Evidence { space, history, pending } = evidence;
        let incumbents = Points::new(space.dim());
        let domain = Domain { space, taken: history.taken(), pending, incumbents: &incumbents };
        domain.check_room(batch_size)?;
        let issued = history.len() + pending.len();
        let mut rng = seed.stream("auto", issued as u64);
        let random = match history.ranking().is_empty() {
            true => batch_size,
            false => self.initial.saturating_sub(issued).min(batch_size),
        };
        let mut batch = domain.sample(random, &mut rng)?;
        if random == batch_size {
            return Ok(batch);
        }
        let mut ahead = pending.clone();
        ahead.extend(&batch);
        let mut occupied = domain.occupied();
        batch.rows().for_each(|x| occupied.insert(x));
        let count = batch_size - random;
        let chosen = if is_smooth(space) {
            self.in_regions(evidence, &ahead, count, seed, &mut occupied, memory, &mut rng)?
        } else {
            let kept = memory.take::<Mixed>().filter(|mixed| mixed.trials() <= history.len());
            let mut mixed = kept.unwrap_or_else(|| Mixed::new(space));
            mixed.advance(history)?;
            let chosen = mixed.choose(
                space,
                history,
                &ahead,
                count,
                &mut occupied,
                &self.tuning,
                &mut rng,
            )?;
            memory.keep(mixed);
            chosen
        };
        batch.extend(&Domain { pending: &ahead, ..domain }.settle(&chosen, &mut rng)?);
        Ok(batch)
    }
}

/// Whether every dimension is a number fine enough to be taken for a real one.
fn is_smooth(space: &SearchSpace) -> bool {
    let fine = |dimension: &Dimension| {
        let fine = match &dimension.kind {
            Kind::Real { .. } => true,
            Kind::Integer { low, high, step, .. } => {
                high.abs_diff(*low) / step.unsigned_abs() >= FINE
            }
            Kind::Ordinal { .. } | Kind::Boolean | Kind::Categorical { .. } => false,
        };
        fine && dimension.condition.is_none()
    };
    space.candidates().is_none() && space.dimensions().iter().all(fine)
}

/// Steps from which on an integer is taken for a real number.
const FINE: u64 = 32;

impl Auto {
    fn in_regions(
        &self,
        evidence: Evidence<'_>,
        ahead: &Points,
        count: usize,
        seed: Seed,
        occupied: &mut Occupied<'_>,
        memory: &mut Memory,
        rng: &mut Rng,
    ) -> Result<Points> {
        let Evidence { space, history, .. } = evidence;
        let mut ahead = ahead.clone();
        let issued = history.len() + ahead.len();
        let kept = memory.take::<Replay>().filter(|replay| replay.trials() <= history.len());
        let mut replay = kept.unwrap_or_default();
        replay.advance(history, seed, &self.tuning)?;
        let mut state = replay.clone();
        let main_share = match (&state.main, &state.explorer) {
            (Some(main), Some(_)) => {
                let share = if main.length < 1e-5 { 0.15 } else { self.tuning.share };
                // Rounded by a sequence that visits the unit interval evenly, so that single points take turns.
                let dither = (issued as f64 * 0.754_877_666_246_693).fract();
                ((share * count as f64 + dither).floor() as usize).min(count)
            }
            _ => count,
        };
        let shares = [main_share, count - main_share];
        let mut first = issued;
        let mut chosen = Points::with_capacity(space.dim(), count);
        let Replay { main, explorer, failed, .. } = &mut state;
        for (region, share) in [main, explorer].into_iter().zip(shares) {
            let Some(region) = region.as_mut().filter(|_| share > 0) else { continue };
            let patch = region.patch(history, failed, &self.tuning)?;
            let picker = Picker { patch: &patch, space, tuning: &self.tuning };
            let widths = ladder(first, share, self.tuning.width);
            let picks = picker.choose(&widths, &ahead, occupied, rng)?;
            ahead.extend(&picks);
            chosen.extend(&picks);
            first += share;
        }
        memory.keep(replay);
        Ok(chosen)
    }
}
