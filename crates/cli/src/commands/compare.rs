//! `wimble compare`: our methods and other tools on the same problems.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Subcommand};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use wimble::space::Value;
use wimble_experiments::compare::{Changes, Function, Latency, Oracle, Plan, Settings, report};
use wimble_experiments::data::Folder;

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
    Report(Results),
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
    #[arg(long, visible_alias = "batch-size", value_delimiter = ',', default_value = "10")]
    batch_sizes: Vec<usize>,
    /// The folder with other people's data, for racing lines and FCNet tables; those without theirs are left out
    #[arg(long, value_name = "DIR", env = "WIMBLE_DATA", default_value = "data")]
    data: PathBuf,
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
struct Results {
    /// The folder of the records
    dir: PathBuf,
}

#[derive(Args)]
struct Evaluate {
    /// The problem: any of `wimble problems`, racing-uc-berkeley, racing-eth-mobil, fcnet-parkinsons or fcnet-slice
    problem: String,
    /// The seed of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The folder with other people's data, for racing lines and FCNet tables
    #[arg(long, value_name = "DIR", env = "WIMBLE_DATA", default_value = "data")]
    data: PathBuf,
}

#[derive(Args)]
struct Initial {
    /// The problem: any of `wimble problems`, racing-uc-berkeley, racing-eth-mobil, fcnet-parkinsons or fcnet-slice
    problem: String,
    /// The seed of the points
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many
    #[arg(long, default_value_t = 10)]
    count: usize,
    /// The folder with other people's data, for racing lines and FCNet tables
    #[arg(long, value_name = "DIR", env = "WIMBLE_DATA", default_value = "data")]
    data: PathBuf,
}

/// Runs, serves or reports.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.what {
        What::Run(arguments) => methods(arguments),
        What::Latency(arguments) => latency(arguments),
        What::Report(results) => {
            let mut out = std::io::stdout().lock();
            for path in report(&results.dir)? {
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
    let data = Folder::new(&run.data);
    let mut out = std::io::stdout().lock();
    // All names are checked before the first run.
    let mut plans = Vec::new();
    for &batch_size in &run.batch_sizes {
        let changes = Changes {
            methods: run.methods.clone(),
            problems: run.problems.clone(),
            seeds: run.seeds,
            evaluations: run.evaluations,
            batch_size: Some(batch_size),
        };
        plans.push(Plan {
            settings: Settings::published()?.with(&changes)?,
            jobs,
            data: data.clone(),
        });
    }
    // Whoever names a problem wants it: what is missing is then an error.
    if run.problems.is_empty() {
        for (number, plan) in plans.iter_mut().enumerate() {
            for (name, reason) in plan.settings.leave_out_missing(&data)? {
                if number == 0 {
                    writeln!(out, "{name} is left out: {reason}")?;
                }
            }
        }
    }
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
    let function = Function::named(&arguments.problem, &Folder::new(&arguments.data))?;
    let mut oracle = Oracle::new(function, arguments.seed)?;
    let mut out = std::io::stdout().lock();
    for (number, line) in std::io::stdin().lock().lines().enumerate() {
        let number = number + 1;
        let values: Vec<Value> = serde_json::from_str(&line?).with_context(|| {
            format!("line {number} must be a JSON array of numbers and texts, such as [0.5, 1.0]")
        })?;
        let point = oracle.configuration(&values).with_context(|| format!("line {number}"))?;
        let seen = oracle.observe(&point).with_context(|| format!("line {number}"))?;
        writeln!(out, "{}", serde_json::to_string(&seen)?)?;
        // The other side waits for this line before it writes the next.
        out.flush()?;
    }
    Ok(())
}

fn initial(arguments: &Initial) -> Result<()> {
    let function = Function::named(&arguments.problem, &Folder::new(&arguments.data))?;
    let oracle = Oracle::new(function, arguments.seed)?;
    let points: Vec<Vec<Value>> =
        oracle.initial().take(arguments.count).map(|point| oracle.values(&point)).collect();
    let object = json!({ "problem": oracle.name(), "domain": oracle.domain()?, "points": points });
    Ok(writeln!(std::io::stdout().lock(), "{object}")?)
}
