//! The families of problems by name: the table that `wimble problems` prints, and the parser of names.
//!
//! A name is a family, such as `branin`, and where the family needs it a number, such as `rosenbrock-4`.
//! Case does not matter, and `_` and spaces read as `-`. What [`Problem::name`] returns parses back to
//! the same problem. What may follow after a plus sign is in [`variants`].

use crate::{
    Ackley, Branin, Camel, Ellipsoid, GoldsteinPrice, Griewank, Hartmann3, Hartmann6, Levy,
    Michalewicz, Problem, Rastrigin, Rosenbrock, Shekel, StyblinskiTang, Variant, variants,
};

/// The most variables a family of any dimension is built with: a slip of the finger in a name should
/// become an error, not an allocation.
pub const MAX_DIM: usize = 1000;

/// A function, or the functions that differ in one number only.
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
    build: fn(usize) -> Box<dyn Problem>,
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
}

static FAMILIES: [Family; 14] = [
    Family {
        name: "ackley",
        aliases: &[],
        suffix: Suffix::Dimension { least: 1 },
        description: "a deep funnel in a rippled plain; minimum at the centre",
        build: |dim| Box::new(Ackley::new(dim)),
    },
    Family {
        name: "branin",
        aliases: &[],
        suffix: Suffix::None { dim: 2 },
        description: "smooth, three global minima",
        build: |_| Box::new(Branin),
    },
    Family {
        name: "camel",
        aliases: &["six-hump-camel"],
        suffix: Suffix::None { dim: 2 },
        description: "the six-hump camel: six local minima, two of them global",
        build: |_| Box::new(Camel),
    },
    Family {
        name: "ellipsoid",
        aliases: &[],
        suffix: Suffix::Dimension { least: 2 },
        description: "a bowl a million times steeper one way than another; minimum at the centre",
        build: |dim| Box::new(Ellipsoid::new(dim)),
    },
    Family {
        name: "goldstein-price",
        aliases: &[],
        suffix: Suffix::None { dim: 2 },
        description: "values over six orders of magnitude, four local minima",
        build: |_| Box::new(GoldsteinPrice),
    },
    Family {
        name: "griewank",
        aliases: &[],
        suffix: Suffix::Dimension { least: 1 },
        description: "a wide bowl with thousands of shallow minima; minimum at the centre",
        build: |dim| Box::new(Griewank::new(dim)),
    },
    Family {
        name: "hartmann3",
        aliases: &["hartmann-3"],
        suffix: Suffix::None { dim: 3 },
        description: "four smooth wells of unequal depth",
        build: |_| Box::new(Hartmann3),
    },
    Family {
        name: "hartmann6",
        aliases: &["hartmann-6"],
        suffix: Suffix::None { dim: 6 },
        description: "four smooth wells of unequal depth",
        build: |_| Box::new(Hartmann6),
    },
    Family {
        name: "levy",
        aliases: &[],
        suffix: Suffix::Dimension { least: 1 },
        description: "a wavy bowl, the waves higher the farther out",
        build: |dim| Box::new(Levy::new(dim)),
    },
    Family {
        name: "michalewicz",
        aliases: &[],
        suffix: Suffix::Dimension { least: 1 },
        description: "steep valleys between flat plains",
        build: |dim| Box::new(Michalewicz::new(dim)),
    },
    Family {
        name: "rastrigin",
        aliases: &[],
        suffix: Suffix::Dimension { least: 1 },
        description: "a bowl with a grid of local minima; minimum at the centre",
        build: |dim| Box::new(Rastrigin::new(dim)),
    },
    Family {
        name: "rosenbrock",
        aliases: &[],
        suffix: Suffix::Dimension { least: 2 },
        description: "a long, curved, nearly flat valley",
        build: |dim| Box::new(Rosenbrock::new(dim)),
    },
    Family {
        name: "shekel",
        aliases: &[],
        suffix: Suffix::Wells { dim: 4, allowed: &[5, 7, 10], default: 10 },
        description: "narrow wells in a plain",
        build: |wells| Box::new(Shekel::new(wells)),
    },
    Family {
        name: "styblinski-tang",
        aliases: &[],
        suffix: Suffix::Dimension { least: 1 },
        description: "two wells in every variable, one of them deeper",
        build: |dim| Box::new(StyblinskiTang::new(dim)),
    },
];

