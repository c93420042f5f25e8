//! Properties of whole spaces, over random ones of every kind and nesting.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;
use crate::seed::{Rng, Seed};

fn rng(seed: u64) -> Rng {
    Seed(seed).stream("space properties", 0)
}

fn kinds(real: bool) -> impl Strategy<Value = Kind> {
    let low = prop_oneof![Just(0.0), -1e3..1e3_f64];
    let linear = (low, 1e-3..1e4_f64).prop_map(|(low, width)| Kind::Real {
        low,
        high: low + width,
        scale: Scale::Linear,
    });
    let log = (-9.0..3.0_f64, 0.01..9.0_f64).prop_map(|(low, decades)| Kind::Real {
        low: 10_f64.powf(low),
        high: 10_f64.powf(low + decades),
        scale: Scale::Log,
    });
    let integer = (-20..20_i64, 1..12_i64, 1..12_i64).prop_map(|(low, width, step)| {
        Kind::Integer { low, high: low + width, scale: Scale::Linear, step: step.min(width) }
    });
    let log_integer = (1..20_i64, 1..12_i64).prop_map(|(low, width)| Kind::Integer {
        low,
        high: low + width,
        scale: Scale::Log,
        step: 1,
    });
    let choices = || {
        (2..5_usize).prop_map(|count| {
            let pool = [
                Value::from("a"),
                Value::from(true),
                Value::from(7),
                Value::from(0.5),
                Value::from("7"),
            ];
            pool[..count].to_vec()
        })
    };
    let discrete = prop_oneof![
        integer,
        log_integer,
        Just(Kind::Boolean),
        choices().prop_map(|choices| Kind::Categorical { choices }),
        choices().prop_map(|levels| Kind::Ordinal { levels }),
    ];
    // Their names are given later.
    let shares = (2..7_usize).prop_map(|count| Kind::Shares { of: vec![String::new(); count] });
    if real {
        prop_oneof![1 => linear, 1 => log, 1 => shares, 4 => discrete].boxed()
    } else {
        discrete.boxed()
    }
}

/// Spaces of up to `most` dimensions; each may hang on any discrete one before it.
fn spaces(most: usize, real: bool) -> impl Strategy<Value = SearchSpace> {
    let dimension = (kinds(real), prop::option::of((any::<prop::sample::Index>(), 1..u64::MAX)));
    prop::collection::vec(dimension, 1..=most).prop_map(|recipes| {
        let mut dimensions: Vec<Dimension> = Vec::new();
        for (i, (mut kind, parent)) in recipes.into_iter().enumerate() {
            if let Kind::Shares { of } = &mut kind {
                for (j, name) in of.iter_mut().enumerate() {
                    *name = format!("d{i}s{j}");
                }
            }
            let mut dimension = Dimension::new(format!("d{i}"), kind);
            let parents: Vec<&Dimension> =
                dimensions.iter().filter(|dimension| dimension.kind.count().is_some()).collect();
            if let Some((index, mask)) = parent
                && !parents.is_empty()
            {
                let parent = parents[index.index(parents.len())];
                let count = parent.kind.count().unwrap();
                let mut values: Vec<Value> = (0..count)
                    .filter(|level| mask >> level & 1 == 1)
                    .map(|level| parent.kind.value(level))
                    .collect();
                if values.is_empty() {
                    values.push(parent.kind.value(mask % count));
                }
                dimension = dimension.when(parent.name.clone(), values);
            }
            dimensions.push(dimension);
        }
        SearchSpace::new(dimensions).unwrap()
    })
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|u| u.to_bits()).collect()
}

fn is_legal(space: &SearchSpace, x: &[f64]) -> bool {
    let mut snapped = x.to_vec();
    space.snap(&mut snapped);
    bits(&snapped) == bits(x) && space.encode(&space.decode(x)).is_ok()
}

