//! Links: what redirects and landing pages share, and the content in which they differ (contract "Redirect", "Landing").

use std::fmt::Debug;

use crate::click_limit::ClickLimit;
use crate::external_id::ExternalId;
use crate::id::{GroupId, Id, IdKind, LandingId, RedirectId};
use crate::landing::{Landing, LandingPage, NoContent};
use crate::life::Life;
use crate::link_id::{LinkId, LinkKind};
use crate::placement::Placement;
use crate::redirect::{Redirect, RedirectContent};
use crate::revision::Revision;
use crate::routing::Rules;
use crate::tag::Tags;
use crate::target_url::TargetUrl;
use crate::text::{Name, Note};
use crate::timestamp::Timestamp;

/// A link. Its content `C` makes it a [`Redirect`], a [`Landing`], a [`LandingPage`], or a link of either kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a field of its own")]
pub struct Link<C: Content = AnyContent> {
    /// The id. Ids sort by the time of creation (D1).
    pub id: Id<C::Kind>,
    /// The name of a redirect, for the account's eyes; the title of a landing page, which visitors see.
    pub name: Name,
    /// Where the link lives.
    pub placement: Placement,
    /// Whether the link is switched on.
    pub is_active: bool,
    /// Whether the custom domain of the link served links when the link was read. True without a custom domain. No request and
    /// no write of a link changes it.
    pub is_domain_active: bool,
    /// When the link works, and where it leads afterwards (D128).
    pub life: Life,
    /// Whether visitors are asked for a password (D131). Its hash is stored elsewhere.
    pub has_password: bool,
    /// A private note, never shown to visitors.
    pub note: Option<Note>,
    /// The id of the link in the caller's own system (D121).
    pub external_id: Option<ExternalId>,
    /// Whether visits are counted. Fixed for the link's life, and never shown (D28).
    pub analytics_enabled: bool,
    /// The group that the link is in.
    pub group_id: Option<GroupId>,
    /// The tags of the link, as their account spells them (D122).
    pub tags: Tags,
    /// When the link was created.
    pub created_at: Timestamp,
    /// When a field of the link last changed (D33).
    pub updated_at: Timestamp,
    /// The number of this version (D120).
    pub revision: Revision,
    /// The fields that only links of this kind have.
    pub content: C,
}

/// The content of a link.
pub trait Content: Clone + Debug + Eq {
    /// The kind of the link's id.
    type Kind: IdKind + Clone + Debug + Eq;

    /// The content as that of a link of either kind.
    fn into_any(self) -> AnyContent;

    /// How many visits are sent on at most; `None` without a limit, and for landing pages (D128).
    fn click_limit(&self) -> Option<ClickLimit> {
        None
    }
}

/// The content of a link of either kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnyContent {
    /// The link is a landing page. Its [`PageContent`](crate::PageContent) is read only where a single page is shown.
    Landing,
    /// The link is a redirect.
    Redirect(RedirectContent),
}

/// The kind of an id that may be a landing page's or a redirect's; the link's content tells which. It has no prefix:
/// [`Link::id`] gives the id that callers see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnyKind {}

impl IdKind for AnyKind {
    const PREFIX: &'static str = "";
    const CALLED: &'static str = "the id of a link";
}

impl Content for AnyContent {
    type Kind = AnyKind;

    fn into_any(self) -> AnyContent {
        self
    }

    fn click_limit(&self) -> Option<ClickLimit> {
        match self {
            Self::Landing => None,
            Self::Redirect(redirect) => redirect.click_limit,
        }
    }
}

impl<C: Content> Link<C> {
    /// Notes that a field has changed: `updated_at` never goes back (D33), and the revision grows (D120).
    pub fn mark_changed(&mut self, now: Timestamp) {
        self.updated_at = now.max(self.updated_at);
        self.revision = self.revision.next();
    }

    /// The same link with its content changed in place.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut C)) -> Self {
        change(&mut self.content);
        self
    }

    /// The link with the content that `change` makes of its own. The bits of the id stay.
    fn map_content<D: Content>(self, change: impl FnOnce(C) -> D) -> Link<D> {
        let Self {
            id,
            name,
            placement,
            is_active,
            is_domain_active,
            life,
            has_password,
            note,
            external_id,
            analytics_enabled,
            group_id,
            tags,
            created_at,
            updated_at,
            revision,
            content,
        } = self;
        Link {
            id: id.retyped(),
            name,
            placement,
            is_active,
            is_domain_active,
            life,
            has_password,
            note,
            external_id,
            analytics_enabled,
            group_id,
            tags,
            created_at,
            updated_at,
            revision,
            content: change(content),
        }
    }

    /// The link as one of either kind.
    #[must_use]
    pub fn into_any(self) -> Link {
        self.map_content(C::into_any)
    }

    /// The same link with content of the same kind.
    #[must_use]
    pub fn with_content<D: Content<Kind = C::Kind>>(self, content: D) -> Link<D> {
        self.map_content(|_| content)
    }
}

