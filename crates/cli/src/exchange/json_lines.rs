//! One JSON object a line.

use std::io::Write;

use anyhow::{Context as _, Result};

use crate::row::Row;

/// Writes rows.
pub fn write(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    for row in rows {
        serde_json::to_writer(&mut *out, row)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Reads rows; empty lines are passed over.
pub fn read(text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            serde_json::from_str(line).with_context(|| format!("line {}", number + 1))
        })
        .collect()
}
