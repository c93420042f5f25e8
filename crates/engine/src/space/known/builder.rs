//! The nodes of an expression as they are put together, with types checked on the way.
//!
//! Choices are compared by their level, which is why ordinal ones have an order.

use std::ops::Range;

use super::expression::{Binary, Comparison, Node, Test, Unary};
use super::lexer::is_plain;
use super::mistake::Mistake;
use super::variable::{Meaning, Variable};
use crate::named::spelling::{edits, nearest};
use crate::space::Value;

pub(super) type Parsed<T> = Result<T, Mistake>;

/// What the names of an expression mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vocabulary<'v> {
    pub variables: &'v [Variable],
    /// Shares by the name of the whole, which has no value of its own.
    pub wholes: &'v [(String, Vec<String>)],
    /// Whether only listed configurations may be chosen, of which an equality of real numbers can leave some.
    pub listed: bool,
}

/// A part of the expression and what it is.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub kind: Kind,
    pub node: usize,
    pub span: Range<usize>,
    /// The variables in it.
    pub variables: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number,
    Truth,
    /// A variable with choices: its node has the level.
    Choice(usize),
    /// Text, which only means something beside a choice.
    Text(String),
}

impl Kind {
    pub fn words(&self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Truth => "true or false",
            Self::Choice(_) => "a choice",
            Self::Text(_) => "text",
        }
    }
}

/// An expression that is not finished.
pub(super) struct Builder<'v> {
    pub vocabulary: Vocabulary<'v>,
    pub nodes: Vec<Node>,
    pub spans: Vec<Range<usize>>,
}

impl<'v> Builder<'v> {
    pub fn new(vocabulary: Vocabulary<'v>) -> Self {
        Self { vocabulary, nodes: Vec::new(), spans: Vec::new() }
    }

    pub fn push(&mut self, node: Node, span: Range<usize>) -> usize {
        self.nodes.push(node);
        self.spans.push(span);
        self.nodes.len() - 1
    }

    pub fn constant(&mut self, value: f64, span: Range<usize>) -> Part {
        let node = self.push(Node::Constant(value), span.clone());
        Part { kind: Kind::Number, node, span, variables: Vec::new() }
    }

    /// A part made of two.
    pub fn joined(&mut self, kind: Kind, node: Node, a: &Part, b: &Part) -> Part {
        let span = a.span.start.min(b.span.start)..a.span.end.max(b.span.end);
        let node = self.push(node, span.clone());
        let variables = a.variables.iter().chain(&b.variables).copied().collect();
        Part { kind, node, span, variables }
    }

    pub fn negation(&mut self, inner: Part, start: usize) -> Part {
        let span = start.min(inner.span.start)..inner.span.end;
        let node = self.push(Node::Not(inner.node), span.clone());
        Part { node, span, ..inner }
    }

    /// One comparison, of parts whose kinds must go together.
    pub fn compare(&mut self, comparison: Comparison, a: &Part, b: &Part) -> Parsed<Part> {
        let (node_a, node_b) = match (&a.kind, &b.kind) {
            (Kind::Number, Kind::Number) => {
                self.refuse_real_equality(comparison, a, b)?;
                (a.node, b.node)
            }
            (Kind::Truth, Kind::Truth) if !comparison.orders() => {
                return Ok(self.same_truth(comparison, a, b));
            }
            (Kind::Choice(x), Kind::Choice(y)) => {
                let (x, y) = (&self.vocabulary.variables[*x], &self.vocabulary.variables[*y]);
                if x.choices() != y.choices() {
                    let message = format!("`{}` and `{}` have different choices", x.name, y.name);
                    return Err(Mistake::at(b.span.clone(), message));
                }
                self.refuse_order(comparison, a)?;
                (a.node, b.node)
            }
            (Kind::Choice(x), _) => {
                self.refuse_order(comparison, a)?;
                let level = self.level(*x, b)?;
                (a.node, self.constant(level, b.span.clone()).node)
            }
            (_, Kind::Choice(_)) => return self.compare(comparison.mirrored(), b, a),
            _ => {
                let message =
                    format!("{} cannot be compared with {}", a.kind.words(), b.kind.words());
                return Err(Mistake::at(a.span.start..b.span.end, message));
            }
        };
        let test = Test::Compare(comparison, node_a, node_b);
        Ok(self.condition(test, a, b))
    }

    pub fn condition(&mut self, test: Test, a: &Part, b: &Part) -> Part {
        let conditional = |&variable: &usize| self.vocabulary.variables[variable].conditional;
        let mentions = a.variables.iter().chain(&b.variables).copied();
        let mut mentions: Vec<usize> = mentions.filter(conditional).collect();
        mentions.sort_unstable();
        mentions.dedup();
        self.joined(Kind::Truth, Node::Condition { test, mentions }, a, b)
    }

    /// Whether two truths are the same, or not.
    fn same_truth(&mut self, comparison: Comparison, a: &Part, b: &Part) -> Part {
        let span = a.span.start.min(b.span.start)..a.span.end.max(b.span.end);
        let not_a = self.push(Node::Not(a.node), span.clone());
        let not_b = self.push(Node::Not(b.node), span.clone());
        let (first, second) = match comparison {
            Comparison::Unequal => ((a.node, not_b), (not_a, b.node)),
            _ => ((a.node, b.node), (not_a, not_b)),
        };
        let first = self.push(Node::And(first.0, first.1), span.clone());
        let second = self.push(Node::And(second.0, second.1), span);
        self.joined(Kind::Truth, Node::Or(first, second), a, b)
    }

