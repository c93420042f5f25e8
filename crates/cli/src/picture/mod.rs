//! Pictures of a study, from the figures that the page of `wimble serve` shows too.

pub mod drawing;
pub mod png;
mod raster;
pub mod svg;

use anyhow::Result;
use wimble::importance::Importance;
use wimble::space::{Dimension, Kind, Value};
use wimble_study::Study;
use wimble_study::view::figures::{Grid, Range, front, history, parallel, scatter, slices};
use wimble_study::view::{Chronicle, chronicle};

use crate::progress::short;
use drawing::{Drawing, Ink};
use svg::{escaped, svg};

const UNIT: Range = Range { low: 0.0, high: 1.0 };

/// Values of each objective over the trials, and the best so far.
pub fn histories(chronicle: &Chronicle) -> Vec<Drawing> {
    let draw = |objective: usize| {
        let view = history::View { objective, ..history::View::default() };
        let found = history::history(chronicle, &view)?;
        let name = &chronicle.goal().objectives()[objective].name;
        let title = match found.beyond {
            0 => format!("{name} over the trials"),
            some => format!("{name} over the trials ({some} worse values are beyond the picture)"),
        };
        let mut picture = Drawing::new(&title, found.x, found.y);
        picture.axes("trial", name);
        if let Some(grid) = &found.grid {
            cells(&mut picture, grid, found.x, found.y);
        }
        if let Some(points) = &found.points {
            for ((&trial, &x), &y) in points.trial.iter().zip(&points.x).zip(&points.y) {
                picture.dot(x, y, Ink::Trial, format!("trial {trial}: {}", short(y)));
            }
        }
        let best = &found.best;
        let mut steps = Vec::new();
        for (k, (&x, &y)) in best.x.iter().zip(&best.y).enumerate() {
            let until = best.x.get(k + 1).copied().unwrap_or(found.x.high);
            let y = y.clamp(found.y.low, found.y.high);
            steps.extend([(x, y), (until, y)]);
        }
        picture.line(steps, Ink::Best);
        Some(picture)
    };
    (0..chronicle.goal().objectives().len()).filter_map(draw).collect()
}

/// The first two objectives against each other; `None` with one objective.
pub fn pareto(chronicle: &Chronicle) -> Result<Option<Drawing>> {
    let found = front::front(chronicle)?;
    let ([x_name, y_name, ..], [x, y, ..], [other_x, other_y, ..]) =
        (&found.objectives[..], &found.values[..], &found.other_values[..])
    else {
        return Ok(None);
    };
    let range = |on: &[f64], others: &[f64]| Range::of(on.iter().chain(others).copied());
    let title = format!("{} of {} trials are on the front", found.trial.len(), found.of);
    let mut picture = Drawing::new(&title, range(x, other_x), range(y, other_y));
    picture.axes(x_name, y_name);
    for ((&trial, &x), &y) in found.other_trial.iter().zip(other_x).zip(other_y) {
        picture.dot(x, y, Ink::Trial, format!("trial {trial}: {}, {}", short(x), short(y)));
    }
    for ((&trial, &x), &y) in found.trial.iter().zip(x).zip(y) {
        picture.dot(x, y, Ink::Good, format!("trial {trial}: {}, {}", short(x), short(y)));
    }
    Ok(Some(picture))
}

/// The share of the variance that each parameter causes, with the interval of the refits.
pub fn importance(quantity: &str, found: &Importance) -> Drawing {
    let ranked: Vec<_> = found.ranked().into_iter().collect();
    let title = format!(
        "Share of the variance of {quantity} that each parameter causes (R² = {:.2})",
        found.explained
    );
    let names: Vec<&str> = ranked.iter().map(|share| share.name.as_str()).collect();
    let mut picture = Drawing::rows(&title, UNIT, &names);
    for (row, share) in ranked.iter().enumerate() {
        let at = (ranked.len() - row) as f64 - 0.5;
        picture.bar((0.0, at - 0.3), (share.total.mean.clamp(0.0, 1.0), at + 0.3), Ink::Bar, 0.7);
        let ends = [share.total.low, share.total.high].map(|end| end.clamp(0.0, 1.0));
        picture.line([(ends[0], at), (ends[1], at)], Ink::Range);
        picture.y_word(at, &share.name);
        picture.word(ends[1], at, &format!("{:.0} %", 100.0 * share.total.mean));
    }
    picture.x_name("share, alone and together with others; the line is 90 % of refits");
    picture
}

