//! What annoyed new users once: each point as they meet it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod desk;

use std::io::Write as _;
use std::process::Stdio;

use desk::Desk;

const STUDY: &str = r#"name = "s"
command = ["sh", "train.sh", "{rate}"]
trials = 8
workers = 2
method = "random"
[space]
rate = { type = "real", low = 1e-5, high = 0.1, scale = "log" }
layers = { type = "integer", low = 1, high = 8 }
optimiser = { type = "categorical", choices = ["adam", "sgd"] }
"#;

/// A desk with the study, and a command that says its rate and a word.
fn desk() -> Desk {
    let desk = Desk::new(STUDY);
    desk.write("train.sh", "echo \"{\\\"value\\\": $1, \\\"note\\\": \\\"fine\\\"}\"\n");
    desk
}

/// A desk with the study, after its run.
fn done() -> Desk {
    let desk = desk();
    desk.printed(&["run", "-q"]);
    desk
}

/// What a command prints that reads from standard input.
fn fed(desk: &Desk, arguments: &[&str], text: &str) -> (bool, String) {
    let mut child = desk.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(said).unwrap())
}

#[test]
fn a_storage_that_cannot_be_opened_is_explained_in_a_sentence() {
    let desk = desk();
    std::fs::create_dir(desk.path("folder")).unwrap();
    desk.write("text.db", &"this is a letter, and no database at all ".repeat(30));
    insta::assert_snapshot!(desk.refused(&["run", "--storage", "folder"]));
    insta::assert_snapshot!(desk.refused(&["run", "--storage", "nowhere/studies.db"]));
    insta::assert_snapshot!(desk.refused(&["trials", "--storage", "text.db"]));
    insta::assert_snapshot!(desk.refused(&["trials", "--storage", "none.db"]));
}

#[test]
fn a_changed_space_is_told_by_its_parameters() {
    let desk = done();
    let changed = STUDY.replace("high = 8", "high = 9").replace("0.1,", "0.2,");
    desk.write("study.toml", &changed);
    insta::assert_snapshot!(desk.refused(&["run"]));
    // What the message offers does what it says.
    desk.write("study.toml", &changed.replace("\"s\"", "\"wide\""));
    assert!(desk.printed(&["extend", "s", "study.toml"]).contains("`wide` has 8 trials of `s`"));
}

#[test]
fn a_wrong_condition_is_shown_at_its_place() {
    let desk = desk();
    let momentum = |when: &str| {
        let study =
            format!("{STUDY}momentum = {{ type = \"real\", low = 0, high = 1, when = {when} }}\n");
        desk.write("study.toml", &study);
        desk.refused(&["check"])
    };
    insta::assert_snapshot!(momentum("{ parent = \"optimizer\", values = [\"sgd\"] }"));
    insta::assert_snapshot!(momentum("{ parent = \"optimiser\", values = [\"sgx\"] }"));
}

#[test]
fn nothing_found_names_the_storage() {
    let desk = done();
    desk.printed(&["copy", "s", "--as", "bake"]);
    insta::assert_snapshot!(desk.refused(&["trials", "bke"]));
    insta::assert_snapshot!(desk.refused(&["status"]));
    desk.printed(&["delete", "s", "--yes"]);
    desk.printed(&["delete", "bake", "--yes"]);
    insta::assert_snapshot!(desk.refused(&["status"]));
    assert!(
        desk.printed(&["studies"]).starts_with("There is no study in the storage wimble.db yet")
    );
    assert!(desk.refused(&["extend", "s", "study.toml"]).contains("in the storage wimble.db"));
}

#[test]
fn a_trial_is_shown_in_the_order_of_other_commands_and_in_the_old_one() {
    let desk = done();
    let shown = desk.printed(&["show", "s", "3"]);
    assert_eq!(desk.printed(&["show", "3", "s"]), shown);
    assert_eq!(desk.printed(&["show", "3"]), shown);
    // In the order of the file, and not of the alphabet.
    let places = ["rate", "layers", "optimiser"].map(|name| shown.find(name).unwrap());
    assert!(places.is_sorted(), "{shown}");
    assert_eq!(desk.json(&["show", "s", "3", "--json"])["attempts"], 1);
    assert!(desk.refused(&["show", "s"]).starts_with("exit 2"));
}

