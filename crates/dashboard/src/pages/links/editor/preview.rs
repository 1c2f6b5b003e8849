//! A page as its visitors would see it, for a frame of the editor.

use actix_web::HttpResponse;
use actix_web::http::header::CONTENT_TYPE;
use signpost_domain::{LandingPage, Name, PageContentRequest, WidgetId};
use signpost_pages::{HtmlPage, Landing};

use super::super::list::public_url;
use crate::failure::Failure;
use crate::guard::FramedPage;
use crate::visit::Visit;

/// The page with these changes. The elements of widgets have the ids `marks`, to which the frame can be scrolled.
pub(super) fn preview(
    visit: &Visit,
    page: &LandingPage,
    title: Option<&Name>,
    changes: PageContentRequest,
    marks: &[&str],
) -> Result<HttpResponse, Failure> {
    let mut made = 0_u128;
    // Ids of widgets are only parts of links.
    let content = page.content.apply(changes, || {
        made += 1;
        WidgetId::from_bytes(made.to_be_bytes())
    });
    let url = public_url(visit, page).unwrap_or_default();
    let landing = Landing {
        title: title.unwrap_or(&page.name),
        content: &content,
        url: &url,
        slug: page.placement.slug(),
        blocked: &visit.app().target_blocklist.current(),
    };
    let HtmlPage { html, content_security_policy } =
        landing.render_marked(marks).map_err(|error| Failure::Broken(error.to_string()))?;
    // Its links would lead the frame away.
    let html = html.replacen("<body", "<body inert", 1);
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, "text/html; charset=utf-8"));
    let mut response = response.body(html);
    response.extensions_mut().insert(FramedPage { policy: content_security_policy });
    Ok(response)
}
