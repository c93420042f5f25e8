//! Workers that do what the runner does, step by step, and a user who asks and tells by hand.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::connection::{Connection, Fault};
use super::{LEASE, SAFE, World};
use wimble_study::store::{Ask, Resume};
use wimble_study::{Claim, Error, Outcome, Store, Study, Token};

/// How often a worker sends heartbeats, as the runner does.
const BEAT: i64 = LEASE / 4;
/// How often it looks for trials that others gave back.
const LOOK: i64 = LEASE / 2;

/// What outlives a process.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    incarnations: Vec<String>,
    kept: Vec<(Token, f64)>,
    /// Whether a process has it.
    taken: bool,
}

impl Folder {
    /// A copy that nobody has taken.
    pub fn copy(&self) -> Self {
        Self { taken: false, ..self.clone() }
    }
}

pub struct Worker {
    pub name: &'static str,
    pub folder: usize,
    slots: usize,
    starts_at: i64,
    process: Option<Process>,
}

struct Process {
    connection: Arc<Connection>,
    study: Study,
    incarnation: String,
    formerly: Vec<String>,
    resumed: bool,
    frozen_until: i64,
    next_beat: i64,
    next_ask: i64,
    /// The number of the latest ask, and whether it was answered.
    asks: (u32, bool),
    begun: BTreeSet<Token>,
    tasks: Vec<Task>,
    /// An answer that was long on its way, and when it was given.
    late: Option<(i64, Vec<Claim>)>,
    /// Somebody else may have taken its trials by a copy of its state.
    copied: bool,
}

/// An evaluation.
struct Task {
    token: Token,
    ends: i64,
    /// When the storage was last reached for it.
    contact: i64,
    /// What came of it, once it ended.
    value: Option<f64>,
}

impl Worker {
    pub fn new(name: &'static str, folder: usize, slots: usize) -> Self {
        Self { name, folder, slots, starts_at: 0, process: None }
    }

    pub fn freeze(&mut self, until: i64) -> bool {
        match &mut self.process {
            Some(process) => {
                process.frozen_until = until;
                true
            }
            None => false,
        }
    }

    /// Its commands end with it.
    pub fn kill(&mut self, folder: &mut Folder, again: i64) {
        if self.process.take().is_some() {
            folder.taken = false;
        }
        self.starts_at = again;
    }

    pub fn was_copied(&mut self) {
        if let Some(process) = &mut self.process {
            process.copied = true;
        }
    }

    pub fn is_idle(&self) -> bool {
        self.process.as_ref().is_none_or(|process| process.tasks.is_empty())
    }

    /// The trials whose commands run, if it is in touch with the storage.
    pub fn evaluates(&self, now: i64) -> Vec<Token> {
        let Some(process) = &self.process else { return Vec::new() };
        if now < process.frozen_until || process.copied {
            return Vec::new();
        }
        let running = |task: &&Task| task.value.is_none() && now - task.contact < SAFE;
        process.tasks.iter().filter(running).map(|task| task.token).collect()
    }
}

/// A fault for the next calls, now and then.
fn shake(world: &mut World, connection: &Connection) {
    let calls = world.dice.between(0, 3) as u32;
    let fault = match world.dice.between(0, 60) {
        _ if world.is_away() => Some(Fault::Away),
        _ if world.now >= world.peace => None,
        0 => Some(Fault::Before(calls)),
        1 => Some(Fault::After(calls)),
        _ => None,
    };
    world.troubled |= fault.is_some();
    connection.set(fault);
}

/// One step of a worker.
pub fn act(world: &mut World, number: usize) {
    let now = world.now;
    let Some(mut process) = world.workers[number].process.take() else {
        if now >= world.workers[number].starts_at {
            start(world, number);
        }
        return;
    };
    if now >= process.frozen_until {
        shake(world, &process.connection.clone());
        step(world, number, &mut process);
    }
    world.workers[number].process = Some(process);
}

