//! `wimble-lab compare`: our methods and other tools on the same problems.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;
use wimble::seed::Seed;
use wimble::space::{Configuration, Value};
use wimble_experiments::compare::tasks::{self, Game, Set, Tasks};
use wimble_experiments::compare::{Answer, Changes, Domain, Latency, Settings, objective, report};
use wimble_experiments::oracle::Oracle;

use crate::running::{self, Data, Records, Results};
use crate::{coco, fidelity};

/// What `wimble-lab compare` can do.
#[derive(Subcommand)]
pub enum What {
    /// Run our methods; benches/peers/run runs the other tools
    Run(Run),
    /// Measure how long one ask of our methods takes after many evaluations
    Latency(Timing),
    /// Write compare.md and its figures from all records of a folder
    Report(Results),
    /// Evaluate a problem for another tool: read one JSON array a line, write its value and regret
    Evaluate(Evaluate),
    /// Print the domain of a problem and the initial points that every tool starts from
    Initial(Initial),
    /// Print what is compared as one JSON object
    Settings(Print),
    /// Several objectives: run our methods, or write objectives.md from all records of a folder
    #[command(subcommand)]
    Objectives(OfTasks),
    /// Constraints measured with the trial: run our methods, or write constraints.md from all records of a folder
    #[command(subcommand)]
    Constraints(OfTasks),
    /// The functions of COCO: run our methods, say whether a change is better, or write coco.md
    #[command(subcommand)]
    Coco(coco::What),
    /// Learning curves of TaskSet: run our methods and published rules, or write fidelity.md from all records of a folder
    #[command(subcommand)]
    Fidelity(fidelity::What),
}

#[derive(Args)]
pub struct Print {
    /// Of the comparison with several objectives, or with constraints
    #[arg(long, value_parser = ["objectives", "constraints"])]
    set: Option<String>,
}

/// What can be done with a comparison of several objectives or constraints.
#[derive(Subcommand)]
pub enum OfTasks {
    /// Run our methods; benches/peers/run --set runs the other tools
    Run(RunTasks),
    /// Write the page from all records of a folder
    Report(Results),
}

/// Which runs.
#[derive(Args)]
struct Chosen {
    /// Run only these of our methods
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Run only these problems
    #[arg(long, value_delimiter = ',')]
    problems: Vec<String>,
    /// Runs of each method on each problem [default: 5]
    #[arg(long)]
    seeds: Option<usize>,
}

impl Chosen {
    /// These runs, of so many evaluations and with batches of this size, where they are given.
    fn changes(&self, evaluations: Option<usize>, batch_size: Option<usize>) -> Changes {
        let Self { methods, problems, seeds } = self;
        Changes {
            methods: methods.clone(),
            problems: problems.clone(),
            seeds: *seeds,
            evaluations,
            batch_size,
        }
    }
}

#[derive(Args)]
pub struct RunTasks {
    #[command(flatten)]
    chosen: Chosen,
    /// Evaluations of each run, initial points included [default: 200]
    #[arg(long)]
    evaluations: Option<usize>,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    records: Records,
}

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    chosen: Chosen,
    /// Evaluations of each run, initial points included [default: 2010]
    #[arg(long)]
    evaluations: Option<usize>,
    /// Points of each ask; each size has its own records and report
    #[arg(long, visible_alias = "batch-size", value_delimiter = ',', default_value = "10")]
    batch_sizes: Vec<usize>,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    records: Records,
}

#[derive(Args)]
pub struct Timing {
    /// Time only these of our methods
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Evaluations before the ask [default: from 100 to 1000000]
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Leave out larger sizes once an ask takes longer than this, in seconds
    #[arg(long, default_value_t = 10.0)]
    patience: f64,
    /// The folder of the records
    #[arg(long, value_name = "DIR", default_value = "compare-results")]
    out: PathBuf,
}

#[derive(Args)]
struct Problem {
    /// The problem: any of `wimble problems`, racing-uc-berkeley, racing-eth-mobil, fcnet-parkinsons or fcnet-slice
    #[arg(id = "problem")]
    name: String,
    /// The seed of the initial points and of the noise
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    data: Data,
}

#[derive(Args)]
pub struct Evaluate {
    #[command(flatten)]
    problem: Problem,
}

#[derive(Args)]
pub struct Initial {
    #[command(flatten)]
    problem: Problem,
    /// Number of points
    #[arg(long, default_value_t = 10)]
    count: usize,
}

