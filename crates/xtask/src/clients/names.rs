//! Finds the names that generators make up for parts of a document without names.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// What such names contain.
const SIGNS: [&str; 4] = ["Inner", "AnyOf", "Type0", "ModelError"];

/// The ends of the names of source files.
const SOURCES: [&str; 6] = ["py", "rs", "ts", "go", "php", "java"];

/// The folders of installed packages, which are no part of a client.
const INSTALLED: [&str; 2] = ["node_modules", "environment"];

/// The made-up names in the source files of a folder.
pub(super) fn made_up(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            let is_source = path.extension().is_some_and(|end| SOURCES.iter().any(|source| *source == end));
            let is_installed =
                path.file_name().is_some_and(|name| INSTALLED.iter().any(|other| *other == name));
            if kind.is_dir() && !is_installed {
                folders.push(path);
            } else if kind.is_file() && is_source {
                let text =
                    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                found.extend(in_text(&text));
            }
        }
    }
    Ok(found)
}

fn in_text(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| SIGNS.iter().any(|sign| word.contains(sign))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn names_are_found_wherever_they_stand() {
        let text =
            "class NewRedirectType0: # with inner hyphens\n  items: list[AccountLimitsInner]; x = AnyOf_a";
        assert_eq!(in_text(text).collect::<Vec<_>>(), ["NewRedirectType0", "AccountLimitsInner", "AnyOf_a"]);
    }
}
