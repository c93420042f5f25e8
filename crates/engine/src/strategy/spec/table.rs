//! The tables of methods, classifiers and batch rules: what is listed here can be chosen by name, and nothing else.
//!
//! A line names a type of settings. Its name and its description are declared in the type's own file
//! ([`crate::named::Named`]), and the compiler checks what the line promises of it.

use super::bore::{BorePlusPlusSpec, BoreSpec};
use super::classifier::{AnyClassifier, NoBound, classifier};
use super::method::{AnyMethod, method};
use super::row::Row;
use super::rule::{AnyRule, Gradients, Values, rule};
use crate::batch::{Ascent, Candidates, Independent, Softmax, SteinNewton, Svgd, Thompson};
use crate::classifier::bayesian_logistic::BayesianLogistic;
use crate::classifier::boosting::Boosting;
use crate::classifier::ensemble::Ensemble;
use crate::classifier::forest::Forest;
use crate::classifier::least_squares::LeastSquares;
use crate::classifier::perceptron::Perceptron;
use crate::strategy::{Auto, CmaEs, Ehvi, GpEi, GpUcb, Grid, LpEi, Nsga2, QEi, Random, Sobol, Tpe};

/// The methods, in the order in which they are listed.
pub(super) const METHODS: &[Row<dyn AnyMethod>] = &[
    method::<Auto>(),
    method::<BoreSpec>(),
    method::<BorePlusPlusSpec>(),
    method::<GpUcb>(),
    method::<GpEi>(),
    method::<QEi>(),
    method::<LpEi>(),
    method::<Tpe>(),
    method::<Ehvi>(),
    method::<Nsga2>(),
    method::<Random>(),
    method::<Sobol>(),
    method::<Grid>(),
    method::<CmaEs>(),
];

/// The classifiers of `bore` and `bore++`: their settings, what π̂ offers, and what its upper confidence bound offers.
pub(super) const CLASSIFIERS: &[Row<dyn AnyClassifier>] = &[
    classifier::<Perceptron, Gradients, NoBound>(),
    classifier::<LeastSquares, Gradients, Gradients>(),
    classifier::<BayesianLogistic, Gradients, Gradients>(),
    classifier::<Ensemble, Gradients, Gradients>(),
    classifier::<Forest, Values, Values>(),
    classifier::<Boosting, Values, Values>(),
];

/// The batch rules of `bore` and `bore++`, and what they need of a classifier.
pub(super) const RULES: &[Row<dyn AnyRule>] = &[
    rule::<Svgd, Gradients>(),
    rule::<SteinNewton, Gradients>(),
    rule::<Ascent, Gradients>(),
    rule::<Candidates, Values>(),
    rule::<Softmax, Values>(),
    rule::<Independent, Values>(),
    rule::<Thompson, Values>(),
];
