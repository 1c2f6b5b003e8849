//! A server in its own folder. Both are removed when this process ends, however it ends.

use std::fs::{self, Permissions};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// A script that runs the command in its second argument in the folder in its first, and prints the process id. When its
/// input closes, it stops the server and removes the folder. It ignores the signals that a terminal sends to all
/// processes. The server does not run as root, because PostgreSQL refuses to.
const KEEPER: &str = r#"
trap '' INT TERM HUP
cd "$1" || exit 1
if [ "$(id -u)" = 0 ]; then
    user=$(id -u postgres 2>/dev/null || id -u nobody)
    group=$(id -g postgres 2>/dev/null || id -g nobody)
    chown "$user:$group" .
    unprivileged="setpriv --reuid=$user --regid=$group --clear-groups"
fi
( eval "$2" ) </dev/null >log 2>&1 &
server=$!
echo "$server"
read -r end
kill -INT "$server"
wait "$server"
cd / && rm -rf "$1"
"#;

/// The time limit until a server is ready.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server. Dropping it stops it and removes its folder.
pub(super) struct Kept {
    keeper: Child,
    /// The input of the script.
    pipe: Option<ChildStdin>,
    folder: PathBuf,
    pid: u32,
}

impl Kept {
    /// Makes an empty folder, runs the shell command `command` in it, and waits for `is_ready`. In the command, words after
    /// `$unprivileged` do not run as root. Its last command must use `exec`.
    pub(super) fn start(name: &str, command: &str, is_ready: impl Fn(&Path) -> bool) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix(&format!("signpost-bench-{name}-")).tempdir()?.keep();
        fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
        let mut keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&folder)
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start `sh`")?;
        let (pipe, said) = (keeper.stdin.take(), keeper.stdout.take());
        let mut kept = Self { keeper, pipe, folder, pid: 0 };
        let mut line = String::new();
        BufReader::new(said.context("the keeper has no output")?).read_line(&mut line)?;
        kept.pid = line.trim().parse().context("the keeper did not print a process id")?;
        kept.wait_until(is_ready)?;
        Ok(kept)
    }

    fn wait_until(&self, is_ready: impl Fn(&Path) -> bool) -> Result<()> {
        let began = Instant::now();
        while !is_ready(&self.folder) {
            if began.elapsed() > PATIENCE || !Path::new(&format!("/proc/{}", self.pid)).exists() {
                bail!("a server does not start: {}", self.log()?);
            }
            // Poll: servers do not report when they are ready.
            sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) const fn pid(&self) -> u32 {
        self.pid
    }

    /// The output of the server.
    pub(super) fn log(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.folder.join("log"))?).into_owned())
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.pipe.take());
        // A drop cannot report failures.
        let _ = self.keeper.wait();
    }
}

/// A port of the loopback interface that is free now.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
