//! The comparison as figures: the median regret against evaluations, one panel a problem, as SVG and PNG.

use std::fs;
use std::path::{Path, PathBuf};

use kuva::backend::svg::SvgBackend;
use kuva::plot::LinePlot;
use kuva::render::figure::Figure as Grid;
use kuva::render::layout::Layout;
use kuva::render::plots::Plot;

use super::board::Board;
use super::settings::Settings;
use crate::error::{Error, Result};
use crate::plot::{COLOURS, png};

const COLUMNS: usize = 4;
/// Lowest drawn regret.
const FLOOR: f64 = 1e-10;

/// Draws the regrets; the paths written, without extension.
pub(super) fn draw(
    dir: &Path,
    settings: &Settings,
    batch_size: usize,
    board: &Board,
) -> Result<Vec<PathBuf>> {
    let mut panels = Vec::new();
    for subject in &settings.problems {
        let mut plots = Vec::new();
        for (index, tool) in settings.tools.iter().filter(|tool| tool.drawn).enumerate() {
            let steps = (settings.initial + batch_size..=settings.evaluations).step_by(batch_size);
            let points: Vec<(f64, f64)> = steps
                .map_while(|n| {
                    Some((n, board.median(&tool.name, &subject.name, n, "simple_regret")?))
                })
                .map(|(n, regret)| (n as f64, regret.max(FLOOR)))
                .collect();
            if points.is_empty() {
                continue;
            }
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
            .with_log_y();
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
    let path = |extension: &str| dir.join(format!("compare-{batch_size}-regret.{extension}"));
    let (vector, raster) = (path("svg"), path("png"));
    fs::write(&vector, &svg).map_err(Error::file(&vector))?;
    fs::write(&raster, png(&svg)?).map_err(Error::file(&raster))?;
    Ok(vec![vector, raster])
}
