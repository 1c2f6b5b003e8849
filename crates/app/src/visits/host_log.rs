//! Tells the operator why visits may not reach the domain that they name (D54).

use std::time::Duration;

use signpost_domain::{Hostname, Timestamp};

use crate::log_pace::LogPace;
use crate::ports::Store;

/// The minimum interval between two warnings of a kind. Strangers choose the hosts, so no host has an interval of its own.
const WARNING_INTERVAL: Duration = Duration::from_hours(1);

/// The minimum interval between two look-ups of hosts. Anybody can miss the links of a domain.
const LOOKUP_INTERVAL: Duration = Duration::from_secs(10);

/// Warns about hosts of visits, at most once an hour for each of two causes.
#[derive(Debug)]
pub struct HostLog {
    unknown: LogPace,
    lookups: LogPace,
    replaced: LogPace,
}

impl Default for HostLog {
    fn default() -> Self {
        Self {
            unknown: LogPace::new(WARNING_INTERVAL),
            lookups: LogPace::new(LOOKUP_INTERVAL),
            replaced: LogPace::new(WARNING_INTERVAL),
        }
    }
}

impl HostLog {
    /// Whether [`note_miss`](Self::note_miss) would do anything.
    #[must_use]
    pub fn may_note_miss(&self, now: Timestamp) -> bool {
        self.unknown.may_be_due(now) && self.lookups.may_be_due(now)
    }

    /// Notes a visit that found no link at `hostname`, which is not the system domain. It warns if no domain has this name, for
    /// which it asks the store, at most every 10 seconds.
    pub async fn note_miss(&self, store: &dyn Store, hostname: &Hostname, now: Timestamp) {
        if !self.may_note_miss(now) || !self.lookups.is_due(now) {
            return;
        }
        // During an outage the store cannot say whether the host is unknown.
        if matches!(store.holder_of(hostname).await, Ok(None)) {
            self.note_unknown(hostname.as_str(), now);
        }
    }

    /// Notes a visit of a host that belongs to no domain. It is quoted with escapes, as far as a hostname can be long.
    pub fn note_unknown(&self, host: &str, now: Timestamp) {
        if self.unknown.is_due(now) {
            let host = quoted(host);
            tracing::warn!(
                "a visit named the host {host}, which is neither the system domain nor a connected domain; if links should \
                 open there, name it in `system-url` or `system-aliases`, or connect it to an account as a custom domain"
            );
        }
    }

    /// Notes a visit for which a trusted proxy sent `host` in `Host`, and another one in `X-Forwarded-Host`.
    pub fn note_replaced(&self, host: &str, forwarded: &Hostname, now: Timestamp) {
        if self.replaced.is_due(now) {
            let host = quoted(host);
            tracing::warn!(
                "a proxy of `trusted-proxies` sent the host {host}, although X-Forwarded-Host names \"{forwarded}\", which \
                 is not read; let the proxy pass `Host` on unchanged, in nginx with `proxy_set_header Host $host;`, or \
                 links do not open on their domains"
            );
        }
    }
}

/// The host as visible ASCII in quotation marks. Requests may have any text there.
fn quoted(host: &str) -> String {
    let shown: String = host.chars().take(Hostname::MAX_CHARS).collect();
    format!("\"{}\"", shown.escape_default())
}
