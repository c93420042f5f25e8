//! FNV-1a: a hash that is the same on every machine and in every version, unlike the hasher of the standard library.

/// The fingerprint of some bytes, as 16 hexadecimal digits.
pub(crate) fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> String {
    let hash = bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_fingerprints() {
        // From the reference tables of the authors of the hash.
        assert_eq!(fingerprint([]), "cbf29ce484222325");
        assert_eq!(fingerprint(*b"a"), "af63dc4c8601ec8c");
        assert_eq!(fingerprint(*b"foobar"), "85944171f73967e8");
    }
}
