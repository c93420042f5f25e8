//! A drawing as SVG.

use std::fmt::Write as _;

use super::drawing::{Anchor, DOT, Drawing, Font, Ink, Mark, WIDTH};

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

/// The whole picture, with its own style.
pub fn svg(drawing: &Drawing) -> String {
    let height = drawing.height;
    let marks: String = drawing.marks.iter().map(mark).collect();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
         role=\"img\">\n<style>{}</style>\n<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n{marks}</svg>\n",
        style()
    )
}

fn mark(mark: &Mark) -> String {
    match mark {
        Mark::Dot { at: (x, y), ink, note } => format!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT}\" {}><title>{}</title></circle>\n",
            look(*ink),
            escaped(note)
        ),
        Mark::Line { points, ink } => {
            let points: Vec<String> =
                points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            format!("<polyline points=\"{}\" {}/>\n", points.join(" "), look(*ink))
        }
        Mark::Box { corner: (x, y), width, height, ink, opacity } => format!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" {} fill-opacity=\"{opacity:.2}\"/>\n",
            look(*ink)
        ),
        Mark::Words { at: (x, y), anchor, font, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let class = match font {
                Font::Title => "title",
                Font::Name => "name",
                Font::Tick => "tick",
            };
            format!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" class=\"{class}\">{}</text>\n",
                escaped(text)
            )
        }
    }
}

/// The class of an ink, or all that it is.
fn look(ink: Ink) -> String {
    match class(ink) {
        Some(class) => format!("class=\"{class}\""),
        None => {
            let paint = ink.paint();
            format!(
                "fill=\"none\" stroke=\"rgb({},{},{})\" stroke-width=\"{}\" stroke-opacity=\"{:.2}\"",
                paint.red, paint.green, paint.blue, paint.width, paint.opacity
            )
        }
    }
}

fn class(ink: Ink) -> Option<&'static str> {
    Some(match ink {
        Ink::Trial => "trial",
        Ink::Good => "good",
        Ink::Best => "best",
        Ink::Cell => "cell",
        Ink::Bar => "bar",
        Ink::Range => "range",
        Ink::Grid => "grid",
        Ink::Shade(_) => return None,
    })
}

fn style() -> String {
    let mut style = "text{font-family:system-ui,sans-serif;font-size:11px;fill:#444}\
        .title{font-size:14px;font-weight:600;fill:#111}.name{font-style:italic}"
        .to_owned();
    for ink in Ink::PLAIN {
        let paint = ink.paint();
        let colour = format!("#{:02x}{:02x}{:02x}", paint.red, paint.green, paint.blue);
        let class = class(ink).unwrap_or_default();
        // Writing to a text does not fail.
        let _ = match ink {
            Ink::Best | Ink::Range | Ink::Grid => {
                write!(style, ".{class}{{fill:none;stroke:{colour};stroke-width:{}}}", paint.width)
            }
            _ => write!(style, ".{class}{{fill:{colour};fill-opacity:{}}}", paint.opacity),
        };
    }
    style
}

#[cfg(test)]
mod tests {
    use wimble_study::view::figures::Range;

    use super::*;

    #[test]
    fn what_users_wrote_stays_text() {
        let unit = Range { low: 0.0, high: 1.0 };
        let mut drawing = Drawing::new("<script>alert(1)</script>", unit, unit);
        drawing.dot(0.5, 0.5, Ink::Trial, "a & \"b\" <c>".to_owned());
        drawing.dot(7.0, 0.5, Ink::Trial, "outside".to_owned());
        let text = svg(&drawing);
        assert!(text.contains("&lt;script&gt;") && !text.contains("<script>"), "{text}");
        assert!(text.contains("a &amp; &quot;b&quot; &lt;c&gt;") && !text.contains("outside"));
    }
}
