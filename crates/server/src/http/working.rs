//! Requests that change a study: those of workers, and those of people.
//!
//! Workers written in any language ask and tell here; the server proposes for them. Workers that are wimble itself call the
//! store (`/api/store`) and propose on their own.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use wimble::space::Configuration;
use wimble_study::store::http::wire::{Answer as StoreAnswer, Call, Reach, Said};
use wimble_study::{Error, Measurement, Outcome, Report, Settings, Store, Study};

use super::access::Level;
use super::answer::{self, status};
use super::request::{Answer, Request, Sent, blocking, demand, read};
use crate::given::{GivenToken, NewStudy, Reported, Told};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    worker: String,
    key: String,
    #[serde(default = "one")]
    count: usize,
}

fn one() -> usize {
    1
}

/// Gives a worker trials; the server proposes them.
pub(super) async fn ask(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Work)?;
    let Ask { worker, key, count } = read(&body)?;
    request
        .answer(move |app, study| {
            let file = app.desk.file(study, Duration::ZERO)?;
            let study = file.model.study();
            let (claims, paused) = match study.ask(&worker, &key, count) {
                // Not an error to a worker in any language: it asks again later.
                Err(Error::Paused { .. }) => (Vec::new(), true),
                claims => (claims?, false),
            };
            let claim = |claim: &wimble_study::Claim| {
                json!({
                    "trial": claim.trial,
                    "token": claim.token.to_string(),
                    "params": claim.configuration,
                    "attempt": claim.attempt,
                    "lease_seconds": study.settings().lease.as_secs_f64(),
                })
            };
            let claims: Vec<_> = claims.iter().map(claim).collect();
            // Empty claims are final only once nothing runs, and the study is not paused.
            let running = study.progress()?.running;
            Ok(json!({ "claims": claims, "running": running, "paused": paused }))
        })
        .await
}

/// Takes a result.
pub(super) async fn tell(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Work)?;
    let told: Told = read(&body)?;
    let (token, outcome) = (told.token()?, told.outcome()?);
    request
        .answer(move |app, study| {
            let study = Study::open(Arc::clone(app.desk.store()), study)?;
            study.tell_with(token, &outcome, &told.attributes, &told.key())?;
            Ok(json!({ "trial": token.trial, "done": "told" }))
        })
        .await
}

/// Takes a step of a running trial, and says whether it should go on.
pub(super) async fn report(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Work)?;
    let reported: Reported = read(&body)?;
    let (token, step) = (reported.token()?, reported.step()?);
    request
        .answer(move |app, study| {
            let file = app.desk.file(study, Duration::ZERO)?;
            let study = file.model.study();
            study.report(token, &[step])?;
            let verdict = study.verdicts(&[token.trial])?.pop();
            Ok(json!({ "trial": token.trial, "verdict": verdict }))
        })
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    tokens: Vec<GivenToken>,
}

/// Renews leases; answers with those that could not be renewed.
pub(super) async fn heartbeat(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Work)?;
    let given: Tokens = read(&body)?;
    let tokens = given.tokens.iter().map(GivenToken::read).collect::<Result<Vec<_>, _>>()?;
    request.answer(move |app, study| {
        let refused = app.desk.store().heartbeats(study, &tokens)?;
        let said = |refused: &wimble_study::Refused| {
            json!({ "token": refused.token.to_string(), "error": refused.error.to_string() })
        };
        let refused: Vec<_> = refused.iter().map(said).collect();
        Ok(json!({ "refused": refused }))
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Release {
    token: GivenToken,
}

/// Gives a trial back to the queue.
pub(super) async fn release(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Work)?;
    let token = read::<Release>(&body)?.token.read()?;
    request
        .answer(move |app, study| {
            app.desk.store().release(study, token)?;
            Ok(json!({ "trial": token.trial, "done": "released" }))
        })
        .await
}

/// Makes a study.
pub(super) async fn create(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Write)?;
    let new: NewStudy = read(&body)?;
    request
        .answer(move |app, _| {
            let study = new.create(app.desk.store())?;
            Ok(json!({ "name": study.settings().name }))
        })
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Enqueue {
    key: String,
    params: Configuration,
}

/// Puts a configuration into the queue.
pub(super) async fn enqueue(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Write)?;
    let Enqueue { key, params } = read(&body)?;
    request
        .answer(move |app, study| {
            let study = Study::open(Arc::clone(app.desk.store()), study)?;
            let trial = study.enqueue(&key, params)?;
            Ok(json!({ "trial": trial }))
        })
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    budget: u64,
}

