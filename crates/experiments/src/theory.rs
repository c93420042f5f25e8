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

use cpu_time::ThreadTime;
use wimble::batch::Ascent;
use wimble::classifier::Confidence;
use wimble::classifier::least_squares::{self, LeastSquares};
use wimble::gaussian_process::{Regression, regression::rkhs_norm};
use wimble::goal::Direction;
use wimble::kernel::{Kernel, Profile};
use wimble::labels::Threshold;
use wimble::outcome::Outcome;
use wimble::points::Points;
use wimble::seed::{Seed, uniform};
use wimble::session::Session;
use wimble::space::{Configuration, Dimension, SearchSpace};
use wimble::strategy::{Bore, BorePlusPlus, GpUcb, Optimism, Strategy};
use wimble::theory::{
    Assumptions, Choice, Estimator, Form, HyperParameters, InformationGain, LabelNoise, Noise,
    RegretBounds, Run, Setting, ThresholdRule, Width, max_information_gain, noise_lipschitz,
    normal,
};

use crate::benchmark::gaussian;
use crate::error::{Error, Result};
use crate::record::Round;
use crate::run::Sink;
use crate::settings::{Settings, TheoryMethod, TheorySettings, TheoryWidth};

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
        let points = match space.candidates() {
            Some(points) => points.clone(),
            None => unreachable!("a finite space has candidates"),
        };
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

    fn index_of(&self, x: &[f64]) -> usize {
        let place = self.points.rows().position(|row| row == x);
        place.unwrap_or_else(|| unreachable!("{x:?} is not in the finite space"))
    }

    fn strategy(
        &self,
        method: TheoryMethod,
        theory: &TheorySettings,
        settings: &Settings,
    ) -> Result<Box<dyn Strategy>> {
        let TheorySettings { ridge, failure_probability, norm_bound, .. } = *theory;
        let kernel = self.kernel.clone();
        let learner = LeastSquares {
            ridge,
            hyper_parameters: least_squares::HyperParameters::Fixed { kernel: kernel.clone() },
        };
        let bore = Bore {
            threshold: Threshold::Fixed { value: theory.threshold },
            initial: settings.initial,
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
                    noise_deviation: settings.noise_variance.sqrt(),
                    failure_probability,
                },
                regression: Regression::Fixed { kernel, noise: theory.gp_ridge },
                initial: settings.initial,
                ..GpUcb::default()
            }),
        })
    }

    /// The bounds of Theorems 2 and 3, printed and tight, for a run with the width of Theorem 1.
    fn bounds(&self, theory: &TheorySettings, noise_deviation: f64) -> Result<[RegretBounds; 2]> {
        let setting = Setting {
            ridge: theory.ridge,
            output_scale: self.kernel.output_scale(),
            estimator: Estimator::LeastSquares,
            threshold: ThresholdRule::Fixed,
            hyper_parameters: HyperParameters::Fixed,
            width: Width::Level {
                failure_probability: theory.failure_probability,
                label_noise: LabelNoise::Paper,
            },
            noise: Noise::Present,
            choice: Choice::Exact,
        };
        let least = self.probability.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = self.probability.iter().copied().fold(0.0, f64::max);
        let assumptions = Assumptions {
            norm_bound: Some(theory.norm_bound),
            noise_lipschitz: Some(noise_lipschitz(noise_deviation, least, greatest)?),
            inverse_probability_bound: None,
        };
        Ok([
            RegretBounds::new(setting, assumptions, Form::Paper)?,
            RegretBounds::new(setting, assumptions, Form::Tight)?,
        ])
    }
}

/// Runs a trial.
pub(crate) fn run(
    method: TheoryMethod,
    theory: &TheorySettings,
    settings: &Settings,
    seed: Seed,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let noise_deviation = settings.noise_variance.sqrt();
    let instance = Instance::draw(theory, noise_deviation, seed)?;
    let strategy = instance.strategy(method, theory, settings)?;
    let mut session = Session::new(instance.space.clone(), strategy, Direction::Minimise, seed)?;
    let bounds = match method {
        TheoryMethod::Bore | TheoryMethod::BorePlusPlus { width: TheoryWidth::Level } => {
            Some(instance.bounds(theory, noise_deviation)?)
        }
        _ => None,
    };
    let mut gain = InformationGain::new(instance.kernel.clone(), theory.ridge)?;
    let best_point = instance.points.row(instance.optimum).to_vec();
    let (mut cumulative, mut simple, mut optimum_deviations) = (0.0, f64::INFINITY, 0.0);
    let mut visited = BTreeSet::new();
    for round in 1..=settings.rounds {
        let before = ThreadTime::now();
        let trials = session.ask(1)?;
        let seconds = before.elapsed().as_secs_f64();
        for trial in trials {
            let x = session.space().encode(&trial.configuration)?;
            let chosen = instance.index_of(&x);
            let regret = instance.objective[chosen] - instance.objective[instance.optimum];
            cumulative += regret;
            simple = regret.min(simple);
            visited.insert(chosen);
            optimum_deviations += gain.deviation(&best_point)?;
            gain.push(&x)?;
            let noise = gaussian(
                settings.noise_variance,
                &mut seed.stream("observation noise", round as u64),
            );
            session.tell(trial.id, Outcome::from(instance.objective[chosen] + noise))?;
        }
        let mut metrics = BTreeMap::from([
            ("average_regret".to_owned(), cumulative / round as f64),
            ("cumulative_regret".to_owned(), cumulative),
            ("simple_regret".to_owned(), simple),
            ("points_visited".to_owned(), visited.len() as f64),
        ]);
        if let Some(bounds) = &bounds {
            let most =
                max_information_gain(&instance.kernel, theory.ridge, &instance.points, round)?;
            let run = Run {
                rounds: round,
                information_gain: gain.total(),
                max_information_gain: Some(most.upper),
            };
            for (name, bounds) in ["bound_printed", "bound_tight"].into_iter().zip(bounds) {
                let bound = match method {
                    TheoryMethod::Bore => bounds.bore_cumulative(&run, optimum_deviations)?,
                    _ => bounds.bore_plus_cumulative(&run)?,
                };
                metrics.insert(name.to_owned(), bound.value);
            }
        }
        if !sink(Round { round, evaluations: round, metrics }, seconds)? {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Figure;

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
