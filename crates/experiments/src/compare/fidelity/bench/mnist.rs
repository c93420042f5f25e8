//! Networks that this project's trainer trains on MNIST, epoch by epoch, as a search goes on.
//!
//! The first 2,000 images for training, the last 1,000 of the same file for validation, up to 27 epochs; the rate decays over all of them. The score is
//! the lowest validation error seen. Weights, order and dropout are those of the seed, so that the same search trains the same networks.

use wimble::seed::Seed;
use wimble::space::{Configuration, SearchSpace};

use super::{Bench, Seen, Training};
use crate::data::Folder;
use crate::error::{Error, Result};
use crate::mnist::images::Images;
use crate::mnist::network::{self, Split};
use crate::mnist::space::{HyperParameters, space};

/// Epochs of a whole training.
pub(in super::super) const EPOCHS: usize = 27;

/// The images, and the space of networks.
pub(in super::super) struct Digits {
    images: Images,
    split: Split,
    space: SearchSpace,
}

impl Digits {
    pub(in super::super) fn read(data: &Folder) -> Result<Self> {
        let split = Split { training: 0..2_000, validation: 59_000..60_000 };
        Ok(Self { images: Images::read(data)?, split, space: space()? })
    }
}

impl Bench for Digits {
    fn space(&self) -> &SearchSpace {
        &self.space
    }

    fn high(&self) -> usize {
        EPOCHS
    }

    fn begin<'b>(
        &'b self,
        configuration: &Configuration,
        seed: Seed,
    ) -> Result<Box<dyn Training + 'b>> {
        let chosen = HyperParameters::from_configuration(configuration)?;
        let training = network::Training::new(&chosen, &self.images, &self.split, EPOCHS, seed);
        Ok(Box::new(Classifier(training)))
    }

    fn score(&self, seen: &Seen) -> Result<f64> {
        Ok(seen.lowest)
    }

    fn end(&self, _: &Configuration) -> Result<Option<f64>> {
        Ok(None)
    }
}

struct Classifier<'i>(network::Training<'i>);

impl Training for Classifier<'_> {
    fn next(&mut self) -> Result<Option<Vec<f64>>> {
        match self.0.next_epoch() {
            Ok(()) => Ok(Some(vec![self.0.error()])),
            Err(Error::Engine(wimble::Error::Diverged { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mnist::images::{CLASSES, PIXELS};
    use wimble::internals::{below, uniform};

    #[test]
    fn a_training_repeats_itself_by_its_seed_and_one_that_diverges_says_so() {
        let mut rng = Seed(3).stream("noise", 0);
        let labels: Vec<u8> = (0..60).map(|_| below(&mut rng, CLASSES) as u8).collect();
        let pixels = (0..60 * PIXELS).map(|_| uniform(&mut rng) as f32).collect();
        let split = Split { training: 0..40, validation: 40..60 };
        let bench = Digits { images: Images::new(pixels, labels), split, space: space().unwrap() };
        let curve = |rate: f64, seed: u64| -> Vec<Option<Vec<f64>>> {
            let chosen = HyperParameters {
                learning_rate: rate,
                batch_size: 8,
                dropout: 0.1,
                final_fraction: 1.0,
                layers: 2,
                units: 16,
            };
            let mut training = bench.begin(&chosen.configuration(), Seed(seed)).unwrap();
            (0..5).map(|_| training.next().unwrap()).collect()
        };
        assert_eq!(curve(1e-3, 1), curve(1e-3, 1));
        assert_ne!(curve(1e-3, 1), curve(1e-3, 2));
        assert_eq!(curve(1e30, 1)[4], None);
    }
}
