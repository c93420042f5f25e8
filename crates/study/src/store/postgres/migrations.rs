//! The schema, as the steps that led to it.
//!
//! Each step runs once in a database, in one transaction with its entry in `schema_versions` and the other steps. A step that was
//! released never changes; a new one is added at the end. A database with more steps than are known here is refused.

use super::COMMIT;
use super::broken::Broken;
use super::link::{Command, Link};
use super::statements::ROLLBACK;
use super::target::Target;
use crate::error::Error;

/// What each version adds, from version 1; the twin of SQLite's. Words are compared byte by byte. The
/// queue leaves dead entries behind in its indices, so that they are swept early.
const STEPS: [&str; 8] = [
    r#"
    CREATE TABLE studies (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name TEXT COLLATE "C" NOT NULL UNIQUE,
        format BIGINT NOT NULL,
        engine TEXT NOT NULL,
        space TEXT NOT NULL,
        direction TEXT NOT NULL,
        method TEXT NOT NULL,
        batch_size BIGINT NOT NULL,
        seed TEXT NOT NULL,
        budget BIGINT NOT NULL,
        retries BIGINT NOT NULL,
        lease BIGINT NOT NULL,
        created BIGINT NOT NULL,
        issued BIGINT NOT NULL DEFAULT 0,
        sequence BIGINT NOT NULL DEFAULT 0,
        fence BIGINT NOT NULL DEFAULT 0,
        queued BIGINT NOT NULL DEFAULT 0,
        running BIGINT NOT NULL DEFAULT 0,
        valued BIGINT NOT NULL DEFAULT 0,
        failed BIGINT NOT NULL DEFAULT 0,
        infeasible BIGINT NOT NULL DEFAULT 0,
        imported BIGINT NOT NULL DEFAULT 0
    ) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000);
    CREATE TABLE trials (
        study BIGINT NOT NULL REFERENCES studies (id),
        id BIGINT NOT NULL,
        configuration TEXT NOT NULL,
        origin TEXT COLLATE "C" NOT NULL CHECK (origin IN ('enqueued', 'imported', 'proposed')),
        stage TEXT NOT NULL CHECK (stage IN ('queued', 'running', 'finished')),
        lost BIGINT NOT NULL,
        sequence BIGINT NOT NULL,
        proposed BIGINT NOT NULL,
        ended TEXT CHECK (ended IN ('ran-out', 'released')),
        worker TEXT,
        fence BIGINT,
        since BIGINT,
        due BIGINT,
        outcome TEXT CHECK (outcome IN ('value', 'failed', 'infeasible')),
        value DOUBLE PRECISION,
        score DOUBLE PRECISION,
        message TEXT,
        output TEXT,
        finished BIGINT,
        tell_key TEXT,
        PRIMARY KEY (study, id)
    ) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);
    CREATE UNIQUE INDEX trials_sequence ON trials (study, sequence);
    CREATE INDEX trials_queue ON trials (study, origin, id) WHERE stage = 'queued';
    CREATE INDEX trials_due ON trials (study, due, id) WHERE stage = 'running';
    CREATE INDEX trials_worker ON trials (study, worker, id) WHERE stage = 'running';
    CREATE INDEX trials_best ON trials (study, score, sequence) WHERE score IS NOT NULL;
    CREATE TABLE asks (
        study BIGINT NOT NULL REFERENCES studies (id),
        ask_key TEXT COLLATE "C" NOT NULL,
        answer TEXT NOT NULL,
        review BIGINT NOT NULL,
        PRIMARY KEY (study, ask_key)
    );
    CREATE INDEX asks_review ON asks (study, review);
    CREATE TABLE additions (
        study BIGINT NOT NULL REFERENCES studies (id),
        add_key TEXT COLLATE "C" NOT NULL,
        trial BIGINT NOT NULL,
        PRIMARY KEY (study, add_key)
    );
    CREATE TABLE deleted_studies (name TEXT COLLATE "C" PRIMARY KEY, fence BIGINT NOT NULL);
