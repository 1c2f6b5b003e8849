//! The settings of the program (D61).

mod catalog;
#[cfg(test)]
mod catalog_tests;
mod clicks;
mod database;
mod domains;
mod error;
mod flags;
mod gates;
mod https;
mod https_catalog;
mod logged;
mod oidc;
mod oidc_catalog;
mod plans_file;
mod setting;
mod sign_in;
mod sources;
mod system_catalog;
mod times;
mod toml_file;
mod values;

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use signpost_app::admission::AccountBounds;
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{CustomDomainScheme, Hostname, Plans, SystemDomain};

#[cfg(test)]
pub(crate) use catalog::SETTINGS;
pub(crate) use clicks::ClickSettings;
pub(crate) use database::Database;
pub(crate) use domains::DomainSettings;
pub(crate) use error::SettingsError;
pub(crate) use flags::{CommonFlags, Flags, LinkFlags, ServeFlags};
pub(crate) use gates::GateSettings;
pub(crate) use https::{AcmeSettings, BalancedListener, HttpsSettings, PlainHttpMode};
pub(crate) use logged::joined;
pub(crate) use oidc::OidcSettings;
pub(crate) use plans_file::form as plans_file_form;
pub(crate) use setting::About;
pub(crate) use sign_in::{SignInSettings, untrusted_networks};
pub(crate) use sources::{SERVICE_FILE, Sources};
pub(crate) use values::{DashboardListen, LogFormat};

use catalog::PlainSettings;
use https_catalog::PlainHttpsSettings;
use oidc_catalog::PlainOidcSettings;
use system_catalog::PlainSystemSettings;

use crate::certificate_files::CertificateFiles;
use crate::target_blocklist_file::TargetBlocklistFile;

/// Settings that messages in other modules name.
pub(crate) mod names {
    use super::{About, catalog, https_catalog};

    pub(crate) const API_LISTEN: &About = &catalog::API_LISTEN.about;
    pub(crate) const LINK_LISTEN: &About = &catalog::LINK_LISTEN.about;
    pub(crate) const DASHBOARD_LISTEN: &About = &catalog::DASHBOARD_LISTEN.about;
    pub(crate) const METRICS_LISTEN: &About = &catalog::METRICS_LISTEN.about;
    pub(crate) const TLS_LISTEN: &About = &https_catalog::TLS_LISTEN.about;
    pub(crate) const HSTS: &About = &https_catalog::HSTS.about;
    pub(crate) const PLAIN_HTTP: &About = &https_catalog::PLAIN_HTTP.about;
    pub(crate) const PROXY_PROTOCOL: &About = &https_catalog::PROXY_PROTOCOL.about;
}

/// The settings of every command.
#[derive(Debug)]
pub(crate) struct CommonSettings {
    /// The place of the data.
    pub(crate) database: Database,
    /// How long a call to the store may take.
    pub(crate) store_timeout: Duration,
    /// The bounds of the connections to PostgreSQL.
    pub(crate) pool: PoolSettings,
    /// The plans.
    pub(crate) plans: Plans,
    /// The form of log lines.
    pub(crate) log_format: LogFormat,
    /// The origin of the dashboard, unless it is left at its default.
    pub(crate) dashboard_url: Option<DashboardOrigin>,
    /// The proxy that signs people in, if there is one.
    pub(crate) sign_in: Option<SignInSettings>,
}

/// The bounds of the connections to PostgreSQL. A bound that is not set follows the machine or `store-timeout`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PoolSettings {
    /// The maximum number of connections.
    pub(crate) connections: Option<NonZeroUsize>,
    /// How long a call waits for a connection.
    pub(crate) wait: Option<Duration>,
    /// How long the server may work on one statement.
    pub(crate) statement_timeout: Option<Duration>,
}

