//! What a constraint says about a box: bounds forwards, from variables to the result, and backwards, from the result that
//! is wanted to the variables (HC4: Benhamou, Goualard, Granvilliers and Puget, *Revising hull and box consistency*,
//! 1999). Cost: O(nodes) a pass.

use super::expression::{Binary, Comparison, Expression, Node, Test, Unary};
use super::interval::{Interval, Truth, Truths};
use super::variable::Variable;

/// A part of each axis.
pub(super) type Parts = Vec<(f64, f64)>;

/// Whether a variable is active in a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activity {
    Always,
    Sometimes,
    Never,
}

/// What a pass over a constraint found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// No point of the box meets the constraint.
    Broken,
    /// Every point does.
    Met,
    /// Some may.
    Open,
}

/// Room to compute in, kept from one pass to the next.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    numbers: Vec<Interval>,
    truths: Vec<Truths>,
    /// Whether a number must be one of its interval: only such numbers demand anything of their operands.
    demanded: Vec<bool>,
    /// Whether each variable is active.
    pub activity: Vec<Activity>,
}

impl Expression {
    /// Cuts off parts of the box that cannot meet the constraint.
    pub fn narrow(
        &self,
        variables: &[Variable],
        activity: &[Activity],
        parts: &mut Parts,
        scratch: &mut Scratch,
    ) -> Verdict {
        self.forwards(variables, activity, parts, scratch);
        let last = self.nodes.len() - 1;
        let found = scratch.truths[last];
        if found.within(Truths::MET) {
            return Verdict::Met;
        }
        scratch.truths[last] = found.and(Truths::MET);
        match self.backwards(variables, parts, scratch) {
            true => Verdict::Open,
            false => Verdict::Broken,
        }
    }

    /// The first node that has no value anywhere in the box, whatever is active.
    pub fn never_defined(&self, variables: &[Variable], parts: &Parts) -> Option<usize> {
        let mut scratch = Scratch::default();
        let activity = vec![Activity::Always; variables.len()];
        self.forwards(variables, &activity, parts, &mut scratch);
        let is_number = |node: &Node| matches!(node, Node::Unary(..) | Node::Binary(..));
        (0..self.nodes.len()).find(|&i| is_number(&self.nodes[i]) && scratch.numbers[i].is_empty())
    }

    fn forwards(
        &self,
        variables: &[Variable],
        activity: &[Activity],
        parts: &Parts,
        scratch: &mut Scratch,
    ) {
        let Scratch { numbers, truths, demanded, .. } = scratch;
        numbers.clear();
        truths.clear();
        demanded.clear();
        demanded.resize(self.nodes.len(), false);
        for node in &self.nodes {
            let mut truth = Truths::ALL;
            let mut number = Interval::ALL;
            match node {
                Node::Constant(value) => number = Interval::new(*value, *value),
                Node::Variable(variable) => number = variables[*variable].over(parts),
                Node::Unary(operation, a) => number = unary(*operation, &numbers[*a]),
                Node::Binary(operation, a, b) => {
                    number = binary(*operation, &numbers[*a], &numbers[*b]);
                }
                Node::Condition { test, mentions } => {
                    truth = condition(test, mentions, activity, numbers);
                }
                Node::Truth(value) => truth = Truths::one(Truth::of(*value)),
                Node::Not(a) => truth = negated(truths[*a]),
                Node::And(a, b) => truth = truths[*a].combine(truths[*b], Truth::min),
                Node::Or(a, b) => truth = truths[*a].combine(truths[*b], Truth::max),
            }
            numbers.push(number);
            truths.push(truth);
        }
    }

