//! A spec as one line of text: the method's name, then `key=value` for each setting that differs from its default or
//! was given.
//!
//! A dot leads into a part: `classifier=forest classifier.trees=50`. Values are JSON where they can be read as such
//! (`0.2`, `[16,16]`, `null`), and otherwise text.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value as Json};

use super::Spec;
use crate::error::{Error, Result};

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let Some(name) = words.next() else {
            return Err(Error::invalid("method", "empty", "a name, as in `bore++ width=2`"));
        };
        let mut table = Map::from_iter([("name".to_owned(), Json::String(name.to_owned()))]);
        for word in words {
            let Some((key, value)) = word.split_once('=') else {
                return Err(Error::invalid(
                    "setting",
                    format!("`{word}`"),
                    "of the form key=value",
                ));
            };
            let value =
                serde_json::from_str(value).unwrap_or_else(|_| Json::String(value.to_owned()));
            insert(&mut table, key, value)?;
        }
        Self::from_json(Json::Object(table))
    }
}

/// Puts `value` where the dotted `key` leads. A part that was given by name only becomes a table with that name.
fn insert(table: &mut Map<String, Json>, key: &str, value: Json) -> Result<()> {
    let twice = || Error::invalid("setting", format!("`{key}`"), "given once");
    let Some((part, rest)) = key.split_once('.') else {
        return match (table.get_mut(key), value) {
            (None, value) => {
                table.insert(key.to_owned(), value);
                Ok(())
            }
            // `classifier.trees=50 classifier=forest`: the name comes after its settings.
            (Some(Json::Object(settings)), Json::String(name))
                if !settings.contains_key("name") =>
            {
                settings.insert("name".to_owned(), Json::String(name));
                Ok(())
            }
            _ => Err(twice()),
        };
    };
    let settings = table.entry(part).or_insert_with(|| Json::Object(Map::new()));
    if let Json::String(name) = settings {
        *settings =
            Json::Object(Map::from_iter([("name".to_owned(), Json::String(std::mem::take(name)))]));
    }
    match settings {
        Json::Object(settings) => insert(settings, rest, value),
        _ => Err(twice()),
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        write_settings(f, "", &self.method.table(), &self.defaults(), &self.given)
    }
}

/// Writes the settings of `table` that differ from `defaults` or were `given`.
fn write_settings(
    f: &mut fmt::Formatter<'_>,
    prefix: &str,
    table: &Map<String, Json>,
    defaults: &Json,
    given: &Map<String, Json>,
) -> fmt::Result {
    for (key, value) in table {
        let (default, given) = (defaults.get(key), given.get(key));
        if key == "name" || default == Some(value) && given.is_none() {
            continue;
        }
        match value {
            Json::Object(settings) => {
                let name = settings.get("name").and_then(Json::as_str);
                let default_name = default.and_then(|part| part.get("name")).and_then(Json::as_str);
                let given_settings = given.and_then(Json::as_object);
                let named =
                    given_settings.map_or(given.is_some(), |part| part.contains_key("name"));
                if let Some(name) = name.filter(|name| named || default_name != Some(name)) {
                    write!(f, " {prefix}{key}={name}")?;
                }
                let default = match (name, default) {
                    // Another part than the default one: its own defaults are what it is compared with.
                    (Some(name), _) if default_name != Some(name) => part_defaults(key, name),
                    (_, default) => default.cloned().unwrap_or(Json::Null),
                };
                let given = given_settings.cloned().unwrap_or_default();
                write_settings(f, &format!("{prefix}{key}."), settings, &default, &given)?;
            }
            Json::String(text) => write!(f, " {prefix}{key}={text}")?,
            other => write!(f, " {prefix}{key}={other}")?,
        }
    }
    Ok(())
}

