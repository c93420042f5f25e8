//! Where a user expects the best value of a dimension.
//!
//! A prior over the place of the optimum, not over the function (πBO: Hvarfner and others 2022). The density of a point is the product over the dimensions
//! that have a prior and are active,
//!
//! ```text
//! π(x) = Π (ε + (1 - ε) exp(-½ (d/s)²)),      ε = 1/100,
//! ```
//!
//! d the distance from the expected value on the encoded scale, 1 between different choices, and s the spread. It is 1 at the expected values and nowhere
//! less than ε for each dimension: a wrong prior makes a place unlikely, never impossible. Methods decide how long they believe it.

use rand_distr::{Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use super::configuration::Configuration;
use super::dimension::Dimension;
use super::kind::Kind;
use super::layout::Layout;
use super::value::Value;
use crate::error::{Error, Result};
use crate::seed::{Rng, uniform};

/// The least density of a dimension, relative to that of the expected value.
const LEAST: f64 = 0.01;
/// The spread unless it is given: a sixth of the range to either side holds two thirds.
const SPREAD: f64 = 0.15;

/// The value at which a user expects the best of a dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prior {
    /// The expected value.
    pub at: Value,
    /// The deviation from it that would not surprise, as a share of the range (of its logarithm, on a log scale): from 0.01 to 1.
    #[serde(default = "spread")]
    pub spread: f64,
}

fn spread() -> f64 {
    SPREAD
}

impl Prior {
    /// The value, with the default spread of 0.15.
    pub fn at(value: impl Into<Value>) -> Self {
        Self { at: value.into(), spread: SPREAD }
    }
}

/// The priors of a space, compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Priors(Vec<Expected>);

#[derive(Debug, Clone, PartialEq)]
struct Expected {
    /// The index of the dimension.
    dimension: usize,
    first: usize,
    /// Its coordinates at the expected value.
    place: Vec<f64>,
    spread: f64,
    /// Whether it is a choice: values are the same or not.
    choice: bool,
}

impl Priors {
    /// Checks the priors of the dimensions; `None` if there are none.
    pub fn new(dimensions: &[Dimension], layout: &Layout) -> Result<Option<Self>> {
        let mut all = Vec::new();
        let with_prior =
            dimensions.iter().enumerate().filter_map(|(i, d)| Some((i, d, d.prior.as_ref()?)));
        for (i, dimension, prior) in with_prior {
            let field = |name: &str| format!("{}.prior.{name}", dimension.name);
            if matches!(dimension.kind, Kind::Shares { .. }) {
                let allowed = "absent: shares have no prior";
                return Err(Error::invalid(
                    format!("{}.prior", dimension.name),
                    &prior.at,
                    allowed,
                ));
            }
            if !(0.01..=1.0).contains(&prior.spread) {
                return Err(Error::invalid(field("spread"), prior.spread, "from 0.01 to 1"));
            }
            let entry = &layout.entries()[i];
            let mut place = vec![0.0; entry.range.len()];
            let mut configuration = Configuration::new();
            configuration.insert(dimension.name.clone(), prior.at.clone());
            entry.encoding.encode(dimension, &configuration, &mut place).map_err(|_| {
                Error::invalid(field("at"), prior.at.quoted(), dimension.kind.allowed())
            })?;
            let choice = matches!(dimension.kind, Kind::Boolean | Kind::Categorical { .. });
            let (first, spread) = (entry.range.start, prior.spread);
            all.push(Expected { dimension: i, first, place, spread, choice });
        }
        Ok((!all.is_empty()).then_some(Self(all)))
    }

    /// ln π(x) of a legal point, given which dimensions are active.
    pub fn log_density(&self, x: &[f64], active: &[bool]) -> f64 {
        let seen = self.0.iter().filter(|expected| active[expected.dimension]);
        seen.map(|expected| expected.density(x).ln()).sum()
    }

    /// Writes the expected values.
    pub fn write(&self, x: &mut [f64]) {
        for expected in &self.0 {
            expected.block(x).copy_from_slice(&expected.place);
        }
    }

    /// Moves the dimensions with a prior to values drawn from it. Others keep theirs.
    pub fn draw(&self, x: &mut [f64], rng: &mut Rng) {
        for expected in &self.0 {
            let stays = uniform(rng) < LEAST;
            let luck: f64 = StandardNormal.sample(rng);
            if stays {
                continue;
            }
            if expected.choice {
                expected.block(x).copy_from_slice(&expected.place);
            } else {
                // Reflected at the ends, so that they do not gather what lies beyond.
                let u = (expected.place[0] + expected.spread * luck).rem_euclid(2.0);
                expected.block(x)[0] = if u > 1.0 { 2.0 - u } else { u };
            }
        }
    }
}

