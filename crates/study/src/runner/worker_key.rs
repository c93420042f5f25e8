//! Who a worker is: a name for people, and an incarnation, a random word that no two processes share.
//!
//! A name says nothing about identity: two containers of one image have the same, and so have two users of one machine.
//! So a process that starts makes a new incarnation, and keeps it in a file of its state folder, which it locks until it
//! ends, however it ends. Started again it finds the file, shows the storage the incarnations of the processes before it,
//! and gets the trials that they ran ([`Store::resume`](crate::Store::resume)). The file is found by the identity of the
//! storage, so that it does not matter by which address that is reached. Where a state folder was copied, the first process
//! to start gets the trials, and the other nothing.

use std::fs::{self, File, TryLockError};
use std::hash::{Hash as _, Hasher as _};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use crate::fingerprint::fingerprint;
use crate::random::random_word;

/// More processes of one study on one machine than this are a mistake.
const MOST: usize = 10_000;
/// How many earlier incarnations a file keeps: processes in a row that ended before they reached the storage.
const REMEMBERED: usize = 16;

/// A worker key, held until the last clone is dropped.
#[derive(Debug, Clone)]
pub struct WorkerKey {
    name: String,
    incarnation: Option<String>,
    formerly: Vec<String>,
    /// The file with its incarnations, locked.
    state: Option<Arc<File>>,
}

