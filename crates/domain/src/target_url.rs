//! Where a redirect sends its visitors (contract "Redirect", D24, D53).

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::stored::{self, MalformedStored};
use crate::text::exceeds;
use crate::violation::{FieldError, ViolationCode};

pub(crate) mod embedded_ipv4;
pub(crate) mod host;
mod parts;

use parts::Parts;

/// The scheme of an address on the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UrlScheme {
    /// `http`
    Http,
    /// `https`
    Https,
}

impl UrlScheme {
    /// The scheme in lower case, without the colon.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    /// The port that is meant where a URL of this scheme names none.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// An address that visitors can be sent to: an absolute `http` or `https` URL with a host, without credentials,
/// white space and control characters, at most 2048 characters, kept exactly as given (D24).
///
/// A URL that RFC 3986 and the WHATWG rules (those of browsers) read differently is refused: what one program
/// checked, another must not understand otherwise. Whether the host may be a target at all is another question,
/// which [`HostBlocklist`](crate::HostBlocklist) and [`SystemDomain`](crate::SystemDomain) answer.
///
/// ```
/// use signpost_domain::TargetUrl;
///
/// let target = TargetUrl::parse("https://Bücher.example/Über-uns").unwrap();
/// assert_eq!(target.as_str(), "https://Bücher.example/Über-uns");
/// assert_eq!(target.host(), "xn--bcher-kva.example");
/// assert_eq!(target.location(), "https://xn--bcher-kva.example/%C3%9Cber-uns");
///
/// for refused in ["ftp://a", "https:///a", "https://a\\b", "https://user@a", "http://0x7f.1"] {
///     assert!(TargetUrl::parse(refused).is_err());
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetUrl {
    given: String,
    scheme: UrlScheme,
    host: String,
    port: Option<u16>,
}

impl TargetUrl {
    /// The greatest length, in Unicode scalar values (contract "Size and format bounds", D9).
    pub const MAX_CHARS: usize = 2048;

