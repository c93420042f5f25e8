//! `wimble extend`: the evidence of a study in a wider space.

use std::io::Write as _;
use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use wimble_study::Extension;

use crate::format::Print;
use crate::given;
use crate::storage::{self, Storage, Which, quoted};

/// Arguments of `wimble extend`.
#[derive(Args)]
pub struct Arguments {
    /// The study to take the finished trials from
    old: String,
    /// The study file of the new study: another name, and a wider range or one more parameter
    file: PathBuf,
    #[command(flatten)]
    storage: Storage,
    /// The value that a new parameter had in the old study, such as momentum=0.9; once for each new parameter
    #[arg(long, value_name = "PARAMETER=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    print: Print,
}

/// Creates the new study if it is not there, and adds the finished trials of the old one to it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let store = arguments.storage.existing()?;
    let old = Which::of(Some(arguments.old.clone()), arguments.storage.clone()).study_in(&store)?;
    let file = storage::read(&arguments.file)?;
    if file.name == arguments.old {
        bail!(
            "the new study needs a name of its own: {} has `{}`, as the old one",
            arguments.file.display(),
            file.name
        );
    }
    let extension = Extension { set: given::values(&file.space, &arguments.set)? };
    // Before the new study is made: what is refused leaves nothing behind.
    extension.check(old.settings(), &file.settings(None))?;
    let (new, _) = storage::open_or_create(&store, &file)?;
    let extended = extension.apply(&old, &new)?;
    let mut out = crate::terminal::out();
    if arguments.print.json {
        let report = serde_json::json!({
            "study": file.name, "from": arguments.old, "added": extended.added,
            "known": extended.known, "outside": extended.outside,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    write!(
        out,
        "`{}` has {} trials of `{}`",
        file.name,
        extended.added + extended.known,
        arguments.old
    )?;
    match extended.outside {
        0 => writeln!(out, ".")?,
        some => writeln!(out, "; {some} do not fit the new space and were left out.")?,
    }
    let words = arguments.storage.words();
    writeln!(out, "Next: wimble run {}{words}", quoted(&arguments.file.display().to_string()))?;
    Ok(())
}
