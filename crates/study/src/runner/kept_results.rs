//! Results that the storage could not take yet, in files: they outlive the runner.
//!
//! A result is written here before the runner waits for the storage, and removed once the storage has answered, whether
//! it took the result or refused it as too late. A run begins by telling what an earlier one left. Two runs may tell the
//! same result: the key of a tell is made of its token, and the second is acknowledged like the first.
//!
//! One file a result, renamed into place when it is whole.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::worker_key;
use crate::trial::Token;

/// The results of one study of one storage that are kept on this machine.
#[derive(Debug, Clone)]
pub struct KeptResults {
    folder: PathBuf,
}

/// A finding and the right to tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptResult {
    /// What to show when telling.
    pub token: Token,
    /// What to tell.
    #[serde(flatten)]
    pub finding: Finding,
}

impl KeptResults {
    /// Below the folder `state`. `storage` tells apart studies of the same name. Nothing is made before it is needed.
    pub fn new(state: &Path, storage: &str, study: &str) -> Self {
        Self { folder: state.join("unsent").join(worker_key::place(storage, study)) }
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps a result, on the disk before this returns.
    pub fn keep(&self, result: &KeptResult) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(result)?)?;
        file.as_file().sync_all()?;
        file.persist(self.path(result.token))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Keeps the result of a token no longer.
    pub fn forget(&self, token: Token) -> io::Result<()> {
        match fs::remove_file(self.path(token)) {
            // Another run may have told it.
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => {
                // It goes with the last of its files; until then the system refuses.
                let _ = fs::remove_dir(&self.folder);
                Ok(())
            }
        }
    }

    /// All that are kept, in the order of their trials.
    pub fn all(&self) -> io::Result<Vec<KeptResult>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut results = Vec::new();
        for entry in entries {
            let path = entry?.path();
            // What is not whole has another name.
            if path.extension().is_some_and(|ending| ending == "json") {
                match fs::read(&path) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    text => results.push(serde_json::from_slice::<KeptResult>(&text?)?),
                }
            }
        }
        results.sort_by_key(|result| result.token);
        Ok(results)
    }

    fn path(&self, token: Token) -> PathBuf {
        self.folder.join(format!("{token}.json"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::Attributes;
    use wimble::outcome::Outcome;

    #[test]
    fn results_are_kept_apart_by_study_and_gone_when_forgotten() {
        let state = tempfile::tempdir().unwrap();
        let kept = |storage, study| KeptResults::new(state.path(), storage, study);
        let results = kept("db", "s");
        assert_eq!(results.all().unwrap(), []);
        let attributes: Attributes = [("epochs".to_owned(), 12.into())].into_iter().collect();
        let result = |trial, outcome| KeptResult {
            token: Token { trial, fence: 9 },
            finding: Finding { outcome, attributes: attributes.clone() },
        };
        let all = [
            result(2, Outcome::from(0.1 + 0.2)),
            result(10, Outcome::Failed("it\ndiverged".into())),
            result(11, Outcome::Infeasible),
        ];
        for result in all.iter().rev() {
            results.keep(result).unwrap();
        }
        assert_eq!(results.all().unwrap(), all);
        assert_eq!(kept("other", "s").all().unwrap(), []);
        assert_eq!(kept("db", "t").all().unwrap(), []);
        for result in &all {
            results.forget(result.token).unwrap();
            results.forget(result.token).unwrap();
        }
        assert!(!results.folder().exists());
    }

    #[test]
    fn a_result_that_an_earlier_version_left_is_read() {
        let text =
            r#"{"token":{"trial":3,"fence":7},"outcome":{"value":0.5},"attributes":{"epochs":12}}"#;
        let result: KeptResult = serde_json::from_str(text).unwrap();
        assert_eq!((result.token.trial, &result.finding.outcome), (3, &Outcome::from(0.5)));
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
    }
}
