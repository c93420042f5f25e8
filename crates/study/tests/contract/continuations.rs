//! Continuations: trials that were evaluated in part wait outside the queue, and only a plan continues them.

use super::*;
use wimble::curves::Event;
use wimble_study::store::Continuation;

fn goal() -> Goal {
    Goal::default().fidelity("epochs", 1.0, 81.0).unwrap()
}

fn step(fidelity: f64, value: f64) -> Measurement {
    Measurement { fidelity: Some(fidelity), ..value.into() }
}

/// A configuration that no other call gives.
fn other(rate: f64) -> Configuration {
    [("rate", Value::Real(rate)), ("kind", Value::from("a"))].into_iter().collect()
}

/// New configurations that go up to a fidelity, and paused trials that go on.
fn plan(known: u64, new: &[(f64, f64)], continued: &[(u64, f64)]) -> Proposal {
    let continued = continued.iter().map(|&(trial, until)| Continuation { trial, until });
    Proposal {
        untils: new.iter().map(|(_, until)| *until).collect(),
        continued: continued.collect(),
        ..proposal(known, new.iter().map(|(rate, _)| other(*rate)).collect())
    }
}

fn ask(key: &str, wanted: usize) -> Ask<'_> {
    Ask { worker: key, incarnation: None, key, wanted, fresh: false, plans: true }
}

fn claims(reply: Reply) -> Vec<Claim> {
    match reply {
        Reply::Claims(claims) => claims,
        Reply::Propose { .. } => panic!("{reply:?}"),
    }
}

/// One trial that runs up to 3 epochs.
fn begun(study: &Study) -> Claim {
    let new = plan(0, &[(0.1, 3.0)], &[]);
    claims(study.store().ask("s", &ask("a", 1), Some(&new)).unwrap()).remove(0)
}

pub fn a_paused_trial_waits_outside_the_queue_until_a_plan_continues_it(place: &Place) {
    let study = open(place, settings().goal(goal()).budget(2));
    let store = study.store();
    let claim = begun(&study);
    assert_eq!((claim.trial, claim.until), (0, Some(3.0)));
    study.report(claim.token, &[step(1.0, 5.0), step(3.0, 4.0)]).unwrap();
    place.clock.set(Timestamp(9));
    for _ in 0..2 {
        study.pause_trial(claim.token).unwrap();
    }
    let State::Paused(pause) = state(&study, 0) else { panic!("{:?}", state(&study, 0)) };
    assert_eq!((pause.at, pause.lease.worker.as_str(), pause.after_step), (Timestamp(9), "a", 2));
    let expected = Counts { paused: 1, ..Counts::default() };
    assert_eq!((study.counts().unwrap(), expected.total()), (expected, 1));
    let paused = Filter { stage: Some(Stage::Paused), ..Filter::default() };
    let queued = Filter { stage: Some(Stage::Queued), ..Filter::default() };
    assert_eq!(study.trials(&paused).unwrap().len(), 1);
    assert!(study.trials(&queued).unwrap().is_empty());
    for refused in [
        message(study.heartbeat(claim.token)),
        message(study.report(claim.token, &[step(4.0, 1.0)])),
        message(study.tell(claim.token, &1.0.into(), "t")),
        message(study.release(claim.token)),
    ] {
        assert!(refused.contains("it was paused"), "{refused}");
    }
    // Who does not plan never gets it, and the budget is spent with the second trial.
    assert_eq!(one(&study, "b", "b").trial, 1);
    assert!(study.ask("c", "c", 1).unwrap().is_empty());
    let wish = store.ask("s", &ask("d", 2), None).unwrap();
    assert_eq!(wish, Reply::Propose { count: 1, room: 0, issued: 2 });
    let next = claims(store.ask("s", &ask("d", 2), Some(&plan(2, &[], &[(0, 5.0)]))).unwrap());
    assert_eq!(next.len(), 1, "the other one runs");
    let next = &next[0];
    assert_eq!((next.trial, next.until, next.attempt), (0, Some(5.0), 1));
    assert_eq!(next.configuration, claim.configuration);
    assert!(next.token.fence > claim.token.fence);
    let late = message(study.pause_trial(claim.token));
    assert!(late.contains("worker `d` has the trial now"), "{late}");
    // Asking again gives the same; once it is paused again there is nothing to give.
    let again = claims(store.ask("s", &ask("d", 2), None).unwrap());
    assert_eq!(&again[..], std::slice::from_ref(next));
    study.report(next.token, &[step(5.0, 3.0)]).unwrap();
    study.tell(next.token, &step(5.0, 3.0).into(), "t").unwrap();
    assert_eq!(study.steps(0).unwrap().len(), 3);
    let late = message(study.pause_trial(next.token));
    assert!(late.contains("finished already"), "{late}");
    assert_eq!((study.counts().unwrap().paused, study.counts().unwrap().valued), (0, 1));
}