/// The values of the first objective over each parameter.
pub fn slices(chronicle: &Chronicle) -> Vec<Drawing> {
    let name = &chronicle.goal().objectives()[0].name;
    let pictures = scatter::scatters(chronicle).into_iter().zip(chronicle.axes());
    let draw = |(found, dimension): (scatter::Scatter, &Dimension)| {
        let mut picture = Drawing::new(&format!("{name} over {}", dimension.name), UNIT, found.y);
        picture.y_axis(name);
        let labels = labels(&dimension.kind);
        picture.x_words(labels.iter().map(|(at, word)| (*at, word.as_str())));
        picture.x_name(&dimension.name);
        if let Some(grid) = &found.grid {
            cells(&mut picture, grid, UNIT, found.y);
        }
        for ((&trial, &x), &y) in found.trial.iter().zip(&found.place).zip(&found.value) {
            picture.dot(x, y, Ink::Trial, format!("trial {trial}: {}", short(y)));
        }
        picture
    };
    pictures.map(draw).collect()
}

/// The best trials, and some of the others, as lines across all parameters.
pub fn across(chronicle: &Chronicle) -> Option<Drawing> {
    let found = parallel::parallel(chronicle);
    let dimensions = chronicle.axes();
    if dimensions.len() < 2 || found.trial.is_empty() {
        return None;
    }
    let last = (dimensions.len() - 1) as f64;
    let title = format!(
        "{} of {} trials across the parameters, good ones in blue",
        found.trial.len(),
        found.of
    );
    let mut picture = Drawing::new(&title, Range { low: 0.0, high: last }, UNIT);
    let low_is_good = chronicle.goal().first_direction().turn(1.0) > 0.0;
    for k in 0..found.trial.len() {
        let share = (found.value[k] - found.y.low) / (found.y.high - found.y.low);
        let good = if low_is_good { 1.0 - share } else { share };
        let place = |(at, column): (usize, &Vec<Option<f64>>)| Some((at as f64, column[k]?));
        picture.line(found.places.iter().enumerate().filter_map(place), Ink::Shade(good));
    }
    for (at, dimension) in dimensions.iter().enumerate() {
        let at = at as f64;
        picture.line([(at, 0.0), (at, 1.0)], Ink::Range);
        let labels = labels(&dimension.kind);
        if let (Some((low, first)), Some((high, last))) = (labels.first(), labels.last()) {
            picture.word(at, *low, first);
            picture.word(at, *high, last);
        }
    }
    let names = dimensions.iter().enumerate();
    picture.x_words(names.map(|(at, dimension)| (at as f64, dimension.name.as_str())));
    Some(picture)
}

/// All pictures of a study in one page that needs nothing else.
pub fn page(study: &Study, pictures: &[Drawing]) -> Result<String> {
    let settings = study.settings();
    let counts = study.counts()?;
    let objectives = settings.goal.objectives().iter();
    let goal: Vec<String> =
        objectives.map(|one| format!("{} {}", one.direction, one.name)).collect();
    let title = escaped(&settings.name);
    let facts = escaped(&format!(
        "{} trials with a value, {} failed, {} infeasible; method {}; {}",
        counts.valued,
        counts.failed,
        counts.infeasible,
        settings.method,
        goal.join(", ")
    ));
    let figure = |picture: &Drawing| format!("<figure>\n{}</figure>\n", svg(picture));
    let figures: String = pictures.iter().map(figure).collect();
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <style>body{{font-family:system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em;color:#222}}\
         figure{{margin:1.5em 0}}svg{{max-width:100%;height:auto}}</style>\n<h1>{title}</h1>\n<p>{facts}</p>\n{figures}</html>\n"
    ))
}

/// Words along a parameter: its ends, or its choices, with their places from 0 to 1.
fn labels(kind: &Kind) -> Vec<(f64, String)> {
    let (places, values) = slices::steps(kind, slices::WHOLE);
    let word = |value: &Value| match value {
        Value::Real(real) => short(*real),
        other => other.to_string(),
    };
    let all: Vec<(f64, String)> = places.into_iter().zip(values.iter().map(word)).collect();
    let few = chronicle::words(kind).is_some_and(|words| words.len() <= 8);
    match (&all[..], few) {
        ([first, .., last], false) => vec![first.clone(), last.clone()],
        _ => all,
    }
}

/// How dense many trials are.
fn cells(picture: &mut Drawing, grid: &Grid, x: Range, y: Range) {
    let (width, height) = (grid.width as f64, grid.height as f64);
    for (k, shade) in grid.shades().into_iter().enumerate().filter(|(_, shade)| *shade > 0) {
        let (column, row) = ((k % grid.width) as f64, (k / grid.width) as f64);
        let at = |column: f64, row: f64| {
            let across = x.low + (x.high - x.low) * column / width;
            (across, y.high - (y.high - y.low) * row / height)
        };
        let opacity = 0.15 + 0.85 * f64::from(shade) / 255.0;
        picture.bar(at(column, row + 1.0), at(column + 1.0, row), Ink::Cell, opacity);
    }
}
