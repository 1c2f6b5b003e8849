//! A landing page with what is on it, as the answers about a single one show it (D27).

use crate::id::WidgetId;
use crate::landing::Landing;
use crate::landing_requests::LandingPatch;
use crate::link_context::LinkContext;
use crate::page_content::{self, PageContent};
use crate::refusal::Rejection;

/// A landing page with its content. Lists show landing pages without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandingPage {
    /// What it has in common with other links.
    pub landing: Landing,
    /// What visitors see on it.
    pub content: PageContent,
}

impl LandingPage {
    /// The landing page that `patch` makes of this one; itself, with the same `updated_at`, if the patch changes
    /// nothing (D33). Widgets that are new get their ids from `new_widget_id` (D34).
    ///
    /// # Errors
    /// [`Rejection::Invalid`] with every violation; else the first [`Refusal`](crate::Refusal) that applies.
    pub fn apply(
        &self,
        mut patch: LandingPatch,
        context: &LinkContext<'_>,
        new_widget_id: impl FnMut() -> WidgetId,
    ) -> Result<Self, Rejection> {
        let change = std::mem::take(&mut patch.content);
        page_content::violations_of(&change, context.blocklist)
            .into_result(())
            .map_err(Rejection::Invalid)?;
        let mut landing = self.landing.apply(patch, context)?;
        let changed = self.content.apply(change, new_widget_id);
        if changed != self.content {
            landing.updated_at = context.now.max(self.landing.updated_at);
        }
        Ok(Self { landing, content: changed })
    }
}
