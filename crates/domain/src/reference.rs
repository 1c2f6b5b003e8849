//! Names by which a caller points at something, before anyone knows whether it exists.
//!
//! A malformed id names nothing, exactly as an unknown one does (D2). These types carry such a name to the
//! place where "nothing has it" is decided, so that both take the same way.

use std::fmt;

use crate::hostname::Hostname;
use crate::id::{Id, IdKind};

/// An id as a caller sent it.
pub enum IdReference<K> {
    /// Well formed: something may have it.
    Id(Id<K>),
    /// Nothing can have it.
    Malformed,
}

impl<K: IdKind> IdReference<K> {
    /// Reads what a caller sent; never fails.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        text.parse().map_or(Self::Malformed, Self::Id)
    }

    /// The id, if anything can have it.
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

/// A domain as a caller named it: by its hostname.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostReference {
    /// A hostname, normalised.
    Hostname(Hostname),
    /// No domain can have this name.
    Malformed,
}

impl HostReference {
    /// Reads what a caller sent; never fails.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        Hostname::parse(text).map_or(Self::Malformed, Self::Hostname)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RedirectKind;

    #[test]
    fn d2_malformed_ids_are_references_to_nothing() {
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
}
