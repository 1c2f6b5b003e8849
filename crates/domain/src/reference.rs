//! References of callers to something that may not exist.
//!
//! A malformed id is answered like an unknown one (D2). So these types carry it to the place where missing
//! resources are handled.

use std::fmt;

use crate::hostname::Hostname;
use crate::id::{Id, IdKind};

/// An id as sent by a caller.
pub enum IdReference<K> {
    /// A well-formed id. A resource may have it.
    Id(Id<K>),
    /// A malformed id. No resource can have it.
    Malformed,
}

impl<K: IdKind> IdReference<K> {
    /// Reads a sent id. It never fails.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.parse().map_or(Self::Malformed, Self::Id)
    }

    /// The id, if it is well formed.
    #[must_use]
    pub const fn id(self) -> Option<Id<K>> {
        match self {
            Self::Id(id) => Some(id),
            Self::Malformed => None,
        }
    }
}

impl<K: IdKind> fmt::Debug for IdReference<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Malformed => f.write_str("malformed id"),
        }
    }
}
impl<K> Clone for IdReference<K> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K> Copy for IdReference<K> {}
impl<K: IdKind> PartialEq for IdReference<K> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Id(a), Self::Id(b)) => a == b,
            (Self::Malformed, Self::Malformed) => true,
            (Self::Id(_), Self::Malformed) | (Self::Malformed, Self::Id(_)) => false,
        }
    }
}
impl<K: IdKind> Eq for IdReference<K> {}

impl<K> From<Id<K>> for IdReference<K> {
    fn from(id: Id<K>) -> Self {
        Self::Id(id)
    }
}

/// A domain as named by a caller: by its hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostReference {
    /// A hostname, normalised.
    Hostname(Hostname),
    /// A text that is not a hostname. No domain can have it.
    Malformed,
}

impl HostReference {
    /// Reads a sent hostname, in ASCII or in Unicode. It never fails.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Hostname::parse_any_form(text).map_or(Self::Malformed, Self::Hostname)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RedirectKind;

    #[test]
    fn d2_malformed_ids_are_malformed_references() {
        assert_eq!(IdReference::<RedirectKind>::parse("grp_1"), IdReference::Malformed);
        assert_eq!(IdReference::<RedirectKind>::parse("").id(), None);
        let text = "rdr_019b5a3c6e2d7f4880112233445566aa";
        assert_eq!(IdReference::<RedirectKind>::parse(text).id(), text.parse().ok());
    }

    #[test]
    fn d9_hostnames_are_normalised_before_they_are_compared() {
        assert_eq!(HostReference::parse(" Go.Example.COM. "), HostReference::parse("go.example.com"));
        assert_eq!(HostReference::parse("not a host"), HostReference::Malformed);
    }

    #[test]
    fn d22_an_internationalised_hostname_is_named_in_either_form() {
        let ascii = HostReference::parse("xn--e1afmkfd.xn--p1ai");
        assert_ne!(ascii, HostReference::Malformed);
        for unicode in ["пример.рф", " Пример.РФ. ", "пример。рф"] {
            assert_eq!(HostReference::parse(unicode), ascii, "{unicode}");
        }
        let composed = HostReference::parse("m\u{fc}nchen.example");
        assert_eq!(composed, HostReference::parse("xn--mnchen-3ya.example"));
        assert_eq!(HostReference::parse("mu\u{308}nchen.example"), composed);
        for wrong in
            ["пример_.рф", "пример.рф:80", "http://пример.рф", "при мер.рф", "１.２.３.４", "1。2。3"]
        {
            assert_eq!(HostReference::parse(wrong), HostReference::Malformed, "{wrong}");
        }
    }
}
