//! What the caller says about a visit that is to be explained (D136).

use std::net::IpAddr;

use signpost_domain::{CountryCode, FieldError, Timestamp, ViolationCode};

/// The visitor of a visit that is to be explained. What is not given is not known, or is not sent, except for the agent and the instant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitFacts {
    /// Where the visitor is. Without it, the country of the address counts.
    pub country: Option<CountryCode>,
    /// `User-Agent`. Without it, the visitor is a person with [the usual browser](Self::USUAL_AGENT); an empty one is not sent.
    pub user_agent: Option<VisitHeader>,
    /// `Accept-Language`.
    pub language: Option<VisitHeader>,
    /// `Referer`.
    pub referrer: Option<VisitHeader>,
    /// The query of the address.
    pub query: Option<VisitQuery>,
    /// The instant of the visit. Without it, it is the present.
    pub at: Option<Timestamp>,
    /// The visitor's address. Without it, no condition about networks holds, and only the agent decides where splits lead.
    pub address: Option<IpAddr>,
}

impl VisitFacts {
    /// The agent of a visitor of whom none is given: a browser with which many people visit. A visit without any agent is that of a
    /// program, and would say little about what people get.
    pub const USUAL_AGENT: &str = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

    /// The agent that the visitor sends; empty if it sends none.
    #[must_use]
    pub fn agent(&self) -> &str {
        self.user_agent.as_ref().map_or(Self::USUAL_AGENT, VisitHeader::as_str)
    }
}

/// The value of a header of a visit: at most 2,048 characters without control characters. It may be empty, and then it is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitHeader(String);

impl VisitHeader {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 2_048;

    /// Reads a value. White space around it counts for the length, but is not part of the value.
    ///
    /// # Errors
    /// `too_long`, and `invalid_format` for control characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check(text, Self::MAX_CHARS)?;
        Ok(Self(text.trim().to_owned()))
    }

    /// The value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The query of a visit, without its question mark: at most 4,096 characters without control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitQuery(String);

impl VisitQuery {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 4_096;

    /// Reads a query, with or without its question mark.
    ///
    /// # Errors
    /// `too_long`, and `invalid_format` for control characters.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check(text, Self::MAX_CHARS)?;
        Ok(Self(text.strip_prefix('?').unwrap_or(text).to_owned()))
    }

    /// The query of a [`VisitedUrl`], in the form in which browsers send it. It may be longer than one that is given alone.
    #[must_use]
    pub fn of_url(query: &str) -> Self {
        Self(query.to_owned())
    }

    /// The query, without its question mark.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The URL of a visit that is to be explained: at most 4,096 characters that begin with `http://` or `https://`. The rest may
/// be anything: a malformed address gets the same answer as an address without a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitedUrl(String);

impl VisitedUrl {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 4_096;

    /// Reads a URL. Letter case of the scheme makes no difference.
    ///
    /// # Errors
    /// `too_long`, and `invalid_format` for another scheme.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        check_length(text, Self::MAX_CHARS)?;
        let begins_with =
            |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        if !["http://", "https://"].into_iter().any(begins_with) {
            let message = "must be a URL that begins with http:// or https://";
            return Err(FieldError::new(ViolationCode::InvalidFormat, message));
        }
        Ok(Self(text.to_owned()))
    }

    /// The URL as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads the address of a visitor.
///
/// # Errors
/// `invalid_format` for anything but an IPv4 or IPv6 address.
pub fn parse_visitor_address(text: &str) -> Result<IpAddr, FieldError> {
    text.trim().parse().map_err(|_| {
        let message = "must be an IPv4 or IPv6 address, such as 203.0.113.9";
        FieldError::new(ViolationCode::InvalidFormat, message)
    })
}

fn check(text: &str, longest: usize) -> Result<(), FieldError> {
    check_length(text, longest)?;
    if text.chars().any(char::is_control) {
        return Err(FieldError::new(ViolationCode::InvalidFormat, "must have no control characters"));
    }
    Ok(())
}

fn check_length(text: &str, longest: usize) -> Result<(), FieldError> {
    if text.chars().nth(longest).is_some() {
        return Err(FieldError::new(
            ViolationCode::TooLong,
            format!("must have at most {longest} characters"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d136_headers_and_queries_have_bounds_and_no_control_characters() {
        let code = |error: FieldError| error.code();
        assert_eq!(VisitHeader::parse("  curl/8.5.0 ").unwrap().as_str(), "curl/8.5.0");
        assert_eq!(VisitHeader::parse("").unwrap().as_str(), "");
        assert_eq!(VisitHeader::parse("a\n").map_err(code), Err(ViolationCode::InvalidFormat));
        assert_eq!(VisitHeader::parse("a\r\nHost: b").map_err(code), Err(ViolationCode::InvalidFormat));
        assert!(VisitHeader::parse(&"ü".repeat(VisitHeader::MAX_CHARS)).is_ok());
        let long = "ü".repeat(VisitHeader::MAX_CHARS + 1);
        assert_eq!(VisitHeader::parse(&long).map_err(code), Err(ViolationCode::TooLong));
        assert_eq!(VisitQuery::parse("?a=1&b=?").unwrap().as_str(), "a=1&b=?");
        assert_eq!(VisitQuery::parse("a=1").unwrap().as_str(), "a=1");
        assert_eq!(VisitQuery::parse("a\0").map_err(code), Err(ViolationCode::InvalidFormat));
    }

    #[test]
    fn d136_a_url_begins_with_a_scheme_of_the_web() {
        assert!(VisitedUrl::parse("HTTPS://go.example.com/a").is_ok());
        assert!(VisitedUrl::parse("http://[malformed").is_ok(), "it answers as an unknown address");
        for other in
            ["", " https://go.example.com/a", "go.example.com/a", "ftp://go.example.com/a", "https:/a", "é"]
        {
            let code = VisitedUrl::parse(other).map_err(|error| error.code());
            assert_eq!(code, Err(ViolationCode::InvalidFormat), "{other}");
        }
    }

    #[test]
    fn d136_an_address_is_of_either_family() {
        assert!(
            parse_visitor_address(" 203.0.113.9 ").is_ok() && parse_visitor_address("2001:db8::1").is_ok()
        );
        for other in ["", "203.0.113", "203.0.113.9/24", "localhost", "[::1]"] {
            let code = parse_visitor_address(other).map_err(|error| error.code());
            assert_eq!(code, Err(ViolationCode::InvalidFormat), "{other}");
        }
    }
}
