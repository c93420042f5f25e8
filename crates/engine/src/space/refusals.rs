//! Every way for a space, a candidate or a configuration to be refused, and the written form.

use super::*;

#[test]
fn values_are_coerced_only_where_nothing_is_lost() {
    let space = SearchSpace::new([
        Dimension::real("x", 0.0, 4.0),
        Dimension::integer("n", 0, 4),
        Dimension::categorical("c", [Value::from(1.0), Value::from("1")]),
    ])
    .unwrap();
    let configuration = |x: Value, n: Value, c: Value| -> Configuration {
        [("x", x), ("n", n), ("c", c)].into_iter().collect()
    };
    let x = space.encode(&configuration(3.into(), 2.0.into(), 1.into())).unwrap();
    assert_eq!(x, [0.75, 0.5, 1.0, 0.0]);
    assert_eq!(space.decode(&x), configuration(3.0.into(), 2.into(), 1.0.into()));

    let refused = |x: Value, n: Value, c: Value| {
        space.encode(&configuration(x, n, c)).unwrap_err().to_string()
    };
    let one = || Value::from("1");
    assert_eq!(
        refused("3".into(), 2.into(), one()),
        r#"x is "3", but must be a real number from 0.0 to 4.0"#
    );
    assert_eq!(
        refused(4.5.into(), 2.into(), one()),
        "x is 4.5, but must be a real number from 0.0 to 4.0"
    );
    assert!(refused(f64::NAN.into(), 2.into(), one()).starts_with("x is NaN"));
    assert!(refused(true.into(), 2.into(), one()).starts_with("x is true"));
    assert_eq!(
        refused(1.into(), 2.5.into(), one()),
        "n is 2.5, but must be an integer from 0 to 4"
    );
    assert!(refused(1.into(), 5.into(), one()).starts_with("n is 5,"));
    assert!(refused(1.into(), false.into(), one()).starts_with("n is false,"));
    assert_eq!(
        refused(1.into(), 2.into(), true.into()),
        r#"c is true, but must be one of [1.0, "1"]"#
    );
}

fn conditional() -> SearchSpace {
    SearchSpace::new([
        Dimension::categorical("optimiser", ["adam", "sgd"]),
        Dimension::boolean("nesterov").when("optimiser", ["sgd"]),
        Dimension::real("momentum", 0.0, 1.0).when("nesterov", [true]),
    ])
    .unwrap()
}

#[test]
fn missing_unknown_and_inactive_values_are_refused_with_the_reason() {
    let space = conditional();
    let refused = |values: &[(&str, Value)]| {
        space.encode(&values.iter().cloned().collect()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[]),
        r#"the configuration has no value for `optimiser`, which must be one of ["adam", "sgd"]"#
    );
    assert_eq!(
        refused(&[("optimizer", "adam".into())]),
        "the configuration has a value for `optimizer`, but the space has no such dimension; \
         it has `optimiser`, `nesterov`, `momentum`"
    );
    assert_eq!(
        refused(&[("optimiser", "sgd".into())]),
        "the configuration has no value for `nesterov`, which must be true or false"
    );
    assert_eq!(
        refused(&[("optimiser", "adam".into()), ("nesterov", true.into())]),
        "the configuration has a value for `nesterov`, but it is active only where `optimiser` is \
         \"sgd\", and `optimiser` is \"adam\" here"
    );
    assert_eq!(
        refused(&[("optimiser", "adam".into()), ("momentum", 0.5.into())]),
        "the configuration has a value for `momentum`, but it is active only where `nesterov` is \
         true, and `nesterov` is not active here"
    );
    let adam: Configuration = [("optimiser", "adam")].into_iter().collect();
    assert_eq!(space.encode(&adam).unwrap(), [1.0, 0.0, 0.5, 0.5]);
    let stepped = SearchSpace::new([Dimension::integer("n", 1, 10).step(3)]).unwrap();
    let error = stepped.encode(&[("n", 5)].into_iter().collect()).unwrap_err().to_string();
    assert_eq!(error, "n is 5, but must be an integer from 1 to 10 in steps of 3");
}

