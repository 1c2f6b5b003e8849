//! One visit, from the request to the answer.

use std::borrow::Cow;
use std::cell::Cell;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_http::body::BoxBody;
use actix_http::header;
use actix_http::{ConnectionType, HttpMessage as _, Method, Payload, Request};
use futures_util::FutureExt as _;
use signpost_app::Application;
use signpost_app::admission::address_throttle::AddressThrottle;
use signpost_app::ports::ClickKind;
use signpost_app::visits::{HostLog, url_of};
use signpost_domain::Timestamp;
use signpost_listener::Reply;
use signpost_pages::QrQuery;

use crate::challenges::Challenges;
use crate::clicks::{ClickQueue, Lane};
use crate::credits::Credits;
use crate::files::{File, SiteFiles};
use crate::gates::{Gates, Reason, ReasonCounters, UNKNOWN};
use crate::judgement::{Judge, Seen, Stop, shown};
use crate::link_cache::LinkCache;
use crate::link_loader::LinkLoader;
use crate::link_lookup::FoundLink;
use crate::link_view::Destination;
use crate::opening::Opening;
use crate::outcome::{Outcome, VisitCounters};
use crate::own_visits::{OwnVisits, bot_rule};
use crate::pages::Pages;
use crate::plain_http::PlainHttp;
use crate::protected_visit::Passwords;
use crate::qr_codes::{self, QrCodes, QrFormat};
use crate::requested_address::{HashedSite, HostCache, RequestedAddress};
use crate::response::response;
use crate::routes::{self, Resource, RouteMatch};
use crate::rules::AgentCache;
use crate::site_loader::{self, SiteLoader};
use crate::site_visit::SystemUrls;
use crate::visit_durations::{VisitDurations, WorkerDurations};
use crate::visitor;
use crate::worker_cache::WorkerCache;

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
    pub(crate) sites: Arc<SiteLoader>,
    pub(crate) system_urls: SystemUrls,
    pub(crate) clicks: ClickQueue,
    pub(crate) credits: Arc<Credits>,
    pub(crate) passwords: Passwords,
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
    pub(crate) links: WorkerCache,
    hosts: HostCache,
    pub(crate) agents: AgentCache,
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
    /// What the visitor sends, if the method is POST. It is read only for a link with a password (D131).
    pub(crate) body: &'a Cell<Option<Payload>>,
}

impl Visitor<'_> {
    /// What decisions know about the visitor.
    #[inline]
    pub(crate) fn seen(&self) -> Seen<'_> {
        Seen { request: self.request, now: self.now, address: Some(self.address), country: None }
    }
}

impl Worker {
    pub(crate) fn new(edge: Arc<EdgeState>, plain_http: Option<PlainHttp>) -> Rc<Self> {
        let (lane, durations) = (edge.clicks.lane(), edge.durations.worker());
        Rc::new(Self {
            edge,
            links: WorkerCache::new(),
            hosts: HostCache::new(),
            agents: AgentCache::new(AgentCache::MOST_OF_A_WORKER),
            lane,
            plain_http,
            durations,
        })
    }

    /// Answers one visit, even if the code panics.
    pub(crate) async fn answer(self: Rc<Self>, mut request: Request) -> Reply<BoxBody> {
        let began = Instant::now();
        let is_form = *request.method() == Method::POST;
        let body = Cell::new(is_form.then(|| request.take_payload()));
        // A panic would close the connection without an answer. It leaves no state half changed: locks
        // recover, borrows end, and reads of the store change nothing.
        let outcome = AssertUnwindSafe(self.outcome(&request, &body)).catch_unwind().await;
        let outcome = outcome.unwrap_or_else(|_| {
            tracing::error!("a visit ended in a panic");
            Outcome::Failed
        });
        let edge = &self.edge;
        edge.counters.count(&outcome);
        // A form takes as long as it takes to arrive and to be hashed, which says nothing about visits.
        if !is_form {
            self.durations.record(began.elapsed());
        }
        if tracing::enabled!(tracing::Level::DEBUG) {
            tracing::debug!(outcome = outcome.label(), bot_rule = bot_rule(&request), "visit");
        }
        edge.own_visits.note(&request, &outcome, edge.app.clock.as_ref());
        // So that visitors' next requests reach a node that stays up.
        let closes = edge.app.lifecycle.is_draining();
        if let Outcome::RedirectedDirectly(_, redirect) = outcome {
            return Reply::Redirect(redirect.closing(closes));
        }
        let mut response = response(&edge.pages, outcome, || visitor::language(&request));
        if closes {
            response.head_mut().set_connection_type(ConnectionType::Close);
        }
        Reply::Response(response)
    }

    async fn outcome(&self, request: &Request, body: &Cell<Option<Payload>>) -> Outcome {
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
        let path = request.uri().path();
        match *request.method() {
            Method::GET | Method::HEAD => {}
            Method::POST if routes::is_of_a_link(path) => {}
            _ => return Outcome::MethodNotAllowed,
        }
        let now = app.clock.now();
        // Browsers request these automatically, so even a throttled visitor gets them (D54).
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
        let outcome = self.look_up(&Visitor { request, now, address, retry_after_seconds, body }).await;
        if outcome.is_miss()
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
        if plain.is_none()
            && let Some(part) = site_loader::file_at(path)
            && let Some((hostname, hash)) = site.custom()
        {
            return self.app_file(visitor, hostname, hash, part).await;
        }
        let outcome = self.look_up_on(visitor, &site, plain, is_replaced).await;
        match outcome {
            // A path that programs request by themselves gets no other page.
            Outcome::NotFound if !routes::is_automatic_request(path) => self.edge.missed(&site).await,
            Outcome::Expired => self.expired(visitor, &site).await,
            outcome => outcome,
        }
    }

