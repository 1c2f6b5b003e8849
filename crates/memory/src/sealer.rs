//! A sealer for tests, which hides nothing.

use signpost_app::ports::{RandomnessUnavailable, SealedSecret, Sealer};

/// Marks secrets with its number and their purpose instead of encrypting them.
#[derive(Debug, Clone, Copy, Default)]
pub struct MarkingSealer {
    /// The number. Another sealer opens nothing of this one.
    pub number: u8,
}

impl MarkingSealer {
    fn mark(self, purpose: &str) -> Vec<u8> {
        format!("sealed by {} for {purpose}: ", self.number).into_bytes()
    }
}

impl Sealer for MarkingSealer {
    fn seal(&self, purpose: &str, secret: &[u8]) -> Result<SealedSecret, RandomnessUnavailable> {
        Ok(SealedSecret([&self.mark(purpose), secret].concat()))
    }

    fn open(&self, purpose: &str, sealed: &SealedSecret) -> Option<Vec<u8>> {
        sealed.0.strip_prefix(self.mark(purpose).as_slice()).map(<[u8]>::to_vec)
    }
}
