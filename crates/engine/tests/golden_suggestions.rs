//! A net under every change: what each method suggests on each kind of space, as a fingerprint.
//!
//! `tests/golden/suggestions-<instruction set>.txt` has a line for each method, space and seed: a hash of the bits of all
//! suggestions of a search of 60 trials, and of the trial that it recommends at the end. Bits are promised for one
//! instruction set only (docs/decisions/0001), so each has its own file; on a set without one the test says that it was
//! skipped. An intended change of suggestions renews the file in a commit of its own, with the reason:
//!
//! ```text
//! WIMBLE_GOLDEN=record cargo test -p wimble --test golden_suggestions
//! ```
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod suite;

use std::fmt::Write as _;
use std::path::PathBuf;

use suite::{METHODS, strategy};
use wimble::prelude::*;

/// The sizes of the batches: 60 trials.
const BATCHES: [usize; 11] = [10, 4, 1, 7, 3, 10, 5, 8, 2, 9, 1];
/// How many trials stay pending after each batch.
const PENDING: usize = 3;

fn spaces() -> Vec<(&'static str, SearchSpace)> {
    let real = |k: usize| Dimension::real(format!("x{k}"), -2.0, 3.0);
    let grid = [Dimension::integer("a", 0, 9), Dimension::categorical("b", ["x", "y", "z"])];
    let listed = (0..90).map(|k: i64| {
        let words = ["x", "y", "z"];
        let values: [(&str, Value); 3] = [
            ("u", (((k * 37) % 90) as f64 / 89.0).into()),
            ("n", (k % 10).into()),
            ("w", words[(k % 3) as usize].into()),
        ];
        values.into_iter().collect::<Configuration>()
    });
    let listed_dimensions = [
        Dimension::real("u", 0.0, 1.0),
        Dimension::integer("n", 0, 9),
        Dimension::categorical("w", ["x", "y", "z"]),
    ];
    let mixed = [
        Dimension::log_real("rate", 1e-5, 1.0),
        Dimension::integer("layers", 1, 5),
        Dimension::boolean("augment"),
        Dimension::categorical("optimiser", ["adam", "sgd", "lion"]),
        Dimension::ordinal("precision", ["low", "middle", "high"]),
    ];
    let conditional = [
        Dimension::categorical("model", ["tree", "net"]),
        Dimension::integer("depth", 1, 40).when("model", ["tree"]),
        Dimension::log_real("rate", 1e-4, 1.0).when("model", ["net"]),
        Dimension::boolean("dropout").when("model", ["net"]),
        Dimension::real("share", 0.0, 0.9).when("dropout", [true]),
        Dimension::real("noise", 0.0, 1.0),
    ];
    let logarithmic = [Dimension::log_real("r", 1e-6, 10.0), Dimension::log_integer("n", 1, 1000)];
    vec![
        ("real", SearchSpace::new((0..4).map(real)).unwrap()),
        ("log", SearchSpace::new(logarithmic).unwrap()),
        (
            "integer",
            SearchSpace::new((0..3).map(|k| Dimension::integer(format!("n{k}"), -9, 30))).unwrap(),
        ),
        ("mixed", SearchSpace::new(mixed).unwrap()),
        ("conditional", SearchSpace::new(conditional).unwrap()),
        ("finite", SearchSpace::finite(listed_dimensions, listed).unwrap()),
        ("repeats", SearchSpace::new(grid).unwrap().allow_repeats(true)),
    ]
}

/// Numbers that look random and are the same everywhere, in [0, 1).
fn noise(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A bowl with noise in the encoded space; some trials fail, one corner is infeasible.
fn outcome(space: &SearchSpace, trial: &Trial, direction: Direction) -> Outcome {
    let x = space.encode(&trial.configuration).unwrap();
    if x[0] > 0.93 {
        return Outcome::Infeasible;
    }
    if trial.id % 11 == 5 {
        return Outcome::failed();
    }
    let bowl: f64 = x.iter().enumerate().map(|(k, x)| (1 + k % 3) as f64 * (x - 0.3).powi(2)).sum();
    let value = bowl + 0.02 * noise(trial.id);
    Outcome::from(if direction == Direction::Maximise { -value } else { value })
}

/// FNV-1a over 64 bits.
struct Hash(u64);

impl Hash {
    fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn configuration(&mut self, configuration: &Configuration) {
        for (name, value) in configuration {
            self.update(name.as_bytes());
            match value {
                Value::Real(x) => self.update(&x.to_bits().to_le_bytes()),
                other => self.update(other.to_string().as_bytes()),
            }
        }
    }
}

/// The hash of a search. The second seed maximises what the first minimises.
fn fingerprint(method: &str, space: &SearchSpace, seed: u64) -> u64 {
    let direction = if seed == 1 { Direction::Minimise } else { Direction::Maximise };
    let mut session = Session::new(space.clone(), strategy(method), direction, Seed(seed)).unwrap();
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    let mut running: Vec<Trial> = Vec::new();
    let mut step = 0;
    for size in BATCHES {
        let trials =
            session.ask(size).unwrap_or_else(|error| panic!("{method}, seed {seed}: {error}"));
        for trial in trials {
            hash.configuration(&trial.configuration);
            running.push(trial);
        }
        while running.len() > PENDING {
            step += 1;
            let done = running.swap_remove((noise(step) * running.len() as f64) as usize);
            session.tell(done.id, outcome(space, &done, direction)).unwrap();
        }
    }
    assert_eq!(session.issued(), 60);
    if let Some(best) = session.recommend().unwrap() {
        hash.configuration(&best.configuration);
    }
    hash.0
}

/// What decides the bits here: the architecture, the vectors of the kernels, and the mathematical library.
fn instruction_set() -> String {
    #[cfg(target_arch = "x86_64")]
    let vectors = if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        "avx2-fma"
    } else {
        "plain"
    };
    #[cfg(not(target_arch = "x86_64"))]
    let vectors = "plain";
    format!("{}-{}-{vectors}", std::env::consts::ARCH, std::env::consts::OS)
}

#[test]
fn suggestions_are_those_recorded() {
    let mut table = String::new();
    for (kind, space) in spaces() {
        for method in METHODS {
            for seed in [1, 2] {
                let hash = fingerprint(method, &space, seed);
                writeln!(table, "{hash:016x}  seed {seed}  {kind:11}  {method}").unwrap();
            }
        }
    }
    let name = format!("suggestions-{}.txt", instruction_set());
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(&name);
    if std::env::var_os("WIMBLE_GOLDEN").is_some_and(|value| value == "record") {
        std::fs::write(&file, &table).unwrap();
        return;
    }
    let Ok(recorded) = std::fs::read_to_string(&file) else {
        println!(
            "skipped: no suggestions are recorded for this instruction set in tests/golden/{name}; on a commit that is \
             known to be right, record them with WIMBLE_GOLDEN=record cargo test -p wimble --test golden_suggestions"
        );
        return;
    };
    let differ: Vec<&str> = table
        .lines()
        .zip(recorded.lines())
        .filter(|(now, then)| now != then)
        .map(|(now, _)| now)
        .collect();
    assert!(
        differ.is_empty() && table.lines().count() == recorded.lines().count(),
        "suggestions differ from those in tests/golden/{name} in {} of {} searches; if that is intended, renew them with \
         WIMBLE_GOLDEN=record in a commit of its own, with the reason and an entry in CHANGELOG.md:\n{}",
        differ.len(),
        recorded.lines().count(),
        differ.join("\n")
    );
}
