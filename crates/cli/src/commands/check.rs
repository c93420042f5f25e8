//! `wimble check`: what a study file means, or what is wrong with it. Nothing is run.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use wimble::goal::{Direction, Fidelity, Goal, Objective};
use wimble::internals::edits;
use wimble::space::{Configuration, Fixed, SearchSpace};
use wimble::stopping::{Rule, Stopping};
use wimble::strategy::Guarantee;
use wimble::theory::Plan;
use wimble_study::runner::{Evaluator, finding};
use wimble_study::study_file::{Evaluation, FACTS, StartIn, Template, duration, variable};
use wimble_study::{Claim, Settings, StudyFile, Token};

use crate::best_trial;
use crate::format::Print;
use crate::storage::{self, quoted};

/// The endings of scripts.
const SCRIPTS: [&str; 7] = ["jl", "js", "pl", "py", "R", "rb", "sh"];
/// How the names of programs begin that run scripts: options such as `-u` may stand before the script.
const INTERPRETERS: [&str; 10] =
    ["python", "pypy", "bash", "sh", "zsh", "Rscript", "julia", "node", "perl", "ruby"];

/// Arguments of `wimble check`.
#[derive(Args)]
pub struct Arguments {
    /// The study file; `-` reads it from standard input
    #[arg(default_value = "study.toml")]
    file: PathBuf,
    #[command(flatten)]
    print: Print,
}

