//! What is guaranteed, for every combination of space, method, target, rule, batch size, failures and threshold, against
//! the theorems' conditions written a second time; and the table of docs/guide/theory.md against the same function.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use wimble::prelude::*;
use wimble::strategy::{Guarantee, Promise};
use wimble::theory::{Plan, Reason};

/// One combination, in the words of the guide's table.
#[derive(Debug, Clone, Copy)]
struct Case<'a> {
    method: &'a str,
    classifier: &'a str,
    confidence: &'a str,
    threshold: &'a str,
    kernel: &'a str,
    target: &'a str,
    rule: &'a str,
    space: &'a str,
    batch: usize,
    pending: bool,
    failures: bool,
}

const SPACES: [&str; 6] =
    ["finite, repeats", "finite", "countable, repeats", "countable", "real", "conditional"];

fn space(name: &str) -> SearchSpace {
    let small = [Dimension::integer("a", 0, 9), Dimension::boolean("b")];
    let large = [Dimension::integer("a", 0, 20_000), Dimension::boolean("b")];
    let real = [Dimension::real("x", 0.0, 1.0), Dimension::boolean("b")];
    // Without b there is a single configuration, which draws would meet again and again.
    let conditional = [Dimension::boolean("b"), Dimension::real("x", 0.0, 1.0).when("b", [true])];
    let repeats = name.contains("repeats");
    let dimensions = match name.split(',').next().unwrap() {
        "finite" => small,
        "countable" => large,
        "real" => real,
        "conditional" => conditional,
        other => panic!("no space is called {other}"),
    };
    SearchSpace::new(dimensions).unwrap().allow_repeats(repeats)
}

fn guarantee(case: &Case<'_>, spaces: impl Fn(&str) -> SearchSpace) -> Guarantee {
    let space = spaces(case.space);
    let mut words = vec![case.method.to_owned(), format!("classifier={}", case.classifier)];
    match case.confidence {
        "level" => words.push("level=0.1".to_owned()),
        "width" => words.push("width=3".to_owned()),
        _ => {}
    }
    match case.threshold {
        "fixed" => words.push("threshold=0.5".to_owned()),
        "grid" => {
            words.extend(["low=0", "high=1", "count=8"].map(|word| format!("thresholds.{word}")));
        }
        _ => {}
    }
    if case.kernel == "fixed" && case.classifier == "least-squares" {
        let kernel = "{\"profile\":\"matern52\",\"length-scales\":[0.5,0.5],\"output-scale\":1.0}";
        words.push(format!("classifier.hyper-parameters.fixed.kernel={kernel}"));
    }
    words.push(format!("target={}", case.target));
    if case.rule != "default" {
        words.push(format!("rule={}", case.rule));
    }
    let spec: Spec = words.join(" ").parse().unwrap();
    spec.guarantee(
        &space,
        &Goal::default(),
        Plan { batch_size: case.batch, pending: case.pending, failures: case.failures },
    )
}

/// The conditions of the theorems, once more and without the engine's types.
fn expected(case: &Case<'_>) -> Option<Promise> {
    let model = case.classifier == "least-squares"
        && case.threshold != "quantile"
        && case.kernel == "fixed"
        && case.confidence != "width"
        && !case.failures;
    if !model {
        return None;
    }
    let rule = match case.rule {
        "default" => "candidates",
        rule => rule,
    };
    let repeats = case.space.contains("repeats");
    match rule {
        "ascent" | "candidates" => {
            let exact = case.batch == 1
                && case.space.starts_with("finite")
                && !(rule == "candidates" && case.pending);
            match (exact, case.method, repeats, case.pending) {
                (false, ..) => None,
                (true, "bore", true, false) => Some(Promise::Bore),
                (true, "bore", true, true) => Some(Promise::BoreRounds),
                (true, "bore", false, _) => None,
                (true, _, true, false) => Some(Promise::Regret),
                (true, _, true, true) => Some(Promise::Overlapping),
                (true, _, false, _) => Some(Promise::BestSoFar),
            }
        }
        "independent" if case.method == "bore++" && case.target == "log-probability" => {
            match (repeats || case.space == "real", case.pending) {
                (false, _) => None,
                (true, false) => Some(Promise::Batches),
                (true, true) => Some(Promise::BatchesRounds),
            }
        }
        _ => None,
    }
}

