//! The repository's own commands, and the rules that hold for the repository as a whole.
//!
//! `cargo xtask` runs them (see `main.rs`). The rules are also a test of this crate, so that whoever runs the tests
//! has asked them all.

pub mod architecture;
pub mod bans;
pub mod bench;
pub mod finding;
pub mod fuzz_api;
pub mod manifests;
mod program;
pub mod repository;
pub mod rules;
mod servers;
pub mod soak;
pub mod sources;
pub mod test_run;
pub mod tidy;
pub mod workspace;
