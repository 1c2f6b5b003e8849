//! The provider's keys (RFC 7517), and signatures with them.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256, RsaParameters,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;
use signpost_app::ports::{ProviderError, TokenFault};
use signpost_https_client::HttpsClient;

use crate::exchange::get;

/// The maximum number of keys that are looked at.
const MAX_KEYS: usize = 100;

/// The algorithms of signatures. Any other one is refused, above all those that need no key of the provider: `none`, and the
/// `HS` family, whose key would be a secret that both sides know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    EdDsa,
}

impl Algorithm {
    const ALL: [Self; 4] = [Self::Rs256, Self::Ps256, Self::Es256, Self::EdDsa];

    const fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }
}

/// The document with the keys.
#[derive(Debug, Deserialize)]
struct Document {
    keys: Vec<Value>,
}

/// A key as it is written. Only the fields of signatures are read.
#[derive(Debug, Deserialize)]
struct WrittenKey {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// A public key.
#[derive(Debug)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// An uncompressed point of P-256.
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key for signatures.
#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm that it is for, if it says so.
    algorithm: Option<String>,
    material: Material,
}

/// The provider's keys for signatures.
#[derive(Debug)]
pub(crate) struct Keys(Vec<Key>);

impl Keys {
    /// Asks the provider.
    pub(crate) async fn fetch(https: &HttpsClient, url: &str) -> Result<Self, ProviderError> {
        let Document { keys } = get(https, "key set", url, None).await?;
        Ok(Self(keys.into_iter().take(MAX_KEYS).filter_map(Key::read).collect()))
    }

    /// The key that a token names. A token may leave the id out if there is no choice.
    fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Option<&Key> {
        let mut fitting = self.0.iter().filter(|key| key.fits(algorithm));
        if let Some(id) = id {
            return fitting.find(|key| key.id.as_deref() == Some(id));
        }
        let only = fitting.next()?;
        fitting.next().is_none().then_some(only)
    }

    /// Whether there is a key that a token could have been signed with.
    pub(crate) fn knows(&self, algorithm: Algorithm, id: Option<&str>) -> bool {
        self.find(algorithm, id).is_some()
    }

    /// Checks a signature.
    pub(crate) fn verify(
        &self,
        algorithm: Algorithm,
        id: Option<&str>,
        message: &[u8],
        signature: &[u8],
    ) -> Result<(), TokenFault> {
        let key = self.find(algorithm, id).ok_or(TokenFault::UnknownKey)?;
        let rsa = |parameters: &'static RsaParameters| match &key.material {
            Material::Rsa { n, e } => RsaPublicKeyComponents { n, e }.verify(parameters, message, signature),
            Material::P256(_) | Material::Ed25519(_) => Err(ring::error::Unspecified),
        };
        let verified = match (algorithm, &key.material) {
            // Both refuse keys of less than 2048 bits.
            (Algorithm::Rs256, _) => rsa(&RSA_PKCS1_2048_8192_SHA256),
            (Algorithm::Ps256, _) => rsa(&RSA_PSS_2048_8192_SHA256),
            (Algorithm::Es256, Material::P256(point)) => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point).verify(message, signature)
            }
            (Algorithm::EdDsa, Material::Ed25519(point)) => {
                UnparsedPublicKey::new(&ED25519, point).verify(message, signature)
            }
            (Algorithm::Es256 | Algorithm::EdDsa, _) => Err(ring::error::Unspecified),
        };
        verified.map_err(|_| TokenFault::Signature)
    }
}

impl Key {
    /// `None` for a key that is not for signatures of a known algorithm: providers list such keys too.
    fn read(key: Value) -> Option<Self> {
        let WrittenKey { kty, kid, alg, purpose, key_ops, crv, n, e, x, y } =
            serde_json::from_value(key).ok()?;
        let is_for_signatures = purpose.is_none_or(|purpose| purpose == "sig")
            && key_ops.is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
        if !is_for_signatures {
            return None;
        }
        let bytes = |field: Option<String>| BASE64URL.decode(field?).ok();
        let material = match (kty.as_str(), crv.as_deref()) {
            ("RSA", _) => Material::Rsa { n: without_zeros(bytes(n)?), e: without_zeros(bytes(e)?) },
            ("EC", Some("P-256")) => {
                let (x, y) = (bytes(x)?, bytes(y)?);
                (x.len() == 32 && y.len() == 32).then(|| Material::P256([&[4], x.as_slice(), &y].concat()))?
            }
            ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(x)?),
            _ => return None,
        };
        Some(Self { id: kid, algorithm: alg, material })
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_of_kind = match (algorithm, &self.material) {
            (Algorithm::Rs256 | Algorithm::Ps256, Material::Rsa { .. })
            | (Algorithm::Es256, Material::P256(_))
            | (Algorithm::EdDsa, Material::Ed25519(_)) => true,
            (_, Material::Rsa { .. } | Material::P256(_) | Material::Ed25519(_)) => false,
        };
        is_of_kind && self.algorithm.as_deref().is_none_or(|name| name == algorithm.name())
    }
}

/// Some providers write a zero before a number, as DER does.
fn without_zeros(bytes: Vec<u8>) -> Vec<u8> {
    bytes.into_iter().skip_while(|byte| *byte == 0).collect()
}
