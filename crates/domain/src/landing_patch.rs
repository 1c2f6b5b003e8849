//! What a PATCH of a landing page asks for (D28).

use crate::change::Change;
use crate::id::GroupKind;
use crate::page_content::PageContentPatch;
use crate::reference::{HostReference, IdReference};
use crate::slug::Slug;
use crate::text::{Name, Note};

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
