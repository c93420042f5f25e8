//! The families of problems: the table that `wimble problems` prints.
//!
//! [`names`] lists those with one objective and no constraint, which [`problem`](crate::problem) builds; [`tasks`] lists
//! the others, which only [`task`](crate::task()) builds.

use crate::constrained::{
    G04, G06, GARDNER, GRAMACY, PRESSURE_VESSEL, SPEED_REDUCER, SPRING, TOWNSEND, WELDED_BEAM,
};
use crate::real_world::{RE21, RE24, RE31, RE33, RE34, RE37};
use crate::task::{Fixed, Task};
use crate::{
    Ackley, Branin, Camel, Dtlz, Ellipsoid, GoldsteinPrice, Griewank, Hartmann3, Hartmann6, Levy,
    Michalewicz, Problem, Rastrigin, Rosenbrock, Shekel, StyblinskiTang, Zdt, dtlz, zdt,
};

/// The most variables a family of any dimension is built with: a slip of the finger in a name should
/// become an error, not an allocation.
pub const MAX_DIM: usize = 1000;

/// The most objectives a family is built with.
pub const MAX_OBJECTIVES: usize = 10;

/// A function, or the functions that differ in numbers only.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// The name, without the number.
    pub name: &'static str,
    /// Other names that are accepted.
    pub aliases: &'static [&'static str],
    /// The number that follows the name.
    pub suffix: Suffix,
    /// What the function is like, in one line.
    pub description: &'static str,
    pub(crate) build: Build,
}

/// How a member of a family is built from the numbers after its name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Build {
    /// One objective and no constraint.
    Problem(fn(usize) -> Box<dyn Problem>),
    /// Several objectives, from the dimension and the number of objectives.
    Task(fn(usize, usize) -> Box<dyn Task>),
    /// No number.
    Fixed(&'static Fixed),
}

/// The number after a family's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suffix {
    /// None: the dimension is fixed.
    None {
        /// The dimension.
        dim: usize,
    },
    /// The dimension, up to [`MAX_DIM`].
    Dimension {
        /// The least dimension.
        least: usize,
    },
    /// The number of wells, which may be left out; the dimension is fixed.
    Wells {
        /// The dimension.
        dim: usize,
        /// The numbers allowed.
        allowed: &'static [usize],
        /// The number when none is written.
        default: usize,
    },
    /// The dimension, and after another `-` the number of objectives: from 2 to [`MAX_OBJECTIVES`], and at most as many
    /// as variables.
    DimensionAndObjectives,
}

const fn family(
    name: &'static str,
    suffix: Suffix,
    description: &'static str,
    build: Build,
) -> Family {
    Family { name, aliases: &[], suffix, description, build }
}

/// A function of any dimension from `least`.
const fn scalable(
    name: &'static str,
    least: usize,
    build: fn(usize) -> Box<dyn Problem>,
    description: &'static str,
) -> Family {
    family(name, Suffix::Dimension { least }, description, Build::Problem(build))
}

/// A function of `dim` variables.
const fn of_dim(
    name: &'static str,
    dim: usize,
    build: fn(usize) -> Box<dyn Problem>,
    description: &'static str,
) -> Family {
    family(name, Suffix::None { dim }, description, Build::Problem(build))
}

/// A task of fixed size.
const fn fixed(task: &'static Fixed, description: &'static str) -> Family {
    let suffix = Suffix::None { dim: task.variables.len() };
    family(task.name, suffix, description, Build::Fixed(task))
}

/// Two objectives in any dimension from 2.
const fn two_objectives(
    name: &'static str,
    build: fn(usize, usize) -> Box<dyn Task>,
    description: &'static str,
) -> Family {
    family(name, Suffix::Dimension { least: 2 }, description, Build::Task(build))
}

/// Any number of objectives.
const fn many_objectives(
    name: &'static str,
    build: fn(usize, usize) -> Box<dyn Task>,
    description: &'static str,
) -> Family {
    family(name, Suffix::DimensionAndObjectives, description, Build::Task(build))
}

