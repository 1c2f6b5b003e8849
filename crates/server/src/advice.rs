//! What the settings should be told about: values that contradict each other or have no effect. The start logs it, and
//! `signpost check` shows it.

use std::net::{IpAddr, SocketAddr};

use signpost_dashboard::DashboardOrigin;
use signpost_domain::{Hostname, SystemDomain, Timestamp, Validity};

use crate::https_wiring::own_names;
use crate::secrets_key_file::HOW_TO_MAKE;
use crate::settings::names::{API_LISTEN, HSTS, LINK_LISTEN, PLAIN_HTTP, PROXY_PROTOCOL};
use crate::settings::{
    BalancedListener, CommonSettings, DashboardListen, PlainHttpMode, ServeSettings, joined,
    untrusted_networks,
};

/// One sentence about the settings, with what to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Something does not work as it looks.
    Warning(String),
    /// Something could be set in addition.
    Note(String),
}

/// Adds advice.
#[derive(Default)]
struct Adviser(Vec<Advice>);

impl Adviser {
    fn warn(&mut self, text: impl Into<String>) {
        self.0.push(Advice::Warning(text.into()));
    }

    fn note(&mut self, text: impl Into<String>) {
        self.0.push(Advice::Note(text.into()));
    }
}

/// Advice about the settings. `origin` is the one at which links open, and `dashboard` that of the dashboard, unless it is off.
pub(crate) fn of_settings(
    common: &CommonSettings,
    serve: &ServeSettings,
    origin: &str,
    dashboard: Option<&DashboardOrigin>,
    now: Timestamp,
) -> Vec<Advice> {
    let mut adviser = Adviser::default();
    links(&mut adviser, serve, origin);
    domains(&mut adviser, serve);
    clicks(&mut adviser, serve);
    https(&mut adviser, common, serve, now);
    if let Some(dashboard) = dashboard.filter(|origin| !origin.is_secure() && !origin.is_loopback()) {
        adviser.warn(format!(
            "`dashboard-url` is {}: passwords and sessions travel in clear text; put a proxy with TLS in front of the dashboard, \
             and set `dashboard-url` to its https address",
            dashboard.as_str()
        ));
    }
    sign_in(&mut adviser, common, serve);
    adviser.0
}

fn sign_in(adviser: &mut Adviser, common: &CommonSettings, serve: &ServeSettings) {
    if common.sign_in.is_none() {
        return;
    }
    if serve.plain.dashboard_listen == DashboardListen::Off {
        adviser.warn("`sign-in-header` has no effect, because `dashboard-listen` is off");
    } else if let Some(networks) = joined(untrusted_networks(common, serve)) {
        adviser.warn(format!(
            "`trusted-proxies` lacks {networks} of `sign-in-proxies`, so the audit shows the proxy's network in place of people's: add \
             it there too"
        ));
    }
}

fn links(adviser: &mut Adviser, serve: &ServeSettings, origin: &str) {
    let listeners = [(API_LISTEN.key, serve.plain.api_listen), (LINK_LISTEN.key, serve.plain.link_listen)];
    let misleading = listeners.into_iter().filter(|(_, address)| misleads_visitors(&serve.system, *address));
    let shown = serve.system.origin();
    // Other machines may reach a listener, while links have a host that leads visitors to their own machine.
    if let Some(listeners) = joined(misleading.map(|(setting, address)| format!("`{setting}` ({address})"))) {
        adviser.warn(format!(
            "other machines may reach {listeners}, but links are shown under {shown}, which leads visitors to their own machine: \
             set `system-url` to the origin that visitors use"
        ));
    }
    if origin != shown {
        adviser.warn(format!(
            "links are shown under {shown} but open at {origin}: set `system-url` to the origin that visitors use"
        ));
    }
}

fn misleads_visitors(system: &SystemDomain, listener: SocketAddr) -> bool {
    let host = system.hostname().as_str();
    let is_local = host == "localhost"
        || host.ends_with(".localhost")
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_local && !listener.ip().to_canonical().is_loopback()
}