/// Mostly inside the cube, sometimes on its faces, outside it or no number at all.
fn coordinate(rng: &mut Rng) -> f64 {
    match below(rng, 12) {
        0 => 0.0,
        1 => 1.0,
        2 => 4.0 * uniform(rng) - 2.0,
        3 => [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 0.5][below(rng, 5)],
        _ => uniform(rng),
    }
}

proptest! {
    #[test]
    fn configurations_round_trip_and_snap_is_encode_after_decode(
        space in spaces(8, true), seed in any::<u64>(),
    ) {
        let mut rng = rng(seed);
        for _ in 0..20 {
            let x: Vec<f64> = (0..space.dim()).map(|_| coordinate(&mut rng)).collect();
            let configuration = space.decode(&x);
            let encoded = space.encode(&configuration).unwrap();
            prop_assert!(encoded.iter().all(|u| (0.0..=1.0).contains(u)));
            prop_assert_eq!(&space.decode(&encoded), &configuration);

            let mut snapped = x.clone();
            space.snap(&mut snapped);
            prop_assert_eq!(bits(&snapped), bits(&encoded));
            space.snap(&mut snapped);
            prop_assert_eq!(bits(&snapped), bits(&encoded));

            let text = serde_json::to_string(&configuration).unwrap();
            let read: Configuration = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(bits(&space.encode(&read).unwrap()), bits(&encoded));
            prop_assert_eq!(read, configuration);
        }
    }

    #[test]
    fn arbitrary_reals_move_within_the_resolution(
        low in -1e3..1e3_f64, width in 1e-3..1e4_f64, share in 0.0..=1.0_f64,
    ) {
        let space = SearchSpace::new([Dimension::real("x", low, low + width)]).unwrap();
        let value = (low + share * width).min(low + width);
        let configuration: Configuration = [("x", value)].into_iter().collect();
        let moved = space.decode(&space.encode(&configuration).unwrap());
        let moved = moved.get("x").unwrap().as_real().unwrap();
        let ulp = (low.abs() + width) * f64::EPSILON;
        prop_assert!((moved - value).abs() <= (width * 2_f64.powi(-41)).max(8.0 * ulp) + 4.0 * ulp);
    }

    #[test]
    fn samples_are_legal(space in spaces(8, true), seed in any::<u64>()) {
        let mut rng = rng(seed);
        for _ in 0..10 {
            prop_assert!(is_legal(&space, &space.sample(&mut rng)));
        }
    }

    #[test]
    fn neighbours_are_legal_and_elsewhere(
        space in spaces(8, true),
        seed in any::<u64>(),
        radius in prop_oneof![Just(0.0), Just(1e-14), 0.0..0.5_f64, Just(1e9), Just(f64::NAN)],
    ) {
        let mut rng = rng(seed);
        let mut x = space.sample(&mut rng);
        for _ in 0..20 {
            let near = space.neighbour(&x, &mut rng, radius);
            prop_assert!(is_legal(&space, &near));
            prop_assert_ne!(bits(&near), bits(&x));
            x = near;
        }
    }

    #[test]
    fn every_configuration_has_one_index(space in spaces(5, false)) {
        let total = space.cardinality().unwrap();
        prop_assert_eq!(space.nth(total), None);
        prop_assert_eq!(total, brute_force(&space));
        // All of a small space, and 5 000 spread over a large one.
        let stride = total.div_ceil(5_000);
        let mut seen = HashSet::new();
        for index in (0..total).step_by(stride as usize) {
            let x = space.nth(index).unwrap();
            prop_assert!(is_legal(&space, &x));
            prop_assert!(seen.insert(Fingerprint::of(&x)));
        }
    }

    #[test]
    fn spaces_survive_json(space in spaces(8, true), repeats in any::<bool>()) {
        let space = space.allow_repeats(repeats);
        let text = serde_json::to_string(&space).unwrap();
        prop_assert_eq!(serde_json::from_str::<SearchSpace>(&text).unwrap(), space);
    }

    #[test]
    fn candidates_are_handed_back_as_written(
        values in prop::collection::hash_set(0..1_000_000_i64, 1..40),
        seed in any::<u64>(),
    ) {
        // Reals off the grid, and whole numbers for a real dimension.
        let configurations: Vec<Configuration> = values
            .iter()
            .map(|&value| {
                let mut configuration: Configuration = [("x", value as f64 / 3.0)].into_iter().collect();
                configuration.insert("y", value % 11);
                configuration
            })
            .collect();
        let dimensions = [Dimension::real("x", 0.0, 1e6), Dimension::real("y", 0.0, 10.0)];
        let space = SearchSpace::finite(dimensions, configurations.clone()).unwrap();
        let points = space.candidates().unwrap();
        prop_assert_eq!(space.cardinality(), Some(values.len() as u128));
        for (i, configuration) in configurations.iter().enumerate() {
            let x = space.encode(configuration).unwrap();
            prop_assert_eq!(&space.decode(&x), configuration);
            prop_assert_eq!(&x[..], points.row(i));
            prop_assert_eq!(space.nth(i as u128), Some(x));
        }
        prop_assert_eq!(space.nth(values.len() as u128), None);
        let mut rng = rng(seed);
        for _ in 0..10 {
            let x = [uniform(&mut rng), uniform(&mut rng)];
            let mut snapped = x;
            space.snap(&mut snapped);
            prop_assert_eq!(&space.encode(&space.decode(&x)).unwrap()[..], &snapped[..]);
            let distance = |row: &[f64]| crate::points::squared_distance(row, &x);
            prop_assert!(points.rows().all(|row| distance(row) >= distance(&snapped)));
            prop_assert!(is_legal(&space, &space.sample(&mut rng)));
            let near = space.neighbour(&snapped, &mut rng, 0.1);
            prop_assert!(is_legal(&space, &near));
            prop_assert_eq!(near == snapped, values.len() == 1);
        }
        let text = serde_json::to_string(&space).unwrap();
        prop_assert_eq!(serde_json::from_str::<SearchSpace>(&text).unwrap(), space);
    }
}

