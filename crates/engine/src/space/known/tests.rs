//! The language, its mistakes, what is proven, and what is drawn.

use super::propagation::{Scratch, Verdict};
use super::system::Probe;
use crate::error::Error;
use crate::seed::{Seed, uniform};
use crate::space::{Configuration, Dimension, SearchSpace, Value};

fn space() -> SearchSpace {
    SearchSpace::new([
        Dimension::log_integer("batch", 1, 1024),
        Dimension::integer("layers", 1, 16),
        Dimension::categorical("optimiser", ["adam", "sgd", "lion"]),
        Dimension::real("momentum", 0.0, 1.0).when("optimiser", ["sgd"]),
        Dimension::boolean("nesterov").when("optimiser", ["sgd"]),
        Dimension::ordinal("size", ["small", "medium", "large"]),
        Dimension::categorical("width", [16, 32, 64]),
        Dimension::real("drop-out", -1.0, 1.0),
        Dimension::shares("mix", ["a", "b", "c"]),
    ])
    .unwrap()
}

fn refusal(constraint: &str) -> String {
    match space().known([constraint]).unwrap_err() {
        Error::Expression { line, column, reason, .. } => format!("{line}:{column} {reason}"),
        other => other.to_string(),
    }
}

#[test]
fn mistakes_are_shown_where_they_are_with_the_remedy() {
    for (constraint, message) in [
        ("batch * layrs <= 4096", "1:9 there is no parameter `layrs`; the nearest is `layers`"),
        ("batch\n  * bacth <= 4096", "2:5 there is no parameter `bacth`; the nearest is `batch`"),
        (
            "drop < 0.5",
            "1:1 there is no parameter `drop`; write `drop-out` in backticks, since it is not a plain word",
        ),
        (
            "optimiser == sgd",
            "1:14 there is no parameter `sgd`; there are `batch`, `layers`, `optimiser`, `momentum`, `nesterov`, `size`, \
             `width`, `drop-out`, `a`, `b`, `c`. Text stands in quotes",
        ),
        (
            r#"optimiser == "sgdd""#,
            r#"1:14 "sgdd" is none of the choices of `optimiser`: ["adam", "sgd", "lion"]; the nearest is "sgd""#,
        ),
        ("mix <= 0.5", "1:1 `mix` is a whole; its shares are a, b, c"),
        (
            "batch * layers",
            "1:1 this is a number, where a condition is expected, such as `… <= 10`",
        ),
        ("batch * (layers <= 4)", "1:9 this is true or false, where a number is expected"),
        ("layers = 4", "1:8 `=` is not part of the language; write `==`"),
        ("layers <= 4 && batch > 2", "1:13 `&&` is not part of the language; write `and`"),
        ("layers ** 2 <= 4", "1:8 `**` is not part of the language; write `^`"),
        ("2layers <= 4", "1:2 `l` stands right behind a number; write `*` between factors"),
        ("layers <= ", "1:11 the constraint ends where a parameter or a value is expected"),
        ("(layers <= 4", "1:13 the constraint ends where `)` to close the parenthesis is expected"),
        ("layers <= 4 )", "1:13 `)` stands where an operator, or the end, is expected"),
        ("if layers > 4 batch < 3", "1:15 `batch` stands where `then` is expected"),
        ("layers < 1e999", "1:10 `1e999` is too large for a number"),
        ("size < \"large", "1:8 \" is never closed"),
        ("", "1:1 the constraint is empty"),
        (
            "optimiser < \"sgd\"",
            "1:1 the choices of `optimiser` have no order; compare with == or !=, or make it ordinal",
        ),
        ("optimiser == size", "1:14 `optimiser` and `size` have different choices"),
        ("layers == \"4\"", "1:1 a number cannot be compared with text"),
        (
            "sin(layers) < 0",
            "1:1 there is no function `sin`; there are min, max, abs, sqrt, log, exp, pow; the nearest is `min`",
        ),
        ("sqrt(layers, 2) < 3", "1:1 `sqrt` takes one number, not 2"),
        ("layers in 4", "1:11 `4` stands where `{`, as in `x in {1, 2}`, is expected"),
        (
            "layers / (2 - 2) <= 1",
            "1:1 `layers / (2 - 2)` has no value anywhere in the space: it divides by zero, takes the root or logarithm \
             of a negative number, or overflows",
        ),
        (
            "log(-layers) < 3",
            "1:1 `log(-layers)` has no value anywhere in the space: it divides by zero, takes the root or logarithm of \
             a negative number, or overflows",
        ),
        (
            "momentum + a == 1",
            "1:1 `momentum` is real, and an equality of real numbers leaves next to no configuration; for parts of a \
             whole use a dimension of the type `shares`, otherwise compute one parameter from the others in the \
             command, or allow a margin: abs(… - …) <= 0.01",
        ),
    ] {
        assert_eq!(refusal(constraint), message, "{constraint}");
    }
}

