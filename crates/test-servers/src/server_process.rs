//! A server as a child process that never outlives the tests.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Kills the server and removes its folder if the tests end first, in whatever way: then the pipe that it reads from
/// closes without a line. The signals that a terminal sends to all must not end it before that.
const WATCH: &str =
    r#"trap '' INT TERM HUP; read -r stand_down || { kill -KILL "$1"; sleep 0.2; rm -rf "$2"; }"#;

/// The user `nobody`, wherever there is one.
const NOBODY: u32 = 65_534;

/// A running server. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    child: Child,
    watch: Child,
    /// What the watch reads from; a line sends it home.
    watched: Option<ChildStdin>,
}

impl ServerProcess {
    /// Starts a server that keeps all it writes in `folder`. Where the tests run as root, the server does not: the
    /// folder, and what is in it, becomes that of `nobody`.
    pub(crate) fn start(command: &mut Command, folder: &Path) -> Self {
        let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
        if is_root {
            give_away(folder);
            command.uid(NOBODY).gid(NOBODY);
        }
        let child = command.current_dir(folder).stdin(Stdio::null()).spawn().unwrap();
        let mut watch = Command::new("sh")
            .args(["-c", WATCH, "watch", &child.id().to_string()])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let watched = watch.stdin.take();
        Self { child, watch, watched }
    }

    /// Sends the signal of this name.
    pub(crate) fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap();
        assert!(status.success(), "cannot send {name}");
    }

    /// Whether the server has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // The watch goes first: later it could kill a process that got the number.
        if let Some(mut watched) = self.watched.take() {
            let _ = writeln!(watched, "stand down");
        }
        let _ = self.watch.wait();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn give_away(path: &Path) {
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            give_away(&entry.unwrap().path());
        }
    }
}