#[test]
fn trials_are_chosen_by_a_condition_and_columns_by_name() {
    let desk = done();
    let low = desk.lines(&["trials", "s", "--where", "rate < 0.01 and optimiser = sgd", "--json"]);
    let all = desk.lines(&["trials", "s", "--json"]);
    let is_low = |row: &&serde_json::Value| {
        row["params"]["rate"].as_f64().unwrap() < 0.01 && row["params"]["optimiser"] == "sgd"
    };
    assert_eq!(low, all.iter().filter(is_low).cloned().collect::<Vec<_>>());
    assert!(!low.is_empty() && low.len() < all.len());
    let first = desk.lines(&[
        "trials",
        "--where",
        "rate < 0.01",
        "--sort",
        "value",
        "--limit",
        "1",
        "--json",
    ]);
    assert_eq!(first[0]["trial"], desk.json(&["best", "--json"])["trial"]);
    let table =
        desk.printed(&["trials", "--columns", "trial,note,attempts,layers", "--limit", "2"]);
    let titles: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(titles, ["trial", "note", "attempts", "layers"]);
    assert!(table.contains("fine") && table.ends_with("2 of 8 trials\n"), "{table}");
    let nothing = desk.printed(&["trials", "--where", "rate > 7"]);
    assert!(
        nothing.ends_with("No trial of `s` in the storage wimble.db matches; it has 8\n"),
        "{nothing}"
    );
    insta::assert_snapshot!(desk.refused(&["trials", "--where", "raet < 0.01"]));
    insta::assert_snapshot!(desk.refused(&["trials", "--columns", "trial,nte"]));
}

#[test]
fn a_table_says_what_it_hides() {
    let parameters: String =
        (0..9).map(|i| format!("parameter_{i} = {{ type = \"boolean\" }}\n")).collect();
    let desk = Desk::new(&format!(
        "name = \"s\"\nmethod = \"random\"\ntrials = 2\ncommand = [\"echo\", \"1\"]\n[space]\n{parameters}"
    ));
    desk.printed(&["run", "-q"]);
    let table = desk.printed(&["trials"]);
    let last = table.lines().last().unwrap();
    assert!(last.starts_with("Not shown: parameter_") && last.contains("parameter_8. "), "{last}");
    for i in 0..9 {
        assert!(table.contains(&format!("parameter_{i}")), "{table}");
    }
}

#[test]
fn a_study_file_comes_by_standard_input_as_toml_or_json() {
    let desk = desk();
    let json = r#"{"name": "s", "command": ["sh", "train.sh", "{rate}"], "trials": 8, "method": "random",
        "space": {"rate": {"type": "real", "low": 0, "high": 1}}}"#;
    for text in [STUDY, json] {
        let (fine, said) = fed(&desk, &["check", "-"], text);
        assert!(fine && said.starts_with("standard input is valid."), "{said}");
    }
    let (fine, said) = fed(&desk, &["run", "-", "-q"], json);
    assert!(fine && said.contains("8 of 8 trials"), "{said}");
    let (fine, said) = fed(&desk, &["check", "-"], &STUDY.replace("trials", "trails"));
    assert!(!fine && said.contains("standard input:3:1: unknown setting `trails`"), "{said}");
}

#[test]
fn telling_another_value_speaks_of_the_trial_and_not_of_a_key() {
    let desk = done();
    desk.printed(&["enqueue", "s", "rate=0.01", "layers=3", "optimiser=sgd"]);
    let token = desk.json(&["ask", "s"])["token"].as_str().unwrap().to_owned();
    desk.printed(&["tell", "s", "--token", &token, "--value", "3"]);
    desk.printed(&["tell", "s", "--token", &token, "--value", "3"]);
    insta::assert_snapshot!(desk.refused(&["tell", "s", "--token", &token, "--value", "4"]));
}