    /// Reads a target. Nothing is trimmed or changed.
    ///
    /// # Errors
    /// `too_long` beyond [`Self::MAX_CHARS`], `invalid_format` for everything else that D24 refuses.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 2048 characters"));
        }
        Self::read(text).map_err(|message| FieldError::new(ViolationCode::InvalidFormat, message))
    }

    fn read(text: &str) -> Result<Self, &'static str> {
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("must not contain white space or control characters");
        }
        if text.contains('\\') {
            return Err("must not contain backslashes");
        }
        let Parts { secure, prefix: _, host, port, rest: _ } =
            parts::split(text).ok_or("must be an absolute URL that begins with http:// or https://")?;
        if host.contains('@') || port.contains('@') {
            return Err("must not contain a user name or a password");
        }
        let scheme = if secure { UrlScheme::Https } else { UrlScheme::Http };
        let ascii_host = host::agreed_ascii_form(host)
            .ok_or("must have a host that every program reads in the same way")?;
        let target = Self { given: text.to_owned(), scheme, host: ascii_host, port: read_port(port)? };
        target.check_against_whatwg()?;
        Ok(target)
    }

    /// The target that our own store has. It checks the outline only: the scheme, a host of characters that a host has, no
    /// credentials, and nothing that does not fit a header. Neither the WHATWG parser nor the rules for internationalised
    /// names are asked, whose next release may read differently what is stored already.
    ///
    /// ```
    /// use signpost_domain::TargetUrl;
    ///
    /// let text = "https://Bücher.example/Über-uns";
    /// assert_eq!(TargetUrl::from_stored(text.to_owned()).unwrap(), TargetUrl::parse(text).unwrap());
    /// assert!(TargetUrl::from_stored("javascript:alert(1)".to_owned()).is_err());
    /// ```
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        let text = stored::one_line(text)?;
        if text.contains(char::is_whitespace) {
            return Err(MalformedStored("has white space"));
        }
        let Parts { secure, prefix: _, host, port, rest: _ } =
            parts::split(&text).ok_or(MalformedStored("does not begin with http:// or https://"))?;
        let scheme = if secure { UrlScheme::Https } else { UrlScheme::Http };
        let host = host::ascii_form_of_stored(host).ok_or(MalformedStored("has a malformed host"))?;
        let port = read_port(port).map_err(|_| MalformedStored("has a malformed port"))?;
        Ok(Self { given: text, scheme, host, port })
    }

    /// The last word is the parser's that browsers are modelled on: it must find the same scheme, host and port,
    /// and the same URL behind the `Location` that visitors get.
    fn check_against_whatwg(&self) -> Result<(), &'static str> {
        const MESSAGE: &str = "must be a URL that every program reads in the same way";
        let url = Url::parse(&self.given).map_err(|_| MESSAGE)?;
        let host = url.host_str().map(|host| host.strip_suffix('.').unwrap_or(host));
        let agreed = url.scheme() == self.scheme.as_str()
            && url.username().is_empty()
            && url.password().is_none()
            && host == Some(self.host.as_str())
            && url.port_or_known_default() == Some(self.effective_port());
        let same_location =
            || self.given.is_ascii() || Url::parse(&self.location()).is_ok_and(|sent| sent == url);
        if agreed && same_location() { Ok(()) } else { Err(MESSAGE) }
    }

    /// The target exactly as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.given
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> UrlScheme {
        self.scheme
    }

    /// The host in ASCII form and lower case, without a trailing dot; an IPv6 address stands in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port that the target names, even where it is the scheme's own.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// The port that visitors connect to: the one named, or the scheme's.
    #[must_use]
    pub const fn effective_port(&self) -> u16 {
        match self.port {
            Some(port) => port,
            None => self.scheme.default_port(),
        }
    }

    /// The value of the header `Location` that sends visitors there (D53): an ASCII target byte for byte;
    /// otherwise the host in ASCII form and every other character that is not ASCII percent-encoded as UTF-8,
    /// with nothing else changed.
    ///
    /// It holds bytes from 0x21 to 0x7E only, and means the same URL as the target.
    #[must_use]
    pub fn location(&self) -> String {
        if self.given.is_ascii() {
            return self.given.clone();
        }
        let Some(Parts { secure: _, prefix, host, port, rest }) = parts::split(&self.given) else {
            return self.given.clone();
        };
        let rest = utf8_percent_encode(rest, &AsciiSet::EMPTY);
        if host.is_ascii() {
            return format!("{prefix}{host}{port}{rest}");
        }
        let root_dot = if host.ends_with('.') { "." } else { "" };
        format!("{prefix}{}{root_dot}{port}{rest}", self.host)
    }

    /// What stands after host and port, as given: path, query and fragment.
    pub(crate) fn path_and_after(&self) -> &str {
        parts::split(&self.given).map_or("", |parts| parts.rest)
    }

    /// The path that the server at the target is asked for, as a browser resolves it (`.` and `..` taken out),
    /// with its percent-encodings decoded. Never empty.
    pub(crate) fn requested_path(&self) -> Cow<'_, [u8]> {
        let given = self.path_and_after().split(['?', '#']).next().filter(|path| !path.is_empty());
        let given = given.unwrap_or("/");
        if is_as_requested(given) {
            return Cow::Borrowed(given.as_bytes());
        }
        if let Ok(url) = Url::parse(&self.given) {
            return Cow::Owned(percent_decode_str(url.path()).collect());
        }
        // Our own store may have what the parser refuses by now.
        percent_decode_str(given).into()
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

/// Whether a path is surely requested as it is given, as almost all are. To parse a URL costs more than all else that is done
/// with the target of a visit.
fn is_as_requested(path: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    // Only a segment that begins with a dot can be `.` or `..`.
    path.bytes().all(is_plain) && !path.contains("/.")
}

/// Reads a port with its colon. An empty port means the scheme's own, in both rules.
fn read_port(text: &str) -> Result<Option<u16>, &'static str> {
    const MESSAGE: &str = "must have a port between 0 and 65535 or none";
    let Some(digits) = text.strip_prefix(':') else {
        return if text.is_empty() { Ok(None) } else { Err(MESSAGE) };
    };
    if digits.is_empty() {
        return Ok(None);
    }
    // The standard library would accept a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MESSAGE);
    }
    digits.parse().map(Some).map_err(|_| MESSAGE)
}

#[cfg(test)]
mod corpus;
#[cfg(test)]
mod stored_tests;
#[cfg(test)]
mod tests;
