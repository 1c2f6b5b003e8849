//! The repository follows its own rules.

use signpost_xtask::repository::Repository;
use signpost_xtask::{rules, workspace};

/// Every change must pass this test. Separate tests of each rule show that it can fail.
#[test]
fn the_repository_follows_every_rule() {
    let findings = rules::check(&Repository::of_this_crate().unwrap()).unwrap();
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
}

/// A check without input always passes, so this test shows that the rules get input.
#[test]
fn the_rules_see_this_file_and_this_crate() {
    let repository = Repository::of_this_crate().unwrap();
    let here = "crates/xtask/tests/repository.rs";
    assert!(repository.text(here).unwrap().is_some_and(|text| text.contains("the_rules_see_this_file")));
    assert!(repository.texts().unwrap().iter().any(|(path, _)| *path == here));
    let packages = workspace::packages(repository.root()).unwrap();
    assert!(packages.iter().any(|package| package.manifest == "crates/xtask/Cargo.toml"));
}
