//! The options of DNS look-ups: which servers, and for how long.

use std::net::SocketAddr;
use std::time::Duration;

use hickory_resolver::config::{ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::system_conf::read_system_conf;

/// The name servers to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameServers {
    /// Those in the system's configuration (`/etc/resolv.conf`), which is read once.
    System,
    /// These, in order of preference.
    Listed(Vec<SocketAddr>),
}

/// The options of DNS look-ups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DnsOptions {
    /// The servers.
    pub servers: NameServers,
    /// Time limit of one call, with all its queries (R21).
    pub time_limit: Duration,
}

impl DnsOptions {
    /// The default of [`time_limit`](Self::time_limit).
    pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(4);

    /// The longest wait for a silent server before the next one is asked too.
    const MAX_PATIENCE: Duration = Duration::from_millis(500);

    /// How long to wait for a silent server before the next of `servers` is asked too. It is at most half a
    /// second, and shorter if that is needed to ask every server within half of the time limit.
    #[must_use]
    pub fn patience(&self, servers: usize) -> Duration {
        let share = u32::try_from(servers).unwrap_or(u32::MAX).saturating_mul(2).max(1);
        (self.time_limit / share).min(Self::MAX_PATIENCE)
    }
}

impl Default for DnsOptions {
    fn default() -> Self {
        Self { servers: NameServers::System, time_limit: Self::DEFAULT_TIME_LIMIT }
    }
}

/// Why the options are unusable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DnsOptionsError {
    /// The system's configuration cannot be read, or names no server.
    #[error("the system's configuration of DNS names no server: {reason}")]
    System {
        /// The reason, for the operator.
        reason: String,
    },
    /// The list is empty.
    #[error("no name server is given")]
    NoServer,
    /// No server can be reached at port 0.
    #[error("{0} is not the address of a name server: it has no port")]
    NoPort(SocketAddr),
}

impl NameServers {
    /// The addresses of the servers, at least one.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>, DnsOptionsError> {
        let addresses = match self {
            Self::System => return configured(read_system_conf()),
            Self::Listed(addresses) => addresses.clone(),
        };
        match addresses.iter().find(|address| address.port() == 0) {
            Some(address) => Err(DnsOptionsError::NoPort(*address)),
            None if addresses.is_empty() => Err(DnsOptionsError::NoServer),
            None => Ok(addresses),
        }
    }
}

fn configured(
    read: Result<(ResolverConfig, ResolverOpts), NetError>,
) -> Result<Vec<SocketAddr>, DnsOptionsError> {
    // The rest of the configuration, above all the search list, concerns names that people type.
    let (configuration, _) = read.map_err(|error| DnsOptionsError::System { reason: error.to_string() })?;
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for server in configuration.name_servers() {
        // The ports of a server's protocols are equal.
        if let Some(connection) = server.connections.first() {
            let address = SocketAddr::new(server.ip, connection.port);
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
    }
    if addresses.is_empty() {
        return Err(DnsOptionsError::System { reason: "the list of servers is empty".to_owned() });
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{DnsOptions, DnsOptionsError, NameServers};

    fn addresses(listed: &[&str]) -> Result<Vec<String>, DnsOptionsError> {
        let listed = listed.iter().filter_map(|address| address.parse().ok()).collect();
        let addresses = NameServers::Listed(listed).addresses()?;
        Ok(addresses.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn server_list_is_not_empty_and_each_server_has_a_port() {
        let two = ["192.0.2.1:53", "[2001:db8::1]:5353"];
        assert_eq!(addresses(&two), Ok(two.map(str::to_owned).to_vec()));
        assert_eq!(addresses(&[]), Err(DnsOptionsError::NoServer));
        assert!(matches!(addresses(&["192.0.2.1:53", "192.0.2.2:0"]), Err(DnsOptionsError::NoPort(_))));
    }

    /// Every server gets its turn in time, however many there are (R21).
    #[test]
    fn last_server_is_asked_within_half_of_the_time_limit() {
        for limit in [Duration::from_millis(300), Duration::from_secs(4), Duration::from_mins(1)] {
            let options = DnsOptions { time_limit: limit, ..DnsOptions::default() };
            for servers in 1..20 {
                let patience = options.patience(servers);
                assert!(!patience.is_zero() && patience <= Duration::from_millis(500));
                assert!(
                    patience * u32::try_from(servers).unwrap_or(u32::MAX) <= limit / 2,
                    "{servers} in {limit:?}"
                );
            }
        }
    }

    #[cfg(target_os = "linux")]
    mod system {
        use hickory_resolver::system_conf::parse_resolv_conf;

        use super::super::{DnsOptionsError, configured};

        #[test]
        fn system_servers_are_asked_at_the_default_port() {
            let text =
                "search example.com\nnameserver 192.0.2.1\nnameserver 2001:db8::1\nnameserver 192.0.2.1\n";
            let addresses = configured(parse_resolv_conf(text))
                .map(|found| found.iter().map(ToString::to_string).collect());
            assert_eq!(addresses, Ok(vec!["192.0.2.1:53".to_owned(), "[2001:db8::1]:53".to_owned()]));
        }

        #[test]
        fn system_without_servers_is_an_error() {
            for text in ["", "search example.com\n", "nameserver nonsense\n", "\u{0}\u{1}"] {
                assert!(
                    matches!(configured(parse_resolv_conf(text)), Err(DnsOptionsError::System { .. })),
                    "{text:?}"
                );
            }
        }
    }
}