#[test]
fn long_and_deep_constraints_are_refused_without_harm() {
    let deep = format!("{}layers{} <= 4", "(".repeat(1_500), ")".repeat(1_500));
    assert!(refusal(&deep).contains("nested more than 64 deep"));
    assert!(refusal(&"(".repeat(10_000)).contains("has 10000 bytes, but may have 4096"));
    for word in ["-", "not ", "if true then ", "2^", "abs("] {
        let deep = word.repeat(4_000 / word.len());
        assert!(refusal(&deep).contains("nested more than 64 deep"), "{word}");
    }
    let wide = vec!["layers"; 500].join("+");
    space().known([format!("{wide} <= 4000")]).unwrap();
    let many = vec!["layers <= 4"; 257];
    assert!(space().known(many).unwrap_err().to_string().contains("at most 256"));
}

/// Whether a configuration meets a constraint.
fn is_met(constraint: &str, values: &[(&str, Value)]) -> bool {
    let mut configuration: Configuration = [
        ("batch", Value::from(8)),
        ("layers", Value::from(2)),
        ("optimiser", "adam".into()),
        ("size", "medium".into()),
        ("width", 32.into()),
        ("drop-out", 0.0.into()),
        ("a", 0.25.into()),
        ("b", 0.25.into()),
        ("c", 0.5.into()),
    ]
    .into_iter()
    .collect();
    for (name, value) in values {
        configuration.insert(*name, value.clone());
    }
    let space = space().known([constraint]).unwrap();
    let as_written = space.check_known(&configuration).is_ok();
    let x = space.encode(&configuration).unwrap();
    assert_eq!(space.meets_known(&x), as_written, "{constraint}");
    as_written
}

#[test]
fn the_language_means_what_it_says() {
    for constraint in [
        "batch * layers <= 16",
        "2 + 3 * 2 == 8 and batch >= 1",
        "2 ^ 3 ^ 2 == 512 and batch >= 1",
        "-2 ^ 2 == -4 and batch >= 1",
        "10 - 4 - 3 == 3 and batch >= 1",
        "1 < layers < batch <= 8",
        "min(batch, layers, 5) == 2",
        "pow(layers, 3) == batch",
        "sqrt(batch * layers) == 4 and abs(-batch) == 8",
        "exp(log(batch)) > 7.999",
        "optimiser != \"sgd\" and optimiser in {\"adam\", \"lion\"}",
        "\"adam\" == optimiser",
        "optimiser not in {\"sgd\"}",
        "size <= \"medium\" and size > 'small' and \"large\" > size",
        "width == 32 and width * layers <= 64",
        "width in [16, 32]",
        "`drop-out` <= 0 and `batch` > 1",
        "if layers > 1 then batch == 8 else batch == 1",
        "if layers > 2 then batch == 1",
        "not (layers > 4 or batch < 2)",
        "a + b <= c + 0.1",
        "(layers > 1) == (batch > 1)",
        "(layers > 1) != (batch < 1)",
        ".5e1 > 4 and layers > 1",
        "layers not in {-1, 5}",
    ] {
        assert!(is_met(constraint, &[]), "{constraint}");
        let negated = format!("not ({constraint}) or batch == 4");
        assert!(!is_met(&negated, &[]), "{negated}");
    }
}

