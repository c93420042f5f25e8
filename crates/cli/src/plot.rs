//! A small plot in text: points of two quantities.

use crate::progress::short;

/// The size of the area for points, in characters.
const WIDTH: usize = 56;
const HEIGHT: usize = 12;

/// Points of two finite quantities, the first to the right and the second upwards. There must be at least one point.
pub fn scatter(points: &[Vec<f64>], names: [&str; 2]) -> String {
    let range = |k: usize| {
        let values = points.iter().map(|point| point[k]);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)))
    };
    let [across, up] = [range(0), range(1)];
    let place = |(low, high): (f64, f64), value: f64, steps: usize| {
        // Halves, so that the difference of two huge values stays finite.
        let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        if share.is_finite() { (share * (steps - 1) as f64).round() as usize } else { 0 }
    };
    let mut area = vec![vec![' '; WIDTH]; HEIGHT];
    for point in points {
        let row = HEIGHT - 1 - place(up, point[1], HEIGHT);
        area[row][place(across, point[0], WIDTH)] = 'o';
    }
    let [low, high] = [short(up.0), short(up.1)];
    let margin = low.len().max(high.len());
    let mut text = format!("{:margin$} {}\n", "", names[1]);
    for (number, row) in area.iter().enumerate() {
        let label = match number {
            0 => high.as_str(),
            _ if number == HEIGHT - 1 && up.0 < up.1 => low.as_str(),
            _ => "",
        };
        let row: String = row.iter().collect();
        text.push_str(format!("{label:>margin$} |{row}").trim_end());
        text.push('\n');
    }
    text.push_str(&format!("{:margin$} +{}\n", "", "-".repeat(WIDTH)));
    let (left, right) = (short(across.0), short(across.1));
    let right = if across.0 < across.1 { right } else { String::new() };
    let gap = WIDTH.saturating_sub(left.len() + right.len());
    text.push_str(&format!("{:margin$}  {left}{}{right} {}\n", "", " ".repeat(gap), names[0]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_the_front_are_in_the_corners() {
        let text = scatter(&[vec![1.0, 20.0], vec![2.0, 12.5], vec![3.0, 10.0]], ["a", "b"]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0]), (HEIGHT + 3, "   b"));
        assert_eq!(lines[1], "20 |o");
        assert_eq!(lines[HEIGHT], format!("10 |{}o", " ".repeat(WIDTH - 1)));
        assert_eq!(lines[HEIGHT + 2], format!("    1{}3 a", " ".repeat(WIDTH - 2)));
        assert_eq!(text.matches('o').count(), 3);
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn one_value_and_huge_values_have_a_place() {
        assert_eq!(scatter(&[vec![1.0, 2.0], vec![1.0, 2.0]], ["a", "b"]).matches('o').count(), 1);
        let huge = vec![vec![-f64::MAX, 0.0], vec![f64::MAX, 1.0]];
        assert_eq!(scatter(&huge, ["a", "b"]).matches('o').count(), 2);
    }
}
