//! The columns of a study's head, which changes with every call.

use std::time::Duration;

use wimble::goal::Direction;

use super::record::direction_of;
use super::{Cell, Cells, Read, columns, small, whole, word};
use crate::clock::Timestamp;
use crate::counts::Counts;
use crate::error::{Error, Result};
use crate::store::rows::Head;

/// A study as a database knows it: its number, the direction that turns values into scores, and its head.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct Entry {
    pub id: i64,
    pub direction: Direction,
    pub head: Head,
}

/// The columns that never change, at the beginning.
pub(in crate::store) const FIXED: usize = 4;

columns! {
    /// The columns of a head; the first [`FIXED`] never change.
    Column of it: Entry;
    Id "id" = it.id;
    Direction "direction" = it.direction.word();
    Retries "retries" = it.head.retries;
    Lease "lease" = Timestamp(0).after(it.head.lease);
    Budget "budget" = it.head.budget;
    Issued "issued" = it.head.issued;
    Sequence "sequence" = it.head.sequence;
    Fence "fence" = it.head.fence;
    Steps "steps" = it.head.steps;
    Queued "queued" = it.head.counts.queued;
    Running "running" = it.head.counts.running;
    Valued "valued" = it.head.counts.valued;
    Failed "failed" = it.head.counts.failed;
    Infeasible "infeasible" = it.head.counts.infeasible;
    Imported "imported" = it.head.counts.imported;
    Paused "paused" = u64::from(it.head.paused);
}

/// Makes anew what is kept beside the trials of a study.
pub(in crate::store) const RECOUNT: &str = "UPDATE studies SET \
    queued = (SELECT count(*) FROM trials WHERE study = studies.id AND stage = 'queued' AND paused IS NULL), \
    running = (SELECT count(*) FROM trials WHERE study = studies.id AND stage = 'running'), \
    valued = (SELECT count(*) FROM trials WHERE study = studies.id AND outcome = 'value'), \
    failed = (SELECT count(*) FROM trials WHERE study = studies.id AND outcome = 'failed'), \
    infeasible = (SELECT count(*) FROM trials WHERE study = studies.id AND outcome = 'infeasible'), \
    imported = (SELECT count(*) FROM trials WHERE study = studies.id AND origin = 'imported'), \
    issued = (SELECT coalesce(max(id) + 1, 0) FROM trials WHERE study = studies.id), \
    sequence = (SELECT coalesce(max(trials.sequence), 0) FROM trials WHERE study = studies.id), \
    steps = (SELECT coalesce(max(steps.sequence), 0) FROM steps WHERE study = studies.id), \
    fence = (SELECT CASE WHEN coalesce(max(trials.fence), 0) > studies.fence \
             THEN max(trials.fence) ELSE studies.fence END FROM trials WHERE study = studies.id) \
    WHERE name = $1";
pub(in crate::store) const RESCORE: &str = "UPDATE trials SET score = \
    CASE WHEN measurement LIKE '%\"fidelity\":%' THEN NULL ELSE \
    CASE (SELECT direction FROM studies WHERE id = trials.study) \
    WHEN 'minimise' THEN value ELSE 0.0 - value END END \
    WHERE study = (SELECT id FROM studies WHERE name = $1)";

/// The cells of a head, in the order of [`Column`].
pub(in crate::store) fn write(entry: Entry) -> Vec<Cell<'static>> {
    cells(entry)
}

/// The head in a row that begins with the columns of [`Column`].
pub(in crate::store) fn read(study: &str, row: &impl Cells) -> Result<Entry> {
    entry_of(row).map_err(|error| Error::corrupt(study, "settings", error))
}

fn entry_of(row: &impl Cells) -> Read<Entry> {
    let issued = whole(row, Column::Issued)?;
    let mut counts = Counts {
        paused: 0,
        queued: whole(row, Column::Queued)?,
        running: whole(row, Column::Running)?,
        valued: whole(row, Column::Valued)?,
        failed: whole(row, Column::Failed)?,
        infeasible: whole(row, Column::Infeasible)?,
        imported: whole(row, Column::Imported)?,
    };
    // All trials are in one of the stages: this one has no column.
    counts.paused = issued.saturating_sub(counts.total());
    let head = Head {
        budget: whole(row, Column::Budget)?,
        retries: small(row, Column::Retries)?,
        lease: Duration::from_millis(whole(row, Column::Lease)?),
        issued,
        sequence: whole(row, Column::Sequence)?,
        fence: whole(row, Column::Fence)?,
        steps: whole(row, Column::Steps)?,
        counts,
        paused: whole(row, Column::Paused)? != 0,
    };
    let direction = direction_of(word(row, Column::Direction)?)?;
    Ok(Entry { id: whole(row, Column::Id)?.cast_signed(), direction, head })
}
