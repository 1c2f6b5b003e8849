//! Rules about files: their names, length and content.

use std::path::Path;

pub mod citations;
pub mod decision_records;
pub mod file_length;
pub mod links;
pub mod machine_traces;
pub mod names;
pub mod switched_off_tests;
pub mod unfinished_work;

/// Whether this is the path of a Rust source file.
fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}
