//! Starts and stops the link listener.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::Arc;

use actix_http::Response;
use actix_http::body::BoxBody;
use actix_http::header::HeaderName;
use signpost_app::Application;
use signpost_app::admission::address_throttle::AddressThrottle;
use signpost_app::visits::HostLog;
use signpost_listener::{Listener, ListenerOptions, ListenerRefusal, ListenerRefusals, Proxies, Times};
use signpost_pages::{Language, SecurityContact};
use tokio::task::JoinHandle;

use crate::challenges::Challenges;
use crate::clicks::ClickQueue;
use crate::credits::Credits;
use crate::explaining::EdgeExplainer;
use crate::files::SiteFiles;
use crate::gates::{Gates, ReasonCounters};
use crate::link_cache::LinkCache;
use crate::link_loader::LinkLoader;
use crate::link_workers::LinkWorkers;
use crate::outcome::{Outcome, VisitCounters};
use crate::own_visits::OwnVisits;
use crate::pages::Pages;
use crate::plain_http::PlainHttp;
use crate::protected_visit::Passwords;
use crate::qr_codes::QrCodes;
use crate::response::response;
use crate::site_loader::SiteLoader;
use crate::site_visit::SystemUrls;
use crate::visit::EdgeState;
use crate::visit_durations::VisitDurations;

/// The options of the link listener.
#[derive(Debug, Clone)]
pub struct EdgeOptions {
    /// How many misses an address may have within a calendar minute. Then only links in memory open for it
    /// until the minute ends, and nothing after ten times as many. 0 turns the limit off (D54).
    pub miss_throttle_per_minute: u32,
    /// Number of threads that answer visits.
    pub workers: NonZeroUsize,
    /// Maximum number of concurrent connections. Further visitors get the 503 page.
    pub connections: usize,
    /// Memory limit of the link cache in bytes.
    pub cache_bytes: u64,
    /// The header in which trusted proxies name the visitor's country (D55).
    pub country_header: Option<HeaderName>,
    /// The contact in `security.txt`. Without it the file does not exist.
    pub security_contact: Option<SecurityContact>,
    /// How this listener answers while the program speaks TLS on another one. `None` if it does not.
    pub plain_http: Option<PlainHttp>,
    /// Whether each connection begins with the header of a balancer (D197).
    pub reads_proxy_protocol: bool,
    /// Where the system domain sends visitors for whom no link opens (D127).
    pub system_urls: SystemUrls,
}

/// The running link listener.
///
/// It answers GET and HEAD for public links with a redirect (D53), a page or a QR code (D59), and POST for links
/// with a password (D131). Addresses without a link get one identical page (D54). Dropping it stops it at once; [`Self::stop`] lets requests
/// finish.
pub struct EdgeServer {
    listener: Listener,
    clicks: ClickQueue,
    flush_task: PeriodicTask,
    credits_task: PeriodicTask,
    durations: VisitDurations,
    edge: Arc<EdgeState>,
}

/// A task that ends with the server: one flushes the click queue, another one gives back unused clicks of limited links.
struct PeriodicTask(JoinHandle<()>);

impl Drop for PeriodicTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl EdgeServer {
    /// Starts to accept connections on `listener`. The caller must be within a Tokio runtime; the listener
    /// answers on its own threads. It installs no signal handlers.
    ///
    /// # Errors
    ///
    /// The listener cannot be used, or the pages cannot be rendered.
    pub fn start(listener: TcpListener, app: Arc<Application>, options: EdgeOptions) -> io::Result<Self> {
        Self::start_with_times(listener, app, options, Times::default())
    }

