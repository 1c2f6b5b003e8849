//! Which crates may import each other, and which frameworks they may use.
//!
//! `docs/architecture.md` draws the layers; `CRATES` puts each crate into one. `deny.toml` says who may use which
//! framework, for cargo-deny and for [`crate::bans`].

use std::collections::BTreeSet;

use crate::bans::Ban;
use crate::finding::Finding;
use crate::workspace::{Dependency, Kind, Package};

const DOMAIN: &str = "signpost-domain";
const APP: &str = "signpost-app";

/// A group of crates with the same rules about imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    /// Entities and rules.
    Domain,
    /// Ports and use cases.
    App,
    /// Functions without I/O, on bytes, texts and values of the domain.
    Pure,
    /// Packs and counts clicks for any store of them, on threads of its own.
    ClickStore,
    /// HTTP connections, for the crates that listen.
    Connections,
    /// HTTPS requests to servers of others, for the adapters that send them.
    Requesting,
    /// What happens to every request of the crates that listen, except for visits.
    Requests,
    /// Tables and rows that the SQL stores share.
    Rows,
    /// Adapters that call the use cases: the API and the visitors.
    Driving,
    /// Adapters behind the ports: stores, DNS, files.
    Driven,
    /// The files of export and import, for whoever offers them: the commands and the pages.
    Files,
    /// The in-memory adapters that tests run on.
    Fakes,
    /// The program that connects the parts.
    Program,
    /// The contract suites of the ports.
    Contracts,
    /// The judge of the API's answers.
    Conformance,
    /// Servers and clients for tests.
    TestServers,
    /// Benchmarks of the program.
    Benchmarks,
    /// A benchmark of the click stores.
    ClickBenchmark,
    /// A program that benchmarks compare ours with.
    Reference,
    /// The commands of the repository.
    Commands,
}

impl Layer {
    /// The layers that its crates may import. A layer that does not name itself keeps its crates apart.
    fn imports(self) -> &'static [Self] {
        use Layer::{
            App, Benchmarks, ClickBenchmark, ClickStore, Commands, Conformance, Connections, Contracts,
            Domain, Driven, Driving, Fakes, Files, Program, Pure, Reference, Requesting, Requests, Rows,
            TestServers,
        };
        match self {
            Domain | Connections | Requesting | Conformance | TestServers | Reference => &[],
            App | Pure => &[Domain],
            Rows => &[Domain, App],
            Requests => &[Domain, App, Connections],
            ClickStore | Fakes | Files => &[Domain, App, Pure],
            Contracts => &[Domain, App, Pure, ClickStore],
            Driving => &[Domain, App, Pure, Files, Connections, Requests],
            Driven => &[Domain, App, Pure, Rows, ClickStore, Requesting],
            Program => &[Domain, App, Pure, Files, Connections, Requesting, Requests, Driving, Driven],
            ClickBenchmark => &[Domain, App, Pure, Driven, Contracts, TestServers],
            Commands => &[TestServers],
            Benchmarks => &[TestServers, Commands],
        }
    }

    /// The layers that only the tests of its crates may import.
    fn tests_import(self) -> &'static [Self] {
        use Layer::{
            App, Conformance, Connections, Contracts, Driven, Driving, Fakes, Files, Program, Requests, Rows,
            TestServers,
        };
        match self {
            App => &[Contracts, Fakes],
            Connections => &[TestServers],
            Requests => &[Fakes],
            Rows | Fakes | Files => &[Contracts],
            Driven => &[Contracts, Fakes, TestServers],
            Driving | Program => &[Contracts, Fakes, TestServers, Conformance],
            _ => &[],
        }
    }
}

/// The layer of each crate of the workspace.
const CRATES: &[(&str, Layer)] = &[
    (DOMAIN, Layer::Domain),
    (APP, Layer::App),
    ("signpost-clicks", Layer::Pure),
    ("signpost-pages", Layer::Pure),
    ("signpost-strict-json", Layer::Pure),
    ("signpost-enrichment", Layer::Pure),
    ("signpost-click-store", Layer::ClickStore),
    ("signpost-listener", Layer::Connections),
    ("signpost-https-client", Layer::Requesting),
    ("signpost-request-layer", Layer::Requests),
    ("signpost-sql-rows", Layer::Rows),
    ("signpost-http", Layer::Driving),
    ("signpost-edge", Layer::Driving),
    ("signpost-dashboard", Layer::Driving),
    ("signpost-tls", Layer::Driving),
    ("signpost-sqlite", Layer::Driven),
    ("signpost-postgres", Layer::Driven),
    ("signpost-redis", Layer::Driven),
    ("signpost-quota-fallback", Layer::Driven),
    ("signpost-click-recorder", Layer::Driven),
    ("signpost-dns", Layer::Driven),
    ("signpost-acme", Layer::Driven),
    ("signpost-oidc", Layer::Driven),
    ("signpost-geoip", Layer::Driven),
    ("signpost-passwords", Layer::Driven),
    ("signpost-sealing", Layer::Driven),
    ("signpost-link-files", Layer::Files),
    ("signpost-memory", Layer::Fakes),
    ("signpost", Layer::Program),
    ("signpost-port-contracts", Layer::Contracts),
    ("signpost-api-conformance", Layer::Conformance),
    ("signpost-test-servers", Layer::TestServers),
    ("signpost-benchmarks", Layer::Benchmarks),
    ("signpost-click-benchmark", Layer::ClickBenchmark),
    ("signpost-bare-actix", Layer::Reference),
    ("signpost-xtask", Layer::Commands),
];

