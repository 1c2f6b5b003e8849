//! The targets of redirects (contract "Redirect", D24, D53).

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use url::Url;

use crate::stored::{self, MalformedStored};
use crate::text::{Name, exceeds};
use crate::url_query::{forward_query, with_parameters};
use crate::utm::{Utm, UtmValue};
use crate::violation::{FieldError, ViolationCode};

pub(crate) mod embedded_ipv4;
pub(crate) mod host;
mod parts;

use parts::Parts;

/// The scheme of a web address.
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

    /// The default port of this scheme.
    #[must_use]
    pub const fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }
}

/// A target of a redirect, kept exactly as given (D24). It is an absolute `http` or `https` URL of at most
/// 2048 characters. It has a host, and no credentials, white space or control characters.
///
/// If RFC 3986 and the WHATWG rules (those of browsers) read a URL differently, it is refused. So a browser
/// reads every target as these checks do. [`HostBlocklist`](crate::HostBlocklist) and
/// [`SystemDomain`](crate::SystemDomain) decide whether the host may be a target.
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
    /// The maximum length in Unicode scalar values (contract "Size and format bounds", D9).
    pub const MAX_CHARS: usize = 2048;

    /// Reads a target. Nothing is trimmed or changed.
    ///
    /// # Errors
    /// `too_long` above [`Self::MAX_CHARS`], `invalid_format` for everything else that D24 refuses.
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

    /// Reads a stored target. It checks only the outline: the scheme, the characters of the host, no
    /// credentials, and no character that does not fit a header. It uses neither the WHATWG parser nor the
    /// rules for internationalised names, because their next release may read a stored target differently.
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

    /// The last check uses a parser for browsers' rules. It must find the same scheme, host and port, and the
    /// same URL in the `Location` header that visitors get.
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

    /// The target as given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.given
    }

    /// The name of a redirect to this target that was given none: the target without its scheme, cut to the length of a
    /// name.
    ///
    /// ```
    /// use signpost_domain::TargetUrl;
    ///
    /// let target = TargetUrl::parse("https://example.com/sale?from=mail").unwrap();
    /// assert_eq!(target.default_name().as_str(), "example.com/sale?from=mail");
    /// ```
    #[must_use]
    pub fn default_name(&self) -> Name {
        let without_scheme = self.given.split_once("://").map_or(self.as_str(), |(_, rest)| rest);
        Name::beginning_of(without_scheme)
    }

    /// The scheme.
    #[must_use]
    pub const fn scheme(&self) -> UrlScheme {
        self.scheme
    }

    /// The host in ASCII form and lower case, without a trailing dot; an IPv6 address in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether the target has its host as [`Self::host`] does, but for letter case and a final dot. Then the host is what follows the
    /// slashes, up to the first `:`, `/`, `?` or `#`. That is so for names and IPv4 addresses in ASCII.
    ///
    /// ```
    /// use signpost_domain::TargetUrl;
    ///
    /// let states = |target| TargetUrl::parse(target).unwrap().states_host();
    /// assert!(states("https://Example.COM.:8443/"));
    /// assert!(!states("https://bücher.example/") && !states("http://[::1]/"));
    /// ```
    #[must_use]
    pub fn states_host(&self) -> bool {
        parts::split(&self.given).is_some_and(|parts| parts.host.is_ascii() && !parts.host.starts_with('['))
    }

    /// The port in the target, even if it is the default one.
    #[must_use]
    pub const fn port(&self) -> Option<u16> {
        self.port
    }

    /// The port that visitors connect to: the one in the target, or the default.
    #[must_use]
    pub const fn effective_port(&self) -> u16 {
        match self.port {
            Some(port) => port,
            None => self.scheme.default_port(),
        }
    }

    /// The value of the `Location` header (D53). An ASCII target is used byte for byte. Otherwise the host is
    /// in ASCII form, all other characters that are not ASCII are percent-encoded as UTF-8, and nothing else
    /// changes.
    ///
    /// It has only bytes from 0x21 to 0x7E, and is the same URL as the target.
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

    /// The target with these parameters in its query (D132). They replace its own parameters of the same names, and everything else
    /// stays as given.
    ///
    /// ```
    /// use signpost_domain::{TargetUrl, Utm, UtmPart, UtmValue};
    ///
    /// let target = TargetUrl::parse("https://example.com/a?utm_source=web&b=1#c").unwrap();
    /// let utm = Utm::new(|part| UtmValue::parse("Spring sale").ok().filter(|_| part == UtmPart::Source));
    /// assert_eq!(target.with_utm(&utm).as_str(), "https://example.com/a?b=1&utm_source=Spring%20sale#c");
    /// ```
    #[must_use]
    pub fn with_utm(&self, utm: &Utm) -> Self {
        if utm.is_empty() {
            return self.clone();
        }
        let added = utm.iter().map(|(part, value)| (part.parameter(), UtmValue::as_str(value)));
        Self { given: with_parameters(&self.given, added), ..self.clone() }
    }

    /// The target with the parameters of a query that a redirect to it forwards, by the rules of
    /// [`forward_query`].
    #[must_use]
    pub fn forwarding(&self, query: &str) -> Self {
        let mut location = self.location();
        forward_query(&mut location, query);
        Self { given: location, ..self.clone() }
    }

    /// The path, query and fragment as given.
    pub(crate) fn path_and_after(&self) -> &str {
        parts::split(&self.given).map_or("", |parts| parts.rest)
    }

    /// The path that a browser requests, with `.` and `..` resolved and percent-encodings decoded. It is
    /// never empty.
    pub(crate) fn requested_path(&self) -> Cow<'_, [u8]> {
        let given = self.path_and_after().split(['?', '#']).next().filter(|path| !path.is_empty());
        let given = given.unwrap_or("/");
        if is_as_requested(given) {
            return Cow::Borrowed(given.as_bytes());
        }
        if let Ok(url) = Url::parse(&self.given) {
            return Cow::Owned(percent_decode_str(url.path()).collect());
        }
        // The parser may refuse a stored target by now.
        percent_decode_str(given).into()
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.given)
    }
}

/// Whether a path is certainly requested as given, as almost all are. Parsing a URL costs more than
/// everything else that a visit does with its target.
fn is_as_requested(path: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~');
    // Only a segment that begins with a dot can be `.` or `..`.
    path.bytes().all(is_plain) && !path.contains("/.")
}

/// Reads a port with its colon. Under both rules, an empty port is the default one.
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
