//! The subcommands, one file each: the arguments, and a function `run` that does the work and prints.

pub mod ask;
pub mod best;
pub mod check;
pub mod delete;
pub mod doctor;
pub mod enqueue;
pub mod export;
pub mod extend;
pub mod import;
pub mod importance;
pub mod init;
pub mod manual;
pub mod methods;
pub mod minimize;
pub mod problems;
pub mod run;
pub mod show;
pub mod status;
pub mod stop;
pub mod studies;
pub mod tell;
pub mod trials;
