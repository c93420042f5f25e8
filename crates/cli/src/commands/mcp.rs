//! `wimble mcp`: tools for language agents, by the Model Context Protocol.

use anyhow::Result;
use clap::Args;

use crate::storage::Storage;

/// Arguments of `wimble mcp`.
#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    storage: Storage,
    /// Let the agent create studies, enqueue trials, ask and tell; without this it only reads
    #[arg(long)]
    write: bool,
}

/// Serves an agent on standard input and output until it hangs up.
pub fn run(arguments: &Arguments) -> Result<()> {
    let store =
        if arguments.write { arguments.storage.open()? } else { arguments.storage.existing()? };
    Ok(wimble_server::mcp::serve(store, arguments.write)?)
}
