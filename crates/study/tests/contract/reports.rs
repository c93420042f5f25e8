//! Reports: counts, the best, one trial, the condition of it all.

use super::*;
use wimble_study::Attributes;
use wimble_study::attributes::LARGEST;

pub fn counts_and_best_follow_every_change(place: &Place) {
    for direction in [Direction::Minimise, Direction::Maximise] {
        let name = format!("{direction:?}");
        let settings = Settings { name, ..settings() }.goal(direction).batch_size(9);
        let study = open(place, settings.clone().retries(0));
        let claims = study.ask("w", "k", 8).unwrap();
        let values = [3.0, -1.0, 3.0, -1.0, 0.0];
        // Told from the last to the first: of equals, the one told first is better.
        for (claim, &value) in claims.iter().zip(&values).rev() {
            study.tell(claim.token, &Outcome::from(value), "t").unwrap();
        }
        study.tell(claims[5].token, &Outcome::Infeasible, "t").unwrap();
        study.release(claims[6].token).unwrap();
        let expected =
            Counts { queued: 2, running: 1, valued: 5, infeasible: 1, ..Counts::default() };
        assert_eq!(study.counts().unwrap(), expected);
        place.clock.advance(LEASE);
        // Wants more than the queue has: notice, then the end of the lease, and of the trial.
        study.set_budget(1).unwrap();
        assert_eq!(study.ask("v", "notice", 3).unwrap().len(), 2);
        place.clock.advance(LEASE / 2);
        assert_eq!(study.ask("v", "end", 3).unwrap().len(), 2);
        for claim in study.ask("v", "again", 3).unwrap() {
            study.release(claim.token).unwrap();
        }
        let counts = study.counts().unwrap();
        assert_eq!((counts.running, counts.failed, counts.total()), (0, 1, 9));
        let best = |count| -> Vec<u64> {
            study.best_trials(count).unwrap().iter().map(|trial| trial.id).collect()
        };
        match direction {
            Direction::Minimise => assert_eq!(best(9), [3, 1, 4, 2, 0]),
            Direction::Maximise => assert_eq!(best(9), [2, 0, 4, 3, 1]),
        }
        assert_eq!((best(2).len(), best(0).len()), (2, 0));
        let failed = Filter { outcome: Some(OutcomeKind::Failed), ..Filter::default() };
        assert_eq!(study.trials(&failed).unwrap()[0].id, 7);
    }
}

pub fn one_trial_is_found_by_its_number(place: &Place) {
    let study = open(place, settings());
    place.clock.set(Timestamp(5));
    let claim = one(&study, "w", "k");
    place.clock.set(Timestamp(9));
    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    let trial = study.trial(0).unwrap();
    assert_eq!(trial, study.trials(&Filter::default()).unwrap()[0]);
    assert_eq!((trial.proposed, trial.started()), (Timestamp(5), Some(Timestamp(5))));
    assert_eq!((trial.finished(), trial.worker()), (Some(Timestamp(9)), Some("w")));
    for missing in [1, u64::MAX] {
        let error = message(study.trial(missing));
        assert!(error.contains(&format!("has no trial {missing}: it has 1")), "{error}");
    }
}

pub fn attributes_are_kept_with_the_outcome_and_never_change(place: &Place) {
    let study = open(place, settings());
    let claims = study.ask("w", "k", 3).unwrap();
    let attributes =
        |json: serde_json::Value| -> Attributes { serde_json::from_value(json).unwrap() };
    let rich = attributes(serde_json::json!({
        "": null, "accuracy": 0.1 + 0.2, "note": "nul \0, é, \u{fffd}", "steps": [1, -2, u64::MAX], "deep": { "a": {} }
    }));
    for _ in 0..2 {
        study.tell_with(claims[0].token, &Outcome::from(1.0), &rich, "t").unwrap();
    }
    study.tell_with(claims[1].token, &Outcome::Failed("why".into()), &rich, "t").unwrap();
    study.tell(claims[2].token, &Outcome::Infeasible, "t").unwrap();
    let told = |trial| study.trial(trial).unwrap().attributes().cloned().unwrap();
    assert_eq!((told(0), told(1), told(2)), (rich.clone(), rich.clone(), Attributes::default()));
    assert_eq!(study.best_trials(1).unwrap()[0].attributes(), Some(&rich));
    let other = attributes(serde_json::json!({ "accuracy": 0.5 }));
    let error = message(study.tell_with(claims[0].token, &Outcome::from(1.0), &other, "t"));
    assert!(error.contains("was used before"), "{error}");
    let large = attributes(serde_json::json!({ "log": "x".repeat(LARGEST) }));
    let claim = one(&study, "w", "k2");
    let error = message(study.tell_with(claim.token, &Outcome::from(1.0), &large, "t"));
    assert!(error.contains("bytes of JSON, but must be 16384 at most"), "{error}");
    assert!(matches!(state(&study, claim.trial), State::Running(_)));
    let added = |attributes: &Attributes| Addition {
        attributes: attributes.clone(),
        ..Addition::finished("a", claim.configuration.clone(), Outcome::from(2.0))
    };
    let ids = study.add(&[added(&rich)]).unwrap();
    assert_eq!((study.add(&[added(&rich)]).unwrap(), told(ids[0])), (ids.clone(), rich));
    assert!(message(study.add(&[added(&other)])).contains("was used before"));
    assert!(message(study.add(&[added(&large)])).contains("16384 at most"));
}

pub fn a_diagnosis_shows_who_holds_what(place: &Place) {
    let study = open(place, settings());
    one(&study, "early", "k1");
    place.clock.advance(LEASE / 2);
    one(&study, "late", "k2");
    place.clock.advance(LEASE / 2);
    let diagnosis = Diagnosis::of(&*place.store).unwrap();
    assert_eq!(diagnosis.condition.now, place.clock.now());
    let [health] = &diagnosis.studies[..] else { panic!("one study") };
    let held: Vec<(u64, &str, bool)> =
        health.leases.iter().map(|held| (held.trial, held.worker.as_str(), held.dead)).collect();
    assert_eq!(held, [(0, "early", true), (1, "late", false)]);
    assert_eq!((health.name.as_str(), health.counts.running), ("s", 2));
    assert_eq!(health.trouble, None);
}

pub fn long_texts_are_cut(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    let failure = Failure {
        reason: format!("é{}", "r".repeat(9_000)),
        output: format!("{}é\0!", "é".repeat(50_000)),
    };
    let outcome = Outcome::Failed(failure);
    for _ in 0..2 {
        study.tell(claim.token, &outcome, "t").unwrap();
    }
    let trial = study.trial(0).unwrap();
    let Some(Outcome::Failed(kept)) = trial.outcome() else { panic!("it failed") };
    assert!(kept.reason.starts_with("ér") && kept.reason.len() <= 2 << 10);
    assert!(kept.output.ends_with("é\u{fffd}!"));
    assert!((16_000..17_000).contains(&kept.output.len()), "{}", kept.output.len());
}
