//! The direction of imports between the crates, and who may use which framework.
//!
//! `docs/architecture.md` draws the picture; this file is what holds it. Whoever adds a crate says here where it
//! stands. Who may use which framework stands in `deny.toml`, for cargo-deny and for [`crate::bans`].

use std::collections::BTreeSet;

use crate::bans::Ban;
use crate::finding::Finding;
use crate::workspace::{Dependency, Kind, Package};

const DOMAIN: &str = "signpost-domain";
const APP: &str = "signpost-app";
const PORT_CONTRACTS: &str = "signpost-port-contracts";
const API_CONFORMANCE: &str = "signpost-api-conformance";
const MEMORY: &str = "signpost-memory";
const SQL_ROWS: &str = "signpost-sql-rows";
const SQLITE: &str = "signpost-sqlite";
const POSTGRES: &str = "signpost-postgres";
const TEST_SERVERS: &str = "signpost-test-servers";
const REDIS: &str = "signpost-redis";
const QUOTA_FALLBACK: &str = "signpost-quota-fallback";
const LISTENER: &str = "signpost-listener";
const HTTP: &str = "signpost-http";
const EDGE: &str = "signpost-edge";
const PAGES: &str = "signpost-pages";
const LINK_FILES: &str = "signpost-link-files";
const DNS: &str = "signpost-dns";
const GEOIP: &str = "signpost-geoip";
const CLICKS: &str = "signpost-clicks";
const CLICK_RECORDER: &str = "signpost-click-recorder";
const STRICT_JSON: &str = "signpost-strict-json";
const USER_AGENTS: &str = "signpost-user-agents";
const ENRICHMENT: &str = "signpost-enrichment";
const SERVER: &str = "signpost";
const CLICK_BENCHMARK: &str = "signpost-click-benchmark";
const BARE_ACTIX: &str = "signpost-bare-actix";
const XTASK: &str = "signpost-xtask";

/// Names of crates.
type Crates = &'static [&'static str];

/// What one crate may import of its siblings.
struct Place {
    package: &'static str,
    imports: Crates,
    /// What its tests may import beside that.
    tests_import: Crates,
}

const INNER: Crates = &[APP, DOMAIN];

/// What stores of clicks import: how clicks are encoded is pure, and shared by all of them.
const WITH_CLICKS: Crates = &[APP, DOMAIN, CLICKS];

/// What stores in SQL databases import.
const OF_SQL_STORES: Crates = &[APP, DOMAIN, CLICKS, SQL_ROWS];

/// Where every crate of the workspace stands.
const PLACES: &[Place] = &[
    Place { package: DOMAIN, imports: &[], tests_import: &[] },
    // The fakes import `app`; its own tests run the use cases on them.
    Place { package: APP, imports: &[DOMAIN], tests_import: &[PORT_CONTRACTS, MEMORY] },
    Place { package: PORT_CONTRACTS, imports: WITH_CLICKS, tests_import: &[] },
    Place { package: API_CONFORMANCE, imports: &[], tests_import: &[] },
    // The fake click store decodes what recorders append.
    Place { package: MEMORY, imports: WITH_CLICKS, tests_import: &[PORT_CONTRACTS] },
    // Tables and rows, for every store that is an SQL database.
    Place { package: SQL_ROWS, imports: INNER, tests_import: &[PORT_CONTRACTS] },
    Place { package: SQLITE, imports: OF_SQL_STORES, tests_import: &[PORT_CONTRACTS, MEMORY] },
    Place { package: POSTGRES, imports: OF_SQL_STORES, tests_import: &[PORT_CONTRACTS, TEST_SERVERS] },
    Place { package: TEST_SERVERS, imports: &[], tests_import: &[] },
    Place { package: QUOTA_FALLBACK, imports: INNER, tests_import: &[PORT_CONTRACTS, MEMORY] },
    // What the fallback is for is a server that fails, which only the tests of a real one show.
    Place {
        package: REDIS,
        imports: INNER,
        tests_import: &[PORT_CONTRACTS, MEMORY, TEST_SERVERS, QUOTA_FALLBACK],
    },
    // How connections are driven, for whoever listens.
    Place { package: LISTENER, imports: &[], tests_import: &[TEST_SERVERS] },
    Place {
        package: HTTP,
        imports: &[APP, DOMAIN, LISTENER, STRICT_JSON],
        tests_import: &[PORT_CONTRACTS, MEMORY, API_CONFORMANCE],
    },
    // What visitors see, as pure functions: whoever shows a preview imports it as the edge does.
    Place { package: PAGES, imports: &[DOMAIN], tests_import: &[] },
    // JSON as the API and files of links read it.
    Place { package: STRICT_JSON, imports: &[], tests_import: &[] },
    // Rules about user agents, for the edge and for whoever counts visits.
    Place { package: USER_AGENTS, imports: &[], tests_import: &[] },
    // How clicks are encoded and counted, for stores and for whoever records clicks.
    Place { package: CLICKS, imports: &[DOMAIN], tests_import: &[] },
    Place {
        package: CLICK_RECORDER,
        imports: &[APP, DOMAIN, CLICKS, ENRICHMENT],
        // Only a store that survives its process shows what a killed process leaves.
        tests_import: &[PORT_CONTRACTS, MEMORY, SQLITE],
    },
    // What a click's facts are, worked out behind the edge.
    Place { package: ENRICHMENT, imports: &[DOMAIN, USER_AGENTS], tests_import: &[] },
    Place {
        package: EDGE,
        imports: &[APP, DOMAIN, LISTENER, PAGES, USER_AGENTS],
        tests_import: &[PORT_CONTRACTS, MEMORY, TEST_SERVERS],
    },
    Place { package: LINK_FILES, imports: &[APP, DOMAIN, STRICT_JSON], tests_import: &[PORT_CONTRACTS] },
    Place { package: GEOIP, imports: INNER, tests_import: &[TEST_SERVERS] },
    Place { package: DNS, imports: INNER, tests_import: &[PORT_CONTRACTS, TEST_SERVERS] },
    Place {
        package: SERVER,
        imports: &[
            DOMAIN,
            APP,
            SQLITE,
            POSTGRES,
            REDIS,
            QUOTA_FALLBACK,
            LISTENER,
            HTTP,
            EDGE,
            PAGES,
            LINK_FILES,
            DNS,
            GEOIP,
            CLICK_RECORDER,
            ENRICHMENT,
        ],
        tests_import: &[PORT_CONTRACTS, MEMORY, API_CONFORMANCE, TEST_SERVERS],
    },
    // A program of its own, which benchmarks compare ours with.
    // Drives both stores of clicks from inside, beside a table of rows.
    Place {
        package: CLICK_BENCHMARK,
        imports: &[APP, DOMAIN, CLICKS, SQLITE, POSTGRES, PORT_CONTRACTS, TEST_SERVERS],
        tests_import: &[],
    },
    Place { package: BARE_ACTIX, imports: &[], tests_import: &[] },
    Place { package: XTASK, imports: &[TEST_SERVERS], tests_import: &[] },
];

