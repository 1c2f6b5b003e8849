//! Random bytes from the operating system.

use signpost_app::ports::{Randomness, RandomnessUnavailable};

/// The operating system's cryptographically secure source.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OsRandomness;

impl Randomness for OsRandomness {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomnessUnavailable> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the port that everything else takes random bytes from"
        )]
        let filled = getrandom::fill(bytes);
        filled.map_err(|error| RandomnessUnavailable(error.to_string()))
    }
}
