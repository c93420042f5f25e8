//! Claims: one holder, leases, tokens.

use super::*;

pub fn a_running_trial_has_one_holder(place: &Place) {
    let study = open(place, settings());
    let mut seen = BTreeSet::new();
    let mut points = BTreeSet::new();
    for i in 0..20 {
        let claim = one(&study, &format!("w{i}"), &format!("k{i}"));
        assert!(seen.insert(claim.trial));
        assert!(points.insert(claim.configuration.to_string()));
        assert_eq!((claim.token.trial, claim.attempt), (claim.trial, 1));
    }
    let progress = study.progress().unwrap();
    assert_eq!((progress.queued, progress.running, progress.finished), (0, 20, 0));
}

pub fn heartbeats_keep_a_lease(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    for _ in 0..5 {
        place.clock.advance(LEASE - Duration::from_millis(1));
        study.heartbeat(claim.token).unwrap();
    }
    assert_eq!(left_to_take(&study), 0);
    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    assert!(message(study.heartbeat(claim.token)).contains("trial 0 is finished already"));
}

pub fn a_due_lease_ends_nothing_that_nobody_else_wants(place: &Place) {
    let study = open(place, settings().batch_size(9).budget(9));
    let claims = study.ask("w", "k1", 3).unwrap();
    place.clock.advance(LEASE * 1_000);
    // Others find enough in the queue.
    assert_eq!(study.ask("v", "k2", 6).unwrap().len(), 6);
    study.heartbeat(claims[0].token).unwrap();
    study.tell(claims[1].token, &Outcome::from(1.0), "t").unwrap();
    study.release(claims[2].token).unwrap();
    let State::Running(lease) = state(&study, 0) else { panic!("it is running") };
    assert_eq!((lease.fence, lease.due), (claims[0].token.fence, place.clock.now().after(LEASE)));
}

pub fn a_trial_that_is_due_is_taken_after_a_notice_and_its_late_result_is_refused(place: &Place) {
    let study = open(place, settings().budget(1));
    let lost = one(&study, "w", "k1");
    // Not before it is due, and not at once.
    place.clock.advance(LEASE - Duration::from_millis(1));
    assert!(study.ask("v", "early", 1).unwrap().is_empty());
    place.clock.advance(Duration::from_millis(1));
    assert!(study.ask("v", "notice", 1).unwrap().is_empty());
    place.clock.advance(LEASE / 2 - Duration::from_millis(1));
    assert!(study.ask("v", "too early", 1).unwrap().is_empty());
    place.clock.advance(Duration::from_millis(1));
    let again = one(&study, "v", "k2");
    assert_eq!((again.trial, again.attempt), (0, 2));
    assert_eq!(again.configuration, lost.configuration);
    assert!(again.token.fence > lost.token.fence);
    for late in [study.heartbeat(lost.token), study.tell(lost.token, &Outcome::from(1.0), "t")] {
        let error = message(late);
        assert!(error.contains("worker `v` has the trial now"), "{error}");
    }
    study.tell(again.token, &Outcome::from(2.0), "t").unwrap();
    let error = message(study.tell(lost.token, &Outcome::from(1.0), "t"));
    assert!(error.contains("worker `v` told the trial 2"), "{error}");
    assert_eq!(study.best().unwrap().unwrap().value, 2.0);
}

pub fn a_sign_of_life_cancels_a_notice(place: &Place) {
    let study = open(place, settings().budget(2));
    let held = study.ask("w", "k1", 2).unwrap();
    for (round, alive) in [0, 1, 2].into_iter().enumerate() {
        place.clock.advance(LEASE);
        assert!(study.ask("v", &format!("notice {round}"), 2).unwrap().is_empty());
        match alive {
            0 => assert!(study.heartbeats(&[held[0].token, held[1].token]).unwrap().is_empty()),
            1 => assert_eq!(study.ask("w", "again", 2).unwrap(), held),
            // An answer that was lost on its way.
            _ => assert_eq!(study.ask("w", "k1", 2).unwrap(), held),
        }
        place.clock.advance(LEASE * 3 / 4);
        assert!(study.ask("v", &format!("take {round}"), 2).unwrap().is_empty());
        study.heartbeats(&[held[0].token, held[1].token]).unwrap();
    }
    for claim in held {
        study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    }
}

