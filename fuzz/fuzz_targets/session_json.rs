//! Any text: if it reads as a saved session, the session can be saved again, asked and told.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wimble::Error;
use wimble::prelude::{Outcome, Random, Session};

fuzz_target!(|text: &str| {
    let Ok(mut session) = Session::load(text, Random) else { return };

    let saved = session.save().expect("a session can be saved");
    let loaded = Session::load(&saved, Random).expect("a saved session can be loaded");
    assert_eq!(loaded.save().expect("a session can be saved"), saved);

    let issued = session.issued();
    match session.ask(2) {
        Ok(trials) => {
            assert_eq!(session.issued(), issued + trials.len() as u64);
            for (trial, outcome) in trials.iter().zip([Outcome::from(0.5), Outcome::failed()]) {
                session.tell(trial.id, outcome.clone()).expect("a trial just asked can be told");
                session.tell(trial.id, outcome).expect_err("a trial is told once");
            }
            assert!(session.best().is_some(), "a trial was told a value");
        }
        Err(Error::Exhausted { .. }) => {}
        Err(error) => panic!("a random search cannot fail otherwise: {error}"),
    }
    let saved = session.save().expect("a session can be saved");
    Session::load(&saved, Random).expect("a saved session can be loaded");
});
