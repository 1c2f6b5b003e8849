//! What happens where a server is not installed.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

/// The program of this name, on the path or in one of the folders.
pub(crate) fn find_program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(folders.iter().cloned())
        .map(|folder| folder.join(name))
        .find(|at| at.is_file())
}

/// Ends this test binary, because `server` is not installed, with a line that says what `who` leaves untested and which
/// Debian package to install; with a failure if `SIGNPOST_REQUIRE_SERVERS` is 1.
pub(crate) fn leave(server: &str, package: &str, who: &str) -> ! {
    let is_required = env::var_os("SIGNPOST_REQUIRE_SERVERS").is_some_and(|value| value == "1");
    // Not by a macro: what these print in a test is shown only if the test fails.
    let line =
        format!("{server} is not installed: the tests of {who} did NOT run; apt-get install {package}\n");
    let _ = std::io::stderr().write_all(line.as_bytes());
    std::process::exit(if is_required { 101 } else { 0 })
}
