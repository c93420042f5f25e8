//! A picture in SVG: a frame with axes, and marks in the coordinates of the data.

use wimble_study::view::figures::Range;

use crate::progress::short;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 52.0;
/// About so many numbers along an axis.
const TICKS: f64 = 6.0;

/// A picture that is being drawn.
pub struct Picture {
    x: Range,
    y: Range,
    body: String,
    height: f64,
}

/// Text as XML has it.
pub fn escaped(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

impl Picture {
    /// An empty picture of these ranges under a title.
    pub fn new(title: &str, x: Range, y: Range) -> Self {
        Self::tall(title, x, y, HEIGHT)
    }

    /// The same, of another height.
    pub fn tall(title: &str, x: Range, y: Range, height: f64) -> Self {
        let mut picture = Self { x, y, body: String::new(), height };
        picture.write(LEFT, 22.0, "start", "title", title);
        picture
    }

    fn across(&self, x: f64) -> f64 {
        LEFT + (x - self.x.low) / (self.x.high - self.x.low) * (WIDTH - LEFT - RIGHT)
    }

    fn down(&self, y: f64) -> f64 {
        let share = (y - self.y.low) / (self.y.high - self.y.low);
        self.height - BOTTOM - share * (self.height - TOP - BOTTOM)
    }

    /// Numbers and lines along both axes.
    pub fn axes(&mut self, x_name: &str, y_name: &str) {
        for tick in ticks(self.x) {
            let at = self.across(tick);
            self.grid_line(at, TOP, at, self.height - BOTTOM);
            self.write(at, self.height - BOTTOM + 16.0, "middle", "tick", &short(tick));
        }
        self.y_axis(y_name);
        self.x_name(x_name);
    }

    /// Numbers and lines along the upright axis.
    pub fn y_axis(&mut self, name: &str) {
        for tick in ticks(self.y) {
            let at = self.down(tick);
            self.grid_line(LEFT, at, WIDTH - RIGHT, at);
            self.write(LEFT - 6.0, at + 4.0, "end", "tick", &short(tick));
        }
        self.write(LEFT - 6.0, TOP - 6.0, "end", "name", name);
    }

    /// The name of what lies from left to right.
    pub fn x_name(&mut self, name: &str) {
        self.write(WIDTH - RIGHT, self.height - 14.0, "end", "name", name);
    }

    /// Words at places from left to right.
    pub fn x_words<'w>(&mut self, words: impl IntoIterator<Item = (f64, &'w str)>) {
        for (at, word) in words {
            self.write(self.across(at), self.height - BOTTOM + 16.0, "middle", "tick", word);
        }
    }

    /// A word left of the frame.
    pub fn y_word(&mut self, at: f64, word: &str) {
        self.write(LEFT - 6.0, self.down(at) + 4.0, "end", "tick", word);
    }

    /// A word in the picture.
    pub fn word(&mut self, x: f64, y: f64, word: &str) {
        let (at, down) = (self.across(x), self.down(y) + 4.0);
        // At the right edge there is no room on the right.
        match at > WIDTH - RIGHT - 40.0 {
            true => self.write(at - 6.0, down, "end", "tick", word),
            false => self.write(at + 6.0, down, "start", "tick", word),
        }
    }

    /// A dot with a note that shows when it is pointed at; nothing where it is outside.
    pub fn dot(&mut self, x: f64, y: f64, class: &str, note: &str) {
        if self.is_inside(x, y) {
            self.body.push_str(&format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" class=\"{class}\"><title>{}</title></circle>\n",
                self.across(x),
                self.down(y),
                escaped(note)
            ));
        }
    }

    /// A line through points.
    pub fn line(&mut self, points: impl IntoIterator<Item = (f64, f64)>, class: &str) {
        let points: Vec<String> = points
            .into_iter()
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .map(|(x, y)| format!("{:.1},{:.1}", self.across(x), self.down(y)))
            .collect();
        if points.len() > 1 {
            let points = points.join(" ");
            self.body.push_str(&format!("<polyline points=\"{points}\" class=\"{class}\"/>\n"));
        }
    }

    /// A line in a colour from bad (0) to good (1).
    pub fn shaded_line(&mut self, points: &[(f64, f64)], good: f64) {
        let points: Vec<String> = points
            .iter()
            .map(|&(x, y)| format!("{:.1},{:.1}", self.across(x), self.down(y)))
            .collect();
        // From light grey to blue.
        let mix = |from: f64, to: f64| (from + (to - from) * good.clamp(0.0, 1.0)) as u8;
        let (red, green, blue) = (mix(205.0, 20.0), mix(205.0, 90.0), mix(205.0, 190.0));
        self.body.push_str(&format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"rgb({red},{green},{blue})\" stroke-width=\"1\" \
             stroke-opacity=\"{:.2}\"/>\n",
            points.join(" "),
            0.25 + 0.6 * good.clamp(0.0, 1.0)
        ));
    }

    /// A filled box between two corners.
    pub fn bar(&mut self, from: (f64, f64), to: (f64, f64), class: &str, opacity: f64) {
        let (left, right) = (self.across(from.0), self.across(to.0));
        let (top, bottom) = (self.down(to.1), self.down(from.1));
        self.body.push_str(&format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" class=\"{class}\" fill-opacity=\"{opacity:.2}\"/>\n",
            left.min(right),
            top.min(bottom),
            (right - left).abs(),
            (bottom - top).abs()
        ));
    }

    /// The whole picture, with its own style.
    pub fn finish(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {0}\" width=\"{WIDTH}\" height=\"{0}\" \
             role=\"img\">\n<style>{STYLE}</style>\n<rect width=\"{WIDTH}\" height=\"{0}\" fill=\"white\"/>\n{1}</svg>\n",
            self.height, self.body
        )
    }

    fn is_inside(&self, x: f64, y: f64) -> bool {
        (self.x.low..=self.x.high).contains(&x) && (self.y.low..=self.y.high).contains(&y)
    }

    fn grid_line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64) {
        self.body.push_str(&format!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"grid\"/>\n"
        ));
    }

    fn write(&mut self, x: f64, y: f64, anchor: &str, class: &str, text: &str) {
        let most = if class == "tick" { 24 } else { 100 };
        let text: String = match text.chars().count() > most {
            true => text.chars().take(most - 1).chain(['…']).collect(),
            false => text.to_owned(),
        };
        self.body.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>\n",
            escaped(&text)
        ));
    }
}

const STYLE: &str = "text{font-family:system-ui,sans-serif;font-size:11px;fill:#444}\
.title{font-size:14px;font-weight:600;fill:#111}.name{font-style:italic}.grid{stroke:#e6e6e6}\
.trial{fill:#9aa4b2;fill-opacity:.7}.good{fill:#145abe}.bad{fill:#c2452d}\
.best{fill:none;stroke:#145abe;stroke-width:2}.cell{fill:#145abe}.bar{fill:#145abe}.range{fill:none;stroke:#111;stroke-width:1.5}";

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

    #[test]
    fn what_users_wrote_stays_text() {
        let mut picture = Picture::new(
            "<script>alert(1)</script>",
            Range { low: 0.0, high: 1.0 },
            Range { low: 0.0, high: 1.0 },
        );
        picture.dot(0.5, 0.5, "trial", "a & \"b\" <c>");
        picture.dot(7.0, 0.5, "trial", "outside");
        let text = picture.finish();
        assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"), "{text}");
        assert!(text.contains("a &amp; &quot;b&quot; &lt;c&gt;") && !text.contains("outside"));
    }
}
