//! What the creation of a landing page asks for (D28).

use crate::id::{GroupKind, LandingId, LandingKind};
use crate::landing::Landing;
use crate::link_context::LinkContext;
use crate::link_draft::LinkDraft;
use crate::placement::{Placement, SlugChoice};
use crate::reference::{HostReference, IdReference};
use crate::refusal::Rejection;
use crate::text::{Name, Note};
use crate::violation::Violations;

/// What a creation asks for. Fields are valid by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingDraft {
    /// `title`
    pub title: Name,
    /// `slug`
    pub slug: SlugChoice,
    /// `domain`; `None`, also for null, is the system domain.
    pub domain: Option<HostReference>,
    /// `note`
    pub note: Option<Note>,
    /// `group_id`
    pub group: Option<IdReference<GroupKind>>,
    /// `is_active`
    pub is_active: bool,
    /// `analytics_enabled`
    pub analytics_enabled: bool,
}

impl LandingDraft {
    /// A draft with the defaults of every field that a creation may leave out.
    #[must_use]
    pub fn new(title: Name) -> Self {
        Self {
            title,
            slug: SlugChoice::default(),
            domain: None,
            note: None,
            group: None,
            is_active: true,
            analytics_enabled: true,
        }
    }
}

impl LinkDraft for LandingDraft {
    type Kind = LandingKind;
    type Link = Landing;

    fn slug(&self) -> &SlugChoice {
        &self.slug
    }

    fn domain(&self) -> Option<&HostReference> {
        self.domain.as_ref()
    }

    fn violations_without_placement(&self, _: &LinkContext<'_>) -> Violations {
        Violations::new()
    }

    fn create(
        self,
        id: LandingId,
        placement: Placement,
        context: &LinkContext<'_>,
    ) -> Result<Landing, Rejection> {
        Ok(Landing::create(id, self, placement, context)?)
    }
}