/// Why a name is not the name of a problem, and what would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownProblem {
    /// No family has the name.
    #[error("no problem is called `{given}`; the nearest is `{nearest}`. The problems are {legal}")]
    Name {
        /// The name given.
        given: String,
        /// The nearest name.
        nearest: String,
        /// All names, as a list to read.
        legal: String,
    },
    /// The family needs a dimension, and the name has none.
    #[error("`{family}` needs a dimension, such as `{example}`; it must be {allowed}")]
    NoDimension {
        /// The family.
        family: &'static str,
        /// A name that is accepted.
        example: String,
        /// The dimensions allowed.
        allowed: String,
    },
    /// The number after the family's name is not allowed there.
    #[error(
        "`{given}` names no problem: {quantity} of `{family}` must be {allowed}, as in `{example}`"
    )]
    Number {
        /// The name given.
        given: String,
        /// The family.
        family: &'static str,
        /// What the number means.
        quantity: &'static str,
        /// The numbers allowed.
        allowed: String,
        /// A name that is accepted.
        example: String,
    },
    /// What follows a plus sign is no variant.
    #[error("no variant is called `{given}`; the nearest is `{nearest}`. The variants are {legal}")]
    Variant {
        /// What was given.
        given: String,
        /// The nearest name.
        nearest: &'static str,
        /// All variants, as a list to read.
        legal: String,
    },
    /// The number of a variant is not allowed.
    #[error("`+{given}` names no variant: the number of `{variant}` must be {allowed}")]
    VariantNumber {
        /// What was given.
        given: String,
        /// The variant.
        variant: &'static str,
        /// What is allowed.
        allowed: &'static str,
    },
}

/// The families of problems, in alphabetical order.
pub fn names() -> &'static [Family] {
    &FAMILIES
}

/// The problem called `name`, such as `branin`, `rosenbrock-4`, `shekel-5` or `ackley-5+shifted`.
///
/// # Errors
/// [`UnknownProblem`], which says what the name should have been.
pub fn problem(name: &str) -> Result<Box<dyn Problem>, UnknownProblem> {
    let mut words = name.split('+');
    let base = plain(words.next().unwrap_or_default())?;
    // All words are read before the first problem is built.
    let changes: Vec<(&Variant, u64)> = words.map(change).collect::<Result<_, _>>()?;
    Ok(changes
        .into_iter()
        .fold(base, |problem, (variant, number)| (variant.build)(problem, number)))
}

fn canonical(text: &str) -> String {
    text.trim().to_lowercase().replace(['_', ' '], "-")
}

/// The variant that the words after a plus sign name, with its number.
fn change(given: &str) -> Result<(&'static Variant, u64), UnknownProblem> {
    let asked = canonical(given);
    let split = asked.find('-').unwrap_or(asked.len());
    let (word, number) = asked.split_at(split);
    let Some(variant) = variants().iter().find(|variant| variant.name == word) else {
        let nearest = variants().iter().min_by_key(|variant| edit_distance(word, variant.name));
        return Err(UnknownProblem::Variant {
            given: given.into(),
            nearest: nearest.map_or("", |variant| variant.name),
            legal: variants().iter().map(Variant::pattern).collect::<Vec<_>>().join(", "),
        });
    };
    variant.number(number).map(|number| (variant, number)).ok_or_else(|| {
        UnknownProblem::VariantNumber {
            given: given.into(),
            variant: variant.name,
            allowed: variant.allowed(),
        }
    })
}

/// The problem without variants called `name`.
fn plain(name: &str) -> Result<Box<dyn Problem>, UnknownProblem> {
    let asked = canonical(name);
    if let Some(family) = find(&asked) {
        return match family.suffix {
            Suffix::None { dim } => Ok((family.build)(dim)),
            Suffix::Wells { default, .. } => Ok((family.build)(default)),
            Suffix::Dimension { .. } => Err(UnknownProblem::NoDimension {
                family: family.name,
                example: family.example(None),
                allowed: family.suffix.allowed(),
            }),
        };
    }
    let (stem, digits) = split_number(&asked);
    let number = digits.parse().ok();
    match stem.strip_suffix('-').and_then(find) {
        Some(family) if !digits.is_empty() => match number {
            Some(number) if family.suffix.admits(number) => Ok((family.build)(number)),
            _ => Err(UnknownProblem::Number {
                given: name.into(),
                family: family.name,
                quantity: family.suffix.quantity(),
                allowed: family.suffix.allowed(),
                example: family.example(None),
            }),
        },
        _ => Err(UnknownProblem::Name {
            given: name.into(),
            nearest: nearest(&asked, stem.trim_end_matches('-'), number),
            legal: FAMILIES.iter().map(Family::pattern).collect::<Vec<_>>().join(", "),
        }),
    }
}

