//! `wimble plot`: pictures of a study, as SVG or PNG or as one page.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use wimble_study::Study;
use wimble_study::view::Chronicle;

use crate::exit::Usage;
use crate::picture;
use crate::picture::drawing::Drawing;
use crate::picture::png::png;
use crate::picture::svg::svg;
use crate::storage::Which;

/// Arguments of `wimble plot`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// The picture [default: all of them]
    #[arg(long)]
    kind: Option<Kind>,
    /// The file to write: NAME.html has all pictures in one page that needs nothing else, NAME.svg and NAME.png have one picture;
    /// several become NAME-1.svg, NAME-2.svg and so on [default: the name of the study, in the format]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The format of the file [default: by its ending, html without --out]
    #[arg(long)]
    format: Option<Format>,
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

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// All pictures in one page
    Html,
    /// Pictures of lines and letters, sharp at any size
    Svg,
    /// Pictures of pixels; letters beyond Latin are drawn as `�`
    Png,
}

impl Format {
    /// The format that a file has by its ending.
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "html" | "htm" => Some(Self::Html),
            "svg" => Some(Self::Svg),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }
}

/// Draws the pictures, and says where they are.
pub fn run(arguments: &Arguments) -> Result<()> {
    let study = arguments.which.look()?;
    let name = &study.settings().name;
    let (out, format) = target(arguments, name)?;
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
    let one = |picture: &Drawing| match format {
        Format::Png => png(picture),
        Format::Html | Format::Svg => Ok(svg(picture).into_bytes()),
    };
    let files: Vec<(PathBuf, Vec<u8>)> = match (format, &pictures[..]) {
        (Format::Html, all) => vec![(out, picture::page(&study, all)?.into_bytes())],
        (_, [only]) => vec![(out, one(only)?)],
        (_, many) => many
            .iter()
            .enumerate()
            .map(|(k, picture)| Ok((numbered(&out, k + 1), one(picture)?)))
            .collect::<Result<_>>()?,
    };
    for (path, bytes) in &files {
        std::fs::write(path, bytes).with_context(|| format!("writing {}", path.display()))?;
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

/// The file and its format; an ending and a `--format` that differ are a mistake.
fn target(arguments: &Arguments, study: &str) -> Result<(PathBuf, Format)> {
    let Some(out) = arguments.out.clone() else {
        let format = arguments.format.unwrap_or(Format::Html);
        let safe = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = study.chars().map(safe).collect();
        return Ok((PathBuf::from(format!("{name}.{}", format.ending())), format));
    };
    let shown = out.display();
    match (Format::of(&out), arguments.format) {
        (Some(by_ending), given) if given.is_none_or(|given| given == by_ending) => {
            Ok((out, by_ending))
        }
        (None, Some(given)) if out.extension().is_none() => Ok((out, given)),
        (_, Some(given)) => {
            let format = given.ending();
            Err(Usage(format!(
                "--out is {shown}, but the format is {format}: let the file end in .{format}, or leave --format out"
            ))
            .into())
        }
        (_, None) => {
            Err(Usage(format!("--out is {shown}, but must end in .html, .svg or .png")).into())
        }
    }
}

/// `runs.svg` as `runs-2.svg`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|ending| format!(".{}", ending.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{}", ending.unwrap_or_default()))
}

/// The pictures of a kind, or of all, and why some are missing.
fn draw(
    study: &Study,
    chronicle: &Chronicle,
    kind: Option<Kind>,
) -> Result<(Vec<Drawing>, Vec<String>)> {
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
