//! What may follow a problem's name after a plus sign, as in `ackley-5+shifted` or `levy-10+rotated-3+noise-10`.
//!
//! Variants apply from left to right to every problem. The number of one that draws at random is its seed, 0 if left
//! out; that of `noise` is a percentage.

use crate::{Affine, Noisy, Problem};

/// A way to change any problem.
#[derive(Debug, Clone, Copy)]
pub struct Variant {
    /// The word after the plus sign, without the number.
    pub name: &'static str,
    /// What the number means.
    pub number: Number,
    /// What it does, in one line.
    pub description: &'static str,
    pub(crate) build: fn(Box<dyn Problem>, u64) -> Box<dyn Problem>,
}

/// The number after a variant's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// A seed, which may be left out for 0.
    Seed,
    /// A percentage from 1 to 100.
    Percent,
}

static VARIANTS: [Variant; 4] = [
    Variant {
        name: "shifted",
        number: Number::Seed,
        description: "the minimum moved to a random place, off the centre",
        build: |inner, seed| Box::new(Affine::shifted(inner, seed)),
    },
    Variant {
        name: "rotated",
        number: Number::Seed,
        description: "turned about the minimum: no variable can be optimised alone",
        build: |inner, seed| Box::new(Affine::rotated(inner, seed)),
    },
    Variant {
        name: "skewed",
        number: Number::Seed,
        description: "turned, and 100 times longer in one direction than in another",
        build: |inner, seed| Box::new(Affine::skewed(inner, seed)),
    },
    Variant {
        name: "noise",
        number: Number::Percent,
        description: "Gaussian noise, its deviation P % of the range of the values",
        build: |inner, percent| Box::new(Noisy::new(inner, percent)),
    },
];

/// The ways to change a problem.
pub fn variants() -> &'static [Variant] {
    &VARIANTS
}

impl Variant {
    /// How it is written, the number as a letter: `+shifted[-S]`, `+noise-P`.
    pub fn pattern(&self) -> String {
        match self.number {
            Number::Seed => format!("+{}[-S]", self.name),
            Number::Percent => format!("+{}-P", self.name),
        }
    }

    /// The number that the text after the name gives; `None` if it is not allowed.
    pub(crate) fn number(&self, text: &str) -> Option<u64> {
        match (self.number, text.strip_prefix('-')) {
            (Number::Seed, None) if text.is_empty() => Some(0),
            (Number::Seed, Some(digits)) => digits.parse().ok(),
            (Number::Percent, Some(digits)) => {
                digits.parse().ok().filter(|percent| (1..=100).contains(percent))
            }
            (_, None) => None,
        }
    }

    /// What the number may be, in words.
    pub(crate) fn allowed(&self) -> &'static str {
        match self.number {
            Number::Seed => "left out or a seed from 0 to 2^64 - 1, as in `+shifted-3`",
            Number::Percent => "a percentage from 1 to 100, as in `+noise-10`",
        }
    }
}
