//! A picture as marks on paper: a frame with axes, and what is drawn in it in the coordinates of the data.
//!
//! [`svg`](super::svg) and [`png`](super::png) put the same marks into a file.

use wimble_study::view::figures::Range;

use crate::progress::short;

/// The width of every picture. Lengths are those of SVG, about a pixel of a small screen.
pub const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;
/// About so many numbers along an axis.
const TICKS: f64 = 6.0;
/// The width of a small letter, with room to spare.
const LETTER: f64 = 6.0;
/// The most letters of a small word.
const WORD: usize = 24;
/// The most letters of a title or of the name of an axis.
const SENTENCE: usize = 88;

/// A place on the paper: from the left, from the top.
pub type Place = (f64, f64);

/// A picture that is being drawn.
pub struct Drawing {
    x: Range,
    y: Range,
    left: f64,
    /// How tall it is; every picture is [`WIDTH`] wide.
    pub height: f64,
    /// What is drawn, the lowest first.
    pub marks: Vec<Mark>,
}

/// One thing on the paper.
pub enum Mark {
    /// A disc of [`DOT`], with a note for those who point at it.
    Dot { at: Place, ink: Ink, note: String },
    /// A line through points.
    Line { points: Vec<Place>, ink: Ink },
    /// A filled box; its opacity takes the place of that of the ink.
    Box { corner: Place, width: f64, height: f64, ink: Ink, opacity: f64 },
    /// Words, whose base line is at the place.
    Words { at: Place, anchor: Anchor, font: Font, text: String },
}

/// The radius of a dot.
pub const DOT: f64 = 3.0;

/// Which part of some words is at their place.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// What words are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Font {
    Title,
    /// The name of an axis.
    Name,
    /// A number or a word along an axis.
    Tick,
}

/// What a mark means, which decides its colour.
#[derive(Clone, Copy, PartialEq)]
pub enum Ink {
    Trial,
    Good,
    Best,
    Cell,
    Bar,
    Range,
    Grid,
    /// From bad (0) to good (1).
    Shade(f64),
}

/// How an ink looks. The width is that of lines.
pub struct Paint {
    pub red: u8,
    pub green: u8,
    pub blue: u8,
    pub opacity: f64,
    pub width: f64,
}

impl Ink {
    /// The inks that do not depend on a number.
    pub const PLAIN: [Self; 7] =
        [Self::Trial, Self::Good, Self::Best, Self::Cell, Self::Bar, Self::Range, Self::Grid];

    pub fn paint(self) -> Paint {
        let of = |[red, green, blue]: [u8; 3], opacity, width| Paint {
            red,
            green,
            blue,
            opacity,
            width,
        };
        let blue = [0x14, 0x5a, 0xbe];
        match self {
            Self::Trial => of([0x9a, 0xa4, 0xb2], 0.7, 1.0),
            Self::Good | Self::Cell | Self::Bar => of(blue, 1.0, 1.0),
            Self::Best => of(blue, 1.0, 2.0),
            Self::Range => of([0x11; 3], 1.0, 1.5),
            Self::Grid => of([0xe6; 3], 1.0, 1.0),
            Self::Shade(good) => {
                // From light grey to blue.
                let good = good.clamp(0.0, 1.0);
                let mix = |to: u8| (205.0 + (f64::from(to) - 205.0) * good) as u8;
                of(blue.map(mix), 0.25 + 0.6 * good, 1.0)
            }
        }
    }
}

impl Drawing {
    /// An empty picture of these ranges under a title.
    pub fn new(title: &str, x: Range, y: Range) -> Self {
        Self::sized(title, x, y, HEIGHT, LEFT)
    }

    /// A row below the other for each word, which stands left of it; rows count from the bottom.
    pub fn rows(title: &str, x: Range, words: &[&str]) -> Self {
        let letters = words.iter().map(|word| word.chars().count().min(WORD)).max().unwrap_or(0);
        let rows = words.len().max(1) as f64;
        let left = LEFT.max(LETTER * letters as f64 + 14.0);
        Self::sized(title, x, Range { low: 0.0, high: rows }, TOP + BOTTOM + 26.0 * rows, left)
    }

