//! Identifiers of links of either kind.

use std::fmt;

use crate::id::{Id, IdKind, LandingId, LandingKind, MalformedId, RedirectId, RedirectKind};
use crate::refusal::Refusal;

/// The two kinds of links. They share one address space (D20).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkKind {
    /// A landing page.
    Landing,
    /// A redirect.
    Redirect,
}

impl LinkKind {
    /// The kind whose prefix the text begins with.
    #[must_use]
    pub fn of_prefix(text: &str) -> Option<Self> {
        if text.starts_with(LandingKind::PREFIX) {
            Some(Self::Landing)
        } else if text.starts_with(RedirectKind::PREFIX) {
            Some(Self::Redirect)
        } else {
            None
        }
    }

    /// The refusal if the account has no such link of this kind (D2).
    #[must_use]
    pub const fn not_found(self) -> Refusal {
        match self {
            Self::Landing => Refusal::LandingNotFound,
            Self::Redirect => Refusal::RedirectNotFound,
        }
    }
}

/// A kind of link identifiers.
pub trait LinkIdKind: IdKind {
    /// The kind of the links.
    const LINK_KIND: LinkKind;
}

impl LinkIdKind for LandingKind {
    const LINK_KIND: LinkKind = LinkKind::Landing;
}

impl LinkIdKind for RedirectKind {
    const LINK_KIND: LinkKind = LinkKind::Redirect;
}

/// The id of a landing page or of a redirect; the prefix tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinkId {
    /// `lnd_…`
    Landing(LandingId),
    /// `rdr_…`
    Redirect(RedirectId),
}

impl LinkId {
    /// The id of this kind with these bits, which stores keep.
    #[must_use]
    pub const fn from_bytes(kind: LinkKind, bytes: [u8; 16]) -> Self {
        match kind {
            LinkKind::Landing => Self::Landing(LandingId::from_bytes(bytes)),
            LinkKind::Redirect => Self::Redirect(RedirectId::from_bytes(bytes)),
        }
    }

    /// The kind of the link.
    #[must_use]
    pub const fn kind(self) -> LinkKind {
        match self {
            Self::Landing(_) => LinkKind::Landing,
            Self::Redirect(_) => LinkKind::Redirect,
        }
    }

    /// The 128 bits, most significant byte first.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        match self {
            Self::Landing(id) => id.to_bytes(),
            Self::Redirect(id) => id.to_bytes(),
        }
    }
}

impl<K: LinkIdKind> From<Id<K>> for LinkId {
    fn from(id: Id<K>) -> Self {
        Self::from_bytes(K::LINK_KIND, id.to_bytes())
    }
}

impl std::str::FromStr for LinkId {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        text.parse().map(Self::Landing).or_else(|_| text.parse().map(Self::Redirect))
    }
}

impl fmt::Display for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Landing(id) => id.fmt(f),
            Self::Redirect(id) => id.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_tells_the_kind() {
        let landing: LinkId = "lnd_019b5a3c6e2d7f4880112233445566aa".parse().unwrap();
        let redirect: LinkId = "rdr_019b5a3c6e2d7f4880112233445566aa".parse().unwrap();
        assert_eq!((landing.kind(), redirect.kind()), (LinkKind::Landing, LinkKind::Redirect));
        assert_eq!(landing.to_string(), "lnd_019b5a3c6e2d7f4880112233445566aa");
        assert_eq!(LinkId::from_bytes(LinkKind::Redirect, redirect.to_bytes()), redirect);
        assert!("grp_019b5a3c6e2d7f4880112233445566aa".parse::<LinkId>().is_err());
    }
}
