//! `signpost check`: looks for what keeps an installation from working, and names one remedy for each (D206).
//!
//! Each part turns what it sees into findings by a function without I/O, so that tests show every fault.

mod addresses;
mod authority;
mod finding;
mod machine;
mod ports;
mod reach;
mod sockets;
mod store;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use serde_json::json;
use signpost_acme::AcmeAuthority;
use signpost_app::ports::Clock as _;
use signpost_domain::{HostResolution, Hostname};

use crate::advice::{self, Advice};
use crate::commands::Output;
use crate::https_wiring::own_names;
use crate::name_servers;
use crate::open_files::Connections;
use crate::settings::{CommonSettings, SERVICE_FILE, ServeSettings, SettingsError, Sources};
use crate::system::SystemClock;
use addresses::OwnAddresses;
pub(crate) use finding::{Finding, Severity, worst};

/// Checks the settings, this machine and what they depend on, and prints each finding. The exit status is that of the most serious
/// one.
pub(crate) async fn run(
    common: &CommonSettings,
    sources: &Sources,
    output: &mut Output<'_>,
) -> Result<ExitCode> {
    match ServeSettings::read(sources) {
        Ok(serve) => {
            let mut findings = check(common, &serve).await;
            if sources.overlook_the_service() {
                findings.insert(
                    0,
                    Finding::warn(
                        "settings",
                        format!("these are not the settings of the service, which are in {SERVICE_FILE}"),
                        format!("Check those: signpost --config {SERVICE_FILE} check"),
                    ),
                );
            }
            report(&findings, output)
        }
        Err(error) => report_wrong_settings(&error, output),
    }
}

/// Prints that the settings cannot be used. Everything else depends on them.
pub(crate) fn report_wrong_settings(error: &SettingsError, output: &mut Output<'_>) -> Result<ExitCode> {
    report(&[Finding::refusal("settings", error.to_string())], output)
}

fn report(findings: &[Finding], output: &mut Output<'_>) -> Result<ExitCode> {
    let severity = worst(findings);
    let lines: Vec<String> = findings.iter().map(Finding::line).collect();
    output.result(&json!({ "severity": severity, "findings": findings }), lines.join("\n"))?;
    Ok(severity.exit_code())
}

/// Checks everything.
pub(crate) async fn check(common: &CommonSettings, serve: &ServeSettings) -> Vec<Finding> {
    let mut findings = settings(common, serve);
    let (running, ports) = ports::check(serve);
    findings.extend(ports);
    findings.extend(machine::check_disk(common, serve));
    let limit = machine::limit_of_open_files(running);
    let connections = Connections::of_settings(common, serve, limit);
    findings.push(machine::check_open_files(limit, connections, serve.plain.max_connections.get()));
    findings.extend(store::check(common).await);
    if let Some(url) = &serve.plain.redis_url {
        findings.push(store::check_redis(url).await);
    }
    findings.extend(names(common, serve, running.is_some()).await);
    findings
}

/// A `signpost` that holds a port of the service while the service does not run.
pub(crate) fn running_without_service(serve: &ServeSettings) -> Option<Finding> {
    let (running, _) = ports::check(serve);
    running.map(|pid| {
        Finding::fail(
            "ports",
            format!("a signpost that is not the service (process {pid}) has a port of the service"),
            format!("Stop it: kill {pid}"),
        )
    })
}

/// What the start would warn of.
fn settings(common: &CommonSettings, serve: &ServeSettings) -> Vec<Finding> {
    let origin = serve.origin_of_links(serve.plain.link_listen.port());
    let dashboard = common.dashboard_url.as_ref();
    let mut findings = Vec::new();
    for advice in advice::of_settings(common, serve, &origin, dashboard, SystemClock.now()) {
        match advice {
            Advice::Warning(text) => findings.push(Finding::remark("settings", text)),
            Advice::Note(_) => {}
        }
    }
    if findings.is_empty() {
        findings.push(Finding::ok("settings", "the settings are valid and fit together"));
    }
    findings
}

/// What the names of the installation lead to, and whether they can have certificates.
async fn names(common: &CommonSettings, serve: &ServeSettings, is_running: bool) -> Vec<Finding> {
    let dns = match name_servers::dns(&serve.domains.name_servers, &Arc::default()) {
        Ok(dns) => dns,
        Err(error) => {
            return vec![Finding::fail("names", format!("{error:#}"), "Correct `dns-servers`")];
        }
    };
    let mut findings = Vec::new();
    let (issuer_domains, authority) = authority_of(serve).await;
    findings.extend(authority);
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    let own = OwnAddresses::of(
        interfaces.iter().map(if_addrs::Interface::ip),
        serve.domains.edge.addresses.iter().copied(),
    );
    // Only names in public DNS lead anywhere.
    let names: BTreeSet<Hostname> = own_names(common, serve)
        .chain(serve.domains.edge.hostname.clone())
        .filter(|name| serve.domains.can_have_certificate(name))
        .collect();
    for name in &names {
        let resolution = match dns.resolution(name).await {
            Ok(resolution) => resolution,
            Err(error) => {
                findings.push(Finding::warn(
                    "names",
                    format!("{name} cannot be looked up: {error}"),
                    format!("Ask the name server yourself: dig {name}"),
                ));
                continue;
            }
        };
        findings.extend(name_found(serve, name, &resolution, &own));
        if let Some(domains) = issuer_domains.as_ref().filter(|domains| !domains.is_empty()) {
            findings.push(authority::check_caa(&*dns, &SystemClock, name, domains).await);
        }
        if is_running && name == serve.system.hostname() && !resolution.addresses.is_empty() {
            let port = serve.system.port();
            findings.push(reach::check(&serve.system.origin(), &resolution.addresses, port).await);
        }
    }
    findings
}

/// Behind a proxy that ends TLS, names lead to the proxy, wherever that is.
fn name_found(
    serve: &ServeSettings,
    name: &Hostname,
    resolution: &HostResolution,
    own: &OwnAddresses,
) -> Option<Finding> {
    (serve.https.is_some() || resolution.addresses.is_empty())
        .then(|| addresses::verdict(name, resolution, own))
}

/// Asks the authority, if the settings name one.
async fn authority_of(serve: &ServeSettings) -> (Option<Vec<String>>, Vec<Finding>) {
    let Some(acme) = serve.acme() else { return (None, Vec::new()) };
    match AcmeAuthority::new(acme.options.clone(), Arc::new(SystemClock)) {
        Ok(authority) => authority::check(&authority, &acme.options.directory).await,
        Err(error) => {
            (None, vec![Finding::fail("authority", error.to_string(), "Correct the settings of HTTPS")])
        }
    }
}