impl CommonSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        Ok(Self {
            database: sources.required(&catalog::DATABASE_URL)?,
            store_timeout: sources.required(&catalog::STORE_TIMEOUT)?,
            pool: PoolSettings {
                connections: sources.optional(&catalog::DATABASE_CONNECTIONS)?,
                wait: sources.optional(&catalog::DATABASE_WAIT)?,
                statement_timeout: sources.optional(&catalog::STATEMENT_TIMEOUT)?,
            },
            plans: sources.optional(&catalog::PLANS)?.unwrap_or_else(Plans::builtin),
            log_format: sources.required(&catalog::LOG_FORMAT)?,
            dashboard_url: sources.optional(&catalog::DASHBOARD_URL)?,
            sign_in: SignInSettings::read(sources)?,
        })
    }

    /// The origin of the dashboard. If `dashboard-url` is not set, the origin follows the port of the listener, or has the default port if
    /// there is none.
    pub(crate) fn origin_of_dashboard(&self, port: Option<u16>) -> DashboardOrigin {
        let local = || DashboardOrigin::local(port.unwrap_or(DashboardListen::DEFAULT_PORT));
        self.dashboard_url.clone().unwrap_or_else(local)
    }
}

/// The settings of commands that make links to the dashboard: where `serve` listens for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DashboardLinkSettings {
    listen: DashboardListen,
}

impl DashboardLinkSettings {
    /// Whether the setting `key` is one of them.
    pub(crate) fn include(key: &str) -> bool {
        key == catalog::DASHBOARD_LISTEN.about.key
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        Ok(Self { listen: sources.required(&catalog::DASHBOARD_LISTEN)? })
    }

    /// The origin at which the links open. A free port that `serve` has picked is unknown to other commands.
    pub(crate) fn origin(self, common: &CommonSettings) -> DashboardOrigin {
        common.origin_of_dashboard(self.listen.port())
    }
}

/// The settings with which links are validated.
#[derive(Debug)]
pub(crate) struct LinkSettings {
    pub(crate) system: SystemDomain,
    /// The operator's blocklist, already read.
    pub(crate) target_blocklist: Option<Arc<TargetBlocklistFile>>,
    /// The scheme of links on custom domains.
    pub(crate) custom_domain_scheme: CustomDomainScheme,
}

impl LinkSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let aliases = system_aliases(sources)?;
        Ok(Self {
            system: system(sources, &aliases)?,
            target_blocklist: sources.optional(&catalog::TARGET_BLOCKLIST)?,
            custom_domain_scheme: sources.required(&catalog::CUSTOM_DOMAIN_SCHEME)?,
        })
    }
}

fn system_aliases(sources: &Sources) -> Result<Vec<Hostname>, SettingsError> {
    Ok(sources.optional(&catalog::SYSTEM_ALIASES)?.unwrap_or_default())
}

fn system(sources: &Sources, aliases: &[Hostname]) -> Result<SystemDomain, SettingsError> {
    let system = sources.optional_as(&catalog::SYSTEM_URL, |text| {
        SystemDomain::new(&text, aliases.to_vec())
            .map_err(|error| format!("{}, not {text:?}", error.message()))
    })?;
    // Until the operator has said where visitors reach links, they come by any name of the machine.
    let is_default = sources.is_default(&catalog::SYSTEM_URL.about);
    let system = if is_default { system.map(SystemDomain::with_loopback_names) } else { system };
    system.ok_or_else(|| SettingsError::at(catalog::SYSTEM_URL.about.key, "must be given"))
}

/// The settings of `signpost health`: where the API listens. Nothing else is read, because health is asked for every few seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HealthSettings {
    pub(crate) api_listen: SocketAddr,
    /// Whether connections to the API begin with the header of a balancer.
    pub(crate) expects_proxy_header: bool,
}

impl HealthSettings {
    /// Whether the setting `key` is one of them.
    pub(crate) fn include(key: &str) -> bool {
        [catalog::API_LISTEN.about.key, https_catalog::PROXY_PROTOCOL.about.key].contains(&key)
    }

    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let balanced = sources.optional(&https_catalog::PROXY_PROTOCOL)?.unwrap_or_default();
        Ok(Self {
            api_listen: sources.required(&catalog::API_LISTEN)?,
            expects_proxy_header: balanced.contains(&BalancedListener::Api),
        })
    }
}

