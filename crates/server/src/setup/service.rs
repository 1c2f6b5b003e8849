//! The service manager, as far as setup needs it.

use std::path::Path;
use std::process::{Command, Output};

use anyhow::{Context as _, Result, bail};

use crate::commands::UsageError;

/// The units of a package or an archive.
pub(super) const SERVICE: &str = "signpost.service";
pub(super) const SOCKET: &str = "signpost.socket";

/// Requires what setup needs of this machine.
///
/// # Errors
/// The user is not root, systemd does not run, or a unit is missing. The message says what to do instead.
pub(super) fn require(units: &[&str]) -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        return Err(unfit(
            "setup writes to /etc/signpost and starts a service, so it needs root: sudo signpost setup",
        ));
    }
    if !Path::new("/run/systemd/system").exists() {
        return Err(unfit(
            "systemd does not run here, so there is no service to set up; in a container or elsewhere, give settings and start \
             `signpost serve`",
        ));
    }
    for unit in units {
        let known = systemctl(&["cat", unit])?;
        if !known.status.success() {
            return Err(unfit(&format!(
                "systemd knows no unit {unit}: install the package, or copy the units of the archive to /etc/systemd/system and run \
                 `systemctl daemon-reload`"
            )));
        }
    }
    Ok(())
}

/// As for wrong settings, the exit status is 2: nothing was set up.
fn unfit(reason: &str) -> anyhow::Error {
    UsageError(reason.to_owned()).into()
}

/// Whether the unit runs.
pub(super) fn is_active(unit: &str) -> Result<bool> {
    Ok(systemctl(&["--quiet", "is-active", unit])?.status.success())
}

/// Starts a unit now and at every start of the machine.
pub(super) fn enable(unit: &str) -> Result<()> {
    succeed(&["enable", "--quiet", "--now", unit])
}

/// Starts a unit again, with new settings.
pub(super) fn restart(unit: &str) -> Result<()> {
    succeed(&["restart", unit])
}

fn systemctl(arguments: &[&str]) -> Result<Output> {
    Command::new("systemctl").args(arguments).output().context("cannot run systemctl")
}

fn succeed(arguments: &[&str]) -> Result<()> {
    let output = systemctl(arguments)?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    bail!("`systemctl {}` failed: {}", arguments.join(" "), reason.trim());
}
