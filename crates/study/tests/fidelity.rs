//! The runner with commands that report steps: what is stored, what is stopped, and what becomes of garbage.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use running::{run, runner};
use wimble_study::runner::report_socket::{Reply, send};
use wimble_study::runner::{End, Event};
use wimble_study::study_file::{Format, StudyFile};
use wimble_study::{Measurement, Memory, Outcome, Sqlite, State, Store, Study, SystemClock};

const SPACE: &str = "\n[fidelity]\nepochs = { low = 1, high = 9 }\n\
                     [space]\nx = { type = \"real\", low = 0, high = 1 }\n";

/// A study whose command is a script of the shell; `step N VALUE` prints a step.
fn file(script: &str, more: &str) -> StudyFile {
    let script =
        format!("step() {{{{ echo \"{{{{\\\"step\\\": $1, \\\"value\\\": $2}}}}\"; }}}}; {script}");
    running::file("random", &script, &format!("{more}{SPACE}"))
}

fn curve(study: &Study, trial: u64) -> Vec<(f64, f64)> {
    let steps = study.steps(trial).unwrap();
    steps.iter().map(|step| (step.fidelity(), step.measurement.value().unwrap())).collect()
}

fn at(fidelity: Option<f64>, value: f64) -> Outcome {
    Outcome::Measured(Measurement { fidelity, ..value.into() })
}

fn left_out(events: &[Event]) -> BTreeMap<u64, (u64, String)> {
    let noted = events.iter().filter_map(|event| match event {
        Event::StepsLeftOut { trial, count, reason } => Some((*trial, (*count, reason.clone()))),
        _ => None,
    });
    noted.collect()
}

#[test]
fn steps_are_stored_and_the_last_is_the_result_where_no_other_is_printed() {
    let script = "step 1 5; step 3 4; case $WIMBLE_TRIAL in 0) step 9 3;; 1) echo 7;; esac";
    let (study, summary, events) = run(&file(script, "trials = 3"));
    assert_eq!((summary.end, summary.told), (End::BudgetSpent, 3));
    let outcomes: Vec<Outcome> =
        (0..3).map(|trial| study.trial(trial).unwrap().outcome().unwrap().clone()).collect();
    assert_eq!(outcomes, [at(None, 3.0), at(None, 7.0), at(Some(3.0), 4.0)]);
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (3.0, 4.0), (9.0, 3.0)]);
    assert_eq!(curve(&study, 1), [(1.0, 5.0), (3.0, 4.0)]);
    assert!(left_out(&events).is_empty());
    assert_eq!(study.best().unwrap().unwrap().trial, 0, "trial 2 was carried out in part");
}

/// A trial that is as bad as its number; the first five are whole, which is what the median rule needs. The others go on for
/// a minute after the second step.
const BAD: &str = "step 1 $WIMBLE_TRIAL; step 2 $WIMBLE_TRIAL; \
                   if [ $WIMBLE_TRIAL -lt 5 ]; then step 9 $WIMBLE_TRIAL; else ";

#[test]
fn a_trial_that_falls_behind_is_stopped_and_keeps_its_last_step() {
    let began = Instant::now();
    let script = format!("{BAD} sleep 60; fi");
    let (study, summary, events) =
        run(&file(&script, "trials = 7\nstopping = \"median\"\ngrace = \"1s\""));
    assert_eq!((summary.end, summary.told, summary.released), (End::BudgetSpent, 7, 0));
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    for trial in 5..7 {
        let told = study.trial(trial).unwrap();
        assert_eq!(told.outcome(), Some(&at(Some(2.0), trial as f64)));
        assert_eq!(curve(&study, trial), [(1.0, trial as f64), (2.0, trial as f64)]);
    }
    assert!(!events.iter().any(|event| matches!(event, Event::Unjudged { .. })), "{events:?}");
    // The same study without a rule: nothing is stopped.
    let script = format!("{BAD} sleep 1; step 9 3; fi");
    let (study, ..) = run(&file(&script, "trials = 6\nstopping = \"none\""));
    assert_eq!(study.trial(5).unwrap().outcome(), Some(&at(None, 3.0)));
}

