//! The fetched files. `cargo xtask sources` writes this module and the files.

/// Rules for browsers and operating systems.
pub(crate) const AGENTS: &str = include_str!("../data/agents-2026-11-22.tsv");

/// Regular expressions for bots.
pub(crate) const CRAWLERS: &str = include_str!("../data/crawlers-2026-11-22.txt");

/// Hosts of referrers with their categories.
pub(crate) const CATEGORIES: &str = include_str!("../data/categories-2026-11-22.tsv");
