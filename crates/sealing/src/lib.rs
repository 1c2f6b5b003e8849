//! Seals the secrets that go into the store, with a key that is not in the store (D192).
//!
//! The key is derived from the installation's secrets key. A sealed secret is a version byte, the id of the key, a random nonce,
//! and the secret encrypted with ChaCha20-Poly1305. Version, id and purpose are authenticated with it, so that a secret opens
//! only where it belongs.

use std::fmt;
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use signpost_app::ports::{Randomness, RandomnessUnavailable, SealedSecret, Sealer};

/// The format. A later one gets another number.
const VERSION: u8 = 1;

/// The length of a key's id in bytes. It tells "another key" from "damaged" in logs, and reveals nothing about the key.
const KEY_ID_BYTES: usize = 8;

/// Distinguishes what is derived here from everything else that is derived from the same secret.
const SALT: &[u8] = b"signpost sealing v1";

/// The number of bytes of the secrets key.
pub const SECRETS_KEY_BYTES: usize = 32;

/// Seals with a key that is derived from the installation's secrets key.
pub struct SecretsKeySealer {
    key: LessSafeKey,
    key_id: [u8; KEY_ID_BYTES],
    randomness: Arc<dyn Randomness>,
}

impl fmt::Debug for SecretsKeySealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretsKeySealer")
    }
}

/// The secrets key cannot be used. This never happens with a key of the right length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusableSecretsKey;

impl fmt::Display for UnusableSecretsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no key can be derived from the secrets key")
    }
}

impl std::error::Error for UnusableSecretsKey {}

/// The length of what is derived.
struct Bytes<const N: usize>;

impl<const N: usize> KeyType for Bytes<N> {
    fn len(&self) -> usize {
        N
    }
}

impl SecretsKeySealer {
    /// Derives the key.
    ///
    /// # Errors
    /// Never with a key of the right length.
    pub fn new(
        secrets_key: &[u8; SECRETS_KEY_BYTES],
        randomness: Arc<dyn Randomness>,
    ) -> Result<Self, UnusableSecretsKey> {
        let root = Salt::new(HKDF_SHA256, SALT).extract(secrets_key);
        let derived = |purpose: &'static [u8], bytes: &mut [u8; 32]| {
            let okm = root.expand(&[purpose], Bytes::<32>).map_err(|_| UnusableSecretsKey)?.fill(bytes);
            okm.map_err(|_| UnusableSecretsKey)
        };
        let (mut key, mut id) = ([0; 32], [0; 32]);
        derived(b"key", &mut key)?;
        derived(b"id", &mut id)?;
        let (key_id, _) = id.split_first_chunk().ok_or(UnusableSecretsKey)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| UnusableSecretsKey)?;
        Ok(Self { key: LessSafeKey::new(key), key_id: *key_id, randomness })
    }

    /// What is authenticated with a secret. The parts before the purpose have fixed lengths.
    fn authenticated(&self, purpose: &str) -> Vec<u8> {
        [&[VERSION][..], &self.key_id, purpose.as_bytes()].concat()
    }
}

impl Sealer for SecretsKeySealer {
    fn seal(&self, purpose: &str, secret: &[u8]) -> Result<SealedSecret, RandomnessUnavailable> {
        let mut nonce = [0; NONCE_LEN];
        // Random nonces of 12 bytes may be used for billions of secrets under one key.
        self.randomness.fill(&mut nonce)?;
        let mut encrypted = secret.to_vec();
        let aad = Aad::from(self.authenticated(purpose));
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut encrypted)
            .map_err(|_| RandomnessUnavailable("the secret is too long to be sealed".to_owned()))?;
        Ok(SealedSecret([&[VERSION][..], &self.key_id, &nonce, &encrypted].concat()))
    }

    fn open(&self, purpose: &str, sealed: &SealedSecret) -> Option<Vec<u8>> {
        let (&version, rest) = sealed.0.split_first()?;
        let (key_id, rest) = rest.split_first_chunk::<KEY_ID_BYTES>()?;
        let (&nonce, encrypted) = rest.split_first_chunk::<NONCE_LEN>()?;
        if version != VERSION || *key_id != self.key_id {
            return None;
        }
        let mut secret = encrypted.to_vec();
        let aad = Aad::from(self.authenticated(purpose));
        let length =
            self.key.open_in_place(Nonce::assume_unique_for_key(nonce), aad, &mut secret).ok()?.len();
        secret.truncate(length);
        Some(secret)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use signpost_memory::SeededRandomness;

    use super::*;

    fn sealer(byte: u8) -> SecretsKeySealer {
        SecretsKeySealer::new(&[byte; 32], Arc::new(SeededRandomness::new(byte.into()))).unwrap()
    }

    #[test]
    fn d192_a_secret_opens_only_with_its_key_and_for_its_purpose() {
        let sealer_1 = sealer(1);
        let sealed = sealer_1.seal("certificate go.example.com", b"the key").unwrap();
        assert_eq!(sealer_1.open("certificate go.example.com", &sealed), Some(b"the key".to_vec()));
        assert_eq!(sealer(1).open("certificate go.example.com", &sealed), Some(b"the key".to_vec()));
        for (sealer, purpose) in [
            (sealer(1), "certificate go.example.org"),
            (sealer(1), ""),
            (sealer(2), "certificate go.example.com"),
        ] {
            assert_eq!(sealer.open(purpose, &sealed), None, "{purpose}");
        }
    }

    #[test]
    fn d192_a_sealed_secret_shows_nothing_and_differs_each_time() {
        let sealer = sealer(1);
        let secrets = [(); 2].map(|()| sealer.seal("purpose", b"the key").unwrap());
        assert_ne!(secrets[0], secrets[1]);
        assert!(secrets.iter().all(|secret| !secret.0.windows(7).any(|part| part == b"the key")));
        assert_eq!(format!("{sealer:?} {:?}", secrets[0]), "SecretsKeySealer SealedSecret(44 bytes)");
    }

    proptest! {
        #[test]
        fn d192_a_damaged_secret_does_not_open(secret in prop::collection::vec(any::<u8>(), 0..100), place: prop::sample::Index, bit in 0..8_u8, cut: prop::sample::Index) {
            let sealer = sealer(1);
            let sealed = sealer.seal("purpose", &secret).unwrap();
            let mut damaged = sealed.0.clone();
            *place.get_mut(&mut damaged) ^= 1 << bit;
            prop_assert_eq!(sealer.open("purpose", &SealedSecret(damaged)), None);
            let cut = cut.index(sealed.0.len());
            prop_assert_eq!(sealer.open("purpose", &SealedSecret(sealed.0[..cut].to_vec())), None);
            prop_assert_eq!(sealer.open("purpose", &sealed), Some(secret));
        }
    }
}
