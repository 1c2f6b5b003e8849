//! A landing page: what it is, how one is built, and what a PATCH does to it (contract "Landing", D28, D33).

use crate::change::Change;
use crate::group::named_group;
use crate::id::{GroupId, LandingId};
use crate::landing_requests::{LandingDraft, LandingPatch};
use crate::link_context::LinkContext;
use crate::placement::{Placement, PlacementChange};
use crate::refusal::Refusal;
use crate::text::{Name, Note};
use crate::timestamp::Timestamp;

/// A link that shows its visitors a page of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landing {
    /// Its id, which also tells when it was created relative to others (D1).
    pub id: LandingId,
    /// Its title, which visitors see.
    pub title: Name,
    /// Where it lives.
    pub placement: Placement,
    /// Whether it resolves.
    pub is_active: bool,
    /// A private note, never shown to visitors.
    pub note: Option<Note>,
    /// Whether visits are counted; fixed for the page's life and never shown (D28).
    pub analytics_enabled: bool,
    /// The group it is in.
    pub group_id: Option<GroupId>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When one of its fields last changed (D33).
    pub updated_at: Timestamp,
}

impl Landing {
    /// Builds the landing page that `draft` asks for at `placement` (which [`Placement::new`] has judged).
    ///
    /// # Errors
    /// [`Refusal::GroupNotFound`] if no group can have the id that the draft names.
    pub fn create(
        id: LandingId,
        draft: LandingDraft,
        placement: Placement,
        context: &LinkContext<'_>,
    ) -> Result<Self, Refusal> {
        let LandingDraft { title, slug: _, domain: _, note, group, is_active, analytics_enabled, content: _ } =
            draft;
        Ok(Self {
            id,
            title,
            placement,
            is_active,
            note,
            analytics_enabled,
            group_id: group.map(named_group).transpose()?,
            created_at: context.now,
            updated_at: context.now,
        })
    }

    /// The landing page that `patch` makes of this one, apart from what is on it; itself, with the same `updated_at`, if the patch changes
    /// nothing (D33). Applying the result's patch again changes nothing more.
    ///
    /// # Errors
    /// The first [`Refusal`] that applies.
    pub fn apply(&self, patch: LandingPatch, context: &LinkContext<'_>) -> Result<Self, Refusal> {
        let LandingPatch { title, slug, note, domain, group, is_active, content: _ } = patch;
        let change = PlacementChange { domain, slug };
        let mut patched = Self {
            id: self.id,
            title: title.unwrap_or_else(|| self.title.clone()),
            placement: self.placement.changed(change, context.system, context.named_domains)?,
            is_active: is_active.unwrap_or(self.is_active),
            note: note.applied_to(self.note.clone()),
            analytics_enabled: self.analytics_enabled,
            group_id: match group {
                Change::Keep => self.group_id,
                Change::Set(reference) => Some(named_group(reference)?),
                Change::Clear => None,
            },
            created_at: self.created_at,
            updated_at: self.updated_at,
        };
        if patched != *self {
            patched.updated_at = context.now.max(self.updated_at);
        }
        Ok(patched)
    }
}

#[cfg(test)]
#[path = "landing_tests.rs"]
mod tests;
