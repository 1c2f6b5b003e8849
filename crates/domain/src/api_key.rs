//! API keys: their format, their checksum, and their stored record (contract "Authentication", D13).

use std::fmt;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::id::{AccountId, ApiKeyId, UserId};
use crate::permission::PermissionSet;
use crate::text::Name;
use crate::timestamp::Timestamp;

const PREFIX: &str = "sp_live_";
const RANDOM_CHARACTERS: usize = 26;
const CHECKSUM_CHARACTERS: usize = 6;
const LENGTH: usize = PREFIX.len() + RANDOM_CHARACTERS + CHECKSUM_CHARACTERS;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An API key in clear text: `sp_live_`, 26 random characters and a checksum of 6. It exists only while it is
/// issued and while a request is admitted. Its `Debug` output shows only the last four characters, so that no
/// log can contain a key.
#[derive(Clone)]
pub struct ApiKeySecret(String);

/// The text is not an API key: the format or the checksum is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an API key")]
pub struct MalformedApiKey;

impl ApiKeySecret {
    /// The key that is made from these random bytes. They must come from a cryptographically secure source.
    ///
    /// Each half of the bytes is read as a number and gives 13 characters. 128 bits for 62^13 values leave a
    /// bias below 2^-50.
    #[must_use]
    pub fn from_random(bytes: [u8; 32]) -> Self {
        let (high, low) = bytes.split_at(16);
        let mut text = String::with_capacity(LENGTH);
        text.push_str(PREFIX);
        for half in [high, low] {
            let number = half.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
            push_base62(&mut text, number, RANDOM_CHARACTERS / 2);
        }
        let checksum = crc32fast::hash(text.as_bytes());
        push_base62(&mut text, u128::from(checksum), CHECKSUM_CHARACTERS);
        Self(text)
    }

    /// Checks the format and the checksum, so that a mistyped key never reaches the store.
    ///
    /// ```
    /// # use signpost_domain::ApiKeySecret;
    /// let key = ApiKeySecret::from_random([3; 32]);
    /// let text = key.expose().to_owned();
    /// assert!(ApiKeySecret::parse(&text).is_ok());
    /// assert!(ApiKeySecret::parse(&text.replace("sp_live_", "sk_live_")).is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, MalformedApiKey> {
        if text.len() != LENGTH || !text.starts_with(PREFIX) || !text.is_ascii() {
            return Err(MalformedApiKey);
        }
        let (head, checksum) = text.split_at(LENGTH - CHECKSUM_CHARACTERS);
        let random = head.get(PREFIX.len()..).ok_or(MalformedApiKey)?;
        let mut expected = String::with_capacity(CHECKSUM_CHARACTERS);
        push_base62(&mut expected, u128::from(crc32fast::hash(head.as_bytes())), CHECKSUM_CHARACTERS);
        let alphanumeric = random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if alphanumeric && checksum == expected { Ok(Self(text.to_owned())) } else { Err(MalformedApiKey) }
    }

    /// The key itself. It is shown once, to the person who asked for it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// The hash, which is stored instead of the key.
    #[must_use]
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.0.as_bytes()).into())
    }

    /// The last four characters. People recognise their keys by these.
    #[must_use]
    pub fn last_four(&self) -> &str {
        self.0.get(LENGTH - 4..).unwrap_or_default()
    }
}

impl fmt::Debug for ApiKeySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKeySecret(…{})", self.last_four())
    }
}

/// Appends the `width` lowest base-62 digits of `number`, most significant first.
fn push_base62(text: &mut String, mut number: u128, width: usize) {
    let mut digits = [b'0'; RANDOM_CHARACTERS];
    for digit in digits.iter_mut().take(width).rev() {
        let position = usize::try_from(number % 62).unwrap_or_default();
        *digit = ALPHABET.get(position).copied().unwrap_or(b'0');
        number /= 62;
    }
    text.extend(digits.iter().take(width).map(|digit| char::from(*digit)));
}

/// The SHA-256 of a key. Keys have so many random bits that a plain hash cannot be reversed (D13).
#[derive(Clone, Copy)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash that was stored as these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// Compares in constant time (D13).
impl PartialEq for KeyHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}
impl Eq for KeyHash {}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(…)")
    }
}

