//! What a published link means for the chain of links that leads to it.

use signpost_domain::{
    ClickLimit, Life, LinkPreview, PageContent, Schedule, TargetUrl, WidgetBody, WidgetId,
};

use crate::ports::PublishedContent;

/// The limit of clicks of a link. Only redirects have one.
pub(super) const fn limit_of(content: &PublishedContent) -> Option<ClickLimit> {
    match content {
        PublishedContent::Redirect(redirect) => redirect.click_limit,
        PublishedContent::Landing(_) | PublishedContent::Inactive | PublishedContent::Suspended => None,
    }
}

/// Whether the link decides for each visit whether it opens, where it leads, or who gets a card instead, so that no chain leads through
/// it. A password does that too.
pub(super) fn is_conditional(life: &Life, content: &PublishedContent) -> bool {
    let has_rules = match content {
        PublishedContent::Redirect(redirect) => !redirect.rules.is_empty(),
        PublishedContent::Landing(_) | PublishedContent::Inactive | PublishedContent::Suspended => false,
    };
    life.schedule != Schedule::default()
        || limit_of(content).is_some()
        || preview_of(content).is_some()
        || has_rules
}

/// The card of a link. Only redirects have one.
pub(super) const fn preview_of(content: &PublishedContent) -> Option<&LinkPreview> {
    match content {
        PublishedContent::Redirect(redirect) => redirect.preview.as_ref(),
        PublishedContent::Landing(_) | PublishedContent::Inactive | PublishedContent::Suspended => None,
    }
}

/// Where a link, or the widget of a landing page, leads; `None` if that is no target.
pub(super) fn next_target(content: &PublishedContent, widget: Option<WidgetId>) -> Option<TargetUrl> {
    match (content, widget) {
        (PublishedContent::Redirect(redirect), None) => Some(redirect.target_url.clone()),
        (PublishedContent::Landing(page), Some(id)) => target_of_widget(&page.content, id),
        (PublishedContent::Redirect(_), Some(_))
        | (PublishedContent::Landing(_), None)
        | (PublishedContent::Inactive | PublishedContent::Suspended, _) => None,
    }
}

/// The target of a widget; `None` if the page has no such widget, or if the widget leads nowhere.
pub(super) fn target_of_widget(content: &PageContent, id: WidgetId) -> Option<TargetUrl> {
    let widget = content.widgets.as_slice().iter().find(|widget| widget.id == id)?;
    match &widget.body {
        WidgetBody::Known(body) => body.leads_to().map(|(_, url)| url.as_target().clone()),
        WidgetBody::Unknown(_) => None,
    }
}
