//! `wimble man` and `wimble completions`: what a packager installs.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, Command};
use clap_complete::Shell;

/// Arguments of `wimble completions`.
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Arguments of `wimble man`.
#[derive(Args)]
pub struct Man {
    /// Write a page for every command into this folder, instead of the main page to standard output
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub fn completions(arguments: &Completions, mut command: Command) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "wimble", &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(())
}

/// Prints the manual, or writes its pages.
pub fn man(arguments: &Man, command: Command) -> Result<()> {
    let Some(folder) = &arguments.out else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        std::io::stdout().write_all(&text)?;
        return Ok(());
    };
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    clap_mangen::generate_to(command, folder).with_context(|| folder.display().to_string())?;
    Ok(())
}
