//! `wimble problems`: what can be minimised without writing a line.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;

/// Arguments of `wimble problems`.
#[derive(Args)]
pub struct Arguments {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

/// Prints the families of problems.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let families = wimble_problems::names();
    if arguments.json {
        let rows: Vec<_> = families
            .iter()
            .map(|family| {
                serde_json::json!({
                    "name": family.pattern(),
                    "aliases": family.aliases,
                    "description": family.description,
                })
            })
            .collect();
        writeln!(out, "{}", serde_json::to_string(&rows)?)?;
        return Ok(());
    }
    let width = families.iter().map(|family| family.pattern().chars().count()).max().unwrap_or(0);
    for family in families {
        writeln!(out, "{:width$}  {}", family.pattern(), family.description)?;
    }
    writeln!(out, "\nTry: wimble minimize branin")?;
    Ok(())
}
