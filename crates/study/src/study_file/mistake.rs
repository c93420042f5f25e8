//! What is wrong with a study file, shown at its place.
//!
//! ```text
//! study.toml:7:1: unknown setting `trails`; the nearest is `trials`
//!   7 | trails = 60
//!     | ^^^^^^
//! ```

use std::fmt;
use std::ops::Range;

/// How many mistakes are shown: finding the line of each costs a pass over the text.
const MOST: usize = 50;
/// Longer lines are cut around the place.
const WIDEST: usize = 90;

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    span: Range<usize>,
    message: String,
}

impl Mistake {
    /// At a range of bytes of the text.
    pub(super) fn at(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, message: message.into() }
    }

    /// Where, as a range of bytes of the text.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What is wrong, and the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }
}

/// All that is wrong with a study file. Its text names line and column and shows each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistakes {
    file: String,
    text: String,
    mistakes: Vec<Mistake>,
    /// How many more there are.
    more: usize,
}

impl Mistakes {
    pub(super) fn new(file: &str, text: &str, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.span.start);
        let more = mistakes.len().saturating_sub(MOST);
        mistakes.truncate(MOST);
        Self { file: file.to_owned(), text: text.to_owned(), mistakes, more }
    }

    /// The first of them, each with its line and column, counted from 1; columns count characters.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize, &Mistake)> {
        self.mistakes.iter().map(|mistake| {
            let (line, column) = position(&self.text, mistake.span.start);
            (line, column, mistake)
        })
    }
}

impl std::error::Error for Mistakes {}

impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (line, column, mistake)) in self.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            writeln!(f, "{}:{line}:{column}: {}", self.file, mistake.message)?;
            let Some(written) = self.text.lines().nth(line - 1) else { continue };
            let from = (column - 1).saturating_sub(WIDEST * 2 / 3);
            // A tab is as wide as it pleases; a space keeps the caret in its place.
            let shown: String = written
                .chars()
                .skip(from)
                .take(WIDEST)
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect();
            let length = self
                .text
                .get(mistake.span.clone())
                .map_or(1, |text| text.lines().next().map_or(1, |line| line.chars().count()));
            let room = shown.chars().count().saturating_sub(column - 1 - from).max(1);
            let number = line.to_string();
            writeln!(f, "  {number} | {shown}")?;
            write!(
                f,
                "  {} | {}{}",
                " ".repeat(number.len()),
                " ".repeat(column - 1 - from),
                "^".repeat(length.clamp(1, room))
            )?;
            if i + 1 < self.mistakes.len() {
                writeln!(f)?;
            }
        }
        if self.more > 0 {
            write!(f, "\n\nand {} more", self.more)?;
        }
        Ok(())
    }
}

/// Line and column of a place, counted from 1.
fn position(text: &str, place: usize) -> (usize, usize) {
    let before = text.get(..place).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_shown_at_its_line_and_column() {
        let text = "name = \"é\"\ntrails = 60\n";
        let mistakes = Mistakes::new("s.toml", text, vec![Mistake::at(12..18, "unknown")]);
        assert_eq!(mistakes.to_string(), "s.toml:2:1: unknown\n  2 | trails = 60\n    | ^^^^^^");
        let accent = Mistakes::new("s.toml", text, vec![Mistake::at(10..11, "quote")]);
        assert!(accent.to_string().starts_with("s.toml:1:10: quote"), "{accent}");
    }

    #[test]
    fn long_lines_are_cut_around_the_place_and_the_end_of_the_text_is_a_place() {
        let text = "x".repeat(500);
        let mistakes = Mistakes::new("f", &text, vec![Mistake::at(400..402, "here")]);
        let shown = mistakes.to_string();
        assert!(shown.lines().all(|line| line.len() < 110), "{shown}");
        assert!(shown.ends_with(&format!("{}^^", " ".repeat(60))), "{shown}");
        let end = Mistakes::new("f", "a = 1\n", vec![Mistake::at(6..6, "end")]);
        assert_eq!(end.to_string(), "f:2:1: end\n");
    }

    #[test]
    fn of_many_mistakes_the_first_are_shown() {
        let text: String = (0..20_000).map(|i| format!("unknown{i} = 1\n")).collect();
        let since = std::time::Instant::now();
        let shown = crate::StudyFile::parse("s.toml", &text, crate::study_file::Format::Toml)
            .unwrap_err()
            .to_string();
        assert!(shown.starts_with("s.toml:1:1: ") && shown.ends_with(" more"), "{shown:.200}");
        assert!(since.elapsed() < std::time::Duration::from_secs(10), "{:?}", since.elapsed());
    }
}