#[test]
fn plain_progress_lines_count_the_trial_that_they_tell() {
    let output = desk().wimble(&["run", "--workers", "1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let counts: Vec<&str> =
        said.lines().map(|line| line.split(['(', ',']).nth(1).unwrap()).collect();
    assert_eq!(counts, ["1/8", "2/8", "3/8", "4/8", "5/8", "6/8", "7/8", "8/8"], "{said}");
}

#[test]
fn failures_are_told_with_the_last_words_of_the_command() {
    let desk = desk();
    desk.write(
        "train.sh",
        "case $WIMBLE_TRIAL in 0|3) echo 1;; *) echo usage >&2; echo 'no option --m' >&2; exit 2;; esac\n",
    );
    let output = desk.wimble(&["run", "--workers", "1"]);
    let said = String::from_utf8(output.stderr).unwrap();
    let told = said.matches("failed: exit status: 2: no option --m").count();
    assert_eq!(told, 6, "{said}");
    let printed = String::from_utf8(output.stdout).unwrap();
    let hint = "Most trials failed; why trial 1 did: wimble show s 1\n";
    assert!(printed.contains(hint), "{printed}");
    assert!(!done().printed(&["run"]).contains("Most trials failed"));
}

#[test]
fn some_parameters_are_given_and_the_method_chooses_the_rest() {
    let desk = desk();
    let study = STUDY.replace("trials = 8", "trials = 20").replace("random", "auto");
    desk.write("study.toml", &study);
    desk.printed(&["run", "-q", "--trials", "10"]);
    desk.printed(&["enqueue", "s", "rate=0.05", "layers=1", "optimiser=adam"]);
    let fixed = ["ask", "study.toml", "-n", "3", "--fix", "optimiser=sgd", "--fix", "rate=0.01"];
    let claims = desk.lines(&fixed);
    assert_eq!(claims.len(), 3);
    for claim in &claims {
        assert_eq!(
            (&claim["params"]["optimiser"], &claim["params"]["rate"]),
            (&"sgd".into(), &0.01.into())
        );
    }
    // What waits in the queue still waits.
    assert_eq!(desk.json(&["ask", "s"])["params"]["rate"], 0.05);
    insta::assert_snapshot!(desk.refused(&["ask", "s", "--fix", "optimizer=sgd"]));
    insta::assert_snapshot!(desk.refused(&["ask", "s", "--fix", "layers=99"]));
}

#[test]
fn a_file_fixes_values_for_a_run_and_the_next_run_may_fix_others() {
    let desk = desk();
    desk.write("study.toml", &format!("{STUDY}[fixed]\noptimiser = \"sgd\"\nlayers = 3\n"));
    assert!(
        desk.printed(&["check"])
            .contains("fixed      layers=3 optimiser=sgd; the method chooses the rest")
    );
    desk.printed(&["run", "-q", "--trials", "4"]);
    desk.write("study.toml", &format!("{STUDY}[fixed]\noptimiser = \"adam\"\n"));
    desk.printed(&["run", "-q"]);
    let trials = desk.lines(&["trials", "--json"]);
    let word = |row: &serde_json::Value| row["params"]["optimiser"].as_str().unwrap().to_owned();
    let words: Vec<String> = trials.iter().map(word).collect();
    assert_eq!(words, [["sgd"; 4], ["adam"; 4]].concat());
    assert!(trials[..4].iter().all(|row| row["params"]["layers"] == 3));
    desk.write("study.toml", &format!("{STUDY}[fixed]\noptimizer = \"sgd\"\nlayers = 0\n"));
    insta::assert_snapshot!(desk.refused(&["check"]));
}

#[test]
fn a_grid_is_gone_through_and_reals_have_steps() {
    let desk = desk();
    let study = STUDY
        .replace("random", "grid")
        .replace("trials = 8\n", "")
        .replace("low = 1e-5, high = 0.1, scale = \"log\"", "low = 0.1, high = 0.5, step = 0.2")
        .replace("high = 8", "high = 2");
    desk.write("study.toml", &study);
    assert!(desk.printed(&["check"]).contains("budget     12 trials"));
    desk.printed(&["run", "-q"]);
    let trials = desk.lines(&["trials", "--json"]);
    let rates: Vec<f64> =
        trials.iter().map(|row| row["params"]["rate"].as_f64().unwrap()).collect();
    assert_eq!(rates, [[0.1; 4], [0.3; 4], [0.5; 4]].concat());
    assert_eq!(desk.lines(&["trials", "--where", "rate >= 0.3", "--json"]).len(), 8);
    desk.write("study.toml", &STUDY.replace("random", "grid"));
    insta::assert_snapshot!(desk.refused(&["check"]));
    desk.write("study.toml", &study.replace("step = 0.2", "step = 0"));
    insta::assert_snapshot!(desk.refused(&["check"]));
}

#[test]
fn a_study_is_copied_with_its_numbers_and_attributes() {
    let desk = done();
    desk.printed(&["enqueue", "s", "rate=0.01", "layers=3", "optimiser=sgd"]);
    let copied = desk.json(&["copy", "s", "--to", "copy.db", "--json"]);
    assert_eq!((&copied["trials"], &copied["new"]), (&9.into(), &9.into()));
    let rows = |storage: &str| desk.lines(&["trials", "s", "--json", "--storage", storage]);
    assert_eq!(rows("wimble.db"), rows("copy.db"));
    assert!(desk.printed(&["doctor", "--storage", "copy.db"]).contains("8 complete"));
    // The rest follows once it is there.
    let token = desk.json(&["ask", "s"])["token"].as_str().unwrap().to_owned();
    desk.printed(&["tell", "s", "--token", &token, "--value", "3"]);
    assert!(desk.printed(&["copy", "s", "--to", "copy.db"]).contains("9 trials, 0 of them new"));
    assert_eq!(rows("wimble.db"), rows("copy.db"));
    // A copy that was worked on is a study of its own.
    desk.printed(&[
        "enqueue",
        "s",
        "rate=0.02",
        "layers=3",
        "optimiser=sgd",
        "--storage",
        "copy.db",
    ]);
    insta::assert_snapshot!(desk.refused(&["copy", "s", "--to", "copy.db"]));
    insta::assert_snapshot!(desk.refused(&["copy", "s"]));
    insta::assert_snapshot!(desk.refused(&["copy", "s", "--to", "wimble.db"]));
}

#[test]
fn one_set_of_names_in_json() {
    let desk = done();
    let best = desk.json(&["best", "--json"]);
    let status = desk.json(&["status", "--json"]);
    for field in ["trial", "value", "params"] {
        assert_eq!(status["best"][field], best[field]);
    }
    let run = desk.json(&["run", "--json"]);
    assert_eq!(run["best"], status["best"]);
}

#[test]
fn commands_are_run_at_each_result_and_at_the_end_and_lose_nothing() {
    let desk = desk();
    let on = "[on]\nresult = [\"sh\", \"on.sh\"]\nend = [\"sh\", \"on.sh\"]\n";
    desk.write("study.toml", &format!("{STUDY}{on}"));
    desk.write("on.sh", "echo \"$WIMBLE_EVENT $WIMBLE_STUDY $WIMBLE_TRIAL $WIMBLE_STATE $WIMBLE_END\" >> seen; cat >> json\n");
    assert!(desk.printed(&["check"]).contains("on result  sh on.sh\non end     sh on.sh\n"));
    desk.printed(&["run", "-q"]);
    let seen = std::fs::read_to_string(desk.path("seen")).unwrap();
    assert_eq!(seen.lines().count(), 9, "{seen}");
    assert_eq!(
        seen.lines()
            .filter(|line| line.starts_with("result s ") && line.ends_with(" complete "))
            .count(),
        8
    );
    assert_eq!(seen.lines().last().unwrap(), "end s   budget-spent");
    let json = std::fs::read_to_string(desk.path("json")).unwrap();
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut trials: Vec<u64> = rows[..8].iter().map(|row| row["trial"].as_u64().unwrap()).collect();
    trials.sort_unstable();
    assert_eq!(trials, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(
        (&rows[0]["attributes"]["note"], &rows[0]["event"]),
        (&"fine".into(), &"result".into())
    );
    assert_eq!(rows[8]["best"]["trial"], desk.json(&["best", "--json"])["trial"]);
    // Commands that fail are named; the run is what it would have been.
    desk.write("on.sh", "echo no route >&2; exit 3\n");
    let output = desk.wimble(&["run", "--trials", "10"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success());
    assert_eq!(
        said.matches("the command of `on.result` failed: exit code 3: no route").count(),
        2,
        "{said}"
    );
    assert!(said.contains("the command of `on.end` failed: exit code 3: no route"), "{said}");
    assert_eq!(desk.lines(&["trials", "--json"]).len(), 10);
    desk.write("study.toml", &format!("{STUDY}[on]\nresults = [\"sh\"]\nend = \"sh on.sh\"\n"));
    insta::assert_snapshot!(desk.refused(&["check"]));
}

#[test]
fn pictures_are_drawn_of_the_users_own_study() {
    let desk = desk();
    desk.printed(&["run", "-q", "--trials", "14"]);
    assert_eq!(desk.printed(&["plot"]), "Drawn: s.html\n");
    let page = std::fs::read_to_string(desk.path("s.html")).unwrap();
    // History, importance, a slice for each of three parameters, parallel coordinates.
    assert_eq!(page.matches("<svg ").count(), 6);
    assert_eq!(page.matches("<svg ").count(), page.matches("</svg>").count());
    for words in [
        "value over the trials",
        "value over rate",
        "Share of the variance",
        "14 of 14 trials across",
        "trial 13:",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // One file, and nothing from elsewhere.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http") && !page.contains("<script"), "{elsewhere}");
    assert_eq!(desk.printed(&["plot", "--kind", "history", "--out", "h.svg"]), "Drawn: h.svg\n");
    let history = std::fs::read_to_string(desk.path("h.svg")).unwrap();
    assert_eq!(history.matches("class=\"trial\"").count(), 14);
    let best = desk.json(&["best", "--json"])["trial"].as_u64().unwrap();
    assert!(history.contains(&format!("trial {best}: ")));
    let slices = desk.json(&["plot", "--kind", "slices", "--out", "p.svg", "--json"]);
    assert_eq!(slices["files"], serde_json::json!(["p-1.svg", "p-2.svg", "p-3.svg"]));
    insta::assert_snapshot!(desk.refused(&["plot", "--out", "h.jpeg"]));
    insta::assert_snapshot!(desk.refused(&["plot", "--out", "h.svg", "--format", "png"]));
    insta::assert_snapshot!(desk.refused(&["plot", "--kind", "front", "--out", "f.svg"]));
}

/// The number after ` NAME="` in a line of SVG.
fn number(line: &str, name: &str) -> f64 {
    let rest = line.split_once(&format!(" {name}=\"")).unwrap().1;
    rest.split_once('"').unwrap().0.parse().unwrap()
}

#[test]
fn pictures_of_pixels_have_ink_where_those_of_lines_have_marks() {
    let desk = desk();
    desk.printed(&["run", "-q", "--trials", "14"]);
    for kind in ["history", "importance", "parallel"] {
        let (vector, pixels) = (format!("{kind}.svg"), format!("{kind}.png"));
        desk.printed(&["plot", "--kind", kind, "--out", &vector]);
        assert_eq!(
            desk.printed(&["plot", "--kind", kind, "--out", &pixels]),
            format!("Drawn: {pixels}\n")
        );
        let svg = std::fs::read_to_string(desk.path(&vector)).unwrap();
        let file = std::io::BufReader::new(std::fs::File::open(desk.path(&pixels)).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut bytes).unwrap();
        let (width, height) = (frame.width as usize, frame.height as usize);
        let first = svg.lines().next().unwrap();
        assert_eq!((width as f64, height as f64), (1440.0, 2.0 * number(first, "height")));
        assert_eq!(frame.color_type, png::ColorType::Rgb);
        let pixel = |x: f64, y: f64| {
            let at = 3 * ((2.0 * y) as usize * width + (2.0 * x) as usize);
            [bytes[at], bytes[at + 1], bytes[at + 2]]
        };
        let is_paper = |pixel: [u8; 3]| pixel.iter().all(|part| *part > 225);
        // The corners are paper.
        for (x, y) in [(1.0, 1.0), (718.0, 1.0), (1.0, height as f64 / 2.0 - 2.0)] {
            assert_eq!(pixel(x, y), [255; 3], "{kind}");
        }
        let mut marks = 0;
        for line in svg.lines() {
            if line.starts_with("<circle ") {
                let (x, y) = (number(line, "cx"), number(line, "cy"));
                assert!(!is_paper(pixel(x, y)), "{kind}: no ink at {line}");
                marks += 1;
            } else if line.starts_with("<rect x") {
                let x = number(line, "x") + 0.5 * number(line, "width");
                let y = number(line, "y") + 0.25 * number(line, "height");
                assert!(!is_paper(pixel(x, y)), "{kind}: no ink at {line}");
                marks += 1;
            } else if line.starts_with("<polyline ") && !line.contains("\"grid\"") {
                let points = line.split('"').nth(1).unwrap();
                for point in points.split(' ') {
                    let (x, y) = point.split_once(',').unwrap();
                    let (x, y) = (x.parse::<f64>().unwrap(), y.parse::<f64>().unwrap());
                    assert!(!is_paper(pixel(x, y)), "{kind}: no ink at {x}, {y}");
                }
                marks += 1;
            } else if line.starts_with("<text ") {
                // Letters are dark, about as many pixels as there are letters, around their base line.
                let text = line.split(['>', '<']).nth(2).unwrap();
                let (x, y) = (number(line, "x"), number(line, "y"));
                let wide = 7.0 * text.chars().count() as f64;
                let from = match line {
                    line if line.contains("\"start\"") => x,
                    line if line.contains("\"middle\"") => x - 0.5 * wide,
                    _ => x - wide,
                };
                let columns = ((2.0 * from.max(0.0)) as usize)..((2.0 * (from + wide)) as usize);
                let rows = ((2.0 * y) as usize - 24)..((2.0 * y) as usize + 8);
                let dark = rows
                    .flat_map(|row| columns.clone().map(move |column| (row, column)))
                    .filter(|(_, column)| *column < width)
                    .filter(|(row, column)| bytes[3 * (row * width + column)] < 140)
                    .count();
                assert!(dark > 6 * text.chars().count(), "{kind}: {dark} dark pixels for {text}");
                marks += 1;
            }
        }
        assert!(marks > 12, "{kind}: {marks}");
    }
    let slices = desk.json(&["plot", "--kind", "slices", "--format", "png", "--json"]);
    assert_eq!(slices["files"], serde_json::json!(["s-1.png", "s-2.png", "s-3.png"]));
}

#[test]
fn a_parameter_called_as_a_fact_is_itself_and_noted() {
    let desk = Desk::new(
        "name = \"s\"\ntrials = 3\nmethod = \"random\"\ncommand = [\"echo\", \"{slot}\"]\n[space]\n\
         slot = { type = \"integer\", low = 10, high = 99 }\n",
    );
    let said = desk.printed(&["check"]);
    assert!(
        said.contains("`slot` is a parameter here, so that {slot} stands for its value"),
        "{said}"
    );
    assert!(said.contains("WIMBLE_SLOT"), "{said}");
    desk.printed(&["run", "-q"]);
    for row in desk.lines(&["trials", "--json"]) {
        assert_eq!(row["value"].as_f64(), row["params"]["slot"].as_f64());
    }
}

#[test]
fn check_sees_that_a_command_cannot_work_and_says_so_last() {
    let desk = Desk::new("");
    let check = |command: &str| {
        let (_, rest) = STUDY.split_once("trials").unwrap();
        desk.write("study.toml", &format!("name = \"s\"\ncommand = {command}\ntrials{rest}"));
        (desk.printed(&["check"]), desk.json(&["check", "--json"])["obstacles"].clone())
    };
    for (command, word) in [
        ("[\"sh\", \"train.sh\", \"{rate}\"]", "the script `train.sh` was not found"),
        ("[\"sh\", \"-e\", \"train.sh\", \"{rate}\"]", "the script `train.sh` was not found"),
        ("[\"no-such-program\", \"{rate}\"]", "the program `no-such-program` was not found"),
        ("[\"./study.toml\", \"{rate}\"]", "the program `./study.toml` is not executable"),
    ] {
        let (said, obstacles) = check(command);
        assert!(said.contains(&format!("note       {word}")), "{said}");
        let last = "\nNext: fix the command as noted, then wimble run study.toml\n";
        assert!(said.ends_with(last), "{said}");
        assert_eq!(obstacles.as_array().unwrap().len(), 1);
    }
    // What another program writes is no script of it.
    for command in ["[\"echo\", \"-o\", \"out.py\", \"{rate}\"]", "[\"sh\", \"-c\", \"echo 1\"]"] {
        let (said, obstacles) = check(command);
        assert!(said.ends_with("\nNext: wimble run study.toml\n"), "{said}");
        assert_eq!(obstacles, serde_json::json!([]));
    }
}

#[test]
fn trials_are_sorted_by_a_parameter_and_counted_by_what_matches() {
    let desk = done();
    let column = |arguments: &[&str], name: &str| -> Vec<serde_json::Value> {
        let rows = desk.lines(&[&["trials", "--json"], arguments].concat());
        rows.iter().map(|row| row["params"][name].clone()).collect()
    };
    let rates: Vec<f64> =
        column(&["--sort", "rate"], "rate").iter().map(|rate| rate.as_f64().unwrap()).collect();
    assert!(rates.len() == 8 && rates.is_sorted(), "{rates:?}");
    let layers = column(&["--sort", "layers", "--reverse", "--limit", "3"], "layers");
    let layers: Vec<i64> = layers.iter().map(|one| -one.as_i64().unwrap()).collect();
    assert!(layers.len() == 3 && layers.is_sorted(), "{layers:?}");
    // A choice by its place in the file.
    let words = column(&["--sort", "optimiser"], "optimiser");
    assert!(words.is_sorted_by_key(|word| word == "sgd"), "{words:?}");
    let low = desk.lines(&["trials", "--json", "--where", "optimiser = sgd"]).len();
    assert!(low > 1 && low < 8);
    let said = desk.printed(&["trials", "--where", "optimiser = sgd", "--limit", "1"]);
    assert!(
        said.ends_with(&format!("\n1 of {low} trials that match; the study has 8\n")),
        "{said}"
    );
    insta::assert_snapshot!(desk.refused(&["trials", "--sort", "reward"]));
}

#[test]
fn what_is_not_there_is_told_with_its_place_and_what_to_do() {
    let desk = done();
    std::fs::create_dir(desk.path("folder.toml")).unwrap();
    std::fs::write(desk.path("picture.toml"), [0x89, 0xff, 0xfe, 0x00]).unwrap();
    insta::assert_snapshot!(desk.refused(&["check", "folder.toml"]));
    insta::assert_snapshot!(desk.refused(&["check", "picture.toml"]));
    insta::assert_snapshot!(desk.refused(&["check", "nowhere.toml"]));
    insta::assert_snapshot!(desk.refused(&["delete", "z", "--yes"]));
    insta::assert_snapshot!(desk.refused(&["delete", "s"]));
    insta::assert_snapshot!(desk.refused(&["enqueue", "s", "--from", "t"]));
    insta::assert_snapshot!(desk.refused(&["enqueue", "s"]));
    insta::assert_snapshot!(desk.refused(&["tell", "s", "3", "--value", "three"]));
    insta::assert_snapshot!(desk.refused(&["export", "--out", "trials.xlsx"]));
    assert_eq!(desk.printed(&["export", "--out", "t.csv"]), "Wrote 8 trials to t.csv.\n");
    desk.write("t.csv", "value,param.rate,param.layers,param.optimiser\n1,0.01\n");
    insta::assert_snapshot!(desk.refused(&["import", "t.csv"]));
}

#[test]
fn a_server_that_never_answered_is_not_waited_for() {
    let desk = desk();
    // A port that was free a moment ago: nobody listens.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("http://127.0.0.1:{port}");
    let start = std::time::Instant::now();
    for arguments in [["trials", "s"], ["studies", "--json"], ["run", "-q"]] {
        let said = desk.refused(&[&arguments[..], &["--storage", &address]].concat());
        assert!(said.starts_with("exit 1"), "{said}");
        assert!(said.contains(&format!("{address}: reaching the server failed: ")), "{said}");
    }
    // Far below the minute for which a server that restarts is waited for.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
