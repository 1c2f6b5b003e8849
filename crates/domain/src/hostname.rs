//! Hostnames of links and requests.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::stored::{self, MalformedStored};
use crate::violation::{FieldError, ViolationCode};

/// A host in the normalised form that is compared and stored (D9). It is a DNS name in lower case without its
/// trailing dot, an IPv4 address, or an IPv6 address in brackets.
///
/// A name has labels of letters, digits and inner hyphens, each of 1 to 63 characters. A single label such as
/// `localhost` is valid. Internationalised names are in their ASCII form (`xn--…`).
///
/// ```
/// use signpost_domain::Hostname;
///
/// assert_eq!(Hostname::parse(" Go.Example.COM. ").unwrap().as_str(), "go.example.com");
/// assert_eq!(Hostname::from_authority("localhost:8081").unwrap().as_str(), "localhost");
/// assert_eq!(Hostname::from_authority("[0:0::1]:8081").unwrap().as_str(), "[::1]");
/// assert!(Hostname::parse("go_example").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hostname(String);

impl Hostname {
    /// The maximum length of a name in characters, without a trailing dot (contract "Size and format
    /// bounds").
    pub const MAX_CHARS: usize = 253;

    /// Reads a hostname. Surrounding white space, letter case and one trailing dot make no difference.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it is not a host
    /// or has a port. Numbers that only some programs read as an IPv4 address (`127.1`, `010.0.0.1`,
    /// `0x7f000001`) are not hosts.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::parse_trimmed(text.trim())
    }

    /// Reads a hostname in its ASCII form, or in the Unicode form that people write (`пример.рф`). `None` if it is neither.
    pub(crate) fn parse_any_form(text: &str) -> Option<Self> {
        if text.is_ascii() {
            return Self::parse(text).ok();
        }
        match url::Host::parse(text.trim()).ok()? {
            url::Host::Domain(ascii) => Self::parse(&ascii).ok(),
            // Digits of another script.
            url::Host::Ipv4(_) | url::Host::Ipv6(_) => None,
        }
    }

    /// Reads the host of an authority, such as the `Host` header. An authority is a hostname, perhaps
    /// followed by `:` and a port, which may be empty (RFC 9110 section 7.2). The port is dropped, because
    /// the address of a link has no port.
    ///
    /// # Errors
    /// As [`Self::parse`]; `invalid_format` also for a malformed port.
    pub fn from_authority(authority: &str) -> Result<Self, FieldError> {
        let authority = authority.trim();
        let host_end = match authority.find(']') {
            Some(bracket) => bracket + 1,
            None => authority.find(':').unwrap_or(authority.len()),
        };
        let (host, port) = authority.split_at(host_end);
        if !is_port_or_nothing(port) {
            return Err(invalid_format());
        }
        Self::parse_trimmed(host)
    }

    fn parse_trimmed(text: &str) -> Result<Self, FieldError> {
        if let Some(inner) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let address: Ipv6Addr = inner.parse().map_err(|_| invalid_format())?;
            return Ok(Self(bracketed(address)));
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        if name.is_empty() {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
        }
        if crate::text::exceeds(name, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 253 characters"));
        }
        let is_host = name.split('.').all(is_label)
            && (!looks_like_an_ipv4_address(name) || name.parse::<Ipv4Addr>().is_ok());
        if is_host { Ok(Self(name.to_ascii_lowercase())) } else { Err(invalid_format()) }
    }

    /// Reads a stored hostname. It must be in normalised form, and fit a DNS message and a URL.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        let text = stored::some_line(text)?;
        let is_host = match text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => text.len() <= Self::MAX_CHARS && text.split('.').all(is_stored_label),
        };
        if is_host { Ok(Self(text)) } else { Err(MalformedStored("is not a hostname")) }
    }

    /// The hostname, normalised.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Hostname {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The form of an IPv6 address in a URL. Browsers send `[::ffff:7f00:1]`, where the standard library writes
/// `::ffff:127.0.0.1`.
pub(crate) fn bracketed(address: Ipv6Addr) -> String {
    url::Host::<&str>::Ipv6(address).to_string()
}

fn invalid_format() -> FieldError {
    FieldError::new(ViolationCode::InvalidFormat, "must be a hostname, such as go.example.com")
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// Whether DNS and URLs can carry the name unchanged.
fn is_stored_label(label: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=63).contains(&label.len()) && label.bytes().all(is_allowed)
}

/// Whether browsers read `name` as an IPv4 address: its last label is a decimal or hexadecimal number.
fn looks_like_an_ipv4_address(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or(name);
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => last.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

fn is_port_or_nothing(text: &str) -> bool {
    match text.strip_prefix(':') {
        Some("") => true,
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok(),
        None => text.is_empty(),
    }
}

#[cfg(test)]
mod tests;
