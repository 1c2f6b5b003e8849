//! What the operator sets (D61).

mod catalog;
mod clicks;
mod database;
mod domains;
mod error;
mod flags;
mod gates;
mod plans_file;
mod setting;
mod sources;
mod values;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use signpost_app::admission::AccountBounds;
use signpost_domain::{CustomDomainScheme, Hostname, Plans, SystemDomain, TrustedProxies};
use signpost_pages::SecurityContact;
use signpost_redis::RedisUrl;

#[cfg(test)]
pub(crate) use catalog::SETTINGS;
pub(crate) use catalog::Setting;
pub(crate) use clicks::ClickSettings;
pub(crate) use database::Database;
pub(crate) use domains::DomainSettings;
pub(crate) use error::SettingsError;
pub(crate) use flags::{CommonFlags, LinkFlags, ServeFlags};
pub(crate) use gates::GateSettings;
pub(crate) use plans_file::FORM as PLANS_FILE_FORM;
pub(crate) use sources::Sources;
pub(crate) use values::LogFormat;

use error::Source;

use crate::target_blocklist_file::TargetBlocklistFile;

/// Names under which messages elsewhere speak of settings.
pub(crate) mod names {
    pub(crate) use super::catalog::{API_LISTEN, LINK_LISTEN, METRICS_LISTEN};
}

/// The settings that every command has.
#[derive(Debug)]
pub(crate) struct CommonSettings {
    /// Where the data is kept.
    pub(crate) database: Database,
    /// How long a call to the store may take.
    pub(crate) store_timeout: Duration,
    /// What was said of the connections to a server.
    pub(crate) pool: PoolSettings,
    /// The plans.
    pub(crate) plans: Plans,
    /// The form of log lines.
    pub(crate) log_format: LogFormat,
}

/// What the operator said of the connections to a database server; what was left out follows the machine and
/// `store-timeout`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PoolSettings {
    /// How many there are, at most.
    pub(crate) connections: Option<NonZeroUsize>,
    /// How long a call waits for one.
    pub(crate) wait: Option<Duration>,
    /// How long the server works on one statement.
    pub(crate) statement_timeout: Option<Duration>,
}

impl CommonSettings {
    /// Reads them.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let limit = |text: &str| {
            values::time(text, Duration::from_millis(10)..=Duration::from_mins(10), "from 10ms to 10m")
        };
        Ok(Self {
            database: required(sources, &catalog::DATABASE_URL, values::database)?,
            store_timeout: required(sources, &catalog::STORE_TIMEOUT, limit)?,
            pool: PoolSettings {
                connections: optional(sources, &catalog::DATABASE_CONNECTIONS, values::connections)?,
                wait: optional(sources, &catalog::DATABASE_WAIT, limit)?,
                statement_timeout: optional(sources, &catalog::STATEMENT_TIMEOUT, limit)?,
            },
            plans: optional(sources, &catalog::PLANS, |text| {
                values::file(text).and_then(|path| plans_file::read(&path))
            })?
            .unwrap_or_else(Plans::builtin),
            log_format: required(sources, &catalog::LOG_FORMAT, values::log_format)?,
        })
    }
}

/// The settings by which links are judged.
#[derive(Debug)]
pub(crate) struct LinkSettings {
    pub(crate) system: SystemDomain,
    /// The operator's list of hosts, read.
    pub(crate) target_blocklist: Option<Arc<TargetBlocklistFile>>,
    /// The scheme of links on custom domains.
    pub(crate) custom_domain_scheme: CustomDomainScheme,
}

impl LinkSettings {
    /// Reads them.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let aliases = system_aliases(sources)?;
        Ok(Self {
            system: system(sources, &aliases)?,
            target_blocklist: target_blocklist(sources)?,
            custom_domain_scheme: domains::scheme(sources)?,
        })
    }
}

fn system_aliases(sources: &Sources) -> Result<Vec<Hostname>, SettingsError> {
    Ok(optional(sources, &catalog::SYSTEM_ALIASES, values::hostnames)?.unwrap_or_default())
}

fn system(sources: &Sources, aliases: &[Hostname]) -> Result<SystemDomain, SettingsError> {
    required(sources, &catalog::SYSTEM_URL, |text| {
        SystemDomain::new(text, aliases.to_vec())
            .map_err(|error| format!("{}, not {text:?}", error.message()))
    })
}

fn target_blocklist(sources: &Sources) -> Result<Option<Arc<TargetBlocklistFile>>, SettingsError> {
    optional(sources, &catalog::TARGET_BLOCKLIST, |text| {
        let list = TargetBlocklistFile::open(values::file(text)?).map_err(|error| error.to_string())?;
        Ok(Arc::new(list))
    })
}

