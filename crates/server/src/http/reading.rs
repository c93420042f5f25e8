//! Requests that read.

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::json;
use wimble::space::{Configuration, Dimension};
use wimble_study::exchange::{Row, csv as csv_file};
use wimble_study::{Neighbours, Outcome, Store};

use super::App;
use super::access::Level;
use super::answer::{self, Refusal, has, unchanged};
use crate::desk::File;
use crate::figures::{front, history, landscape, parallel, scatter, slices, timeline};
use crate::{model, overview, table};

/// How long an answer waits for a long study that is read for the first time. It then shows what was read so far.
const FIRST_LOOK: Duration = Duration::from_millis(700);
/// The most rows of a CSV file.
const LARGEST_FILE: usize = 100_000;
/// How many neighbours of a trial are shown.
const NEIGHBOURS: usize = 5;

type App_ = State<Arc<App>>;
type Answer = Result<Response, Refusal>;

/// Runs what blocks on a thread where it may.
pub(super) async fn blocking<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let app = Arc::clone(app);
    let done = tokio::task::spawn_blocking(move || work(&app)).await;
    done.unwrap_or_else(|_| {
        let message = "the server failed on this request; the others are not affected";
        Err(Refusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, message))
    })
}

/// Runs what may take long for a reader, a few at a time: the others wait, and hold no thread meanwhile.
async fn figuring<T: Send + 'static>(
    app: &Arc<App>,
    work: impl FnOnce(&App) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    // The semaphore is never closed; the place is given back when the work is done, whether or not anybody still waits for it.
    let place = Arc::clone(&app.figures).acquire_owned().await;
    blocking(app, move |app| {
        let _place = place;
        work(app)
    })
    .await
}

/// The answer that a chronicle gives. It has a tag of the study's sequence number, so that one that did not change is not
/// computed again.
async fn of_study<T: Serialize>(
    app: &Arc<App>,
    study: String,
    headers: HeaderMap,
    work: impl FnOnce(&dyn Store, &File) -> Result<T, Refusal> + Send + 'static,
) -> Answer {
    figuring(app, move |app| {
        let file = app.desk.file(&study, FIRST_LOOK)?;
        let tag = {
            let chronicle = file.chronicle();
            let budget = chronicle.record().settings.budget;
            format!("\"{}-{}-{}-{budget}\"", app.boot, file.generation, chronicle.sequence())
        };
        let loaded = file.loaded();
        if loaded >= 1.0 && has(&headers, &tag) {
            return Ok(unchanged(&tag));
        }
        let done = work(&**app.desk.store(), &file)?;
        // What is not complete yet is not kept.
        let tag = (loaded >= 1.0).then_some(tag.as_str());
        let mut response = answer::json(&headers, tag, &done);
        if let Ok(loaded) = HeaderValue::from_str(&format!("{loaded:.4}")) {
            response.headers_mut().insert("wimble-loaded", loaded);
        }
        Ok(response)
    })
    .await
}

/// What a query says; the error names what is wrong with it.
fn query<T: for<'q> Deserialize<'q>>(query: Option<&str>) -> Result<T, Refusal> {
    let uri = format!("/?{}", query.unwrap_or_default());
    let uri = uri.parse().map_err(|_| Refusal::bad("the query cannot be read"))?;
    Query::<T>::try_from_uri(&uri)
        .map(|Query(query)| query)
        .map_err(|error| Refusal::bad(error.body_text()))
}

pub(super) async fn access(
    State(app): App_,
    Extension(level): Extension<Level>,
    headers: HeaderMap,
) -> Response {
    let tokens = &app.options.tokens;
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "write": level >= Level::Write,
        "workers": tokens.work.is_some(),
    });
    answer::json(&headers, None, &body)
}

pub(super) async fn studies(State(app): App_, headers: HeaderMap) -> Answer {
    blocking(&app, move |app| {
        let store = &**app.desk.store();
        let body = json!({ "studies": overview::lines(store)?, "now": store.condition()?.now });
        Ok(answer::json(&headers, None, &body))
    })
    .await
}

pub(super) async fn summary(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    blocking(&app, move |app| {
        Ok(answer::json(&headers, None, &overview::summary(&**app.desk.store(), &study)?))
    })
    .await
}

pub(super) async fn history(
    State(app): App_,
    Path(study): Path<String>,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let view: history::View = query(text.as_deref())?;
    of_study(&app, study, headers, move |_, file| {
        let chronicle = file.chronicle();
        history::history(&chronicle, &view).ok_or_else(|| {
            let count = chronicle.goal().objectives().len();
            Refusal::bad(format!(
                "objective is {}, but the study has {count}, numbered from 0",
                view.objective
            ))
        })
    })
    .await
}

/// The trials of a page of the table.
fn rows(
    store: &dyn Store,
    file: &File,
    view: &table::View,
) -> Result<(table::Page, Vec<Row>), Refusal> {
    let (page, settings) = {
        let chronicle = file.chronicle();
        (table::page(&chronicle, view).map_err(Refusal::bad)?, chronicle.record().settings.clone())
    };
    let rows = table::trials(store, &settings.name, &page)?
        .iter()
        .map(|trial| Row::new(trial, &settings.goal))
        .collect();
    Ok((page, rows))
}

