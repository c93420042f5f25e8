//! FNV-1a: a hash that is the same on every machine and in every version, unlike the hasher of the standard library.

/// The fingerprint of some bytes, as 16 hexadecimal digits.
pub(crate) fn fingerprint(bytes: impl IntoIterator<Item = u8>) -> String {
    format!("{:016x}", wimble::internals::fnv1a(bytes))
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
