//! The log lines of the start: the settings, and warnings about what does not work with them.

use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::time::Duration;

use actix_http::header::HeaderName;
use signpost_app::admission::AccountBounds;
use signpost_app::{Application, domains};
use signpost_dns::NameServers;
use signpost_domain::SystemDomain;
use signpost_pages::SecurityContact;

use crate::settings::names::{API_LISTEN, LINK_LISTEN};
use crate::settings::{
    ClickSettings, CommonSettings, DomainSettings, GateSettings, PoolSettings, ServeSettings,
};

/// Logs the settings under their names, and warns of those that do not work. None of them is secret.
pub(super) fn settings(common: &CommonSettings, serve: &ServeSettings) {
    let CommonSettings { database, store_timeout, pool, plans, log_format: _ } = common;
    let PoolSettings { connections, wait, statement_timeout } = pool;
    let ServeSettings {
        api_listen: _,
        link_listen: _,
        metrics_listen: _,
        max_connections,
        trusted_proxies,
        system,
        system_url_is_default: _,
        system_aliases,
        target_blocklist,
        stale_limit,
        link_cache,
        custom_domain_scheme,
        security_contact,
        domains: DomainSettings { edge, name_servers, allowed_special_use },
        gates,
        throttle_per_minute,
        miss_throttle_per_minute,
        account_bounds: AccountBounds { requests: account_concurrency, searches: account_searches },
        drain_delay,
        redis,
        clicks: ClickSettings { are_recorded, data_dir, lists: _ },
    } = serve;
    warn_of_localhost(serve);
    match (&edge.hostname, edge.addresses.is_empty()) {
        (None, _) => tracing::warn!(
            "custom domains are off: public DNS cannot resolve the host of `system-url`; to offer custom domains, set `edge-hostname` to the name that they must point to"
        ),
        (Some(_), true) => tracing::info!(
            "`edge-addresses` is not set: custom domains that cannot have a CNAME record need an ALIAS record at their DNS provider"
        ),
        (Some(_), false) => {}
    }
    if !gates.know_countries() {
        tracing::info!(
            "country blocks of links have no effect, because visitors' countries are unknown: set `geoip-database` or `country-header`"
        );
    }
    let GateSettings { country_database, country_header } = gates;
    let dns_servers = match name_servers {
        NameServers::System => None,
        NameServers::Listed(servers) => listed(servers),
    };
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        "database-url" = %database,
        "redis-url" = redis.as_ref().map(ToString::to_string),
        "store-timeout" = time(*store_timeout),
        "database-connections" = connections.map(NonZeroUsize::get),
        "database-wait" = wait.map(time),
        "statement-timeout" = statement_timeout.map(time),
        "click-recording" = if *are_recorded { "on" } else { "off" },
        "data-dir" = %data_dir.display(),
        "system-url" = system.origin(),
        "system-aliases" = listed(system_aliases),
        "known-plans" = listed(plans.iter().map(|plan| plan.name.as_str())),
        "max-connections" = max_connections.get(),
        "trusted-proxies" = listed(trusted_proxies.networks()).unwrap_or_default(),
        "target-blocklist" = target_blocklist.as_ref().map(|file| file.path().display().to_string()),
        "stale-limit" = time(*stale_limit),
        "link-cache" = format!("{}MiB", link_cache / (1024 * 1024)),
        "geoip-database" = country_database.as_ref().map(|file| file.path().display().to_string()),
        "country-header" = country_header.as_ref().map(HeaderName::as_str),
        "security-contact" = security_contact.as_ref().map(SecurityContact::as_uri),
        "custom-domain-scheme" = custom_domain_scheme.as_str(),
        "edge-hostname" = edge.hostname.as_ref().map(ToString::to_string),
        "edge-addresses" = listed(&edge.addresses),
        "dns-servers" = dns_servers,
        "allow-special-use" = listed(allowed_special_use),
        "throttle-per-minute" = throttle_per_minute,
        "miss-throttle-per-minute" = miss_throttle_per_minute,
        "account-concurrency" = account_concurrency,
        "account-searches" = account_searches,
        "drain-delay" = time(*drain_delay),
        "starting"
    );
}

