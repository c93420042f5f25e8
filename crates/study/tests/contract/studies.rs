//! Studies and their trials: created once, opened as themselves, kept as told.

use super::*;

pub fn a_study_is_created_once_and_opened_only_as_itself(place: &Place) {
    open(place, settings());
    open(place, settings());
    assert_eq!(place.store.studies().unwrap(), ["s"]);
    let store = || Arc::clone(&place.store);
    let reopened = Study::open(store(), "s").unwrap();
    assert_eq!(reopened.settings(), &settings());
    let other = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    for (other, words) in [
        (
            Settings { space: other, ..settings() },
            "it has the parameter `rate`, which is missing here",
        ),
        (settings().seed(Seed(4)), "its seed is 18446744073709551615, not 4"),
        (
            Settings { method: "sobol".parse().unwrap(), ..settings() },
            "its method is random, not sobol",
        ),
        (settings().batch_size(2), "its batch size is 1, not 2"),
        (
            settings().goal(Direction::Maximise),
            "its goal is to minimise value, not to maximise value",
        ),
        (settings().budget(3), "its budget is 100, not 3"),
        (settings().retries(1), "its retry limit is 3, not 1"),
        (settings().lease(LEASE * 2), "its lease is 60s, not 120s"),
    ] {
        let error = message(Study::open_or_create(store(), other));
        assert!(error.contains("study `s` exists with other settings"), "{error}");
        assert!(error.contains(words), "{error}");
        let named = error.matches("its ").count() - 1 + error.matches("it has no ").count();
        assert_eq!(named, 1, "only one setting differs: {error}");
    }
    let both = message(Study::open_or_create(store(), settings().seed(Seed(1)).budget(1)));
    assert!(both.contains("its seed is") && both.contains("its budget is"), "{both}");
    let unknown = message(Study::open(store(), "t"));
    assert!(unknown.contains("there is no study `t`"), "{unknown}");
}

pub fn what_cannot_be_run_is_not_created(place: &Place) {
    let bad =
        "bore++ classifier=perceptron".parse().map(|method| Settings { method, ..settings() });
    for bad in [bad.unwrap(), settings().budget(0), settings().batch_size(0)] {
        assert!(Study::open_or_create(Arc::clone(&place.store), bad).is_err());
    }
    assert!(place.store.studies().unwrap().is_empty());
}

pub fn a_later_format_is_refused(place: &Place) {
    let record = Record { format: FORMAT + 1, ..Record::new(settings()) };
    let refused = message(place.store.create(&record));
    assert!(refused.contains(&format!("stored in format {}", FORMAT + 1)), "{refused}");
    assert_eq!(message(Study::open(Arc::clone(&place.store), "s")), refused);
    let diagnosis = Diagnosis::of(&*place.store).unwrap();
    assert_eq!(diagnosis.studies[0].trouble.as_ref(), Some(&refused));
}

pub fn an_older_engine_is_continued_and_the_record_says_from_which_trial(place: &Place) {
    let record = Record { engine: "0.0.9".into(), ..Record::new(settings()) };
    assert_eq!(place.store.create(&record).unwrap(), record);
    // What an older program did: two proposals, and what a user added in between.
    for (key, known) in [("old-1", 0), ("old-2", 3)] {
        let made = Proposal { engine: "0.0.9".into(), ..proposal(known, vec![point(), point()]) };
        let ask =
            Ask { worker: key, incarnation: None, key, wanted: 2, fresh: false, plans: false };
        let reply = place.store.ask("s", &ask, Some(&made)).unwrap();
        assert!(matches!(reply, Reply::Claims(claims) if claims.len() == 2));
        if known == 0 {
            place.store.add("s", &[Addition::finished("a", point(), Outcome::Infeasible)]).unwrap();
        }
    }
    let study = open(place, settings());
    assert_eq!(one(&study, "w", "new-1").trial, 5);
    assert_eq!(one(&study, "v", "new-2").trial, 6);
    let record = place.store.study("s").unwrap();
    let span = |version: &str, first_trial| EngineSpan { version: version.into(), first_trial };
    assert_eq!(record.engine, "0.0.9");
    assert_eq!(record.engines, [span("0.0.9", 0), span(ENGINE, 5)]);
    assert_eq!((record.engine_of(4), record.engine_of(5)), ("0.0.9", ENGINE));
    place.store.delete("s").unwrap();
    assert_eq!(place.store.create(&Record::new(settings())).unwrap().engines, []);
}

