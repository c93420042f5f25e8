//! Random calls in random order, on every back end and on a naive model of the contract: each call gives the same
//! answer on both, and leaves the same trials.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod server;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use proptest::prelude::*;
use wimble::prelude::{Configuration, Dimension, SearchSpace};
use wimble_study::settings::Record;
use wimble_study::store::{Ask, Proposal, Reply, Resume};
use wimble_study::trial::{Change, Ended};
use wimble_study::{
    Addition, Clock as _, Counts, Error, Filter, ManualClock, Measurement, Memory, Origin, Outcome,
    Postgres, Report, Settings, Sqlite, State, Step, Store, Timestamp, Token,
};

const LEASE: i64 = 10;
const RETRIES: u32 = 1;
const BUDGET: usize = 12;

#[derive(Debug, Clone)]
enum Call {
    /// `spare` points more are proposed than needed.
    Ask {
        worker: usize,
        /// Which of its processes, if it does not vouch for its name.
        incarnation: usize,
        key: usize,
        wanted: usize,
        spare: usize,
    },
    Heartbeat(usize),
    /// For several tokens at once.
    Heartbeats(Vec<usize>),
    /// Adds a trial, with or without a value.
    Add {
        key: usize,
        value: Option<i32>,
    },
    /// Deletes the study and creates it anew.
    Replace,
    Tell {
        token: usize,
        value: i32,
        key: usize,
    },
    Release(usize),
    /// Steps of several trials at once: a token, fidelities and values.
    Reports(Vec<(usize, Vec<(u32, i32)>)>),
    /// A worker starts again.
    Resume {
        worker: usize,
        from: usize,
        to: usize,
    },
    /// Forwards, or back.
    Jump(i64),
    /// The process ends, and another opens the store.
    Restart,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let ask = (0..2_usize, 0..3_usize, 0..40_usize, 1..4_usize, 0..3_usize).prop_map(
        |(worker, incarnation, key, wanted, spare)| Call::Ask {
            worker,
            incarnation,
            key,
            wanted,
            spare,
        },
    );
    let resume = (0..2_usize, 1..3_usize, 1..3_usize).prop_map(|(worker, from, to)| Call::Resume {
        worker,
        from,
        to,
    });
    let tell = (0..30_usize, 0..2_i32, 0..2_usize).prop_map(|(token, value, key)| Call::Tell {
        token,
        value,
        key,
    });
    let steps = proptest::collection::vec((1..5_u32, 0..2_i32), 0..4);
    let call = prop_oneof![
        5 => ask,
        4 => tell,
        2 => (0..30_usize).prop_map(Call::Heartbeat),
        1 => proptest::collection::vec(0..30_usize, 0..5).prop_map(Call::Heartbeats),
        2 => (0..6_usize, proptest::option::of(0..2_i32))
            .prop_map(|(key, value)| Call::Add { key, value }),
        1 => (0..30_usize).prop_map(Call::Release),
        3 => proptest::collection::vec((0..30_usize, steps), 0..4).prop_map(Call::Reports),
        1 => resume,
        3 => (-15..15_i64).prop_map(Call::Jump),
        1 => Just(Call::Restart),
    ];
    // Rarely, for it ends what was going on.
    let call = prop_oneof![60 => call, 1 => Just(Call::Replace)];
    proptest::collection::vec(call, 1..60)
}

/// What a trial is, said as plainly as possible.
#[derive(Debug, Clone, PartialEq)]
enum Plain {
    Queued(Option<Ended>),
    Running {
        worker: usize,
        incarnation: usize,
        fence: u64,
        due: i64,
        notice: Option<i64>,
    },
    Told {
        fence: u64,
        value: i32,
        key: usize,
    },
    LostForGood,
    /// Evaluated elsewhere.
    Imported {
        value: i32,
    },
}

/// What a call answers.
#[derive(Debug, Clone, PartialEq)]
enum Said {
    Done,
    Claims(Vec<(Token, u32)>),
    Resumed(usize),
    Added(u64),
    /// The tokens that were not honoured.
    Refused(Vec<(Token, Said)>),
    LeaseLost,
    AlreadyTold,
    UnknownToken,
    KeyReused,
}