pub fn a_clock_that_jumps_forwards_takes_nothing_from_a_worker_that_is_alive(place: &Place) {
    let study = open(place, settings().budget(4));
    let held = study.ask("w", "k", 4).unwrap();
    let tokens: Vec<Token> = held.iter().map(|claim| claim.token).collect();
    for hour in 0..5 {
        place.clock.advance(Duration::from_secs(3600));
        // The other is faster than the next heartbeat.
        assert!(study.ask("v", &format!("{hour}"), 4).unwrap().is_empty());
        place.clock.advance(LEASE / 4);
        assert!(study.ask("v", &format!("{hour}, again"), 4).unwrap().is_empty());
        assert!(study.heartbeats(&tokens).unwrap().is_empty());
    }
}

pub fn incarnations_of_one_name_do_not_meet(place: &Place) {
    let study = open(place, settings().budget(4));
    let ask = |incarnation, key: &str| {
        study
            .ask_with(&Ask { worker: "w", incarnation, key, wanted: 2, fresh: false, plans: false })
            .unwrap()
    };
    let one = ask(Some("one"), "k1");
    let two = ask(Some("two"), "k2");
    let trials: BTreeSet<u64> = one.iter().chain(&two).map(|claim| claim.trial).collect();
    assert_eq!(trials.len(), 4);
    // Each finds its own again; who vouches for the name finds neither.
    assert_eq!((ask(Some("one"), "k3"), ask(Some("two"), "k4")), (one, two));
    assert!(ask(None, "k5").is_empty());
}

pub fn a_worker_that_shows_its_incarnation_continues_once(place: &Place) {
    let study = open(place, settings().budget(3));
    let ask = |incarnation, key: &str| {
        study
            .ask_with(&Ask {
                worker: "w",
                incarnation: Some(incarnation),
                key,
                wanted: 2,
                fresh: false,
                plans: false,
            })
            .unwrap()
    };
    let resume = |incarnation: &str, formerly: &[&str]| {
        let formerly: Vec<String> = formerly.iter().map(|&word| word.to_owned()).collect();
        study.resume(&Resume { worker: "w", incarnation, formerly: &formerly }).unwrap()
    };
    let before = ask("first", "k1");
    assert_eq!(resume("second", &["never", "first", "second"]), 2);
    let after = ask("second", "k2");
    let trials = |claims: &[Claim]| claims.iter().map(|claim| claim.trial).collect::<Vec<_>>();
    assert_eq!(trials(&after), trials(&before));
    assert!(after.iter().all(|claim| claim.attempt == 1), "nobody was lost");
    // The tokens of the process before are worth nothing, and a copy of its state finds nothing.
    let error = message(study.tell(before[0].token, &Outcome::from(1.0), "t"));
    assert!(error.contains("worker `w` has the trial now"), "{error}");
    assert_eq!(resume("copy", &["first"]), 0);
    assert_eq!(ask("copy", "k3").len(), 1, "only the third trial");
    assert_eq!(resume("second", &[]), 0);
    for claim in after {
        study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    }
    let counts = study.counts().unwrap();
    assert_eq!((counts.valued, counts.running, counts.queued), (2, 1, 0));
}

pub fn a_trial_lost_too_often_fails(place: &Place) {
    let study = open(place, settings().retries(2).budget(1));
    let mut last = None;
    for attempt in 1..=3 {
        let claim = one(&study, &format!("w{attempt}"), &format!("k{attempt}"));
        assert_eq!((claim.trial, claim.attempt), (0, attempt));
        place.clock.advance(LEASE);
        assert!(study.ask("v", &format!("notice {attempt}"), 1).unwrap().is_empty());
        place.clock.advance(LEASE / 2);
        last = Some(claim);
    }
    // Its worker may still tell it; only another that wants it finds it lost.
    assert!(study.ask("v", "k4", 1).unwrap().is_empty());
    let State::Finished(finish) = state(&study, 0) else { panic!("it is finished") };
    assert_eq!(finish.outcome, Outcome::Failed("its worker was lost 3 times".into()));
    let error = message(study.tell(last.unwrap().token, &Outcome::from(1.0), "t"));
    assert!(error.contains("the trial finished: failed (its worker was lost 3 times)"), "{error}");
    study.set_budget(2).unwrap();
    assert_eq!(one(&study, "w", "k5").trial, 1);
    assert_eq!(study.best().unwrap(), None);
}