#[test]
fn inactive_parameters_say_nothing_and_undefined_values_are_not_met() {
    let sgd: [(&str, Value); 3] =
        [("optimiser", "sgd".into()), ("momentum", 0.4.into()), ("nesterov", true.into())];
    for (constraint, adam, with_sgd) in [
        ("momentum >= 0.5", true, false),
        ("not (momentum >= 0.5)", true, true),
        ("momentum >= 0.5 and layers > 2", false, false),
        ("momentum >= 0.5 or layers > 2", true, false),
        ("nesterov", true, true),
        ("not nesterov", true, false),
        ("if optimiser == \"sgd\" then momentum >= 0.5", true, false),
    ] {
        assert_eq!(is_met(constraint, &[]), adam, "{constraint}");
        assert_eq!(is_met(constraint, &sgd), with_sgd, "{constraint}");
    }
    for (constraint, met) in [
        ("1 / `drop-out` > -5", false),
        ("not (1 / `drop-out` > 5)", false),
        ("if `drop-out` != 0 then 1 / `drop-out` > 5", true),
        ("min(1 / `drop-out`, 3) >= 3 or layers == 2", true),
        ("min(1 / `drop-out`, 3) <= 3", false),
        ("sqrt(`drop-out` - 0.5) < 3", false),
        ("log(`drop-out`) < 3", false),
        ("exp(batch * 100) > 3 or layers > 5", false),
    ] {
        assert_eq!(is_met(constraint, &[]), met, "{constraint}");
    }
}

#[test]
fn contradictions_are_refused_with_a_smallest_set() {
    let set = |constraints: &[&str]| match space().known(constraints.iter().copied()) {
        Err(Error::Contradiction { constraints }) => constraints,
        other => panic!("{other:?}"),
    };
    assert_eq!(set(&["layers <= 8", "layers > 16", "batch < 9"]), ["layers > 16"]);
    assert_eq!(
        set(&[
            "batch < 9",
            "layers + batch <= 10",
            "size == \"small\"",
            "batch > 9",
            "layers >= 2"
        ]),
        ["batch < 9", "batch > 9"]
    );
    assert_eq!(
        set(&["layers >= 10", "size == \"small\"", "batch >= 10", "batch * layers <= 99"]),
        ["layers >= 10", "batch >= 10", "batch * layers <= 99"]
    );
    // A whole has one share only.
    assert_eq!(set(&["a >= 0.6", "b >= 0.6"]), ["a >= 0.6", "b >= 0.6"]);
    assert_eq!(
        set(&[
            "optimiser == \"sgd\"",
            "momentum > 0.9",
            "if nesterov then momentum < 0.5",
            "nesterov"
        ])
        .len(),
        4
    );
    let error = space().known(["batch < 9", "batch > 9"]).unwrap_err().to_string();
    assert_eq!(
        error,
        "no configuration can meet the known constraints `batch < 9` and `batch > 9` together"
    );
}

#[test]
fn where_nothing_is_found_the_tries_are_stated() {
    // True nowhere, but bounds of x + y over boxes cannot tell.
    let space =
        SearchSpace::new((0..6).map(|i| Dimension::real(format!("x{i}"), 0.1, 1.0))).unwrap();
    let sum = |sign: &str| (0..6).map(|i| format!("x{i}")).collect::<Vec<_>>().join(sign);
    let constraint =
        format!("exp(log({})) * 0 + {} < {} - 1e-9", sum(" * "), sum(" + "), sum(" + "));
    let error = space.known([constraint]).unwrap_err().to_string();
    assert!(error.contains("was found in 50200 tries"), "{error}");
}

#[test]
fn tight_constraints_are_met_by_descending() {
    let space = SearchSpace::new((0..5).map(|i| Dimension::real(format!("x{i}"), 0.0, 1.0)))
        .unwrap()
        .known(["abs(x0 + x1 + x2 + x3 + x4 - 1) <= 1e-7", "x0 * x1 >= 0.01"])
        .unwrap();
    let mut rng = Seed(1).stream("test", 0);
    for _ in 0..50 {
        let x = space.sample(&mut rng);
        assert!((x.iter().sum::<f64>() - 1.0).abs() <= 1.000_001e-7 && x[0] * x[1] >= 0.01);
    }
}

/// Constraints of every kind that leave something.
const SETS: [&[&str]; 8] = [
    &["batch * layers <= 512"],
    &["if optimiser == \"sgd\" then momentum >= 0.5 else layers <= 4", "size >= \"medium\""],
    &["a >= b", "b >= c", "a <= 0.8"],
    &["log(batch) / (`drop-out` + 1) <= 3", "sqrt(abs(`drop-out`)) >= 0.3"],
    &["layers in {2, 3, 5, 7, 11, 13}", "batch / layers < 20 or width == 64"],
    &["max(a, b, c) <= 0.5", "min(layers, batch) ^ 2 <= 30"],
    &["(momentum - 0.5) ^ 2 + `drop-out` ^ 2 <= 0.1", "not nesterov or momentum > 0.4"],
    &["a * layers + exp(b) - batch / 100 >= 1", "layers - batch <= 3"],
];

