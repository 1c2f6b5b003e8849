//! What spreads the checks of domains.

use crate::application::Application;
use crate::ports::RandomnessUnavailable;

/// A random byte, by which domains that are connected together are not checked together.
pub(crate) fn jitter(app: &Application) -> Result<u8, RandomnessUnavailable> {
    let mut bytes = [0; 1];
    app.randomness.fill(&mut bytes)?;
    let [byte] = bytes;
    Ok(byte)
}
