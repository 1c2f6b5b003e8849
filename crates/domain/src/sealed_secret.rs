//! A secret in the form in which it is stored.

use std::fmt;

/// A secret that was sealed for one purpose, so that a copy of the store alone does not reveal it (D192).
#[derive(Clone, PartialEq, Eq)]
pub struct SealedSecret(pub Vec<u8>);

impl fmt::Debug for SealedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedSecret({} bytes)", self.0.len())
    }
}
