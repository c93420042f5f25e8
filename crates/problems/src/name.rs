//! Names of problems and tasks: what is read, and what is said about a name that is none.
//!
//! A name is a family, such as `branin`, and where the family needs it a number, such as `rosenbrock-4`, or two, such as
//! `dtlz2-6-2`. Case does not matter, and `_` and spaces read as `-`. What [`Problem::name`] returns parses back to
//! the same problem. What may follow after a plus sign is in [`variants`].

use crate::catalogue::{Build, Family, Suffix, names, tasks};
use crate::task::{Single, Task};
use crate::{Problem, Variant, bbob, variants};

/// Why a name is not the name of a problem, and what would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownProblem {
    /// No family has the name.
    #[error("no problem is called `{given}`{}. The problems are {legal}", hint(.nearest.as_deref()))]
    Name {
        /// The name given.
        given: String,
        /// The nearest name, if one is near enough to be meant.
        nearest: Option<String>,
        /// All names, as a list to read.
        legal: String,
    },
    /// The family needs a dimension, and the name has none.
    #[error("`{family}` needs {quantity}, such as `{example}`; it must be {allowed}")]
    NoDimension {
        /// The family.
        family: &'static str,
        /// What the name lacks.
        quantity: &'static str,
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
    #[error("no variant is called `{given}`{}. The variants are {legal}", hint(.nearest.as_deref()))]
    Variant {
        /// What was given.
        given: String,
        /// The nearest name, if one is near enough to be meant.
        nearest: Option<&'static str>,
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
    /// The problem has several objectives, or constraints, and was asked for as one that has one value.
    #[error(
        "`{given}` has several objectives or constraints; here only problems with one value can be used: {legal}"
    )]
    SeveralValues {
        /// The name given.
        given: String,
        /// The names that are accepted, as a list to read.
        legal: String,
    },
    /// A variant was asked for of a problem with several objectives or constraints.
    #[error(
        "`{given}` names no problem: variants (after a plus sign) exist for problems with one objective and no \
         constraint only"
    )]
    NoVariants {
        /// The name given.
        given: String,
    },
}

/// The problem called `name`, such as `branin`, `rosenbrock-4`, `shekel-5` or `ackley-5+shifted`.
///
/// # Errors
/// [`UnknownProblem`], which says what the name should have been.
pub fn problem(name: &str) -> Result<Box<dyn Problem>, UnknownProblem> {
    let mut words = name.split('+');
    let base = words.next().unwrap_or_default();
    let unchanged = match bbob::Name::problem(base) {
        Some(found) => Box::new(found?),
        None => of_family(name, base)?,
    };
    // All words are read before the first variant is built.
    let changes: Vec<(&Variant, u64)> = words.map(change).collect::<Result<_, _>>()?;
    Ok(changes
        .into_iter()
        .fold(unchanged, |problem, (variant, number)| (variant.build)(problem, number)))
}

/// The problem called `base`, a member of a family; `name` is what was given.
fn of_family(name: &str, base: &str) -> Result<Box<dyn Problem>, UnknownProblem> {
    let several = || UnknownProblem::SeveralValues {
        given: name.into(),
        legal: patterns([names()].as_slice()),
    };
    match parse(base, &[names()]) {
        Ok((family, (number, _))) => match family.build {
            Build::Problem(build) => Ok(build(number)),
            Build::Task(_) | Build::Fixed(_) => Err(several()),
        },
        Err(_) if parse(base, &[tasks()]).is_ok() => Err(several()),
        Err(unknown) => Err(unknown),
    }
}

