//! A name says what a thing is.

use std::collections::BTreeSet;

use crate::finding::Finding;

/// Names that fit anything, and so collect everything.
const VAGUE: [&str; 7] = ["utils", "util", "helpers", "helper", "common", "misc", "manager"];

/// Reports each file or folder that has a vague name, once, whatever its ending or case.
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
    vague.into_iter().map(|path| Finding::about(path, "has a name that says nothing")).collect()
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
            [
                "a/util.rs: has a name that says nothing",
                "b/Common: has a name that says nothing",
                "c/misc: has a name that says nothing",
            ]
        );
    }
}