fn domains(adviser: &mut Adviser, serve: &ServeSettings) {
    let edge = &serve.domains.edge;
    match (&edge.hostname, edge.addresses.is_empty()) {
        // An installation that is not set up yet has no domains either.
        (None, _) if serve.system_url_is_default => adviser.note(
            "custom domains are off until `system-url` is set to a name in public DNS",
        ),
        (None, _) => adviser.warn(
            "custom domains are off: public DNS cannot resolve the host of `system-url`; to offer custom domains, set \
             `edge-hostname` to the name that they must point to",
        ),
        (Some(_), true) => adviser.note(
            "`edge-addresses` is not set: custom domains that cannot have a CNAME record need an ALIAS record at their DNS provider",
        ),
        (Some(_), false) => {}
    }
}

fn clicks(adviser: &mut Adviser, serve: &ServeSettings) {
    if !serve.gates.know_countries() {
        adviser.note(
            "country blocks and country rules of links have no effect, because visitors' countries are unknown: set \
             `geoip-database` or `country-header`",
        );
    }
    if serve.clicks.are_recorded && serve.clicks.secrets_key.is_none() {
        adviser.warn(format!(
            "`secrets-key` is not set: whoever gets hold of the database's files or its write-ahead log can try out which \
             addresses clicked that day; make a file with {HOW_TO_MAKE}, and give the same file to all nodes"
        ));
    }
}

fn https(adviser: &mut Adviser, common: &CommonSettings, serve: &ServeSettings, now: Timestamp) {
    let Some(https) = &serve.https else {
        without_https(adviser, serve);
        return;
    };
    if !serve.system.is_secure() {
        adviser.warn(format!(
            "links are shown under {}, although the program serves HTTPS: set `system-url` to its https address",
            serve.system.origin()
        ));
    }
    let names: Vec<Hostname> = own_names(common, serve).collect();
    let own = https.own.as_ref().map(|own| own.first());
    if let Some(certificate) = &own {
        let Validity { not_before, not_after } = certificate.validity();
        if now > not_after {
            adviser.warn(format!(
                "the certificate of `tls-certificate` has expired at {not_after}: browsers refuse it"
            ));
        } else if now < not_before {
            adviser.warn(format!(
                "the certificate of `tls-certificate` is not valid before {not_before}: browsers refuse it, or this machine's \
                 clock is wrong"
            ));
        }
    }
    let is_covered = |name: &Hostname| own.as_ref().is_some_and(|own| own.names().cover(name.as_str()));
    let uncovered = names.iter().filter(|name| !is_covered(name));
    if https.acme.is_none() {
        if let Some(hosts) = joined(uncovered.map(Hostname::as_str)) {
            adviser.warn(format!(
                "`tls-certificate` is not for {hosts}, so `tls-listen` refuses them: use a certificate with all names"
            ));
        }
        return;
    }
    let private = uncovered.filter(|name| !serve.domains.can_have_certificate(name));
    if let Some(hosts) = joined(private.map(Hostname::as_str)) {
        adviser.warn(format!(
            "no authority gives a certificate for {hosts}, which is not a name in public DNS, so `tls-listen` refuses it: use \
             a public name, or a certificate of your own (`tls-certificate`)"
        ));
    }
}

/// Settings that have no effect unless the program serves HTTPS itself.
fn without_https(adviser: &mut Adviser, serve: &ServeSettings) {
    let idle = [
        (HSTS, serve.plain_https.hsts.is_some()),
        (PLAIN_HTTP, serve.plain_https.plain_http != PlainHttpMode::Redirect),
        (PROXY_PROTOCOL, serve.balanced_listeners.contains(&BalancedListener::Tls)),
    ];
    for (setting, _) in idle.into_iter().filter(|(_, is_given)| *is_given) {
        adviser.warn(format!(
            "`{}` has no effect on HTTPS, which the program does not serve: set `acme-email` or `tls-listen` too, or leave it out",
            setting.key
        ));
    }
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
