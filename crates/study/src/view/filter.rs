//! Which trials are meant: `value < 0.3 and kind = a and not (worker ~ gpu)`.
//!
//! ```text
//! filter     = and { "or" and }
//! and        = not { "and" not }
//! not        = "not" not | "(" filter ")" | comparison
//! comparison = column ("=" | "!=" | "<" | "<=" | ">" | ">=" | "~") word
//! ```
//!
//! A column is `trial`, `state`, `worker`, `origin`, `lost`, `seconds` (the length of the evaluation), an objective, a constraint or
//! a parameter; names with other characters stand in backquotes, words in quotes. `~` means that a text contains another. A
//! trial without a number in a column is in no comparison of it.

use wimble::internals::nearest;

use crate::{Origin, Record, Trial};

use crate::view::chronicle::{Chronicle, NOBODY, Standing, words};

/// The longest filter, in bytes, and the deepest.
const LONGEST: usize = 2_000;
const DEEPEST: usize = 40;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Column {
    Trial,
    State,
    Worker,
    Origin,
    Lost,
    Seconds,
    Started,
    Finished,
    Objective(usize),
    Constraint(usize),
    Parameter(usize),
}

impl Column {
    /// The column of a name. `value` is the first objective, unless something else has that name.
    pub fn named(chronicle: &Chronicle, name: &str) -> Option<Self> {
        let goal = chronicle.goal();
        let own = match name {
            "trial" => Some(Self::Trial),
            "state" => Some(Self::State),
            "worker" => Some(Self::Worker),
            "origin" => Some(Self::Origin),
            "lost" => Some(Self::Lost),
            "seconds" => Some(Self::Seconds),
            "started" => Some(Self::Started),
            "finished" => Some(Self::Finished),
            _ => None,
        };
        let parameter = || chronicle.axes().iter().position(|axis| axis.name == name);
        let objective = || goal.objectives().iter().position(|objective| objective.name == name);
        let constraint =
            || goal.constraints().iter().position(|constraint| constraint.name == name);
        parameter()
            .map(Self::Parameter)
            .or(own)
            .or_else(|| objective().map(Self::Objective))
            .or_else(|| constraint().map(Self::Constraint))
            .or_else(|| (name == "value").then_some(Self::Objective(0)))
    }

    /// The names of all columns.
    pub fn names(chronicle: &Chronicle) -> Vec<String> {
        let goal = chronicle.goal();
        let own = ["trial", "state", "worker", "origin", "lost", "seconds", "started", "finished"];
        let objectives = goal.objectives().iter().map(|objective| objective.name.clone());
        let constraints = goal.constraints().iter().map(|constraint| constraint.name.clone());
        let parameters = chronicle.axes().iter().map(|axis| axis.name.clone());
        let own = own.into_iter().map(str::to_owned);
        own.chain(objectives).chain(constraints).chain(parameters).collect()
    }

    /// The number of a trial in the column, or the place of its word.
    pub fn number(self, chronicle: &Chronicle, id: usize) -> f64 {
        match self {
            Self::Trial => chronicle.first() as f64 + id as f64,
            Self::State => f64::from(chronicle.standings()[id] as u8),
            Self::Origin => place_of(chronicle.origins()[id]),
            Self::Worker => match chronicle.worker()[id] {
                NOBODY => f64::NAN,
                place => f64::from(place),
            },
            Self::Lost => f64::from(chronicle.lost()[id]),
            Self::Seconds => (chronicle.finished()[id] - chronicle.started()[id]) / 1_000.0,
            Self::Started => chronicle.started()[id],
            Self::Finished => chronicle.finished()[id],
            Self::Objective(place) => chronicle.objective(place)[id],
            Self::Constraint(place) => chronicle.constraints()[place][id],
            Self::Parameter(place) => chronicle.parameter(place)[id],
        }
    }

    /// Its words, if it has words.
    pub fn words(self, chronicle: &Chronicle) -> Option<Vec<String>> {
        match self {
            Self::State => Some(Standing::ALL.map(|standing| standing.word().to_owned()).to_vec()),
            Self::Origin => Some(ORIGINS.map(|(word, _)| word.to_owned()).to_vec()),
            Self::Worker => Some(chronicle.workers().to_vec()),
            Self::Parameter(place) => words(&chronicle.axes()[place].kind),
            _ => None,
        }
    }
}