#[test]
fn illegal_spaces_are_refused_by_field_and_value() {
    let refused =
        |dimensions: Vec<Dimension>| SearchSpace::new(dimensions).unwrap_err().to_string();
    let one = |dimension: Dimension| refused(vec![dimension]);
    let real = |low: f64, high: f64| one(Dimension::real("lr", low, high));
    assert_eq!(refused(vec![]), "dimensions is [], but must be at least one dimension");
    assert_eq!(one(Dimension::boolean(" ")), r#"dimensions[0].name is " ", but must be not empty"#);
    assert_eq!(
        refused(vec![Dimension::boolean("a"), Dimension::boolean("a")]),
        r#"dimensions[1].name is "a", but must be different from that of dimensions[0]"#
    );
    assert_eq!(real(2.0, 1.0), "lr.low is 2.0, but must be below lr.high, which is 1.0");
    assert_eq!(real(1.0, 1.0), "lr.low is 1.0, but must be below lr.high, which is 1.0");
    assert_eq!(real(f64::NAN, 1.0), "lr.low is NaN, but must be finite");
    assert_eq!(real(0.0, f64::INFINITY), "lr.high is inf, but must be finite");
    assert!(real(-f64::MAX, f64::MAX).contains("that high - low is finite"));
    assert!(real(1.0, 1.0 + 1e-15).contains("further above lr.low"));
    for low in [0.0, -1.0] {
        let error = one(Dimension::log_real("lr", low, 1.0));
        assert!(error.contains("must be positive on a log scale"), "{error}");
    }
    let error = one(Dimension::log_real("lr", 1e-310, 1.0));
    assert!(error.contains("must be at least 2.2250738585072014e-308 on a log scale"), "{error}");
    let integer = |low: i64, high: i64| one(Dimension::integer("n", low, high));
    assert_eq!(integer(3, 3), "n.low is 3, but must be below n.high, which is 3");
    assert!(integer(i64::MIN, 3).starts_with("n.low is -9223372036854775808"));
    assert!(integer(0, i64::MAX).contains("from -2^53 to 2^53"));
    assert!(integer(0, 1 << 50).contains("at most 2^48 values"));
    for step in [0, -1, 10] {
        let error = one(Dimension::integer("n", 1, 10).step(step));
        assert_eq!(
            error,
            format!("n.step is {step}, but must be from 1 to high - low, which is 9")
        );
    }
    assert_eq!(
        one(Dimension::log_integer("n", 0, 9)),
        "n.low is 0, but must be at least 1 on a log scale"
    );
    assert_eq!(
        one(Dimension::log_integer("n", 1, 9).step(2)),
        "n.step is 2, but must be 1 on a log scale"
    );
    assert!(one(Dimension::log_integer("n", 1, 1 << 41)).contains("at most 2^40"));
    assert_eq!(
        one(Dimension::real("x", 0.0, 1.0).step(2)),
        "x.step is 2, but must be positive, at most high - low, and such that there are at most 10000 values"
    );
    assert_eq!(
        one(Dimension::categorical("c", ["a"])),
        r#"c.choices is ["a"], but must be at least two different values"#
    );
    assert!(one(Dimension::ordinal::<Value>("c", [])).starts_with("c.levels is []"));
    assert_eq!(
        one(Dimension::ordinal("c", [Value::from(1), Value::from("1"), Value::from(1.0)])),
        "c.levels[2] is 1.0, but must be different from the values before it"
    );
    assert_eq!(
        one(Dimension::categorical("c", [1.0, f64::NAN])),
        "c.choices[1] is NaN, but must be finite"
    );
}

#[test]
fn illegal_conditions_are_refused() {
    let refused = |child: Dimension| {
        let before = [Dimension::real("x", 0.0, 1.0), Dimension::categorical("c", ["a", "b"])];
        let after = Dimension::boolean("late");
        SearchSpace::new(before.into_iter().chain([child, after])).unwrap_err().to_string()
    };
    let child = || Dimension::boolean("child");
    for parent in ["late", "child", "nobody"] {
        assert_eq!(
            refused(child().when(parent, [true])),
            format!(
                "child.when.parent is {parent:?}, but must be the name of a dimension declared \
                 before; these are `x`, `c`"
            )
        );
    }
    assert!(refused(child().when("x", [0.5])).contains("this one is real"));
    assert_eq!(
        refused(child().when::<Value>("c", [])),
        "child.when.values is [], but must be at least one value of `c`"
    );
    assert_eq!(
        refused(child().when("c", ["a", "z"])),
        r#"child.when.values is "z", but must be one of ["a", "b"]"#
    );
}

#[test]
fn illegal_candidates_are_refused_by_number() {
    let refused = |values: &[&str]| {
        let candidates = values.iter().map(|text| serde_json::from_str(text).unwrap());
        let dimensions = [Dimension::real("x", 0.0, 1.0), Dimension::boolean("b")];
        SearchSpace::finite(dimensions, candidates.collect::<Vec<_>>()).unwrap_err().to_string()
    };
    let good = r#"{"x": 0.3, "b": true}"#;
    assert_eq!(refused(&[]), "candidates is [], but must be at least one configuration");
    assert!(refused(&[good, r#"{"x": 2, "b": true}"#]).starts_with("candidates[1].x is 2, but"));
    assert!(refused(&[r#"{"x": 1}"#]).contains("no value for `candidates[0].b`"));
    assert!(refused(&[r#"{"x": 1, "b": true, "z": 1}"#]).contains("`candidates[0].z`"));
    assert!(refused(&[good, r#"{"x": 0.3000000000000001, "b": true}"#]).starts_with(
        "candidates[1] is b=true x=0.3000000000000001, but must be different from candidates[0]"
    ));
    let space = SearchSpace::finite(
        [Dimension::boolean("b")],
        [[("b", true)].into_iter().collect::<Configuration>()],
    )
    .unwrap();
    assert_eq!(
        space.encode(&[("b", false)].into_iter().collect()).unwrap_err().to_string(),
        "the configuration is b=false, but must be one of the 1 candidates"
    );
    assert!(space.is_discrete());
}

#[test]
fn the_written_form_is_plain_and_strict() {
    let text = r#"{"dimensions": [
        {"name": "lr", "type": "real", "low": 1e-5, "high": 1, "scale": "log"},
        {"name": "layers", "type": "integer", "low": 2, "high": 1e1, "step": 2},
        {"name": "opt", "type": "categorical", "choices": ["adam", "sgd"]},
        {"name": "size", "type": "ordinal", "levels": ["small", "large"]},
        {"name": "warm", "type": "boolean"},
        {"name": "momentum", "type": "real", "low": 0, "high": 1,
         "when": {"parent": "opt", "values": ["sgd"]}}]}"#;
    let space: SearchSpace = serde_json::from_str(text).unwrap();
    let built = SearchSpace::new([
        Dimension::log_real("lr", 1e-5, 1.0),
        Dimension::integer("layers", 2, 10).step(2),
        Dimension::categorical("opt", ["adam", "sgd"]),
        Dimension::ordinal("size", ["small", "large"]),
        Dimension::boolean("warm"),
        Dimension::real("momentum", 0.0, 1.0).when("opt", ["sgd"]),
    ])
    .unwrap();
    assert_eq!(space, built);
    assert!(!space.repeats());
    let written = serde_json::to_value(&space).unwrap();
    assert_eq!(
        written["dimensions"][1],
        serde_json::json!({"name": "layers", "type": "integer", "low": 2, "high": 10, "step": 2})
    );

    let refused = |dimension: &str| {
        let text = format!(r#"{{"dimensions": [{dimension}]}}"#);
        serde_json::from_str::<SearchSpace>(&text).unwrap_err().to_string()
    };
    let cases = [
        (
            r#"{"name": "x", "type": "real", "low": 2, "high": 1}"#,
            "x.low is 2.0, but must be below",
        ),
        (r#"{"name": "x", "type": "real", "low": 2}"#, "x.high is missing, but must be a number"),
        (
            r#"{"name": "x", "type": "real", "low": "2", "high": 3}"#,
            r#"x.low is "2", but must be a number"#,
        ),
        (
            r#"{"name": "n", "type": "integer", "low": 0.5, "high": 3}"#,
            "n.low is 0.5, but must be an integer",
        ),
        (
            r#"{"name": "n", "type": "integer", "low": 0, "high": 3, "step": "x"}"#,
            r#"n.step is "x""#,
        ),
        (
            r#"{"name": "b", "type": "boolean", "scale": "log"}"#,
            "b.scale is log, but must be absent",
        ),
        (
            r#"{"name": "b", "type": "boolean", "step": 1}"#,
            "b.step is 1, but must be absent: the type `boolean` has no fields of its own",
        ),
        (r#"{"name": "c", "type": "categorical"}"#, "c.choices is missing"),
        (
            r#"{"name": "c", "type": "ordinal", "choices": [1, 2]}"#,
            "c.choices is [1, 2], but must be absent",
        ),
        (r#"{"name": "b", "type": "boolean", "colour": 1}"#, "unknown field `colour`"),
        (r#"{"name": "b", "type": "bool"}"#, "unknown variant `bool`"),
        (r#"{"type": "boolean"}"#, "missing field `name`"),
        (
            r#"{"name": "b", "type": "boolean", "when": {"parent": "a", "values": [1], "x": 1}}"#,
            "unknown field `x`",
        ),
    ];
    for (dimension, expected) in cases {
        let error = refused(dimension);
        assert!(error.contains(expected), "{error}");
    }
    let extra = r#"{"dimensions": [{"name": "b", "type": "boolean"}], "budget": 3}"#;
    let error = serde_json::from_str::<SearchSpace>(extra).unwrap_err().to_string();
    assert!(error.contains("unknown field `budget`"), "{error}");
    let none = r#"{"dimensions": [{"name": "b", "type": "boolean"}], "candidates": []}"#;
    assert!(serde_json::from_str::<SearchSpace>(none).is_err());
}
