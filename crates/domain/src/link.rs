//! A link of either kind, for everything that treats them alike: the address space, groups, lists.

use crate::id::GroupId;
use crate::landing::Landing;
use crate::link_id::{LinkId, LinkKind};
use crate::placement::Placement;
use crate::redirect::Redirect;
use crate::target_url::TargetUrl;
use crate::text::Name;
use crate::timestamp::Timestamp;

/// A landing page or a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// A landing page.
    Landing(Landing),
    /// A redirect.
    Redirect(Redirect),
}

impl Link {
    /// Its id.
    #[must_use]
    pub const fn id(&self) -> LinkId {
        match self {
            Self::Landing(landing) => LinkId::Landing(landing.id),
            Self::Redirect(redirect) => LinkId::Redirect(redirect.id),
        }
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> LinkKind {
        self.id().kind()
    }

    /// A landing page's title, a redirect's name.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Landing(landing) => &landing.title,
            Self::Redirect(redirect) => &redirect.name,
        }
    }

    /// Where it leads; a landing page leads nowhere.
    #[must_use]
    pub const fn target_url(&self) -> Option<&TargetUrl> {
        match self {
            Self::Landing(_) => None,
            Self::Redirect(redirect) => Some(&redirect.target_url),
        }
    }

    /// Where it lives.
    #[must_use]
    pub const fn placement(&self) -> &Placement {
        match self {
            Self::Landing(landing) => &landing.placement,
            Self::Redirect(redirect) => &redirect.placement,
        }
    }

    /// Whether it resolves.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        match self {
            Self::Landing(landing) => landing.is_active,
            Self::Redirect(redirect) => redirect.is_active,
        }
    }

    /// The group it is in.
    #[must_use]
    pub const fn group_id(&self) -> Option<GroupId> {
        match self {
            Self::Landing(landing) => landing.group_id,
            Self::Redirect(redirect) => redirect.group_id,
        }
    }

    /// Puts it into a group, or with `None` into none. Its `updated_at` moves only if that changes something (D33),
    /// and never back.
    pub fn move_to_group(&mut self, group: Option<GroupId>, now: Timestamp) {
        let (group_id, updated_at) = match self {
            Self::Landing(landing) => (&mut landing.group_id, &mut landing.updated_at),
            Self::Redirect(redirect) => (&mut redirect.group_id, &mut redirect.updated_at),
        };
        if *group_id != group {
            *group_id = group;
            *updated_at = now.max(*updated_at);
        }
    }
}

impl From<Landing> for Link {
    fn from(landing: Landing) -> Self {
        Self::Landing(landing)
    }
}

impl From<Redirect> for Link {
    fn from(redirect: Redirect) -> Self {
        Self::Redirect(redirect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;
    use crate::slug::Slug;

    /// Contract D33: `updated_at` moves only when something changed.
    #[test]
    fn d33_moving_to_the_same_group_changes_nothing() {
        let at = |millis| Timestamp::from_unix_millis(millis).unwrap();
        let mut link = Link::from(Landing {
            id: Id::from_bytes([1; 16]),
            title: Name::parse("Menu").unwrap(),
            placement: Placement::System { slug: Slug::parse("menu").unwrap() },
            is_active: true,
            note: None,
            analytics_enabled: true,
            group_id: None,
            created_at: at(1),
            updated_at: at(10),
        });
        let group = GroupId::from_bytes([2; 16]);
        let updated_at = |link: &Link| match link {
            Link::Landing(landing) => landing.updated_at,
            Link::Redirect(redirect) => redirect.updated_at,
        };
        for (to, now, expected) in
            [(None, 20, 10), (Some(group), 30, 30), (Some(group), 40, 30), (None, 5, 30), (None, 50, 30)]
        {
            link.move_to_group(to, at(now));
            assert_eq!((link.group_id(), updated_at(&link)), (to, at(expected)), "{to:?} at {now}");
        }
    }
}