/// The settings that `serve` has beside those that every command has.
#[derive(Debug)]
pub(crate) struct ServeSettings {
    pub(crate) api_listen: SocketAddr,
    pub(crate) link_listen: SocketAddr,
    pub(crate) metrics_listen: Option<SocketAddr>,
    /// How many connections the API and the link listener may each have, if the limit of open files allows it.
    pub(crate) max_connections: NonZeroUsize,
    pub(crate) trusted_proxies: TrustedProxies,
    pub(crate) system: SystemDomain,
    /// Further names of the system domain, which it knows too.
    pub(crate) system_aliases: Vec<Hostname>,
    /// Whether `system-url` was left at its default.
    pub(crate) system_url_is_default: bool,
    /// The operator's list of hosts, read.
    pub(crate) target_blocklist: Option<Arc<TargetBlocklistFile>>,
    pub(crate) stale_limit: Duration,
    /// How much memory links are kept in, in bytes.
    pub(crate) link_cache: u64,
    /// The scheme of links on custom domains.
    pub(crate) custom_domain_scheme: CustomDomainScheme,
    /// Where weaknesses are reported.
    pub(crate) security_contact: Option<SecurityContact>,
    pub(crate) domains: DomainSettings,
    /// How visitors' countries are known.
    pub(crate) gates: GateSettings,
    pub(crate) throttle_per_minute: u32,
    pub(crate) miss_throttle_per_minute: u32,
    pub(crate) account_bounds: AccountBounds,
    pub(crate) drain_delay: Duration,
    /// Where requests are counted, if not in the database.
    pub(crate) redis: Option<RedisUrl>,
    /// How clicks are recorded.
    pub(crate) clicks: ClickSettings,
}

impl ServeSettings {
    /// Reads them.
    ///
    /// # Errors
    /// One of them is invalid.
    pub(crate) fn read(sources: &Sources) -> Result<Self, SettingsError> {
        let aliases = system_aliases(sources)?;
        let system_url = sources.get(&catalog::SYSTEM_URL);
        let system = system(sources, &aliases)?;
        Ok(Self {
            api_listen: required(sources, &catalog::API_LISTEN, values::listen_address)?,
            link_listen: required(sources, &catalog::LINK_LISTEN, values::listen_address)?,
            metrics_listen: optional(sources, &catalog::METRICS_LISTEN, values::listen_address)?,
            max_connections: required(sources, &catalog::MAX_CONNECTIONS, values::connections)?,
            trusted_proxies: required(sources, &catalog::TRUSTED_PROXIES, values::trusted_proxies)?,
            domains: DomainSettings::read(sources, &system)?,
            system,
            system_aliases: aliases,
            system_url_is_default: system_url.is_none_or(|given| given.source == Source::Default),
            target_blocklist: target_blocklist(sources)?,
            stale_limit: required(sources, &catalog::STALE_LIMIT, |text| {
                values::time(text, Duration::ZERO..=Duration::from_hours(24), "of at most 24h")
            })?,
            link_cache: required(sources, &catalog::LINK_CACHE, values::size)?,
            custom_domain_scheme: domains::scheme(sources)?,
            gates: GateSettings::read(sources)?,
            security_contact: optional(sources, &catalog::SECURITY_CONTACT, values::security_contact)?,
            throttle_per_minute: required(sources, &catalog::THROTTLE_PER_MINUTE, values::count)?,
            miss_throttle_per_minute: required(sources, &catalog::MISS_THROTTLE_PER_MINUTE, values::count)?,
            account_bounds: AccountBounds {
                requests: required(sources, &catalog::ACCOUNT_CONCURRENCY, values::count)?,
                searches: required(sources, &catalog::ACCOUNT_SEARCHES, values::count)?,
            },
            drain_delay: required(sources, &catalog::DRAIN_DELAY, |text| {
                values::time(text, Duration::ZERO..=Duration::from_hours(1), "of at most 1h")
            })?,
            redis: optional(sources, &catalog::REDIS_URL, values::redis)?,
            clicks: ClickSettings::read(sources)?,
        })
    }
}

/// The value of a setting, if it is given or has a default.
fn optional<T>(
    sources: &Sources,
    setting: &Setting,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, SettingsError> {
    let Some(given) = sources.get(setting) else { return Ok(None) };
    let value =
        read(&given.text).map_err(|problem| SettingsError::invalid(setting, &given.source, problem))?;
    Ok(Some(value))
}

/// The value of a setting that has a default.
fn required<T>(
    sources: &Sources,
    setting: &Setting,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, SettingsError> {
    optional(sources, setting, read)?.ok_or_else(|| SettingsError::at(setting.key, "must be given"))
}

#[cfg(test)]
mod tests;
