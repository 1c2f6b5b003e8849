//! Recording what a visit came to (D48, D50).

use actix_http::header::{self, HeaderName, HeaderValue};
use actix_http::{HttpMessage as _, Method};
use signpost_app::ports::{Click, ClickKind};

use crate::link_view::LinkView;
use crate::visit::{Visitor, Worker};

static SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");
static PURPOSE: HeaderName = HeaderName::from_static("purpose");

impl Worker {
    /// Records a visit for each link on the way that wants it. HEAD is nothing (D48).
    pub(crate) fn record(&self, visitor: &Visitor<'_>, link: &LinkView<'_>, kind: ClickKind) {
        let Visitor { request, now, address } = visitor;
        if *request.method() != Method::GET {
            return;
        }
        let mut recorded = link.recorded(&self.edge.cache.generations).peekable();
        if recorded.peek().is_none() {
            return;
        }
        let text = |name: &HeaderName| request.headers().get(name).map_or(&[][..], HeaderValue::as_bytes);
        let purpose = Some(text(&SEC_PURPOSE)).filter(|it| !it.is_empty()).unwrap_or_else(|| text(&PURPOSE));
        let country = self.edge.gates.country_in_header(request.head());
        for link in recorded {
            self.lane.push(&Click {
                at: *now,
                link: link.id,
                account: link.account,
                kind,
                address: *address,
                country,
                user_agent: text(&header::USER_AGENT),
                referrer: text(&header::REFERER),
                accept_language: text(&header::ACCEPT_LANGUAGE),
                query: request.uri().query().unwrap_or_default().as_bytes(),
                purpose,
            });
        }
    }
}