/// Counts configurations by the definition: all assignments of levels to active dimensions, one by one,
/// remembering only the levels of the dimensions so far.
fn brute_force(space: &SearchSpace) -> u128 {
    fn ways(dimensions: &[Dimension], chosen: &mut Configuration, i: usize) -> u128 {
        let Some(dimension) = dimensions.get(i) else { return 1 };
        let active = dimension.condition.as_ref().is_none_or(|condition| {
            chosen.get(&condition.parent).is_some_and(|value| condition.values.contains(value))
        });
        if !active {
            return ways(dimensions, chosen, i + 1);
        }
        (0..dimension.kind.count().unwrap())
            .map(|level| {
                let mut chosen = chosen.clone();
                chosen.insert(dimension.name.clone(), dimension.kind.value(level));
                ways(dimensions, &mut chosen, i + 1)
            })
            .sum()
    }
    ways(space.dimensions(), &mut Configuration::new(), 0)
}

#[test]
fn many_parents_and_deep_nesting_are_one_pass() {
    // A chain of 2 000: each exists only where the one before is true.
    let mut dimensions = vec![Dimension::boolean("d0")];
    for i in 1..2_000 {
        dimensions.push(Dimension::boolean(format!("d{i}")).when(format!("d{}", i - 1), [true]));
    }
    let space = SearchSpace::new(dimensions).unwrap();
    assert_eq!(space.cardinality(), Some(2_001));
    let mut x = vec![1.0; space.dim()];
    x[700] = 0.1;
    let configuration = space.decode(&x);
    assert_eq!(configuration.len(), 701);
    space.snap(&mut x);
    assert_eq!(x, space.encode(&configuration).unwrap());
    assert!((0..2_001).all(|i| is_legal(&space, &space.nth(i).unwrap())));
}