impl WorkerKey {
    /// The first free place of this machine for a study, by files in the folder `state`. `storage` is the identity of the
    /// storage. The name, where none is given, is made from the machine and the number of the place.
    pub fn take(state: &Path, storage: &str, study: &str, name: Option<&str>) -> io::Result<Self> {
        fs::create_dir_all(state)?;
        let place = place(storage, study);
        // No file of an earlier version has this form.
        let named = name.map_or_else(String::new, |name| format!("-{}", fingerprint(name.bytes())));
        for number in 0..MOST {
            let mut file = File::options()
                .create(true)
                .truncate(false)
                .read(true)
                .write(true)
                .open(state.join(format!("{place}{named}-{number}.worker")))?;
            match file.try_lock() {
                Ok(()) => {
                    let name =
                        name.map_or_else(|| format!("{}-{number}", machine()), str::to_owned);
                    let formerly = read(&mut file)?;
                    let incarnation = random_word();
                    let mut all = formerly.clone();
                    all.push(incarnation.clone());
                    // Before the storage hears of it: whatever happens next, the next process knows it.
                    write(&file, &all)?;
                    return Ok(Self {
                        name,
                        incarnation: Some(incarnation),
                        formerly,
                        state: Some(Arc::new(file)),
                    });
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::other(format!("{MOST} processes of this machine work on the study already")))
    }

    /// A name that the user vouches for, or one for this process only.
    pub fn given(name: Option<String>) -> Self {
        let name = name.unwrap_or_else(|| format!("{}-{}", machine(), random_word()));
        Self { name, incarnation: None, formerly: Vec::new(), state: None }
    }

    /// A process that is not known after it ends, because no state can be kept. Nobody else takes its trials for his own.
    pub fn passing(name: Option<String>) -> Self {
        Self { incarnation: Some(random_word()), ..Self::given(name) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// Which process of that name this is; `None` if the user vouches for the name.
    pub fn incarnation(&self) -> Option<&str> {
        self.incarnation.as_deref()
    }

    /// The processes before this one whose trials it may continue.
    pub fn formerly(&self) -> &[String] {
        &self.formerly
    }

    /// Forgets the processes before this one, whose trials are its own by now.
    pub fn settle(&self) -> io::Result<()> {
        match (&self.state, &self.incarnation) {
            (Some(state), Some(incarnation)) => write(state, std::slice::from_ref(incarnation)),
            _ => Ok(()),
        }
    }
}

impl From<&str> for WorkerKey {
    fn from(name: &str) -> Self {
        Self::given(Some(name.to_owned()))
    }
}

/// The incarnations in a file. Lines that are none are what a crash left of one.
fn read(file: &mut File) -> io::Result<Vec<String>> {
    let mut text = String::new();
    // A damaged file costs the wait for a lease, and nothing else.
    let _ = file.take(64 << 10).read_to_string(&mut text);
    let is_word = |line: &&str| line.len() == 32 && line.bytes().all(|b| b.is_ascii_hexdigit());
    let words: Vec<String> = text.lines().filter(is_word).map(str::to_owned).collect();
    Ok(words[words.len().saturating_sub(REMEMBERED)..].to_vec())
}

fn write(mut file: &File, words: &[String]) -> io::Result<()> {
    file.rewind()?;
    let text = words.iter().fold(String::new(), |text, word| text + word + "\n");
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)?;
    file.sync_all()
}

/// A study of a storage in a word that is the same in every version of this program.
pub(super) fn place(storage: &str, study: &str) -> String {
    // No text has the byte in between.
    fingerprint(storage.bytes().chain([0xff]).chain(study.bytes()))
}

/// The machine, in a word: its name, and a few letters for machines of the same name.
fn machine() -> String {
    let node = rustix::system::uname();
    let name: String =
        node.nodename().to_string_lossy().chars().filter(|c| !c.is_control()).take(100).collect();
    let mut hasher = std::hash::DefaultHasher::new();
    fs::read("/etc/machine-id").unwrap_or_default().hash(&mut hasher);
    format!("{name}-{:04x}", hasher.finish() & 0xffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(state: &Path, study: &str, name: Option<&str>) -> WorkerKey {
        WorkerKey::take(state, "db", study, name).unwrap()
    }

    #[test]
    fn a_place_is_taken_once_and_free_again_when_it_is_let_go() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        let first = take(state, "a", None);
        let name = first.as_str().to_owned();
        assert_ne!(take(state, "a", None).as_str(), name);
        assert_eq!(take(state, "b", None).as_str(), name, "another study has its own numbers");
        drop(first);
        assert_eq!(take(state, "a", None).as_str(), name);
        assert_ne!(WorkerKey::given(None).as_str(), WorkerKey::given(None).as_str());
    }

    #[test]
    fn the_next_process_knows_the_incarnations_before_it_and_nobody_else_does() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for name in [None, Some("gpu")] {
            let first = take(folder.path(), "a", name);
            assert_eq!(first.formerly(), [] as [String; 0]);
            let incarnation = first.incarnation().unwrap().to_owned();
            // Of the same name, but not of the same state; at the same time, or elsewhere.
            let second = take(folder.path(), "a", name);
            let elsewhere = take(other.path(), "a", name);
            assert_eq!(elsewhere.as_str(), first.as_str());
            for key in [&second, &elsewhere] {
                assert_eq!(key.formerly(), [] as [String; 0]);
                assert_ne!(key.incarnation(), first.incarnation());
            }
            drop(first);
            let again = take(folder.path(), "a", name);
            assert_eq!(again.formerly(), std::slice::from_ref(&incarnation));
            // A process that never reached the storage adds itself.
            let unsettled = again.incarnation().unwrap().to_owned();
            drop(again);
            let third = take(folder.path(), "a", name);
            assert_eq!(third.formerly(), [incarnation, unsettled]);
            third.settle().unwrap();
            let settled = third.incarnation().unwrap().to_owned();
            drop(third);
            assert_eq!(take(folder.path(), "a", name).formerly(), [settled]);
        }
    }

    #[test]
    fn a_damaged_file_is_no_more_than_an_unknown_worker() {
        let folder = tempfile::tempdir().unwrap();
        drop(take(folder.path(), "a", None));
        let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(&file, b"\xff\xfe\nnot a word\n").unwrap();
        assert_eq!(take(folder.path(), "a", None).formerly(), [] as [String; 0]);
    }
}
