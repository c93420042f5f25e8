//! Minimisation of a smooth function in a box by L-BFGS-B (Byrd, Lu, Nocedal and Zhu 1995; version 3.0).
//!
//! The solver is that of the crate `basin`; this file gives it one signature and a few promises:
//! - the best point that was evaluated is returned, whatever made the search stop;
//! - a value or gradient that is not finite rejects the step that led there, and is never returned;
//! - at most `max_evaluations` evaluations are made;
//! - nothing is random, and every point evaluated lies in the box.
//!
//! Cost: O(memory · d) a step besides the evaluations. Fails when the function is not finite at the start.

use std::cell::RefCell;

use basin::{
    BoxBounds, ConstraintDescription, ConstraintSet, Constraints, CostFunction, Executor,
    FirstOrderState, Gradient, Lbfgsb, LineSearch, LineSearchBounds, LineSearchOutcome,
    LineSearchResult, MoreThuente, Problem, Termination,
};

use crate::error::{Error, Result};

/// When to stop, and how much curvature to remember.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Evaluations of the function with its gradient, at least one.
    pub max_evaluations: usize,
    /// Stop when no component of the gradient exceeds this, those that point out of the box aside.
    pub gradient_tolerance: f64,
    /// Stop when a step lowers the value by no more than this part of max(|value|, 1).
    pub value_tolerance: f64,
    /// Pairs of steps and gradient differences that model the curvature.
    pub memory: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { max_evaluations: 200, gradient_tolerance: 1e-6, value_tolerance: 1e-10, memory: 10 }
    }
}

/// The best point that a search has seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Minimum {
    /// The point, in the box.
    pub point: Vec<f64>,
    /// The value there, finite.
    pub value: f64,
    /// The gradient there, finite.
    pub gradient: Vec<f64>,
    /// Evaluations made.
    pub evaluations: usize,
    /// Whether a tolerance was met: otherwise evaluations ran out, or no step led downhill any more.
    pub converged: bool,
}

/// Minimises `objective`, which returns the value at a point and writes the gradient, in the box
/// `low[k] ..= high[k]` from `start`, which is moved into the box first.
pub fn minimise_in_box(
    objective: impl FnMut(&[f64], &mut [f64]) -> f64,
    start: &[f64],
    low: &[f64],
    high: &[f64],
    settings: Settings,
) -> Result<Minimum> {
    assert!(
        start.len() == low.len() && start.len() == high.len() && !start.is_empty(),
        "start and bounds must have the same number of coordinates, at least one"
    );
    for (k, (low, high)) in low.iter().zip(high).enumerate() {
        if !(low.is_finite() && high.is_finite() && low <= high) {
            let allowed = "finite, the lower at most the upper";
            return Err(Error::invalid(format!("bounds {k}"), format!("{low}..{high}"), allowed));
        }
    }
    for (field, tolerance) in [
        ("gradient tolerance", settings.gradient_tolerance),
        ("value tolerance", settings.value_tolerance),
    ] {
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(Error::invalid(field, tolerance, "finite and not negative"));
        }
    }
    if let Some(k) = start.iter().position(|x| !x.is_finite()) {
        return Err(Error::invalid(format!("start {k}"), start[k], "finite"));
    }
    let start: Vec<f64> =
        start.iter().zip(low.iter().zip(high)).map(|(x, (l, h))| x.clamp(*l, *h)).collect();
    let search = RefCell::new(Search {
        objective,
        left: settings.max_evaluations.max(1),
        evaluations: 0,
        last: None,
        best: None,
    });
    let problem = Boxed { search: &search, low: low.to_vec(), high: high.to_vec() };
    let solver = Lbfgsb::with_line_search(Cautious::default())
        .with_absolute_projected_gradient_tolerance(settings.gradient_tolerance)
        .with_relative_cost_reduction_tolerance(settings.value_tolerance)
        .with_m_capacity(settings.memory.max(1));
    // A step costs at least one evaluation, so the limit on steps only guards against stalling.
    let converged = Executor::new(problem, solver, FirstOrderState::new(start))
        .max_iter(settings.max_evaluations as u64)
        .run()
        .is_ok_and(|result| matches!(result.report.termination, Termination::Converged(_)));
    let search = search.into_inner();
    let Evaluation { point, value, gradient } =
        search.best.ok_or(Error::Diverged { model: "the function", doing: "starting L-BFGS" })?;
    Ok(Minimum { point, value, gradient, evaluations: search.evaluations, converged })
}

/// A point with its value and gradient.
#[derive(Debug, Clone)]
struct Evaluation {
    point: Vec<f64>,
    value: f64,
    gradient: Vec<f64>,
}

