//! `wimble methods`: the names of methods, classifiers and batch rules.

use std::io::Write as _;

use anyhow::Result;
use wimble::internals::{CLASSIFIERS, METHODS, RULES};
use wimble::named::Name;

use crate::table::Listing;

/// Prints the table of names.
pub fn run(listing: &Listing) -> Result<()> {
    let mut out = crate::terminal::out();
    let tables: [(&str, &[Name]); 3] =
        [("methods", METHODS), ("classifiers", CLASSIFIERS), ("rules", RULES)];
    if listing.json {
        let rows = |table: &[Name]| -> Vec<_> {
            let row = |name: &Name| serde_json::json!({ "name": name.name, "description": name.description });
            table.iter().map(row).collect()
        };
        let object: serde_json::Map<_, _> = tables
            .into_iter()
            .map(|(title, table)| (title.to_owned(), rows(table).into()))
            .collect();
        writeln!(out, "{}", serde_json::Value::Object(object))?;
        return Ok(());
    }
    let width = tables
        .iter()
        .flat_map(|(_, table)| table.iter())
        .map(|name| name.name.len())
        .max()
        .unwrap_or(0);
    for (title, table) in tables {
        writeln!(out, "{title}")?;
        for Name { name, description } in table {
            writeln!(out, "  {name:width$}  {description}")?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "Try: wimble minimize branin --method bore++ --classifier ensemble --rule candidates"
    )?;
    Ok(())
}
