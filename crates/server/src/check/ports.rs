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
    /// The addresses at which `signpost.socket` listens; none if it does not run.
    fn socket_unit(&self) -> &[SocketAddr];
    /// Whether the machine has the address.
    fn has_address(&self, address: SocketAddr) -> bool;
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
    for (position, (setting, address)) in listeners.iter().enumerate() {
        if let Some((other, _)) = listeners.iter().skip(position + 1).find(|(_, other)| other == address) {
            findings.push(Finding::fail(
                SUBJECT,
                format!("`{}` and `{}` are the same address, {address}", setting.key, other.key),
                format!("Set `{}` to another port", other.key),
            ));
        }
    }
    (running, findings)
}

fn finding(machine: &dyn Machine, setting: &str, address: SocketAddr, holder: Option<Holder>) -> Finding {
    let port = address.port();
    match holder {
        Some(Holder::Signpost { pid }) => {
            Finding::ok(SUBJECT, format!("signpost (process {pid}) listens on {address} (`{setting}`)"))
        }
        Some(Holder::Systemd) if machine.socket_unit().contains(&address) => {
            Finding::ok(SUBJECT, format!("signpost.socket holds {address} for `{setting}`"))
        }
        Some(Holder::Systemd) => match machine.socket_unit().iter().find(|bound| bound.port() == port) {
            Some(bound) => Finding::fail(
                SUBJECT,
                format!("signpost.socket holds {bound}, but `{setting}` is {address}"),
                format!("Set `{setting}` to {bound}"),
            ),
            None => Finding::fail(
                SUBJECT,
                format!("systemd holds {address} (`{setting}`) for another unit"),
                format!("Find the unit: systemctl list-sockets | grep :{port}"),
            ),
        },
        Some(Holder::Other { name, pid }) => Finding::fail(
            SUBJECT,
            format!("{name} (process {pid}) listens on port {port} (`{setting}`)"),
            format!("Stop it (kill {pid}, or the service that runs it), or set `{setting}` to another port"),
        ),
        // Perhaps signpost itself, under the user of its service.
        Some(Holder::Unknown) => Finding::warn(
            SUBJECT,
            format!(
                "a program of another user listens on port {port} (`{setting}`), perhaps signpost itself"
            ),
            "Only root sees which: sudo signpost check",
        ),
        None if !machine.has_address(address) => Finding::fail(
            SUBJECT,
            format!("this machine does not have the address {} of `{setting}`", address.ip()),
            "See which it has: ip address",
        ),
        None if !machine.may_bind(port) => Finding::warn(
            SUBJECT,
            format!("port {port} (`{setting}`) is free, but this user may not bind it"),
            "signpost.socket binds [::]:80 and [::]:443: systemctl enable --now signpost.socket",
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
        socket_unit: Vec<SocketAddr>,
        has_address: bool,
    }

    impl Machine for Fake {
        fn holder(&self, _: SocketAddr) -> Option<Holder> {
            self.holder.clone()
        }

        fn may_bind(&self, _: u16) -> bool {
            self.may_bind
        }

        fn socket_unit(&self) -> &[SocketAddr] {
            &self.socket_unit
        }

        fn has_address(&self, _: SocketAddr) -> bool {
            self.has_address
        }
    }

    #[test]
    fn d206_port_of_another_program_fails_and_names_it() {
        let nginx = || Holder::Other { name: "nginx".to_owned(), pid: 77 };
        let unit = |addresses: &[&str]| addresses.iter().map(|address| address.parse().unwrap()).collect();
        let none: Vec<SocketAddr> = Vec::new();
        for (holder, may_bind, socket_unit, severity, named) in [
            (None, true, none.clone(), Severity::Ok, "is free"),
            (None, false, none.clone(), Severity::Warn, "enable --now signpost.socket"),
            (Some(nginx()), true, none.clone(), Severity::Fail, "nginx (process 77)"),
            (Some(Holder::Unknown), true, none.clone(), Severity::Warn, "perhaps signpost itself"),
            (Some(Holder::Systemd), true, unit(&["[::]:80", "[::]:443"]), Severity::Ok, "signpost.socket"),
            (Some(Holder::Systemd), true, unit(&["0.0.0.0:80"]), Severity::Fail, "to 0.0.0.0:80"),
            (Some(Holder::Systemd), true, none.clone(), Severity::Fail, "systemctl list-sockets"),
            (Some(Holder::Signpost { pid: 5 }), true, none.clone(), Severity::Ok, "process 5"),
        ] {
            let is_ours = matches!(holder, Some(Holder::Signpost { .. }));
            let machine = Fake { holder, may_bind, socket_unit, has_address: true };
            let (running, findings) = check_on(&machine, &[(names::LINK_LISTEN, "[::]:80".parse().unwrap())]);
            assert_eq!(running.is_some(), is_ours);
            let [finding] = findings.as_slice() else { panic!("{findings:?}") };
            assert_eq!(finding.severity, severity, "{}", finding.line());
            assert!(finding.line().contains(named), "{}", finding.line());
        }
    }

    #[test]
    fn d206_address_that_is_foreign_or_given_twice_fails() {
        let machine =
            |has_address| Fake { holder: None, may_bind: true, socket_unit: Vec::new(), has_address };
        let address = "192.0.2.55:80".parse().unwrap();
        let (_, findings) = check_on(&machine(false), &[(names::LINK_LISTEN, address)]);
        assert!(findings[0].line().contains("does not have the address 192.0.2.55"), "{findings:?}");
        let (_, findings) =
            check_on(&machine(true), &[(names::API_LISTEN, address), (names::LINK_LISTEN, address)]);
        let last = findings.last().unwrap();
        assert!(last.severity == Severity::Fail && last.line().contains("the same address"), "{findings:?}");
    }
}