impl Family {
    /// The family under other names too.
    const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

#[rustfmt::skip] // One line a family: a table to read.
static FAMILIES: [Family; 14] = [
    scalable("ackley", 1, |dim| Box::new(Ackley::new(dim)), "a deep funnel in a rippled plain; minimum at the centre"),
    of_dim("branin", 2, |_| Box::new(Branin), "smooth, three global minima"),
    of_dim("camel", 2, |_| Box::new(Camel), "the six-hump camel: six local minima, two of them global").or(&["six-hump-camel"]),
    scalable("ellipsoid", 2, |dim| Box::new(Ellipsoid::new(dim)), "a bowl a million times steeper one way than another; minimum at the centre"),
    of_dim("goldstein-price", 2, |_| Box::new(GoldsteinPrice), "values over six orders of magnitude, four local minima"),
    scalable("griewank", 1, |dim| Box::new(Griewank::new(dim)), "a wide bowl with thousands of shallow minima; minimum at the centre"),
    of_dim("hartmann3", 3, |_| Box::new(Hartmann3), "four smooth wells of unequal depth").or(&["hartmann-3"]),
    of_dim("hartmann6", 6, |_| Box::new(Hartmann6), "four smooth wells of unequal depth").or(&["hartmann-6"]),
    scalable("levy", 1, |dim| Box::new(Levy::new(dim)), "a wavy bowl, the waves higher the farther out"),
    scalable("michalewicz", 1, |dim| Box::new(Michalewicz::new(dim)), "steep valleys between flat plains"),
    scalable("rastrigin", 1, |dim| Box::new(Rastrigin::new(dim)), "a bowl with a grid of local minima; minimum at the centre"),
    scalable("rosenbrock", 2, |dim| Box::new(Rosenbrock::new(dim)), "a long, curved, nearly flat valley"),
    family("shekel", Suffix::Wells { dim: 4, allowed: &[5, 7, 10], default: 10 }, "narrow wells in a plain",
        Build::Problem(|wells| Box::new(Shekel::new(wells)))),
    scalable("styblinski-tang", 1, |dim| Box::new(StyblinskiTang::new(dim)), "two wells in every variable, one of them deeper"),
];

#[rustfmt::skip] // One line a family: a table to read.
static TASKS: [Family; 20] = [
    many_objectives("dtlz2", |dim, count| Box::new(Dtlz::new(dtlz::Shape::Sphere, dim, count)), "the front is a part of a sphere"),
    many_objectives("dtlz7", |dim, count| Box::new(Dtlz::new(dtlz::Shape::Pieces, dim, count)), "a front in separate pieces"),
    fixed(&G04, "Himmelblau's problem: three quantities, each within two bounds"),
    fixed(&G06, "a cubic in a sliver between two circles"),
    fixed(&GARDNER, "a plane that may only be entered in small islands"),
    fixed(&GRAMACY, "a plane cut by a wavy line and a circle"),
    fixed(&PRESSURE_VESSEL, "cost of a vessel under 4 constraints, thicknesses in steps of 1/16"),
    fixed(&RE21, "four-bar truss: volume and displacement"),
    fixed(&RE24, "hatch cover: weight and violation of limits"),
    fixed(&RE31, "two-bar truss: volume, stress and violation of limits"),
    fixed(&RE33, "disc brake: mass, stopping time and violation of limits"),
    fixed(&RE34, "vehicle crash: mass, deceleration and intrusion"),
    fixed(&RE37, "rocket injector: two temperatures and the length of combustion"),
    fixed(&SPEED_REDUCER, "weight of a gear box under 11 constraints, whole numbers of teeth"),
    fixed(&SPRING, "weight of a spring under 4 constraints"),
    fixed(&TOWNSEND, "waves within a heart"),
    fixed(&WELDED_BEAM, "cost of a beam under 7 constraints"),
    two_objectives("zdt1", |dim, _| Box::new(Zdt::new(zdt::Shape::Convex, dim)), "two objectives, a convex front"),
    two_objectives("zdt2", |dim, _| Box::new(Zdt::new(zdt::Shape::Concave, dim)), "two objectives, a concave front"),
    two_objectives("zdt3", |dim, _| Box::new(Zdt::new(zdt::Shape::Disconnected, dim)), "two objectives, a front in five pieces"),
];

/// The families of problems with one objective and no constraint, in alphabetical order.
pub fn names() -> &'static [Family] {
    &FAMILIES
}

