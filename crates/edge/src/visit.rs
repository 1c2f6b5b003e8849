//! One visit, from the request to the answer.

use std::borrow::Cow;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_http::body::BoxBody;
use actix_http::header;
use actix_http::{ConnectionType, HttpMessage as _, Method, Request};
use bytes::Bytes;
use futures_util::FutureExt as _;
use signpost_app::Application;
use signpost_app::admission::address_throttle::AddressThrottle;
use signpost_app::ports::ClickKind;
use signpost_app::visits::{HostLog, url_of};
use signpost_domain::Timestamp;
use signpost_listener::{AcceptedEncodings, Effort, Encoding, Reply};
use signpost_pages::QrQuery;

use crate::challenges::Challenges;
use crate::clicks::{ClickQueue, Lane};
use crate::compiled_link::{CompiledLink, PageBytes};
use crate::files::{File, SiteFiles};
use crate::gates::{GateRequest, Gates, Reason, ReasonCounters, UNKNOWN};
use crate::landing_page::PageView;
use crate::link_cache::LinkCache;
use crate::link_loader::{LinkLoader, Loaded};
use crate::link_view::{Destination, LinkView};
use crate::outcome::{Outcome, VisitCounters};
use crate::own_visits::{OwnVisits, bot_rule};
use crate::pages::Pages;
use crate::plain_http::PlainHttp;
use crate::qr_codes::{self, QrCodes, QrFormat};
use crate::requested_address::{HashedSite, HostCache, RequestedAddress};
use crate::response::response;
use crate::routes::{self, Resource, RouteMatch};
use crate::visit_durations::{VisitDurations, WorkerDurations};
use crate::visitor;
use crate::worker_cache::{InlineLink, WorkerCache};

/// What all visits share.
pub(crate) struct EdgeState {
    pub(crate) app: Arc<Application>,
    pub(crate) pages: Arc<Pages>,
    /// Counts the misses of each address (D54).
    pub(crate) misses: AddressThrottle,
    pub(crate) files: SiteFiles,
    pub(crate) codes: QrCodes,
    pub(crate) cache: Arc<LinkCache>,
    pub(crate) loader: Arc<LinkLoader>,
    pub(crate) clicks: ClickQueue,
    pub(crate) counters: VisitCounters,
    pub(crate) gates: Gates,
    pub(crate) reasons: ReasonCounters,
    pub(crate) hosts: HostLog,
    pub(crate) own_visits: OwnVisits,
    pub(crate) challenges: Challenges,
    pub(crate) durations: VisitDurations,
}

/// What the visits of one worker share.
pub(crate) struct Worker {
    pub(crate) edge: Arc<EdgeState>,
    links: WorkerCache,
    hosts: HostCache,
    pub(crate) lane: Arc<Lane>,
    /// How requests are answered that came without TLS, if the program speaks TLS itself.
    plain_http: Option<PlainHttp>,
    durations: Arc<WorkerDurations>,
}

/// The parts of a request that a visit needs.
pub(crate) struct Visitor<'a> {
    pub(crate) request: &'a Request,
    pub(crate) now: Timestamp,
    pub(crate) address: IpAddr,
    /// The visitor's address had too many misses: only links in memory open for it, for so many seconds (D54).
    pub(crate) retry_after_seconds: Option<u32>,
}

/// A link found in memory or loaded for a visit.
pub(crate) struct FoundLink {
    pub(crate) link: StoredLink,
    /// Whether the operator lists a target on the way.
    pub(crate) is_listed: bool,
}

pub(crate) enum StoredLink {
    Inline(InlineLink),
    Shared(CompiledLink),
}

impl StoredLink {
    pub(crate) fn view(&self) -> LinkView<'_> {
        match self {
            Self::Inline(link) => link.view(),
            Self::Shared(link) => link.view(),
        }
    }

    /// The page in this form, shared with the cache where possible.
    fn page(&self, page: &PageView<'_>, encoding: Option<Encoding>) -> Bytes {
        match self {
            Self::Inline(_) => Bytes::copy_from_slice(page.form(encoding)),
            Self::Shared(link) => Bytes::from_owner(PageBytes { link: link.clone(), encoding }),
        }
    }
}

impl Worker {
    pub(crate) fn new(edge: Arc<EdgeState>, plain_http: Option<PlainHttp>) -> Rc<Self> {
        let (lane, durations) = (edge.clicks.lane(), edge.durations.worker());
        Rc::new(Self {
            edge,
            links: WorkerCache::new(),
            hosts: HostCache::new(),
            lane,
            plain_http,
            durations,
        })
    }

