//! How tests report a server that is not installed.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

/// Finds a program by name, on the path or in one of the folders.
pub(crate) fn find_program(name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(folders.iter().cloned())
        .map(|folder| folder.join(name))
        .find(|at| at.is_file())
}

/// The reason why a server is missing.
#[derive(Debug, Clone)]
pub struct Absence {
    server: &'static str,
    package: &'static str,
    reason: String,
    is_optional: bool,
}

impl Absence {
    pub(crate) const fn new(server: &'static str, package: &'static str, reason: String) -> Self {
        Self { server, package, reason, is_optional: false }
    }

    /// The absence of a server that no package of Debian has, so that the other servers may be required without it.
    pub(crate) fn of_optional(server: &'static str, package: &'static str, reason: String) -> Self {
        Self { is_optional: true, ..Self::new(server, package, reason) }
    }

    /// Prints one line that says which tests do not run and which Debian package to install.
    ///
    /// # Panics
    /// If `SIGNPOST_REQUIRE_SERVERS` is 1, unless the server is optional.
    pub fn tell(&self, who: &str) {
        let Self { server, package, reason, is_optional } = self;
        // Do not use `eprintln!`: the test harness shows its output only if the test fails.
        let line = format!("{server} {reason}: the tests of {who} did NOT run; apt-get install {package}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        assert!(*is_optional || !are_required(), "{line}");
    }

    /// Prints the line of [`tell`](Self::tell) and exits; with a failure if `SIGNPOST_REQUIRE_SERVERS` is 1.
    pub(crate) fn leave(&self, who: &str) -> ! {
        if are_required() {
            let _ = std::panic::catch_unwind(|| self.tell(who));
            std::process::exit(101);
        }
        self.tell(who);
        std::process::exit(0)
    }
}

fn are_required() -> bool {
    env::var_os("SIGNPOST_REQUIRE_SERVERS").is_some_and(|value| value == "1")
}
