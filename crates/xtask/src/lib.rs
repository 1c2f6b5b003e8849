//! The commands of the repository, and the rules for the whole repository.
//!
//! `cargo xtask` runs them (see `main.rs`). The rules are also a test of this crate, so every run of the tests checks
//! them.

pub mod architecture;
pub mod bans;
pub mod bench;
pub mod clients;
pub mod dist;
pub mod finding;
pub mod fuzz_api;
pub mod manifests;
mod oidc_provider;
pub mod permissions;
pub mod program;
pub mod repository;
pub mod rules;
pub mod servers;
pub mod soak;
pub mod sources;
pub mod test_run;
pub mod tidy;
mod tool_folder;
pub mod workspace;