    /// An equality of real numbers leaves a set without volume.
    pub fn refuse_real_equality(&self, comparison: Comparison, a: &Part, b: &Part) -> Parsed<()> {
        let mut mentioned = a.variables.iter().chain(&b.variables);
        let variables = self.vocabulary.variables;
        if comparison != Comparison::Equal || self.vocabulary.listed {
            return Ok(());
        }
        let Some(real) = mentioned.find(|&&variable| variables[variable].is_real()) else {
            return Ok(());
        };
        let name = &variables[*real].name;
        let message = format!(
            "`{name}` is real, and an equality of real numbers leaves next to no configuration; \
             for parts of a whole use a dimension of the type `shares`, otherwise compute one parameter \
             from the others in the command, or allow a margin: abs(… - …) <= 0.01"
        );
        Err(Mistake::at(a.span.start..b.span.end, message))
    }

    fn refuse_order(&self, comparison: Comparison, a: &Part) -> Parsed<()> {
        let Kind::Choice(variable) = a.kind else { return Ok(()) };
        let variable = &self.vocabulary.variables[variable];
        if comparison.orders() && !variable.is_ordered() {
            let message = format!(
                "the choices of `{}` have no order; compare with == or !=, or make it ordinal",
                variable.name
            );
            return Err(Mistake::at(a.span.clone(), message));
        }
        Ok(())
    }

    /// The level of a written choice of a variable.
    pub fn level(&self, variable: usize, part: &Part) -> Parsed<f64> {
        let value = match (&part.kind, self.nodes.get(part.node)) {
            (Kind::Text(text), _) => Some(Value::from(text.as_str())),
            (Kind::Number, Some(Node::Constant(value))) => Some(Value::Real(*value)),
            (Kind::Truth, Some(Node::Truth(value))) => Some(Value::Boolean(*value)),
            _ => None,
        };
        let variable = &self.vocabulary.variables[variable];
        let choices = variable.choices();
        let found = value.as_ref().and_then(|value| {
            choices.iter().position(|choice| choice.key() == value.key()).map(|level| level as f64)
        });
        found.ok_or_else(|| {
            let texts: Vec<&str> = choices.iter().filter_map(Value::as_text).collect();
            let hint = match &part.kind {
                Kind::Text(text) => nearest(text, texts.iter().copied())
                    .map_or(String::new(), |near| format!("; the nearest is {near:?}")),
                _ => String::new(),
            };
            let list = crate::space::value::list(choices);
            let shown = value.map_or_else(|| part.kind.words().to_owned(), |value| value.quoted());
            let message =
                format!("{shown} is none of the choices of `{}`: {list}{hint}", variable.name);
            Mistake::at(part.span.clone(), message)
        })
    }

    pub fn parameter(&mut self, name: &str, span: Range<usize>) -> Parsed<Part> {
        let variables = self.vocabulary.variables;
        let Some(index) = variables.iter().position(|variable| variable.name == name) else {
            return Err(self.unknown(name, span));
        };
        let node = self.push(Node::Variable(index), span.clone());
        let kind = match variables[index].meaning {
            Meaning::Number => Kind::Number,
            Meaning::Choice { .. } => Kind::Choice(index),
            Meaning::Flag => Kind::Truth,
        };
        let mut part = Part { kind, node, span, variables: vec![index] };
        if part.kind == Kind::Truth {
            let one = self.constant(1.0, part.span.clone());
            let test = Test::Compare(Comparison::Equal, part.node, one.node);
            part = self.condition(test, &part, &one);
        }
        Ok(part)
    }

    /// The mistake of a name that means nothing here.
    fn unknown(&self, name: &str, span: Range<usize>) -> Mistake {
        if let Some((_, members)) = self.vocabulary.wholes.iter().find(|(whole, _)| whole == name) {
            let message = format!("`{name}` is a whole; its shares are {}", members.join(", "));
            return Mistake::at(span, message);
        }
        let names = self.vocabulary.variables.iter().map(|variable| variable.name.as_str());
        let list = names.clone().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        // A name that is not a plain word was perhaps cut at a hyphen or a space.
        let mut whole = names.clone().filter(|whole| !is_plain(whole));
        let cut = whole.find(|whole| whole.starts_with(name) || whole.ends_with(name));
        let near = nearest(name, names)
            .filter(|near| edits(name, near) <= near.chars().count().max(2) / 2);
        let hint = match (cut, near) {
            (Some(whole), _) => {
                format!("; write `{whole}` in backticks, since it is not a plain word")
            }
            (None, Some(near)) => format!("; the nearest is `{near}`"),
            (None, None) => format!("; there are {list}. Text stands in quotes"),
        };
        Mistake::at(span, format!("there is no parameter `{name}`{hint}"))
    }

    pub fn unary(&mut self, operation: Unary, inner: Part, start: usize) -> Parsed<Part> {
        let inner = self.number(inner)?;
        let span = start..inner.span.end;
        let node = self.push(Node::Unary(operation, inner.node), span.clone());
        Ok(Part { node, span, ..inner })
    }

    pub fn arithmetic(&mut self, operation: Binary, a: &Part, b: &Part) -> Parsed<Part> {
        let (a, b) = (self.number(a.clone())?, self.number(b.clone())?);
        Ok(self.joined(Kind::Number, Node::Binary(operation, a.node, b.node), &a, &b))
    }

    pub fn number(&self, part: Part) -> Parsed<Part> {
        match part.kind {
            Kind::Number => Ok(part),
            kind => {
                let message = format!("this is {}, where a number is expected", kind.words());
                Err(Mistake::at(part.span, message))
            }
        }
    }

    pub fn truth(&self, part: Part) -> Parsed<Part> {
        match part.kind {
            Kind::Truth => Ok(part),
            kind => {
                let message = format!(
                    "this is {}, where a condition is expected, such as `… <= 10`",
                    kind.words()
                );
                Err(Mistake::at(part.span, message))
            }
        }
    }
}
