//! `deny.toml` says again, for cargo-deny, which crate may use which framework. Here the two are held equal.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::architecture::{Crates, FENCED, members};
use crate::finding::Finding;

/// The file at the root that cargo-deny reads.
pub const FILE: &str = "deny.toml";

/// Every fence that `deny.toml` (its text is `text`) leaves out or draws elsewhere.
///
/// Fences that name who may *not* pass are not cargo-deny's to hold: it would want every foreign crate that may.
pub fn check(text: &str) -> Result<Vec<Finding>> {
    let bans = bans(text)?;
    let mut findings = Vec::new();
    for fence in FENCED {
        let Crates::Only(users) = fence.users else { continue };
        let expected: BTreeSet<&str> = users.iter().copied().collect();
        let dependency = fence.dependency;
        match bans.iter().find(|ban| ban.dependency == dependency) {
            None => findings.push(Finding::about(FILE, format!("[bans] does not deny `{dependency}`"))),
            Some(ban) => {
                let ours: BTreeSet<&str> =
                    members().filter(|member| ban.wrappers.contains(*member)).collect();
                if ours != expected {
                    let message = format!("`{dependency}` has the wrappers {ours:?}, not {expected:?}");
                    findings.push(Finding::about(FILE, message));
                }
            }
        }
    }
    Ok(findings)
}

struct Ban {
    dependency: String,
    wrappers: BTreeSet<String>,
}

fn bans(text: &str) -> Result<Vec<Ban>> {
    let table: Table = text.parse().context(FILE)?;
    let denied = table.get("bans").and_then(|bans| bans.get("deny")).and_then(Value::as_array);
    denied
        .context("deny.toml has no list `bans.deny`")?
        .iter()
        .map(|entry| {
            let dependency = entry.get("crate").and_then(Value::as_str);
            let wrappers = entry.get("wrappers").and_then(Value::as_array);
            Ok(Ban {
                dependency: dependency.context("an entry of `bans.deny` without `crate`")?.to_owned(),
                wrappers: wrappers
                    .into_iter()
                    .flatten()
                    .filter_map(|wrapper| wrapper.as_str().map(str::to_owned))
                    .collect(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::architecture::{Crates, FENCED};

    /// A `deny.toml` that agrees, but for the entry of `changed`, which is `line`.
    fn deny(changed: &str, line: &str) -> String {
        let entries = FENCED.iter().filter_map(|fence| match fence.users {
            Crates::Only(_) if fence.dependency == changed => Some(line.to_owned()),
            Crates::Only(users) => {
                Some(format!("{{ crate = {:?}, wrappers = {users:?} }},\n", fence.dependency))
            }
            Crates::AllBut(_) => None,
        });
        format!("[bans]\ndeny = [\n{}]\n", entries.collect::<String>())
    }

    #[test]
    fn equal_bans_pass() {
        assert_eq!(check(&deny("", "")).unwrap(), []);
    }

    #[test]
    fn a_foreign_wrapper_is_cargo_denys_own_affair() {
        let line = "{ crate = \"deadpool\", wrappers = [\"signpost-postgres\", \"diesel-async\"] },\n";
        assert_eq!(check(&deny("deadpool", line)).unwrap(), []);
    }

    #[test]
    fn a_missing_a_wider_and_a_narrower_ban_are_reported() {
        for line in [
            "",
            "{ crate = \"diesel\", wrappers = [\"signpost-sqlite\", \"signpost-http\"] },\n",
            "{ crate = \"diesel\" },\n",
        ] {
            let findings = check(&deny("diesel", line)).unwrap();
            assert_eq!(findings.len(), 1, "{line}");
            assert!(findings.iter().all(|finding| finding.to_string().contains("`diesel`")));
        }
    }

    #[test]
    fn a_file_without_bans_is_an_error() {
        assert!(check("[licenses]\n").is_err());
    }
}
