//! Declares every setting once (D61): name, type, parser, default, help with an example, and value in the
//! start-up log. Flags, variables, keys of the settings file, `--help`, the tables of `docs/settings.md`, the fields of
//! [`PlainSettings`] and the start-up log come from the declaration.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use actix_http::header::HeaderName;
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{CustomDomainScheme, Hostname, Plans, SpecialUseName, TrustedProxies};
use signpost_pages::SecurityContact;
use signpost_redis::RedisUrl;

use super::database::Database;
use super::error::SettingsError;
use super::https_catalog::HTTPS;
use super::logged::{hidden, joined, list, mebibytes, number, on_or_off, path, text, time, unquoted};
use super::oidc_catalog::OIDC;
use super::setting::{About, Scope, Setting, settings};
use super::sources::Sources;
use super::system_catalog::SYSTEM;
use super::times;
use super::values::{self, DashboardListen, LogFormat};
use super::{CommonSettings, ServeSettings, gates, sign_in};
use crate::country_database_file::CountryDatabaseFile;
use crate::target_blocklist_file::TargetBlocklistFile;

settings! {
    list: GENERAL, plain: PlainSettings, log: log_settings, message: "settings";

    API_LISTEN: SocketAddr = values::listen_address {
        key: "api-listen", value_name: "ADDRESS:PORT", default: Some("127.0.0.1:8080"),
        help: "Address of the API listener. Port 0 picks a free port",
        group: "Listeners", scope: Scope::Serve,
        log: hidden,
        required: api_listen,
    }

    LINK_LISTEN: SocketAddr = values::listen_address {
        key: "link-listen", value_name: "ADDRESS:PORT", default: Some("127.0.0.1:8081"),
        help: "Address of the listener for public links. Port 0 picks a free port",
        group: "Listeners", scope: Scope::Serve,
        log: hidden,
        required: link_listen,
    }

    DASHBOARD_LISTEN: DashboardListen = values::dashboard_listen {
        key: "dashboard-listen", value_name: "ADDRESS:PORT", default: Some("127.0.0.1:8082"),
        help: "Address of the dashboard, on which people sign in. Port 0 picks a free port; off turns the dashboard off",
        group: "Listeners", scope: Scope::Serve,
        log: hidden,
        required: dashboard_listen,
    }

    DASHBOARD_URL: DashboardOrigin = values::dashboard_url {
        key: "dashboard-url", value_name: "URL", default: None,
        help: "Origin at which people open the dashboard, such as https://dash.example.com. Requests for another host are \
           refused [default: http://localhost and the port of dashboard-listen]",
        group: "Listeners", scope: Scope::Everywhere,
        log: |common, _| common.dashboard_url.as_ref().and_then(|origin| text(origin.as_str())),
    }

    METRICS_LISTEN: SocketAddr = values::listen_address {
        key: "metrics-listen", value_name: "ADDRESS:PORT", default: None,
        help: "Address at which GET /metrics answers in Prometheus format. Off by default",
        group: "Listeners", scope: Scope::Serve,
        log: hidden,
        optional: metrics_listen,
    }

    MAX_CONNECTIONS: NonZeroUsize = values::connections {
        key: "max-connections", value_name: "NUMBER", default: Some("10000"),
        help: "Maximum number of connections that the API and the link listener each hold at once; fewer if \
           the limit of open files is lower. One address that is no trusted proxy holds half of them at most. \
           Beyond the limit, the connection that has waited longest for a request is closed; if none waits, \
           health checks are still answered and other requests get 503",
        group: "Listeners", scope: Scope::Serve,
        log: |_, serve| number(serve.plain.max_connections.get()),
        required: max_connections,
    }

    TRUSTED_PROXIES: TrustedProxies = values::trusted_proxies {
        key: "trusted-proxies", value_name: "CIDR,...", default: Some("127.0.0.0/8,::1"),
        help: "Networks of the proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,fd00::/8. \
           An empty list in the settings file trusts no proxy",
        group: "Listeners", scope: Scope::Serve,
        log: |_, serve| text(joined(serve.plain.trusted_proxies.networks()).unwrap_or_default()),
        required: trusted_proxies,
    }

    SIGN_IN_HEADER: String = sign_in::sign_in_header {
        key: "sign-in-header", value_name: "NAME", default: None,
        help: "Header in which a proxy in front of the dashboard names the signed-in person by e-mail address, such as Remote-Email. \
           Passwords are off then, and requests that do not come from `sign-in-proxies` are refused",
        group: "Sign-in", scope: Scope::Everywhere,
        log: |common, _| common.sign_in.as_ref().and_then(|sign_in| text(&sign_in.header)),
    }

    SIGN_IN_PROXIES: TrustedProxies = sign_in::sign_in_proxies {
        key: "sign-in-proxies", value_name: "CIDR,...", default: None,
        help: "Networks of the proxies whose `sign-in-header` is believed, such as 10.0.0.5. They must overwrite the header in each request",
        group: "Sign-in", scope: Scope::Everywhere,
        log: |common, _| list(common.sign_in.iter().flat_map(|sign_in| sign_in.proxies.networks())),
    }

    SYSTEM_URL: String = values::text {
        key: "system-url", value_name: "URL", default: Some("http://localhost:8081"),
        help: "Origin at which visitors reach the link listener. Links on the system domain are shown with it",
        group: "Links", scope: Scope::Links,
        log: |_, serve| text(serve.system.origin()),
    }

    SYSTEM_ALIASES: Vec<Hostname> = values::hostnames {
        key: "system-aliases", value_name: "HOST,...", default: None,
        help: "Additional hostnames at which links on the system domain open, such as its former names",
        group: "Links", scope: Scope::Links,
        log: |_, serve| list(&serve.system_aliases),
    }

    TARGET_BLOCKLIST: Arc<TargetBlocklistFile> = values::target_blocklist {
        key: "target-blocklist", value_name: "FILE", default: None,
        help: "File of hosts that links must not lead to: one host a line, subdomains included; # begins a \
           comment. It is read again when it changes",
        group: "Links", scope: Scope::Links,
        log: |_, serve| serve.target_blocklist.as_ref().and_then(|file| path(file.path())),
    }

    STALE_LIMIT: Duration = times::up_to_a_day {
        key: "stale-limit", value_name: "TIME", default: Some("15m"),
        help: "How long links in a node's memory keep opening while the database is unreachable. With 0s they \
           stop within a second",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| time(serve.plain.stale_limit),
        required: stale_limit,
    }

    LINK_CACHE: u64 = values::size {
        key: "link-cache", value_name: "SIZE", default: Some("256MiB"),
        help: "Maximum memory for links on a node, such as 64MiB or 2GiB. A million plain redirects take about \
           160 MiB; memory is taken as links are opened",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| mebibytes(serve.plain.link_cache),
        required: link_cache,
    }

    GEOIP_DATABASE: Arc<CountryDatabaseFile> = gates::country_database {
        key: "geoip-database", value_name: "FILE", default: None,
        help: "Database of countries by address in MaxMind's format, such as GeoLite2-Country.mmdb, for links \
           that block countries. It is read again when it changes",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| serve.gates.country_database.as_ref().and_then(|file| path(file.path())),
    }

    COUNTRY_HEADER: HeaderName = gates::country_header {
        key: "country-header", value_name: "NAME", default: None,
        help: "Header in which a proxy of `trusted-proxies` names the visitor's country, such as CF-IPCountry. \
           It takes precedence over `geoip-database`",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| serve.gates.country_header.as_ref().and_then(text),
    }

    SECURITY_CONTACT: SecurityContact = values::security_contact {
        key: "security-contact", value_name: "CONTACT", default: None,
        help: "E-mail address, or mailto:, https: or tel: URI, for vulnerability reports. If set, every \
           hostname serves /.well-known/security.txt",
        group: "Links", scope: Scope::Serve,
        log: |_, serve| serve.plain.security_contact.as_ref().and_then(|contact| text(contact.as_uri())),
        optional: security_contact,
    }

    CUSTOM_DOMAIN_SCHEME: CustomDomainScheme = values::scheme {
        key: "custom-domain-scheme", value_name: "SCHEME", default: Some("https"),
        help: "Scheme with which links on custom domains are shown: https, or http for development",
        group: "Custom domains", scope: Scope::Links,
        log: |_, serve| text(serve.custom_domain_scheme.as_str()),
    }

    EDGE_HOSTNAME: Hostname = values::edge_hostname {
        key: "edge-hostname", value_name: "HOST", default: None,
        help: "Hostname that CNAME records of custom domains point to [default: the host of system-url, if \
           public DNS can resolve it]",
        group: "Custom domains", scope: Scope::Serve,
        log: |_, serve| serve.domains.edge.hostname.as_ref().and_then(text),
    }

    EDGE_ADDRESSES: BTreeSet<IpAddr> = values::addresses {
        key: "edge-addresses", value_name: "ADDRESS,...", default: None,
        help: "Addresses for A and AAAA records of custom domains that cannot have a CNAME record",
        group: "Custom domains", scope: Scope::Serve,
        log: |_, serve| list(&serve.domains.edge.addresses),
    }

    DNS_SERVERS: Vec<SocketAddr> = values::name_servers {
        key: "dns-servers", value_name: "ADDRESS[:PORT],...", default: None,
        help: "Name servers to query about custom domains, in order of preference [default: those of the \
           system]",
        group: "Custom domains", scope: Scope::Serve,
        log: |_, serve| list(serve.domains.listed_servers()),
    }

    ALLOW_SPECIAL_USE: BTreeSet<SpecialUseName> = values::special_use_names {
        key: "allow-special-use", value_name: "NAME,...", default: None,
        help: "Special-use names under which accounts may connect hostnames, for development, such as \
           test,internal",
        group: "Custom domains", scope: Scope::Serve,
        log: |_, serve| list(&serve.domains.allowed_special_use),
    }

    THROTTLE_PER_MINUTE: u32 = values::count {
        key: "throttle-per-minute", value_name: "COUNT", default: Some("30"),
        help: "Rejected API requests that one address may send per minute; 0 means no limit",
        group: "Limits", scope: Scope::Serve,
        log: |_, serve| number(serve.plain.throttle_per_minute),
        required: throttle_per_minute,
    }

    ACCOUNT_CONCURRENCY: u32 = values::count {
        key: "account-concurrency", value_name: "COUNT", default: Some("64"),
        help: "API requests that one account may have in flight at once on this node; 0 means no limit",
        group: "Limits", scope: Scope::Serve,
        log: |_, serve| number(serve.account_bounds.requests),
    }

    ACCOUNT_SEARCHES: u32 = values::count {
        key: "account-searches", value_name: "COUNT", default: Some("8"),
        help: "How many of an account's API requests in flight may be searches: lists that read many links to find few; 0 means \
           no limit",
        group: "Limits", scope: Scope::Serve,
        log: |_, serve| number(serve.account_bounds.searches),
    }

    MISS_THROTTLE_PER_MINUTE: u32 = values::count {
        key: "miss-throttle-per-minute", value_name: "COUNT", default: Some("300"),
        help: "Unknown links that one address may request per minute. Then only links in memory open for it; 0 means \
           no limit",
        group: "Limits", scope: Scope::Serve,
        log: |_, serve| number(serve.plain.miss_throttle_per_minute),
        required: miss_throttle_per_minute,
    }

    PLANS: Plans = values::plans {
        key: "plans", value_name: "FILE", default: None,
        help: "TOML file of plans that replace the built-in plans or add to them [default: built in]",
        group: "Limits", scope: Scope::Everywhere,
        log: hidden,
    }

    DATABASE_URL: Database = values::database {
        key: "database-url", value_name: "URL", default: Some("sqlite://signpost.db"),
        help: "The database: sqlite:// and the path of a file, which `serve` and `migrate` create, or the \
           postgres:// URL of a database on a server",
        group: "Store", scope: Scope::Everywhere,
        log: |common, _| unquoted(&common.database),
    }

    REDIS_URL: RedisUrl = values::redis {
        key: "redis-url", value_name: "URL", default: None,
        help: "Redis server or cluster in which the nodes count requests together. Without it they count in \
           the database",
        group: "Store", scope: Scope::Serve,
        log: |_, serve| serve.plain.redis_url.as_ref().and_then(text),
        optional: redis_url,
    }

    STORE_TIMEOUT: Duration = times::time_limit {
        key: "store-timeout", value_name: "TIME", default: Some("5s"),
        help: "How long a call to the database may take, such as 500ms or 5s. Redis has its own limits",
        group: "Store", scope: Scope::Everywhere,
        log: |common, _| time(common.store_timeout),
    }

    DATABASE_CONNECTIONS: NonZeroUsize = values::connections {
        key: "database-connections", value_name: "NUMBER", default: None,
        help: "PostgreSQL: maximum number of connections that this node opens for requests. Beside them it \
           opens an eighth as many for visitors, a quarter for analytics (at least four), and five for health checks, its own \
           work and clicks [default: 4 for each core, at least 8]",
        group: "Store", scope: Scope::Everywhere,
        log: |common, _| common.pool.connections.and_then(|most| number(most.get())),
    }

    DATABASE_WAIT: Duration = times::time_limit {
        key: "database-wait", value_name: "TIME", default: None,
        help: "PostgreSQL: how long a call waits for a free connection [default: store-timeout]",
        group: "Store", scope: Scope::Everywhere,
        log: |common, _| common.pool.wait.and_then(time),
    }

    STATEMENT_TIMEOUT: Duration = times::time_limit {
        key: "statement-timeout", value_name: "TIME", default: None,
        help: "PostgreSQL: how long the server may work on one statement [default: store-timeout]",
        group: "Store", scope: Scope::Everywhere,
        log: |common, _| common.pool.statement_timeout.and_then(time),
    }

    DATA_DIR: PathBuf = values::folder {
        key: "data-dir", value_name: "FOLDER", default: None,
        help: "Folder for this node's own data: clicks on their way to the database, in the subfolder \
           signpost-spool. Nodes on one machine may share it [default: the folder of the embedded database; \
           with PostgreSQL the working folder]",
        group: "Store", scope: Scope::Serve,
        log: |_, serve| unquoted(serve.clicks.data_dir.display()),
    }

    SECRETS_KEY: PathBuf = values::file {
        key: "secrets-key", value_name: "FILE", default: None,
        help: "File of 32 random bytes, the same on all nodes, that only its owner may read. A copy of the database \
           alone then does not suffice to try out addresses of visitors or to make codes of second factors. The program makes a missing file only \
           with the embedded database [default: beside the embedded database; with PostgreSQL none]",
        group: "Store", scope: Scope::Serve,
        log: |_, serve| serve.clicks.secrets_key.as_ref().and_then(|file| path(file.path())),
    }

    CLICK_RECORDING: bool = values::on_or_off {
        key: "click-recording", value_name: "on|off", default: Some("on"),
        help: "Whether this node records clicks for analytics: on or off",
        group: "Clicks", scope: Scope::Serve,
        log: |_, serve| on_or_off(serve.clicks.are_recorded),
    }

    CLICK_AGENTS: PathBuf = values::file {
        key: "click-agents", value_name: "FILE", default: None,
        help: "File of rules that name browsers and operating systems [default: built in]",
        group: "Clicks", scope: Scope::Serve,
        log: hidden,
    }

    CLICK_BOTS: PathBuf = values::file {
        key: "click-bots", value_name: "FILE", default: None,
        help: "File of patterns that match the user agents of bots [default: built in]",
        group: "Clicks", scope: Scope::Serve,
        log: hidden,
    }

    CLICK_CHANNELS: PathBuf = values::file {
        key: "click-channels", value_name: "FILE", default: None,
        help: "File that assigns channels to referrers and values of `utm_source` [default: built in]",
        group: "Clicks", scope: Scope::Serve,
        log: hidden,
    }

    CLICK_ASSISTANTS: PathBuf = values::file {
        key: "click-assistants", value_name: "FILE", default: None,
        help: "File of hosts and `utm_source` values of AI assistants [default: built in]",
        group: "Clicks", scope: Scope::Serve,
        log: hidden,
    }

    DRAIN_DELAY: Duration = times::up_to_an_hour {
        key: "drain-delay", value_name: "TIME", default: Some("0s"),
        help: "How long to keep accepting after a stop signal while /health/ready answers 503, such as 10s",
        group: "Operation", scope: Scope::Serve,
        log: |_, serve| time(serve.plain.drain_delay),
        required: drain_delay,
    }

    LOG_FORMAT: LogFormat = values::log_format {
        key: "log-format", value_name: "FORMAT", default: Some("text"),
        help: "Format of log lines on standard error: text or json",
        group: "Operation", scope: Scope::Everywhere,
        log: hidden,
    }
}

/// Every setting, in the order of `--help`.
#[expect(
    clippy::indexing_slicing,
    reason = "the compiler computes it, and would report an index out of range"
)]
pub(crate) static SETTINGS: &[&About] = &{
    let lists = [GENERAL, SYSTEM, HTTPS, OIDC];
    let mut all = [GENERAL[0]; GENERAL.len() + SYSTEM.len() + HTTPS.len() + OIDC.len()];
    let (mut list, mut item, mut place) = (0, 0, 0);
    while place < all.len() {
        if item == lists[list].len() {
            (list, item) = (list + 1, 0);
        }
        all[place] = lists[list][item];
        (item, place) = (item + 1, place + 1);
    }
    all
};
