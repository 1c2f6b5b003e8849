//! One visit, from the request to the answer.

use std::borrow::Cow;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_http::body::BoxBody;
use actix_http::header::{self, HeaderValue};
use actix_http::{ConnectionType, HttpMessage as _, Method, Request, StatusCode, Version};
use bytes::Bytes;
use futures_util::FutureExt as _;
use signpost_app::Application;
use signpost_app::admission::address_throttle::AddressThrottle;
use signpost_app::ports::ClickKind;
use signpost_app::visits::url_of;
use signpost_domain::{TargetUrl, Timestamp, WidgetId};
use signpost_listener::{Reply, ShortRedirect};
use signpost_pages::PixelPage;

use crate::click_queue::{ClickQueue, Lane};
use crate::compiled_link::CompiledLink;
use crate::files::{File, SiteFiles};
use crate::front::{Front, InlineLink};
use crate::gates::{GateRequest, Gates, Reason, ReasonCounters, UNKNOWN};
use crate::link_cache::LinkCache;
use crate::link_view::{LeadsTo, LinkView};
use crate::loads::{Loaded, Loads};
use crate::outcome::{Outcome, VisitCounters};
use crate::pages::{Page, Pages};
use crate::qr_codes::{QrCodes, QrFormat};
use crate::response::{REDIRECT_HEADERS, response};
use crate::routes::{self, Found, Resource};
use crate::visitor;
use crate::wanted::{KnownHosts, KnownSite, Wanted};

/// What all visits share.
pub(crate) struct Edge {
    pub(crate) app: Arc<Application>,
    pub(crate) pages: Arc<Pages>,
    /// Counts the misses of each address (D54).
    pub(crate) misses: AddressThrottle,
    pub(crate) files: SiteFiles,
    pub(crate) codes: QrCodes,
    pub(crate) cache: Arc<LinkCache>,
    pub(crate) loads: Arc<Loads>,
    pub(crate) clicks: ClickQueue,
    pub(crate) counters: VisitCounters,
    pub(crate) gates: Gates,
    pub(crate) reasons: ReasonCounters,
}

/// What the visits of one worker share.
pub(crate) struct Worker {
    pub(crate) edge: Arc<Edge>,
    front: Front,
    hosts: KnownHosts,
    pub(crate) lane: Arc<Lane>,
}

/// A visitor, as far as a visit needs to know.
pub(crate) struct Visitor<'a> {
    pub(crate) request: &'a Request,
    pub(crate) now: Timestamp,
    pub(crate) address: IpAddr,
}

/// A link that a visit has found.
struct Known {
    link: KnownLink,
    /// Whether the operator lists a target on the way.
    is_listed: bool,
}

enum KnownLink {
    Inline(InlineLink),
    Shared(CompiledLink),
}

impl KnownLink {
    fn view(&self) -> LinkView<'_> {
        match self {
            Self::Inline(link) => link.view(),
            Self::Shared(link) => link.view(),
        }
    }

    /// Its page, which is shared where it can be.
    fn page(&self, html: &[u8]) -> Bytes {
        match self {
            Self::Inline(_) => Bytes::copy_from_slice(html),
            Self::Shared(link) => Bytes::from_owner(link.clone()),
        }
    }
}

impl Worker {
    pub(crate) fn new(edge: Arc<Edge>) -> Rc<Self> {
        let lane = edge.clicks.lane();
        Rc::new(Self { edge, front: Front::new(), hosts: KnownHosts::new(), lane })
    }

