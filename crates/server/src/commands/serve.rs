//! `signpost serve`.

use std::io;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde_json::json;
use signpost_edge::{EdgeOptions, PlainHttp, SystemUrls};
use signpost_listener::{PassedSockets, TlsSites};

use super::first_start;
use super::output::Output;
use super::start_log;
use crate::advice;
use crate::https_server::{Hosts, HttpsOptions};
use crate::https_wiring::challenge_handshakes;
use crate::listeners::{self, Addresses, DashboardSettings, ServerSettings, Servers, Sockets};
use crate::open_files::{self, Connections};
use crate::settings::{BalancedListener, CommonSettings, Database, PlainHttpMode, ServeSettings, log_start};
use crate::shutdown::{self, STOPPED_WITHIN, StopSignals};
use crate::wiring::Serving;

/// How many connections are enough for an installation that has not asked for a number.
const ENOUGH: usize = 1_000;

/// Serves until the program is asked to stop. `passed` are the sockets of the service manager.
pub(super) async fn run(
    common: &CommonSettings,
    settings: &ServeSettings,
    passed: io::Result<PassedSockets>,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut signals = StopSignals::listen().context("cannot listen for signals")?;
    let mut passed = passed.context("a descriptor that the service manager passes cannot be used")?;
    // Bound first: a program that cannot listen must not touch the database, and must not issue a key.
    let sockets = Sockets::bind(settings, &mut passed)?;
    let addresses = sockets.addresses()?;
    log_start(common, settings);
    let origin = settings.origin_of_links(addresses.links.port());
    let mut serving = Serving::start(common, settings, addresses.links.port(), sockets.refusals()).await?;
    let dashboard = common.origin_of_dashboard(addresses.dashboard.map(|address| address.port()));
    let secrets_file = first_start::secrets_file(&settings.clicks.data_dir);
    let places = first_start::Places {
        api: addresses.api,
        links_open_at: &origin,
        dashboard: addresses.dashboard.map(|_| &dashboard),
        secrets_file: secrets_file.as_deref(),
    };
    match common.database {
        Database::File(_) => first_start::run(&serving.app, places, output).await?,
        Database::Server(_) => first_start::suggest_commands(&serving.app, places, output).await?,
    }
    // Below the message of the first start, which would be buried under advice about later steps.
    let shown_dashboard = addresses.dashboard.is_some().then_some(&dashboard);
    start_log::settings(&advice::of_settings(
        common,
        settings,
        &origin,
        shown_dashboard,
        serving.app.clock.now(),
    ));
    start_log::unclaimed_sockets(&passed);
    start_log::accounts(&serving.app).await;
    let connections = connections(common, settings);
    let certificates = serving.certificates();
    let links = EdgeOptions {
        miss_throttle_per_minute: settings.plain.miss_throttle_per_minute,
        workers: listeners::workers(),
        connections: connections.each,
        cache_bytes: settings.plain.link_cache,
        country_header: settings.gates.country_header.clone(),
        security_contact: settings.plain.security_contact.clone(),
        plain_http: certificates
            .as_ref()
            .map(|certificates| plain_http(settings, Arc::clone(&certificates.sites))),
        reads_proxy_protocol: settings.balanced_listeners.contains(&BalancedListener::Links),
        system_urls: SystemUrls {
            root: settings.plain_system.system_root_url.clone(),
            not_found: settings.plain_system.system_not_found_url.clone(),
        },
    };
    let pools = serving.take_pools();
    let dashboard = DashboardSettings { origin: dashboard, api_url: api_url(settings, addresses) };
    let balanced = settings.balanced_listeners.clone();
    let challenges = challenge_handshakes(&serving.app)?;
    let https = certificates.map(|certificates| HttpsOptions {
        certificates,
        challenges,
        hsts: settings.plain_https.hsts,
        connections: connections.each,
        reads_proxy_protocol: balanced.contains(&BalancedListener::Tls),
    });
    let hosts = Hosts {
        api: settings.api_hostnames.iter().map(ToString::to_string).collect(),
        dashboard: common.dashboard_url.as_ref().map(|origin| origin.hostname().to_owned()),
    };
    let server_settings = ServerSettings { links, dashboard, https, hosts, balanced, connections };
    let mut servers = Servers::start(sockets, &serving.app, server_settings, pools)?;
    announce(addresses, output)?;

    let signal = tokio::select! {
        signal = signals.first() => signal,
        failure = servers.ended() => return Err(failure),
    };
    tracing::info!(signal, "stopping");
    serving.begin_stopping();
    if shutdown::stop(signals.second(), settings.plain.drain_delay, servers.stop(), STOPPED_WITHIN).await {
        serving.close().await;
        tracing::info!("stopped; all running work is finished");
    } else {
        // Running work still holds the store, so the store is not closed. Committed changes are safe
        // nevertheless.
        serving.save_clicks().await;
        tracing::warn!("stopped; some running work was cut short");
    }
    Ok(())
}

/// The origin of the API, for the examples on pages of the dashboard.
fn api_url(settings: &ServeSettings, addresses: Addresses) -> String {
    match (settings.api_hostnames.first(), settings.system.https_port()) {
        (None, _) => format!("http://{}", first_start::reachable(addresses.api)),
        (Some(host), None) => format!("https://{host}"),
        (Some(host), Some(port)) => format!("https://{host}:{port}"),
    }
}

/// How the link listener answers requests without TLS, while the program speaks TLS itself.
fn plain_http(settings: &ServeSettings, hosts: Arc<dyn TlsSites>) -> PlainHttp {
    PlainHttp {
        hosts,
        redirects: match settings.plain_https.plain_http {
            PlainHttpMode::Redirect => true,
            PlainHttpMode::Answer => false,
        },
        // Visitors may reach `tls-listen` by another port than it has here, so only `system-url` tells.
        https_port: settings.system.https_port(),
        api_hostnames: settings.api_hostnames.iter().cloned().collect(),
    }
}

fn announce(addresses: Addresses, output: &mut Output<'_>) -> Result<()> {
    let Addresses { api, links, dashboard, tls, metrics } = addresses;
    let [dashboard, tls, metrics] =
        [dashboard, tls, metrics].map(|address| address.map(|address| address.to_string()));
    tracing::info!(%api, %links, dashboard, tls, metrics, "listening");
    if output.is_json() {
        let json = json!({
            "event": "listening",
            "api": api.to_string(),
            "links": links.to_string(),
            "dashboard": dashboard,
            "tls": tls,
            "metrics": metrics,
        });
        output.result(&json, "")?;
    }
    Ok(())
}

/// The number of connections that the listeners may have.
fn connections(common: &CommonSettings, settings: &ServeSettings) -> Connections {
    let limit = open_files::raise_limit();
    let connections = Connections::of_settings(common, settings, limit);
    let wanted = settings.plain.max_connections.get();
    // Fewer than the default matter only if they are few.
    if connections.each < wanted && (connections.each < ENOUGH || !settings.max_connections_is_default) {
        tracing::warn!(
            open_files = limit,
            "the limit of open files allows only {} of the {wanted} connections of `max-connections`: raise \
             the limit, for example with `LimitNOFILE` of systemd",
            connections.each
        );
    }
    connections
}
