//! A figure's results as a page in markdown: the picture, the table, the paper's claims, the time, the command.

use std::fmt::Write as _;
use std::path::Path;

use super::claim::{claims, real_data, rosenbrock};
use super::contrast;
use super::figure::Figure;
use super::settings::Settings;
use crate::mnist::{runs, surrogate};
use crate::record::{self, End, Records};
use crate::summary::{Row, short};

/// The page.
pub fn page(
    dir: &Path,
    figure: Figure,
    settings: &Settings,
    records: &Records,
    rows: &[Row],
) -> String {
    let name = figure.name();
    let mut text = String::new();
    let trials = records.trials.keys().map(|key| key.trial + 1).max().unwrap_or(0);
    let rounds = records.trials.values().map(|trial| trial.start.rounds).max().unwrap_or(0);
    let seeds: std::collections::BTreeSet<u64> =
        records.trials.values().map(|trial| trial.start.seed).collect();
    let seed = seeds.iter().next().copied().unwrap_or(0);
    let metric = settings.metric.replace('_', " ");
    let many = match settings.is_uniform() {
        true => format!("{trials} trials"),
        false => "the trials counted below".to_owned(),
    };
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "# {}: {}\n\n![{metric} by round]({name}.svg)\n\nMean {metric} of {many}; bands are 95 % percentile \
         bootstrap intervals of the mean. `wimble-lab paper` writes all rounds to `summary.csv`.\n\n",
        figure.title(),
        settings.title.to_lowercase()
    );

    if trials < settings.trials || rounds < settings.rounds {
        let _ = write!(
            text,
            "**A shortened run, not for conclusions:** {trials} of {} trials, {rounds} of {} rounds.\n\n",
            settings.trials, settings.rounds
        );
    }
    let pairs =
        settings.problems.iter().flat_map(|on| settings.methods.iter().map(move |of| (of, on)));
    let planned: usize = pairs.map(|(method, subject)| settings.trials_of(method, subject)).sum();
    if !settings.is_uniform() && records.ended() < planned {
        let _ = write!(
            text,
            "**Not complete:** {} of {planned} trials have ended. What is missing is not in the table, or is open below.\n\n",
            records.ended()
        );
    }
    let _ = write!(
        text,
        "## At the end\n\n| problem | method | trials | round | mean {metric} | 95 % | median |\n|---|---|---|---|---|---|---|\n"
    );
    for subject in &settings.problems {
        for method in &settings.methods {
            let series = whole(rows, figure, &subject.name, &method.name, &settings.metric);
            let Some(row) = series.last() else { continue };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} to {} | {} |",
                subject.name,
                method.title,
                row.trials,
                row.round,
                short(row.mean),
                short(row.lower95),
                short(row.upper95),
                short(row.median)
            );
        }
    }

    if figure == Figure::RealData {
        text += "\n## Beside the original BORE\n\n";
        text += &real_data::reached(settings, records);
        text += &notes();
    }
    if figure == Figure::Rosenbrock {
        text += &rosenbrock::faces(settings, records);
    }
    text += "\n## The paper's claims\n\n| the paper | measured | verdict |\n|---|---|---|\n";
    for claim in claims(figure, settings, records) {
        let _ = writeln!(text, "| {} | {} | **{}** |", claim.paper, claim.measured, claim.verdict);
    }
    text += "\nTwo methods are compared on the same trials, by the mean difference at the last round that all their trials \
             reached; one is ahead if the 95 % bootstrap interval excludes zero; fewer than five trials, or less than half of the \
             rounds, decide nothing, unless a time limit ended them. A statement about single trials holds if \
             it is true in nine tenths of them, and holds partly if in half.";
    if figure == Figure::Global {
        text +=
            " On this page, ahead means a lower mean; \"most\" is more than half of the problems.";
    }
    text += "\n\n";
    text += &contrast::tables(settings, records);

    let ended = records.ended();
    let aborted = records.trials.values().filter(|trial| trial.end == Some(End::Aborted)).count();
    let seconds: f64 = records.trials.keys().filter_map(|key| record::seconds(dir, key)).sum();
    // Numbers on the command line would be those of every problem.
    let numbers =
        match settings.is_uniform() || trials < settings.trials || rounds < settings.rounds {
            true => format!("--trials {trials} --rounds {rounds} "),
            false => "--data DIR ".to_owned(),
        };
    let only = only(settings, records) + &time_limit(settings, records);
    let _ = write!(
        text,
        "## How it was run\n\n```sh\nwimble-lab paper {name} {numbers}{only}--seed {seed}\n```\n\n\
         {ended} trials ended, {aborted} of them at their time limit; {} begun and not ended; {} lines of records could \
         not be read. The trials took {seconds:.0} seconds by the clock, added up.\n",
        records.trials.len() - ended,
        records.corrupt_lines
    );
    text
}

