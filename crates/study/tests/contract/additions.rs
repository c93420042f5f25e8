//! Additions: guesses of users, and trials from elsewhere.

use super::*;

fn guess(rate: f64) -> Configuration {
    [("rate", Value::Real(rate)), ("kind", Value::from("a"))].into_iter().collect()
}

pub fn what_a_user_enqueues_is_run_first(place: &Place) {
    let study = open(place, settings().batch_size(4).budget(5));
    let first = one(&study, "w0", "k0");
    assert_eq!(study.enqueue("mine", guess(0.25)).unwrap(), 4);
    assert_eq!(study.enqueue("mine-2", guess(0.5)).unwrap(), 5);
    let claims = study.ask("w1", "k1", 3).unwrap();
    let ids: Vec<u64> = claims.iter().map(|claim| claim.trial).collect();
    assert_eq!(ids, [4, 5, 1]);
    assert_eq!(claims[0].configuration, guess(0.25));
    // It counts against the budget, but is taken beyond it.
    assert_eq!(study.trial(4).unwrap().origin, Origin::Enqueued);
    assert_eq!(study.ask("w2", "k2", 9).unwrap().len(), 2);
    study.enqueue("mine-3", guess(0.75)).unwrap();
    assert_eq!(one(&study, "w3", "k3").configuration, guess(0.75));
    // Given back, it is first again.
    study.release(claims[0].token).unwrap();
    assert_eq!(one(&study, "w4", "k4").trial, 4);
    assert_eq!(study.trial(first.trial).unwrap().origin, Origin::Proposed);
    let outside = message(study.enqueue("bad", guess(7.0)));
    assert!(outside.contains("rate"), "{outside}");
}

pub fn imported_trials_are_evidence_and_leave_the_budget_alone(place: &Place) {
    let study = open(place, settings().budget(2));
    let told = |key: &str, rate, outcome| Addition::finished(key, guess(rate), outcome);
    let named = Addition {
        worker: Some("elsewhere".into()),
        started: Some(Timestamp(-5)),
        finished: Some(Timestamp(7)),
        ..told("c", 0.3, Outcome::Infeasible)
    };
    let additions = [
        told("a", 0.1, Outcome::from(-3.0)),
        told("b", 0.2, Outcome::Failed("it broke".into())),
        named,
    ];
    place.clock.set(Timestamp(1_000));
    assert_eq!(study.add(&additions).unwrap(), [0, 1, 2]);
    let counts = study.counts().unwrap();
    assert_eq!((counts.valued, counts.failed, counts.infeasible, counts.imported), (1, 1, 1, 3));
    let trial = study.trial(2).unwrap();
    assert_eq!((trial.started(), trial.finished()), (Some(Timestamp(-5)), Some(Timestamp(7))));
    assert_eq!((trial.worker(), trial.origin), (Some("elsewhere"), Origin::Imported));
    assert_eq!(study.trial(0).unwrap().finished(), Some(Timestamp(1_000)));
    assert_eq!(study.best().unwrap().unwrap().value, -3.0);
    let mut follower = Follower::new(&settings());
    follower.catch_up(&*place.store).unwrap();
    assert_eq!((follower.told(), follower.history().len()), (&[0, 1, 2][..], 3));
    assert_eq!(study.ask("w", "k", 5).unwrap().len(), 2);
    // No token was ever given for one.
    let error = message(study.tell(Token { trial: 0, fence: 1 }, &Outcome::from(1.0), "t"));
    assert!(error.contains("never gave the token 0.1"), "{error}");
    let error = message(study.add(&[told("d", 0.4, Outcome::from(f64::NAN))]));
    assert!(error.contains("not finite"), "{error}");
}

pub fn adding_again_changes_nothing_and_other_contents_are_refused(place: &Place) {
    let study = open(place, settings());
    let queued = Addition::queued("q", guess(0.1));
    let told = Addition::finished("t", guess(0.2), Outcome::from(-0.0));
    let both = [queued.clone(), told.clone()];
    let ids = study.add(&both).unwrap();
    let claim = one(&study, "w", "k");
    study.tell(claim.token, &Outcome::from(5.0), "t").unwrap();
    let before = study.trials(&Filter::default()).unwrap();
    assert_eq!(study.add(&both).unwrap(), ids);
    assert_eq!(study.trials(&Filter::default()).unwrap(), before);
    for (other, words) in [
        (Addition::queued("q", guess(0.3)), "to put trial 0 at"),
        (Addition::finished("q", guess(0.1), Outcome::from(5.0)), "to put trial 0 at"),
        (Addition::finished("t", guess(0.2), Outcome::from(1.0)), "to add trial 1 at"),
        (Addition::queued("", guess(0.3)), "key of an addition is empty"),
    ] {
        let error = message(study.add(&[other]));
        assert!(error.contains(words), "{error}");
    }
}

pub fn additions_are_taken_together_or_not_at_all(place: &Place) {
    let study = open(place, settings());
    study.enqueue("known", guess(0.1)).unwrap();
    let sequence = || place.store.changes_since("s", 0, 9).unwrap().len();
    let before = sequence();
    let twice = [Addition::queued("x", guess(0.2)), Addition::queued("x", guess(0.3))];
    assert!(message(study.add(&twice)).contains("number 0 of this call"));
    let clash = [Addition::queued("y", guess(0.2)), Addition::queued("known", guess(0.3))];
    assert!(message(study.add(&clash)).contains("to put trial 0"));
    assert_eq!((sequence(), study.counts().unwrap().total()), (before, 1));
    assert_eq!(study.add(&[]).unwrap(), [0_u64; 0]);
}

pub fn what_imports_leave_of_a_finite_space_is_tried(place: &Place) {
    let space = SearchSpace::new([Dimension::integer("n", 1, 10)]).unwrap();
    let study = open(place, Settings { space, ..settings() }.batch_size(4).budget(10));
    let imports: Vec<Addition> = (1..=7_i64)
        .map(|n| {
            let configuration = [("n", n)].into_iter().collect();
            Addition::finished(format!("{n}"), configuration, Outcome::from(n as f64))
        })
        .collect();
    study.add(&imports).unwrap();
    assert_eq!(study.ask("w", "k1", 2).unwrap().len(), 2);
    assert_eq!(study.ask("v", "k2", 2).unwrap().len(), 1);
    assert!(study.ask("u", "k3", 2).unwrap().is_empty());
}