/// Crates whose tests import what other tests of their layer may not.
const TEST_EXCEPTIONS: &[(&str, &str)] = &[
    // The commands of the repository make the package that a test installs.
    ("signpost", "signpost-xtask"),
    // The fallback replaces a Redis server that fails, so its tests need a real one.
    ("signpost-redis", "signpost-quota-fallback"),
    // Only a store that survives its process shows what a killed process leaves.
    ("signpost-click-recorder", "signpost-sqlite"),
];

/// The runtime. Use cases are async but independent of a runtime; only their tests need one.
const TOKIO: &str = "tokio";

/// The closed list of what `domain` may depend on. These crates only compute: none reads a clock, a file, a socket or the
/// environment.
const DOMAIN_USES: &[&str] = &[
    "crc32fast",
    "idna",
    "ipnet",
    "jiff",
    "percent-encoding",
    "psl",
    "serde_json",
    "sha2",
    "siphasher",
    "subtle",
    "thiserror",
    "time",
    "totp-rs",
    "unicase",
    "unicode-normalization",
    "url",
];

/// What only the tests of `domain` may depend on.
const DOMAIN_TESTS_USE: &[&str] = &["proptest"];

/// Reports every import that the layers forbid, and every crate without a layer.
#[must_use]
pub fn check(packages: &[Package], bans: &[Ban]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        match layer_of(&package.name) {
            Some(layer) => findings.extend(package.dependencies.iter().filter_map(|dependency| {
                objection(&package.name, layer, dependency, bans)
                    .map(|objection| Finding::about(&package.manifest, objection))
            })),
            None => findings.push(Finding::about(
                &package.manifest,
                format!(
                    "`{}` has no layer: add it to `CRATES` in crates/xtask/src/architecture.rs",
                    package.name
                ),
            )),
        }
    }
    findings.extend(absent_members(packages));
    findings
}

/// The members of the workspace, each with its layer.
pub fn members() -> impl Iterator<Item = &'static str> {
    CRATES.iter().map(|(member, _)| *member)
}

fn layer_of(package: &str) -> Option<Layer> {
    CRATES.iter().find(|(member, _)| *member == package).map(|(_, layer)| *layer)
}

fn absent_members(packages: &[Package]) -> Vec<Finding> {
    let present: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    members()
        .filter(|member| !present.contains(member))
        .map(|member| {
            let message = format!("`{member}` has a layer but is not a member of the workspace");
            Finding::about("Cargo.toml", message)
        })
        .collect()
}

fn objection(package: &str, layer: Layer, dependency: &Dependency, bans: &[Ban]) -> Option<String> {
    let Dependency { name, kind, by_path } = dependency;
    let sibling = layer_of(name);
    if *by_path || sibling.is_some() {
        let allowed = sibling.is_some_and(|sibling| may_import(package, layer, name, sibling, *kind));
        return (!allowed).then(|| format!("{} may not import `{name}`", subject(package, *kind)));
    }
    let is_banned = bans.iter().any(|ban| ban.dependency == *name && !ban.wrappers.contains(package));
    let needs_the_runtime = name == TOKIO && (package == DOMAIN || package == APP && *kind == Kind::Product);
    if is_banned || needs_the_runtime {
        return Some(format!("{} may not use `{name}`", subject(package, *kind)));
    }
    if package == DOMAIN {
        let listed = match kind {
            Kind::Product => DOMAIN_USES.contains(&name.as_str()),
            Kind::Tests => DOMAIN_USES.contains(&name.as_str()) || DOMAIN_TESTS_USE.contains(&name.as_str()),
        };
        return (!listed).then(|| {
            format!("`{name}` is not on the closed list of what {} may use", subject(package, *kind))
        });
    }
    None
}

fn may_import(package: &str, layer: Layer, name: &str, sibling: Layer, kind: Kind) -> bool {
    let in_tests = layer.tests_import().contains(&sibling) || TEST_EXCEPTIONS.contains(&(package, name));
    layer.imports().contains(&sibling) || kind == Kind::Tests && in_tests
}

fn subject(package: &str, kind: Kind) -> String {
    match kind {
        Kind::Product => format!("`{package}`"),
        Kind::Tests => format!("the tests of `{package}`"),
    }
}

#[cfg(test)]
#[path = "architecture_tests.rs"]
mod tests;
