//! `wimble plot`: pictures of a study, as SVG or as one page.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use wimble_study::Study;
use wimble_study::view::Chronicle;

use crate::exit::Usage;
use crate::picture;
use crate::storage::Which;

/// Arguments of `wimble plot`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The picture [default: all of them]
    #[arg(long)]
    kind: Option<Kind>,
    /// The file to write: NAME.html has all pictures in one page that needs nothing else, NAME.svg one picture; several of a kind
    /// become NAME-1.svg, NAME-2.svg and so on [default: the name of the study and .html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Values over the trials, and the best so far
    History,
    /// Two objectives against each other
    Front,
    /// Which parameters matter
    Importance,
    /// Values over each parameter
    Slices,
    /// Trials as lines across all parameters
    Parallel,
}

/// Draws the pictures, and says where they are.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    let name = &study.settings().name;
    let out = arguments.out.clone().unwrap_or_else(|| {
        let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        PathBuf::from(format!("{}.html", name.chars().map(safe).collect::<String>()))
    });
    let ending = out.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_page = match ending.to_ascii_lowercase().as_str() {
        "html" | "htm" => true,
        "svg" => false,
        _ => {
            let message = format!("--out is {}, but must end in .html or .svg", out.display());
            return Err(Usage(message).into());
        }
    };
    let store = study.store();
    let mut chronicle = Chronicle::new(store.study(name)?);
    chronicle.catch_up(&**store)?;
    let (pictures, notes) = draw(&study, &chronicle, arguments.kind)?;
    if pictures.is_empty() {
        bail!(
            "study `{name}` has nothing to draw yet{}",
            notes.first().map_or_else(String::new, |note| format!(": {note}"))
        );
    }
    let files: Vec<(PathBuf, String)> = match (is_page, &pictures[..]) {
        (true, _) => vec![(out, picture::page(&study, &pictures)?)],
        (false, [only]) => vec![(out, only.clone())],
        (false, many) => {
            many.iter().enumerate().map(|(k, one)| (numbered(&out, k + 1), one.clone())).collect()
        }
    };
    for (path, text) in &files {
        std::fs::write(path, text).with_context(|| format!("writing {}", path.display()))?;
    }
    let paths: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
    let mut to = crate::terminal::out();
    if arguments.json {
        let report = serde_json::json!({
            "study": name, "files": paths, "pictures": pictures.len(), "notes": notes,
        });
        writeln!(to, "{report}")?;
        return Ok(());
    }
    for note in notes {
        writeln!(to, "note: {note}")?;
    }
    writeln!(to, "Drawn: {}", paths.join(", "))?;
    Ok(())
}

/// `runs.svg` as `runs-2.svg`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.svg"))
}

/// The pictures of a kind, or of all, and why some are missing.
fn draw(
    study: &Study,
    chronicle: &Chronicle,
    kind: Option<Kind>,
) -> Result<(Vec<String>, Vec<String>)> {
    let wanted = |one: Kind| kind.is_none_or(|kind| kind == one);
    let (mut pictures, mut notes) = (Vec::new(), Vec::new());
    if chronicle.best().is_none() && study.counts()?.valued == 0 {
        return Ok((pictures, vec!["no trial has a value".to_owned()]));
    }
    if wanted(Kind::History) {
        pictures.extend(picture::histories(chronicle));
    }
    if wanted(Kind::Front) {
        match picture::pareto(chronicle)? {
            Some(front) => pictures.push(front),
            None if kind.is_some() => notes.push("a front needs two objectives".to_owned()),
            None => {}
        }
    }
    if wanted(Kind::Importance) {
        for objective in study.settings().goal.objectives() {
            // Too few trials, or none that a model explains: the others are still worth a look.
            match study.importance(&objective.name) {
                Ok(found) => pictures.push(picture::importance(&objective.name, &found)),
                Err(error) => notes.push(format!("no importance of {}: {error}", objective.name)),
            }
        }
    }
    if wanted(Kind::Slices) {
        pictures.extend(picture::slices(chronicle));
    }
    if wanted(Kind::Parallel) {
        match picture::across(chronicle) {
            Some(across) => pictures.push(across),
            None if kind.is_some() => notes.push("lines need two parameters".to_owned()),
            None => {}
        }
    }
    Ok((pictures, notes))
}