/// The settings of `serve`, without those of every command.
#[derive(Debug)]
pub(crate) struct ServeSettings {
    /// The settings whose fields come from the catalog.
    pub(crate) plain: PlainSettings,
    pub(crate) plain_https: PlainHttpsSettings,
    pub(crate) plain_oidc: PlainOidcSettings,
    pub(crate) plain_system: PlainSystemSettings,
    pub(crate) system: SystemDomain,
    /// The aliases of the system domain, which `system` contains too.
    pub(crate) system_aliases: Vec<Hostname>,
    /// Whether `system-url` was left at its default.
    pub(crate) system_url_is_default: bool,
    /// Whether `max-connections` was left at its default.
    pub(crate) max_connections_is_default: bool,
    /// The operator's blocklist, already read.
    pub(crate) target_blocklist: Option<Arc<TargetBlocklistFile>>,
    /// The scheme of links on custom domains.
    pub(crate) custom_domain_scheme: CustomDomainScheme,
    pub(crate) domains: DomainSettings,
    /// The sources of visitors' countries.
    pub(crate) gates: GateSettings,
    /// How the program speaks TLS itself, if it does.
    pub(crate) https: Option<HttpsSettings>,
    /// How people sign in at an identity provider, if they may.
    pub(crate) oidc: Option<OidcSettings>,
    /// The hosts of the API, at which accounts connect nothing.
    pub(crate) api_hostnames: Vec<Hostname>,
    /// The listeners whose connections begin with the header of a balancer.
    pub(crate) balanced_listeners: BTreeSet<BalancedListener>,
    pub(crate) account_bounds: AccountBounds,
    /// How clicks are recorded.
    pub(crate) clicks: ClickSettings,
}

impl ServeSettings {
    /// Reads the settings.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let aliases = system_aliases(sources)?;
        let system = system(sources, &aliases)?;
        let settings = Self {
            plain: https::read_plain(sources)?,
            plain_https: PlainHttpsSettings::read(sources)?,
            plain_oidc: PlainOidcSettings::read(sources)?,
            plain_system: PlainSystemSettings::read(sources)?,
            domains: DomainSettings::read(sources, &system)?,
            system,
            system_aliases: aliases,
            system_url_is_default: sources.is_default(&catalog::SYSTEM_URL.about),
            max_connections_is_default: sources.is_default(&catalog::MAX_CONNECTIONS.about),
            target_blocklist: sources.optional(&catalog::TARGET_BLOCKLIST)?,
            custom_domain_scheme: sources.required(&catalog::CUSTOM_DOMAIN_SCHEME)?,
            gates: GateSettings::read(sources)?,
            https: HttpsSettings::read(sources)?,
            oidc: OidcSettings::read(sources)?,
            api_hostnames: sources.optional(&https_catalog::API_HOSTNAMES)?.unwrap_or_default(),
            balanced_listeners: sources.optional(&https_catalog::PROXY_PROTOCOL)?.unwrap_or_default(),
            account_bounds: AccountBounds {
                requests: sources.required(&catalog::ACCOUNT_CONCURRENCY)?,
                searches: sources.required(&catalog::ACCOUNT_SEARCHES)?,
            },
            clicks: ClickSettings::read(sources)?,
        };
        https::check_hosts(sources, &settings)?;
        system_catalog::check_system_urls(sources, &settings)?;
        sign_in::check_listeners(sources, &settings)?;
        Ok(settings)
    }

    /// The origin at which links open. If `system-url` is not set, the origin follows the port of the listener.
    pub(crate) fn origin_of_links(&self, port: u16) -> String {
        if self.system_url_is_default {
            format!("http://{}:{port}", self.system.hostname())
        } else {
            self.system.origin()
        }
    }

    /// How certificates are obtained, if the program obtains them itself.
    pub(crate) fn acme(&self) -> Option<&AcmeSettings> {
        self.https.as_ref().and_then(|https| https.acme.as_ref())
    }

    /// The operator's own certificate, if there is one.
    pub(crate) fn own_certificate(&self) -> Option<&Arc<CertificateFiles>> {
        self.https.as_ref().and_then(|https| https.own.as_ref())
    }
}

/// Logs the start, with the settings under their keys.
pub(crate) fn log_start(common: &CommonSettings, serve: &ServeSettings) {
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        "known-plans" = logged::list(common.plans.iter().map(|plan| plan.name.as_str())),
        "starting"
    );
    catalog::log_settings(common, serve);
    if serve.plain_system.sends_visitors_away() {
        system_catalog::log_system(common, serve);
    }
    if serve.https.is_some() {
        https_catalog::log_https(common, serve);
    }
    if serve.oidc.is_some() {
        oidc_catalog::log_oidc(common, serve);
    }
}

#[cfg(test)]
mod tests;
