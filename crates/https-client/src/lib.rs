//! The HTTPS client of the adapters that ask servers of others: certificate authorities and identity providers.
//!
//! It connects to `https` only, unless its owner allows plain `http` to this machine. It follows no redirects, and bounds the
//! time of a whole exchange and the length of an answer. Connections are not kept.

mod client;
mod roots;

pub use client::{Answer, HttpsClient, HttpsError, Limits, is_https_or_loopback};
pub use roots::{TrustRoots, TrustRootsError};
