//! Studies in a database of PostgreSQL, for workers on any number of machines.
//!
//! A call that writes is one short transaction that begins by locking the row of its study, so that the writers of a
//! study take turns and its sequence numbers become visible in order; studies do not wait for each other. It takes
//! two exchanges with the server: one that locks, and fetches whatever the call will read; one that writes and
//! commits. Most asks and tells take one.
//!
//! # Durability
//! A commit that waits for the disk holds its lock meanwhile, and all workers wait in one line. Here the transaction
//! commits without waiting, which gives up the lock, and is followed by an empty one that waits: the server flushes
//! its log for many of those at once. The log is a line, so that whatever an acknowledged call saw is on the disk if
//! the call is. [`Reader::changes_since`] waits in the same way for what it is about to show, for its readers survive
//! a crash of the server and must not remember what the server forgot. The other reads do not wait.
//!
//! # Time
//! Leases are measured by the server's clock: those of the workers' machines may differ.
//!
//! # Failure
//! If the connection is lost, the store connects again and repeats the call with its keys. It keeps trying for a minute by
//! default ([`Postgres::patience`]). [`Store::release`] and [`Store::delete`] are not repeated once their commit was sent,
//! because doing them twice is not the same as once. The server ends the transaction of a worker that stopped in the middle
//! of it after ten seconds. What the server refuses, such as a wrong password, is an error at once. A server that is
//! silent for half a minute counts as lost, unless it says on a second connection that it is working on the call.
//!
//! A call blocks its thread, and panics inside an asynchronous runtime: call it from a thread that may block.

mod broken;
mod link;
mod links;
mod migrations;
mod plain;
mod pooler;
mod rows;
mod statements;
mod target;
mod tls;

use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use self::broken::Broken;
use self::link::{Command, Link};
use self::links::Links;
use self::plain::Turn;
use self::rows::Table;
use self::target::Target;
use super::calls::read_from_a_table;
use super::checks::{
    check_additions, check_ask, check_resume, check_tell, storable, storable_step,
};
use super::columns::head;
use super::rows::Reads;
use super::rules::Rules;
use super::{Ask, Proposal, Reader, Refused, Reply, Resume, Store, Tell, Transfer};
use crate::addition::Addition;
use crate::clock::{Clock, Timestamp};
use crate::counts::Counts;
use crate::diagnosis::Condition;
use crate::error::{Error, Result};
use crate::settings::Record;
use crate::step::{Report, Step};
use crate::trial::{Token, Trial};

/// Default time to wait for an unreachable server.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between attempts to reach it.
const PAUSE: Duration = Duration::from_millis(100);
/// How often to wait for others who propose before adding a proposal in any case.
const MOST_TURNS: usize = 8;
/// Gives up the lock before it waits for the disk.
const COMMIT: &str = "COMMIT";
/// Waits until everything that was committed is on the disk: a commit of its own, which has to write something.
const FLUSH: &str = "SELECT pg_logical_emit_message(true, 'wimble', '')";

/// Studies in a database.
pub struct Postgres {
    clock: Option<Box<dyn Clock>>,
    target: Arc<Target>,
    patience: Duration,
    links: Links,
}

/// Whether a call may be made again when nobody knows whether it was done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    Harmless,
    Different,
}

impl Postgres {
    /// The database at a `postgresql://` address, on the server's clock. The schema is made if there is none.
    ///
    /// Beyond the parameters of `tokio_postgres`, the address may have `sslmode` in all its forms, `sslrootcert`, and
    /// `schema`, the schema that the tables are in (`wimble`).
    pub fn at(address: &str) -> Result<Self> {
        Self::with(address, None)
    }

    /// The same on another clock.
    pub fn open(address: &str, clock: impl Clock) -> Result<Self> {
        Self::with(address, Some(Box::new(clock)))
    }

    fn with(address: &str, clock: Option<Box<dyn Clock>>) -> Result<Self> {
        let (target, links) = (Arc::new(Target::parse(address)?), Links::new(1));
        let store = Self { clock, target, patience: PATIENCE, links };
        let mut place = store.links.enter();
        store.patiently(Broken::is_full_or_starting, || {
            place.link(|| store.connect()).map(|_| ())
        })?;
        drop(place);
        Ok(store)
    }

