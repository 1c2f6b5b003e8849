//! Tells programs from people's browsers by the `User-Agent` header (D48, D56).
//!
//! It recognizes only agents that name themselves. A program that calls itself Chrome counts as Chrome, and
//! an unknown agent as a browser. Turning a person away is worse than letting a program in (ADR 40).
//!
//! ```
//! use signpost_enrichment::{Category, classify};
//!
//! let known = classify(b"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)").unwrap();
//! assert_eq!((known.rule, known.category), ("bingbot", Category::Bot));
//! assert_eq!(classify(b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"), None);
//! ```

mod classify;
mod names;
mod patterns;

pub use classify::{KnownProgram, MAX_EXAMINED_BYTES, classify, is_previewer};
pub use names::Category;
