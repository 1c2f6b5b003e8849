//! The visitors' side (D24, D34, D52 to D54, D57 to D59).

mod chains;
mod gates;
mod misses;
mod pages;
mod redirects;
mod resolves_like_the_csv;
mod target_blocklist;
