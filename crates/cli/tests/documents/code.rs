//! The code of the documents: every command is understood by the command, every study file and every JSON text is read by
//! what reads it, and what can be run cheaply is run. What no test here looks at is named by [`every_block_has_its_test`].

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value as Json;

use crate::desk::Desk;
use crate::pages::{Block, code, root};

/// A space and a command for blocks that are a part of a study file.
const REST: &str = r#"name = "part"
command = ["true"]
"#;
const SPACE: &str = r#"
[space]
batch     = { type = "integer", low = 1, high = 4096 }
layers    = { type = "integer", low = 1, high = 8 }
optimiser = { type = "categorical", choices = ["adam", "sgd"] }
momentum  = { type = "real", low = 0.0, high = 0.99 }
"#;

/// The commands of a block of shell: what is behind `$ ` where there are such lines, otherwise all lines; lines that end in `\`
/// go on.
fn commands(block: &Block) -> Vec<String> {
    let is_session = block.text.lines().any(|line| line.starts_with("$ "));
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in block.text.lines() {
        let line = match (goes_on, is_session) {
            (true, _) | (false, false) => line.trim(),
            (false, true) => match line.strip_prefix("$ ") {
                Some(line) => line.trim(),
                None => continue,
            },
        };
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (part, more) = line.strip_suffix('\\').map_or((line, false), |part| (part, true));
        match (found.last_mut(), goes_on) {
            (Some(last), true) => last.push_str(part),
            _ => found.push(part.to_owned()),
        }
        goes_on = more;
    }
    found
}

/// The words of a command as a shell has them, up to a comment or a pipe; without variables that are set before it.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            (None, '#') if word.is_none() => break,
            (None, '|' | '>' | '<' | ';' | '&') => break,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    let is_variable = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        })
    };
    words.into_iter().skip_while(is_variable).collect()
}

/// The arguments for `wimble`, where a command is one of it; `echo … | wimble tell` is.
fn arguments(command: &str) -> Option<Vec<String>> {
    let last = command.rsplit(" | ").next().unwrap_or(command);
    let words = words(last);
    let given: Vec<&str> = words.iter().map(String::as_str).collect();
    match &given[..] {
        ["wimble", rest @ ..] | ["cargo", "run", "--release", "--", rest @ ..] => {
            Some(rest.iter().map(ToString::to_string).collect())
        }
        _ => None,
    }
}

/// A word that stands for what users write, as something that they may write.
fn example(word: &str) -> String {
    match word.trim_matches(['[', ']', '…']) {
        "SHELL" => "bash",
        "STEP" | "TRIAL" => "3",
        "VALUE" => "0.5",
        word => word,
    }
    .to_owned()
}