    /// From the truths that are wanted to the parts of the axes; false if nothing is left.
    fn backwards(&self, variables: &[Variable], parts: &mut Parts, scratch: &mut Scratch) -> bool {
        let Scratch { numbers, truths, demanded, .. } = scratch;
        for i in (0..self.nodes.len()).rev() {
            if truths[i].is_empty() || (demanded[i] && numbers[i].is_empty()) {
                return false;
            }
            match &self.nodes[i] {
                Node::Constant(_) | Node::Truth(_) => {}
                Node::Variable(_) | Node::Unary(..) | Node::Binary(..) if !demanded[i] => {}
                Node::Variable(variable) => {
                    if !variables[*variable].narrow(&numbers[i], parts) {
                        return false;
                    }
                }
                Node::Unary(operation, a) => {
                    let wanted = unary_back(*operation, &numbers[i], &numbers[*a]);
                    numbers[*a] = numbers[*a].intersect(&wanted);
                    demanded[*a] = true;
                }
                Node::Binary(operation, a, b) => {
                    let (x, y) = binary_back(*operation, &numbers[i], &numbers[*a], &numbers[*b]);
                    numbers[*a] = numbers[*a].intersect(&x);
                    numbers[*b] = numbers[*b].intersect(&y);
                    (demanded[*a], demanded[*b]) = (true, true);
                }
                Node::Condition { test, .. } => {
                    // Only where it must be true, or must be false: what may be silent demands nothing.
                    let wanted = match truths[i] {
                        only if only == Truths::one(Truth::True) => true,
                        only if only == Truths::one(Truth::False) => false,
                        _ => continue,
                    };
                    demand(test, wanted, numbers);
                    match test {
                        Test::Compare(_, a, b) => (demanded[*a], demanded[*b]) = (true, true),
                        Test::OneOf(a, _) => demanded[*a] = true,
                    }
                }
                Node::Not(a) => truths[*a] = truths[*a].and(negated(truths[i])),
                Node::And(a, b) => {
                    let (x, y) = (truths[*a], truths[*b]);
                    truths[*a] = x.that_reach(truths[i], y, Truth::min);
                    truths[*b] = y.that_reach(truths[i], x, Truth::min).and(truths[*b]);
                }
                Node::Or(a, b) => {
                    let (x, y) = (truths[*a], truths[*b]);
                    truths[*a] = x.that_reach(truths[i], y, Truth::max);
                    truths[*b] = y.that_reach(truths[i], x, Truth::max).and(truths[*b]);
                }
            }
        }
        true
    }
}

fn negated(truths: Truths) -> Truths {
    truths.each().fold(Truths::NONE, |all, truth| all.or(Truths::one(truth.not())))
}

fn unary(operation: Unary, a: &Interval) -> Interval {
    match operation {
        Unary::Negate => a.negate(),
        Unary::Absolute => a.absolute(),
        Unary::Root => a.root(),
        Unary::Log => a.log(),
        Unary::Exp => a.exp(),
    }
}

fn binary(operation: Binary, a: &Interval, b: &Interval) -> Interval {
    match operation {
        Binary::Add => a.add(b),
        Binary::Subtract => a.subtract(b),
        Binary::Multiply => a.multiply(b),
        Binary::Divide => a.divide(b),
        Binary::Power => a.power(b),
        Binary::Min => a.min(b),
        Binary::Max => a.max(b),
    }
}

/// The truths that a condition may have.
fn condition(
    test: &Test,
    mentions: &[usize],
    activity: &[Activity],
    numbers: &[Interval],
) -> Truths {
    let mut truths = Truths::NONE;
    for &variable in mentions {
        match activity[variable] {
            Activity::Always => {}
            Activity::Sometimes => truths = truths.or(Truths::one(Truth::Silent)),
            Activity::Never => return Truths::one(Truth::Silent),
        }
    }
    let mut add = |possible: bool, truth| {
        if possible {
            truths = truths.or(Truths::one(truth));
        }
    };
    match test {
        Test::Compare(comparison, a, b) => {
            let (a, b) = (&numbers[*a], &numbers[*b]);
            add(a.undefined || b.undefined, Truth::Undefined);
            if !a.is_empty() && !b.is_empty() {
                add(possible(*comparison, a, b), Truth::True);
                add(possible(comparison.negated(), a, b), Truth::False);
            }
        }
        Test::OneOf(a, values) => {
            let a = &numbers[*a];
            add(a.undefined, Truth::Undefined);
            if !a.is_empty() {
                let single = a.low == a.high;
                add(values.iter().any(|&value| a.contains(value)), Truth::True);
                add(!(single && values.contains(&a.low)), Truth::False);
            }
        }
    }
    truths
}

