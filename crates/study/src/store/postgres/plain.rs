//! The plain ask and the plain tell, each in one exchange.
//!
//! While a call holds the lock of its study, all other workers wait. By the rules a call is two exchanges, and holds
//! the lock while its process computes, which on a busy machine has to wait for a processor first. So the two calls
//! that almost all are, to ask for what is queued and to tell under a lease that stands, are also one statement each:
//! the server locks, decides, writes and commits by itself. A statement does nothing unless the case is plain, and the
//! caller then goes by the rules. An ask is plain if its study is not paused, its key is new, its worker holds nothing, the queue has enough and no
//! answer is to be forgotten; a tell, if the trial runs under its token.
//! The contract suite and the model test hold both ways to the same answers.
//!
//! An ask that finds the queue empty is told to propose without any lock: that promises nothing, and whoever proposes
//! is checked under the lock. Otherwise all workers that find it empty at once would wait in line to be told so.

use std::sync::LazyLock;

use tokio_postgres::Row;

use super::broken::Broken;
use super::link::{Command, Link};
use super::statements::{BEGIN, LOCK, ROLLBACK, SOON};
use super::{COMMIT, FLUSH};
use crate::clock::Timestamp;
use crate::error::Error;
use crate::store::columns::trial::{self, Column, TOLD};
use crate::store::columns::{Columns as _, bounded};
use crate::store::{ANSWERS_KEPT, Ask, Reply, Tell};
use crate::trial::{Claim, Token};

const ASK: &str = "\
    WITH clock AS MATERIALIZED (
        SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
    ), picked AS MATERIALIZED (
        SELECT id, row_number() OVER (ORDER BY origin, id) AS place FROM (
            SELECT id, origin FROM trials
            WHERE study = (SELECT id FROM studies WHERE name = $1) AND stage = 'queued'
            AND paused IS NULL ORDER BY origin, id LIMIT $5::bigint
        ) AS first
    ), head AS (
        UPDATE studies SET fence = fence + $5::bigint, sequence = sequence + $5::bigint, queued = queued - $5::bigint, running = running + $5::bigint
        FROM clock
        WHERE name = $1 AND paused = 0 AND (SELECT count(*) FROM picked) = $5::bigint
        AND NOT EXISTS (SELECT FROM asks WHERE study = studies.id AND ask_key = $3::text)
        AND NOT EXISTS (
            SELECT FROM trials WHERE study = studies.id AND stage = 'running' AND worker = $4::text
            AND incarnation IS NOT DISTINCT FROM $7::text
        )
        AND NOT EXISTS (SELECT FROM asks WHERE study = studies.id AND review <= now)
        RETURNING studies.id AS study, fence - $5::bigint AS fence, sequence - $5::bigint AS sequence, lease, now
    ), claimed AS (
        UPDATE trials SET stage = 'running', ended = NULL, worker = $4::text, incarnation = $7::text,
            notice = NULL, fence = head.fence + place,
            sequence = head.sequence + place, since = now, due = now + lease
        FROM head, picked
        WHERE trials.study = head.study AND trials.id = picked.id
        RETURNING trials.id, trials.configuration, trials.fence, trials.lost, trials.until
    ), kept AS (
        INSERT INTO asks (study, ask_key, answer, review)
        SELECT study, $3::text, json_build_object('worker', $4::text, 'wanted', $5::bigint, 'claims', (
            SELECT json_agg(json_build_object(
                'token', json_build_object('trial', id, 'fence', fence), 'attempt', lost + 1
            ) ORDER BY fence) FROM claimed
        ))::text, now + $6::bigint
        FROM head
    )
    SELECT id, configuration, fence, lost, until FROM claimed ORDER BY fence";

const TRY_TURN: &str = "SELECT pg_try_advisory_xact_lock(1463897412, hashtext($1))";
const AWAIT_TURN: &str = "SELECT pg_advisory_xact_lock_shared(1463897412, hashtext($1))";
/// How long to wait for the turn of another, which takes milliseconds unless its process is frozen.
const SHORT_WAIT: &str = "SET LOCAL lock_timeout = '2s'";

