//! Failures cluster in a part of the space.
//!
//! Every parameter is cut in two at ten places, or by its choices. Said where a part fails at least three times as often as the
//! rest, and chance would do that, under all cuts together, with a probability below one in a thousand (hypergeometric tail).

use wimble::space::{Dimension, Kind, Scale};

use super::{Advice, Evidence, Point, Topic, short};

/// The fewest failures.
const FEWEST: usize = 5;
const CUTS: usize = 10;
/// How often a part fails at least, and how many times as often as the rest.
const RATE: f64 = 0.3;
const TIMES: f64 = 3.0;
const CHANCE: f64 = 1e-3;

pub(super) fn look(evidence: &Evidence<'_>) -> Vec<Advice> {
    let failed = evidence.points.iter().filter(|point| point.failed).count();
    if failed < FEWEST {
        return Vec::new();
    }
    if failed == evidence.points.len() {
        let message = format!(
            "All {failed} finished trials failed: the command does not work yet. Look at the output of one with `wimble show`."
        );
        return vec![Advice::new(Topic::Failures, None, message)];
    }
    let parts: Vec<(usize, String, f64, f64)> = evidence
        .dimensions()
        .iter()
        .enumerate()
        .flat_map(|(k, dimension)| parts(k, dimension))
        .collect();
    let mut found: Option<(f64, Advice)> = None;
    for (k, words, from, to) in &parts {
        let inside = |point: &&Point| (*from..*to).contains(&point.places[*k]);
        let size = evidence.points.iter().filter(inside).count();
        let hit = evidence.points.iter().filter(inside).filter(|point| point.failed).count();
        let rest = evidence.points.len() - size;
        if size == 0 || rest == 0 {
            continue;
        }
        let (rate, other) = (hit as f64 / size as f64, (failed - hit) as f64 / rest as f64);
        let chance = tail(evidence.points.len(), failed, size, hit) * parts.len() as f64;
        if rate < RATE || rate < TIMES * other || chance > CHANCE {
            continue;
        }
        let name = &evidence.dimensions()[*k].name;
        let message = format!(
            "{hit} of {size} trials with {words} failed, and {} of the {rest} others. \
             Look at their output, or leave that part out of the space.",
            failed - hit
        );
        // The part that chance explains least stands for all that overlap with it.
        if found.as_ref().is_none_or(|(least, _)| chance < *least) {
            found = Some((chance, Advice::new(Topic::Failures, Some(name), message)));
        }
    }
    found.into_iter().map(|(_, advice)| advice).collect()
}

/// The parts of a dimension: in words, and from where to where.
fn parts(k: usize, dimension: &Dimension) -> Vec<(usize, String, f64, f64)> {
    let name = &dimension.name;
    let choices = |words: Vec<String>| {
        let share = 1.0 / words.len() as f64;
        let part = |(i, word): (usize, String)| {
            (k, format!("`{name}` = {word}"), i as f64 * share, (i + 1) as f64 * share)
        };
        words.into_iter().enumerate().map(part).collect()
    };
    let range = |low: f64, high: f64, scale: Scale| {
        let cut = |i: usize| {
            let share = i as f64 / CUTS as f64;
            let value = match scale {
                Scale::Linear => low + (high - low) * share,
                Scale::Log => low * (high / low).powf(share),
            };
            let value = short(value);
            [
                (k, format!("`{name}` below {value}"), f64::NEG_INFINITY, share),
                (k, format!("`{name}` from {value} on"), share, f64::INFINITY),
            ]
        };
        (1..CUTS).flat_map(cut).collect()
    };
    match &dimension.kind {
        Kind::Real { low, high, scale } => range(*low, *high, *scale),
        Kind::Integer { low, high, scale, .. } => range(*low as f64, *high as f64, *scale),
        Kind::Boolean => choices(vec!["false".to_owned(), "true".to_owned()]),
        Kind::Categorical { choices: values } | Kind::Ordinal { levels: values } => {
            choices(values.iter().map(ToString::to_string).collect())
        }
        // Parts of a whole: a cut through one of them is a cut through all.
        Kind::Shares { .. } => Vec::new(),
    }
}

/// The probability that at least `hit` of `drawn` are marked, if `marked` of `all` are and the draw is blind.
fn tail(all: usize, marked: usize, drawn: usize, hit: usize) -> f64 {
    let mut logs = vec![0.0; all + 1];
    for n in 1..=all {
        logs[n] = logs[n - 1] + (n as f64).ln();
    }
    let choose = |n: usize, k: usize| logs[n] - logs[k] - logs[n - k];
    let most = marked.min(drawn);
    (hit..=most)
        .filter(|&i| drawn - i <= all - marked)
        .map(|i| (choose(marked, i) + choose(all - marked, drawn - i) - choose(all, drawn)).exp())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::{noise, of, study};
    use super::*;
    use wimble::outcome::Outcome;

    #[test]
    fn failures_in_a_corner_are_found_and_scattered_ones_are_not() {
        let corner = of(
            &study(150, 3, |x, rate, _| if rate > 0.8 { Outcome::failed() } else { x.into() }),
            Topic::Failures,
        );
        assert_eq!(corner[0].parameter.as_deref(), Some("rate"));
        assert!(
            corner[0].message.contains("from 0.1585 on")
                || corner[0].message.contains("from 0.15849 on"),
            "{}",
            corner[0].message
        );
        let choice = of(
            &study(80, 3, |x, _, kind| if kind == "b" { Outcome::failed() } else { x.into() }),
            Topic::Failures,
        );
        assert!(choice[0].message.contains("`kind` = "), "{}", choice[0].message);
        let all = of(&study(8, 3, |_, _, _| Outcome::failed()), Topic::Failures);
        assert!(all[0].message.starts_with("All 8 finished trials failed"), "{}", all[0].message);
        for seed in 0..20 {
            let anywhere =
                study(
                    150,
                    seed,
                    |x, rate, _| if noise(x + rate) > 0.3 { Outcome::failed() } else { x.into() },
                );
            assert!(of(&anywhere, Topic::Failures).is_empty());
        }
    }

    #[test]
    fn the_tail_is_that_of_the_definition() {
        // Of 6 with 3 marked, 3 drawn: all marked in 1 of 20 draws, at least two in 10 of 20.
        assert!((tail(6, 3, 3, 3) - 0.05).abs() < 1e-12);
        assert!((tail(6, 3, 3, 2) - 0.5).abs() < 1e-12);
        assert!((tail(6, 3, 3, 0) - 1.0).abs() < 1e-12);
    }
}
