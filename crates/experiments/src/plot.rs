//! Figures: the mean with its 95 % band, one panel a problem, as SVG and PNG.
//!
//! A series is drawn as far as all its trials got: a mean over fewer and fewer trials would jump. On a log axis values
//! below 1e-12 of the panel's largest are drawn there. PNG needs a font of the system; without one it is an error that
//! says so, and the SVG is there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::{BandPlot, LinePlot};
use kuva::render::figure::Figure as Grid;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use resvg::{tiny_skia, usvg};

use crate::error::{Error, Result};
use crate::page::whole;
use crate::settings::{Axis, Figure, Settings};
use crate::summary::Row;

/// Colours that differ for colour-blind readers and in grey (Okabe and Ito 2008).
pub(crate) const COLOURS: [&str; 9] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255",
    "#777777",
];
/// Pixels of the PNG a unit of the SVG: sharp on dense screens.
const SCALE: f32 = 2.0;
/// Faint enough for seven bands on top of each other.
const BAND_OPACITY: f64 = 0.15;
/// Lowest drawn value on a log axis, as a part of the panel's largest.
const FLOOR: f64 = 1e-12;

/// Draws a figure; the paths written.
pub fn draw(dir: &Path, figure: Figure, settings: &Settings, rows: &[Row]) -> Result<Vec<PathBuf>> {
    let svg = svg(figure, settings, rows);
    let path = |extension: &str| dir.join(figure.name()).with_extension(extension);
    let (vector, raster) = (path("svg"), path("png"));
    fs::write(&vector, &svg).map_err(Error::file(&vector))?;
    fs::write(&raster, png(&svg)?).map_err(Error::file(&raster))?;
    Ok(vec![vector, raster])
}

fn svg(figure: Figure, settings: &Settings, rows: &[Row]) -> String {
    let mut panels = Vec::new();
    for subject in &settings.problems {
        let series: Vec<(usize, Vec<&Row>)> = settings
            .methods
            .iter()
            .map(|method| whole(rows, figure, &subject.name, &method.name, &settings.metric))
            .enumerate()
            .filter(|(_, series)| !series.is_empty())
            .collect();
        if series.is_empty() {
            continue;
        }
        let largest =
            series.iter().flat_map(|(_, rows)| rows).map(|row| row.upper95).fold(0.0, f64::max);
        let floor = if settings.log {
            FLOOR * largest.max(f64::MIN_POSITIVE / FLOOR)
        } else {
            f64::NEG_INFINITY
        };
        let of = |rows: &[&Row], value: fn(&Row) -> f64| -> Vec<f64> {
            rows.iter().map(|row| value(row).max(floor)).collect()
        };
        let along = |rows: &[&Row]| -> Vec<f64> {
            let place = |row: &&Row| match settings.axis {
                Axis::Round => row.round as f64,
                Axis::Evaluations => row.evaluations as f64,
            };
            rows.iter().map(place).collect()
        };
        let colour = |index: usize| COLOURS[index % COLOURS.len()];
        // All bands first: none may cover another method's line.
        let bands = series.iter().map(|(index, rows)| {
            let (lower, upper) = (of(rows, |row| row.lower95), of(rows, |row| row.upper95));
            let band = BandPlot::new(along(rows), lower, upper);
            Plot::from(band.with_color(colour(*index)).with_opacity(BAND_OPACITY))
        });
        let lines = series.iter().map(|(index, rows)| {
            let line = LinePlot::new()
                .with_data(along(rows).into_iter().zip(of(rows, |row| row.mean)))
                .with_color(colour(*index))
                .with_stroke_width(2.0)
                .with_legend(settings.methods[*index].title.clone());
            Plot::from(line)
        });
        let plots: Vec<Plot> = bands.chain(lines).collect();
        let title = subject.title.clone().unwrap_or_else(|| {
            wimble_problems::problem(&subject.name)
                .map_or(subject.name.clone(), |problem| problem.title())
        });
        let mut layout = Layout::auto_from_plots(&plots)
            .with_title(title)
            .with_x_label(match settings.axis {
                Axis::Round => "round",
                Axis::Evaluations => "evaluations",
            })
            .with_y_label(settings.metric.replace('_', " "));
        if settings.log {
            layout = layout.with_log_y().with_y_tick_format(TickFormat::Custom(Arc::new(tick)));
        }
        panels.push((plots, layout));
    }
    let columns = match panels.len() {
        0 | 1 => 1,
        2 => 2,
        3 => 3,
        _ => 4.min(panels.len().div_ceil(2)),
    };
    let lines = panels.len().div_ceil(columns).max(1);
    let (plots, layouts): (Vec<_>, Vec<_>) = panels.into_iter().unzip();
    let cell = if columns == 1 { (640.0, 420.0) } else { (420.0, 340.0) };
    let scene = Grid::new(lines, columns)
        .with_plots(plots)
        .with_layouts(layouts)
        .with_cell_size(cell.0, cell.1)
        .with_shared_legend()
        .render();
    SvgBackend::default().render_scene(&scene)
}

/// A value on a log axis, in so few letters that it stays clear of the axis title: 0.05, 20, 5e-5, 1e6.
pub(crate) fn tick(value: f64) -> String {
    if (0.01..10_000.0).contains(&value) {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

pub(crate) fn png(svg: &str) -> Result<Vec<u8>> {
    let failed = |error: &dyn std::fmt::Display| Error::Drawing(error.to_string());
    let mut options =
        usvg::Options { font_family: "DejaVu Sans".to_owned(), ..usvg::Options::default() };
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let Some(family) = fonts
        .faces()
        .flat_map(|face| face.families.iter().map(|(name, _)| name.clone()))
        .min_by_key(|name| {
            !matches!(name.as_str(), "DejaVu Sans" | "Arial" | "Liberation Sans" | "Helvetica")
        })
    else {
        return Err(Error::Drawing(
            "the system has no font for the labels of the PNG (the SVG is written); install one, such as DejaVu \
             Sans"
                .to_owned(),
        ));
    };
    // Whatever the SVG asks for, there are letters.
    fonts.set_sans_serif_family(&family);
    fonts.set_serif_family(&family);
    fonts.set_monospace_family(&family);
    options.font_family = family;
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| failed(&error))?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let mut map = tiny_skia::Pixmap::new(pixels(size.width()), pixels(size.height()))
        .ok_or_else(|| failed(&"it has no size"))?;
    map.fill(tiny_skia::Color::WHITE);
    resvg::render(&tree, tiny_skia::Transform::from_scale(SCALE, SCALE), &mut map.as_mut());
    map.encode_png().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_short_and_say_their_value() {
        let ticks = [1e-12, 4.999_999_9e-5, 0.01, 0.05, 0.5, 1.0, 20.0, 5000.0, 1e4, 2e7].map(tick);
        assert_eq!(
            ticks,
            ["1e-12", "5e-5", "0.01", "0.05", "0.5", "1", "20", "5000", "1e4", "2e7"]
        );
    }
}
