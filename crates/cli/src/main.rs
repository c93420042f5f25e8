//! The command `wimble`: the table of its subcommands, which are in `commands/`, and how it exits.

mod best_trial;
mod commands;
mod exchange;
mod exit;
mod method;
mod progress;
mod row;
mod storage;
mod table;
mod utc;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::commands::{
    ask, best, check, compare, delete, doctor, export, import, init, manual, methods, minimize,
    paper, problems, run, show, studies, tell, trials,
};

/// Find the minimum of expensive functions, many points at a time.
#[derive(Parser)]
#[command(name = "wimble", version, propagate_version = true, arg_required_else_help = true)]
#[command(
    after_help = "`wimble init` writes a study file to begin with. `wimble --help` lists the exit codes."
)]
#[command(after_long_help = exit::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one a process")]
enum Command {
    /// Write a commented study file to begin with
    Init(init::Arguments),
    /// Explain a study file, or what is wrong with it; runs nothing
    Check(check::Arguments),
    /// Run a study: evaluate its command in parallel; go on where it was
    Run(run::Arguments),
    /// Give a script trials to evaluate, as JSON
    Ask(ask::Arguments),
    /// Take results from a script, as JSON or arguments
    Tell(tell::Arguments),
    /// Show the best configurations
    Best(best::Arguments),
    /// List the trials of a study
    Trials(trials::Arguments),
    /// Show all about one trial
    Show(show::Arguments),
    /// List the studies of a storage
    Studies(studies::Arguments),
    /// Add trials evaluated elsewhere: CSV, JSON lines, Optuna's SQLite storage
    Import(import::Arguments),
    /// Write trials as CSV, JSON lines or Optuna's SQLite storage
    Export(export::Arguments),
    /// Forget a study; asks first
    Delete(delete::Arguments),
    /// Check the storage: reachable, schema, leases, dead workers
    Doctor(doctor::Arguments),
    /// Compare our methods with other tools on the same problems
    Compare(compare::Arguments),
    /// Minimise a built-in test problem and show what the method does
    #[command(alias = "minimise")]
    Minimize(minimize::Arguments),
    /// List the methods, classifiers and batch rules
    Methods(methods::Arguments),
    /// Run the paper's experiments and draw its figures
    Paper(paper::Arguments),
    /// List the built-in test problems
    Problems(problems::Arguments),
    /// Print completions for a shell
    Completions(manual::Completions),
    /// Print the manual page
    Man(manual::Man),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Ask(arguments) => ask::run(&arguments),
        Command::Tell(arguments) => tell::run(&arguments),
        Command::Best(arguments) => best::run(&arguments),
        Command::Trials(arguments) => trials::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Studies(arguments) => studies::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Delete(arguments) => delete::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Minimize(arguments) => minimize::run(&arguments),
        Command::Methods(arguments) => methods::run(&arguments),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Problems(arguments) => problems::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => manual::man(&arguments, Arguments::command()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<exit::Interrupted>() {
                eprintln!("error: {}", exit::message(&error));
            }
            ExitCode::from(exit::code(&error))
        }
    }
}

/// Whether the reader of our output went away, as `head` does: no error of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
