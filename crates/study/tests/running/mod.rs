//! The runner over a study in memory, for tests with real commands.

use std::sync::{Arc, Mutex};

use wimble_study::runner::{Evaluator, Event, PATIENCE, Runner, Stop, Summary};
use wimble_study::study_file::{Format, StudyFile};
use wimble_study::{Memory, Store, Study, SystemClock};

/// A study whose command is a script of the shell, which is given x.
pub fn file(method: &str, script: &str, more: &str) -> StudyFile {
    let script = serde_json::to_string(script).unwrap();
    let text = format!(
        "name = \"s\"\nmethod = \"{method}\"\ncommand = [\"sh\", \"-c\", {script}, \"sh\", \"{{x}}\"]\n{more}"
    );
    StudyFile::parse("s.toml", &text, Format::Toml).unwrap_or_else(|error| panic!("{error}"))
}

pub fn runner(file: &StudyFile, worker: &str) -> Runner {
    Runner {
        evaluator: Evaluator {
            storage: "db".to_owned(),
            study: file.name.clone(),
            goal: file.goal.clone(),
            evaluation: file.evaluation.clone().unwrap(),
            home: ".".into(),
        },
        worker: worker.into(),
        workers: file.workers,
        time: file.time,
        spend: file.spend,
        stop_when: file.stop_when,
        patience: PATIENCE,
        kept: None,
        stop: Stop::default(),
    }
}

pub fn memory() -> Arc<dyn Store> {
    Arc::new(Memory::new(SystemClock))
}

pub fn open(store: &Arc<dyn Store>, file: &StudyFile) -> Study {
    Study::open_or_create(Arc::clone(store), file.settings(None)).unwrap()
}

/// Runs a study in memory to its end.
pub fn run(file: &StudyFile) -> (Study, Summary, Vec<Event>) {
    let study = open(&memory(), file);
    let events = Mutex::new(Vec::new());
    let summary =
        runner(file, "w").run(&study, &|event| events.lock().unwrap().push(event)).unwrap();
    (study, summary, events.into_inner().unwrap())
}
