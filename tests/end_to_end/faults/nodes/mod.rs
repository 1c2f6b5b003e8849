//! Promises over several nodes under load, and while one of them stops.

mod addresses;
mod budget;
mod commands;
mod ends;
mod freshness;

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "several nodes under load";

const NODES: usize = 3;
