//! `wimble studies`: what a storage holds.

use std::io::Write as _;

use anyhow::Result;
use comfy_table::CellAlignment;
use wimble_study::Record;

use crate::storage::Look;
use crate::{progress, table};

/// Prints the studies.
pub fn run(look: &Look) -> Result<()> {
    let store = look.storage.existing()?;
    let mut out = std::io::stdout().lock();
    let mut rows = table::plain([
        "study",
        "trials",
        "complete",
        "failed",
        "infeasible",
        "running",
        "queued",
        "best",
        "method",
    ]);
    let mut continued = Vec::new();
    for name in store.studies()? {
        let record = match store.study(&name) {
            Ok(record) => record,
            // One study that this version cannot read does not hide the others.
            Err(error) => {
                eprintln!("warning: {error}");
                continue;
            }
        };
        let counts = store.counts(&name)?;
        let settings = &record.settings;
        let best = store
            .best(&name, 1)?
            .pop()
            .and_then(|trial| trial.outcome().and_then(wimble_study::Outcome::value));
        if look.json {
            let row = serde_json::json!({
                "study": name, "counts": counts, "budget": settings.budget, "best": best,
                "method": settings.method.to_string(), "goal": settings.goal,
                "engine": record.engine, "engines": record.engines,
            });
            writeln!(out, "{row}")?;
            continue;
        }
        continued.extend(engines(&record).map(|engines| format!("`{name}`: {engines}")));
        rows.add_row([
            name,
            counts.total().to_string(),
            counts.valued.to_string(),
            counts.failed.to_string(),
            counts.infeasible.to_string(),
            counts.running.to_string(),
            counts.queued.to_string(),
            best.map_or_else(|| "-".to_owned(), progress::short),
            settings.method.name().to_owned(),
        ]);
    }
    if !look.json {
        for (k, column) in rows.column_iter_mut().enumerate() {
            if (1..8).contains(&k) {
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
    use wimble_study::{EngineSpan, Settings};

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
