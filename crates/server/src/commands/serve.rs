//! `signpost serve`.

use anyhow::{Context, Result};
use serde_json::json;
use signpost_app::admission::AccountBounds;
use signpost_app::{Application, domains};
use signpost_domain::Hostname;

use super::first_start;
use super::output::Output;
use crate::listeners::{self, Addresses, Servers, Sockets};
use crate::open_files::{self, Connections};
use crate::settings::{CommonSettings, Database, DomainSettings, ServeSettings};
use crate::shutdown::{self, STOPPED_WITHIN, StopSignals};
use crate::wiring::{Serving, postgres_options};

/// Serves until the program is asked to stop.
pub(super) async fn run(
    common: &CommonSettings,
    settings: &ServeSettings,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut signals = StopSignals::listen().context("cannot listen for signals")?;
    // Bound first: a program that cannot listen must not touch the database, and must not issue a key.
    let sockets = Sockets::bind(settings)?;
    let addresses = sockets.addresses()?;
    log_settings(common, settings);
    let origin = origin_of_links(settings, addresses);
    let serving = Serving::start(common, settings).await?;
    match common.database {
        Database::File(_) => first_start::run(&serving.app, addresses.api, &origin, output).await?,
        Database::Server(_) => first_start::say_how(&serving.app, output).await?,
    }
    warn_of_own_names(&serving.app).await;
    let connections = connections(common, settings);
    let mut servers = Servers::start(sockets, &serving.app, settings.miss_throttle_per_minute, connections)?;
    announce(addresses, output)?;

    let signal = tokio::select! {
        signal = signals.next() => signal,
        failure = servers.ended() => return Err(failure),
    };
    tracing::info!(signal, "stopping");
    serving.begin_stopping();
    if shutdown::stop(signals.next(), settings.drain_delay, servers.stop(), STOPPED_WITHIN).await {
        serving.close().await;
        tracing::info!("stopped; everything that ran is finished");
    } else {
        // What is still running holds the store, so it is not closed. What was committed is safe all the same.
        tracing::warn!("stopped; something that ran was cut short");
    }
    Ok(())
}

/// How many connections the listeners may have.
fn connections(common: &CommonSettings, settings: &ServeSettings) -> Connections {
    let of_database = match common.database {
        Database::File(_) => 0,
        Database::Server(_) => {
            let of_requests = postgres_options(common.store_timeout, common.pool).connections.get();
            // Beside them those of visitors, and a few of the node's own.
            of_requests + of_requests / 8 + 4
        }
    };
    let wanted = settings.max_connections.get();
    let limit = open_files::raise_limit();
    // The threads of the API and of the links, that of the metrics, and the main runtime.
    let runtimes = 2 * listeners::workers().get() + 2;
    let others = of_database + runtimes * open_files::FILES_OF_A_RUNTIME;
    let connections = Connections::within(limit, others, wanted);
    if connections.each < wanted {
        tracing::warn!(
            open_files = limit,
            "the limit of open files allows only {} of the {wanted} connections of `max-connections`: raise \
             it, for example by `LimitNOFILE` of systemd",
            connections.each
        );
    }
    connections
}

/// Says how the program is set up. None of this is secret.
fn log_settings(common: &CommonSettings, settings: &ServeSettings) {
    let CommonSettings { database, store_timeout, pool, plans, log_format: _ } = common;
    let ServeSettings {
        api_listen: _,
        link_listen: _,
        metrics_listen: _,
        max_connections: _,
        trusted_proxies,
        system,
        system_url_is_default: _,
        system_aliases,
        target_blocklist,
        custom_domain_scheme,
        domains: DomainSettings { edge, name_servers, allowed_special_use },
        throttle_per_minute,
        miss_throttle_per_minute,
        account_bounds: AccountBounds { requests: account_concurrency, searches: account_searches },
        drain_delay,
        redis,
    } = settings;
    match (&edge.hostname, edge.addresses.is_empty()) {
        (None, true) => tracing::warn!(
            "custom domains are not offered: public DNS cannot know the host of `system-url`, so set `edge-hostname`, the name that they point at"
        ),
        (Some(_), true) => tracing::info!(
            "`edge-addresses` is not set: custom domains that can have no CNAME need an ALIAS record at their DNS provider"
        ),
        (Some(_) | None, false) => {}
    }
    let plans = plans.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>().join(",");
    let aliases = system_aliases.iter().map(Hostname::as_str).collect::<Vec<_>>().join(",");
    tracing::info!(
        version = env!("CARGO_PKG_VERSION"),
        %database,
        redis = redis.as_ref().map(ToString::to_string),
        ?store_timeout,
        ?pool,
        system_url = system.origin(),
        system_aliases = aliases,
        plans,
        trusted_proxies = ?trusted_proxies,
        target_blocklist = target_blocklist.as_ref().map(|file| file.path().display().to_string()),
        ?custom_domain_scheme,
        edge_hostname = edge.hostname.as_ref().map(Hostname::as_str),
        edge_addresses = ?edge.addresses,
        ?name_servers,
        ?allowed_special_use,
        throttle_per_minute,
        miss_throttle_per_minute,
        account_concurrency,
        account_searches,
        ?drain_delay,
        "starting"
    );
}

/// Warns of each of the installation's own names that an account has as its custom domain. If the store cannot tell, that is
/// no reason not to serve.
async fn warn_of_own_names(app: &Application) {
    match domains::own_names_held(app).await {
        Ok(held) => {
            for hostname in held {
                tracing::warn!(
                    %hostname,
                    "a name of this installation is the custom domain of an account, which can have no certificate and \
                     perhaps serves no links any more: change `system-url`, `system-aliases` or `edge-hostname`, or have the domain removed"
                );
            }
        }
        Err(error) => {
            tracing::warn!(%error, "the database did not say whether accounts have names of this installation");
        }
    }
}

/// The origin at which links open. As long as nobody has said what it is, it follows the port of the listener, and
/// a warning says that the addresses in answers do not.
fn origin_of_links(settings: &ServeSettings, addresses: Addresses) -> String {
    let shown = settings.system.origin();
    if !settings.system_url_is_default {
        return shown;
    }
    let real = format!("http://{}:{}", settings.system.hostname(), addresses.links.port());
    if real != shown {
        tracing::warn!(
            "links are shown under {shown} but open at {real}: set `system-url` to the origin that visitors use"
        );
    }
    real
}

fn announce(addresses: Addresses, output: &mut Output<'_>) -> Result<()> {
    let Addresses { api, links, metrics } = addresses;
    let metrics = metrics.map(|address| address.to_string());
    tracing::info!(%api, %links, metrics, "listening");
    if output.is_json() {
        let json = json!({
            "event": "listening",
            "api": api.to_string(),
            "links": links.to_string(),
            "metrics": metrics,
        });
        output.result(&json, "")?;
    }
    Ok(())
}