    /// Answers one visit, even if the code panics.
    pub(crate) async fn answer(self: Rc<Self>, request: Request) -> Reply<BoxBody> {
        let began = Instant::now();
        // A panic would close the connection without an answer. It leaves no state half changed: locks
        // recover, borrows end, and reads of the store change nothing.
        let outcome = AssertUnwindSafe(self.outcome(&request)).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("a visit ended in a panic");
            Outcome::Failed
        });
        let edge = &self.edge;
        edge.counters.count(&outcome);
        self.durations.record(began.elapsed());
        if tracing::enabled!(tracing::Level::DEBUG) {
            tracing::debug!(outcome = outcome.label(), bot_rule = bot_rule(&request), "visit");
        }
        edge.own_visits.note(&request, &outcome, edge.app.clock.as_ref());
        // So that visitors' next requests reach a node that stays up.
        let closes = edge.app.lifecycle.is_draining();
        if let Outcome::RedirectedDirectly(redirect) = outcome {
            return Reply::Redirect(redirect.closing(closes));
        }
        let mut response = response(&edge.pages, outcome, || visitor::language(&request));
        if closes {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        Reply::Response(response)
    }

    async fn outcome(&self, request: &Request) -> Outcome {
        let EdgeState { app, misses, .. } = &*self.edge;
        // Before everything else, on every hostname and without limits.
        if let Some(outcome) = self.edge.challenges.answer(app, request).await {
            return outcome;
        }
        if let Some(plain) = &self.plain_http
            && let Some(outcome) = plain.answer(request, &app.client_addresses)
        {
            return outcome;
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Outcome::MethodNotAllowed;
        }
        let now = app.clock.now();
        // Browsers request these automatically, so even a throttled visitor gets them (D54).
        let path = request.uri().path();
        if routes::plain_slug(path).is_none()
            && let Some(file) = self.edge.files.at(path, now)
        {
            return file_outcome(request, file);
        }
        let address = visitor::address(request, &app.client_addresses, now);
        let mut retry_after_seconds = None;
        if let Some(throttled) = misses.exhausted(address, now) {
            let outcome = Outcome::throttled(throttled);
            if throttled.is_tenfold {
                return outcome;
            }
            retry_after_seconds = Some(throttled.retry_after_seconds);
        }
        let outcome = self.look_up(&Visitor { request, now, address, retry_after_seconds }).await;
        if matches!(outcome, Outcome::NotFound | Outcome::Throttled { .. })
            && !routes::is_automatic_request(path)
            // The count decides, so exactly the allowed number of concurrent misses gets an answer.
            && let Some(throttled) = misses.count(address, app.clock.now())
        {
            return Outcome::throttled(throttled);
        }
        outcome
    }

    async fn look_up(&self, visitor: &Visitor<'_>) -> Outcome {
        let Visitor { request, .. } = visitor;
        let EdgeState { app, cache, .. } = &*self.edge;
        let path = request.uri().path();
        let plain = routes::plain_slug(path);
        let site_of = |hostname| HashedSite::of(hostname, &app.system, &cache.generations);
        let is_replaced = self.note_replaced_host(visitor);
        let Some(site) = visitor::site(request, &self.hosts, site_of) else {
            if !is_replaced {
                self.note_unreadable_host(visitor);
            }
            return self.not_found(UNKNOWN);
        };
        let (resource, slug) = match plain {
            Some(slug) => (Resource::Link, slug.map(Cow::Borrowed)),
            None => match routes::find(path).or_else(|| routes::without_additions(path)) {
                Some(RouteMatch { resource, slug }) => {
                    (resource, slug.map(|slug| Cow::Owned(slug.as_str().to_owned())))
                }
                None => return self.not_found(UNKNOWN),
            },
        };
        let requested = RequestedAddress::new(&site, slug.as_deref(), &cache.generations);
        if requested.is_system_root() && resource == Resource::Link {
            return Outcome::Root;
        }
        let link = match self.find(visitor, &requested).await {
            Ok(link) => link,
            Err(failure) => return failure,
        };
        let outcome = match resource {
            Resource::Link => self.visit(visitor, &link),
            Resource::Qr(format) => self.draw_code(visitor, &requested, &link, format),
            Resource::Widget(id) => self.follow_widget(visitor, &link, id).await,
        };
        if outcome == Outcome::NotFound
            && !is_replaced
            && let Some(hostname) = requested.custom_hostname()
        {
            self.note_missed_host(visitor, hostname);
        }
        outcome
    }

    /// Finds what is at `requested`, in memory or in the store.
    pub(crate) async fn find(
        &self,
        visitor: &Visitor<'_>,
        requested: &RequestedAddress<'_>,
    ) -> Result<FoundLink, Outcome> {
        if let Some(found) = self.cached(requested)
            // A throttled visitor is not told that nothing is there: the answer is that for what is not in memory.
            && (visitor.retry_after_seconds.is_none() || found.link.view().destination() != Destination::Nothing)
        {
            return Ok(found);
        }
        if let Some(retry_after_seconds) = visitor.retry_after_seconds {
            return Err(Outcome::Throttled { retry_after_seconds });
        }
        match self.edge.loader.load(requested).await {
            Loaded::Link(link) => {
                let is_listed = link.view().was_listed() && self.is_listed(&link.view());
                Ok(FoundLink { link: StoredLink::Shared(link), is_listed })
            }
            Loaded::StoreUnavailable => Err(Outcome::Unavailable),
            Loaded::Failed => Err(Outcome::Failed),
        }
    }

    /// Returns what this node has in memory for `requested`.
    fn cached(&self, requested: &RequestedAddress<'_>) -> Option<FoundLink> {
        let EdgeState { app, cache, .. } = &*self.edge;
        let generations = &cache.generations;
        // Read before the link is compared with the moments of changes. A link that passes is then current as
        // of this moment.
        let listed = generations.listed(app.target_blocklist.version());
        let inline =
            self.links.get(requested).filter(|link| link.view().holds(link.moment(), requested, generations));
        let (link, moment) = if let Some(link) = inline {
            (StoredLink::Inline(link), link.moment())
        } else {
            let link = cache.get(requested)?;
            let moment = link.moment();
            if !link.view().holds(moment, requested, generations) {
                return None;
            }
            self.links.keep(requested, &link);
            (StoredLink::Shared(link), moment)
        };
        let view = link.view();
        let now = Instant::now();
        let destination = view.destination();
        if !cache.may_serve(&destination, now) {
            return None;
        }
        // Links in the texts of a page were judged by the list when the page was compiled.
        if let Destination::Page(page) = destination
            && page.has_addresses
            && moment < listed
        {
            return None;
        }
        // Checked once for each version of the list (R33).
        let mut is_listed = false;
        if (moment < listed || view.was_listed()) && destination != Destination::Nothing {
            is_listed = self.is_listed(&view);
            if !is_listed {
                self.links.renew(requested, listed);
                if let StoredLink::Shared(link) = &link {
                    link.renew(listed);
                }
            }
        }
        Some(FoundLink { link, is_listed })
    }

    /// Whether the operator's current list has a target of the link.
    fn is_listed(&self, link: &LinkView<'_>) -> bool {
        let list = self.edge.app.target_blocklist.current();
        link.has_target(|host| list.contains(host))
    }

    /// Applies the link's gates, and sends the visitor to its destination.
    fn visit(&self, visitor: &Visitor<'_>, FoundLink { link, is_listed }: &FoundLink) -> Outcome {
        let view = link.view();
        if let Some(reason) = Reason::against(&view, *is_listed) {
            return self.not_found(reason);
        }
        if let Some(gates) = view.gates() {
            let request = GateRequest { head: visitor.request.head(), address: visitor.address };
            if let Some(turned_away) = self.edge.gates.check(&gates, &request) {
                self.edge.reasons.note(turned_away, view.link_id());
                self.record(visitor, &view, ClickKind::Blocked);
                return Outcome::TurnedAway(turned_away);
            }
        }
        let (outcome, kind) = match view.destination() {
            Destination::Nothing => return self.not_found(UNKNOWN),
            Destination::Location { start, rest } => {
                let pixels = self.pixel_page(visitor, &view, start, rest);
                (
                    pixels.unwrap_or_else(|| Outcome::redirected(visitor.request.version(), start, rest)),
                    ClickKind::Sent,
                )
            }
            Destination::Page(page) => {
                let accepted = AcceptedEncodings::of(visitor.request.headers()).best(Effort::Kept);
                let encoding = accepted.filter(|encoding| !page.form(Some(*encoding)).is_empty());
                (Outcome::shown(link.page(&page, encoding), encoding, page.policy), ClickKind::Shown)
            }
        };
        if outcome != Outcome::Failed {
            self.record(visitor, &view, kind);
        }
        outcome
    }

    /// Counts the reason. Every reason gets the same page (D54).
    pub(crate) fn not_found(&self, reason: Reason) -> Outcome {
        self.edge.reasons.count(reason);
        Outcome::NotFound
    }

    /// The QR code of the link at `requested` (D59).
    fn draw_code(
        &self,
        Visitor { request, .. }: &Visitor<'_>,
        requested: &RequestedAddress<'_>,
        FoundLink { link, is_listed }: &FoundLink,
        format: QrFormat,
    ) -> Outcome {
        let view = link.view();
        if let Some(reason) = Reason::against(&view, *is_listed) {
            return self.not_found(reason);
        }
        let Some(url) = requested.to_address().and_then(|address| url_of(&self.edge.app, &address)) else {
            return self.not_found(UNKNOWN);
        };
        let query = QrQuery::parse(request.uri().query().unwrap_or_default());
        let code = query.and_then(|QrQuery { options, is_download }| {
            Ok((self.edge.codes.draw(url, format, options)?, is_download))
        });
        match code {
            Ok((file, is_download)) => {
                let place = requested.slug().or_else(|| requested.custom_hostname()).unwrap_or("code");
                let disposition = is_download.then(|| qr_codes::download(place, format)).flatten();
                file_outcome(request, File { disposition, ..file })
            }
            Err(error) => Outcome::BadRequest(error),
        }
    }
}

fn file_outcome(request: &Request, file: File) -> Outcome {
    let is_known = file.is_known(request.headers().get(header::IF_NONE_MATCH));
    Outcome::File { file, is_known }
}
