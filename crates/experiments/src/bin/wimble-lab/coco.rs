//! `wimble-lab compare coco`: how many targets of COCO's functions a search reaches.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use wimble::strategy::Part;
use wimble_experiments::compare::coco::{self, Choice, Coco, TUNING};
use wimble_experiments::data::Folder;

use crate::running::{self, Records, Results};

/// What can be done with the functions of COCO.
#[derive(Subcommand)]
pub enum What {
    /// Run our methods; benches/peers/run --set coco runs the other tools
    Run(Run),
    /// Is a change better? Compare two folders of records run by run
    Against(Against),
    /// Write coco.md and its figures from all records of a folder
    Report(Results),
    /// Print what is compared, on the chosen functions, as one JSON object
    Settings(Functions),
}

#[derive(Args)]
pub struct Functions {
    /// Functions: `all`, `tuning` (those that constants of auto were chosen on), or numbers such as 1,3,10-14
    #[arg(long, default_value = "all")]
    functions: String,
    /// Numbers of variables
    #[arg(long, value_delimiter = ',', default_values_t = [3, 5])]
    dims: Vec<usize>,
    /// Instances: `tuning` (1 to 3), `report` (11 to 15), or numbers such as 1,2
    #[arg(long, default_value = "tuning")]
    instances: String,
    /// Runs of each method on each function and instance
    #[arg(long, default_value_t = 1)]
    seeds: usize,
    /// Evaluations of each run for each dimension
    #[arg(long, default_value_t = 20)]
    budget: usize,
    /// Noise, in percent of the function's range
    #[arg(long, default_value_t = 0)]
    noise: usize,
}

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    functions: Functions,
    /// Run only these of our methods [default: auto]
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Run auto once more without each of these parts, to see what they bring
    #[arg(long, value_name = "PARTS", value_delimiter = ',')]
    without: Vec<Part>,
    /// Points of each ask; each size has its own records
    #[arg(long, visible_alias = "batch-size", value_delimiter = ',', default_values_t = [1, 10])]
    batch_sizes: Vec<usize>,
    #[command(flatten)]
    records: Records,
}

#[derive(Args)]
pub struct Against {
    /// The folder of the records before the change
    before: PathBuf,
    /// The folder of the records after it [default: the same]
    after: Option<PathBuf>,
    /// Compare every method with this one, instead of each with itself
    #[arg(long)]
    method: Option<String>,
}

impl Functions {
    fn choice(&self) -> Result<Choice> {
        let functions = match self.functions.as_str() {
            "all" => Vec::new(),
            "tuning" => TUNING.to_vec(),
            some => numbers("--functions", some)?,
        };
        let instances = match self.instances.as_str() {
            "tuning" => (1..=3).collect(),
            "report" => (11..=15).collect(),
            some => numbers("--instances", some)?.into_iter().map(|n| n as u64).collect(),
        };
        let Self { seeds, budget, noise, .. } = *self;
        let dims = self.dims.clone();
        Ok(Choice {
            functions,
            dims,
            instances,
            seeds,
            budget,
            noise,
            batch_size: 1,
            ..Choice::default()
        })
    }
}

/// Numbers and ranges, such as 1,3,10-14.
fn numbers(option: &str, text: &str) -> Result<Vec<usize>> {
    let mut all = Vec::new();
    for word in text.split(',') {
        let (from, to) = word.split_once('-').unwrap_or((word, word));
        match (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
            (Ok(from), Ok(to)) if from <= to => all.extend(from..=to),
            _ => bail!("{option} is `{text}`, but must be numbers and ranges such as 1,3,10-14"),
        }
    }
    Ok(all)
}

/// Runs, compares or reports.
pub fn run(what: &What) -> Result<()> {
    let mut out = std::io::stdout();
    match what {
        What::Run(arguments) => {
            let mut experiments = Vec::new();
            for &batch_size in &arguments.batch_sizes {
                let choice = Choice {
                    methods: arguments.methods.clone(),
                    without: arguments.without.clone(),
                    batch_size,
                    ..arguments.functions.choice()?
                };
                experiments.push((batch_size, Coco::new(&choice)?));
            }
            let data = Folder::new("data");
            let place = arguments.records.place(&data);
            for (batch_size, experiment) in &experiments {
                running::run(experiment, &format!("batches of {batch_size}"), &place)?;
            }
            Ok(())
        }
        What::Against(Against { before, after, method }) => {
            let after = after.as_ref().unwrap_or(before);
            if after == before && method.is_none() {
                bail!(
                    "one folder has one side only; name the folder of the records after the change, or a method with --method"
                );
            }
            Ok(write!(out, "{}", coco::against(before, after, method.as_deref())?)?)
        }
        What::Report(results) => running::list(coco::report(&results.dir)?),
        What::Settings(functions) => {
            Ok(writeln!(out, "{}", serde_json::to_string(&functions.choice()?.settings()?)?)?)
        }
    }
}
