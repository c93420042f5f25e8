//! The address of a store, as users write it.
//!
//! ```text
//! studies.db, sqlite:studies.db          a file of SQLite, made if there is none
//! postgresql://user@host:5432/database   a database of PostgreSQL; also postgres://
//! http://host:8765                       a server (`wimble serve --workers`); also https://, with a token http://:TOKEN@host
//! memory:                                nothing outlives the process
//! ```
//!
//! An address may contain a password. It is never shown.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::Store;
use super::http::Http;
use super::memory::Memory;
use super::postgres::Postgres;
use super::sqlite::Sqlite;
use crate::clock::SystemClock;
use crate::error::{Error, Result};

/// The address of a store.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// In the memory of this process.
    Memory,
    /// In a file of SQLite.
    Sqlite(PathBuf),
    /// In a database of PostgreSQL, by its connection string.
    Postgres(String),
    /// Behind a server, by its address.
    Http(String),
}

/// Opens the store at an address.
pub fn open(address: &str) -> Result<Arc<dyn Store>> {
    address.parse::<Address>()?.open()
}

impl Address {
    /// Opens the store, and creates the file or schema if it does not exist.
    pub fn open(&self) -> Result<Arc<dyn Store>> {
        Ok(match self {
            Self::Memory => Arc::new(Memory::new(SystemClock)),
            Self::Sqlite(path) => Arc::new(Sqlite::at(path)?),
            Self::Postgres(url) => Arc::new(Postgres::at(url)?),
            Self::Http(url) => Arc::new(Http::at(url)?),
        })
    }

    /// The same for a caller that does its own waiting: calls to a server that is unreachable fail soon.
    pub fn open_impatient(&self) -> Result<Arc<dyn Store>> {
        match self {
            Self::Postgres(url) => Ok(Arc::new(Postgres::at(url)?.patience(Duration::ZERO))),
            Self::Http(url) => Ok(Arc::new(Http::at(url)?.patience(Duration::ZERO))),
            Self::Memory | Self::Sqlite(_) => self.open(),
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |reason: &str| {
            Err(Error::Address { address: without_password(text), reason: reason.to_owned() })
        };
        let path = match text.split_once(':') {
            _ if text.is_empty() => {
                return refuse("is empty; write a file name, or postgresql://user@host/database");
            }
            Some(("memory", "")) => return Ok(Self::Memory),
            Some(("memory", _)) => return refuse("is unknown; write `memory:` and nothing else"),
            Some(("postgresql" | "postgres", rest)) if rest.starts_with("//") => {
                return Ok(Self::Postgres(text.to_owned()));
            }
            Some(("postgresql" | "postgres", _)) => {
                return refuse("is incomplete; write postgresql://user@host:5432/database");
            }
            Some(("http" | "https", rest)) if rest.starts_with("//") => {
                Http::at(text)?;
                return Ok(Self::Http(text.to_owned()));
            }
            // The two slashes of an address are not part of a path.
            Some(("sqlite", path)) => path.strip_prefix("//").unwrap_or(path),
            Some((_, rest)) if rest.starts_with("//") => {
                return refuse(
                    "is of a kind that is unknown; write a file name, sqlite:FILE, \
                     postgresql://user@host/database, http://host:8765 or memory:",
                );
            }
            _ => text,
        };
        if path.is_empty() || path.ends_with('/') {
            return refuse("names no file; write sqlite:FILE, as in sqlite:studies.db");
        }
        if path == ":memory:" {
            return refuse("is SQLite's name for memory; write `memory:`");
        }
        Ok(Self::Sqlite(PathBuf::from(path)))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite(path) => write!(f, "{}", path.display()),
            Self::Postgres(url) | Self::Http(url) => f.write_str(&without_password(url)),
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

/// An address as it may be shown: `…` for a password, and for the values of parameters that may hold one.
pub(crate) fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    let (rest, query) = match rest.split_once('?') {
        Some((rest, query)) => (rest, Some(query)),
        None => (rest, None),
    };
    // A password may hold the characters that end an authority, if it was not encoded: the last `@` counts.
    let rest = match rest.rsplit_once('@') {
        // A token may stand where the name of a user stands.
        Some((_, host)) if scheme.starts_with("http") => format!("…@{host}"),
        Some((user, host)) => match user.split_once(':') {
            Some((name, _)) => format!("{name}:…@{host}"),
            None => format!("{user}@{host}"),
        },
        None => rest.to_owned(),
    };
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if name.to_ascii_lowercase().contains("pass") => format!("{name}=…"),
        _ => pair.to_owned(),
    };
    match query {
        Some(query) => {
            let query: Vec<String> = query.split('&').map(shown).collect();
            format!("{scheme}://{rest}?{}", query.join("&"))
        }
        None => format!("{scheme}://{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_say_what_they_are() {
        for (text, address) in [
            ("memory:", Address::Memory),
            ("studies.db", Address::Sqlite("studies.db".into())),
            ("sqlite:a b.db", Address::Sqlite("a b.db".into())),
            ("sqlite:///var/studies.db", Address::Sqlite("/var/studies.db".into())),
            ("C:\\studies.db", Address::Sqlite("C:\\studies.db".into())),
            ("postgres://h/d", Address::Postgres("postgres://h/d".into())),
            ("http://h:1", Address::Http("http://h:1".into())),
        ] {
            assert_eq!(text.parse::<Address>().unwrap(), address);
        }
        for (text, words) in [
            ("", "is empty"),
            ("mysql://h/d", "of a kind that is unknown"),
            ("sqlite:", "names no file"),
            ("folder/", "names no file"),
            ("postgresql:", "is incomplete"),
            ("http://h/path", "a host and a port only"),
            (":memory:", "write `memory:`"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_password_is_never_shown() {
        for text in [
            "postgresql://me:s3cret@h:5432/d",
            "postgresql://me:s3cret/with@odd:s3cret@h/d?sslmode=require",
            "postgresql://h/d?user=me&password=s3cret&sslmode=disable",
            "mysql://me:s3cret@h/d",
            "http://:s3cret@h:8765",
            "http://s3cret@h:8765",
            "https://worker:s3cret@h/path",
        ] {
            let shown = match text.parse::<Address>() {
                Ok(address) => format!("{address} {address:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!shown.contains("s3cret"), "{shown}");
            assert!(shown.contains("://") && shown.contains('h'), "{shown}");
        }
    }
}
