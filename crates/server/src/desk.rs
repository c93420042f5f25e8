//! The chronicles of all studies that somebody looks at.
//!
//! However many look, each study is read once: one thread asks the store for the sequence numbers of the studies that are watched,
//! reads what changed, and announces the new number. Studies that nobody asked for in a while are forgotten.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use wimble_study::{Error, Record, Result, Settings, Store, Study};

use crate::chronicle::Chronicle;
use crate::model::Model;

/// Interval between looks at a study that is watched.
pub const INTERVAL: Duration = Duration::from_millis(200);
/// A study that nobody asked for in this time is forgotten, unless an event stream is open.
const KEPT: Duration = Duration::from_secs(600);

/// Steps read at a time.
const STEPS: usize = 5_000;

/// The studies of a store that somebody looks at.
pub struct Desk {
    store: Arc<dyn Store>,
    files: Mutex<HashMap<String, Arc<File>>>,
    generation: AtomicU64,
}

/// A study that somebody looks at.
pub struct File {
    /// Different for every chronicle of this desk, so that a study that was replaced is told from the old one.
    pub generation: u64,
    chronicle: RwLock<Chronicle>,
    announced: watch::Sender<u64>,
    /// The store's number when it was last looked at.
    known: AtomicU64,
    /// The number of the latest step of a curve: steps are no changes of trials.
    steps: AtomicU64,
    asked: Mutex<Instant>,
    /// Whose turn it is to read the next page: no page is read twice.
    turn: Mutex<()>,
    /// What the method says; made when it is first asked for.
    pub model: Model,
}

