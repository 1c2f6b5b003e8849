//! The bans of `deny.toml`, which say which crates may use a framework. If cargo-deny is installed, it checks
//! them for all dependencies. [`crate::architecture`] always checks them for our own crates.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml::{Table, Value};

/// cargo-deny's file, in the root.
pub const FILE: &str = "deny.toml";

/// A crate that only its wrappers may depend on.
#[derive(Debug)]
pub struct Ban {
    /// The crate.
    pub dependency: String,
    /// The crates that may depend on it. A wrapper that is not ours is a dependency that needs the crate.
    pub wrappers: BTreeSet<String>,
}

/// Reads the bans from the text of `deny.toml`.
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
                dependency: dependency.context("an entry of `bans.deny` has no `crate`")?.to_owned(),
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
