//! What a file holds, found out without changing it.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::migrations;
use super::place::unopened;
use crate::error::{Error, Result};

/// What a file holds.
pub(super) enum Contents {
    /// Nothing yet, or there is no file.
    Nothing,
    /// Studies, in a schema of this version.
    Studies(i64),
}

/// Looks at a file. Refuses one that belongs to another program.
pub(super) fn of(path: &Path, place: &str) -> Result<Contents> {
    // SQLite takes an empty file for a new one.
    if std::fs::metadata(path).map_or(true, |file| file.is_file() && file.len() == 0) {
        return Ok(Contents::Nothing);
    }
    let connection = open(path, place)?;
    let failed = unopened(path, place);
    let tables: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name LIMIT 100")
        .and_then(|mut query| query.query_map([], |row| row.get(0))?.collect())
        .map_err(&failed)?;
    let has = |name: &str| tables.iter().any(|table| table == name);
    if has("wimble_schema") {
        return migrations::version(&connection).map(Contents::Studies).map_err(failed);
    }
    let what = match &tables[..] {
        [] => return Ok(Contents::Nothing),
        _ if has("version_info") && has("trial_params") => format!(
            "a storage of Optuna, which stays as it is; `wimble import {place}` reads its trials"
        ),
        names => format!(
            "a database of another program, with the tables {}; name another file",
            names[..names.len().min(3)].join(", ")
        ),
    };
    Err(Error::NotAStorage { place: place.to_owned(), what })
}

/// Opens a file that must exist, for reading.
pub(super) fn open(path: &Path, place: &str) -> Result<Connection> {
    let failed = unopened(path, place);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(&failed)?;
    connection.busy_handler(Some(super::wait)).map_err(&failed)?;
    // A log needs a file beside it. Where none can be made there is no log either, and nobody writes.
    let first = connection.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(()));
    match first {
        Err(error) if is_unwritable(&error) && !beside(path, "-wal").exists() => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            let encoded = percent_encoding::utf8_percent_encode(
                &path.to_string_lossy(),
                percent_encoding::NON_ALPHANUMERIC,
            )
            .to_string()
            .replace("%2F", "/");
            let uri = format!("file:{encoded}?immutable=1");
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI).map_err(failed)
        }
        Err(error) => Err(failed(error)),
        Ok(()) => Ok(connection),
    }
}

fn is_unwritable(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
    matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Reader as _;
    use crate::store::sqlite::Sqlite;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn files_of_others_stay_as_they_are_and_are_called_by_their_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, tables, words) in [
            (
                "optuna.db",
                "CREATE TABLE version_info (a); CREATE TABLE trial_params (a)",
                "a storage of Optuna",
            ),
            ("photos.db", "CREATE TABLE photos (a)", "with the tables photos"),
        ] {
            let path = folder.path().join(name);
            Connection::open(&path).unwrap().execute_batch(tables).unwrap();
            let before = std::fs::read(&path).unwrap();
            for opened in [Sqlite::at(&path), Sqlite::to_read(&path)] {
                let error = opened.err().unwrap().to_string();
                assert!(error.contains(words), "{error}");
            }
            assert_eq!(std::fs::read(&path).unwrap(), before);
            assert!(!beside(&path, "-wal").exists() && !beside(&path, "-shm").exists());
        }
    }

    #[test]
    fn a_file_is_one_storage_by_whatever_name_it_is_reached() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let identity = Sqlite::at(path("a.db")).unwrap().identity().unwrap();
        std::os::unix::fs::symlink("a.db", path("link.db")).unwrap();
        assert_eq!(Sqlite::at(path("link.db")).unwrap().identity().unwrap(), identity);
        assert_eq!(Sqlite::to_read(path("a.db")).unwrap().identity().unwrap(), identity);
        assert_ne!(Sqlite::at(path("b.db")).unwrap().identity().unwrap(), identity);
    }

    #[test]
    fn a_reader_needs_no_right_to_write_and_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("read only & odd?");
        std::fs::create_dir(&inner).unwrap();
        let path = inner.join("studies.db");
        drop(Sqlite::at(&path).unwrap());
        let before = std::fs::read(&path).unwrap();
        for (folder_mode, file_mode) in [(0o755, 0o644), (0o755, 0o444), (0o555, 0o444)] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(file_mode)).unwrap();
            std::fs::set_permissions(&inner, PermissionsExt::from_mode(folder_mode)).unwrap();
            let reader = Sqlite::to_read(&path).unwrap();
            assert_eq!(reader.studies().unwrap(), [] as [&str; 0]);
            let record = crate::Record::new(crate::Settings::new(
                "s",
                wimble::space::SearchSpace::new([wimble::space::Dimension::boolean("b")]).unwrap(),
                "random".parse().unwrap(),
            ));
            let error = crate::Store::create(&reader, &record).unwrap_err().to_string();
            assert!(error.contains("readonly"), "{error}");
        }
        std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
