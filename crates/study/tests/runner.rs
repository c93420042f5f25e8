//! The runner with real commands on real stores: nothing lost, nothing told twice, everything ended.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod running;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use running::{memory, open, run, runner};
use wimble_study::runner::{End, Event, Summary};
use wimble_study::study_file::{Format, StudyFile};
use wimble_study::{Filter, Outcome, Sqlite, State, Store, Study};

const SPACE: &str = "\n[space]\nx = { type = \"real\", low = -1, high = 1 }\n";

fn file(script: &str, more: &str) -> StudyFile {
    running::file("sobol", script, &format!("{more}{SPACE}"))
}

fn values(study: &Study) -> Vec<Option<Outcome>> {
    study.trials(&Filter::default()).unwrap().iter().map(|trial| trial.outcome().cloned()).collect()
}

#[test]
fn every_trial_is_run_once_and_told_what_the_command_said() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo \"$WIMBLE_TRIAL $1\" >> '{}'; echo \"$1\"", log.display());
    let (study, summary, events) = run(&file(&script, "trials = 40\nworkers = 8"));
    assert_eq!(summary, Summary { end: End::BudgetSpent, told: 40, released: 0, kept: 0 });
    let lines: Vec<String> =
        std::fs::read_to_string(&log).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 40, "a trial was run twice");
    for trial in study.trials(&Filter::default()).unwrap() {
        let x = trial.configuration.get("x").unwrap().to_string();
        assert!(lines.contains(&format!("{} {x}", trial.id)));
        assert_eq!(trial.outcome().unwrap().value(), Some(x.parse().unwrap()));
    }
    assert_eq!(events.iter().filter(|event| matches!(event, Event::Told { .. })).count(), 40);
}

#[test]
fn commands_run_in_parallel() {
    let before = Instant::now();
    let (_, summary, _) = run(&file("sleep 1; echo 1", "trials = 8\nworkers = 8"));
    assert_eq!(summary.told, 8);
    assert!(before.elapsed() < Duration::from_secs(6), "{:?}", before.elapsed());
}

#[test]
fn a_stop_ends_commands_and_returns_their_trials_and_the_next_run_finishes_them() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("survivor");
    let script =
        format!("[ -e '{0}.go' ] || {{{{ sleep 30; echo x > '{0}'; }}}}; echo 1", mark.display());
    let file = file(&script, "trials = 6\nworkers = 3");
    let store = memory();
    let study = open(&store, &file);
    let first = runner(&file, "w");
    let stop = first.stop.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        stop.request();
    });
    let before = Instant::now();
    let summary = first.run(&study, &|_| {}).unwrap();
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
    assert_eq!(summary, Summary { end: End::Stopped, told: 0, released: 3, kept: 0 });
    let trials = study.trials(&Filter::default()).unwrap();
    assert!(trials.iter().all(|trial| matches!(trial.state, State::Queued(_))), "{trials:?}");
    std::fs::write(format!("{}.go", mark.display()), "").unwrap();
    let summary = runner(&file, "w").run(&open(&store, &file), &|_| {}).unwrap();
    assert_eq!(summary, Summary { end: End::BudgetSpent, told: 6, released: 0, kept: 0 });
    assert!(!mark.exists());
}

