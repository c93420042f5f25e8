//! `wimble studies`: what a storage holds.

use std::io::Write as _;
use std::sync::Arc;

use anyhow::Result;
use comfy_table::CellAlignment;
use wimble_study::{Counts, Record, Settings, Store, Study};

use crate::storage::Look;
use crate::{progress, table};

/// Prints the studies.
pub fn run(look: &Look) -> Result<()> {
    let store = look.storage.look()?;
    let mut out = crate::terminal::out();
    let mut rows = table::plain([
        "study",
        "complete",
        "failed",
        "infeasible",
        "running",
        "queued",
        "best",
        "method",
    ]);
    let mut continued = Vec::new();
    let names = store.studies()?;
    if names.is_empty() && !look.json {
        let place = look.storage.address()?;
        writeln!(
            out,
            "There is no study in the storage {place} yet; `wimble run STUDY_FILE` creates one."
        )?;
        return Ok(());
    }
    for name in names {
        let record = match store.study(&name) {
            Ok(record) => record,
            // One study that this version cannot read does not hide the others.
            Err(error) => {
                crate::terminal::say(&format!("warning: {error}"));
                continue;
            }
        };
        let counts = store.counts(&name)?;
        let settings = &record.settings;
        let standing = Standing::of(&store, &record, &counts)?;
        if look.json {
            let mut row = serde_json::json!({
                "study": name, "counts": counts, "budget": settings.budget,
                "method": settings.method.to_string(), "goal": settings.goal,
                "engine": record.engine, "engines": record.engines,
            });
            match standing {
                Standing::Best(best) => row["best"] = best.into(),
                Standing::Front(front) => row["front_trials"] = front.into(),
                Standing::Unknown => {}
            }
            writeln!(out, "{row}")?;
            continue;
        }
        continued.extend(engines(&record).map(|engines| format!("`{name}`: {engines}")));
        rows.add_row([
            name,
            counts.valued.to_string(),
            counts.failed.to_string(),
            counts.infeasible.to_string(),
            counts.running.to_string(),
            counts.queued.to_string(),
            match standing {
                Standing::Best(Some(best)) => progress::short(best),
                Standing::Front(front) => format!("front of {front}"),
                Standing::Best(None) | Standing::Unknown => "-".to_owned(),
            },
            settings.method.name().to_owned(),
        ]);
    }
    if !look.json {
        for (k, column) in rows.column_iter_mut().enumerate() {
            if (1..7).contains(&k) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        write!(out, "{}", table::text(&rows))?;
        if !continued.is_empty() {
            writeln!(out, "\nContinued by another version of wimble")?;
        }
        for line in continued {
            writeln!(out, "  {line}")?;
        }
    }
    Ok(())
}

/// The most trials that are read to find what stands out in a study with several objectives or constraints.
const SMALL: u64 = 10_000;

/// What stands out in a study.
enum Standing {
    /// The best value.
    Best(Option<f64>),
    /// How many trials are on the front.
    Front(usize),
    /// It would take long to find.
    Unknown,
}

impl Standing {
    fn of(store: &Arc<dyn Store>, record: &Record, counts: &Counts) -> Result<Self> {
        let Settings { name, goal, .. } = &record.settings;
        if !goal.is_single() && counts.finished() > SMALL {
            return Ok(Self::Unknown);
        }
        let study = Study::open(Arc::clone(store), name)?;
        if goal.objectives().len() > 1 {
            return Ok(Self::Front(study.standing(wimble::standing::Standing::len)?));
        }
        let best = study.best()?.filter(|best| !best.violating);
        Ok(Self::Best(best.map(|best| best.value)))
    }
}

/// Which versions proposed which trials, where there was more than one.
fn engines(record: &Record) -> Option<String> {
    let (first, later) = record.engines.split_first()?;
    let later: Vec<String> = later
        .iter()
        .map(|span| format!("{} from trial {} on", span.version, span.first_trial))
        .collect();
    (!later.is_empty()).then(|| format!("{} at first, {}", first.version, later.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::prelude::*;
    use wimble_study::EngineSpan;

    #[test]
    fn only_studies_of_several_versions_name_them() {
        let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        let settings = Settings::new("s", space, "random".parse().unwrap());
        let span = |version: &str, first_trial| EngineSpan { version: version.into(), first_trial };
        let mut record = Record::new(settings);
        assert_eq!(engines(&record), None);
        record.engines = vec![span("0.1.0", 0)];
        assert_eq!(engines(&record), None);
        record.engines.extend([span("0.2.0", 7), span("0.3.0", 9)]);
        let words = "0.1.0 at first, 0.2.0 from trial 7 on, 0.3.0 from trial 9 on";
        assert_eq!(engines(&record).as_deref(), Some(words));
    }
}