    fn connect(&self) -> Result<Link, Broken> {
        let mut link = Link::connect(&self.target)?;
        // The server may have been replaced by one of another version.
        migrations::migrate(&mut link, &self.target)?;
        Ok(link)
    }

    /// How long to keep trying to reach a server. Even with zero, a call that finds its connection lost is tried once more on
    /// a new one, because the old one may have been lost long ago.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// How many connections to open at most, one by default: as many calls are made at a time, and others wait.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Self {
        self.links.limit(most);
        self
    }

    /// The time, where it is not the server's.
    fn now(&self) -> Option<Timestamp> {
        self.clock.as_ref().map(|clock| clock.now())
    }

    /// Does some work on a connection, again on a new one if that is lost and doing it again is harmless.
    fn work<T>(
        &self,
        again: Again,
        mut work: impl FnMut(&mut Link) -> Result<T, Broken>,
    ) -> Result<T> {
        let mut place = self.links.enter();
        let may_retry = |broken: &Broken| {
            broken.is_passing() && (again == Again::Harmless || !broken.was_committing())
        };
        self.patiently(may_retry, || {
            let result = work(place.link(|| self.connect())?);
            if result.as_ref().is_err_and(|broken| !broken.leaves_a_usable_connection()) {
                place.close();
            }
            result
        })
    }

    /// Tries again for as long as what stopped the work may pass.
    fn patiently<T>(
        &self,
        may_retry: impl Fn(&Broken) -> bool,
        mut work: impl FnMut() -> Result<T, Broken>,
    ) -> Result<T> {
        let start = Instant::now();
        let mut tried = false;
        loop {
            match work() {
                Ok(done) => return Ok(done),
                Err(broken)
                    if may_retry(&broken)
                        && (start.elapsed() < self.patience
                            || !tried && !broken.was_connecting()) =>
                {
                    tried = true;
                    sleep(PAUSE);
                }
                Err(broken) => return Err(broken.into_error(&self.target.place, start.elapsed())),
            }
        }
    }

    /// A call of the rules, acknowledged once it is on the server's disk. What it acknowledges may have been written
    /// by an earlier call, so that it waits for the disk also when it changed nothing.
    fn write<T>(
        &self,
        study: &str,
        again: Again,
        reads: Reads<'_>,
        work: impl Fn(&mut Rules<'_, Table<'_>>) -> Result<T>,
    ) -> Result<T> {
        self.transact(study, again, reads, |_| true, work)
    }

    /// A call of the rules that waits for the disk if `durable` says so of its result.
    fn transact<T>(
        &self,
        study: &str,
        again: Again,
        reads: Reads<'_>,
        durable: impl Fn(&T) -> bool,
        work: impl Fn(&mut Rules<'_, Table<'_>>) -> Result<T>,
    ) -> Result<T> {
        check_known(study)?;
        let now = self.now();
        self.work(again, |link| {
            let table = Table::new(link, study, now);
            transaction(table, study, reads, &durable, &work)
        })
    }

    /// Adds a proposal when it is our turn; `None` once the turn of another is over.
    fn add_proposal(
        &self,
        study: &str,
        ask: &Ask<'_>,
        proposal: &Proposal,
        last: bool,
    ) -> Result<Option<Reply>> {
        let now = self.now();
        self.work(Again::Harmless, |link| {
            let begun = match plain::begin_turn(link, study)? {
                Turn::Own => true,
                Turn::Over if last => false,
                Turn::Over => return Ok(None),
                Turn::Stuck => false,
            };
            let table = Table::new(link, study, now).begun(begun);
            let add = |rules: &mut Rules<'_, Table<'_>>| rules.ask(ask, Some(proposal));
            transaction(table, study, Reads::Ask(ask), is_claim, add).map(Some)
        })
    }

    fn read<T>(&self, study: &str, work: impl Fn(&mut Table<'_>) -> Result<T>) -> Result<T> {
        check_known(study)?;
        self.work(Again::Harmless, |link| {
            let mut table = Table::new(link, study, None);
            work(&mut table).map_err(|error| table.abandon(error))
        })
    }
}

/// A call of the rules in a transaction, which waits for the disk if `durable` says so of its result.
fn transaction<T>(
    mut table: Table<'_>,
    study: &str,
    reads: Reads<'_>,
    durable: impl Fn(&T) -> bool,
    work: impl Fn(&mut Rules<'_, Table<'_>>) -> Result<T>,
) -> Result<T, Broken> {
    match Rules::begin(study, &mut table, reads).and_then(|mut rules| work(&mut rules)) {
        Ok(done) => {
            let end: &[&str] = if durable(&done) { &[COMMIT, FLUSH] } else { &[COMMIT] };
            table.finish(end)?;
            Ok(done)
        }
        Err(error) => Err(table.abandon(error)),
    }
}