/// The items in the form of a list setting; `None` for an empty list.
fn listed(items: impl IntoIterator<Item: Display>) -> Option<String> {
    let items: Vec<_> = items.into_iter().map(|item| item.to_string()).collect();
    (!items.is_empty()).then(|| items.join(","))
}

/// The time in the form of a setting.
fn time(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{}s", time.as_secs()),
        _ => format!("{}ms", time.as_millis()),
    }
}

/// Warns of accounts that conflict with the settings. The node serves even if the store cannot answer.
pub(super) async fn accounts(app: &Application) {
    warn_of_own_names(app).await;
    warn_of_unknown_plans(app).await;
}

/// Warns of each name of the installation that an account has as its custom domain.
async fn warn_of_own_names(app: &Application) {
    match domains::own_names_held(app).await {
        Ok(held) => {
            for hostname in held {
                tracing::warn!(
                    %hostname,
                    "a name of this installation is the custom domain of an account, so the domain gets no certificate and may \
                     serve no links: change `system-url`, `system-aliases` or `edge-hostname`, or have the account delete the domain"
                );
            }
        }
        Err(error) => {
            tracing::warn!(%error, "cannot check whether accounts have names of this installation");
        }
    }
}

/// Warns of each plan that accounts have but the settings do not define.
async fn warn_of_unknown_plans(app: &Application) {
    match signpost_app::accounts::unknown_plans(app).await {
        Ok(unknown) => {
            for (plan, accounts) in unknown {
                tracing::warn!(
                    %plan,
                    accounts,
                    "accounts have a plan that this node does not know, so their requests are refused: define the plan in the file of the setting `plans`, or move the accounts with `signpost account set-plan`"
                );
            }
        }
        Err(error) => tracing::warn!(%error, "cannot check the plans of accounts"),
    }
}

/// Warns if other machines may reach a listener while links have a host that leads visitors to their own
/// machine.
fn warn_of_localhost(settings: &ServeSettings) {
    let listeners = [(API_LISTEN.key, settings.api_listen), (LINK_LISTEN.key, settings.link_listen)];
    let misleading =
        listeners.into_iter().filter(|(_, address)| misleads_visitors(&settings.system, *address));
    if let Some(listeners) = listed(misleading.map(|(setting, address)| format!("`{setting}` ({address})"))) {
        tracing::warn!(
            "other machines may reach {listeners}, but links are shown under {}, which leads visitors to their own machine: \
             set `system-url` to the origin that visitors use",
            settings.system.origin()
        );
    }
}

fn misleads_visitors(system: &SystemDomain, listener: SocketAddr) -> bool {
    let host = system.hostname().as_str();
    let is_local = host == "localhost"
        || host.ends_with(".localhost")
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_local && !listener.ip().to_canonical().is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_on_localhost_mislead_visitors_of_public_listeners() {
        for (url, listener, is_misleading) in [
            ("http://localhost:8081", "0.0.0.0:8081", true),
            ("http://localhost:8081", "[::]:8081", true),
            ("http://127.0.0.1:8081", "192.0.2.1:8081", true),
            ("http://[::1]:8081", "192.0.2.1:8081", true),
            ("http://go.localhost", "192.0.2.1:8081", true),
            ("http://localhost:8081", "127.0.0.1:8081", false),
            ("http://localhost:8081", "[::1]:8081", false),
            ("https://go.example.com", "0.0.0.0:8081", false),
            ("http://192.0.2.1:8081", "0.0.0.0:8081", false),
        ] {
            let system = SystemDomain::new(url, Vec::new()).unwrap();
            assert_eq!(
                misleads_visitors(&system, listener.parse().unwrap()),
                is_misleading,
                "{url} {listener}"
            );
        }
    }

    #[test]
    fn times_have_the_form_of_settings() {
        assert_eq!([time(Duration::from_millis(1500)), time(Duration::from_mins(10))], ["1500ms", "600s"]);
    }
}
