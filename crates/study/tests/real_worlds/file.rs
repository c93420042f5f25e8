//! Worlds on a real file: runners in processes of their own, whose disk fails.
//!
//! A small library that is loaded before all others (disk.c) has chosen writes and syncs of SQLite's files fail. The test
//! binary runs itself as a runner: see [`runner`].

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use wimble_study::runner::{End, Event, KeptResults, Runner, WorkerKey};
use wimble_study::study_file::StudyFile;
use wimble_study::{Filter, Reader as _, Sqlite, State, Store, Study};

use super::dice::Dice;
use super::running;

/// The folder of a world, in the environment of a runner, and the number of the runner.
const FOLDER: &str = "WIMBLE_TEST_FOLDER";
const NUMBER: &str = "WIMBLE_TEST_NUMBER";
/// What fails, for disk.c.
const DISK: &str = "WIMBLE_TEST_DISK";
/// Where disk.c leaves a line for each failure, and a runner one for each result.
const TRACE: &str = "WIMBLE_TEST_TRACE";
/// How long runners wait for a storage.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// By then every runner has ended.
const END: Duration = Duration::from_secs(30);
const TRIALS: u64 = 14;
const LEASE: Duration = Duration::from_millis(800);

/// What a runner said: its results, and how it ended.
#[derive(Debug, Default)]
struct Said {
    told: Vec<(u64, f64)>,
    dropped: Vec<u64>,
    end: String,
}

/// Runs the study of a world until it ends; on its own it does nothing.
pub fn runner() {
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let number: usize = std::env::var(NUMBER).unwrap().parse().unwrap();
    let folder = Path::new(&folder);
    let file = file(folder, number);
    let opened = Sqlite::at(folder.join("studies.db")).map(Arc::new).and_then(|store| {
        let study = Study::open(Arc::clone(&store) as Arc<dyn Store>, "s")?;
        Ok((store.identity()?, study))
    });
    let (identity, study) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            println!("end not opened: {error}");
            return;
        }
    };
    let state = folder.join(format!("state-{number}"));
    let runner = Runner {
        worker: WorkerKey::take(&state, &identity, "s", Some("same")).unwrap(),
        patience: PATIENCE,
        kept: Some(KeptResults::new(&state, &identity, "s")),
        ..running::runner(&file, "w")
    };
    let hear = |event: Event| match event {
        Event::Told { trial, outcome, .. } => {
            println!("told {trial} {}", outcome.value().unwrap_or(f64::NAN));
            note("T\n");
        }
        Event::Dropped { trial, .. } => println!("dropped {trial}"),
        _ => {}
    };
    match runner.run(&study, &hear) {
        Ok(summary) => println!(
            "end {}",
            if summary.end == End::BudgetSpent {
                "done".to_owned()
            } else {
                format!("{:?}", summary.end)
            }
        ),
        Err(error) => println!("end failed: {error}"),
    }
}

fn note(line: &str) {
    use std::io::Write as _;
    if let Ok(path) = std::env::var(TRACE) {
        let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
        file.write_all(line.as_bytes()).unwrap();
    }
}

fn file(folder: &Path, worker: usize) -> StudyFile {
    let log = folder.join("log");
    let script =
        format!("sleep \"$1\"; echo \"$WIMBLE_TRIAL $$ {worker}\" >> '{}'; echo $$", log.display());
    let more = format!(
        "trials = {TRIALS}\nworkers = 2\nlease = \"{}ms\"\nlost-retries = 1000\n\
         [space]\nx = {{ type = \"real\", low = 0.02, high = 0.4 }}\n",
        LEASE.as_millis()
    );
    running::file("random", &script, &more)
}

/// The library, compiled once; `None` if there is no compiler.
fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<(tempfile::TempDir, PathBuf)>> = OnceLock::new();
    let made = LIBRARY.get_or_init(|| {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("disk.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/real_worlds/disk.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&library);
        match compiler.arg(source).arg("-ldl").output() {
            Ok(done) if done.status.success() => Some((folder, library)),
            Ok(done) => panic!("{}", String::from_utf8_lossy(&done.stderr)),
            Err(_) => None,
        }
    });
    made.as_ref().map(|(_, library)| library.as_path())
}

