//! A Debian system in a container, booted by its own systemd.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::system_files;

/// How long it may take to boot.
const BOOTED_WITHIN: Duration = Duration::from_mins(1);

/// Everything of the container is in one namespace of processes, which ends with its first process. That is killed with the test;
/// `systemd-nspawn` alone would leave its system running.
const NAMESPACE: [&str; 7] =
    ["--pdeathsig", "KILL", "unshare", "--mount-proc", "--pid", "--fork", "--kill-child"];

/// `systemd-nspawn` wants to write below `/run`, which belongs to this machine.
const CONTAINER: &str = "mount -t tmpfs tmpfs /run && exec systemd-nspawn --quiet --register=no --keep-unit --private-network \
                         --boot --directory \"$1\"";

/// The environment of commands.
const ENVIRONMENT: [&str; 3] = ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "HOME=/root"];

/// Says on standard error why a test did not run.
pub(crate) fn tell(reason: &str) {
    // Do not use `eprintln!`: the test harness shows its output only if the test fails.
    let line = format!("NOT RUN: a test of the package: {}\n", reason.trim_end());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// A running system. Dropping it kills it and removes its files.
pub(crate) struct System {
    container: Child,
    /// The process id of its systemd on this machine.
    init: u32,
    /// A folder with its files and the output of its boot.
    folder: TempDir,
}

impl System {
    /// Boots a system. An error is a reason why this machine cannot, before anything of the package is involved.
    pub(crate) fn boot() -> Result<Self, String> {
        let is_root = fs::metadata("/proc/self").is_ok_and(|this| this.uid() == 0);
        if !is_root {
            return Err("only root may start a container that boots".to_owned());
        }
        let archive = system_files::archive()?;
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let root = folder.path().join("root");
        fs::create_dir(&root).map_err(|error| error.to_string())?;
        let mut unpack = Command::new("tar");
        unpack.args(["--extract", "--numeric-owner", "--file"]).arg(archive).arg("--directory").arg(&root);
        outcome(unpack.output(), "tar")?;
        let console = File::create(folder.path().join("console")).map_err(|error| error.to_string())?;
        let mut container = Command::new("setpriv");
        container.args(NAMESPACE).args(["sh", "-c", CONTAINER, "sh"]).arg(&root);
        let errors = console.try_clone().map_err(|error| error.to_string())?;
        container.stdin(Stdio::null()).stdout(console).stderr(errors);
        let container = container.spawn().map_err(|error| format!("setpriv: {error}"))?;
        let mut system = Self { container, init: 0, folder };
        system.await_boot()?;
        Ok(system)
    }

    fn await_boot(&mut self) -> Result<(), String> {
        let start = Instant::now();
        loop {
            if let Ok(Some(status)) = self.container.try_wait() {
                return Err(format!("systemd-nspawn ended with {status}: {}", self.console()));
            }
            if let Some(init) = self.init_process() {
                self.init = init;
                // It is degraded if a unit fails, such as one for hardware that a container lacks.
                let state = self.run("systemctl is-system-running");
                if [b"running\n".as_slice(), b"degraded\n"].contains(&state.stdout.as_slice()) {
                    return Ok(());
                }
            }
            if start.elapsed() > BOOTED_WITHIN {
                return Err(format!("the container does not boot: {}", self.console()));
            }
            // Poll: before systemd runs, there is nobody to send an event.
            sleep(Duration::from_millis(50));
        }
    }

    /// The first process of the system, once it is systemd.
    fn init_process(&self) -> Option<u32> {
        let container = children(self.container.id()).into_iter().next()?;
        let is_systemd = |child: &u32| {
            fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name.trim_end() == "systemd")
        };
        children(container).into_iter().find(is_systemd)
    }

    fn console(&self) -> String {
        fs::read_to_string(self.folder.path().join("console")).unwrap_or_default()
    }

    /// Runs a command of the shell in the system.
    pub(crate) fn run(&self, command: &str) -> Output {
        self.command(command).output().unwrap()
    }

    /// Runs a command that must succeed, and returns its output.
    #[track_caller]
    pub(crate) fn succeed(&self, command: &str) -> String {
        let Output { status, stdout, stderr } = self.run(command);
        let (output, errors) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        if !status.success() {
            let journal = self.run("journalctl --no-pager --lines 50 --unit signpost").stdout;
            let journal = String::from_utf8_lossy(&journal);
            panic!("{command}: {status}\n{output}\n{errors}\njournal of the service:\n{journal}");
        }
        output.into_owned()
    }

    /// Starts a command in the background. It ends with the system.
    pub(crate) fn spawn(&self, command: &str) -> Child {
        self.command(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn command(&self, command: &str) -> Command {
        let mut enter = Command::new("nsenter");
        enter.args(["--target", &self.init.to_string(), "--all", "--root", "--wd"]);
        enter.args(["env", "--ignore-environment"]).args(ENVIRONMENT).args(["sh", "-c", command]);
        enter.stdin(Stdio::null());
        enter
    }

    /// Copies a file of this machine into the system.
    pub(crate) fn copy(&self, from: &Path, to: &str) {
        fs::copy(from, self.path(to)).unwrap();
    }

    /// Writes a file of the system.
    pub(crate) fn write(&self, path: &str, content: &str) {
        fs::write(self.path(path), content).unwrap();
    }

    /// Reads a file of the system.
    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    /// Whether a file exists in the system.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.run(&format!("test -e {path}")).status.success()
    }

    /// A path of the system, as this machine sees it. Folders in memory, such as `/run`, cannot be reached.
    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("root").join(path.trim_start_matches('/'))
    }
}

impl Drop for System {
    fn drop(&mut self) {
        let _ = self.container.kill();
        let _ = self.container.wait();
    }
}

/// The process ids of the children of a process.
fn children(parent: u32) -> Vec<u32> {
    let list = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap_or_default();
    list.split_whitespace().filter_map(|child| child.parse().ok()).collect()
}

/// The error of a command that failed.
fn outcome(output: std::io::Result<Output>, name: &str) -> Result<(), String> {
    match output {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))),
        Err(error) => Err(format!("{name}: {error}")),
    }
}