#[test]
fn every_combination_promises_what_the_theorems_give_and_no_more() {
    let rules = [
        "default",
        "svgd",
        "stein-newton",
        "ascent",
        "candidates",
        "softmax",
        "independent",
        "thompson",
    ];
    // No rule of the one table of methods is left out.
    let named = wimble::internals::RULES.iter().map(|row| row.name);
    assert_eq!(named.filter(|name| !rules.contains(name)).count(), 0);
    assert_eq!(wimble::internals::RULES.len() + 1, rules.len());
    let spaces: Vec<SearchSpace> = SPACES.iter().map(|name| space(name)).collect();
    let of = |name: &str| spaces[SPACES.iter().position(|other| *other == name).unwrap()].clone();
    let (mut cases, mut promised) = (0, 0);
    let mut check = |case: Case<'_>| {
        let found = guarantee(&case, of);
        assert_eq!(found.promise, expected(&case), "{case:?}: {found:?}");
        // Whatever is not promised has a reason; whatever is has conditions, of which failures are one.
        let whole = matches!(
            found.promise,
            Some(
                Promise::Bore
                    | Promise::Regret
                    | Promise::Overlapping
                    | Promise::BestSoFar
                    | Promise::Batches
            )
        );
        assert_eq!(found.reasons.is_empty(), whole, "{case:?}: {found:?}");
        let failures = found.conditions.iter().any(|line| line.contains("Lemma 1"));
        assert_eq!(failures, found.promise.is_some(), "{case:?}: {found:?}");
        cases += 1;
        promised += usize::from(found.promise.is_some());
    };
    for space in SPACES {
        for (method, confidence) in [("bore", "none"), ("bore++", "level"), ("bore++", "width")] {
            for rule in rules {
                for target in ["logit", "log-probability"] {
                    for batch in [1, 5] {
                        for flags in 0..24 {
                            check(Case {
                                method,
                                classifier: "least-squares",
                                confidence,
                                threshold: ["fixed", "quantile", "grid"][flags / 8],
                                kernel: if flags & 1 == 0 { "fixed" } else { "estimated" },
                                target,
                                rule,
                                space,
                                batch,
                                pending: flags & 2 != 0,
                                failures: flags & 4 != 0,
                            });
                        }
                    }
                }
            }
        }
    }
    for (classifier, method) in [
        ("perceptron", "bore"),
        ("bayesian-logistic", "bore++"),
        ("ensemble", "bore++"),
        ("forest", "bore++"),
        ("boosting", "bore++"),
    ] {
        check(Case {
            method,
            classifier,
            confidence: if method == "bore" { "none" } else { "level" },
            threshold: "fixed",
            kernel: "fixed",
            target: "log-probability",
            rule: "independent",
            space: "finite, repeats",
            batch: 1,
            pending: false,
            failures: false,
        });
    }
    assert_eq!(cases, 6 * 3 * 8 * 2 * 2 * 24 + 5);
    assert_eq!(promised, 72);
}

#[test]
fn other_methods_and_weights_have_no_theorem() {
    let space = space("finite, repeats");
    for name in wimble::internals::METHODS.iter().map(|row| row.name) {
        if !name.starts_with("bore") {
            let found =
                Spec::named(name).unwrap().guarantee(&space, &Goal::default(), Plan::default());
            assert_eq!((found.promise, found.reasons.len()), (None, 0), "{name}");
            assert_eq!(found.to_string(), "none");
        }
    }
    let spec: Spec = "bore weights=improvement".parse().unwrap();
    let found = spec.guarantee(&space, &Goal::default(), Plan::default());
    assert_eq!(found.reasons, [Reason::OtherEstimator]);
    assert!(found.to_string().starts_with("none, because\n- the classifier is not"), "{found}");
}

#[test]
fn several_objectives_have_no_theorem() {
    let several = Goal::new(["cost", "error"].map(Objective::minimise)).unwrap();
    for method in ["bore", "bore++ level=0.1 threshold=0.5"] {
        let spec: Spec = method.parse().unwrap();
        let found = spec.guarantee(&space("finite, repeats"), &several, Plan::default());
        assert_eq!((found.promise, found.reasons), (None, vec![Reason::OtherGoal]), "{method}");
    }
}

/// The table of the guide: a case in the first cells of a row, the promise in its last.
#[test]
fn the_guide_s_table_is_what_the_function_says() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/theory.md");
    let text = fs::read_to_string(guide).unwrap();
    let table = text.lines().skip_while(|line| !line.starts_with("| method | confidence |"));
    let rows: Vec<&str> = table.skip(2).take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 12, "{rows:?}");
    let mut promises = Vec::new();
    for row in rows {
        let cells: Vec<&str> =
            row.trim_matches('|').split('|').map(|c| c.trim().trim_matches('`')).collect();
        let [
            method,
            confidence,
            threshold,
            kernel,
            target,
            rule,
            space_name,
            batch,
            pending,
            answer,
        ] = cells[..]
        else {
            panic!("ten cells expected in {row}");
        };
        let case = Case {
            method,
            classifier: "least-squares",
            confidence,
            threshold,
            kernel,
            target,
            rule,
            space: space_name,
            batch: batch.parse().unwrap(),
            pending: pending == "yes",
            failures: false,
        };
        let found = guarantee(&case, space);
        let words = found.promise.map_or("none".to_owned(), |promise| promise.to_string());
        assert_eq!(words, answer, "{row}");
        assert_eq!(guarantee(&Case { failures: true, ..case }, space).promise, None, "{row}");
        promises.extend(found.promise);
    }
    for promise in [
        Promise::Bore,
        Promise::BoreRounds,
        Promise::Regret,
        Promise::Overlapping,
        Promise::BestSoFar,
        Promise::Batches,
        Promise::BatchesRounds,
    ] {
        assert!(promises.contains(&promise), "the guide shows no {promise:?}");
    }
}
