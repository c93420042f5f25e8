//! The certificate of a study: what the theorems promise of it, what they assume, and their numbers as the study went on.
//!
//! The promise is that of [`Spec::guarantee`](wimble::strategy::Spec::guarantee), for the study as it was run: with failures if there were
//! any, and with overlapping rounds if several workers or batches were at work. The numbers exist for kernel least squares with a kernel
//! fixed beforehand and a level (`bore++ level=…`), where Theorem 1 has them:
//!
//! ```text
//! γ_t = ½ ln det(I + K_t/λ),   β_t(δ) = b + √(2λ⁻¹(γ_t + ln 1/δ)),   r_t ≤ L_ε · 2 β_{t-1} σ_{t-1}(x_t)
//! ```
//!
//! L_ε, how steep the inverse of the noise's distribution is, only the user can know: the bound is shown in units of it. This is the
//! only file of the crate that reads the engine's theory.
//!
//! Cost: O(t³) for t trials, 800 at most.

use serde::Serialize;
use wimble::classifier::{Confidence, HyperParameters, LeastSquares};
use wimble::internals::BorePlusPlusSpec;
use wimble::theory::{InformationGain, Plan};

use crate::view::chronicle::{Chronicle, Standing};
use crate::{Filter, Result, Stage, Study};

/// The most trials whose numbers are computed.
const LONGEST: usize = 800;

/// What is certain about a study.
#[derive(Debug, PartialEq, Serialize)]
pub struct Certificate {
    /// What a theorem promises, as a sentence; `None` if nothing is.
    pub promise: Option<String>,
    /// Why no more is promised.
    pub because: Vec<String>,
    /// What must hold for it, which only the user can know.
    pub assumes: Vec<String>,
    /// The numbers, where the theory has them.
    pub numbers: Option<Numbers>,
    /// Why there are none.
    pub reason: Option<String>,
}

/// The numbers of Theorems 1 and 3 after each trial with a value.
#[derive(Debug, PartialEq, Serialize)]
pub struct Numbers {
    /// δ: with at least one less this, the bounds hold in all rounds.
    pub failure_probability: f64,
    /// b, the bound on the norm of the class probability that the user gave.
    pub norm_bound: f64,
    /// The trials in the order in which they finished.
    pub trial: Vec<u64>,
    /// γ_t, the information gain, in nats.
    pub gain: Vec<f64>,
    /// β_t(δ), the confidence width.
    pub width: Vec<f64>,
    /// 2 β_{t-1} σ_{t-1}(x_t), which bounds the regret of the trial in units of L_ε; `None` for the first random trials.
    pub regret: Vec<Option<f64>>,
    /// Whether the study is longer than what is computed.
    pub cut: bool,
}

/// How a study was run, as far as the theorems ask.
pub fn plan(chronicle: &Chronicle) -> Plan {
    let batch_size = chronicle.record().settings.batch_size;
    let many = chronicle.workers().len() > 1 || batch_size > 1;
    let failed = chronicle.count(Standing::Failed) + chronicle.count(Standing::Infeasible) > 0;
    Plan { batch_size, pending: many, failures: failed }
}

/// The certificate of a study that was run by this plan.
pub fn certificate(study: &Study, plan: Plan) -> Result<Certificate> {
    let settings = study.settings();
    let guarantee = settings.method.guarantee(&settings.space, &settings.goal, plan);
    let mut because: Vec<String> = guarantee.reasons.iter().map(ToString::to_string).collect();
    if guarantee.promise.is_none() && because.is_empty() {
        because.push(format!("no theorem is known for the method `{}`", settings.method.name()));
    }
    let (numbers, reason) = match numbers(study)? {
        Ok(numbers) => (Some(numbers), None),
        Err(reason) => (None, Some(reason.to_owned())),
    };
    Ok(Certificate {
        promise: guarantee.promise.map(|promise| promise.to_string()),
        because,
        assumes: guarantee.conditions,
        numbers,
        reason,
    })
}

