//! Whether the listeners can have their addresses, and which programs have them.

use std::net::SocketAddr;

use super::finding::Finding;
use super::sockets::ThisMachine;
use crate::settings::{About, DashboardListen, ServeSettings, names};

const SUBJECT: &str = "ports";

/// A program that has a listening socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Holder {
    /// A running `signpost`.
    Signpost { pid: i32 },
    /// systemd, for a unit of sockets.
    Systemd,
    /// Any other program.
    Other { name: String, pid: i32 },
    /// This user may not look.
    Unknown,
}

/// The listening sockets of this machine.
pub(super) trait Machine {
    /// The program that listens on an address or on one that includes it; `None` if it is free.
    fn holder(&self, address: SocketAddr) -> Option<Holder>;
    /// Whether this user or a unit of sockets may bind the port.
    fn may_bind(&self, port: u16) -> bool;
    /// Whether the unit `signpost.socket` runs.
    fn has_socket_unit(&self) -> bool;
}

/// The process of `signpost` that has a listener's port, and what was found about each port.
pub(super) fn check(settings: &ServeSettings) -> (Option<i32>, Vec<Finding>) {
    check_on(&ThisMachine::look(), &listeners(settings))
}

fn check_on(
    machine: &dyn Machine,
    listeners: &[(&'static About, SocketAddr)],
) -> (Option<i32>, Vec<Finding>) {
    let mut running = None;
    let mut findings = Vec::new();
    for (setting, address) in listeners {
        let holder = machine.holder(*address);
        if let Some(Holder::Signpost { pid }) = holder {
            running = Some(pid);
        }
        findings.push(finding(machine, setting.key, *address, holder));
    }
    (running, findings)
}

fn finding(machine: &dyn Machine, setting: &str, address: SocketAddr, holder: Option<Holder>) -> Finding {
    let port = address.port();
    match holder {
        Some(Holder::Signpost { pid }) => {
            Finding::ok(SUBJECT, format!("signpost (process {pid}) listens on {address} (`{setting}`)"))
        }
        Some(Holder::Systemd) if machine.has_socket_unit() => {
            Finding::ok(SUBJECT, format!("signpost.socket holds {address} for `{setting}`"))
        }
        Some(Holder::Systemd) => Finding::fail(
            SUBJECT,
            format!("systemd holds {address} (`{setting}`) for another unit"),
            format!("Find the unit: systemctl list-sockets | grep :{port}"),
        ),
        Some(Holder::Other { name, pid }) => Finding::fail(
            SUBJECT,
            format!("{name} (process {pid}) listens on port {port} (`{setting}`)"),
            format!("Stop it (kill {pid}, or the service that runs it), or set `{setting}` to another port"),
        ),
        Some(Holder::Unknown) => Finding::fail(
            SUBJECT,
            format!("another program listens on port {port} (`{setting}`)"),
            format!("See which, as root: ss -ltnp 'sport = :{port}'"),
        ),
        None if !machine.may_bind(port) => Finding::warn(
            SUBJECT,
            format!("port {port} (`{setting}`) is free, but this user may not bind it"),
            "Let systemd bind it: systemctl enable --now signpost.socket",
        ),
        None => Finding::ok(SUBJECT, format!("{address} is free for `{setting}`")),
    }
}

/// The listeners that need a certain port.
fn listeners(settings: &ServeSettings) -> Vec<(&'static About, SocketAddr)> {
    let dashboard = match settings.plain.dashboard_listen {
        DashboardListen::Off => None,
        DashboardListen::At(address) => Some(address),
    };
    [
        (names::API_LISTEN, Some(settings.plain.api_listen)),
        (names::LINK_LISTEN, Some(settings.plain.link_listen)),
        (names::DASHBOARD_LISTEN, dashboard),
        (names::TLS_LISTEN, settings.https.as_ref().map(|https| https.listen)),
        (names::METRICS_LISTEN, settings.plain.metrics_listen),
    ]
    .into_iter()
    .filter_map(|(setting, address)| Some((setting, address.filter(|address| address.port() != 0)?)))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    struct Fake {
        holder: Option<Holder>,
        may_bind: bool,
        has_socket_unit: bool,
    }

    impl Machine for Fake {
        fn holder(&self, _: SocketAddr) -> Option<Holder> {
            self.holder.clone()
        }

        fn may_bind(&self, _: u16) -> bool {
            self.may_bind
        }

        fn has_socket_unit(&self) -> bool {
            self.has_socket_unit
        }
    }

    #[test]
    fn d206_port_of_another_program_fails_and_names_it() {
        let nginx = || Holder::Other { name: "nginx".to_owned(), pid: 77 };
        for (holder, may_bind, has_socket_unit, severity, named) in [
            (None, true, false, Severity::Ok, "is free"),
            (None, false, false, Severity::Warn, "enable --now signpost.socket"),
            (Some(nginx()), true, false, Severity::Fail, "nginx (process 77)"),
            (Some(Holder::Unknown), true, false, Severity::Fail, "ss -ltnp 'sport = :80'"),
            (Some(Holder::Systemd), true, true, Severity::Ok, "signpost.socket"),
            (Some(Holder::Systemd), true, false, Severity::Fail, "systemctl list-sockets"),
            (Some(Holder::Signpost { pid: 5 }), true, false, Severity::Ok, "process 5"),
        ] {
            let is_ours = matches!(holder, Some(Holder::Signpost { .. }));
            let machine = Fake { holder, may_bind, has_socket_unit };
            let (running, findings) = check_on(&machine, &[(names::LINK_LISTEN, "[::]:80".parse().unwrap())]);
            assert_eq!(running.is_some(), is_ours);
            let [finding] = findings.as_slice() else { panic!("{findings:?}") };
            assert_eq!(finding.severity, severity, "{}", finding.line());
            assert!(finding.line().contains(named), "{}", finding.line());
        }
    }
}
