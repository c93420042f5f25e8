//! The default: kernel least squares on all thresholds at once, inside trust regions.

mod cloud;
mod frame;
mod local_model;
mod picks;
mod region;
mod replay;
mod target;

use serde::{Deserialize, Serialize};

use super::{Evidence, Memory, Strategy};
use crate::domain::Domain;
use crate::error::Result;
use crate::points::Points;
use crate::seed::Seed;
use crate::space::SearchSpace;
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
    pub short_move: f64,
    pub long_move: f64,
    pub failures: u32,
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
    pub design: usize,
    pub share: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            short_move: 0.05,
            long_move: 0.1,
            failures: 3,
            reach: 1.0,
            steps: 2,
            first_steps: 15,
            candidates: 250,
            polish: 15,
            width: 4.0,
            explorer: true,
            explorer_opens: 0.1,
            explorer_length: 0.4,
            explorer_least: 0.02,
            from_start: 0.7,
            apart: 0.15,
            design: 10,
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
        let kept = memory.take::<Replay>().filter(|replay| replay.trials() <= history.len());
        let mut replay = kept.unwrap_or_default();
        replay.advance(history, seed, &self.tuning)?;

        let mut ahead = pending.clone();
        ahead.extend(&batch);
        let mut occupied = domain.occupied();
        batch.rows().for_each(|x| occupied.insert(x));
        let count = batch_size - random;
        let mut state = replay.clone();
        let main_share = match (&state.main, &state.explorer) {
            (Some(main), Some(_)) => {
                let share = if main.length < 1e-5 { 0.15 } else { self.tuning.share };
                // Rounded at random, so that single points take turns.
                let dither = ((issued as f64) * 0.754_877_666).fract();
                ((share * count as f64 + dither).floor() as usize).min(count)
            }
            _ => count,
        };
        let shares = [main_share, count - main_share];
        let mut first = issued + random;
        let mut chosen = Points::with_capacity(space.dim(), count);
        for (region, share) in [&mut state.main, &mut state.explorer].into_iter().zip(shares) {
            let Some(region) = region.as_mut().filter(|_| share > 0) else { continue };
            let patch = region.patch(history, &self.tuning)?;
            let picker = Picker { patch: &patch, space, tuning: &self.tuning };
            let widths = ladder(first, share, self.tuning.width);
            let picks = picker.choose(&widths, &ahead, &mut occupied, &mut rng)?;
            ahead.extend(&picks);
            chosen.extend(&picks);
            first += share;
        }
        memory.keep(replay);
        let mut before = pending.clone();
        before.extend(&batch);
        batch.extend(&Domain { pending: &before, ..domain }.settle(&chosen, &mut rng)?);
        Ok(batch)
    }
}
