//! The noise is larger than what the leaders differ by: the best of them may just be lucky.
//!
//! The noise is known where deviations were told, or where configurations were evaluated more than once.
//! Two leaders that differ by Δ are told apart at two standard errors by n repeats of each, where 2 σ √(2/n) ≤ Δ: n ≥ 8 σ²/Δ².

use std::collections::HashMap;

use super::{Advice, Evidence, Topic, short};

const LEADERS: usize = 5;
/// The fewest repeats beyond the first, over all configurations, that say how large the noise is.
const REPEATS: usize = 5;
/// More repeats than this are not worth asking for.
const MOST: f64 = 100.0;

pub(super) fn look(evidence: &Evidence<'_>) -> Vec<Advice> {
    let ranked = evidence.ranked();
    if ranked.len() < 2 * LEADERS {
        return Vec::new();
    }
    let (Some((sigma, source)), [(best, _), .., (fifth, _)]) =
        (told(evidence).or_else(|| repeated(evidence)), &ranked[..LEADERS])
    else {
        return Vec::new();
    };
    let spread = fifth - best;
    if sigma <= spread {
        return Vec::new();
    }
    let needed = (8.0 * (sigma / spread.max(sigma * 1e-3)).powi(2)).ceil();
    let repeats = needed.min(MOST) as u64;
    let cannot = if needed > MOST { "; even that many may not tell them apart" } else { "" };
    let message = format!(
        "The noise ({}, from {source}) is larger than what the {LEADERS} best differ by ({}): the best may just be lucky. \
         Repeat each of them {repeats} times{cannot}, or keep the trial of `wimble best --recommended`.",
        short(sigma),
        short(spread),
    );
    vec![Advice { repeats: Some(repeats), ..Advice::new(Topic::Noise, None, message) }]
}

/// The median of the deviations that were told with at least half of the leaders.
fn told(evidence: &Evidence<'_>) -> Option<(f64, &'static str)> {
    let ranked = evidence.ranked();
    let mut told: Vec<f64> =
        ranked[..LEADERS].iter().filter_map(|(_, point)| point.deviation).collect();
    if told.len() * 2 < LEADERS {
        return None;
    }
    told.sort_by(f64::total_cmp);
    Some((told[told.len() / 2], "the deviations that were told"))
}

/// The standard deviation within groups of equal configurations.
fn repeated(evidence: &Evidence<'_>) -> Option<(f64, &'static str)> {
    let mut groups: HashMap<Vec<u64>, Vec<f64>> = HashMap::new();
    for (value, point) in evidence.ranked() {
        groups
            .entry(point.places.iter().map(|place| place.to_bits()).collect())
            .or_default()
            .push(value);
    }
    let (mut squares, mut freedom) = (0.0, 0);
    for values in groups.values().filter(|values| values.len() > 1) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        squares += values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        freedom += values.len() - 1;
    }
    (freedom >= REPEATS).then(|| ((squares / freedom as f64).sqrt(), "repeated configurations"))
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{noise, of, study};
    use super::super::{Evidence, Point};
    use super::*;
    use wimble::outcome::{Measured, Outcome};

    #[test]
    fn noise_is_named_where_it_hides_the_best_and_not_where_it_does_not() {
        let with = |deviation: f64| {
            move |x: f64, rate: f64, _: &str| -> Outcome {
                let value = x + rate + deviation * noise(x);
                Measured { value, deviation: Some(deviation) }.into()
            }
        };
        let loud = of(&study(100, 5, with(1.0)), Topic::Noise);
        assert!(loud[0].message.contains("the deviations that were told"), "{}", loud[0].message);
        assert!(loud[0].repeats.is_some_and(|repeats| repeats > 8));
        assert!(of(&study(100, 5, with(1e-6)), Topic::Noise).is_empty());
        // Without deviations or repeats, nobody knows.
        assert!(of(&study(100, 5, |x, _, _| (x + noise(x)).into()), Topic::Noise).is_empty());
    }

    #[test]
    fn repeats_say_how_large_the_noise_is() {
        let store = study(1, 0, |x, _, _| x.into());
        let settings = store.study("s").unwrap().settings;
        let point = |place: f64, value: f64| Point {
            places: vec![place],
            value: Some(value),
            deviation: None,
            failed: false,
        };
        let points =
            (0..10).flat_map(|i| [point(f64::from(i), 1.0), point(f64::from(i), 3.0)]).collect();
        let evidence = Evidence { settings: &settings, points, whole: true };
        // Two values that differ by 2 have the variance 2.
        assert!((repeated(&evidence).unwrap().0 - 2.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(look(&evidence).len(), 1);
    }
}
