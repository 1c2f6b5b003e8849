//! Every setting there is (D61): the one table from which flags, variables, keys of the file and `--help` come.

use super::clicks::{CLICK_AGENTS, CLICK_ASSISTANTS, CLICK_BOTS, CLICK_CHANNELS, CLICK_RECORDING, DATA_DIR};
use super::gates::{COUNTRY_HEADER, GEOIP_DATABASE};

pub(crate) use super::setting::{Scope, Setting, VARIABLE_PREFIX};

const LISTENERS: &str = "Listeners";
pub(super) const LINKS: &str = "Links";
const DOMAINS: &str = "Custom domains";
const LIMITS: &str = "Limits";
pub(super) const STORE: &str = "Store";
const OPERATION: &str = "Operation";

/// Where the API listens.
pub(crate) const API_LISTEN: Setting = Setting {
    key: "api-listen",
    value_name: "ADDRESS:PORT",
    default: Some("127.0.0.1:8080"),
    help: "Where the API listens. Port 0 takes a free port",
    group: LISTENERS,
    scope: Scope::Serve,
    is_list: false,
};

/// Where public links listen.
pub(crate) const LINK_LISTEN: Setting = Setting {
    key: "link-listen",
    value_name: "ADDRESS:PORT",
    default: Some("127.0.0.1:8081"),
    help: "Where public links listen. Port 0 takes a free port",
    group: LISTENERS,
    scope: Scope::Serve,
    is_list: false,
};

/// Where metrics listen.
pub(crate) const METRICS_LISTEN: Setting = Setting {
    key: "metrics-listen",
    value_name: "ADDRESS:PORT",
    default: None,
    help: "Where GET /metrics answers in Prometheus format; off if not given",
    group: LISTENERS,
    scope: Scope::Serve,
    is_list: false,
};

/// How many connections there may be.
pub(crate) const MAX_CONNECTIONS: Setting = Setting {
    key: "max-connections",
    value_name: "NUMBER",
    default: Some("10000"),
    help: "How many connections the API and the link listener each hold at once, at most; fewer where the system's \
           limit of open files is lower. Beyond, health checks are still answered and everything else gets a 503",
    group: LISTENERS,
    scope: Scope::Serve,
    is_list: false,
};

/// Proxies whose word is believed.
pub(crate) const TRUSTED_PROXIES: Setting = Setting {
    key: "trusted-proxies",
    value_name: "CIDR,...",
    default: Some("127.0.0.0/8,::1"),
    help: "Networks of the proxies whose X-Forwarded-For is believed, such as 10.0.0.0/8,fd00::/8",
    group: LISTENERS,
    scope: Scope::Serve,
    is_list: true,
};

/// The origin of the system domain.
pub(crate) const SYSTEM_URL: Setting = Setting {
    key: "system-url",
    value_name: "URL",
    default: Some("http://localhost:8081"),
    help: "Origin at which visitors reach the link listener; links on the system domain are shown under it",
    group: LINKS,
    scope: Scope::Links,
    is_list: false,
};

/// Further names of the system domain.
pub(crate) const SYSTEM_ALIASES: Setting = Setting {
    key: "system-aliases",
    value_name: "HOST,...",
    default: None,
    help: "Further hostnames at which links on the system domain open, so that it can move",
    group: LINKS,
    scope: Scope::Links,
    is_list: true,
};

/// Hosts that may never be targets.
pub(crate) const TARGET_BLOCKLIST: Setting = Setting {
    key: "target-blocklist",
    value_name: "FILE",
    default: None,
    help: "File of hosts that links may not lead to, one a line, hosts below them included; # begins a comment. \
           It is read again when it changes",
    group: LINKS,
    scope: Scope::Links,
    is_list: false,
};

/// How long links in memory answer without the database.
pub(crate) const STALE_LIMIT: Setting = Setting {
    key: "stale-limit",
    value_name: "TIME",
    default: Some("15m"),
    help: "How long links that a node has in memory go on opening while the database is away; with 0s they stop \
           within a second",
    group: LINKS,
    scope: Scope::Serve,
    is_list: false,
};

/// How much memory links take.
pub(crate) const LINK_CACHE: Setting = Setting {
    key: "link-cache",
    value_name: "SIZE",
    default: Some("256MiB"),
    help: "How much memory a node keeps links in, at most, such as 64MiB or 2GiB. A million plain redirects take some \
           160 MiB; memory is taken as links are opened",
    group: LINKS,
    scope: Scope::Serve,
    is_list: false,
};

