//! `wimble-lab compare fidelity`: learning curves.

use std::io::Write as _;

use anyhow::Result;
use clap::{Args, Subcommand};
use wimble_experiments::compare::fidelity::{Fidelity, Set, report};
use wimble_experiments::data::taskset::Table;

use crate::running::{self, Data, Records, Results};

/// What can be done with the comparison on learning curves.
#[derive(Subcommand)]
pub enum What {
    /// Run searches on the learning curves of a set
    Run(Run),
    /// Print a table of TaskSet as JSON, for other tools
    Table(Print),
    /// Write the page from all records of a folder
    Report(Results),
}

#[derive(Args)]
pub struct Run {
    /// What is trained: taskset (tabulated curves), lcbench (a surrogate), lcbench-2 (its error and time as two objectives) or
    /// mnist (networks that are trained meanwhile)
    #[arg(long, default_value = "taskset")]
    set: String,
    /// Run only these: random, median, asha-1, asha-2, halving, hyperband, bohb, random-auto, bore-halving, auto-full, auto-halving,
    /// auto-stopping, auto
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Run only these tasks of the set
    #[arg(long, value_delimiter = ',')]
    tasks: Vec<String>,
    /// Searches of each method on each task
    #[arg(long, default_value_t = 10)]
    seeds: usize,
    /// Numbers of simulated workers
    #[arg(long, value_delimiter = ',', default_value = "1,8")]
    workers: Vec<usize>,
    /// Checkpoints or epochs that a search spends [default: 3000, and 540 on mnist]
    #[arg(long)]
    budget: Option<usize>,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    records: Records,
}

#[derive(Args)]
pub struct Print {
    /// The task
    task: String,
    #[command(flatten)]
    data: Data,
}

/// Runs, prints or reports.
pub fn run(what: &What) -> Result<()> {
    let run = match what {
        What::Run(run) => run,
        What::Table(Print { task, data }) => {
            let table = Table::named(&data.folder(), task)?;
            return Ok(writeln!(std::io::stdout(), "{}", table.json()?)?);
        }
        What::Report(results) => return running::list(report(&results.dir)?),
    };
    let Run { set, methods, tasks, seeds, workers, budget, data, records } = run;
    let compared = Fidelity::new(Set::named(set)?, methods, tasks, *seeds, workers, *budget)?;
    let bar = running::bar(compared.len(), "fidelity", "search")?;
    let progress = |ended: usize| bar.set_position(ended as u64);
    let done = compared.run(&records.out, &data.folder(), records.jobs.count(), &progress);
    bar.finish_and_clear();
    let (done, dir) = (done?, records.out.display());
    let (computed, found) = (done.computed, done.found);
    Ok(writeln!(std::io::stdout(), "fidelity: {computed} searches run, {found} found in {dir}")?)
}
