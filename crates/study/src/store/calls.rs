//! Calls of the contract that every back end of the same make answers in the same way, written once.
//!
//! They are macros because a transaction is a different type in each back end, and the contract has no type parameters: it is
//! used as `dyn Store`. They stand inside `impl Reader for …` and `impl Store for …`.

/// The calls of [`Reader`](super::Reader) that one query of a study's table answers, for a back end with
/// `read(study, |table| …)`.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
macro_rules! read_from_a_table {
    () => {
        fn changes_since(
            &self,
            study: &str,
            sequence: u64,
            limit: usize,
        ) -> $crate::error::Result<Vec<$crate::trial::Change>> {
            let changes = self.read(study, |table| table.changes_since(sequence, limit))?;
            Ok(changes.into_iter().map(|trial| $crate::trial::Change { trial }).collect())
        }

        fn trials(
            &self,
            study: &str,
            filter: &$crate::store::Filter,
        ) -> $crate::error::Result<Vec<$crate::trial::Trial>> {
            self.read(study, |table| table.filtered(filter))
        }

        fn steps_since(
            &self,
            study: &str,
            sequence: u64,
            limit: usize,
        ) -> $crate::error::Result<Vec<$crate::step::Step>> {
            self.read(study, |table| table.steps_since(sequence, limit))
        }

        #[allow(clippy::redundant_closure_for_method_calls, reason = "a table has a lifetime")]
        fn notes(&self, study: &str) -> $crate::error::Result<Vec<$crate::note::Note>> {
            self.read(study, |table| table.notes())
        }

        fn best(
            &self,
            study: &str,
            count: usize,
        ) -> $crate::error::Result<Vec<$crate::trial::Trial>> {
            self.read(study, |table| table.best(count))
        }
    };
}
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) use read_from_a_table;

/// The calls of [`Store`](super::Store) that are one call of the [rules](super::rules) in one transaction, for a back end with
/// `write(study, |rules| …)`.
macro_rules! written_by_the_rules {
    () => {
        fn set_budget(&self, study: &str, budget: u64) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.set_budget(budget))
        }

        fn set_paused(&self, study: &str, paused: bool) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.set_paused(paused))
        }

        fn note(&self, study: &str, trial: u64, text: &str) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.note(trial, text))
        }

        fn resume(
            &self,
            study: &str,
            resume: &$crate::store::Resume<'_>,
        ) -> $crate::error::Result<usize> {
            self.write(study, |rules| rules.resume(resume))
        }

        fn add(
            &self,
            study: &str,
            additions: &[$crate::addition::Addition],
        ) -> $crate::error::Result<Vec<u64>> {
            self.write(study, |rules| rules.add(additions))
        }

        fn transfer(
            &self,
            study: &str,
            transfer: &$crate::store::Transfer<'_>,
        ) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.transfer(transfer))
        }

        fn reports(
            &self,
            study: &str,
            reports: &[$crate::step::Report],
        ) -> $crate::error::Result<Vec<$crate::store::Refused>> {
            self.write(study, |rules| rules.report(reports))
        }

        fn tell_with(
            &self,
            study: &str,
            tell: &$crate::store::Tell<'_>,
        ) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.tell(tell))
        }

        fn release(&self, study: &str, token: $crate::trial::Token) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.release(token))
        }

        fn pause_trial(
            &self,
            study: &str,
            token: $crate::trial::Token,
        ) -> $crate::error::Result<()> {
            self.write(study, |rules| rules.pause(token))
        }
    };
}
pub(super) use written_by_the_rules;