/// The function with a record of what was seen.
struct Search<F> {
    objective: F,
    left: usize,
    evaluations: usize,
    last: Option<Evaluation>,
    best: Option<Evaluation>,
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Search<F> {
    /// Value and gradient at x; the value is +∞ where either is not finite.
    fn evaluate(&mut self, x: &[f64]) -> Result<(f64, Vec<f64>), OutOfEvaluations> {
        if let Some(last) = &self.last
            && last.point == x
        {
            return Ok((last.value, last.gradient.clone()));
        }
        self.left = self.left.checked_sub(1).ok_or(OutOfEvaluations)?;
        self.evaluations += 1;
        let mut gradient = vec![0.0; x.len()];
        let mut value = (self.objective)(x, &mut gradient);
        if !(value.is_finite() && gradient.iter().all(|g| g.is_finite())) {
            value = f64::INFINITY;
            gradient.fill(0.0);
        }
        let evaluation = Evaluation { point: x.to_vec(), value, gradient: gradient.clone() };
        if value < self.best.as_ref().map_or(f64::INFINITY, |best| best.value) {
            self.best = Some(evaluation.clone());
        }
        self.last = Some(evaluation);
        Ok((value, gradient))
    }
}

/// Stops the solver in the middle of a line search.
#[derive(Debug)]
struct OutOfEvaluations;

impl std::fmt::Display for OutOfEvaluations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no evaluations are left")
    }
}

impl std::error::Error for OutOfEvaluations {}

/// The problem as the solver wants it.
struct Boxed<'s, F> {
    search: &'s RefCell<Search<F>>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl<F> Constraints for Boxed<'_, F> {
    type Set = ConstraintSet<BoxBounds<Vec<f64>>>;

    fn constraints(&self) -> <Self::Set as ConstraintDescription>::Borrowed<'_> {
        ConstraintSet::new().with_bounds(BoxBounds::new(Some(&self.low), Some(&self.high)))
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> CostFunction for Boxed<'_, F> {
    type Param = Vec<f64>;
    type Output = f64;
    type Error = OutOfEvaluations;

    fn cost(&self, x: &Vec<f64>) -> Result<f64, OutOfEvaluations> {
        self.search.borrow_mut().evaluate(x).map(|(value, _)| value)
    }
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> Gradient for Boxed<'_, F> {
    type Gradient = Vec<f64>;

    fn gradient(&self, x: &Vec<f64>) -> Result<Vec<f64>, OutOfEvaluations> {
        self.search.borrow_mut().evaluate(x).map(|(_, gradient)| gradient)
    }

    fn cost_and_gradient(&self, x: &Vec<f64>) -> Result<(f64, Vec<f64>), OutOfEvaluations> {
        self.search.borrow_mut().evaluate(x)
    }
}

/// The Moré-Thuente search, made to start where the function is finite.
///
/// Its interpolation divides by differences of values, so that one infinite value would leave it without
/// a next step. The first step is therefore halved until the value is finite, and is then the longest.
#[derive(Default)]
struct Cautious(MoreThuente<f64>);

impl Cautious {
    /// 2⁻⁴⁰ of the first step is beyond any use.
    const HALVINGS: usize = 40;
}