pub fn a_plan_that_names_what_is_not_paused_any_more_is_dropped(place: &Place) {
    let study = open(place, settings().goal(goal()).budget(9));
    let store = study.store();
    let claim = begun(&study);
    study.report(claim.token, &[step(3.0, 4.0)]).unwrap();
    study.pause_trial(claim.token).unwrap();
    // Two processes made the same plan.
    let same = plan(1, &[], &[(0, 5.0)]);
    let first = claims(store.ask("s", &ask("b", 1), Some(&same)).unwrap());
    assert_eq!((first[0].trial, first[0].until), (0, Some(5.0)));
    let dropped = store.ask("s", &ask("c", 1), Some(&same)).unwrap();
    assert!(matches!(dropped, Reply::Propose { count: 1, .. }), "{dropped:?}");
    // What was planned beyond those wanted waits in the queue, and is given as it was planned.
    let beyond = plan(1, &[(0.2, 3.0), (0.3, 4.0)], &[]);
    let next = claims(store.ask("s", &ask("c", 1), Some(&beyond)).unwrap());
    assert_eq!((next[0].trial, next[0].until), (1, Some(3.0)));
    assert_eq!(study.counts().unwrap().queued, 1);
    let next = claims(store.ask("s", &ask("d", 1), None).unwrap());
    assert_eq!((next[0].trial, next[0].until), (2, Some(4.0)));
    for until in [0.0, -1.0] {
        let refused = message(store.ask("s", &ask("e", 1), Some(&plan(3, &[(0.4, until)], &[]))));
        assert!(refused.contains("fidelity of a plan"), "{refused}");
    }
    assert_eq!(study.counts().unwrap().total(), 3, "a refused call changes nothing");
}

pub fn how_far_a_trial_goes_stays_with_it(place: &Place) {
    let study = open(place, settings().goal(goal()).budget(9));
    let store = study.store();
    let claim = begun(&study);
    study.release(claim.token).unwrap();
    let again = one(&study, "b", "b");
    assert_eq!((again.trial, again.until), (0, Some(3.0)));
    study.report(again.token, &[step(3.0, 4.0)]).unwrap();
    study.pause_trial(again.token).unwrap();
    let onwards = plan(1, &[], &[(0, 5.0)]);
    claims(store.ask("s", &ask("c", 1), Some(&onwards)).unwrap());
    // Its worker is lost: another takes it over, as far as it was to go.
    place.clock.set(Timestamp(0).after(LEASE * 2));
    assert!(store.ask("s", &ask("d", 1), None).is_ok(), "which gives notice");
    place.clock.set(Timestamp(0).after(LEASE * 4));
    let taken = claims(store.ask("s", &ask("d", 1), None).unwrap());
    assert_eq!((taken[0].trial, taken[0].until, taken[0].attempt), (0, Some(5.0), 2));
}

