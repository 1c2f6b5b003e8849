//! Why there is no certificate (D194).

use std::fmt;

/// Why an attempt to get a certificate failed, for the owner of the hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFailure {
    /// The kind of failure, which programs read.
    pub reason: CertificateFailureReason,
    /// Details for people; `None` if there are none.
    pub message: Option<AuthorityMessage>,
}

impl CertificateFailure {
    /// A failure with the words of the authority, or of the part that failed. An empty text is no message.
    #[must_use]
    pub fn new(reason: CertificateFailureReason, message: &str) -> Self {
        Self { reason, message: AuthorityMessage::new(message) }
    }
}

/// The kind of a failure. More kinds may be added, so an answer may show one that only a newer version knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CertificateFailureReason {
    /// `CAA` records forbid the authority to issue for the hostname.
    CaaForbids,
    /// The hostname does not lead to this installation.
    PointsElsewhere,
    /// The authority could not connect to the hostname.
    Unreachable,
    /// The hostname answered the authority, with something else than the proof.
    WrongAnswer,
    /// A limit of the authority, or one of ours, is used up.
    RateLimited,
    /// The authority does not issue for this name, whatever its owner does.
    NameRefused,
    /// The authority could not be reached, or did not do its part.
    AuthorityUnavailable,
    /// The name servers of the hostname gave no answer.
    DnsFailed,
    /// A kind that a newer version stored. It is shown unchanged, so that all nodes give the same answer
    /// during an upgrade.
    Other(Box<str>),
}

impl CertificateFailureReason {
    /// The maximum length of a kind that this version does not know.
    const MAX_CHARS: usize = 64;

    /// Reads a stored kind. `None` for a text that no version would store.
    ///
    /// ```
    /// use signpost_domain::CertificateFailureReason;
    ///
    /// assert_eq!(CertificateFailureReason::parse("unreachable"), Some(CertificateFailureReason::Unreachable));
    /// assert_eq!(CertificateFailureReason::parse("new_word").unwrap().as_str(), "new_word");
    /// assert_eq!(CertificateFailureReason::parse("No word"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let known = [
            Self::CaaForbids,
            Self::PointsElsewhere,
            Self::Unreachable,
            Self::WrongAnswer,
            Self::RateLimited,
            Self::NameRefused,
            Self::AuthorityUnavailable,
            Self::DnsFailed,
        ];
        if let Some(reason) = known.into_iter().find(|reason| reason.as_str() == text) {
            return Some(reason);
        }
        let is_word = (1..=Self::MAX_CHARS).contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        is_word.then(|| Self::Other(text.into()))
    }

    /// The word in API answers and stores.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::CaaForbids => "caa_forbids",
            Self::PointsElsewhere => "points_elsewhere",
            Self::Unreachable => "unreachable",
            Self::WrongAnswer => "wrong_answer",
            Self::RateLimited => "rate_limited",
            Self::NameRefused => "name_refused",
            Self::AuthorityUnavailable => "authority_unavailable",
            Self::DnsFailed => "dns_failed",
            Self::Other(word) => word,
        }
    }
}

/// A text of an authority that people read: one line of at most 500 characters, without the tokens of challenges.
///
/// ```
/// use signpost_domain::AuthorityMessage;
///
/// let message = AuthorityMessage::new(" 203.0.113.9:\r\nConnection refused ").unwrap();
/// assert_eq!(message.as_str(), "203.0.113.9: Connection refused");
/// assert_eq!(AuthorityMessage::new("\n"), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorityMessage(Box<str>);

impl AuthorityMessage {
    /// The maximum length in characters.
    pub const MAX_CHARS: usize = 500;

    /// The minimum length of a token: RFC 8555 demands 128 random bits, in six bits a character.
    const MIN_TOKEN: usize = 22;

