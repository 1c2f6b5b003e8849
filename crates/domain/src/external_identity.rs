//! Who somebody is at an identity provider (D77).

use std::fmt;
use std::net::IpAddr;

use url::{Host, Url};

use crate::email::Email;
use crate::stored::{self, MalformedStored};
use crate::text::{check_line, exceeds};
use crate::violation::{FieldError, ViolationCode};

/// The identifier of an identity provider: an `https` URL, or an `http` URL of this machine, without query and fragment. Issuers
/// are compared exactly (`OpenID` Connect Discovery 1.0 section 4.3), so the text is kept as it was given.
///
/// ```
/// use signpost_domain::Issuer;
///
/// let issuer = Issuer::parse("https://login.example.com/realms/staff").unwrap();
/// assert_eq!(issuer.host(), "login.example.com");
/// assert!(Issuer::parse("http://login.example.com").is_err());
/// assert!(Issuer::parse("http://localhost:9091").is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Issuer {
    url: String,
    host: String,
}

impl Issuer {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 255;

    /// Reads an issuer.
    ///
    /// # Errors
    /// `too_long` above [`Self::MAX_CHARS`], `invalid_format` otherwise.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 255 characters"));
        }
        let invalid = || {
            let message = "must be an https:// URL without query and fragment, such as https://login.example.com; only an issuer \
                           on this machine may have http://";
            FieldError::new(ViolationCode::InvalidFormat, message)
        };
        // The parser would drop or encode other characters, so that two texts would name one issuer.
        if !text.chars().all(|c| c.is_ascii_graphic()) || text.contains(['?', '#', '\\']) {
            return Err(invalid());
        }
        let url = Url::parse(text).map_err(|_| invalid())?;
        let host = url.host().ok_or_else(invalid)?;
        let is_allowed = match url.scheme() {
            "https" => true,
            "http" => is_loopback(&host),
            _ => false,
        };
        if !is_allowed || !url.username().is_empty() || url.password().is_some() {
            return Err(invalid());
        }
        Ok(Self { host: host.to_string(), url: text.to_owned() })
    }

    /// The URL, as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.url
    }

    /// The host, by which people know the provider.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

/// Whether a host is a name of this machine.
fn is_loopback<S: AsRef<str>>(host: &Host<S>) -> bool {
    match host {
        Host::Domain(name) => name.as_ref() == "localhost" || name.as_ref().ends_with(".localhost"),
        Host::Ipv4(address) => IpAddr::from(*address).is_loopback(),
        Host::Ipv6(address) => IpAddr::from(*address).is_loopback(),
    }
}

/// The name of a person at an issuer, which the issuer never gives to anybody else: 1 to 255 characters without control
/// characters. It says nothing to people.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Subject(String);

impl Subject {
    /// The maximum length in Unicode scalar values (`OpenID` Connect Core 1.0 section 2).
    pub const MAX_CHARS: usize = 255;

    /// Reads a subject, which is kept and compared exactly.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` for control characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_line(text, Self::MAX_CHARS)?;
        Ok(Self(text.to_owned()))
    }

    /// Reads a stored subject: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A person at an identity provider. Only the pair identifies somebody: another issuer may use the same subject.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExternalIdentity {
    /// The provider.
    pub issuer: Issuer,
    /// The person there.
    pub subject: Subject,
}

/// The domain of an e-mail address whose owners an identity provider may let in, in lower case.
///
/// ```
/// use signpost_domain::{Email, EmailDomain};
///
/// let domain = EmailDomain::parse("Example.com").unwrap();
/// assert!(domain.is_of(&Email::parse("ada@EXAMPLE.com").unwrap()));
/// assert!(!domain.is_of(&Email::parse("ada@mail.example.com").unwrap()));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EmailDomain(String);

impl EmailDomain {
    /// Reads the part of an address after the `@`.
    ///
    /// # Errors
    /// `invalid_format` if an address cannot end with it.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let is_domain = text.contains('.')
            && !text.starts_with('.')
            && !text.ends_with('.')
            && !text.contains(|c: char| {
                c.is_whitespace() || c.is_control() || matches!(c, '@' | '*' | '/' | ':')
            });
        if !is_domain {
            let message = "must be the domain of e-mail addresses, such as example.com";
            return Err(FieldError::new(ViolationCode::InvalidFormat, message));
        }
        Ok(Self(text.to_lowercase()))
    }

    /// Whether an address has this domain, and not one below it.
    #[must_use]
    pub fn is_of(&self, email: &Email) -> bool {
        email.comparison_key().rsplit_once('@').is_some_and(|(_, domain)| domain == self.0)
    }

    /// The domain in lower case.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d77_an_issuer_is_an_https_url_or_on_this_machine() {
        for good in [
            "https://login.example.com",
            "https://login.example.com/",
            "https://login.example.com:8443/realms/a",
            "http://127.0.0.1:9091",
            "http://[::1]:9091/x",
            "http://localhost",
            "http://idp.localhost:1",
        ] {
            assert_eq!(Issuer::parse(good).unwrap().as_str(), good);
        }
        for bad in [
            "",
            "login.example.com",
            "http://login.example.com",
            "http://10.0.0.1",
            "http://localhost.example.com",
            "ftp://localhost",
            "https://a.example?x=1",
            "https://a.example?",
            "https://a.example#x",
            "https://user@a.example",
            "https://u:p@a.example",
            "https://a.example/\u{e9}",
            "https://a.example/ b",
            " https://a.example",
            "https:\\\\a.example",
            "https://",
        ] {
            assert_eq!(Issuer::parse(bad).unwrap_err().code(), ViolationCode::InvalidFormat, "{bad}");
        }
        let long = format!("https://a.example/{}", "x".repeat(255));
        assert_eq!(Issuer::parse(&long).unwrap_err().code(), ViolationCode::TooLong);
    }

    #[test]
    fn d77_issuers_are_compared_exactly() {
        let issuer = |text| Issuer::parse(text).unwrap();
        assert_ne!(issuer("https://a.example"), issuer("https://a.example/"));
        assert_ne!(issuer("https://a.example"), issuer("https://A.example"));
        assert_eq!(issuer("https://A.example:444/x").host(), "a.example");
    }

    #[test]
    fn d77_a_subject_has_1_to_255_characters() {
        for good in ["1", "auth0|5f7c", "Ada Lovelace", &"é".repeat(255)] {
            assert_eq!(Subject::parse(good).unwrap().as_str(), good);
        }
        assert_eq!(Subject::parse("").unwrap_err().code(), ViolationCode::TooShort);
        assert_eq!(Subject::parse(&"a".repeat(256)).unwrap_err().code(), ViolationCode::TooLong);
        assert_eq!(Subject::parse("a\nb").unwrap_err().code(), ViolationCode::InvalidFormat);
    }

    #[test]
    fn d77_a_domain_lets_in_its_own_addresses_only() {
        let domain = EmailDomain::parse("Bücher.example").unwrap();
        assert!(domain.is_of(&Email::parse("ada@BÜCHER.example").unwrap()));
        for other in
            ["ada@example", "ada@xbücher.example", "ada@a.bücher.example", "bücher.example@evil.test"]
        {
            assert!(!domain.is_of(&Email::parse(other).unwrap()), "{other}");
        }
        for bad in ["", "example", "@example.com", "*.example.com", ".example.com", "example.com.", "a b.c"] {
            assert!(EmailDomain::parse(bad).is_err(), "{bad}");
        }
    }
}