    /// Answers one visit, whatever happens in it.
    pub(crate) async fn answer(self: Rc<Self>, request: Request) -> Reply<BoxBody> {
        // A panic would close the connection without an answer. Nothing that a visit touches is left half changed by
        // one: locks are recovered, what is borrowed is given back, and the store's reads change nothing.
        let outcome = AssertUnwindSafe(self.outcome(&request)).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("a visit ended in a panic");
            Outcome::Failed
        });
        let edge = &self.edge;
        edge.counters.count(&outcome);
        tracing::debug!(outcome = outcome.label(), "visit");
        // So that visitors' next requests go to a node that stays.
        let closes = edge.app.lifecycle.is_draining();
        if let Outcome::RedirectedAtOnce(redirect) = outcome {
            return Reply::Redirect(redirect.closing(closes));
        }
        let mut response = response(&edge.pages, outcome, || visitor::language(&request));
        if closes {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        Reply::Response(response)
    }

    async fn outcome(&self, request: &Request) -> Outcome {
        let Edge { app, misses, .. } = &*self.edge;
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Outcome::MethodNotAllowed;
        }
        let now = app.clock.now();
        // Browsers ask for these by themselves, so not even a throttled visitor is refused them (D54).
        let path = request.uri().path();
        if routes::plain_slug(path).is_none()
            && let Some(file) = self.edge.files.at(path, now)
        {
            return given(request, file);
        }
        let address = visitor::address(request, &app.client_addresses, now);
        if let Some(throttled) = misses.exhausted(address, now) {
            return Outcome::throttled(throttled);
        }
        let outcome = self.look_up(&Visitor { request, now, address }).await;
        if outcome == Outcome::NotFound
            && !routes::is_asked_for_by_browsers(path)
            // Counting decides, so that of many at once exactly the allowed number get an answer.
            && let Some(throttled) = misses.count(address, app.clock.now())
        {
            return Outcome::throttled(throttled);
        }
        outcome
    }

    async fn look_up(&self, visitor: &Visitor<'_>) -> Outcome {
        let Visitor { request, .. } = visitor;
        let Edge { app, cache, .. } = &*self.edge;
        let path = request.uri().path();
        let plain = routes::plain_slug(path);
        let site_of = |hostname| KnownSite::of(hostname, &app.system, &cache.generations);
        let Some(site) = visitor::site(request, &self.hosts, site_of) else {
            return self.not_found(UNKNOWN);
        };
        let (resource, slug) = match plain {
            Some(slug) => (Resource::Link, slug.map(Cow::Borrowed)),
            None => match routes::find(path) {
                Some(Found { resource, slug }) => {
                    (resource, slug.map(|slug| Cow::Owned(slug.as_str().to_owned())))
                }
                None => return self.not_found(UNKNOWN),
            },
        };
        let wanted = Wanted::new(&site, slug.as_deref(), &cache.generations);
        if wanted.is_system_root() && resource == Resource::Link {
            return Outcome::Root;
        }
        let link = match self.known(&wanted) {
            Some(link) => link,
            None => match self.edge.loads.load(&wanted).await {
                Loaded::Link(link) => {
                    let is_listed = link.view().was_listed() && self.is_listed(&link.view());
                    Known { link: KnownLink::Shared(link), is_listed }
                }
                Loaded::StoreAway => return Outcome::Unavailable,
                Loaded::Broken => return Outcome::Failed,
            },
        };
        match resource {
            Resource::Link => self.visit(visitor, &link),
            Resource::Qr(format) => self.draw_code(visitor, &wanted, &link, format),
            Resource::Widget(id) => self.follow_widget(visitor, &link, id),
        }
    }

    /// What this node knows to be at `wanted`.
    fn known(&self, wanted: &Wanted<'_>) -> Option<Known> {
        let Edge { app, cache, .. } = &*self.edge;
        let generations = &cache.generations;
        // Read before anything is compared with the moments of changes, so that a link which passes is as of this moment.
        let listed = generations.listed(app.target_blocklist.version());
        let inline =
            self.front.get(wanted).filter(|link| link.view().holds(link.moment(), wanted, generations));
        let (link, moment) = if let Some(link) = inline {
            (KnownLink::Inline(link), link.moment())
        } else {
            let link = cache.get(wanted)?;
            let moment = link.moment();
            if !link.view().holds(moment, wanted, generations) {
                return None;
            }
            self.front.keep(wanted, &link);
            (KnownLink::Shared(link), moment)
        };
        let view = link.view();
        let now = Instant::now();
        let leads_to = view.leads_to();
        if !cache.may_say(&leads_to, now) {
            return None;
        }
        // Once for each version of the list (R33).
        let mut is_listed = false;
        if (moment < listed || view.was_listed()) && leads_to != LeadsTo::Nothing {
            is_listed = self.is_listed(&view);
            if !is_listed {
                self.front.renew(wanted, listed);
                if let KnownLink::Shared(link) = &link {
                    link.renew(listed);
                }
            }
        }
        Some(Known { link, is_listed })
    }

    /// Whether the operator's list has a target of the link as it stands now.
    fn is_listed(&self, link: &LinkView<'_>) -> bool {
        let list = self.edge.app.target_blocklist.current();
        link.leads_to_any(|host| list.contains(host))
    }

    /// Lets the visitor through the gates of a link to where it leads.
    fn visit(&self, visitor: &Visitor<'_>, Known { link, is_listed }: &Known) -> Outcome {
        let view = link.view();
        if let Some(reason) = Reason::against(&view, *is_listed) {
            return self.not_found(reason);
        }
        if let Some(gates) = view.gates() {
            let request = GateRequest { head: visitor.request.head(), address: visitor.address };
            if let Some(turned_away) = self.edge.gates.judge(&gates, &request) {
                self.edge.reasons.note(turned_away, view.link_id());
                self.record(visitor, &view, ClickKind::Blocked);
                return Outcome::TurnedAway(turned_away);
            }
        }
        let (outcome, kind) = match view.leads_to() {
            LeadsTo::Nothing => return self.not_found(UNKNOWN),
            LeadsTo::Location { start, rest } => {
                let pixels = self.pixel_page(visitor, &view, start, rest);
                (
                    pixels.unwrap_or_else(|| redirected_to(visitor.request.version(), start, rest)),
                    ClickKind::Sent,
                )
            }
            LeadsTo::Page(page) => (shown(link.page(page.html), page.policy), ClickKind::Shown),
        };
        if outcome != Outcome::Failed {
            self.record(visitor, &view, kind);
        }
        outcome
    }

    /// The one page for all of these reasons (D54).
    fn not_found(&self, reason: Reason) -> Outcome {
        self.edge.reasons.count(reason);
        Outcome::NotFound
    }

    /// The page that fires the pixels of a link on the way to `start` and `rest` (D57). `None` if the link has none, if the
    /// visitor does not want any, or if no page can be made: then the visitor is sent on without it.
    fn pixel_page(
        &self,
        Visitor { request, .. }: &Visitor<'_>,
        link: &LinkView<'_>,
        start: &str,
        rest: &[u8],
    ) -> Option<Outcome> {
        let pixels = link.pixels();
        if pixels.is_empty() || visitor::refuses_tracking(request) {
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
            content_security_policy: HeaderValue::from_str(&page.content_security_policy).ok()?,
            referrer_policy: PixelPage::REFERRER_POLICY,
        }))
    }

    /// The QR code of the link at `wanted` (D59).
    fn draw_code(
        &self,
        Visitor { request, .. }: &Visitor<'_>,
        wanted: &Wanted<'_>,
        Known { link, is_listed }: &Known,
        format: QrFormat,
    ) -> Outcome {
        let view = link.view();
        if let Some(reason) = Reason::against(&view, *is_listed) {
            return self.not_found(reason);
        }
        let Some(url) = wanted.to_address().and_then(|address| url_of(&self.edge.app, &address)) else {
            return self.not_found(UNKNOWN);
        };
        match self.edge.codes.draw(url, format, request.uri().query().unwrap_or_default()) {
            Ok(file) => given(request, file),
            Err(error) => Outcome::BadRequest(error),
        }
    }

    /// Sends a visitor of a landing page to where one of its widgets leads (D59).
    fn follow_widget(&self, visitor: &Visitor<'_>, Known { link, .. }: &Known, id: WidgetId) -> Outcome {
        let view = link.view();
        let LeadsTo::Page(page) = view.leads_to() else {
            return self.not_found(Reason::against(&view, false).unwrap_or(UNKNOWN));
        };
        let list = self.edge.app.target_blocklist.current();
        let Some(target) = page.widget(id) else {
            return self.not_found(UNKNOWN);
        };
        if list.contains(target.host()) {
            return self.not_found(Reason::Listed);
        }
        let outcome = redirected_to(visitor.request.version(), "", target.location().as_bytes());
        if outcome != Outcome::Failed {
            self.record(visitor, &view, ClickKind::Widget(id));
        }
        outcome
    }
}

fn given(request: &Request, file: File) -> Outcome {
    let is_known = file.is_known(request.headers().get(header::IF_NONE_MATCH));
    Outcome::File { file, is_known }
}

fn shown(html: Bytes, policy: &[u8]) -> Outcome {
    HeaderValue::from_bytes(policy).map_or(Outcome::Failed, |content_security_policy| {
        Outcome::Shown(Page {
            status: StatusCode::OK,
            html,
            content_security_policy,
            referrer_policy: Page::NO_REFERRER,
        })
    })
}

fn redirected_to(version: Version, start: &'static str, rest: &[u8]) -> Outcome {
    if version == Version::HTTP_11
        && let Some(redirect) = ShortRedirect::new(REDIRECT_HEADERS, start, rest)
    {
        return Outcome::RedirectedAtOnce(redirect);
    }
    let mut location = Vec::with_capacity(start.len() + rest.len());
    location.extend_from_slice(start.as_bytes());
    location.extend_from_slice(rest);
    HeaderValue::from_maybe_shared(Bytes::from(location)).map_or_else(
        |_| {
            tracing::error!("a target does not fit a header");
            Outcome::Failed
        },
        Outcome::Redirected,
    )
}