/// Why an ask may be told to propose at once: how many trials may be added, exist, and are queued.
const PEEK: &str = "\
    WITH clock AS MATERIALIZED (
        SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
    )
    SELECT greatest(budget - issued + imported, 0), issued, queued FROM studies, clock
    WHERE name = $1 AND paused = 0 AND queued < $5::bigint AND budget > issued - imported
    AND NOT EXISTS (SELECT FROM asks WHERE study = studies.id AND ask_key = $3)
    AND NOT EXISTS (
        SELECT FROM trials WHERE study = studies.id AND stage = 'running' AND worker = $4
        AND incarnation IS NOT DISTINCT FROM $6::text
    )
    AND NOT EXISTS (
        SELECT FROM trials WHERE study = studies.id AND stage = 'running' AND due <= now
        AND (notice IS NULL OR notice <= now)
    )";

/// What a tell says stands in the parameters from `$5`, in the order of [`TOLD`]: its kind and its value come first.
static TELL: LazyLock<String> = LazyLock::new(|| {
    let kinds = ["$5::text", "$6::float8", "$7", "$8", "$9", "$10", "$11::text"];
    let told: Vec<String> = TOLD
        .iter()
        .zip(kinds)
        .map(|(column, parameter)| format!("{} = {parameter}", column.name()))
        .collect();
    let (told, score) = (told.join(", "), Column::Score.name());
    format!(
        "WITH clock AS MATERIALIZED (
            SELECT coalesce($2::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS now
        ), head AS (
            UPDATE studies SET sequence = sequence + 1, running = running - 1,
                valued = valued + ($5::text = 'value')::int, failed = failed + ($5::text = 'failed')::int,
                infeasible = infeasible + ($5::text = 'infeasible')::int
            FROM clock
            WHERE name = $1
            AND EXISTS (
                SELECT FROM trials
                WHERE study = studies.id AND id = $3::bigint AND stage = 'running' AND fence = $4::bigint
            )
            RETURNING studies.id AS study, sequence, direction, steps, now
        )
        UPDATE trials SET stage = 'finished', sequence = head.sequence, finished = now, notice = NULL, after_step = head.steps,
            {told},
            {score} = CASE WHEN $11::text LIKE '%\"fidelity\":%' THEN NULL ELSE
                CASE direction WHEN 'minimise' THEN $6::float8 ELSE 0 - $6::float8 END END
        FROM head
        WHERE trials.study = head.study AND trials.id = $3::bigint
        RETURNING trials.id"
    )
});

/// A wish for a proposal, if that is plain without a lock.
pub(super) fn peek(
    link: &mut Link,
    study: &str,
    ask: &Ask<'_>,
    clock: Option<Timestamp>,
) -> Result<Option<Reply>, Broken> {
    let command = Command::new(PEEK)
        .with(study.to_owned())
        .with(clock.map(|now| now.0))
        .with(ask.key.to_owned())
        .with(ask.worker.to_owned())
        .with(bounded(ask.wanted as u64))
        .with(ask.incarnation.map(str::to_owned));
    let rows = link.query(command)?;
    let Some(row) = rows.first() else { return Ok(None) };
    let number = |column: usize| {
        row.try_get::<_, i64>(column).map(i64::cast_unsigned).map_err(Broken::reading)
    };
    let (room, issued, queued) = (number(0)?, number(1)?, number(2)?);
    // Who plans may also continue trials, of which there may be any number.
    let most = if ask.plans { u64::MAX } else { room };
    let missing = (ask.wanted as u64).saturating_sub(queued).min(most);
    let count = usize::try_from(missing).unwrap_or(usize::MAX);
    Ok(Some(Reply::Propose { count, room, issued }))
}

/// Whose turn it is to add a proposal to a study.
pub(super) enum Turn {
    /// Ours: a transaction is open, and the turn ends with it.
    Own,
    /// That of another was awaited, and is over.
    Over,
    /// That of another does not end: its process is frozen or cut off. Nothing is open.
    Stuck,
}

