//! A hash whose value is promised.

/// The 64-bit FNV-1a hash of `bytes`: the same on every machine and in every version, unlike the standard library's
/// hashes.
pub fn fnv1a(bytes: impl IntoIterator<Item = u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