const ORIGINS: [(&str, Origin); 3] = [
    ("proposed", Origin::Proposed),
    ("enqueued", Origin::Enqueued),
    ("imported", Origin::Imported),
];

fn place_of(origin: Origin) -> f64 {
    ORIGINS.iter().position(|&(_, other)| other == origin).map_or(f64::NAN, |place| place as f64)
}

/// A filter, ready to be used on one chronicle.
#[derive(Debug)]
pub struct Filter(Node);

#[derive(Debug)]
enum Node {
    All,
    And(Vec<Node>),
    Or(Vec<Node>),
    Not(Box<Node>),
    Number(Column, Comparison, f64),
    /// Whether each word of the column is meant.
    Words(Column, Vec<bool>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
    Contains,
}

impl Comparison {
    fn holds(self, number: f64, bound: f64) -> bool {
        match self {
            Self::Equal => number == bound,
            Self::Unequal => !number.is_nan() && number != bound,
            Self::Below => number < bound,
            Self::AtMost => number <= bound,
            Self::Above => number > bound,
            Self::AtLeast => number >= bound,
            Self::Contains => false,
        }
    }
}

/// A comparison of a column whose words are all numbers, such as a real parameter with a step, with a number.
fn between_numbers(
    column: Column,
    words: &[String],
    comparison: Comparison,
    word: &str,
) -> Option<Node> {
    let bound: f64 = word.parse().ok().filter(|_| comparison != Comparison::Contains)?;
    let numbers: Vec<f64> = words.iter().map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let meant = numbers.into_iter().map(|number| comparison.holds(number, bound)).collect();
    (!words.is_empty()).then_some(Node::Words(column, meant))
}

/// That there is no such column, and which there are.
fn unknown(chronicle: &Chronicle, name: &str) -> String {
    let names = Column::names(chronicle);
    let near = nearest(name, names.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    format!("there is no column `{name}`; {near}there are {}", names.join(", "))
}

impl Filter {
    /// Reads a filter; an empty one lets everything through. The error says what was expected, and where.
    pub fn parse(text: &str, chronicle: &Chronicle) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("the filter has {} bytes; {LONGEST} are allowed", text.len()));
        }
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0, chronicle };
        if tokens.is_empty() {
            return Ok(Self(Node::All));
        }
        let node = parser.either(0)?;
        match parser.tokens.get(parser.at) {
            None => Ok(Self(node)),
            Some(token) => Err(format!("expected `and`, `or` or the end, not {}", token.shown())),
        }
    }

    /// Whether it lets everything through.
    pub fn is_empty(&self) -> bool {
        matches!(self.0, Node::All)
    }

    /// Whether a trial is meant.
    pub fn is_met(&self, chronicle: &Chronicle, id: usize) -> bool {
        self.0.is_met(chronicle, id)
    }
}

impl Node {
    fn is_met(&self, chronicle: &Chronicle, id: usize) -> bool {
        match self {
            Self::All => true,
            Self::And(all) => all.iter().all(|node| node.is_met(chronicle, id)),
            Self::Or(any) => any.iter().any(|node| node.is_met(chronicle, id)),
            Self::Not(node) => !node.is_met(chronicle, id),
            Self::Number(column, comparison, bound) => {
                comparison.holds(column.number(chronicle, id), *bound)
            }
            Self::Words(column, meant) => {
                let place = column.number(chronicle, id);
                !place.is_nan() && meant.get(place as usize).copied().unwrap_or(false)
            }
        }
    }
}

/// A filter for trials that come one after the other: it holds one of them at a time, however many there are.
pub struct Sieve {
    text: String,
    chronicle: Chronicle,
    filter: Filter,
    /// How many workers were known when the filter was read, which knows which of their names are meant.
    workers: usize,
}

impl Sieve {
    /// For the trials of a study. The error says what was expected, and where.
    pub fn parse(text: &str, record: Record) -> Result<Self, String> {
        let chronicle = Chronicle::new(record);
        let filter = Filter::parse(text, &chronicle)?;
        Ok(Self { text: text.to_owned(), chronicle, filter, workers: 0 })
    }

