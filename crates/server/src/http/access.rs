//! Tokens: who may read, work and write.
//!
//! A token is 32 random bytes in a URL's alphabet, kept in a file that only its owner can read, so that workers outlast a server
//! that is started again. It is compared in constant time.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use subtle::ConstantTimeEq as _;

/// The shortest token that is accepted from a file, in bytes.
const SHORTEST: usize = 20;

/// What somebody may do; each may do what those before it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Look at studies.
    Read,
    /// Ask, tell, send heartbeats and release.
    Work,
    /// Create studies, enqueue trials, change budgets.
    Write,
}

/// The tokens of a server. A level without a token is open to readers of this machine, and to nobody for the other levels.
#[derive(Clone, Default)]
pub struct Tokens {
    /// For those who look.
    pub read: Option<String>,
    /// For workers.
    pub work: Option<String>,
    /// For people who change studies.
    pub write: Option<String>,
}

/// Tokens are not shown.
impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokens(…)")
    }
}

impl Tokens {
    /// The token of a level.
    pub fn of(&self, level: Level) -> Option<&str> {
        match level {
            Level::Read => self.read.as_deref(),
            Level::Work => self.work.as_deref(),
            Level::Write => self.write.as_deref(),
        }
    }

    /// What a token allows; `None` if it is none of these.
    pub fn level(&self, token: &str) -> Option<Level> {
        // All are compared, whichever matches.
        [Level::Read, Level::Work, Level::Write].into_iter().fold(None, |found, level| {
            let same =
                self.of(level).is_some_and(|own| own.as_bytes().ct_eq(token.as_bytes()).into());
            if same { Some(level) } else { found }
        })
    }

    /// The tokens of these levels from a file, which is made, or completed, if they are not there.
    pub fn from_file(path: &Path, levels: &[Level]) -> io::Result<Self> {
        let bad = |reason: String| {
            io::Error::new(io::ErrorKind::InvalidData, format!("{}: {reason}", path.display()))
        };
        let mut kept: BTreeMap<String, String> = match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| {
                bad(format!(
                    "this is no file of tokens ({error}); name another one, or delete it if `wimble serve` made it, and new tokens are made"
                ))
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(error) => {
                return Err(io::Error::new(error.kind(), format!("{}: {error}", path.display())));
            }
        };
        let mut tokens = Self::default();
        let mut new = false;
        for &level in levels {
            let (name, place) = match level {
                Level::Read => ("read", &mut tokens.read),
                Level::Work => ("workers", &mut tokens.work),
                Level::Write => ("write", &mut tokens.write),
            };
            let token = match kept.get(name) {
                Some(token) => token.clone(),
                None => {
                    new = true;
                    let token = random(32)?;
                    kept.insert(name.to_owned(), token.clone());
                    token
                }
            };
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
            if token.len() < SHORTEST || !token.bytes().all(plain) {
                return Err(bad(format!(
                    "the token `{name}` must have {SHORTEST} or more letters, digits and -_.~"
                )));
            }
            *place = Some(token);
        }
        if new {
            write_privately(path, &serde_json::to_string_pretty(&kept)?).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })?;
        }
        Ok(tokens)
    }
}

/// Writes a file that only its owner can read, as a whole or not at all.
fn write_privately(path: &Path, text: &str) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", random(4)?));
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&beside).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&beside, path)).inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// Random bytes as text.
pub(super) fn random(bytes: usize) -> io::Result<String> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut raw = vec![0; bytes];
    getrandom::fill(&mut raw).map_err(io::Error::other)?;
    // Six bits of each byte.
    Ok(raw.into_iter().map(|byte| DIGITS[usize::from(byte & 63)] as char).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_outlive_the_server_and_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let first = Tokens::from_file(&path, &[Level::Read]).unwrap();
        let second = Tokens::from_file(&path, &[Level::Read, Level::Work]).unwrap();
        assert_eq!(first.read, second.read);
        assert!(first.work.is_none() && second.work.is_some() && second.write.is_none());
        assert_ne!(second.read, second.work);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(second.level(&second.work.clone().unwrap()), Some(Level::Work));
        assert_eq!(second.level(""), None);
        assert!(!format!("{second:?}").contains(second.read.as_deref().unwrap()));
        fs::write(&path, r#"{"read": "short"}"#).unwrap();
        let error = Tokens::from_file(&path, &[Level::Read]).unwrap_err().to_string();
        assert!(error.contains("`read` must have 20"), "{error}");
    }
}
