//! A regret bound together with what it rests on.
//!
//! The `Display` form is meant for people: the number, how sure it is, and either the assumptions under which
//! it is proven or the reasons why it is only a heuristic.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::standing::Standing;

/// What a bound is about.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// r_t of BORE (Theorem 2).
    BoreInstant,
    /// R_T of BORE (Theorem 2).
    BoreCumulative {
        /// T, the number of rounds.
        rounds: usize,
    },
    /// r_t of BORE++ (Theorem 3).
    BorePlusInstant,
    /// R_T of BORE++ (Theorem 3).
    BorePlusCumulative {
        /// T, the number of rounds.
        rounds: usize,
    },
    /// R_N of BORE++ over N points that were chosen while others were pending.
    OverlappingCumulative {
        /// N, the number of points.
        rounds: usize,
    },
    /// The distributional regret of any sampler beside p̂ (Theorem 4 and total variation).
    SamplerInstant,
    /// r_t of BORE++ on the integrated target.
    IntegratedInstant,
    /// R_T of BORE++ on the integrated target.
    IntegratedCumulative {
        /// T, the number of rounds.
        rounds: usize,
    },
    /// The expected regret of T rounds of Thompson sampling (Russo and Van Roy 2014).
    ThompsonCumulative {
        /// T, the number of rounds.
        rounds: usize,
    },
    /// The hypervolume regret of T rounds with several objectives (Theorem 5).
    Hypervolume {
        /// T, the number of rounds.
        rounds: usize,
    },
    /// The distributional regret r̄_t of batch BORE++ (Theorem 4).
    BatchInstant,
    /// The distributional regret R̄_T of batch BORE++ (Theorem 4).
    BatchCumulative {
        /// T, the number of rounds.
        rounds: usize,
    },
}

impl Subject {
    /// T for a cumulative regret.
    pub fn rounds(self) -> Option<usize> {
        match self {
            Self::BoreCumulative { rounds }
            | Self::BorePlusCumulative { rounds }
            | Self::OverlappingCumulative { rounds }
            | Self::IntegratedCumulative { rounds }
            | Self::Hypervolume { rounds }
            | Self::ThompsonCumulative { rounds }
            | Self::BatchCumulative { rounds } => Some(rounds),
            Self::BoreInstant
            | Self::BorePlusInstant
            | Self::SamplerInstant
            | Self::IntegratedInstant
            | Self::BatchInstant => None,
        }
    }

    /// Whether it is a mean over functions drawn from a prior.
    pub(super) fn is_expected(self) -> bool {
        matches!(self, Self::ThompsonCumulative { .. })
    }

    /// Whether it is about the integrated target, which needs no noise.
    pub(super) fn is_integrated(self) -> bool {
        matches!(self, Self::IntegratedInstant | Self::IntegratedCumulative { .. })
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BoreInstant => f.write_str("regret of one round of BORE (Theorem 2)"),
            Self::BorePlusInstant => f.write_str("regret of one round of BORE++ (Theorem 3)"),
            Self::BatchInstant => {
                f.write_str("distributional regret of one round of batch BORE++ (Theorem 4)")
            }
            Self::SamplerInstant => {
                f.write_str("distributional regret of one round of a sampler beside batch BORE++")
            }
            Self::IntegratedInstant => {
                f.write_str("regret of one round of BORE++ on the integrated target")
            }
            Self::IntegratedCumulative { rounds } => {
                write!(f, "regret of {rounds} rounds of BORE++ on the integrated target")
            }
            Self::ThompsonCumulative { rounds } => {
                write!(f, "expected regret of {rounds} rounds of Thompson sampling")
            }
            Self::Hypervolume { rounds } => {
                write!(f, "hypervolume regret of {rounds} rounds of BORE++ (Theorem 5)")
            }
            Self::OverlappingCumulative { rounds } => {
                write!(f, "regret of {rounds} points of BORE++, chosen while others were pending")
            }
            Self::BoreCumulative { rounds } => {
                write!(f, "regret of {rounds} rounds of BORE (Theorem 2)")
            }
            Self::BorePlusCumulative { rounds } => {
                write!(f, "regret of {rounds} rounds of BORE++ (Theorem 3)")
            }
            Self::BatchCumulative { rounds } => {
                write!(f, "distributional regret of {rounds} rounds of batch BORE++ (Theorem 4)")
            }
        }
    }
}

