//! The functions of BBOB against values of the package `ioh` 0.3.22, at two points of three instances in 2, 5 and 10 dimensions.
//!
//! A line of bbob-reference.txt is: function, dimension, instance, number of the point, value there.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use wimble_problems::{Bbob, Problem as _};

/// Points that are the same everywhere and look random.
fn point(dim: usize, function: usize, instance: u64, number: u64) -> Vec<f64> {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let first = (1000 * number + 7 * function as u64 + 13 * instance + 1) as f64;
    (0..dim)
        .map(|k| k as f64)
        .map(|k| -5.0 + 10.0 * (GOLDEN * (first + 31.0 * k * k + 17.0 * k)).fract())
        .collect()
}

#[test]
fn values_are_those_of_the_published_package() {
    let mut lines = 0;
    for line in include_str!("bbob-reference.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let whole = |i: usize| words[i].parse::<u64>().unwrap();
        let (function, dim, instance) = (whole(0) as usize, whole(1) as usize, whole(2));
        let expected: f64 = words[4].parse().unwrap();
        let value =
            Bbob::new(function, dim, instance).evaluate(&point(dim, function, instance, whole(3)));
        let error = (value - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-9, "{line}: {value}");
        lines += 1;
    }
    assert_eq!(lines, 24 * 3 * 3 * 2);
}

#[test]
fn the_minimum_is_at_the_minimiser_and_nowhere_lower() {
    for function in wimble_problems::bbob::FUNCTIONS {
        for (dim, instance) in [(2, 1), (3, 11), (10, 4)] {
            let bbob = Bbob::new(function, dim, instance);
            let best = &bbob.minimisers()[0];
            assert!((bbob.evaluate(best) - bbob.minimum()).abs() < 1e-9, "{}", bbob.name());
            for number in 0..200 {
                let far = point(dim, function, instance, number);
                let near =
                    far.iter().zip(best).map(|(x, b)| b + 1e-3 * (x - b)).collect::<Vec<_>>();
                for x in [far, near] {
                    let inside = x.iter().all(|x| x.abs() <= 5.0);
                    assert!(!inside || bbob.evaluate(&x) >= bbob.minimum(), "{}", bbob.name());
                }
            }
        }
    }
}
