//! A landing page: a link that shows its visitors a page of its own (contract "Landing", D28, D34).

use crate::host_blocklist::HostBlocklist;
use crate::id::LandingKind;
use crate::link::{AnyContent, Content, Link};
use crate::link_request::{ContentRules, Judgement, LinkRequest};
use crate::page_content::{PageContent, PageContentRequest, violations_of};
use crate::text::Name;
use crate::violation::Violations;

/// A landing page without its content, as lists show it (D27).
pub type Landing = Link<NoContent>;

/// A landing page with its content, as answers about a single one show it (D27).
pub type LandingPage = Link<PageContent>;

/// The request of a creation or an update of a landing page.
pub type LandingRequest = LinkRequest<PageContentRequest>;

/// The content of a landing page that was read without it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoContent;

impl LandingRequest {
    /// The creation of an empty page with this title.
    #[must_use]
    pub fn new(title: Name) -> Self {
        Self { name: Some(title), ..Self::default() }
    }
}

impl Content for NoContent {
    type Kind = LandingKind;

    fn into_any(self) -> AnyContent {
        AnyContent::Landing
    }
}

impl Content for PageContent {
    type Kind = LandingKind;

    fn into_any(self) -> AnyContent {
        AnyContent::Landing
    }
}

impl ContentRules for PageContent {
    type Request = PageContentRequest;

    const NAME_FIELD: &'static str = "title";

    fn requested(request: &PageContentRequest, judgement: &mut Judgement<'_, Self>) -> Option<Self> {
        let context = judgement.context;
        judgement.found.append(violations_of(request, context.blocklist));
        let before = judgement.before.map(|page| page.content.clone()).unwrap_or_default();
        Some(before.apply(request.clone(), || context.part_ids.next_widget_id()))
    }

    fn violations_without_link(request: &PageContentRequest, blocklist: &HostBlocklist) -> Violations {
        violations_of(request, blocklist)
    }
}

#[cfg(test)]
#[path = "landing_tests.rs"]
mod tests;
