//! The parameters of Optuna's trials, and the space that explains them.
//!
//! Optuna has no search space: each trial has the distributions that it asked for. A [`Census`] goes through all trials once and
//! keeps counts only, so that its memory does not grow with them.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use anyhow::{Context as _, Result, bail};
use rusqlite::Connection;
use serde_json::Value as Json;
use wimble::space::{Dimension, Kind, Scale, SearchSpace, Value};

/// More steps of a float than this are read as a real.
const MOST_LEVELS: f64 = 1_000.0;
/// So many distributions are remembered by their text: most studies have one a parameter.
const REMEMBERED: usize = 1_000;

/// A parameter of one trial.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub value: Value,
    kind: Rc<Kind>,
    place: i64,
}

/// Reads distributions, each text once.
#[derive(Debug, Default)]
pub(super) struct Kinds(RefCell<HashMap<String, Rc<Kind>>>);

impl Kinds {
    fn read(&self, name: &str, text: &str) -> Result<Rc<Kind>> {
        if let Some(known) = self.0.borrow().get(text) {
            return Ok(Rc::clone(known));
        }
        let json: Json =
            serde_json::from_str(text).with_context(|| format!("the distribution of `{name}`"))?;
        let kind = kind(&json).with_context(|| format!("the distribution of `{name}`, {text}"))?;
        let (mut known, kind) = (self.0.borrow_mut(), Rc::new(kind));
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(text.to_owned(), Rc::clone(&kind));
        Ok(kind)
    }

    /// The parameters of a trial by their names.
    pub fn of(&self, connection: &Connection, trial: i64) -> Result<BTreeMap<String, Given>> {
        let mut statement = connection.prepare_cached(
            "SELECT param_name, param_value, distribution_json, param_id FROM trial_params
             WHERE trial_id = ?1",
        )?;
        let mut rows = statement.query([trial])?;
        let mut parameters = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let (name, number): (String, f64) = (row.get(0)?, row.get(1)?);
            let kind = self.read(&name, row.get_ref(2)?.as_str()?)?;
            let value = match &*kind {
                Kind::Real { .. } | Kind::Shares { .. } => Value::Real(number),
                Kind::Integer { .. } => Value::Integer(number as i64),
                Kind::Boolean => Value::Boolean(number != 0.0),
                Kind::Categorical { choices } => match choice(choices, number) {
                    Some(value) => value.clone(),
                    None => bail!("`{name}` has choice {number} of {}", choices.len()),
                },
                Kind::Ordinal { levels } => nearest(levels, number),
            };
            parameters.insert(name, Given { value, kind, place: row.get(3)? });
        }
        Ok(parameters)
    }
}

/// The choice at a place, which must be one: below zero, or between two, there is none.
fn choice(choices: &[Value], number: f64) -> Option<&Value> {
    let place = (number >= 0.0 && number.fract() == 0.0).then_some(number as usize)?;
    choices.get(place)
}

/// The level at a number: Optuna rounds its multiples of a step in its own way.
fn nearest(levels: &[Value], number: f64) -> Value {
    let distance =
        |level: &&Value| level.as_real().map_or(f64::INFINITY, |level| (level - number).abs());
    levels
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .cloned()
        .unwrap_or(Value::Real(number))
}

fn kind(json: &Json) -> Result<Kind> {
    let attributes = &json["attributes"];
    let real = |name: &str| attributes[name].as_f64().with_context(|| format!("{name} is missing"));
    let integer =
        |name: &str| attributes[name].as_i64().with_context(|| format!("{name} is missing"));
    let scale = if attributes["log"] == true { Scale::Log } else { Scale::Linear };
    Ok(match json["name"].as_str() {
        Some("FloatDistribution") => {
            let (low, high) = (real("low")?, real("high")?);
            match attributes["step"].as_f64() {
                Some(step)
                    if step > 0.0
                        && (high - low) / step >= 1.0
                        && (high - low) / step < MOST_LEVELS =>
                {
                    let count = ((high - low) / step + 1e-9).floor() as u32;
                    Kind::Ordinal {
                        levels: (0..=count)
                            .map(|k| Value::Real(low + f64::from(k) * step))
                            .collect(),
                    }
                }
                _ => Kind::Real { low, high, scale },
            }
        }
        Some("IntDistribution") => Kind::Integer {
            low: integer("low")?,
            high: integer("high")?,
            scale,
            step: integer("step")?,
        },
        Some("CategoricalDistribution") => {
            let choices = attributes["choices"].as_array().context("choices are missing")?;
            let choice = |json: &Json| match json {
                Json::Null => Value::from("None"),
                other => serde_json::from_value(other.clone())
                    .unwrap_or_else(|_| Value::Text(other.to_string())),
            };
            Kind::Categorical { choices: choices.iter().map(choice).collect() }
        }
        other => bail!("its name is {other:?}, which is unknown"),
    })
}

