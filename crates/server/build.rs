//! Embeds the page: every file of `page/`, compressed, with a tag that changes with its contents.

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
        let contents = fs::read(path)?;
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
