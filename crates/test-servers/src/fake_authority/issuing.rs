//! The certificates that the authority issues.

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm, date_time_ymd,
};

/// What is wrong with a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Issuing {
    /// Nothing. It is valid from 2026 to 2036.
    #[default]
    Well,
    /// The certificate after it has another key than the one that signed it.
    WrongChain,
    /// It is for another key than the requested one.
    OtherKey,
    /// It is for another name than the ordered one.
    OtherName,
    /// It expired in 2021.
    Expired,
    /// It is text, and not a certificate.
    Garbage,
}

/// The keys that sign certificates.
pub(super) struct IssuingKeys {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
    unrelated: String,
}

impl std::fmt::Debug for IssuingKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("IssuingKeys")
    }
}

/// The public key of a request.
struct RequestedKey(Vec<u8>);

impl PublicKeyData for RequestedKey {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

impl IssuingKeys {
    pub(super) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Fake Authority");
        params.distinguished_name.push(DnType::CommonName, "F1");
        let [key, other] = [(); 2].map(|()| KeyPair::generate().unwrap());
        let [certificate, unrelated] = [&key, &other].map(|key| params.self_signed(key).unwrap().pem());
        Self { issuer: Issuer::new(params, key), certificate, unrelated }
    }

    /// A chain for the key of a request for a certificate.
    pub(super) fn chain(&self, issuing: Issuing, hostname: &str, request: &[u8]) -> String {
        let name = if issuing == Issuing::OtherName { "other.example.net" } else { hostname };
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = match issuing {
            Issuing::Expired => (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1)),
            _ => (date_time_ymd(2026, 1, 1), date_time_ymd(2036, 1, 1)),
        };
        let key = match issuing {
            Issuing::OtherKey => RequestedKey(KeyPair::generate().unwrap().public_key_raw().to_vec()),
            _ => public_key(request),
        };
        let leaf = params.signed_by(&key, &self.issuer).unwrap().pem();
        match issuing {
            Issuing::Garbage => "no certificate today".to_owned(),
            Issuing::WrongChain => leaf + &self.unrelated,
            _ => leaf + &self.certificate,
        }
    }
}

/// Finds the key by the bytes that precede every uncompressed point of the curve P-256: a bit string of 66 bytes.
fn public_key(request: &[u8]) -> RequestedKey {
    let start = [0x03, 0x42, 0x00, 0x04];
    let at = request.windows(start.len()).position(|bytes| bytes == start).expect("a key on P-256");
    RequestedKey(request[at + 3..at + 68].to_vec())
}
