//! Where the server's programs are.

use std::fs;
use std::path::{Path, PathBuf};

use crate::absence::find_program;

/// Where Debian puts the server's programs, a folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Those that the tests need.
pub const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// The folder that has all of [`PROGRAMS`], of the newest version; where Debian has put it, `pgbench` is there too.
#[must_use]
pub fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = fs::read_dir(VERSIONS)
        .map(|entries| entries.map(|entry| entry.unwrap().path().join("bin")).collect())
        .unwrap_or_default();
    versions.sort_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        std::cmp::Reverse(version.and_then(|version| version.parse::<u32>().ok()))
    });
    // What is on the path may be a link to where the others are too.
    let on_path = find_program("initdb", &[]).and_then(|initdb| initdb.canonicalize().ok());
    versions.extend(on_path.as_deref().and_then(Path::parent).map(Path::to_path_buf));
    versions.into_iter().find(|folder| PROGRAMS.iter().all(|name| folder.join(name).is_file()))
}
