//! Racing line: lateral offsets of a path from the centre of a track that make a lap as short as possible (Jain and Morari
//! 2020).
//!
//! ```text
//! offsets ── path: waypoints, natural cubic spline, 100 samples ──▶ lap_time: minimum-time speed along them ──▶ seconds
//! ```
//!
//! The paper writes of ten waypoints and 20 dimensions; the public code has one offset a waypoint: 12 for the track of UC
//! Berkeley, 20 for the mobile track of ETH. Both are here. The regret is the lap time less the best one known.
//!
//! Cost: about a millisecond a lap.

pub mod lap_time;
pub mod path;

use serde::Deserialize;
use wimble::space::{Configuration, Dimension, SearchSpace, Value};

use crate::data::{Folder, Source, sources, tracks};
use crate::error::{Error, Result};
use crate::objective::{Noise, Objective, Observation};
use lap_time::{Car, minimum_time};
use path::Track;

/// Samples of a path.
const SAMPLES: usize = 100;
/// The part of the track's width that may be used.
const USABLE: f64 = 0.95;

/// A track with a car.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Circuit {
    /// UC Berkeley's track and a car of scale 1:10, 12 offsets.
    UcBerkeley,
    /// ETH Zurich's mobile track and a car of scale 1:43, 20 offsets.
    EthMobil,
}

impl Circuit {
    fn source(self) -> &'static Source {
        match self {
            Self::UcBerkeley => &sources::UC_BERKELEY,
            Self::EthMobil => &sources::ETH_MOBIL,
        }
    }

    /// In metres.
    fn width(self) -> f64 {
        match self {
            Self::UcBerkeley => 0.8,
            Self::EthMobil => 0.46,
        }
    }

    /// From the centre of mass to the front and to the rear axle, in metres.
    fn car(self) -> Car {
        match self {
            Self::UcBerkeley => Car { front: 0.15875, rear: 0.17145 },
            Self::EthMobil => Car { front: 0.029, rear: 0.033 },
        }
    }

    /// The points of the centre line at which the path is moved sideways.
    fn nodes(self) -> &'static [usize] {
        match self {
            Self::UcBerkeley => &[10, 32, 44, 67, 83, 100, 113, 127, 144, 160, 175, 191],
            Self::EthMobil => &[
                7, 21, 37, 52, 66, 81, 97, 111, 136, 160, 175, 191, 205, 220, 236, 250, 275, 299,
                337, 376,
            ],
        }
    }
}

/// The lap time of a circuit as an objective.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    circuit: Circuit,
    track: Track,
    optimum: f64,
}

impl Race {
    /// Reads the circuit's track; `optimum` is the best lap time known.
    pub fn read(folder: &Folder, circuit: Circuit, optimum: f64) -> Result<Self> {
        let centre = tracks::read(folder, circuit.source())?;
        let last = circuit.nodes().iter().copied().max().unwrap_or(0);
        if centre.len() <= last {
            let reason = format!("{} points instead of more than {last}", centre.len());
            return Err(folder.wrong(circuit.source(), reason));
        }
        Ok(Self { circuit, track: Track::new(centre), optimum })
    }

    /// The lap time for these offsets, positive to the left, in metres.
    pub fn lap_time(&self, offsets: &[f64]) -> Result<f64> {
        let path = self.track.path(self.circuit.nodes(), offsets, SAMPLES);
        minimum_time(&path, self.circuit.car())
    }

    fn names(&self) -> impl Iterator<Item = String> {
        (1..=self.circuit.nodes().len()).map(|node| format!("offset{node}"))
    }
}

impl Objective for Race {
    fn space(&self) -> Result<SearchSpace> {
        let reach = USABLE * self.circuit.width() / 2.0;
        Ok(SearchSpace::new(self.names().map(|name| Dimension::real(name, -reach, reach)))?)
    }

    fn observe(&self, configuration: &Configuration, _: Noise) -> Result<Observation> {
        let offset = |name: String| {
            let found = configuration.get(&name).and_then(Value::as_real);
            found.ok_or_else(|| {
                Error::Engine(wimble::Error::MissingValue {
                    dimension: name,
                    allowed: "a number".to_owned(),
                })
            })
        };
        let told = self.lap_time(&self.names().map(offset).collect::<Result<Vec<f64>>>()?)?;
        let regret = (told - self.optimum).max(0.0);
        Ok(Observation { told, regret, others: vec![("best_value", told)] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::tests::real_data;

    const REFERENCE: Source = Source {
        path: "racing_ucb/reference_laptimes.csv",
        what: "200 lap times of an independent interior-point solver",
        origin: "this project's notes",
        licence: "that of this project",
        sha256: "acac56b000f708bf7e22c022cb3ec989329fe725fb88aa6a8ba6c32abfaa0ebe",
    };

    #[test]
    fn lap_times_agree_with_the_reference() {
        let Some(folder) = real_data() else { return };
        let race = Race::read(&folder, Circuit::UcBerkeley, 0.0).unwrap();
        let text = folder.read_text(&REFERENCE).unwrap();
        let mut worst = 0.0_f64;
        for line in text.lines().skip(1) {
            let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let (expected, offsets) = cells.split_last().unwrap();
            worst = worst.max((race.lap_time(offsets).unwrap() - expected).abs());
        }
        assert_eq!(text.lines().count(), 201);
        assert!(worst < 1e-4, "{worst}");
    }
}
