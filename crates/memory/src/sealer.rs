//! A sealer for tests, which hides nothing.

use signpost_app::ports::{RandomnessUnavailable, Sealer};
use signpost_domain::SealedSecret;

/// Marks secrets with its number and their purpose instead of encrypting them.
#[derive(Debug, Clone, Copy, Default)]
pub struct MarkingSealer {
    /// The number. Another sealer opens nothing of this one.
    pub number: u8,
    /// The number of an earlier sealer whose secrets it opens too.
    pub earlier: Option<u8>,
}

fn mark(number: u8, purpose: &str) -> Vec<u8> {
    format!("sealed by {number} for {purpose}: ").into_bytes()
}

impl MarkingSealer {
    /// The sealer with this number, which opens its own secrets only.
    #[must_use]
    pub const fn of(number: u8) -> Self {
        Self { number, earlier: None }
    }
}

impl Sealer for MarkingSealer {
    fn seal(&self, purpose: &str, secret: &[u8]) -> Result<SealedSecret, RandomnessUnavailable> {
        Ok(SealedSecret([&mark(self.number, purpose), secret].concat()))
    }

    fn open(&self, purpose: &str, sealed: &SealedSecret) -> Option<Vec<u8>> {
        let numbers = [Some(self.number), self.earlier];
        let mut marks = numbers.into_iter().flatten().map(|number| mark(number, purpose));
        marks.find_map(|mark| sealed.0.strip_prefix(mark.as_slice()).map(<[u8]>::to_vec))
    }

    fn is_current(&self, sealed: &SealedSecret) -> bool {
        sealed.0.starts_with(format!("sealed by {} ", self.number).as_bytes())
    }
}