#[test]
fn boxes_hold_every_legal_point_and_proofs_hold_at_every_point() {
    for constraints in SETS {
        let space = space().known(constraints.iter().copied()).unwrap();
        let known = space.known.as_ref().unwrap();
        let (system, layout) = (&known.system, &space.layout);
        let region = known.region.as_ref().unwrap();
        let mut rng = Seed(2).stream("test", 0);
        let mut probe = Probe::default();
        let mut scratch = Scratch::default();
        let mut x = vec![0.0; space.dim()];
        let whole = system.whole();
        let mut legal = 0;
        for _ in 0..5_000 {
            let place: Vec<f64> = system
                .axes
                .iter()
                .zip(&whole)
                .map(|(axis, &part)| axis.at(part, uniform(&mut rng)))
                .collect();
            system.write(layout, &place, &mut x);
            let met = system.is_met(layout, &x, &mut probe);
            legal += usize::from(met);
            // By its configuration it is the same.
            assert_eq!(known.admits(&space.decode(&x)), met, "{constraints:?}");
            let snapped = system.place(layout, &x);
            let active = layout.active(&x);
            let inside = |parts: &Vec<(f64, f64)>| {
                parts.iter().zip(&system.axes).zip(&snapped).all(|((&(low, high), axis), &at)| {
                    !active[axis.dimension]
                        || (low - axis.resolution() * 0.5..=high + axis.resolution() * 0.5)
                            .contains(&at)
                })
            };
            if met {
                assert!(region.boxes().iter().any(inside), "{constraints:?}: {x:?}");
            }
            // A box around the place, of any size.
            let size = uniform(&mut rng).powi(4);
            let mut parts: Vec<(f64, f64)> =
                place
                    .iter()
                    .zip(&whole)
                    .map(|(&at, &(low, high))| {
                        let (from, to) = (at - size * (at - low), at + size * (high - at));
                        if at.fract() == 0.0 && high > 1.0 {
                            (from.ceil(), to.floor())
                        } else {
                            (from, to)
                        }
                    })
                    .zip(&system.axes)
                    .map(|((low, high), axis)| {
                        if axis.is_continuous() { (low, high) } else { (low.ceil(), high.floor()) }
                    })
                    .collect();
            match system.narrow(&mut parts, &mut scratch) {
                Verdict::Broken => assert!(!met, "{constraints:?}: {x:?}"),
                // All that is left of the box is legal.
                Verdict::Met => assert_eq!(met, inside(&parts), "{constraints:?}: {x:?}"),
                Verdict::Open => {
                    assert!(!met || inside(&parts), "{constraints:?}: {x:?} {parts:?}");
                }
            }
        }
        // A share below this would test little.
        assert!(legal > 50, "{constraints:?}: {legal}");
        assert!((space.legal_share() - f64::from(legal as u32) / 5_000.0).abs() < 0.04);
    }
}

#[test]
fn what_is_drawn_near_or_repaired_is_legal() {
    for constraints in SETS {
        let space = space().known(constraints.iter().copied()).unwrap();
        let mut rng = Seed(3).stream("test", 0);
        for _ in 0..300 {
            let anywhere: Vec<f64> = (0..space.dim()).map(|_| uniform(&mut rng)).collect();
            let mut settled = anywhere.clone();
            space.settle(&mut settled);
            let near = space.neighbour(&settled, &mut rng, 0.1);
            assert_ne!(near, settled);
            for x in [&settled, &near, &space.sample(&mut rng)] {
                assert!(space.meets_known(x), "{constraints:?}: {x:?}");
                let mut snapped = x.clone();
                space.snap(&mut snapped);
                assert_eq!(snapped, *x);
            }
            // What is legal stays.
            let mut again = settled.clone();
            space.settle(&mut again);
            assert_eq!(again, settled);
        }
    }
}

