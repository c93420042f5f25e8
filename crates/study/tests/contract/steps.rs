//! Steps: what running trials measure on their way, in order, once, under a lease.

use super::*;
use wimble_study::{Report, Step};

fn goal() -> Goal {
    Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
        .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
        .and_then(|goal| goal.fidelity("epochs", 1.0, 81.0))
        .unwrap()
}

fn single() -> Goal {
    Goal::default().fidelity("epochs", 1.0, 81.0).unwrap()
}

fn step(fidelity: f64, value: f64) -> Measurement {
    Measurement { fidelity: Some(fidelity), ..value.into() }
}

fn rich(fidelity: f64, value: f64) -> Measurement {
    Measurement {
        objectives: vec![value.into(), Measured { value: 0.1 + 0.2, deviation: Some(0.5) }],
        constraints: vec![(-0.5).into()],
        fidelity: Some(fidelity),
    }
}

/// The curve of a trial: fidelities and values.
fn curve(study: &Study, trial: u64) -> Vec<(f64, f64)> {
    let steps = study.store().steps("s", trial).unwrap();
    steps.iter().map(|step| (step.fidelity(), step.measurement.value().unwrap())).collect()
}

pub fn steps_are_kept_in_order_and_reporting_again_changes_nothing(place: &Place) {
    let study = open(place, settings().goal(goal()));
    let claims = study.ask("w", "k", 2).unwrap();
    place.clock.set(Timestamp(7));
    let told = [rich(1.0, 0.5), rich(2.5, -0.0), rich(9.0, 0.25)];
    for _ in 0..2 {
        study.store().report("s", claims[0].token, &told[..2]).unwrap();
    }
    study.store().report("s", claims[0].token, &told[2..]).unwrap();
    // A repeated call that comes late.
    study.store().report("s", claims[0].token, &told[..2]).unwrap();
    study.store().report("s", claims[1].token, &[rich(1.0, 3.0)]).unwrap();
    study.store().report("s", claims[1].token, &[]).unwrap();
    let steps = study.store().steps("s", 0).unwrap();
    assert_eq!(
        steps.iter().map(|step| &step.measurement).collect::<Vec<_>>(),
        [&rich(1.0, 0.5), &rich(2.5, 0.0), &rich(9.0, 0.25)]
    );
    assert!(steps[1].measurement.objectives[0].value.is_sign_positive());
    assert_eq!(steps.iter().map(|step| step.sequence).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(steps.iter().all(|step| (step.trial, step.at) == (0, Timestamp(7))));
    assert_eq!(study.store().steps("s", 1).unwrap().len(), 1);
    let error = message(study.store().steps("s", 2));
    assert!(error.contains("has no trial 2"), "{error}");
    // They stay when the trial is finished, and are no change of its state.
    let before = study.store().sequence("s").unwrap();
    study.tell(claims[0].token, &Outcome::Measured(rich(9.0, 0.25)), "t").unwrap();
    assert_eq!(study.store().sequence("s").unwrap(), before + 1);
    assert_eq!(study.store().steps("s", 0).unwrap(), steps);
    let error = message(study.store().report("s", claims[0].token, &[rich(10.0, 0.5)]));
    assert!(error.contains("trial 0 is finished already"), "{error}");
}

pub fn an_evaluation_that_begins_anew_drops_its_steps_from_there_on(place: &Place) {
    let study = open(place, settings().goal(single()));
    let claim = one(&study, "w", "k");
    let report = |token, steps: &[(f64, f64)]| {
        let steps: Vec<_> = steps.iter().map(|&(at, value)| step(at, value)).collect();
        study.store().report("s", token, &steps).unwrap();
    };
    report(claim.token, &[(1.0, 5.0), (2.0, 4.0), (3.0, 3.0)]);
    // Run again by the same worker: the first step is as before, the second is not.
    report(claim.token, &[(1.0, 5.0)]);
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (2.0, 4.0), (3.0, 3.0)]);
    report(claim.token, &[(2.0, 4.5)]);
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (2.0, 4.5)]);
    report(claim.token, &[(4.0, 2.0)]);
    // Given back, and run by another worker, whose steps are at other fidelities.
    study.release(claim.token).unwrap();
    assert_eq!(curve(&study, 0).len(), 3);
    let again = one(&study, "v", "k2");
    assert_eq!(again.trial, 0);
    let error = message(study.store().report("s", claim.token, &[step(5.0, 1.0)]));
    assert!(error.contains("worker `v` has the trial now"), "{error}");
    report(again.token, &[(1.5, 5.0)]);
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (1.5, 5.0)]);
    // Both in one call.
    report(again.token, &[(2.0, 4.0), (3.0, 3.0), (2.0, 3.5)]);
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (1.5, 5.0), (2.0, 3.5)]);
}