/// The stored record of an issued key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// The id of the record. Keys are listed and revoked by it.
    pub id: ApiKeyId,
    /// The account of the key.
    pub account_id: AccountId,
    /// The name that its owner gave it.
    pub name: Option<Name>,
    /// The hash of the secret.
    pub hash: KeyHash,
    /// The secret's last four characters.
    pub last_four: String,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it was revoked; `None` while it is valid.
    pub revoked_at: Option<Timestamp>,
    /// Who issued it in the dashboard. The key outlives this user.
    pub created_by: Option<UserId>,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// The first instant at which it is no longer accepted; `None` if it does not expire.
    pub expires_at: Option<Timestamp>,
    /// What the key may do; `None` for everything, including scopes of later versions (D80).
    pub scopes: Option<PermissionSet>,
}

impl ApiKey {
    /// Whether the key is accepted: neither revoked nor expired.
    #[must_use]
    pub fn is_accepted(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires_at| now < expires_at)
    }

    /// What the key may do.
    #[must_use]
    pub fn permissions(&self) -> PermissionSet {
        self.scopes.unwrap_or(PermissionSet::SCOPES)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d13_the_form_is_prefix_and_32_characters() {
        let key = ApiKeySecret::from_random([0xab; 32]);
        let rest = key.expose().strip_prefix("sp_live_").unwrap();
        assert_eq!(rest.len(), 32);
        assert!(rest.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert!(key.expose().ends_with(key.last_four()));
    }

    #[test]
    fn d13_debug_output_hides_the_key() {
        let key = ApiKeySecret::from_random([9; 32]);
        let printed = format!("{key:?} {:?}", key.hash());
        assert!(!printed.contains(&key.expose()[..20]), "{printed}");
    }

    #[test]
    fn d13_malformed_keys_are_refused() {
        let key = ApiKeySecret::from_random([1; 32]).expose().to_owned();
        for text in [
            "",
            "sp_live_",
            &key[1..],
            &key[..39],
            &format!("{key}0"),
            &format!(" {key}"),
            &key.to_uppercase(),
        ] {
            assert!(ApiKeySecret::parse(text).is_err(), "{text:?}");
        }
        assert!(ApiKeySecret::parse(&format!("sp_live_{}", "é".repeat(16))).is_err());
    }

    /// All texts that differ from `key` in one character after the prefix, or in the order of two neighbours
    /// there.
    fn near_misses(key: &str) -> Vec<String> {
        let bytes = key.as_bytes();
        let edit = |at: usize, to: u8| {
            let mut edited = bytes.to_vec();
            edited[at] = to;
            String::from_utf8(edited).unwrap()
        };
        let swap = |at: usize| {
            let mut swapped = bytes.to_vec();
            swapped.swap(at, at + 1);
            String::from_utf8(swapped).unwrap()
        };
        let edits = (PREFIX.len()..LENGTH).flat_map(|at| ALPHABET.iter().map(move |to| (at, *to)));
        let edits = edits.map(|(at, to)| edit(at, to));
        let swaps = (PREFIX.len()..LENGTH - 1).map(swap);
        edits.chain(swaps).filter(|miss| miss != key).collect()
    }

    /// R28: the checksum detects every change of one character, and every swap of two neighbours (contract
    /// D13).
    #[test]
    fn d13_every_near_miss_of_a_key_is_refused() {
        for seed in 0..32 {
            let key = ApiKeySecret::from_random(Sha256::digest([seed]).into());
            let misses = near_misses(key.expose());
            // 32 positions with 61 other characters each, and nearly as many pairs of neighbours that differ.
            assert!(misses.len() > 32 * 61 + 20, "{}", misses.len());
            for miss in misses {
                assert!(ApiKeySecret::parse(&miss).is_err(), "{miss} for {}", key.expose());
            }
        }
    }

    /// The same for a random part of one repeated character, and for checksums near the ends of their range.
    #[test]
    fn d13_every_near_miss_of_an_unlikely_key_is_refused() {
        for bytes in [[0x00; 32], [0xff; 32]] {
            let key = ApiKeySecret::from_random(bytes);
            for miss in near_misses(key.expose()) {
                assert!(ApiKeySecret::parse(&miss).is_err(), "{miss} for {}", key.expose());
            }
        }
    }

    proptest! {
        #[test]
        fn every_key_reads_back_and_has_one_hash(bytes in any::<[u8; 32]>()) {
            let key = ApiKeySecret::from_random(bytes);
            let again = ApiKeySecret::parse(key.expose()).unwrap();
            prop_assert_eq!(again.hash(), key.hash());
        }

        /// R28, with random keys.
        #[test]
        fn d13_every_near_miss_of_any_key_is_refused(bytes in any::<[u8; 32]>()) {
            for miss in near_misses(ApiKeySecret::from_random(bytes).expose()) {
                prop_assert!(ApiKeySecret::parse(&miss).is_err(), "{}", miss);
            }
        }
    }
}
