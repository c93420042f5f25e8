//! The theory experiment: a trial of Figure 1 (paper, appendix D.1).
//!
//! ```text
//! π* = Σ αᵢ k(·, xᵢ*),  αᵢ, xᵢ* ~ U(0, 1)                 (D.1)
//! ‖π*‖ = √(αᵀKα), to which the weights are scaled          (D.2)
//! f = τ - Φ_ε⁻¹(π*)                                        (D.3)
//! ‖f‖ = √(fᵀ K⁻¹ f) over the search space                  (D.4), (D.5)
//! ```
//!
//! Metrics: the regret of a round, its sum and its mean over the rounds, the least one, how many points were visited, and
//! for BORE and BORE++ with the width of Theorem 1 the bounds of Theorems 2 and 3 on the sum, printed and tight.
//!
//! Cost: O(t²) a round for the fits, O(t² N) for ξ_t.

use std::collections::{BTreeMap, BTreeSet};

use wimble::batch::Ascent;
use wimble::classifier::Confidence;
use wimble::classifier::LeastSquares;
use wimble::goal::Direction;
use wimble::internals::{normal, rkhs_norm, uniform};
use wimble::kernel::{Kernel, Profile};
use wimble::labels::Threshold;
use wimble::outcome::Outcome;
use wimble::points::Points;
use wimble::seed::Seed;
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace};
use wimble::strategy::Regression;
use wimble::strategy::{Bore, BorePlusPlus, GpUcb, Optimism, Strategy};
use wimble::theory::{Form, InformationGain, Run, Setting};

use crate::benchmark::gaussian;
use crate::error::{Error, Result};
use crate::objective;
use crate::paper::settings::{TheoryMethod, TheorySettings, TheoryWidth};
use crate::search::Field;

/// A random classifier of the wanted norm, and its objective, on a finite set.
struct Instance {
    kernel: Kernel,
    space: SearchSpace,
    points: Points,
    probability: Vec<f64>,
    objective: Vec<f64>,
    /// The index of the least value.
    optimum: usize,
}

