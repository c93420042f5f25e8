//! The folder of a trial: its parameters, the place of its result, and its logs.
//!
//! Every trial has one. If the study file names no place for it, the folder is temporary and removed when the trial
//! ends.
//!
//! ```text
//! <folders>/<study>-<identity>/000012/
//!   params.json   the parameters
//!   result        what the command wrote to its result file, if it did
//!   stdout.log    what the command said, the latest run of it
//!   stderr.log
//! ```
//!
//! The identity is made of the study's name and the storage: studies of one name in two storages do not meet, and no two
//! names are the same to a file system. While a command runs, its result file has a name that no other run of any command
//! has. So what another run wrote, or what lay there before, is never read.

use std::fmt::Write as _;
use std::fs::{self, File, Permissions};
use std::io::{self, Read as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use wimble::space::Configuration;

use super::worker_key::place;
use crate::random::random_word;

/// A longer result is a mistake.
const LARGEST_RESULT: u64 = 1 << 20;
/// What the names of temporary folders begin with.
const PREFIX: &str = "wimble-trial-";
/// The file in a temporary folder that its process locks.
const IN_USE: &str = ".in-use";
/// A folder that is younger may not be locked yet.
const JUST_MADE: Duration = Duration::from_secs(60);
/// How much of a study's name is in the name of its folder, in bytes.
const LONGEST_NAME: usize = 120;

/// The folder of one trial.
#[derive(Debug)]
pub struct TrialFolder {
    path: PathBuf,
    /// Removes a temporary one.
    temporary: Option<TempDir>,
    /// Says that a temporary one is in use, for as long as this process lives.
    _in_use: Option<File>,
}

/// Removes the temporary folders of processes that were killed, in a folder for such. Returns how many.
pub fn sweep(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_old = |path: &Path| {
        let modified = fs::symlink_metadata(path).and_then(|file| file.modified());
        modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > JUST_MADE))
    };
    let is_left = |path: &PathBuf| {
        let name = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX));
        name && is_old(path)
            && File::open(path.join(IN_USE)).is_ok_and(|file| file.try_lock().is_ok())
    };
    let left = entries.map(|entry| entry.path()).filter(is_left);
    left.filter(|path| fs::remove_dir_all(path).is_ok()).count()
}

/// A temporary folder, and the lock that says that it is in use: [`sweep`] removes it if this process is killed.
pub(super) fn temporary() -> io::Result<(TempDir, File)> {
    // Whatever the umask says: nobody else reads results or reports steps.
    let private = Permissions::from_mode(0o700);
    let folder = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir()?;
    let in_use = File::create(folder.path().join(IN_USE))?;
    // Where files cannot be locked, nobody finds this folder left behind.
    let _ = in_use.try_lock();
    Ok((folder, in_use))
}

/// Where the folder of a trial is, under the folder of the study file's choice. `storage` is the identity of the storage.
pub fn path(folders: &Path, storage: &str, study: &str, trial: u64) -> PathBuf {
    let mut name = String::new();
    for byte in study.bytes() {
        let plain = byte.is_ascii_alphanumeric()
            || b"-_".contains(&byte)
            || byte == b'.' && !name.is_empty();
        // Writing to a string cannot fail.
        let _ = if plain { write!(name, "{}", byte as char) } else { write!(name, "%{byte:02x}") };
        if name.len() >= LONGEST_NAME {
            break;
        }
    }
    folders.join(format!("{name}-{}", place(storage, study))).join(format!("{trial:06}"))
}

/// Where versions up to 0.1 had it.
pub fn path_before(folders: &Path, study: &str, trial: u64) -> PathBuf {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let mut name: String = study.chars().map(safe).collect();
    if name.starts_with('.') {
        name.insert(0, '_');
    }
    folders.join(name).join(format!("{trial:06}"))
}

impl TrialFolder {
    /// Makes the folder and writes the parameters.
    pub fn create(
        folders: Option<&Path>,
        storage: &str,
        study: &str,
        trial: u64,
        configuration: &Configuration,
    ) -> io::Result<Self> {
        let folder = match folders {
            None => {
                let (temporary, in_use) = temporary()?;
                let path = temporary.path().to_owned();
                Self { path, temporary: Some(temporary), _in_use: Some(in_use) }
            }
            Some(folders) => {
                let path = path(folders, storage, study, trial);
                fs::create_dir_all(&path).map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })?;
                Self { path: std::path::absolute(path)?, temporary: None, _in_use: None }
            }
        };
        let json = serde_json::to_string_pretty(configuration).map_err(io::Error::other)?;
        fs::write(folder.params_file(), json + "\n")?;
        Ok(folder)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The parameters, as JSON.
    pub fn params_file(&self) -> PathBuf {
        self.path.join("params.json")
    }

    /// Where the next run of the command may write its result: a file that no other run has.
    pub fn new_result_file(&self) -> PathBuf {
        self.path.join(format!("result-{}", random_word()))
    }

    /// The logs of standard output and error; none in a temporary folder, where nobody would find them.
    pub fn logs(&self) -> Option<[PathBuf; 2]> {
        self.temporary
            .is_none()
            .then(|| ["stdout.log", "stderr.log"].map(|name| self.path.join(name)))
    }

    /// What a run of the command wrote to its result file; `None` if it wrote nothing. The file is then called `result`.
    pub fn take_result(&self, file: &Path) -> io::Result<Option<String>> {
        let text = read_result(file);
        // For people who look into the folder; nothing reads it.
        let _ = fs::rename(file, self.path.join("result"));
        text
    }
}

