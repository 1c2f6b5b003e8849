//! Visits of links with rules (D133, D134).

use std::sync::Arc;

use actix_http::header;
use signpost_domain::routing::Facts;
use signpost_domain::visitor_headers::{best_language, examined, examined_query, referrer_host};

use crate::judgement::{Judge, Seen};
use crate::link_view::LinkView;
use crate::rules::{RuledLocation, RulesView, TestType};
use crate::visit::EdgeState;
use crate::visitor;

impl EdgeState {
    /// Waits until the rules of a link can be judged, if it has some. Shortly after a start, what agents name may take long, and other
    /// visits of this worker must not wait for it.
    pub(crate) async fn prepare_rules(&self, link: &LinkView<'_>) {
        let agents = &self.app.agents;
        if link.rules().is_some_and(RulesView::asks_for_agent) && !agents.is_ready() {
            let agents = Arc::clone(agents);
            // If the task panicked, the visit itself would find out.
            let _ = tokio::task::spawn_blocking(move || agents.facts(b"")).await;
        }
    }
}

impl Judge<'_> {
    /// Where the rules of a link send a visitor. `None` if no rule holds.
    ///
    /// Each fact is worked out only if a rule asks for it, and from a bounded part of what the visitor sent.
    pub(crate) fn ruled<'a>(self, seen: &Seen<'_>, rules: RulesView<'a>) -> Option<RuledLocation<'a>> {
        let Seen { request, now, address, .. } = seen;
        let agent = examined(visitor::user_agent(request));
        let named = rules.asks_for_agent().then(|| self.agents.facts(agent, self.edge.app.agents.as_ref()));
        let country = || self.edge.gates.country(&seen.for_gates());
        let languages = rules.asks(TestType::Language).then(|| visitor::accept_language(request));
        let referrer = || referrer_host(visitor::text(request, &header::REFERER));
        let query = || examined_query(request.uri().query().unwrap_or_default().as_bytes());
        rules.decide(&Facts {
            country: if rules.asks(TestType::Country) { country() } else { None },
            device: named.as_ref().and_then(|named| named.device),
            os: named.as_ref().map(|named| named.os.as_str()).filter(|os| !os.is_empty()),
            browser: named.as_ref().map(|named| named.browser.as_str()).filter(|browser| !browser.is_empty()),
            language: languages.as_deref().and_then(best_language),
            now: Some(*now),
            query: rules.asks(TestType::Query).then(query),
            referrer: if rules.asks(TestType::Referrer) { referrer() } else { None },
            address: *address,
            agent,
        })
    }
}
