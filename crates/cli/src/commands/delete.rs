//! `wimble delete`: deletes a study, after asking.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use anyhow::{Result, bail};
use clap::Args;

use crate::exit::usage;
use crate::format::Print;
use crate::storage::Storage;

/// Arguments of `wimble delete`.
#[derive(Args)]
pub struct Arguments {
    /// The name of the study
    study: String,
    #[command(flatten)]
    storage: Storage,
    /// Delete without asking
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    print: Print,
}

/// Deletes the study.
pub fn run(arguments: &Arguments) -> Result<()> {
    let store = arguments.storage.existing()?;
    let name = &arguments.study;
    let counts = store.counts(name).map_err(|error| arguments.storage.explained(&*store, error))?;
    if !arguments.yes {
        if !std::io::stdin().is_terminal() {
            return Err(usage(format!(
                "deleting `{name}` with its {} trials cannot be undone; add --yes to do so",
                counts.total()
            )));
        }
        let mut out = std::io::stderr().lock();
        write!(
            out,
            "Delete `{name}` with its {} trials ({} running) for good? Type its name: ",
            counts.total(),
            counts.running
        )?;
        out.flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        if answer.trim() != name {
            bail!("nothing was deleted");
        }
    }
    store.delete(name)?;
    let trials = counts.total();
    let mut out = crate::terminal::out();
    if arguments.print.json {
        writeln!(out, "{}", serde_json::json!({ "deleted": name, "trials": trials }))?;
    } else {
        writeln!(out, "Deleted `{name}` and its {trials} trials.")?;
    }
    Ok(())
}
