//! File names say what a file contains.

use std::collections::BTreeSet;

use crate::finding::Finding;

/// Names that fit any content, so that unrelated code collects under them.
const VAGUE: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "manager"];

/// Reports each file or folder with a vague name once, ignoring extension and case.
#[must_use]
pub fn check(paths: &[String]) -> Vec<Finding> {
    let mut vague = BTreeSet::new();
    for path in paths {
        let mut end = 0;
        for part in path.split('/') {
            end += part.len();
            let name = part.trim_start_matches('.').split('.').next().unwrap_or_default();
            if VAGUE.contains(&name.to_ascii_lowercase().as_str()) {
                vague.extend(path.get(..end));
            }
            end += 1;
        }
    }
    vague.into_iter().map(|path| Finding::about(path, "has a vague name")).collect()
}

#[cfg(test)]
mod tests {
    use super::check;

    fn reported(paths: &[&str]) -> Vec<String> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        check(&paths).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_vague_file_or_folder_is_reported_once() {
        let paths =
            ["a/util.rs", "b/Common/x.rs", "b/Common/y.rs", "c/misc", "d/link_manager.rs", "utility.rs"];
        assert_eq!(
            reported(&paths),
            ["a/util.rs: has a vague name", "b/Common: has a vague name", "c/misc: has a vague name",]
        );
    }
}