#[test]
fn a_command_that_looks_for_the_file_ends_by_itself_and_may_take_its_last_step() {
    let looks = "trap '' TERM; i=0; while [ ! -e $WIMBLE_STOP_FILE ] && [ $i -lt 600 ]; do \
                 sleep 0.05; i=$((i + 1)); done; step 4 8; exit 9; fi";
    let script = format!("{BAD} {looks}");
    let (study, summary, _) =
        run(&file(&script, "trials = 6\nstopping = \"median\"\ngrace = \"20s\""));
    assert_eq!(summary.told, 6);
    assert_eq!(study.trial(5).unwrap().outcome(), Some(&at(Some(4.0), 8.0)));
}

#[test]
fn a_budget_of_epochs_ends_a_run_once_they_are_spent() {
    // Trials of nine epochs, and of two where the command itself ends.
    let script = "step 1 1; step 2 1; [ $(($WIMBLE_TRIAL % 2)) = 1 ] || step 9 1";
    let limited = file(script, "budget = { epochs = 30 }");
    let (study, summary, _) = run(&limited);
    assert_eq!(summary.end, End::BudgetSpent);
    // 9, 11, 20, 22, 31.
    assert_eq!((summary.told, study.spent().unwrap()), (5, 31.0));
    let again = runner(&limited, "w").run(&study, &|_| {}).unwrap();
    assert_eq!((again.end, again.told), (End::BudgetSpent, 0));
    let more = StudyFile { spend: Some(32.0), ..limited };
    assert_eq!(runner(&more, "w").run(&study, &|_| {}).unwrap().told, 1);
}

#[test]
fn other_workers_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("studies.db");
    let script = format!("{BAD} sleep 60; fi");
    let file = file(&script, "trials = 6\nstopping = \"median\"\ngrace = \"1s\"");
    let open = || -> Study {
        let store: Arc<dyn Store> = Arc::new(Sqlite::at(&path).unwrap());
        Study::open_or_create(store, file.settings(None)).unwrap()
    };
    // Another worker, in another process as far as anybody can tell, has run the good ones.
    let other = open();
    for claim in other.ask("other", "k", 5).unwrap() {
        let steps = [1.0, 2.0, 9.0].map(|f| Measurement { fidelity: Some(f), ..0.5.into() });
        other.report(claim.token, &steps).unwrap();
        other.tell(claim.token, &at(Some(9.0), 0.5), "t").unwrap();
    }
    let summary = runner(&file, "w").run(&open(), &|_| {}).unwrap();
    assert_eq!(summary.told, 1);
    assert_eq!(other.trial(5).unwrap().outcome(), Some(&at(Some(2.0), 5.0)));
}

#[test]
fn garbage_is_left_out_with_a_note_and_crashes_nothing() {
    let script = "case $WIMBLE_TRIAL in \
        0) step 5 1; step 3 2; step 5 9; step 0 1; step 10 1; echo 0.5;; \
        1) step 1 1; step 2 NaN; step 3 2;; \
        2) step 1 1; step 2 NaN;; \
        3) head -c 300000 /dev/urandom; echo; head -c 200000 /dev/zero | tr '\\0' '{{'; echo; step 2 4;; \
        4) echo nothing; echo '{{\"step\": {{}}, \"value\": []}}';; \
        5) echo '{{\"step\": 2}}'; printf '{{\"step\": 3, \"value\": 6}}';; \
        esac";
    let (study, summary, events) = run(&file(script, "trials = 6\nworkers = 2"));
    assert_eq!((summary.end, summary.told), (End::BudgetSpent, 6));
    let outcome = |trial| study.trial(trial).unwrap().outcome().unwrap().clone();
    let notes = left_out(&events);
    assert_eq!((outcome(0), curve(&study, 0)), (at(None, 0.5), vec![(5.0, 1.0)]));
    assert_eq!(notes[&0].0, 4);
    assert!(notes[&0].1.contains("step 3 came after step 5"), "{}", notes[&0].1);
    assert_eq!((outcome(1), curve(&study, 1)), (at(Some(3.0), 2.0), vec![(1.0, 1.0), (3.0, 2.0)]));
    assert!(notes[&1].1.contains("not JSON"), "{}", notes[&1].1);
    // NaN is the last that it said: no earlier step takes its place.
    let Outcome::Failed(failure) = outcome(2) else { panic!("{}", outcome(2)) };
    assert!(failure.reason.contains("its last step could not be read"), "{}", failure.reason);
    assert_eq!(outcome(3), at(Some(2.0), 4.0));
    assert!(notes[&3].1.contains("longer than 65536 bytes"), "{:?}", notes.get(&3));
    let Outcome::Failed(failure) = outcome(4) else { panic!("{}", outcome(4)) };
    assert!(failure.reason.contains("its last step could not be read"), "{}", failure.reason);
    assert_eq!(outcome(5), at(Some(3.0), 6.0), "the last line has no end");
}