"#,
    // A JSON object, where there are any.
    "ALTER TABLE trials ADD COLUMN attributes TEXT;",
    // Which version of the engine proposed which trials. Until now it was always the one that created the study.
    "CREATE TABLE engines (
        study BIGINT NOT NULL REFERENCES studies (id),
        first_trial BIGINT NOT NULL,
        version TEXT NOT NULL,
        PRIMARY KEY (study, first_trial)
    );
    INSERT INTO engines SELECT id, 0, engine FROM studies WHERE issued > 0;",
    // A goal that is more than a direction, and measurements that are more than a number, as JSON. An interval of warm
    // starts that was stored as its default followed the batch size; now that is said by leaving it out.
    r#"ALTER TABLE studies ADD COLUMN goal TEXT;
    ALTER TABLE trials ADD COLUMN measurement TEXT;
    UPDATE studies SET method =
        replace(method, '"start":{"warm":{"every":10}}', '"start":{"warm":{}}');"#,
    // Which process of a name holds a trial, and when another may take it. A random word by which the storage is known,
    // whatever its address.
    "ALTER TABLE trials ADD COLUMN incarnation TEXT;
    ALTER TABLE trials ADD COLUMN notice BIGINT;
    CREATE TABLE storage (identity TEXT NOT NULL);
    INSERT INTO storage SELECT replace(gen_random_uuid()::text, '-', '');",
    // Measurements of running trials, and how trials of a study are stopped early, as JSON. `steps` of a study is the sequence
    // number of its latest step.
    "ALTER TABLE studies ADD COLUMN steps BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE studies ADD COLUMN stopping TEXT;
    CREATE TABLE steps (
        study BIGINT NOT NULL REFERENCES studies (id),
        trial BIGINT NOT NULL,
        fidelity DOUBLE PRECISION NOT NULL,
        sequence BIGINT NOT NULL,
        at BIGINT NOT NULL,
        value DOUBLE PRECISION,
        measurement TEXT,
        PRIMARY KEY (study, trial, fidelity)
    );
    CREATE UNIQUE INDEX steps_sequence ON steps (study, sequence);",
    // Studies that begin no trial for now, and notes of people on trials.
    "ALTER TABLE studies ADD COLUMN paused BIGINT NOT NULL DEFAULT 0;
    CREATE TABLE notes (
        study BIGINT NOT NULL REFERENCES studies (id),
        trial BIGINT NOT NULL,
        text TEXT NOT NULL,
        at BIGINT NOT NULL,
        PRIMARY KEY (study, trial)
    );",
    // Trials that may be continued: up to where a trial is evaluated, and since when it is paused (its stage is then `queued`, which
    // the table allows). `after_step` is the number of the study's latest step when a trial finished; of those that did before, it is
    // that of their own last step.
    "ALTER TABLE trials ADD COLUMN until DOUBLE PRECISION;
    ALTER TABLE trials ADD COLUMN paused BIGINT;
    ALTER TABLE trials ADD COLUMN after_step BIGINT;
    UPDATE trials SET after_step = latest.sequence FROM
        (SELECT study, trial, max(sequence) AS sequence FROM steps GROUP BY study, trial) AS latest
        WHERE latest.study = trials.study AND latest.trial = trials.id AND stage = 'finished';
    DROP INDEX trials_queue;
    CREATE INDEX trials_queue ON trials (study, origin, id) WHERE stage = 'queued' AND paused IS NULL;
    CREATE INDEX trials_paused ON trials (study, id) WHERE stage = 'queued' AND paused IS NOT NULL;",
];

/// The last version known.
const KNOWN: i64 = STEPS.len() as i64;

/// Holds up other workers that start at the same time; the number is arbitrary, but must not change. The lock ends with
/// the transaction, and that with a worker that stops in the middle of it.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7709432881)";

/// Brings the schema to the latest version. Any number of processes may try at once.
pub(super) fn migrate(link: &mut Link, target: &Target) -> Result<(), Broken> {
    // Most workers find everything done, and wait for nobody.
    if version(link, target)? == KNOWN {
        return Ok(());
    }
    // Each statement sees what was committed before it: the steps that another applied while this one waited.
    link.begin()?;
    link.execute(LOCK)?;
    let done = apply(link, target);
    link.execute(if done.is_ok() { COMMIT } else { ROLLBACK })?;
    done
}

fn apply(link: &mut Link, target: &Target) -> Result<(), Broken> {
    let found = version(link, target)?;
    if found > KNOWN {
        let place = target.place.clone();
        return Err(Error::LaterSchema { place, found, known: KNOWN }.into());
    }
    for (version, step) in (1..).zip(STEPS).filter(|&(version, _)| version > found) {
        // The name of the schema was checked: it has nothing but small letters, digits and `_`.
        let schema = &target.schema;
        let begin = if version == 1 {
            format!(
                "CREATE SCHEMA IF NOT EXISTS \"{schema}\";
                 CREATE TABLE schema_versions (
                     version BIGINT PRIMARY KEY, applied TIMESTAMPTZ NOT NULL DEFAULT now()
                 );"
            )
        } else {
            String::new()
        };
        link.execute(&format!(
            "{begin} {step} INSERT INTO schema_versions (version) VALUES ({version});"
        ))?;
    }
    Ok(())
}

/// The version of the schema; 0 if there is none.
fn version(link: &mut Link, target: &Target) -> Result<i64, Broken> {
    // Asked of the catalogue: what the server remembers of a search path may be older than the lock.
    let there = link.query(
        Command::new(
            "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables \
             WHERE schemaname = $1 AND tablename = 'schema_versions')",
        )
        .with(target.schema.clone()),
    )?;
    let there: bool =
        there.first().ok_or_else(Broken::empty)?.try_get(0).map_err(Broken::reading)?;
    if !there {
        return Ok(0);
    }
    let versions =
        link.query(Command::new("SELECT coalesce(max(version), 0) FROM schema_versions"))?;
    versions.first().ok_or_else(Broken::empty)?.try_get(0).map_err(Broken::reading)
}
