//! The `TXT` record with which an account proves a hostname (D38, D41).

use crate::hostname::Hostname;

/// The label that the name begins with.
const LABEL: &str = "_signpost";
/// What the value begins with.
pub(crate) const VALUE_PREFIX: &str = "signpost-verification=";

/// The record that proves one hostname for one account.
///
/// It is computed from the two, so it needs no storage. It stays the same after a removal and on every node,
/// and can be shown to an account that has no domain yet (D41). It is not secret: the proof is that the
/// record is in the hostname's zone, which only its owner can write. Knowing another account's value is
/// useless, since publishing it would give the hostname to that other account.
///
/// ```
/// use signpost_domain::{Hostname, Id, VerificationRecord};
///
/// let hostname = Hostname::parse("go.example.com").unwrap();
/// let record = VerificationRecord::of(Id::from_bytes([1; 16]), &hostname);
/// assert_eq!(record.name(), "_signpost.go.example.com");
/// assert!(record.value().starts_with("signpost-verification="));
/// assert!(record.is_among(&[record.value()]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerificationRecord {
    hostname: Hostname,
    token: String,
}

impl VerificationRecord {
    /// The hostname that the record proves.
    #[must_use]
    pub const fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// The record's name: `_signpost.<hostname>`, without a trailing dot.
    ///
    /// DNS allows 253 characters. So a hostname of more than 243, which D37 allows, cannot have a record. It
    /// can be connected but never proven, and its domain fails at the deadline. A query for such a name
    /// counts as "no such record".
    #[must_use]
    pub fn name(&self) -> String {
        format!("{LABEL}.{}", self.hostname)
    }

    /// The record's value: `signpost-verification=` and 32 lower-case hexadecimal characters.
    #[must_use]
    pub fn value(&self) -> String {
        format!("{VALUE_PREFIX}{}", self.token)
    }

    /// Whether one of the `TXT` values at [`name`](Self::name) is this record's. Surrounding white space is
    /// ignored, because the forms of some providers add it. Letter case, quotation marks and other text must
    /// match.
    #[must_use]
    pub fn is_among(&self, txt_values: &[String]) -> bool {
        let value = self.value();
        txt_values.iter().any(|found| found.trim() == value)
    }
}

/// Needs the hash function, which a tool without custom domains leaves out.
#[cfg(feature = "public-suffix")]
mod derivation {
    use std::fmt::Write as _;

    use sha2::{Digest, Sha256};

    use super::VerificationRecord;
    use crate::hostname::Hostname;
    use crate::id::AccountId;

    /// The first input of the hash, so that no other use of SHA-256 over an account and a name has the same
    /// result. It must never change, because that would invalidate all published records.
    const PURPOSE: &[u8] = b"signpost custom domain verification, version 1\0";

    /// The number of bytes of the hash in the token: 128 bits, twice as many hexadecimal characters.
    const TOKEN_BYTES: usize = 16;

    impl VerificationRecord {
        /// The record with which `account` proves `hostname`.
        #[must_use]
        pub fn of(account: AccountId, hostname: &Hostname) -> Self {
            // The account's bytes have a fixed length, so different pairs give different input.
            let hash = Sha256::new()
                .chain_update(PURPOSE)
                .chain_update(account.to_bytes())
                .chain_update(hostname.as_str())
                .finalize();
            let mut token = String::with_capacity(2 * TOKEN_BYTES);
            for byte in hash.iter().take(TOKEN_BYTES) {
                // Writing to a string cannot fail.
                let _ = write!(token, "{byte:02x}");
            }
            Self { hostname: hostname.clone(), token }
        }
    }
}

#[cfg(test)]
#[cfg(feature = "public-suffix")]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::error_code::ErrorCode;
    use crate::id::Id;
    use crate::refusal::Refusal;

    fn record(account: u8, hostname: &str) -> VerificationRecord {
        VerificationRecord::of(Id::from_bytes([account; 16]), &Hostname::parse(hostname).unwrap())
    }

    /// Computed with another program. A change would invalidate the records of all proven domains.
    #[test]
    fn d38_the_token_never_changes() {
        assert_eq!(
            record(1, "go.example.com").value(),
            "signpost-verification=2805fd2b99e453a755da1f7bff413896"
        );
    }

    #[test]
    fn d38_the_token_belongs_to_the_account_and_the_hostname() {
        let records = [
            record(1, "go.example.com"),
            record(2, "go.example.com"),
            record(1, "example.com"),
            record(1, "o.example.com"),
        ];
        let values: HashSet<_> = records.iter().map(VerificationRecord::value).collect();
        assert_eq!(values.len(), records.len());
        // Another spelling of the same hostname.
        assert_eq!(record(1, " GO.example.com. "), record(1, "go.example.com"));
    }

    #[test]
    fn d38_the_token_is_32_lower_case_hexadecimal_characters() {
        for account in 0..=255 {
            let value = record(account, "go.example.com").value();
            let token = value.strip_prefix("signpost-verification=").unwrap();
            assert_eq!(token.len(), 32);
            assert!(token.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')), "{token}");
        }
    }

    /// Contract D38, R7: another account's record, or a similar value, proves nothing.
    #[test]
    fn d38_only_the_exact_value_proves() {
        let proof = record(1, "go.example.com");
        let value = proof.value();
        let others = [
            String::new(),
            value.to_uppercase(),
            format!("\"{value}\""),
            format!("{value}0"),
            format!("x{value}"),
            format!("{value} and more"),
            value.replace('=', " = "),
            value[..value.len() - 1].to_owned(),
            value["signpost-verification=".len()..].to_owned(),
            record(2, "go.example.com").value(),
            record(1, "example.com").value(),
        ];
        assert!(!proof.is_among(&[]));
        assert!(!proof.is_among(&others));
        for found in [value.clone(), format!(" {value}\t"), format!("{value}\r\n")] {
            let mut all = others.to_vec();
            all.push(found);
            assert!(proof.is_among(&all));
        }
    }

    /// Contract D37 with D38: the longest valid hostname has a record, although its name is too long for DNS.
    #[test]
    fn d38_the_longest_names_record_is_longer_than_dns_allows() {
        let long = [&"a".repeat(63), &"b".repeat(63), &"c".repeat(63), &"d".repeat(57), "com"]
            .map(str::to_owned)
            .join(".");
        assert_eq!(long.len(), 253);
        assert!(record(1, &long).name().len() > Hostname::MAX_CHARS);
        assert_eq!(record(1, &long[10..]).name().len(), Hostname::MAX_CHARS);
    }

    /// Contract D41: the refusal shows the caller's own record.
    #[test]
    fn d41_the_refusal_of_a_taken_hostname_names_the_record() {
        let record = record(1, "go.example.com");
        let refusal = Refusal::HostnameTaken { record: Box::new(record.clone()) };
        assert_eq!(refusal.code(), ErrorCode::HostnameAlreadyTaken);
        let message = refusal.to_string();
        assert!(message.contains(&record.name()) && message.contains(&record.value()), "{message}");
    }

    proptest! {
        #[test]
        fn d38_no_record_proves_for_another_account(one in any::<[u8; 16]>(), other in any::<[u8; 16]>()) {
            let hostname = Hostname::parse("go.example.com").unwrap();
            let [one_record, other_record] = [one, other].map(|id| VerificationRecord::of(Id::from_bytes(id), &hostname));
            prop_assert_eq!(one_record.is_among(&[other_record.value()]), one == other);
        }
    }
}
