//! A batch rule by name.
//!
//! A rule that needs gradients takes any acquisition that has them, one that needs values takes every acquisition. Both
//! are held as trait objects, so that a rule and a classifier meet without knowing each other.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use super::row::{Part, Row, Written};
use super::table::RULES;
use crate::acquisition::{Acquisition, SmoothAcquisition};
use crate::batch::BatchRule;
use crate::classifier::Target;
use crate::domain::Domain;
use crate::error::Result;
use crate::named::Name;
use crate::points::Points;
use crate::seed::Rng;
use crate::space::SearchSpace;
use crate::theory::{Choice, Plan};

/// In the tables: an acquisition with gradients.
#[derive(Debug)]
pub(super) struct Gradients;

/// In the tables: an acquisition with values alone.
#[derive(Debug)]
pub(super) struct Values;

/// A rule that follows gradients, for every acquisition that has them.
pub(super) struct ByGradients(Arc<dyn for<'a> BatchRule<dyn SmoothAcquisition + 'a>>);

/// A rule that looks at values, for every acquisition.
pub(super) struct ByValues(Arc<dyn for<'a> BatchRule<dyn Acquisition + 'a>>);

impl ByValues {
    /// This rule.
    pub fn new(rule: impl for<'a> BatchRule<dyn Acquisition + 'a> + 'static) -> Self {
        Self(Arc::new(rule))
    }
}

/// Both are rules for every acquisition of their kind, which they see as a trait object.
macro_rules! rule_by {
    ($by:ident, $acquisition:ident) => {
        impl<A: $acquisition> BatchRule<A> for $by {
            fn choose(
                &self,
                density: &A,
                domain: &Domain,
                size: usize,
                rng: &mut Rng,
            ) -> Result<Points> {
                self.0.choose(density, domain, size, rng)
            }

            fn check(&self) -> Result<()> {
                self.0.check()
            }

            fn needs_posterior(&self) -> bool {
                self.0.needs_posterior()
            }

            fn choice(&self, space: &SearchSpace, target: Target, plan: Plan) -> Choice {
                self.0.choice(space, target, plan)
            }
        }
    };
}

rule_by!(ByGradients, SmoothAcquisition);
rule_by!(ByValues, Acquisition);

/// A rule, and what it needs.
pub(super) enum Search {
    /// A gradient.
    Gradients(ByGradients),
    /// Values alone.
    Values(ByValues),
}

impl Search {
    /// [`BatchRule::choice`] of the rule.
    pub fn choice(&self, space: &SearchSpace, target: Target, plan: Plan) -> Choice {
        match self {
            Self::Gradients(rule) => rule.0.choice(space, target, plan),
            Self::Values(rule) => rule.0.choice(space, target, plan),
        }
    }
}

/// What a rule of the settings `R` needs of an acquisition.
pub(super) trait Needs<R>: fmt::Debug + Send + Sync + 'static {
    /// The rule.
    fn search(rule: R) -> Search;
}

impl<R: for<'a> BatchRule<dyn SmoothAcquisition + 'a> + 'static> Needs<R> for Gradients {
    fn search(rule: R) -> Search {
        Search::Gradients(ByGradients(Arc::new(rule)))
    }
}

impl<R: for<'a> BatchRule<dyn Acquisition + 'a> + 'static> Needs<R> for Values {
    fn search(rule: R) -> Search {
        Search::Values(ByValues::new(rule))
    }
}

/// The settings of a rule, whichever it is.
pub(super) trait AnyRule: Part {
    /// The rule itself.
    fn search(&self) -> Search;
}

/// The settings `R` of a rule that needs `N`.
#[derive(Debug)]
struct Chosen<R, N> {
    rule: R,
    needs: PhantomData<N>,
}

/// A row of the table of rules.
pub(super) const fn rule<R: Written + Clone, N: Needs<R>>() -> Row<dyn AnyRule> {
    Row {
        name: Name::of::<R>(),
        read: |settings| Ok(Arc::new(Chosen { rule: R::read(settings)?, needs: PhantomData::<N> })),
    }
}

impl<R: Written, N: fmt::Debug + Send + Sync + 'static> Part for Chosen<R, N> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn table(&self) -> serde_json::Map<String, serde_json::Value> {
        self.rule.write()
    }

    fn settings(&self) -> &dyn std::any::Any {
        &self.rule
    }
}

impl<R: Written + Clone, N: Needs<R>> AnyRule for Chosen<R, N> {
    fn search(&self) -> Search {
        N::search(self.rule.clone())
    }
}

/// The names of the rules that need no gradients, and no posterior either.
pub(super) fn without_gradients() -> impl Iterator<Item = &'static str> {
    let needs_values = |row: &&Row<dyn AnyRule>| {
        let rule = (row.read)(serde_json::Map::new());
        rule.is_ok_and(|rule| match rule.search() {
            Search::Values(rule) => !rule.0.needs_posterior(),
            Search::Gradients(_) => false,
        })
    };
    RULES.iter().filter(needs_values).map(|row| row.name.name)
}
