//! The steps of a command that runs, from the lines that it prints to the storage.
//!
//! A step is a line of standard output that is a JSON object with the field `step`, or what `wimble report` sends:
//!
//! ```text
//! {"step": 3, "value": 0.42}
//! {"step": 3, "objectives": {"error": 0.42, "latency": 9.5}, "constraints": {"memory": 3.1}}
//! ```
//!
//! Here are the steps that the storage does not have yet, [`MOST_WAITING`] at most and as many that are on their way to it: where more
//! come than can be stored, every second one is left out, the latest never. They are kept until the storage has them, so that a call may be
//! repeated, and a trial is told only after them.
//!
//! | a line | what becomes of it |
//! |---|---|
//! | longer than [`LONGEST_LINE`] | left out, with a note |
//! | at or below the last step, or outside the range of the fidelity | left out, with a note |
//! | not JSON, without a value, NaN, infinite | left out, with a note; if it is the last step and there is no other result, the trial fails |

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wimble::goal::Goal;
use wimble::outcome::{Measurement, Outcome};

use super::finding::{self, Finding, Missing};

/// The longest line that is looked at, in bytes.
pub const LONGEST_LINE: usize = 64 << 10;
/// How many steps of a trial wait for the storage, at most.
pub const MOST_WAITING: usize = 128;

/// The steps of a command that runs.
#[derive(Debug)]
pub struct LiveSteps {
    goal: Goal,
    course: Mutex<Course>,
    stopped: AtomicBool,
}

#[derive(Debug, Default)]
struct Course {
    /// Steps that the storage may not have yet, numbered in the order in which they came.
    waiting: Vec<(u64, Measurement)>,
    came: u64,
    /// The number of the last step that is on its way to the storage, or was.
    sent: u64,
    /// The last step of the present run of the command.
    last: Option<Measurement>,
    /// The last step of the evaluation that this run continues.
    before: Option<Measurement>,
    /// Why the step after the last one could not be read.
    trouble: Option<Missing>,
    /// Whether steps came since the last look.
    news: bool,
    /// How many steps were left out, and why the first of them.
    left_out: Option<(u64, String)>,
    stop_file: Option<PathBuf>,
}

/// What waits for the storage.
pub(super) struct Waiting {
    pub steps: Vec<Measurement>,
    /// The number of the last of them.
    pub until: u64,
    /// Where the command is, if steps came since the last look.
    pub news: Option<f64>,
}

impl LiveSteps {
    /// None yet.
    pub fn new(goal: Goal) -> Self {
        Self { goal, course: Mutex::default(), stopped: AtomicBool::new(false) }
    }

    /// Steps of a trial that goes on after this one.
    pub(super) fn after(goal: Goal, before: Option<Measurement>) -> Self {
        let course = Mutex::new(Course { before, ..Course::default() });
        Self { goal, course, stopped: AtomicBool::new(false) }
    }

    /// The command begins, perhaps anew. A command that looks finds `stop_file` once its trial is to be stopped.
    pub(super) fn begin(&self, stop_file: &Path) {
        let mut course = self.lock();
        (course.last, course.trouble, course.news) = (None, None, false);
        course.stop_file = Some(stop_file.to_owned());
        self.stopped.store(false, Ordering::SeqCst);
        drop(course);
        // What an earlier evaluation in the same folder left.
        let _ = std::fs::remove_file(stop_file);
    }

    /// Takes a line that the command printed, if it is a step.
    pub fn read(&self, line: &str) {
        let line = line.trim();
        if line.starts_with('{') && line.contains("\"step\"") {
            // The command is not told: its next line may be right.
            let _ = self.take(line);
        }
    }

    /// Takes a step as JSON. The error says why it was left out.
    pub fn take(&self, text: &str) -> Result<(), Missing> {
        let Some(read) = finding::step(text, &self.goal) else {
            return Err("it has no field `step`".to_owned());
        };
        let mut course = self.lock();
        let step = match read {
            Ok(step) => step,
            Err(reason) => {
                course.trouble = Some(reason.clone());
                course.leave_out(1, &reason);
                return Err(reason);
            }
        };
        // A report whose answer was lost is made again.
        if course.last.as_ref() == Some(&step) {
            return Ok(());
        }
        let before = course.last.as_ref().and_then(|last| last.fidelity);
        let reason = match (self.goal.check(0, &step), before) {
            (Err(wimble::Error::Measurement { reason, .. }), _) => Some(reason),
            (Err(error), _) => Some(error.to_string()),
            (Ok(()), Some(last)) if step.fidelity <= Some(last) => {
                let at = step.fidelity.unwrap_or(0.0);
                Some(format!("step {at} came after step {last}; steps must grow"))
            }
            (Ok(()), _) => None,
        };
        if let Some(reason) = reason {
            course.leave_out(1, &reason);
            return Err(reason);
        }
        course.push(step);
        Ok(())
    }

