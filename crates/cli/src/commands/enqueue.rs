//! `wimble enqueue`: configurations of the user's own, to be tried before those that the method proposes.

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use wimble::space::{Configuration, SearchSpace};
use wimble_study::runner::WorkerKey;
use wimble_study::{Lessons, Settings, Study};

use crate::exit::usage;
use crate::given;
use crate::storage::{Storage, Which};

/// The fewest configurations of earlier studies, unless the user says how many.
const FEWEST: usize = 3;

/// Arguments of `wimble enqueue`.
#[derive(Args)]
pub struct Arguments {
    /// The study, if the storage has more than one, and a value for each parameter: `wimble enqueue bake heat=220 fan=true`.
    /// Without values, JSON objects are read from standard input, one a line: {"heat": 220, "fan": true}
    #[arg(value_name = "[STUDY] PARAMETER=VALUE")]
    words: Vec<String>,
    #[command(flatten)]
    storage: Storage,
    /// Begin with what served earlier studies of the storage, separated by commas: a few of their best configurations, chosen so
    /// that each of them has a good one
    #[arg(long, value_name = "STUDIES", value_delimiter = ',')]
    from: Vec<String>,
    /// How many configurations of earlier studies [default: as many as there are studies, and at least 3]
    #[arg(long, requires = "from")]
    count: Option<usize>,
    /// The key of this request: enqueueing again with the same key gives the same trial [default: a new key]
    #[arg(long)]
    key: Option<String>,
    /// Print one JSON object a trial
    #[arg(long)]
    json: bool,
}

/// Puts the configurations into the queue and prints the numbers of their trials.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (study, pairs) = match arguments.words.split_first() {
        Some((first, rest)) if !first.contains('=') => (Some(first.clone()), rest),
        _ => (None, &arguments.words[..]),
    };
    let study = Which::of(study, arguments.storage.clone()).open_or_create()?;
    let space = &study.settings().space;
    let configurations = match (pairs, arguments.from.as_slice()) {
        ([], []) => read(space)?,
        ([], earlier) => learnt(&study, earlier, arguments)?,
        (pairs, []) => vec![given(space, pairs)?],
        _ => {
            return Err(usage(
                "either --from or values: configurations of earlier studies have all values",
            ));
        }
    };
    if configurations.is_empty() {
        return Err(usage(
            "nothing to enqueue: name a value for each parameter (rate=0.1), or write JSON objects to standard input",
        ));
    }
    let key = arguments.key.clone().unwrap_or_else(|| WorkerKey::given(None).as_str().to_owned());
    let mut out = crate::terminal::out();
    for (number, configuration) in configurations.into_iter().enumerate() {
        let trial = study.enqueue(&format!("enqueue-{key}-{number}"), configuration)?;
        if arguments.json {
            writeln!(out, "{}", serde_json::json!({ "trial": trial }))?;
        } else {
            writeln!(out, "Trial {trial} waits in the queue; the next free worker gets it.")?;
        }
    }
    Ok(())
}

/// What served earlier studies.
fn learnt(study: &Study, earlier: &[String], arguments: &Arguments) -> Result<Vec<Configuration>> {
    let Settings { name, space, .. } = study.settings();
    if earlier.contains(name) {
        bail!("`{name}` cannot learn from itself: name earlier studies with --from");
    }
    let store = study.store();
    let earlier: Vec<Study> = earlier
        .iter()
        .map(|name| {
            let opened = Study::open(Arc::clone(store), name);
            opened.map_err(|error| arguments.storage.explained(&**store, error))
        })
        .collect::<Result<_>>()?;
    let count = arguments.count.unwrap_or(earlier.len().max(FEWEST));
    let lessons = Lessons::learn(&earlier, space, count)?;
    if lessons.configurations.is_empty() {
        bail!(
            "none of the {} best trials of the earlier studies fits the space of `{name}`",
            lessons.outside
        );
    }
    Ok(lessons.configurations)
}

/// The configuration that the words say.
fn given(space: &SearchSpace, pairs: &[String]) -> Result<Configuration> {
    let configuration = given::values(space, pairs)?;
    space.encode(&configuration)?;
    space.check_known(&configuration)?;
    Ok(configuration)
}

/// Configurations from standard input: nothing is enqueued unless all of them fit the space.
fn read(space: &SearchSpace) -> Result<Vec<Configuration>> {
    let mut configurations = Vec::new();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let place = || format!("line {} of standard input; nothing was enqueued", number + 1);
        let configuration: Configuration = given::json(&line).with_context(place)?;
        space.encode(&configuration).with_context(place)?;
        space.check_known(&configuration).with_context(place)?;
        configurations.push(configuration);
    }
    Ok(configurations)
}
