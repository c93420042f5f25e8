//! Goals with a fidelity: every method learns from stopped trials, plans are pure, and spaces of any kind are served.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use wimble::internals::{METHODS, below};
use wimble::ledger::Ledger;
use wimble::prelude::*;

const HIGH: u32 = 27;

fn numbers() -> SearchSpace {
    SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)]).unwrap()
}

fn mixed() -> SearchSpace {
    SearchSpace::new([
        Dimension::categorical("kind", ["plain", "deep"]),
        Dimension::real("x", 0.0, 1.0),
        Dimension::log_real("y", 1e-4, 1.0).when("kind", ["deep"]),
        Dimension::integer("n", 1, 9),
    ])
    .unwrap()
}

/// Falls towards a distance from x = 0.3 and y = 0.6.
fn loss(configuration: &Configuration, epoch: u32) -> f64 {
    let part = |name: &str, best: f64| configuration.real(name).map_or(0.2, |v| (v - best).abs());
    part("x", 0.3) + part("y", 0.6) + 1.0 / f64::from(epoch)
}

fn step(epoch: u32, value: f64) -> Measurement {
    Measurement { fidelity: Some(f64::from(epoch)), ..value.into() }
}

fn epochs(goal: Goal) -> Goal {
    goal.fidelity("epochs", 1.0, f64::from(HIGH)).unwrap()
}

#[test]
fn every_method_that_serves_a_goal_serves_it_with_a_fidelity() {
    let several = Goal::new([Objective::minimise("a"), Objective::minimise("b")]).unwrap();
    let limited = Goal::from(Direction::Minimise).limit("size", Bound::AtMost(0.6)).unwrap();
    for goal in [Goal::from(Direction::Minimise), several, limited] {
        let mut served = 0;
        for method in METHODS {
            let build = || method.name.parse::<Spec>().unwrap().build(2).unwrap();
            if build().check(&numbers(), &goal).is_err() {
                assert!(
                    build().check(&numbers(), &epochs(goal.clone())).is_err(),
                    "{}",
                    method.name
                );
                continue;
            }
            served += 1;
            let run = || {
                let mut session =
                    Session::new(numbers(), build(), epochs(goal.clone()), Seed(3)).unwrap();
                for round in 0..8 {
                    for trial in session.ask(2).unwrap() {
                        // Every second trial is stopped.
                        let last = if trial.id % 2 == 0 { HIGH } else { 3 };
                        for epoch in 1..=last {
                            let value = loss(&trial.configuration, epoch);
                            let mut told = step(epoch, value);
                            if goal.objectives().len() == 2 {
                                told.objectives.push((1.0 - value).into());
                            }
                            if !goal.constraints().is_empty() {
                                told.constraints.push((value * 0.9).into());
                            }
                            session.report(trial.id, told.clone()).unwrap();
                            if epoch == last {
                                session.tell(trial.id, told).unwrap();
                            }
                        }
                    }
                    assert_eq!(session.history().len(), 2 * round + 2, "{}", method.name);
                }
                let kept = session.recommend().unwrap().unwrap();
                assert_eq!(kept.trial % 2, 0, "{}: a stopped trial is kept", method.name);
                let forecasts = session.predict(&[session.best().unwrap().configuration]).unwrap();
                assert!(forecasts.is_none_or(|all| all.len() == 1));
                session.ask(2).unwrap()
            };
            assert_eq!(run(), run(), "{}", method.name);
        }
        assert!(served >= 4, "{goal}: {served} methods");
    }
}

/// Carries plans out on `workers` workers that finish in turn; returns the session and the paused trials.
fn search(mut session: Session, workers: usize, budget: u32) -> (Session, Vec<u64>, f64) {
    let mut at: BTreeMap<u64, u32> = BTreeMap::new();
    let mut paused: Vec<u64> = Vec::new();
    let mut running: Vec<(Trial, u32)> = Vec::new();
    let (mut spent, mut lowest) = (0, f64::INFINITY);
    while spent < budget {
        let free = workers - running.len();
        if free > 0 {
            for (trial, until) in session.plan(&paused, free).unwrap() {
                assert!(running.iter().all(|(other, _)| other.id != trial.id), "it runs already");
                paused.retain(|other| *other != trial.id);
                assert!(until > f64::from(at.get(&trial.id).copied().unwrap_or(0)));
                assert!(until <= f64::from(HIGH) && until.fract() == 0.0, "{until}");
                running.push((trial, until as u32));
            }
        }
        let (trial, until) = running.remove(0);
        let from = at.insert(trial.id, until).unwrap_or(0);
        spent += until - from;
        for epoch in from + 1..=until {
            let value = loss(&trial.configuration, epoch);
            lowest = lowest.min(value);
            session.report(trial.id, step(epoch, value)).unwrap();
        }
        match until == HIGH {
            true => session.tell(trial.id, step(HIGH, loss(&trial.configuration, HIGH))).unwrap(),
            false => paused.push(trial.id),
        }
    }
    // What runs is given back.
    paused.extend(
        running
            .into_iter()
            .filter(|(trial, _)| at.contains_key(&trial.id))
            .map(|(trial, _)| trial.id),
    );
    (session, paused, lowest)
}

