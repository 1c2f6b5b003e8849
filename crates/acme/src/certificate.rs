//! Keys, requests for certificates, and the checks of what comes back.

use instant_acme::CertificateIdentifier;
use rcgen::{CertificateParams, DistinguishedName, KeyPair, PKCS_ECDSA_P256_SHA256, PublicKeyData as _};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use signpost_app::ports::{AuthorityError, CertificateKey, IssuedCertificate, RenewalId};
use signpost_domain::{
    AuthorityMessage, CertificateFailure, CertificateFailureReason, Hostname, Timestamp, Validity,
};
use x509_parser::certificate::X509Certificate;
use x509_parser::error::X509Error;
use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;
use x509_parser::x509::X509Name;

use crate::retry_after::instant;

/// The maximum length of a chain. Public authorities send two or three certificates.
const MAX_CHAIN: usize = 10;

/// A fresh ECDSA key on the curve P-256, which every client of the last ten years can use.
pub(crate) fn new_key() -> Result<CertificateKey, AuthorityError> {
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(|error| unusable(&error))?;
    Ok(CertificateKey::from_pkcs8_der(key.serialize_der()))
}

/// A request for a certificate with one name, as DER. The subject is empty, because public authorities ignore it.
pub(crate) fn signing_request(hostname: &Hostname, key: &CertificateKey) -> Result<Vec<u8>, AuthorityError> {
    let key = key_pair(key)?;
    let mut params =
        CertificateParams::new([hostname.as_str().to_owned()]).map_err(|error| unusable(&error))?;
    params.distinguished_name = DistinguishedName::new();
    let request = params.serialize_request(&key).map_err(|error| unusable(&error))?;
    Ok(request.der().to_vec())
}

fn key_pair(key: &CertificateKey) -> Result<KeyPair, AuthorityError> {
    let der = PrivatePkcs8KeyDer::from(key.pkcs8_der());
    KeyPair::try_from(&der).map_err(|error| unusable(&error))
}

fn unusable(error: &rcgen::Error) -> AuthorityError {
    AuthorityError::Unusable { reason: format!("the key of the certificate: {error}") }
}

/// Reads and checks a chain of certificates in PEM.
pub(crate) fn checked(
    pem: &str,
    hostname: &Hostname,
    key: &CertificateKey,
    now: Timestamp,
) -> Result<IssuedCertificate, AuthorityError> {
    let key = key_pair(key)?;
    read(pem, hostname, &key, now).map_err(|fault| {
        let message = format!("The authority issued a certificate that cannot be used: {fault}");
        let reason = CertificateFailureReason::AuthorityUnavailable;
        AuthorityError::Refused(CertificateFailure::new(reason, &message))
    })
}

fn read(pem: &str, hostname: &Hostname, key: &KeyPair, now: Timestamp) -> Result<IssuedCertificate, String> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .take(MAX_CHAIN + 1)
        .collect::<Result<_, _>>()
        .map_err(|error| format!("it is not PEM ({error})."))?;
    if chain.len() > MAX_CHAIN {
        return Err(format!("its chain has more than {MAX_CHAIN} certificates."));
    }
    let parsed: Vec<X509Certificate<'_>> = chain.iter().map(parsed).collect::<Result<_, _>>()?;
    let Some(leaf) = parsed.first() else { return Err("it contains no certificate.".to_owned()) };
    for (certificate, next) in parsed.iter().zip(parsed.iter().skip(1)) {
        follows(certificate, next)?;
    }
    if leaf.public_key().raw != key.subject_public_key_info() {
        return Err("it is for another key.".to_owned());
    }
    if !names(leaf, hostname) {
        return Err(format!("it does not name {hostname}."));
    }
    let validity = validity(leaf)?;
    if validity.not_after <= now {
        return Err(format!("it expired at {}.", validity.not_after));
    }
    let renewal_id = chain.first().and_then(|leaf| CertificateIdentifier::try_from(leaf).ok());
    Ok(IssuedCertificate {
        validity,
        issuer: words(leaf.issuer()),
        renewal_id: renewal_id.map(|id| RenewalId(id.to_string())),
        chain: chain.iter().map(|certificate| certificate.to_vec()).collect(),
    })
}

fn parsed<'a>(der: &'a CertificateDer<'_>) -> Result<X509Certificate<'a>, String> {
    match parse_x509_certificate(der) {
        Ok(([], certificate)) => Ok(certificate),
        Ok(_) => Err("it has bytes after its end.".to_owned()),
        Err(error) => Err(format!("it cannot be read ({error}).")),
    }
}

/// Clients build the chain from the order of the certificates, or give up.
fn follows(certificate: &X509Certificate<'_>, next: &X509Certificate<'_>) -> Result<(), String> {
    let is_named = certificate.issuer().as_raw() == next.subject().as_raw();
    match certificate.verify_signature(Some(next.public_key())) {
        // A new algorithm of the authority is no reason to refuse its certificates.
        Ok(()) | Err(X509Error::SignatureUnsupportedAlgorithm) if is_named => Ok(()),
        _ => Err("its chain is not in order.".to_owned()),
    }
}