#[test]
fn ten_thousand_steps_a_second_are_thinned_and_the_last_is_kept() {
    let text = "name = \"s\"\nmethod = \"random\"\ntrials = 1\ncommand = [\"awk\", \"BEGIN {{ for (i = 1; i <= 100000; i++) \
                printf \\\"{{\\\\\\\"step\\\\\\\": %d, \\\\\\\"value\\\\\\\": %d}}\\\\n\\\", i, i }}\"]\n\
                [fidelity]\nsteps = { low = 1, high = 100000 }\n[space]\nx = { type = \"real\", low = 0, high = 1 }\n";
    let file = StudyFile::parse("s.toml", text, Format::Toml).unwrap();
    let (study, summary, events) = run(&file);
    assert_eq!(summary.told, 1);
    assert_eq!(study.trial(0).unwrap().outcome(), Some(&at(None, 1e5)));
    let stored = curve(&study, 0);
    assert_eq!(stored.last(), Some(&(1e5, 1e5)));
    let (count, reason) = &left_out(&events)[&0];
    assert_eq!(*count as usize + stored.len(), 100_000);
    assert_eq!(reason, "more came than could be stored");
}

#[test]
fn a_command_that_never_reports_is_run_to_its_end() {
    let (study, summary, events) = run(&file("sleep 0.5; echo 3", "trials = 2"));
    assert_eq!(summary.told, 2);
    assert_eq!(study.trial(0).unwrap().outcome(), Some(&at(None, 3.0)));
    assert!(curve(&study, 0).is_empty() && left_out(&events).is_empty());
    let (_, summary, _) = run(&file("sleep 0.1", "trials = 9"));
    assert!(matches!(summary.end, End::NothingWorks(_)), "{summary:?}");
}

#[test]
fn a_trial_that_is_run_again_begins_its_curve_anew() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark");
    let script = format!(
        "step 1 5; if [ -e '{0}' ]; then step 2 6; step 9 7; else step 2 4; step 3 3; touch '{0}'; exit 3; fi",
        mark.display()
    );
    let (study, summary, _) = run(&file(&script, "trials = 1\nretries = 1"));
    assert_eq!(summary.told, 1);
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (2.0, 6.0), (9.0, 7.0)]);
}

#[test]
fn steps_are_there_when_a_run_is_interrupted() {
    let file = file("step 1 5; step 2 4; sleep 60", "trials = 1\ngrace = \"1s\"");
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let study = Study::open_or_create(store, file.settings(None)).unwrap();
    let runner = runner(&file, "w");
    let stop = runner.stop.clone();
    let summary = std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            let two = || study.steps(0).is_ok_and(|steps| steps.len() == 2);
            while !two() && began.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.request();
        });
        runner.run(&study, &|_| {}).unwrap()
    });
    assert_eq!((summary.end, summary.released), (End::Stopped, 1));
    assert!(matches!(study.trial(0).unwrap().state, State::Queued(_)));
    assert_eq!(curve(&study, 0), [(1.0, 5.0), (2.0, 4.0)]);
}

