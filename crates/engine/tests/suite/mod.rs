//! The methods that the conformance suite and the golden suggestions run.

use wimble::prelude::*;

/// Every method, every classifier and every batch rule, small enough for tests.
#[allow(dead_code, reason = "not every test needs them")]
pub const METHODS: [&str; 28] = [
    "auto",
    "auto width=2",
    "random",
    "sobol",
    "tpe",
    "cma-es",
    "gp-ucb ascent.samples=32 ascent.restarts=2 ascent.evaluations=10 regression.fitted.evaluations=8",
    "gp-ei ascent.samples=32 ascent.restarts=2 ascent.evaluations=10 regression.fitted.evaluations=8",
    "q-ei samples=16 batches=4 restarts=1 evaluations=5 regression.fitted.evaluations=8",
    "lp-ei ascent.samples=32 ascent.restarts=2 ascent.evaluations=10 regression.fitted.evaluations=8",
    "bore rule=candidates rule.samples=64 rule.rounds=4",
    "bore preset=paper rule=svgd rule.steps=50",
    "bore preset=paper rule=ascent rule.samples=64 rule.restarts=2 rule.evaluations=20 weights=improvement",
    "bore preset=paper rule=candidates rule.samples=64 rule.rounds=4 target=log-probability",
    "bore classifier=least-squares rule=svgd rule.steps=30",
    "bore classifier=forest classifier.trees=10",
    "bore classifier=boosting classifier.rounds=10 rule=softmax rule.samples=100",
    "bore++ rule=ascent rule.samples=64 rule.restarts=2 rule.evaluations=20",
    "bore++ level=0.1 rule=candidates rule.samples=64 rule.rounds=4",
    "bore++ classifier=bayesian-logistic classifier.features=40 rule=stein-newton rule.steps=10",
    "bore++ classifier=ensemble classifier.members=3 rule=svgd rule.steps=50",
    "bore++ classifier=ensemble classifier.members=3 level=0.2 rule=softmax rule.samples=100",
    "bore++ classifier=forest classifier.trees=10 level=0.1 weights=improvement",
    "bore++ classifier=boosting classifier.rounds=10 classifier.members=3",
    "bore++ level=0.1 target=log-probability rule=independent",
    "bore classifier=least-squares rule=thompson rule.candidates.samples=64 rule.candidates.rounds=4",
    "bore++ classifier=bayesian-logistic classifier.features=40 rule=thompson rule.candidates.samples=64 rule.candidates.rounds=4",
    "bore++ classifier=ensemble classifier.members=3 rule=thompson rule.candidates.samples=64 rule.candidates.rounds=4",
];

/// Methods that serve several objectives only, as small.
#[allow(dead_code, reason = "not every test needs them")]
pub const SEVERAL: [&str; 2] = [
    "nsga2 population=6",
    "ehvi candidates.samples=40 candidates.rounds=3 regression.fitted.evaluations=8",
];

/// Methods that need a finite space.
#[allow(dead_code, reason = "not every test needs them")]
pub const FINITE: [&str; 1] = ["grid"];

/// The strategy of these words, for batches of ten.
pub fn strategy(method: &str) -> Box<dyn Strategy> {
    let spec: Spec = method.parse().unwrap_or_else(|error| panic!("{method}: {error}"));
    spec.build(10).unwrap_or_else(|error| panic!("{method}: {error}"))
}