/// The families with several objectives or constraints, in alphabetical order.
pub fn tasks() -> &'static [Family] {
    &TASKS
}

impl Family {
    /// How the name is written, the number as a letter: `branin`, `rosenbrock-D`, `shekel[-M]`,
    /// `dtlz2-D-K`.
    pub fn pattern(&self) -> String {
        match self.suffix {
            Suffix::None { .. } => self.name.into(),
            Suffix::Dimension { .. } => format!("{}-D", self.name),
            Suffix::Wells { .. } => format!("{}[-M]", self.name),
            Suffix::DimensionAndObjectives => format!("{}-D-K", self.name),
        }
    }

    /// A name that is accepted, with `number` if the family takes it.
    pub fn example(&self, number: Option<usize>) -> String {
        let number = number.filter(|&number| self.suffix.admits(number));
        match (self.suffix, number) {
            (Suffix::None { .. }, _) | (Suffix::Wells { .. }, None) => self.name.into(),
            (Suffix::Dimension { least }, None) => format!("{}-{}", self.name, least.max(2)),
            (Suffix::DimensionAndObjectives, number) => {
                format!("{}-{}-2", self.name, number.unwrap_or(6))
            }
            (_, Some(number)) => format!("{}-{number}", self.name),
        }
    }

    pub(crate) fn called(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

impl Suffix {
    /// The dimension (or the number of wells) and the number of objectives that `numbers` after the name mean; `None` if
    /// they are not allowed.
    pub(crate) fn read(self, numbers: &[usize]) -> Option<(usize, usize)> {
        match (self, numbers) {
            (Self::DimensionAndObjectives, &[dim, objectives]) => {
                let allowed =
                    self.admits(dim) && (2..=MAX_OBJECTIVES.min(dim)).contains(&objectives);
                allowed.then_some((dim, objectives))
            }
            (Self::DimensionAndObjectives, _) => None,
            (_, &[number]) => self.admits(number).then_some((number, 1)),
            (Self::None { dim }, []) => Some((dim, 1)),
            (Self::Wells { default, .. }, []) => Some((default, 1)),
            _ => None,
        }
    }

    /// Whether `number` may follow the family's name.
    pub fn admits(self, number: usize) -> bool {
        match self {
            Self::None { .. } => false,
            Self::Dimension { least } => (least..=MAX_DIM).contains(&number),
            Self::Wells { allowed, .. } => allowed.contains(&number),
            Self::DimensionAndObjectives => (2..=MAX_DIM).contains(&number),
        }
    }

    /// What may follow the family's name, in words.
    pub fn allowed(self) -> String {
        match self {
            Self::None { dim } => format!("left out (it is always {dim})"),
            Self::Dimension { least } => format!("from {least} to {MAX_DIM}"),
            Self::Wells { allowed, default, .. } => {
                let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                format!("one of {}, or left out for {default}", allowed.join(", "))
            }
            Self::DimensionAndObjectives => {
                format!(
                    "from 2 to {MAX_DIM}, then from 2 to {MAX_OBJECTIVES} and at most the dimension"
                )
            }
        }
    }

    /// What the number means.
    pub(crate) fn quantity(self) -> &'static str {
        match self {
            Self::None { .. } | Self::Dimension { .. } => "the dimension",
            Self::Wells { .. } => "the number of wells",
            Self::DimensionAndObjectives => "the dimension and the number of objectives",
        }
    }
}
