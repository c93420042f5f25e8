//! Studies on another machine, behind `wimble serve`.
//!
//! Every call is one request; the server makes it on its own store, so that leases, fencing numbers, keys and times are those of that
//! store. A server that is away fails the call: what was sent may or may not have been done, and the same keys make it safe to
//! repeat. Where nothing was sent, because nobody listens, the call is repeated for as long as the patience allows. A server that never
//! answered yet is not waited for: its address may be wrong, and as with PostgreSQL the user is told at once.

pub mod wire;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use self::wire::{Answer, Call, LARGEST_PAGE, Said};
use super::checks::{storable, storable_step};
use super::{Ask, Filter, Proposal, Reader, Refused, Reply, Resume, Store, Tell, Transfer};
use crate::addition::Addition;
use crate::counts::Counts;
use crate::diagnosis::Condition;
use crate::error::{Error, Result};
use crate::note::Note;
use crate::settings::Record;
use crate::step::{Report, Step};
use crate::trial::{Change, Token, Trial};

/// How long a call waits for a server that is restarting.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between attempts to reach it.
const PAUSE: Duration = Duration::from_millis(200);
/// For a connection, and for a whole call.
const CONNECT: Duration = Duration::from_secs(5);
const CALL: Duration = Duration::from_secs(90);
/// The largest answer that is read.
const LARGEST_ANSWER: u64 = 1 << 30;

/// Studies behind a server.
pub struct Http {
    place: String,
    url: String,
    token: Option<String>,
    agent: Agent,
    patience: Duration,
    /// Whether the server answered a call of this store before.
    has_answered: AtomicBool,
}

impl Http {
    /// The server at an address such as `http://host:8765` or `http://:TOKEN@host:8765`. Nothing is sent yet.
    pub fn at(address: &str) -> Result<Self> {
        let refuse = |reason: &str| Error::Address {
            address: super::address::without_password(address),
            reason: reason.to_owned(),
        };
        let (scheme, rest) = address
            .split_once("://")
            .ok_or_else(|| refuse("is incomplete; write http://host:8765"))?;
        let (token, host) = match rest.rsplit_once('@') {
            Some((user, host)) => {
                (Some(user.split_once(':').map_or(user, |(_, token)| token)), host)
            }
            None => (None, rest),
        };
        let host = host.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#']) {
            return Err(refuse("must be a host and a port only, as in http://host:8765"));
        }
        if token
            .is_some_and(|token| token.is_empty() || !token.bytes().all(|b| b.is_ascii_graphic()))
        {
            return Err(refuse("has a token with characters that no token has"));
        }
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(CALL));
        let config = if scheme == "https" { config.tls_config(certificates()) } else { config };
        let place = format!("{scheme}://{host}");
        Ok(Self {
            url: format!("{place}/api/store"),
            place,
            token: token.map(|token| format!("Bearer {token}")),
            agent: config.build().into(),
            patience: PATIENCE,
            has_answered: AtomicBool::new(false),
        })
    }

    /// With another time to wait for a server that went away after it had answered.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    fn call<T: DeserializeOwned>(&self, call: &Call) -> Result<T> {
        let body = serde_json::to_vec(call).map_err(|error| Error::Remote {
            message: format!("the call cannot be sent: {error}"),
        })?;
        let until = Instant::now() + self.patience;
        loop {
            match self.send(&body) {
                Err(error)
                    if (nothing_was_sent(&error) || call.is_repeatable() && was_cut(&error))
                        && self.has_answered.load(Ordering::Relaxed)
                        && Instant::now() < until =>
                {
                    sleep(PAUSE);
                }
                Err(ureq::Error::Io(error)) => {
                    return Err(self.failed("reaching the server", error));
                }
                Err(error) => return Err(self.failed("reaching the server", error)),
                Ok(answer) => {
                    self.has_answered.store(true, Ordering::Relaxed);
                    return self.read(answer);
                }
            }
        }
    }

    /// Makes a call that says which tokens it refused.
    fn refusals(&self, call: &Call) -> Result<Vec<Refused>> {
        let refused: Vec<(Token, Said)> = self.call(call)?;
        let error =
            |(token, said): (Token, Said)| Refused { token, error: said.into_error(&self.place) };
        Ok(refused.into_iter().map(error).collect())
    }

    fn send(&self, body: &[u8]) -> Result<(u16, Vec<u8>), ureq::Error> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", token);
        }
        let mut response = request.send(body)?;
        let status = response.status().as_u16();
        let text = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec()?;
        Ok((status, text))
    }

    fn read<T: DeserializeOwned>(&self, (status, text): (u16, Vec<u8>)) -> Result<T> {
        let unexpected = |reason: &dyn fmt::Display| {
            self.failed(
                "reading its answer",
                format!("status {status}: {reason}; is this `wimble serve`?"),
            )
        };
        match serde_json::from_slice::<Answer>(&text) {
            Ok(Answer::Done(done)) => {
                serde_json::from_value(done).map_err(|error| unexpected(&error))
            }
            Ok(Answer::Error(said)) => Err(said.into_error(&self.place)),
            Err(error) => {
                // Refusals of the server itself, before it looks at its store, are sentences.
                let sentence = serde_json::from_slice::<serde_json::Value>(&text)
                    .ok()
                    .and_then(|json| Some(json.get("error")?.as_str()?.to_owned()));
                match sentence {
                    // Nothing is known of the call, or somebody must mend the server first: results are kept until then.
                    Some(message) if matches!(status, 401 | 403 | 408 | 429) => {
                        let said = format!("status {status}: {message}");
                        Err(self.failed("being let in by the server", said))
                    }
                    Some(message) if matches!(status, 400..=428 | 430..=499) => {
                        Err(Error::Remote { message: format!("{}: {message}", self.place) })
                    }
                    Some(message) => Err(unexpected(&message)),
                    None => Err(unexpected(&error)),
                }
            }
        }
    }

    fn failed(
        &self,
        doing: &'static str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        Error::Backend { place: self.place.clone(), doing, source: source.into() }
    }
}

