//! Any text: if it reads as a search space, the space keeps every promise of its encoding.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wimble::internals::{below, uniform};
use wimble::seed::{Rng, Seed};
use wimble::space::{Configuration, SearchSpace};

fuzz_target!(|text: &[u8]| {
    let Ok(space) = serde_json::from_slice::<SearchSpace>(text) else { return };
    let mut rng = Seed(0).stream("fuzz", text.len() as u64);

    let written = serde_json::to_string(&space).expect("a space can be written");
    let read: SearchSpace = serde_json::from_str(&written).expect("a written space can be read");
    assert_eq!(read, space, "{written}");

    for _ in 0..8 {
        check_legal(&space, &space.sample(&mut rng));
        let anywhere: Vec<f64> = (0..space.dim()).map(|_| coordinate(&mut rng)).collect();
        let mut snapped = anywhere.clone();
        space.snap(&mut snapped);
        check_legal(&space, &snapped);
        assert_eq!(space.decode(&anywhere), space.decode(&snapped), "{anywhere:?}");
        let radius = uniform(&mut rng);
        check_legal(&space, &space.neighbour(&anywhere, &mut rng, radius));
    }

    if let Some(total) = space.cardinality() {
        for index in [0, total / 2, total - 1] {
            check_legal(&space, &space.nth(index).expect("the index is below the cardinality"));
        }
        assert_eq!(space.nth(total), None);
    }
});

/// A legal point stays where it is, bit for bit, by snapping and by way of its configuration in JSON.
fn check_legal(space: &SearchSpace, x: &[f64]) {
    let mut snapped = x.to_vec();
    space.snap(&mut snapped);
    assert_eq!(bits(&snapped), bits(x), "snap moves a legal point");
    let configuration = space.decode(x);
    let written = serde_json::to_string(&configuration).expect("a configuration can be written");
    let read: Configuration = serde_json::from_str(&written).expect("it can be read back");
    let encoded = space.encode(&read).expect("a decoded configuration is accepted");
    assert_eq!(bits(&encoded), bits(x), "{written} does not encode to the point it came from");
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// Any coordinate: most inside the unit interval or just outside, some absurd.
fn coordinate(rng: &mut Rng) -> f64 {
    match below(rng, 12) {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => -0.0,
        4 => 1.0,
        5 => f64::MIN_POSITIVE,
        _ => 1.5 * uniform(rng) - 0.25,
    }
}
