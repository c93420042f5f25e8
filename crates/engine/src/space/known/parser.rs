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
//! A chain `1 <= a <= b` means that each of its comparisons holds. Types are checked on the way (builder.rs), so that a
//! mistake is found where it stands.

use std::ops::Range;

use super::builder::{Builder, Kind, Parsed, Part, Vocabulary};
use super::expression::{Binary, Comparison, Expression, Node, Test, Unary};
use super::lexer::{Token, Word, words};
use super::mistake::Mistake;
use crate::named::spelling::{edits, nearest};

/// The longest constraint, in bytes.
const LONGEST: usize = 4_096;
/// The deepest nesting of parentheses, signs and conditions: the parser is as deep in the stack.
const DEEPEST: usize = 64;

const FUNCTIONS: [&str; 7] = ["min", "max", "abs", "sqrt", "log", "exp", "pow"];

pub(super) fn parse(text: &str, vocabulary: Vocabulary<'_>) -> Parsed<Expression> {
    if text.len() > LONGEST {
        let message =
            format!("the constraint has {} bytes, but may have {LONGEST}; split it", text.len());
        return Err(Mistake::at(0..0, message));
    }
    let mut parser =
        Parser { tokens: words(text)?, next: 0, depth: 0, build: Builder::new(vocabulary) };
    if parser.peek() == &Word::End {
        return Err(Mistake::at(0..0, "the constraint is empty"));
    }
    let whole = parser.constraint()?;
    parser.expect_end()?;
    let truth = parser.build.truth(whole)?;
    // The last node is the constraint, whatever was put down last.
    if truth.node + 1 != parser.build.nodes.len() {
        let twice = Node::And(truth.node, truth.node);
        parser.build.push(twice, truth.span.clone());
    }
    let mut variables = truth.variables;
    variables.sort_unstable();
    variables.dedup();
    Ok(Expression { nodes: parser.build.nodes, spans: parser.build.spans, variables })
}

