//! What an optimiser is given in general: variables to choose, objectives to minimise, constraints to meet.
//!
//! A [`Problem`] is the special case of one objective on a box without constraints; [`task`](crate::task()) finds both
//! kinds by name. Constraints are measured together with the objectives: nobody knows them before the evaluation.

use std::borrow::Cow;

use crate::Problem;

/// Variables, objectives to be minimised and constraints, with what is known of the best.
pub trait Task: std::fmt::Debug + Send + Sync {
    /// The name that [`task`](crate::task()) finds it by, such as `zdt1-6`.
    fn name(&self) -> String;

    /// The name for headings and plots, such as `ZDT1 6D`.
    fn title(&self) -> String;

    /// What may be chosen.
    fn variables(&self) -> Vec<Variable>;

    /// The names of the objectives, at least one; all are minimised.
    fn objectives(&self) -> Vec<Cow<'static, str>>;

    /// The constraints, perhaps none.
    fn constraints(&self) -> Vec<Constraint> {
        Vec::new()
    }

    /// The objectives and constraints at `x`. Between the steps of a variable, and outside its range, the formula still
    /// holds.
    ///
    /// # Panics
    /// If `x` does not have a coordinate for each variable.
    fn measure(&self, x: &[f64]) -> Measured;

    /// What an experiment sees at `x`: [`measure`](Self::measure), with noise where the task has some. The noise depends
    /// on the seed and the number of the evaluation alone.
    ///
    /// # Panics
    /// If `x` does not have a coordinate for each variable.
    fn observe(&self, x: &[f64], _seed: u64, _evaluation: u64) -> Measured {
        self.measure(x)
    }

    /// What is known of the best.
    fn answer(&self) -> Answer;
}

/// One thing that may be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The least value.
    pub low: f64,
    /// The greatest value.
    pub high: f64,
    /// The distance between neighbouring values, counted from `low`; `None` if every value in between may be chosen.
    pub step: Option<f64>,
}

impl Variable {
    /// Any value from `low` to `high`.
    pub const fn real(name: &'static str, low: f64, high: f64) -> Self {
        Self { name: Cow::Borrowed(name), low, high, step: None }
    }

    /// `low`, `low + step`, and so on up to `high`.
    pub const fn stepped(name: &'static str, low: f64, high: f64, step: f64) -> Self {
        Self { name: Cow::Borrowed(name), low, high, step: Some(step) }
    }

    /// `dim` variables from 0 to 1, called x1, x2, ...
    pub(crate) fn unit_cube(dim: usize) -> Vec<Self> {
        numbered("x", dim).map(|name| Self { name, low: 0.0, high: 1.0, step: None }).collect()
    }

    /// The numbers of its first and last value, in steps from 0; `None` if every value in between may be chosen.
    pub fn steps(&self) -> Option<(i64, i64)> {
        let step = self.step?;
        let first = (self.low / step).round() as i64;
        let steps = ((self.high - self.low) / step + 1e-9).floor() as i64;
        Some((first, first + steps))
    }

    /// The value that was chosen: the number of a step, or any value.
    pub fn value(&self, chosen: f64) -> f64 {
        match self.step {
            Some(step) => self.low + (chosen - (self.low / step).round()) * step,
            None => chosen,
        }
    }

    /// The legal value nearest to `x`.
    pub fn nearest(&self, x: f64) -> f64 {
        let x = x.clamp(self.low, self.high);
        match self.step {
            Some(step) => (self.low + ((x - self.low) / step).round() * step).min(self.high),
            None => x,
        }
    }
}

/// `letter1`, `letter2`, ..., as names.
pub(crate) fn numbered(letter: &str, count: usize) -> impl Iterator<Item = Cow<'static, str>> {
    (1..=count).map(move |i| Cow::Owned(format!("{letter}{i}")))
}

/// A measured quantity that must stay within a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Constraint {
    /// Its name.
    pub name: &'static str,
    /// What it must stay within.
    pub bound: Bound,
}

impl Constraint {
    /// The quantity may be `bound` or less.
    pub const fn at_most(name: &'static str, bound: f64) -> Self {
        Self { name, bound: Bound::AtMost(bound) }
    }

    /// The quantity may be `bound` or more.
    pub const fn at_least(name: &'static str, bound: f64) -> Self {
        Self { name, bound: Bound::AtLeast(bound) }
    }
}

/// The side on which a quantity is bounded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// This or less.
    AtMost(f64),
    /// This or more.
    AtLeast(f64),
}

impl Bound {
    /// The same bound as another type: `bound.map(Other::AtMost, Other::AtLeast)`.
    pub fn map<T>(self, at_most: impl FnOnce(f64) -> T, at_least: impl FnOnce(f64) -> T) -> T {
        match self {
            Self::AtMost(bound) => at_most(bound),
            Self::AtLeast(bound) => at_least(bound),
        }
    }

    /// By how much `value` misses the bound; 0 if it meets it.
    pub fn violation(self, value: f64) -> f64 {
        match self {
            Self::AtMost(bound) => (value - bound).max(0.0),
            Self::AtLeast(bound) => (bound - value).max(0.0),
        }
    }
}

/// What an evaluation yields, in the order of the task's objectives and constraints.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measured {
    /// A value for each objective; low is good.
    pub objectives: Vec<f64>,
    /// A value for each constraint, to be compared with its bound.
    pub constraints: Vec<f64>,
}

impl Measured {
    /// Whether every constraint is met.
    pub fn is_feasible(&self, constraints: &[Constraint]) -> bool {
        let met =
            |(value, constraint): (&f64, &Constraint)| constraint.bound.violation(*value) == 0.0;
        self.constraints.iter().zip(constraints).all(met)
    }
}

