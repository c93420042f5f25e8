//! The one table of names: methods, classifiers and batch rules.

use crate::error::{Error, Result};

/// A name that a user writes, and what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    /// As it is written.
    pub name: &'static str,
    /// What it is, in a line.
    pub description: &'static str,
}

const fn name(name: &'static str, description: &'static str) -> Name {
    Name { name, description }
}

/// The methods.
pub const METHODS: [Name; 11] = [
    name("auto", "the default: least squares over all thresholds, in trust regions"),
    name("bore", "a classifier's probability of a good value (paper, Algorithm 1 and section 5)"),
    name("bore++", "an upper confidence bound of that probability (section 4 and section 5)"),
    name("gp-ucb", "Gaussian process, upper confidence bound"),
    name("gp-ei", "Gaussian process, log expected improvement"),
    name("q-ei", "Gaussian process, expected improvement of whole batches by Monte Carlo"),
    name("lp-ei", "Gaussian process, expected improvement with local penalties"),
    name("tpe", "tree-structured Parzen estimator, multivariate"),
    name("random", "random search"),
    name("sobol", "quasi-random search"),
    name("cma-es", "covariance matrix adaptation"),
];

/// The classifiers of `bore` and `bore++`.
pub const CLASSIFIERS: [Name; 6] = [
    name("perceptron", "a network with two hidden layers"),
    name("least-squares", "kernel least squares, the model of the theorems"),
    name("bayesian-logistic", "Bayesian logistic regression on random Fourier features"),
    name("ensemble", "several perceptrons"),
    name("forest", "a random forest"),
    name("boosting", "gradient-boosted trees"),
];

/// The batch rules of `bore` and `bore++`.
pub const RULES: [Name; 5] = [
    name("svgd", "Stein variational gradient descent: a sample that spreads over the modes"),
    name("stein-newton", "the same with second-order steps"),
    name("ascent", "multi-start ascent to the maximum"),
    name("candidates", "random candidates with local search; needs no gradients"),
    name("softmax", "a random sample of candidates by their probability; needs no gradients"),
];

/// Refuses a name that is not in `table`, with the legal ones and the nearest.
pub(super) fn check(field: &str, given: &str, table: &[Name]) -> Result<()> {
    if table.iter().any(|entry| entry.name == given) {
        return Ok(());
    }
    let legal: Vec<&str> = table.iter().map(|entry| entry.name).collect();
    let nearest = legal.iter().min_by_key(|name| edits(given, name));
    let hint = nearest.map_or(String::new(), |name| format!("; the nearest is `{name}`"));
    Err(Error::invalid(field, format!("`{given}`"), format!("one of {}{hint}", legal.join(", "))))
}

/// The least number of letters to insert, delete or replace that turns one word into the other (Levenshtein).
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("BORE", "bore"), 0);
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_legal_ones_and_the_nearest() {
        let error = check("method", "boer++", &METHODS).unwrap_err().to_string();
        assert!(
            error.starts_with("method is `boer++`, but must be one of auto, bore, bore++, gp-ucb"),
            "{error}"
        );
        assert!(error.ends_with("the nearest is `bore++`"), "{error}");
    }
}