/// What all trials have in common: which parameters there are, and with which choices they come.
#[derive(Debug, Default)]
pub(super) struct Census {
    trials: usize,
    parameters: BTreeMap<String, Seen>,
    /// One that had two distributions.
    changed: Option<String>,
    /// How many trials have a choice of a categorical parameter, by its words.
    chosen: BTreeMap<String, BTreeMap<String, (Value, usize)>>,
    /// How many of those have another parameter too: by its name, that of the categorical parameter and the choice.
    together: BTreeMap<String, BTreeMap<String, BTreeMap<String, usize>>>,
}

#[derive(Debug)]
struct Seen {
    kind: Rc<Kind>,
    /// Where it was first asked for.
    place: i64,
    count: usize,
}

impl Census {
    /// Counts a trial, unless it has no parameters at all.
    pub fn count(&mut self, trial: &BTreeMap<String, Given>) {
        if trial.is_empty() {
            return;
        }
        self.trials += 1;
        let is_choice = |given: &Given| matches!(*given.kind, Kind::Categorical { .. });
        for (name, given) in trial {
            match self.parameters.get_mut(name) {
                Some(seen) => {
                    seen.count += 1;
                    seen.place = seen.place.min(given.place);
                    if *seen.kind != *given.kind && self.changed.is_none() {
                        self.changed = Some(name.clone());
                    }
                }
                None => {
                    let (kind, place) = (Rc::clone(&given.kind), given.place);
                    self.parameters.insert(name.clone(), Seen { kind, place, count: 1 });
                }
            }
        }
        for (parent, given) in trial.iter().filter(|(_, given)| is_choice(given)) {
            let word = given.value.to_string();
            let chosen = self.chosen.entry(parent.clone()).or_default();
            chosen.entry(word.clone()).or_insert((given.value.clone(), 0)).1 += 1;
            for child in trial.keys().filter(|child| *child != parent) {
                let parents = self.together.entry(child.clone()).or_default();
                *parents.entry(parent.clone()).or_default().entry(word.clone()).or_default() += 1;
            }
        }
    }

    /// The space that explains the parameters of all trials.
    pub fn space(&self) -> Result<SearchSpace> {
        if let Some(name) = &self.changed {
            bail!(
                "`{name}` changed its distribution during the study; give a study file that has room for all of it"
            );
        }
        let is_whole = |seen: &Seen| seen.count == self.trials;
        let mut names: Vec<(&String, &Seen)> = self.parameters.iter().collect();
        names.sort_by_key(|(_, seen)| (!is_whole(seen), seen.place));
        let mut dimensions = Vec::new();
        for (name, seen) in &names {
            // A choice of one is no choice; Optuna allows it.
            let mut dimension = Dimension::new(*name, (*seen.kind).clone());
            if !is_whole(seen) {
                let mut parents = names.iter().filter(|(_, seen)| is_whole(seen));
                let Some((parent, values)) =
                    parents.find_map(|(parent, _)| Some((parent, self.explain(name, parent)?)))
                else {
                    bail!(
                        "only some trials have `{name}`, and no categorical parameter explains which; \
                         write a study file with the space, and name it with --study"
                    );
                };
                dimension = dimension.when(*parent, values);
            }
            dimensions.push(dimension);
        }
        Ok(SearchSpace::new(dimensions)?)
    }

    /// The choices of `parent` under which `child` is there, if they tell exactly.
    fn explain(&self, child: &str, parent: &str) -> Option<Vec<Value>> {
        let with = self.together.get(child)?.get(parent)?;
        let chosen = self.chosen.get(parent)?;
        let is_exact =
            |word: &String, count: &usize| chosen.get(word).is_some_and(|c| c.1 == *count);
        if !with.iter().all(|(word, count)| is_exact(word, count)) {
            return None;
        }
        Some(with.keys().filter_map(|word| Some(chosen.get(word)?.0.clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_that_is_none_is_no_choice() {
        let choices = ["a", "b"].map(Value::from);
        assert_eq!(choice(&choices, 1.0), Some(&choices[1]));
        for number in [-5.0, -0.5, 0.5, 2.0, f64::NAN, f64::INFINITY] {
            assert_eq!(choice(&choices, number), None, "{number}");
        }
    }
}