/// Something a bound takes for granted.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// ‖π‖ₖ ≤ b, supplied by the user.
    NormBound(f64),
    /// L_ε, supplied by the user.
    NoiseLipschitz(f64),
    /// L_π ≥ 1/π(x) for all x, supplied by the user.
    InverseProbabilityBound(f64),
    /// An upper bound of ξ_T over the whole domain, supplied by the user.
    MaxInformationGain(f64),
    /// τ, kernel and ridge were fixed before the run.
    FixedBeforehand,
    /// So many thresholds, kernel and ridge were fixed before the run, and the constants hold for each threshold.
    GridBeforehand(usize),
    /// The largest overlap factor of the run, supplied by the user.
    Overlap(f64),
    /// TV(q, p̂) of the sampler q, supplied by the user.
    TotalVariation(f64),
    /// ‖m‖ₖ ≤ b for the integrated target m, supplied by the user.
    TargetNorm(f64),
    /// P(τ - B < y ≤ τ | x) ≥ this for all x, supplied by the user.
    LeastMass(f64),
    /// The function is a draw from the Gaussian process of the kernel, and its noise is Gaussian with the ridge as its variance.
    GaussianPrior,
    /// Each point maximises the acquisition exactly.
    ExactMaximum,
    /// The points of a batch are independent draws from p̂.
    ExactSampling,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NormBound(bound) => write!(
                f,
                "the true class probability has a kernel norm of at most {bound} (supplied)"
            ),
            Self::NoiseLipschitz(constant) => write!(
                f,
                "the inverse noise distribution has the Lipschitz constant {constant:.4e} wherever \
                 the class probability goes, away from 0 and 1 (supplied)"
            ),
            Self::InverseProbabilityBound(bound) => write!(
                f,
                "the true class probability is at least 1/{bound:.4e} everywhere (supplied)"
            ),
            Self::MaxInformationGain(gain) => {
                write!(f, "the maximum information gain is at most {gain:.4} (supplied)")
            }
            Self::FixedBeforehand => {
                f.write_str("threshold, kernel and ridge were fixed before the run")
            }
            Self::GridBeforehand(count) => write!(
                f,
                "{count} thresholds, kernel and ridge were fixed before the run, and the constants \
                 hold for each of the thresholds"
            ),
            Self::Overlap(factor) => {
                write!(f, "pending points shrank no deviation by more than {factor:.4} (supplied)")
            }
            Self::TotalVariation(distance) => {
                write!(f, "the sampler is within {distance:.4} of the target (supplied)")
            }
            Self::TargetNorm(bound) => {
                write!(f, "the integrated target has a kernel norm of at most {bound} (supplied)")
            }
            Self::LeastMass(mass) => write!(
                f,
                "a value lies among the thresholds with probability at least {mass:.4} at every \
                 point (supplied)"
            ),
            Self::GaussianPrior => f.write_str(
                "the function is a draw from the Gaussian process of the kernel, told with Gaussian noise whose variance is the \
                 ridge",
            ),
            Self::ExactMaximum => f.write_str("each point maximises the acquisition exactly"),
            Self::ExactSampling => {
                f.write_str("the points of a batch are independent draws from the target")
            }
        }
    }
}