#[test]
fn a_repair_moves_to_the_edge_and_no_further() {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0), Dimension::real("y", 0.0, 1.0)])
        .unwrap()
        .known(["x + y <= 1"])
        .unwrap();
    let mut rng = Seed(4).stream("test", 0);
    for _ in 0..100 {
        let mut x = vec![uniform(&mut rng), uniform(&mut rng)];
        let before = x.clone();
        space.settle(&mut x);
        let (excess, moved) = (
            (before[0] + before[1] - 1.0).max(0.0),
            (before[0] - x[0]).abs() + (before[1] - x[1]).abs(),
        );
        assert!(moved <= excess + 1e-9, "{before:?} {x:?}");
    }
}

#[test]
fn candidates_that_break_a_constraint_are_taken_out() {
    let dimensions = [Dimension::integer("n", 1, 9), Dimension::real("x", 0.0, 1.0)];
    let candidates = (1..=9).map(|n| -> Configuration {
        let x = Value::from(f64::from(n) / 10.0);
        [("n", Value::from(n)), ("x", x)].into_iter().collect()
    });
    let finite = SearchSpace::finite(dimensions, candidates).unwrap();
    // Among candidates, real numbers may be equal.
    let space = finite.clone().known(["x == 0.3 or n >= 8"]).unwrap();
    assert_eq!(space.cardinality(), Some(3));
    assert_eq!(space.candidates().unwrap().len(), 3);
    let error = finite.known(["n * x > 100"]).unwrap_err().to_string();
    assert!(
        error.contains("no configuration that meets the known constraint `n * x > 100`"),
        "{error}"
    );
}

#[test]
fn constraints_are_part_of_the_written_form_and_more_can_be_added() {
    let space = space().known(["layers > 2"]).unwrap().known(["batch < 9"]).unwrap();
    assert_eq!(space.known_constraints(), ["layers > 2", "batch < 9"]);
    let text = serde_json::to_string(&space).unwrap();
    assert!(text.contains(r#""known":["layers > 2","batch < 9"]"#), "{text}");
    assert_eq!(serde_json::from_str::<SearchSpace>(&text).unwrap(), space);
    let broken = text.replace("batch < 9", "bach < 9");
    let error = serde_json::from_str::<SearchSpace>(&broken).unwrap_err().to_string();
    assert!(error.starts_with("known constraint `bach < 9`, column 1: there is no"), "{error}");
}

#[test]
fn shares_are_written_and_refused_by_name() {
    let space = SearchSpace::new([
        Dimension::boolean("mixed"),
        Dimension::shares("mix", ["a", "b", "c"]).when("mixed", [true]),
    ])
    .unwrap();
    assert_eq!(space.dim(), 3);
    let names: Vec<&str> = space.parameters().map(|parameter| parameter.name).collect();
    assert_eq!(names, ["mixed", "a", "b", "c"]);
    let encode = |values: &[(&str, f64)]| {
        let mut configuration: Configuration = values.iter().copied().collect();
        configuration.insert("mixed", true);
        space.encode(&configuration).map_err(|error| error.to_string())
    };
    encode(&[("a", 0.2), ("b", 0.3), ("c", 0.5)]).unwrap();
    let refused: [(&[(&str, f64)], &str); 4] = [
        (&[("a", 0.2), ("b", 0.3), ("c", 0.6)], "a + b + c is 1.1, but must be 1, to within 1e-9"),
        (&[("a", 0.2), ("b", 0.8)], "no value for `c`, which must be a share from 0 to 1"),
        (&[("a", -0.2), ("b", 0.7), ("c", 0.5)], "a is -0.2, but must be a share from 0 to 1"),
        (
            &[("a", 0.2), ("b", 0.3), ("c", 0.5), ("mix", 1.0)],
            "a value for `mix`, but it is a whole; its shares are a, b, c",
        ),
    ];
    for (values, message) in refused {
        let error = encode(values).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let taken = SearchSpace::new([Dimension::boolean("a"), Dimension::shares("mix", ["a", "b"])]);
    assert!(
        taken.unwrap_err().to_string().starts_with(r#"mix.of[0] is "a", but must be different"#)
    );
    let one = SearchSpace::new([Dimension::shares("mix", ["a"])]).unwrap_err().to_string();
    assert!(one.starts_with(r#"mix.of is ["a"], but must be two names at least"#), "{one}");
}
