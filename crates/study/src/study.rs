//! Ask and tell through a store.
//!
//! A study may be open any number of times, in any number of threads and processes. Threads that share one share its
//! model: one proposes at a time, in sight of what the others proposed. Processes propose on their own, and the store
//! takes the first (see [`store`](crate::store)).
//!
//! Cost of asking: the method's own, and what changed since this process asked last. The first ask of a process
//! reads the whole history.

use std::sync::{Arc, Mutex, MutexGuard};

use serde::{Deserialize, Serialize};
use wimble::session::Direction;
use wimble::space::Configuration;
use wimble::strategy::Strategy;

use crate::error::{Error, Result};
use crate::follower::{Follower, Progress};
use crate::settings::{Record, Settings};
use crate::store::{Ask, Filter, Reply, Store};
use crate::trial::{Claim, Outcome, Token, Trial};

/// A trial that has a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// The trial's number.
    pub trial: u64,
    /// What was tried.
    pub configuration: Configuration,
    /// Its value, as told.
    pub value: f64,
}

/// An open study.
pub struct Study {
    store: Arc<dyn Store>,
    settings: Settings,
    strategy: Box<dyn Strategy>,
    follower: Mutex<Follower>,
}

impl Study {
    /// The study of these settings, created if there is none of its name. One that has others is refused, with
    /// what differs.
    pub fn open_or_create(store: Arc<dyn Store>, settings: Settings) -> Result<Self> {
        settings.check()?;
        // The method is built before anything is kept: what cannot be run is not created.
        let strategy = strategy(&settings)?;
        let stored = store.create(&Record::new(settings.clone()))?;
        stored.check_version()?;
        settings.check_same(&stored.settings)?;
        Ok(Self::new(store, settings, strategy))
    }

    /// The study of this name, with the settings that it was created with.
    pub fn open(store: Arc<dyn Store>, name: &str) -> Result<Self> {
        let record = store.study(name)?;
        record.check_version()?;
        let strategy = strategy(&record.settings)?;
        Ok(Self::new(store, record.settings, strategy))
    }

    fn new(store: Arc<dyn Store>, settings: Settings, strategy: Box<dyn Strategy>) -> Self {
        let follower = Mutex::new(Follower::new(settings.clone()));
        Self { store, settings, strategy, follower }
    }

    /// Up to `wanted` trials for a worker to hold: first those that it runs already, then queued ones, then new
    /// ones.
    ///
    /// Fewer, or none, where the budget is spent and the queue empty. That is final only once no trial is running
    /// ([`Self::progress`]): one whose worker is lost comes back. Asking again with the same `client_key` gives the
    /// same claims.
    pub fn ask(&self, worker: &str, client_key: &str, wanted: usize) -> Result<Vec<Claim>> {
        let ask = Ask { worker, key: client_key, wanted };
        let name = &self.settings.name;
        if let Reply::Claims(claims) = self.store.ask(name, &ask, None)? {
            return Ok(claims);
        }
        // Another thread may have filled the queue while this one waited for the model: look again first.
        let mut follower = self.follower()?;
        let mut proposal = None;
        loop {
            match self.store.ask(name, &ask, proposal.as_ref())? {
                Reply::Claims(claims) => return Ok(claims),
                Reply::Propose { count, room } => {
                    let room = usize::try_from(room).unwrap_or(usize::MAX);
                    follower.catch_up(&*self.store)?;
                    let count = count.max(self.settings.batch_size.min(room));
                    proposal = Some(follower.propose(&*self.strategy, count)?);
                }
            }
        }
    }

    /// Says that the holder of a token is alive: its lease begins anew. Call it a few times a lease.
    pub fn heartbeat(&self, token: Token) -> Result<()> {
        self.store.heartbeat(&self.settings.name, token)
    }

    /// What came of a trial. Once this returns it is kept; telling again with the same `client_key` is harmless.
    pub fn tell(&self, token: Token, outcome: &Outcome, client_key: &str) -> Result<()> {
        self.store.tell(&self.settings.name, token, outcome, client_key)
    }

    /// Gives a trial back to the queue, for a worker that is interrupted.
    pub fn release(&self, token: Token) -> Result<()> {
        self.store.release(&self.settings.name, token)
    }

    /// Ends the leases that are due; says how many. Asking and telling do so too.
    pub fn expire_leases(&self) -> Result<usize> {
        self.store.expire_leases(&self.settings.name)
    }

    /// Allows another number of trials from now on. Those that exist stay.
    pub fn set_budget(&self, budget: u64) -> Result<()> {
        self.settings.clone().budget(budget).check()?;
        self.store.set_budget(&self.settings.name, budget)
    }

    /// The best trial so far, the earliest told of equals.
    pub fn best(&self) -> Result<Option<Best>> {
        let follower = self.current()?;
        let history = follower.history();
        Ok(history.best().zip(history.best_value()).map(|(place, value)| Best {
            trial: follower.told()[place],
            configuration: self.settings.space.decode(history.points().row(place)),
            value: match self.settings.direction {
                Direction::Minimise => value,
                // Not −0 for 0.
                Direction::Maximise => 0.0 - value,
            },
        }))
    }

    /// How far the study is.
    pub fn progress(&self) -> Result<Progress> {
        Ok(self.current()?.progress())
    }

    /// Trials in the order of their numbers.
    pub fn trials(&self, filter: &Filter) -> Result<Vec<Trial>> {
        self.store.trials(&self.settings.name, filter)
    }

    /// The settings that the study was opened with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Where it is kept.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    fn current(&self) -> Result<MutexGuard<'_, Follower>> {
        let mut follower = self.follower()?;
        follower.catch_up(&*self.store)?;
        Ok(follower)
    }

    fn follower(&self) -> Result<MutexGuard<'_, Follower>> {
        self.follower.lock().map_err(|_| Error::Backend {
            place: format!("study `{}`", self.settings.name),
            doing: "taking the lock of its model",
            source: "a thread that held it panicked; open the study anew".into(),
        })
    }
}

fn strategy(settings: &Settings) -> Result<Box<dyn Strategy>> {
    let strategy = settings.method.build(settings.batch_size)?;
    strategy.check(&settings.space)?;
    Ok(strategy)
}