/// The numbers after each trial, or why there are none.
fn numbers(study: &Study) -> Result<std::result::Result<Numbers, &'static str>> {
    let settings = study.settings();
    let Some(BorePlusPlusSpec { bore, confidence }) = settings.method.settings() else {
        return Ok(Err("the theory has numbers for `bore++` only"));
    };
    let Confidence::Level { failure_probability, norm_bound } = *confidence else {
        return Ok(Err(
            "the width of the confidence bound is fixed: `level=0.1` makes it that of Theorem 1",
        ));
    };
    let Some(LeastSquares { ridge, hyper_parameters: HyperParameters::Fixed { kernel } }) =
        bore.classifier.settings()
    else {
        return Ok(Err(
            "the kernel is fitted to the data: the theorems are about one that is fixed beforehand",
        ));
    };
    let Some(thresholds) = bore.threshold.choices() else {
        return Ok(Err("the threshold follows the data: the theorems are about fixed ones"));
    };
    let filter = Filter { stage: Some(Stage::Finished), ..Filter::default() };
    let mut trials = study.trials(&filter)?;
    trials.sort_by_key(|trial| trial.sequence);
    let cut = trials.len() > LONGEST;
    trials.truncate(LONGEST);
    let shared = confidence.shared_by(thresholds);
    let mut gain = InformationGain::new(kernel.clone(), *ridge)?;
    // R = 1, as the paper has it for labels.
    let width = |gain: f64| shared.width(1.0, *ridge, gain);
    let mut numbers = Numbers {
        failure_probability,
        norm_bound,
        trial: Vec::new(),
        gain: Vec::new(),
        width: Vec::new(),
        regret: Vec::new(),
        cut,
    };
    for trial in &trials {
        let x = settings.space.encode(&trial.configuration)?;
        let before = width(gain.total())?;
        let chosen = numbers.trial.len() >= bore.initial;
        let bound = 2.0 * before * gain.deviation(&x)?;
        numbers.regret.push(chosen.then_some(bound));
        gain.push(&x)?;
        numbers.trial.push(trial.id);
        numbers.gain.push(gain.total());
        numbers.width.push(width(gain.total())?);
    }
    Ok(Ok(numbers))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::{certified, parabola};

    fn of(study: &Study) -> Certificate {
        let store = study.store();
        let mut chronicle = Chronicle::new(store.study(&study.settings().name).unwrap());
        chronicle.catch_up(&**store).unwrap();
        certificate(study, plan(&chronicle)).unwrap()
    }

    #[test]
    fn the_numbers_are_those_of_the_formulas() {
        let study = certified(12);
        let found = of(&study);
        assert!(
            found.promise.as_deref().is_some_and(|text| text.contains("Theorem 3")),
            "{found:?}"
        );
        assert!(found.assumes.iter().any(|text| text.contains("norm of at most 2")), "{found:?}");
        let numbers = found.numbers.unwrap();
        assert_eq!(numbers.trial.len(), 12);
        // The first point: K is 1 by 1 with k(x, x) = 1, λ = 0.025, and nothing is known before it.
        let (ridge, delta): (f64, f64) = (0.025, 0.1);
        let gain = 0.5 * (1.0 + 1.0 / ridge).ln();
        assert!((numbers.gain[0] - gain).abs() < 1e-12);
        let width = |gain: f64| 2.0 + (2.0 / ridge * (gain + (1.0 / delta).ln())).sqrt();
        assert!((numbers.width[0] - width(gain)).abs() < 1e-12);
        assert!((numbers.regret[0].unwrap() - 2.0 * width(0.0)).abs() < 1e-12);
        assert!(numbers.gain.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(numbers.width.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn what_is_not_covered_says_why() {
        let found = of(&parabola(5));
        assert_eq!((found.promise, found.numbers), (None, None));
        assert!(found.because[0].contains("`random`"), "{:?}", found.because);
        assert!(found.reason.unwrap().contains("bore++"));
        // One failure ends the promise, and the numbers stay.
        let study = certified(5);
        let claim = study.ask("w0", "last", 1).unwrap().remove(0);
        study.tell(claim.token, &crate::Outcome::failed(), "t").unwrap();
        let found = of(&study);
        assert!(found.promise.is_none() && found.numbers.is_some(), "{found:?}");
    }
}