/// Whether some numbers of two intervals compare so.
fn possible(comparison: Comparison, a: &Interval, b: &Interval) -> bool {
    match comparison {
        Comparison::Less => a.low < b.high,
        Comparison::AtMost => a.low <= b.high,
        Comparison::Greater => a.high > b.low,
        Comparison::AtLeast => a.high >= b.low,
        Comparison::Equal => a.low <= b.high && b.low <= a.high,
        Comparison::Unequal => !(a.low == a.high && b.low == b.high && a.low == b.low),
    }
}

/// Narrows the operands of a test that must have an outcome.
fn demand(test: &Test, wanted: bool, numbers: &mut [Interval]) {
    match test {
        Test::Compare(comparison, a, b) => {
            let comparison = if wanted { *comparison } else { comparison.negated() };
            let (x, y) = (numbers[*a], numbers[*b]);
            let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
            let (for_a, for_b) = match comparison {
                Comparison::Less | Comparison::AtMost => {
                    (Interval::new(low, y.high), Interval::new(x.low, high))
                }
                Comparison::Greater | Comparison::AtLeast => {
                    (Interval::new(y.low, high), Interval::new(low, x.high))
                }
                Comparison::Equal => (y, x),
                Comparison::Unequal => return,
            };
            numbers[*a] = x.intersect(&for_a);
            numbers[*b] = y.intersect(&for_b);
        }
        Test::OneOf(a, values) if wanted => {
            let inside = values.iter().copied().filter(|&value| numbers[*a].contains(value));
            let (low, high) = inside
                .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
            numbers[*a] = numbers[*a].intersect(&Interval::new(low, high));
        }
        Test::OneOf(..) => {}
    }
}

/// The operands that can give a number of `z`. What is not known to be defined is left alone.
fn unary_back(operation: Unary, z: &Interval, x: &Interval) -> Interval {
    match operation {
        Unary::Negate => z.negate(),
        Unary::Absolute if x.low >= 0.0 => *z,
        Unary::Absolute if x.high <= 0.0 => z.negate(),
        Unary::Absolute => Interval::new(-z.high, z.high),
        Unary::Root => {
            let low = z.low.max(0.0);
            Interval::new(low * low, z.high * z.high).loosened()
        }
        Unary::Log => Interval::new(z.low.exp(), z.high.exp()).loosened(),
        Unary::Exp => {
            let low = if z.low > 0.0 { z.low.ln() } else { f64::NEG_INFINITY };
            let high = if z.high > 0.0 { z.high.ln() } else { return Interval::NONE };
            Interval::new(low, high).loosened()
        }
    }
}

/// The operands of both sides that can give a number of `z`.
fn binary_back(
    operation: Binary,
    z: &Interval,
    x: &Interval,
    y: &Interval,
) -> (Interval, Interval) {
    let free = Interval::ALL;
    let scale = z.magnitude().max(x.magnitude()).max(y.magnitude());
    // A quotient whose divisor may be zero says nothing.
    let quotient = |a: &Interval, b: &Interval| match b.contains(0.0) {
        true => free,
        false => a.divide(b).loosened(),
    };
    match operation {
        Binary::Add => (z.subtract(y).widened(scale), z.subtract(x).widened(scale)),
        Binary::Subtract => (z.add(y).widened(scale), x.subtract(z).widened(scale)),
        Binary::Multiply => (quotient(z, y), quotient(z, x)),
        Binary::Divide => {
            let numerator = if y.is_empty() { free } else { z.multiply(y).loosened() };
            (numerator, quotient(x, z))
        }
        Binary::Power if x.low >= 0.0 && y.low == y.high && y.low > 0.0 => {
            let root = |value: f64| value.max(0.0).powf(1.0 / y.low);
            // The root of a rounded power is off by a few roundings, divided by the exponent where it is small.
            let base = Interval::new(root(z.low), root(z.high));
            let slack = base.magnitude() * (1.0 + 1.0 / y.low);
            (base.widened(slack), free)
        }
        Binary::Power => (free, free),
        Binary::Min => {
            let other = |y: &Interval| {
                let high = if y.low > z.high { z.high } else { f64::INFINITY };
                Interval::new(z.low, high)
            };
            (other(y), other(x))
        }
        Binary::Max => {
            let other = |y: &Interval| {
                let low = if y.high < z.low { z.low } else { f64::NEG_INFINITY };
                Interval::new(low, z.high)
            };
            (other(y), other(x))
        }
    }
}