#[test]
fn a_restarted_worker_runs_its_own_trials_again_at_once() {
    let file = file("echo 1", "trials = 3\nworkers = 3\nlease = \"1h\"");
    let store = memory();
    let study = open(&store, &file);
    // A worker that died with two trials in hand.
    study.ask("w", "old", 2).unwrap();
    let before = Instant::now();
    let summary = runner(&file, "w").run(&study, &|_| {}).unwrap();
    assert_eq!(summary.told, 3);
    assert!(before.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_trial_of_a_lost_worker_is_waited_for_and_run() {
    let file = file("echo 1", "trials = 3\nworkers = 2\nlease = \"700ms\"");
    let study = open(&memory(), &file);
    study.ask("dead", "old", 2).unwrap();
    let summary = runner(&file, "w").run(&study, &|_| {}).unwrap();
    assert_eq!(summary, Summary { end: End::BudgetSpent, told: 3, released: 0, kept: 0 });
}

#[test]
fn a_command_whose_lease_is_lost_is_ended_and_its_result_dropped() {
    let file = file("sleep 30; echo 1", "trials = 1\nworkers = 1\nlease = \"2s\"");
    let study = open(&memory(), &file);
    let runner = runner(&file, "w");
    let stop = runner.stop.clone();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (study, over) = (&study, &over);
        let thief = Study::open(Arc::clone(study.store()), "s").unwrap();
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(700));
            let trial = &thief.trials(&Filter::default()).unwrap()[0];
            let token = wimble_study::Token { trial: 0, fence: trial.lease().unwrap().fence };
            thief.tell(token, &Outcome::from(7.0), "thief").unwrap();
            // The heart must notice; this ends a run in which it does not.
            let told = Instant::now();
            while !over.load(Ordering::SeqCst) && told.elapsed() < Duration::from_secs(20) {
                std::thread::sleep(Duration::from_millis(20));
            }
            stop.request();
        });
        let began = Instant::now();
        let dropped = Mutex::new(Vec::new());
        let watch = |event| {
            if let Event::Dropped { trial, reason } = event {
                dropped.lock().unwrap().push((trial, reason));
            }
        };
        let summary = runner.run(study, &watch).unwrap();
        over.store(true, Ordering::SeqCst);
        assert_eq!(summary, Summary { end: End::BudgetSpent, told: 0, released: 0, kept: 0 });
        assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
        assert_eq!(dropped.lock().unwrap().len(), 1);
    });
    assert_eq!(values(&study), [Some(Outcome::from(7.0))]);
}

#[test]
fn what_never_works_is_given_up_and_what_cannot_start_is_said() {
    let (study, summary, _) = run(&file("echo no luck >&2; exit 4", "trials = 100\nworkers = 2"));
    let End::NothingWorks(failure) = &summary.end else { panic!("{summary:?}") };
    assert_eq!((failure.reason.as_str(), failure.output.as_str()), ("exit status: 4", "no luck"));
    assert!(summary.told <= 7, "{summary:?}");
    assert!(values(&study).iter().filter(|outcome| outcome.is_some()).count() <= 7);

    let text =
        format!("name = \"s\"\nmethod = \"sobol\"\ncommand = [\"pyhton3\"]\ntrials = 3{SPACE}");
    let file = StudyFile::parse("s.toml", &text, Format::Toml).unwrap();
    let (study, summary, _) = run(&file);
    assert!(
        matches!(&summary.end, End::CannotRun(reason) if reason.contains("pyhton3")),
        "{summary:?}"
    );
    assert_eq!(values(&study), [None]);
}

#[test]
fn interruptions_return_the_trial_but_not_for_ever() {
    let (study, summary, _) = run(&file("exit 130", "trials = 1"));
    assert!(
        matches!(&summary.end, End::CannotRun(reason) if reason.contains("interrupted")),
        "{summary:?}"
    );
    assert!(matches!(study.trials(&Filter::default()).unwrap()[0].state, State::Queued(_)));
}

#[test]
fn after_its_time_a_run_begins_nothing_and_finishes_what_it_began() {
    let (study, summary, _) = run(&file("sleep 0.4; echo 1", "time = \"1s\"\nworkers = 2"));
    assert_eq!(summary.end, End::TimeOver);
    assert!(summary.told >= 2 && summary.released == 0, "{summary:?}");
    assert_eq!(
        values(&study).iter().filter(|outcome| outcome.is_some()).count() as u64,
        summary.told
    );
}

#[test]
fn runners_in_parallel_share_a_study_without_repeating_a_trial() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let script = format!("echo $WIMBLE_TRIAL >> '{}'; echo 1", log.display());
    let file = file(&script, "trials = 30\nworkers = 3\nlease = \"30s\"");
    let database = folder.path().join("s.db");
    let told: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3)
            .map(|number| {
                let (file, database) = (&file, &database);
                scope.spawn(move || {
                    let store: Arc<dyn Store> = Arc::new(open_sqlite(database));
                    let study = open(&store, file);
                    runner(file, &format!("w{number}")).run(&study, &|_| {}).unwrap().told
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(told, 30);
    let text = std::fs::read_to_string(&log).unwrap();
    let trials: BTreeSet<&str> = text.lines().collect();
    assert_eq!((text.lines().count(), trials.len()), (30, 30));
}

fn open_sqlite(path: &Path) -> Sqlite {
    Sqlite::at(path).unwrap()
}
