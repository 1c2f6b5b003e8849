//! What is released: the version, its notes, and the instant that stands in all results.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The variable with the seconds since 1970 that results carry, where there is no git. Other tools read it too.
const TIME: &str = "SOURCE_DATE_EPOCH";

/// The title of the changes that no version has yet.
const UNRELEASED: &str = "Unreleased";

/// A version of the program.
#[derive(Debug)]
pub(super) struct Release {
    /// The version of the workspace.
    pub(super) version: String,
    /// Its entry in the changelog, and those of the versions before it. The first may be that of unreleased changes.
    pub(super) entries: Vec<Entry>,
    /// The time of the commit, in seconds since 1970. With it, the same commit gives the same files.
    pub(super) time: u64,
    /// The commit, if there is one.
    pub(super) revision: String,
}

/// The changes of one version.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The version; `None` for unreleased changes.
    pub(super) version: Option<String>,
    /// Its day, such as `2026-12-01`; `None` for unreleased changes.
    pub(super) day: Option<String>,
    /// The lines of its text, in Markdown.
    pub(super) lines: Vec<String>,
}

impl Release {
    /// The version in the checkout at `root`.
    pub(super) fn of(root: &Path) -> Result<Self> {
        let read = |name: &str| fs::read_to_string(root.join(name)).with_context(|| format!("no {name}"));
        let version = version(&read("Cargo.toml")?)?;
        let entries = of_version(entries(&read("CHANGELOG.md")?)?, &version)?;
        let revision = git(root, &["rev-parse", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
        let time = env::var_os(TIME)
            .map(|time| time.to_string_lossy().into_owned())
            .or_else(|| git(root, &["log", "-1", "--format=%ct"]))
            .and_then(|time| time.trim().parse().ok())
            .with_context(|| format!("outside of git, set {TIME} to the seconds since 1970"))?;
        Ok(Self { version, entries, time, revision })
    }

    /// Says that this is no release, if the changelog does not have the version.
    pub(super) fn note(&self) -> Option<String> {
        let is_released = self.entries.first().is_some_and(|entry| entry.version.is_some());
        (!is_released).then(|| {
            format!("CHANGELOG.md has no `## {} - YEAR-MONTH-DAY`: the results are no release", self.version)
        })
    }
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The version of the workspace in its manifest.
pub(super) fn version(manifest: &str) -> Result<String> {
    let manifest: toml::Table = manifest.parse().context("Cargo.toml")?;
    let package = manifest.get("workspace").and_then(|workspace| workspace.get("package"));
    let version = package.and_then(|package| package.get("version")).and_then(toml::Value::as_str);
    Ok(version.context("Cargo.toml has no version of the workspace")?.to_owned())
}

/// The entries of the changelog.
///
/// # Errors
/// If a title is neither `Unreleased` nor a version with its day.
pub(super) fn entries(changelog: &str) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in changelog.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            entries.push(Entry::with(title)?);
        } else if let Some(entry) = entries.last_mut() {
            entry.lines.push(line.to_owned());
        }
    }
    Ok(entries)
}

impl Entry {
    fn with(title: &str) -> Result<Self> {
        if title == UNRELEASED {
            return Ok(Self { version: None, day: None, lines: Vec::new() });
        }
        let wrong = || {
            format!(
                "`## {title}` in CHANGELOG.md is neither `## {UNRELEASED}` nor like `## 1.2.3 - 2026-12-01`"
            )
        };
        let (version, day) = title.split_once(" - ").with_context(wrong)?;
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let has_parts = |text: &str, separator: char| {
            text.split(separator).count() == 3 && text.split(separator).all(is_number)
        };
        ensure!(has_parts(version, '.') && has_parts(day, '-') && day.len() == 10, wrong());
        Ok(Self { version: Some(version.to_owned()), day: Some(day.to_owned()), lines: Vec::new() })
    }
}

/// The entries from that of this version on. If the changelog does not have it, unreleased changes are its entry.
///
/// # Errors
/// If there are neither, or unreleased changes beside the version's entry.
fn of_version(mut entries: Vec<Entry>, version: &str) -> Result<Vec<Entry>> {
    let is_version = |entry: &Entry| entry.version.as_deref() == Some(version);
    if let Some(at) = entries.iter().position(is_version) {
        let newer = entries.get(..at).unwrap_or_default();
        let is_empty = newer.iter().all(|entry| entry.lines.iter().all(|line| line.trim().is_empty()));
        ensure!(
            is_empty,
            "CHANGELOG.md has changes above those of {version}: raise the version in Cargo.toml"
        );
        return Ok(entries.split_off(at));
    }
    let is_unreleased = entries.first().is_some_and(|entry| entry.version.is_none());
    ensure!(is_unreleased, "CHANGELOG.md has neither changes of {version} nor `## {UNRELEASED}`");
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::{Release, entries, of_version, version};

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0 - 2026-12-01\n\n- old\n";

    fn release(changelog: &str, version: &str) -> anyhow::Result<Release> {
        let entries = of_version(entries(changelog)?, version)?;
        Ok(Release { version: version.to_owned(), entries, time: 0, revision: String::new() })
    }

    #[test]
    fn the_version_is_that_of_the_workspace() {
        assert_eq!(version("[workspace.package]\nversion = \"1.2.3\"\n").unwrap(), "1.2.3");
        assert!(version("[package]\nversion = \"1.2.3\"\n").is_err());
    }

    #[test]
    fn unreleased_changes_are_no_release() {
        let unreleased = release(CHANGELOG, "0.2.0").unwrap();
        assert!(unreleased.note().is_some_and(|note| note.contains("## 0.2.0 - ")));
        assert_eq!(unreleased.entries.len(), 2);
        let released = release(&CHANGELOG.replace("- new\n", ""), "0.1.0").unwrap();
        assert_eq!(released.note(), None);
        assert_eq!(released.entries[0].day.as_deref(), Some("2026-12-01"));
        assert_eq!(released.entries[0].lines, ["", "- old"]);
    }

    #[test]
    fn changes_above_a_released_version_need_a_higher_one() {
        assert!(release(CHANGELOG, "0.1.0").unwrap_err().to_string().contains("raise the version"));
    }

    #[test]
    fn a_changelog_without_the_version_is_refused() {
        assert!(release("## 0.1.0 - 2026-12-01\n", "0.2.0").is_err());
    }

    #[test]
    fn titles_are_versions_with_a_day() {
        for title in ["0.1.0", "[0.1.0] - 2026-12-01", "0.1 - 2026-12-01", "0.1.0 - 1 December"] {
            assert!(entries(&format!("## {title}\n")).is_err(), "{title}");
        }
    }
}
