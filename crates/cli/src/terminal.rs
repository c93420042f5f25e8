//! Text for a terminal: names, values and logs may hold escape sequences, which a terminal would obey.
//!
//! Control characters other than line ends and tabs are replaced by pictures of them. Where the output is no terminal it is
//! passed on as it is.

use std::io::{self, IsTerminal as _, StdoutLock, Write};

/// Standard output.
pub fn out() -> Plain<StdoutLock<'static>> {
    let out = io::stdout();
    let terminal = out.is_terminal();
    Plain { out: out.lock(), active: terminal, after_c2: false }
}

/// A line for standard error, without anything that a terminal obeys. A reader that is gone (`2>&1 | head`) is no error, and above all
/// no panic: a run goes on without its words.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", plain(line));
}

/// A text without anything that a terminal obeys.
pub fn plain(text: &str) -> String {
    text.chars().map(picture).collect()
}

fn picture(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\0'..='\x1f' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        // The same in one character of eight bits.
        '\u{80}'..='\u{9f}' => '\u{fffd}',
        // They turn the direction of what follows.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c => c,
    }
}

/// A writer that passes on nothing that a terminal obeys.
pub struct Plain<W> {
    out: W,
    active: bool,
    /// Whether the last byte began a character that may be a control character.
    after_c2: bool,
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.active {
            return self.out.write(bytes);
        }
        let mut plain = Vec::with_capacity(bytes.len() + 1);
        for &byte in bytes {
            match byte {
                0x80..=0x9f if self.after_c2 => plain.extend("\u{fffd}".as_bytes()),
                _ if self.after_c2 => plain.extend([0xc2, byte]),
                0xc2 => {}
                0..=0x7f => plain.extend(picture(char::from(byte)).to_string().as_bytes()),
                _ => plain.push(byte),
            }
            self.after_c2 = byte == 0xc2;
        }
        self.out.write_all(&plain)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\x1b]0;owned\x07b\x1b[2Jc\u{9b}31md\x7f\re\té\u{a0}\n";

    #[test]
    fn nothing_that_a_terminal_obeys_gets_through() {
        let mut written = Plain { out: Vec::new(), active: true, after_c2: false };
        // Byte by byte, so that characters are cut in two.
        for byte in HOSTILE.bytes() {
            written.write_all(&[byte]).unwrap();
        }
        let text = String::from_utf8(written.out).unwrap();
        assert_eq!(text, "a␛]0;owned␇b␛[2Jc\u{fffd}31md␡␍e\té\u{a0}\n");
        assert_eq!(plain(HOSTILE), text);
        assert_eq!(plain("\u{202e}evil"), "\u{fffd}evil");
        let mut raw = Plain { out: Vec::new(), active: false, after_c2: false };
        raw.write_all(HOSTILE.as_bytes()).unwrap();
        assert_eq!(raw.out, HOSTILE.as_bytes());
    }
}