#[derive(Default)]
struct Model {
    now: i64,
    fence: u64,
    trials: Vec<(Plain, u32)>,
    asks: BTreeMap<usize, (usize, usize, Said)>,
    /// What was added under each key.
    additions: BTreeMap<usize, (u64, Option<i32>)>,
    /// The trials that were told, imported or failed, in that order.
    finished: Vec<u64>,
    /// The curve of each trial: fidelity, value and number of each step.
    curves: BTreeMap<u64, Vec<(u32, i32, u64)>>,
    steps: u64,
}

impl Model {
    /// The trials of others that an asker may take; gives notice, and ends what was lost too often.
    fn overdue(&mut self, asker: (usize, usize), limit: usize) -> Vec<usize> {
        let mut due: Vec<(i64, usize)> = Vec::new();
        for (id, (plain, _)) in self.trials.iter().enumerate() {
            if let Plain::Running { due: at, worker, incarnation, .. } = plain
                && *at <= self.now
                && (*worker, *incarnation) != asker
            {
                due.push((*at, id));
            }
        }
        due.sort_unstable();
        let (mut takeable, mut noticed) = (Vec::new(), 0);
        for (_, id) in due {
            if takeable.len() == limit {
                break;
            }
            let (plain, lost) = &mut self.trials[id];
            let Plain::Running { notice, .. } = plain else { continue };
            match *notice {
                Some(at) if at > self.now => noticed += 1,
                Some(_) if *lost == RETRIES => {
                    *lost += 1;
                    *plain = Plain::LostForGood;
                    self.finished.push(id as u64);
                }
                Some(_) => takeable.push(id),
                None if noticed + takeable.len() < limit => {
                    *notice = Some(self.now + LEASE / 2);
                    noticed += 1;
                }
                None => {}
            }
        }
        takeable
    }

    fn ask(&mut self, asker: (usize, usize), key: usize, wanted: usize, spare: usize) -> Said {
        let (worker, incarnation) = asker;
        if let Some((by, number, said)) = self.asks.get(&key) {
            let same = (*by, *number) == (worker, wanted);
            let Said::Claims(claims) = said else { return said.clone() };
            // What another worker took since, or nobody may take any more, is not given again.
            let is_open = |token: &Token| match &self.trials[token.trial as usize].0 {
                Plain::Running { fence, .. } | Plain::Told { fence, .. } => *fence <= token.fence,
                Plain::LostForGood => false,
                Plain::Queued(_) | Plain::Imported { .. } => true,
            };
            let claims: Vec<(Token, u32)> =
                claims.iter().filter(|(token, _)| is_open(token)).copied().collect();
            if !same {
                return Said::KeyReused;
            }
            // Whoever asks again is alive.
            for (token, _) in &claims {
                self.heartbeat(*token);
            }
            return Said::Claims(claims);
        }
        let is_own = |plain: &Plain| matches!(plain, Plain::Running { worker, incarnation, .. } if (*worker, *incarnation) == asker);
        let find = |wish: &dyn Fn(&Plain) -> bool| -> Vec<usize> {
            (0..self.trials.len()).filter(|&id| wish(&self.trials[id].0)).collect()
        };
        let mut chosen = find(&is_own);
        let enqueued = |id: &usize| {
            self.additions.values().any(|(trial, value)| *trial == *id as u64 && value.is_none())
        };
        let (first, then): (Vec<usize>, Vec<usize>) =
            find(&|plain| matches!(plain, Plain::Queued(_))).into_iter().partition(enqueued);
        chosen.extend(first);
        chosen.extend(then);
        chosen.truncate(wanted);
        let overdue = self.overdue(asker, wanted - chosen.len());
        chosen.extend(&overdue);
        if chosen.len() < wanted {
            let new = wanted - chosen.len() + spare;
            let imported = self.additions.values().filter(|(_, value)| value.is_some()).count();
            for _ in 0..new.min((BUDGET + imported).saturating_sub(self.trials.len())) {
                chosen.push(self.trials.len());
                self.trials.push((Plain::Queued(None), 0));
            }
            chosen.truncate(wanted);
        }
        let mut claims = Vec::new();
        for id in chosen {
            let (plain, lost) = &mut self.trials[id];
            let (fence, due) = match plain {
                Plain::Running { fence, due, .. } if !overdue.contains(&id) => (*fence, *due),
                _ => {
                    self.fence += 1;
                    *lost += u32::from(overdue.contains(&id));
                    (self.fence, i64::MIN)
                }
            };
            let due = due.max(self.now + LEASE);
            *plain = Plain::Running { worker, incarnation, fence, due, notice: None };
            claims.push((Token { trial: id as u64, fence }, *lost + 1));
        }
        let said = Said::Claims(claims);
        if said != Said::Claims(Vec::new()) {
            self.asks.insert(key, (worker, wanted, said.clone()));
        }
        said
    }

