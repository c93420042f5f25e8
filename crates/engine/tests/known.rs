//! Known constraints, through the public API: over random spaces and random constraints no method suggests a
//! configuration that breaks one, by an evaluation of its own; and what is drawn is uniform among the legal ones.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod suite;

use proptest::prelude::{Just, any, prop, prop_oneof};
use proptest::strategy::{Strategy as Generator, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use suite::{METHODS, strategy};
use wimble::Error;
use wimble::prelude::*;

/// A number in a constraint.
#[derive(Debug, Clone)]
enum Number {
    Constant(f64),
    Name(&'static str),
    Binary(&'static str, Box<Self>, Box<Self>),
    Call(&'static str, Vec<Self>),
}

/// A condition in a constraint.
#[derive(Debug, Clone)]
enum Condition {
    Compare(&'static str, Number, Number),
    Choice(&'static str, bool, &'static str),
    Among(&'static str, Vec<&'static str>),
    Flag(&'static str),
    Not(Box<Self>),
    Both(Box<Self>, Box<Self>),
    Either(Box<Self>, Box<Self>),
    Implies(Box<Self>, Box<Self>),
}

/// What a condition is at a configuration, from the least to the greatest.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Truth {
    False,
    Undefined,
    Silent,
    True,
}

impl Number {
    fn text(&self) -> String {
        match self {
            Self::Constant(value) if *value < 0.0 => format!("({value})"),
            Self::Constant(value) => format!("{value}"),
            Self::Name(name) => format!("`{name}`"),
            Self::Binary(sign, a, b) => format!("({} {sign} {})", a.text(), b.text()),
            Self::Call(name, arguments) => {
                let arguments: Vec<String> = arguments.iter().map(Self::text).collect();
                format!("{name}({})", arguments.join(", "))
            }
        }
    }

    /// The value; `Err(true)` where a parameter is inactive, `Err(false)` where it is not a finite number.
    fn value(&self, at: &Configuration) -> Result<f64, bool> {
        let value = match self {
            Self::Constant(value) => *value,
            Self::Name(name) => at.get(name).ok_or(true)?.as_real().unwrap(),
            Self::Binary(sign, a, b) => match (a.value(at), b.value(at)) {
                (Err(true), _) | (_, Err(true)) => return Err(true),
                (Err(_), _) | (_, Err(_)) => return Err(false),
                (Ok(a), Ok(b)) => match *sign {
                    "+" => a + b,
                    "-" => a - b,
                    "*" => a * b,
                    _ => a / b,
                },
            },
            Self::Call(name, arguments) => {
                let values: Vec<Result<f64, bool>> =
                    arguments.iter().map(|argument| argument.value(at)).collect();
                if values.contains(&Err(true)) {
                    return Err(true);
                }
                let values = values.into_iter().collect::<Result<Vec<f64>, bool>>()?;
                match *name {
                    "min" => values[0].min(values[1]),
                    "max" => values[0].max(values[1]),
                    "abs" => values[0].abs(),
                    "sqrt" => values[0].sqrt(),
                    "log" => values[0].ln(),
                    _ => values[0].exp(),
                }
            }
        };
        if value.is_finite() { Ok(value) } else { Err(false) }
    }
}

impl Condition {
    fn text(&self) -> String {
        match self {
            Self::Compare(sign, a, b) => format!("{} {sign} {}", a.text(), b.text()),
            Self::Choice(name, same, choice) => {
                format!("{name} {} \"{choice}\"", if *same { "==" } else { "!=" })
            }
            Self::Among(name, choices) => {
                let choices: Vec<String> = choices.iter().map(|it| format!("\"{it}\"")).collect();
                format!("{name} in {{{}}}", choices.join(", "))
            }
            Self::Flag(name) => (*name).to_owned(),
            Self::Not(inner) => format!("not ({})", inner.text()),
            Self::Both(a, b) => format!("(({}) and ({}))", a.text(), b.text()),
            Self::Either(a, b) => format!("(({}) or ({}))", a.text(), b.text()),
            Self::Implies(a, b) => format!("(if {} then {})", a.text(), b.text()),
        }
    }

    fn truth(&self, at: &Configuration) -> Truth {
        let of = |condition: bool| if condition { Truth::True } else { Truth::False };
        let not = |truth: Truth| match truth {
            Truth::True => Truth::False,
            Truth::False => Truth::True,
            other => other,
        };
        let least = |a: Truth, b: Truth| if a < b { a } else { b };
        let greatest = |a: Truth, b: Truth| if a > b { a } else { b };
        let text = |name: &str| at.get(name).and_then(|value| value.as_text().map(str::to_owned));
        match self {
            Self::Compare(sign, a, b) => match (a.value(at), b.value(at)) {
                (Err(true), _) | (_, Err(true)) => Truth::Silent,
                (Err(_), _) | (_, Err(_)) => Truth::Undefined,
                (Ok(a), Ok(b)) => of(match *sign {
                    "<=" => a <= b,
                    "<" => a < b,
                    ">=" => a >= b,
                    ">" => a > b,
                    _ => a != b,
                }),
            },
            Self::Choice(name, same, choice) => {
                text(name).map_or(Truth::Silent, |found| of((found == *choice) == *same))
            }
            Self::Among(name, choices) => {
                text(name).map_or(Truth::Silent, |found| of(choices.contains(&found.as_str())))
            }
            Self::Flag(name) => {
                at.get(name).map_or(Truth::Silent, |it| of(it.as_boolean().unwrap()))
            }
            Self::Not(inner) => not(inner.truth(at)),
            Self::Both(a, b) => least(a.truth(at), b.truth(at)),
            Self::Either(a, b) => greatest(a.truth(at), b.truth(at)),
            Self::Implies(a, b) => greatest(not(a.truth(at)), b.truth(at)),
        }
    }

    fn is_met(&self, at: &Configuration) -> bool {
        self.truth(at) >= Truth::Silent
    }
}

/// Dimensions that constraints of [`conditions`] mention, some left out or conditional.
fn space(shape: u32) -> SearchSpace {
    let bit = |i: u32| shape >> i & 1 == 1;
    let mut dimensions = vec![
        Dimension::categorical("kind", ["a", "b", "c"]),
        Dimension::boolean("flag"),
        if bit(0) { Dimension::real("x", -2.0, 3.0) } else { Dimension::integer("x", -2, 3) },
        if bit(1) {
            Dimension::log_real("y", 0.01, 10.0)
        } else {
            Dimension::log_integer("y", 1, 50)
        },
        Dimension::integer("n", 0, 20).step(if bit(2) { 1 } else { 4 }),
        Dimension::real("z", 0.0, 1.0),
        if bit(3) {
            Dimension::shares("mix", ["p", "q", "r"])
        } else {
            Dimension::ordinal("mix", [1, 2, 4])
        },
    ];
    if bit(4) {
        dimensions[4] = dimensions[4].clone().when("kind", ["a", "b"]);
    }
    if bit(5) {
        dimensions[5] = dimensions[5].clone().when("flag", [true]);
    }
    if bit(6) {
        dimensions[6] = dimensions[6].clone().when("flag", [false]);
    }
    if !bit(3) {
        dimensions.push(Dimension::real("p", 0.0, 1.0));
        dimensions.push(Dimension::real("q", 0.0, 1.0));
    }
    SearchSpace::new(dimensions).unwrap()
}

fn numbers() -> impl Generator<Value = Number> {
    let leaf = prop_oneof![
        3 => prop::sample::select(vec!["x", "y", "n", "z", "p", "q"]).prop_map(Number::Name),
        1 => (-40..40_i32).prop_map(|value| Number::Constant(f64::from(value) / 8.0)),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            3 => (prop::sample::select(vec!["+", "-", "*", "/"]), two.clone())
                .prop_map(|(sign, (a, b))| Number::Binary(sign, Box::new(a), Box::new(b))),
            1 => (prop::sample::select(vec!["min", "max"]), two)
                .prop_map(|(name, (a, b))| Number::Call(name, vec![a, b])),
            1 => (prop::sample::select(vec!["abs", "sqrt", "log", "exp"]), inner)
                .prop_map(|(name, a)| Number::Call(name, vec![a])),
        ]
    })
}

fn conditions() -> impl Generator<Value = Condition> {
    let choice = || prop::sample::select(vec!["a", "b", "c"]);
    let leaf = prop_oneof![
        5 => (prop::sample::select(vec!["<=", "<", ">=", ">", "!="]), numbers(), numbers())
            .prop_map(|(sign, a, b)| Condition::Compare(sign, a, b)),
        1 => (any::<bool>(), choice()).prop_map(|(same, it)| Condition::Choice("kind", same, it)),
        1 => prop::collection::vec(choice(), 1..3).prop_map(|it| Condition::Among("kind", it)),
        1 => Just(Condition::Flag("flag")),
    ];
    leaf.prop_recursive(2, 4, 2, |inner| {
        let two = (inner.clone().prop_map(Box::new), inner.clone().prop_map(Box::new));
        prop_oneof![
            inner.prop_map(|a| Condition::Not(Box::new(a))),
            two.clone().prop_map(|(a, b)| Condition::Both(a, b)),
            two.clone().prop_map(|(a, b)| Condition::Either(a, b)),
            two.prop_map(|(a, b)| Condition::Implies(a, b)),
        ]
    })
}

/// Random spaces with random constraints that leave some configurations, the same on every run.
fn constrained(count: usize, seed: u8) -> Vec<(SearchSpace, Vec<Condition>)> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let sets = (any::<u32>(), prop::collection::vec(conditions(), 1..4));
    let mut found = Vec::new();
    let mut refused = 0;
    while found.len() < count {
        let (shape, conditions) = sets.new_tree(&mut runner).unwrap().current();
        match space(shape).known(conditions.iter().map(Condition::text)) {
            Ok(space) => found.push((space, conditions)),
            Err(Error::Contradiction { .. } | Error::NothingLegal { .. }) => refused += 1,
            // `log(z - 5)` and the like.
            Err(Error::Expression { reason, .. }) if reason.contains("no value anywhere") => {
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused < 2 * count, "{refused} of {}", refused + count);
    found
}

/// Asks for batches until there are `trials`; every configuration meets every condition.
fn search(
    method: &str,
    space: &SearchSpace,
    conditions: &[Condition],
    trials: usize,
    batch: usize,
) -> usize {
    let mut session =
        Session::new(space.clone(), strategy(method), Direction::Minimise, Seed(3)).unwrap();
    let mut done = 0;
    while done < trials {
        let size = batch.min(trials - done);
        let asked = match session.ask(size) {
            Ok(asked) => asked,
            // So few configurations are left that the constraints have used the space up.
            Err(Error::Exhausted { .. } | Error::NothingFree { .. }) => break,
            Err(error) => panic!("{method}: {error}"),
        };
        for Trial { id, configuration } in asked {
            for condition in conditions {
                assert!(
                    condition.is_met(&configuration),
                    "{method} breaks {}: {configuration}",
                    condition.text()
                );
            }
            if let (Some(p), Some(q), Some(r)) =
                (configuration.get("p"), configuration.get("q"), configuration.get("r"))
            {
                let sum = [p, q, r].map(|share| share.as_real().unwrap()).iter().sum::<f64>();
                assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            }
            let value =
                |name: &str| configuration.get(name).and_then(Value::as_real).unwrap_or(0.5);
            let value =
                (value("x") - 1.0).powi(2) + value("y").ln().abs() + value("z") * value("p");
            session.tell(id, value).unwrap();
            done += 1;
        }
    }
    done
}

#[test]
fn a_hundred_thousand_suggestions_break_no_constraint() {
    let mut total = 0;
    for (space, conditions) in constrained(60, 1) {
        for (method, trials, batch) in
            [("random", 900, 100), ("sobol", 600, 100), ("cma-es", 300, 60), ("tpe", 60, 15)]
        {
            total += search(method, &space, &conditions, trials, batch);
        }
    }
    assert!(total > 100_000, "{total}");
}

#[test]
fn two_thousand_suggestions_of_auto_break_no_constraint() {
    let mut total = 0;
    for (space, conditions) in constrained(40, 2) {
        total += search("auto", &space, &conditions, 55, 10);
    }
    assert!(total >= 2_000, "{total}");
}

#[test]
fn every_method_obeys() {
    for (space, conditions) in constrained(2, 3) {
        for method in METHODS {
            assert_eq!(search(method, &space, &conditions, 24, 8), 24, "{method}");
        }
    }
}

/// The largest of draws of χ² with so many degrees of freedom that is not surprising: five standard deviations.
fn surprising(freedom: f64) -> f64 {
    freedom + 5.0 * (2.0 * freedom).sqrt()
}

#[test]
fn draws_are_uniform_among_the_legal() {
    // A triangle, a sliver and a disc: each cut into cells whose shares a fine grid gives.
    type Case = (&'static str, fn(f64, f64) -> bool);
    let cases: [Case; 3] = [
        ("a + b <= 0.7", |a: f64, b: f64| a + b <= 0.7),
        ("abs(a - b) <= 0.01", |a: f64, b: f64| (a - b).abs() <= 0.01),
        ("(a - 0.5)^2 + (b - 0.5)^2 <= 0.2", |a: f64, b: f64| {
            (a - 0.5).powi(2) + (b - 0.5).powi(2) <= 0.2
        }),
    ];
    for (constraint, legal) in cases {
        let space =
            SearchSpace::new([Dimension::real("a", 0.0, 1.0), Dimension::real("b", 0.0, 1.0)])
                .unwrap()
                .known([constraint])
                .unwrap();
        const CELLS: usize = 8;
        const FINE: usize = 4_000;
        let cell = |a: f64, b: f64| {
            let place = |u: f64| ((u * CELLS as f64) as usize).min(CELLS - 1);
            place(a) * CELLS + place(b)
        };
        let mut expected = vec![0.0; CELLS * CELLS];
        let mut all = 0.0;
        for i in 0..FINE {
            for j in 0..FINE {
                let (a, b) = ((i as f64 + 0.5) / FINE as f64, (j as f64 + 0.5) / FINE as f64);
                if legal(a, b) {
                    expected[cell(a, b)] += 1.0;
                    all += 1.0;
                }
            }
        }
        let draws = 20_000;
        let mut found = vec![0.0; CELLS * CELLS];
        let mut rng = Seed(5).stream("test", 0);
        for _ in 0..draws {
            let x = space.sample(&mut rng);
            assert!(legal(x[0], x[1]), "{constraint}: {x:?}");
            found[cell(x[0], x[1])] += 1.0;
        }
        let (mut statistic, mut freedom) = (0.0, -1.0);
        for (found, expected) in found.iter().zip(&expected) {
            let expected = expected / all * f64::from(draws);
            if expected >= 5.0 {
                statistic += (found - expected).powi(2) / expected;
                freedom += 1.0;
            }
        }
        assert!(statistic < surprising(freedom), "{constraint}: {statistic} of {freedom}");
        let share = all / (FINE * FINE) as f64;
        assert!((space.legal_share() - share).abs() < 0.02 * share, "{}", space.legal_share());
    }
}

#[test]
fn a_walk_among_rare_points_forgets_where_it_began() {
    // A share of 1/8! = 2.5e-5 of the cube; the sum of 8 uniform numbers, given that it is below 1, is Beta(8, 1).
    let names: Vec<String> = (0..8).map(|i| format!("x{i}")).collect();
    let space = SearchSpace::new(names.iter().map(|name| Dimension::real(name, 0.0, 1.0)))
        .unwrap()
        .known([format!("{} <= 1", names.join(" + "))])
        .unwrap();
    let mut rng = Seed(6).stream("test", 0);
    let draws = 2_000;
    let (mut sum, mut first) = (0.0, 0.0);
    for _ in 0..draws {
        let x = space.sample(&mut rng);
        let total: f64 = x.iter().sum();
        assert!(total <= 1.0);
        sum += total / f64::from(draws);
        first += x[0] / f64::from(draws);
    }
    // Means 8/9 and 1/9, deviations 0.099 both; walks of the same start are not independent, hence the margin.
    assert!((sum - 8.0 / 9.0).abs() < 0.02, "{sum}");
    assert!((first - 1.0 / 9.0).abs() < 0.02, "{first}");
}

#[test]
fn a_finite_space_is_used_up_and_counts_what_is_legal() {
    let space =
        SearchSpace::new([Dimension::integer("a", 1, 1000), Dimension::integer("b", 1, 1000)])
            .unwrap()
            .known(["a * b == 1000", "a != 4"])
            .unwrap();
    // The divisors of 1000, without 4.
    assert_eq!(space.cardinality(), Some(15));
    for method in ["random", "sobol", "auto"] {
        let mut session =
            Session::new(space.clone(), strategy(method), Direction::Minimise, Seed(1)).unwrap();
        for id in 0..15 {
            let trial = session.ask(1).unwrap().remove(0);
            let value = |name: &str| trial.configuration.get(name).unwrap().as_integer().unwrap();
            assert_eq!(value("a") * value("b"), 1000, "{method}");
            session.tell(id, value("a") as f64).unwrap();
        }
        assert!(matches!(session.ask(1), Err(Error::Exhausted { total: 15, .. })), "{method}");
    }
}

#[test]
fn the_minimum_on_the_edge_of_the_legal_part_is_found() {
    // Without the constraint the minimum is at 0.9, 0.9; with it, at 0.5, 0.5 with the value 0.32.
    let space = SearchSpace::new([Dimension::real("a", 0.0, 1.0), Dimension::real("b", 0.0, 1.0)])
        .unwrap()
        .known(["a + b <= 1"])
        .unwrap();
    let mut session = Session::new(space, strategy("auto"), Direction::Minimise, Seed(1)).unwrap();
    for _ in 0..6 {
        for Trial { id, configuration } in session.ask(10).unwrap() {
            let off = |name| configuration.get(name).and_then(Value::as_real).unwrap() - 0.9;
            session.tell(id, off("a").powi(2) + off("b").powi(2)).unwrap();
        }
    }
    let best = session.best().unwrap().value;
    assert!(best < 0.322, "{best}");
}
