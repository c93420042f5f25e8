//! `wimble problems`: the built-in test problems.

use std::io::Write as _;

use anyhow::Result;
use wimble_problems::Family;

use crate::table::Listing;

/// Prints the families of problems.
pub fn run(listing: &Listing) -> Result<()> {
    let mut out = crate::terminal::out();
    let variants = wimble_problems::variants();
    let (families, tasks) = (wimble_problems::names(), wimble_problems::tasks());
    if listing.json {
        let row = |family: &Family| {
            serde_json::json!({
                "name": family.pattern(),
                "aliases": family.aliases,
                "description": family.description,
            })
        };
        let rows: Vec<_> = families.iter().chain(tasks).map(row).collect();
        writeln!(out, "{}", serde_json::to_string(&rows)?)?;
        return Ok(());
    }
    let row = |family: &'static Family| (family.pattern(), family.description);
    let changes = variants.iter().map(|variant| (variant.pattern(), variant.description));
    let patterns = families.iter().chain(tasks).map(row).chain(changes.clone());
    let width = patterns.map(|(pattern, _)| pattern.len()).max().unwrap_or(0);
    for (pattern, description) in families.iter().map(row) {
        writeln!(out, "{pattern:width$}  {description}")?;
    }
    writeln!(out, "\nVariants of any of them (D, M: numbers; S: a seed; P: a percentage):")?;
    for (pattern, description) in changes {
        writeln!(out, "{pattern:width$}  {description}")?;
    }
    writeln!(out, "\nSeveral objectives or constraints (D: variables; K: objectives):")?;
    for (pattern, description) in tasks.iter().map(row) {
        writeln!(out, "{pattern:width$}  {description}")?;
    }
    writeln!(
        out,
        "\nTry: wimble minimize branin, wimble minimize ackley-5+shifted+noise-1, wimble minimize zdt1-6"
    )?;
    Ok(())
}