#[test]
fn a_small_space_is_carried_to_its_end_once_nothing_is_left_to_begin() {
    for size in [3, 20] {
        let space = SearchSpace::new([Dimension::integer("x", 1, size)]).unwrap();
        let goal = epochs(Goal::from(Direction::Minimise));
        let mut session = Session::new(space, Auto::default(), goal, Seed(5)).unwrap();
        let mut paused: Vec<u64> = Vec::new();
        let mut left = size;
        while left > 0 {
            let planned = session.plan(&paused, 8).unwrap();
            assert!(!planned.is_empty(), "{left} of {size} are left, {paused:?} paused");
            for (trial, until) in planned {
                paused.retain(|other| *other != trial.id);
                let value = trial.configuration.real("x").unwrap() + 1.0 / until;
                let told = Measurement { fidelity: Some(until), ..value.into() };
                session.report(trial.id, told.clone()).unwrap();
                if until >= f64::from(HIGH) {
                    session.tell(trial.id, told).unwrap();
                    left -= 1;
                } else {
                    paused.push(trial.id);
                }
            }
        }
        assert!(session.plan(&paused, 1).is_err(), "nothing is left at all");
        assert_eq!(session.best().unwrap().configuration.real("x").unwrap(), 1.0);
    }
}

#[test]
fn plans_find_the_optimum_with_a_fraction_of_the_epochs_and_in_every_space() {
    // In the mixed space half of the configurations have no y, and end above 0.2.
    for (space, workers, limit) in
        [(numbers(), 1, 0.2), (numbers(), 8, 0.2), (mixed(), 1, 0.35), (mixed(), 4, 0.35)]
    {
        let goal = epochs(Direction::Minimise.into());
        let session = Session::new(space, Auto::default(), goal, Seed(5)).unwrap();
        // Fifteen whole trainings.
        let (mut session, paused, lowest) = search(session, workers, 15 * HIGH);
        assert!(lowest < limit, "{workers} workers: {lowest}");
        assert!(session.issued() > 25, "{} trials", session.issued());
        // The budget is spent: what is paused ends where it is.
        for trial in paused {
            let last = session.curve(trial).pop().unwrap();
            session.tell(trial, last).unwrap();
        }
        let best = session.best().unwrap();
        assert!(best.fidelity.is_none_or(|reached| reached > 3.0), "{best:?}");
    }
}

#[test]
fn a_plan_does_not_depend_on_what_is_remembered() {
    let goal = epochs(Direction::Minimise.into());
    let session = Session::new(numbers(), Auto::default(), goal, Seed(6)).unwrap();
    let (mut session, paused, _) = search(session, 3, 300);
    let mut loaded = Session::load(&session.save().unwrap(), Auto::default()).unwrap();
    for _ in 0..2 {
        assert_eq!(loaded.plan(&paused, 3).unwrap(), session.plan(&paused, 3).unwrap());
    }
}

#[test]
fn failed_trials_are_learnt_from_and_methods_without_curves_plan_to_the_end() {
    let goal = epochs(Direction::Minimise.into());
    let mut session = Session::new(numbers(), Auto::default(), goal.clone(), Seed(7)).unwrap();
    let mut high = 0;
    for round in 0..60 {
        let (trial, _) = session.plan(&[], 1).unwrap().remove(0);
        let x = trial.configuration.real("x").unwrap();
        if round >= 30 {
            high += u32::from(x > 0.5);
        }
        // The upper half of x diverges.
        match x > 0.5 {
            true => session.tell(trial.id, Outcome::failed()).unwrap(),
            false => {
                for epoch in 1..=3 {
                    let told = step(epoch, loss(&trial.configuration, epoch));
                    session.report(trial.id, told).unwrap();
                }
                session.tell(trial.id, step(3, loss(&trial.configuration, 3))).unwrap();
            }
        }
    }
    assert!(high < 12, "{high} of 30 in the half that fails");
    let mut session = Session::new(numbers(), Tpe::default(), goal, Seed(7)).unwrap();
    let planned = session.plan(&[], 2).unwrap();
    assert!(planned.iter().all(|(_, until)| *until == f64::from(HIGH)));
    // A paused trial is finished before a new one begins.
    let id = planned[1].0.id;
    let again = session.plan(&[id], 2).unwrap();
    assert_eq!((again[0].0.id, again[1].0.id), (id, 2));
    assert!(session.plan(&[99], 1).is_err());
}

