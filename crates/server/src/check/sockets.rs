//! The listening sockets of this machine, and the programs that have them. Only Linux tells, in `/proc`.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};

#[cfg(target_os = "linux")]
pub(super) use self::linux::ThisMachine;
#[cfg(not(target_os = "linux"))]
pub(super) use self::other::ThisMachine;

/// Whether the machine has an address: then any free port of it can be bound.
fn has_address(address: SocketAddr) -> bool {
    let bound = TcpListener::bind(SocketAddr::new(address.ip(), 0));
    !bound.is_err_and(|error| error.kind() == ErrorKind::AddrNotAvailable)
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fs;
    use std::net::SocketAddr;
    use std::path::PathBuf;
    use std::process::Command;

    use procfs::net::{TcpNetEntry, TcpState};
    use procfs::process::FDTarget;

    use super::super::ports::{Holder, Machine};

    /// What `/proc` says.
    pub(crate) struct ThisMachine {
        listening: Vec<TcpNetEntry>,
        holders: BTreeMap<u64, Holder>,
        socket_unit: Vec<SocketAddr>,
    }

    impl ThisMachine {
        /// Looks now.
        pub(crate) fn look() -> Self {
            let entries = [procfs::net::tcp(), procfs::net::tcp6()];
            let listening: Vec<_> = entries
                .into_iter()
                .flatten()
                .flatten()
                .filter(|entry| entry.state == TcpState::Listen)
                .collect();
            let inodes = listening.iter().map(|entry| entry.inode).collect();
            Self { holders: holders_of(&inodes), listening, socket_unit: socket_unit() }
        }
    }

    impl Machine for ThisMachine {
        fn holder(&self, address: SocketAddr) -> Option<Holder> {
            let mut held = self.listening.iter().filter(|entry| overlap(entry.local_address, address));
            // One that is known, if several processes share the port.
            let known = held.clone().find_map(|entry| self.holders.get(&entry.inode).cloned());
            known.or_else(|| held.next().map(|_| Holder::Unknown))
        }

        fn may_bind(&self, port: u16) -> bool {
            // If the file is missing or not a number, the system has its usual limit.
            let first_free = fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start");
            let first_free = first_free.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(1024);
            !self.socket_unit.is_empty() || rustix::process::geteuid().is_root() || port >= first_free
        }

        fn socket_unit(&self) -> &[SocketAddr] {
            &self.socket_unit
        }

        fn has_address(&self, address: SocketAddr) -> bool {
            super::has_address(address)
        }
    }

    /// The addresses of `signpost.socket`, if it runs.
    fn socket_unit() -> Vec<SocketAddr> {
        let show = ["show", "signpost.socket", "--property=ActiveState,Listen"];
        let output = Command::new("systemctl").args(show).output();
        let properties =
            output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
        addresses_of_unit(&properties)
    }

    /// Those in the answer of `systemctl show`: a line such as `Listen=[::]:80 (Stream)` for each.
    fn addresses_of_unit(properties: &str) -> Vec<SocketAddr> {
        if !properties.lines().any(|line| line == "ActiveState=active") {
            return Vec::new();
        }
        let addresses = properties.lines().filter_map(|line| line.strip_prefix("Listen="));
        addresses.filter_map(|listen| listen.split(' ').next()?.parse().ok()).collect()
    }

    /// The programs that have these sockets, by inode.
    fn holders_of(inodes: &BTreeSet<u64>) -> BTreeMap<u64, Holder> {
        let mut holders = BTreeMap::new();
        let own_program = fs::read_link("/proc/self/exe").ok();
        for process in procfs::process::all_processes().into_iter().flatten().flatten() {
            let Ok(descriptors) = process.fd() else { continue };
            for descriptor in descriptors.flatten() {
                let FDTarget::Socket(inode) = descriptor.target else { continue };
                if inodes.contains(&inode) && !matches!(holders.get(&inode), Some(Holder::Signpost { .. })) {
                    holders.insert(inode, holder(&process, own_program.as_ref()));
                }
            }
        }
        holders
    }

    /// systemd keeps a socket open beside the service that it was passed to.
    fn holder(process: &procfs::process::Process, own_program: Option<&PathBuf>) -> Holder {
        let name = process.stat().map_or_else(|_| "a program".to_owned(), |stat| stat.comm);
        let is_signpost =
            name == "signpost" || process.exe().ok().as_ref() == own_program && own_program.is_some();
        match (is_signpost, process.pid) {
            (true, pid) => Holder::Signpost { pid },
            (false, 1) if name == "systemd" => Holder::Systemd,
            (false, pid) => Holder::Other { name, pid },
        }
    }

    /// Whether a socket on one address keeps another program from listening on the other one.
    fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
        let (host, other) = (a.ip().to_canonical(), b.ip().to_canonical());
        a.port() == b.port() && (host == other || host.is_unspecified() || other.is_unspecified())
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn d206_sockets_on_all_addresses_take_the_port_from_others() {
            for (a, b, overlaps) in [
                ("0.0.0.0:80", "[::]:80", true),
                ("127.0.0.1:80", "[::]:80", true),
                ("127.0.0.1:80", "[::ffff:127.0.0.1]:80", true),
                ("127.0.0.1:80", "127.0.0.2:80", false),
                ("0.0.0.0:80", "0.0.0.0:81", false),
            ] {
                assert_eq!(overlap(a.parse().unwrap(), b.parse().unwrap()), overlaps, "{a} {b}");
            }
        }

        #[test]
        fn d206_addresses_of_the_socket_unit_are_read() {
            let active = "Listen=[::]:80 (Stream)\nListen=[::]:443 (Stream)\nActiveState=active\n";
            assert_eq!(addresses_of_unit(active), ["[::]:80".parse().unwrap(), "[::]:443".parse().unwrap()]);
            assert!(addresses_of_unit(&active.replace("=active", "=inactive")).is_empty());
        }

        /// A socket of this test, found in `/proc`.
        #[test]
        fn d206_holder_of_a_socket_is_found() {
            let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let address = socket.local_addr().unwrap();
            // The test is the program itself.
            let pid = i32::try_from(std::process::id()).unwrap();
            assert_eq!(ThisMachine::look().holder(address), Some(Holder::Signpost { pid }));
            drop(socket);
            assert_eq!(ThisMachine::look().holder(address), None);
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use std::io::ErrorKind;
    use std::net::{SocketAddr, TcpListener};

    use super::super::ports::{Holder, Machine};

    /// What trying to listen says.
    pub(crate) struct ThisMachine;

    impl ThisMachine {
        pub(crate) fn look() -> Self {
            Self
        }
    }

    impl Machine for ThisMachine {
        fn holder(&self, address: SocketAddr) -> Option<Holder> {
            let refused = TcpListener::bind(address).err()?;
            (refused.kind() == ErrorKind::AddrInUse).then_some(Holder::Unknown)
        }

        fn may_bind(&self, port: u16) -> bool {
            rustix::process::geteuid().is_root() || port >= 1024
        }

        fn socket_unit(&self) -> &[SocketAddr] {
            &[]
        }

        fn has_address(&self, address: SocketAddr) -> bool {
            super::has_address(address)
        }
    }
}