impl<F: FnMut(&[f64], &mut [f64]) -> f64> LineSearch<Boxed<'_, F>, Vec<f64>, f64> for Cautious {
    type Error = OutOfEvaluations;

    fn next(
        &mut self,
        problem: &mut Problem<Boxed<'_, F>>,
        x: &Vec<f64>,
        value: f64,
        gradient: &Vec<f64>,
        direction: &Vec<f64>,
    ) -> Result<f64, OutOfEvaluations> {
        self.0.next(problem, x, value, gradient, direction)
    }

    fn next_with_bounds(
        &mut self,
        problem: &mut Problem<Boxed<'_, F>>,
        x: &Vec<f64>,
        value: f64,
        gradient: &Vec<f64>,
        direction: &Vec<f64>,
        bounds: LineSearchBounds<f64>,
    ) -> Result<LineSearchResult<Vec<f64>, f64>, OutOfEvaluations> {
        let mut step = bounds.initial();
        for halvings in 0..=Self::HALVINGS {
            let trial: Vec<f64> = x.iter().zip(direction).map(|(x, d)| x + step * d).collect();
            if problem.cost(&trial)?.is_finite() {
                let max = if halvings == 0 { bounds.max() } else { step };
                let bounds = LineSearchBounds::new(step, max);
                return self.0.next_with_bounds(problem, x, value, gradient, direction, bounds);
            }
            step *= 0.5;
        }
        Ok(LineSearchResult::new(LineSearchOutcome::Failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for k in 0..x.len() - 1 {
            let (valley, slope) = (x[k + 1] - x[k] * x[k], 1.0 - x[k]);
            value += 100.0 * valley * valley + slope * slope;
            gradient[k] += -400.0 * valley * x[k] - 2.0 * slope;
            gradient[k + 1] += 200.0 * valley;
        }
        value
    }

    #[test]
    fn rosenbrock_has_its_minimum_at_one_or_on_the_bound() {
        for dim in [2, 5, 10] {
            let found = minimise_in_box(
                rosenbrock,
                &vec![-1.2; dim],
                &vec![-2.0; dim],
                &vec![2.0; dim],
                Settings::default(),
            )
            .unwrap();
            assert!(found.converged, "{found:?}");
            // In more than three dimensions there is a second local minimum near (-1, 1, …, 1).
            let away = found.point.iter().skip(1).map(|x| (x - 1.0).abs()).fold(0.0, f64::max);
            assert!(away < 1e-4, "{found:?}");
        }
        // With x₀ ≤ 1/2 the best is x₁ = x₀² = 1/4, where the value is (1 - 1/2)².
        let found =
            minimise_in_box(rosenbrock, &[-1.2, 1.0], &[-2.0; 2], &[0.5, 2.0], Settings::default())
                .unwrap();
        assert!((found.value - 0.25).abs() < 1e-9, "{found:?}");
        assert!((found.point[0] - 0.5).abs() < 1e-12 && (found.point[1] - 0.25).abs() < 1e-5);
    }

    /// Minimises Σ (1 + k) (x_k - centre_k)² in [-1, 1]^d; gives the largest distance from the minimum.
    fn off_the_clamped_centre(centre: &[f64], start: &[f64], settings: Settings) -> f64 {
        let dim = centre.len();
        let quadratic = |x: &[f64], gradient: &mut [f64]| {
            let mut value = 0.0;
            for k in 0..dim {
                let (curvature, gap) = (1.0 + k as f64, x[k] - centre[k]);
                gradient[k] = 2.0 * curvature * gap;
                value += curvature * gap * gap;
            }
            value
        };
        let (low, high) = (vec![-1.0; dim], vec![1.0; dim]);
        let found = minimise_in_box(quadratic, &start[..dim], &low, &high, settings).unwrap();
        assert!(found.converged, "{found:?}");
        let gap = |(x, centre): (&f64, &f64)| (x - centre.clamp(-1.0, 1.0)).abs();
        found.point.iter().zip(centre).map(gap).fold(0.0, f64::max)
    }

    /// Only the gradient decides when to stop. The value tolerance bounds the gain of the last step, not the distance
    /// from the minimum: at a value of 10, its default ends searches that are 1e-5 away.
    const BY_GRADIENT: Settings = Settings {
        max_evaluations: 200,
        gradient_tolerance: 1e-6,
        value_tolerance: 0.0,
        memory: 10,
    };

    #[test]
    fn the_value_tolerance_may_end_a_search_before_the_gradient_is_small() {
        let centre = [-0.48971, 0.77918, 0.75469, -1.42878, -0.14121, -1.21595, -1.92994];
        let start = [2.02146, 0.89636, 0.14122, -2.92563, 1.11513, -0.52411, 1.82366];
        let early = off_the_clamped_centre(&centre, &start, Settings::default());
        assert!((1e-5..1e-4).contains(&early), "{early}");
        let late = off_the_clamped_centre(&centre, &start, BY_GRADIENT);
        assert!(late < 5e-7, "{late}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn a_separable_quadratic_has_the_clamped_centre_as_its_minimum(
            centre in prop::collection::vec(-2.0..2.0_f64, 1..8),
            start in prop::collection::vec(-3.0..3.0_f64, 8),
        ) {
            // A component of the gradient of at most 1e-6 leaves a gap of at most 1e-6 / 2 at curvature 1.
            prop_assert!(off_the_clamped_centre(&centre, &start, BY_GRADIENT) < 5e-7);
        }

        #[test]
        fn every_evaluation_lies_in_the_box_and_they_are_counted(
            start in prop::array::uniform3(-3.0..3.0_f64),
            max_evaluations in 1..60_usize,
        ) {
            let (mut calls, mut outside, mut best) = (0, 0, f64::INFINITY);
            let settings = Settings { max_evaluations, ..Settings::default() };
            let found = minimise_in_box(
                |x, gradient| {
                    calls += 1;
                    outside += usize::from(x.iter().any(|x| !(-1.5..=0.7).contains(x)));
                    let value = rosenbrock(x, gradient);
                    best = best.min(value);
                    value
                },
                &start,
                &[-1.5; 3],
                &[0.7; 3],
                settings,
            )
            .unwrap();
            prop_assert_eq!(found.evaluations, calls);
            prop_assert!(calls <= max_evaluations);
            prop_assert_eq!(outside, 0);
            prop_assert_eq!(found.value, best);
        }
    }

    proptest! {
        #[test]
        fn rough_functions_with_holes_end_no_higher_than_they_start(
            waves in prop::collection::vec(-40.0..40.0_f64, 1..6),
            exponent in -12..12_i32,
            hole in 0.0..0.9_f64,
            start in prop::collection::vec(0.0..1.0_f64, 6),
        ) {
            let start = &start[..waves.len()];
            let scale = 10.0_f64.powi(exponent);
            let rough = |x: &[f64], gradient: &mut [f64]| {
                if (hole..hole + 0.1).contains(&x[0]) && x != start {
                    return if hole < 0.5 { f64::NAN } else { f64::NEG_INFINITY };
                }
                let mut value = 0.0;
                for ((x, wave), g) in x.iter().zip(&waves).zip(gradient) {
                    value += scale * (wave * x).sin();
                    *g = scale * wave * (wave * x).cos();
                }
                value
            };
            let dim = waves.len();
            let at_start = rough(start, &mut vec![0.0; dim]);
            let found =
                minimise_in_box(rough, start, &vec![0.0; dim], &vec![1.0; dim], Settings::default())
                    .unwrap();
            prop_assert!(found.value.is_finite() && found.value <= at_start);
            prop_assert!(found.point.iter().all(|x| (0.0..=1.0).contains(x)));
            prop_assert!(found.gradient.iter().all(|g| g.is_finite()));
        }
    }

    #[test]
    fn a_start_in_a_corner_of_the_box_can_leave_it() {
        for corner in [[-2.0, -2.0], [2.0, 2.0], [-2.0, 2.0], [9.0, -9.0]] {
            let found =
                minimise_in_box(rosenbrock, &corner, &[-2.0; 2], &[2.0; 2], Settings::default())
                    .unwrap();
            assert!(found.value < 1e-9, "{corner:?} {found:?}");
        }
    }

    #[test]
    fn a_constant_stays_at_the_start() {
        let found = minimise_in_box(
            |_, gradient| {
                gradient.fill(0.0);
                4.0
            },
            &[0.3],
            &[0.0],
            &[1.0],
            Settings::default(),
        )
        .unwrap();
        assert_eq!((found.point[0], found.value, found.evaluations), (0.3, 4.0, 1));
        assert!(found.converged);
    }

    #[test]
    fn a_coordinate_with_equal_bounds_stays() {
        let found = minimise_in_box(
            rosenbrock,
            &[0.0, 0.0],
            &[-2.0, 0.25],
            &[2.0, 0.25],
            Settings::default(),
        )
        .unwrap();
        assert_eq!(found.point[1], 0.25);
        assert!(found.gradient[0].abs() < 1e-5 && found.value < 0.25, "{found:?}");
    }

    #[test]
    fn regions_without_a_value_are_stepped_back_from() {
        // The minimum of x - ln x is at 1; left of 0 there is no value.
        for start in [0.01, 0.5, 7.0, 40.0] {
            let found = minimise_in_box(
                |x, gradient| {
                    gradient[0] = 1.0 - 1.0 / x[0];
                    x[0] - x[0].ln()
                },
                &[start],
                &[-50.0],
                &[50.0],
                Settings::default(),
            )
            .unwrap();
            assert!((found.point[0] - 1.0).abs() < 1e-4, "{start} {found:?}");
        }
        // A cliff right beyond the best reachable points.
        let found = minimise_in_box(
            |x, gradient| {
                if x[0] > 0.4 {
                    return f64::NAN;
                }
                rosenbrock(x, gradient)
            },
            &[-1.2, 1.0],
            &[-2.0; 2],
            &[2.0; 2],
            Settings::default(),
        )
        .unwrap();
        assert!(found.value.is_finite() && found.value < 0.5, "{found:?}");
        assert!(found.gradient.iter().all(|g| g.is_finite()));
    }

    #[test]
    fn what_cannot_start_is_refused() {
        let run = |start: f64, low: f64, high: f64, value: f64| {
            minimise_in_box(|_, _| value, &[start], &[low], &[high], Settings::default())
                .unwrap_err()
                .to_string()
        };
        assert!(run(0.5, 0.0, 1.0, f64::NAN).contains("not finite"));
        assert!(run(f64::NAN, 0.0, 1.0, 1.0).contains("start 0 is NaN"));
        assert!(run(0.5, 1.0, 0.0, 1.0).contains("bounds 0"));
        let settings = Settings { value_tolerance: -1.0, ..Settings::default() };
        let error = minimise_in_box(rosenbrock, &[0.0; 2], &[-1.0; 2], &[1.0; 2], settings);
        assert!(error.unwrap_err().to_string().contains("value tolerance"));
    }
}
