//! A constraint, compiled: its operations in the order in which they are computed.
//!
//! The parser has checked types, so that nothing can go wrong here, and nothing recurses: an expression is a list of
//! nodes, each of which reads earlier ones. Truths are kept as numbers beside the other values, in the order of
//! [`Truth`].

use std::ops::Range;

use super::interval::Truth;

/// A constraint over the variables of a space.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    pub nodes: Vec<Node>,
    /// Where each node stands in the text.
    pub spans: Vec<Range<usize>>,
    /// The variables that it mentions, ascending.
    pub variables: Vec<usize>,
}

/// An operation on earlier nodes, which are given by their index.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Constant(f64),
    /// A variable, by its index.
    Variable(usize),
    Unary(Unary, usize),
    Binary(Binary, usize, usize),
    /// A condition on numbers. It is silent where one of the variables `mentions` is inactive.
    Condition {
        test: Test,
        mentions: Vec<usize>,
    },
    Truth(bool),
    Not(usize),
    And(usize, usize),
    Or(usize, usize),
}

/// A condition on numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Test {
    Compare(Comparison, usize, usize),
    /// Whether a number is one of these.
    OneOf(usize, Vec<f64>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unary {
    Negate,
    Absolute,
    Root,
    Log,
    Exp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    AtMost,
    Greater,
    AtLeast,
    Equal,
    Unequal,
}

impl Comparison {
    pub fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::Greater => a > b,
            Self::AtLeast => a >= b,
            Self::Equal => a == b,
            Self::Unequal => a != b,
        }
    }

    /// That which holds where this one does not.
    pub fn negated(self) -> Self {
        match self {
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::Greater,
            Self::Greater => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Equal => Self::Unequal,
            Self::Unequal => Self::Equal,
        }
    }

    /// The same with its sides exchanged.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            same => same,
        }
    }

    /// Whether it asks for an order.
    pub fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::Unequal)
    }
}

/// The number, or NaN, which stands for undefined, if it is not finite.
fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::NAN }
}

impl Unary {
    fn apply(self, a: f64) -> f64 {
        finite(match self {
            Self::Negate => -a,
            Self::Absolute => a.abs(),
            Self::Root => a.sqrt(),
            Self::Log => a.ln(),
            Self::Exp => a.exp(),
        })
    }
}

impl Binary {
    fn apply(self, a: f64, b: f64) -> f64 {
        finite(match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            // Of what is undefined, every power is: also the zeroth.
            Self::Power if a.is_nan() || b.is_nan() => f64::NAN,
            Self::Power => a.powf(b),
            Self::Min | Self::Max if a.is_nan() || b.is_nan() => f64::NAN,
            Self::Min => a.min(b),
            Self::Max => a.max(b),
        })
    }
}

impl Expression {
    /// Whether the constraint is met by these values of the variables; NaN where one is inactive. `slots` is room to
    /// compute in.
    pub fn is_met(&self, values: &[f64], slots: &mut Vec<f64>) -> bool {
        slots.clear();
        for node in &self.nodes {
            let slot = match node {
                Node::Constant(value) => *value,
                Node::Variable(variable) => values[*variable],
                Node::Unary(operation, a) => operation.apply(slots[*a]),
                Node::Binary(operation, a, b) => operation.apply(slots[*a], slots[*b]),
                Node::Condition { test, mentions } => {
                    let silent = mentions.iter().any(|&variable| values[variable].is_nan());
                    f64::from(truth(test, silent, slots) as u8)
                }
                Node::Truth(truth) => f64::from(Truth::of(*truth) as u8),
                Node::Not(a) => match slots[*a] {
                    0.0 => 3.0,
                    3.0 => 0.0,
                    other => other,
                },
                Node::And(a, b) => slots[*a].min(slots[*b]),
                Node::Or(a, b) => slots[*a].max(slots[*b]),
            };
            slots.push(slot);
        }
        slots.last().is_some_and(|&truth| truth >= f64::from(Truth::Silent as u8))
    }
}

fn truth(test: &Test, silent: bool, slots: &[f64]) -> Truth {
    if silent {
        return Truth::Silent;
    }
    match test {
        Test::Compare(_, a, b) if slots[*a].is_nan() || slots[*b].is_nan() => Truth::Undefined,
        Test::Compare(comparison, a, b) => Truth::of(comparison.holds(slots[*a], slots[*b])),
        Test::OneOf(a, _) if slots[*a].is_nan() => Truth::Undefined,
        Test::OneOf(a, values) => Truth::of(values.contains(&slots[*a])),
    }
}
