//! The visitor's side: D24, D52 to D54, D58.

mod chains;
mod gates;
mod misses;
mod redirects;
mod resolves_like_the_csv;
mod target_blocklist;
