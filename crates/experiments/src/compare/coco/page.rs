//! The page: shares of targets by tool and budget, the lead of `auto` with paired intervals, and COCO's picture.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::runs::{Runs, share};
use super::verdict::Pair;
use super::{Group, tools};
use crate::compare::settings::{Settings, Tool};
use crate::error::{Error, Result};
use crate::plot::{Chart, Panel, Series};

/// The tool that the others are compared with.
const OURS: &str = "auto";
/// Budgets at which the picture has points: from one evaluation for each dimension, ten a decade.
const POINTS: i32 = 30;

/// Writes `coco.md` and its figures into `dir`, from the records there; the paths written.
pub fn report(dir: &Path) -> Result<Vec<PathBuf>> {
    let settings = tools()?;
    let (mut text, mut written) = (String::new(), Vec::new());
    for batch_size in Runs::batch_sizes(dir) {
        let runs = Runs::read(dir, batch_size)?;
        if runs.is_empty() {
            continue;
        }
        let figure = format!("coco-{batch_size}.svg");
        written.push(chart(&settings, &runs).write(&dir.join(&figure))?);
        section(&mut text, &settings, &runs, batch_size, &figure);
    }
    if text.is_empty() {
        return Err(Error::Nothing {
            path: dir.to_owned(),
            missing: "no records of a run that has ended",
            remedy: "run ours with `wimble-lab compare coco run --out` and others with benches/peers/run --set coco first",
        });
    }
    let path = dir.join("coco.md");
    let page = format!(
        "# COCO: the functions of BBOB\n\nThe share of the 51 targets 10², 10^1.8, …, 10^-8 (gaps to the least value) that were reached within so many \
         evaluations for each dimension d. Constants of `auto` were chosen on f1, 2, 5, 6 and 8 to 14, instances 1 to 3. Every tool \
         begins at the centre of the box. A batch counts once all of it is told. Runtimes are those of the runs, without simulated restarts.\n\n{text}"
    );
    fs::write(&path, page).map_err(Error::file(&path))?;
    written.insert(0, path);
    Ok(written)
}

/// Those of the settings that have runs, in their order, and ablations after them.
fn present(settings: &Settings, runs: &Runs) -> Vec<(String, String)> {
    let known = |name: &str| settings.tools.iter().any(|tool| tool.name == name);
    let listed = settings.tools.iter().filter(|tool| runs.of(&tool.name).next().is_some());
    let listed = listed.map(|Tool { name, title, .. }| (name.clone(), title.clone()));
    let others = runs.methods().filter(|name| !known(name));
    listed.chain(others.map(|name| (name.to_owned(), name.to_owned()))).collect()
}

fn section(text: &mut String, settings: &Settings, runs: &Runs, batch_size: usize, figure: &str) {
    let tools = present(settings, runs);
    let asks = match batch_size {
        1 => "One at a time".to_owned(),
        size => format!("Batches of {size}"),
    };
    // Writing to a string cannot fail.
    let list = |numbers: BTreeSet<u64>| {
        numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let keys = || tools.iter().flat_map(|(name, _)| runs.of(name).map(|(key, _)| key.1));
    let dims = list(keys().map(|name| name.dim as u64).collect());
    let instances = list(keys().map(|name| name.instance).collect());
    let _ =
        write!(text, "## {asks}\n\nd = {dims}; instances {instances}.\n\n![{asks}]({figure})\n\n");
    let budgets: BTreeSet<usize> = tools.iter().flat_map(|(name, _)| runs.budgets(name)).collect();
    for group in &Group::ALL {
        let mut rows = Vec::new();
        for (name, title) in &tools {
            let cells: Vec<String> =
                budgets.iter().map(|&budget| cell(runs, name, group, budget)).collect();
            if cells.iter().any(|cell| !cell.is_empty()) {
                let count = runs.of(name).filter(|(key, _)| group.holds(&key.1)).count();
                rows.push(format!("| {title} | {count} | {} |\n", cells.join(" | ")));
            }
        }
        if rows.is_empty() {
            continue;
        }
        let heads: Vec<String> = budgets.iter().map(|budget| format!("{budget}d")).collect();
        let _ = write!(
            text,
            "**{}**\n\n| | runs | {} |\n|---|---|{}\n{}\n",
            group.name,
            heads.join(" | "),
            "---|".repeat(heads.len()),
            rows.concat()
        );
    }
    *text += "In brackets: `auto` less that tool on the runs that both have, 95 % interval.\n\n";
    *text += "| tool | what was run |\n|---|---|\n";
    for (name, title) in &tools {
        let what: Vec<&str> = runs.settings(name).into_iter().collect();
        let _ = writeln!(text, "| {title} | {} |", what.join("<br>"));
    }
    text.push('\n');
}

/// The share, and how far `auto` is ahead.
fn cell(runs: &Runs, name: &str, group: &Group, budget: usize) -> String {
    let Some(share) = mean_share(runs, name, group, budget as f64) else { return String::new() };
    let pair = Pair { before: (runs, name), after: (runs, OURS) };
    match pair.difference(group, budget).filter(|_| name != OURS) {
        None => format!("{share:.3}"),
        Some(lead) => {
            format!("{share:.3} ({:+.3} to {:+.3})", lead.interval.0, lead.interval.1)
        }
    }
}

/// Over the runs that come to the budget.
fn mean_share(runs: &Runs, name: &str, group: &Group, budget: f64) -> Option<f64> {
    let of_group = runs.of(name).filter(|(key, _)| group.holds(&key.1));
    let at = |dim: usize| (budget * dim as f64 + 1e-9) as usize;
    let shares: Vec<f64> =
        of_group.filter_map(|(key, trial)| share(trial, at(key.1.dim))).collect();
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

/// A panel for each group: shares over evaluations for each dimension.
fn chart(settings: &Settings, runs: &Runs) -> Chart {
    let drawn = settings.tools.iter().filter(|tool| tool.drawn).enumerate();
    let tools: Vec<(usize, &Tool)> =
        drawn.filter(|(_, tool)| runs.of(&tool.name).next().is_some()).collect();
    let series = |group: &Group, colour: usize, tool: &Tool| {
        let budgets = (0..=POINTS).map(|i| 10.0_f64.powf(f64::from(i) / 10.0));
        let points = budgets
            .map_while(|budget| Some((budget, mean_share(runs, &tool.name, group, budget)?)));
        let (x, y): (Vec<f64>, Vec<f64>) = points.unzip();
        Series { title: tool.title.replace("**", ""), colour, x, y, band: None }
    };
    let panel = |group: &Group| Panel {
        title: group.name.to_owned(),
        floor: 0.0,
        series: tools.iter().map(|(colour, tool)| series(group, *colour, tool)).collect(),
    };
    let has_runs = |panel: &Panel| panel.series.iter().any(|series| !series.x.is_empty());
    Chart {
        x_label: "evaluations / dimension".to_owned(),
        y_label: "share of targets".to_owned(),
        log_y: false,
        log_x_from: Some(1.0),
        columns: 3,
        panels: Group::ALL.iter().map(panel).filter(has_runs).collect(),
    }
}
