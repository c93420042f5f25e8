//! Requests that read.

use std::time::Duration;

use axum::http::{HeaderValue, header};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use wimble::space::{Configuration, Dimension};
use wimble_study::exchange::{Row, csv as csv_file};
use wimble_study::{Neighbours, Outcome};

use super::access::Level;
use super::answer::{self, Refusal};
use super::request::{Answer, FIRST_LOOK, Look, Request, figuring};
use crate::desk::File;
use crate::figures::{
    Range, band, curves, front, history, landscape, limits, parallel, scatter, slices, timeline,
    volume,
};
use crate::{certificate, model, overview, table};

/// The most rows of a CSV file.
const LARGEST_FILE: usize = 100_000;
/// How many neighbours of a trial are shown.
const NEIGHBOURS: usize = 5;

pub(super) async fn access(request: Request) -> Response {
    let tokens = &request.app.options.tokens;
    let body = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "write": request.level >= Level::Write,
        "workers": tokens.work.is_some(),
    });
    answer::json(&request.headers, None, &body)
}

pub(super) async fn studies(request: Request) -> Answer {
    request
        .answer(|app, _| {
            let store = &**app.desk.store();
            Ok(json!({ "studies": overview::lines(store)?, "now": store.condition()?.now }))
        })
        .await
}

pub(super) async fn summary(request: Request) -> Answer {
    request.answer(|app, study| Ok(overview::summary(&**app.desk.store(), study)?)).await
}