pub fn a_released_trial_returns_to_the_queue_and_is_not_lost(place: &Place) {
    let study = open(place, settings().retries(0));
    for i in 0..5 {
        let claim = one(&study, &format!("w{i}"), &format!("k{i}"));
        assert_eq!((claim.trial, claim.attempt), (0, 1));
        study.release(claim.token).unwrap();
        let error = message(study.tell(claim.token, &Outcome::Infeasible, "t"));
        assert!(error.contains("it was released"), "{error}");
    }
}

pub fn a_clock_that_jumps_never_gives_a_trial_two_holders(place: &Place) {
    place.clock.set(Timestamp(1_000_000_000));
    let study = open(place, settings().retries(100));
    let mut holders: Vec<Token> = Vec::new();
    for (i, jump) in [60_000, -10_000_000, 61_000, -1, 120_000, -60_000].into_iter().enumerate() {
        let claims = study.ask(&format!("w{i}"), &format!("k{i}"), 2).unwrap();
        holders.extend(claims.iter().map(|claim| claim.token));
        place.clock.set(Timestamp(place.clock.now().0 + jump));
        // However the clock jumped: of all tokens of a trial, at most the latest is honoured.
        let alive: Vec<Token> =
            holders.iter().copied().filter(|&token| study.heartbeat(token).is_ok()).collect();
        let trials: BTreeSet<u64> = alive.iter().map(|token| token.trial).collect();
        assert_eq!(trials.len(), alive.len());
        for token in alive {
            let latest = holders.iter().filter(|other| other.trial == token.trial).max();
            assert_eq!(latest, Some(&token));
        }
    }
    // A heartbeat under a clock that was set back takes nothing away.
    let claim = study.ask("last", "last", 1).unwrap().remove(0);
    let before =
        study.trials(&Filter { from: claim.trial, ..Filter::default() }).unwrap()[0].clone();
    place.clock.set(Timestamp(0));
    study.heartbeat(claim.token).unwrap();
    let after =
        study.trials(&Filter { from: claim.trial, ..Filter::default() }).unwrap()[0].clone();
    assert_eq!(before, after);
}

pub fn finished_trials_never_change(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    let before = study.trials(&Filter::default()).unwrap();
    place.clock.advance(LEASE * 10);
    let _ = study.tell(claim.token, &Outcome::Infeasible, "u");
    let _ = study.release(claim.token);
    let _ = study.heartbeat(claim.token);
    assert_eq!(left_to_take(&study), 0);
    assert_eq!(study.trials(&Filter::default()).unwrap(), before);
}

pub fn tokens_never_given_are_unknown(place: &Place) {
    let study = open(place, settings().batch_size(3));
    one(&study, "w", "k");
    for (trial, fence) in [(0, 0), (0, 2), (1, 1), (7, 1), (u64::MAX, 1), (0, u64::MAX)] {
        let error = message(study.tell(Token { trial, fence }, &Outcome::from(1.0), "t"));
        assert!(error.contains(&format!("never gave the token {trial}.{fence}")), "{error}");
    }
}

pub fn heartbeats_are_sent_together_and_the_lost_are_named(place: &Place) {
    let study = open(place, settings().budget(4));
    let lost = one(&study, "u", "k0").token;
    place.clock.advance(LEASE);
    let claims = study.ask("w", "k1", 3).unwrap();
    study.tell(claims[1].token, &Outcome::from(1.0), "t").unwrap();
    assert!(study.ask("v", "notice", 1).unwrap().is_empty());
    place.clock.advance(LEASE / 2);
    assert_eq!(one(&study, "v", "k2").trial, 0);
    let unknown = Token { trial: 77, fence: 1 };
    let tokens = [claims[0].token, lost, claims[1].token, unknown, claims[2].token];
    let refused = study.heartbeats(&tokens).unwrap();
    let said: Vec<(Token, String)> =
        refused.iter().map(|refused| (refused.token, refused.error.to_string())).collect();
    let told: Vec<Token> = said.iter().map(|(token, _)| *token).collect();
    assert_eq!(told, [lost, claims[1].token, unknown]);
    for ((_, words), expected) in
        said.iter().zip(["worker `v` has the trial now", "finished already", "never gave"])
    {
        assert!(words.contains(expected), "{words}");
    }
    // The others were renewed.
    let State::Running(lease) = state(&study, claims[2].trial) else { panic!("it is running") };
    assert_eq!(lease.due, place.clock.now().after(LEASE));
    assert!(study.heartbeats(&[]).unwrap().is_empty());
}
