//! Who may use which framework: the bans of `deny.toml`. cargo-deny holds them for the whole tree of dependencies, where it
//! is installed; [`crate::architecture`] holds them for our own crates, everywhere.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml::{Table, Value};

/// The file at the root that cargo-deny reads.
pub const FILE: &str = "deny.toml";

/// A crate that only some may depend on.
#[derive(Debug)]
pub struct Ban {
    /// The crate.
    pub dependency: String,
    /// Those that may depend on it. One that is not ours is a dependency that brings the crate along.
    pub wrappers: BTreeSet<String>,
}

/// The bans of `deny.toml`, whose text is `text`.
pub fn read(text: &str) -> Result<Vec<Ban>> {
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
    use super::*;

    #[test]
    fn a_ban_has_its_wrappers() {
        let text =
            "[bans]\ndeny = [{ crate = \"diesel\", wrappers = [\"one\", \"two\"] }, { crate = \"openssl\" }]";
        let bans = read(text).unwrap();
        assert_eq!(bans.len(), 2);
        assert!(bans[0].dependency == "diesel" && bans[0].wrappers.len() == 2);
        assert!(bans[1].dependency == "openssl" && bans[1].wrappers.is_empty());
    }

    #[test]
    fn a_file_without_bans_is_an_error() {
        assert!(read("[licenses]\n").is_err());
    }
}