/// Lives through the world of a seed; gives the promises that were broken.
pub fn live(seed: u64) -> Option<Vec<String>> {
    let library = library()?;
    let mut dice = Dice::new(seed);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let store: Arc<dyn Store> = Arc::new(Sqlite::at(path.join("studies.db")).unwrap());
    let study = Study::open_or_create(store, file(path, 0).settings(None)).unwrap();
    let mut broken = Vec::new();
    // Numbers of errors: 5 is EIO, 28 ENOSPC.
    let (kind, at, count, error) = match dice.between(0, 3) {
        0 => ("sync", dice.between(1, 25), 1, 5),
        1 => ("sync", dice.between(1, 25), 1_000_000, 5),
        2 => ("write", dice.between(1, 120), dice.between(1, 60), 28),
        _ => ("write", dice.between(1, 120), 1_000_000, 28),
    };
    let plan = format!("{kind}:{at}:{count}:{error}");
    let failing = start(path, 0, Some((library, &plan)));
    let sound = dice.one_in(2).then(|| start(path, 1, None));
    let mut said = vec![finish(failing, 0, &mut broken)];
    said.extend(sound.map(|sound| finish(sound, 1, &mut broken)));
    let trace = std::fs::read_to_string(path.join("trace-0")).unwrap_or_default();
    let after: Vec<&str> = trace.lines().skip_while(|line| *line != "F").collect();
    let failed = !after.is_empty();
    // One result may have been on the disk before, and be said after.
    if after.iter().filter(|line| **line == "T").count() > 1 {
        broken.push(format!("{plan}: results were acknowledged after a sync had failed"));
    }
    let end = &said[0].end;
    let expected = if failed {
        end.contains("StorageGone") || end.starts_with("not opened") || end.starts_with("failed")
    } else {
        true
    };
    if !expected {
        broken.push(format!("{plan}: the disk refused the log, and the run ended: {end}"));
    }
    if let Some(other) = said.get(1).filter(|said| said.end != "done") {
        broken.push(format!("{plan}: the run on a sound disk ended: {}", other.end));
    }
    // The disk is sound again, and both go on.
    for number in 0..2 {
        let again = finish(start(path, number, None), number, &mut broken);
        if again.end != "done" {
            broken.push(format!("{plan}: the run after it ended: {}", again.end));
        }
        said.push(again);
    }
    balance(&study, path, &said, &plan, &mut broken);
    Some(broken)
}

/// Every acknowledged result is there once; every evaluation that ended counts, unless the storage was away for so long that
/// another took its trial, which was said.
fn balance(study: &Study, path: &Path, said: &[Said], plan: &str, broken: &mut Vec<String>) {
    let log = std::fs::read_to_string(path.join("log")).unwrap();
    let counts = study.counts().unwrap();
    if (counts.valued, counts.total()) != (TRIALS, TRIALS) {
        broken.push(format!("{plan}: {counts:?}"));
    }
    for trial in study.trials(&Filter::default()).unwrap() {
        let State::Finished(finish) = &trial.state else { continue };
        let value = finish.outcome.value().unwrap_or(f64::NAN);
        let id = trial.id;
        let told = said.iter().flat_map(|said| &said.told).filter(|(told, _)| *told == id);
        let told: Vec<f64> = told.map(|(_, value)| *value).collect();
        if told.iter().any(|told| *told != value) || told.is_empty() {
            broken.push(format!("{plan}: trial {id} has {value} and was told {told:?}"));
        }
        let ends: Vec<f64> = log
            .lines()
            .map(|line| line.split(' ').collect::<Vec<_>>())
            .filter(|words| words[0] == id.to_string())
            .map(|words| words[1].parse().unwrap())
            .collect();
        if !ends.contains(&value) {
            broken.push(format!("{plan}: no evaluation of trial {id} gave {value}"));
        }
        let dropped =
            said.iter().flat_map(|said| &said.dropped).filter(|dropped| **dropped == id).count();
        if ends.len() > 1 + dropped {
            let ends = ends.len();
            broken.push(format!(
                "{plan}: trial {id} was evaluated {ends} times, and {dropped} dropped"
            ));
        }
    }
}

/// A runner, and what it says.
type Running = (Child, JoinHandle<Said>);

fn start(folder: &Path, number: usize, disk: Option<(&Path, &str)>) -> Running {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["runner", "--exact", "--nocapture", "--test-threads=1"])
        .env(FOLDER, folder)
        .env(NUMBER, number.to_string())
        .stdout(Stdio::piped());
    if let Some((library, plan)) = disk {
        command
            .env("LD_PRELOAD", library)
            .env(DISK, plan)
            .env(TRACE, folder.join(format!("trace-{number}")));
    }
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let listener = std::thread::spawn(move || {
        let mut said = Said::default();
        for line in lines.map_while(Result::ok) {
            // The harness prints before and after, and begins a line of its own before the first of these.
            let line = line.strip_prefix("test runner ... ").unwrap_or(&line);
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["told", trial, value] => {
                    said.told.push((trial.parse().unwrap(), value.parse().unwrap()));
                }
                ["dropped", trial] => said.dropped.push(trial.parse().unwrap()),
                ["end", ..] => said.end = line["end ".len()..].to_owned(),
                _ => {}
            }
        }
        said
    });
    (child, listener)
}

/// Waits for its end, and ends it if that does not come.
fn finish((mut child, listener): Running, number: usize, broken: &mut Vec<String>) -> Said {
    let since = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if since.elapsed() > END {
            broken.push(format!("runner {number} does not end"));
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    listener.join().unwrap()
}
