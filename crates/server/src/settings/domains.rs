//! The settings of custom domains (D37, D38, D61).

use std::collections::BTreeSet;

use signpost_dns::NameServers;
use signpost_domain::{Edge, HostnameRules, SpecialUseName, SystemDomain, can_be_in_public_dns};

use super::catalog;
use super::error::SettingsError;
use super::sources::Sources;

/// How `serve` deals with custom domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DomainSettings {
    /// Where they have to point.
    pub(crate) edge: Edge,
    /// Who is asked about them.
    pub(crate) name_servers: NameServers,
    /// Which special-use names may be connected.
    pub(crate) allowed_special_use: BTreeSet<SpecialUseName>,
}

impl DomainSettings {
    /// Reads them. Without `edge-hostname`, domains point at the system domain's own hostname, if public DNS can know it
    /// (D61).
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

    /// The rules by which hostnames are judged.
    pub(crate) fn hostname_rules(&self, system: &SystemDomain) -> HostnameRules {
        HostnameRules::new(system.clone(), self.edge.hostname.clone(), self.allowed_special_use.clone())
    }
}
