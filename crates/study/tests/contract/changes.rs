//! Changes and proposals: following, and proposing in parallel.

use super::*;

pub fn readers_follow_the_changes(place: &Place) {
    let study = open(place, settings().batch_size(4).retries(0));
    let mut eager = Follower::new(&settings());
    let mut order = Vec::new();
    for round in 0..30 {
        let claims = study.ask(&format!("w{round}"), &format!("k{round}"), 2).unwrap();
        match round % 3 {
            0 => {
                for claim in claims.iter().rev() {
                    study.tell(claim.token, &Outcome::from(f64::from(round)), "t").unwrap();
                    order.push(claim.trial);
                }
            }
            1 => study.release(claims[0].token).unwrap(),
            _ => study.heartbeat(claims[0].token).unwrap(),
        }
        eager.catch_up(&*place.store).unwrap();
    }
    let mut late = Follower::new(&settings());
    late.catch_up(&*place.store).unwrap();
    assert_eq!(late.told(), order);
    assert_eq!(place.store.sequence("s").unwrap(), late.sequence());
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

pub fn stale_proposals_are_dropped(place: &Place) {
    let study = open(place, settings());
    let configurations = vec![one(&study, "w", "k").configuration; 2];
    let ask =
        Ask { worker: "v", incarnation: None, key: "k2", wanted: 1, fresh: false, plans: false };
    for known in [0, 2] {
        let stale = proposal(known, configurations.clone());
        let reply = place.store.ask("s", &ask, Some(&stale)).unwrap();
        assert_eq!(reply, Reply::Propose { count: 1, room: 99, issued: 1 });
    }
    let short = proposal(1, Vec::new());
    let reply = place.store.ask("s", &ask, Some(&short)).unwrap();
    assert_eq!(reply, Reply::Propose { count: 1, room: 99, issued: 1 });
    assert_eq!(study.progress().unwrap().running, 1);
    let fresh = proposal(1, configurations);
    let reply = place.store.ask("s", &ask, Some(&fresh)).unwrap();
    assert!(matches!(reply, Reply::Claims(claims) if claims[0].trial == 1));
}

pub fn points_beyond_those_wanted_wait_in_the_queue(place: &Place) {
    let study = open(place, settings().batch_size(8).budget(12));
    assert_eq!(one(&study, "w0", "k0").trial, 0);
    let progress = study.progress().unwrap();
    assert_eq!((progress.queued, progress.running), (7, 1));
    for i in 1..12 {
        assert_eq!(one(&study, &format!("w{i}"), &format!("k{i}")).trial, i);
    }
    assert_eq!(study.trials(&Filter::default()).unwrap().len(), 12);
}

pub fn threads_share_a_study(place: &Place) {
    let study = open(place, settings().budget(100).batch_size(3));
    let told: Vec<u64> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let shared = &study;
            move || {
                // Half of them share a model, the others propose on their own.
                let own = open(place, shared.settings().clone());
                let study = if worker.is_multiple_of(2) { shared } else { &own };
                let (name, mut told) = (format!("w{worker}"), Vec::new());
                for i in 0.. {
                    let claims = study.ask(&name, &format!("{name}-{i}"), 1 + i % 2).unwrap();
                    if claims.is_empty() {
                        break;
                    }
                    for claim in claims {
                        study.tell(claim.token, &Outcome::from(claim.trial as f64), "t").unwrap();
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

pub fn a_study_goes_where_a_session_goes(place: &Place) {
    let method: Spec =
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
            study.tell(claim.token, &Outcome::from(value), "t").unwrap();
            session.tell(trial.id, value).unwrap();
        }
        assert_eq!(study.best().unwrap().unwrap().value, session.best().unwrap().value);
    }
}