impl Family {
    /// How the name is written, the number as a letter: `branin`, `rosenbrock-D`, `shekel[-M]`.
    pub fn pattern(&self) -> String {
        match self.suffix {
            Suffix::None { .. } => self.name.into(),
            Suffix::Dimension { .. } => format!("{}-D", self.name),
            Suffix::Wells { .. } => format!("{}[-M]", self.name),
        }
    }

    /// A name that is accepted, with `number` if the family takes it.
    pub fn example(&self, number: Option<usize>) -> String {
        let number = number.filter(|&number| self.suffix.admits(number));
        match (self.suffix, number) {
            (Suffix::None { .. }, _) | (Suffix::Wells { .. }, None) => self.name.into(),
            (Suffix::Dimension { least }, None) => format!("{}-{}", self.name, least.max(2)),
            (_, Some(number)) => format!("{}-{number}", self.name),
        }
    }

    fn called(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

impl Suffix {
    /// Whether `number` may follow the family's name.
    pub fn admits(self, number: usize) -> bool {
        match self {
            Self::None { .. } => false,
            Self::Dimension { least } => (least..=MAX_DIM).contains(&number),
            Self::Wells { allowed, .. } => allowed.contains(&number),
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
        }
    }

    fn quantity(self) -> &'static str {
        match self {
            Self::None { .. } | Self::Dimension { .. } => "the dimension",
            Self::Wells { .. } => "the number of wells",
        }
    }
}

fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.called().any(|called| called == name))
}

/// The name without its last digits, and those digits.
fn split_number(name: &str) -> (&str, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.split_at(stem.len())
}

