//! Pixels: discs, lines, boxes and letters with smooth edges on white paper.
//!
//! How much of a pixel a shape covers is read off the distance of the pixel's centre to the shape's edge, which is exact
//! for upright edges and within a few percent for others. Letters come as pixels from the font (Noto Sans Mono).

use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

use super::drawing::{Anchor, Place};

/// A picture of pixels, three bytes each, row by row from the top.
pub struct Raster {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<u8>,
}

/// What a shape is filled with.
#[derive(Clone, Copy)]
pub struct Fill {
    pub colour: [u8; 3],
    pub opacity: f64,
}

/// A size and a weight of the letters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    Small,
    Large,
}

impl Letters {
    fn face(self) -> (FontWeight, RasterHeight) {
        match self {
            Self::Small => (FontWeight::Regular, RasterHeight::Size24),
            Self::Large => (FontWeight::Bold, RasterHeight::Size32),
        }
    }

    /// Rows of a letter above the base line.
    fn ascent(self) -> i64 {
        match self {
            Self::Small => 19,
            Self::Large => 25,
        }
    }
}

impl Raster {
    pub fn white(width: usize, height: usize) -> Self {
        Self { width, height, pixels: vec![255; 3 * width * height] }
    }

    pub fn disc(&mut self, (x, y): Place, radius: f64, fill: Fill) {
        let reach = radius + 1.0;
        for row in rows_of(y - reach, y + reach, self.height) {
            for column in rows_of(x - reach, x + reach, self.width) {
                let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
                self.mix(column, row, fill, radius + 0.5 - dx.hypot(dy));
            }
        }
    }

    /// A box. Edges between pixels cover them in part.
    pub fn rectangle(&mut self, (x, y): Place, width: f64, height: f64, fill: Fill) {
        // The part of the pixel [at, at + 1] that lies between two edges.
        let part = |at: usize, low: f64, high: f64| {
            (high.min(at as f64 + 1.0) - low.max(at as f64)).max(0.0)
        };
        for row in rows_of(y, y + height, self.height) {
            for column in rows_of(x, x + width, self.width) {
                let cover = part(row, y, y + height) * part(column, x, x + width);
                self.mix(column, row, fill, cover);
            }
        }
    }

    /// A line through points with round ends. Where it crosses itself, it covers no more than once.
    pub fn line(&mut self, points: &[Place], width: f64, fill: Fill) {
        let mut cover = vec![0.0_f32; self.width * self.height];
        let mut touched = Vec::new();
        for pair in points.windows(2) {
            self.segment(pair[0], pair[1], 0.5 * width, &mut |at: usize, much: f32| {
                if cover[at] == 0.0 && much > 0.0 {
                    touched.push(at);
                }
                cover[at] = cover[at].max(much);
            });
        }
        for at in touched {
            self.mix(at % self.width, at / self.width, fill, f64::from(cover[at]));
        }
    }

    /// Calls `mark` with the pixels near a segment, and how much of each it covers.
    fn segment(&self, from: Place, to: Place, radius: f64, mark: &mut impl FnMut(usize, f32)) {
        // Along the longer side, so that few pixels of each step are near.
        let is_flat = (to.0 - from.0).abs() >= (to.1 - from.1).abs();
        let turn = |(x, y): Place| if is_flat { (x, y) } else { (y, x) };
        let (a, b) = (turn(from), turn(to));
        let (a, b) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        let (along, aside) =
            if is_flat { (self.width, self.height) } else { (self.height, self.width) };
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let square = dx * dx + dy * dy;
        // The farthest that a pixel beside a line of at most 45° is away from it in its own column.
        let reach = (radius + 1.0) * std::f64::consts::SQRT_2;
        for step in rows_of(a.0 - radius - 1.0, b.0 + radius + 1.0, along) {
            let x = step as f64 + 0.5;
            let share = if dx > 0.0 { ((x - a.0) / dx).clamp(0.0, 1.0) } else { 0.0 };
            let centre = a.1 + share * dy;
            for side in rows_of(centre - reach, centre + reach, aside) {
                let y = side as f64 + 0.5;
                let nearest = match square > 0.0 {
                    true => (((x - a.0) * dx + (y - a.1) * dy) / square).clamp(0.0, 1.0),
                    false => 0.0,
                };
                let distance = (x - a.0 - nearest * dx).hypot(y - a.1 - nearest * dy);
                let much = (radius + 0.5 - distance).clamp(0.0, 1.0).min(2.0 * radius);
                let (column, row) = if is_flat { (step, side) } else { (side, step) };
                mark(row * self.width + column, much as f32);
            }
        }
    }