/// Reads the file and explains it.
pub fn run(arguments: &Arguments) -> Result<()> {
    let file = storage::read(&arguments.file)?;
    let settings = file.settings(None);
    let sample = sample(&file, &settings)?;
    let home = storage::home(&arguments.file);
    let evaluator = file.evaluation.as_ref().map(|evaluation| Evaluator {
        storage: String::new(),
        study: file.name.clone(),
        goal: file.goal.clone(),
        evaluation: evaluation.clone(),
        home: home.clone(),
    });
    let command = evaluator.as_ref().map(|evaluator| {
        let token = Token { trial: 0, fence: 1 };
        let configuration = sample.clone();
        let claim = Claim { trial: 0, configuration, token, attempt: 1, until: None };
        evaluator
            .invocation(
                &claim,
                0,
                Path::new("FOLDER"),
                ["PARAMS_FILE".into(), "RESULT_FILE".into()],
            )
            .arguments
    });
    let mut notes = notes(&file);
    notes.extend(absent_listeners(&file, &home));
    let obstacles = file.evaluation.as_ref().map(|evaluation| obstacles(evaluation, &home));
    let obstacles = obstacles.unwrap_or_default();
    notes.extend(obstacles.iter().cloned());
    let guarantee = guarantee(&file, &settings);
    let mut out = crate::terminal::out();
    if arguments.print.json {
        let report = serde_json::json!({
            "name": file.name,
            "settings": shown(&settings)?,
            "workers": file.workers,
            "stop_when": file.stop_when.map(|rule| rule.to_string()),
            "legal_share": settings.space.legal_share(),
            "sample": sample,
            "command": command,
            "timeout_seconds": file.evaluation.as_ref().and_then(|one| one.timeout).map(|time| time.as_secs_f64()),
            "retries": file.evaluation.as_ref().map(|evaluation| evaluation.retries),
            "guarantee": {
                "promise": guarantee.promise.map(|promise| promise.to_string()),
                "because": guarantee.reasons.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "if": guarantee.conditions,
            },
            "notes": notes,
            "obstacles": obstacles,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    let goal = goal(&settings.goal);
    let name = match arguments.file.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => arguments.file.display().to_string(),
    };
    writeln!(out, "{name} is valid. Nothing was run.\n")?;
    writeln!(out, "study      {}: {goal}", file.name)?;
    if let Some(limits) = limits(&settings.goal) {
        writeln!(out, "limits     {limits}; a trial that misses one is violating")?;
    }
    if let Some(reference) = reference(&settings.goal) {
        writeln!(out, "reference  {reference}")?;
    }
    if !settings.goal.whole().is_single() {
        writeln!(out, "result     {}", finding::example(&settings.goal))?;
    }
    let continues = evaluator.as_ref().is_some_and(Evaluator::continues);
    for (line, words) in steps(&settings, continues).iter().enumerate() {
        writeln!(out, "{:<10} {words}", if line == 0 { "steps" } else { "" })?;
    }
    writeln!(out, "budget     {}", budget(&file, &settings))?;
    writeln!(out, "method     {}", method(&settings))?;
    writeln!(out, "guarantee  {}", guarantee.to_string().replace('\n', "\n           "))?;
    for (line, words) in known(&settings.space).iter().enumerate() {
        writeln!(out, "{:<10} {words}", if line == 0 { "known" } else { "" })?;
    }
    if file.fixed.iter().next().is_some() {
        let fixed = best_trial::line(&settings.space, &file.fixed);
        writeln!(out, "fixed      {fixed}; the method chooses the rest")?;
    }
    writeln!(out, "sample     {}", best_trial::line(&settings.space, &sample))?;
    match (&command, &file.evaluation) {
        (Some(arguments), Some(evaluation)) => {
            let words: Vec<String> = arguments.iter().map(|word| quoted(word)).collect();
            writeln!(out, "command    {}", words.join(" "))?;
            let place = match evaluation.start_in {
                StartIn::StudyFile if home == Path::new(".") => "this folder".to_owned(),
                StartIn::StudyFile => home.display().to_string(),
                StartIn::Trial => "the folder of the trial".to_owned(),
            };
            writeln!(
                out,
                "           started in {place}, with exactly these arguments (no shell)"
            )?;
            for (name, template) in &evaluation.environment {
                let shown: Vec<&str> = template.placeholders().collect();
                writeln!(
                    out,
                    "           with {name} in its environment{}",
                    if shown.is_empty() {
                        String::new()
                    } else {
                        format!(", from {}", shown.join(", "))
                    }
                )?;
            }
            let timeout = evaluation.timeout.map_or("no timeout".to_owned(), |time| {
                format!("a timeout of {}", duration::show(time))
            });
            let retries = match evaluation.retries {
                0 => "no retry".to_owned(),
                1 => "one retry".to_owned(),
                many => format!("up to {many} retries"),
            };
            writeln!(out, "           {timeout}; {retries} if it fails")?;
        }
        _ => writeln!(out, "command    none: evaluate trials with `wimble ask` and `wimble tell`")?,
    }
    for (event, command) in [("result", &file.on.result), ("end", &file.on.end)] {
        if let Some(words) = command {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            writeln!(out, "{:<10} {}", format!("on {event}"), words.join(" "))?;
        }
    }
    for note in notes {
        writeln!(out, "note       {note}")?;
    }
    let next = if command.is_some() { "run" } else { "ask" };
    let next = format!("wimble {next} {}", quoted(&arguments.file.display().to_string()));
    match obstacles.is_empty() {
        true => writeln!(out, "\nNext: {next}")?,
        false => writeln!(out, "\nNext: fix the command as noted, then {next}")?,
    }
    Ok(())
}

/// The settings of the study in JSON. `retries` there are those of a lost worker, which the file calls `lost-retries`.
fn shown(settings: &Settings) -> Result<serde_json::Value> {
    let mut shown = serde_json::to_value(settings)?;
    if let Some(fields) = shown.as_object_mut()
        && let Some(retries) = fields.remove("retries")
    {
        fields.insert("lost-retries".to_owned(), retries);
    }
    Ok(shown)
}

/// The goal in words.
fn goal(goal: &Goal) -> String {
    let good = |direction| match direction {
        Direction::Minimise => "lower",
        Direction::Maximise => "higher",
    };
    let each = goal.objectives().iter();
    let each: Vec<String> =
        each.map(|objective| format!("{} {}", good(objective.direction), objective.name)).collect();
    match (goal.objectives(), each.split_last()) {
        ([Objective { name, direction, .. }], _) if name == "value" => {
            format!("{} values are better", good(*direction))
        }
        (_, Some((last, rest))) if !rest.is_empty() => {
            format!("{} and {last} are better", rest.join(", "))
        }
        _ => format!("{} is better", each.join(", ")),
    }
}

/// The limits in words, if there are any.
fn limits(goal: &Goal) -> Option<String> {
    let limits: Vec<String> =
        goal.constraints().iter().map(|limit| format!("{} {}", limit.name, limit.bound)).collect();
    (!limits.is_empty()).then(|| limits.join(", "))
}

/// Where the hypervolume of several objectives ends, in words.
fn reference(goal: &Goal) -> Option<String> {
    let each = |objective: &Objective| match objective.reference {
        Some(reference) => format!("{} {reference}", objective.name),
        None => format!("{} inferred from the front", objective.name),
    };
    let all: Vec<String> = goal.objectives().iter().map(each).collect();
    (all.len() > 1).then(|| all.join(", "))
}

/// What the command prints on its way, and what becomes of it.
fn steps(settings: &Settings, continues: bool) -> Vec<String> {
    let Some(Fidelity { name, low, high }) = settings.goal.partial() else { return Vec::new() };
    let example = finding::example(&settings.goal).replacen('{', "{\"step\": …, ", 1);
    let Stopping { rule, wrong_stop } = settings.stopping;
    let first = settings.stopping.carried_out_first();
    let plans = settings.method.build(1).is_ok_and(|method| method.reads_curves(&settings.goal));
    let mut lines = vec![format!("{example}, at {name} from {low} to {high}")];
    lines.push(match rule {
        Rule::None => "no trial is stopped early".to_owned(),
        Rule::Auto if continues && plans => {
            format!("trials are paused and continued as the method plans: the command takes {{{name}}}")
        }
        Rule::Auto => format!(
            "trials are stopped early by the rule auto, the best one with a probability of at most {wrong_stop}"
        ),
        rule => format!("trials are stopped early by the rule {rule}"),
    });
    if rule == Rule::Auto && !(continues && plans) {
        let all = if settings.budget <= first { ", and so nothing is stopped here" } else { "" };
        lines.push(format!(
            "that promise takes {first} trials to the end first, and then at least every tenth{all}; \
             stopping = \"halving\" saves more and promises nothing"
        ));
    }
    lines
}

/// The known constraints, and how much of the space they leave.
fn known(space: &SearchSpace) -> Vec<String> {
    let mut lines = space.known_constraints().to_vec();
    if lines.is_empty() {
        return lines;
    }
    lines.push(match (space.candidates(), space.cardinality(), space.legal_share()) {
        (Some(_), Some(count), _) => format!("{count} candidates meet them"),
        (None, Some(count), share) => {
            format!("{count} configurations meet them, {} of the space", percent(share))
        }
        (_, None, share) => format!("{} of the space meets them", percent(share)),
    });
    lines
}

/// A share in percent, with two digits that count.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent >= 10.0 => format!("{percent:.0} %"),
        _ if percent >= 0.01 => format!("{percent:.2} %"),
        _ => format!("{percent:.1e} %"),
    }
}