fn start(world: &mut World, number: usize) {
    let connection = Arc::new(Connection::new(Arc::clone(&world.store)));
    let folder = world.workers[number].folder;
    if world.is_away() || world.folders[folder].taken {
        return;
    }
    let incarnation = format!("{:016x}", world.dice.between(0, i64::MAX >> 1));
    let state = &mut world.folders[folder];
    state.taken = true;
    let formerly = state.incarnations.clone();
    state.incarnations.push(incarnation.clone());
    let study = Study::open(Arc::clone(&connection) as Arc<dyn Store>, "s").unwrap();
    world.say(|| format!("worker {number} starts as {incarnation}"));
    let (now, asks) = (world.now, (0, true));
    world.workers[number].process = Some(Process {
        connection,
        study,
        incarnation,
        formerly,
        resumed: false,
        frozen_until: 0,
        next_beat: now + BEAT,
        next_ask: now,
        asks,
        begun: BTreeSet::new(),
        tasks: Vec::new(),
        late: None,
        copied: false,
    });
}

/// What the runner does: what was kept is told, then trials are taken back, then commands end, beat and begin.
fn step(world: &mut World, number: usize, process: &mut Process) {
    if !process.resumed && !resume(world, number, process) {
        return;
    }
    if let Some((contact, claims)) = process.late.take() {
        begin(world, number, process, claims, contact);
    }
    let now = world.now;
    for task in process.tasks.iter_mut().filter(|task| task.value.is_none() && task.ends <= now) {
        // A value that no other evaluation has.
        task.value = Some(world.dice.between(0, i64::MAX >> 12) as f64);
    }
    let mut left = Vec::new();
    for mut task in std::mem::take(&mut process.tasks) {
        let Some(value) = task.value else {
            left.push(task);
            continue;
        };
        match tell(world, &process.study, task.token, value) {
            Told::Unanswered => {
                let fails = file_system_fails(world);
                let kept = &mut world.folders[world.workers[number].folder].kept;
                if !fails && !kept.iter().any(|(token, _)| *token == task.token) {
                    kept.push((task.token, value));
                }
                task.ends = i64::MAX;
                left.push(task);
            }
            Told::Refused => {
                assert!(
                    process.copied || world.excused(task.contact),
                    "the result of {} is refused; the storage was reached {} ago",
                    task.token,
                    now - task.contact
                );
                forget(world, number, task.token);
            }
            Told::Taken => forget(world, number, task.token),
        }
    }
    process.tasks = left;
    if now >= process.next_beat {
        process.next_beat = now + BEAT;
        beat(world, number, process);
    }
    if now >= process.next_ask && process.tasks.len() < world.workers[number].slots {
        ask(world, number, process);
    }
}

/// Whether the state folder takes nothing just now.
fn file_system_fails(world: &mut World) -> bool {
    world.now < world.peace && world.dice.one_in(8)
}

fn forget(world: &mut World, number: usize, token: Token) {
    if file_system_fails(world) {
        return;
    }
    let folder = world.workers[number].folder;
    world.folders[folder].kept.retain(|(kept, _)| *kept != token);
}

/// Whether it is done with what was before it.
fn resume(world: &mut World, number: usize, process: &mut Process) -> bool {
    let folder = world.workers[number].folder;
    for (token, value) in world.folders[folder].kept.clone() {
        if let Told::Unanswered = tell(world, &process.study, token, value) {
            return false;
        }
        forget(world, number, token);
    }
    let (worker, incarnation) = (world.workers[number].name, process.incarnation.clone());
    let resume = Resume { worker, incarnation: &incarnation, formerly: &process.formerly };
    if process.study.resume(&resume).is_err() {
        return false;
    }
    if !file_system_fails(world) {
        world.folders[folder].incarnations = vec![incarnation];
    }
    process.resumed = true;
    true
}

enum Told {
    Taken,
    Refused,
    Unanswered,
}

fn tell(world: &mut World, study: &Study, token: Token, value: f64) -> Told {
    let told = study.tell(token, &Outcome::from(value), &format!("tell-{token}"));
    world.say(|| format!("tell {token} {value}: {told:?}"));
    match told {
        Ok(()) => {
            let told = &mut world.accounts.entry(token.trial).or_default().told;
            if !told.contains(&value) {
                told.push(value);
            }
            Told::Taken
        }
        Err(Error::Backend { .. }) => {
            world.accounts.entry(token.trial).or_default().unanswered.push(value);
            Told::Unanswered
        }
        Err(_) => {
            world.check_refusal(token);
            Told::Refused
        }
    }
}

