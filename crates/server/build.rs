//! Embeds the page: every file of `page/`, compressed, with a tag that changes with its contents. The page names all its modules,
//! so that a browser asks for them at once, and not for each after the one that imports it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=page");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("no OUT_DIR"))?);
    let mut files: Vec<PathBuf> =
        fs::read_dir("page")?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.sort();
    let mut table = String::from("pub(super) static FILES: &[File] = &[\n");
    for path in files.iter().filter(|path| path.is_file()) {
        let mut contents = fs::read(path)?;
        if path.ends_with("index.html") {
            contents = with_modules(&String::from_utf8_lossy(&contents), &files).into_bytes();
        }
        let mut hasher = DefaultHasher::new();
        contents.hash(&mut hasher);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let packed = out.join(format!("{name}.gz"));
        let mut encoder = GzEncoder::new(fs::File::create(&packed)?, Compression::best());
        encoder.write_all(&contents)?;
        encoder.finish()?;
        table += &format!(
            "    File {{ name: {name:?}, kind: {:?}, tag: \"\\\"{:016x}\\\"\", packed: include_bytes!({packed:?}) }},\n",
            kind(path),
            hasher.finish(),
        );
    }
    table += "];\n";
    fs::write(out.join("files.rs"), table)
}

/// The page with a line for each module, before the script that imports them.
fn with_modules(page: &str, files: &[PathBuf]) -> String {
    let modules = files.iter().filter(|path| kind(path).starts_with("text/javascript"));
    let names = modules.filter_map(|path| path.file_name()?.to_str());
    let line = |name: &str| format!("<link rel=\"modulepreload\" href=\"/assets/{name}\">\n  ");
    let lines: String = names.map(line).collect();
    page.replacen("<script type=\"module\"", &format!("{lines}<script type=\"module\""), 1)
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        _ => "application/octet-stream",
    }
}
