//! Tells the operator about hosts at which no link can open (D54).

use std::sync::Arc;

use actix_http::{HttpMessage as _, header};
use signpost_domain::Hostname;

use crate::visit::{Visitor, Worker};
use crate::visitor;

impl Worker {
    /// Notes a visit whose `Host` a trusted proxy replaced, and returns whether it is one.
    pub(crate) fn note_replaced_host(&self, Visitor { request, now, .. }: &Visitor<'_>) -> bool {
        let Some(forwarded) = visitor::forwarded_host(request, &self.edge.app.client_addresses) else {
            return false;
        };
        let host = String::from_utf8_lossy(visitor::text(request, &header::HOST));
        self.edge.hosts.note_replaced(&host, &forwarded, *now);
        true
    }

    /// Notes a visit whose one `Host` cannot be read. Requests that name several hosts are no sign of a wrong setting.
    pub(crate) fn note_unreadable_host(&self, Visitor { request, now, .. }: &Visitor<'_>) {
        let mut hosts = request.headers().get_all(header::HOST);
        let (Some(host), None, None) = (hosts.next(), hosts.next(), request.uri().authority()) else {
            return;
        };
        let host = String::from_utf8_lossy(host.as_bytes());
        if !host.is_empty() && Hostname::from_authority(&host).is_err() {
            self.edge.hosts.note_unknown(&host, *now);
        }
    }

    /// Notes a visit that found no link on this host. The visitor does not wait for the look-up of the host.
    pub(crate) fn note_missed_host(&self, Visitor { now, .. }: &Visitor<'_>, hostname: &str) {
        if !self.edge.hosts.may_note_miss(*now) {
            return;
        }
        if let Ok(hostname) = Hostname::parse(hostname) {
            let (edge, now) = (Arc::clone(&self.edge), *now);
            tokio::spawn(async move { edge.hosts.note_miss(edge.app.store.as_ref(), &hostname, now).await });
        }
    }
}
