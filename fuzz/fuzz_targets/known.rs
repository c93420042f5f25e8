//! Any text, a constraint a line: it is refused at a place of the text, or every point that the space draws, moves to or
//! finds nearby meets it, also by the values of its configuration.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wimble::Error;
use wimble::internals::uniform;
use wimble::seed::Seed;
use wimble::space::{Dimension, SearchSpace};

fuzz_target!(|text: &str| {
    let space = SearchSpace::new([
        Dimension::real("x", -1.0, 2.0),
        Dimension::log_real("y", 1e-3, 10.0),
        Dimension::integer("n", 0, 9),
        Dimension::log_integer("m", 1, 100),
        Dimension::categorical("c", ["a", "b", "c"]),
        Dimension::boolean("f"),
        Dimension::ordinal("o", ["low", "high"]),
        Dimension::real("z", 0.0, 1.0).when("c", ["b"]),
        Dimension::shares("mix", ["p", "q", "r"]).when("f", [true]),
    ])
    .expect("these are dimensions");
    let space = match space.known(text.lines()) {
        Ok(space) => space,
        Err(Error::Expression { constraint, line, column, offset, length, .. }) => {
            assert!(line >= 1 && column >= 1 && offset + length <= constraint.len());
            assert!(constraint.is_char_boundary(offset));
            return;
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let mut rng = Seed(0).stream("fuzz", text.len() as u64);
    for _ in 0..8 {
        let mut settled: Vec<f64> = (0..space.dim()).map(|_| uniform(&mut rng)).collect();
        space.settle(&mut settled);
        let radius = uniform(&mut rng);
        let near = space.neighbour(&settled, &mut rng, radius);
        for x in [space.sample(&mut rng), settled, near] {
            assert!(space.meets_known(&x), "{x:?}");
            let configuration = space.decode(&x);
            space.check_known(&configuration).expect("what is suggested is admitted");
            assert_eq!(space.encode(&configuration).expect("and encoded"), x);
        }
    }
});