/// Whether nobody listened, so that the call was certainly not made.
fn nothing_was_sent(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => error.kind() == std::io::ErrorKind::ConnectionRefused,
        ureq::Error::ConnectionFailed | ureq::Error::Timeout(ureq::Timeout::Connect) => true,
        _ => false,
    }
}

/// Whether the connection ended before the answer.
fn was_cut(error: &ureq::Error) -> bool {
    matches!(error, ureq::Error::Io(_) | ureq::Error::Timeout(_) | ureq::Error::Protocol(_))
}

/// The certificates that this machine trusts.
fn certificates() -> TlsConfig {
    let trusted: Vec<Certificate<'static>> = rustls_native_certs::load_native_certs()
        .certs
        .iter()
        .map(|certificate| Certificate::from_der(certificate).to_owned())
        .collect();
    TlsConfig::builder().root_certs(RootCerts::from(trusted)).build()
}

impl Reader for Http {
    fn identity(&self) -> Result<String> {
        self.call(&Call::Identity {})
    }

    fn study(&self, study: &str) -> Result<Record> {
        self.call(&Call::Study { study: study.to_owned() })
    }

    fn studies(&self) -> Result<Vec<String>> {
        self.call(&Call::Studies {})
    }

    fn changes_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Change>> {
        let (mut sequence, mut changes) = (sequence, Vec::new());
        loop {
            let limit = (limit - changes.len()).min(LARGEST_PAGE);
            let page: Vec<Change> =
                self.call(&Call::ChangesSince { study: study.to_owned(), sequence, limit })?;
            let last = page.last().map(Change::sequence);
            let full = page.len() == LARGEST_PAGE;
            changes.extend(page);
            match last {
                Some(last) if full => sequence = last,
                _ => return Ok(changes),
            }
        }
    }

    fn trials(&self, study: &str, filter: &Filter) -> Result<Vec<Trial>> {
        let (mut filter, mut trials) = (filter.clone(), Vec::new());
        let wanted = filter.limit.unwrap_or(usize::MAX);
        loop {
            filter.limit = Some((wanted - trials.len()).min(LARGEST_PAGE));
            let page: Vec<Trial> =
                self.call(&Call::Trials { study: study.to_owned(), filter: filter.clone() })?;
            let last = page.last().map(|trial| trial.id);
            let full = page.len() == LARGEST_PAGE;
            trials.extend(page);
            match last {
                Some(last) if full => filter.from = last + 1,
                _ => return Ok(trials),
            }
        }
    }

    fn trial(&self, study: &str, trial: u64) -> Result<Trial> {
        self.call(&Call::Trial { study: study.to_owned(), trial })
    }

    fn steps(&self, study: &str, trial: u64) -> Result<Vec<Step>> {
        self.call(&Call::Steps { study: study.to_owned(), trial })
    }

    fn steps_since(&self, study: &str, sequence: u64, limit: usize) -> Result<Vec<Step>> {
        let (mut sequence, mut steps) = (sequence, Vec::new());
        loop {
            let limit = (limit - steps.len()).min(LARGEST_PAGE);
            let page: Vec<Step> =
                self.call(&Call::StepsSince { study: study.to_owned(), sequence, limit })?;
            let last = page.last().map(|step| step.sequence);
            let full = page.len() == LARGEST_PAGE;
            steps.extend(page);
            match last {
                Some(last) if full => sequence = last,
                _ => return Ok(steps),
            }
        }
    }