/// Where weaknesses are reported.
pub(crate) const SECURITY_CONTACT: Setting = Setting {
    key: "security-contact",
    value_name: "CONTACT",
    default: None,
    help: "E-mail address, or URI of mailto:, https: or tel:, for reports of weaknesses; it turns \
           /.well-known/security.txt on for all hostnames",
    group: LINKS,
    scope: Scope::Serve,
    is_list: false,
};

/// The scheme of custom domains' addresses.
pub(crate) const CUSTOM_DOMAIN_SCHEME: Setting = Setting {
    key: "custom-domain-scheme",
    value_name: "SCHEME",
    default: Some("https"),
    help: "Scheme under which links on custom domains are shown: https, or http for development",
    group: DOMAINS,
    scope: Scope::Links,
    is_list: false,
};

/// The name that custom domains point at.
pub(crate) const EDGE_HOSTNAME: Setting = Setting {
    key: "edge-hostname",
    value_name: "HOST",
    default: None,
    help: "Name that CNAME records of custom domains lead to [default: the host of system-url, if public DNS can know it]",
    group: DOMAINS,
    scope: Scope::Serve,
    is_list: false,
};

/// The addresses that custom domains point at.
pub(crate) const EDGE_ADDRESSES: Setting = Setting {
    key: "edge-addresses",
    value_name: "ADDRESS,...",
    default: None,
    help: "Addresses that A and AAAA records of custom domains carry, for domains that can have no CNAME",
    group: DOMAINS,
    scope: Scope::Serve,
    is_list: true,
};

/// The name servers.
pub(crate) const DNS_SERVERS: Setting = Setting {
    key: "dns-servers",
    value_name: "ADDRESS[:PORT],...",
    default: None,
    help: "Name servers that are asked about custom domains, in order of preference [default: those of the system]",
    group: DOMAINS,
    scope: Scope::Serve,
    is_list: true,
};

/// Special-use names that may be connected.
pub(crate) const ALLOW_SPECIAL_USE: Setting = Setting {
    key: "allow-special-use",
    value_name: "NAME,...",
    default: None,
    help: "Special-use names under which hostnames may be connected, for development, such as test,internal",
    group: DOMAINS,
    scope: Scope::Serve,
    is_list: true,
};

/// Rejected requests per address.
pub(crate) const THROTTLE_PER_MINUTE: Setting = Setting {
    key: "throttle-per-minute",
    value_name: "COUNT",
    default: Some("30"),
    help: "Rejected API requests that one address may send in a minute; 0 is any number",
    group: LIMITS,
    scope: Scope::Serve,
    is_list: false,
};

/// Requests of one account in flight.
pub(crate) const ACCOUNT_CONCURRENCY: Setting = Setting {
    key: "account-concurrency",
    value_name: "COUNT",
    default: Some("64"),
    help: "API requests that one account may have in flight at the same time on this node; 0 is any number",
    group: LIMITS,
    scope: Scope::Serve,
    is_list: false,
};

/// Searches of one account in flight.
pub(crate) const ACCOUNT_SEARCHES: Setting = Setting {
    key: "account-searches",
    value_name: "COUNT",
    default: Some("8"),
    help: "How many of those may be lists with `q` or with several filters; 0 is any number",
    group: LIMITS,
    scope: Scope::Serve,
    is_list: false,
};

/// Misses per address.
pub(crate) const MISS_THROTTLE_PER_MINUTE: Setting = Setting {
    key: "miss-throttle-per-minute",
    value_name: "COUNT",
    default: Some("300"),
    help: "Links that do not exist that one address may try in a minute; 0 is any number",
    group: LIMITS,
    scope: Scope::Serve,
    is_list: false,
};

/// Plans.
pub(crate) const PLANS: Setting = Setting {
    key: "plans",
    value_name: "FILE",
    default: None,
    help: "TOML file of plans that replace the built-in ones or are added to them",
    group: LIMITS,
    scope: Scope::Everywhere,
    is_list: false,
};

/// The database.
pub(crate) const DATABASE_URL: Setting = Setting {
    key: "database-url",
    value_name: "URL",
    default: Some("sqlite://signpost.db"),
    help: "The database: sqlite:// and the path of a file, which `serve` and `migrate` create, or the \
           postgres:// URL of one on a server",
    group: STORE,
    scope: Scope::Everywhere,
    is_list: false,
};