/// What is known of a task's best.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Of one objective: the least value among the points that meet all constraints, and points that attain it.
    Minimum {
        /// The least value.
        value: f64,
        /// Every point known to attain it; never empty.
        at: Vec<Vec<f64>>,
    },
    /// Of several objectives.
    Front(KnownFront),
}

/// The extent of a known front, and how much it dominates.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownFront {
    /// The least value of each objective on the front.
    pub ideal: Vec<f64>,
    /// The greatest value of each objective on the front.
    pub nadir: Vec<f64>,
    /// The hypervolume of the front with the ideal point scaled to 0 and the nadir to 1, up to [`KnownFront::REFERENCE`]
    /// in each objective.
    pub hypervolume: f64,
}

impl KnownFront {
    /// Where the scaled hypervolume ends, in each objective.
    pub const REFERENCE: f64 = 1.1;

    /// Values of the objectives with the ideal point scaled to 0 and the nadir to 1.
    pub fn scaled(&self, objectives: &[f64]) -> Vec<f64> {
        let extent = self.ideal.iter().zip(&self.nadir);
        objectives.iter().zip(extent).map(|(y, (low, high))| (y - low) / (high - low)).collect()
    }
}

/// A task of fixed size, written down as data.
#[derive(Debug, Clone, Copy)]
pub struct Fixed {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) variables: &'static [Variable],
    pub(crate) objectives: &'static [&'static str],
    pub(crate) constraints: &'static [Constraint],
    pub(crate) answer: Known,
    pub(crate) formula: fn(&[f64]) -> Measured,
}

/// An [`Answer`] as data.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known {
    Minimum { value: f64, at: &'static [f64] },
    Front { ideal: &'static [f64], nadir: &'static [f64], hypervolume: f64 },
}

impl Task for Fixed {
    fn name(&self) -> String {
        self.name.into()
    }

    fn title(&self) -> String {
        self.title.into()
    }

    fn variables(&self) -> Vec<Variable> {
        self.variables.to_vec()
    }

    fn objectives(&self) -> Vec<Cow<'static, str>> {
        self.objectives.iter().map(|&name| Cow::Borrowed(name)).collect()
    }

    fn constraints(&self) -> Vec<Constraint> {
        self.constraints.to_vec()
    }

    fn measure(&self, x: &[f64]) -> Measured {
        (self.formula)(x)
    }

    fn answer(&self) -> Answer {
        match self.answer {
            Known::Minimum { value, at } => Answer::Minimum { value, at: vec![at.to_vec()] },
            Known::Front { ideal, nadir, hypervolume } => Answer::Front(KnownFront {
                ideal: ideal.to_vec(),
                nadir: nadir.to_vec(),
                hypervolume,
            }),
        }
    }
}

/// A [`Problem`] as a task: one objective, `value`, and no constraint.
#[derive(Debug)]
pub struct Single(pub Box<dyn Problem>);

impl Task for Single {
    fn name(&self) -> String {
        self.0.name()
    }

    fn title(&self) -> String {
        self.0.title()
    }

    fn variables(&self) -> Vec<Variable> {
        let sides = self.0.domain().iter().zip(numbered("x", self.0.dim()));
        sides.map(|(&(low, high), name)| Variable { name, low, high, step: None }).collect()
    }

    fn objectives(&self) -> Vec<Cow<'static, str>> {
        vec![Cow::Borrowed("value")]
    }

    fn measure(&self, x: &[f64]) -> Measured {
        Measured { objectives: vec![self.0.evaluate(x)], constraints: Vec::new() }
    }

    fn observe(&self, x: &[f64], seed: u64, evaluation: u64) -> Measured {
        let value = self.0.observe(x, seed, evaluation);
        Measured { objectives: vec![value], constraints: Vec::new() }
    }

    fn answer(&self) -> Answer {
        Answer::Minimum { value: self.0.minimum(), at: self.0.minimisers() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_counted_from_the_low_end_and_stays_within_the_range() {
        let thickness = Variable::stepped("thickness", 0.0625, 6.1875, 0.0625);
        assert_eq!(thickness.nearest(0.8), 0.8125);
        assert_eq!(thickness.nearest(0.78), 0.75);
        assert_eq!((thickness.nearest(-1.0), thickness.nearest(9.0)), (0.0625, 6.1875));
        assert_eq!(Variable::real("x", 0.0, 1.0).nearest(0.3), 0.3);
    }

    #[test]
    fn a_bound_is_met_on_its_own_side_and_at_its_value() {
        let constraints = [Constraint::at_most("a", 2.0), Constraint::at_least("b", -1.0)];
        let measured = |a, b| Measured { objectives: vec![], constraints: vec![a, b] };
        assert!(measured(2.0, -1.0).is_feasible(&constraints));
        assert!(!measured(2.1, 0.0).is_feasible(&constraints));
        assert!(!measured(0.0, -1.5).is_feasible(&constraints));
        assert_eq!(constraints[1].bound.violation(-1.5), 0.5);
    }

    #[test]
    fn a_problem_is_a_task_of_one_objective() {
        let (task, problem) =
            (crate::task("branin+noise-1").unwrap(), crate::problem("branin+noise-1").unwrap());
        let x = [1.0, 2.0];
        assert_eq!(task.measure(&x).objectives, [problem.evaluate(&x)]);
        assert_eq!(task.observe(&x, 3, 4).objectives, [problem.observe(&x, 3, 4)]);
        assert_eq!((task.variables()[1].low, task.variables()[1].high), problem.domain()[1]);
        assert_eq!(task.objectives(), ["value"]);
        let Answer::Minimum { value, at } = task.answer() else { panic!("it has one objective") };
        assert_eq!((value, at), (problem.minimum(), problem.minimisers()));
    }
}
