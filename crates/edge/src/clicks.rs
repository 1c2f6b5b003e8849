//! Records clicks (D48, D50), and queues them for the sink.
//!
//! Each worker has its own lane, so visits never wait for another worker. One task empties all lanes twenty
//! times a second and passes the clicks to the sink.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use actix_http::Method;
use actix_http::header;
use signpost_app::ports::{Click, ClickBatch, ClickKind, ClickSink};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::link_view::LinkView;
use crate::visit::{Visitor, Worker};
use crate::visitor;

/// How often lanes are flushed. Clicks still in a lane are lost when the process is killed.
const FLUSH_INTERVAL: Duration = Duration::from_millis(50);

/// Capacity of a lane in bytes: about ten thousand clicks, more than a core answers within one interval.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// Counts clicks dropped because their lane was full.
pub(crate) const DROPPED_METRIC: &str = "signpost_clicks_dropped_total";

/// The clicks of one worker.
pub(crate) struct Lane {
    clicks: Mutex<ClickBatch>,
    dropped: metrics::Counter,
}

impl Lane {
    /// Adds a click. Visitors never wait for clicks: a full lane drops the click and counts it.
    pub(crate) fn push(&self, click: &Click<'_>) {
        if !self.clicks().push(click, MAX_BYTES) {
            self.dropped.increment(1);
        }
    }

    /// No code panics while it holds the lock.
    fn clicks(&self) -> MutexGuard<'_, ClickBatch> {
        self.clicks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lanes of all workers.
#[derive(Clone)]
pub(crate) struct ClickQueue {
    lanes: Arc<Mutex<Vec<Arc<Lane>>>>,
    sink: Arc<dyn ClickSink>,
}

impl ClickQueue {
    pub(crate) fn new(sink: Arc<dyn ClickSink>) -> Self {
        metrics::describe_counter!(
            DROPPED_METRIC,
            "Clicks that were not recorded because their queue was full."
        );
        metrics::counter!(DROPPED_METRIC).increment(0);
        Self { lanes: Arc::default(), sink }
    }

    /// Adds a lane for another worker.
    pub(crate) fn lane(&self) -> Arc<Lane> {
        let lane = Arc::new(Lane { clicks: Mutex::default(), dropped: metrics::counter!(DROPPED_METRIC) });
        self.lanes().push(Arc::clone(&lane));
        lane
    }

    /// Passes the clicks of all lanes to the sink.
    pub(crate) fn flush(&self) {
        let lanes = self.lanes().clone();
        let mut spare = ClickBatch::default();
        for lane in lanes {
            if lane.clicks().is_empty() {
                continue;
            }
            let full = std::mem::replace(&mut *lane.clicks(), spare);
            spare = self.sink.take(full);
            spare.clear();
        }
    }

    /// Flushes the lanes periodically until the task is aborted.
    pub(crate) fn flush_periodically(&self) -> JoinHandle<()> {
        let queue = self.clone();
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(FLUSH_INTERVAL);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                queue.flush();
            }
        })
    }

    /// No code panics while it holds the lock.
    fn lanes(&self) -> MutexGuard<'_, Vec<Arc<Lane>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Worker {
    /// Records a click for each link on the way that has analytics. HEAD is not a click (D48), and a form is one that has opened
    /// its link (D131). `rule` is the label of the rule that sent the visitor on.
    pub(crate) fn record(&self, visitor: &Visitor<'_>, link: &LinkView<'_>, kind: ClickKind, rule: &str) {
        let Visitor { request, now, address, .. } = visitor;
        let is_click = match *request.method() {
            Method::GET => true,
            Method::POST => kind != ClickKind::Blocked,
            _ => false,
        };
        if !is_click {
            return;
        }
        let mut recorded = link.recorded(&self.edge.cache.generations).peekable();
        if recorded.peek().is_none() {
            return;
        }
        let country = self.edge.gates.country_in_header(request.head());
        let accept_language = visitor::accept_language(request);
        for link in recorded {
            self.lane.push(&Click {
                at: *now,
                link: link.id,
                account: link.account,
                kind,
                rule,
                address: *address,
                country,
                user_agent: visitor::user_agent(request),
                referrer: visitor::text(request, &header::REFERER),
                accept_language: &accept_language,
                query: request.uri().query().unwrap_or_default().as_bytes(),
                purpose: visitor::purpose(request),
            });
        }
    }
}
