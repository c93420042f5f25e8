//! `wimble copy`: a study in another storage, or under another name.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use wimble_study::Copied;

use crate::exit::usage;
use crate::storage::{Storage, Which, quoted};

/// Arguments of `wimble copy`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Where to copy to: an SQLite file, postgresql://user@host/database, or http://host:8765 [default: the same storage, for a
    /// copy under another name]
    #[arg(long, value_name = "ADDRESS")]
    to: Option<String>,
    /// The name of the copy [default: that of the study]
    #[arg(long = "as", value_name = "NAME", conflicts_with = "all")]
    name: Option<String>,
    /// Copy all studies of the storage
    #[arg(long)]
    all: bool,
    /// Print one JSON object a study
    #[arg(long)]
    json: bool,
}

/// Copies the study. Doing so again brings the copy up to date.
pub fn run(arguments: &Arguments) -> Result<()> {
    if arguments.to.is_none() && arguments.name.is_none() {
        return Err(usage(
            "--to ADDRESS says where to copy to, or --as NAME what to call the copy in this storage",
        ));
    }
    let from = arguments.which.storage.look()?;
    let target = match &arguments.to {
        Some(address) => Storage::other(address.clone()),
        None => arguments.which.storage.clone(),
    };
    let names = if arguments.all {
        from.studies()?
    } else {
        vec![arguments.which.study_in(&from)?.settings().name.clone()]
    };
    let (to, words) = (target.open()?, target.words());
    let mut out = crate::terminal::out();
    for name in &names {
        let copy = arguments.name.as_deref().unwrap_or(name);
        let Copied { trials, new, running } = wimble_study::copy(&*from, name, &*to, copy)?;
        if arguments.json {
            let report = serde_json::json!({
                "study": name, "copy": copy, "trials": trials, "new": new, "running": running,
            });
            writeln!(out, "{report}")?;
            continue;
        }
        let renamed = if copy == name { String::new() } else { format!(" as `{copy}`") };
        let place = target.address()?;
        writeln!(out, "Copied `{name}` to {place}{renamed}: {trials} trials, {new} of them new.")?;
        if running > 0 {
            writeln!(
                out,
                "{running} trials still run; they wait in the queue of the copy. Copy again for their results."
            )?;
        }
        if !arguments.all {
            writeln!(out, "Next: wimble status {}{words}", quoted(copy))?;
        }
    }
    if arguments.all && !arguments.json {
        writeln!(out, "Next: wimble studies{words}")?;
    }
    Ok(())
}
