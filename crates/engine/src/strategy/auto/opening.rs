//! The first trials of a search by single asks: the centre of the cube, then one step along each coordinate.
//!
//! Every step starts from the best trial so far, so that each success moves the simplex. Order and signs of the coordinates are random
//! from the seed. d + 1 trials are all that a first linear model needs; random ones would tell it less.

use crate::history::History;
use crate::seed::{Seed, below, uniform};
use crate::space::SearchSpace;

/// The length of a step.
const STEP: f64 = 0.2;

/// The centre of the cube, as a legal point.
pub(super) fn centre(space: &SearchSpace) -> Vec<f64> {
    let mut centre = vec![0.5; space.dim()];
    space.snap(&mut centre);
    centre
}

/// The trial of the opening after `issued` others; `None` once it is over, or while no trial has a value.
pub(super) fn step(
    space: &SearchSpace,
    history: &History,
    issued: usize,
    seed: Seed,
) -> Option<Vec<f64>> {
    let dim = space.dim();
    let place = issued.checked_sub(1).filter(|place| *place < dim)?;
    let base = history.points().row(history.best()?);
    let mut rng = seed.stream("auto-opening", 0);
    let mut order: Vec<usize> = (0..dim).collect();
    for i in (1..dim).rev() {
        order.swap(i, below(&mut rng, i + 1));
    }
    let k = order[place];
    let signs: Vec<f64> =
        (0..dim).map(|_| if uniform(&mut rng) < 0.5 { STEP } else { -STEP }).collect();
    let outwards = !(0.0..=1.0).contains(&(base[k] + signs[k]));
    let mut x = base.to_vec();
    x[k] += if outwards { -signs[k] } else { signs[k] };
    space.snap(&mut x);
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::Outcome;
    use crate::space::Dimension;

    #[test]
    fn steps_go_along_each_coordinate_once_from_the_best_so_far_and_stay_inside() {
        let dim = 5;
        let space =
            SearchSpace::new((0..dim).map(|k| Dimension::real(format!("x{k}"), 0.0, 1.0))).unwrap();
        let mut history = History::new(dim);
        assert_eq!(step(&space, &history, 1, Seed(3)), None);
        history.push(&[0.9; 5], Outcome::Value(1.0)).unwrap();
        let mut moved = Vec::new();
        for issued in 1..=dim {
            let base = history.points().row(history.best().unwrap()).to_vec();
            let x = step(&space, &history, issued, Seed(3)).unwrap();
            let changed: Vec<usize> = (0..dim).filter(|&k| (x[k] - base[k]).abs() > 1e-6).collect();
            assert_eq!(changed.len(), 1);
            assert!((x[changed[0]] - 0.7).abs() < 1e-6, "towards the inside: {x:?}");
            moved.extend(changed);
            // Every second step is a success.
            let value = if issued % 2 == 0 { 1.0 - issued as f64 } else { 5.0 };
            history.push(&x, Outcome::Value(value)).unwrap();
        }
        moved.sort_unstable();
        assert_eq!(moved, [0, 1, 2, 3, 4]);
        assert_eq!(step(&space, &history, dim + 1, Seed(3)), None);
    }
}
