//! The density ratio of the paper, (4) and (5), as a user asks for it: the classifier's π̂/γ is the ratio of the
//! densities of good and of all trials.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use wimble::classifier::Boosting;
use wimble::history::History;
use wimble::labels::Labels;
use wimble::points::Points;
use wimble::prelude::*;
use wimble::strategy::{Evidence, Memory};

#[test]
fn the_ratio_of_a_fitted_classifier_is_that_of_the_two_densities() {
    // Four places with 20 trials each; in the i-th, a share of them is good.
    let places = [0.0, 0.25, 0.5, 1.0];
    let good = [16, 10, 4, 0];
    let mut history = History::new(1);
    for (x, good) in places.iter().zip(good) {
        for k in 0..20 {
            let value = if k < good { 0.0 } else { 1.0 };
            history.push(&[*x], Outcome::from(value)).unwrap();
        }
    }
    let boosting = Boosting { members: 1, rounds: 300, ridge: 1e-6, ..Boosting::default() };
    let bore = Bore {
        threshold: Threshold::Fixed { value: 0.5 },
        ..Bore::new(boosting, Candidates::default())
    };
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    let pending = Points::new(1);
    let evidence = Evidence { space: &space, history: &history, pending: &pending, seed: Seed(1) };
    let at = Points::from_rows(1, places.map(|x| [x]));
    let found = bore.density_ratios(evidence, &at, &mut Memory::default()).unwrap().unwrap();
    let (all_good, all) = (30.0, 80.0);
    for (found, good) in found.iter().zip(good) {
        let (l, g) = (f64::from(good) / all_good, f64::from(20 - good) / (all - all_good));
        let expected = Labels::relative_density_ratio(l, g, all_good / all).unwrap();
        assert!((found - expected).abs() < 0.03, "{found} {expected}");
    }
    // Without a value there is nothing to compare.
    let empty = History::new(1);
    let nothing = Evidence { history: &empty, ..evidence };
    let bore = Bore { threshold: Threshold::default(), ..bore };
    assert_eq!(bore.density_ratios(nothing, &at, &mut Memory::default()).unwrap(), None);
}
