//! The repository is independent of the machine: it contains no machine's paths and no registry of crates.

use crate::finding::Finding;

/// Folders that depend on the machine. Written in two parts, because this file is checked too.
const FOLDERS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Patterns of registry addresses in configurations, and the hosts of the default registry.
const REGISTRIES: [&str; 5] = [
    concat!("registry+", "http"),
    concat!("sparse+", "http"),
    concat!("crates.io", "-index"),
    concat!("index.", "crates.io"),
    concat!("static.", "crates.io"),
];

/// The only files that must name the registry, in any folder.
const LOCK_FILE: &str = "Cargo.lock";

/// Reports every line with a path of a machine or an address of a registry.
#[must_use]
pub fn check(path: &str, text: &str) -> Vec<Finding> {
    if path.rsplit('/').next() == Some(LOCK_FILE) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        if let Some(folder) = FOLDERS.iter().find(|folder| starts_a_path(line, folder)) {
            findings.push(Finding::in_line(path, number, format!("`{folder}` is a path of one machine")));
        }
        if let Some(registry) = REGISTRIES.iter().find(|registry| line.contains(**registry)) {
            findings.push(Finding::in_line(path, number, format!("`{registry}` names a registry")));
        }
    }
    findings
}

/// Whether `folder` starts a path in `line`, and is not part of a longer path or a URL.
fn starts_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|before| before.is_alphanumeric() || "._-~%*})]>".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::{FOLDERS, LOCK_FILE, REGISTRIES, check};

    #[test]
    fn a_machines_path_is_reported() {
        for folder in FOLDERS {
            for line in [format!("{folder}x"), format!("cd {folder}x"), format!("\"file://{folder}x\"")] {
                assert_eq!(check("a.md", &line).len(), 1, "{line}");
            }
        }
    }

    #[test]
    fn longer_paths_and_urls_are_not_reported() {
        for folder in FOLDERS {
            for line in
                [format!("https://example.com{folder}x"), format!("{{base}}{folder}x"), format!("..{folder}")]
            {
                assert_eq!(check("a.md", &line), [], "{line}");
            }
        }
    }

    #[test]
    fn a_registry_is_reported_except_in_a_lock_file() {
        for registry in REGISTRIES {
            assert_eq!(check("a.toml", registry).len(), 1, "{registry}");
            assert_eq!(check(LOCK_FILE, registry), [], "{registry}");
            assert_eq!(check(&format!("a/b/{LOCK_FILE}"), registry), [], "{registry}");
            assert_eq!(check(&format!("a/not-{LOCK_FILE}"), registry).len(), 1, "{registry}");
        }
    }
}