    /// The result of a command that was to go on to the fidelity of this measurement, as its last step; or that step, if it made one
    /// there or beyond. The last step as a result.
    pub(super) fn conclude(&self, result: Measurement) -> Measurement {
        let mut course = self.lock();
        let last = match &course.last {
            Some(last) if last.fidelity >= result.fidelity => last.clone(),
            _ => {
                course.push(result.clone());
                result
            }
        };
        Measurement { fidelity: self.goal.part(&last), ..last }
    }

    /// Notes a line that is too long to be read.
    pub(super) fn note_long_line(&self) {
        let reason = format!("a line was longer than {LONGEST_LINE} bytes");
        self.lock().leave_out(1, &reason);
    }

    /// What the storage may not have yet, and whether there is anything to judge.
    pub(super) fn waiting(&self) -> Waiting {
        let mut course = self.lock();
        let steps = course.waiting.iter().map(|(_, step)| step.clone()).collect();
        let is_new = std::mem::take(&mut course.news);
        let last = course.last.as_ref().and_then(|last| last.fidelity);
        course.sent = course.came;
        Waiting { steps, until: course.came, news: last.filter(|_| is_new) }
    }

    /// What was new could not be judged: it is to be looked at again.
    pub(super) fn unread(&self) {
        let mut course = self.lock();
        course.news = course.last.is_some();
    }

    /// The storage has all steps up to this number, or refused them.
    pub(super) fn settle(&self, until: u64) {
        self.lock().waiting.retain(|(number, _)| *number > until);
    }

    /// The trial is to be stopped after the step at this fidelity: leaves the file that the command may look for. A command that
    /// began anew since, and is not there yet, goes on.
    pub(super) fn stop(&self, after: f64) {
        let course = self.lock();
        let last = course.last.as_ref().and_then(|last| last.fidelity);
        if last.is_none_or(|last| last < after) || self.stopped.swap(true, Ordering::SeqCst) {
            return;
        }
        if let Some(file) = &course.stop_file {
            // A command that does not look, or a folder that is gone: the signal is what counts.
            let _ = std::fs::write(file, "");
        }
    }

    /// Whether the trial is to be stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::SeqCst)
    }

    /// The last step as a result, with the fidelity at which it was measured; `None` if there was no step. A last step
    /// that could not be read is no result, and no earlier one takes its place.
    pub(super) fn result(&self) -> Option<Result<Finding, Missing>> {
        let course = self.lock();
        if let Some(reason) = &course.trouble {
            return Some(Err(format!("its last step could not be read: {reason}")));
        }
        // A command that found its checkpoint where it was to stop has nothing more to say.
        let step = course.last.clone().or_else(|| course.before.clone())?;
        let fidelity = self.goal.part(&step);
        Some(Ok(Outcome::Measured(Measurement { fidelity, ..step }).into()))
    }

    /// The last step that could be read, as the result of a trial that was stopped: whatever the command said after it.
    pub(super) fn stopped_result(&self) -> Option<Finding> {
        let step = self.lock().last.clone()?;
        let fidelity = self.goal.part(&step);
        Some(Outcome::Measured(Measurement { fidelity, ..step }).into())
    }

    /// How many steps were left out, and why the first of them.
    pub(super) fn left_out(&self) -> Option<(u64, String)> {
        self.lock().left_out.take()
    }

    fn lock(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Course {
    /// Takes a step that is in order.
    fn push(&mut self, step: Measurement) {
        self.trouble = None;
        self.last = Some(step.clone());
        self.news = true;
        self.came += 1;
        self.waiting.push((self.came, step));
        // Those on their way will be stored, unless the storage is away: then there are twice as many at most.
        let on_its_way = self.waiting.partition_point(|(number, _)| *number <= self.sent);
        let kept = if self.waiting.len() > 2 * MOST_WAITING { 0 } else { on_its_way };
        if self.waiting.len() - kept > MOST_WAITING {
            self.thin(kept);
        }
    }

    fn leave_out(&mut self, count: u64, reason: &str) {
        self.left_out.get_or_insert_with(|| (0, reason.to_owned())).0 += count;
    }

    /// Leaves out every second step that waits, but the first `kept`, and never the latest.
    fn thin(&mut self, kept: usize) {
        let (all, mut place) = (self.waiting.len(), 0);
        self.waiting.retain(|_| {
            place += 1;
            place <= kept || (all - place) % 2 == 0
        });
        let gone = (all - self.waiting.len()) as u64;
        self.leave_out(gone, "more came than could be stored");
    }
}

/// Splits a stream into lines, and looks for steps in them.
pub(super) struct Lines<'l> {
    steps: &'l LiveSteps,
    line: Vec<u8>,
    is_long: bool,
}