#[test]
fn a_command_reports_through_the_socket_of_its_runner() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    let script = format!(
        "echo $WIMBLE_REPORT > '{0}'; while [ ! -e '{0}.end' ]; do sleep 0.05; done",
        place.display()
    );
    let file = file(&script, "trials = 1\nstopping = \"none\"");
    let store: Arc<dyn Store> = Arc::new(Memory::new(SystemClock));
    let study = Study::open_or_create(store, file.settings(None)).unwrap();
    let done = AtomicBool::new(false);
    let socket = Mutex::new(String::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let began = Instant::now();
            let path = loop {
                let text = std::fs::read_to_string(&place).unwrap_or_default();
                if text.ends_with('\n') {
                    break text.trim().to_owned();
                }
                assert!(began.elapsed() < Duration::from_secs(20), "the command does not start");
                std::thread::sleep(Duration::from_millis(20));
            };
            let report = |trial, step: serde_json::Value| {
                send(path.as_ref(), trial, step.as_object().unwrap().clone()).unwrap()
            };
            let step = |at: u32| serde_json::json!({ "step": at, "value": 0.5 });
            assert_eq!(report(0, step(1)), Reply::GoOn);
            assert_eq!(report(0, step(2)), Reply::GoOn);
            assert_eq!(report(0, step(2)), Reply::GoOn, "its answer may have been lost");
            let Reply::Refused(reason) = report(0, step(1)) else { panic!("a step backwards") };
            assert!(reason.contains("steps must grow"), "{reason}");
            let Reply::Refused(reason) = report(7, step(3)) else { panic!("no such trial") };
            assert!(reason.contains("trial 7 does not run here"), "{reason}");
            *socket.lock().unwrap() = path;
            done.store(true, Ordering::SeqCst);
            std::fs::write(format!("{}.end", place.display()), "").unwrap();
        });
        let summary = runner(&file, "w").run(&study, &|_| {}).unwrap();
        assert_eq!(summary.told, 1);
    });
    assert!(done.load(Ordering::SeqCst));
    assert_eq!(study.trial(0).unwrap().outcome(), Some(&at(Some(2.0), 0.5)));
    let path = socket.into_inner().unwrap();
    assert!(!std::path::Path::new(&path).exists(), "the socket is left behind");
}

/// A command that trains up to `{epochs}` and keeps how far it came in its folder. The value of a trial falls with its epochs, to a tenth
/// of its number.
const TRAINS: &str = "at=$(cat '{folder}/at' 2>/dev/null || echo 0); \
    if [ $at -gt 0 ]; then echo \"$WIMBLE_TRIAL from $at\" >> '{folder}/../continued'; fi; \
    while [ $at -lt {epochs} ]; do at=$((at + 1)); \
    step $at $(awk \"BEGIN {{ print $WIMBLE_TRIAL / 10 + 1 / $at }}\"); echo $at > '{folder}/at'; done";

/// The same study with the method `auto`, which plans.
fn planned(script: &str, more: &str, folders: &std::path::Path) -> StudyFile {
    let more = format!("folders = \"{}\"\n{more}", folders.display());
    StudyFile { method: Some("auto".parse().unwrap()), ..file(script, &more) }
}

#[test]
fn a_command_that_takes_the_fidelity_is_paused_and_continued_from_its_checkpoint() {
    for workers in [1, 4] {
        let folder = tempfile::tempdir().unwrap();
        let more = format!("budget = {{ epochs = 160 }}\nworkers = {workers}");
        let file = planned(TRAINS, &more, folder.path());
        let (study, summary, events) = run(&file);
        assert_eq!(summary.end, End::BudgetSpent);
        let counts = study.counts().unwrap();
        let spent = study.spent().unwrap();
        assert!((160.0..160.0 + 9.0 * workers as f64).contains(&spent), "{spent}");
        assert!(counts.paused > 5 && counts.valued > 0, "{counts:?}");
        assert_eq!((counts.running, counts.queued, counts.failed), (0, 0, 0));
        let paused = events.iter().filter(|event| matches!(event, Event::Paused { .. })).count();
        assert!(paused as u64 >= counts.paused, "{paused}");
        assert!(!events.iter().any(|event| matches!(event, Event::Anew { .. })));
        // Every curve is whole: what was continued went on where it was.
        for trial in study.trials(&wimble_study::Filter::default()).unwrap() {
            let steps = curve(&study, trial.id);
            let expected: Vec<f64> = (1..=steps.len()).map(|at| at as f64).collect();
            assert_eq!(steps.iter().map(|step| step.0).collect::<Vec<_>>(), expected);
            match &trial.state {
                State::Paused(_) => assert_eq!(trial.until, steps.last().map(|step| step.0)),
                _ => assert_eq!(steps.len(), 9, "trial {}", trial.id),
            }
        }
        let home = runner(&file, "w").evaluator.folder(0).unwrap();
        let text = std::fs::read_to_string(home.parent().unwrap().join("continued")).unwrap();
        assert!(text.lines().count() > 3, "{text}");
        // With more to spend, a later run goes on with what is paused.
        let more = StudyFile { spend: Some(200.0), ..file };
        let again = runner(&more, "w").run(&study, &|_| {}).unwrap();
        assert_eq!(again.end, End::BudgetSpent);
        assert!(study.spent().unwrap() >= 200.0);
    }
}