    /// Makes any text presentable; `None` if nothing is left. Control characters and characters that change the direction of
    /// text become spaces, because a message must not forge lines of a log or of a page. Tokens become `[…]`. A longer
    /// text is cut.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        // More than this is never shown, however long the tokens are, so the rest costs nothing.
        let start: String = text.chars().take(Self::MAX_CHARS * 8).map(printable).collect();
        let words: Vec<String> = start.split_whitespace().map(without_tokens).collect();
        let line = words.join(" ");
        let cut = line.char_indices().nth(Self::MAX_CHARS).map_or(line.len(), |(at, _)| at);
        let kept = line.get(..cut).unwrap_or_default().trim_end();
        (!kept.is_empty()).then(|| Self(kept.into()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AuthorityMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn printable(character: char) -> char {
    let changes_direction = matches!(
        character,
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    if character.is_control() || changes_direction { ' ' } else { character }
}

/// Replaces the parts of a word that look like tokens. Hostnames stay: they are in lower case in messages, and a token of
/// random characters is not.
fn without_tokens(word: &str) -> String {
    let mut shown = String::with_capacity(word.len());
    let is_of_token = |character: char| character.is_ascii_alphanumeric() || "-_".contains(character);
    let mut rest = word;
    while !rest.is_empty() {
        let end = rest.find(|character| !is_of_token(character)).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        let looks_random = run.len() >= AuthorityMessage::MIN_TOKEN
            && run.bytes().any(|byte| byte.is_ascii_uppercase())
            && run.bytes().any(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        shown.push_str(if looks_random { "[…]" } else { run });
        let mut others = after.chars();
        shown.extend(others.next());
        rest = others.as_str();
    }
    shown
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const WORDS: [&str; 8] = [
        "caa_forbids",
        "points_elsewhere",
        "unreachable",
        "wrong_answer",
        "rate_limited",
        "name_refused",
        "authority_unavailable",
        "dns_failed",
    ];

    fn shown(text: &str) -> String {
        AuthorityMessage::new(text).unwrap().as_str().to_owned()
    }

    #[test]
    fn d194_reasons_read_back_as_their_words() {
        for word in WORDS {
            let reason = CertificateFailureReason::parse(word).unwrap();
            assert_eq!(reason.as_str(), word);
            assert!(!matches!(reason, CertificateFailureReason::Other(_)), "{word}");
        }
        assert_eq!(CertificateFailureReason::parse("x_y").unwrap().as_str(), "x_y");
    }

    #[test]
    fn d194_reasons_of_newer_versions_are_words() {
        for text in ["", "Unreachable", "a b", "a-b", "é", "a\n", &"a".repeat(65)] {
            assert_eq!(CertificateFailureReason::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn d194_a_message_has_one_line_of_at_most_500_characters() {
        assert_eq!(shown("a\r\nb\u{0}c\u{1b}[1m\u{202e}d"), "a b c [1m d");
        let long = "é".repeat(501);
        assert_eq!(shown(&long), "é".repeat(500));
        for empty in ["", " \n\t", "\u{0}\u{7f}\u{2066}"] {
            assert_eq!(AuthorityMessage::new(empty), None);
        }
    }

    #[test]
    fn d194_a_message_shows_no_token() {
        let token = "evaGxfADs6pSRb2LAv9IZf17Dt3juxGJ-PCt92wr-oA";
        let thumbprint = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0";
        let text = format!(
            "Invalid response from http://go.example.com/.well-known/acme-challenge/{token}: 404, \
             expected \"{token}.{thumbprint}\""
        );
        assert_eq!(
            shown(&text),
            "Invalid response from http://go.example.com/.well-known/acme-challenge/[…]: 404, \
             expected \"[…].[…]\""
        );
        let hostname = "a-very-long-label-of-a-customer-with-many-words.example.com";
        assert_eq!(shown(hostname), hostname);
    }

    proptest! {
        #[test]
        fn d194_every_message_is_bounded_and_without_controls(text in any::<String>()) {
            if let Some(message) = AuthorityMessage::new(&text) {
                prop_assert!((1..=500).contains(&message.as_str().chars().count()));
                prop_assert!(!message.as_str().contains(char::is_control));
                // A stored message reads back unchanged.
                prop_assert_eq!(AuthorityMessage::new(message.as_str()), Some(message));
            }
        }

        #[test]
        fn d194_no_token_survives(token in "[A-Z][a-z][A-Za-z0-9_-]{20,60}", before in "[ -~]{0,20}", after in "[ -~]{0,20}") {
            let message = shown(&format!("{before}{token}{after}"));
            prop_assert!(!message.contains(&token));
        }
    }
}
