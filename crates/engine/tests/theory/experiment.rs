//! The paper's theory experiment (appendix, "Theory assessment"), and random instances of Theorem 4.

use wimble::internals::{below, normal, uniform};
use wimble::kernel::{Kernel, Profile};
use wimble::points::Points;
use wimble::seed::Rng;
use wimble::theory::{Choice, Confidence, Form, InformationGain, Plan, Setting};

use super::naive::{Posterior, draw_index, index_of_largest, largest, normalised, smallest};

/// Settings of the theory experiment (appendix, "Theory assessment").
pub const RIDGE: f64 = 0.025;
/// A ridge at which a few hundred observations make the bounds say something.
pub const LARGE_RIDGE: f64 = 1.0;
pub const DELTA: f64 = 0.1;
pub const NOISE_DEVIATION: f64 = 0.1;
pub const THRESHOLD: f64 = 0.0;

/// R of the label noise: as in the paper, and from the labels' interval (Hoeffding's lemma).
pub const PAPER: f64 = 1.0;
pub const BOUNDED: f64 = 0.5;

/// How the next points are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// The maximiser of π̂.
    Bore,
    /// The maximiser of the upper bound.
    BorePlus,
    /// That many independent draws from p̂ ∝ the upper bound.
    Batch(usize),
}

/// What was known when a point was chosen.
pub struct Round {
    pub chosen: usize,
    pub information_gain: f64,
    pub width: f64,
    /// Mean and deviation at each point of the domain.
    pub fit: Vec<(f64, f64)>,
}

impl Round {
    /// The clipped lower and upper bound (20) at each point.
    pub fn band(&self) -> (Vec<f64>, Vec<f64>) {
        let clipped = |bound: f64| bound.clamp(0.0, 1.0);
        let band = |(mean, deviation): &(f64, f64)| {
            (clipped(mean - self.width * deviation), clipped(mean + self.width * deviation))
        };
        self.fit.iter().map(band).unzip()
    }
}

/// A random classifier of norm 1, π = Σ αᵢ k(·, xᵢ), and its objective f = τ - Φ_ε⁻¹(π) on 100 points.
pub struct Instance {
    pub kernel: Kernel,
    pub ridge: f64,
    pub domain: Vec<f64>,
    pub probability: Vec<f64>,
    pub objective: Vec<f64>,
}

impl Instance {
    pub fn draw(rng: &mut Rng, length_scale: f64, ridge: f64) -> Self {
        let kernel = Kernel::isotropic(Profile::SquaredExponential, 1, length_scale, 1.0).unwrap();
        let domain: Vec<f64> = (0..100).map(|_| uniform(rng)).collect();
        let features: Vec<(f64, f64)> = (0..5).map(|_| (uniform(rng), uniform(rng))).collect();
        let at = |x: f64| -> f64 {
            features.iter().map(|(weight, centre)| weight * kernel.value(&[x], &[*centre])).sum()
        };
        let norm = features.iter().map(|(weight, centre)| weight * at(*centre)).sum::<f64>().sqrt();
        let probability: Vec<f64> = domain.iter().map(|&x| at(x) / norm).collect();
        let objective = probability.iter().map(|&p| objective(p)).collect();
        Self { kernel, ridge, domain, probability, objective }
    }

    pub fn rows(&self) -> Points {
        Points::from_rows(1, self.domain.iter().map(|&x| [x]))
    }

    pub fn bounds(&self, rule: Rule, label_noise: f64, form: Form) -> Setting {
        Setting {
            form,
            noise_lipschitz: Some(lipschitz(NOISE_DEVIATION, &self.probability)),
            inverse_probability: Some(1.0 / smallest(&self.probability)),
            ..setting(rule, self.ridge, label_noise)
        }
    }

    /// The information gain of all points of a run.
    pub fn gain_of(&self, history: &[Round]) -> f64 {
        let mut gain = InformationGain::new(self.kernel.clone(), self.ridge).unwrap();
        for round in history {
            gain.push(&[self.domain[round.chosen]]).unwrap();
        }
        gain.total()
    }