    /// Whether a trial is meant.
    pub fn lets_through(&mut self, trial: &Trial) -> bool {
        self.chronicle.hold_only(trial);
        if self.chronicle.workers().len() > self.workers {
            // It was read before: only the names of workers are new.
            match Filter::parse(&self.text, &self.chronicle) {
                Ok(filter) => self.filter = filter,
                Err(_) => return false,
            }
            self.workers = self.chronicle.workers().len();
        }
        self.filter.is_met(&self.chronicle, 0)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    /// A word, and whether it was quoted: `and` in quotes is no operator.
    Word(String, bool),
    Sign(&'static str),
}

impl Token {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(text, false) if text.eq_ignore_ascii_case(word))
    }

    fn shown(&self) -> String {
        match self {
            Self::Word(word, _) => format!("`{word}`"),
            Self::Sign(sign) => format!("`{sign}`"),
        }
    }
}

const SIGNS: [&str; 10] = ["<=", ">=", "!=", "==", "=", "<", ">", "~", "(", ")"];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push(Token::Sign(if sign == "==" { "=" } else { sign }));
            rest = &rest[sign.len()..];
        } else if matches!(first, '"' | '\'' | '`') {
            let inside = &rest[1..];
            let Some(end) = inside.find(first) else {
                return Err(format!("the quote {first} has no end"));
            };
            tokens.push(Token::Word(inside[..end].to_owned(), true));
            rest = &inside[end + 1..];
        } else {
            let ends = |c: char| c.is_whitespace() || "<>=!~()\"'`".contains(c);
            let end = rest.find(ends).unwrap_or(rest.len());
            if end == 0 {
                return Err(format!("`{first}` alone means nothing; write != for other than"));
            }
            tokens.push(Token::Word(rest[..end].to_owned(), false));
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    Ok(tokens)
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    chronicle: &'t Chronicle,
}