/// The accepted name nearest to `asked`, whose part before the number is `stem`.
fn nearest(asked: &str, stem: &str, number: Option<usize>) -> String {
    let distance = |family: &&Family| {
        let whole = family.called().map(|called| edit_distance(asked, called)).min();
        let part = family.called().map(|called| edit_distance(stem, called)).min();
        whole.min(part)
    };
    FAMILIES.iter().min_by_key(distance).map_or_else(String::new, |family| family.example(number))
}

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein's distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // The row of distances from a prefix of `a` to every prefix of `b`, one character of `a` at a time.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &b) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(name: &str) -> String {
        problem(name).unwrap_err().to_string()
    }

    #[test]
    fn names_round_trip() {
        for family in names() {
            let numbers: Vec<usize> =
                (0..=40).filter(|&number| family.suffix.admits(number)).collect();
            let examples = numbers.into_iter().map(Some).chain([None]);
            for name in examples.map(|number| family.example(number)) {
                let built = problem(&name).unwrap();
                assert_eq!(problem(&built.name()).unwrap().name(), built.name());
                assert!(name == built.name() || name == "shekel-10", "{name} {}", built.name());
            }
            for alias in family.aliases {
                assert_eq!(problem(alias).unwrap().name(), family.name);
            }
        }
    }

    #[test]
    fn case_and_separators_do_not_matter() {
        assert_eq!(problem(" Six_Hump Camel ").unwrap().name(), "camel");
        assert_eq!(problem("Hartmann-6").unwrap().name(), "hartmann6");
        assert_eq!(problem("STYBLINSKI_TANG-05").unwrap().name(), "styblinski-tang-5");
        assert_eq!(problem("shekel-10").unwrap().name(), "shekel");
    }

    #[test]
    fn variants_compose_and_round_trip() {
        for (given, name) in [
            ("Ackley-5 + Shifted", "ackley-5+shifted"),
            ("rosenbrock-6+rotated-0", "rosenbrock-6+rotated"),
            ("levy-10+skewed-7+noise-10", "levy-10+skewed-7+noise-10"),
            (
                "michalewicz-5+shifted-18446744073709551615",
                "michalewicz-5+shifted-18446744073709551615",
            ),
        ] {
            let built = problem(given).unwrap();
            assert_eq!(built.name(), name);
            assert_eq!(problem(&built.name()).unwrap().minimisers(), built.minimisers());
        }
        assert_eq!(
            problem("levy-2+shifted+noise-1").unwrap().title(),
            "Levy 2D, shifted, 1 % noise"
        );
    }

    #[test]
    fn a_wrong_variant_is_refused_with_what_is_allowed() {
        assert_eq!(
            message("ackley-5+shiftet"),
            "no variant is called `shiftet`; the nearest is `shifted`. The variants are +shifted[-S], \
             +rotated[-S], +skewed[-S], +noise-P"
        );
        assert_eq!(
            message("ackley-5+noise-0"),
            "`+noise-0` names no variant: the number of `noise` must be a percentage from 1 to 100, as in \
             `+noise-10`"
        );
        for wrong in ["noise", "noise-101", "noise-1.5", "shifted-", "shifted--1", "rotated-x"] {
            assert!(message(&format!("branin+{wrong}")).contains("must be"), "{wrong}");
        }
        assert!(message("branin+").contains("no variant is called ``"));
        assert!(message("brannin+shifted").contains("nearest is `branin`"));
    }

    #[test]
    fn a_missing_dimension_is_asked_for() {
        assert_eq!(
            message("Rosenbrock"),
            "`rosenbrock` needs a dimension, such as `rosenbrock-2`; it must be from 2 to 1000"
        );
    }

    #[test]
    fn a_wrong_number_is_refused_with_what_is_allowed() {
        assert_eq!(
            message("rosenbrock-1"),
            "`rosenbrock-1` names no problem: the dimension of `rosenbrock` must be from 2 to 1000, \
             as in `rosenbrock-2`"
        );
        assert_eq!(
            message("shekel-6"),
            "`shekel-6` names no problem: the number of wells of `shekel` must be one of 5, 7, 10, \
             or left out for 10, as in `shekel`"
        );
        assert_eq!(
            message("branin-2"),
            "`branin-2` names no problem: the dimension of `branin` must be left out \
             (it is always 2), as in `branin`"
        );
        assert!(message("ackley-99999999999999999999999").contains("from 1 to 1000"));
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest_and_all_legal_ones() {
        assert_eq!(
            message("Brannin"),
            "no problem is called `Brannin`; the nearest is `branin`. The problems are ackley-D, branin, \
             camel, ellipsoid-D, goldstein-price, griewank-D, hartmann3, hartmann6, levy-D, michalewicz-D, rastrigin-D, \
             rosenbrock-D, shekel[-M], styblinski-tang-D"
        );
        for (given, nearest) in [
            ("rosenbrok-4", "`rosenbrock-4`"),
            ("rosenbrock4", "`rosenbrock-4`"),
            ("michalevicz", "`michalewicz-2`"),
            ("hartman6", "`hartmann6`"),
            ("hartman-3", "`hartmann3`"),
            ("shekkel-7", "`shekel-7`"),
            ("shekel7", "`shekel-7`"),
            ("rosenbrock-", "`rosenbrock-2`"),
            ("sixhumpcamel", "`camel`"),
        ] {
            assert!(
                message(given).contains(&format!("nearest is {nearest}.")),
                "{}",
                message(given)
            );
        }
    }

    #[test]
    fn edit_distances_by_hand() {
        assert_eq!(edit_distance("", "levy"), 4);
        assert_eq!(edit_distance("levy", ""), 4);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("brannin", "branin"), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused_without_panic(text in "\\PC{0,20}") {
            if let Ok(problem) = problem(&text) {
                prop_assert!(problem.dim() >= 1);
            }
        }

        #[test]
        fn edit_distance_is_a_metric(a in "[ab-]{0,6}", b in "[ab-]{0,6}", c in "[ab-]{0,6}") {
            prop_assert_eq!(edit_distance(&a, &b) == 0, a == b);
            prop_assert_eq!(edit_distance(&a, &b), edit_distance(&b, &a));
            prop_assert!(edit_distance(&a, &c) <= edit_distance(&a, &b) + edit_distance(&b, &c));
        }
    }
}
