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
#[cfg(feature = "postgres")]
use super::postgres::Postgres;
#[cfg(feature = "sqlite")]
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
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => Arc::new(Sqlite::at(path)?),
            #[cfg(not(feature = "sqlite"))]
            Self::Sqlite(_) => return Err(self.left_out("sqlite")),
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => Arc::new(Postgres::at(url)?),
            #[cfg(not(feature = "postgres"))]
            Self::Postgres(_) => return Err(self.left_out("postgres")),
            Self::Http(url) => Arc::new(Http::at(url)?),
        })
    }

    /// Opens the store to read it. A file of SQLite must exist, and is not written to.
    pub fn open_to_read(&self) -> Result<Arc<dyn Store>> {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => Ok(Arc::new(Sqlite::to_read(path)?)),
            _ => self.open(),
        }
    }

    /// As [`Self::open`], for a caller that does its own waiting: calls to a server that is unreachable fail soon.
    pub fn open_impatient(&self) -> Result<Arc<dyn Store>> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => Ok(Arc::new(Postgres::at(url)?.patience(Duration::ZERO))),
            Self::Http(url) => Ok(Arc::new(Http::at(url)?.patience(Duration::ZERO))),
            _ => self.open(),
        }
    }

    /// As [`Self::open`], for a server whose many threads share the store: where a call waits on a connection of its own, up to
    /// `calls` are made at a time.
    #[cfg_attr(not(feature = "postgres"), allow(unused_variables, reason = "only databases wait"))]
    pub fn open_for_many(&self, calls: usize) -> Result<Arc<dyn Store>> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => Ok(Arc::new(Postgres::at(url)?.connections(calls))),
            _ => self.open(),
        }
    }

    /// Refuses what cannot be understood, without connecting to anything. What is wrong with an address is otherwise found when
    /// it is opened.
    pub fn check(&self) -> Result<()> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => super::postgres::check_address(url),
            Self::Http(url) => Http::at(url).map(|_| ()),
            _ => Ok(()),
        }
    }

    /// That this program has no such back end.
    #[cfg(not(all(feature = "postgres", feature = "sqlite")))]
    fn left_out(&self, feature: &str) -> Error {
        let reason = format!(
            "needs the feature `{feature}` of wimble-study, which this program was built without"
        );
        Error::Address { address: self.to_string(), reason }
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refuse = |reason: &str| {
            Err(Error::Address { address: without_password(text), reason: reason.to_owned() })
        };
        let path = match text.split_once(':') {
            _ if is_keyword_form(text) && !has_scheme(text) => {
                return refuse("is a list of keywords; write postgresql://user@host:5432/database");
            }
            _ if text.contains("://") && !has_scheme(text) => {
                return refuse(
                    "is no address; write a file name, or postgresql://user@host/database",
                );
            }
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

/// The parameters whose values are shown. That of any other may be a password, or a part of one.
const SHOWN: [&str; 19] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "port",
    "schema",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Whether what stands before `://` is a word.
fn has_scheme(text: &str) -> bool {
    let is_of_a_word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    text.split_once("://").is_some_and(|(scheme, _)| scheme.chars().all(is_of_a_word))
}

/// Whether a parameter of an address is one of those whose values are shown.
pub(crate) fn is_shown(name: &str) -> bool {
    SHOWN.contains(&name)
}

/// A value from an address as a message may show it: what is no word or path may be more than the user meant, with a password in it.
pub(crate) fn if_plain(value: &str) -> &str {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./ ~+,".contains(c);
    if value.chars().all(is_plain) { value } else { "…" }
}

/// Whether the value of a parameter holds another one: somebody wrote `?` where `&` was meant.
fn may_hold_a_password(value: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(value).decode_utf8_lossy().to_lowercase();
    decoded.contains('?') || decoded.contains("password")
}

/// An address as it may be shown: `…` for a password, and for whatever may hold one.
pub(crate) fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return if is_keyword_form(address) { "…".to_owned() } else { address.to_owned() };
    };
    // What stands before may be anything, also a list of keywords with a password.
    if !has_scheme(address) {
        return "…".to_owned();
    }
    let (user, rest) = match rest.rsplit_once('@') {
        // A password may hold the characters that end a user, a host or a path, if it was not encoded; then nobody knows
        // where it begins and ends.
        Some((user, _)) if user.contains(['/', '?', '#']) => return format!("{scheme}://…"),
        // A token may stand where the name of a user stands.
        Some((_, rest)) if scheme.starts_with("http") => ("…@".to_owned(), rest),
        Some((user, rest)) => match user.split_once(':') {
            Some((name, _)) => (format!("{name}:…@"), rest),
            None => (format!("{user}@"), rest),
        },
        None => (String::new(), rest),
    };
    let (place, query) = match rest.split_once('?') {
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let shown = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if is_shown(name) && !may_hold_a_password(value) => pair.to_owned(),
        Some((name, _)) if name.eq_ignore_ascii_case("password") => format!("{name}=…"),
        _ => "…".to_owned(),
    };
    match query {
        Some(query) => {
            let query: Vec<String> = query.split('&').map(shown).collect();
            format!("{scheme}://{user}{place}?{}", query.join("&"))
        }
        None => format!("{scheme}://{user}{place}"),
    }
}

