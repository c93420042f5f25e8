//! A figure of the paper as a chart: the mean with its 95 % band, one panel a problem.
//!
//! A series is drawn as far as all its trials got: a mean over fewer and fewer trials would jump.

use super::figure::Figure;
use super::page::whole;
use super::settings::{Axis, Settings, Subject};
use crate::plot::{Chart, Panel, Series};
use crate::summary::Row;

/// Lowest drawn value on a log axis, as a part of the panel's largest.
const FLOOR: f64 = 1e-12;

/// The chart of the figure's rows.
pub(super) fn chart(figure: Figure, settings: &Settings, rows: &[Row]) -> Chart {
    let problems = settings.problems.iter();
    let panels: Vec<Panel> =
        problems.filter_map(|subject| panel(figure, settings, subject, rows)).collect();
    let x_label = match settings.axis {
        Axis::Round => "round",
        Axis::Evaluations => "evaluations",
    };
    Chart {
        x_label: x_label.to_owned(),
        y_label: settings.metric.replace('_', " "),
        log_y: settings.log,
        log_x_from: None,
        columns: match panels.len() {
            few @ 0..=3 => few,
            many => 4.min(many.div_ceil(2)),
        },
        panels,
    }
}

/// `None` for a problem without rows.
fn panel(figure: Figure, settings: &Settings, subject: &Subject, rows: &[Row]) -> Option<Panel> {
    let drawn = settings.methods.iter().filter(|method| !method.undrawn);
    let series = drawn.enumerate().filter_map(|(colour, method)| {
        let rows = whole(rows, figure, &subject.name, &method.name, &settings.metric);
        let of = |value: fn(&Row) -> f64| -> Vec<f64> { rows.iter().copied().map(value).collect() };
        (!rows.is_empty()).then(|| Series {
            title: method.title.clone(),
            colour,
            x: of(match settings.axis {
                Axis::Round => |row| row.round as f64,
                Axis::Evaluations => |row| row.evaluations as f64,
            }),
            y: of(|row| row.mean),
            band: Some((of(|row| row.lower95), of(|row| row.upper95))),
        })
    });
    let series: Vec<Series> = series.collect();
    let highest = series.iter().filter_map(|series| series.band.as_ref()).flat_map(|band| &band.1);
    let largest = highest.copied().fold(0.0, f64::max);
    let title = subject.title.clone().unwrap_or_else(|| {
        wimble_problems::problem(&subject.name)
            .map_or(subject.name.clone(), |problem| problem.title())
    });
    (!series.is_empty()).then(|| Panel {
        title,
        floor: if settings.log {
            FLOOR * largest.max(f64::MIN_POSITIVE / FLOOR)
        } else {
            f64::NEG_INFINITY
        },
        series,
    })
}