    /// Words at a base line. A letter that the font lacks is drawn as `�`, and `…` as a dot.
    pub fn words(
        &mut self,
        (x, y): Place,
        anchor: Anchor,
        letters: Letters,
        colour: [u8; 3],
        text: &str,
    ) {
        let (weight, height) = letters.face();
        let advance = get_raster_width(weight, height) as i64;
        let width = advance * text.chars().count() as i64;
        let start = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - 0.5 * width as f64,
            Anchor::End => x - width as f64,
        };
        let (start, top) = (start.round() as i64, y.round() as i64 - letters.ascent());
        for (k, letter) in text.chars().enumerate() {
            let (weight, height) = letters.face();
            let letter = if letter == '…' { '.' } else { letter };
            let found = get_raster(letter, weight, height).or_else(|| {
                let (weight, height) = letters.face();
                get_raster('\u{fffd}', weight, height)
            });
            let Some(found) = found else { continue };
            for (row, line) in found.rows().enumerate() {
                for (column, &shade) in line.iter().enumerate() {
                    let column = start + k as i64 * advance + column as i64;
                    let row = top + row as i64;
                    if let (Ok(column), Ok(row)) = (usize::try_from(column), usize::try_from(row)) {
                        let fill = Fill { colour, opacity: 1.0 };
                        self.mix(column, row, fill, f64::from(shade) / 255.0);
                    }
                }
            }
        }
    }

    /// Puts a colour over a pixel, of which a share is covered; nothing outside of the paper.
    fn mix(&mut self, column: usize, row: usize, fill: Fill, cover: f64) {
        if column >= self.width || row >= self.height {
            return;
        }
        let share = fill.opacity.clamp(0.0, 1.0) * cover.clamp(0.0, 1.0);
        let at = 3 * (row * self.width + column);
        for (below, above) in self.pixels[at..at + 3].iter_mut().zip(fill.colour) {
            let mixed = f64::from(*below) + (f64::from(above) - f64::from(*below)) * share;
            *below = mixed.round() as u8;
        }
    }
}

/// The pixels from one edge to another, of so many.
fn rows_of(low: f64, high: f64, count: usize) -> std::ops::Range<usize> {
    // A number that is not finite, or far outside, becomes the nearest end.
    (low.floor().max(0.0) as usize)..(high.ceil().max(0.0) as usize).min(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    const INK: Fill = Fill { colour: [0, 0, 0], opacity: 1.0 };

    /// The ink on the paper, in pixels.
    fn ink(raster: &Raster) -> f64 {
        raster.pixels.chunks(3).map(|pixel| 1.0 - f64::from(pixel[0]) / 255.0).sum()
    }

    #[test]
    fn shapes_cover_their_areas() {
        let mut raster = Raster::white(100, 80);
        raster.disc((40.3, 39.6), 20.0, INK);
        let area = std::f64::consts::PI * 400.0;
        assert!((ink(&raster) - area).abs() < 0.005 * area, "{} and {area}", ink(&raster));

        let mut raster = Raster::white(100, 80);
        raster.rectangle((10.25, 20.5), 30.5, 7.75, INK);
        assert!((ink(&raster) - 30.5 * 7.75).abs() < 0.5, "{}", ink(&raster));

        // Every direction, with half a disc at each end.
        for degrees in (0..360).step_by(7) {
            let angle = f64::from(degrees).to_radians();
            let mut raster = Raster::white(100, 100);
            let end = (50.0 + 40.0 * angle.cos(), 50.0 + 40.0 * angle.sin());
            raster.line(&[(50.0, 50.0), end], 4.0, INK);
            let area = 4.0 * 40.0 + std::f64::consts::PI * 4.0;
            assert!((ink(&raster) - area).abs() < 0.03 * area, "{degrees}: {}", ink(&raster));
        }
    }

    #[test]
    fn a_line_covers_a_crossing_once() {
        let half = Fill { colour: [0, 0, 0], opacity: 0.5 };
        let mut raster = Raster::white(60, 60);
        raster.line(&[(10.0, 30.5), (50.0, 30.5), (30.5, 10.0), (30.5, 50.0)], 3.0, half);
        let darkest = raster.pixels.iter().min().unwrap();
        assert_eq!(*darkest, 128);
    }

    #[test]
    fn marks_outside_of_the_paper_are_left_out() {
        let mut raster = Raster::white(20, 10);
        raster.disc((-50.0, 5.0), 3.0, INK);
        raster.line(&[(-100.0, -5.0), (300.0, -7.0)], 2.0, INK);
        raster.line(&[(f64::NAN, 1.0), (5.0, f64::INFINITY)], 2.0, INK);
        raster.rectangle((30.0, 30.0), 5.0, 5.0, INK);
        raster.words((-400.0, 5.0), Anchor::Start, Letters::Small, [0; 3], "outside");
        assert_eq!(ink(&raster), 0.0);
    }

    #[test]
    fn words_stand_on_their_base_line_and_at_their_anchor() {
        for (anchor, from, to) in
            [(Anchor::Start, 100, 133), (Anchor::Middle, 83, 117), (Anchor::End, 67, 100)]
        {
            let mut raster = Raster::white(200, 60);
            raster.words((100.0, 40.0), anchor, Letters::Small, [0; 3], "Hxγ");
            let dark: Vec<(usize, usize)> = (0..200 * 60)
                .filter(|at| raster.pixels[3 * at] < 128)
                .map(|at| (at % 200, at / 200))
                .collect();
            assert!(dark.iter().all(|(column, _)| (from..to).contains(column)), "{dark:?}");
            // H and x end at the base line; an unknown letter leaves ink too.
            let lowest = dark.iter().filter(|(column, _)| *column < from + 22).map(|(_, row)| row);
            assert_eq!(lowest.max(), Some(&39));
            assert!(dark.iter().any(|(column, _)| *column >= from + 22));
        }
    }
}