/// The task called `name`: any problem, and those with several objectives or constraints, such as `zdt1-6`,
/// `dtlz2-8-3`, `re21` or `pressure-vessel`.
///
/// # Errors
/// [`UnknownProblem`], which says what the name should have been.
pub fn task(name: &str) -> Result<Box<dyn Task>, UnknownProblem> {
    let (base, changed) = name.split_once('+').map_or((name, false), |(base, _)| (base, true));
    if bbob::Name::problem(base).is_some() {
        return Ok(Box::new(Single(problem(name)?)));
    }
    let (family, (dim, objectives)) = parse(base, &[names(), tasks()])?;
    match family.build {
        Build::Problem(_) => Ok(Box::new(Single(problem(name)?))),
        _ if changed => Err(UnknownProblem::NoVariants { given: name.into() }),
        Build::Task(build) => Ok(build(dim, objectives)),
        Build::Fixed(task) => Ok(Box::new(*task)),
    }
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
        let distances = variants().iter().map(|one| (edit_distance(word, one.name), one.name));
        let nearest = distances.filter(|(edits, _)| *edits <= near(word)).min();
        return Err(UnknownProblem::Variant {
            given: given.into(),
            nearest: nearest.map(|(_, name)| name),
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

/// Tables of families to look a name up in.
type Tables<'t> = &'t [&'static [Family]];

/// The family that `name`, without variants, names, and the meaning of the numbers after it (see [`Suffix::read`]).
fn parse(name: &str, tables: Tables) -> Result<(&'static Family, (usize, usize)), UnknownProblem> {
    let asked = canonical(name);
    let (family, numbers) = split(&asked, tables).ok_or_else(|| UnknownProblem::Name {
        given: name.into(),
        nearest: nearest(&asked, tables),
        legal: patterns(tables),
    })?;
    // A number too large for any type is as wrong as one that is not allowed.
    let numbers: Option<Vec<usize>> = numbers.iter().map(|digits| digits.parse().ok()).collect();
    let read = numbers.as_ref().and_then(|numbers| family.suffix.read(numbers));
    read.map(|meaning| (family, meaning)).ok_or_else(|| {
        let (suffix, example) = (family.suffix, family.example(None));
        let (quantity, allowed) = (suffix.quantity(), suffix.allowed());
        let lacks = match suffix {
            Suffix::DimensionAndObjectives => numbers.is_some_and(|numbers| numbers.len() < 2),
            _ => numbers.is_some_and(|numbers| numbers.is_empty()),
        };
        if lacks {
            let quantity = if quantity == "the dimension" { "a dimension" } else { quantity };
            UnknownProblem::NoDimension { family: family.name, quantity, example, allowed }
        } else {
            let (given, family) = (name.into(), family.name);
            UnknownProblem::Number { given, family, quantity, allowed, example }
        }
    })
}

/// The family whose name, after which at most two numbers stand, begins `asked`; and those numbers.
fn split<'a>(asked: &'a str, tables: Tables) -> Option<(&'static Family, Vec<&'a str>)> {
    let mut stem = asked;
    let mut numbers = Vec::new();
    loop {
        if let Some(family) = families(tables).find(|family| family.called().any(|c| c == stem)) {
            numbers.reverse();
            return Some((family, numbers));
        }
        let (rest, digits) = split_number(stem);
        if numbers.len() == 2 || digits.is_empty() {
            return None;
        }
        numbers.push(digits);
        stem = rest.strip_suffix('-')?;
    }
}

fn families(tables: Tables) -> impl Iterator<Item = &'static Family> {
    tables.iter().flat_map(|table| table.iter())
}

/// How all names are written, as a list to read.
fn patterns(tables: Tables) -> String {
    families(tables).map(Family::pattern).collect::<Vec<_>>().join(", ")
}

/// The name without its last digits, and those digits.
fn split_number(name: &str) -> (&str, &str) {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name.split_at(stem.len())
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; the nearest is `{name}`"))
}

/// The most edits between a name and one that may be meant by it.
fn near(asked: &str) -> usize {
    (asked.chars().count() / 2).min(3)
}

/// The accepted name nearest to `asked`, if it is near, with its number if the family takes it.
fn nearest(asked: &str, tables: Tables) -> Option<String> {
    let (stem, digits) = split_number(asked);
    let stem = stem.trim_end_matches('-');
    let distance = |family: &&Family| {
        let edits = |asked: &str| {
            let edits = family.called().map(|called| edit_distance(asked, called)).min()?;
            (edits <= near(asked)).then_some(edits)
        };
        edits(asked).into_iter().chain(edits(stem)).min()
    };
    let family = families(tables)
        .filter_map(|family| Some((distance(&family)?, family)))
        .min_by_key(|(edits, _)| *edits);
    family.map(|(_, family)| family.example(digits.parse().ok()))
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

    fn task_message(name: &str) -> String {
        task(name).unwrap_err().to_string()
    }

    #[test]
    fn task_names_round_trip_and_every_problem_is_a_task() {
        let problems = ["branin", "ackley-5+shifted", "shekel-5"];
        let tasks = ["zdt1-6", "zdt3-30", "dtlz2-6-2", "dtlz7-10-10", "re37", "pressure-vessel"];
        for name in problems.into_iter().chain(tasks) {
            assert_eq!(task(name).unwrap().name(), name);
        }
        assert_eq!(task("Welded_Beam").unwrap().name(), "welded-beam");
        for family in super::tasks() {
            let name = family.example(None);
            assert_eq!(task(&name).unwrap().name(), name);
            assert!(matches!(problem(&name), Err(UnknownProblem::SeveralValues { .. })), "{name}");
        }
    }

    #[test]
    fn a_wrong_task_is_refused_with_what_is_allowed() {
        assert_eq!(
            task_message("zdt1"),
            "`zdt1` needs a dimension, such as `zdt1-2`; it must be from 2 to 1000"
        );
        assert_eq!(
            task_message("dtlz2-6"),
            "`dtlz2` needs the dimension and the number of objectives, such as `dtlz2-6-2`; it must be from 2 to \
             1000, then from 2 to 10 and at most the dimension"
        );
        for wrong in ["dtlz2-6-1", "dtlz2-6-7", "dtlz2-30-11", "dtlz2-1-2", "zdt1-6-2", "re21-4"] {
            assert!(task_message(wrong).contains("names no problem"), "{}", task_message(wrong));
        }
        assert!(task_message("zdt1-6+shifted").contains("variants"));
        assert!(task_message("zdt4-6").contains("the nearest is `zdt1-6`"));
        assert!(task_message("re22").contains("the nearest is `re21`"));
        // Nothing is near to it.
        assert!(task_message("foo").starts_with("no problem is called `foo`. The problems are"));
        assert!(message("branin+foo").starts_with("no variant is called `foo`. The variants are"));
        assert!(message("re21").starts_with("`re21` has several objectives or constraints; here"));
        assert!(!message("brannin").contains("zdt"));
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
