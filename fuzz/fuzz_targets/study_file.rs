//! Any text: a study file is read or its mistakes are shown at places of the text; nothing is run.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wimble_study::StudyFile;
use wimble_study::study_file::{Facts, Format};

fuzz_target!(|text: &str| {
    for format in [Format::Toml, Format::Json] {
        match StudyFile::parse("fuzz", text, format) {
            Err(mistakes) => {
                assert!(mistakes.iter().count() > 0);
                for (line, column, mistake) in mistakes.iter() {
                    assert!(line >= 1 && column >= 1 && mistake.span().end <= text.len());
                }
                assert!(!mistakes.to_string().is_empty());
            }
            Ok(file) => {
                let settings = file.settings(None);
                settings.check().expect("a file that is read makes a study");
                settings
                    .check_same(&file.settings(Some(&settings)))
                    .expect("and the same one again");
                let Some(evaluation) = file.evaluation else { return };
                let mut rng = settings.seed.stream("fuzz", 0);
                let facts = Facts {
                    trial: 0,
                    study: file.name.clone(),
                    slot: 0,
                    params_file: String::new(),
                    result_file: String::new(),
                    folder: String::new(),
                };
                for _ in 0..4 {
                    let configuration = file.space.decode(&file.space.sample(&mut rng));
                    assert!(
                        !evaluation.command.fill(&configuration, &facts).is_empty(),
                        "the program is always there"
                    );
                }
            }
        }
    }
});