/// Whether the real parser takes the arguments; `--help` behind them keeps the command from being run.
fn misunderstood(desk: &Desk, arguments: &[String]) -> Option<String> {
    let mut given: Vec<&str> = arguments.iter().map(String::as_str).collect();
    given.push("--help");
    let output = desk.wimble(&given);
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn every_command_of_a_block_is_understood() {
    let Some(root) = root() else { return };
    let desk = Desk::new("");
    let (blocks, _) = code(&root);
    let (mut count, mut wrong) = (0, Vec::new());
    let mut others: BTreeMap<String, usize> = BTreeMap::new();
    for block in &blocks {
        if block.language != "sh" && !block.text.lines().any(|line| line.starts_with("$ ")) {
            continue;
        }
        for command in commands(block) {
            match arguments(&command) {
                Some(arguments) => {
                    count += 1;
                    if let Some(error) = misunderstood(&desk, &arguments) {
                        wrong.push(format!("{}: {command}\n{error}", block.place()));
                    }
                }
                None => {
                    let last = command.rsplit(" | ").next().unwrap_or_default();
                    let program = words(last).first().cloned().unwrap_or_default();
                    *others.entry(program).or_default() += 1;
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 15, "{count} commands");
    // Those of other programs. wimble-lab has a test of its own beside it, and cargo runs examples, which `./test` builds.
    let known = ["./test", "benches/peers/run", "cargo", "curl", "mdbook", "pip", "wimble-lab"];
    for (program, count) in &others {
        println!("{count} commands of {program} are not looked at here");
        assert!(known.contains(&program.as_str()), "a command of {program}, which no test knows");
    }
}

#[test]
fn every_command_within_a_line_is_understood() {
    let Some(root) = root() else { return };
    let desk = Desk::new("");
    let (_, spans) = code(&root);
    let (mut count, mut wrong) = (0, Vec::new());
    for span in &spans {
        // What changed says what there was.
        let is_ours =
            span.text.starts_with("wimble ") || span.text.starts_with("cargo run --release -- ");
        if !is_ours || span.page == "CHANGELOG.md" {
            continue;
        }
        let Some(arguments) = arguments(&span.text) else { continue };
        let arguments: Vec<String> = arguments.iter().map(|word| example(word)).collect();
        count += 1;
        // A sentence may speak of an option without its value.
        let wrong_one = misunderstood(&desk, &arguments)
            .filter(|error| !error.contains("a value is required for"));
        if let Some(error) = wrong_one {
            wrong.push(format!("{}: {}\n{error}", span.place(), span.text));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 40, "{count} commands");
}

/// What `wimble check -` says to a study file.
fn checked(desk: &Desk, text: &str) -> Result<(), String> {
    let mut child = desk.command(&["check", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

#[test]
fn every_study_file_and_every_part_of_one_is_read() {
    let Some(root) = root() else { return };
    let desk = Desk::new("");
    let (mut whole, mut parts) = (0, 0);
    for block in code(&root).0.iter().filter(|block| block.language == "toml") {
        let text = &block.text;
        let place = block.place();
        if text.starts_with("[dependencies]") {
            println!("{place} is for cargo, and not looked at here");
        } else if text.contains("[space]") {
            checked(&desk, text).unwrap_or_else(|error| panic!("{place}: {error}"));
            whole += 1;
        } else {
            // Settings stand before tables.
            let setting = format!("{REST}{text}{SPACE}");
            let method = format!("{REST}{SPACE}\n[method]\n{text}");
            let tried = checked(&desk, &setting).or_else(|_| checked(&desk, &method));
            if let Err(error) = tried {
                panic!("{place}: {}\nas a method: {error}", checked(&desk, &setting).unwrap_err());
            }
            parts += 1;
        }
    }
    assert!(whole >= 4 && parts >= 4, "{whole} study files and {parts} parts");
}

#[test]
fn every_json_text_is_read() {
    let Some(root) = root() else { return };
    let desk = Desk::new("");
    let (mut blocks, mut lines) = (0, 0);
    for block in code(&root).0 {
        let place = block.place();
        if block.language == "json" {
            let json: Json = serde_json::from_str(&block.text)
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            if json.get("dimensions").is_some() {
                let study = serde_json::json!({"name": "s", "command": ["true"], "space": json});
                checked(&desk, &study.to_string())
                    .unwrap_or_else(|error| panic!("{place}: {error}"));
            } else {
                let server = &json["mcpServers"]["wimble"];
                assert_eq!(server["command"], "wimble", "{place}: what is this?");
                let arguments: Vec<String> =
                    serde_json::from_value(server["args"].clone()).unwrap();
                assert_eq!(misunderstood(&desk, &arguments), None, "{place}");
            }
            blocks += 1;
        }
        for line in block.text.lines().filter(|_| block.language == "text") {
            if line.starts_with('{') {
                serde_json::from_str::<Json>(line).unwrap_or_else(|error| {
                    panic!("{place}: {error}\n{line}");
                });
                lines += 1;
            }
        }
    }
    assert!(blocks >= 2 && lines >= 3, "{blocks} blocks and {lines} lines");
}

/// Runs the commands of the block that has these words, each by a shell, at a desk; returns what they printed.
fn run(desk: &Desk, with: &str) -> Vec<String> {
    let Some(root) = root() else { return Vec::new() };
    let blocks = code(&root).0;
    let mut found = blocks.iter().filter(|block| block.text.contains(with));
    let block = found.next().unwrap_or_else(|| panic!("no block has {with}"));
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_wimble"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = |command: &String| {
        let output = std::process::Command::new("sh")
            .args(["-c", command])
            .current_dir(desk.0.path())
            .env("PATH", &path)
            .env("XDG_STATE_HOME", desk.0.path())
            .env_remove("WIMBLE_STORAGE")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {command}\n{said}", block.place());
        String::from_utf8(output.stdout).unwrap()
    };
    commands(block).iter().map(run).collect()
}

#[test]
fn the_first_steps_of_the_guide_are_run() {
    if root().is_none() {
        return;
    }
    let desk = Desk::new("");
    std::fs::remove_file(desk.path("study.toml")).unwrap();
    // The program that `init` assumes.
    desk.write("train.py", "import os\nprint(len(os.environ))\n");
    let said = run(&desk, "wimble init study.toml");
    assert_eq!(said.len(), 4);
    assert!(said[2].contains("Best: "), "{}", said[2]);
}

#[test]
fn asking_and_telling_is_run() {
    if root().is_none() {
        return;
    }
    let desk = Desk::new(
        "name = \"s\"\nmethod = \"random\"\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n",
    );
    let said = run(&desk, "wimble ask study.toml -n 3");
    let claims: Vec<Json> =
        said[0].lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&claims[0]["token"], &claims[1]["trial"]), (&"0.1".into(), &1.into()));
    let trials = desk.lines(&["trials", "--json"]);
    assert_eq!(trials.len(), 3);
    assert!(trials.iter().all(|trial| trial["state"] == "complete"), "{trials:?}");
}

#[test]
fn telling_several_objectives_is_run() {
    if root().is_none() {
        return;
    }
    let desk = Desk::new(
        "name = \"net\"\nmethod = \"random\"\n[objectives]\nerror = \"minimise\"\nlatency = \"minimise\"\n[constraints]\n\
         memory = \"<= 8\"\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n",
    );
    desk.printed(&["ask", "study.toml", "-n", "3"]);
    run(&desk, "wimble tell --token 0.1 --objective error=0.31");
    let trials = desk.lines(&["trials", "--json"]);
    assert!(trials.iter().all(|trial| trial["state"] == "complete"), "{trials:?}");
}

#[test]
fn conditions_of_the_page_are_conditions_of_the_command() {
    let Some(root) = root() else { return };
    let desk = Desk::new(
        "name = \"s\"\nmethod = \"random\"\ntrials = 3\ncommand = [\"echo\", \"0.1\"]\n[space]\n\
         steam = { type = \"categorical\", choices = [\"none\", \"some\"] }\n\
         \"learning rate\" = { type = \"real\", low = 0, high = 1 }\n",
    );
    desk.printed(&["run", "-q"]);
    let blocks = code(&root).0;
    let block = blocks.iter().find(|block| block.text.contains("steam = some")).unwrap();
    for line in block.text.lines() {
        desk.printed(&["trials", "--where", line]);
    }
    assert!(block.text.lines().count() >= 3);
}

/// Blocks by their language: those that a test looks at, and those that none does, which are named.
#[test]
fn every_block_has_its_test() {
    let Some(root) = root() else { return };
    let engine = std::fs::read_to_string(root.join("crates/engine/src/lib.rs")).unwrap();
    let mut left_out = BTreeMap::new();
    for block in code(&root).0 {
        let place = block.place();
        match block.language.as_str() {
            "sh" | "toml" | "json" => {}
            // Compiled and run with the documentation tests of the engine.
            "rust" if engine.contains(&format!("include_str!(\"../../../{}\")", block.page)) => {}
            // The traits, without bodies: tests/architecture.rs looks for each line in the engine.
            "rust" if block.page == "ARCHITECTURE.md" => {}
            // The tests of the Python package run them.
            "python" | "text" | "" => {
                let kind = match block.language.as_str() {
                    "python" => "Python",
                    _ if block.text.contains("$ ") => continue,
                    _ => "text",
                };
                left_out.entry(kind).or_insert_with(Vec::new).push(place);
            }
            other => panic!("{place} is {other}, which no test looks at"),
        }
    }
    for (kind, places) in left_out {
        println!("{kind}, not looked at here: {}", places.join(", "));
    }
}
