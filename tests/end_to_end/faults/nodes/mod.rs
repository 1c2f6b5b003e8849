//! Several nodes: what they promise holds over all of them under load, and while one of them ends.

mod addresses;
mod budget;
mod commands;
mod ends;
mod freshness;

/// Whose tests do not run without servers.
const WHO: &str = "several nodes under load";

const NODES: usize = 3;