/// Whether this very name is in the certificate. Wildcards are never ordered.
fn names(leaf: &X509Certificate<'_>, hostname: &Hostname) -> bool {
    let Ok(Some(names)) = leaf.subject_alternative_name() else { return false };
    names.value.general_names.iter().any(|name| match name {
        GeneralName::DNSName(name) => name.eq_ignore_ascii_case(hostname.as_str()),
        _ => false,
    })
}

fn validity(leaf: &X509Certificate<'_>) -> Result<Validity, String> {
    let dates = leaf.validity();
    let read = instant(dates.not_before.to_datetime()).zip(instant(dates.not_after.to_datetime()));
    match read {
        Some((not_before, not_after)) if not_before < not_after => Ok(Validity { not_before, not_after }),
        _ => Err("its dates make no sense.".to_owned()),
    }
}

/// The organisation and the name of an issuer, such as "Let's Encrypt R11".
fn words(issuer: &X509Name<'_>) -> String {
    let parts = issuer.iter_organization().take(1).chain(issuer.iter_common_name().take(1));
    let parts: Vec<&str> = parts.filter_map(|part| part.as_str().ok()).collect();
    let joined = AuthorityMessage::new(&parts.join(" "));
    joined.map_or_else(|| "unknown".to_owned(), |words| words.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{BasicConstraints, DnType, IsCa, Issuer};
    use time::OffsetDateTime;

    use super::*;

    fn hostname() -> Hostname {
        Hostname::parse("go.example.com").unwrap()
    }

    fn now() -> Timestamp {
        Timestamp::parse("2026-01-31T09:00:00Z").unwrap()
    }

    fn at(text: &str) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(Timestamp::parse(text).unwrap().unix_millis() / 1_000).unwrap()
    }

    struct Authority(Issuer<'static, KeyPair>, String);

    fn authority(name: &str) -> Authority {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Test");
        params.distinguished_name.push(DnType::CommonName, name);
        let pem = params.self_signed(&key).unwrap().pem();
        Authority(Issuer::new(params, key), pem)
    }

    fn issued(by: &Authority, name: &str, key: &CertificateKey, until: &str) -> String {
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = at("2025-12-01T00:00:00Z");
        params.not_after = at(until);
        params.use_authority_key_identifier_extension = true;
        params.signed_by(&key_pair(key).unwrap(), &by.0).unwrap().pem()
    }

    fn fault(pem: &str, key: &CertificateKey) -> String {
        match checked(pem, &hostname(), key, now()).unwrap_err() {
            AuthorityError::Refused(failure) => {
                assert_eq!(failure.reason.as_str(), "authority_unavailable");
                failure.message.unwrap().to_string()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn d187_a_fitting_certificate_is_read() {
        let (ca, key) = (authority("R1"), new_key().unwrap());
        let pem = issued(&ca, "GO.example.com", &key, "2026-03-01T00:00:00Z") + &ca.1;
        let certificate = checked(&pem, &hostname(), &key, now()).unwrap();
        assert_eq!(certificate.chain.len(), 2);
        assert_eq!(certificate.issuer, "Test R1");
        assert_eq!(certificate.validity.not_after.to_string(), "2026-03-01T00:00:00.000Z");
        assert!(certificate.renewal_id.unwrap().0.contains('.'));
        // The clock of this machine is slow (trap of machines without a battery).
        let early = Timestamp::EPOCH.plus(Duration::from_hours(1));
        checked(&pem, &hostname(), &key, early).unwrap();
    }

    #[test]
    fn d187_unusable_certificates_are_refused() {
        let (ca, other, key) = (authority("R1"), authority("R2"), new_key().unwrap());
        let good = issued(&ca, "go.example.com", &key, "2026-03-01T00:00:00Z");
        let expired = issued(&ca, "go.example.com", &key, "2026-01-31T09:00:00Z");
        let other_name = issued(&ca, "example.com", &key, "2026-03-01T00:00:00Z");
        let cut = good.lines().take(3).collect::<Vec<_>>().join("\n");
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        for (pem, expected) in [
            (good.clone() + &other.1, "its chain is not in order."),
            (expired, "it expired at 2026-01-31T09:00:00.000Z."),
            (other_name, "it does not name go.example.com."),
            (good.repeat(11), "its chain has more than 10 certificates."),
            (String::new(), "it contains no certificate."),
            (cut, "it is not PEM"),
            (broken.to_owned(), "it cannot be read"),
        ] {
            assert!(fault(&pem, &key).contains(expected), "{expected}: {}", fault(&pem, &key));
        }
        assert!(fault(&good, &new_key().unwrap()).contains("it is for another key."));
    }

    #[test]
    fn d187_a_name_alone_does_not_make_a_chain() {
        // The signer has the right name, but another key.
        let (ca, twin, key) = (authority("R1"), authority("R1"), new_key().unwrap());
        let pem = issued(&ca, "go.example.com", &key, "2026-03-01T00:00:00Z") + &twin.1;
        assert!(fault(&pem, &key).contains("its chain is not in order."));
    }

    #[test]
    fn d187_a_spoiled_key_is_reported() {
        let spoiled = CertificateKey::from_pkcs8_der(vec![1, 2, 3]);
        let refused = signing_request(&hostname(), &spoiled).unwrap_err();
        assert!(matches!(refused, AuthorityError::Unusable { .. }));
    }
}