/// Whether a text is a connection string of PostgreSQL's other form, `host=h user=me password=…`, and not a path.
fn is_keyword_form(text: &str) -> bool {
    let decoded = percent_encoding::percent_decode_str(text).decode_utf8_lossy().to_lowercase();
    let names = ["password", "passfile", "host", "hostaddr", "user", "dbname"];
    decoded
        .split(|c: char| c.is_whitespace() || c == '&' || c == '?' || c == ';')
        .filter_map(|word| word.split_once('='))
        .any(|(name, _)| names.contains(&name.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_mark_in_the_place_of_an_ampersand_shows_no_password() {
        let text = "postgresql://h/d?sslmode=require?password=s3cret";
        assert_eq!(without_password(text), "postgresql://h/d?…");
        let error = text.parse::<Address>().unwrap().check().unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"), "{error:?}");
    }

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
            "postgresql://me:s3?cret&s3cret@h/d",
            "postgresql://me:s3cret?x=s3cret@h/d?sslmode=disable",
            "postgresql://h/d?pass%77ord=s3cret&sslmode=disable",
            "postgresql://h/d?PASSWORD=s3cret",
            "postgresql://h/d?options=-c%20x=s3cret&s3cret",
            "postgresql://me:x?password=s3cret@s3cret:1@h/d",
        ] {
            let shown = match text.parse::<Address>() {
                Ok(address) => format!("{address} {address:?}"),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!shown.contains("s3cret"), "{shown}");
            assert!(shown.contains("://"), "{shown}");
        }
        for text in [
            "host=h user=me password=s3cret",
            "password='s3cret' dbname=d",
            "PASSWORD = s3cret host=h",
            "host=http://h password=s3cret user=me",
        ] {
            let error = text.parse::<Address>().unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("s3cret") && shown.contains("list of keywords"), "{shown}");
        }
        // Nothing is hidden that people need to see.
        for text in
            ["postgresql://me@h:5432/d?sslmode=require&schema=a", "postgresql://h/d", "dir/a=b.db"]
        {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    proptest::proptest! {
        /// Wherever a password stands, and whatever it is made of: it is not shown, nor are its parts.
        #[test]
        fn no_output_has_the_password(odd in "[@:/?&=#%]{0,3}", place in 0..5_usize) {
            let password = format!("s3cret{odd}S3CRET");
            let text = match place {
                0 => format!("postgresql://me:{password}@h:5432/d?sslmode=disable"),
                1 => format!("postgresql://me:{password}@h/d"),
                2 => format!("postgresql://h/d?user=me&password={password}"),
                3 => format!("postgres://me:{password}@/d?host=/run"),
                _ => format!("host=h password={password} user=me"),
            };
            let mut said = without_password(&text);
            match text.parse::<Address>() {
                Ok(address) => {
                    said += &format!("{address} {address:?}");
                    if let Err(error) = address.check() {
                        said += &format!("{error} {error:?}");
                    }
                }
                Err(error) => said += &format!("{error} {error:?}"),
            }
            proptest::prop_assert!(!said.contains("s3cret") && !said.contains("S3CRET"), "{}", said);
        }
    }
}
