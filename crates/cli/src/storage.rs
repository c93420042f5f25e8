//! The storage and the study that a command line means.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};
use clap::Args;
use wimble_study::study_file::Format;
use wimble_study::{Address, Store, Study, StudyFile};

/// The variable that names the storage.
const VARIABLE: &str = "WIMBLE_STORAGE";
/// The variable with the token for a server.
const TOKEN: &str = "WIMBLE_TOKEN";
/// What stands for a study file that comes by standard input.
const STANDARD_INPUT: &str = "-";
/// The default storage.
const DEFAULT: &str = "wimble.db";

/// Which storage.
#[derive(Args, Debug, Clone)]
pub struct Storage {
    /// Where studies are kept: an SQLite file, postgresql://user@host/database, or http://host:8765 (`wimble serve`)
    /// [default: $WIMBLE_STORAGE, or wimble.db in this folder]
    #[arg(long, value_name = "ADDRESS", global = true)]
    storage: Option<String>,
    /// Whether it is another one than that of the environment, whose token is not for it.
    #[arg(skip)]
    is_other: bool,
}

impl Storage {
    /// Another storage, at an address that has the token in it, if it needs one.
    pub fn other(address: String) -> Self {
        Self { storage: Some(address), is_other: true }
    }

    /// Its address. The password, if there is one, is not shown.
    pub fn address(&self) -> Result<Address> {
        let address = match &self.storage {
            Some(address) => address.clone(),
            None => match std::env::var(VARIABLE) {
                Ok(address) if !address.is_empty() => address,
                _ => DEFAULT.to_owned(),
            },
        };
        let address: Address = address.parse()?;
        if self.is_other {
            return Ok(address);
        }
        // A token of the environment is in no list of processes.
        match (&address, std::env::var(TOKEN)) {
            (Address::Http(url), Ok(token)) if !token.is_empty() && !url.contains('@') => {
                Ok(url.replacen("://", &format!("://:{token}@"), 1).parse()?)
            }
            _ => Ok(address),
        }
    }

    /// Opens it; creates it if it does not exist.
    pub fn open(&self) -> Result<Arc<dyn Store>> {
        Ok(self.address()?.open()?)
    }

    /// Opens a storage that must exist.
    pub fn existing(&self) -> Result<Arc<dyn Store>> {
        Ok(self.existing_address()?.open()?)
    }

    /// Opens a storage that must exist to look at it: that writes nothing.
    pub fn look(&self) -> Result<Arc<dyn Store>> {
        Ok(self.existing_address()?.open_to_read()?)
    }

    fn existing_address(&self) -> Result<Address> {
        let address = self.address()?;
        if let Address::Sqlite(path) = &address
            && !path.exists()
        {
            bail!(
                "there is no storage {}; `wimble run STUDY_FILE` creates it, --storage or {VARIABLE} names another one",
                path.display()
            );
        }
        Ok(address)
    }

    /// An error of this storage; where a study is unknown, with what there is, and the nearest name.
    pub fn explained(&self, store: &dyn Store, error: wimble_study::Error) -> anyhow::Error {
        let wimble_study::Error::UnknownStudy { study } = &error else { return error.into() };
        let (Ok(names), Ok(place)) = (store.studies(), self.address()) else { return error.into() };
        let near = wimble::internals::nearest(study, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let there = match &names[..] {
            [] => "which has no study yet".to_owned(),
            names => format!("which has {}", names.join(", ")),
        };
        anyhow::anyhow!("there is no study `{study}` in the storage {place}, {there}{near}")
    }

    /// What to add to a command so that it means this storage; empty for the default one. An address with a password is
    /// left to the environment.
    pub fn words(&self) -> String {
        match &self.storage {
            Some(address) if self.address().is_ok_and(|shown| shown.to_string() == *address) => {
                format!(" --storage {}", quoted(address))
            }
            _ => String::new(),
        }
    }
}

/// Arguments of a command that looks at a whole storage.
#[derive(Args)]
pub struct Look {
    #[command(flatten)]
    pub storage: Storage,
    /// Print JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// Which study of which storage: by its name, by its study file, or the only one there is.
#[derive(Args, Debug, Clone)]
pub struct Which {
    /// The study: its name or its study file, `-` for one on standard input [default: the only one of the storage]
    study: Option<String>,
    #[command(flatten)]
    pub storage: Storage,
}

impl Which {
    /// A study by its name or file; the only one if it is `None`.
    pub fn of(study: Option<String>, storage: Storage) -> Self {
        Self { study, storage }
    }

    /// The study file, if one was given.
    pub fn file(&self) -> Result<Option<StudyFile>> {
        self.path().map(|path| read(&path)).transpose()
    }