pub fn steps_and_ends_come_in_one_order_to_whoever_reads_them(place: &Place) {
    let settings = settings().goal(goal()).budget(9);
    let study = open(place, settings.clone());
    let mut eager = Follower::new(&settings);
    let mut look = || eager.catch_up(&**study.store()).unwrap();
    let claims = study.ask("w", "k", 3).unwrap();
    study.report(claims[0].token, &[step(1.0, 5.0)]).unwrap();
    look();
    study.tell(claims[1].token, &Outcome::failed(), "t").unwrap();
    look();
    study.report(claims[0].token, &[step(2.0, 4.0)]).unwrap();
    study.tell(claims[2].token, &7.0.into(), "t").unwrap();
    study.report(claims[0].token, &[step(3.0, 3.0)]).unwrap();
    look();
    let imported = Addition {
        outcome: Some(step(2.0, 6.0).into()),
        steps: vec![step(1.0, 8.0), step(2.0, 6.0)],
        ..Addition::queued("i", other(0.5))
    };
    study.add(&[imported]).unwrap();
    study.tell(claims[0].token, &step(3.0, 3.0).into(), "t").unwrap();
    look();
    let mut late = Follower::new(&settings);
    late.catch_up(&**study.store()).unwrap();
    let events =
        |follower: &Follower| -> Vec<Event> { follower.history().curves().since(0).collect() };
    let expected = [
        Event::Step(0, 0),
        Event::End(1),
        Event::Step(0, 1),
        Event::End(2),
        Event::Step(0, 2),
        Event::Step(3, 0),
        Event::Step(3, 1),
        Event::End(3),
        Event::End(0),
    ];
    // The outcome of trial 2 is a step of its own.
    let without = |all: Vec<Event>| -> Vec<Event> {
        all.into_iter().filter(|event| *event != Event::Step(2, 0)).collect()
    };
    assert_eq!(without(events(&late)), expected);
    assert_eq!(events(&eager), events(&late));
    assert_eq!(eager.told(), late.told());
}

pub fn paused_trials_are_copied_with_their_steps(place: &Place) {
    let study = open(place, settings().goal(goal()).budget(9));
    let claim = begun(&study);
    study.report(claim.token, &[step(1.0, 5.0), step(3.0, 4.0)]).unwrap();
    study.pause_trial(claim.token).unwrap();
    let store = study.store();
    let copied = |new: u64| {
        let copied = wimble_study::copy::copy(&**store, "s", &**store, "copy").unwrap();
        assert_eq!((copied.trials, copied.new), (1, new));
        let copy = Study::open(Arc::clone(store), "copy").unwrap();
        let trial = copy.trial(0).unwrap();
        let fidelities: Vec<f64> =
            copy.steps(0).unwrap().iter().map(wimble_study::Step::fidelity).collect();
        (trial.until, Stage::of(&trial.state), fidelities)
    };
    assert_eq!(copied(1), (Some(3.0), Stage::Paused, vec![1.0, 3.0]));
    assert_eq!(copied(0), (Some(3.0), Stage::Paused, vec![1.0, 3.0]));
    let onwards = plan(1, &[], &[(0, 5.0)]);
    let next = claims(store.ask("s", &ask("b", 1), Some(&onwards)).unwrap()).remove(0);
    assert_eq!(copied(0), (Some(3.0), Stage::Paused, vec![1.0, 3.0]), "it runs there");
    study.report(next.token, &[step(5.0, 3.0)]).unwrap();
    study.pause_trial(next.token).unwrap();
    assert_eq!(copied(0), (Some(5.0), Stage::Paused, vec![1.0, 3.0, 5.0]));
    let onwards = plan(1, &[], &[(0, 81.0)]);
    let next = claims(store.ask("s", &ask("c", 1), Some(&onwards)).unwrap()).remove(0);
    study.tell(next.token, &2.0.into(), "t").unwrap();
    assert_eq!(copied(0), (Some(81.0), Stage::Finished, vec![1.0, 3.0, 5.0]));
}