fn sample(file: &StudyFile, settings: &Settings) -> Result<Configuration> {
    let fixed = Fixed::new(&settings.space, file.fixed.clone())?;
    let mut rng = settings.seed.stream("sample of a study file", 0);
    Ok(fixed.apply(settings.space.decode(&fixed.space().sample(&mut rng))))
}

fn budget(file: &StudyFile, settings: &Settings) -> String {
    let spend = file.spend.zip(settings.goal.partial());
    if let (None, Some((spend, Fidelity { name, .. }))) = (file.trials, spend) {
        let (workers, batch) = (file.workers, settings.batch_size);
        return format!(
            "as many trials as start before {spend} {name} are spent; {workers} at a time, proposed in batches of {batch}{}",
            enough(file)
        );
    }
    let trials = match (file.trials, file.time) {
        (None, None) if file.stop_when.is_some() => "as many trials as it takes".to_owned(),
        (None, Some(time)) => format!("as many trials as start within {}", duration::show(time)),
        (_, Some(time)) => {
            format!("{} trials, none started after {}", settings.budget, duration::show(time))
        }
        _ => format!("{} trials", settings.budget),
    };
    let (workers, batch) = (file.workers, settings.batch_size);
    format!("{trials}; {workers} at a time, proposed in batches of {batch}{}", enough(file))
}

/// When the study ends by what it gains.
fn enough(file: &StudyFile) -> String {
    file.stop_when.map_or_else(String::new, |rule| {
        format!("\n           ends once {rule}, the gain that `wimble advise` expects of 100 more trials")
    })
}

fn method(settings: &Settings) -> String {
    let words = settings.method.description();
    let first = match settings.method.initial() {
        0 => String::new(),
        initial => format!("; the first {initial} trials are random"),
    };
    format!("{}\n           {words}{first}", settings.method)
}

/// What is guaranteed for the study as `wimble run` would run it. Nothing has failed yet.
fn guarantee(file: &StudyFile, settings: &Settings) -> Guarantee {
    let plan = Plan { batch_size: settings.batch_size, pending: file.workers > 1, failures: false };
    settings.method.guarantee(&settings.space, &settings.goal, plan)
}

