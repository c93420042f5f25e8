//! Gallagher's peaks: 101 or 21 Gaussian hills of random places, heights and shapes; one is the highest.

use super::draw;
use super::step::oscillated;

/// The condition of the hills but the highest.
const CONDITION: f64 = 1000.0;
/// The heights of the lowest and of the second.
const HEIGHTS: (f64, f64) = (1.1, 9.1);
const HIGHEST: f64 = 10.0;

/// The hills.
#[derive(Debug, Clone)]
pub(super) struct Gallagher {
    rotation: Vec<Vec<f64>>,
    peaks: Vec<Peak>,
}

#[derive(Debug, Clone)]
struct Peak {
    /// Where it is, turned.
    centre: Vec<f64>,
    height: f64,
    scales: Vec<f64>,
}

impl Gallagher {
    /// So many hills, the condition of the highest one, and the box that hills lie in: `width` wide and centred about zero.
    /// The place of the highest is returned beside.
    pub(super) fn new(
        count: usize,
        condition: f64,
        width: f64,
        dim: usize,
        seed: u64,
    ) -> (Self, Vec<f64>) {
        let rotation = draw::rotation(dim, seed);
        let ranks = order(&draw::uniform(count - 1, seed));
        let numbers = draw::uniform(dim * count, seed);
        let place = |u: &f64| width * u - 0.5 * width;
        let mut highest = Vec::new();
        let peaks = numbers
            .chunks_exact(dim)
            .enumerate()
            .map(|(i, numbers)| {
                let inwards = if i == 0 { 0.8 } else { 1.0 };
                let at: Vec<f64> = numbers.iter().map(|u| inwards * place(u)).collect();
                let turned = |row: &Vec<f64>| row.iter().zip(&at).map(|(r, x)| r * x).sum();
                let centre = rotation.iter().map(turned).collect();
                let part = |rank: usize| rank as f64 / (count - 2) as f64;
                let (height, condition) = match i {
                    0 => (HIGHEST, condition),
                    _ => (
                        HEIGHTS.0 + part(i - 1) * (HEIGHTS.1 - HEIGHTS.0),
                        CONDITION.powf(part(ranks[i - 1])),
                    ),
                };
                let scales = order(&draw::uniform(dim, seed + 1000 * i as u64))
                    .into_iter()
                    .map(|rank| condition.powf(rank as f64 / (dim - 1) as f64 - 0.5))
                    .collect();
                if i == 0 {
                    highest = at;
                }
                Peak { centre, height, scales }
            })
            .collect();
        (Self { rotation, peaks }, highest)
    }

    pub(super) fn value(&self, x: &[f64]) -> f64 {
        let turned: Vec<f64> =
            self.rotation.iter().map(|row| row.iter().zip(x).map(|(r, x)| r * x).sum()).collect();
        let hill = |peak: &Peak| {
            let squares = peak.scales.iter().zip(&peak.centre).zip(&turned);
            let sum: f64 = squares.map(|((scale, c), x)| scale * (x - c) * (x - c)).sum();
            peak.height * (-0.5 / x.len() as f64 * sum).exp()
        };
        let highest = self.peaks.iter().map(hill).fold(0.0, f64::max);
        oscillated(HIGHEST - highest).powi(2)
    }
}

/// The indices of some numbers, the least first.
fn order(numbers: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    order
}