/// The JSON form of a classifier or rule with its default settings.
fn part_defaults(part: &str, name: &str) -> Json {
    let table = serde_json::json!({ "name": "bore", part: name });
    Spec::from_json(table).map_or(Json::Null, |spec| spec.to_json()[part].clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Svgd;
    use crate::classifier::Learner as _;
    use crate::classifier::ensemble::Ensemble;
    use crate::classifier::perceptron::Perceptron;
    use crate::classifier::{Confidence, Target};
    use crate::labels::Weights;
    use crate::strategy::spec::names::{CLASSIFIERS, METHODS, RULES};
    use crate::strategy::spec::{BorePlusPlusSpec, BoreSpec, RuleSpec};

    fn refused(text: &str) -> String {
        let spec = text.parse::<Spec>();
        spec.and_then(|spec| spec.build(10)).err().unwrap().to_string()
    }

    /// Text, JSON and TOML give back what was written.
    fn round_trip(text: &str) -> Spec {
        let spec: Spec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spec.to_string().parse::<Spec>().unwrap(), spec, "{text} printed as {spec}");
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec, "{json}");
        let toml = toml::to_string(&spec).unwrap();
        assert_eq!(toml::from_str::<Spec>(&toml).unwrap(), spec, "{toml}");
        spec
    }

    #[test]
    fn every_name_is_built_and_printed_back() {
        for method in METHODS {
            let spec = round_trip(method.name);
            assert_eq!(spec.to_string(), method.name);
            assert_eq!(spec.build(10).unwrap().name(), method.name);
        }
        for classifier in CLASSIFIERS {
            for rule in RULES {
                for method in ["bore", "bore++"] {
                    let text =
                        format!("{method} classifier={} rule={}", classifier.name, rule.name);
                    let spec = round_trip(&text);
                    let rough = matches!(classifier.name, "forest" | "boosting");
                    let needs_gradients = matches!(rule.name, "svgd" | "stein-newton" | "ascent");
                    let needs_uncertainty = method == "bore++";
                    let illegal = rough && needs_gradients
                        || classifier.name == "perceptron" && needs_uncertainty;
                    assert_eq!(spec.build(4).is_err(), illegal, "{text}");
                }
            }
        }
    }

    #[test]
    fn settings_are_read_wherever_they_stand() {
        let spec = round_trip(
            "bore++ classifier.members=3 classifier=ensemble rule=svgd rule.steps=500 width=2",
        );
        let BorePlusPlusSpec { bore, confidence } = spec.settings().unwrap();
        assert_eq!(bore.classifier.settings::<Ensemble>().unwrap().members, 3);
        assert_eq!(bore.rule.as_ref().unwrap().settings::<Svgd>().unwrap().steps, 500);
        assert_eq!(*confidence, Confidence::Width(2.0));
        assert_eq!(
            spec.to_string(),
            "bore++ classifier=ensemble classifier.members=3 rule=svgd rule.steps=500 width=2.0"
        );
        round_trip(
            "bore classifier.hidden=[16,16] classifier=perceptron classifier.activation=elu fraction=0.1",
        );
        round_trip("bore++ level=0.1 norm-bound=2 threshold=0 target=log-probability initial=3");
        round_trip("bore classifier.steps=50");
        round_trip("bore weights=improvement classifier=forest rule=softmax");
    }

    /// A setting that was given stays given, also where it is the default.
    #[test]
    fn a_default_that_was_given_is_printed_back() {
        for text in [
            "bore rule=svgd",
            "bore++ width=3.0",
            "bore classifier=perceptron",
            "bore classifier=perceptron classifier.steps=100",
            "bore preset=best",
            "bore classifier=perceptron preset=paper",
            "bore++ preset=paper",
            "bore classifier.steps=100",
            "bore++ rule=ascent rule.samples=1024",
            "bore classifier.start.warm.every=10",
            "bore++ classifier=ensemble classifier.perceptron.start.warm.every=10",
            "auto initial=10",
        ] {
            assert_eq!(round_trip(text).to_string(), text);
            let table = serde_json::from_str::<Spec>(&serde_json::to_string(text).unwrap());
            assert_eq!(table.unwrap().to_string(), text);
        }
        let table = r#"{"name":"bore++","width":3.0,"classifier":"least-squares"}"#;
        let spec: Spec = serde_json::from_str(table).unwrap();
        assert_eq!(spec.to_string(), "bore++ classifier=least-squares width=3.0");
        assert_eq!(spec, "bore++".parse().unwrap(), "the same method, however it is written");
    }

    /// The table of a store has every setting: it says nothing about which were given.
    #[test]
    fn a_table_with_every_setting_prints_what_differs() {
        for text in [
            "bore++",
            "auto",
            "gp-ei",
            "bore",
            "bore preset=paper",
            "bore classifier=forest classifier.trees=50",
            "bore classifier.learning-rate=0.1 weights=uniform",
            "bore initial=5 target=logit weights=uniform",
        ] {
            let stored = serde_json::to_string(&text.parse::<Spec>().unwrap()).unwrap();
            let read: Spec = serde_json::from_str(&stored).unwrap();
            assert_eq!(read.to_string(), text);
            assert_eq!(text.parse::<Spec>().unwrap(), read);
            assert_eq!(serde_json::to_string(&read).unwrap(), stored);
        }
    }

    /// What a spec leaves open follows the batch size; what it gives does not, and stays given when it is stored.
    #[test]
    fn what_was_given_does_not_follow_the_batch_size() {
        let kept = |text: &str| {
            let spec: Spec = text.parse().unwrap();
            let stored = serde_json::to_string(&spec).unwrap();
            let spec: Spec = serde_json::from_str(&stored).unwrap();
            let bore: &BoreSpec = spec.settings().unwrap();
            let learner = bore.classifier.settings::<Perceptron>().unwrap().clone();
            let rule = bore.rule.as_ref().map(RuleSpec::name);
            (learner.for_batches(4).kept_every(), rule)
        };
        assert_eq!(kept("bore"), (Some(4), None));
        assert_eq!(kept("bore rule=svgd"), (Some(4), Some("svgd")));
        assert_eq!(kept("bore classifier.start.warm.every=10"), (Some(10), None));
        assert_eq!(kept("bore classifier.start=cold"), (None, None));
    }

    /// A table of a version that had no presets has all other settings: it stays the paper's.
    #[test]
    fn a_study_stored_before_there_were_presets_keeps_its_settings() {
        for method in ["bore", "bore++"] {
            let paper: Spec = format!("{method} preset=paper").parse().unwrap();
            let mut stored = serde_json::to_value(&paper).unwrap();
            stored.as_object_mut().unwrap().remove("preset");
            if let Some(classifier) = stored["classifier"].as_object_mut() {
                classifier.remove("inputs");
            }
            let read: Spec = serde_json::from_value(stored).unwrap();
            assert_eq!((&read, read.to_string()), (&paper, format!("{method} preset=paper")));
            let words: Spec = method.parse().unwrap();
            assert_ne!(words, paper);
            assert_eq!(words.as_in(&read).unwrap(), paper, "the same words continue it");
            let best: Spec = format!("{method} preset=best").parse().unwrap();
            assert_ne!(best.as_in(&read).unwrap(), paper);
        }
    }

    #[test]
    fn what_is_left_out_is_as_the_preset_says() {
        let bore = |text: &str| {
            let spec: Spec = text.parse().unwrap();
            let bore = spec.settings::<BoreSpec>().unwrap().clone();
            let network = bore.classifier.settings::<Perceptron>().cloned();
            (bore.weights, bore.target, network)
        };
        let (improvement, log) = (Weights::Improvement, Target::LogProbability);
        assert_eq!(bore("bore"), (improvement, log, Some(Perceptron::best())));
        let paper = (Weights::Uniform, Target::Logit, Some(Perceptron::default()));
        assert_eq!(bore("bore preset=paper"), paper);
        assert_eq!(bore("bore classifier=forest"), (Weights::Uniform, Target::Logit, None));
        let given = Perceptron { learning_rate: 0.1, ..Perceptron::best() };
        assert_eq!(
            bore("bore classifier.learning-rate=0.1 target=logit"),
            (improvement, Target::Logit, Some(given))
        );
    }

    /// Names in tables with `_`, as version 0.1 wrote some, are read; they are written with `-`.
    #[test]
    fn keys_are_written_with_hyphens_and_read_as_version_0_1_wrote_them() {
        let classifiers = CLASSIFIERS.iter().map(|name| format!("bore classifier={}", name.name));
        let rules = RULES.iter().map(|name| format!("bore rule={}", name.name));
        let methods = METHODS.iter().map(|name| name.name.to_owned());
        let kernel = "{\"profile\":\"matern52\",\"length-scales\":[0.5],\"output-scale\":1.0}";
        let fixed = [
            format!("gp-ucb regression.fixed={{\"kernel\":{kernel},\"noise\":0.1}}"),
            format!(
                "bore++ classifier=least-squares classifier.hyper-parameters.fixed.kernel={kernel}"
            ),
        ];
        for text in methods.chain(classifiers).chain(rules).chain(fixed) {
            let spec = round_trip(&text);
            let stored = serde_json::to_string(&spec).unwrap();
            let keys = stored.split('"').skip(1).step_by(2);
            assert!(keys.clone().all(|key| !key.contains('_')), "{stored}");
        }
        let stored = serde_json::to_string(&"bore++".parse::<Spec>().unwrap()).unwrap();
        let old =
            ["hyper-parameters", "length-scale", "output-scale", "max-evaluations", "max-points"]
                .into_iter()
                .fold(stored.clone(), |text, key| {
                    assert!(text.contains(key), "{key} in {text}");
                    text.replace(key, &key.replace('-', "_"))
                });
        let read: Spec = serde_json::from_str(&old).unwrap();
        assert_eq!(read.to_string(), "bore++");
        assert_eq!(serde_json::to_string(&read).unwrap(), stored);
    }

    #[test]
    fn mistakes_name_the_value_and_the_choices() {
        assert!(refused("bohr").contains("the nearest is `bore`"));
        assert!(
            refused("bore rule=svg")
                .contains("rule is `svg`, but must be one of svgd, stein-newton")
        );
        assert!(refused("bore classifier=forrest").contains("the nearest is `forest`"));
        assert!(refused("bore classifier=forest rule=svgd").contains("which has no gradients"));
        assert!(refused("bore++ classifier=perceptron").contains("knows its own uncertainty"));
        assert!(refused("bore width=3").contains("bore++ has one"));
        assert!(refused("bore rule.stepz=3 rule=svgd").contains("stepz"));
        assert!(refused("bore fraction=0.1 threshold=3").contains("left out where fraction"));
        assert!(refused("bore fraction=0.1 fraction=0.2").contains("given once"));
        assert!(refused("bore steps").contains("key=value"));
        assert!(refused("").contains("a name"));
        assert!(refused("random speed=9").contains("there is no `speed`"));
        assert!(
            refused("bore frction=0.2")
                .contains("there is no `frction`; the nearest is `fraction`")
        );
        assert!(
            refused("bore fraction=half").contains("\"half\" stands where a number is expected")
        );
        assert!(refused("bore rule.steps=9").contains("rule name is missing"));
    }
}