    /// What a token is worth; `None`: it holds its trial.
    fn refusal(&self, token: Token) -> Option<Said> {
        if token.fence == 0 || token.fence > self.fence {
            return Some(Said::UnknownToken);
        }
        let Some((plain, _)) = self.trials.get(token.trial as usize) else {
            return Some(Said::UnknownToken);
        };
        match plain {
            // The last token that it had is older.
            Plain::Running { fence, .. } | Plain::Told { fence, .. } if token.fence > *fence => {
                Some(Said::UnknownToken)
            }
            Plain::Queued(None) | Plain::Imported { .. } => Some(Said::UnknownToken),
            Plain::Running { fence, .. } if *fence == token.fence => None,
            Plain::Told { fence, .. } if *fence == token.fence => Some(Said::AlreadyTold),
            _ => Some(Said::LeaseLost),
        }
    }

    fn resume(&mut self, worker: usize, from: usize, to: usize) -> Said {
        let mut moved = 0;
        for (plain, _) in self.trials.iter_mut().filter(|_| from != to) {
            match plain {
                Plain::Running { worker: by, incarnation, .. }
                    if (*by, *incarnation) == (worker, from) =>
                {
                    self.fence += 1;
                    let (fence, due) = (self.fence, self.now + LEASE);
                    *plain = Plain::Running { worker, incarnation: to, fence, due, notice: None };
                    moved += 1;
                }
                _ => {}
            }
        }
        Said::Resumed(moved)
    }

    fn heartbeat(&mut self, token: Token) -> Said {
        if let Some(refusal) = self.refusal(token) {
            return refusal;
        }
        if let (Plain::Running { due, notice, .. }, _) = &mut self.trials[token.trial as usize] {
            *due = (*due).max(self.now + LEASE);
            *notice = None;
        }
        Said::Done
    }

    fn tell(&mut self, token: Token, value: i32, key: usize) -> Said {
        if let Some((Plain::Told { fence, value: told, key: by }, _)) =
            self.trials.get(token.trial as usize)
            && (*fence, *by) == (token.fence, key)
        {
            return if *told == value { Said::Done } else { Said::KeyReused };
        }
        if let Some(refusal) = self.refusal(token) {
            return refusal;
        }
        self.trials[token.trial as usize].0 = Plain::Told { fence: token.fence, value, key };
        self.finished.push(token.trial);
        Said::Done
    }

    fn heartbeats(&mut self, tokens: &[Token]) -> Said {
        let said = tokens.iter().map(|&token| (token, self.heartbeat(token)));
        Said::Refused(said.filter(|(_, said)| *said != Said::Done).collect())
    }

    fn reports(&mut self, reports: &[(Token, Vec<(u32, i32)>)]) -> Said {
        let mut refused = Vec::new();
        for (token, steps) in reports {
            match self.heartbeat(*token) {
                Said::Done => {}
                said => {
                    refused.push((*token, said));
                    continue;
                }
            }
            for &(at, value) in steps {
                let curve = self.curves.entry(token.trial).or_default();
                if !curve.iter().any(|&(known, told, _)| (known, told) == (at, value)) {
                    curve.retain(|&(known, ..)| known < at);
                    self.steps += 1;
                    curve.push((at, value, self.steps));
                }
            }
        }
        Said::Refused(refused)
    }