impl Link {
    /// The id, with its kind.
    #[must_use]
    pub const fn id(&self) -> LinkId {
        let bits = self.id.to_bytes();
        match self.content {
            AnyContent::Landing => LinkId::Landing(LandingId::from_bytes(bits)),
            AnyContent::Redirect(_) => LinkId::Redirect(RedirectId::from_bytes(bits)),
        }
    }

    /// The kind.
    #[must_use]
    pub const fn kind(&self) -> LinkKind {
        self.id().kind()
    }

    /// Where the link leads; a landing page leads nowhere.
    #[must_use]
    pub const fn target_url(&self) -> Option<&TargetUrl> {
        match &self.content {
            AnyContent::Landing => None,
            AnyContent::Redirect(redirect) => Some(&redirect.target_url),
        }
    }

    /// The rules of the link (D133); `None` for landing pages.
    #[must_use]
    pub const fn rules(&self) -> Option<&Rules> {
        match &self.content {
            AnyContent::Landing => None,
            AnyContent::Redirect(redirect) => Some(&redirect.rules),
        }
    }

    /// Whether the link has rules.
    #[must_use]
    pub const fn has_rules(&self) -> bool {
        match self.rules() {
            Some(rules) => !rules.is_empty(),
            None => false,
        }
    }

    /// The link as a redirect; `None` if it is a landing page.
    #[must_use]
    pub fn into_redirect(mut self) -> Option<Redirect> {
        match std::mem::replace(&mut self.content, AnyContent::Landing) {
            AnyContent::Landing => None,
            AnyContent::Redirect(content) => Some(self.map_content(|_| content)),
        }
    }

    /// The link as a landing page; `None` if it is a redirect.
    #[must_use]
    pub fn into_landing(self) -> Option<Landing> {
        match self.content {
            AnyContent::Landing => Some(self.map_content(|_| NoContent)),
            AnyContent::Redirect(_) => None,
        }
    }

    /// Moves the link into a group, or out of its group with `None`. It is marked as changed only if the group changes (D33).
    pub fn move_to_group(&mut self, group: Option<GroupId>, now: Timestamp) {
        if self.group_id != group {
            self.group_id = group;
            self.mark_changed(now);
        }
    }
}

impl From<Redirect> for Link {
    fn from(redirect: Redirect) -> Self {
        redirect.into_any()
    }
}

impl From<Landing> for Link {
    fn from(landing: Landing) -> Self {
        landing.into_any()
    }
}

impl From<LandingPage> for Link {
    fn from(page: LandingPage) -> Self {
        page.into_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slug::Slug;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn landing() -> Landing {
        Link {
            id: Id::from_bytes([1; 16]),
            name: Name::parse("Menu").unwrap(),
            placement: Placement::System { slug: Slug::parse("menu").unwrap() },
            is_active: true,
            is_domain_active: true,
            life: Life::default(),
            has_password: false,
            note: None,
            external_id: None,
            analytics_enabled: true,
            group_id: None,
            tags: Tags::default(),
            created_at: at(1),
            updated_at: at(10),
            revision: Revision::FIRST,
            content: NoContent,
        }
    }

    fn redirect() -> Redirect {
        let target_url = TargetUrl::parse("https://example.com/").unwrap();
        landing().map_content(|_| RedirectContent::to(target_url))
    }

    #[test]
    fn d33_moving_to_the_same_group_changes_nothing() {
        let mut link = Link::from(landing());
        let group = GroupId::from_bytes([2; 16]);
        for (to, now, expected, revision) in [
            (None, 20, 10, 1),
            (Some(group), 30, 30, 2),
            (Some(group), 40, 30, 2),
            (None, 5, 30, 3),
            (None, 50, 30, 3),
        ] {
            link.move_to_group(to, at(now));
            let found = (link.group_id, link.updated_at, link.revision.get());
            assert_eq!(found, (to, at(expected), revision), "{to:?} at {now}");
        }
    }

    #[test]
    fn converting_to_a_link_of_either_kind_and_back_changes_nothing() {
        let link = Link::from(redirect());
        assert_eq!((link.id(), link.kind()), (redirect().id.into(), LinkKind::Redirect));
        assert_eq!(link.clone().into_landing(), None);
        assert_eq!(link.into_redirect(), Some(redirect()));

        let link = Link::from(landing());
        assert_eq!((link.id(), link.kind()), (landing().id.into(), LinkKind::Landing));
        assert_eq!(link.clone().into_redirect(), None);
        assert_eq!(link.into_landing(), Some(landing()));
    }
}
