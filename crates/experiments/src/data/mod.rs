//! Files of other people's data: where they lie, how they are recognised, and what to do when one is not there.
//!
//! None of them is part of this repository. A [`Folder`] is given by the user; each [`Source`] is a fact of the code: the
//! file's place in the folder, what it is, where the public gets it, its licence, and the SHA-256 of its content. The sum
//! of a gzip file is that of what it unpacks to, so that another gzip of the same content will do.
//!
//! Cost: a file is read once, into memory; the largest has 47 MB. Nothing is trusted before its sum agrees.

pub mod fcnet;
pub mod lcbench;
pub mod sources;
pub mod taskset;
pub mod tracks;

use std::fs;
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result};

/// A file that a user brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Its place in the folder; compressed if it ends in `.gz`.
    pub path: &'static str,
    /// What it holds.
    pub what: &'static str,
    /// Where the public gets it.
    pub origin: &'static str,
    /// Under which licence.
    pub licence: &'static str,
    /// SHA-256 of the content, unpacked.
    pub sha256: &'static str,
}

/// The folder with the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The folder of this path; nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The content of a file, unpacked, once its sum agrees.
    pub fn read(&self, source: &Source) -> Result<Vec<u8>> {
        let path = self.path.join(source.path);
        let raw = match fs::read(&path) {
            Ok(raw) => raw,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Error::MissingData { path, expected: Box::new(*source) });
            }
            Err(error) => return Err(Error::file(&path)(error)),
        };
        let content = if source.path.ends_with(".gz") {
            let mut content = Vec::new();
            if let Err(error) = GzDecoder::new(raw.as_slice()).read_to_end(&mut content) {
                return Err(self.wrong(source, format!("it cannot be unpacked ({error})")));
            }
            content
        } else {
            raw
        };
        let sum = hexadecimal(&Sha256::digest(&content));
        if sum != source.sha256 {
            let reason = format!("the SHA-256 of its content is {sum}, not {}", source.sha256);
            return Err(self.wrong(source, reason));
        }
        Ok(content)
    }

    /// The content of a file of text.
    pub fn read_text(&self, source: &Source) -> Result<String> {
        let bytes = self.read(source)?;
        String::from_utf8(bytes).map_err(|_| self.wrong(source, "it is not text in UTF-8"))
    }

    /// A file whose content is not what it should be.
    pub(crate) fn wrong(&self, source: &Source, reason: impl Into<String>) -> Error {
        let path = self.path.join(source.path);
        Error::WrongData { path, expected: Box::new(*source), reason: reason.into() }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    pub(crate) fn gzip(content: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    /// The folder of the real data, if the environment names it.
    pub(crate) fn real_data() -> Option<Folder> {
        let folder = std::env::var_os("WIMBLE_DATA").map(Folder::new);
        if folder.is_none() {
            eprintln!("skipped: WIMBLE_DATA does not name the folder of the real data");
        }
        folder
    }

    /// SHA-256 of "abc" (FIPS 180-2, appendix B.1).
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn source(path: &'static str) -> Source {
        Source { path, what: "three letters", origin: "the alphabet", licence: "none", sha256: ABC }
    }

    #[test]
    fn content_is_unpacked_and_its_sum_checked() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        fs::write(dir.path().join("plain.txt"), "abc").unwrap();
        fs::write(dir.path().join("packed.gz"), gzip(b"abc")).unwrap();
        assert_eq!(folder.read_text(&source("plain.txt")).unwrap(), "abc");
        assert_eq!(folder.read(&source("packed.gz")).unwrap(), b"abc");
    }

    #[test]
    fn what_is_missing_or_wrong_is_named_with_its_origin() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path());
        let message = |path| folder.read(&source(path)).unwrap_err().to_string();
        let missing = message("none.txt");
        for part in ["none.txt", "three letters", "the alphabet", "licence: none", "--data"] {
            assert!(missing.contains(part), "{missing}");
        }
        fs::write(dir.path().join("other.txt"), "abd").unwrap();
        assert!(message("other.txt").contains("SHA-256"), "{}", message("other.txt"));
        fs::write(dir.path().join("cut.gz"), &gzip(b"abc")[..12]).unwrap();
        assert!(message("cut.gz").contains("cannot be unpacked"), "{}", message("cut.gz"));
    }
}
