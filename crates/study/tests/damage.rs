//! Damaged files: the diagnosis tells, the repair mends what can be counted anew, and what is whole can be saved.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "the figures are part of the result")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, OpenFlags};
use wimble::prelude::*;
use wimble_study::{Diagnosis, Outcome, Settings, Sqlite, Store, Study};

/// A file with a study of 30 finished trials, one that runs and one that waits.
fn make(path: &Path) {
    let space = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
    let settings = Settings::new("s", space, "random".parse().unwrap()).batch_size(32).budget(32);
    let study = Study::open_or_create(Arc::new(Sqlite::at(path).unwrap()), settings).unwrap();
    for claim in study.ask("w", "k", 31).unwrap().iter().take(30) {
        let outcome = match claim.trial % 7 {
            5 => Outcome::Failed("no".into()),
            6 => Outcome::Infeasible,
            _ => Outcome::from(claim.trial as f64),
        };
        study.tell(claim.token, &outcome, "t").unwrap();
    }
}

fn diagnose(path: &Path) -> Result<Diagnosis, wimble_study::Error> {
    Diagnosis::of(&Sqlite::to_read(path)?)
}

fn is_found(path: &Path) -> bool {
    match diagnose(path) {
        Err(_) => true,
        Ok(diagnosis) => {
            !diagnosis.is_sound() || diagnosis.studies.iter().any(|study| study.trouble.is_some())
        }
    }
}

#[test]
fn every_damage_to_rows_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    make(&whole);
    assert!(diagnose(&whole).unwrap().is_sound());
    for damage in [
        "UPDATE trials SET configuration = '{' WHERE id = 3",
        "UPDATE trials SET configuration = '{\"x\":7}' WHERE id = 3",
        "UPDATE trials SET configuration = '{\"y\":0.5}' WHERE id = 3",
        "UPDATE trials SET value = NULL WHERE id = 3",
        "UPDATE trials SET value = 9e999 WHERE id = 3",
        "UPDATE trials SET attributes = 'no' WHERE id = 3",
        "UPDATE trials SET measurement = '{}' WHERE id = 3",
        "UPDATE trials SET worker = NULL WHERE id = 30",
        "UPDATE trials SET lost = -1 WHERE id = 3",
        "DELETE FROM trials WHERE id = 3",
        "UPDATE studies SET queued = 7",
        "UPDATE studies SET running = 0",
        "UPDATE studies SET valued = valued - 1",
        "UPDATE trials SET score = -5 WHERE id = 4",
        "UPDATE trials SET value = 4.25 WHERE id = 4",
        "UPDATE studies SET batch_size = 4611686018427387904",
        "UPDATE studies SET space = '{'",
        "UPDATE studies SET method = '{\"name\":\"no\"}'",
        "UPDATE studies SET seed = 'x'",
    ] {
        let path = folder.path().join("damaged.db");
        std::fs::copy(&whole, &path).unwrap();
        Connection::open(&path).unwrap().execute_batch(damage).unwrap();
        assert!(is_found(&path), "{damage}");
    }
}

#[test]
fn counts_that_are_wrong_are_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    make(&path);
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "UPDATE studies SET queued = 9, running = 4, valued = 0, issued = 3, sequence = 1;
             UPDATE trials SET score = -5 WHERE id = 4",
        )
        .unwrap();
    assert!(is_found(&path));
    let store = Sqlite::at(&path).unwrap();
    store.recount("s").unwrap();
    drop(store);
    assert!(diagnose(&path).unwrap().is_sound());
    // It goes on where it was.
    let study = Study::open(Arc::new(Sqlite::at(&path).unwrap()), "s").unwrap();
    let claim = study.ask("v", "k2", 1).unwrap().remove(0);
    assert_eq!(claim.trial, 31);
    study.tell(claim.token, &Outcome::from(-1.0), "t").unwrap();
    assert_eq!(study.best().unwrap().unwrap().trial, 31);
}

/// Every cell of a file, by table and row; nothing if it cannot be read.
fn cells(path: &Path) -> Option<BTreeMap<String, String>> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
    let mut cells = BTreeMap::new();
    for table in ["studies", "trials", "asks", "engines", "storage"] {
        let mut statement = connection.prepare(&format!("SELECT * FROM {table}")).ok()?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).ok()?;
        let mut number = 0;
        while let Some(row) = rows.next().ok()? {
            number += 1;
            for (place, name) in names.iter().enumerate() {
                let cell = format!("{:?}", row.get_ref(place).ok()?);
                cells.insert(format!("{table}.{name} {number}"), cell);
            }
        }
    }
    Some(cells)
}

/// What may be another than it was, without a sign of it: the new one would do as well.
const AS_GOOD_AS_ANOTHER: &[&str] = &[
    "trials.configuration",
    "trials.worker",
    "trials.incarnation",
    "trials.proposed",
    "trials.since",
    "trials.due",
    "trials.finished",
    "trials.reason",
    "trials.tell_key",
    "trials.key",
    "trials.fence",
    "trials.lost",
    "trials.origin",
    "trials.until",
    "asks.ask_key",
    "asks.answer",
    "asks.review",
    "engines.version",
    "storage.identity",
];

#[test]
fn flipped_bytes_are_told_unless_what_they_make_is_as_good() {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    make(&whole);
    let sound = cells(&whole).unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let (mut told, mut unused, mut silent) = (0, 0, BTreeMap::<String, u32>::new());
    for i in 0..1_000 {
        let at = (i * 7_919 + 101) % bytes.len();
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (i % 8);
        let path = folder.path().join("flipped.db");
        std::fs::write(&path, &flipped).unwrap();
        if is_found(&path) {
            told += 1;
        } else {
            let cells = cells(&path).unwrap();
            match sound.iter().find(|(name, cell)| cells.get(*name) != Some(cell)) {
                None => unused += 1,
                Some((name, _)) => {
                    let column = name.split(' ').next().unwrap();
                    *silent.entry(column.to_owned()).or_default() += 1;
                }
            }
        }
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("flipped.db{ending}")));
        }
    }
    println!("{told} told, {unused} where nothing is kept, not told: {silent:?}");
    let other = silent.keys().find(|column| !AS_GOOD_AS_ANOTHER.contains(&column.as_str()));
    assert_eq!(other, None, "{silent:?}");
    assert!(told > 50, "{told} told, {unused} where nothing is kept, not told: {silent:?}");
}
