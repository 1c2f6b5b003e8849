//! A server as a child process, which never outlives the tests.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::processes::{pause, signal};

/// A watchdog script. It reads the process id of the running server, or an empty line. When the pipe closes, however the
/// tests end, it kills the server and removes the folder. It ignores the signals that a terminal sends to all processes.
const WATCH: &str = r#"
trap '' INT TERM HUP
while read -r number
do
    server=$number
done
[ -n "$server" ] && kill -KILL "$server" && sleep 0.2
rm -rf "$1"
"#;

/// The usual id of the user `nobody`.
const NOBODY: u32 = 65_534;

/// A server that may be stopped at the moment. Dropping it kills the server and removes its folder.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    server: Option<Child>,
    watch: Child,
    /// The input of the watchdog.
    numbers: Option<ChildStdin>,
}

impl ServerProcess {
    /// Prepares for a server that writes only to `folder`, without starting it.
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

    /// Starts the server in its `folder`. If the tests run as root, the server runs as `nobody`, who then owns the folder and
    /// its content.
    pub(crate) fn start(&mut self, command: &mut Command, folder: &Path) {
        self.spawn(command.stdin(Stdio::null()), folder);
    }

    /// Like [`start`](Self::start), but returns pipes to the standard input and from the standard output of the server.
    pub(crate) fn start_with_pipes(
        &mut self,
        command: &mut Command,
        folder: &Path,
    ) -> (ChildStdin, ChildStdout) {
        let server = self.spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()), folder);
        (server.stdin.take().unwrap(), server.stdout.take().unwrap())
    }

    fn spawn(&mut self, command: &mut Command, folder: &Path) -> &mut Child {
        let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
        if is_root {
            give_away(folder);
            command.uid(NOBODY).gid(NOBODY);
        }
        let server = command.current_dir(folder).spawn().unwrap();
        self.tell_watch(&server.id().to_string());
        self.server.insert(server)
    }

    /// Sends the signal of this name.
    pub(crate) fn signal(&self, name: &str) {
        signal(name, &[self.server.as_ref().expect("the server does not run").id()]);
    }

    /// Pauses the server, and returns once it is paused.
    pub(crate) fn pause(&self) {
        pause(self.server.as_ref().expect("the server does not run").id());
    }

    /// Asks the server to shut down, and waits for its end.
    pub(crate) fn end(&mut self) {
        if self.is_started() {
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

    /// Whether a server was started and not stopped.
    pub(crate) const fn is_started(&self) -> bool {
        self.server.is_some()
    }

    /// Whether the server has exited on its own.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.server.as_mut().is_none_or(|server| server.try_wait().unwrap().is_some())
    }

    fn wait(&mut self) {
        // Tell the watchdog before the wait: afterwards another process may get this id.
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