    fn add(&mut self, key: usize, value: Option<i32>) -> Said {
        if let Some((trial, known)) = self.additions.get(&key) {
            return if *known == value { Said::Added(*trial) } else { Said::KeyReused };
        }
        let trial = self.trials.len() as u64;
        let plain = match value {
            None => Plain::Queued(None),
            Some(value) => Plain::Imported { value },
        };
        if value.is_some() {
            self.finished.push(trial);
        }
        self.trials.push((plain, 0));
        self.additions.insert(key, (trial, value));
        Said::Added(trial)
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for (plain, _) in &self.trials {
            match plain {
                Plain::Queued(_) => counts.queued += 1,
                Plain::Running { .. } => counts.running += 1,
                Plain::Told { .. } => counts.valued += 1,
                Plain::LostForGood => counts.failed += 1,
                Plain::Imported { .. } => {
                    counts.valued += 1;
                    counts.imported += 1;
                }
            }
        }
        counts
    }

    /// All trials with values, the best first, the earliest told of equals.
    fn best(&self) -> Vec<u64> {
        let valued = self.finished.iter().filter_map(|&id| match self.trials[id as usize].0 {
            Plain::Told { value, .. } | Plain::Imported { value } => Some((value, id)),
            _ => None,
        });
        let mut best: Vec<(i32, u64)> = valued.collect();
        best.sort_by_key(|&(value, _)| value);
        best.into_iter().map(|(_, id)| id).collect()
    }

    fn release(&mut self, token: Token) -> Said {
        if let Some(refusal) = self.refusal(token) {
            return refusal;
        }
        self.trials[token.trial as usize].0 = Plain::Queued(Some(Ended::Released));
        Said::Done
    }
}

fn point(n: usize) -> Configuration {
    [("n", n as i64)].into_iter().collect()
}

fn ask_store(store: &dyn Store, ask: &Ask<'_>, issued: usize, spare: usize) -> Result<Said, Error> {
    let mut reply = store.ask("s", ask, None)?;
    if let Reply::Propose { count, .. } = reply {
        let configurations = (issued..issued + count + spare).map(point).collect();
        let engine = "0.1.0".to_owned();
        let (untils, continued) = (Vec::new(), Vec::new());
        let known = issued as u64;
        let proposal =
            Proposal { known, configurations, untils, continued, exhausted: false, engine };
        reply = store.ask("s", ask, Some(&proposal))?;
    }
    let Reply::Claims(claims) = reply else { panic!("the proposal saw all trials: {reply:?}") };
    Ok(Said::Claims(claims.iter().map(|claim| (claim.token, claim.attempt)).collect()))
}

fn said(result: Result<Said, Error>) -> Said {
    match result {
        Ok(said) => said,
        Err(Error::LeaseLost { .. }) => Said::LeaseLost,
        Err(Error::AlreadyTold { .. }) => Said::AlreadyTold,
        Err(Error::UnknownToken { .. }) => Said::UnknownToken,
        Err(Error::KeyReused { .. }) => Said::KeyReused,
        Err(error) => panic!("{error}"),
    }
}

fn plain(state: &State) -> Plain {
    match state {
        State::Queued(ended) => Plain::Queued(*ended),
        State::Running(lease) => Plain::Running {
            worker: lease.worker[1..].parse().unwrap(),
            incarnation: lease.incarnation.as_ref().map_or(0, |word| word.parse().unwrap()),
            fence: lease.fence,
            due: lease.due.0,
            notice: lease.notice.map(|at| at.0),
        },
        State::Paused(_) => panic!("no operation here pauses a trial"),
        State::Finished(finish) if finish.lease.fence == 0 => {
            Plain::Imported { value: finish.outcome.value().unwrap() as i32 }
        }
        State::Finished(finish) => match (finish.outcome.value(), &finish.key) {
            (Some(value), Some(key)) => Plain::Told {
                fence: finish.lease.fence,
                value: value as i32,
                key: key[1..].parse().unwrap(),
            },
            _ => Plain::LostForGood,
        },
    }
}

/// Follows the changes like any reader.
#[derive(Default)]
struct Reader {
    sequence: u64,
    states: BTreeMap<u64, Plain>,
    finished: Vec<u64>,
}

impl Reader {
    fn read(&mut self, changes: &[Change]) {
        for change in changes {
            assert!(change.sequence() > self.sequence);
            self.sequence = change.sequence();
            let state = plain(&change.trial.state);
            if !matches!(state, Plain::Queued(_) | Plain::Running { .. }) {
                self.finished.push(change.trial.id);
            }
            self.states.insert(change.trial.id, state);
        }
    }
}