impl Expected {
    fn block<'x>(&self, x: &'x mut [f64]) -> &'x mut [f64] {
        &mut x[self.first..self.first + self.place.len()]
    }

    fn density(&self, x: &[f64]) -> f64 {
        let block = &x[self.first..self.first + self.place.len()];
        let distance = match self.choice {
            true => f64::from(u8::from(block != self.place)),
            false => block[0] - self.place[0],
        };
        LEAST + (1.0 - LEAST) * (-0.5 * (distance / self.spread).powi(2)).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::super::SearchSpace;
    use super::*;
    use crate::seed::Seed;

    fn space() -> SearchSpace {
        SearchSpace::new([
            Dimension::log_real("rate", 1e-4, 1.0).prior(Prior { at: 1e-2.into(), spread: 0.1 }),
            Dimension::categorical("kind", ["a", "b", "c"]).prior(Prior::at("b")),
            Dimension::integer("n", 1, 9).when("kind", ["c"]).prior(Prior::at(5)),
            Dimension::real("free", 0.0, 1.0),
        ])
        .unwrap()
    }

    #[test]
    fn the_density_is_the_product_by_hand() {
        let space = space();
        let density = |rate: f64, kind: &str, n: Option<i64>| {
            let mut configuration = Configuration::new();
            configuration.insert("rate", rate);
            configuration.insert("kind", kind);
            n.map(|n| configuration.insert("n", n));
            configuration.insert("free", 0.3);
            space.log_prior(&space.encode(&configuration).unwrap()).exp()
        };
        assert!((density(1e-2, "b", None) - 1.0).abs() < 1e-9);
        // A tenth of the range is one spread.
        let one = 0.01 + 0.99 * (-0.5_f64).exp();
        assert!((density(1e-2 * 10.0_f64.powf(0.4), "b", None) - one).abs() < 1e-6);
        assert!((density(1e-2, "a", None) - 0.01).abs() < 1e-6);
        // Inactive dimensions have no say.
        assert!((density(1e-2, "c", Some(5)) - 0.01).abs() < 1e-6);
        assert!(density(1e-2, "c", Some(9)) < 0.001);
        let none = SearchSpace::new([Dimension::real("x", 0.0, 1.0)]).unwrap();
        assert_eq!(none.log_prior(&[0.2]), 0.0);
        assert!(!none.has_prior() && space.has_prior());
    }

    #[test]
    fn draws_follow_the_prior_and_leave_the_rest_uniform() {
        let (space, mut rng) = (space(), Seed(5).stream("prior", 0));
        let draws: Vec<Configuration> =
            (0..2000).map(|_| space.decode(&space.sample_expected(&mut rng))).collect();
        let share = |holds: &dyn Fn(&Configuration) -> bool| {
            draws.iter().filter(|x| holds(x)).count() as f64 / 2000.0
        };
        // Within one spread of a normal distribution: 0.68.
        let near = share(&|x| (x.real("rate").unwrap().log10() + 2.0).abs() < 0.4);
        assert!((near - 0.68).abs() < 0.04, "{near}");
        assert!(share(&|x| x.text("kind") == Ok("b")) > 0.97);
        let low = share(&|x| x.real("free").unwrap() < 0.25);
        assert!((low - 0.25).abs() < 0.04, "{low}");
        let expected = space.decode(&space.expected());
        assert_eq!(expected.text("kind"), Ok("b"));
        assert!((expected.real("rate").unwrap() / 1e-2 - 1.0).abs() < 1e-6);
        assert!((expected.real("free").unwrap() - 0.5).abs() < 1e-6);
    }

    #[test]
    fn priors_that_make_no_sense_are_refused_and_others_are_written_and_read() {
        let refused = |dimension: Dimension| SearchSpace::new([dimension]).unwrap_err().to_string();
        let x = || Dimension::real("x", 0.0, 1.0);
        assert!(
            refused(x().prior(Prior::at(3.0))).starts_with("x.prior.at is 3"),
            "{}",
            refused(x().prior(Prior::at(3.0)))
        );
        let wide = refused(x().prior(Prior { at: 0.5.into(), spread: 2.0 }));
        assert!(wide.contains("x.prior.spread is 2, but must be from 0.01 to 1"), "{wide}");
        let shares = refused(Dimension::shares("mix", ["a", "b"]).prior(Prior::at(0.5)));
        assert!(shares.contains("shares have no prior"), "{shares}");
        let text = serde_json::to_string(&space()).unwrap();
        assert_eq!(serde_json::from_str::<SearchSpace>(&text).unwrap(), space());
        let read: Dimension = serde_json::from_str(
            r#"{"name": "x", "type": "real", "low": 0, "high": 1, "prior": {"at": 0.25}}"#,
        )
        .unwrap();
        assert_eq!(read, x().prior(Prior::at(0.25)));
    }
}