    fn sized(title: &str, x: Range, y: Range, height: f64, left: f64) -> Self {
        let mut drawing = Self { x, y, left, height, marks: Vec::new() };
        drawing.write((left.min(LEFT), 22.0), Anchor::Start, Font::Title, title);
        drawing
    }

    fn across(&self, x: f64) -> f64 {
        let share = (x - self.x.low) / (self.x.high - self.x.low);
        self.left + share * (WIDTH - self.left - RIGHT)
    }

    fn down(&self, y: f64) -> f64 {
        let share = (y - self.y.low) / (self.y.high - self.y.low);
        self.height - BOTTOM - share * (self.height - TOP - BOTTOM)
    }

    fn place(&self, (x, y): (f64, f64)) -> Place {
        (self.across(x), self.down(y))
    }

    /// Numbers and lines along both axes.
    pub fn axes(&mut self, x_name: &str, y_name: &str) {
        for tick in ticks(self.x) {
            let at = self.across(tick);
            self.grid_line((at, TOP), (at, self.height - BOTTOM));
            self.write((at, self.height - BOTTOM + 16.0), Anchor::Middle, Font::Tick, &short(tick));
        }
        self.y_axis(y_name);
        self.x_name(x_name);
    }

    /// Numbers and lines along the upright axis.
    pub fn y_axis(&mut self, name: &str) {
        for tick in ticks(self.y) {
            let at = self.down(tick);
            self.grid_line((self.left, at), (WIDTH - RIGHT, at));
            self.write((self.left - 6.0, at + 4.0), Anchor::End, Font::Tick, &short(tick));
        }
        // A long name goes on over the picture.
        match name.chars().count() as f64 * LETTER < self.left - 8.0 {
            true => self.write((self.left - 6.0, TOP - 6.0), Anchor::End, Font::Name, name),
            false => self.write((4.0, TOP - 6.0), Anchor::Start, Font::Name, name),
        }
    }

    /// The name of what lies from left to right.
    pub fn x_name(&mut self, name: &str) {
        self.write((WIDTH - RIGHT, self.height - 14.0), Anchor::End, Font::Name, name);
    }

    /// Words at places from left to right, in this order. They are shortened to the room between them, and stay on the paper.
    pub fn x_words<'w>(&mut self, words: impl IntoIterator<Item = (f64, &'w str)>) {
        let words: Vec<(f64, &str)> =
            words.into_iter().map(|(at, word)| (self.across(at), word)).collect();
        // From left to right, where they stay on the paper.
        let extents = |letters: usize| {
            words.iter().map(move |(at, word)| {
                let half = 0.5 * LETTER * word.chars().count().min(letters) as f64 + 2.0;
                let at = at.clamp(half, WIDTH - half);
                (at - half, at, at + half)
            })
        };
        let are_apart = |letters: &usize| {
            extents(*letters).zip(extents(*letters).skip(1)).all(|(left, right)| left.2 <= right.0)
        };
        let letters = (3..=WORD).rev().find(are_apart).unwrap_or(3);
        let placed: Vec<(f64, String)> = extents(letters)
            .zip(&words)
            .map(|((_, at, _), (_, word))| (at, shortened(word, letters)))
            .collect();
        for (at, word) in placed {
            self.write((at, self.height - BOTTOM + 16.0), Anchor::Middle, Font::Tick, &word);
        }
    }

    /// A word left of the frame.
    pub fn y_word(&mut self, at: f64, word: &str) {
        self.write((self.left - 6.0, self.down(at) + 4.0), Anchor::End, Font::Tick, word);
    }

    /// A word in the picture.
    pub fn word(&mut self, x: f64, y: f64, word: &str) {
        let (at, down) = (self.across(x), self.down(y) + 4.0);
        // At the right edge there is no room on the right.
        let end = at + 6.0 + LETTER * word.chars().count().min(WORD) as f64;
        match end > WIDTH - 2.0 {
            true => self.write((at - 6.0, down), Anchor::End, Font::Tick, word),
            false => self.write((at + 6.0, down), Anchor::Start, Font::Tick, word),
        }
    }

    /// A dot with a note that shows when it is pointed at; nothing where it is outside.
    pub fn dot(&mut self, x: f64, y: f64, ink: Ink, note: String) {
        if (self.x.low..=self.x.high).contains(&x) && (self.y.low..=self.y.high).contains(&y) {
            self.marks.push(Mark::Dot { at: self.place((x, y)), ink, note });
        }
    }

    /// A line through points.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, ink: Ink) {
        let points: Vec<Place> = points
            .into_iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .map(|point| self.place(point))
            .collect();
        if points.len() > 1 {
            self.marks.push(Mark::Line { points, ink });
        }
    }

    /// A filled box between two corners.
    pub fn bar(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink, opacity: f64) {
        let ((x1, y1), (x2, y2)) = (self.place(from), self.place(to));
        self.marks.push(Mark::Box {
            corner: (x1.min(x2), y1.min(y2)),
            width: (x2 - x1).abs(),
            height: (y2 - y1).abs(),
            ink,
            opacity,
        });
    }

    fn grid_line(&mut self, from: Place, to: Place) {
        self.marks.push(Mark::Line { points: vec![from, to], ink: Ink::Grid });
    }

    fn write(&mut self, at: Place, anchor: Anchor, font: Font, text: &str) {
        let most = if font == Font::Tick { WORD } else { SENTENCE };
        let text = shortened(text, most);
        self.marks.push(Mark::Words { at, anchor, font, text });
    }
}

