//! `wimble problems`: the built-in test problems.

use std::io::Write as _;

use anyhow::Result;

use crate::table::Listing;

/// Prints the families of problems.
pub fn run(listing: &Listing) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let (families, variants) = (wimble_problems::names(), wimble_problems::variants());
    if listing.json {
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
    let rows = families.iter().map(|family| (family.pattern(), family.description));
    let changes = variants.iter().map(|variant| (variant.pattern(), variant.description));
    let width = rows.clone().chain(changes.clone()).map(|(pattern, _)| pattern.len()).max();
    let width = width.unwrap_or(0);
    for (pattern, description) in rows {
        writeln!(out, "{pattern:width$}  {description}")?;
    }
    writeln!(out, "\nVariants of any of them (D, M: numbers; S: a seed; P: a percentage):")?;
    for (pattern, description) in changes {
        writeln!(out, "{pattern:width$}  {description}")?;
    }
    writeln!(out, "\nTry: wimble minimize branin, wimble minimize ackley-5+shifted+noise-1")?;
    Ok(())
}