/// The runtime. Use cases are async without knowing what runs them; their tests need something that does.
const TOKIO: &str = "tokio";

/// All that `domain` may depend on. Each of them computes: none reads a clock, a file, a socket or the environment.
const DOMAIN_USES: &[&str] = &[
    "crc32fast",
    "idna",
    "ipnet",
    "jiff",
    "percent-encoding",
    "psl",
    "serde_json",
    "sha2",
    "subtle",
    "thiserror",
    "time",
    "unicase",
    "url",
];

/// What the tests of `domain` may depend on beside that.
const DOMAIN_TESTS_USE: &[&str] = &["proptest"];

/// Every import that the picture does not allow, and every crate that has no place in it.
#[must_use]
pub fn check(packages: &[Package], bans: &[Ban]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in packages {
        match PLACES.iter().find(|place| place.package == package.name) {
            Some(place) => findings.extend(package.dependencies.iter().filter_map(|dependency| {
                objection(place, dependency, bans).map(|objection| Finding::about(&package.manifest, objection))
            })),
            None => findings.push(Finding::about(
                &package.manifest,
                format!(
                    "tell me where `{}` stands: it has no place in `PLACES` of crates/xtask/src/architecture.rs",
                    package.name
                ),
            )),
        }
    }
    findings.extend(absent_members(packages));
    findings
}

/// The members of the workspace, each of which has its place.
pub fn members() -> impl Iterator<Item = &'static str> {
    PLACES.iter().map(|place| place.package)
}

fn absent_members(packages: &[Package]) -> Vec<Finding> {
    let present: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    members()
        .filter(|member| !present.contains(member))
        .map(|member| Finding::about("Cargo.toml", format!("`{member}` has a place but is no member")))
        .collect()
}

fn objection(place: &Place, dependency: &Dependency, bans: &[Ban]) -> Option<String> {
    let Place { package, imports, tests_import } = *place;
    let Dependency { name, kind, by_path } = dependency;
    let is_member = members().any(|member| member == name);
    if *by_path || is_member {
        let in_tests = *kind == Kind::Tests && tests_import.contains(&name.as_str());
        let allowed = is_member && (imports.contains(&name.as_str()) || in_tests);
        return (!allowed).then(|| format!("{} may not import `{name}`", who(package, *kind)));
    }
    let is_banned = bans.iter().any(|ban| ban.dependency == *name && !ban.wrappers.contains(package));
    let knows_the_runtime = name == TOKIO && (package == DOMAIN || package == APP && *kind == Kind::Product);
    if is_banned || knows_the_runtime {
        return Some(format!("{} may not use `{name}`", who(package, *kind)));
    }
    if package == DOMAIN {
        let listed = match kind {
            Kind::Product => DOMAIN_USES.contains(&name.as_str()),
            Kind::Tests => DOMAIN_USES.contains(&name.as_str()) || DOMAIN_TESTS_USE.contains(&name.as_str()),
        };
        return (!listed)
            .then(|| format!("`{name}` is not on the closed list of what {} may use", who(package, *kind)));
    }
    None
}

fn who(package: &str, kind: Kind) -> String {
    match kind {
        Kind::Product => format!("`{package}`"),
        Kind::Tests => format!("the tests of `{package}`"),
    }
}

#[cfg(test)]
#[path = "architecture_tests.rs"]
mod tests;