fn beat(world: &mut World, number: usize, process: &mut Process) {
    let tokens: Vec<Token> = process.tasks.iter().map(|task| task.token).collect();
    let Ok(refused) = process.study.heartbeats(&tokens) else { return };
    for refused in &refused {
        let task = process.tasks.iter().find(|task| task.token == refused.token).unwrap();
        // Its result may have been stored without an answer: telling it again says so.
        if task.value.is_some() {
            continue;
        }
        world.check_refusal(refused.token);
        assert!(
            process.copied || world.excused(task.contact),
            "worker {number} loses {} to another, {} after it reached the storage",
            task.token,
            world.now - task.contact
        );
        world.say(|| format!("worker {number} loses {}", refused.token));
    }
    let is_lost = |token: Token| refused.iter().any(|refused| refused.token == token);
    // A result that waits to be told is told all the same, and refused.
    process.tasks.retain(|task| task.value.is_some() || !is_lost(task.token));
    for task in process.tasks.iter_mut().filter(|task| !is_lost(task.token)) {
        task.contact = world.now;
    }
}

fn ask(world: &mut World, number: usize, process: &mut Process) {
    if process.asks.1 {
        process.asks = (process.asks.0 + 1, false);
    }
    let key = format!("{}-{}", process.incarnation, process.asks.0);
    let (worker, wanted) = (world.workers[number].name, world.workers[number].slots);
    let incarnation = Some(process.incarnation.as_str());
    let asked = process.study.ask_with(&Ask {
        worker,
        incarnation,
        key: &key,
        wanted,
        fresh: false,
        plans: false,
    });
    let Ok(claims) = asked else { return };
    process.asks.1 = true;
    let contact = world.now;
    // The whole process waits for an answer that is slow.
    if world.now < world.peace && world.dice.one_in(40) {
        process.frozen_until = world.now + world.dice.between(1, 3 * LEASE);
        process.late = Some((contact, claims));
        world.troubled = true;
        world.say(|| format!("the answer to worker {number} is slow"));
        return;
    }
    begin(world, number, process, claims, contact);
}

/// Begins what an ask gave; the storage was reached at `contact`.
fn begin(
    world: &mut World,
    number: usize,
    process: &mut Process,
    claims: Vec<Claim>,
    contact: i64,
) {
    for Claim { token, .. } in claims {
        if process.begun.insert(token) {
            world.accounts.entry(token.trial).or_default().begun += 1;
            let ends = world.now + world.dice.between(1, 3 * LEASE);
            process.tasks.push(Task { token, ends, contact, value: None });
            world.say(|| format!("worker {number} begins {token}"));
        }
    }
    process.next_ask = world.now + if process.tasks.is_empty() { LOOK } else { 0 };
}

/// Somebody who asks by hand, sends no heartbeat, and tells when it suits him.
#[derive(Default)]
pub struct User {
    asks: u32,
    holds: Option<(Token, i64)>,
}

pub fn use_by_hand(world: &mut World, number: usize) {
    let study = Study::open(Arc::clone(&world.store) as Arc<dyn Store>, "s").unwrap();
    match world.users[number].holds {
        Some((_, until)) if until > world.now => {}
        Some((token, _)) => {
            let value = world.dice.between(0, i64::MAX >> 12) as f64;
            tell(world, &study, token, value);
            world.users[number].holds = None;
        }
        None if world.users[number].asks < 3 && world.dice.one_in(20) => {
            world.users[number].asks += 1;
            let name = format!("user-{number}-{}", world.users[number].asks);
            let claims = study.ask(&name, &name, 1).unwrap();
            // He may take longer than any lease; another may then take the trial.
            world.troubled |= !claims.is_empty();
            world.users[number].holds = claims.first().map(|claim| {
                world.accounts.entry(claim.trial).or_default().begun += 1;
                (claim.token, world.now + world.dice.between(1, 8 * LEASE))
            });
        }
        None => {}
    }
}
