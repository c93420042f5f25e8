//! A drawing as PNG (RFC 2083): three bytes a pixel, twice as many pixels each way as lengths of the drawing.

use std::io::Write as _;

use anyhow::Result;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

use super::drawing::{DOT, Drawing, Font, Ink, Mark, Place, WIDTH};
use super::raster::{Fill, Letters, Raster};

/// Pixels a length.
const SCALE: f64 = 2.0;

/// The bytes of the file.
pub fn png(drawing: &Drawing) -> Result<Vec<u8>> {
    encoded(&drawn(drawing))
}

fn drawn(drawing: &Drawing) -> Raster {
    let pixels = |length: f64| (SCALE * length).round() as usize;
    let mut raster = Raster::white(pixels(WIDTH), pixels(drawing.height));
    let scaled = |(x, y): Place| (SCALE * x, SCALE * y);
    for mark in &drawing.marks {
        match mark {
            Mark::Dot { at, ink, .. } => raster.disc(scaled(*at), SCALE * DOT, fill(*ink)),
            Mark::Line { points, ink } => {
                let points: Vec<Place> = points.iter().map(|point| scaled(*point)).collect();
                raster.line(&points, SCALE * ink.paint().width, fill(*ink));
            }
            Mark::Box { corner, width, height, ink, opacity } => {
                let fill = Fill { opacity: *opacity, ..fill(*ink) };
                raster.rectangle(scaled(*corner), SCALE * width, SCALE * height, fill);
            }
            Mark::Words { at, anchor, font, text } => {
                let (letters, colour) = match font {
                    Font::Title => (Letters::Large, [0x11; 3]),
                    Font::Name | Font::Tick => (Letters::Small, [0x44; 3]),
                };
                raster.words(scaled(*at), *anchor, letters, colour, text);
            }
        }
    }
    raster
}

fn fill(ink: Ink) -> Fill {
    let paint = ink.paint();
    Fill { colour: [paint.red, paint.green, paint.blue], opacity: paint.opacity }
}

fn encoded(raster: &Raster) -> Result<Vec<u8>> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::new();
    for length in [raster.width, raster.height] {
        header.extend(u32::try_from(length)?.to_be_bytes());
    }
    // Eight bits a sample, red green blue, and the only methods there are; not interlaced.
    header.extend([8, 2, 0, 0, 0]);
    chunk(&mut file, *b"IHDR", &header)?;
    let mut body = ZlibEncoder::new(Vec::new(), Compression::default());
    for row in raster.pixels.chunks(3 * raster.width) {
        // Each row says how it is filtered: not at all.
        body.write_all(&[0])?;
        body.write_all(row)?;
    }
    chunk(&mut file, *b"IDAT", &body.finish()?)?;
    chunk(&mut file, *b"IEND", &[])?;
    Ok(file)
}

/// Its length, its kind, the bytes, and a check sum of kind and bytes.
fn chunk(file: &mut Vec<u8>, kind: [u8; 4], bytes: &[u8]) -> Result<()> {
    file.extend(u32::try_from(bytes.len())?.to_be_bytes());
    let mut sum = Crc::new();
    for part in [&kind[..], bytes] {
        sum.update(part);
        file.extend(part);
    }
    file.extend(sum.sum().to_be_bytes());
    Ok(())
}