pub(super) async fn trials(
    State(app): App_,
    Path(study): Path<String>,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let view: table::View = query(text.as_deref())?;
    of_study(&app, study, headers, move |store, file| {
        let (page, rows) = rows(store, file, &view)?;
        Ok(json!({ "total": page.total, "matching": page.matching, "offset": view.offset, "trials": rows }))
    })
    .await
}

/// The table as a file: all that the filter lets through, in its order, up to a limit that the last line names.
pub(super) async fn csv(
    State(app): App_,
    Path(study): Path<String>,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let view: table::View = query(text.as_deref())?;
    figuring(&app, move |app| {
        let file = app.desk.file(&study, Duration::from_secs(30))?;
        let settings = file.chronicle().record().settings.clone();
        let mut all = Vec::new();
        loop {
            let limit = Some(table::LARGEST_PAGE);
            let part = table::View { offset: view.offset + all.len(), limit, ..view.clone() };
            let (page, rows) = rows(&**app.desk.store(), &file, &part)?;
            let (first, count) = (part.offset, rows.len());
            all.extend(rows);
            if all.len() > LARGEST_FILE {
                let message = format!(
                    "{} trials are more than {LARGEST_FILE}: filter them, or use `wimble export`",
                    page.matching
                );
                return Err(Refusal::bad(message));
            }
            if count == 0 || first + count >= page.matching {
                break;
            }
        }
        let mut body = Vec::new();
        let rows = || -> csv_file::Rows<'_> { Box::new(all.iter().cloned().map(Ok)) };
        csv_file::write(&settings.space, &settings.goal, &rows, &mut body)?;
        let mut response = answer::packed(&headers, None, "text/csv; charset=utf-8", body);
        let name: String =
            study.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{name}.csv\"")) {
            response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
        }
        Ok(response)
    })
    .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Since {
    #[serde(default)]
    since: u64,
    limit: Option<usize>,
}

/// The trials that changed after a number, each once, as it is now.
pub(super) async fn changes(
    State(app): App_,
    Path(study): Path<String>,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let Since { since, limit } = query(text.as_deref())?;
    blocking(&app, move |app| {
        let limit = limit.unwrap_or(1_000).min(table::LARGEST_PAGE);
        let goal = app.desk.store().study(&study)?.settings.goal;
        let changes = app.desk.store().changes_since(&study, since, limit)?;
        let sequence = changes.last().map_or(since, wimble_study::Change::sequence);
        let rows: Vec<Row> = changes.iter().map(|change| Row::new(&change.trial, &goal)).collect();
        Ok(answer::json(&headers, None, &json!({ "sequence": sequence, "trials": rows })))
    })
    .await
}

pub(super) async fn trial(
    State(app): App_,
    Path((study, trial)): Path<(String, u64)>,
    headers: HeaderMap,
) -> Answer {
    figuring(&app, move |app| {
        let store = &**app.desk.store();
        let file = app.desk.file(&study, FIRST_LOOK)?;
        let found = store.trial(&study, trial)?;
        let record = store.study(&study)?;
        let output = match found.outcome() {
            Some(Outcome::Failed(failure)) => failure.output.clone(),
            _ => String::new(),
        };
        let forecast =
            file.model.predict(std::slice::from_ref(&found.configuration)).ok().flatten();
        let near =
            Neighbours::read(store, &study)?.nearest(&record.settings, &found, NEIGHBOURS)?;
        let goal = &record.settings.goal;
        let steps = match goal.partial() {
            Some(_) => store.steps(&study, trial)?,
            None => Vec::new(),
        };
        let row = Row::new(&found, goal).with_steps(&steps, goal);
        let mut body = serde_json::to_value(row).unwrap_or_default();
        body["nearest"] = json!(near);
        body["output"] = output.into();
        body["origin"] = json!(found.origin);
        body["lost"] = found.lost.into();
        body["proposed"] = found.proposed.to_utc().into();
        body["engine"] = json!(
            (found.origin == wimble_study::Origin::Proposed).then(|| record.engine_of(trial))
        );
        body["outcome"] = json!(found.outcome());
        body["model"] = json!(forecast.and_then(|mut all| all.pop()));
        body["last"] = file.chronicle().len().saturating_sub(1).into();
        Ok(answer::json(&headers, None, &body))
    })
    .await
}

pub(super) async fn front(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    of_study(&app, study, headers, |_, file| Ok(front::front(&file.chronicle())?)).await
}

pub(super) async fn timeline(
    State(app): App_,
    Path(study): Path<String>,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let view: timeline::View = query(text.as_deref())?;
    of_study(&app, study, headers, move |store, file| {
        let now = store.condition()?.now.0 as f64;
        Ok(timeline::timeline(&file.chronicle(), &view, now))
    })
    .await
}

