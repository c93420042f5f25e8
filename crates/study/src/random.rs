//! Words that nobody else has, from the system's random numbers.

use std::fmt::Write as _;

/// 32 hexadecimal digits that no other process, and no earlier one, has.
pub(crate) fn random_word() -> String {
    let mut bytes = [0_u8; 16];
    if getrandom::fill(&mut bytes).is_err() {
        // A system without random numbers: the time and the process are the next best.
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos());
        bytes = (now << 32 | u128::from(std::process::id())).to_be_bytes();
    }
    bytes.iter().fold(String::with_capacity(32), |mut word, byte| {
        // Writing to a string cannot fail.
        let _ = write!(word, "{byte:02x}");
        word
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_words_are_the_same() {
        let words: std::collections::BTreeSet<String> = (0..1_000).map(|_| random_word()).collect();
        assert_eq!(words.len(), 1_000);
        assert!(words.iter().all(|word| word.len() == 32));
    }
}