/// Where requests are counted.
pub(crate) const REDIS_URL: Setting = Setting {
    key: "redis-url",
    value_name: "URL",
    default: None,
    help: "The Redis server or cluster where the nodes count requests together; without one they count in the database",
    group: STORE,
    scope: Scope::Serve,
    is_list: false,
};

/// The time limit of the store.
pub(crate) const STORE_TIMEOUT: Setting = Setting {
    key: "store-timeout",
    value_name: "TIME",
    default: Some("5s"),
    help: "How long a call to the database may take, such as 500ms or 5s; Redis has limits of its own",
    group: STORE,
    scope: Scope::Everywhere,
    is_list: false,
};

/// The size of the pool of connections.
pub(crate) const DATABASE_CONNECTIONS: Setting = Setting {
    key: "database-connections",
    value_name: "NUMBER",
    default: None,
    help: "PostgreSQL: how many connections this node opens for requests, at most. An eighth as many more are for \
           visitors and an eighth for questions about clicks, and four for health checks, its own work and clicks [default: 4 for each core, at least 8]",
    group: STORE,
    scope: Scope::Everywhere,
    is_list: false,
};

/// How long to wait for a connection of the pool.
pub(crate) const DATABASE_WAIT: Setting = Setting {
    key: "database-wait",
    value_name: "TIME",
    default: None,
    help: "PostgreSQL: how long a call waits for one of the connections [default: store-timeout]",
    group: STORE,
    scope: Scope::Everywhere,
    is_list: false,
};

/// The time limit of one statement.
pub(crate) const STATEMENT_TIMEOUT: Setting = Setting {
    key: "statement-timeout",
    value_name: "TIME",
    default: None,
    help: "PostgreSQL: how long the server works on one statement [default: store-timeout]",
    group: STORE,
    scope: Scope::Everywhere,
    is_list: false,
};

/// The pause before the program stops accepting.
pub(crate) const DRAIN_DELAY: Setting = Setting {
    key: "drain-delay",
    value_name: "TIME",
    default: Some("0s"),
    help: "How long to go on accepting after SIGTERM while /health/ready says 503, such as 10s",
    group: OPERATION,
    scope: Scope::Serve,
    is_list: false,
};

/// The form of the log.
pub(crate) const LOG_FORMAT: Setting = Setting {
    key: "log-format",
    value_name: "FORMAT",
    default: Some("text"),
    help: "How log lines on standard error look: text or json",
    group: OPERATION,
    scope: Scope::Everywhere,
    is_list: false,
};

/// Every setting, in the order of `--help`.
pub(crate) static SETTINGS: [&Setting; 37] = [
    &API_LISTEN,
    &LINK_LISTEN,
    &METRICS_LISTEN,
    &MAX_CONNECTIONS,
    &TRUSTED_PROXIES,
    &SYSTEM_URL,
    &SYSTEM_ALIASES,
    &TARGET_BLOCKLIST,
    &STALE_LIMIT,
    &LINK_CACHE,
    &GEOIP_DATABASE,
    &COUNTRY_HEADER,
    &SECURITY_CONTACT,
    &CUSTOM_DOMAIN_SCHEME,
    &EDGE_HOSTNAME,
    &EDGE_ADDRESSES,
    &DNS_SERVERS,
    &ALLOW_SPECIAL_USE,
    &THROTTLE_PER_MINUTE,
    &ACCOUNT_CONCURRENCY,
    &ACCOUNT_SEARCHES,
    &MISS_THROTTLE_PER_MINUTE,
    &PLANS,
    &DATABASE_URL,
    &REDIS_URL,
    &STORE_TIMEOUT,
    &DATABASE_CONNECTIONS,
    &DATABASE_WAIT,
    &STATEMENT_TIMEOUT,
    &DATA_DIR,
    &CLICK_RECORDING,
    &CLICK_AGENTS,
    &CLICK_BOTS,
    &CLICK_CHANNELS,
    &CLICK_ASSISTANTS,
    &DRAIN_DELAY,
    &LOG_FORMAT,
];

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
        assert_eq!(API_LISTEN.variable(), "SIGNPOST_API_LISTEN");
    }
}
