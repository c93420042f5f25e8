//! The comparison as figures: the median regret against evaluations, one panel a problem, as SVG and PNG.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::render::figure::Figure as Grid;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use super::board::Board;
use super::group::Group;
use super::rank::SOLVED;
use super::settings::{Settings, Suite};
use crate::error::{Error, Result};
use crate::plot::{COLOURS, png, tick};

const COLUMNS: usize = 4;

/// Lowest drawn regret. In a table the best configuration has none, and the second best at least 5e-6.
fn floor(suite: Suite) -> f64 {
    match suite {
        Suite::Functions | Suite::Racing => SOLVED,
        Suite::Fcnet => 1e-6,
    }
}

/// The file's name without extension.
pub(super) fn name(suite: Suite, batch_size: usize) -> String {
    format!("compare-{batch_size}-{}", suite.name())
}

/// Draws the regrets on the problems of a suite; the paths written.
pub(super) fn draw(
    dir: &Path,
    settings: &Settings,
    suite: Suite,
    batch_size: usize,
    board: &Board,
) -> Result<Vec<PathBuf>> {
    let mut panels = Vec::new();
    let group = Group::suite(settings, suite);
    for &subject in &group.subjects {
        let mut plots = Vec::new();
        let mut last = 0.0;
        for (index, tool) in settings.tools.iter().filter(|tool| tool.drawn).enumerate() {
            // A run that was stopped keeps its last value, but has no evaluations beyond those it was meant to have.
            let end = settings.evaluations_of(tool, subject);
            let steps = (settings.initial + batch_size..=end).step_by(batch_size);
            let points: Vec<(f64, f64)> = steps
                .map_while(|n| {
                    Some((n, board.median(&tool.name, &subject.name, n, "simple_regret")?))
                })
                .map(|(n, regret)| (n as f64, regret.max(floor(suite))))
                .collect();
            let Some(&(end, _)) = points.last() else { continue };
            last = f64::max(last, end);
            let line = LinePlot::new()
                .with_data(points)
                .with_color(COLOURS[index % COLOURS.len()])
                .with_stroke_width(2.0)
                .with_legend(tool.title.replace('*', ""));
            plots.push(Plot::from(line));
        }
        if plots.is_empty() {
            continue;
        }
        let layout = Layout::auto_from_plots(&plots)
            .with_title(subject.name.clone())
            .with_x_label("evaluations")
            .with_y_label("median simple regret")
            .with_log_x()
            .with_log_y()
            // The axis would go on to the next power of ten.
            .with_x_axis_min(settings.initial as f64)
            .with_x_axis_max(last)
            .with_y_tick_format(TickFormat::Custom(Arc::new(tick)));
        panels.push((plots, layout));
    }
    if panels.is_empty() {
        return Ok(Vec::new());
    }
    let columns = COLUMNS.min(panels.len());
    let lines = panels.len().div_ceil(columns);
    let (plots, layouts): (Vec<_>, Vec<_>) = panels.into_iter().unzip();
    let scene = Grid::new(lines, columns)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(420.0, 340.0)
        .with_shared_legend()
        .render();
    let svg = SvgBackend::default().render_scene(&scene);
    let path = |extension: &str| dir.join(format!("{}.{extension}", name(suite, batch_size)));
    let (vector, raster) = (path("svg"), path("png"));
    fs::write(&vector, &svg).map_err(Error::file(&vector))?;
    fs::write(&raster, png(&svg)?).map_err(Error::file(&raster))?;
    Ok(vec![vector, raster])
}
