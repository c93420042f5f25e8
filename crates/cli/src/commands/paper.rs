//! `wimble paper`: the paper's figures, from runs to pictures.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wimble_experiments::data::Folder;
use wimble_experiments::mnist::images::Images;
use wimble_experiments::mnist::runs::{self, Budget};
use wimble_experiments::{Changes, Figure, Plan, plot, summarise};

/// Arguments of `wimble paper`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
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
    /// Train networks on MNIST over the space of its tuning problem and write the table of their errors
    MnistRuns(MnistRuns),
    /// Write summary.csv and a page a figure from the records of a folder
    #[command(alias = "summarize")]
    Summarise(Results),
    /// Draw the figures of a folder's summary.csv as SVG and PNG
    Plot(Results),
}

#[derive(Args)]
struct Run {
    /// Trials a method and problem [default: the paper's]
    #[arg(long)]
    trials: Option<usize>,
    /// Rounds a trial [default: the paper's, where it gives them]
    #[arg(long)]
    rounds: Option<usize>,
    /// Seconds of processor time that a slow method may spend asking, a trial [default: see the figure's settings]
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<f64>,
    /// A first look in two minutes a figure, not for conclusions
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    data: Data,
    /// Where records, tables and figures go; a run that was stopped goes on from there
    #[arg(long, value_name = "DIR", default_value = "paper-results")]
    out: PathBuf,
    /// These methods only
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// These problems only
    #[arg(long, value_delimiter = ',')]
    problems: Vec<String>,
    /// The seed: the same one gives the same records
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Trials at a time [default: one a core]
    #[arg(long)]
    jobs: Option<usize>,
}

#[derive(Args)]
struct Data {
    /// The folder with other people's data; what is missing is named with its source
    #[arg(long = "data", value_name = "DIR", env = "WIMBLE_DATA", default_value = "data")]
    path: PathBuf,
}

#[derive(Args)]
struct MnistRuns {
    #[command(flatten)]
    data: Data,
    /// The table; one that was cut short goes on
    #[arg(long, value_name = "FILE", default_value = "mnist-runs.csv")]
    out: PathBuf,
    /// Networks in the table
    #[arg(long, default_value_t = 1024)]
    count: usize,
    /// The seed: the same one gives the same networks
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Networks at a time [default: one a core]
    #[arg(long)]
    jobs: Option<usize>,
}

#[derive(Args)]
struct Results {
    /// The folder given to --out
    dir: PathBuf,
}

/// Runs, summarises and draws.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.what {
        What::Fig1(run) => figures(&[Figure::Theory], run),
        What::Fig2(run) => figures(&[Figure::Global], run),
        What::Fig3(run) => figures(&[Figure::RealData], run),
        What::FigE1(run) => figures(&[Figure::Rosenbrock], run),
        What::All(run) => figures(&Figure::ALL, run),
        What::MnistRuns(asked) => mnist_runs(asked),
        What::Summarise(folder) => write_summary(&folder.dir),
        What::Plot(folder) => draw(&folder.dir),
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
    let jobs = jobs(run.jobs);
    // All names are checked before the first trial runs.
    let plans = figures.iter().map(|&figure| {
        Ok(Plan {
            figure,
            settings: figure.settings()?.with(&changes)?,
            seed: run.seed,
            jobs,
            data: Folder::new(&run.data.path),
        })
    });
    let plans: Vec<Plan> = plans.collect::<Result<_>>()?;
    let mut out = std::io::stdout().lock();
    for plan in &plans {
        let bar = progress_bar(plan.trials(), plan.figure.name(), "trial")?;
        let done = plan.run(&run.out, &|ended| bar.set_position(ended as u64));
        bar.finish_and_clear();
        let done = done?;
        writeln!(
            out,
            "{}: {} trials run, {} found in {}",
            plan.figure,
            done.computed,
            done.found,
            run.out.display()
        )?;
        if done.corrupt_lines > 0 {
            writeln!(
                out,
                "{} lines of records could not be read; their trials were run again",
                done.corrupt_lines
            )?;
        }
    }
    drop(out);
    write_summary(&run.out)?;
    draw(&run.out)
}

fn mnist_runs(asked: &MnistRuns) -> Result<()> {
    let images = Images::read(&Folder::new(&asked.data.path))?;
    let bar = progress_bar(asked.count, "networks", "network")?;
    let jobs = jobs(asked.jobs);
    let made =
        runs::make(&images, &Budget::small(asked.seed), &asked.out, asked.count, jobs, &|ended| {
            bar.set_position(ended as u64);
        });
    bar.finish_and_clear();
    let made = made?;
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "{} networks trained, {} found in {}",
        made.trained,
        made.found,
        asked.out.display()
    )?;
    Ok(())
}

fn jobs(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn progress_bar(length: usize, message: &'static str, unit: &str) -> Result<ProgressBar> {
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr());
    bar.set_style(ProgressStyle::with_template(&format!(
        "{{msg}} {{bar:30}} {unit} {{pos}}/{{len}}  {{elapsed}}  {{eta}} left"
    ))?);
    bar.set_message(message);
    Ok(bar)
}

fn write_summary(dir: &Path) -> Result<()> {
    let found = summarise(dir)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", dir.join("summary.csv").display())?;
    for figure in found.figures {
        writeln!(out, "{}", dir.join(format!("{figure}.md")).display())?;
    }
    if found.open_trials > 0 {
        writeln!(
            out,
            "{} trials have not ended; the command that began them goes on",
            found.open_trials
        )?;
    }
    if found.corrupt_lines > 0 {
        writeln!(
            out,
            "{} lines of records could not be read and are left out",
            found.corrupt_lines
        )?;
    }
    Ok(())
}

fn draw(dir: &Path) -> Result<()> {
    let mut out = std::io::stdout().lock();
    for path in plot(dir)? {
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}
