//! Times as people write them: `90`, `"90s"`, `"1h 30m"`, `"250ms"`.

use std::time::Duration;

/// Longer ones are not meant: a hundred years.
const LONGEST: f64 = 100.0 * 365.0 * 86_400.0;

/// What is accepted, for messages.
pub const ALLOWED: &str =
    "a positive time such as \"90s\", \"10m\", \"1h 30m\" or \"2d\", or a number of seconds";

/// Reads a time; `None` if it is none, or not positive. Rounded to milliseconds.
pub fn parse(text: &str) -> Option<Duration> {
    let mut seconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits].parse().ok()?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        seconds += number
            * match &rest[..letters] {
                "ms" => 1e-3,
                // A number without a unit stands alone.
                "" if rest.is_empty() && text.trim().len() == digits => 1.0,
                "s" => 1.0,
                "m" | "min" => 60.0,
                "h" => 3_600.0,
                "d" => 86_400.0,
                _ => return None,
            };
        rest = rest[letters..].trim_start();
    }
    from_seconds(seconds)
}

/// A number of seconds as a time; `None` if it is not positive or beyond all sense.
pub fn from_seconds(seconds: f64) -> Option<Duration> {
    let milliseconds = (seconds * 1e3).round();
    (milliseconds >= 1.0 && seconds <= LONGEST).then(|| Duration::from_millis(milliseconds as u64))
}

/// As people write them: the two largest units.
pub fn show(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes, seconds % 60) {
        (0, 0, 0, 0) => format!("{}ms", duration.subsec_millis()),
        (0, 0, 0, s) if s < 10 && duration.subsec_millis() >= 100 => {
            format!("{s}.{}s", duration.subsec_millis() / 100)
        }
        (0, 0, 0, s) => format!("{s}s"),
        (0, 0, m, 0) => format!("{m}m"),
        (0, 0, m, s) => format!("{m}m {s}s"),
        (0, h, 0, _) => format!("{h}h"),
        (0, h, m, _) => format!("{h}h {m}m"),
        (d, 0, ..) => format!("{d}d"),
        (d, h, ..) => format!("{d}d {h}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, milliseconds) in [
            ("90", 90_000),
            ("90s", 90_000),
            ("1h 30m", 5_400_000),
            ("1h30m", 5_400_000),
            ("250ms", 250),
            ("0.5 s", 500),
            ("2d", 172_800_000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "0", "-3s", "3 weeks", "1h 30", "s", "1..5s", "9999999999h", "nan"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_shown_short() {
        let shown = |milliseconds| show(Duration::from_millis(milliseconds));
        assert_eq!(shown(250), "250ms");
        assert_eq!(shown(1_500), "1.5s");
        assert_eq!(shown(90_000), "1m 30s");
        assert_eq!(shown(5_400_000), "1h 30m");
        assert_eq!(shown(600_000), "10m");
        assert_eq!(shown(180_000_000), "2d 2h");
    }
}