pub(super) async fn parallel(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    of_study(&app, study, headers, |_, file| Ok(parallel::parallel(&file.chronicle()))).await
}

pub(super) async fn scatters(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    of_study(&app, study, headers, |_, file| {
        Ok(json!({ "scatters": scatter::scatters(&file.chronicle()) }))
    })
    .await
}

/// Why a model is not shown.
fn no_model(file: &File) -> Result<String, Refusal> {
    Ok(if file.model.is_offered()? {
        "the method has no model, or nothing to learn from yet".to_owned()
    } else {
        format!(
            "the study has more than {} finished trials: its model is not fitted for the page",
            model::LONGEST
        )
    })
}

/// The best configuration, around which the model is shown.
fn centre(store: &dyn Store, study: &str) -> Result<Option<Configuration>, Refusal> {
    Ok(store.best(study, 1)?.pop().map(|trial| trial.configuration))
}

pub(super) async fn slices(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    let name = study.clone();
    of_study(&app, study, headers, move |store, file| {
        let slices = match centre(store, &name)? {
            Some(at) => slices::slices(&file.model, &at)?,
            None => None,
        };
        Ok(match slices {
            Some(slices) => json!({ "slices": slices }),
            None => json!({ "slices": null, "reason": no_model(file)? }),
        })
    })
    .await
}

pub(super) async fn batch(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    let name = study.clone();
    of_study(&app, study, headers, move |store, file| {
        let batch = landscape::batch(&file.chronicle());
        let configurations = |ids: &[usize]| -> Result<Vec<Configuration>, Refusal> {
            ids.iter().map(|&id| Ok(store.trial(&name, id as u64)?.configuration)).collect()
        };
        let (own, pending) = (configurations(&batch.trial)?, configurations(&batch.pending)?);
        let forecast = file.model.predict(&own)?;
        let reason = if forecast.is_none() { Some(no_model(file)?) } else { None };
        let axes = file.chronicle().axes().to_vec();
        let places = |all: &[Configuration]| -> Vec<Vec<Option<f64>>> {
            all.iter().map(|one| axes.iter().map(|axis| place(axis, one)).collect()).collect()
        };
        Ok(json!({
            "proposed": batch.proposed,
            "trial": batch.trial,
            "standing": batch.standing,
            "params": own,
            "places": places(&own),
            "pending": batch.pending,
            "pending_places": places(&pending),
            "forecast": forecast,
            "reason": reason,
        }))
    })
    .await
}

/// Where a configuration lies along a parameter, from 0 to 1.
fn place(axis: &Dimension, configuration: &Configuration) -> Option<f64> {
    let value = configuration.get(&axis.name)?;
    Some(slices::share(&axis.kind, crate::chronicle::number(&axis.kind, value)))
        .filter(|x| x.is_finite())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Axes {
    x: String,
    y: String,
}

pub(super) async fn landscape(
    State(app): App_,
    Path(study): Path<String>,
    RawQuery(text): RawQuery,
    headers: HeaderMap,
) -> Answer {
    let Axes { x, y } = query(text.as_deref())?;
    let name = study.clone();
    of_study(&app, study, headers, move |store, file| {
        let all = file.chronicle().axes().to_vec();
        let find = |name: &str| {
            all.iter()
                .find(|axis| axis.name == name)
                .ok_or_else(|| Refusal::bad(format!("the study has no parameter `{name}`")))
        };
        let axes = [find(&x)?, find(&y)?];
        if x == y {
            return Err(Refusal::bad("the two parameters must differ"));
        }
        let landscape = match centre(store, &name)? {
            Some(at) => landscape::landscape(&file.model, axes, &at)?,
            None => None,
        };
        Ok(match landscape {
            Some(landscape) => json!({ "landscape": landscape }),
            None => json!({ "landscape": null, "reason": no_model(file)? }),
        })
    })
    .await
}

/// Which parameters matter.
pub(super) async fn importance(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    of_study(&app, study, headers, |_, file| {
        if !file.model.is_offered()? {
            return Ok(json!({ "importance": null, "reason": no_model(file)? }));
        }
        let study = file.model.study();
        let first =
            study.settings().goal.objectives().first().map(|objective| objective.name.clone());
        Ok(match study.importance(&first.unwrap_or_default()) {
            Ok(found) => json!({ "importance": found }),
            Err(error) if error.is_refusal() => {
                json!({ "importance": null, "reason": error.to_string() })
            }
            Err(error) => return Err(error.into()),
        })
    })
    .await
}

/// What a colleague would say.
pub(super) async fn advice(
    State(app): App_,
    Path(study): Path<String>,
    headers: HeaderMap,
) -> Answer {
    of_study(&app, study, headers, |_, file| {
        if !file.model.is_offered()? {
            return Ok(json!({ "advice": [], "reason": no_model(file)? }));
        }
        Ok(json!({ "advice": wimble_study::advise(file.model.study())? }))
    })
    .await
}
