//! The table of trials: filtered and sorted over all trials, and one page of it.

use std::cmp::Ordering;

use crate::{Reader, Result, Trial};
use serde::{Deserialize, Serialize};

use crate::view::chronicle::Chronicle;
use crate::view::filter::{Column, Filter};

/// The most rows of a page, and of a file.
pub const LARGEST_PAGE: usize = 1_000;

/// What to list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct View {
    /// Only these; see [`Filter`].
    pub filter: String,
    /// By this column; by number if empty.
    pub sort: String,
    /// From large to small.
    pub descending: bool,
    /// How many to skip.
    pub offset: usize,
    /// How many at most; 100 by default.
    pub limit: Option<usize>,
    /// Of a file, the columns to keep, as a JSON list of their names; one that ends in `.*` means all that begin so. All if empty.
    pub columns: String,
}

/// Which trials are on a page.
#[derive(Debug, Serialize)]
pub struct Page {
    /// How many trials there are.
    pub total: usize,
    /// How many the filter lets through.
    pub matching: usize,
    /// The numbers of those on the page, in order.
    #[serde(skip)]
    pub ids: Vec<u64>,
}

/// The page of a table. The error is a mistake in the filter or the name of the column.
pub fn page(chronicle: &Chronicle, view: &View) -> std::result::Result<Page, String> {
    let filter = Filter::parse(&view.filter, chronicle)?;
    let sort = match view.sort.as_str() {
        "" => Column::Trial,
        name => Column::named(chronicle, name)
            .ok_or_else(|| format!("there is no column `{name}` to sort by"))?,
    };
    let total = chronicle.len();
    let is_sorted = sort == Column::Trial && !view.descending;
    let limit = view.limit.unwrap_or(100).min(LARGEST_PAGE);
    if is_sorted && filter.is_empty() {
        let first = view.offset.min(total);
        let ids = (first..(first + limit).min(total)).map(|id| id as u64).collect();
        return Ok(Page { total, matching: total, ids });
    }
    let mut ids: Vec<usize> = (0..total).filter(|&id| filter.is_met(chronicle, id)).collect();
    let matching = ids.len();
    let first = view.offset.min(matching);
    let last = (first + limit).min(matching);
    // What has no number comes last, in either direction.
    let key = |&id: &usize| {
        let number = sort.number(chronicle, id);
        (number.is_nan(), if view.descending { -number } else { number }, id)
    };
    let compare = |a: &usize, b: &usize| -> Ordering {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))
    };
    if !is_sorted && first < last {
        // Only the page is sorted: of a million trials, the hundred that are seen.
        if last < matching {
            ids.select_nth_unstable_by(last - 1, compare);
        }
        if first > 0 {
            ids[..last].select_nth_unstable_by(first, compare);
        }
        ids[first..last].sort_unstable_by(compare);
    }
    let ids = ids[first..last].iter().map(|&id| id as u64).collect();
    Ok(Page { total, matching, ids })
}

/// The trials of a page, as the store has them.
pub fn trials(store: &dyn Reader, study: &str, page: &Page) -> Result<Vec<Trial>> {
    page.ids.iter().map(|&id| store.trial(study, id)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::fixtures::parabola;

    #[test]
    fn pages_are_parts_of_the_whole_sorted_table() {
        let study = parabola(60);
        let mut chronicle = Chronicle::new(study.store().study("parabola").unwrap());
        chronicle.catch_up(&**study.store()).unwrap();
        for (sort, descending) in [("value", false), ("x", true), ("", true), ("kind", false)] {
            let view = |offset, limit| View {
                sort: sort.to_owned(),
                descending,
                offset,
                limit: Some(limit),
                ..View::default()
            };
            let whole = page(&chronicle, &view(0, 1_000)).unwrap().ids;
            assert_eq!(whole.len(), 64);
            let mut parts = Vec::new();
            for offset in (0..64).step_by(7) {
                parts.extend(page(&chronicle, &view(offset, 7)).unwrap().ids);
            }
            assert_eq!(parts, whole, "{sort}");
            for (offset, limit) in [(0, 0), (1, 0), (63, 0), (64, 7), (99, 7)] {
                assert!(page(&chronicle, &view(offset, limit)).unwrap().ids.is_empty(), "{sort}");
            }
        }
        let best =
            page(&chronicle, &View { sort: "value".into(), limit: Some(1), ..View::default() });
        assert_eq!(best.unwrap().ids, [study.best().unwrap().unwrap().trial]);
        let beyond = page(&chronicle, &View { offset: 99, ..View::default() }).unwrap();
        assert!(beyond.ids.is_empty());
        let wrong = page(&chronicle, &View { sort: "y".into(), ..View::default() }).unwrap_err();
        assert!(wrong.contains("no column `y`"), "{wrong}");
    }
}
