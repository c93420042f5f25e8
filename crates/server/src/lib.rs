//! Studies over HTTP, and for agents.
//!
//! `wimble serve` shows studies in a browser while they run, and lets workers on other machines ask and tell; `wimble mcp` offers
//! the same to language agents over standard input and output. Both read studies through a [`Chronicle`]: the trials of a study as
//! columns of numbers, kept in step with the store by its sequence numbers, so that a figure of a million trials is one pass
//! over a few arrays and the browser receives no more than it draws.
//!
//! # Design
//! Why the page has no framework and what the server refuses: `docs/decisions/0014-page.md`.

pub mod desk;
#[cfg(test)]
#[path = "../../study/src/view/fixtures.rs"]
mod fixtures;
#[cfg(any(feature = "http", feature = "mcp"))]
mod given;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod overview;

pub use desk::Desk;
#[cfg(feature = "http")]
pub use http::{Level, Options, Server, Tokens};
pub use wimble_study::view::{
    Chronicle, Standing, axes, certificate, chronicle, figures, filter, model, table,
};
