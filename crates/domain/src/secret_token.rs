//! Secrets that the service gives out in links and cookies: tickets and sessions (D70, D72).

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const BYTES: usize = 32;

/// 256 random bits in clear text, as 64 lowercase hexadecimal characters. It exists only while it is given out and while a
/// request that carries it is served. Its `Debug` output hides it.
#[derive(Clone)]
pub struct SecretToken(String);

/// The text is not a token of this service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a token")]
pub struct MalformedToken;

impl SecretToken {
    /// The token of these bytes. They must come from a cryptographically secure source.
    #[must_use]
    pub fn from_random(bytes: [u8; BYTES]) -> Self {
        let digits = bytes.into_iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        Self(digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect())
    }

    /// Checks the form, so that only a possible token reaches the store.
    ///
    /// ```
    /// # use signpost_domain::SecretToken;
    /// let token = SecretToken::from_random([7; 32]);
    /// let text = token.expose().to_owned();
    /// assert!(SecretToken::parse(&text).is_ok());
    /// assert!(SecretToken::parse(&text[1..]).is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, MalformedToken> {
        let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() == 2 * BYTES && is_hex { Ok(Self(text.to_owned())) } else { Err(MalformedToken) }
    }

    /// The token itself, for the link or the cookie.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The hash, which is stored instead of the token.
    #[must_use]
    pub fn hash(&self) -> TokenHash {
        TokenHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The hash of the token of a session that a proxy's header has opened (D77). It differs from [`Self::hash`], so such a
    /// session is found only beside the header, and a session of a password only without it.
    #[must_use]
    pub fn hash_beside_header(&self) -> TokenHash {
        let digest = Sha256::new().chain_update(b"sign-in-header:").chain_update(self.0.as_bytes());
        TokenHash(digest.finalize().into())
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretToken(…)")
    }
}

/// The SHA-256 of a token. A token has so many random bits that a plain hash cannot be reversed.
#[derive(Clone, Copy)]
pub struct TokenHash([u8; BYTES]);

impl TokenHash {
    /// The hash that was stored as these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; BYTES] {
        self.0
    }
}

/// Compares in constant time.
impl PartialEq for TokenHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
impl Eq for TokenHash {}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d70_a_token_reads_back_and_its_debug_output_hides_it() {
        let token = SecretToken::from_random([0xa5; 32]);
        assert_eq!(token.expose(), "a5".repeat(32));
        assert_eq!(SecretToken::parse(token.expose()).unwrap().hash(), token.hash());
        let printed = format!("{token:?} {:?}", token.hash());
        assert!(!printed.contains("a5a5"), "{printed}");
    }

    #[test]
    fn d77_a_session_of_the_header_has_another_hash() {
        let token = SecretToken::from_random([0xa5; 32]);
        assert_ne!(token.hash(), token.hash_beside_header());
        let again = SecretToken::parse(token.expose()).unwrap();
        assert_eq!(again.hash_beside_header(), token.hash_beside_header());
    }

    #[test]
    fn d70_malformed_tokens_are_refused() {
        let token = "a5".repeat(32);
        for text in ["", &token[1..], &format!("{token}0"), &token.to_uppercase(), &token.replace('5', "g")] {
            assert!(SecretToken::parse(text).is_err(), "{text:?}");
        }
    }
}
