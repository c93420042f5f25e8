//! Results that the storage could not take yet, in files: they outlive the runner.
//!
//! A result is written here before the runner waits for the storage, and removed once the storage has answered, whether
//! it took the result or refused it as too late. A run begins by telling what an earlier one left. Two runs may tell the
//! same result: the key of a tell is made of its token, and the second is acknowledged like the first.
//!
//! One file a result, renamed into place when it is whole. A file that cannot be read is set aside under another name, and
//! holds up nobody.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::worker_key;
use wimble::outcome::Measurement;

use crate::trial::Token;

/// The results of one study of one storage that are kept on this machine.
#[derive(Debug, Clone)]
pub struct KeptResults {
    folder: PathBuf,
    /// Where an earlier version kept them.
    before: Option<PathBuf>,
}

/// A file that should hold a result, and cannot be read. It was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Where it is now.
    pub file: PathBuf,
    /// Why it cannot be read.
    pub reason: String,
}

/// A finding and the right to tell it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptResult {
    /// What to show when telling.
    pub token: Token,
    /// What to tell.
    #[serde(flatten)]
    pub finding: Finding,
    /// Steps that the storage may not have, to be reported first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Measurement>,
}

impl KeptResults {
    /// Below the folder `state`. `storage`, the identity of the storage, tells apart studies of the same name. Nothing is
    /// made before it is needed.
    pub fn new(state: &Path, storage: &str, study: &str) -> Self {
        Self { folder: folder(state, storage, study), before: None }
    }

    /// Also those that a version up to 0.1 kept, which knew the storage by its address.
    #[must_use]
    pub fn and_before(mut self, state: &Path, address: &str, study: &str) -> Self {
        self.before = Some(folder(state, address, study));
        self
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
        file.persist(self.folder.join(file_name(result.token)))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Keeps the result of a token no longer.
    pub fn forget(&self, token: Token) -> io::Result<()> {
        for folder in self.folders() {
            match fs::remove_file(folder.join(file_name(token))) {
                // Another run may have told it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                removed => removed?,
            }
            // It goes with the last of its files; until then the system refuses.
            let _ = fs::remove_dir(folder);
        }
        Ok(())
    }

    /// All that are kept, in the order of their trials, and what cannot be read.
    pub fn all(&self) -> io::Result<(Vec<KeptResult>, Vec<Damaged>)> {
        let (mut results, mut damaged) = (Vec::new(), Vec::new());
        for folder in self.folders() {
            let entries = match fs::read_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                entries => entries?,
            };
            for entry in entries {
                let path = entry?.path();
                // What is not whole has another name.
                if path.extension().is_some_and(|ending| ending == "json") {
                    match read(&path) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Ok(result) => results.push(result),
                        Err(error) => {
                            let file = path.with_extension("damaged");
                            let moved = fs::rename(&path, &file).is_ok();
                            let file = if moved { file } else { path };
                            damaged.push(Damaged { file, reason: error.to_string() });
                        }
                    }
                }
            }
        }
        results.sort_by_key(|result| result.token);
        Ok((results, damaged))
    }

    fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        std::iter::once(&self.folder).chain(&self.before)
    }
}

fn folder(state: &Path, storage: &str, study: &str) -> PathBuf {
    state.join("unsent").join(worker_key::place(storage, study))
}

fn file_name(token: Token) -> String {
    format!("{token}.json")
}

fn read(path: &Path) -> io::Result<KeptResult> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok(serde_json::from_slice(&fs::read(path)?)?)
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
        assert_eq!(results.all().unwrap(), (vec![], vec![]));
        let attributes: Attributes = [("epochs".to_owned(), 12.into())].into_iter().collect();
        let result = |trial, outcome| KeptResult {
            token: Token { trial, fence: 9 },
            finding: Finding { outcome, attributes: attributes.clone() },
            steps: vec![Measurement { fidelity: Some(3.0), ..0.1.into() }],
        };
        let all = [
            result(2, Outcome::from(0.1 + 0.2)),
            result(10, Outcome::Failed("it\ndiverged".into())),
            result(11, Outcome::Infeasible),
        ];
        for result in all.iter().rev() {
            results.keep(result).unwrap();
        }
        assert_eq!(results.all().unwrap().0, all);
        assert_eq!(kept("other", "s").all().unwrap().0, []);
        assert_eq!(kept("db", "t").all().unwrap().0, []);
        // As an earlier version left it, under the address.
        let later = kept("identity", "s").and_before(state.path(), "db", "s");
        assert_eq!(later.all().unwrap().0, all);
        for result in &all {
            results.forget(result.token).unwrap();
            results.forget(result.token).unwrap();
        }
        assert!(!results.folder().exists());
    }

    #[test]
    fn what_cannot_be_read_is_set_aside_and_holds_up_nobody() {
        let state = tempfile::tempdir().unwrap();
        let results = KeptResults::new(state.path(), "db", "s");
        let finding = Finding::from(Outcome::from(0.5));
        let good = KeptResult { token: Token { trial: 1, fence: 2 }, finding, steps: Vec::new() };
        results.keep(&good).unwrap();
        fs::write(results.folder().join("3.4.json"), b"{\"token\":{\"tri").unwrap();
        let (whole, damaged) = results.all().unwrap();
        assert_eq!((whole.as_slice(), damaged.len()), (&[good.clone()][..], 1));
        assert!(damaged[0].file.ends_with("3.4.damaged") && damaged[0].file.exists());
        assert_eq!(results.all().unwrap(), (vec![good], vec![]));
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
