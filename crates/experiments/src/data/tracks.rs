//! Race tracks: the centre lines of three model-car tracks (Jain and Morari 2020; Liniger, Domahidi and Morari 2015).
//!
//! A file has two lines of numbers with commas between them: the x, then the y of points along the line, in metres.

use super::{Folder, Source};
use crate::error::Result;

/// The points of a centre line.
pub fn read(folder: &Folder, source: &Source) -> Result<Vec<[f64; 2]>> {
    let text = folder.read_text(source)?;
    parse(&text).map_err(|reason| folder.wrong(source, reason))
}

fn parse(text: &str) -> Result<Vec<[f64; 2]>, String> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let [x, y] = lines[..] else {
        return Err(format!("{} lines instead of two", lines.len()));
    };
    let numbers = |line: &str| -> Result<Vec<f64>, String> {
        let number = |cell: &str| {
            let value = cell.trim().parse::<f64>().ok().filter(|value| value.is_finite());
            value.ok_or_else(|| format!("`{}` is no finite number", cell.trim()))
        };
        line.split(',').map(number).collect()
    };
    let (x, y) = (numbers(x)?, numbers(y)?);
    if x.len() != y.len() || x.len() < 2 {
        return Err(format!("{} x and {} y instead of as many, at least two", x.len(), y.len()));
    }
    Ok(x.into_iter().zip(y).map(|(x, y)| [x, y]).collect())
}

#[cfg(test)]
mod tests {
    use super::super::sources::{ETH, ETH_MOBIL, UC_BERKELEY};
    use super::*;
    use crate::data::tests::real_data;

    #[test]
    fn two_lines_of_numbers_are_read_and_everything_else_refused() {
        assert_eq!(parse("0,1.5e0, 2\n3,4,5\n").unwrap(), [[0.0, 3.0], [1.5, 4.0], [2.0, 5.0]]);
        assert!(parse("0,1\n").unwrap_err().contains("1 lines instead of two"));
        assert!(parse("0,1\n2\n").unwrap_err().contains("2 x and 1 y"));
        assert!(parse("0,a\n2,3\n").unwrap_err().contains("`a` is no finite number"));
        assert!(parse("0,NaN\n2,3\n").unwrap_err().contains("no finite number"));
    }

    #[test]
    fn the_real_tracks_have_their_points() {
        let Some(folder) = real_data() else { return };
        for (source, count) in [(UC_BERKELEY, 192), (ETH, 666), (ETH_MOBIL, 377)] {
            assert_eq!(read(&folder, &source).unwrap().len(), count);
        }
    }
}
