//! The words of an expression, each with its place.

use std::ops::Range;

use super::mistake::Mistake;

/// One word and its place, in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    pub word: Word,
    pub span: Range<usize>,
}

/// What a word is.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Word {
    Number(f64),
    /// Text in quotes, without them.
    Text(String),
    /// A name, or a word of the language.
    Name(String),
    /// A name in backticks: a parameter, whatever it is called.
    Quoted(String),
    Symbol(&'static str),
    End,
}

/// Longer ones come first.
const SYMBOLS: [&str; 18] =
    ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", "{", "}", ",", "[", "]"];

/// What people write in other languages, and how it is written here.
const ELSEWHERE: [(&str, &str); 9] = [
    ("**", "^"),
    ("&&", "and"),
    ("||", "or"),
    ("=>", "if … then …"),
    ("->", "if … then …"),
    ("&", "and"),
    ("|", "or"),
    ("!", "not"),
    ("=", "=="),
];

/// The words of `text`, with [`Word::End`] at the end.
pub(super) fn words(text: &str) -> Result<Vec<Token>, Mistake> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        }
        let (word, length) = word(text, at, first)?;
        tokens.push(Token { word, span: at..at + length });
        at += length;
    }
    tokens.push(Token { word: Word::End, span: text.len()..text.len() });
    Ok(tokens)
}

/// The word that starts at `at`, and its length.
fn word(text: &str, at: usize, first: char) -> Result<(Word, usize), Mistake> {
    let rest = &text[at..];
    let digit_next = || rest[1..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || (first == '.' && digit_next()) {
        return number(at, rest);
    }
    if first.is_alphabetic() || first == '_' {
        let length = rest.find(|c: char| !in_name(c)).unwrap_or(rest.len());
        return Ok((Word::Name(rest[..length].to_owned()), length));
    }
    if let '"' | '\'' | '`' = first {
        let Some(length) = rest[1..].find(first) else {
            let message = format!("{first} is never closed");
            return Err(Mistake::at(at..at + 1, message));
        };
        let inside = rest[1..=length].to_owned();
        let word = if first == '`' { Word::Quoted(inside) } else { Word::Text(inside) };
        return Ok((word, length + 2));
    }
    let elsewhere = ELSEWHERE.iter().find(|(sign, _)| rest.starts_with(sign));
    if let Some((sign, here)) = elsewhere
        && !rest.starts_with("==")
        && !rest.starts_with("!=")
    {
        let message = format!("`{sign}` is not part of the language; write `{here}`");
        return Err(Mistake::at(at..at + sign.len(), message));
    }
    match SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        Some(symbol) => Ok((Word::Symbol(symbol), symbol.len())),
        None => {
            let message = format!("`{first}` is not part of the language");
            Err(Mistake::at(at..at + first.len_utf8(), message))
        }
    }
}

/// A number: digits, a point, an exponent.
fn number(at: usize, rest: &str) -> Result<(Word, usize), Mistake> {
    let bytes = rest.as_bytes();
    let digits =
        |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') {
        length += 1 + digits(length + 1);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits(length + 1 + sign);
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    if let Some(next) = rest[length..].chars().next().filter(|&c| in_name(c)) {
        let message = format!("`{next}` stands right behind a number; write `*` between factors");
        return Err(Mistake::at(at + length..at + length + next.len_utf8(), message));
    }
    match rest[..length].parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Word::Number(value), length)),
        _ => {
            let message = format!("`{}` is too large for a number", &rest[..length]);
            Err(Mistake::at(at..at + length, message))
        }
    }
}

/// Whether a character may stand inside a name that is not in backticks.
fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Whether a name needs no backticks.
pub(super) fn is_plain(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_') && name.chars().all(in_name)
}