/// Begins the turn of the one worker of a study that adds its proposal, or waits until the turn of another is over. All
/// who find the queue empty propose at once: the first fills it, and the others take from it instead of waiting in line
/// with what they proposed. A turn is a hint, and safe to ignore. It ends with its transaction, which the server ends if
/// the process in it stops.
pub(super) fn begin_turn(link: &mut Link, study: &str) -> Result<Turn, Broken> {
    let named = |statement| Command::new(statement).with(study.to_owned());
    let rows = link.run(&[Command::new(BEGIN), named(TRY_TURN)])?.pop().unwrap_or_default();
    let row = rows.first().ok_or_else(Broken::empty)?;
    if row.try_get(0).map_err(Broken::reading)? {
        return Ok(Turn::Own);
    }
    let wait = [
        Command::new(ROLLBACK),
        Command::new(BEGIN),
        Command::new(SHORT_WAIT),
        named(AWAIT_TURN),
        // Also ends a transaction that failed.
        Command::new(COMMIT),
    ];
    match link.run(&wait) {
        Ok(_) => Ok(Turn::Over),
        Err(broken) if broken.is_lock_timeout() => Ok(Turn::Stuck),
        Err(broken) => Err(broken),
    }
}

/// Claims what is queued; `None` if the case is not plain.
pub(super) fn ask(
    link: &mut Link,
    study: &str,
    ask: &Ask<'_>,
    clock: Option<Timestamp>,
) -> Result<Option<Vec<Claim>>, Broken> {
    let wanted = bounded(ask.wanted as u64);
    let command = Command::new(ASK)
        .with(study.to_owned())
        .with(clock.map(|now| now.0))
        .with(ask.key.to_owned())
        .with(ask.worker.to_owned())
        .with(wanted)
        .with(Timestamp(0).after(ANSWERS_KEPT).0)
        .with(ask.incarnation.map(str::to_owned));
    let rows = locked(link, study, command)?;
    if rows.is_empty() {
        return Ok(None);
    }
    let claims: Result<Vec<Claim>, Broken> = rows.iter().map(|row| claim_of(study, row)).collect();
    claims.map(Some)
}

/// Finishes a running trial with an outcome that can be stored; says whether the case was plain.
pub(super) fn tell(
    link: &mut Link,
    study: &str,
    tell: &Tell<'_>,
    clock: Option<Timestamp>,
) -> Result<bool, Broken> {
    let command = Command::new(&TELL)
        .with(study.to_owned())
        .with(clock.map(|now| now.0))
        .with(bounded(tell.token.trial))
        .with(bounded(tell.token.fence))
        .with_cells(trial::told(tell));
    Ok(!locked(link, study, command)?.is_empty())
}

/// One statement under the lock of the study, on the disk before it is acknowledged.
fn locked(link: &mut Link, study: &str, command: Command) -> Result<Vec<Row>, Broken> {
    let commands = [
        Command::new(BEGIN),
        Command::new(SOON),
        Command::new(LOCK).with(study.to_owned()),
        command,
        Command::new(COMMIT),
        Command::new(FLUSH),
    ];
    let mut answers = link.run(&commands).map_err(Broken::while_committing)?;
    Ok(answers.swap_remove(3))
}

fn claim_of(study: &str, row: &Row) -> Result<Claim, Broken> {
    type Read<T> = Result<T, Box<dyn std::error::Error>>;
    let read = || -> Read<Claim> {
        let trial = row.try_get::<_, i64>(0)?.cast_unsigned();
        let fence = row.try_get::<_, i64>(2)?.cast_unsigned();
        Ok(Claim {
            trial,
            configuration: serde_json::from_str(row.try_get(1)?)?,
            token: Token { trial, fence },
            attempt: u32::try_from(row.try_get::<_, i64>(3)?)? + 1,
            until: row.try_get(4)?,
        })
    };
    read().map_err(|error| Error::corrupt(study, "claim", error).into())
}
