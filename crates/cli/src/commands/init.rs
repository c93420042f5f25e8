//! `wimble init`: a study file to begin with.

use std::fs::File;
use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;

/// The file, with every setting explained.
const TEMPLATE: &str = include_str!("init.toml");

/// Arguments of `wimble init`.
#[derive(Args)]
pub struct Arguments {
    /// The file to write
    #[arg(default_value = "study.toml")]
    file: PathBuf,
    /// Print the file instead of writing it
    #[arg(long, conflicts_with = "file")]
    print: bool,
    /// Print one JSON object that names the file
    #[arg(long, conflicts_with = "print")]
    json: bool,
}

/// Writes the file, unless there is one.
pub fn run(arguments: &Arguments) -> Result<()> {
    let mut out = crate::terminal::out();
    if arguments.print {
        out.write_all(TEMPLATE.as_bytes())?;
        return Ok(());
    }
    let path = &arguments.file;
    match File::create_new(path) {
        Ok(mut file) => file.write_all(TEMPLATE.as_bytes())?,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!(
                "{} exists and was left as it is; give another name: wimble init NAME.toml",
                path.display()
            )
        }
        Err(error) => bail!("{}: {error}", path.display()),
    }
    if arguments.json {
        writeln!(out, "{}", serde_json::json!({ "written": path }))?;
        return Ok(());
    }
    let shown = crate::storage::quoted(&path.display().to_string());
    writeln!(
        out,
        "Wrote {}. Edit it, then run\n  wimble check {shown}\n  wimble run {shown}",
        path.display()
    )?;
    Ok(())
}
