//! A classifier by name, and the strategies that it can be part of.
//!
//! The bounds of [`Offers`] and [`OffersBound`] are where the compiler checks the tables: SVGD needs gradients, BORE++
//! needs uncertainty.

use std::any::Any;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::bore::{BoreSpec, Preset};
use super::row::{Part, Row, Written};
use super::rule::{ByValues, Gradients, Needs as _, Search, Values, without_gradients};
use super::table::CLASSIFIERS;
use crate::acquisition::SmoothAcquisition;
use crate::batch::{Ascent, Candidates, Svgd};
use crate::classifier::{Classifier, Confidence, Learner, Uncertain};
use crate::error::{Error, Result};
use crate::named::{Name, Named};
use crate::strategy::{BorePlusPlus, Strategy};

/// The settings of a classifier, whichever it is.
pub(super) trait AnyClassifier: Part {
    /// BORE with this classifier.
    fn bore(&self, spec: &BoreSpec, batch_size: usize) -> Result<Box<dyn Strategy>>;

    /// BORE++ with this classifier.
    fn bore_plus_plus(
        &self,
        spec: &BoreSpec,
        confidence: Confidence,
        batch_size: usize,
    ) -> Result<Box<dyn Strategy>>;

    /// Whether BORE++ can use it.
    fn has_bound(&self) -> bool;
}

/// What a classifier's probability offers to a batch rule.
pub(super) trait Offers<L>: fmt::Debug + Send + Sync + 'static {
    /// BORE with this learner.
    fn bore(spec: &BoreSpec, learner: L, batch_size: usize) -> Result<Box<dyn Strategy>>;
}

/// What the upper confidence bound of a classifier's probability offers to a batch rule.
pub(super) trait OffersBound<L>: fmt::Debug + Send + Sync + 'static {
    /// Whether there is such a bound.
    const OFFERED: bool = true;

    /// BORE++ with this learner.
    fn bore_plus_plus(
        spec: &BoreSpec,
        confidence: Confidence,
        learner: L,
        batch_size: usize,
    ) -> Result<Box<dyn Strategy>>;
}

/// In the table: a classifier that does not know its own uncertainty.
#[derive(Debug)]
pub(super) struct NoBound;

impl<L> Offers<L> for Gradients
where
    L: Learner + 'static,
    for<'c> <L::Classifier as Classifier>::Acquisition<'c>: SmoothAcquisition,
{
    fn bore(spec: &BoreSpec, learner: L, batch_size: usize) -> Result<Box<dyn Strategy>> {
        Ok(match smooth_search(spec, batch_size) {
            Search::Gradients(rule) => Box::new(spec.bore(learner, rule)),
            Search::Values(rule) => Box::new(spec.bore(learner, rule)),
        })
    }
}

impl<L: Learner + 'static> Offers<L> for Values {
    fn bore(spec: &BoreSpec, learner: L, _: usize) -> Result<Box<dyn Strategy>> {
        Ok(Box::new(spec.bore(learner, rough_search(spec)?)))
    }
}

impl<L> OffersBound<L> for Gradients
where
    L: Learner<Classifier: Uncertain> + 'static,
    for<'c> <L::Classifier as Uncertain>::UpperBound<'c>: SmoothAcquisition,
{
    fn bore_plus_plus(
        spec: &BoreSpec,
        confidence: Confidence,
        learner: L,
        batch_size: usize,
    ) -> Result<Box<dyn Strategy>> {
        Ok(match smooth_search(spec, batch_size) {
            Search::Gradients(rule) => {
                Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
            }
            Search::Values(rule) => {
                Box::new(BorePlusPlus { bore: spec.bore(learner, rule), confidence })
            }
        })
    }
}

impl<L: Learner<Classifier: Uncertain> + 'static> OffersBound<L> for Values {
    fn bore_plus_plus(
        spec: &BoreSpec,
        confidence: Confidence,
        learner: L,
        _: usize,
    ) -> Result<Box<dyn Strategy>> {
        Ok(Box::new(BorePlusPlus { bore: spec.bore(learner, rough_search(spec)?), confidence }))
    }
}