    fn best(&self, study: &str, count: usize) -> Result<Vec<Trial>> {
        self.call(&Call::Best { study: study.to_owned(), count })
    }

    fn notes(&self, study: &str) -> Result<Vec<Note>> {
        self.call(&Call::Notes { study: study.to_owned() })
    }

    fn counts(&self, study: &str) -> Result<Counts> {
        self.call(&Call::Counts { study: study.to_owned() })
    }

    fn sequence(&self, study: &str) -> Result<u64> {
        self.call(&Call::Sequence { study: study.to_owned() })
    }

    fn condition(&self) -> Result<Condition> {
        let there: Condition = self.call(&Call::Condition {})?;
        Ok(Condition { place: format!("{}, behind {}", there.place, self.place), ..there })
    }

    fn faults(&self) -> Result<Vec<String>> {
        self.call(&Call::Faults {})
    }
}

impl Store for Http {
    fn create(&self, record: &Record) -> Result<Record> {
        self.call(&Call::Create { record: Box::new(record.clone()) })
    }

    fn delete(&self, study: &str) -> Result<()> {
        self.call(&Call::Delete { study: study.to_owned() })
    }

    fn set_budget(&self, study: &str, budget: u64) -> Result<()> {
        self.call(&Call::SetBudget { study: study.to_owned(), budget })
    }

    fn set_paused(&self, study: &str, paused: bool) -> Result<()> {
        self.call(&Call::SetPaused { study: study.to_owned(), paused })
    }

    fn note(&self, study: &str, trial: u64, text: &str) -> Result<()> {
        self.call(&Call::Note { study: study.to_owned(), trial, text: text.to_owned() })
    }

    fn ask(&self, study: &str, ask: &Ask<'_>, proposal: Option<&Proposal>) -> Result<Reply> {
        self.call(&Call::Ask {
            study: study.to_owned(),
            worker: ask.worker.to_owned(),
            incarnation: ask.incarnation.map(str::to_owned),
            key: ask.key.to_owned(),
            wanted: ask.wanted,
            fresh: ask.fresh,
            plans: ask.plans,
            proposal: proposal.cloned(),
        })
    }

    fn add(&self, study: &str, additions: &[Addition]) -> Result<Vec<u64>> {
        // JSON has no numbers that are not finite: they are refused here, as the store would.
        for addition in additions {
            addition.outcome.iter().try_for_each(|told| storable(study, 0, told).map(|_| ()))?;
            addition.steps.iter().try_for_each(|step| storable_step(study, 0, step).map(|_| ()))?;
        }
        self.call(&Call::Add { study: study.to_owned(), additions: additions.to_vec() })
    }

    fn transfer(&self, study: &str, transfer: &Transfer<'_>) -> Result<()> {
        self.call(&Call::Transfer {
            study: study.to_owned(),
            engines: transfer.engines.to_vec(),
            trials: transfer.trials.to_vec(),
            steps: transfer.steps.to_vec(),
        })
    }

    fn heartbeats(&self, study: &str, tokens: &[Token]) -> Result<Vec<Refused>> {
        self.refusals(&Call::Heartbeats { study: study.to_owned(), tokens: tokens.to_vec() })
    }

    fn reports(&self, study: &str, reports: &[Report]) -> Result<Vec<Refused>> {
        for Report { token, steps } in reports {
            steps
                .iter()
                .try_for_each(|step| storable_step(study, token.trial, step).map(|_| ()))?;
        }
        self.refusals(&Call::Reports { study: study.to_owned(), reports: reports.to_vec() })
    }

    fn tell_with(&self, study: &str, tell: &Tell<'_>) -> Result<()> {
        storable(study, tell.token.trial, tell.outcome)?;
        self.call(&Call::TellWith {
            study: study.to_owned(),
            token: tell.token,
            outcome: tell.outcome.clone(),
            attributes: tell.attributes.clone(),
            key: tell.key.to_owned(),
        })
    }

    fn release(&self, study: &str, token: Token) -> Result<()> {
        self.call(&Call::Release { study: study.to_owned(), token })
    }

    fn pause_trial(&self, study: &str, token: Token) -> Result<()> {
        self.call(&Call::PauseTrial { study: study.to_owned(), token })
    }

    fn resume(&self, study: &str, resume: &Resume<'_>) -> Result<usize> {
        self.call(&Call::Resume {
            study: study.to_owned(),
            worker: resume.worker.to_owned(),
            incarnation: resume.incarnation.to_owned(),
            formerly: resume.formerly.to_vec(),
        })
    }

    fn recount(&self, study: &str) -> Result<()> {
        self.call(&Call::Recount { study: study.to_owned() })
    }
}