    /// Observes y = f(x) + ε at the points a rule chooses; one entry a point, a batch sharing its fit.
    pub fn run(&self, rule: Rule, label_noise: f64, rounds: usize, rng: &mut Rng) -> Vec<Round> {
        let mut posterior = Posterior::new(&self.kernel, self.ridge, &self.domain);
        let mut history = Vec::new();
        for _ in 0..rounds {
            let information_gain = posterior.information_gain;
            let width = level(1.0).width(label_noise, self.ridge, information_gain).unwrap();
            let fit = posterior.fit();
            let open = Round { chosen: 0, information_gain, width, fit };
            let chosen = match rule {
                Rule::Bore => {
                    let means: Vec<f64> = open.fit.iter().map(|fit| fit.0).collect();
                    vec![index_of_largest(&means)]
                }
                Rule::BorePlus => {
                    let sums: Vec<f64> = open.fit.iter().map(|fit| fit.0 + width * fit.1).collect();
                    vec![index_of_largest(&sums)]
                }
                Rule::Batch(size) => {
                    let target = normalised(&open.band().1);
                    (0..size).map(|_| draw_index(&target, rng)).collect()
                }
            };
            for chosen in chosen {
                let noise = NOISE_DEVIATION * normal::quantile(uniform(rng).max(1e-300));
                let value = self.objective[chosen] + noise;
                posterior.observe(chosen, f64::from(u8::from(value <= THRESHOLD)));
                history.push(Round { chosen, fit: open.fit.clone(), ..open });
            }
        }
        history
    }
}

pub fn setting(rule: Rule, ridge: f64, label_noise: f64) -> Setting {
    let (choice, batch_size) = match rule {
        Rule::Batch(size) => (Choice::EXACT_DRAWS, size),
        _ => (Choice::Maximum, 1),
    };
    let plan = Plan { batch_size, ..Plan::default() };
    Setting { ridge, label_noise, choice, plan, confidence: level(1.0), ..Setting::default() }
}

/// The level of all runs, with this norm.
pub fn level(norm_bound: f64) -> Confidence {
    Confidence::Level { failure_probability: DELTA, norm_bound }
}

/// L_ε of class probabilities under Gaussian noise.
pub fn lipschitz(noise_deviation: f64, probability: &[f64]) -> f64 {
    let (lowest, highest) = (smallest(probability), largest(probability));
    Setting::gaussian_lipschitz(noise_deviation, lowest, highest).unwrap()
}

/// f = τ - Φ_ε⁻¹(π).
pub fn objective(probability: f64) -> f64 {
    THRESHOLD - NOISE_DEVIATION * normal::quantile(probability)
}

/// A random finite instance of Theorem 4 on the event of Theorem 1: lower ≤ truth ≤ upper.
pub struct Target {
    pub truth: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// βσ at each point.
    pub half_width: Vec<f64>,
    pub objective: Vec<f64>,
}

impl Target {
    pub fn draw(rng: &mut Rng) -> Self {
        let n = 2 + below(rng, 19);
        let truth: Vec<f64> = (0..n).map(|_| 0.02 + 0.96 * uniform(rng)).collect();
        let reach = uniform(rng);
        let half_width: Vec<f64> = (0..n).map(|_| reach * uniform(rng)).collect();
        let mean: Vec<f64> = truth
            .iter()
            .zip(&half_width)
            .map(|(truth, half)| truth + half * (2.0 * uniform(rng) - 1.0))
            .collect();
        let shifted = |sign: f64| -> Vec<f64> {
            let shift = |(mean, half): (&f64, &f64)| (mean + sign * half).clamp(0.0, 1.0);
            mean.iter().zip(&half_width).map(shift).collect()
        };
        let (lower, upper) = (shifted(-1.0), shifted(1.0));
        let objective = truth.iter().map(|&p| objective(p)).collect();
        Self { truth, lower, upper, half_width, objective }
    }

    pub fn noise_lipschitz(&self) -> f64 {
        lipschitz(NOISE_DEVIATION, &self.truth)
    }
}