impl<L: Named> OffersBound<L> for NoBound {
    const OFFERED: bool = false;

    fn bore_plus_plus(_: &BoreSpec, _: Confidence, _: L, _: usize) -> Result<Box<dyn Strategy>> {
        let offered = CLASSIFIERS.iter().filter(|row| {
            let classifier = (row.read)(Map::new());
            classifier.is_ok_and(|classifier| classifier.has_bound())
        });
        let names = in_words(offered.map(|row| row.name.name));
        let allowed =
            format!("{names} with bore++, which needs a classifier that knows its own uncertainty");
        Err(Error::invalid("classifier", L::NAME, allowed))
    }
}

/// The rule that was chosen for a classifier with gradients; that of the preset if none was.
pub(super) fn smooth_search(spec: &BoreSpec, batch_size: usize) -> Search {
    match (&spec.rule, spec.preset) {
        (Some(rule), _) => rule.0.search(),
        (None, Preset::Best) => Values::search(Candidates::default()),
        (None, Preset::Paper) if batch_size == 1 => Gradients::search(Ascent::default()),
        (None, Preset::Paper) => Gradients::search(Svgd::default()),
    }
}

/// The rule that was chosen for a classifier without gradients; `candidates` if none was.
fn rough_search(spec: &BoreSpec) -> Result<ByValues> {
    let Some(rule) = &spec.rule else { return Ok(ByValues::new(Candidates::default())) };
    match rule.0.search() {
        Search::Values(search) => Ok(search),
        Search::Gradients(_) => {
            let (rules, classifier) = (in_words(without_gradients()), spec.classifier.name());
            let allowed =
                format!("{rules} with the classifier {classifier}, which has no gradients");
            Err(Error::invalid("rule", rule.name(), allowed))
        }
    }
}

/// `a, b or c`.
fn in_words(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The settings `L` of a classifier whose probability offers `P` and whose bound offers `B`.
#[derive(Debug)]
struct Chosen<L, P, B> {
    learner: L,
    offers: PhantomData<(P, B)>,
}

/// A row of the table of classifiers.
pub(super) const fn classifier<L, P, B>() -> Row<dyn AnyClassifier>
where
    L: Learner + Written + Clone,
    P: Offers<L>,
    B: OffersBound<L>,
{
    Row {
        name: Name::of::<L>(),
        read: |settings| {
            Ok(Arc::new(Chosen { learner: L::read(settings)?, offers: PhantomData::<(P, B)> }))
        },
    }
}

impl<L, P, B> Part for Chosen<L, P, B>
where
    L: Written,
    P: fmt::Debug + Send + Sync + 'static,
    B: fmt::Debug + Send + Sync + 'static,
{
    fn name(&self) -> &'static str {
        L::NAME
    }

    fn table(&self) -> Map<String, Json> {
        self.learner.write()
    }

    fn settings(&self) -> &dyn Any {
        &self.learner
    }
}

impl<L, P, B> AnyClassifier for Chosen<L, P, B>
where
    L: Learner + Written + Clone,
    P: Offers<L>,
    B: OffersBound<L>,
{
    fn bore(&self, spec: &BoreSpec, batch_size: usize) -> Result<Box<dyn Strategy>> {
        P::bore(spec, self.learner.clone().for_batches(batch_size), batch_size)
    }

    fn bore_plus_plus(
        &self,
        spec: &BoreSpec,
        confidence: Confidence,
        batch_size: usize,
    ) -> Result<Box<dyn Strategy>> {
        let learner = self.learner.clone().for_batches(batch_size);
        B::bore_plus_plus(spec, confidence, learner, batch_size)
    }

    fn has_bound(&self) -> bool {
        B::OFFERED
    }
}