impl Problem {
    /// What another tool minimises, as it reads and writes points.
    fn open(&self) -> Result<(Oracle, Domain)> {
        let objective = objective::named(&self.name, &self.data.folder())?;
        let oracle = Oracle::new(objective, Seed(self.seed), 0)?;
        let domain = Domain::new(&self.name, oracle.space());
        Ok((oracle, domain))
    }
}

/// Runs, serves or reports.
pub fn run(what: &What) -> Result<()> {
    match what {
        What::Run(arguments) => methods(arguments),
        What::Latency(arguments) => latency(arguments),
        What::Report(results) => running::list(report(&results.dir)?),
        What::Evaluate(arguments) => evaluate(&arguments.problem),
        What::Initial(arguments) => initial(arguments),
        What::Settings(Print { set }) => {
            let set = Set::ALL.into_iter().find(|known| Some(known.name()) == set.as_deref());
            let settings = set.map_or_else(Settings::published, Set::settings)?;
            Ok(writeln!(std::io::stdout().lock(), "{}", serde_json::to_string(&settings)?)?)
        }
        What::Objectives(what) => of_tasks(Set::Objectives, what),
        What::Constraints(what) => of_tasks(Set::Constraints, what),
        What::Coco(what) => coco::run(what),
        What::Fidelity(what) => fidelity::run(what),
    }
}

fn of_tasks(set: Set, what: &OfTasks) -> Result<()> {
    let arguments = match what {
        OfTasks::Run(arguments) => arguments,
        OfTasks::Report(results) => return running::list(tasks::report(set, &results.dir)?),
    };
    let changes = arguments.chosen.changes(arguments.evaluations, None);
    let data = arguments.data.folder();
    let place = arguments.records.place(&data);
    let (tasks, left_out) = Tasks::new(set, &changes, &data)?;
    for (name, reason) in left_out {
        writeln!(std::io::stdout(), "{name} is left out: {reason}")?;
    }
    running::run(&tasks, set.name(), &place)
}

fn methods(run: &Run) -> Result<()> {
    let data = run.data.folder();
    // All names are checked before the first run.
    let mut experiments = Vec::new();
    for &batch_size in &run.batch_sizes {
        let changes = run.chosen.changes(run.evaluations, Some(batch_size));
        experiments.push(Settings::published()?.with(&changes)?);
    }
    // Whoever names a problem wants it: what is missing is then an error.
    if run.chosen.problems.is_empty() {
        for (number, settings) in experiments.iter_mut().enumerate() {
            for (name, reason) in settings.leave_out_missing(&data)? {
                if number == 0 {
                    writeln!(std::io::stdout(), "{name} is left out: {reason}")?;
                }
            }
        }
    }
    let place = run.records.place(&data);
    for settings in &experiments {
        running::run(settings, &format!("batches of {}", settings.batch_size), &place)?;
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
                writeln!(
                    out,
                    "{}: {:.2} ms after {evaluations} evaluations",
                    tool.name,
                    1e3 * seconds
                )?;
            }
        }
    }
    Ok(())
}

fn evaluate(problem: &Problem) -> Result<()> {
    if Game::is_known(&problem.name) {
        let mut game = Game::new(&problem.name, Seed(problem.seed), &problem.data.folder())?;
        let domain = Domain::new(&problem.name, game.space());
        return answer(&domain, |point| Ok(serde_json::to_string(&game.answer(point)?)?));
    }
    let (mut oracle, domain) = problem.open()?;
    answer(&domain, |point| {
        let seen = oracle.observe(point)?;
        Ok(serde_json::to_string(&Answer { value: seen.told, regret: seen.regret })?)
    })
}

/// Answers each line of standard input, a point of the domain, with a line.
fn answer(domain: &Domain, mut answer: impl FnMut(&Configuration) -> Result<String>) -> Result<()> {
    running::answer(
        "a JSON array of numbers and texts, such as [0.5, 1.0]",
        |values: Vec<Value>| answer(&domain.configuration(&values)?),
    )
}

fn initial(arguments: &Initial) -> Result<()> {
    let Problem { name, seed, data } = &arguments.problem;
    let count = arguments.count;
    let (domain, points): (Domain, Vec<Configuration>) = if Game::is_known(name) {
        let game = Game::new(name, Seed(*seed), &data.folder())?;
        (Domain::new(name, game.space()), game.initial().take(count).collect())
    } else {
        let (oracle, domain) = arguments.problem.open()?;
        (domain, oracle.initial().take(count).collect())
    };
    let points: Vec<Vec<Value>> = points.iter().map(|point| domain.values(point)).collect();
    let object = json!({ "problem": name, "domain": domain.sides()?, "points": points });
    Ok(writeln!(std::io::stdout().lock(), "{object}")?)
}
