//! From text to a checked expression.
//!
//! ```text
//! constraint  = "if" constraint "then" constraint [ "else" constraint ] | any
//! any         = all { "or" all }
//! all         = each { "and" each }
//! each        = "not" each | comparison
//! comparison  = sum { ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum } | sum [ "not" ] "in" "{" value { "," value } "}"
//! sum         = product { ( "+" | "-" ) product }
//! product     = sign { ( "*" | "/" ) sign }
//! sign        = "-" sign | power
//! power       = atom [ "^" sign ]
//! atom        = number | text | "true" | "false" | name | function "(" constraint { "," constraint } ")" | "(" constraint ")"
//! ```
//!
//! A chain `1 <= a <= b` means that each of its comparisons holds. Choices are compared by their level, which is why
//! ordinal ones have an order. Types are checked on the way, so that a mistake is found where it stands.

use std::ops::Range;

use super::expression::{Binary, Comparison, Expression, Node, Test, Unary};
use super::lexer::{Token, Word, is_plain, words};
use super::mistake::Mistake;
use super::variable::{Meaning, Variable};
use crate::named::spelling::{edits, nearest};
use crate::space::Value;

/// The longest constraint, in bytes.
const LONGEST: usize = 4_096;
/// The deepest nesting of parentheses, signs and conditions: the parser is as deep in the stack.
const DEEPEST: usize = 64;

const FUNCTIONS: [&str; 7] = ["min", "max", "abs", "sqrt", "log", "exp", "pow"];

type Parsed<T> = Result<T, Mistake>;

/// What the names of an expression mean.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vocabulary<'v> {
    pub variables: &'v [Variable],
    /// Shares by the name of the whole, which has no value of its own.
    pub wholes: &'v [(String, Vec<String>)],
    /// Whether only listed configurations may be chosen, of which an equality of real numbers can leave some.
    pub listed: bool,
}

pub(super) fn parse(text: &str, vocabulary: Vocabulary<'_>) -> Parsed<Expression> {
    if text.len() > LONGEST {
        let message =
            format!("the constraint has {} bytes, but may have {LONGEST}; split it", text.len());
        return Err(Mistake::at(0..0, message));
    }
    let mut parser = Parser {
        tokens: words(text)?,
        next: 0,
        depth: 0,
        vocabulary,
        nodes: Vec::new(),
        spans: Vec::new(),
    };
    if parser.peek() == &Word::End {
        return Err(Mistake::at(0..0, "the constraint is empty"));
    }
    let whole = parser.constraint()?;
    parser.expect_end()?;
    let truth = parser.truth(whole)?;
    // The last node is the constraint, whatever was put down last.
    if truth.node + 1 != parser.nodes.len() {
        let twice = Node::And(truth.node, truth.node);
        parser.push(twice, truth.span.clone());
    }
    let mut variables = truth.variables;
    variables.sort_unstable();
    variables.dedup();
    Ok(Expression { nodes: parser.nodes, spans: parser.spans, variables })
}

struct Parser<'v> {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    vocabulary: Vocabulary<'v>,
    nodes: Vec<Node>,
    spans: Vec<Range<usize>>,
}

/// A part of the expression and what it is.
#[derive(Debug, Clone)]
struct Part {
    kind: Kind,
    node: usize,
    span: Range<usize>,
    /// The variables in it.
    variables: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Number,
    Truth,
    /// A variable with choices: its node has the level.
    Choice(usize),
    /// Text, which only means something beside a choice.
    Text(String),
}

impl Kind {
    fn words(&self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Truth => "true or false",
            Self::Choice(_) => "a choice",
            Self::Text(_) => "text",
        }
    }
}

