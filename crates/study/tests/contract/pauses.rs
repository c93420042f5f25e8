//! Pauses and notes: what people decide while workers work.

use super::*;

pub fn a_paused_study_begins_nothing_and_what_runs_goes_on(place: &Place) {
    let study = open(place, settings().budget(6).batch_size(2));
    let first = one(&study, "a", "k1");
    assert!(!study.is_paused().unwrap());
    study.set_paused(true).unwrap();
    assert!(study.is_paused().unwrap() && place.store.study("s").unwrap().paused);
    // The queue has the second of the batch; nobody gets it, and nobody is asked to propose.
    let refused = message(study.ask("b", "k2", 1));
    assert!(
        refused.contains("study `s` is paused") && refused.contains("wimble resume s"),
        "{refused}"
    );
    assert!(matches!(study.ask("b", "k2", 4), Err(Error::Paused { .. })));
    let fresh =
        Ask { worker: "b", incarnation: None, key: "k9", wanted: 1, fresh: true, plans: false };
    assert!(matches!(place.store.ask("s", &fresh, None), Err(Error::Paused { .. })));
    study.enqueue("mine", point()).unwrap();
    assert!(matches!(study.ask("b", "k3", 1), Err(Error::Paused { .. })));
    // The holder keeps what it has, however many it wants, and repeats and heartbeats as ever.
    assert_eq!(study.ask("a", "k4", 3).unwrap(), std::slice::from_ref(&first));
    assert_eq!(study.ask("a", "k1", 1).unwrap(), std::slice::from_ref(&first));
    study.heartbeat(first.token).unwrap();
    let sequence = place.store.sequence("s").unwrap();
    study.tell(first.token, &1.0.into(), "t").unwrap();
    assert_eq!(place.store.sequence("s").unwrap(), sequence + 1);
    // A trial that nobody looks after is not given away either.
    study.set_paused(false).unwrap();
    let second = one(&study, "a", "k5");
    study.set_paused(true).unwrap();
    place.clock.advance(LEASE * 10);
    assert!(matches!(study.ask("b", "k6", 1), Err(Error::Paused { .. })));
    study.heartbeat(second.token).unwrap();
    study.set_paused(false).unwrap();
    assert_eq!(one(&study, "b", "k7").trial, if second.trial == 1 { 2 } else { 1 });
    assert_eq!(study.settings(), Study::open(Arc::clone(&place.store), "s").unwrap().settings());
}

pub fn a_paused_study_whose_budget_is_spent_is_over(place: &Place) {
    let study = open(place, settings().budget(1));
    let claim = one(&study, "a", "k1");
    study.set_paused(true).unwrap();
    study.tell(claim.token, &1.0.into(), "t").unwrap();
    assert!(study.ask("a", "k2", 1).unwrap().is_empty());
    assert!(matches!(place.store.set_paused("none", true), Err(Error::UnknownStudy { .. })));
}

pub fn notes_stay_beside_their_trials(place: &Place) {
    let study = open(place, settings().budget(6));
    for key in ["k1", "k2"] {
        let claim = one(&study, "a", key);
        study.tell(claim.token, &1.0.into(), "t").unwrap();
    }
    let (trial, sequence) = (study.trial(1).unwrap(), place.store.sequence("s").unwrap());
    assert!(study.notes().unwrap().is_empty());
    study.note(1, "  crust too dark <b>\n'; -- ").unwrap();
    study.note(0, "first").unwrap();
    study.note(0, "again").unwrap();
    let texts = || -> Vec<(u64, String)> {
        study.notes().unwrap().into_iter().map(|note| (note.trial, note.text)).collect()
    };
    assert_eq!(texts(), [(0, "again".to_owned()), (1, "crust too dark <b>\n'; --".to_owned())]);
    assert_eq!(study.notes().unwrap()[0].at, place.clock.now());
    study.note(0, " ").unwrap();
    assert_eq!(texts().len(), 1);
    // They are no changes.
    assert_eq!((study.trial(1).unwrap(), place.store.sequence("s").unwrap()), (trial, sequence));
    let unknown = message(study.note(2, "x"));
    assert!(unknown.contains("study `s` has no trial 2"), "{unknown}");
    let long = message(study.note(1, &"x".repeat(10_001)));
    assert!(long.contains("note is 10001 bytes long"), "{long}");
    assert!(study.note(1, "a\0b").is_err());
    // A copy has them, and they go with the study.
    wimble_study::copy(&*place.store, "s", &*place.store, "t").unwrap();
    wimble_study::copy(&*place.store, "s", &*place.store, "t").unwrap();
    assert_eq!(place.store.notes("t").unwrap()[0].text, "crust too dark <b>\n'; --");
    place.store.delete("s").unwrap();
    let again = open(place, settings().budget(6));
    one(&again, "a", "k1");
    assert!(again.notes().unwrap().is_empty());
    assert!(matches!(place.store.notes("none"), Err(Error::UnknownStudy { .. })));
}
