//! The log lines of the start: warnings about what does not work with the settings.

use std::net::{IpAddr, SocketAddr};

use signpost_app::{Application, domains};
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{Hostname, SystemDomain, Timestamp, Validity};

use crate::secrets_key_file::HOW_TO_MAKE;
use crate::settings::names::{API_LISTEN, LINK_LISTEN};
use crate::settings::{ServeSettings, joined};

/// Warns of settings that do not work. `origin` is the one at which links open.
pub(super) fn settings(serve: &ServeSettings, origin: &str) {
    warn_of_localhost(serve);
    let shown = serve.system.origin();
    if origin != shown {
        tracing::warn!(
            "links are shown under {shown} but open at {origin}: set `system-url` to the origin that visitors use"
        );
    }
    let edge = &serve.domains.edge;
    match (&edge.hostname, edge.addresses.is_empty()) {
        (None, _) => tracing::warn!(
            "custom domains are off: public DNS cannot resolve the host of `system-url`; to offer custom domains, set `edge-hostname` to the name that they must point to"
        ),
        (Some(_), true) => tracing::info!(
            "`edge-addresses` is not set: custom domains that cannot have a CNAME record need an ALIAS record at their DNS provider"
        ),
        (Some(_), false) => {}
    }
    if !serve.gates.know_countries() {
        tracing::info!(
            "country blocks of links have no effect, because visitors' countries are unknown: set `geoip-database` or `country-header`"
        );
    }
    if serve.clicks.are_recorded && serve.clicks.secrets_key.is_none() {
        tracing::warn!(
            "`secrets-key` is not set: whoever gets hold of the database's files or its write-ahead log can try out which \
             addresses clicked that day; make a file with {HOW_TO_MAKE}, and give the same file to all nodes"
        );
    }
}

/// Warns of an origin of the dashboard at which passwords and sessions travel in clear text (D72).
pub(super) fn dashboard(origin: &DashboardOrigin) {
    if !origin.is_secure() && !origin.is_loopback() {
        tracing::warn!(
            "`dashboard-url` is {}: passwords and sessions travel in clear text; put a proxy with TLS in front of the dashboard, \
             and set `dashboard-url` to its https address",
            origin.as_str()
        );
    }
}

/// Warns of hosts that `tls-certificate` does not serve, and of dates at which browsers refuse it.
pub(super) fn https(serve: &ServeSettings, dashboard: Option<&DashboardOrigin>, now: Timestamp) {
    let Some(https) = &serve.https else { return };
    if !serve.system.is_secure() {
        tracing::warn!(
            "links are shown under {}, although the program serves HTTPS: set `system-url` to its https address",
            serve.system.origin()
        );
    }
    let Some(certificate) = https.own.as_ref().map(|own| own.first()) else { return };
    let Validity { not_before, not_after } = certificate.validity();
    if now > not_after {
        tracing::warn!(%not_after, "the certificate of `tls-certificate` has expired: browsers refuse it");
    } else if now < not_before {
        tracing::warn!(
            %not_before,
            "the certificate of `tls-certificate` is not valid yet: browsers refuse it, or this machine's clock is wrong"
        );
    }
    let dashboard = dashboard.filter(|origin| origin.is_secure() && !origin.is_loopback());
    let hosts = serve.system.hostnames().chain(&serve.api_hostnames).map(Hostname::as_str);
    let uncovered = hosts.chain(dashboard.map(DashboardOrigin::hostname));
    if https.acme.is_some() {
        return;
    }
    if let Some(hosts) = joined(uncovered.filter(|host| !certificate.names().cover(host))) {
        tracing::warn!(
            "`tls-certificate` is not for {hosts}, so `tls-listen` refuses them: use a certificate with all names"
        );
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
    let listeners =
        [(API_LISTEN.key, settings.plain.api_listen), (LINK_LISTEN.key, settings.plain.link_listen)];
    let misleading =
        listeners.into_iter().filter(|(_, address)| misleads_visitors(&settings.system, *address));
    if let Some(listeners) = joined(misleading.map(|(setting, address)| format!("`{setting}` ({address})"))) {
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
}