impl Instance {
    fn draw(theory: &TheorySettings, noise_deviation: f64, seed: Seed) -> Result<Self> {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, theory.length_scale, 1.0)?;
        let mut rng = seed.stream("search space", 0);
        let configurations = (0..theory.points)
            .map(|_| -> Configuration { [("x", uniform(&mut rng))].into_iter().collect() });
        let space = SearchSpace::finite([Dimension::real("x", 0.0, 1.0)], configurations)?
            .allow_repeats(true);
        // As the engine sees them: coordinates lie on its grid.
        let points = space.candidates().cloned().unwrap_or_else(|| Points::new(1));
        let mut rng = seed.stream("classifier", 0);
        let terms: Vec<(f64, f64)> =
            (0..theory.features).map(|_| (uniform(&mut rng), uniform(&mut rng))).collect();
        let at = |x: f64| -> f64 {
            terms.iter().map(|(weight, centre)| weight * kernel.value(&[x], &[*centre])).sum()
        };
        let norm = terms.iter().map(|(weight, centre)| weight * at(*centre)).sum::<f64>().sqrt();
        let probability: Vec<f64> =
            points.rows().map(|x| theory.norm_bound * at(x[0]) / norm).collect();
        let objective: Vec<f64> = probability
            .iter()
            .map(|&p| theory.threshold - noise_deviation * normal::quantile(p))
            .collect();
        let optimum = (0..objective.len()).min_by(|&a, &b| objective[a].total_cmp(&objective[b]));
        let Some(optimum) = optimum else {
            return Err(Error::Invalid {
                field: "points",
                value: "0".to_owned(),
                allowed: "at least 1",
            });
        };
        Ok(Self { kernel, space, points, probability, objective, optimum })
    }

    fn index_of(&self, x: &[f64]) -> Result<usize> {
        self.points.rows().position(|row| row == x).ok_or_else(|| Error::Point {
            problem: "the theory experiment".to_owned(),
            reason: format!("{x:?} is not in its finite space"),
        })
    }

    fn strategy(&self, trial: &TheoryTrial) -> Result<Box<dyn Strategy>> {
        let TheoryTrial { method, initial, noise_variance, theory } = *trial;
        let TheorySettings { ridge, failure_probability, norm_bound, .. } = theory;
        let kernel = self.kernel.clone();
        let learner = LeastSquares {
            ridge,
            hyper_parameters: wimble::classifier::HyperParameters::Fixed { kernel: kernel.clone() },
        };
        let bore = Bore {
            threshold: Threshold::Fixed { value: theory.threshold },
            initial,
            ..Bore::new(learner, Ascent::default())
        };
        Ok(match method {
            TheoryMethod::Bore => Box::new(bore),
            TheoryMethod::BorePlusPlus { width } => {
                let confidence = match width {
                    TheoryWidth::Level => Confidence::Level { failure_probability, norm_bound },
                    TheoryWidth::Fixed(width) => Confidence::Width(width),
                };
                Box::new(BorePlusPlus { bore, confidence })
            }
            TheoryMethod::GpUcb { jitter } => Box::new(GpUcb {
                optimism: Optimism::Assumed {
                    norm_bound: rkhs_norm(&kernel, &self.points, &self.objective, jitter)?,
                    noise_deviation: noise_variance.sqrt(),
                    failure_probability,
                },
                regression: Regression::Fixed { kernel, noise: theory.gp_ridge },
                initial,
                ..GpUcb::default()
            }),
        })
    }

    /// The bounds of Theorems 2 and 3, printed and tight, for a run with the width of Theorem 1.
    fn bounds(&self, theory: &TheorySettings, noise_deviation: f64) -> Result<[Setting; 2]> {
        let least = self.probability.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.probability.iter().copied().fold(0.0, f64::max);
        let TheorySettings { ridge, failure_probability, norm_bound, .. } = *theory;
        let tight = Setting {
            ridge,
            output_scale: self.kernel.output_scale(),
            confidence: Confidence::Level { failure_probability, norm_bound },
            noise_lipschitz: Some(Setting::gaussian_lipschitz(noise_deviation, least, greatest)?),
            ..Setting::default()
        };
        Ok([Setting { form: Form::Paper, ..tight }, tight])
    }
}

/// What the theory experiment does in a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TheoryTrial {
    /// The method.
    pub method: TheoryMethod,
    /// The instance.
    pub theory: TheorySettings,
    /// Points that the method draws at random before its first fit.
    pub initial: usize,
    /// Variance of the Gaussian noise of the values told.
    pub noise_variance: f64,
}

impl TheoryTrial {
    /// Draws the instance of a seed, and sets the method up for it.
    pub(crate) fn begin(&self, seed: Seed) -> Result<(Session, Assessment)> {
        let noise_deviation = self.noise_variance.sqrt();
        let instance = Instance::draw(&self.theory, noise_deviation, seed)?;
        let strategy = instance.strategy(self)?;
        let session = Session::new(instance.space.clone(), strategy, Direction::Minimise, seed)?;
        let bounds = match self.method {
            TheoryMethod::Bore | TheoryMethod::BorePlusPlus { width: TheoryWidth::Level } => {
                Some(instance.bounds(&self.theory, noise_deviation)?)
            }
            _ => None,
        };
        let assessment = Assessment {
            gain: InformationGain::new(instance.kernel.clone(), self.theory.ridge)?,
            trial: *self,
            seed,
            bounds,
            instance,
            rounds: 0,
            cumulative: 0.0,
            simple: f64::INFINITY,
            optimum_deviations: 0.0,
            visited: BTreeSet::new(),
        };
        Ok((session, assessment))
    }
}

