//! Identifiers: a kind's prefix and 32 lowercase hexadecimal characters (contract "Conventions", D1).

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::str::FromStr;

/// A kind of resource with identifiers.
pub trait IdKind: 'static {
    /// The prefix of its identifiers, including the underscore: `rdr_`.
    const PREFIX: &'static str;

    /// The name of an identifier in messages, with its article: `a redirect id`.
    const CALLED: &'static str;
}

macro_rules! id_kinds {
    ($($(#[$doc:meta])+ $kind:ident, $alias:ident, $prefix:literal, $called:literal;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $kind {}

        impl IdKind for $kind {
            const PREFIX: &'static str = $prefix;
            const CALLED: &'static str = $called;
        }

        #[doc = concat!("An identifier that begins with `", $prefix, "`.")]
        pub type $alias = Id<$kind>;
    )+

        /// The prefixes of all kinds.
        pub const ID_PREFIXES: &[&str] = &[$($prefix),+];
    };
}

id_kinds! {
    /// Redirects.
    RedirectKind, RedirectId, "rdr_", "a redirect id";
    /// Landing pages.
    LandingKind, LandingId, "lnd_", "a landing page id";
    /// Groups.
    GroupKind, GroupId, "grp_", "a group id";
    /// Custom domains.
    DomainKind, DomainId, "dom_", "a domain id";
    /// Pixels.
    PixelKind, PixelId, "pxl_", "a pixel id";
    /// Tags.
    TagKind, TagId, "tag_", "a tag id";
    /// Accounts.
    AccountKind, AccountId, "acc_", "an account id";
    /// API keys: the record, not the secret.
    ApiKeyKind, ApiKeyId, "key_", "an API key id";
    /// Widgets of a landing page.
    WidgetKind, WidgetId, "wgt_", "a widget id";
    /// Rules of a redirect.
    RuleKind, RuleId, "rul_", "a rule id";
    /// People who sign in to the dashboard.
    UserKind, UserId, "usr_", "a user id";
    /// Sessions of the dashboard: the record, not the token.
    SessionKind, SessionId, "ses_", "a session id";
    /// Entries of the audit.
    AuditEntryKind, AuditEntryId, "aud_", "an audit entry id";
    /// Requests to the API.
    RequestKind, RequestId, "req_", "a request id";
}

/// An identifier of one kind: 128 bits. If they come from a ULID, they sort by creation time (D1).
///
/// The kind is part of the type, so a redirect's id cannot be passed as a group's.
///
/// ```
/// # use signpost_domain::{GroupId, RedirectId};
/// let id: RedirectId = "rdr_019b5a3c6e2d7f4880112233445566aa".parse().unwrap();
/// assert_eq!(id.to_string(), "rdr_019b5a3c6e2d7f4880112233445566aa");
/// assert!("rdr_019b5a3c6e2d7f4880112233445566aa".parse::<GroupId>().is_err());
/// ```
pub struct Id<K> {
    bytes: [u8; 16],
    kind: PhantomData<fn() -> K>,
}

impl<K> Id<K> {
    /// The identifier with these bits, most significant byte first.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self { bytes, kind: PhantomData }
    }

    /// The 128 bits to store, most significant byte first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.bytes
    }

    /// The same bits as an identifier of another kind.
    pub(crate) const fn retyped<L>(self) -> Id<L> {
        Id::from_bytes(self.bytes)
    }
}

/// The text is not an identifier of the kind: the prefix, length, alphabet or case is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not {called} ({prefix}…)")]
pub struct MalformedId {
    called: &'static str,
    prefix: &'static str,
}

impl<K: IdKind> FromStr for Id<K> {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let malformed = MalformedId { called: K::CALLED, prefix: K::PREFIX };
        let digits = text.strip_prefix(K::PREFIX).ok_or(malformed)?.as_bytes();
        if digits.len() != 32 {
            return Err(malformed);
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = pair else { return Err(malformed) };
            *byte = hex_value(*high).ok_or(malformed)? << 4 | hex_value(*low).ok_or(malformed)?;
        }
        Ok(Self::from_bytes(bytes))
    }
}

/// The value of a lowercase hexadecimal digit.
const fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl<K: IdKind> fmt::Display for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(K::PREFIX.len() + 32);
        text.push_str(K::PREFIX);
        // Digit by digit, because a page of links writes thousands of them and `{:02x}` is several times
        // slower.
        for half in self.bytes.into_iter().flat_map(|byte| [byte >> 4, byte & 0xf]) {
            text.extend(char::from_digit(u32::from(half), 16));
        }
        f.pad(&text)
    }
}

impl<K: IdKind> fmt::Debug for Id<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

// Implemented by hand, because a derive would require the same of `K`, which is only a marker.
impl<K> Clone for Id<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for Id<K> {}
impl<K> PartialEq for Id<K> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}
impl<K> Eq for Id<K> {}
impl<K> PartialOrd for Id<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<K> Ord for Id<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes.cmp(&other.bytes)
    }
}
impl<K> Hash for Id<K> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d1_malformed_ids_are_refused() {
        for text in [
            "",
            "rdr_",
            "rdr_019b5a3c6e2d7f4880112233445566a",
            "rdr_019b5a3c6e2d7f4880112233445566aaa",
            "rdr_019B5A3C6E2D7F4880112233445566AA",
            "RDR_019b5a3c6e2d7f4880112233445566aa",
            "grp_019b5a3c6e2d7f4880112233445566aa",
            "019b5a3c6e2d7f4880112233445566aa",
            "rdr_019b5a3c6e2d7f4880112233445566ag",
            "rdr_+19b5a3c6e2d7f4880112233445566aa",
            " rdr_019b5a3c6e2d7f4880112233445566aa",
            "rdr_019b5a3c6e2d7f488011223344556é",
            "rdr_\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ] {
            assert!(text.parse::<RedirectId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn d1_the_message_names_the_kind_of_a_malformed_id() {
        let message = |error: Option<MalformedId>| error.unwrap().to_string();
        assert_eq!(message("acc_1".parse::<crate::AccountId>().err()), "is not an account id (acc_…)");
        assert_eq!(message("acc_1".parse::<crate::ApiKeyId>().err()), "is not an API key id (key_…)");
    }

    proptest! {
        #[test]
        fn every_id_reads_back(bytes in any::<[u8; 16]>()) {
            let id = RedirectId::from_bytes(bytes);
            prop_assert_eq!(id.to_string().parse::<RedirectId>(), Ok(id));
        }

        #[test]
        fn order_of_bits_is_order_of_text(a in any::<[u8; 16]>(), b in any::<[u8; 16]>()) {
            let (a, b) = (GroupId::from_bytes(a), GroupId::from_bytes(b));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }

        #[test]
        fn d1_a_parsed_id_prints_as_it_was(text in "(rdr_)?[0-9a-fA-F+ ]{30,34}") {
            if let Ok(id) = text.parse::<RedirectId>() {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }
}
