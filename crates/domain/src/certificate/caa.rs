//! Whether the `CAA` records of a name allow an authority to issue for it (D189; RFC 8659, RFC 8657).
//!
//! The authority decides in the end. Asking first saves an order that is bound to fail, and tells the owner why.

use crate::hostname::Hostname;

/// A `CAA` record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaaRecord {
    /// Whether an authority that does not know the tag must not issue.
    pub is_critical: bool,
    /// What the record is about, such as `issue`, in any case.
    pub tag: String,
    /// The value, as the name server sent it.
    pub value: Vec<u8>,
}

/// Who wants to issue, and how the proof is given.
#[derive(Debug, Clone, Copy)]
pub struct CaaIssuer<'a> {
    /// The domains by which records name the authority.
    pub domains: &'a [String],
    /// The URI of our account there.
    pub account_uri: &'a str,
    /// The method of validation, such as `http-01`.
    pub method: &'a str,
}

/// What a set of records says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CaaVerdict {
    /// The authority may issue.
    Allowed,
    /// A critical record has this tag, which authorities do not know.
    UnknownCriticalTag(String),
    /// No record names the authority.
    OtherAuthority,
    /// Records name the authority, but only for other accounts or other methods of validation.
    OtherTerms,
}

impl CaaVerdict {
    /// Whether the authority may issue.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed)
    }
}

/// The names whose records count, in this order: the first one with records decides. There are none for an address.
///
/// ```
/// use signpost_domain::Hostname;
/// use signpost_domain::certificate::caa_names;
///
/// let hostname = Hostname::parse("go.eu.example.com").unwrap();
/// let names: Vec<&str> = caa_names(&hostname).collect();
/// assert_eq!(names, ["go.eu.example.com", "eu.example.com", "example.com", "com"]);
/// ```
pub fn caa_names(hostname: &Hostname) -> impl Iterator<Item = &str> {
    let name = hostname.as_str();
    let is_address = name.starts_with('[') || name.parse::<std::net::Ipv4Addr>().is_ok();
    std::iter::successors((!is_address).then_some(name), |name| {
        name.split_once('.').map(|(_, parent)| parent)
    })
}

/// Judges the records of one name. No records at all allow every authority; then the next of [`caa_names`] counts.
///
/// Only `issue` counts, because we never order wildcards. One record that allows the authority suffices. A malformed value
/// allows nobody.
#[must_use]
pub fn caa_verdict(records: &[CaaRecord], issuer: &CaaIssuer<'_>) -> CaaVerdict {
    let is_unknown = |record: &&CaaRecord| record.is_critical && Tag::read(&record.tag) == Tag::Unknown;
    if let Some(record) = records.iter().find(is_unknown) {
        return CaaVerdict::UnknownCriticalTag(record.tag.clone());
    }
    let mut verdict = CaaVerdict::Allowed;
    for record in records.iter().filter(|record| Tag::read(&record.tag) == Tag::Issue) {
        if verdict == CaaVerdict::Allowed {
            verdict = CaaVerdict::OtherAuthority;
        }
        let Some(Issue { domain, parameters }) = Issue::read(&record.value) else { continue };
        if !issuer.domains.iter().any(|ours| ours.eq_ignore_ascii_case(domain)) {
            continue;
        }
        if are_met(&parameters, issuer) {
            return CaaVerdict::Allowed;
        }
        verdict = CaaVerdict::OtherTerms;
    }
    verdict
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tag {
    Issue,
    /// Known to authorities, and without meaning for a certificate of one hostname.
    Known,
    Unknown,
}

impl Tag {
    fn read(tag: &str) -> Self {
        match tag.to_ascii_lowercase().as_str() {
            "issue" => Self::Issue,
            "issuewild" | "iodef" | "issuemail" => Self::Known,
            _ => Self::Unknown,
        }
    }
}

/// A well-formed value of `issue`. The domain is empty in `;`, which names no authority.
struct Issue<'a> {
    domain: &'a str,
    parameters: Vec<(&'a str, &'a str)>,
}

impl<'a> Issue<'a> {
    /// By the grammar of RFC 8659 section 4.2.
    fn read(value: &'a [u8]) -> Option<Self> {
        let value = std::str::from_utf8(value).ok()?;
        let (domain, rest) = match value.split_once(';') {
            Some((domain, rest)) => (trimmed(domain), trimmed(rest)),
            None => (trimmed(value), ""),
        };
        if !domain.is_empty() && !domain.split('.').all(is_label) {
            return None;
        }
        let parameters =
            if rest.is_empty() { Some(Vec::new()) } else { rest.split(';').map(parameter).collect() };
        Some(Self { domain, parameters: parameters? })
    }
}

fn parameter(text: &str) -> Option<(&str, &str)> {
    let (tag, value) = text.split_once('=')?;
    let (tag, value) = (trimmed(tag), trimmed(value));
    let is_value = value.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
    (is_label(tag) && is_value).then_some((tag, value))
}

fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// A label of a domain, or a tag: letters, digits and inner hyphens.
fn is_label(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether the parameters of RFC 8657 fit. Others have no meaning to public authorities.
fn are_met(parameters: &[(&str, &str)], issuer: &CaaIssuer<'_>) -> bool {
    let of = |wanted: &str| -> Vec<&str> {
        let found = parameters.iter().filter(|(tag, _)| tag.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| *value).collect()
    };
    let is_for_account = match of("accounturi").as_slice() {
        [] => true,
        [uri] => *uri == issuer.account_uri,
        // RFC 8657 section 3: a record with several is met by nobody.
        _ => false,
    };
    let is_for_method = match of("validationmethods").as_slice() {
        [] => true,
        [methods] => methods.split(',').any(|method| method == issuer.method),
        _ => false,
    };
    is_for_account && is_for_method
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ACCOUNT: &str = "https://ca.example.net/acct/1";

    fn record(tag: &str, value: &str) -> CaaRecord {
        CaaRecord { is_critical: false, tag: tag.to_owned(), value: value.as_bytes().to_vec() }
    }

    fn critical(tag: &str, value: &str) -> CaaRecord {
        CaaRecord { is_critical: true, ..record(tag, value) }
    }

    fn judge(records: &[CaaRecord]) -> CaaVerdict {
        let domains = ["ca.example.net".to_owned(), "ca.example.org".to_owned()];
        caa_verdict(records, &CaaIssuer { domains: &domains, account_uri: ACCOUNT, method: "http-01" })
    }

    fn issue(value: &str) -> CaaVerdict {
        judge(&[record("issue", value)])
    }

    #[test]
    fn d189_the_first_name_with_records_counts_up_to_the_top() {
        let names =
            |text| -> Vec<String> { caa_names(&Hostname::parse(text).unwrap()).map(str::to_owned).collect() };
        assert_eq!(names("go.eu.example.com"), ["go.eu.example.com", "eu.example.com", "example.com", "com"]);
        assert_eq!(names("localhost"), ["localhost"]);
        assert!(names("192.0.2.1").is_empty() && names("[::1]").is_empty());
    }

    #[test]
    fn d189_without_issue_records_every_authority_may_issue() {
        for records in [
            vec![],
            vec![record("iodef", "mailto:a@example.com"), critical("issuewild", ";")],
            vec![record("future", "x"), critical("issuemail", ";")],
        ] {
            assert_eq!(judge(&records), CaaVerdict::Allowed, "{records:?}");
        }
    }

    #[test]
    fn d189_a_record_names_the_authority_in_any_case() {
        for value in ["ca.example.net", "CA.Example.Org", " ca.example.net ; ", "ca.example.net;policy=ev"] {
            assert_eq!(issue(value), CaaVerdict::Allowed, "{value}");
        }
        assert_eq!(judge(&[critical("IsSuE", "ca.example.net")]), CaaVerdict::Allowed);
        let both = [record("issue", "other.example"), record("issue", "ca.example.net")];
        assert_eq!(judge(&both), CaaVerdict::Allowed);
    }

    #[test]
    fn d189_records_for_others_forbid() {
        for value in [";", "", "  ; ", "other.example", "example.net", "x.ca.example.net"] {
            assert_eq!(issue(value), CaaVerdict::OtherAuthority, "{value}");
        }
    }

    #[test]
    fn d189_a_malformed_value_allows_nobody() {
        for value in [
            "ca.example.net policy=ev",
            "ca.example.net;;",
            "ca.example.net; policy",
            "ca.example.net; =x",
            "ca.example.net; a_b=x",
            "ca.example.net; a=x y",
            "ca.example.net; a=é",
            "ca.example.net.",
            "-ca.example.net",
            "\"ca.example.net\"",
            "ca.example.net\n",
        ] {
            assert_eq!(issue(value), CaaVerdict::OtherAuthority, "{value}");
        }
        let invalid = CaaRecord { value: b"ca.example.net\xff".to_vec(), ..record("issue", "") };
        assert_eq!(judge(&[invalid]), CaaVerdict::OtherAuthority);
    }

    #[test]
    fn d189_an_unknown_critical_tag_forbids() {
        let records = [record("issue", "ca.example.net"), critical("Future", "x")];
        assert_eq!(judge(&records), CaaVerdict::UnknownCriticalTag("Future".to_owned()));
    }

    #[test]
    fn d189_account_and_method_must_fit() {
        for (parameters, is_allowed) in [
            ("accounturi=https://ca.example.net/acct/1", true),
            ("AccountURI = https://ca.example.net/acct/1", true),
            ("accounturi=https://ca.example.net/acct/2", false),
            ("accounturi=https://ca.example.net/acct/1; accounturi=https://ca.example.net/acct/1", false),
            ("validationmethods=http-01", true),
            ("validationmethods=dns-01,http-01", true),
            ("validationmethods=dns-01", false),
            ("validationmethods=", false),
            ("validationmethods=http-01;validationmethods=http-01", false),
            ("validationmethods=http-01; accounturi=https://ca.example.net/acct/2", false),
        ] {
            let expected = if is_allowed { CaaVerdict::Allowed } else { CaaVerdict::OtherTerms };
            assert_eq!(issue(&format!("ca.example.net; {parameters}")), expected, "{parameters}");
        }
    }

    proptest! {
        #[test]
        fn d189_no_value_causes_a_panic_or_allows_by_accident(value in prop::collection::vec(any::<u8>(), 0..60), is_critical in any::<bool>()) {
            let mentions = value.to_ascii_lowercase().windows(11).any(|part| part == b"ca.example.");
            let records = [CaaRecord { is_critical, tag: "issue".to_owned(), value }];
            prop_assert!(mentions || !judge(&records).is_allowed());
        }
    }
}
