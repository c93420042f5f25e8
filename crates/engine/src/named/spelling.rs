//! How far one spelling is from another.

/// The name with the fewest [`edits`] from `given`, if it is near enough to be meant; of equally near ones, the first. A name of one
/// letter is near to its capital only: any other letter is one edit away.
pub fn nearest<'n>(given: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let near = (given.chars().count() / 2).min(3);
    names
        .into_iter()
        .map(|name| (edits(given, name), name))
        .filter(|(edits, _)| *edits <= near)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, name)| name)
}

/// Letters to insert, delete, replace or swap with their neighbour until one word is the other. Capitals do not count, and
/// `-` and `_` are alike.
pub fn edits(a: &str, b: &str) -> usize {
    let letters = |word: &str| -> Vec<char> {
        word.chars().map(|c| if c == '-' { '_' } else { c.to_ascii_lowercase() }).collect()
    };
    let (a, b) = (letters(a), letters(b));
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_one_that_may_be_meant() {
        let names = ["trials", "batch-size", "workers"];
        assert_eq!(nearest("trails", names), Some("trials"));
        assert_eq!(nearest("batch_size", names), Some("batch-size"));
        assert_eq!(nearest("wokers", names), Some("workers"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("y", ["x", "x1"]), None);
        assert_eq!(nearest("X", ["x", "x1"]), Some("x"));
    }

    #[test]
    fn edits_are_counted() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("BORE_X", "bore-x"), 0);
        assert_eq!(edits("boer", "bore"), 1);
    }
}