/// An upper bound of a regret, with what it rests on. Printed, it says the number, its probability, whether it is proven, and under
/// which assumptions, or why not.
///
/// ```
/// use wimble::theory::{Confidence, Setting};
///
/// let known = Setting { noise_lipschitz: Some(0.5), ..Setting::default() };
/// let proven = known.bore_plus_instant(1.5, 0.001)?;
/// assert!(proven.is_proven() && proven.is_informative());
/// let fixed = Setting { confidence: Confidence::Width(3.0), ..known }.bore_plus_instant(1.5, 0.001)?;
/// assert_eq!(fixed.reasons(), ["the confidence width is fixed at 3, not the width of Theorem 1"]);
/// # Ok::<(), wimble::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// What is bounded: the regret of a round or of a run, of which theorem.
    pub subject: Subject,
    /// The bound, on the scale of the values; of a hypervolume, on that of the hypervolume.
    pub value: f64,
    /// What holds without any data: a round's regret is at most L_ε, as probabilities differ by at most 1.
    pub trivial: f64,
    /// The bound holds with at least one minus this probability; `None` for a fixed width and for an expectation, which have none.
    pub failure_probability: Option<f64>,
    /// Whether it is a guarantee; see [`is_proven`](Self::is_proven) and [`reasons`](Self::reasons).
    pub standing: Standing,
    /// What it takes for granted, each of which prints as a sentence.
    pub assumptions: Vec<Assumption>,
}

impl Bound {
    /// Whether the bound follows from its assumptions. Otherwise it is a heuristic.
    pub fn is_proven(&self) -> bool {
        self.standing.is_proven()
    }

    /// Why it does not follow, in words; empty if it does.
    pub fn reasons(&self) -> Vec<String> {
        self.standing.reasons().iter().map(ToString::to_string).collect()
    }

    /// Whether the bound says more than what holds without any data.
    pub fn is_informative(&self) -> bool {
        self.value < self.trivial
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is at most {:.6e}", self.subject, self.value)?;
        if let Some(delta) = self.failure_probability {
            write!(f, " with probability at least {}", 1.0 - delta)?;
        }
        if !self.is_informative() {
            write!(f, "; that is no news, since {:.6e} holds without any data", self.trivial)?;
        }
        match &self.standing {
            Standing::Proven => f.write_str("\nproven, given that")?,
            Standing::Heuristic(reasons) => {
                f.write_str("\nheuristic, not a guarantee, because")?;
                for reason in reasons {
                    write!(f, "\n  - {reason}")?;
                }
                f.write_str("\nit also takes for granted that")?;
            }
        }
        for assumption in &self.assumptions {
            write!(f, "\n  - {assumption}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::Reason;

    fn bound() -> Bound {
        Bound {
            subject: Subject::BorePlusCumulative { rounds: 20 },
            value: 3.5,
            trivial: 8.0,
            failure_probability: Some(0.1),
            standing: Standing::Proven,
            assumptions: vec![Assumption::NormBound(1.0), Assumption::NoiseLipschitz(0.4)],
        }
    }

    #[test]
    fn people_read_the_number_its_probability_and_its_assumptions() {
        let text = bound().to_string();
        assert!(
            text.starts_with("regret of 20 rounds of BORE++ (Theorem 3) is at most 3.5"),
            "{text}"
        );
        assert!(text.contains("with probability at least 0.9"), "{text}");
        assert!(text.contains("proven, given that\n  - the true class probability"), "{text}");
        assert!(!text.contains("no news"), "{text}");
    }

    #[test]
    fn a_heuristic_says_so_before_anything_else_it_assumes() {
        let standing = Standing::Heuristic(vec![Reason::FixedWidth(3.0), Reason::MovingThreshold]);
        let text = Bound { standing, failure_probability: None, value: 9.0, ..bound() }.to_string();
        assert!(
            text.contains(
                "heuristic, not a guarantee, because\n  - the confidence width is fixed at 3"
            ),
            "{text}"
        );
        assert!(text.contains("the threshold moves"), "{text}");
        assert!(text.contains("no news"), "{text}");
        assert!(!text.contains("probability at least 0.9"), "{text}");
    }
}