    /// The path of the study file, if one was given.
    pub fn path(&self) -> Option<PathBuf> {
        self.study.as_ref().filter(|given| is_file(given)).map(PathBuf::from)
    }

    /// Opens the study, which must exist.
    pub fn open(&self) -> Result<Study> {
        self.study_in(&self.storage.existing()?)
    }

    /// Opens the study, which must exist, to look at it: that writes nothing.
    pub fn look(&self) -> Result<Study> {
        self.study_in(&self.storage.look()?)
    }

    /// Opens the study in a storage that is open.
    pub fn study_in(&self, store: &Arc<dyn Store>) -> Result<Study> {
        let name = self.name(&**store)?;
        Study::open(Arc::clone(store), &name)
            .map_err(|error| self.storage.explained(&**store, error))
    }

    /// Opens the study; creates it if it was given as a file.
    pub fn open_or_create(&self) -> Result<Study> {
        match self.file()? {
            Some(file) => Ok(open_or_create(&self.storage.open()?, &file)?.0),
            None => self.open(),
        }
    }

    /// Its name in the storage.
    fn name(&self, store: &dyn Store) -> Result<String> {
        if let Some(file) = self.file()? {
            return Ok(file.name);
        }
        match &self.study {
            Some(name) => Ok(name.clone()),
            None => match &store.studies()?[..] {
                [only] => Ok(only.clone()),
                [] => bail!(
                    "there is no study in the storage {} yet; `wimble run STUDY_FILE` creates one",
                    self.storage.address()?
                ),
                names => bail!(
                    "which study? The storage {} has {}: name one",
                    self.storage.address()?,
                    names.join(", ")
                ),
            },
        }
    }
}

/// Whether a study is meant by its file.
fn is_file(given: &str) -> bool {
    let path = Path::new(given);
    given == STANDARD_INPUT
        || path.extension().is_some_and(|ending| {
            ending.eq_ignore_ascii_case("toml") || ending.eq_ignore_ascii_case("json")
        })
}

/// Reads a study file; a mistake in it is a usage error (exit code 2).
pub fn read(path: &Path) -> Result<StudyFile> {
    if path == Path::new(STANDARD_INPUT) {
        let text = standard_input()?;
        let format = if text.trim_start().starts_with('{') { Format::Json } else { Format::Toml };
        return StudyFile::parse("standard input", text, format)
            .map_err(|mistakes| crate::exit::Usage(mistakes.to_string()).into());
    }
    StudyFile::read(path).map_err(|error| crate::exit::Usage(error.to_string()).into())
}

/// The study file that comes by standard input, which can be read only once.
fn standard_input() -> Result<&'static str> {
    static TEXT: OnceLock<String> = OnceLock::new();
    if let Some(text) = TEXT.get() {
        return Ok(text);
    }
    let text = std::io::read_to_string(std::io::stdin())?;
    Ok(TEXT.get_or_init(|| text))
}

/// The folder of a study file, in which its command starts.
pub fn home(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Opens the study of a file, or creates it; says whether it existed.
pub fn open_or_create(store: &Arc<dyn Store>, file: &StudyFile) -> Result<(Study, bool)> {
    let stored = match store.study(&file.name) {
        Ok(record) => Some(record.settings),
        Err(wimble_study::Error::UnknownStudy { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let existed = stored.is_some();
    let mut settings = file.settings(stored.as_ref());
    let budget = settings.budget;
    if let Some(stored) = &stored {
        settings.budget = stored.budget;
    }
    let study = match Study::open_or_create(Arc::clone(store), settings) {
        // Another process created it since, and what the file leaves open is as there.
        Err(wimble_study::Error::Differs { .. }) if !existed => return open_or_create(store, file),
        study => study,
    };
    let study = study.map_err(|error| match error {
        wimble_study::Error::Differs { study, differences } => anyhow::anyhow!(
            "study `{study}` exists with other settings: {differences}. What was tried under one space and method is no \
             evidence for another: give the file a new name, or undo the change. \
             Only trials, time, workers and the command may change{}",
            if stored.as_ref().is_some_and(|stored| stored.space != file.space) {
                format!(
                    ". For a wider space with the evidence so far: give the file a new name, then `wimble extend {} FILE`",
                    quoted(&study)
                )
            } else {
                String::new()
            }
        ),
        error => error.into(),
    })?;
    if study.settings().budget < budget {
        study.set_budget(budget)?;
    }
    Ok((study.fixing(file.fixed.clone())?, existed))
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_a_shell_wants_them() {
        assert_eq!(quoted("a/b.toml"), "a/b.toml");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }
}
