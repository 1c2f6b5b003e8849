//! Keys and tokens.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64URL;
use ring::hmac;
use ring::rand::SystemRandom;
use ring::rsa::KeyPair as RsaKeyPair;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaEncoding, RsaPublicKeyComponents,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};

/// `ring` makes no RSA keys, so these are fixed. They are for tests alone.
const RSA: &str = include_str!("rsa.pem");
const ROTATED_RSA: &str = include_str!("rotated-rsa.pem");

/// How tokens are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Signing {
    /// With RS256.
    #[default]
    Rs256,
    /// With PS256.
    Ps256,
    /// With ES256.
    Es256,
    /// With `EdDSA` and the curve Ed25519.
    EdDsa,
    /// With RS256, and without the id of the key.
    WithoutKeyId,
    /// Not at all, with the algorithm `none`.
    Unsigned,
    /// With HS256, whose secret is the public RSA key, as it is published.
    HmacOfPublicKey,
    /// With HS256, whose secret is the client's.
    HmacOfClientSecret,
    /// With an RSA key that is not published, under the id of the published one.
    WrongKey,
    /// With an RSA key that is not published, under an id of its own.
    UnknownKey,
    /// With RS256, where the header says that it is PS256.
    ClaimsPs256,
    /// With RS256, under the id of the key for ES256.
    KeyOfOtherAlgorithm,
    /// With RS256, under the id of a key for encryption.
    KeyForEncryption,
    /// With RS256; one byte of the signature is changed.
    Damaged,
    /// With RS256; the header demands an extension.
    Critical,
}

struct RsaPair {
    pair: RsaKeyPair,
    n: String,
    e: String,
}

impl RsaPair {
    fn new(pem: &str) -> Self {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes()).unwrap();
        let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
        let RsaPublicKeyComponents { n, e } = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
        let (n, e) = (BASE64URL.encode(n), BASE64URL.encode(e));
        Self { pair, n, e }
    }

    fn sign(&self, padding: &'static dyn RsaEncoding, message: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; self.pair.public().modulus_len()];
        self.pair.sign(padding, &SystemRandom::new(), message, &mut signature).unwrap();
        signature
    }
}

pub(super) struct SigningKeys {
    rsa: RsaPair,
    rotated: RsaPair,
    ecdsa: EcdsaKeyPair,
    ed25519: Ed25519KeyPair,
}

impl SigningKeys {
    pub(super) fn new() -> Self {
        let random = SystemRandom::new();
        let ecdsa = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let ed25519 = Ed25519KeyPair::generate_pkcs8(&random).unwrap();
        Self {
            rsa: RsaPair::new(RSA),
            rotated: RsaPair::new(ROTATED_RSA),
            ecdsa: EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, ecdsa.as_ref(), &random)
                .unwrap(),
            ed25519: Ed25519KeyPair::from_pkcs8(ed25519.as_ref()).unwrap(),
        }
    }

    /// The keys as they are published. The RSA key has no `alg`, so that it serves two algorithms.
    pub(super) fn published(&self, is_rotated: bool) -> Value {
        let (rsa, id) = if is_rotated { (&self.rotated, "rsa-2") } else { (&self.rsa, "rsa-1") };
        let point = self.ecdsa.public_key().as_ref();
        json!({"keys": [
            {"kty": "RSA", "kid": "for-encryption", "use": "enc", "n": rsa.n, "e": rsa.e},
            {"kty": "RSA", "kid": id, "use": "sig", "n": rsa.n, "e": rsa.e},
            {"kty": "EC", "kid": "ec-1", "use": "sig", "alg": "ES256", "crv": "P-256",
                "x": BASE64URL.encode(&point[1..33]), "y": BASE64URL.encode(&point[33..])},
            {"kty": "OKP", "kid": "ed-1", "crv": "Ed25519", "alg": "EdDSA",
                "x": BASE64URL.encode(self.ed25519.public_key().as_ref())},
            {"kty": "EC", "kid": "ec-384", "crv": "P-384", "x": "AA", "y": "AA"},
            {"kty": "oct", "k": "c2VjcmV0"},
            "not a key",
        ]})
    }

    /// A signed token.
    pub(super) fn token(
        &self,
        signing: Signing,
        is_rotated: bool,
        client_secret: &str,
        claims: &Value,
    ) -> String {
        let (rsa, other) = if is_rotated { (&self.rotated, &self.rsa) } else { (&self.rsa, &self.rotated) };
        let id = if is_rotated { "rsa-2" } else { "rsa-1" };
        let header = match signing {
            Signing::Rs256 | Signing::WrongKey | Signing::Damaged => {
                json!({"alg": "RS256", "kid": id, "typ": "JWT"})
            }
            Signing::Ps256 | Signing::ClaimsPs256 => json!({"alg": "PS256", "kid": id}),
            Signing::Es256 => json!({"alg": "ES256", "kid": "ec-1"}),
            Signing::EdDsa => json!({"alg": "EdDSA", "kid": "ed-1"}),
            Signing::WithoutKeyId => json!({"alg": "RS256"}),
            Signing::Unsigned => json!({"alg": "none"}),
            Signing::HmacOfPublicKey | Signing::HmacOfClientSecret => json!({"alg": "HS256", "kid": id}),
            Signing::UnknownKey => json!({"alg": "RS256", "kid": "unknown"}),
            Signing::KeyOfOtherAlgorithm => json!({"alg": "RS256", "kid": "ec-1"}),
            Signing::KeyForEncryption => json!({"alg": "RS256", "kid": "for-encryption"}),
            Signing::Critical => json!({"alg": "RS256", "kid": id, "crit": ["exp"]}),
        };
        let part = |value: &Value| BASE64URL.encode(value.to_string());
        let signed = format!("{}.{}", part(&header), part(claims));
        let message = signed.as_bytes();
        let hmac =
            |secret: &[u8]| hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message).as_ref().to_vec();
        let signature = match signing {
            Signing::Rs256
            | Signing::WithoutKeyId
            | Signing::ClaimsPs256
            | Signing::KeyOfOtherAlgorithm
            | Signing::KeyForEncryption
            | Signing::Critical => rsa.sign(&RSA_PKCS1_SHA256, message),
            Signing::Ps256 => rsa.sign(&RSA_PSS_SHA256, message),
            Signing::Es256 => self.ecdsa.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec(),
            Signing::EdDsa => self.ed25519.sign(message).as_ref().to_vec(),
            Signing::Unsigned => Vec::new(),
            Signing::HmacOfPublicKey => hmac(rsa.n.as_bytes()),
            Signing::HmacOfClientSecret => hmac(client_secret.as_bytes()),
            Signing::WrongKey | Signing::UnknownKey => other.sign(&RSA_PKCS1_SHA256, message),
            Signing::Damaged => {
                let mut signature = rsa.sign(&RSA_PKCS1_SHA256, message);
                signature[17] ^= 1;
                signature
            }
        };
        format!("{signed}.{}", BASE64URL.encode(signature))
    }
}
