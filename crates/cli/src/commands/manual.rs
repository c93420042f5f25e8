//! `wimble man` and `wimble completions`: what a packager installs. Both print a text in the language of its reader, a shell
//! or a pager; only the list of the pages written is for programs.

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
    /// Print one JSON object that names the pages written
    #[arg(long, requires = "out")]
    json: bool,
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
    // As the generator of the pages does.
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let pages: Vec<PathBuf> = page_names(&command).iter().map(|name| folder.join(name)).collect();
    clap_mangen::generate_to(command, folder).with_context(|| folder.display().to_string())?;
    if arguments.json {
        writeln!(crate::terminal::out(), "{}", serde_json::json!({ "written": pages }))?;
    }
    Ok(())
}

/// The files of a command that is built, and of its subcommands.
fn page_names(command: &Command) -> Vec<String> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    std::iter::once(format!("{name}.1")).chain(below.flat_map(page_names)).collect()
}
