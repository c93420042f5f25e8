//! One JSON object a line.

use std::io::Write;

use anyhow::Context as _;

use super::row::Row;
use crate::error::{Error, Result};

/// Writes rows.
pub fn write(rows: &[Row], out: &mut dyn Write) -> Result<()> {
    let mut write = || -> anyhow::Result<()> {
        for row in rows {
            serde_json::to_writer(&mut *out, row)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    };
    write().map_err(|error| Error::exchange(&error))
}

/// Reads rows. Empty lines are ignored.
pub fn read(text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let row = |(number, line): (usize, &str)| -> anyhow::Result<Row> {
        serde_json::from_str(line).with_context(|| format!("line {}", number + 1))
    };
    lines.map(row).collect::<anyhow::Result<_>>().map_err(|error| Error::exchange(&error))
}