pub fn a_method_is_built_only_to_propose(place: &Place) {
    // A perceptron has no upper bound: nothing can be proposed, but the study can be looked at and told.
    let method = "bore++ classifier=perceptron".parse().unwrap();
    place.store.create(&Record::new(Settings { method, ..settings() })).unwrap();
    let study = Study::open(Arc::clone(&place.store), "s").unwrap();
    study.enqueue("mine", point()).unwrap();
    let claim = one(&study, "w", "k");
    study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    assert_eq!(study.best().unwrap().unwrap().value, 1.0);
    assert_eq!(study.trials(&Filter::default()).unwrap().len(), 1);
    assert!(study.ask("w", "k2", 1).is_err());
    assert!(study.recommend().is_err());
}

pub fn a_budget_can_be_changed_and_ends_the_asking(place: &Place) {
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

pub fn every_outcome_is_kept_as_told(place: &Place) {
    let study = open(place, settings().goal(Direction::Maximise));
    let outcomes = [
        Outcome::from(f64::MIN_POSITIVE / 4.0),
        Outcome::from(-1.0 / 3.0),
        Outcome::from(f64::MIN),
        Outcome::from(1e17),
        Outcome::from(3.0),
        Outcome::Failed("it broke: 'quotes'; DROP TABLE trials; \u{1f980}".into()),
        Outcome::Failed(Failure { reason: String::new(), output: "line\nlast line\n".into() }),
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
    study.tell(claims[8].token, &Outcome::from(-0.0), "t").unwrap();
    let zero = study.trials(&Filter { from: 8, ..Filter::default() }).unwrap();
    assert!(zero[0].outcome().unwrap().value().unwrap().is_sign_positive());
    let best = study.best().unwrap().unwrap();
    assert_eq!((best.trial, best.value), (3, 1e17));
    assert_eq!(best.configuration, claims[3].configuration);
}

pub fn refusals_name_the_field(place: &Place) {
    let study = open(place, settings());
    let claim = one(&study, "w", "k");
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = message(study.tell(claim.token, &Outcome::from(value), "t"));
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

pub fn studies_do_not_meet(place: &Place) {
    let names = ["a", "b", "'; DROP TABLE studies; --"];
    let studies = names.map(|name| open(place, Settings { name: name.into(), ..settings() }));
    for study in &studies {
        let claim = one(study, "w", "k");
        assert_eq!((claim.trial, claim.token.fence), (0, 1));
    }
    studies[0].tell(Token { trial: 0, fence: 1 }, &Outcome::from(1.0), "t").unwrap();
    assert_eq!(studies[1].progress().unwrap().finished, 0);
    assert_eq!(place.store.studies().unwrap(), [names[2], "a", "b"]);
}

pub fn trials_are_listed_by_stage_and_worker(place: &Place) {
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

pub fn a_finite_space_is_tried_to_its_end(place: &Place) {
    let space = SearchSpace::new([Dimension::integer("n", 1, 10)]).unwrap();
    let study = open(place, Settings { space, ..settings() }.batch_size(4).budget(10));
    for i in 0..10 {
        one(&study, &format!("w{i}"), &format!("k{i}"));
    }
    assert!(study.ask("w", "k", 1).unwrap().is_empty());
    assert!(message(study.set_budget(11)).contains("at most 10"));
}

pub fn a_deleted_study_is_gone_and_its_tokens_are_worth_nothing(place: &Place) {
    let study = open(place, settings().batch_size(3));
    let other = open(place, Settings { name: "other".into(), ..settings() });
    let old = one(&study, "w", "k");
    study.enqueue("mine", old.configuration.clone()).unwrap();
    place.store.delete("s").unwrap();
    assert!(message(study.tell(old.token, &Outcome::from(1.0), "t")).contains("no study `s`"));
    assert!(message(place.store.delete("s")).contains("no study `s`"));
    assert_eq!(place.store.studies().unwrap(), ["other"]);
    let new = open(place, settings());
    assert_eq!(new.counts().unwrap(), Counts::default());
    let claim = one(&new, "w", "k");
    assert_eq!(claim.trial, old.trial);
    assert!(claim.token.fence > old.token.fence);
    assert!(study.tell(old.token, &Outcome::from(1.0), "t").is_err());
    new.tell(claim.token, &Outcome::from(2.0), "t").unwrap();
    one(&other, "w", "k");
}

pub fn a_worker_on_a_study_that_was_replaced_is_told_so(place: &Place) {
    let study = open(place, settings());
    for i in 0..3 {
        one(&study, &format!("w{i}"), &format!("k{i}"));
    }
    place.store.delete("s").unwrap();
    let new = open(place, settings());
    one(&new, "v", "k");
    let error = message(study.ask("w", "k9", 1));
    assert!(error.contains("was deleted and created anew"), "{error}");
}

pub fn a_strategy_of_the_users_own_proposes_and_is_named(place: &Place) {
    struct Corner;
    impl Strategy for Corner {
        fn name(&self) -> &'static str {
            "corner"
        }
        fn propose(
            &self,
            evidence: wimble::strategy::Evidence<'_>,
            size: usize,
            _: &mut wimble::strategy::Memory,
        ) -> wimble::Result<wimble::points::Points> {
            evidence.place(size, "corner", 0, |evidence, count, _| {
                Ok(wimble::points::Points::zeros(evidence.space.dim(), count))
            })
        }
    }
    let own = open(place, settings()).proposing_with(Box::new(Corner)).unwrap();
    let claim = one(&own, "w", "k");
    assert_eq!(claim.configuration.real("rate"), Ok(1e-5));
    own.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
    // Whoever opens the study without it continues by the method of the study.
    one(&open(place, settings()), "v", "k2");
    let record = place.store.study("s").unwrap();
    let engines: Vec<(&str, u64)> =
        record.engines.iter().map(|span| (span.version.as_str(), span.first_trial)).collect();
    assert_eq!(engines, [(&*format!("{ENGINE} with corner"), 0), (ENGINE, 1)]);
}

pub fn given_values_are_proposed_and_the_queue_is_left_to_others(place: &Place) {
    let study = open(place, settings().batch_size(3).budget(20));
    one(&study, "w", "k");
    let values: Configuration =
        [("rate", Value::Real(0.25)), ("kind", Value::from("b"))].into_iter().collect();
    let given = Study::open(Arc::clone(&place.store), "s").unwrap().fixing(values).unwrap();
    let ask =
        |key, fresh| Ask { worker: key, incarnation: None, key, wanted: 2, fresh, plans: false };
    let claims = given.ask_with(&ask("f", true)).unwrap();
    assert_eq!(claims.iter().map(|claim| claim.trial).collect::<Vec<_>>(), [3, 4]);
    for claim in &claims {
        assert_eq!(
            (claim.configuration.real("rate"), claim.configuration.text("kind")),
            (Ok(0.25), Ok("b"))
        );
    }
    assert_eq!(given.ask_with(&ask("f", true)).unwrap(), claims, "the same key gives the same");
    // What waited still waits, and is given to whoever asks in the usual way.
    let usual = given.ask_with(&ask("u", false)).unwrap();
    assert_eq!(usual.iter().map(|claim| claim.trial).collect::<Vec<_>>(), [1, 2]);
    // A finite part of the space is used up, whatever was tried elsewhere.
    let space = SearchSpace::new([Dimension::integer("a", 0, 3), Dimension::boolean("b")]).unwrap();
    let small = Settings { name: "small".into(), space, ..settings() }.budget(8);
    let small = Study::open_or_create(Arc::clone(&place.store), small).unwrap();
    assert_eq!(small.ask("w", "k", 5).unwrap().len(), 5);
    let small = small.fixing([("b", true)].into_iter().collect()).unwrap();
    let mut found = 0;
    while let [claim] = &small.ask("v", &format!("v{found}"), 1).unwrap()[..] {
        assert_eq!(claim.configuration.boolean("b"), Ok(true));
        small.tell(claim.token, &Outcome::from(0.0), "t").unwrap();
        found += 1;
    }
    let all = small.trials(&Filter::default()).unwrap();
    let on = all.iter().filter(|trial| trial.configuration.boolean("b") == Ok(true)).count();
    assert_eq!(on, 4);
}