/// Lets things happen to trials of a search, and compares the verdicts of the search, which keeps what it compares with, with the rule
/// itself after each of them. How many trials the rule stopped.
fn compare_verdicts(rule: Rule, happenings: &[(u64, u32, f64, bool)]) -> usize {
    let stopping = Stopping { rule, wrong_stop: 0.4 };
    let mut ledger = Ledger::new(numbers(), epochs(Direction::Minimise.into()), Seed(3));
    let mut stopped = 0;
    for &(trial, at, value, ends) in happenings {
        ledger.issue(trial, vec![0.5, trial as f64 / 100.0]);
        if !ledger.pending().contains_key(&trial) {
            continue;
        }
        match (ends, at) {
            (true, 1) => ledger.tell(trial, &Outcome::failed()).unwrap(),
            (true, _) => ledger.tell(trial, &value.into()).unwrap(),
            (false, _) => ledger.report(trial, &step(at, value)).unwrap(),
        }
        for trial in ledger.pending().keys() {
            let naive = stopping.verdict(ledger.history(), *trial, Seed(3)).unwrap();
            let found = ledger.verdict(*trial, &stopping).unwrap();
            assert_eq!(found, naive, "{rule}: trial {trial} after {at} of a trial");
            stopped += usize::from(naive == Verdict::Stop);
        }
    }
    stopped
}

#[test]
fn verdicts_that_are_kept_are_those_of_the_rules() {
    let mut rng = Seed(11).stream("verdicts", 0);
    for rule in [Rule::Halving, Rule::Hyperband, Rule::Median, Rule::Auto] {
        let mut stopped = 0;
        for search in 0..12 {
            let mut happenings = Vec::new();
            match search % 3 {
                // One trial after the other; steps of three, so that no step is dropped.
                0 => {
                    for trial in 0..30 {
                        for at in 1..=1 + below(&mut rng, 8) as u32 {
                            happenings.push((trial, 3 * at, below(&mut rng, 9) as f64, false));
                        }
                        let value = below(&mut rng, 9) as f64;
                        happenings.push((trial, 1 + below(&mut rng, 4) as u32, value, true));
                    }
                }
                // Several at a time, each a step further; some end.
                1 => {
                    let mut reached = BTreeMap::new();
                    for _ in 0..200 {
                        let trial = below(&mut rng, 30) as u64;
                        let at = reached.entry(trial).or_insert(0);
                        *at += 1 + below(&mut rng, 2) as u32;
                        let ends = *at >= HIGH || below(&mut rng, 12) == 0;
                        happenings.push((
                            trial,
                            (*at).min(HIGH - 1),
                            below(&mut rng, 9) as f64,
                            ends,
                        ));
                    }
                }
                // In any order: trials begin anew.
                _ => {
                    for _ in 0..120 {
                        let (trial, at) =
                            (below(&mut rng, 20) as u64, 1 + below(&mut rng, 25) as u32);
                        let ends = below(&mut rng, 6) == 0;
                        happenings.push((trial, at, below(&mut rng, 6) as f64, ends));
                    }
                }
            }
            stopped += compare_verdicts(rule, &happenings);
        }
        assert!(stopped > 20, "{rule} stopped {stopped}: too few to compare");
    }
}

/// BOHB is `tpe` under `hyperband` (Falkner, Klein and Hutter 2018). While all trials were measured at one fidelity, its model is that of these measurements; and
/// a trial goes on if it is among the best third of those of its bracket that came to the rung before.
#[test]
fn bohb_models_the_one_fidelity_that_was_measured_and_stops_within_brackets() {
    let mut rng = Seed(6).stream("test", 0);
    let points: Vec<Configuration> =
        (0..20).map(|_| numbers().decode(&numbers().sample(&mut rng))).collect();
    let goal = Goal::from(Direction::Minimise);
    let mut partial =
        Session::new(numbers(), Tpe::default(), epochs(goal.clone()), Seed(4)).unwrap();
    let mut whole = Session::new(numbers(), Tpe::default(), goal, Seed(4)).unwrap();
    for point in &points {
        let value = loss(point, 3);
        partial.observe_curve(point, [step(1, loss(point, 1)), step(3, value)]).unwrap();
        whole.observe(point, value).unwrap();
    }
    let proposed = |session: &mut Session| -> Vec<Configuration> {
        session.ask(4).unwrap().into_iter().map(|trial| trial.configuration).collect()
    };
    assert_eq!(proposed(&mut partial), proposed(&mut whole));

    let mut session =
        Session::new(numbers(), Tpe::default(), epochs(Direction::Minimise.into()), Seed(4))
            .unwrap();
    let hyperband = Stopping::from(Rule::Hyperband);
    let mut stops: BTreeMap<u32, usize> = BTreeMap::new();
    for _ in 0..150 {
        let trial = session.ask(1).unwrap().remove(0);
        for epoch in 1..=HIGH {
            let measured = step(epoch, loss(&trial.configuration, epoch));
            session.report(trial.id, measured.clone()).unwrap();
            let stops_here = session.verdict(trial.id, &hyperband).unwrap() == Verdict::Stop;
            if stops_here || epoch == HIGH {
                *stops.entry(epoch).or_default() += 1;
                session.tell(trial.id, measured).unwrap();
                break;
            }
        }
    }
    // Only rungs: η = 3 from 1 to 27.
    assert!(stops.keys().all(|epoch| [1, 3, 9, HIGH].contains(epoch)), "{stops:?}");
    // Trials of every bracket but the last end at its first rung, and some of each come to the end.
    assert!([1, 3, 9].iter().all(|rung| stops[rung] > 10) && stops[&HIGH] > 10, "{stops:?}");
}
