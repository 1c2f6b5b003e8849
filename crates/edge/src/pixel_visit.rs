//! Redirects that fire pixels on the way (D57).

use actix_http::header::{HeaderName, HeaderValue};
use actix_http::{HttpMessage as _, Method, Request, StatusCode};
use bytes::Bytes;
use signpost_domain::TargetUrl;
use signpost_pages::PixelPage;

use crate::judgement::{Judge, Seen};
use crate::link_view::LinkView;
use crate::outcome::Outcome;
use crate::pages::{Forms, Page};
use crate::visitor;

impl Judge<'_> {
    /// The page that fires the link's pixels on the way to `start` and `rest`. `None` if the link has no pixels, if the visitor
    /// gets the plain redirect, or if the page cannot be rendered. The visitor is then redirected without it.
    pub(crate) fn pixel_page(
        self,
        Seen { request, .. }: &Seen<'_>,
        link: &LinkView<'_>,
        start: &str,
        rest: &[u8],
    ) -> Option<Outcome> {
        let pixels = link.pixels();
        if pixels.is_empty() || self.is_redirected_plainly(request) {
            return None;
        }
        let target = String::from_utf8([start.as_bytes(), rest].concat()).ok()?;
        let target = TargetUrl::from_stored(target).ok()?;
        let mut nonce = [0; 16];
        self.edge.app.randomness.fill(&mut nonce).ok()?;
        let language = visitor::language(request);
        let page = PixelPage { pixels: &pixels, target: &target, language, nonce }.render().ok()?;
        Some(Outcome::Pixels(Page {
            status: StatusCode::OK,
            html: Bytes::from(page.html),
            forms: Forms::Plain,
            content_security_policy: HeaderValue::from_str(&page.content_security_policy).ok()?,
            referrer_policy: PixelPage::REFERRER_POLICY,
        }))
    }

    /// Whether no pixel may or can fire: the visitor refuses tracking, or no person looks at the answer. Previewers and search
    /// engines follow a redirect to the target, whose card they show, but would show the page itself.
    fn is_redirected_plainly(self, request: &Request) -> bool {
        *request.method() == Method::HEAD || refuses_tracking(request) || {
            let (user_agent, purpose) = (visitor::user_agent(request), visitor::purpose(request));
            self.edge.app.bots.is_bot(user_agent, purpose)
        }
    }
}

static SEC_GPC: HeaderName = HeaderName::from_static("sec-gpc");

/// Whether the visitor asks not to be tracked.
fn refuses_tracking(request: &Request) -> bool {
    let says_so = |name: &HeaderName| request.headers().get(name).map(HeaderValue::as_bytes) == Some(b"1");
    says_so(&SEC_GPC) || says_so(&actix_http::header::DNT)
}