pub(super) async fn history(request: Request) -> Answer {
    let view: history::View = request.query()?;
    request
        .of_study(move |look| {
            let chronicle = look.file.chronicle();
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
fn rows(look: &Look<'_>, view: &table::View) -> Result<(table::Page, Vec<Row>), Refusal> {
    let (page, settings) = {
        let chronicle = look.file.chronicle();
        (table::page(&chronicle, view).map_err(Refusal::bad)?, chronicle.record().settings.clone())
    };
    let rows = table::trials(look.store, &settings.name, &page)?
        .iter()
        .map(|trial| Row::new(trial, &settings.goal))
        .collect();
    Ok((page, rows))
}

pub(super) async fn trials(request: Request) -> Answer {
    let view: table::View = request.query()?;
    request.of_study(move |look| {
        let (page, rows) = rows(look, &view)?;
        Ok(json!({ "total": page.total, "matching": page.matching, "offset": view.offset, "trials": rows }))
    })
    .await
}

/// The table as a file: all that the filter lets through, in its order and with the columns that are asked for, up to a limit.
pub(super) async fn csv(request: Request) -> Answer {
    let view: table::View = request.query()?;
    let wanted: Vec<String> = match view.columns.as_str() {
        "" => Vec::new(),
        list => serde_json::from_str(list)
            .map_err(|error| Refusal::bad(format!("columns is no list of names: {error}")))?,
    };
    let Request { app, study, headers, .. } = request;
    figuring(&app, move |app| {
        let file = app.desk.file(&study, Duration::from_secs(30))?;
        let look = Look { store: &**app.desk.store(), study: &study, file: &file };
        let settings = file.chronicle().record().settings.clone();
        let mut all = Vec::new();
        loop {
            let limit = Some(table::LARGEST_PAGE);
            let part = table::View { offset: view.offset + all.len(), limit, ..view.clone() };
            let (page, rows) = rows(&look, &part)?;
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
        if !wanted.is_empty() {
            let is_wanted = |name: &str| {
                wanted.iter().any(|one| match one.strip_suffix('*') {
                    Some(beginning) if beginning.ends_with('.') => name.starts_with(beginning),
                    _ => one == name,
                })
            };
            body = csv_file::columns(&body, &is_wanted)?;
        }
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
pub(super) async fn changes(request: Request) -> Answer {
    let Since { since, limit } = request.query()?;
    request
        .answer(move |app, study| {
            let limit = limit.unwrap_or(1_000).min(table::LARGEST_PAGE);
            let goal = app.desk.store().study(study)?.settings.goal;
            let changes = app.desk.store().changes_since(study, since, limit)?;
            let sequence = changes.last().map_or(since, wimble_study::Change::sequence);
            let rows: Vec<Row> =
                changes.iter().map(|change| Row::new(&change.trial, &goal)).collect();
            Ok(json!({ "sequence": sequence, "trials": rows }))
        })
        .await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WithModel {
    /// Whether to ask the model too, which may have to be fitted first.
    #[serde(default = "yes")]
    model: bool,
}

fn yes() -> bool {
    true
}

pub(super) async fn trial(request: Request) -> Answer {
    let trial = request.trial()?;
    let WithModel { model } = request.query()?;
    let Request { app, study, headers, .. } = request;
    figuring(&app, move |app| {
        let store = &**app.desk.store();
        let file = app.desk.file(&study, FIRST_LOOK)?;
        let found = store.trial(&study, trial)?;
        let record = store.study(&study)?;
        let output = match found.outcome() {
            Some(Outcome::Failed(failure)) => failure.output.clone(),
            _ => String::new(),
        };
        let here = std::slice::from_ref(&found.configuration);
        let forecast = if model { file.model.predict(here).ok().flatten() } else { None };
        let near =
            Neighbours::read(store, &study)?.nearest(&record.settings, &found, NEIGHBOURS)?;
        let goal = &record.settings.goal;
        let steps = match goal.partial() {
            Some(_) => store.steps(&study, trial)?,
            None => Vec::new(),
        };
        let row = Row::new(&found, goal).with_steps(&steps, goal);
        let mut body = serde_json::to_value(row).unwrap_or_default();
        let noted = store.notes(&study)?.into_iter().find(|note| note.trial == trial);
        body["note"] = json!(noted.map(|note| note.text));
        body["fidelities"] = json!(goal.partial());
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

pub(super) async fn front(request: Request) -> Answer {
    request.of_study(|look| Ok(front::front(&look.file.chronicle())?)).await
}

pub(super) async fn timeline(request: Request) -> Answer {
    let view: timeline::View = request.query()?;
    request
        .of_study(move |look| {
            let now = look.store.condition()?.now.0 as f64;
            Ok(timeline::timeline(&look.file.chronicle(), &view, now))
        })
        .await
}

pub(super) async fn parallel(request: Request) -> Answer {
    request.of_study(|look| Ok(parallel::parallel(&look.file.chronicle()))).await
}

pub(super) async fn scatters(request: Request) -> Answer {
    request
        .of_study(|look| Ok(json!({ "scatters": scatter::scatters(&look.file.chronicle()) })))
        .await
}

/// How many trials keep the constraints.
pub(super) async fn constraints(request: Request) -> Answer {
    request.of_study(|look| Ok(limits::limits(&look.file.chronicle()))).await
}

/// The hypervolume over trials.
pub(super) async fn volume(request: Request) -> Answer {
    request.of_study(|look| Ok(volume::volume(&look.file.chronicle())?)).await
}

/// What the model expects of the best so far.
pub(super) async fn band(request: Request) -> Answer {
    let view: history::View = request.query()?;
    request
        .of_study(move |look| {
            let mut band = None;
            if view.objective == 0 && look.file.model.is_offered()? {
                let drawn = history::history(&look.file.chronicle(), &view);
                band = drawn.map(|drawn| band::band(&drawn, &look.file.model)).transpose()?;
            }
            let band = band.flatten();
            Ok(match band {
                Some(band) => json!({ "band": band }),
                None => json!({ "band": null, "reason": no_model(look.file)? }),
            })
        })
        .await
}

/// Learning curves.
pub(super) async fn curves(request: Request) -> Answer {
    request
        .of_study(|look| {
            let (fidelity, chosen) = {
                let chronicle = look.file.chronicle();
                (json!(chronicle.goal().partial()), curves::choose(&chronicle))
            };
            let curves = curves::curves(&chosen, look.study, look.store)?;
            Ok(json!({ "fidelity": fidelity, "curves": curves }))
        })
        .await
}

/// What is certain about a study.
pub(super) async fn certificate(request: Request) -> Answer {
    request
        .of_study(|look| {
            if !look.file.model.is_offered()? {
                return Ok(json!({ "certificate": null, "reason": no_model(look.file)? }));
            }
            let plan = certificate::plan(&look.file.chronicle());
            let found = certificate::certificate(look.file.model.study(), plan)?;
            Ok(json!({ "certificate": found }))
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
fn centre(look: &Look<'_>) -> Result<Option<Configuration>, Refusal> {
    Ok(look.store.best(look.study, 1)?.pop().map(|trial| trial.configuration))
}

pub(super) async fn slices(request: Request) -> Answer {
    request
        .of_study(move |look| {
            let slices = match centre(look)? {
                Some(at) => slices::slices(&look.file.model, &at)?,
                None => None,
            };
            Ok(match slices {
                Some(slices) => json!({ "slices": slices }),
                None => json!({ "slices": null, "reason": no_model(look.file)? }),
            })
        })
        .await
}

pub(super) async fn batch(request: Request) -> Answer {
    request
        .of_study(move |look| {
            let batch = landscape::batch(&look.file.chronicle());
            let configurations = |ids: &[usize]| -> Result<Vec<Configuration>, Refusal> {
                ids.iter()
                    .map(|&id| Ok(look.store.trial(look.study, id as u64)?.configuration))
                    .collect()
            };
            let (own, pending) = (configurations(&batch.trial)?, configurations(&batch.pending)?);
            let forecast = look.file.model.predict(&own)?;
            let reason = if forecast.is_none() { Some(no_model(look.file)?) } else { None };
            let axes = look.file.chronicle().axes().to_vec();
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
    /// The part of each that is asked for, in places from 0 to 1.
    x_from: Option<f64>,
    x_to: Option<f64>,
    y_from: Option<f64>,
    y_to: Option<f64>,
}

/// A part of a parameter: all of it where nothing is said.
fn part(name: &str, from: Option<f64>, to: Option<f64>) -> Result<Range, Refusal> {
    let (low, high) = (from.unwrap_or(slices::WHOLE.low), to.unwrap_or(slices::WHOLE.high));
    if 0.0 <= low && low < high && high <= 1.0 {
        return Ok(Range { low, high });
    }
    Err(Refusal::bad(format!(
        "{name}_from is {low} and {name}_to is {high}, but 0 <= from < to <= 1"
    )))
}

pub(super) async fn landscape(request: Request) -> Answer {
    let Axes { x, y, x_from, x_to, y_from, y_to } = request.query()?;
    let parts = [part("x", x_from, x_to)?, part("y", y_from, y_to)?];
    request
        .of_study(move |look| {
            let all = look.file.chronicle().axes().to_vec();
            let find = |name: &str| {
                all.iter()
                    .find(|axis| axis.name == name)
                    .ok_or_else(|| Refusal::bad(format!("the study has no parameter `{name}`")))
            };
            let axes = [(find(&x)?, parts[0]), (find(&y)?, parts[1])];
            if x == y {
                return Err(Refusal::bad("the two parameters must differ"));
            }
            let landscape = match centre(look)? {
                Some(at) => landscape::landscape(&look.file.model, axes, &at)?,
                None => None,
            };
            Ok(match landscape {
                Some(landscape) => json!({ "landscape": landscape }),
                None => json!({ "landscape": null, "reason": no_model(look.file)? }),
            })
        })
        .await
}

/// Which parameters matter.
pub(super) async fn importance(request: Request) -> Answer {
    request
        .of_study(|look| {
            if !look.file.model.is_offered()? {
                return Ok(json!({ "importance": null, "reason": no_model(look.file)? }));
            }
            let study = look.file.model.study();
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
pub(super) async fn advice(request: Request) -> Answer {
    request
        .of_study(|look| {
            if !look.file.model.is_offered()? {
                return Ok(json!({ "advice": [], "reason": no_model(look.file)? }));
            }
            Ok(json!({ "advice": wimble_study::advise(look.file.model.study())? }))
        })
        .await
}
