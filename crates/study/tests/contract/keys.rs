//! Keys: asking and telling again.

use super::*;

pub fn asking_again_with_the_same_key_gives_the_same(place: &Place) {
    let study = open(place, settings());
    let first = study.ask("w", "k", 3).unwrap();
    assert_eq!(study.ask("w", "k", 3).unwrap(), first);
    study.tell(first[1].token, &Outcome::from(1.0), "t").unwrap();
    place.clock.advance(LEASE);
    let sequence = place.store.changes_since("s", 0, 100).unwrap().last().unwrap().sequence();
    assert_eq!(study.ask("w", "k", 3).unwrap(), first);
    assert!(place.store.changes_since("s", sequence, 100).unwrap().is_empty());
    for reused in [study.ask("v", "k", 3), study.ask("w", "k", 2)] {
        let error = message(reused);
        assert!(error.contains("the client key `k` was used before, by worker `w`"), "{error}");
    }
}

pub fn a_restarted_worker_gets_its_own_back(place: &Place) {
    let study = open(place, settings());
    let first = study.ask("w", "k1", 2).unwrap();
    place.clock.advance(LEASE / 2);
    let restarted = open(place, settings());
    let mut again = restarted.ask("w", "k2", 3).unwrap();
    let third = again.pop().unwrap();
    assert_eq!(again, first);
    assert_eq!(third.trial, 2);
    // Coming back renewed the leases.
    place.clock.advance(LEASE * 3 / 4);
    assert_eq!(left_to_take(&study), 0);
    assert_eq!(restarted.ask("w", "k3", 1).unwrap(), first[..1]);
}

pub fn telling_again_with_the_same_key_is_acknowledged(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    for _ in 0..3 {
        study.tell(claim.token, &Outcome::from(1.5), "t").unwrap();
        place.clock.advance(LEASE);
    }
    assert_eq!(study.progress().unwrap().finished, 1);
    let error = message(study.tell(claim.token, &Outcome::from(2.5), "t"));
    assert!(error.contains("key `t` was used before, to tell trial 0 the outcome 1.5"), "{error}");
    let error = message(study.tell(claim.token, &Outcome::from(1.5), "other"));
    assert!(error.contains("trial 0 is finished already, with the outcome 1.5"), "{error}");
}

pub fn answers_are_forgotten_long_after_their_trials_ended(place: &Place) {
    let study = open(place, settings().lease(ANSWERS_KEPT * 10));
    let done = one(&study, "w", "done");
    let held = one(&study, "v", "held");
    place.clock.advance(ANSWERS_KEPT);
    study.tell(done.token, &Outcome::from(1.0), "t").unwrap();
    one(&study, "u1", "later-1");
    // The trial ended just now: the answer stands.
    assert_eq!(study.ask("w", "done", 1).unwrap(), std::slice::from_ref(&done));
    place.clock.advance(ANSWERS_KEPT);
    one(&study, "u2", "later-2");
    assert_eq!(one(&study, "w", "done").trial, 4);
    // Its trial is running: its answer stands for as long as it takes.
    assert_eq!(study.ask("v", "held", 1).unwrap(), [held]);
}
