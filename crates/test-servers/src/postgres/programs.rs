//! Finding the programs of PostgreSQL.

use std::fs;
use std::path::{Path, PathBuf};

use crate::absence::find_program;

/// Debian's folder for the server's programs, with a subfolder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// The programs that the tests need.
pub const PROGRAMS: [&str; 3] = ["initdb", "postgres", "psql"];

/// The folder with all of [`PROGRAMS`], of the newest version. On Debian it also has `pgbench`.
#[must_use]
pub fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> = fs::read_dir(VERSIONS)
        .map(|entries| entries.map(|entry| entry.unwrap().path().join("bin")).collect())
        .unwrap_or_default();
    versions.sort_by_key(|folder| {
        let version = folder.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        std::cmp::Reverse(version.and_then(|version| version.parse::<u32>().ok()))
    });
    // The program on the path may be a link into the folder with the others.
    let on_path = find_program("initdb", &[]).and_then(|initdb| initdb.canonicalize().ok());
    versions.extend(on_path.as_deref().and_then(Path::parent).map(Path::to_path_buf));
    versions.into_iter().find(|folder| PROGRAMS.iter().all(|name| folder.join(name).is_file()))
}
