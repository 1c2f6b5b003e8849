//! Every setting there is (D61). Each is declared once, here: its name, its type and how it is read, its default, and its
//! help with an example. Flags, variables, keys of the file, `--help` and the table of the README come from it.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_http::header::HeaderName;
use signpost_domain::{CustomDomainScheme, Hostname, Plans, SpecialUseName, TrustedProxies};
use signpost_pages::SecurityContact;
use signpost_redis::RedisUrl;

use super::database::Database;
use super::gates;
use super::setting::{About, Scope, Setting};
use super::values::{self, LogFormat};
use crate::country_database_file::CountryDatabaseFile;
use crate::target_blocklist_file::TargetBlocklistFile;

/// Declares settings, and lists them.
macro_rules! settings {
    ($($name:ident: $type:ty = $read:path { $($field:ident: $value:expr,)* })*) => {
        $(
            #[doc = concat!("The setting `", stringify!($name), "`: see its help.")]
            pub(crate) const $name: Setting<$type> = Setting { about: About { $($field: $value,)* }, read: $read };
        )*

        /// Every setting, in the order of `--help`.
        pub(crate) static SETTINGS: &[&About] = &[$(&$name.about),*];
    };
}

settings! {
    API_LISTEN: SocketAddr = values::listen_address {
        key: "api-listen", value_name: "ADDRESS:PORT", default: Some("127.0.0.1:8080"),
        help: "Where the API listens. Port 0 takes a free port",
        group: "Listeners", scope: Scope::Serve,
    }

    LINK_LISTEN: SocketAddr = values::listen_address {
        key: "link-listen", value_name: "ADDRESS:PORT", default: Some("127.0.0.1:8081"),
        help: "Where public links listen. Port 0 takes a free port",
        group: "Listeners", scope: Scope::Serve,
    }

    METRICS_LISTEN: SocketAddr = values::listen_address {
        key: "metrics-listen", value_name: "ADDRESS:PORT", default: None,
        help: "Where GET /metrics answers in Prometheus format; off if not given",
        group: "Listeners", scope: Scope::Serve,
    }

    MAX_CONNECTIONS: NonZeroUsize = values::connections {
        key: "max-connections", value_name: "NUMBER", default: Some("10000"),
        help: "How many connections the API and the link listener each hold at once, at most; fewer where the system's \
           limit of open files is lower. Beyond, health checks are still answered and everything else gets a 503",
        group: "Listeners", scope: Scope::Serve,
    }

    TRUSTED_PROXIES: TrustedProxies = values::trusted_proxies {
        key: "trusted-proxies", value_name: "CIDR,...", default: Some("127.0.0.0/8,::1"),
        help: "Networks of the proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,fd00::/8; an empty list in the settings file trusts none",
        group: "Listeners", scope: Scope::Serve,
    }

    SYSTEM_URL: String = values::text {
        key: "system-url", value_name: "URL", default: Some("http://localhost:8081"),
        help: "Origin at which visitors reach the link listener; links on the system domain are shown under it",
        group: "Links", scope: Scope::Links,
    }

    SYSTEM_ALIASES: Vec<Hostname> = values::hostnames {
        key: "system-aliases", value_name: "HOST,...", default: None,
        help: "Further hostnames at which links on the system domain open, so that it can move",
        group: "Links", scope: Scope::Links,
    }

    TARGET_BLOCKLIST: Arc<TargetBlocklistFile> = values::target_blocklist {
        key: "target-blocklist", value_name: "FILE", default: None,
        help: "File of hosts that links may not lead to, one a line, hosts below them included; # begins a comment. \
           It is read again when it changes",
        group: "Links", scope: Scope::Links,
    }

    STALE_LIMIT: Duration = values::up_to_a_day {
        key: "stale-limit", value_name: "TIME", default: Some("15m"),
        help: "How long links that a node has in memory go on opening while the database is away; with 0s they stop \
           within a second",
        group: "Links", scope: Scope::Serve,
    }

    LINK_CACHE: u64 = values::size {
        key: "link-cache", value_name: "SIZE", default: Some("256MiB"),
        help: "How much memory a node keeps links in, at most, such as 64MiB or 2GiB. A million plain redirects take some \
           160 MiB; memory is taken as links are opened",
        group: "Links", scope: Scope::Serve,
    }

    GEOIP_DATABASE: Arc<CountryDatabaseFile> = gates::country_database {
        key: "geoip-database", value_name: "FILE", default: None,
        help: "Database in MaxMind's format that knows the countries of visitors' addresses, for links that block countries, \
           such as GeoLite2-Country.mmdb. It is read again when it changes",
        group: "Links", scope: Scope::Serve,
    }

    COUNTRY_HEADER: HeaderName = gates::country_header {
        key: "country-header", value_name: "NAME", default: None,
        help: "Header in which a proxy of `trusted-proxies` names the visitor's country, such as CF-IPCountry. It wins over \
           `geoip-database`",
        group: "Links", scope: Scope::Serve,
    }

    SECURITY_CONTACT: SecurityContact = values::security_contact {
        key: "security-contact", value_name: "CONTACT", default: None,
        help: "E-mail address, or URI of mailto:, https: or tel:, for reports of weaknesses; it turns \
           /.well-known/security.txt on for all hostnames",
        group: "Links", scope: Scope::Serve,
    }

    CUSTOM_DOMAIN_SCHEME: CustomDomainScheme = values::scheme {
        key: "custom-domain-scheme", value_name: "SCHEME", default: Some("https"),
        help: "Scheme under which links on custom domains are shown: https, or http for development",
        group: "Custom domains", scope: Scope::Links,
    }

    EDGE_HOSTNAME: Hostname = values::edge_hostname {
        key: "edge-hostname", value_name: "HOST", default: None,
        help: "Name that CNAME records of custom domains lead to [default: the host of system-url, if public DNS can know it]",
        group: "Custom domains", scope: Scope::Serve,
    }

    EDGE_ADDRESSES: BTreeSet<IpAddr> = values::addresses {
        key: "edge-addresses", value_name: "ADDRESS,...", default: None,
        help: "Addresses that A and AAAA records of custom domains carry, for domains that can have no CNAME",
        group: "Custom domains", scope: Scope::Serve,
    }

    DNS_SERVERS: Vec<SocketAddr> = values::name_servers {
        key: "dns-servers", value_name: "ADDRESS[:PORT],...", default: None,
        help: "Name servers that are asked about custom domains, in order of preference [default: those of the system]",
        group: "Custom domains", scope: Scope::Serve,
    }

    ALLOW_SPECIAL_USE: BTreeSet<SpecialUseName> = values::special_use_names {
        key: "allow-special-use", value_name: "NAME,...", default: None,
        help: "Special-use names under which hostnames may be connected, for development, such as test,internal",
        group: "Custom domains", scope: Scope::Serve,
    }

    THROTTLE_PER_MINUTE: u32 = values::count {
        key: "throttle-per-minute", value_name: "COUNT", default: Some("30"),
        help: "Rejected API requests that one address may send in a minute; 0 is any number",
        group: "Limits", scope: Scope::Serve,
    }

    ACCOUNT_CONCURRENCY: u32 = values::count {
        key: "account-concurrency", value_name: "COUNT", default: Some("64"),
        help: "API requests that one account may have in flight at the same time on this node; 0 is any number",
        group: "Limits", scope: Scope::Serve,
    }

    ACCOUNT_SEARCHES: u32 = values::count {
        key: "account-searches", value_name: "COUNT", default: Some("8"),
        help: "How many of those may be lists with `q` or with several filters; 0 is any number",
        group: "Limits", scope: Scope::Serve,
    }

    MISS_THROTTLE_PER_MINUTE: u32 = values::count {
        key: "miss-throttle-per-minute", value_name: "COUNT", default: Some("300"),
        help: "Links that do not exist that one address may try in a minute; 0 is any number",
        group: "Limits", scope: Scope::Serve,
    }

    PLANS: Plans = values::plans {
        key: "plans", value_name: "FILE", default: None,
        help: "TOML file of plans that replace the built-in ones or are added to them [default: built in]",
        group: "Limits", scope: Scope::Everywhere,
    }

    DATABASE_URL: Database = values::database {
        key: "database-url", value_name: "URL", default: Some("sqlite://signpost.db"),
        help: "The database: sqlite:// and the path of a file, which `serve` and `migrate` create, or the \
           postgres:// URL of one on a server",
        group: "Store", scope: Scope::Everywhere,
    }

    REDIS_URL: RedisUrl = values::redis {
        key: "redis-url", value_name: "URL", default: None,
        help: "The Redis server or cluster where the nodes count requests together; without one they count in the database",
        group: "Store", scope: Scope::Serve,
    }

    STORE_TIMEOUT: Duration = values::time_limit {
        key: "store-timeout", value_name: "TIME", default: Some("5s"),
        help: "How long a call to the database may take, such as 500ms or 5s; Redis has limits of its own",
        group: "Store", scope: Scope::Everywhere,
    }

    DATABASE_CONNECTIONS: NonZeroUsize = values::connections {
        key: "database-connections", value_name: "NUMBER", default: None,
        help: "PostgreSQL: how many connections this node opens for requests, at most. An eighth as many more are for \
           visitors and an eighth for questions about clicks, and four for health checks, its own work and clicks [default: 4 for each core, at least 8]",
        group: "Store", scope: Scope::Everywhere,
    }

    DATABASE_WAIT: Duration = values::time_limit {
        key: "database-wait", value_name: "TIME", default: None,
        help: "PostgreSQL: how long a call waits for one of the connections [default: store-timeout]",
        group: "Store", scope: Scope::Everywhere,
    }

    STATEMENT_TIMEOUT: Duration = values::time_limit {
        key: "statement-timeout", value_name: "TIME", default: None,
        help: "PostgreSQL: how long the server works on one statement [default: store-timeout]",
        group: "Store", scope: Scope::Everywhere,
    }

    DATA_DIR: PathBuf = values::folder {
        key: "data-dir", value_name: "FOLDER", default: None,
        help: "Folder of what this node keeps for itself: clicks on their way to the database, in the folder signpost-spool. \
           Nodes on one machine may share it [default: the folder of the embedded database; with PostgreSQL the working folder]",
        group: "Store", scope: Scope::Serve,
    }

    CLICK_RECORDING: bool = values::on_or_off {
        key: "click-recording", value_name: "on|off", default: Some("on"),
        help: "Whether this node records clicks; if off, they are lost to analytics",
        group: "Clicks", scope: Scope::Serve,
    }

    CLICK_AGENTS: PathBuf = values::file {
        key: "click-agents", value_name: "FILE", default: None,
        help: "File of rules that name browsers and operating systems [default: built in]",
        group: "Clicks", scope: Scope::Serve,
    }

    CLICK_BOTS: PathBuf = values::file {
        key: "click-bots", value_name: "FILE", default: None,
        help: "File of patterns of bots' user agents [default: built in]",
        group: "Clicks", scope: Scope::Serve,
    }

    CLICK_CHANNELS: PathBuf = values::file {
        key: "click-channels", value_name: "FILE", default: None,
        help: "File that says which channel a referrer or a `utm_source` belongs to [default: built in]",
        group: "Clicks", scope: Scope::Serve,
    }

    CLICK_ASSISTANTS: PathBuf = values::file {
        key: "click-assistants", value_name: "FILE", default: None,
        help: "File of hosts and values of `utm_source` that are AI assistants [default: built in]",
        group: "Clicks", scope: Scope::Serve,
    }

    DRAIN_DELAY: Duration = values::up_to_an_hour {
        key: "drain-delay", value_name: "TIME", default: Some("0s"),
        help: "How long to go on accepting after SIGTERM while /health/ready says 503, such as 10s",
        group: "Operation", scope: Scope::Serve,
    }

    LOG_FORMAT: LogFormat = values::log_format {
        key: "log-format", value_name: "FORMAT", default: Some("text"),
        help: "How log lines on standard error look: text or json",
        group: "Operation", scope: Scope::Everywhere,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique_and_their_variables_too() {
        let keys: HashSet<_> = SETTINGS.iter().map(|setting| setting.key).collect();
        let variables: HashSet<_> = SETTINGS.iter().map(|setting| setting.variable()).collect();
        assert_eq!((keys.len(), variables.len()), (SETTINGS.len(), SETTINGS.len()));
    }

    #[test]
    fn d61_a_variable_is_the_prefix_and_the_name() {
        assert_eq!(API_LISTEN.about.variable(), "SIGNPOST_API_LISTEN");
    }
}
