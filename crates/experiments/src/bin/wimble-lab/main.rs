//! The command `wimble-lab`: the experiments behind wimble's claims.

mod coco;
mod compare;
mod paper;
mod running;

use std::io;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Run wimble's experiments: the figures of the paper, and the comparison with other tools.
#[derive(Parser)]
#[command(name = "wimble-lab", version, propagate_version = true, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the paper's experiments and draw its figures
    #[command(subcommand)]
    Paper(paper::What),
    /// Compare our methods with other tools on the same problems
    #[command(subcommand)]
    Compare(compare::What),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Paper(what) => paper::run(&what),
        Command::Compare(what) => compare::run(&what),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output closed it, as `head` does.
        Err(error)
            if error.downcast_ref().map(io::Error::kind) == Some(io::ErrorKind::BrokenPipe) =>
        {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