impl Parser<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|token| {
            token.is(word) || matches!(token, Token::Sign(sign) if *sign == word)
        });
        self.at += usize::from(found);
        found
    }

    fn either(&mut self, depth: usize) -> Result<Node, String> {
        let mut parts = vec![self.both(depth)?];
        while self.takes("or") {
            parts.push(self.both(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::Or(parts) })
    }

    fn both(&mut self, depth: usize) -> Result<Node, String> {
        let mut parts = vec![self.one(depth)?];
        while self.takes("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Node::And(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Node, String> {
        if depth > DEEPEST {
            return Err(format!("more than {DEEPEST} parts inside each other"));
        }
        if self.takes("not") {
            return Ok(Node::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.takes("(") {
            let inside = self.either(depth + 1)?;
            return if self.takes(")") { Ok(inside) } else { Err("a `)` is missing".to_owned()) };
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Result<Node, String> {
        let name = self.word("the name of a column")?;
        let Some(column) = Column::named(self.chronicle, &name) else {
            return Err(unknown(self.chronicle, &name));
        };
        let comparison = match self.tokens.get(self.at) {
            Some(Token::Sign("=")) => Comparison::Equal,
            Some(Token::Sign("!=")) => Comparison::Unequal,
            Some(Token::Sign("<")) => Comparison::Below,
            Some(Token::Sign("<=")) => Comparison::AtMost,
            Some(Token::Sign(">")) => Comparison::Above,
            Some(Token::Sign(">=")) => Comparison::AtLeast,
            Some(Token::Sign("~")) => Comparison::Contains,
            _ => return Err(format!("expected =, !=, <, <=, >, >= or ~ after `{name}`")),
        };
        self.at += 1;
        let word = self.word(&format!("what to compare `{name}` with"))?;
        match column.words(self.chronicle) {
            Some(words) => {
                if let Some(node) = between_numbers(column, &words, comparison, &word) {
                    return Ok(node);
                }
                // Other words may come: names of workers. Those of a parameter are known, and another is a slip.
                if matches!(column, Column::State | Column::Origin | Column::Parameter(_))
                    && matches!(comparison, Comparison::Equal | Comparison::Unequal)
                    && !words.contains(&word)
                {
                    let known = || words.iter().map(String::as_str);
                    let hint = nearest(&word, known()).map_or_else(
                        || format!("there are {}", known().collect::<Vec<_>>().join(", ")),
                        |near| format!("the nearest is `{near}`"),
                    );
                    return Err(format!("`{name}` is never `{word}`; {hint}"));
                }
                let lower = word.to_lowercase();
                let is_meant = |other: &String| match comparison {
                    Comparison::Equal => *other == word,
                    Comparison::Unequal => *other != word,
                    _ => other.to_lowercase().contains(&lower),
                };
                match comparison {
                    Comparison::Equal | Comparison::Unequal | Comparison::Contains => {
                        Ok(Node::Words(column, words.iter().map(is_meant).collect()))
                    }
                    _ => Err(format!("`{name}` has words: compare it with =, != or ~")),
                }
            }
            None => match word.parse::<f64>() {
                _ if comparison == Comparison::Contains => {
                    Err(format!("`{name}` has numbers: compare it with =, !=, <, <=, > or >="))
                }
                Ok(number) if !number.is_nan() => Ok(Node::Number(column, comparison, number)),
                _ => Err(format!("`{name}` has numbers, and `{word}` is none")),
            },
        }
    }

    fn word(&mut self, what: &str) -> Result<String, String> {
        match self.tokens.get(self.at) {
            Some(Token::Word(word, _)) => {
                self.at += 1;
                Ok(word.clone())
            }
            Some(token) => Err(format!("expected {what}, not {}", token.shown())),
            None => Err(format!("expected {what} at the end")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::parabola;
    use proptest::prelude::*;

    fn chronicle() -> Chronicle {
        let study = parabola(40);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        chronicle
    }

    fn meant(chronicle: &Chronicle, text: &str) -> Vec<usize> {
        let filter = Filter::parse(text, chronicle).unwrap();
        (0..chronicle.len()).filter(|&id| filter.is_met(chronicle, id)).collect()
    }

    #[test]
    fn filters_mean_what_a_loop_over_the_columns_finds() {
        let chronicle = chronicle();
        let loop_over = |test: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..chronicle.len()).filter(|&id| test(id)).collect()
        };
        let (x, value) = (chronicle.parameter(0), chronicle.objective(0));
        let kind = chronicle.parameter(2);
        assert_eq!(meant(&chronicle, ""), loop_over(&|_| true));
        assert_eq!(meant(&chronicle, "value < 1"), loop_over(&|id| value[id] < 1.0));
        assert_eq!(
            meant(&chronicle, "x >= 0.5 and kind = a or not (x > -1e0)"),
            loop_over(&|id| (x[id] >= 0.5 && kind[id] == 0.0) || x[id] <= -1.0)
        );
        assert_eq!(meant(&chronicle, "state != complete"), [40, 41, 42, 43]);
        assert_eq!(meant(&chronicle, "worker ~ W1 AND state=running"), [42, 43]);
        assert_eq!(meant(&chronicle, "`trial`<=1 or \"trial\" == 3"), [0, 1, 3]);
    }

    #[test]
    fn one_after_the_other_trials_meet_what_they_meet_together() {
        let study = parabola(40);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        for text in [
            "",
            "value < 1",
            "x >= 0.5 and kind = a or not (x > -1e0)",
            "state != complete",
            "worker ~ W1 AND state=running",
            "worker != w1",
            "trial >= 7 and trial < 12",
            "seconds > 0 or origin = enqueued",
        ] {
            let record = study.store().study("parabola").unwrap();
            let mut sieve = Sieve::parse(text, record).unwrap();
            let trials = study.trials(&crate::Filter::default()).unwrap();
            // Backwards, so that workers come in another order.
            let mut found: Vec<usize> = trials
                .iter()
                .rev()
                .filter(|trial| sieve.lets_through(trial))
                .map(|trial| trial.id as usize)
                .collect();
            found.reverse();
            assert_eq!(found, meant(&chronicle, text), "{text}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let chronicle = chronicle();
        for (text, words) in [
            ("nothing = 1", "there is no column `nothing`"),
            ("x", "after `x`"),
            ("x <", "at the end"),
            ("x < low", "`low` is none"),
            ("kind < a", "compare it with =, != or ~"),
            ("state = compleet", "`state` is never `compleet`; the nearest is `complete`"),
            ("(x < 1", "a `)` is missing"),
            ("x < 1 x", "not `x`"),
            ("x = 'a", "the quote ' has no end"),
            ("x ! 1", "alone means nothing"),
            (&"(".repeat(100), "inside each other"),
        ] {
            let error = Filter::parse(text, &chronicle).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn no_text_breaks_the_parser(text in "[ -~]{0,60}|(x|kind|and|or|not|[()<>=!~]|1|'a'| ){0,30}") {
            thread_local!(static CHRONICLE: Chronicle = chronicle());
            CHRONICLE.with(|chronicle| {
                if let Ok(filter) = Filter::parse(&text, chronicle) {
                    filter.is_met(chronicle, 0);
                }
            });
        }
    }
}
