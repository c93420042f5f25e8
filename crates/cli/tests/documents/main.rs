//! The documents: every link leads somewhere, every page is in the site, and code is what it says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod code;
#[path = "../desk/mod.rs"]
mod desk;
mod pages;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use pages::{pages, root};

/// The text without code, in which brackets are no links.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let parts = line.split('`').step_by(2);
            prose.push_str(&parts.collect::<Vec<_>>().join(" "));
            prose.push('\n');
        }
    }
    prose
}

/// The targets of the links of a page.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let ends = prose.match_indices("](").map(|(at, sign)| &prose[at + sign.len()..]);
    ends.filter_map(|rest| rest.split_once(')')).map(|(link, _)| link.to_owned()).collect()
}

/// The names of the headings of a page, as a link has them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if let Some(heading) = line.strip_prefix('#').filter(|_| !is_code) {
            let words = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter_map(|c| match c {
                ' ' => Some('-'),
                c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
                _ => None,
            });
            found.insert(kept.collect());
        }
    }
    found
}

fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                tidy.pop();
            }
            Component::CurDir => {}
            part => tidy.push(part),
        }
    }
    tidy
}

#[test]
fn every_link_leads_somewhere() {
    let Some(root) = root() else { return };
    let (mut count, mut broken) = (0, Vec::new());
    for page in pages(&root) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            // What is outside of the site is not there for its readers.
            let is_page = page.starts_with(root.join("docs"));
            let leaves = is_page && !tidy(&target).starts_with(tidy(&root.join("docs")));
            let found = target.exists()
                && !leaves
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor));
            if !found {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count > 100, "{count} links");
}

#[test]
fn every_page_is_in_the_site_once() {
    let Some(root) = root() else { return };
    let docs = root.join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: Vec<PathBuf> = links(&summary).iter().map(|link| tidy(&docs.join(link))).collect();
    let once: BTreeSet<&PathBuf> = listed.iter().collect();
    assert_eq!(once.len(), listed.len());
    for page in pages(&root).iter().map(|page| tidy(page)) {
        let is_page = page.starts_with(tidy(&docs)) && !page.ends_with("SUMMARY.md");
        assert!(!is_page || once.contains(&page), "{} is not in SUMMARY.md", page.display());
    }
}
