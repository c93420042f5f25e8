//! What a run leaves behind: the numbers that the bounds on sums of regrets need.

use serde::{Deserialize, Serialize};

/// What a run leaves behind after T rounds.
///
/// ```
/// use wimble::theory::Run;
///
/// // 50 rounds; the printed forms and batches also need an upper bound of ξ_T.
/// let run = Run { max_information_gain: Some(9.0), ..Run::new(50, 6.5) };
/// assert_eq!(run.rounds, 50);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// T, the number of rounds.
    pub rounds: usize,
    /// γ of all observed points (M·T of them in batches of M), or an upper bound of it
    /// ([`InformationGain::total`](super::InformationGain::total)). It enters β_T.
    pub information_gain: f64,
    /// An upper bound of ξ_T over the whole domain, for T points, not M·T
    /// ([`InformationGain::maximum`](super::InformationGain::maximum)). The printed forms and the bounds for batches need it; the tighter forms
    /// for single points do not.
    pub max_information_gain: Option<f64>,
    /// δ', strictly between 0 and 1: what the tighter bound on the sum of a batch run spends on the draw of the batches. Default: 0.05.
    pub sampling_failure_probability: f64,
}

impl Run {
    /// A run of so many rounds whose points have this information gain.
    pub fn new(rounds: usize, information_gain: f64) -> Self {
        Self {
            rounds,
            information_gain,
            max_information_gain: None,
            sampling_failure_probability: 0.05,
        }
    }
}