/// The options that leave methods or problems out, where the records have not all of them.
fn only(settings: &Settings, records: &Records) -> String {
    let option = |flag: &str, all: Vec<&str>, of: fn(&record::Key) -> &str| {
        let there = |name: &&str| records.trials.keys().any(|key| of(key) == *name);
        let some: Vec<&str> = all.iter().copied().filter(there).collect();
        match some.is_empty() || some.len() == all.len() {
            true => String::new(),
            false => format!("--{flag} {} ", some.join(",")),
        }
    };
    let methods = settings.methods.iter().map(|method| method.name.as_str()).collect();
    let problems = settings.problems.iter().map(|subject| subject.name.as_str()).collect();
    let methods = option("methods", methods, |key| &key.method);
    methods + &option("problems", problems, |key| &key.problem)
}

/// The option that replaced the time limit, where the records of a method have another than the settings.
fn time_limit(settings: &Settings, records: &Records) -> String {
    let given = |trial: &record::Trial| {
        let (_, words) = trial.start.settings.rsplit_once("; at most ")?;
        let limit = words.strip_suffix(" s")?.parse::<f64>().ok()?;
        let method = settings.methods.iter().find(|one| one.name == trial.start.key.method)?;
        (method.time_limit != Some(limit)).then_some(limit)
    };
    let limit = records.trials.values().find_map(given);
    limit.map_or_else(String::new, |limit| format!("--time-limit {limit} "))
}

/// What a reader of Figure 3 must know of its problems.
fn notes() -> String {
    let mut text = String::from(
        "\nFCNet: an evaluation returns one of four trainings at random, and regret is |y - y*|, both as in the experiments of the \
         original BORE; y* is no minimum, so that values below it occur. The rank is the number of configurations of the \
         table, of 62,208, whose mean error is below that of the best one tried. The methods with kernel models have 5 trials on \
         FCNet, not the paper's 10: each takes minutes. Racing: lap time less the best one known. \
         MNIST: the error predicted by a forest fitted to this project's own training runs; LCBench: the validation error \
         in percent on OpenML task 189908, believed to be Fashion-MNIST; both less the least one known.\n",
    );
    if let Ok(accuracy) = runs::published().and_then(|runs| surrogate::cross_validate(&runs)) {
        let _ = write!(
            text,
            "\nThe MNIST forest in ten-fold cross-validation over {} networks: root mean squared error {:.3}, R² {:.3} (of \
             the logarithm {:.3}), rank correlation {:.3}.\n",
            accuracy.runs,
            accuracy.rmse,
            accuracy.r_squared,
            accuracy.log_r_squared,
            accuracy.rank_correlation
        );
    }
    text
}

/// The rows of a series, as far as all its trials got, in the order of the rounds.
pub(crate) fn whole<'r>(
    rows: &'r [Row],
    figure: Figure,
    problem: &str,
    method: &str,
    metric: &str,
) -> Vec<&'r Row> {
    let series = rows.iter().filter(|row| {
        row.figure == figure.name()
            && row.problem == problem
            && row.method == method
            && row.metric == metric
    });
    let mut series: Vec<&Row> = series.collect();
    series.sort_by_key(|row| row.round);
    let trials = series.first().map_or(0, |row| row.trials);
    series.into_iter().take_while(|row| row.trials == trials).collect()
}
