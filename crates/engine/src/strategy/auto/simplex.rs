//! The first simplex of a search by single asks: after the centre of the cube, one step along each coordinate.
//!
//! Every step starts from the best trial so far, so that each success moves the simplex. Order and signs of the coordinates are random
//! from the seed. d + 1 trials are all that a first linear model needs; random ones would tell it less.

use crate::domain::Occupied;
use crate::points::Points;
use crate::seed::{below, uniform};
use crate::strategy::Evidence;

/// The length of a step.
const STEP: f64 = 0.2;

/// Up to `most` free points: the next steps of the simplex, none once it is complete.
pub(super) fn steps(evidence: Evidence<'_>, most: usize, occupied: &mut Occupied<'_>) -> Points {
    let issued = evidence.issued();
    let mut steps = Points::new(evidence.space.dim());
    while steps.len() < most
        && let Some(x) = step(evidence, issued + steps.len()).filter(|x| occupied.is_free(x))
    {
        occupied.insert(&x);
        steps.push(&x);
    }
    steps
}

/// The trial after `issued` others; `None` once the simplex is complete, or while no trial has a value.
fn step(evidence: Evidence<'_>, issued: usize) -> Option<Vec<f64>> {
    let dim = evidence.space.dim();
    let place = issued.checked_sub(1).filter(|place| *place < dim)?;
    let mut x = evidence.history.points().row(evidence.column().best()?).to_vec();
    let mut rng = evidence.seed.stream("auto-simplex", 0);
    let mut order: Vec<usize> = (0..dim).collect();
    for i in (1..dim).rev() {
        order.swap(i, below(&mut rng, i + 1));
    }
    let k = order[place];
    let signs: Vec<f64> =
        (0..dim).map(|_| if uniform(&mut rng) < 0.5 { STEP } else { -STEP }).collect();
    let outwards = !(0.0..=1.0).contains(&(x[k] + signs[k]));
    x[k] += if outwards { -signs[k] } else { signs[k] };
    evidence.space.settle(&mut x);
    Some(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::History;
    use crate::seed::Seed;
    use crate::space::{Dimension, SearchSpace};

    #[test]
    fn steps_go_along_each_coordinate_once_from_the_best_so_far_and_stay_inside() {
        let dim = 5;
        let space =
            SearchSpace::new((0..dim).map(|k| Dimension::real(format!("x{k}"), 0.0, 1.0))).unwrap();
        let (mut history, pending) = (History::new(dim), Points::new(dim));
        let next = |history: &History, issued: usize| {
            let evidence = Evidence { space: &space, history, pending: &pending, seed: Seed(3) };
            step(evidence, issued)
        };
        assert_eq!(next(&history, 1), None);
        history.push(&[0.9; 5], 1.0).unwrap();
        let mut moved = Vec::new();
        for issued in 1..=dim {
            let base = history.points().row(history.objective().best().unwrap()).to_vec();
            let x = next(&history, issued).unwrap();
            let changed: Vec<usize> = (0..dim).filter(|&k| (x[k] - base[k]).abs() > 1e-6).collect();
            assert_eq!(changed.len(), 1);
            assert!((x[changed[0]] - 0.7).abs() < 1e-6, "towards the inside: {x:?}");
            moved.extend(changed);
            // Every second step is a success.
            let value = if issued % 2 == 0 { 1.0 - issued as f64 } else { 5.0 };
            history.push(&x, value).unwrap();
        }
        moved.sort_unstable();
        assert_eq!(moved, [0, 1, 2, 3, 4]);
        assert_eq!(next(&history, dim + 1), None);
    }
}
