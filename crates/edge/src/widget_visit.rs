//! Where the widgets of landing pages lead (D24, D59).

use std::borrow::Cow;

use signpost_app::ports::ClickKind;
use signpost_app::visits::{MOST_HOPS, Missing, OwnPlace};
use signpost_domain::{RedirectStatus, Site, Slug, TargetUrl, WidgetId};

use crate::gates::{Reason, UNKNOWN};
use crate::link_lookup::FoundLink;
use crate::link_view::Destination;
use crate::opening::Opening;
use crate::outcome::Outcome;
use crate::requested_address::{HashedSite, RequestedAddress};
use crate::visit::{EdgeState, Visitor, Worker};

impl Worker {
    /// Redirects a visitor of a landing page to the target of a widget (D59). The page's dates are also those of its widgets
    /// (D128).
    pub(crate) async fn follow_widget(
        &self,
        visitor: &Visitor<'_>,
        FoundLink { link, is_listed }: &FoundLink,
        id: WidgetId,
    ) -> Outcome {
        let view = link.view();
        let Destination::Page(page) = view.destination() else {
            return self.not_found(Reason::against(&view, false).unwrap_or(UNKNOWN));
        };
        match Opening::of(&view, *is_listed, visitor.now) {
            Opening::Open => {}
            Opening::NotThere(reason) => return self.not_found(reason),
            // Pages have no limit of clicks.
            Opening::Ended | Opening::Exhausted => return self.ended(&view, Reason::Expired),
        }
        let Some(target) = page.widget(id) else {
            return self.not_found(UNKNOWN);
        };
        match self.dead_end(visitor, &target).await {
            Ok(None) => {}
            Ok(Some(reason)) => return self.not_found(reason),
            Err(failure) => return failure,
        }
        let outcome = Outcome::redirected(
            visitor.request.version(),
            RedirectStatus::Found,
            "",
            target.location().as_bytes(),
        );
        if outcome != Outcome::Failed {
            self.record(visitor, &view, ClickKind::Widget(id), "");
        }
        outcome
    }

    /// Why a visitor of a widget would get nowhere from its target (D24). A target on one of our addresses is followed for this
    /// answer only: the visitor is sent to the target itself, where the gates of its link are and where its visit counts.
    async fn dead_end(&self, visitor: &Visitor<'_>, target: &TargetUrl) -> Result<Option<Reason>, Outcome> {
        let EdgeState { app, cache, .. } = &*self.edge;
        let mut target = Cow::Borrowed(target);
        let mut hops = 0;
        loop {
            if app.target_blocklist.current().contains(target.host()) {
                return Ok(Some(Reason::Listed));
            }
            let Some(OwnPlace { address, widget }) = OwnPlace::of(&app.system, &target) else {
                return Ok(None);
            };
            hops += 1;
            let site = HashedSite::at(&address, &cache.generations);
            let slug = address.slug.as_ref().map(Slug::as_str);
            let is_custom = address.site != Site::System;
            let requested = RequestedAddress::new(&site, slug, &cache.generations);
            let FoundLink { link, is_listed } = match self.find(visitor, &requested).await {
                Ok(found) => found,
                // Most such targets only look like ours, and these must work while the store is away.
                Err(_) if is_custom => return Ok(None),
                Err(failure) => return Err(failure),
            };
            let view = link.view();
            match (Opening::of(&view, is_listed, visitor.now), widget) {
                // The target only looked like one of our addresses, or looks so until its start.
                (Opening::NotThere(UNKNOWN | Reason::Scheduled), _) if is_custom => return Ok(None),
                (Opening::NotThere(reason), _) => return Ok(Some(reason)),
                (Opening::Open, _) if hops > MOST_HOPS => return Ok(Some(Reason::Missing(Missing::Loop))),
                // A link that has ended says at its address what follows.
                (Opening::Ended | Opening::Exhausted, _) | (Opening::Open, None) => return Ok(None),
                (Opening::Open, Some(id)) => {
                    let Destination::Page(page) = view.destination() else { return Ok(Some(UNKNOWN)) };
                    let Some(next) = page.widget(id) else { return Ok(Some(UNKNOWN)) };
                    target = Cow::Owned(next);
                }
            }
        }
    }
}
