//! Transfers: a study of another storage, taken over with its numbers.

use wimble_study::store::Transfer;
use wimble_study::{Attributes, Copied, Memory, copy};

use super::*;

/// A study elsewhere: trial 0 failed, 1 runs, 2 finished first with an attribute, 3 waits, 4 was imported.
fn elsewhere() -> (Arc<dyn Store>, Study, Claim) {
    let store: Arc<dyn Store> = Arc::new(Memory::new(ManualClock::default()));
    let study = Study::open_or_create(Arc::clone(&store), settings().batch_size(4)).unwrap();
    let claims = study.ask("w", "k", 3).unwrap();
    let attributes: Attributes = serde_json::from_str(r#"{"loss": [1, 2]}"#).unwrap();
    study.tell_with(claims[2].token, &Outcome::from(2.5), &attributes, "t2").unwrap();
    study.tell(claims[0].token, &Outcome::Failed("it broke".into()), "t0").unwrap();
    study.add(&[Addition::finished("a", point(), Outcome::from(7.0))]).unwrap();
    (store, study, claims[1].clone())
}

fn history(store: &dyn Store, settings: &Settings) -> (Vec<u64>, Vec<Option<f64>>) {
    let mut follower = Follower::new(settings);
    follower.catch_up(store).unwrap();
    let values = follower.history().objective().values().collect();
    (follower.told().to_vec(), values)
}

pub fn a_copy_has_the_same_numbers_history_and_attributes(place: &Place) {
    let (source, study, claim) = elsewhere();
    let copied = copy(&*source, "s", &*place.store, "copy").unwrap();
    assert_eq!(copied, Copied { trials: 5, new: 5, running: 1 });
    let there = study.trials(&Filter::default()).unwrap();
    let here = place.store.trials("copy", &Filter::default()).unwrap();
    for (there, here) in there.iter().zip(&here) {
        assert_eq!(
            (there.id, &there.configuration, there.origin),
            (here.id, &here.configuration, here.origin)
        );
        assert_eq!((there.proposed, there.lost), (here.proposed, here.lost));
        match &there.state {
            State::Running(_) => assert_eq!(Stage::of(&here.state), Stage::Queued),
            State::Queued(_) => assert_eq!(there.state, here.state),
            State::Paused(_) | State::Finished(_) => assert_eq!(there.state, here.state),
        }
    }
    let renamed = Settings { name: "copy".into(), ..settings() };
    assert_eq!(history(&*place.store, &renamed), history(&*source, &settings()));
    let record = place.store.study("copy").unwrap();
    assert_eq!(record.engines, source.study("s").unwrap().engines);
    let counts = place.store.counts("copy").unwrap();
    assert_eq!(
        (counts.queued, counts.running, counts.valued, counts.failed, counts.imported),
        (2, 0, 2, 1, 1)
    );
    // A token of the original is worth nothing here.
    let error = message(place.store.tell("copy", claim.token, &Outcome::from(1.0), "t"));
    assert!(error.contains("no longer holds trial 1"), "{error}");
    // Again: nothing changes, down to the sequence numbers.
    let sequence = place.store.sequence("copy").unwrap();
    assert_eq!(copy(&*source, "s", &*place.store, "copy").unwrap().new, 0);
    assert_eq!(place.store.sequence("copy").unwrap(), sequence);
    assert_eq!(place.store.trials("copy", &Filter::default()).unwrap(), here);
}

pub fn a_backup_of_a_running_study_is_brought_up_to_date(place: &Place) {
    let (source, study, claim) = elsewhere();
    copy(&*source, "s", &*place.store, "s").unwrap();
    let backup = Study::open(Arc::clone(&place.store), "s").unwrap();
    let mut follower = Follower::new(&settings());
    follower.catch_up(&*place.store).unwrap();
    study.tell(claim.token, &Outcome::from(-1.0), "t1").unwrap();
    let more = study.ask("w2", "k2", 3).unwrap();
    // Trial 7 finishes before 5 and 6: the copy takes 5 and 6 first all the same.
    study.tell(more[2].token, &Outcome::from(9.0), "t").unwrap();
    study.set_budget(321).unwrap();
    let copied = copy(&*source, "s", &*place.store, "s").unwrap();
    assert_eq!((copied.trials, copied.running), (study.counts().unwrap().total(), 2));
    assert_eq!(backup.best().unwrap().unwrap().value, -1.0);
    assert_eq!(place.store.study("s").unwrap().settings.budget, 321);
    // Whoever followed the copy from the beginning missed nothing.
    follower.catch_up(&*place.store).unwrap();
    assert_eq!(follower.told(), &history(&*source, &settings()).0);
    // The copy goes on by itself, with numbers of its own.
    let mine = backup.ask("v", "k", 3).unwrap();
    assert!(mine.iter().all(|claim| claim.token.fence > more[2].token.fence));
    backup.tell(mine[0].token, &Outcome::from(3.0), "t").unwrap();
    let error = message(copy(&*source, "s", &*place.store, "s"));
    assert!(error.contains("no copy any more"), "{error}");
}

pub fn what_is_no_copy_is_refused_and_nothing_changes(place: &Place) {
    let (source, study, _) = elsewhere();
    let other = open(place, settings().seed(Seed(1)));
    let error = message(copy(&*source, "s", &*place.store, "s"));
    assert!(error.contains("exists with other settings"), "{error}");
    drop(other);
    place.store.delete("s").unwrap();
    let mut trials = study.trials(&Filter::default()).unwrap();
    place.store.create(&Record::new(settings())).unwrap();
    let transfer = |trials: &[wimble_study::Trial]| {
        place.store.transfer("s", &Transfer { engines: &[], trials, steps: &[] })
    };
    let gap = message(transfer(&trials[1..2]));
    assert!(gap.contains("trial 1 comes before trial 0"), "{gap}");
    trials[4].id = 9;
    assert!(message(transfer(&trials)).contains("trial 9 comes before trial 4"));
    assert_eq!(place.store.counts("s").unwrap().total(), 0);
    trials[4].id = 4;
    transfer(&trials).unwrap();
    trials[3].configuration = point();
    let error = message(transfer(&trials));
    assert!(error.contains("trial 3 is"), "{error}");
    let error = message(copy(&*source, "s", &*source, "s"));
    assert!(error.contains("this is the study itself"), "{error}");
}

pub fn curves_are_copied_with_the_ends_of_their_trials(place: &Place) {
    let goal = Goal::default().fidelity("epochs", 1.0, 81.0).unwrap();
    let source: Arc<dyn Store> = Arc::new(Memory::new(ManualClock::default()));
    let settings = settings().goal(goal);
    let study = Study::open_or_create(Arc::clone(&source), settings.clone()).unwrap();
    let step = |fidelity, value: f64| Measurement { fidelity: Some(fidelity), ..value.into() };
    let claims = study.ask("w", "k", 2).unwrap();
    source.report("s", claims[0].token, &[step(1.0, 3.0), step(9.0, 2.0)]).unwrap();
    source.report("s", claims[1].token, &[step(1.0, 5.0)]).unwrap();
    study.tell(claims[0].token, &Outcome::Measured(step(81.0, 1.0)), "t").unwrap();
    let measured = |store: &dyn Store, trial| -> Vec<Measurement> {
        let steps = store.steps("s", trial).unwrap();
        steps.into_iter().map(|step| step.measurement).collect()
    };
    for _ in 0..2 {
        copy(&*source, "s", &*place.store, "s").unwrap();
        assert_eq!(measured(&*place.store, 0), measured(&*source, 0));
        assert_eq!(measured(&*place.store, 0).len(), 2);
        // A trial that runs is evaluated anew here, if at all.
        assert!(measured(&*place.store, 1).is_empty());
    }
    study.tell(claims[1].token, &Outcome::Measured(step(27.0, 4.0)), "t").unwrap();
    copy(&*source, "s", &*place.store, "s").unwrap();
    assert_eq!(measured(&*place.store, 1), measured(&*source, 1));
    let values = |store: &dyn Store| history(store, &settings);
    assert_eq!(values(&*place.store), values(&*source));
}
