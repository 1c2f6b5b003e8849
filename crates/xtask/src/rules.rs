//! The list of the repository's rules.

use anyhow::{Context, Result};

use crate::finding::Finding;
use crate::repository::Repository;
use crate::{architecture, bans, manifests, permissions, tidy, workspace};

/// A rule: a function that returns all its violations.
pub type Rule = fn(&Repository) -> Result<Vec<Finding>>;

/// All rules.
pub const RULES: &[Rule] = &[
    |repository| {
        let bans = bans::read(&repository.text(bans::FILE)?.context("deny.toml is not text")?)?;
        Ok(architecture::check(&workspace::packages(repository.root())?, &bans))
    },
    |repository| each_text(repository, permissions::check),
    inheritance,
    switched_off_tests,
    |repository| Ok(tidy::names::check(repository.files())),
    |repository| Ok(tidy::decision_records::check(repository.files())),
    |repository| Ok(tidy::citations::check(&repository.texts()?)),
    |repository| Ok(tidy::links::check(repository.files(), &repository.texts()?)),
    |repository| each_text(repository, tidy::file_length::check),
    |repository| each_text(repository, tidy::unfinished_work::check),
    |repository| each_text(repository, tidy::machine_traces::check),
];

/// Checks every rule, and returns the findings in the order of the rules.
pub fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for rule in RULES {
        findings.extend(rule(repository)?);
    }
    Ok(findings)
}

fn inheritance(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in workspace::packages(repository.root())? {
        let text = repository.text(&package.manifest)?.context("a manifest is not text")?;
        findings.extend(manifests::check(&package.manifest, &text)?);
    }
    Ok(findings)
}

fn switched_off_tests(repository: &Repository) -> Result<Vec<Finding>> {
    let texts = repository.texts()?;
    let mut findings = Vec::new();
    for package in workspace::packages(repository.root())? {
        let sources = package.manifest.replace("Cargo.toml", "src/");
        if !repository.files().contains(&format!("{sources}lib.rs")) {
            continue;
        }
        let manifest = repository.text(&package.manifest)?.context("a manifest is not text")?;
        let of_library = texts.iter().filter(|(path, _)| path.starts_with(&sources));
        let of_library: Vec<_> = of_library.map(|(_, text)| text.as_str()).collect();
        findings.extend(tidy::switched_off_tests::check(&package.manifest, &manifest, &of_library)?);
    }
    Ok(findings)
}

fn each_text(repository: &Repository, check: fn(&str, &str) -> Vec<Finding>) -> Result<Vec<Finding>> {
    let texts = repository.texts()?;
    Ok(texts.iter().flat_map(|(path, text)| check(path, text)).collect())
}