#[test]
fn once_all_configurations_are_begun_the_promising_ones_come_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (study, summary, _) = run(&planned(TRAINS, "trials = 20\nworkers = 2", folder.path()));
    assert_eq!(summary.end, End::BudgetSpent);
    let counts = study.counts().unwrap();
    assert_eq!((counts.total(), counts.running, counts.queued), (20, 0, 0));
    assert!(counts.valued > 0 && counts.paused > 0, "{counts:?}");
    let best = study.best().unwrap().unwrap();
    assert_eq!(best.fidelity, None);
    // Nothing more is worth going on: a run that starts again ends at once.
    let spent = study.spent().unwrap();
    let file = planned(TRAINS, "trials = 20\nworkers = 2", folder.path());
    let again = runner(&file, "w").run(&study, &|_| {}).unwrap();
    assert_eq!((again.end, again.told, study.spent().unwrap()), (End::BudgetSpent, 0, spent));
}

#[test]
fn a_trial_whose_folder_is_elsewhere_begins_anew_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = planned(TRAINS, "budget = { epochs = 40 }", folder.path());
    let (study, ..) = run(&file);
    assert!(study.counts().unwrap().paused > 3);
    let elsewhere = tempfile::tempdir().unwrap();
    let file = planned(TRAINS, "budget = { epochs = 140 }", elsewhere.path());
    let events = Mutex::new(Vec::new());
    runner(&file, "w").run(&study, &|event| events.lock().unwrap().push(event)).unwrap();
    let events = events.into_inner().unwrap();
    let anew: Vec<u64> = events
        .iter()
        .filter_map(|event| match event {
            Event::Anew { trial, at } if *at > 0.0 => Some(*trial),
            _ => None,
        })
        .collect();
    assert!(!anew.is_empty(), "{events:?}");
    for trial in anew {
        let fidelities: Vec<f64> = curve(&study, trial).iter().map(|step| step.0).collect();
        let expected: Vec<f64> = (1..=fidelities.len()).map(|at| at as f64).collect();
        assert_eq!(fidelities, expected);
    }
}

#[test]
fn a_result_after_part_of_the_way_is_a_step_there() {
    // No steps, and a number at the end: the value after so many epochs.
    let folder = tempfile::tempdir().unwrap();
    let script = "awk \"BEGIN {{ print $WIMBLE_TRIAL / 10 + 1 / {epochs} }}\"";
    let (study, summary, _) =
        run(&planned(script, "budget = { epochs = 60 }\nworkers = 2", folder.path()));
    assert_eq!(summary.end, End::BudgetSpent);
    assert!(study.counts().unwrap().paused > 3);
    for trial in study.trials(&wimble_study::Filter::default()).unwrap() {
        let steps = curve(&study, trial.id);
        assert!(!steps.is_empty(), "trial {}", trial.id);
        for (at, value) in steps {
            assert!((value - (trial.id as f64 / 10.0 + 1.0 / at)).abs() < 1e-4, "{at} {value}");
        }
    }
}

#[test]
fn a_command_that_goes_no_further_ends_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    // It ignores how far it is to go.
    let script = ": {epochs}; step 1 $WIMBLE_TRIAL; step 2 $WIMBLE_TRIAL";
    let (study, summary, _) = run(&planned(script, "trials = 4", folder.path()));
    assert_eq!(summary.end, End::BudgetSpent);
    let counts = study.counts().unwrap();
    assert_eq!((counts.valued, counts.paused), (4, 0), "{counts:?}");
    assert_eq!(study.trial(0).unwrap().outcome(), Some(&at(Some(2.0), 0.0)));
}

#[test]
fn without_folders_or_another_rule_nothing_is_paused() {
    let folder = tempfile::tempdir().unwrap();
    let script =
        "at=0; while [ $at -lt {epochs} ]; do at=$((at + 1)); step $at $WIMBLE_TRIAL; done";
    let with =
        |more: &str| StudyFile { method: Some("auto".parse().unwrap()), ..file(script, more) };
    let halving = format!("folders = \"{}\"\nstopping = \"none\"", folder.path().display());
    for file in [with("trials = 3"), with(&format!("trials = 3\n{halving}"))] {
        let (study, ..) = run(&file);
        let counts = study.counts().unwrap();
        assert_eq!((counts.valued, counts.paused), (3, 0));
        assert_eq!(curve(&study, 0).len(), 9);
    }
}
