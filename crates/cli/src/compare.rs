//! `wimble compare`: our methods and other tools on the same problems.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use wimble_experiments::compare::{Changes, Latency, Oracle, Plan, Settings, report};

/// Arguments of `wimble compare`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Run our methods; other tools are run by benches/peers/run
    Run(Run),
    /// Time one ask of our methods after many evaluations
    Latency(Timing),
    /// Write compare.md and its figures from all records of a folder
    Report(Folder),
    /// Evaluate a problem for another tool: reads a JSON array a line, writes its value and regret
    Evaluate(Evaluate),
    /// Print the domain of a problem and the initial points that every tool starts from
    Initial(Initial),
    /// Print what is compared as one JSON object
    Settings,
}

#[derive(Args)]
struct Run {
    /// These of our methods only
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// These problems only
    #[arg(long, value_delimiter = ',')]
    problems: Vec<String>,
    /// Runs a method and problem [default: 5]
    #[arg(long)]
    seeds: Option<u64>,
    /// Evaluations a run, initial points included [default: 2010]
    #[arg(long)]
    evaluations: Option<usize>,
    /// Points an ask; each size has records and a report of its own
    #[arg(long, value_delimiter = ',', default_value = "10")]
    batch_sizes: Vec<usize>,
    /// Where records go; a run that was stopped goes on from there
    #[arg(long, value_name = "DIR", default_value = "compare-results")]
    out: PathBuf,
    /// Runs at a time [default: one a core]
    #[arg(long)]
    jobs: Option<usize>,
}

#[derive(Args)]
struct Timing {
    /// These of our methods only
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Evaluations before the ask [default: from 100 to 1000000]
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Larger sizes are left out once an ask takes longer, in seconds
    #[arg(long, default_value_t = 10.0)]
    patience: f64,
    /// The folder of the records
    #[arg(long, value_name = "DIR", default_value = "compare-results")]
    out: PathBuf,
}

#[derive(Args)]
struct Folder {
    /// The folder of the records
    dir: PathBuf,
}

#[derive(Args)]
struct Evaluate {
    /// The problem, as listed by `wimble problems`
    problem: String,
    /// The seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
}

#[derive(Args)]
struct Initial {
    /// The problem, as listed by `wimble problems`
    problem: String,
    /// The seed of the points
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many
    #[arg(long, default_value_t = 10)]
    count: usize,
}

/// Runs, serves or reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.what {
        What::Run(arguments) => methods(arguments),
        What::Latency(arguments) => latency(arguments),
        What::Report(folder) => {
            let mut out = std::io::stdout().lock();
            for path in report(&folder.dir)? {
                writeln!(out, "{}", path.display())?;
            }
            Ok(())
        }
        What::Evaluate(arguments) => evaluate(arguments),
        What::Initial(arguments) => initial(arguments),
        What::Settings => {
            let settings = serde_json::to_string(&Settings::published()?)?;
            Ok(writeln!(std::io::stdout().lock(), "{settings}")?)
        }
    }
}

fn methods(run: &Run) -> Result<()> {
    let jobs = match run.jobs {
        Some(jobs) => jobs,
        None => std::thread::available_parallelism().map_or(1, usize::from),
    };
    // All names are checked before the first run.
    let plans = run.batch_sizes.iter().map(|&batch_size| {
        let changes = Changes {
            methods: run.methods.clone(),
            problems: run.problems.clone(),
            seeds: run.seeds,
            evaluations: run.evaluations,
            batch_size: Some(batch_size),
        };
        Ok(Plan { settings: Settings::published()?.with(&changes)?, jobs })
    });
    let plans: Vec<Plan> = plans.collect::<Result<_>>()?;
    let mut out = std::io::stdout().lock();
    for plan in &plans {
        let batch_size = plan.settings.batch_size;
        let bar =
            ProgressBar::with_draw_target(Some(plan.runs() as u64), ProgressDrawTarget::stderr());
        bar.set_style(ProgressStyle::with_template(
            "{msg} {bar:30} run {pos}/{len}  {elapsed}  {eta} left",
        )?);
        bar.set_message(format!("batches of {batch_size}"));
        let done = plan.run(&run.out, &|ended| bar.set_position(ended as u64));
        bar.finish_and_clear();
        let done = done?;
        writeln!(
            out,
            "batches of {batch_size}: {} runs computed, {} found in {}",
            done.computed,
            done.found,
            run.out.display()
        )?;
        if done.corrupt_lines > 0 {
            writeln!(
                out,
                "{} lines of records could not be read; their runs were computed again",
                done.corrupt_lines
            )?;
        }
    }
    Ok(())
}

fn latency(arguments: &Timing) -> Result<()> {
    let published = Settings::published()?;
    let changes = Changes { methods: arguments.methods.clone(), ..Changes::default() };
    let settings = published.with(&changes)?;
    let sizes = if arguments.sizes.is_empty() { &settings.latency_sizes } else { &arguments.sizes };
    let mut out = std::io::stdout().lock();
    for tool in &settings.tools {
        let latency = Latency::measure(&settings, tool, sizes, arguments.patience)?;
        latency.write(&arguments.out)?;
        for size in &latency.sizes {
            if let Some(seconds) = latency.at(size.evaluations) {
                let evaluations = size.evaluations;
                writeln!(out, "{}: {:.2} ms after {evaluations}", tool.name, 1e3 * seconds)?;
            }
        }
    }
    Ok(())
}

fn evaluate(arguments: &Evaluate) -> Result<()> {
    let mut oracle = Oracle::new(&arguments.problem, arguments.seed)?;
    let mut out = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let number = number + 1;
        let point: Vec<f64> = serde_json::from_str(&line?).with_context(|| {
            format!("line {number} must be a JSON array of numbers, such as [0.5, 1.0]")
        })?;
        let seen = oracle.observe(&point).with_context(|| format!("line {number}"))?;
        writeln!(out, "{}", serde_json::to_string(&seen)?)?;
        // The other side waits for this line before it writes the next.
        out.flush()?;
    }
    Ok(())
}

fn initial(arguments: &Initial) -> Result<()> {
    let oracle = Oracle::new(&arguments.problem, arguments.seed)?;
    let object = serde_json::json!({
        "problem": oracle.problem().name(),
        "domain": oracle.problem().domain(),
        "points": oracle.initial(arguments.count)?,
    });
    Ok(writeln!(std::io::stdout().lock(), "{object}")?)
}
