//! Where a file lies, and why it cannot be opened: in words, before SQLite says it by a number.

use std::path::Path;

use rusqlite::ErrorCode;

use super::failure;
use crate::error::{Error, Result};

/// File systems that other machines share, by the numbers of Linux: SQLite's locks do not hold there.
const NETWORK: [(u64, &str); 9] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB"),
    (0x0BD0_0BD0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x00C3_6400, "Ceph"),
    (0x5346_414F, "AFS"),
];

/// Refuses a folder, a file in a folder that does not exist, and a file on a network file system.
pub(super) fn check(path: &Path, place: &str) -> Result<()> {
    check_reading(path, place)?;
    let folder = folder_of(path);
    if !folder.exists() {
        let what = format!(
            "in a folder that does not exist; make it first: mkdir -p {}",
            folder.display()
        );
        return Err(refused(place, what));
    }
    match network(folder) {
        Some(name) => Err(refused(place, on_network(name))),
        None => Ok(()),
    }
}

/// Refuses a folder.
pub(super) fn check_reading(path: &Path, place: &str) -> Result<()> {
    if path.is_dir() {
        let file = path.join("wimble.db");
        return Err(refused(place, format!("a folder; name a file, such as {}", file.display())));
    }
    Ok(())
}

/// What is said of a file that SQLite finds damaged, at its beginning or later.
pub(super) const DAMAGED: &str =
    "damaged: SQLite cannot read it. Keep it, and restore it from a copy (`wimble copy` makes one)";

fn on_network(name: &str) -> String {
    format!(
        "on a network file system ({name}), where the locks of SQLite do not hold and studies would be damaged; put the file on a \
         disk of this machine, run `wimble serve` beside it, and give the others --storage http://HOST:8765, or use PostgreSQL"
    )
}

/// Our error for one of SQLite's while a file is opened.
pub(super) fn unopened(path: &Path, place: &str) -> impl Fn(rusqlite::Error) -> Error {
    let path = path.to_owned();
    let place = place.to_owned();
    move |error| {
        let what = match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => {
                "no storage: it is not a database of SQLite. Name another file; if it was a storage, restore it from a copy"
            }
            Some(ErrorCode::DatabaseCorrupt) => DAMAGED,
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
                if path.exists() {
                    "not open to you: this needs the right to write to the file and to its folder"
                } else {
                    "not there, and you may not write to its folder; name a file in another folder"
                }
            }
            _ => return failure(&place, "opening it")(error),
        };
        refused(&place, what.to_owned())
    }
}

fn refused(place: &str, what: String) -> Error {
    Error::NotAStorage { place: place.to_owned(), what }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// The name of the network file system that a folder is on, if it is.
#[cfg(target_os = "linux")]
fn network(folder: &Path) -> Option<&'static str> {
    let facts = rustix::fs::statfs(folder).ok()?;
    name_of(facts.f_type as u64)
}

#[cfg(not(target_os = "linux"))]
fn network(_: &Path) -> Option<&'static str> {
    None
}

/// The number may come as a negative one of 32 bits.
#[cfg(any(target_os = "linux", test))]
fn name_of(kind: u64) -> Option<&'static str> {
    let kind = kind & 0xFFFF_FFFF;
    NETWORK.iter().find(|(number, _)| *number == kind).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::sqlite::Sqlite;

    fn said(path: impl AsRef<Path>) -> [String; 2] {
        let path = path.as_ref();
        [Sqlite::at(path), Sqlite::to_read(path)].map(|opened| opened.err().unwrap().to_string())
    }

    #[test]
    fn what_cannot_be_opened_is_explained_once_and_without_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for text in said(folder.path()) {
            assert!(text.contains("is a folder; name a file, such as"), "{text}");
        }
        let [text, _] = said(path("nowhere/studies.db"));
        assert!(
            text.contains("in a folder that does not exist; make it first: mkdir -p"),
            "{text}"
        );
        assert!(!path("nowhere").exists());
        std::fs::write(path("text.db"), "no database, but long enough to be one ".repeat(40))
            .unwrap();
        for text in said(path("text.db")) {
            assert!(text.contains("is no storage: it is not a database of SQLite"), "{text}");
        }
        drop(Sqlite::at(path("whole.db")).unwrap());
        let mut bytes = std::fs::read(path("whole.db")).unwrap();
        bytes[100..].iter_mut().for_each(|byte| *byte = byte.wrapping_mul(31).wrapping_add(7));
        std::fs::write(path("damaged.db"), bytes).unwrap();
        for text in said(path("damaged.db")) {
            assert!(
                text.contains("is damaged: SQLite cannot read it") && !text.contains("code"),
                "{text}"
            );
        }
    }

    #[test]
    fn damage_behind_the_first_page_is_explained_when_it_is_met() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("studies.db");
        drop(Sqlite::at(&path).unwrap());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[4096..].iter_mut().for_each(|byte| *byte = 0xA5);
        std::fs::write(&path, bytes).unwrap();
        let said = match Sqlite::to_read(&path) {
            Ok(store) => crate::store::Reader::studies(&store).unwrap_err(),
            Err(error) => error,
        };
        let said = format!("{:#}", anyhow::Error::new(said));
        assert!(said.contains("damaged: SQLite cannot read it. Keep it"), "{said}");
        assert!(!said.contains("code") && !said.contains("malformed"), "{said}");
    }

    #[test]
    fn refusals_of_the_system_name_the_right_that_is_missing() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("there.db");
        std::fs::write(&there, "").unwrap();
        let denied = |path: &Path| {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
            unopened(path, "studies.db")(rusqlite::Error::SqliteFailure(code, None)).to_string()
        };
        assert!(denied(&there).contains("the right to write to the file"), "{}", denied(&there));
        let absent = denied(&folder.path().join("absent.db"));
        assert!(absent.contains("is not there, and you may not write"), "{absent}");
    }

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        assert_eq!(name_of(0x6969), Some("NFS"));
        assert_eq!(name_of(i64::from(0xFF53_4D42_u32 as i32) as u64), Some("CIFS"));
        // ext4, tmpfs, btrfs, overlayfs
        for local in [0xEF53, 0x0102_1994, 0x9123_683E, 0x794C_7630] {
            assert_eq!(name_of(local), None);
        }
        assert!(on_network("NFS").contains("wimble serve"));
    }
}
