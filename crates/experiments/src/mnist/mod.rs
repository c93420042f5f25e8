//! Network tuning on MNIST: real training runs, and a forest fitted to them (paper, section 6, Figure 3).
//!
//! ```text
//! images ──▶ network (space: six hyper-parameters) ──▶ runs (a table) ──▶ surrogate (a forest)
//! ```
//!
//! The forests that the paper used ("ParamNet", Falkner, Klein and Hutter 2018) are not to be had any more. The space is
//! theirs with the shape of the network and one dropout rate fixed, which leaves what the paper tunes. Their networks
//! trained for 50 epochs on all images; ours for a budget of minutes in all, which the table of runs states.

pub mod images;
pub mod network;
pub mod runs;
pub mod space;
pub mod surrogate;
