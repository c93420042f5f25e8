//! How two search spaces differ, parameter by parameter, in the words of a message.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};
use wimble::points::Points;
use wimble::space::SearchSpace;

/// The parameters of a space as they are written, in order.
type Written = Vec<(String, Map<String, Json>)>;

/// What `given` has otherwise than `stored`, one sentence each; nothing if they are the same.
pub(crate) fn of_spaces(stored: &SearchSpace, given: &SearchSpace) -> Vec<String> {
    if stored == given {
        return Vec::new();
    }
    let (before, after) = (written(stored), written(given));
    let mut differences = Vec::new();
    for (name, was) in &before {
        match after.iter().find(|(known, _)| known == name) {
            None => {
                differences.push(format!("it has the parameter `{name}`, which is missing here"));
            }
            Some((_, is)) => differences.extend(of_fields(name, was, is)),
        }
    }
    for (name, _) in &after {
        if before.iter().all(|(known, _)| known != name) {
            differences.push(format!("it has no parameter `{name}`"));
        }
    }
    let names = |all: &Written| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if differences.is_empty() && names(&before) != names(&after) {
        let order = names(&before).join(", ");
        differences.push(format!("its parameters are in another order: {order}"));
    }
    if stored.known_constraints() != given.known_constraints() {
        let (was, is) = (stored.known_constraints(), given.known_constraints());
        differences.push(format!("its known constraints are {was:?}, not {is:?}"));
    }
    if stored.candidates() != given.candidates() {
        let count = |space: &SearchSpace| space.candidates().map_or(0, Points::len);
        let (was, is) = (count(stored), count(given));
        let text = format!("its list of candidates is another one ({was} of them, here {is})");
        differences.push(text);
    }
    if stored.repeats() != given.repeats() {
        differences.push(format!("its `repeats` is {}, not {}", stored.repeats(), given.repeats()));
    }
    differences
}

fn written(space: &SearchSpace) -> Written {
    let fields = space.dimensions().iter().map(|dimension| {
        let json = serde_json::to_value(dimension).unwrap_or_default();
        (dimension.name.clone(), json.as_object().cloned().unwrap_or_default())
    });
    fields.collect()
}

/// The fields of a parameter that differ.
fn of_fields(name: &str, was: &Map<String, Json>, is: &Map<String, Json>) -> Vec<String> {
    let keys: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    let shown = |value: Option<&Json>| value.map_or_else(|| "absent".to_owned(), Json::to_string);
    let differing = keys.into_iter().filter(|key| was.get(*key) != is.get(*key));
    differing
        .map(|key| format!("{name}.{key} is {}, not {}", shown(was.get(key)), shown(is.get(key))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::space::Dimension;

    #[test]
    fn only_what_differs_is_named() {
        let space = |dimensions: Vec<Dimension>| SearchSpace::new(dimensions).unwrap();
        let rate = || Dimension::log_real("rate", 1e-5, 0.1);
        let layers = || Dimension::integer("layers", 1, 8);
        let stored = space(vec![rate(), layers()]);
        for (given, words) in [
            (space(vec![rate(), layers()]), vec![]),
            (
                space(vec![Dimension::real("rate", 1e-5, 0.2), layers()]),
                vec!["rate.high is 0.1, not 0.2", "rate.scale is \"log\", not absent"],
            ),
            (
                space(vec![rate(), Dimension::boolean("b")]),
                vec![
                    "it has the parameter `layers`, which is missing here",
                    "it has no parameter `b`",
                ],
            ),
            (
                space(vec![layers(), rate()]),
                vec!["its parameters are in another order: rate, layers"],
            ),
            (stored.clone().allow_repeats(true), vec!["its `repeats` is false, not true"]),
            (
                stored.clone().known(["layers > 2"]).unwrap(),
                vec!["its known constraints are [], not [\"layers > 2\"]"],
            ),
        ] {
            assert_eq!(of_spaces(&stored, &given), words);
        }
    }
}
