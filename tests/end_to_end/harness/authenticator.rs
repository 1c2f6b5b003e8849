//! An authenticator app (ADR 73).

use std::time::{Duration, SystemTime};

use signpost_domain::{Timestamp, TotpSeed};

/// The letters and digits of base32, in the order of their values.
const BASE_32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// An app into which a person has typed a seed.
pub struct Authenticator(TotpSeed);

impl Authenticator {
    /// The app after this seed, as a page shows it, was typed.
    pub fn with_typed(text: &str) -> Self {
        let mut bits = 0_u64;
        let (mut held, mut bytes) = (0_u32, Vec::new());
        for letter in text.chars().filter(|c| !c.is_whitespace()) {
            bits = (bits << 5) | u64::try_from(BASE_32.find(letter).unwrap()).unwrap();
            held += 5;
            if held >= 8 {
                held -= 8;
                bytes.push(u8::try_from((bits >> held) & 0xff).unwrap());
            }
        }
        Self(TotpSeed::from_opened(&bytes).unwrap())
    }

    /// The code that the app shows so many steps of 30 seconds from now.
    pub fn code(&self, steps: u64) -> String {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        self.0.code(Timestamp::EPOCH.plus(now + Duration::from_secs(30 * steps)))
    }

    /// The bytes of the seed, which no store has unsealed.
    pub fn seed(&self) -> &[u8] {
        self.0.expose()
    }

    /// Whether another app was given the same seed.
    pub fn has_same_seed(&self, other: &Self) -> bool {
        self.0.expose() == other.0.expose()
    }
}
