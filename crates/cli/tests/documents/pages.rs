//! The pages of the repository, and the code in them.

use std::path::{Path, PathBuf};

/// The root of the repository. A packaged crate has no documents.
pub fn root() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("docs").is_dir().then_some(root)
}

/// All pages: those of the site, and those beside them.
pub fn pages(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"] {
        found.push(root.join(name));
    }
    found.sort();
    found
}

/// A block of code.
pub struct Block {
    /// The page, from the root on.
    pub page: String,
    /// The line of its first line.
    pub line: usize,
    /// `sh`, `toml` and so on; nothing where the page does not say.
    pub language: String,
    pub text: String,
}

impl Block {
    /// Where it is, for messages.
    pub fn place(&self) -> String {
        format!("{}:{}", self.page, self.line)
    }
}

/// The blocks of code of all pages, and the code within lines.
pub fn code(root: &Path) -> (Vec<Block>, Vec<Block>) {
    let (mut blocks, mut spans) = (Vec::new(), Vec::new());
    for path in pages(root) {
        let page = path.strip_prefix(root).unwrap().display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut open: Option<Block> = None;
        for (k, line) in text.lines().enumerate() {
            let fence = line.trim_start().strip_prefix("```");
            match (&mut open, fence) {
                (None, Some(language)) => {
                    open = Some(Block {
                        page: page.clone(),
                        line: k + 2,
                        language: language.trim().to_owned(),
                        text: String::new(),
                    });
                }
                (Some(_), Some(_)) => blocks.extend(open.take()),
                (Some(block), None) => {
                    block.text.push_str(line);
                    block.text.push('\n');
                }
                (None, None) => spans.extend(line.split('`').skip(1).step_by(2).map(|span| {
                    let (page, text) = (page.clone(), span.to_owned());
                    Block { page, line: k + 1, language: String::new(), text }
                })),
            }
        }
        assert!(open.is_none(), "{page}: a block of code has no end");
    }
    (blocks, spans)
}
