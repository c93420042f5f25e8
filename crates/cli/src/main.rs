//! The command `wimble`: one file a subcommand.

mod compare;
mod method;
mod methods;
mod minimize;
mod paper;
mod problems;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Find the minimum of expensive functions, many points at a time.
#[derive(Parser)]
#[command(name = "wimble", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
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
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Minimize(arguments) => minimize::run(&arguments),
        Command::Methods(arguments) => methods::run(&arguments),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Problems(arguments) => problems::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether the reader of our output went away, as `head` does: no error of ours.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