/// Notes on what may surprise a user who runs the file.
fn notes(file: &StudyFile) -> Vec<String> {
    let mut notes = misspelt(&file.goal);
    let Some(evaluation) = &file.evaluation else { return notes };
    let in_environment: Vec<&str> =
        evaluation.environment.values().flat_map(Template::placeholders).collect();
    let all_by_file = evaluation
        .command
        .placeholders()
        .chain(in_environment.iter().copied())
        .any(|name| name == "params_file");
    for parameter in file.space.parameters() {
        let name = parameter.name;
        if FACTS.iter().any(|(fact, _)| *fact == name) {
            notes.push(format!(
                "`{name}` is a parameter here, so that {{{name}}} stands for its value; what wimble calls so is in the variable WIMBLE_{}",
                name.to_uppercase()
            ));
        }
        if !all_by_file
            && !evaluation
                .command
                .placeholders()
                .chain(in_environment.iter().copied())
                .any(|used| used == name)
        {
            notes.push(format!(
                "`{name}` is not among the arguments; the command can read it from the variable {}, or from the file that WIMBLE_PARAMS_FILE names",
                variable(name)
            ));
        }
    }
    notes
}

/// Why the commands of `[on]` cannot work on this machine. A study runs without them, and so this is no obstacle.
fn absent_listeners(file: &StudyFile, home: &Path) -> Vec<String> {
    let commands = [("result", &file.on.result), ("end", &file.on.end)];
    let unusable = |(event, command): (&str, &Option<Vec<String>>)| {
        let reason = unusable(command.as_ref()?.first()?, home)?;
        Some(format!("on {event}: {reason}"))
    };
    commands.into_iter().filter_map(unusable).collect()
}

/// Why the command cannot work on this machine, as far as can be seen without starting it.
fn obstacles(evaluation: &Evaluation, home: &Path) -> Vec<String> {
    let words = evaluation.command.fill(&Configuration::new(), &nothing());
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    // `python3 train.py`: the script is what is missing most often.
    let starts_here = evaluation.start_in == StartIn::StudyFile;
    let script = script(program, rest).filter(|script| starts_here && !home.join(script).exists());
    let missing = script.map(|script| format!("the script `{script}` was not found"));
    unusable(program, home).into_iter().chain(missing).collect()
}

/// The script that a program is to run: its first argument; for an interpreter, the first that is no option.
fn script<'w>(program: &str, arguments: &'w [String]) -> Option<&'w String> {
    let name = Path::new(program).file_name()?.to_str()?;
    let is_interpreter = INTERPRETERS.iter().any(|known| name.starts_with(known));
    let first = arguments.iter().find(|word| !(is_interpreter && word.starts_with('-')))?;
    is_script(first).then_some(first)
}

/// Limits on quantities whose names look like an objective's: they are quantities of their own.
fn misspelt(goal: &Goal) -> Vec<String> {
    let near = |name: &&str| {
        let objectives = goal.objectives().iter().map(|objective| objective.name.as_str());
        let limit = name.chars().count() / 3;
        objectives
            .filter(|known| edits(name, known) <= limit)
            .min_by_key(|known| edits(name, known))
    };
    let note = |name: &str, known: &str| {
        format!(
            "`{name}` under [constraints] is no objective, so that the command must print it under `constraints`; \
             if you mean the objective `{known}`, write `{known}`"
        )
    };
    let names = goal.other_quantities().into_iter();
    names.filter_map(|name| Some(note(name, near(&name)?))).collect()
}

/// Whether a word names a file of a language that an interpreter runs.
fn is_script(word: &str) -> bool {
    let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
    !word.starts_with('-') && ending.is_some_and(|ending| SCRIPTS.contains(&ending))
}

fn nothing() -> wimble_study::study_file::Facts {
    wimble_study::study_file::Facts {
        trial: 0,
        study: String::new(),
        slot: 0,
        params_file: String::new(),
        result_file: String::new(),
        folder: String::new(),
        until: None,
    }
}

/// What is wrong with a program, which is looked for where it starts, or in the search path.
fn unusable(program: &str, home: &Path) -> Option<String> {
    let places: Vec<PathBuf> = if program.contains('/') {
        vec![home.join(program)]
    } else {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
    };
    let there: Vec<&PathBuf> = places.iter().filter(|place| place.is_file()).collect();
    if there.is_empty() {
        return Some(format!("the program `{program}` was not found on this machine"));
    }
    let is_executable = |place: &&PathBuf| {
        place.metadata().is_ok_and(|facts| facts.permissions().mode() & 0o111 != 0)
    };
    if there.iter().any(is_executable) {
        return None;
    }
    Some(format!("the program `{program}` is not executable: chmod +x {}", quoted(program)))
}