pub fn a_report_is_a_sign_of_life_and_refused_once_the_lease_is_lost(place: &Place) {
    let study = open(place, settings().goal(single()).budget(2));
    let held = study.ask("w", "k", 2).unwrap();
    let reports = |at: f64| -> Vec<Report> {
        held.iter().map(|c| Report { token: c.token, steps: vec![step(at, 1.0)] }).collect()
    };
    place.clock.advance(LEASE);
    assert!(study.ask("v", "notice", 2).unwrap().is_empty());
    assert!(study.store().reports("s", &reports(1.0)).unwrap().is_empty());
    place.clock.advance(LEASE * 3 / 4);
    assert!(study.ask("v", "take", 2).unwrap().is_empty());
    place.clock.advance(LEASE);
    assert!(study.ask("v", "second notice", 1).unwrap().is_empty());
    // One of them is silent, and lost; what is stored of it stays.
    study.store().report("s", held[1].token, &[step(2.0, 1.0)]).unwrap();
    place.clock.advance(LEASE / 2);
    assert_eq!(study.ask("v", "take one", 1).unwrap()[0].trial, 0);
    let refused = study.store().reports("s", &reports(3.0)).unwrap();
    let [lost] = &refused[..] else { panic!("{refused:?}") };
    assert_eq!(lost.token, held[0].token);
    assert!(lost.error.to_string().contains("worker `v` has the trial now"), "{}", lost.error);
    assert_eq!(curve(&study, 0), [(1.0, 1.0)]);
    assert_eq!(curve(&study, 1), [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]);
}

pub fn steps_that_cannot_be_stored_are_refused_with_the_whole_call(place: &Place) {
    let study = open(place, settings().goal(single()));
    let claim = one(&study, "w", "k");
    for (bad, words) in [
        (step(2.0, f64::NAN), "NaN"),
        (step(2.0, f64::INFINITY), "inf"),
        (step(f64::NAN, 1.0), "fidelity of a step is NaN"),
        (step(0.0, 1.0), "fidelity of a step is 0, but must be a finite number above 0"),
        (step(-1.0, 1.0), "fidelity of a step is -1"),
        (1.0.into(), "fidelity of a step is missing"),
    ] {
        let error = message(study.store().report("s", claim.token, &[step(1.0, 1.0), bad]));
        assert!(error.contains(words), "{error}");
    }
    assert!(curve(&study, 0).is_empty());
    let unknown = Token { trial: 0, fence: 99 };
    assert!(message(study.store().report("s", unknown, &[])).contains("never gave the token"));
    assert!(message(study.store().reports("none", &[])).contains("no study `none`"));
}

pub fn readers_follow_the_steps(place: &Place) {
    let study = open(place, settings().goal(single()));
    let claims = study.ask("w", "k", 3).unwrap();
    let mut curves: std::collections::BTreeMap<u64, Vec<Step>> = Default::default();
    let mut from = 0;
    for round in 0_u32..40 {
        let claim = &claims[round as usize % 3];
        // Now and then one begins anew.
        let at = f64::from(if round % 11 == 7 { 2 } else { round + 1 });
        study.store().report("s", claim.token, &[step(at, f64::from(round))]).unwrap();
        if round % 4 == 3 {
            loop {
                let page = study.store().steps_since("s", from, 3).unwrap();
                let Some(last) = page.last() else { break };
                from = last.sequence;
                for step in page {
                    let curve = curves.entry(step.trial).or_default();
                    curve.retain(|known| known.fidelity() < step.fidelity());
                    curve.push(step);
                }
            }
        }
    }
    for (trial, curve) in &curves {
        assert_eq!(&study.store().steps("s", *trial).unwrap(), curve);
    }
    assert_eq!((curves.len(), from), (3, 40));
    assert!(study.store().steps_since("s", 40, 9).unwrap().is_empty());
    assert!(study.store().steps_since("s", u64::MAX, 9).unwrap().is_empty());
    let all = study.store().steps_since("s", 0, usize::MAX).unwrap();
    assert!(all.windows(2).all(|pair| pair[0].sequence < pair[1].sequence));
    // Counting anew leaves the numbers where they are.
    study.store().recount("s").unwrap();
    study.store().report("s", claims[0].token, &[step(70.0, 0.0)]).unwrap();
    assert_eq!(study.store().steps_since("s", 40, 9).unwrap()[0].sequence, 41);
    // A study of the same name begins without any.
    study.store().delete("s").unwrap();
    let study = open(place, settings().goal(single()));
    one(&study, "w", "k");
    assert!(study.store().steps_since("s", 0, 9).unwrap().is_empty());
    assert!(study.store().steps("s", 0).unwrap().is_empty());
}

pub fn stopped_trials_are_not_among_the_best(place: &Place) {
    let study = open(place, settings().goal(single()));
    let claims = study.ask("w", "k", 3).unwrap();
    for (claim, outcome) in claims.iter().zip([step(9.0, 1.0), 3.0.into(), 2.0.into()]) {
        study.tell(claim.token, &Outcome::Measured(outcome), "t").unwrap();
    }
    let best = || -> Vec<u64> {
        study.store().best("s", 9).unwrap().iter().map(|trial| trial.id).collect()
    };
    assert_eq!(best(), [2, 1]);
    study.store().recount("s").unwrap();
    assert_eq!(best(), [2, 1]);
    assert_eq!(study.trial(0).unwrap().outcome(), Some(&Outcome::Measured(step(9.0, 1.0))));
    // What was stopped elsewhere comes with its curve.
    let addition = |steps: &[Measurement]| Addition {
        steps: steps.to_vec(),
        ..Addition::finished("a", point(), Outcome::Measured(step(2.0, 0.5)))
    };
    let steps = [step(1.0, 1.0), step(2.0, 0.5)];
    let ids = study.add(&[addition(&steps)]).unwrap();
    assert_eq!((study.add(&[addition(&steps)]).unwrap(), best()), (ids.clone(), vec![2, 1]));
    assert_eq!(curve(&study, ids[0]), [(1.0, 1.0), (2.0, 0.5)]);
    assert!(message(study.add(&[addition(&steps[1..])])).contains("was used before"));
}
