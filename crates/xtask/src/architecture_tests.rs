use super::{check, members};
use crate::bans::{self, Ban};
use crate::workspace::{Dependency, Kind, Package};

fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
    Package { name: name.to_owned(), manifest: format!("{name}/Cargo.toml"), dependencies }
}

fn foreign(name: &str, kind: Kind) -> Dependency {
    Dependency { name: name.to_owned(), kind, by_path: false }
}

fn sibling(name: &str, kind: Kind) -> Dependency {
    Dependency { name: name.to_owned(), kind, by_path: true }
}

/// The bans of the repository.
fn bans() -> Vec<Ban> {
    bans::read(include_str!("../../../deny.toml")).unwrap()
}

/// The findings in a whole workspace where only the crate `name` has a dependency.
fn reported(name: &str, dependency: &Dependency) -> Vec<String> {
    let packages: Vec<Package> = members()
        .map(|member| package(member, if member == name { vec![dependency.clone()] } else { Vec::new() }))
        .collect();
    check(&packages, &bans()).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn refused(name: &str, dependency: &Dependency) {
    let (other, reported) = (&dependency.name, reported(name, dependency));
    assert_eq!(reported.len(), 1, "{name} → {other}: {reported:?}");
    assert!(reported.iter().all(|line| line.starts_with(&format!("{name}/Cargo.toml: "))));
    assert!(reported.iter().all(|line| line.contains(&format!("`{other}`"))));
}

#[track_caller]
fn allowed(name: &str, dependency: &Dependency) {
    let other = &dependency.name;
    assert_eq!(reported(name, dependency), Vec::<String>::new(), "{name} → {other}");
}

#[test]
fn imports_point_inwards() {
    allowed("signpost-app", &sibling("signpost-domain", Kind::Product));
    allowed("signpost-sqlite", &sibling("signpost-app", Kind::Product));
    allowed("signpost", &sibling("signpost-sqlite", Kind::Product));
    refused("signpost-domain", &sibling("signpost-app", Kind::Product));
    refused("signpost-domain", &sibling("signpost-memory", Kind::Tests));
    refused("signpost-app", &sibling("signpost-sqlite", Kind::Product));
    refused("signpost-http", &sibling("signpost", Kind::Product));
}

#[test]
fn an_adapter_imports_no_other_adapter() {
    let adapters = [
        "signpost-memory",
        "signpost-sqlite",
        "signpost-http",
        "signpost-edge",
        "signpost-redis",
        "signpost-quota-fallback",
    ];
    for one in adapters {
        for other in adapters.into_iter().filter(|other| *other != one) {
            refused(one, &sibling(other, Kind::Product));
        }
    }
}

#[test]
fn only_tests_import_the_contracts_and_the_fakes() {
    for one in ["signpost-app", "signpost-sqlite", "signpost-http", "signpost-edge"] {
        for double in ["signpost-memory", "signpost-port-contracts"] {
            allowed(one, &sibling(double, Kind::Tests));
            refused(one, &sibling(double, Kind::Product));
        }
    }
    refused("signpost-edge", &sibling("signpost-sqlite", Kind::Tests));
}

#[test]
fn pure_crates_import_the_domain_alone() {
    for one in ["signpost-clicks", "signpost-pages", "signpost-strict-json", "signpost-enrichment"] {
        allowed(one, &sibling("signpost-domain", Kind::Product));
        for other in members().filter(|other| *other != "signpost-domain" && *other != one) {
            refused(one, &sibling(other, Kind::Product));
            refused(one, &sibling(other, Kind::Tests));
        }
    }
}

#[test]
fn an_exception_is_for_tests_of_one_crate() {
    allowed("signpost-redis", &sibling("signpost-quota-fallback", Kind::Tests));
    refused("signpost-redis", &sibling("signpost-quota-fallback", Kind::Product));
    refused("signpost-sqlite", &sibling("signpost-quota-fallback", Kind::Tests));
    allowed("signpost-click-recorder", &sibling("signpost-sqlite", Kind::Tests));
    refused("signpost-click-recorder", &sibling("signpost-sqlite", Kind::Product));
}

#[test]
fn only_benchmarks_and_the_test_of_the_package_import_the_repositorys_commands() {
    allowed("signpost-benchmarks", &sibling("signpost-xtask", Kind::Product));
    allowed("signpost", &sibling("signpost-xtask", Kind::Tests));
    for member in members().filter(|member| !["signpost-xtask", "signpost-benchmarks"].contains(member)) {
        refused(member, &sibling("signpost-xtask", Kind::Product));
        if member != "signpost" {
            refused(member, &sibling("signpost-xtask", Kind::Tests));
        }
    }
}

#[test]
fn only_the_wrappers_of_a_framework_use_it() {
    allowed("signpost-sqlite", &foreign("diesel", Kind::Product));
    allowed("signpost", &foreign("anyhow", Kind::Product));
    allowed("signpost-http", &foreign("actix-web", Kind::Product));
    refused("signpost-edge", &foreign("actix-web", Kind::Product));
    refused("signpost", &foreign("actix-web", Kind::Product));
    for fenced in ["anyhow", "clap", "diesel", "diesel_migrations", "libsqlite3-sys", "actix-web"] {
        refused("signpost-app", &foreign(fenced, Kind::Product));
        refused("signpost-memory", &foreign(fenced, Kind::Tests));
    }
    refused("signpost", &foreign("diesel", Kind::Product));
    refused("signpost-http", &foreign("clap", Kind::Product));
}

#[test]
fn only_the_tests_of_use_cases_use_the_runtime() {
    refused("signpost-app", &foreign("tokio", Kind::Product));
    allowed("signpost-app", &foreign("tokio", Kind::Tests));
    refused("signpost-domain", &foreign("tokio", Kind::Tests));
    allowed("signpost-sqlite", &foreign("tokio", Kind::Product));
}

#[test]
fn the_dependencies_of_the_domain_are_a_closed_list() {
    allowed("signpost-domain", &foreign("url", Kind::Product));
    allowed("signpost-domain", &foreign("proptest", Kind::Tests));
    refused("signpost-domain", &foreign("proptest", Kind::Product));
    refused("signpost-domain", &foreign("serde", Kind::Product));
}

#[test]
fn a_sibling_is_recognized_without_a_path() {
    refused("signpost-app", &foreign("signpost-sqlite", Kind::Product));
}

#[test]
fn crates_without_a_layer_and_layers_without_a_crate_are_reported() {
    let mut packages: Vec<Package> = members().map(|member| package(member, Vec::new())).collect();
    packages.push(package("signpost-newcomer", Vec::new()));
    packages.retain(|package| package.name != "signpost-edge");
    let reported: Vec<String> = check(&packages, &bans()).iter().map(ToString::to_string).collect();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported.iter().any(|line| line.contains("`signpost-newcomer` has no layer")));
    assert!(reported.iter().any(|line| line.contains("`signpost-edge` has a layer but is not a member")));
}

#[test]
fn a_path_outside_the_workspace_is_refused() {
    refused("signpost-sqlite", &sibling("elsewhere", Kind::Product));
    refused("signpost", &sibling("elsewhere", Kind::Product));
}