/// Makes all calls on both; `open` opens the store, again after each restart.
fn compare(calls: &[Call], clock: &ManualClock, open: &mut dyn FnMut() -> Box<dyn Store>) {
    let mut store = open();
    let space = SearchSpace::new([Dimension::integer("n", 0, 1_000)]).unwrap();
    let settings = Settings::new("s", space, "random".parse().unwrap())
        .budget(BUDGET as u64)
        .retries(RETRIES)
        .lease(Duration::from_millis(LEASE as u64));
    let record = Record::new(settings);
    store.create(&record).unwrap();
    let (mut model, mut reader) = (Model::default(), Reader::default());
    let mut tokens = vec![];
    for (step, call) in calls.iter().enumerate() {
        // Any token ever given.
        let pick =
            |n: &usize| -> Option<Token> { (!tokens.is_empty()).then(|| tokens[n % tokens.len()]) };
        let (expected, got) = match call {
            Call::Ask { worker, incarnation, key, wanted, spare } => {
                let (name, key_name) = (format!("w{worker}"), format!("k{key}"));
                let process = incarnation.to_string();
                let named = (*incarnation > 0).then_some(process.as_str());
                let ask = Ask {
                    worker: &name,
                    incarnation: named,
                    key: &key_name,
                    wanted: *wanted,
                    fresh: false,
                    plans: false,
                };
                let issued = model.trials.len();
                let got = ask_store(&*store, &ask, issued, *spare);
                (model.ask((*worker, *incarnation), *key, *wanted, *spare), got)
            }
            Call::Heartbeat(n) => {
                let Some(token) = pick(n) else { continue };
                (model.heartbeat(token), store.heartbeat("s", token).map(|()| Said::Done))
            }
            Call::Heartbeats(ns) => {
                let tokens: Vec<Token> = ns.iter().filter_map(pick).collect();
                let got = store.heartbeats("s", &tokens).map(|refused| {
                    let refused = refused.into_iter().map(|r| (r.token, said(Err(r.error))));
                    Said::Refused(refused.collect())
                });
                (model.heartbeats(&tokens), got)
            }
            Call::Add { key, value } => {
                let addition = match value {
                    None => Addition::queued(format!("a{key}"), point(500 + key)),
                    Some(value) => {
                        let outcome = Outcome::from(f64::from(*value));
                        Addition::finished(format!("a{key}"), point(500 + key), outcome)
                    }
                };
                let got = store.add("s", &[addition]).map(|ids| Said::Added(ids[0]));
                (model.add(*key, *value), got)
            }
            Call::Replace => {
                store.delete("s").unwrap();
                store.create(&record).unwrap();
                // Fencing numbers go on; all else begins anew.
                model = Model { now: model.now, fence: model.fence, ..Model::default() };
                reader = Reader::default();
                continue;
            }
            Call::Tell { token, value, key } => {
                let Some(token) = pick(token) else { continue };
                let outcome = Outcome::from(f64::from(*value));
                let got = store.tell("s", token, &outcome, &format!("t{key}"));
                (model.tell(token, *value, *key), got.map(|()| Said::Done))
            }
            Call::Release(n) => {
                let Some(token) = pick(n) else { continue };
                (model.release(token), store.release("s", token).map(|()| Said::Done))
            }
            Call::Reports(all) => {
                let picked = all.iter().filter_map(|(n, steps)| Some((pick(n)?, steps.clone())));
                let picked: Vec<(Token, Vec<(u32, i32)>)> = picked.collect();
                let measured = |&(at, value): &(u32, i32)| Measurement {
                    fidelity: Some(f64::from(at)),
                    ..f64::from(value).into()
                };
                let report = |(token, steps): &(Token, Vec<(u32, i32)>)| Report {
                    token: *token,
                    steps: steps.iter().map(measured).collect(),
                };
                let reports: Vec<Report> = picked.iter().map(report).collect();
                let got = store.reports("s", &reports).map(|refused| {
                    let refused = refused.into_iter().map(|r| (r.token, said(Err(r.error))));
                    Said::Refused(refused.collect())
                });
                (model.reports(&picked), got)
            }
            Call::Resume { worker, from, to } => {
                let (name, formerly, to_name) =
                    (format!("w{worker}"), [from.to_string()], to.to_string());
                let resume = Resume { worker: &name, incarnation: &to_name, formerly: &formerly };
                let got = store.resume("s", &resume).map(Said::Resumed);
                (model.resume(*worker, *from, *to), got)
            }
            Call::Jump(by) => {
                model.now += by;
                clock.set(Timestamp(clock.now().0 + by));
                continue;
            }
            Call::Restart => {
                store = open();
                continue;
            }
        };
        assert_eq!(said(got), expected, "call {step}: {call:?}");
        if let Said::Claims(claims) = expected {
            tokens.extend(claims.iter().map(|&(token, _)| token));
        }
        let trials = store.trials("s", &Filter::default()).unwrap();
        let stored: Vec<(Plain, u32)> = trials.iter().map(|t| (plain(&t.state), t.lost)).collect();
        assert_eq!(stored, model.trials, "after call {step}: {call:?}");
        for trial in &trials {
            let added = trial.origin != Origin::Proposed;
            let added_at = (500..506).map(point).any(|at| trial.configuration == at);
            assert_eq!(added, added_at, "trial {}: {}", trial.id, trial.configuration);
        }
        assert_eq!(store.counts("s").unwrap(), model.counts(), "after call {step}: {call:?}");
        if let Call::Reports(_) = call {
            let plain = |step: &Step| {
                let value = step.measurement.value().unwrap() as i32;
                (step.fidelity() as u32, value, step.sequence)
            };
            for trial in &trials {
                let curve: Vec<_> = store.steps("s", trial.id).unwrap().iter().map(plain).collect();
                let expected = model.curves.get(&trial.id).cloned().unwrap_or_default();
                assert_eq!(curve, expected, "after call {step}: {call:?}");
            }
            let all = store.steps_since("s", 0, usize::MAX).unwrap();
            let mut expected: Vec<u64> = model.curves.values().flatten().map(|s| s.2).collect();
            expected.sort_unstable();
            assert_eq!(all.iter().map(|s| s.sequence).collect::<Vec<_>>(), expected);
        }
        let best = store.best("s", usize::MAX).unwrap();
        assert_eq!(best.iter().map(|trial| trial.id).collect::<Vec<_>>(), model.best());
        if step % 3 == 0 {
            reader.read(&store.changes_since("s", reader.sequence, usize::MAX).unwrap());
            assert_eq!(reader.finished, model.finished);
            assert_eq!(reader.states.len(), model.trials.len());
        }
    }
    reader.read(&store.changes_since("s", reader.sequence, usize::MAX).unwrap());
    let mut late = Reader::default();
    late.read(&store.changes_since("s", 0, usize::MAX).unwrap());
    assert_eq!((&late.finished, late.sequence), (&model.finished, reader.sequence));
    assert_eq!(reader.finished, model.finished);
    // But for heartbeats, which are no changes, what was followed is what is.
    for (id, state) in &reader.states {
        let stored = &model.trials[*id as usize].0;
        let same = match (state, stored) {
            (Plain::Running { fence, .. }, Plain::Running { fence: other, .. }) => fence == other,
            (state, stored) => state == stored,
        };
        assert!(same, "trial {id} is {stored:?}, a reader has {state:?}");
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn memory_does_what_the_model_does(calls in calls()) {
        let clock = ManualClock::default();
        let calls: Vec<Call> =
            calls.into_iter().filter(|call| !matches!(call, Call::Restart)).collect();
        compare(&calls, &clock, &mut || Box::new(Memory::new(clock.clone())));
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn sqlite_does_what_the_model_does(calls in calls()) {
        let (clock, folder) = (ManualClock::default(), tempfile::tempdir().unwrap());
        let path: PathBuf = folder.path().join("studies.db");
        compare(&calls, &clock, &mut || Box::new(Sqlite::open(&path, clock.clone()).unwrap()));
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn postgres_does_what_the_model_does(calls in calls()) {
        let clock = ManualClock::default();
        if let Some(address) = server::schema("the model") {
            compare(&calls, &clock, &mut || {
                Box::new(Postgres::open(&address, clock.clone()).unwrap())
            });
        }
    }
}
