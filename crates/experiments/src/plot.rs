//! Line charts as SVG: one panel a problem, one colour a method, a band around a line where it has one.
//!
//! On a log axis values below the panel's floor are drawn there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kuva::backend::svg::SvgBackend;
use kuva::plot::{BandPlot, LinePlot};
use kuva::render::figure::Figure as Grid;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;

use crate::error::{Error, Result};

/// Colours that differ for colour-blind readers and in grey (Okabe and Ito 2008).
const COLOURS: [&str; 9] = [
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#882255",
    "#777777",
];
/// Faint enough for seven bands on top of each other.
const BAND_OPACITY: f64 = 0.15;

/// A figure.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    pub x_label: String,
    pub y_label: String,
    /// Whether values have a log axis.
    pub log_y: bool,
    /// A log axis for what they are drawn over, which begins here and ends at the last point of a panel; plain if `None`.
    pub log_x_from: Option<f64>,
    /// Panels beside each other.
    pub columns: usize,
    pub panels: Vec<Panel>,
}

/// One problem.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Panel {
    pub title: String,
    /// Lowest drawn value.
    pub floor: f64,
    pub series: Vec<Series>,
}

/// One method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub title: String,
    /// The same for the same method in all panels.
    pub colour: usize,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// Lower and upper ends, if there is a band.
    pub band: Option<(Vec<f64>, Vec<f64>)>,
}

impl Panel {
    /// The lowest value of all lines and bands.
    fn lowest(&self) -> f64 {
        let bands = self.series.iter().filter_map(|series| series.band.as_ref());
        let lower = bands.flat_map(|(lower, _)| lower);
        let values = self.series.iter().flat_map(|series| &series.y).chain(lower);
        values.copied().fold(f64::INFINITY, f64::min)
    }
}

impl Chart {
    /// Writes the chart; the path written.
    pub fn write(&self, path: &Path) -> Result<PathBuf> {
        fs::write(path, self.svg()).map_err(Error::file(path))?;
        Ok(path.to_owned())
    }

    fn svg(&self) -> String {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let lines = self.panels.len().div_ceil(columns).max(1);
        let (plots, layouts): (Vec<_>, Vec<_>) =
            self.panels.iter().map(|panel| self.panel(panel)).unzip();
        let cell = if columns == 1 { (640.0, 420.0) } else { (420.0, 340.0) };
        let scene = Grid::new(lines, columns)
            .with_plots(plots)
            .with_layouts(layouts)
            .with_cell_size(cell.0, cell.1)
            .with_shared_legend()
            .render();
        SvgBackend::default().render_scene(&scene)
    }

    fn panel(&self, panel: &Panel) -> (Vec<Plot>, Layout) {
        let drawn = |values: &[f64]| -> Vec<f64> {
            values.iter().map(|value| value.max(panel.floor)).collect()
        };
        let colour = |series: &Series| COLOURS[series.colour % COLOURS.len()];
        // All bands first: none may cover another method's line.
        let bands = panel.series.iter().filter_map(|series| {
            let (lower, upper) = series.band.as_ref()?;
            let band = BandPlot::new(series.x.clone(), drawn(lower), drawn(upper));
            Some(Plot::from(band.with_color(colour(series)).with_opacity(BAND_OPACITY)))
        });
        let lines = panel.series.iter().map(|series| {
            let line = LinePlot::new()
                .with_data(series.x.iter().copied().zip(drawn(&series.y)))
                .with_color(colour(series))
                .with_stroke_width(2.0)
                .with_legend(series.title.clone());
            Plot::from(line)
        });
        // What lies lower is drawn at the floor: a line and the title say so.
        let is_cut = self.log_y && panel.lowest() < panel.floor;
        let floor = is_cut.then(|| {
            let ends = panel
                .series
                .iter()
                .flat_map(|series| series.x.first().into_iter().chain(series.x.last()));
            let (left, right) = ends
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(left, right), &x| {
                    (left.min(x), right.max(x))
                });
            let line = LinePlot::new().with_data([(left, panel.floor), (right, panel.floor)]);
            Plot::from(line.with_color("#777777").with_stroke_width(0.8))
        });
        let title = match is_cut {
            true => format!("{} (less than {} is drawn there)", panel.title, tick(panel.floor)),
            false => panel.title.clone(),
        };
        let plots: Vec<Plot> = floor.into_iter().chain(bands).chain(lines).collect();
        let mut layout = Layout::auto_from_plots(&plots)
            .with_title(title)
            .with_x_label(self.x_label.clone())
            .with_y_label(self.y_label.clone());
        if let Some(from) = self.log_x_from {
            let last = panel.series.iter().flat_map(|series| series.x.last()).copied();
            // The axis would go on to the next power of ten.
            layout = layout
                .with_log_x()
                .with_x_axis_min(from)
                .with_x_axis_max(last.fold(from, f64::max));
        }
        if self.log_y {
            layout = layout.with_log_y().with_y_tick_format(TickFormat::Custom(Arc::new(tick)));
        }
        (plots, layout)
    }
}

/// A value on a log axis, in so few letters that it stays clear of the axis title: 0.05, 20, 5e-5, 1e6.
fn tick(value: f64) -> String {
    if (0.01..10_000.0).contains(&value) {
        let text = format!("{value:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_that_is_cut_says_where() {
        let series = |low: f64| Series {
            title: "bore".into(),
            colour: 0,
            x: vec![1.0, 2.0, 3.0],
            y: vec![1.0, 0.1, low],
            band: None,
        };
        let chart = |low: f64| Chart {
            x_label: "round".into(),
            y_label: "regret".into(),
            log_y: true,
            log_x_from: None,
            columns: 1,
            panels: vec![Panel { title: "branin".into(), floor: 1e-6, series: vec![series(low)] }],
        };
        assert!(chart(0.0).svg().contains("branin (less than 1e-6 is drawn there)"));
        assert!(!chart(1e-5).svg().contains("is drawn there"));
    }

    #[test]
    fn ticks_are_short_and_say_their_value() {
        let ticks = [1e-12, 4.999_999_9e-5, 0.01, 0.05, 0.5, 1.0, 20.0, 5000.0, 1e4, 2e7].map(tick);
        assert_eq!(
            ticks,
            ["1e-12", "5e-5", "0.01", "0.05", "0.5", "1", "20", "5000", "1e4", "2e7"]
        );
    }
}