    /// Like [`start`](Self::start), with other deadlines of connections. Tests need longer ones, because a busy
    /// machine may pause their clients.
    ///
    /// # Errors
    ///
    /// Those of [`start`](Self::start).
    pub fn start_with_times(
        listener: TcpListener,
        app: Arc<Application>,
        options: EdgeOptions,
        times: Times,
    ) -> io::Result<Self> {
        let EdgeOptions {
            miss_throttle_per_minute,
            workers,
            connections,
            cache_bytes,
            country_header,
            security_contact,
            plain_http,
            reads_proxy_protocol,
            system_urls,
        } = options;
        let pages = Arc::new(Pages::render().map_err(io::Error::other)?);
        let list_version = app.target_blocklist.version();
        let cache = Arc::new(LinkCache::new(cache_bytes, list_version, Arc::clone(&app.link_memory)));
        // Before the first load, so that no change of a link is missed.
        app.changes.subscribe(Arc::<LinkCache>::clone(&cache));
        let credits = Credits::new(Arc::clone(&app));
        app.changes.subscribe(credits.subscriber());
        let durations = VisitDurations::default();
        let clicks = ClickQueue::new(Arc::clone(&app.clicks));
        let edge = Arc::new(EdgeState {
            gates: Gates::new(Arc::clone(&app), country_header),
            loader: LinkLoader::new(Arc::clone(&app), Arc::clone(&cache)),
            sites: SiteLoader::new(Arc::clone(&app), Arc::clone(&cache)),
            system_urls,
            app,
            pages: Arc::clone(&pages),
            misses: AddressThrottle::new(miss_throttle_per_minute),
            files: SiteFiles::new(security_contact),
            codes: QrCodes::new(),
            cache,
            clicks: clicks.clone(),
            credits: Arc::clone(&credits),
            passwords: Passwords::new(connections),
            counters: VisitCounters::new(),
            reasons: ReasonCounters::new(),
            hosts: HostLog::default(),
            own_visits: OwnVisits::default(),
            challenges: Challenges::new(),
            durations: durations.clone(),
        });
        edge.app.explainer.fill(EdgeExplainer::of(&edge));
        let trusted = Arc::clone(&edge.app);
        let proxies = Proxies::new(move |peer| trusted.client_addresses.trusts(peer));
        let options = ListenerOptions {
            connections,
            proxies,
            encodes_targets: true,
            reads_proxy_protocol,
            times,
            ..ListenerOptions::new("links", workers)
        };
        let refusals: Arc<dyn ListenerRefusals> = Arc::new(EdgeRefusals(pages));
        let workers = LinkWorkers { edge: Arc::clone(&edge), plain_http };
        let listener = Listener::start(listener, &options, &refusals, move || workers.service())?;
        let flush_task = PeriodicTask(clicks.flush_periodically());
        let credits_task = PeriodicTask(credits.give_back_periodically());
        Ok(Self { listener, clicks, flush_task, credits_task, durations, edge })
    }

    /// The services that answer visits, for a listener that speaks TLS.
    #[must_use]
    pub fn workers(&self) -> LinkWorkers {
        LinkWorkers { edge: Arc::clone(&self.edge), plain_http: None }
    }

    /// The answers to requests that never become visits, for a listener that speaks TLS.
    #[must_use]
    pub fn refusals(&self) -> Arc<dyn ListenerRefusals> {
        Arc::new(EdgeRefusals(Arc::clone(&self.edge.pages)))
    }

    /// How long visits take.
    #[must_use]
    pub fn durations(&self) -> VisitDurations {
        self.durations.clone()
    }

    /// Waits until the listener ends. It ends only if it fails or is stopped.
    ///
    /// # Errors
    ///
    /// The listener failed.
    pub async fn ended(&mut self) -> io::Result<()> {
        self.listener.ended().await
    }

    /// Stops accepting. A graceful stop waits for running requests, at most 30 seconds; otherwise it returns
    /// at once.
    ///
    /// # Errors
    ///
    /// The listener failed earlier.
    pub async fn stop(self, graceful: bool) -> io::Result<()> {
        self.stop_beside(graceful, std::future::ready(())).await.0
    }

    /// Like [`stop`](Self::stop), while `other` stops another listener with [the same services](Self::workers). The clicks of
    /// both are kept.
    ///
    /// # Errors
    ///
    /// The listener failed earlier.
    pub async fn stop_beside<T>(self, graceful: bool, other: impl Future<Output = T>) -> (io::Result<()>, T) {
        let Self { listener, clicks, flush_task, credits_task, durations: _, edge } = self;
        let stopped = futures_util::future::join(listener.stop(graceful), other).await;
        drop(flush_task);
        // The clicks of the last visits.
        clicks.flush();
        // The task may be about to give some back, and is waited for.
        edge.credits.give_back_all().await;
        drop(credits_task);
        stopped
    }
}

/// Answers requests that never become visits.
struct EdgeRefusals(Arc<Pages>);

impl ListenerRefusals for EdgeRefusals {
    fn answer(&self, refusal: ListenerRefusal) -> Response<BoxBody> {
        match refusal {
            // The page of an outage, which asks visitors to retry soon.
            ListenerRefusal::Overloaded => response(&self.0, Outcome::Unavailable, Language::default),
            // Browsers never send such requests, so no page is needed.
            ListenerRefusal::NotHttp
            | ListenerRefusal::HeadTooLarge
            | ListenerRefusal::HeadTooSlow
            | ListenerRefusal::Misdirected => Response::new(refusal.status()),
        }
    }
}
