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
    assert_eq!(study.expire_leases().unwrap(), 0);
    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    assert!(message(study.heartbeat(claim.token)).contains("trial 0 is finished already"));
}

pub fn a_lost_trial_returns_to_the_queue_and_its_late_result_is_refused(place: &Place) {
    let study = open(place, settings());
    let lost = one(&study, "w", "k1");
    place.clock.advance(LEASE);
    for late in [study.heartbeat(lost.token), study.tell(lost.token, &Outcome::from(1.0), "t")] {
        let error = message(late);
        assert!(error.contains("no heartbeat came within 60s"), "{error}");
    }
    // The refusal kept the end of the lease.
    assert_eq!(state(&study, 0), State::Queued(Some(Ended::RanOut)));
    let again = one(&study, "v", "k2");
    assert_eq!((again.trial, again.attempt), (0, 2));
    assert_eq!(again.configuration, lost.configuration);
    assert!(again.token.fence > lost.token.fence);
    let error = message(study.tell(lost.token, &Outcome::from(1.0), "t"));
    assert!(error.contains("worker `v` has the trial now"), "{error}");
    study.tell(again.token, &Outcome::from(2.0), "t").unwrap();
    let error = message(study.tell(lost.token, &Outcome::from(1.0), "t"));
    assert!(error.contains("worker `v` told the trial 2"), "{error}");
    assert_eq!(study.best().unwrap().unwrap().value, 2.0);
}

pub fn a_trial_lost_too_often_fails(place: &Place) {
    let study = open(place, settings().retries(2));
    let mut last = None;
    for attempt in 1..=3 {
        let claim = one(&study, "w", &format!("k{attempt}"));
        assert_eq!((claim.trial, claim.attempt), (0, attempt));
        place.clock.advance(LEASE);
        assert_eq!(study.expire_leases().unwrap(), 1);
        last = Some(claim);
    }
    let State::Finished(finish) = state(&study, 0) else { panic!("it is finished") };
    assert_eq!(finish.outcome, Outcome::Failed("its worker was lost 3 times".into()));
    let error = message(study.tell(last.unwrap().token, &Outcome::from(1.0), "t"));
    assert!(error.contains("the trial finished: failed (its worker was lost 3 times)"), "{error}");
    assert_eq!(one(&study, "w", "k4").trial, 1);
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
    study.expire_leases().unwrap();
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
    let study = open(place, settings());
    let lost = one(&study, "u", "k0").token;
    place.clock.advance(LEASE / 2);
    let claims = study.ask("w", "k1", 3).unwrap();
    study.tell(claims[1].token, &Outcome::from(1.0), "t").unwrap();
    place.clock.advance(LEASE / 2);
    let unknown = Token { trial: 77, fence: 1 };
    let tokens = [claims[0].token, lost, claims[1].token, unknown, claims[2].token];
    let refused = study.heartbeats(&tokens).unwrap();
    let said: Vec<(Token, String)> =
        refused.iter().map(|refused| (refused.token, refused.error.to_string())).collect();
    let told: Vec<Token> = said.iter().map(|(token, _)| *token).collect();
    assert_eq!(told, [lost, claims[1].token, unknown]);
    for ((_, words), expected) in
        said.iter().zip(["no heartbeat", "finished already", "never gave"])
    {
        assert!(words.contains(expected), "{words}");
    }
    // The others were renewed.
    place.clock.advance(LEASE * 3 / 4);
    assert_eq!(study.expire_leases().unwrap(), 0);
    assert!(study.heartbeats(&[]).unwrap().is_empty());
}
