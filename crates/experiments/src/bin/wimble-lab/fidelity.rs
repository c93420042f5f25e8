//! `wimble-lab compare fidelity`: learning curves.

use std::io::Write as _;

use anyhow::Result;
use clap::{Args, Subcommand};
use wimble_experiments::compare::fidelity::{Fidelity, report};

use crate::running::{self, Data, Records, Results};

/// What can be done with the comparison on learning curves.
#[derive(Subcommand)]
pub enum What {
    /// Run searches on the tabulated curves
    Run(Run),
    /// Write the page from all records of a folder
    Report(Results),
}

#[derive(Args)]
pub struct Run {
    /// Run only these: random, median, asha-1, asha-2, halving, hyperband, bohb, random-auto, bore-halving, auto-stopping, auto
    #[arg(long, value_delimiter = ',')]
    methods: Vec<String>,
    /// Run only these tasks of TaskSet
    #[arg(long, value_delimiter = ',')]
    tasks: Vec<String>,
    /// Searches of each method on each task
    #[arg(long, default_value_t = 10)]
    seeds: usize,
    /// Numbers of simulated workers
    #[arg(long, value_delimiter = ',', default_value = "1,8")]
    workers: Vec<usize>,
    /// Checkpoints that a search spends; a whole training has 51
    #[arg(long, default_value_t = 3000)]
    budget: usize,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    records: Records,
}

/// Runs or reports.
pub fn run(what: &What) -> Result<()> {
    let run = match what {
        What::Run(run) => run,
        What::Report(results) => return running::list(report(&results.dir)?),
    };
    let Run { methods, tasks, seeds, workers, budget, data, records } = run;
    let compared = Fidelity::new(methods, tasks, *seeds, workers, *budget)?;
    let bar = running::bar(compared.len(), "fidelity", "search")?;
    let progress = |ended: usize| bar.set_position(ended as u64);
    let done = compared.run(&records.out, &data.folder(), records.jobs.count(), &progress);
    bar.finish_and_clear();
    let (done, dir) = (done?, records.out.display());
    let (computed, found) = (done.computed, done.found);
    Ok(writeln!(std::io::stdout(), "fidelity: {computed} searches run, {found} found in {dir}")?)
}
