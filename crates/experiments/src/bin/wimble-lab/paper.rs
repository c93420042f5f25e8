//! `wimble-lab paper`: the paper's experiments, from runs to figures.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use wimble_experiments::Place;
use wimble_experiments::mnist::images::Images;
use wimble_experiments::mnist::runs::{self, Budget};
use wimble_experiments::paper::{Changes, Figure, PeerTrial, Plan, draw, summarise};

use crate::running::{self, Data, Jobs, Results};

/// What `wimble-lab paper` can do.
#[derive(Subcommand)]
pub enum What {
    /// Figure 1: theory assessment
    Fig1(Run),
    /// Figure 2: global optimisation
    Fig2(Run),
    /// Figure 3: real data, read from --data
    Fig3(Run),
    /// Figure E.1: batch BORE against batch BORE++ on Rosenbrock
    #[command(name = "figE1", alias = "fige1")]
    FigE1(Run),
    /// Figures 1, 2, 3 and E.1
    All(Run),
    /// Train the networks behind the MNIST problem and write the table of their errors
    MnistRuns(MnistRuns),
    /// Evaluate a trial of a figure for another tool: write its first line, space and initial points, then answer one JSON object a line
    Evaluate(Evaluate),
    /// Write summary.csv and one page a figure from the records of a folder
    #[command(alias = "summarize")]
    Summarise(Results),
    /// Draw the figures of a folder's summary.csv as SVG
    Plot(Results),
}

#[derive(Args)]
pub struct Run {
    /// Trials of each method on each problem [default: the paper's]
    #[arg(long)]
    trials: Option<usize>,
    /// Rounds of each trial [default: the paper's, where it gives them]
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of processor time that a slow method may spend asking in a trial [default: see the figure's settings]
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// Run few and short trials: a first look in two minutes a figure, not for conclusions
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    data: Data,
    /// Where to write records, tables and figures; a run that was stopped resumes from there
    #[arg(long, value_name = "DIR", default_value = "paper-results")]
    out: PathBuf,
    /// Run only these methods
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Run only these problems
    #[arg(long, value_delimiter = ',')]
    problems: Vec<String>,
    /// The seed: the same seed gives the same records
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    jobs: Jobs,
}

#[derive(Args)]
pub struct Evaluate {
    /// The figure, such as fig3
    figure: Figure,
    /// A problem of the figure
    problem: String,
    /// A method of the figure that another tool runs, such as hyperopt-tpe
    method: String,
    /// The number of the trial, from 0
    trial: usize,
    /// The seed of the whole run, as that of our methods
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    data: Data,
}

#[derive(Args)]
pub struct MnistRuns {
    #[command(flatten)]
    data: Data,
    /// The table to write; one that was cut short is completed
    #[arg(long, value_name = "FILE", default_value = "mnist-runs.csv")]
    out: PathBuf,
    /// Number of networks in the table
    #[arg(long, default_value_t = 1024)]
    count: usize,
    /// The seed: the same seed gives the same networks
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    jobs: Jobs,
}

/// Runs, summarises and draws.
pub fn run(what: &What) -> Result<()> {
    match what {
        What::Fig1(run) => figures(&[Figure::Theory], run),
        What::Fig2(run) => figures(&[Figure::Global], run),
        What::Fig3(run) => figures(&[Figure::RealData], run),
        What::FigE1(run) => figures(&[Figure::Rosenbrock], run),
        What::All(run) => figures(&Figure::ALL, run),
        What::MnistRuns(asked) => mnist_runs(asked),
        What::Evaluate(asked) => evaluate(asked),
        What::Summarise(folder) => write_summary(&folder.dir),
        What::Plot(folder) => running::list(draw(&folder.dir)?),
    }
}

fn figures(figures: &[Figure], run: &Run) -> Result<()> {
    let changes = Changes {
        quick: run.quick,
        trials: run.trials,
        rounds: run.rounds,
        time_limit: run.time_limit,
        methods: run.methods.clone(),
        problems: run.problems.clone(),
    };
    // All names are checked before the first trial runs.
    let plans = figures.iter().map(|&figure| {
        Ok(Plan { figure, settings: figure.settings()?.with(&changes)?, seed: run.seed })
    });
    let plans: Vec<Plan> = plans.collect::<Result<_>>()?;
    let place = Place { dir: &run.out, jobs: run.jobs.count(), data: &run.data.folder() };
    for plan in &plans {
        running::run(plan, plan.figure.name(), &place)?;
    }
    write_summary(&run.out)?;
    running::list(draw(&run.out)?)
}

fn evaluate(asked: &Evaluate) -> Result<()> {
    let Evaluate { figure, problem, method, trial, seed, data } = asked;
    let plan = Plan { figure: *figure, settings: figure.settings()?, seed: *seed };
    let mut game = PeerTrial::open(&plan, method, problem, *trial, &data.folder())?;
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&game.introduction())?)?;
    running::answer("a JSON object of a point, as the first line has them", |point| {
        Ok(serde_json::to_string(&game.answer(&point)?)?)
    })
}

fn mnist_runs(asked: &MnistRuns) -> Result<()> {
    let images = Images::read(&asked.data.folder())?;
    let bar = running::bar(asked.count, "networks", "network")?;
    let (budget, jobs) = (Budget::small(asked.seed), asked.jobs.count());
    let progress = |ended| bar.set_position(ended as u64);
    let made = runs::make(&images, &budget, &asked.out, asked.count, jobs, &progress);
    bar.finish_and_clear();
    let made = made?;
    writeln!(
        std::io::stdout(),
        "{} networks trained, {} found in {}",
        made.trained,
        made.found,
        asked.out.display()
    )?;
    Ok(())
}

fn write_summary(dir: &Path) -> Result<()> {
    let found = summarise(dir)?;
    let pages = found.figures.iter().map(|figure| dir.join(format!("{figure}.md")));
    running::list(std::iter::once(dir.join("summary.csv")).chain(pages))?;
    let mut out = std::io::stdout().lock();
    if found.open_trials > 0 {
        let open = found.open_trials;
        writeln!(out, "{open} trials have not ended; run the same command again to finish them")?;
    }
    if found.corrupt_lines > 0 {
        let lines = found.corrupt_lines;
        writeln!(out, "{lines} lines of records could not be read and are left out")?;
    }
    Ok(())
}
