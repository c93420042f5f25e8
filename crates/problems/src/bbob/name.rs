//! The names of the functions: `bbob-f8-i11-5` is function 8, instance 11, in 5 dimensions.

use std::fmt;

use super::{Bbob, FUNCTIONS};
use crate::{MAX_DIM, UnknownProblem};

/// Which function of the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// 1 to 24.
    pub function: usize,
    /// The number of variables, from 2.
    pub dim: usize,
    /// From 1.
    pub instance: u64,
}

impl Name {
    /// The name in a text, without variants; `None` if the text is not of this form or a number is not allowed.
    pub fn read(text: &str) -> Option<Self> {
        let mut words = text.strip_prefix("bbob-")?.split('-');
        let function = words.next()?.strip_prefix('f')?.parse().ok()?;
        let instance = words.next()?.strip_prefix('i')?.parse().ok()?;
        let dim = words.next()?.parse().ok()?;
        let is_legal =
            FUNCTIONS.contains(&function) && instance > 0 && (2..=MAX_DIM).contains(&dim);
        (words.next().is_none() && is_legal).then_some(Self { function, dim, instance })
    }

    /// The function that `text` names; `None` if it speaks of another family.
    pub(crate) fn problem(text: &str) -> Option<Result<Bbob, UnknownProblem>> {
        let asked = text.trim().to_lowercase().replace(['_', ' '], "-");
        if asked != "bbob" && !asked.starts_with("bbob-") {
            return None;
        }
        let found = Self::read(&asked);
        Some(
            found
                .map(|Self { function, dim, instance }| Bbob::new(function, dim, instance))
                .ok_or_else(|| UnknownProblem::Number {
                    given: text.into(),
                    family: "bbob",
                    quantity: "function, instance and dimension",
                    allowed: format!("f1 to f24, i1 and more, and 2 to {MAX_DIM}"),
                    example: "bbob-f8-i1-5".into(),
                }),
        )
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, dim, instance } = self;
        write!(out, "bbob-f{function}-i{instance}-{dim}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Problem as _, problem, task};

    #[test]
    fn names_are_read_as_they_are_written_and_wrong_ones_refused() {
        let name = Name { function: 21, dim: 3, instance: 11 };
        assert_eq!(Name::read(&name.to_string()), Some(name));
        let found = problem("BBOB_f21 i11-3").unwrap();
        assert_eq!((found.name(), found.dim()), (name.to_string(), 3));
        assert_eq!(found.minimum(), Bbob::new(21, 3, 11).minimum());
        assert!(problem("bbob-f1-i1-2+noise-10").unwrap().noise() > 0.0);
        assert!(task("bbob-f1-i1-2").is_ok());
        for wrong in [
            "bbob",
            "bbob-f25-i1-3",
            "bbob-f1-i0-3",
            "bbob-f1-i1-1",
            "bbob-f1-i1-3-4",
            "bbob-1-1-3",
        ] {
            let message = problem(wrong).unwrap_err().to_string();
            assert!(message.contains("as in `bbob-f8-i1-5`"), "{message}");
        }
        assert!(problem("bbobo").unwrap_err().to_string().contains("no problem is called"));
    }
}
