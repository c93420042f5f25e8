//! MNIST: handwritten digits of 28 x 28 pixels with labels 0 to 9, in the IDX format of its authors.
//!
//! ```text
//! images: 0x00000803, count, rows, columns (big-endian u32), then one byte a pixel, image after image
//! labels: 0x00000801, count, then one byte a label
//! ```

use crate::data::Folder;
use crate::data::sources::{MNIST_IMAGES, MNIST_LABELS};
use crate::error::Result;

/// Pixels of an image.
pub const PIXELS: usize = 28 * 28;
/// Digits.
pub const CLASSES: usize = 10;

/// Images with labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Images {
    /// Brightness from 0 to 1, image after image.
    pixels: Vec<f32>,
    labels: Vec<u8>,
}

impl Images {
    /// The 60,000 images for training.
    pub fn read(folder: &Folder) -> Result<Self> {
        let (images, labels) = (folder.read(&MNIST_IMAGES)?, folder.read(&MNIST_LABELS)?);
        let pixels = pixels(&images).map_err(|reason| folder.wrong(&MNIST_IMAGES, reason))?;
        let labels = classes(&labels).map_err(|reason| folder.wrong(&MNIST_LABELS, reason))?;
        if pixels.len() != labels.len() * PIXELS {
            let reason =
                format!("it has {} labels for {} images", labels.len(), pixels.len() / PIXELS);
            return Err(folder.wrong(&MNIST_LABELS, reason));
        }
        Ok(Self { pixels, labels })
    }

    /// Images and labels as they are, for tests and other data of this form.
    ///
    /// # Panics
    /// If there are not [`PIXELS`] pixels a label, or a label is not below [`CLASSES`].
    pub fn new(pixels: Vec<f32>, labels: Vec<u8>) -> Self {
        assert_eq!(pixels.len(), labels.len() * PIXELS, "an image has {PIXELS} pixels");
        assert!(labels.iter().all(|&label| usize::from(label) < CLASSES), "labels are digits");
        Self { pixels, labels }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The pixels of an image.
    pub fn image(&self, index: usize) -> &[f32] {
        &self.pixels[index * PIXELS..(index + 1) * PIXELS]
    }

    /// The digit of an image.
    pub fn label(&self, index: usize) -> usize {
        self.labels[index].into()
    }
}

/// The pixels of an IDX file of images, or why it is none.
fn pixels(bytes: &[u8]) -> Result<Vec<f32>, String> {
    let (header, body) = split(bytes, 4)?;
    let [magic, count, rows, columns] = header[..] else {
        unreachable!("four numbers were asked for")
    };
    if magic != 0x803 {
        return Err(format!("it begins with {magic:#010x}, not 0x00000803: no images in IDX"));
    }
    if rows * columns != PIXELS {
        return Err(format!("its images have {rows} x {columns} pixels, not 28 x 28"));
    }
    if body.len() != count * PIXELS {
        return Err(format!("it has {} bytes for {count} images of {PIXELS}", body.len()));
    }
    Ok(body.iter().map(|&byte| f32::from(byte) / 255.0).collect())
}

/// The labels of an IDX file of labels, or why it is none.
fn classes(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let (header, body) = split(bytes, 2)?;
    let [magic, count] = header[..] else { unreachable!("two numbers were asked for") };
    if magic != 0x801 {
        return Err(format!("it begins with {magic:#010x}, not 0x00000801: no labels in IDX"));
    }
    if body.len() != count {
        return Err(format!("it has {} bytes for {count} labels", body.len()));
    }
    if let Some(label) = body.iter().find(|&&label| usize::from(label) >= CLASSES) {
        return Err(format!("it has the label {label}, but digits end at 9"));
    }
    Ok(body.to_vec())
}

/// The first `count` big-endian numbers, and what follows.
fn split(bytes: &[u8], count: usize) -> Result<(Vec<usize>, &[u8]), String> {
    let Some((header, body)) = bytes.split_at_checked(4 * count) else {
        return Err(format!("it has {} bytes, fewer than its header", bytes.len()));
    };
    let number = |four: &[u8]| four.iter().fold(0, |sum, &byte| sum << 8 | usize::from(byte));
    Ok((header.chunks_exact(4).map(number).collect(), body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::real_data;

    fn file(numbers: &[u32], body: &[u8]) -> Vec<u8> {
        let header = numbers.iter().flat_map(|number| number.to_be_bytes());
        header.chain(body.iter().copied()).collect()
    }

    #[test]
    fn idx_is_read_and_everything_else_refused() {
        let body: Vec<u8> = (0..2 * PIXELS).map(|i| (i % 256) as u8).collect();
        let read = pixels(&file(&[0x803, 2, 28, 28], &body)).unwrap();
        assert_eq!((read.len(), read[0], read[255]), (2 * PIXELS, 0.0, 1.0));
        assert!(pixels(&file(&[0x801, 2, 28, 28], &body)).unwrap_err().contains("0x00000801"));
        assert!(pixels(&file(&[0x803, 2, 28, 29], &body)).unwrap_err().contains("28 x 29"));
        assert!(pixels(&file(&[0x803, 3, 28, 28], &body)).unwrap_err().contains("3 images"));
        assert!(pixels(&[0, 0, 8]).unwrap_err().contains("3 bytes"));
        assert_eq!(classes(&file(&[0x801, 3], &[0, 9, 5])).unwrap(), [0, 9, 5]);
        assert!(classes(&file(&[0x801, 2], &[0, 9, 5])).unwrap_err().contains("2 labels"));
        assert!(classes(&file(&[0x801, 1], &[10])).unwrap_err().contains("label 10"));
        assert!(classes(&file(&[0x803, 1], &[1])).unwrap_err().contains("no labels"));
    }

    #[test]
    fn the_real_images_are_there_with_their_labels() {
        let Some(folder) = real_data() else { return };
        let images = Images::read(&folder).unwrap();
        assert_eq!(images.len(), 60_000);
        let counts = (0..images.len()).fold([0; CLASSES], |mut counts, i| {
            counts[images.label(i)] += 1;
            counts
        });
        assert_eq!(counts.iter().sum::<usize>(), 60_000);
        assert!(counts.iter().all(|&count| (5000..7000).contains(&count)), "{counts:?}");
    }
}
