//! The settings of custom domains (D37, D38, D61).

use std::collections::BTreeSet;
use std::net::SocketAddr;

use signpost_dashboard::DashboardOrigin;
use signpost_dns::NameServers;
use signpost_domain::{Edge, Hostname, HostnameRules, SpecialUseName, SystemDomain, can_be_in_public_dns};

use super::catalog;
use super::error::SettingsError;
use super::sources::Sources;

/// The settings of custom domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DomainSettings {
    /// What custom domains must point to.
    pub(crate) edge: Edge,
    /// The name servers to query about them.
    pub(crate) name_servers: NameServers,
    /// The special-use names under which hostnames may be connected.
    pub(crate) allowed_special_use: BTreeSet<SpecialUseName>,
}

impl DomainSettings {
    /// Reads the settings. Without `edge-hostname`, domains point to the hostname of the system domain, if
    /// public DNS can resolve it (D61).
    ///
    /// # Errors
    /// One of them is invalid.
    pub(super) fn read(sources: &Sources, system: &SystemDomain) -> Result<Self, SettingsError> {
        let named = sources.optional(&catalog::EDGE_HOSTNAME)?;
        let addresses = sources.optional(&catalog::EDGE_ADDRESSES)?.unwrap_or_default();
        let servers = sources.optional(&catalog::DNS_SERVERS)?.unwrap_or_default();
        let allowed = sources.optional(&catalog::ALLOW_SPECIAL_USE)?;
        let own = Some(system.hostname()).filter(|name| can_be_in_public_dns(name)).cloned();
        let edge = Edge { hostname: named.or(own), addresses };
        Ok(Self {
            edge,
            name_servers: if servers.is_empty() { NameServers::System } else { NameServers::Listed(servers) },
            allowed_special_use: allowed.unwrap_or_default(),
        })
    }

    /// Whether an authority may be asked for a certificate of a name of the installation: only of names in public DNS, and of
    /// special-use names that the operator allows.
    pub(crate) fn can_have_certificate(&self, name: &Hostname) -> bool {
        can_be_in_public_dns(name)
            || SpecialUseName::of(name).is_some_and(|special| self.allowed_special_use.contains(&special))
    }

    /// The name servers that `dns-servers` lists.
    pub(super) fn listed_servers(&self) -> &[SocketAddr] {
        match &self.name_servers {
            NameServers::System => &[],
            NameServers::Listed(servers) => servers,
        }
    }

    /// The rules for hostnames that accounts connect. The hosts of the dashboard and of the API are the installation's own (D37).
    pub(crate) fn hostname_rules(
        &self,
        system: &SystemDomain,
        dashboard: Option<&DashboardOrigin>,
        api: &[Hostname],
    ) -> HostnameRules {
        let rules =
            HostnameRules::new(system.clone(), self.edge.hostname.clone(), self.allowed_special_use.clone());
        let dashboard = dashboard.and_then(|origin| Hostname::parse(origin.hostname()).ok());
        dashboard.into_iter().chain(api.iter().cloned()).fold(rules, HostnameRules::with_own_name)
    }
}
