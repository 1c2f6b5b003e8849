//! What creations and updates of landing pages ask for (D28, contract "PATCH /v1/landings/{id}").

use crate::change::Change;
use crate::id::{GroupKind, LandingId, LandingKind};
use crate::landing::Landing;
use crate::link_context::LinkContext;
use crate::link_draft::LinkDraft;
use crate::page_content::{self, PageContentPatch};
use crate::placement::{Placement, SlugChoice};
use crate::reference::{HostReference, IdReference};
use crate::refusal::Rejection;
use crate::slug::Slug;
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
    /// What is on the page, as a change of an empty one.
    pub content: PageContentPatch,
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
            content: PageContentPatch::default(),
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

    fn violations_without_placement(&self, context: &LinkContext<'_>) -> Violations {
        page_content::violations_of(&self.content, context.blocklist)
    }

    fn create(
        self,
        id: LandingId,
        placement: Placement,
        context: &LinkContext<'_>,
    ) -> Result<Landing, Rejection> {
        self.violations_without_placement(context).into_result(()).map_err(Rejection::Invalid)?;
        Ok(Landing::create(id, self, placement, context)?)
    }
}

/// A creation with violations in it, kept so that the answer lists every one at once (D8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteLanding {
    /// What is on the page, as far as it could be read.
    pub content: PageContentPatch,
    /// What is wrong with single fields.
    pub violations: Violations,
}

impl IncompleteLanding {
    /// Everything that is wrong with the request.
    #[must_use]
    pub fn all_violations(self, context: &LinkContext<'_>) -> Violations {
        let Self { content, mut violations } = self;
        violations.append(page_content::violations_of(&content, context.blocklist));
        violations
    }
}

/// What a PATCH asks for; only the fields present are changed. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LandingPatch {
    /// `title`
    pub title: Option<Name>,
    /// `slug`; null is the root of the custom domain.
    pub slug: Change<Slug>,
    /// `note`
    pub note: Change<Note>,
    /// `domain`; null is the system domain.
    pub domain: Change<HostReference>,
    /// `group_id`; null ungroups the page.
    pub group: Change<IdReference<GroupKind>>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// What is on the page.
    pub content: PageContentPatch,
}
