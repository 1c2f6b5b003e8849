//! A page as its visitors would see it, for a frame of the editor.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, RETRY_AFTER};
use askama::Template as _;
use signpost_domain::{LandingPage, Name, PageContentRequest, WidgetId};
use signpost_pages::{HtmlPage, Landing};

use super::super::list::public_url;
use crate::failure::Failure;
use crate::frame::TEXTS;
use crate::guard::FramedPage;
use crate::pages::second_factor::PATH as SECOND_FACTOR;
use crate::views::{ErrorKind, PreviewFailedPage};
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
    Ok(framed(StatusCode::OK, html, content_security_policy))
}

/// The policy of a page that loads nothing.
const LOADS_NOTHING: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Why there is no preview, for the frame: it would show the browser's own error page in place of a page that forbids frames.
pub(super) fn failed(failure: &Failure) -> HttpResponse {
    failure.log();
    let kind = kind_of(failure);
    let words = (TEXTS.error)(kind);
    let text = match failure {
        // The heading and the advice say all of it.
        Failure::Redirected(_) | Failure::FormKept(_) => String::new(),
        failure => failure.text(kind),
    };
    let advice = match kind {
        ErrorKind::SessionEnded => TEXTS.editor.preview_signed_out,
        ErrorKind::SecondFactorNeeded => TEXTS.editor.preview_without_factor,
        _ => TEXTS.editor.preview_kept,
    };
    let view = PreviewFailedPage { heading: words.heading, text, advice };
    let html = view.render().unwrap_or_else(|_| words.heading.to_owned());
    let status = StatusCode::from_u16(kind.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = framed(status, html, LOADS_NOTHING.to_owned());
    if let Failure::Later { kind: _, seconds } = failure {
        response.headers_mut().insert(RETRY_AFTER, (*seconds).into());
    }
    response
}

/// What happened. The frame cannot be led to another page, so it says what somebody would do there.
fn kind_of(failure: &Failure) -> ErrorKind {
    match failure {
        Failure::Redirected(path) if path.starts_with(SECOND_FACTOR) => ErrorKind::SecondFactorNeeded,
        failure => failure.kind().unwrap_or(ErrorKind::SessionEnded),
    }
}

/// A page for the frame.
fn framed(status: StatusCode, html: String, policy: String) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    response.insert_header((CONTENT_TYPE, "text/html; charset=utf-8"));
    let mut response = response.body(html);
    response.extensions_mut().insert(FramedPage { policy });
    response
}
