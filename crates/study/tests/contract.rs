//! The contract of `store`, clause by clause, on every back end.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use wimble::prelude::*;
use wimble_study::settings::Record;
use wimble_study::store::{Ask, Proposal, Reply, Stage};
use wimble_study::trial::Ended;
use wimble_study::{
    Claim, Clock as _, Error, Filter, Follower, ManualClock, Memory, Outcome, Settings, Sqlite,
    State, Store, Study, Timestamp, Token,
};

/// A store on a clock set by hand.
struct Place {
    store: Arc<dyn Store>,
    clock: ManualClock,
    _folder: Option<tempfile::TempDir>,
}

fn memory() -> Place {
    let clock = ManualClock::default();
    Place { store: Arc::new(Memory::new(clock.clone())), clock, _folder: None }
}

fn sqlite() -> Place {
    let (clock, folder) = (ManualClock::default(), tempfile::tempdir().unwrap());
    let store = Sqlite::open(folder.path().join("studies.db"), clock.clone()).unwrap();
    Place { store: Arc::new(store), clock, _folder: Some(folder) }
}

/// Runs every clause on every back end.
macro_rules! on_every_back_end {
    ($($clause:ident),* $(,)?) => {
        mod on_memory { $(#[test] fn $clause() { super::$clause(&super::memory()); })* }
        mod on_sqlite { $(#[test] fn $clause() { super::$clause(&super::sqlite()); })* }
    };
}

on_every_back_end! {
    a_study_is_created_once_and_opened_only_as_itself,
    what_cannot_be_run_is_not_created,
    versions_that_differ_are_refused,
    a_budget_can_be_changed_and_ends_the_asking,
    a_running_trial_has_one_holder,
    heartbeats_keep_a_lease,
    a_lost_trial_returns_to_the_queue_and_its_late_result_is_refused,
    a_trial_lost_too_often_fails,
    a_released_trial_returns_to_the_queue_and_is_not_lost,
    a_clock_that_jumps_never_gives_a_trial_two_holders,
    asking_again_with_the_same_key_gives_the_same,
    a_restarted_worker_gets_its_own_back,
    telling_again_with_the_same_key_is_acknowledged,
    finished_trials_never_change,
    every_outcome_is_kept_as_told,
    refusals_name_the_field,
    tokens_never_given_are_unknown,
    readers_follow_the_changes,
    stale_proposals_are_dropped,
    points_beyond_those_wanted_wait_in_the_queue,
    studies_do_not_meet,
    trials_are_listed_by_stage_and_worker,
    threads_share_a_study,
    a_study_goes_where_a_session_goes,
    a_finite_space_is_tried_to_its_end,
}

const LEASE: Duration = Duration::from_secs(60);

fn space() -> SearchSpace {
    SearchSpace::new([
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::categorical("kind", ["a", "b"]),
        Dimension::integer("size", 1, 9).when("kind", ["b"]),
    ])
    .unwrap()
}

fn settings() -> Settings {
    Settings::new("s", space(), "random".parse().unwrap()).seed(Seed(u64::MAX)).lease(LEASE)
}

fn open(place: &Place, settings: Settings) -> Study {
    Study::open_or_create(Arc::clone(&place.store), settings).unwrap()
}

fn one(study: &Study, worker: &str, key: &str) -> Claim {
    let mut claims = study.ask(worker, key, 1).unwrap();
    assert_eq!(claims.len(), 1);
    claims.pop().unwrap()
}

fn state(study: &Study, trial: u64) -> State {
    let filter = Filter { from: trial, limit: Some(1), ..Filter::default() };
    study.trials(&filter).unwrap()[0].state.clone()
}

fn message<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}

fn a_study_is_created_once_and_opened_only_as_itself(place: &Place) {
    open(place, settings());
    open(place, settings());
    assert_eq!(place.store.studies().unwrap(), ["s"]);
    let store = || Arc::clone(&place.store);
    let reopened = Study::open(store(), "s").unwrap();
    assert_eq!(reopened.settings(), &settings());
    let other = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    for (other, words) in [
        (Settings { space: other, ..settings() }, "its space is"),
        (settings().seed(Seed(4)), "its seed is 18446744073709551615, not 4"),
        (
            Settings { method: "sobol".parse().unwrap(), ..settings() },
            "its method is random, not sobol",
        ),
        (settings().batch_size(2), "its batch size is 1, not 2"),
        (settings().direction(Direction::Maximise), "its direction is minimise, not maximise"),
        (settings().budget(3), "its budget is 100, not 3"),
        (settings().retries(1), "its retry limit is 3, not 1"),
        (settings().lease(LEASE * 2), "its lease is 60s, not 120s"),
    ] {
        let error = message(Study::open_or_create(store(), other));
        assert!(error.contains("study `s` exists with other settings"), "{error}");
        assert!(error.contains(words), "{error}");
        assert_eq!(error.matches("its ").count() - 1, 1, "only one setting differs: {error}");
    }
    let both = message(Study::open_or_create(store(), settings().seed(Seed(1)).budget(1)));
    assert!(both.contains("its seed is") && both.contains("its budget is"), "{both}");
    let unknown = message(Study::open(store(), "t"));
    assert!(unknown.contains("there is no study `t`"), "{unknown}");
}

fn what_cannot_be_run_is_not_created(place: &Place) {
    let bad =
        "bore++ classifier=perceptron".parse().map(|method| Settings { method, ..settings() });
    for bad in [bad.unwrap(), settings().budget(0), settings().batch_size(0)] {
        assert!(Study::open_or_create(Arc::clone(&place.store), bad).is_err());
    }
    assert!(place.store.studies().unwrap().is_empty());
}

fn versions_that_differ_are_refused(place: &Place) {
    let record = Record { engine: "99.1.0".into(), ..Record::new(settings()) };
    let created = place.store.create(&record);
    let error = match created {
        Ok(_) => message(Study::open_or_create(Arc::clone(&place.store), settings())),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("was created by engine 99.1.0"), "{error}");
}

fn a_budget_can_be_changed_and_ends_the_asking(place: &Place) {
    let study = open(place, settings().budget(3).batch_size(2));
    let claims = study.ask("w", "k1", 5).unwrap();
    assert_eq!(claims.len(), 3);
    assert!(study.ask("v", "k2", 1).unwrap().is_empty());
    study.set_budget(4).unwrap();
    // The ask that gave nothing left no trace: its key serves again.
    assert_eq!(one(&study, "v", "k2").trial, 3);
    assert!(study.ask("u", "k3", 1).unwrap().is_empty());
    assert_eq!(Study::open(Arc::clone(&place.store), "s").unwrap().settings().budget, 4);
    assert!(message(study.set_budget(0)).contains("budget is 0"));
}

fn a_running_trial_has_one_holder(place: &Place) {
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

fn heartbeats_keep_a_lease(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    for _ in 0..5 {
        place.clock.advance(LEASE - Duration::from_millis(1));
        study.heartbeat(claim.token).unwrap();
    }
    assert_eq!(study.expire_leases().unwrap(), 0);
    study.tell(claim.token, &Outcome::Value(1.0), "t").unwrap();
    assert!(message(study.heartbeat(claim.token)).contains("trial 0 is finished already"));
}

fn a_lost_trial_returns_to_the_queue_and_its_late_result_is_refused(place: &Place) {
    let study = open(place, settings());
    let lost = one(&study, "w", "k1");
    place.clock.advance(LEASE);
    for late in [study.heartbeat(lost.token), study.tell(lost.token, &Outcome::Value(1.0), "t")] {
        let error = message(late);
        assert!(error.contains("no heartbeat came within 60s"), "{error}");
    }
    // The refusal kept the end of the lease.
    assert_eq!(state(&study, 0), State::Queued(Some(Ended::RanOut)));
    let again = one(&study, "v", "k2");
    assert_eq!((again.trial, again.attempt), (0, 2));
    assert_eq!(again.configuration, lost.configuration);
    assert!(again.token.fence > lost.token.fence);
    let error = message(study.tell(lost.token, &Outcome::Value(1.0), "t"));
    assert!(error.contains("worker `v` has the trial now"), "{error}");
    study.tell(again.token, &Outcome::Value(2.0), "t").unwrap();
    let error = message(study.tell(lost.token, &Outcome::Value(1.0), "t"));
    assert!(error.contains("worker `v` told the trial 2"), "{error}");
    assert_eq!(study.best().unwrap().unwrap().value, 2.0);
}

fn a_trial_lost_too_often_fails(place: &Place) {
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
    let error = message(study.tell(last.unwrap().token, &Outcome::Value(1.0), "t"));
    assert!(error.contains("the trial finished: failed (its worker was lost 3 times)"), "{error}");
    assert_eq!(one(&study, "w", "k4").trial, 1);
    assert_eq!(study.best().unwrap(), None);
}

fn a_released_trial_returns_to_the_queue_and_is_not_lost(place: &Place) {
    let study = open(place, settings().retries(0));
    for i in 0..5 {
        let claim = one(&study, &format!("w{i}"), &format!("k{i}"));
        assert_eq!((claim.trial, claim.attempt), (0, 1));
        study.release(claim.token).unwrap();
        let error = message(study.tell(claim.token, &Outcome::Infeasible, "t"));
        assert!(error.contains("it was released"), "{error}");
    }
}

fn a_clock_that_jumps_never_gives_a_trial_two_holders(place: &Place) {
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

fn asking_again_with_the_same_key_gives_the_same(place: &Place) {
    let study = open(place, settings());
    let first = study.ask("w", "k", 3).unwrap();
    assert_eq!(study.ask("w", "k", 3).unwrap(), first);
    study.tell(first[1].token, &Outcome::Value(1.0), "t").unwrap();
    place.clock.advance(LEASE);
    study.expire_leases().unwrap();
    let sequence = place.store.changes_since("s", 0, 100).unwrap().last().unwrap().sequence();
    assert_eq!(study.ask("w", "k", 3).unwrap(), first);
    assert!(place.store.changes_since("s", sequence, 100).unwrap().is_empty());
    for reused in [study.ask("v", "k", 3), study.ask("w", "k", 2)] {
        let error = message(reused);
        assert!(error.contains("the client key `k` was used before, by worker `w`"), "{error}");
    }
}

fn a_restarted_worker_gets_its_own_back(place: &Place) {
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
    assert_eq!(study.expire_leases().unwrap(), 0);
    assert_eq!(restarted.ask("w", "k3", 1).unwrap(), first[..1]);
}

fn telling_again_with_the_same_key_is_acknowledged(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    for _ in 0..3 {
        study.tell(claim.token, &Outcome::Value(1.5), "t").unwrap();
        place.clock.advance(LEASE);
    }
    assert_eq!(study.progress().unwrap().finished, 1);
    let error = message(study.tell(claim.token, &Outcome::Value(2.5), "t"));
    assert!(error.contains("key `t` was used before, to tell trial 0 the outcome 1.5"), "{error}");
    let error = message(study.tell(claim.token, &Outcome::Value(1.5), "other"));
    assert!(error.contains("trial 0 is finished already, with the outcome 1.5"), "{error}");
}

fn finished_trials_never_change(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    study.tell(claim.token, &Outcome::Value(1.0), "t").unwrap();
    let before = study.trials(&Filter::default()).unwrap();
    place.clock.advance(LEASE * 10);
    let _ = study.tell(claim.token, &Outcome::Infeasible, "u");
    let _ = study.release(claim.token);
    let _ = study.heartbeat(claim.token);
    study.expire_leases().unwrap();
    assert_eq!(study.trials(&Filter::default()).unwrap(), before);
}

fn every_outcome_is_kept_as_told(place: &Place) {
    let study = open(place, settings().direction(Direction::Maximise));
    let outcomes = [
        Outcome::Value(f64::MIN_POSITIVE / 4.0),
        Outcome::Value(-1.0 / 3.0),
        Outcome::Value(f64::MIN),
        Outcome::Value(1e17),
        Outcome::Value(3.0),
        Outcome::Failed("it broke: 'quotes'; DROP TABLE trials; \u{1f980}".into()),
        Outcome::Failed(String::new()),
        Outcome::Infeasible,
    ];
    let claims = study.ask("w", "k", outcomes.len() + 1).unwrap();
    for (claim, outcome) in claims.iter().zip(&outcomes) {
        study.tell(claim.token, outcome, "t").unwrap();
    }
    for (trial, outcome) in study.trials(&Filter::default()).unwrap().iter().zip(&outcomes) {
        assert_eq!(trial.outcome(), Some(outcome));
    }
    // One zero, whatever its sign.
    study.tell(claims[8].token, &Outcome::Value(-0.0), "t").unwrap();
    let zero = study.trials(&Filter { from: 8, ..Filter::default() }).unwrap();
    assert!(zero[0].outcome().unwrap().value().unwrap().is_sign_positive());
    let best = study.best().unwrap().unwrap();
    assert_eq!((best.trial, best.value), (3, 1e17));
    assert_eq!(best.configuration, claims[3].configuration);
}

fn refusals_name_the_field(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = message(study.tell(claim.token, &Outcome::Value(value), "t"));
        assert!(error.contains("study `s`: trial 0 was told the value"), "{error}");
    }
    let long = "x".repeat(1000);
    for (result, words) in [
        (study.ask("", "k", 1), "worker is empty"),
        (study.ask(&long, "k", 1), "worker is `xxx"),
        (study.ask("w", "a\0b", 1), "client key is"),
        (study.ask("w", "k2", 0), "number of trials asked for is 0"),
        (study.ask("w", "k2", usize::MAX), "number of trials asked for is"),
        (
            study.tell(claim.token, &Outcome::Infeasible, "").map(|()| Vec::new()),
            "client key is empty",
        ),
    ] {
        let error = message(result);
        assert!(error.contains(words), "{error}");
    }
    study.tell(claim.token, &Outcome::Infeasible, "t").unwrap();
}

fn tokens_never_given_are_unknown(place: &Place) {
    let study = open(place, settings().batch_size(3));
    one(&study, "w", "k");
    for (trial, fence) in [(0, 0), (0, 2), (1, 1), (7, 1), (u64::MAX, 1), (0, u64::MAX)] {
        let error = message(study.tell(Token { trial, fence }, &Outcome::Value(1.0), "t"));
        assert!(error.contains(&format!("never gave the token {trial}.{fence}")), "{error}");
    }
}

fn readers_follow_the_changes(place: &Place) {
    let study = open(place, settings().batch_size(4).retries(0));
    let mut eager = Follower::new(settings());
    let mut order = Vec::new();
    for round in 0..30 {
        let claims = study.ask(&format!("w{round}"), &format!("k{round}"), 2).unwrap();
        match round % 3 {
            0 => {
                for claim in claims.iter().rev() {
                    study.tell(claim.token, &Outcome::Value(f64::from(round)), "t").unwrap();
                    order.push(claim.trial);
                }
            }
            1 => study.release(claims[0].token).unwrap(),
            _ => study.heartbeat(claims[0].token).unwrap(),
        }
        eager.catch_up(&*place.store).unwrap();
    }
    let mut late = Follower::new(settings());
    late.catch_up(&*place.store).unwrap();
    assert_eq!(late.told(), order);
    for follower in [&mut eager, &mut late] {
        assert_eq!(follower.told(), order);
        assert_eq!(follower.progress(), study.progress().unwrap());
    }
    assert_eq!(eager.history().points(), late.history().points());
    assert_eq!(eager.sequence(), late.sequence());
    let strategy = settings().method.build(4).unwrap();
    assert_eq!(eager.propose(&*strategy, 4).unwrap(), late.propose(&*strategy, 4).unwrap());
    // Numbers grow one by one, each change once; pages join without a gap.
    let all = place.store.changes_since("s", 0, usize::MAX).unwrap();
    assert!(all.windows(2).all(|pair| pair[0].sequence() < pair[1].sequence()));
    let (mut paged, mut from) = (Vec::new(), 0);
    loop {
        let page = place.store.changes_since("s", from, 7).unwrap();
        let Some(last) = page.last() else { break };
        from = last.sequence();
        paged.extend(page);
    }
    assert_eq!(paged, all);
    assert!(place.store.changes_since("s", u64::MAX, 7).unwrap().is_empty());
}

fn stale_proposals_are_dropped(place: &Place) {
    let study = open(place, settings());
    let configurations = vec![one(&study, "w", "k").configuration; 2];
    let ask = Ask { worker: "v", key: "k2", wanted: 1 };
    for known in [0, 2] {
        let stale = Proposal { known, configurations: configurations.clone() };
        let reply = place.store.ask("s", &ask, Some(&stale)).unwrap();
        assert_eq!(reply, Reply::Propose { count: 1, room: 99 });
    }
    let short = Proposal { known: 1, configurations: Vec::new() };
    let reply = place.store.ask("s", &ask, Some(&short)).unwrap();
    assert_eq!(reply, Reply::Propose { count: 1, room: 99 });
    assert_eq!(study.progress().unwrap().running, 1);
    let fresh = Proposal { known: 1, configurations };
    let reply = place.store.ask("s", &ask, Some(&fresh)).unwrap();
    assert!(matches!(reply, Reply::Claims(claims) if claims[0].trial == 1));
}

fn points_beyond_those_wanted_wait_in_the_queue(place: &Place) {
    let study = open(place, settings().batch_size(8).budget(12));
    assert_eq!(one(&study, "w0", "k0").trial, 0);
    let progress = study.progress().unwrap();
    assert_eq!((progress.queued, progress.running), (7, 1));
    for i in 1..12 {
        assert_eq!(one(&study, &format!("w{i}"), &format!("k{i}")).trial, i);
    }
    assert_eq!(study.trials(&Filter::default()).unwrap().len(), 12);
}

fn studies_do_not_meet(place: &Place) {
    let names = ["a", "b", "'; DROP TABLE studies; --"];
    let studies = names.map(|name| open(place, Settings { name: name.into(), ..settings() }));
    for study in &studies {
        let claim = one(study, "w", "k");
        assert_eq!((claim.trial, claim.token.fence), (0, 1));
    }
    studies[0].tell(Token { trial: 0, fence: 1 }, &Outcome::Value(1.0), "t").unwrap();
    assert_eq!(studies[1].progress().unwrap().finished, 0);
    assert_eq!(place.store.studies().unwrap(), [names[2], "a", "b"]);
}

fn trials_are_listed_by_stage_and_worker(place: &Place) {
    let study = open(place, settings().batch_size(6));
    let first = study.ask("w", "k1", 2).unwrap();
    study.ask("v", "k2", 1).unwrap();
    study.tell(first[0].token, &Outcome::Infeasible, "t").unwrap();
    let ids = |filter: Filter| -> Vec<u64> {
        study.trials(&filter).unwrap().iter().map(|trial| trial.id).collect()
    };
    let stage = |stage| Filter { stage: Some(stage), ..Filter::default() };
    assert_eq!(ids(Filter::default()), [0, 1, 2, 3, 4, 5]);
    assert_eq!(ids(stage(Stage::Queued)), [3, 4, 5]);
    assert_eq!(ids(stage(Stage::Running)), [1, 2]);
    assert_eq!(ids(stage(Stage::Finished)), [0]);
    assert_eq!(ids(Filter { worker: Some("w".into()), ..Filter::default() }), [0, 1]);
    assert_eq!(ids(Filter { from: 2, limit: Some(2), ..Filter::default() }), [2, 3]);
    assert_eq!(ids(Filter { from: u64::MAX, ..Filter::default() }), [0_u64; 0]);
}

fn threads_share_a_study(place: &Place) {
    let study = open(place, settings().budget(100).batch_size(3));
    let told: Vec<u64> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let study = &study;
            move || {
                let (name, mut told) = (format!("w{worker}"), Vec::new());
                for i in 0.. {
                    let claims = study.ask(&name, &format!("{name}-{i}"), 1 + i % 2).unwrap();
                    if claims.is_empty() {
                        break;
                    }
                    for claim in claims {
                        study.tell(claim.token, &Outcome::Value(claim.trial as f64), "t").unwrap();
                        told.push(claim.trial);
                    }
                }
                told
            }
        };
        let threads: Vec<_> = (0..4).map(|worker| scope.spawn(work(worker))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(told.len(), 100);
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len(), 100);
    let trials = study.trials(&Filter::default()).unwrap();
    let points: BTreeSet<String> = trials.iter().map(|t| t.configuration.to_string()).collect();
    assert_eq!(points.len(), 100);
}

fn a_study_goes_where_a_session_goes(place: &Place) {
    let method: wimble::strategy::Spec =
        "bore classifier=perceptron classifier.hidden=[8] initial=6".parse().unwrap();
    let settings = Settings { method: method.clone(), ..settings() }.batch_size(4);
    let mut session =
        Session::new(space(), method.build(4).unwrap(), Direction::Minimise, settings.seed)
            .unwrap();
    let objective = |configuration: &Configuration| match configuration.get("rate") {
        Some(Value::Real(rate)) => (rate.log10() + 2.0).powi(2),
        _ => unreachable!("rate is always active"),
    };
    for round in 0..4 {
        // Opened anew each time: nothing is in memory only.
        let study = open(place, settings.clone());
        let claims = study.ask("w", &format!("k{round}"), 4).unwrap();
        for (claim, trial) in claims.iter().zip(session.ask(4).unwrap()) {
            assert_eq!((claim.trial, &claim.configuration), (trial.id, &trial.configuration));
            let value = objective(&claim.configuration);
            study.tell(claim.token, &Outcome::Value(value), "t").unwrap();
            session.tell(trial.id, wimble::history::Outcome::Value(value)).unwrap();
        }
        assert_eq!(study.best().unwrap().unwrap().value, session.best().unwrap().value);
    }
}

fn a_finite_space_is_tried_to_its_end(place: &Place) {
    let space = SearchSpace::new([Dimension::integer("n", 1, 10)]).unwrap();
    let study = open(place, Settings { space, ..settings() }.batch_size(4).budget(10));
    for i in 0..10 {
        one(&study, &format!("w{i}"), &format!("k{i}"));
    }
    assert!(study.ask("w", "k", 1).unwrap().is_empty());
    assert!(message(study.set_budget(11)).contains("at most 10"));
}
