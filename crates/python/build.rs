//! The linker of macOS must be told that Python's symbols come with the interpreter.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
