//! A server as a child process that never outlives the tests.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::processes::signal;

/// Reads the number of the server that runs, or a line without one. When the pipe closes, in whatever way the tests end,
/// it kills that server and removes the folder. The signals that a terminal sends to all must not end it before that.
const WATCH: &str = r#"
trap '' INT TERM HUP
while read -r number
do
    server=$number
done
[ -n "$server" ] && kill -KILL "$server" && sleep 0.2
rm -rf "$1"
"#;

/// The user `nobody`, wherever there is one.
const NOBODY: u32 = 65_534;

/// The place of a server that runs, or does not at the moment. Dropping it kills the server and removes its folder.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    server: Option<Child>,
    watch: Child,
    /// What the watch reads from.
    numbers: Option<ChildStdin>,
}

impl ServerProcess {
    /// No server yet; what it will write is to be in `folder`.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let mut watch = Command::new("sh")
            .args(["-c", WATCH, "watch"])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let numbers = watch.stdin.take();
        Self { server: None, watch, numbers }
    }

    /// Starts the server in its `folder`. Where the tests run as root, the server does not: the folder, and what is in it,
    /// becomes that of `nobody`.
    pub(crate) fn start(&mut self, command: &mut Command, folder: &Path) {
        let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
        if is_root {
            give_away(folder);
            command.uid(NOBODY).gid(NOBODY);
        }
        let server = command.current_dir(folder).stdin(Stdio::null()).spawn().unwrap();
        self.tell_watch(&server.id().to_string());
        self.server = Some(server);
    }

    /// Sends the signal of this name.
    pub(crate) fn signal(&self, name: &str) {
        signal(name, &[self.server.as_ref().expect("it does not run").id()]);
    }

    /// Has the server end in its own way, and waits until it has.
    pub(crate) fn end(&mut self) {
        if self.is_there() {
            self.signal("CONT");
            self.signal("TERM");
            self.wait();
        }
    }

    /// Kills the server.
    pub(crate) fn kill(&mut self) {
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            self.wait();
        }
    }

    /// Whether there is a server.
    pub(crate) const fn is_there(&self) -> bool {
        self.server.is_some()
    }

    /// Whether the server has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.server.as_mut().is_none_or(|server| server.try_wait().unwrap().is_some())
    }

    fn wait(&mut self) {
        // First, since afterwards another process may get the number.
        self.tell_watch("");
        if let Some(mut server) = self.server.take() {
            let _ = server.wait();
        }
    }

    fn tell_watch(&self, number: &str) {
        writeln!(self.numbers.as_ref().unwrap(), "{number}").unwrap();
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
        drop(self.numbers.take());
        let _ = self.watch.wait();
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
