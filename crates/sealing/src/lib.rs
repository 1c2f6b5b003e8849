//! Seals the secrets that go into the store, with a key that is not in the store (D192).
//!
//! The key is derived from the installation's secrets key. A sealed secret is a version byte, the id of the key, a random nonce,
//! and the secret encrypted with ChaCha20-Poly1305. Version, id and purpose are authenticated with it, so that a secret opens
//! only where it belongs.

use std::fmt;
use std::sync::Arc;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use signpost_app::ports::{Randomness, RandomnessUnavailable, Sealer};
use signpost_domain::SealedSecret;

/// The format. A later one gets another number.
const VERSION: u8 = 1;

/// The length of a key's id in bytes. It tells "another key" from "damaged" in logs, and reveals nothing about the key.
const KEY_ID_BYTES: usize = 8;

/// Distinguishes what is derived here from everything else that is derived from the same secret.
const SALT: &[u8] = b"signpost sealing v1";

/// The number of bytes of the secrets key.
pub const SECRETS_KEY_BYTES: usize = 32;

/// Seals with a key that is derived from the installation's secrets key. While the secrets key is being replaced, it also opens
/// what was sealed with the previous one.
pub struct SecretsKeySealer {
    current: SealingKey,
    previous: Option<SealingKey>,
    randomness: Arc<dyn Randomness>,
}

/// What is derived from a secrets key.
struct SealingKey {
    key: LessSafeKey,
    id: [u8; KEY_ID_BYTES],
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

impl SealingKey {
    fn of(secrets_key: &[u8; SECRETS_KEY_BYTES]) -> Result<Self, UnusableSecretsKey> {
        let root = Salt::new(HKDF_SHA256, SALT).extract(secrets_key);
        let derived = |purpose: &'static [u8], bytes: &mut [u8; 32]| {
            let okm = root.expand(&[purpose], Bytes::<32>).map_err(|_| UnusableSecretsKey)?.fill(bytes);
            okm.map_err(|_| UnusableSecretsKey)
        };
        let (mut key, mut id) = ([0; 32], [0; 32]);
        derived(b"key", &mut key)?;
        derived(b"id", &mut id)?;
        let (&id, _) = id.split_first_chunk().ok_or(UnusableSecretsKey)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| UnusableSecretsKey)?;
        Ok(Self { key: LessSafeKey::new(key), id })
    }

    /// What is authenticated with a secret. The parts before the purpose have fixed lengths.
    fn authenticated(&self, purpose: &str) -> Aad<Vec<u8>> {
        Aad::from([&[VERSION][..], &self.id, purpose.as_bytes()].concat())
    }

    fn open(&self, purpose: &str, nonce: [u8; NONCE_LEN], encrypted: &[u8]) -> Option<Vec<u8>> {
        let mut secret = encrypted.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let length = self.key.open_in_place(nonce, self.authenticated(purpose), &mut secret).ok()?.len();
        secret.truncate(length);
        Some(secret)
    }
}

impl SecretsKeySealer {
    /// Derives the keys from the secrets key, and from the previous one while it is being replaced.
    ///
    /// # Errors
    /// Never with keys of the right length.
    pub fn new(
        secrets_key: &[u8; SECRETS_KEY_BYTES],
        previous: Option<&[u8; SECRETS_KEY_BYTES]>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Self, UnusableSecretsKey> {
        let previous = previous.map(SealingKey::of).transpose()?;
        Ok(Self { current: SealingKey::of(secrets_key)?, previous, randomness })
    }
}

/// The id of the key of a sealed secret, and what follows it. `None` for another format.
fn parts(sealed: &SealedSecret) -> Option<([u8; KEY_ID_BYTES], &[u8])> {
    let (&version, rest) = sealed.0.split_first()?;
    let (&key_id, rest) = rest.split_first_chunk()?;
    (version == VERSION).then_some((key_id, rest))
}

impl Sealer for SecretsKeySealer {
    fn seal(&self, purpose: &str, secret: &[u8]) -> Result<SealedSecret, RandomnessUnavailable> {
        let mut nonce = [0; NONCE_LEN];
        // Random nonces of 12 bytes may be used for billions of secrets under one key.
        self.randomness.fill(&mut nonce)?;
        let mut encrypted = secret.to_vec();
        let SealingKey { key, id } = &self.current;
        let authenticated = self.current.authenticated(purpose);
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), authenticated, &mut encrypted)
            .map_err(|_| RandomnessUnavailable("the secret is too long to be sealed".to_owned()))?;
        Ok(SealedSecret([&[VERSION][..], id, &nonce, &encrypted].concat()))
    }

    fn open(&self, purpose: &str, sealed: &SealedSecret) -> Option<Vec<u8>> {
        let (key_id, rest) = parts(sealed)?;
        let (&nonce, encrypted) = rest.split_first_chunk::<NONCE_LEN>()?;
        let key = [Some(&self.current), self.previous.as_ref()]
            .into_iter()
            .flatten()
            .find(|key| key.id == key_id)?;
        key.open(purpose, nonce, encrypted)
    }

    fn is_current(&self, sealed: &SealedSecret) -> bool {
        parts(sealed).is_some_and(|(key_id, _)| key_id == self.current.id)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use signpost_memory::SeededRandomness;

    use super::*;

    fn sealer(byte: u8) -> SecretsKeySealer {
        rotated(byte, None)
    }

    fn rotated(byte: u8, previous: Option<u8>) -> SecretsKeySealer {
        let previous = previous.map(|byte| [byte; 32]);
        let randomness = Arc::new(SeededRandomness::new(byte.into()));
        SecretsKeySealer::new(&[byte; 32], previous.as_ref(), randomness).unwrap()
    }

    #[test]
    fn d192_while_the_key_is_replaced_the_previous_one_opens_and_the_new_one_seals() {
        let (old, both, new) = (sealer(1), rotated(2, Some(1)), sealer(2));
        let by_old = old.seal("purpose", b"the key").unwrap();
        let by_both = both.seal("purpose", b"the key").unwrap();
        for (sealer, opens_old, opens_new) in [(&old, true, false), (&both, true, true), (&new, false, true)]
        {
            assert_eq!(sealer.open("purpose", &by_old).is_some(), opens_old);
            assert_eq!(sealer.open("purpose", &by_both).is_some(), opens_new);
        }
        assert_eq!(both.open("another purpose", &by_old), None);
        assert!(both.is_current(&by_both) && !both.is_current(&by_old) && old.is_current(&by_old));
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