struct Parser<'v> {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
    build: Builder<'v>,
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
        let premise = self.build.truth(premise)?;
        if !self.word("then") {
            return Err(self.unexpected("`then`"));
        }
        let conclusion = self.nested(Self::constraint)?;
        let conclusion = self.build.truth(conclusion)?;
        let not = self.build.push(Node::Not(premise.node), premise.span.clone());
        let mut whole =
            self.build.joined(Kind::Truth, Node::Or(not, conclusion.node), &premise, &conclusion);
        if self.word("else") {
            let otherwise = self.nested(Self::constraint)?;
            let otherwise = self.build.truth(otherwise)?;
            let second = Node::Or(premise.node, otherwise.node);
            let second = self.build.joined(Kind::Truth, second, &premise, &otherwise);
            whole =
                self.build.joined(Kind::Truth, Node::And(whole.node, second.node), &whole, &second);
        }
        whole.span.start = start;
        Ok(whole)
    }

    fn any(&mut self) -> Parsed<Part> {
        let mut whole = self.all()?;
        while self.word("or") {
            let next = self.all()?;
            let (a, b) = (self.build.truth(whole)?, self.build.truth(next)?);
            whole = self.build.joined(Kind::Truth, Node::Or(a.node, b.node), &a, &b);
        }
        Ok(whole)
    }

    fn all(&mut self) -> Parsed<Part> {
        let mut whole = self.each()?;
        while self.word("and") {
            let next = self.each()?;
            let (a, b) = (self.build.truth(whole)?, self.build.truth(next)?);
            whole = self.build.joined(Kind::Truth, Node::And(a.node, b.node), &a, &b);
        }
        Ok(whole)
    }

    fn each(&mut self) -> Parsed<Part> {
        if !self.is_word("not") {
            return self.comparison();
        }
        let start = self.take().span.start;
        let inner = self.nested(Self::each)?;
        let inner = self.build.truth(inner)?;
        Ok(self.build.negation(inner, start))
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
            let member = self.membership(&left)?;
            return Ok(if not_in { self.build.negation(member, start) } else { member });
        }
        let mut whole: Option<Part> = None;
        while let Some((_, comparison)) = SIGNS.iter().find(|(sign, _)| self.is_symbol(sign)) {
            self.take();
            let right = self.sum()?;
            let link = self.build.compare(*comparison, &left, &right)?;
            whole = Some(match whole {
                None => link,
                Some(before) => {
                    let both = Node::And(before.node, link.node);
                    self.build.joined(Kind::Truth, both, &before, &link)
                }
            });
            left = right;
        }
        Ok(whole.unwrap_or(left))
    }

    /// `in { … }`, of which `in` is taken.
    fn membership(&mut self, part: &Part) -> Parsed<Part> {
        let close = match self.symbol(&["{", "["]) {
            Some("{") => "}",
            Some(_) => "]",
            None => return Err(self.unexpected("`{`, as in `x in {1, 2}`,")),
        };
        let mut values = Vec::new();
        let mut last;
        loop {
            let start = self.build.nodes.len();
            let value = self.nested(Self::sign)?;
            values.push(match (&part.kind, &value.kind) {
                (Kind::Choice(variable), _) => self.build.level(*variable, &value)?,
                (Kind::Number, Kind::Number) => match self.build.nodes[value.node] {
                    Node::Constant(value) => value,
                    // The only other constants are negative numbers.
                    Node::Unary(Unary::Negate, inner) => match self.build.nodes[inner] {
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
            self.build.nodes.truncate(start);
            self.build.spans.truncate(start);
            last = Part { variables: Vec::new(), ..value };
            if self.symbol(&[","]).is_none() {
                break;
            }
        }
        self.expect(close, "after the values")?;
        if matches!(part.kind, Kind::Number) {
            self.build.refuse_real_equality(Comparison::Equal, part, &last)?;
        }
        let test = Test::OneOf(part.node, values);
        Ok(self.build.condition(test, part, &last))
    }

    fn sum(&mut self) -> Parsed<Part> {
        let mut whole = self.product()?;
        while let Some(sign) = self.symbol(&["+", "-"]) {
            let operation = if sign == "+" { Binary::Add } else { Binary::Subtract };
            let next = self.product()?;
            whole = self.build.arithmetic(operation, &whole, &next)?;
        }
        Ok(whole)
    }

    fn product(&mut self) -> Parsed<Part> {
        let mut whole = self.sign()?;
        while let Some(sign) = self.symbol(&["*", "/"]) {
            let operation = if sign == "*" { Binary::Multiply } else { Binary::Divide };
            let next = self.sign()?;
            whole = self.build.arithmetic(operation, &whole, &next)?;
        }
        Ok(whole)
    }

    fn sign(&mut self) -> Parsed<Part> {
        if !self.is_symbol("-") {
            return self.power();
        }
        let start = self.take().span.start;
        let inner = self.nested(Self::sign)?;
        self.build.unary(Unary::Negate, inner, start)
    }

    fn power(&mut self) -> Parsed<Part> {
        let base = self.atom()?;
        if self.symbol(&["^"]).is_none() {
            return Ok(base);
        }
        let exponent = self.nested(Self::sign)?;
        self.build.arithmetic(Binary::Power, &base, &exponent)
    }

    fn atom(&mut self) -> Parsed<Part> {
        let Token { word, span } = self.take();
        match word {
            Word::Number(value) => Ok(self.build.constant(value, span)),
            Word::Text(text) => {
                Ok(Part { kind: Kind::Text(text), node: usize::MAX, span, variables: Vec::new() })
            }
            Word::Name(name) if name == "true" || name == "false" => {
                let node = self.build.push(Node::Truth(name == "true"), span.clone());
                Ok(Part { kind: Kind::Truth, node, span, variables: Vec::new() })
            }
            Word::Name(name) if self.is_symbol("(") => self.call(&name, span),
            Word::Name(name) | Word::Quoted(name) => self.build.parameter(&name, span),
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
        let Some(mut whole) = rest.next() else {
            return Err(Mistake::at(span, "a function needs a number"));
        };
        let unary = match name {
            "abs" => Some(Unary::Absolute),
            "sqrt" => Some(Unary::Root),
            "log" => Some(Unary::Log),
            "exp" => Some(Unary::Exp),
            _ => None,
        };
        if let Some(operation) = unary {
            whole = self.build.unary(operation, whole, span.start)?;
        }
        let operation = match name {
            "min" => Binary::Min,
            "max" => Binary::Max,
            _ => Binary::Power,
        };
        for next in rest {
            whole = self.build.arithmetic(operation, &whole, &next)?;
        }
        whole.span = span.start..end;
        self.build.spans[whole.node] = whole.span.clone();
        Ok(whole)
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
