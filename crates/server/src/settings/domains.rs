//! The settings of custom domains (D37, D38, D61).

use std::collections::BTreeSet;

use signpost_dns::NameServers;
use signpost_domain::{
    CustomDomainScheme, Edge, HostnameRules, SpecialUseName, SystemDomain, can_be_in_public_dns,
};

use super::error::SettingsError;
use super::sources::Sources;
use super::{catalog, optional, required, values};

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
        let named = optional(sources, &catalog::EDGE_HOSTNAME, values::edge_hostname)?;
        let addresses = optional(sources, &catalog::EDGE_ADDRESSES, values::addresses)?.unwrap_or_default();
        let servers = optional(sources, &catalog::DNS_SERVERS, values::name_servers)?.unwrap_or_default();
        let allowed = optional(sources, &catalog::ALLOW_SPECIAL_USE, values::special_use_names)?;
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

/// The scheme of custom domains' addresses.
pub(super) fn scheme(sources: &Sources) -> Result<CustomDomainScheme, SettingsError> {
    required(sources, &catalog::CUSTOM_DOMAIN_SCHEME, values::scheme)
}