/// Changes how many trials a study may have.
pub(super) async fn budget(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Write)?;
    let Budget { budget } = read(&body)?;
    request
        .answer(move |app, study| {
            Study::open(Arc::clone(app.desk.store()), study)?.set_budget(budget)?;
            Ok(json!({ "budget": budget }))
        })
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pause {
    paused: bool,
}

/// Pauses a study, or lets it go on.
pub(super) async fn pause(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Write)?;
    let Pause { paused } = read(&body)?;
    request
        .answer(move |app, study| {
            app.desk.store().set_paused(study, paused)?;
            Ok(json!({ "paused": paused }))
        })
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Noted {
    trial: u64,
    text: String,
}

/// Writes a note on a trial.
pub(super) async fn note(request: Request, Sent(body): Sent) -> Answer {
    request.demand(Level::Write)?;
    let Noted { trial, text } = read(&body)?;
    request
        .answer(move |app, study| {
            app.desk.store().note(study, trial, &text)?;
            Ok(json!({ "trial": trial, "note": text.trim() }))
        })
        .await
}

/// Refuses what is none of a study's space or goal, as [`wimble_study::Study`] does before it calls its store: a caller may be
/// anybody who has a token, and what he proposes reaches the commands of others.
fn check(store: &dyn Store, call: &Call) -> wimble_study::Result<()> {
    let fits = |settings: &Settings, configuration: &Configuration| -> wimble_study::Result<()> {
        settings.space.encode(configuration)?;
        Ok(settings.space.check_known(configuration)?)
    };
    let fits_goal = |settings: &Settings, trial: u64, step: &Measurement| {
        match settings.goal.check(trial, step) {
            // The store has words of its own for what is not finite.
            Ok(()) | Err(wimble::Error::NonFinite { .. }) => Ok(()),
            Err(error) => Err(Error::from(error)),
        }
    };
    let measured = |settings: &Settings, trial: u64, outcome: &Outcome| match outcome.measurement()
    {
        Some(measurement) => fits_goal(settings, trial, measurement),
        None => Ok(()),
    };
    match call {
        Call::Ask { study, proposal: Some(proposal), .. } => {
            let settings = store.study(study)?.settings;
            proposal.configurations.iter().try_for_each(|one| fits(&settings, one))
        }
        Call::Add { study, additions } => {
            let settings = store.study(study)?.settings;
            additions.iter().try_for_each(|addition| {
                fits(&settings, &addition.configuration)?;
                addition.outcome.as_ref().map_or(Ok(()), |one| measured(&settings, 0, one))?;
                addition.steps.iter().try_for_each(|step| fits_goal(&settings, 0, step))
            })
        }
        Call::Reports { study, reports } => {
            let settings = store.study(study)?.settings;
            reports.iter().try_for_each(|Report { token, steps }| {
                steps.iter().try_for_each(|step| fits_goal(&settings, token.trial, step))
            })
        }
        Call::Transfer { study, trials, .. } => {
            let settings = store.study(study)?.settings;
            trials.iter().try_for_each(|trial| {
                fits(&settings, &trial.configuration)?;
                trial.outcome().map_or(Ok(()), |one| measured(&settings, trial.id, one))
            })
        }
        Call::TellWith { study, token, outcome, .. } => {
            measured(&store.study(study)?.settings, token.trial, outcome)
        }
        _ => Ok(()),
    }
}

/// A call of the store, for wimble itself on another machine.
pub(super) async fn store(request: Request, Sent(body): Sent) -> Answer {
    let call: Call = read(&body)?;
    let needed = match call.reach() {
        Reach::Read => Level::Read,
        Reach::Work => Level::Work,
        Reach::Write => Level::Write,
    };
    // Whoever only opens a study creates it if it is not there: where it is, that changes nothing.
    let level = request.level;
    let opens = matches!(&call, Call::Create { .. }) && level >= Level::Work;
    if !opens {
        demand(level, needed)?;
    }
    let Request { app, headers, .. } = request;
    blocking(&app, move |app| {
        let store = &**app.desk.store();
        let done = match &call {
            Call::Create { record } if level < Level::Write => {
                let there = Call::Study { study: record.settings.name.clone() }.perform(store);
                if let Err(Error::UnknownStudy { .. }) = there {
                    demand(level, Level::Write)?;
                }
                there
            }
            call => check(store, call).and_then(|()| call.perform(store)),
        };
        Ok(match done {
            Ok(done) => answer::json(&headers, None, &StoreAnswer::Done(done)),
            Err(error) => {
                let mut response =
                    answer::json(&headers, None, &StoreAnswer::Error(Said::from(&error)));
                *response.status_mut() = status(&error);
                response
            }
        })
    })
    .await
}
