//! The best values lie at the edge of a range: better ones may lie beyond it.
//!
//! Said where the best trial is within 2 % of an edge, and at least half of the leaders within 10 % of the same edge. If the
//! parameter had no effect, a leader would be there with probability 0.1, and half of ten with probability 0.0016.

use wimble::space::Kind;

use super::{Advice, Evidence, Topic, has_range, short};

/// The fewest trials with a value.
const FEWEST: usize = 20;
/// How many leaders are looked at: one in ten trials, but at least and at most this many.
const LEADERS: [usize; 2] = [10, 30];
/// The best is at the edge, and leaders are near it, within these shares of the range.
const AT: f64 = 0.02;
const NEAR: f64 = 0.1;

pub(super) fn look(evidence: &Evidence<'_>) -> Vec<Advice> {
    let ranked = evidence.ranked();
    if ranked.len() < FEWEST {
        return Vec::new();
    }
    let leaders = &ranked[..(ranked.len() / 10).clamp(LEADERS[0], LEADERS[1])];
    let mut advice = Vec::new();
    for (k, dimension) in evidence.dimensions().iter().enumerate() {
        let best = leaders[0].1.places[k];
        if !has_range(&dimension.kind) || best.is_nan() {
            continue;
        }
        let (edge, is_near): (&str, fn(f64) -> f64) = if best <= AT {
            ("lower", |place| place)
        } else if best >= 1.0 - AT {
            ("upper", |place| 1.0 - place)
        } else {
            continue;
        };
        let near = leaders.iter().filter(|(_, point)| is_near(point.places[k]) <= NEAR).count();
        if near * 2 < leaders.len() {
            continue;
        }
        let bound = match (&dimension.kind, edge) {
            (Kind::Real { low, .. }, "lower") => short(*low),
            (Kind::Real { high, .. }, _) => short(*high),
            (Kind::Integer { low, .. }, "lower") => low.to_string(),
            (Kind::Integer { high, .. }, _) => high.to_string(),
            _ => continue,
        };
        let name = &dimension.name;
        let message = format!(
            "The best value lies at the {edge} end of `{name}` ({bound}), and so do {near} of the {} best. \
             Better ones may lie beyond: widen the range in a new study.",
            leaders.len()
        );
        advice.push(Advice::new(Topic::Edge, Some(name), message));
    }
    advice
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{of, study};
    use super::*;

    #[test]
    fn an_optimum_beyond_the_range_is_noticed_and_one_inside_is_not() {
        let beyond = of(&study(200, 1, |x, rate, _| (rate + 30.0 * (1.2 - x)).into()), Topic::Edge);
        let named: Vec<&str> = beyond.iter().filter_map(|a| a.parameter.as_deref()).collect();
        assert_eq!(named, ["x"]);
        assert!(beyond[0].message.contains("upper end of `x` (1)"), "{}", beyond[0].message);
        for seed in 0..20 {
            let inside = of(
                &study(200, seed, |x, rate, _| ((x - 0.4).powi(2) + (rate - 0.6).powi(2)).into()),
                Topic::Edge,
            );
            assert!(inside.is_empty(), "{inside:?}");
        }
        // Too little evidence for either.
        assert!(of(&study(15, 1, |x, _, _| (1.0 - x).into()), Topic::Edge).is_empty());
    }
}