impl File {
    /// The columns as they are now.
    pub fn chronicle(&self) -> RwLockReadGuard<'_, Chronicle> {
        self.chronicle.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The latest number, and a wait for the next.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.announced.subscribe()
    }

    /// The share of the changes that was read, from 0 to 1: below 1 while a long study is read for the first time.
    pub fn loaded(&self) -> f64 {
        let known = self.known.load(Ordering::SeqCst);
        let read = self.chronicle().sequence();
        if known <= read { 1.0 } else { read as f64 / known as f64 }
    }

    /// Reads one page of changes. Returns whether there may be more, or `None` if the study was replaced.
    fn step(&self, store: &dyn Store) -> Result<Option<bool>> {
        let _turn = lock(&self.turn);
        let (name, sequence, issued, budget, paused, has_curves) = {
            let chronicle = self.chronicle();
            let record = chronicle.record();
            let Settings { name, budget, goal, .. } = &record.settings;
            let (paused, has_curves) = (record.paused, goal.partial().is_some());
            (name.clone(), chronicle.sequence(), chronicle.len(), *budget, paused, has_curves)
        };
        let latest = store.sequence(&name)?;
        self.known.store(latest, Ordering::SeqCst);
        let record = store.study(&name)?;
        if (record.settings.budget, record.paused) != (budget, paused) {
            self.write(|chronicle| chronicle.set_record(record));
            self.announced.send_modify(|_| ());
        }
        if has_curves {
            self.follow_steps(store, &name)?;
        }
        if latest < sequence {
            return Ok(None);
        }
        if latest == sequence {
            return Ok(Some(false));
        }
        let changes = Chronicle::next_page(&name, sequence, store)?;
        if changes.is_empty() && issued > 0 {
            return Ok(None);
        }
        let mut fits = true;
        self.write(|chronicle| {
            fits = chronicle.apply(&changes);
        });
        if !fits {
            return Ok(None);
        }
        let now = self.chronicle().sequence();
        self.announced.send_replace(now);
        Ok(Some(now < latest))
    }

    /// Takes note of new steps, and announces them.
    fn follow_steps(&self, store: &dyn Store, name: &str) -> Result<()> {
        let before = self.steps.load(Ordering::SeqCst);
        let mut latest = before;
        loop {
            let new = store.steps_since(name, latest, STEPS)?;
            latest = new.last().map_or(latest, |step| step.sequence);
            if new.len() < STEPS {
                break;
            }
        }
        if latest != before {
            self.steps.store(latest, Ordering::SeqCst);
            self.announced.send_modify(|_| ());
        }
        Ok(())
    }

    /// What an answer about the study rests on: two that are equal had the same trials, steps and settings before them.
    pub fn state(&self) -> String {
        let chronicle = self.chronicle();
        let record = chronicle.record();
        let (budget, paused) = (record.settings.budget, u8::from(record.paused));
        let steps = self.steps.load(Ordering::SeqCst);
        format!("{}-{}-{steps}-{budget}-{paused}", self.generation, chronicle.sequence())
    }

    fn write(&self, work: impl FnOnce(&mut Chronicle)) {
        work(&mut self.chronicle.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Desk {
    /// Over a store.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, files: Mutex::default(), generation: AtomicU64::new(0) }
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// A study, read up to now; one that is long and new here is read up to `patience` from now, and by [`Self::look`] after that.
    pub fn file(&self, study: &str, patience: Duration) -> Result<Arc<File>> {
        let deadline = Instant::now() + patience;
        loop {
            let file = self.open(study)?;
            *lock(&file.asked) = Instant::now();
            loop {
                match self.step(study, &file)? {
                    None => break,
                    Some(true) if Instant::now() < deadline => {}
                    Some(_) => return Ok(file),
                }
            }
        }
    }

    /// Reads one page of a study; forgets it if it was replaced or deleted.
    fn step(&self, study: &str, file: &Arc<File>) -> Result<Option<bool>> {
        let step = file.step(&*self.store);
        match &step {
            Ok(None) | Err(Error::UnknownStudy { .. }) => self.forget(study, file),
            Ok(Some(_)) | Err(_) => {}
        }
        step
    }

    fn forget(&self, study: &str, file: &Arc<File>) {
        let mut files = lock(&self.files);
        if files.get(study).is_some_and(|other| Arc::ptr_eq(other, file)) {
            files.remove(study);
        }
    }

    fn open(&self, study: &str) -> Result<Arc<File>> {
        if let Some(file) = lock(&self.files).get(study) {
            return Ok(Arc::clone(file));
        }
        let record: Record = self.store.study(study)?;
        let opened = Study::open(Arc::clone(&self.store), study)?;
        let mut files = lock(&self.files);
        let new = || {
            Arc::new(File {
                generation: self.generation.fetch_add(1, Ordering::SeqCst),
                chronicle: RwLock::new(Chronicle::new(record)),
                announced: watch::Sender::new(0),
                known: AtomicU64::new(u64::MAX),
                steps: AtomicU64::new(0),
                asked: Mutex::new(Instant::now()),
                turn: Mutex::new(()),
                model: Model::new(opened),
            })
        };
        Ok(Arc::clone(files.entry(study.to_owned()).or_insert_with(new)))
    }

    /// One look at every study on the desk. Returns whether any is behind, so that the next look should come at once.
    pub fn look(&self) -> bool {
        let files: Vec<(String, Arc<File>)> = {
            let mut files = lock(&self.files);
            files.retain(|_, file| {
                file.announced.receiver_count() > 0 || lock(&file.asked).elapsed() < KEPT
            });
            files.iter().map(|(name, file)| (name.clone(), Arc::clone(file))).collect()
        };
        let mut behind = false;
        for (name, file) in files {
            // A store that does not answer is looked at again later; who asks is told.
            behind |= matches!(self.step(&name, &file), Ok(Some(true)));
        }
        behind
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::parabola;
    use wimble_study::Outcome;

    const SOON: Duration = Duration::from_secs(5);

    #[test]
    fn a_look_announces_what_changed_and_a_replaced_study_begins_anew() {
        let study = parabola(3);
        let store = Arc::clone(study.store());
        let desk = Desk::new(Arc::clone(&store));
        let file = desk.file("parabola", SOON).unwrap();
        let watch = file.watch();
        assert_eq!((*watch.borrow(), file.loaded()), (store.sequence("parabola").unwrap(), 1.0));
        let claim = study.ask("w9", "more", 1).unwrap().remove(0);
        study.tell(claim.token, &Outcome::from(1.0), "t").unwrap();
        while desk.look() {}
        assert!(watch.has_changed().unwrap());
        assert_eq!(file.chronicle().len(), 8);

        store.delete("parabola").unwrap();
        assert!(matches!(desk.file("parabola", SOON), Err(Error::UnknownStudy { .. })));
        while desk.look() {}
        let mut settings = study.settings().clone();
        settings.budget = 5;
        store.create(&Record::new(settings)).unwrap();
        let again = desk.file("parabola", SOON).unwrap();
        assert!(again.generation != file.generation);
        assert_eq!((again.chronicle().len(), again.chronicle().record().settings.budget), (0, 5));
        assert!(matches!(desk.file("none", SOON), Err(Error::UnknownStudy { .. })));
    }
}