    /// Looks up the path on a site.
    #[allow(clippy::option_option, reason = "the path may not be plain, and a plain path may have no slug")]
    async fn look_up_on(
        &self,
        visitor: &Visitor<'_>,
        site: &HashedSite,
        plain: Option<Option<&str>>,
        is_replaced: bool,
    ) -> Outcome {
        let EdgeState { cache, .. } = &*self.edge;
        let path = visitor.request.uri().path();
        let (resource, slug) = match plain {
            Some(slug) => (Resource::Link, slug.map(Cow::Borrowed)),
            None => match routes::find(path).or_else(|| routes::without_additions(path)) {
                Some(RouteMatch { resource, slug }) => {
                    (resource, slug.map(|slug| Cow::Owned(slug.as_str().to_owned())))
                }
                None => return self.not_found(UNKNOWN),
            },
        };
        let requested = RequestedAddress::new(site, slug.as_deref(), &cache.generations);
        let is_root = resource == Resource::Link && slug.is_none();
        let is_form = *visitor.request.method() == Method::POST;
        if is_root && requested.is_system_root() {
            if is_form {
                return Outcome::MethodNotAllowed;
            }
            return self.visit_root(visitor, site).await.unwrap_or(Outcome::Root);
        }
        let link = match self.find(visitor, &requested).await {
            Ok(link) => link,
            Err(failure) if is_root => {
                return self.root_in_memory(visitor, site, &requested).unwrap_or(failure);
            }
            Err(failure) => return failure,
        };
        if is_root
            && matches!(Opening::of(&link.link.view(), link.is_listed, visitor.now), Opening::NotThere(_))
            && let Some(outcome) = self.visit_root(visitor, site).await
        {
            return outcome;
        }
        let outcome = match resource {
            Resource::Link => {
                let view = link.link.view();
                match view.limit() {
                    limit if view.has_password() => {
                        // In a box, so that the futures of other visits have no room for it.
                        Box::pin(self.visit_protected(visitor, &requested, &link, limit)).await
                    }
                    _ if is_form => self.refuse_form(visitor, &link),
                    limit => {
                        self.edge.prepare_rules(&view).await;
                        match limit {
                            Some(limit) => self.visit_limited(visitor, &requested, &link, limit).await,
                            None => self.visit(visitor, &link),
                        }
                    }
                }
            }
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

    /// Applies the link's dates and gates, in the order of D129, and sends the visitor to its destination.
    fn visit(&self, visitor: &Visitor<'_>, found: &FoundLink) -> Outcome {
        self.turned_away(visitor, found).unwrap_or_else(|| self.sent_on(visitor, found))
    }

    /// Decides for the visits of this worker.
    #[inline]
    pub(crate) fn judge(&self) -> Judge<'_> {
        Judge { edge: &self.edge, agents: &self.agents }
    }

    /// The answer to a visitor for whom the link does not open, whom a gate turns away, or who gets the card.
    #[inline]
    pub(crate) fn turned_away(
        &self,
        visitor: &Visitor<'_>,
        FoundLink { link, is_listed }: &FoundLink,
    ) -> Option<Outcome> {
        let view = link.view();
        let stop = self.judge().stop(&visitor.seen(), &view, *is_listed)?;
        Some(match stop {
            Stop::NotThere(reason) => self.not_found(reason),
            Stop::Ended(reason) => self.ended(&view, reason),
            Stop::Gate(turned_away) => {
                self.edge.reasons.note(turned_away, view.link_id());
                self.record(visitor, &view, ClickKind::Blocked, "");
                Outcome::TurnedAway(turned_away)
            }
            Stop::Card(card) => {
                self.record(visitor, &view, ClickKind::Sent, "");
                card.answer()
            }
        })
    }

    /// Sends a visitor to the destination of the link.
    #[inline]
    pub(crate) fn sent_on(
        &self,
        visitor: &Visitor<'_>,
        FoundLink { link, is_listed: _ }: &FoundLink,
    ) -> Outcome {
        let (view, judge, seen) = (link.view(), self.judge(), visitor.seen());
        let (outcome, kind, rule) = match view.destination() {
            Destination::Nothing => return self.not_found(UNKNOWN),
            Destination::Location { start, rest } => {
                let onward = judge.onward(&seen, &view, start, rest);
                (judge.sent(&seen, &view, &onward), ClickKind::Sent, onward.rule)
            }
            Destination::Page(page) => (shown(&seen, link, &page), ClickKind::Shown, ""),
        };
        if outcome != Outcome::Failed {
            self.record(visitor, &view, kind, rule);
        }
        outcome
    }

    /// Counts the reason. Every reason gets the same page (D54).
    pub(crate) fn not_found(&self, reason: Reason) -> Outcome {
        self.edge.reasons.count(reason);
        Outcome::NotFound
    }

    /// The QR code of the link at `requested` (D59). It is the picture of an address, so dates do not matter.
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

pub(crate) fn file_outcome(request: &Request, file: File) -> Outcome {
    let is_known = file.is_known(request.headers().get(header::IF_NONE_MATCH));
    Outcome::File { file, is_known }
}
