//! The binary `wimble`.

use std::process::ExitCode;

fn main() -> ExitCode {
    wimble_cli::main(std::env::args_os()).into()
}
