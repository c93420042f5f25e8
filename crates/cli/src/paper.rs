//! `wimble paper`: the paper's figures, from runs to pictures.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
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
    /// Figure 3: real data (not there yet)
    Fig3(Run),
    /// Figure E.1: batch BORE against batch BORE++ on Rosenbrock
    #[command(name = "figE1", alias = "fige1")]
    FigE1(Run),
    /// Figures 1, 2 and E.1
    All(Run),
    /// Write summary.csv and a page a figure from the records of a folder
    #[command(alias = "summarize")]
    Summarise(Folder),
    /// Draw the figures of a folder's summary.csv as SVG and PNG
    Plot(Folder),
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
struct Folder {
    /// The folder given to --out
    dir: PathBuf,
}

/// Runs, summarises and draws.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.what {
        What::Fig1(run) => figures(&[Figure::Theory], run),
        What::Fig2(run) => figures(&[Figure::Global], run),
        What::Fig3(_) => Err("fig3"
            .parse::<Figure>()
            .err()
            .map_or_else(|| anyhow::anyhow!("fig3 is not there yet"), anyhow::Error::from)),
        What::FigE1(run) => figures(&[Figure::Rosenbrock], run),
        What::All(run) => figures(&Figure::ALL, run),
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
    let jobs = match run.jobs {
        Some(jobs) => jobs,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    // All names are checked before the first trial runs.
    let plans = figures.iter().map(|&figure| {
        Ok(Plan { figure, settings: figure.settings()?.with(&changes)?, seed: run.seed, jobs })
    });
    let plans: Vec<Plan> = plans.collect::<Result<_>>()?;
    let mut out = std::io::stdout().lock();
    for plan in &plans {
        let bar =
            ProgressBar::with_draw_target(Some(plan.trials() as u64), ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template(
            "{msg} {bar:30} trial {pos}/{len}  {elapsed}  {eta} left",
        )?);
        bar.set_message(plan.figure.name());
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