/// A trial under way: its regret, and what the theorems say about it.
pub(crate) struct Assessment {
    trial: TheoryTrial,
    seed: Seed,
    instance: Instance,
    bounds: Option<[Setting; 2]>,
    gain: InformationGain,
    /// One point a round.
    rounds: usize,
    cumulative: f64,
    simple: f64,
    /// Σ σ_t(x*) over the rounds, for Theorem 2.
    optimum_deviations: f64,
    visited: BTreeSet<usize>,
}

impl Field for Assessment {
    fn observe(&mut self, configuration: &Configuration) -> Result<Outcome> {
        let Instance { space, points, objective, optimum, .. } = &self.instance;
        let x = space.encode(configuration)?;
        let chosen = self.instance.index_of(&x)?;
        let regret = objective[chosen] - objective[*optimum];
        self.rounds += 1;
        self.cumulative += regret;
        self.simple = regret.min(self.simple);
        self.visited.insert(chosen);
        self.optimum_deviations += self.gain.deviation(points.row(*optimum))?;
        self.gain.push(&x)?;
        let noise = objective::Noise { seed: self.seed, number: self.rounds as u64 };
        let noise = gaussian(self.trial.noise_variance, &mut noise.stream());
        Ok((objective[chosen] + noise).into())
    }

    fn evaluations(&self) -> usize {
        self.rounds
    }

    fn metrics(&mut self, _: &mut Session) -> Result<BTreeMap<String, f64>> {
        let rounds = self.rounds;
        let mut metrics = BTreeMap::from([
            ("average_regret".to_owned(), self.cumulative / rounds as f64),
            ("cumulative_regret".to_owned(), self.cumulative),
            ("simple_regret".to_owned(), self.simple),
            ("points_visited".to_owned(), self.visited.len() as f64),
        ]);
        let Some(bounds) = &self.bounds else { return Ok(metrics) };
        let Instance { kernel, points, .. } = &self.instance;
        let most = InformationGain::maximum(kernel, self.trial.theory.ridge, points, rounds)?;
        let run =
            Run { max_information_gain: Some(most.upper), ..Run::new(rounds, self.gain.total()) };
        for (name, bounds) in ["bound_printed", "bound_tight"].into_iter().zip(bounds) {
            let bound = match self.trial.method {
                TheoryMethod::Bore => bounds.bore_cumulative(&run, self.optimum_deviations)?,
                _ => bounds.bore_plus_cumulative(&run)?,
            };
            metrics.insert(name.to_owned(), bound.value);
        }
        Ok(metrics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Figure;

    #[test]
    fn the_instance_has_the_norms_and_the_objective_of_the_paper() {
        let settings = Figure::Theory.settings().unwrap();
        let theory = settings.theory.unwrap();
        for trial in 0..5 {
            let instance = Instance::draw(&theory, 0.1, Seed(trial)).unwrap();
            assert_eq!(instance.points.len(), 100);
            for (&p, &f) in instance.probability.iter().zip(&instance.objective) {
                assert!(p > 0.0 && p <= 1.0);
                // (10): π* = Φ_ε(τ - f).
                assert!((normal::cumulative((0.0 - f) / 0.1) - p).abs() < 1e-12);
            }
            let most = instance.probability.iter().copied().fold(0.0, f64::max);
            assert_eq!(instance.probability[instance.optimum], most);
            // (D.2): π* has norm 1 and is determined by its values, up to jitter; (D.5) falls as jitter rises.
            let norm = |values: &[f64], jitter: f64| {
                rkhs_norm(&instance.kernel, &instance.points, values, jitter).unwrap()
            };
            let classifier = norm(&instance.probability, 1e-10);
            assert!(classifier < 1.0 + 1e-6 && classifier > 0.99, "{classifier}");
            let objective = [1e-10, 1e-8, 1e-6].map(|jitter| norm(&instance.objective, jitter));
            assert!(objective[0] > objective[1] && objective[1] > objective[2], "{objective:?}");
        }
    }
}