/// Reads a file that may be anything: only as much as a result can have, and nothing that is not a file.
fn read_result(path: &Path) -> io::Result<Option<String>> {
    // The system would wait for somebody to write to a pipe.
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match File::options().read(true).custom_flags(nonblocking).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file, and is not read"));
    }
    let mut bytes = Vec::new();
    let length = file.take(LARGEST_RESULT + 1).read_to_end(&mut bytes)? as u64;
    if length > LARGEST_RESULT {
        let message = format!("it is longer than {LARGEST_RESULT} bytes; a result is shorter");
        return Err(io::Error::other(message));
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok((!text.trim().is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::time::Instant;

    #[test]
    fn no_name_of_a_study_leads_out_of_the_folder_and_no_two_studies_share_one() {
        let names = ["..", "../x", "/etc", "a/b", "a_b", "a b", ".hidden", "%2e", "A_B", "é"];
        let long = ["x".repeat(200), "x".repeat(199) + "y", "/".repeat(200)];
        let all = names.into_iter().chain(long.iter().map(String::as_str));
        let mut seen = BTreeSet::new();
        for (name, storage) in all.flat_map(|name| [(name, "one"), (name, "two")]) {
            let path = path(Path::new("runs"), storage, name, 3);
            assert_eq!(path.components().count(), 3, "{path:?}");
            assert!(path.starts_with("runs") && path.ends_with("000003"));
            let name = path.components().nth(1).unwrap().as_os_str().to_str().unwrap().to_owned();
            assert!(name.len() < 255 && !name.starts_with('.'), "{name}");
            assert!(seen.insert(name.to_lowercase()), "{name}");
        }
    }

    #[test]
    fn a_temporary_folder_is_gone_after_use_and_only_the_result_of_this_run_is_read() {
        let configuration = [("x", 0.5)].into_iter().collect();
        let folder = TrialFolder::create(None, "db", "s", 0, &configuration).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(fs::read_to_string(folder.params_file()).unwrap(), "{\n  \"x\": 0.5\n}\n");
        let (first, second) = (folder.new_result_file(), folder.new_result_file());
        assert_eq!(folder.take_result(&first).unwrap(), None);
        fs::write(&first, "0.5\n").unwrap();
        assert_eq!(folder.take_result(&second).unwrap(), None);
        assert_eq!(folder.take_result(&first).unwrap().unwrap(), "0.5\n");
        assert_eq!(folder.take_result(&first).unwrap(), None);
        assert_eq!(fs::read_to_string(path.join("result")).unwrap(), "0.5\n");
        drop(folder);
        assert!(!path.exists());
    }

    #[test]
    fn what_killed_processes_left_is_removed_and_what_is_in_use_stays() {
        let folder = tempfile::tempdir().unwrap();
        let hour = std::time::SystemTime::now() - Duration::from_secs(3600);
        let make = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            let file = File::create(path.join(IN_USE)).unwrap();
            File::open(&path).unwrap().set_modified(hour).unwrap();
            (path, file)
        };
        let (left, file) = make("wimble-trial-left");
        drop(file);
        let (used, file) = make("wimble-trial-used");
        file.try_lock().unwrap();
        let (foreign, _) = make("other-left");
        let (young, _) = make("wimble-trial-young");
        File::open(&young).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
        assert_eq!(sweep(folder.path()), 1);
        assert!(!left.exists() && used.exists() && foreign.exists() && young.exists());
    }

    #[test]
    fn what_is_no_file_or_has_no_end_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let made = std::process::Command::new("mkfifo").arg(file("pipe")).status().unwrap();
        assert!(made.success());
        std::os::unix::fs::symlink("/dev/zero", file("zero")).unwrap();
        fs::create_dir(file("folder")).unwrap();
        fs::write(file("long"), vec![b'1'; (LARGEST_RESULT + 1) as usize]).unwrap();
        let since = Instant::now();
        for (name, words) in [
            ("pipe", "not a regular file"),
            ("zero", "not a regular file"),
            ("folder", "not a regular file"),
            ("long", "longer than 1048576 bytes"),
        ] {
            let error = read_result(&file(name)).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
        assert!(since.elapsed() < Duration::from_secs(5), "{:?}", since.elapsed());
    }
}
