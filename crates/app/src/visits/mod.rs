//! What visitors do.

mod resolve;

pub use resolve::{Resolution, resolve};