#[test]
fn large_spaces_are_counted_without_being_walked() {
    let wide = |name: &str| Dimension::integer(name, 0, (1 << 48) - 1);
    let space = SearchSpace::new([
        wide("a"),
        wide("b").when("a", [5_i64, 1 << 40]),
        Dimension::log_integer("c", 1, 1 << 40),
    ])
    .unwrap();
    let levels = 1_u128 << 48;
    assert_eq!(space.cardinality(), Some((levels - 2 + 2 * levels) << 40));
    for index in [0, 1 << 41, 6 << 40, levels << 40, (3 * levels - 3) << 40] {
        assert!(is_legal(&space, &space.nth(index).unwrap()));
    }
    let last = space.nth(space.cardinality().unwrap() - 1).unwrap();
    let text = "a=281474976710655 c=1099511627776";
    assert_eq!(space.decode(&last).to_string(), text);

    let space = SearchSpace::new(["a", "b", "c"].map(wide)).unwrap();
    assert_eq!((space.cardinality(), space.nth(0), space.is_discrete()), (None, None, true));
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0), wide("a")]).unwrap();
    assert_eq!((space.cardinality(), space.nth(0), space.is_discrete()), (None, None, false));
}

#[test]
fn the_order_of_nth_is_lexicographic() {
    let space = SearchSpace::new([
        Dimension::categorical("a", ["x", "y"]),
        Dimension::integer("b", 1, 2).when("a", ["y"]),
        Dimension::boolean("c"),
    ])
    .unwrap();
    let all: Vec<String> =
        (0..6).map(|i| space.decode(&space.nth(i).unwrap()).to_string()).collect();
    let expected = [
        "a=x c=false",
        "a=x c=true",
        "a=y b=1 c=false",
        "a=y b=1 c=true",
        "a=y b=2 c=false",
        "a=y b=2 c=true",
    ];
    assert_eq!(all, expected);
}

#[test]
fn samples_are_uniform_over_bins_and_choices() {
    let space = SearchSpace::new([
        Dimension::categorical("c", ["a", "b", "c", "d"]),
        Dimension::integer("n", 1, 5),
        Dimension::boolean("b"),
        Dimension::real("x", 0.0, 1.0),
    ])
    .unwrap();
    let mut rng = rng(3);
    let n = 20_000;
    let mut counts = [[0.0; 5]; 4];
    for _ in 0..n {
        let configuration = space.decode(&space.sample(&mut rng));
        for (dimension, counts) in space.dimensions().iter().zip(&mut counts) {
            let value = configuration.get(&dimension.name).unwrap();
            let fifth = || (value.as_real().unwrap() * 5.0).min(4.0) as u64;
            counts[dimension.kind.level(value).unwrap_or_else(fifth) as usize] += 1.0;
        }
    }
    for (counts, levels) in counts.iter().zip([4, 5, 2, 5]) {
        let expected = n as f64 / levels as f64;
        for count in &counts[..levels] {
            // Five standard deviations of a binomial count.
            assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{counts:?}");
        }
    }
}

#[test]
fn neighbours_are_near_and_about_two_dimensions_move() {
    let names: Vec<String> = (0..20).map(|i| format!("x{i}")).collect();
    let space = SearchSpace::new(names.iter().map(|name| Dimension::real(name, 0.0, 1.0))).unwrap();
    let mut rng = rng(5);
    let x = vec![0.5; 20];
    let (mut moved, mut squares) = (0, 0.0);
    let rounds = 5_000;
    for _ in 0..rounds {
        let near = space.neighbour(&x, &mut rng, 0.05);
        for step in near.iter().map(|u| u - 0.5).filter(|&step| step != 0.0) {
            moved += 1;
            squares += step * step;
        }
    }
    // One for certain and 19 with a probability of 1/20 each.
    let mean = f64::from(moved) / f64::from(rounds);
    assert!((mean - 1.95).abs() < 5.0 * (0.95 / f64::from(rounds)).sqrt(), "{mean}");
    let deviation = (squares / f64::from(moved)).sqrt();
    assert!((deviation - 0.05).abs() < 0.05 * 5.0 / f64::from(2 * moved).sqrt(), "{deviation}");
}
