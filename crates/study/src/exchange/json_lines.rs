//! One JSON object a line. Rows are written and handed on one by one, and never kept.

use std::io::{BufRead, Write};

use anyhow::anyhow;
use wimble::internals::serde_words;

use super::row::Row;
use crate::error::{Error, Result};

/// Writes rows.
pub fn write(rows: impl Iterator<Item = Result<Row>>, out: &mut dyn Write) -> Result<()> {
    let write = |row: Row, out: &mut dyn Write| -> anyhow::Result<()> {
        serde_json::to_writer(&mut *out, &row)?;
        out.write_all(b"\n")?;
        Ok(())
    };
    for row in rows {
        write(row?, out).map_err(|error| Error::exchange(&error))?;
    }
    Ok(())
}

/// Reads rows. Empty lines are ignored. Each row is handed on as soon as it is read.
pub fn read(text: impl BufRead, mut each: impl FnMut(Row) -> anyhow::Result<()>) -> Result<()> {
    let mut row =
        |number: usize, line: std::io::Result<String>| -> anyhow::Result<()> {
            let line = line?;
            if line.trim().is_empty() {
                return Ok(());
            }
            each(serde_json::from_str(&line).map_err(|error| {
                anyhow!("line {}: {}", number + 1, serde_words(&error.to_string()))
            })?)
        };
    for (number, line) in text.lines().enumerate() {
        row(number, line).map_err(|error| Error::exchange(&error))?;
    }
    Ok(())
}
