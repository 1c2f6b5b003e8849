//! The DNS provider for custom domains.

use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use signpost_app::node_health::{NodeHealth, NotedDns};
use signpost_app::ports::{DnsProvider, DnsUnavailable};
use signpost_dns::{DnsOptions, DnsOptionsError, HickoryDns, NameServers};
use signpost_domain::{CaaRecord, HostResolution, Hostname, TextResolution};

use crate::system::SystemClock;

/// Replaces DNS if the system has no usable name server: no domain can be verified, but everything else
/// works.
struct NoNameServer {
    reason: String,
}

#[async_trait]
impl DnsProvider for NoNameServer {
    async fn txt_records(&self, _name: &str) -> Result<TextResolution, DnsUnavailable> {
        Err(DnsUnavailable { reason: self.reason.clone() })
    }

    async fn resolution(&self, _hostname: &Hostname) -> Result<HostResolution, DnsUnavailable> {
        Err(DnsUnavailable { reason: self.reason.clone() })
    }

    async fn caa_records(&self, _name: &str) -> Result<Vec<CaaRecord>, DnsUnavailable> {
        Err(DnsUnavailable { reason: self.reason.clone() })
    }
}

/// DNS for a command that makes no DNS queries.
pub(crate) fn unused_dns() -> Arc<dyn DnsProvider> {
    Arc::new(NoNameServer { reason: "this command makes no DNS queries".to_owned() })
}

/// DNS through these name servers, which notes whether they answer.
///
/// # Errors
/// The operator's list cannot be used. If only the system's list cannot be used, the program logs a warning.
pub(crate) fn dns(servers: &NameServers, health: &Arc<NodeHealth>) -> Result<Arc<dyn DnsProvider>> {
    Ok(Arc::new(NotedDns::new(provider(servers)?, Arc::clone(health), Arc::new(SystemClock))))
}

fn provider(servers: &NameServers) -> Result<Arc<dyn DnsProvider>> {
    let options = DnsOptions { servers: servers.clone(), ..DnsOptions::default() };
    match HickoryDns::new(&options) {
        Ok(dns) => Ok(Arc::new(dns)),
        Err(error @ DnsOptionsError::System { .. }) => {
            tracing::warn!("{error}: no custom domain can be verified until `dns-servers` is set");
            Ok(Arc::new(NoNameServer { reason: error.to_string() }))
        }
        Err(error) => Err(error).context("cannot use `dns-servers`"),
    }
}