/// A text of at most so many letters.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

/// Round numbers within a range: 1, 2 or 5 times a power of ten apart.
fn ticks(range: Range) -> Vec<f64> {
    let rough = (range.high - range.low) / TICKS;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * power);
    let step = step.into_iter().find(|step| *step >= rough).unwrap_or(10.0 * power);
    let first = (range.low / step).ceil() as i64;
    let last = (range.high / step).floor() as i64;
    // The product of a whole number and a step, rounded to what the step resolves.
    let tidy = |number: f64| (number / power).round() * power;
    (first..=last).map(|k| tidy(k as f64 * step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Range = Range { low: 0.0, high: 1.0 };

    #[test]
    fn ticks_are_round_and_inside() {
        let found = ticks(Range { low: -0.03, high: 1.02 });
        assert_eq!(
            found.iter().map(|tick| short(*tick)).collect::<Vec<_>>(),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(ticks(Range { low: 3.0, high: 47.0 }), [10.0, 20.0, 30.0, 40.0]);
        assert!(ticks(Range { low: 1.0, high: 1.0 }).is_empty());
    }

    /// Where words begin and end, as wide as small letters may be.
    fn extent(mark: &Mark) -> Option<(f64, f64)> {
        let Mark::Words { at, anchor, font: Font::Tick, text } = mark else { return None };
        let width = LETTER * text.chars().count() as f64;
        let start = match anchor {
            Anchor::Start => at.0,
            Anchor::Middle => at.0 - 0.5 * width,
            Anchor::End => at.0 - width,
        };
        Some((start, start + width))
    }

    #[test]
    fn words_stay_on_the_paper_and_apart() {
        let long = "a parameter with a very long name indeed";
        let mut drawing = Drawing::new("lines", Range { low: 0.0, high: 5.0 }, UNIT);
        drawing.x_words((0..6).map(|at| (f64::from(at), long)));
        let extents: Vec<(f64, f64)> = drawing.marks.iter().filter_map(extent).collect();
        assert_eq!(extents.len(), 6);
        assert!(extents.iter().all(|(start, end)| *start >= 0.0 && *end <= WIDTH));
        assert!(extents.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{extents:?}");

        let mut drawing = Drawing::rows("bars", UNIT, &[long, "b"]);
        drawing.y_word(0.5, long);
        drawing.word(1.0, 0.5, "100 %");
        drawing.word(0.0, 0.5, "100 %");
        let extents: Vec<(f64, f64)> = drawing.marks.iter().filter_map(extent).collect();
        assert!(extents.iter().all(|(start, end)| *start >= 0.0 && *end <= WIDTH), "{extents:?}");
    }
}
