//! The command `wimble`: the table of its subcommands, which are in `commands/`, and how it exits.
//!
//! A library, so that the binary and the Python package are the same command.

// `eprintln!` panics where nobody reads standard error any more; `terminal::say` does not.
#![warn(clippy::print_stderr)]

mod best_trial;
mod columns;
mod commands;
mod exit;
mod fidelity;
mod format;
mod front;
mod given;
mod method;
mod picture;
mod plot;
mod progress;
mod storage;
mod table;
mod terminal;
pub mod worker;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser, Subcommand};
use wimble::internals::nearest;

#[cfg(feature = "mcp")]
use crate::commands::mcp;
#[cfg(feature = "serve")]
use crate::commands::serve;
use crate::commands::{
    advise, ask, best, check, copy, delete, doctor, enqueue, export, extend, import, importance,
    init, manual, methods, minimize, note, pause, plot as plot_command, problems, report, run,
    show, status, stop, studies, tell, trials,
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
    /// Explain a study file, or what is wrong with it, without running anything
    Check(check::Arguments),
    /// Run a study: evaluate its command in parallel, and resume where it stopped
    Run(run::Arguments),
    /// Give a script trials to evaluate, as JSON
    Ask(ask::Arguments),
    /// Take results of trials from a script, as JSON or as arguments
    Tell(tell::Arguments),
    /// Say how far a trial is, from its command: the exit code says whether to go on (0) or to stop (5)
    Report(report::Arguments),
    /// Put configurations of your own into the queue, ahead of those that the method proposes
    Enqueue(enqueue::Arguments),
    /// Show how far a study is and what runs where; --watch repeats it
    Status(status::Arguments),
    /// End a study that runs anywhere: what runs is finished, nothing new is started
    Stop(stop::Arguments),
    /// Let no worker begin a trial, until `resume`; what runs is finished
    Pause(stop::Arguments),
    /// Let a paused study go on
    Resume(stop::Arguments),
    /// Show the best configurations
    Best(best::Arguments),
    /// List the trials of a study
    Trials(trials::Arguments),
    /// Show everything about one trial
    Show(show::Arguments),
    /// Write a note on a trial, or list the notes of a study
    Note(note::Arguments),
    /// Say what to widen, drop or repeat, and whether to stop
    Advise(advise::Arguments),
    /// Show which parameters matter
    Importance(importance::Arguments),
    /// Draw pictures of a study: history, front, importance, slices, parallel coordinates
    Plot(plot_command::Arguments),
    /// Show studies in the browser while they run, and let workers on other machines take part
    #[cfg(feature = "serve")]
    Serve(serve::Arguments),
    /// Let a language agent use studies, by the Model Context Protocol on standard input and output
    #[cfg(feature = "mcp")]
    Mcp(mcp::Arguments),
    /// List the studies of a storage
    Studies(storage::Look),
    /// Add trials evaluated elsewhere, from CSV, JSON lines or Optuna's SQLite storage
    Import(import::Arguments),
    /// Write trials as CSV, JSON lines or Optuna's SQLite storage
    Export(export::Arguments),
    /// Start a study with a wider space from the evidence of another
    Extend(extend::Arguments),
    /// Copy a study to another storage, or under another name; also a backup of one that runs
    Copy(copy::Arguments),
    /// Delete a study, after asking for confirmation
    Delete(delete::Arguments),
    /// Check the storage: whether it is reachable and sound, its schema, leases and silent workers
    Doctor(doctor::Arguments),
    /// Minimise a built-in test problem and show what the method does
    #[command(alias = "minimise")]
    Minimize(minimize::Arguments),
    /// List the methods, classifiers and batch rules
    Methods(table::Listing),
    /// List the built-in test problems
    Problems(table::Listing),
    /// Print completions for a shell
    Completions(manual::Completions),
    /// Print the manual page
    Man(manual::Man),
}

/// Runs the command line `arguments`, of which the first is the name of the program. Returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help goes to standard output, mistakes to standard error. A reader that is gone is no error.
            match unknown_command(&error) {
                Some(message) => terminal::say(&message),
                None => {
                    let _ = error.print();
                }
            }
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let done = match arguments.command {
        Command::Init(arguments) => init::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Ask(arguments) => ask::run(&arguments),
        Command::Tell(arguments) => tell::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Enqueue(arguments) => enqueue::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Stop(arguments) => stop::run(&arguments),
        Command::Pause(arguments) => pause::pause(&arguments),
        Command::Resume(arguments) => pause::resume(&arguments),
        Command::Best(arguments) => best::run(&arguments),
        Command::Trials(arguments) => trials::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Note(arguments) => note::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Importance(arguments) => importance::run(&arguments),
        Command::Plot(arguments) => plot_command::run(&arguments),
        #[cfg(feature = "serve")]
        Command::Serve(arguments) => serve::run(&arguments),
        #[cfg(feature = "mcp")]
        Command::Mcp(arguments) => mcp::run(&arguments),
        Command::Studies(arguments) => studies::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::Extend(arguments) => extend::run(&arguments),
        Command::Copy(arguments) => copy::run(&arguments),
        Command::Delete(arguments) => delete::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Minimize(arguments) => minimize::run(&arguments),
        Command::Methods(arguments) => methods::run(&arguments),
        Command::Problems(arguments) => problems::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, Arguments::command()),
        Command::Man(arguments) => manual::man(&arguments, Arguments::command()),
    };
    match done {
        Ok(()) => 0,
        Err(error) if is_closed_pipe(&error) => 0,
        Err(error) => {
            if !error.is::<exit::Interrupted>() && !error.is::<exit::Stop>() {
                terminal::say(&format!("error: {}", exit::message(&error)));
            }
            exit::code(&error)
        }
    }
}

/// What is said of a command that does not exist: clap knows only names that are very near.
fn unknown_command(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let command = Arguments::command();
    let near = nearest(given, command.get_subcommands().map(clap::Command::get_name));
    let hint = near.map_or_else(
        || "`wimble --help` lists them".to_owned(),
        |name| format!("the nearest is `{name}`"),
    );
    Some(format!("error: there is no command `{given}`; {hint}"))
}

/// Whether the reader of our output closed it, as `head` does: that is no error.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}
