//! The folder of a trial: its parameters, the place of its result, and its logs.
//!
//! Every trial has one. If the study file names no place for it, the folder is temporary and removed when the trial
//! ends.
//!
//! ```text
//! <folders>/<study>/000012/
//!   params.json   the parameters
//!   stdout.log    what the command said, the latest run of it
//!   stderr.log
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use wimble::space::Configuration;

/// A longer result is a mistake.
const LARGEST_RESULT: u64 = 1 << 20;

/// The folder of one trial.
#[derive(Debug)]
pub struct TrialFolder {
    path: PathBuf,
    /// Removes a temporary one.
    temporary: Option<TempDir>,
}

/// Where the folder of a trial is, under the folder of the study file's choice.
pub fn path(folders: &Path, study: &str, trial: u64) -> PathBuf {
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
        study: &str,
        trial: u64,
        configuration: &Configuration,
    ) -> io::Result<Self> {
        let folder = match folders {
            None => {
                let temporary = tempfile::Builder::new().prefix("wimble-").tempdir()?;
                Self { path: temporary.path().to_owned(), temporary: Some(temporary) }
            }
            Some(folders) => {
                let path = path(folders, study, trial);
                fs::create_dir_all(&path).map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })?;
                Self { path: std::path::absolute(path)?, temporary: None }
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

    /// Where the command may write its result.
    pub fn result_file(&self) -> PathBuf {
        self.path.join("result")
    }

    /// The logs of standard output and error; none in a temporary folder, where nobody would find them.
    pub fn logs(&self) -> Option<[PathBuf; 2]> {
        self.temporary
            .is_none()
            .then(|| ["stdout.log", "stderr.log"].map(|name| self.path.join(name)))
    }

    /// What the command wrote as its result; `None` if it wrote nothing.
    pub fn result(&self) -> io::Result<Option<String>> {
        let path = self.result_file();
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
            Ok(file) if file.len() > LARGEST_RESULT => Err(io::Error::other(format!(
                "the result file has {} bytes; at most {LARGEST_RESULT} are read",
                file.len()
            ))),
            Ok(_) => {
                let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
                Ok((!text.trim().is_empty()).then_some(text))
            }
        }
    }

    /// Removes the result of an earlier run, which must not pass for that of the next.
    pub fn clear_result(&self) -> io::Result<()> {
        match fs::remove_file(self.result_file()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_a_study_leads_out_of_the_folder() {
        for name in ["..", "../x", "/etc", "a/b", "a b", ".hidden"] {
            let path = path(Path::new("runs"), name, 3);
            assert_eq!(path.components().count(), 3, "{path:?}");
            assert!(path.starts_with("runs") && path.ends_with("000003"));
            assert!(path.components().all(|part| part.as_os_str() != ".."), "{path:?}");
        }
    }

    #[test]
    fn a_temporary_folder_is_gone_after_use_and_a_stale_result_is_removed() {
        let configuration = [("x", 0.5)].into_iter().collect();
        let folder = TrialFolder::create(None, "s", 0, &configuration).unwrap();
        let path = folder.path().to_owned();
        assert_eq!(fs::read_to_string(folder.params_file()).unwrap(), "{\n  \"x\": 0.5\n}\n");
        assert_eq!(folder.result().unwrap(), None);
        fs::write(folder.result_file(), "0.5\n").unwrap();
        assert_eq!(folder.result().unwrap().unwrap(), "0.5\n");
        folder.clear_result().unwrap();
        folder.clear_result().unwrap();
        assert_eq!(folder.result().unwrap(), None);
        drop(folder);
        assert!(!path.exists());
    }
}
