//! The repository keeps its own rules.

use signpost_xtask::repository::Repository;
use signpost_xtask::{rules, workspace};

/// The one test that every change must pass; each rule has tests of its own that show it can fail.
#[test]
fn the_repository_keeps_every_rule() {
    let findings = rules::check(&Repository::of_this_crate().unwrap()).unwrap();
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "{} findings:\n{}", lines.len(), lines.join("\n"));
}

/// A check that looks at nothing passes always: this says that there was something to look at.
#[test]
fn the_rules_see_this_very_file_and_this_very_crate() {
    let repository = Repository::of_this_crate().unwrap();
    let here = "crates/xtask/tests/repository.rs";
    assert!(repository.text(here).unwrap().is_some_and(|text| text.contains("this_very_file")));
    assert!(repository.texts().unwrap().iter().any(|(path, _)| *path == here));
    let packages = workspace::packages(repository.root()).unwrap();
    assert!(packages.iter().any(|package| package.manifest == "crates/xtask/Cargo.toml"));
}
