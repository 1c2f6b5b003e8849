//! Rules about the files themselves.

use std::path::Path;

pub mod citations;
pub mod decision_records;
pub mod file_length;
pub mod machine_traces;
pub mod names;
pub mod unfinished_work;

/// Whether the path is that of a Rust source file.
fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "rs")
}