/// Whether a reply acknowledges anything: a wish for a proposal does not.
fn is_claim(reply: &Reply) -> bool {
    matches!(reply, Reply::Claims(_))
}

/// Refuses an address that cannot be understood, without connecting to anything.
pub(super) fn check_address(address: &str) -> Result<()> {
    Target::parse(address).map(|_| ())
}

/// There is no study of a name that the server cannot even be asked for.
fn check_known(study: &str) -> Result<()> {
    if study.contains('\0') {
        return Err(Error::UnknownStudy { study: study.to_owned() });
    }
    Ok(())
}

impl Reader for Postgres {
    fn identity(&self) -> Result<String> {
        self.work(Again::Harmless, |link| {
            let rows = link.query(Command::new("SELECT identity FROM storage"))?;
            rows.first().ok_or_else(Broken::empty)?.try_get(0).map_err(Broken::reading)
        })
    }

    #[allow(
        clippy::redundant_closure_for_method_calls,
        reason = "the method is one of tables of a single lifetime, the closure of any"
    )]
    fn study(&self, study: &str) -> Result<Record> {
        self.read(study, |table| table.record())
    }

    fn studies(&self) -> Result<Vec<String>> {
        self.work(Again::Harmless, |link| {
            let names =
                link.query(Command::new(r#"SELECT name FROM studies ORDER BY name COLLATE "C""#))?;
            names.iter().map(|row| row.try_get(0).map_err(Broken::reading)).collect()
        })
    }

    read_from_a_table!();

    fn trial(&self, study: &str, trial: u64) -> Result<Trial> {
        self.read(study, |table| table.numbered(trial))
    }

    fn steps(&self, study: &str, trial: u64) -> Result<Vec<Step>> {
        self.read(study, |table| table.curve(trial))
    }

    fn counts(&self, study: &str) -> Result<Counts> {
        self.read(study, |table| Ok(table.peek()?.counts))
    }

    fn sequence(&self, study: &str) -> Result<u64> {
        self.read(study, |table| Ok(table.peek()?.sequence))
    }

    fn condition(&self) -> Result<Condition> {
        self.work(Again::Harmless, |link| {
            let rows = link.query(Command::new(
                "SELECT current_setting('server_version'), current_setting('synchronous_commit'), \
                 current_setting('fsync'), (SELECT max(version) FROM schema_versions), \
                 (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
            ))?;
            let row = rows.first().ok_or_else(Broken::empty)?;
            let text = |column: usize| row.try_get::<_, String>(column).map_err(Broken::reading);
            let now = row.try_get(4).map(Timestamp).map_err(Broken::reading)?;
            Ok(Condition {
                place: self.target.place.clone(),
                software: format!("PostgreSQL {}", text(0)?),
                durability: format!("synchronous_commit {}, fsync {}", text(1)?, text(2)?),
                schema: row.try_get(3).map_err(Broken::reading)?,
                now: self.clock.as_ref().map_or(now, |clock| clock.now()),
            })
        })
    }
}

impl Store for Postgres {
    fn recount(&self, study: &str) -> Result<()> {
        check_known(study)?;
        self.work(Again::Harmless, |link| {
            let named = |statement| Command::new(statement).with(study.to_owned());
            link.run(&[
                Command::new(statements::BEGIN),
                named(statements::LOCK),
                named(head::RESCORE),
                named(head::RECOUNT),
                Command::new(COMMIT),
            ])?;
            Ok(())
        })
    }

    fn create(&self, record: &Record) -> Result<Record> {
        let now = self.now();
        self.work(Again::Harmless, |link| {
            link.run(&[rows::add(record, now)?, Command::new(FLUSH)])?;
            Ok(())
        })?;
        self.study(&record.settings.name)
    }

    fn delete(&self, study: &str) -> Result<()> {
        check_known(study)?;
        self.work(Again::Different, |link| {
            let mut table = Table::new(link, study, None);
            match table.delete() {
                Ok(()) => table.finish(&[COMMIT, FLUSH]),
                Err(error) => Err(table.abandon(error)),
            }
        })
    }

    fn set_budget(&self, study: &str, budget: u64) -> Result<()> {
        self.write(study, Again::Harmless, Reads::Nothing, |rules| rules.set_budget(budget))
    }

    fn set_paused(&self, study: &str, paused: bool) -> Result<()> {
        self.write(study, Again::Harmless, Reads::Nothing, |rules| rules.set_paused(paused))
    }

    fn note(&self, study: &str, trial: u64, text: &str) -> Result<()> {
        self.write(study, Again::Harmless, Reads::Nothing, |rules| rules.note(trial, text))
    }

    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        // Before anything is sent: the server takes no text with zero bytes.
        check_ask(study, ask)?;
        check_known(study)?;
        let now = self.now();
        // What waits is not looked at: the shorter ways are of no use.
        for turn in 0.. {
            if ask.fresh {
                break;
            }
            let wish = self.work(Again::Harmless, |link| plain::peek(link, study, ask, now))?;
            let (Some(wish), Some(proposal)) = (&wish, proposal) else {
                match wish {
                    Some(wish) => return Ok(wish),
                    None => break,
                }
            };
            if !matches!(wish, Reply::Propose { issued, .. } if *issued == proposal.known) {
                return Ok(wish.clone());
            }
            if let Some(reply) = self.add_proposal(study, ask, proposal, turn == MOST_TURNS)? {
                return Ok(reply);
            }
        }
        let claims = match ask.fresh {
            true => None,
            false => self.work(Again::Harmless, |link| plain::ask(link, study, ask, now))?,
        };
        match claims {
            Some(claims) => Ok(Reply::Claims(claims)),
            None => {
                let reads = Reads::Ask(ask);
                self.transact(study, Again::Harmless, reads, is_claim, |rules| {
                    rules.ask(ask, proposal)
                })
            }
        }
    }

    fn resume(&self, study: &str, resume: &Resume<'_>) -> Result<usize> {
        check_resume(study, resume)?;
        self.write(study, Again::Harmless, Reads::Nothing, |rules| rules.resume(resume))
    }

    fn add(&self, study: &str, additions: &[Addition]) -> Result<Vec<u64>> {
        check_additions(study, additions)?;
        self.write(study, Again::Harmless, Reads::Additions(additions), |rules| {
            rules.add(additions)
        })
    }

    fn transfer(&self, study: &str, transfer: &Transfer<'_>) -> Result<()> {
        check_known(study)?;
        let token = |trial: &Trial| Token { trial: trial.id, fence: 0 };
        let tokens: Vec<Token> = transfer.trials.iter().map(token).collect();
        self.write(study, Again::Harmless, Reads::Trials(&tokens), |rules| rules.transfer(transfer))
    }

    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>> {
        let reads = Reads::Trials(tokens);
        self.transact(study, Again::Harmless, reads, |_| false, |rules| rules.heartbeats(tokens))
    }

    fn reports(&self, study: &str, reports: &[Report]) -> Result<Vec<Refused>> {
        // Before anything is sent: what is not finite would make a statement that the server refuses.
        for Report { token, steps } in reports {
            steps
                .iter()
                .try_for_each(|step| storable_step(study, token.trial, step).map(|_| ()))?;
        }
        let reads = Reads::Reports(reports);
        self.write(study, Again::Harmless, reads, |rules| rules.report(reports))
    }

    fn tell_with(&self, study: &str, tell: &Tell<'_>) -> Result<()> {
        check_tell(study, tell)?;
        check_known(study)?;
        let outcome = &storable(study, tell.token.trial, tell.outcome)?;
        let tell = &Tell { outcome, ..*tell };
        let now = self.now();
        if self.work(Again::Harmless, |link| plain::tell(link, study, tell, now))? {
            return Ok(());
        }
        let tokens = [tell.token];
        self.write(study, Again::Harmless, Reads::Trials(&tokens), |rules| rules.tell(tell))
    }

    fn release(&self, study: &str, token: Token) -> Result<()> {
        let tokens = [token];
        self.write(study, Again::Different, Reads::Trials(&tokens), |rules| rules.release(token))
    }

    fn pause_trial(&self, study: &str, token: Token) -> Result<()> {
        let tokens = [token];
        self.write(study, Again::Harmless, Reads::Trials(&tokens), |rules| rules.pause(token))
    }
}
