//! Password hashes with Argon2id, and estimates of a password's strength by the zxcvbn method (D71).

mod hasher;
mod strength;

pub use hasher::{Argon2Hasher, HASHES_AT_ONCE, HASHES_WAITING, LINK_HASHES_AT_ONCE, LINK_HASHES_WAITING};
