//! The installation's secret outside of the store.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use signpost_domain::analytics::VisitorKey;

/// Distinguishes the visitor keys from everything else that is derived from the same secret. A derivation for another
/// purpose needs a label of its own, and no label may begin with another.
const VISITOR_KEY_LABEL: &[u8] = b"signpost visitor key v1";

/// Random bytes that all nodes share and that are not in the store, so the store alone, or a copy of it, does not
/// suffice to compute a visitor's hash (D48, ADR 64).
#[derive(Clone, PartialEq, Eq)]
pub struct SecretsKey([u8; Self::LENGTH]);

impl SecretsKey {
    /// The number of bytes.
    pub const LENGTH: usize = 32;

    /// The key of these bytes, which must be random.
    #[must_use]
    pub const fn new(bytes: [u8; Self::LENGTH]) -> Self {
        Self(bytes)
    }

    /// The bytes, from which keys for other purposes are derived.
    #[must_use]
    pub const fn bytes(&self) -> &[u8; Self::LENGTH] {
        &self.0
    }

    /// The key that hashes the visitors of a day, derived from this secret and the day's key in the store. `None` never
    /// happens, because HMAC accepts keys of any length.
    pub(crate) fn visitor_key(&self, in_store: &VisitorKey) -> Option<VisitorKey> {
        let mut mac: Hmac<Sha256> = Hmac::new_from_slice(&self.0).ok()?;
        mac.update(VISITOR_KEY_LABEL);
        mac.update(&in_store.0);
        Some(VisitorKey(mac.finalize().into_bytes().into()))
    }
}

/// Never shows the key.
impl std::fmt::Debug for SecretsKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretsKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn derived(secret: u8, in_store: u8) -> VisitorKey {
        SecretsKey::new([secret; 32]).visitor_key(&VisitorKey([in_store; 32])).unwrap()
    }

    /// Computed with OpenSSL: `openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…` over the label and 32 bytes of 2.
    #[test]
    fn d48_visitor_key_is_an_hmac_of_label_and_stored_key() {
        let hex = derived(1, 2).0.map(|byte| format!("{byte:02x}")).concat();
        assert_eq!(hex, "e78b61e08f7dd4edf5484b29821897117dd63a0c42f28f5bfd98ce2bf0a49e34");
    }

    #[test]
    fn d48_visitor_key_differs_by_secret_and_by_stored_key() {
        assert_eq!(derived(1, 2), derived(1, 2));
        let others = [derived(1, 3), derived(2, 2), derived(2, 1), VisitorKey([2; 32])];
        assert!(others.iter().all(|other| *other != derived(1, 2)));
    }

    #[test]
    fn d48_debug_output_has_no_byte_of_the_secret() {
        assert_eq!(format!("{:?}", SecretsKey::new([1; 32])), "SecretsKey");
    }
}