impl<'l> Lines<'l> {
    pub fn new(steps: &'l LiveSteps) -> Self {
        Self { steps, line: Vec::new(), is_long: false }
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        let mut parts = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(part) = parts.next() {
            let room = LONGEST_LINE - self.line.len().min(LONGEST_LINE);
            self.is_long |= part.len() > room;
            self.line.extend_from_slice(&part[..part.len().min(room)]);
            if parts.peek().is_some() {
                self.end();
            }
        }
    }

    /// Ends a line, also one without a line break at the end of the stream.
    pub fn end(&mut self) {
        if !self.is_long {
            self.steps.read(&String::from_utf8_lossy(&self.line));
        } else if self.line.trim_ascii_start().starts_with(b"{") {
            self.steps.note_long_line();
        }
        self.line.clear();
        self.is_long = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wimble::goal::{Bound, Objective};

    fn steps() -> LiveSteps {
        LiveSteps::new(Goal::default().fidelity("epochs", 1.0, 81.0).unwrap())
    }

    fn waiting(steps: &LiveSteps) -> Vec<(f64, f64)> {
        let all = steps.waiting().steps;
        all.iter().map(|step| (step.fidelity.unwrap(), step.value().unwrap())).collect()
    }

    fn feed(steps: &LiveSteps, text: &[u8], chunk: usize) {
        let mut lines = Lines::new(steps);
        text.chunks(chunk).for_each(|bytes| lines.push(bytes));
        lines.end();
    }

    #[test]
    fn steps_are_found_among_other_lines_however_the_stream_is_cut() {
        let text = "epoch 1\n{\"step\": 1, \"value\": 0.5}\n0.7\r\n {\"value\": 3}\n{\"step\":2,\"value\":-0.0}\r\n\
                    \u{1b}[1m {\"step\": 3, \"value\": 9}\n{\"step\": 4, \"value\": 0.25, \"lr\": 3}";
        for chunk in [1, 2, 7, 64, 1_000] {
            let steps = steps();
            feed(&steps, text.as_bytes(), chunk);
            assert_eq!(waiting(&steps), [(1.0, 0.5), (2.0, 0.0), (4.0, 0.25)], "{chunk}");
            assert_eq!(steps.left_out(), None);
        }
    }

    #[test]
    fn what_is_no_step_in_order_and_in_range_is_left_out_with_a_note() {
        for (line, words) in [
            ("{\"step\": 3, \"value\": NaN}", "not JSON"),
            ("{\"step\": 3, \"value\": 1e999}", "not JSON"),
            ("{\"step\": 3, \"value\": \"low\"}", "`value` is \"low\""),
            ("{\"step\": 3}", "has no `value`"),
            ("{\"step\": \"three\", \"value\": 1}", "`step` is \"three\""),
            ("{\"step\": 2, \"value\": 7}", "step 2 came after step 2; steps must grow"),
            ("{\"step\": 1, \"value\": 7}", "step 1 came after step 2"),
            ("{\"step\": 0, \"value\": 7}", "its epochs is 0, but must be from 1 to 81"),
            ("{\"step\": 82, \"value\": 7}", "its epochs is 82, but must be from 1 to 81"),
            ("{\"step\": 3, \"infeasible\": true}", "a step needs a value"),
        ] {
            let steps = steps();
            steps.read("{\"step\": 2, \"value\": 1}");
            steps.read(line);
            let (count, reason) = steps.left_out().unwrap();
            assert!(count == 1 && reason.contains(words), "{line}: {reason}");
            assert_eq!(waiting(&steps), [(2.0, 1.0)]);
        }
    }

    #[test]
    fn a_last_step_that_cannot_be_read_is_no_result_and_no_earlier_one_takes_its_place() {
        let steps = steps();
        assert_eq!(steps.result(), None);
        steps.read("{\"step\": 9, \"value\": 1}");
        let at = |fidelity| Outcome::Measured(Measurement { fidelity, ..1.0.into() });
        assert_eq!(steps.result(), Some(Ok(at(Some(9.0)).into())));
        steps.read("{\"step\": 10, \"value\": NaN}");
        assert!(steps.result().unwrap().unwrap_err().contains("its last step could not be read"));
        // A step out of order changes nothing; a later one that can be read does.
        steps.read("{\"step\": 3, \"value\": 1}");
        assert!(steps.result().unwrap().is_err());
        steps.read("{\"step\": 81, \"value\": 1}");
        assert_eq!(steps.result(), Some(Ok(at(None).into())), "the highest fidelity is all of it");
        // Run again, it begins anew.
        steps.begin(Path::new("no/such/folder/stop"));
        assert_eq!(steps.result(), None);
        steps.read("{\"step\": 1, \"value\": 1}");
        assert_eq!(waiting(&steps).last(), Some(&(1.0, 1.0)));
    }

    #[test]
    fn long_lines_and_many_steps_cost_a_bounded_amount_of_memory() {
        let goal = Goal::default().fidelity("steps", 1.0, 1e6).unwrap();
        let steps = LiveSteps::new(goal);
        let mut lines = Lines::new(&steps);
        lines.push(b"{\"step\": 1, \"value\": 1, \"x\": \"");
        for _ in 0..1_000 {
            lines.push(&[b'x'; 1 << 10]);
        }
        assert!(lines.line.capacity() <= 4 * LONGEST_LINE, "{}", lines.line.capacity());
        lines.push(b"\"}\n");
        assert_eq!(steps.left_out().unwrap(), (1, "a line was longer than 65536 bytes".to_owned()));
        for step in 1..=100_000 {
            lines.push(format!("{{\"step\": {step}, \"value\": {step}}}\n").as_bytes());
            assert!(steps.lock().waiting.len() <= MOST_WAITING);
        }
        let all = waiting(&steps);
        assert_eq!(all.last(), Some(&(1e5, 1e5)), "the latest is never left out");
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let (count, reason) = steps.left_out().unwrap();
        assert_eq!(count as usize + all.len(), 100_000);
        assert_eq!(reason, "more came than could be stored");
    }

    #[test]
    fn what_comes_while_a_call_is_on_its_way_waits_for_the_next() {
        let steps = steps();
        assert_eq!(steps.waiting().news, None);
        steps.read("{\"step\": 1, \"value\": 1}");
        let sent = steps.waiting();
        assert_eq!((sent.news, steps.waiting().news), (Some(1.0), None));
        steps.unread();
        assert_eq!(steps.waiting().news, Some(1.0), "what could not be judged is looked at again");
        steps.read("{\"step\": 2, \"value\": 1}");
        // The answer was lost: all are sent again.
        assert_eq!(waiting(&steps).len(), 2);
        steps.settle(sent.until);
        assert_eq!(waiting(&steps), [(2.0, 1.0)]);
        steps.settle(2);
        assert!(waiting(&steps).is_empty());
    }

    #[test]
    fn objectives_and_constraints_have_names() {
        let goal = Goal::new([Objective::minimise("error"), Objective::maximise("speed")])
            .and_then(|goal| goal.limit("memory", Bound::AtMost(8.0)))
            .and_then(|goal| goal.fidelity("epochs", 1.0, 9.0))
            .unwrap();
        let steps = LiveSteps::new(goal);
        steps.read("{\"step\": 1, \"value\": 1}");
        assert!(steps.left_out().unwrap().1.contains("give them by name"));
        steps.read(
            "{\"step\": 1.5, \"objectives\": {\"speed\": 2, \"error\": 1}, \"constraints\": {\"memory\": 3}}",
        );
        let [step] = &steps.waiting().steps[..] else { panic!("one step") };
        assert_eq!((step.fidelity, step.objectives[1]), (Some(1.5), 2.0.into()));
    }

    #[test]
    fn a_command_that_looks_finds_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("stop");
        std::fs::write(&file, "of an earlier run").unwrap();
        let steps = steps();
        steps.begin(&file);
        assert!(!file.exists() && !steps.is_stopped());
        steps.read("{\"step\": 3, \"value\": 1}");
        steps.stop(9.0);
        assert!(!file.exists() && !steps.is_stopped(), "that was another run of the command");
        steps.stop(3.0);
        assert!(file.exists() && steps.is_stopped());
        steps.begin(&file);
        steps.stop(3.0);
        assert!(!file.exists() && !steps.is_stopped(), "it began anew");
    }

    #[test]
    fn a_report_made_again_changes_nothing_and_what_follows_a_stop_is_no_result() {
        let steps = steps();
        for _ in 0..2 {
            assert_eq!(steps.take("{\"step\": 9, \"value\": 1}"), Ok(()));
        }
        assert_eq!((waiting(&steps).len(), steps.left_out()), (1, None));
        assert!(steps.take("{\"step\": 9, \"value\": 2}").is_err());
        steps.read("{\"step\": 10, \"va");
        assert!(steps.result().unwrap().is_err());
        let at = Outcome::Measured(Measurement { fidelity: Some(9.0), ..1.0.into() });
        assert_eq!(steps.stopped_result(), Some(at.into()));
    }
}