impl Parser<'_> {
    fn peek(&self) -> &Word {
        &self.tokens[self.next].word
    }

    fn span(&self) -> Range<usize> {
        self.tokens[self.next].span.clone()
    }

    fn take(&mut self) -> Token {
        let token = self.tokens[self.next].clone();
        // The last token is the end, and stays.
        self.next = (self.next + 1).min(self.tokens.len() - 1);
        token
    }

    fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.peek(), Word::Symbol(found) if *found == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Word::Name(found) if found == word)
    }

    /// Takes one of these symbols, if it is next.
    fn symbol(&mut self, symbols: &[&'static str]) -> Option<&'static str> {
        let found = symbols.iter().find(|symbol| self.is_symbol(symbol))?;
        self.take();
        Some(found)
    }

    fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.take();
        }
        found
    }

    fn expect(&mut self, symbol: &'static str, after: &str) -> Parsed<()> {
        match self.symbol(&[symbol]) {
            Some(_) => Ok(()),
            None => Err(self.unexpected(&format!("`{symbol}` {after}"))),
        }
    }

    fn unexpected(&self, wanted: &str) -> Mistake {
        unexpected(self.peek(), self.span(), wanted)
    }

    fn expect_end(&self) -> Parsed<()> {
        if self.peek() == &Word::End {
            return Ok(());
        }
        Err(self.unexpected("an operator, or the end,"))
    }

    fn push(&mut self, node: Node, span: Range<usize>) -> usize {
        self.nodes.push(node);
        self.spans.push(span);
        self.nodes.len() - 1
    }

    fn constant(&mut self, value: f64, span: Range<usize>) -> Part {
        let node = self.push(Node::Constant(value), span.clone());
        Part { kind: Kind::Number, node, span, variables: Vec::new() }
    }

    /// A part made of two.
    fn joined(&mut self, kind: Kind, node: Node, a: &Part, b: &Part) -> Part {
        let span = a.span.start.min(b.span.start)..a.span.end.max(b.span.end);
        let node = self.push(node, span.clone());
        let variables = a.variables.iter().chain(&b.variables).copied().collect();
        Part { kind, node, span, variables }
    }

    /// Runs a rule that may contain itself.
    fn nested(&mut self, rule: fn(&mut Self) -> Parsed<Part>) -> Parsed<Part> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let message = format!("the constraint is nested more than {DEEPEST} deep; split it");
            return Err(Mistake::at(self.span(), message));
        }
        let part = rule(self);
        self.depth -= 1;
        part
    }

    fn constraint(&mut self) -> Parsed<Part> {
        if !self.is_word("if") {
            return self.any();
        }
        let start = self.take().span.start;
        let premise = self.nested(Self::constraint)?;
        let premise = self.truth(premise)?;
        if !self.word("then") {
            return Err(self.unexpected("`then`"));
        }
        let conclusion = self.nested(Self::constraint)?;
        let conclusion = self.truth(conclusion)?;
        let not = self.push(Node::Not(premise.node), premise.span.clone());
        let mut whole =
            self.joined(Kind::Truth, Node::Or(not, conclusion.node), &premise, &conclusion);
        if self.word("else") {
            let otherwise = self.nested(Self::constraint)?;
            let otherwise = self.truth(otherwise)?;
            let second = Node::Or(premise.node, otherwise.node);
            let second = self.joined(Kind::Truth, second, &premise, &otherwise);
            whole = self.joined(Kind::Truth, Node::And(whole.node, second.node), &whole, &second);
        }
        whole.span.start = start;
        Ok(whole)
    }

    fn any(&mut self) -> Parsed<Part> {
        let mut whole = self.all()?;
        while self.word("or") {
            let next = self.all()?;
            let (a, b) = (self.truth(whole)?, self.truth(next)?);
            whole = self.joined(Kind::Truth, Node::Or(a.node, b.node), &a, &b);
        }
        Ok(whole)
    }

    fn all(&mut self) -> Parsed<Part> {
        let mut whole = self.each()?;
        while self.word("and") {
            let next = self.each()?;
            let (a, b) = (self.truth(whole)?, self.truth(next)?);
            whole = self.joined(Kind::Truth, Node::And(a.node, b.node), &a, &b);
        }
        Ok(whole)
    }

    fn each(&mut self) -> Parsed<Part> {
        if !self.is_word("not") {
            return self.comparison();
        }
        let start = self.take().span.start;
        let inner = self.nested(Self::each)?;
        let inner = self.truth(inner)?;
        Ok(self.negation(inner, start))
    }

    fn negation(&mut self, inner: Part, start: usize) -> Part {
        let span = start.min(inner.span.start)..inner.span.end;
        let node = self.push(Node::Not(inner.node), span.clone());
        Part { node, span, ..inner }
    }

    fn comparison(&mut self) -> Parsed<Part> {
        const SIGNS: [(&str, Comparison); 6] = [
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let mut left = self.sum()?;
        let not_in = self.is_word("not")
            && matches!(&self.tokens.get(self.next + 1).map(|token| &token.word),
                Some(Word::Name(name)) if name == "in");
        if not_in {
            self.take();
        }
        if self.word("in") {
            let start = left.span.start;
            let member = self.membership(left)?;
            return Ok(if not_in { self.negation(member, start) } else { member });
        }
        let mut whole: Option<Part> = None;
        while let Some((_, comparison)) = SIGNS.iter().find(|(sign, _)| self.is_symbol(sign)) {
            self.take();
            let right = self.sum()?;
            let link = self.compare(*comparison, &left, &right)?;
            whole = Some(match whole {
                None => link,
                Some(before) => {
                    let both = Node::And(before.node, link.node);
                    self.joined(Kind::Truth, both, &before, &link)
                }
            });
            left = right;
        }
        Ok(whole.unwrap_or(left))
    }

    /// One comparison, of parts whose kinds must go together.
    fn compare(&mut self, comparison: Comparison, a: &Part, b: &Part) -> Parsed<Part> {
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

    fn condition(&mut self, test: Test, a: &Part, b: &Part) -> Part {
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
    fn refuse_real_equality(&self, comparison: Comparison, a: &Part, b: &Part) -> Parsed<()> {
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
    fn level(&self, variable: usize, part: &Part) -> Parsed<f64> {
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

    /// `in { … }`, of which `in` is taken.
    fn membership(&mut self, part: Part) -> Parsed<Part> {
        let close = match self.symbol(&["{", "["]) {
            Some("{") => "}",
            Some(_) => "]",
            None => return Err(self.unexpected("`{`, as in `x in {1, 2}`,")),
        };
        let mut values = Vec::new();
        let mut last;
        loop {
            let start = self.nodes.len();
            let value = self.nested(Self::sign)?;
            values.push(match (&part.kind, &value.kind) {
                (Kind::Choice(variable), _) => self.level(*variable, &value)?,
                (Kind::Number, Kind::Number) => match self.nodes[value.node] {
                    Node::Constant(value) => value,
                    // The only other constants are negative numbers.
                    Node::Unary(Unary::Negate, inner) => match self.nodes[inner] {
                        Node::Constant(value) => -value,
                        _ => {
                            return Err(Mistake::at(
                                value.span,
                                "only plain numbers may stand here",
                            ));
                        }
                    },
                    _ => return Err(Mistake::at(value.span, "only plain numbers may stand here")),
                },
                (left, right) => {
                    let message =
                        format!("{} is never {}, which stands here", left.words(), right.words());
                    return Err(Mistake::at(value.span, message));
                }
            });
            // The values are kept in the test.
            self.nodes.truncate(start);
            self.spans.truncate(start);
            last = Part { variables: Vec::new(), ..value };
            if self.symbol(&[","]).is_none() {
                break;
            }
        }
        self.expect(close, "after the values")?;
        if matches!(part.kind, Kind::Number) {
            self.refuse_real_equality(Comparison::Equal, &part, &last)?;
        }
        let test = Test::OneOf(part.node, values);
        Ok(self.condition(test, &part, &last))
    }

    fn sum(&mut self) -> Parsed<Part> {
        let mut whole = self.product()?;
        while let Some(sign) = self.symbol(&["+", "-"]) {
            let operation = if sign == "+" { Binary::Add } else { Binary::Subtract };
            let next = self.product()?;
            whole = self.arithmetic(operation, &whole, &next)?;
        }
        Ok(whole)
    }

    fn product(&mut self) -> Parsed<Part> {
        let mut whole = self.sign()?;
        while let Some(sign) = self.symbol(&["*", "/"]) {
            let operation = if sign == "*" { Binary::Multiply } else { Binary::Divide };
            let next = self.sign()?;
            whole = self.arithmetic(operation, &whole, &next)?;
        }
        Ok(whole)
    }

    fn sign(&mut self) -> Parsed<Part> {
        if !self.is_symbol("-") {
            return self.power();
        }
        let start = self.take().span.start;
        let inner = self.nested(Self::sign)?;
        self.unary(Unary::Negate, inner, start)
    }

    fn power(&mut self) -> Parsed<Part> {
        let base = self.atom()?;
        if self.symbol(&["^"]).is_none() {
            return Ok(base);
        }
        let exponent = self.nested(Self::sign)?;
        self.arithmetic(Binary::Power, &base, &exponent)
    }

    fn atom(&mut self) -> Parsed<Part> {
        let Token { word, span } = self.take();
        match word {
            Word::Number(value) => Ok(self.constant(value, span)),
            Word::Text(text) => {
                Ok(Part { kind: Kind::Text(text), node: usize::MAX, span, variables: Vec::new() })
            }
            Word::Name(name) if name == "true" || name == "false" => {
                let node = self.push(Node::Truth(name == "true"), span.clone());
                Ok(Part { kind: Kind::Truth, node, span, variables: Vec::new() })
            }
            Word::Name(name) if self.is_symbol("(") => self.call(&name, span),
            Word::Name(name) | Word::Quoted(name) => self.parameter(&name, span),
            Word::Symbol("(") => {
                let mut inner = self.nested(Self::constraint)?;
                let end = self.span().end;
                self.expect(")", "to close the parenthesis")?;
                inner.span = span.start..end;
                Ok(inner)
            }
            Word::Symbol(_) | Word::End => Err(unexpected(&word, span, "a parameter or a value")),
        }
    }

    fn parameter(&mut self, name: &str, span: Range<usize>) -> Parsed<Part> {
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

    /// A function of which the name is taken.
    fn call(&mut self, name: &str, span: Range<usize>) -> Parsed<Part> {
        if !FUNCTIONS.contains(&name) {
            let near = nearest(name, FUNCTIONS)
                .filter(|near| edits(name, near) <= 2)
                .map_or(String::new(), |near| format!("; the nearest is `{near}`"));
            let list = FUNCTIONS.join(", ");
            let message = format!("there is no function `{name}`; there are {list}{near}");
            return Err(Mistake::at(span, message));
        }
        self.expect("(", "after a function")?;
        let mut arguments = vec![self.nested(Self::constraint)?];
        while self.symbol(&[","]).is_some() {
            arguments.push(self.nested(Self::constraint)?);
        }
        let end = self.span().end;
        self.expect(")", "after the arguments")?;
        let wanted = match name {
            "min" | "max" => 2..=usize::MAX,
            "pow" => 2..=2,
            _ => 1..=1,
        };
        if !wanted.contains(&arguments.len()) {
            let message = format!(
                "`{name}` takes {}, not {}",
                match name {
                    "min" | "max" => "two numbers or more",
                    "pow" => "two numbers",
                    _ => "one number",
                },
                arguments.len()
            );
            return Err(Mistake::at(span.start..end, message));
        }
        let mut rest = arguments.into_iter();
        let mut whole = match rest.next() {
            Some(first) => first,
            None => return Err(Mistake::at(span, "a function needs a number")),
        };
        let unary = match name {
            "abs" => Some(Unary::Absolute),
            "sqrt" => Some(Unary::Root),
            "log" => Some(Unary::Log),
            "exp" => Some(Unary::Exp),
            _ => None,
        };
        if let Some(operation) = unary {
            whole = self.unary(operation, whole, span.start)?;
        }
        let operation = match name {
            "min" => Binary::Min,
            "max" => Binary::Max,
            _ => Binary::Power,
        };
        for next in rest {
            whole = self.arithmetic(operation, &whole, &next)?;
        }
        whole.span = span.start..end;
        self.spans[whole.node] = whole.span.clone();
        Ok(whole)
    }

    fn unary(&mut self, operation: Unary, inner: Part, start: usize) -> Parsed<Part> {
        let inner = self.number(inner)?;
        let span = start..inner.span.end;
        let node = self.push(Node::Unary(operation, inner.node), span.clone());
        Ok(Part { node, span, ..inner })
    }

    fn arithmetic(&mut self, operation: Binary, a: &Part, b: &Part) -> Parsed<Part> {
        let (a, b) = (self.number(a.clone())?, self.number(b.clone())?);
        Ok(self.joined(Kind::Number, Node::Binary(operation, a.node, b.node), &a, &b))
    }

    fn number(&self, part: Part) -> Parsed<Part> {
        match part.kind {
            Kind::Number => Ok(part),
            kind => {
                let message = format!("this is {}, where a number is expected", kind.words());
                Err(Mistake::at(part.span, message))
            }
        }
    }

    fn truth(&self, part: Part) -> Parsed<Part> {
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

/// The mistake of a word that does not belong where it is.
fn unexpected(word: &Word, span: Range<usize>, wanted: &str) -> Mistake {
    let found = match word {
        Word::End => "the constraint ends".to_owned(),
        Word::Number(value) => format!("`{value}` stands"),
        Word::Text(text) => format!("{text:?} stands"),
        Word::Name(name) | Word::Quoted(name) => format!("`{name}` stands"),
        Word::Symbol(symbol) => format!("`{symbol}` stands"),
    };
    Mistake::at(span, format!("{found} where {wanted} is expected"))
}
