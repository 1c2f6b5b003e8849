//! Parsers of settings. An error says what the value must be.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use ipnet::IpNet;
use signpost_dashboard::DashboardOrigin;
use signpost_domain::{CustomDomainScheme, Hostname, Plans, SpecialUseName, TrustedProxies};
use signpost_pages::SecurityContact;
use signpost_redis::{RedisUrl, RedisUrlError};
use signpost_sqlite::DatabaseFile;

use super::database::{Database, ServerUrl};
use super::plans_file;
use crate::target_blocklist_file::TargetBlocklistFile;

/// The form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

pub(super) fn log_format(text: &str) -> Result<LogFormat, String> {
    match text {
        "text" => Ok(LogFormat::Text),
        "json" => Ok(LogFormat::Json),
        _ => Err(format!("must be `text` or `json`, not {text:?}")),
    }
}

pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("must be an IP address and a port, such as 127.0.0.1:8080 or [::1]:8080, not {text:?}")
    })
}

/// The setting `dashboard-listen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DashboardListen {
    /// There is no dashboard.
    Off,
    /// It listens here.
    At(SocketAddr),
}

impl DashboardListen {
    /// The port by default.
    pub(super) const DEFAULT_PORT: u16 = 8082;

    /// The port. `None` if there is no dashboard, or if `serve` picks a free port.
    pub(super) fn port(self) -> Option<u16> {
        match self {
            Self::Off => None,
            Self::At(address) => Some(address.port()).filter(|port| *port != 0),
        }
    }
}

pub(super) fn dashboard_listen(text: &str) -> Result<DashboardListen, String> {
    if text == "off" {
        return Ok(DashboardListen::Off);
    }
    listen_address(text).map(DashboardListen::At).map_err(|error| format!("{error}, or off"))
}

pub(super) fn dashboard_url(text: &str) -> Result<DashboardOrigin, String> {
    DashboardOrigin::parse(text).map_err(|error| format!("{error}, not {text:?}"))
}

/// A folder, which need not exist yet.
pub(super) fn folder(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if text.chars().any(char::is_control) || path.is_file() {
        return Err(format!("must be a folder, not {text:?}"));
    }
    Ok(path)
}

pub(super) fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("must be on or off, not {text:?}")),
    }
}

pub(super) fn count(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("must be a whole number from 0 to {}, not {text:?}", u32::MAX))
}

/// A number of connections: at most as many as PostgreSQL allows.
pub(super) fn connections(text: &str) -> Result<NonZeroUsize, String> {
    from_one_to(262_143, text)
}

/// A number of certificates: at most as many as fit into some GiB.
pub(super) fn certificates(text: &str) -> Result<NonZeroUsize, String> {
    from_one_to(1_000_000, text)
}

fn from_one_to(most: usize, text: &str) -> Result<NonZeroUsize, String> {
    let number: Option<NonZeroUsize> = text.parse().ok();
    number
        .filter(|number| number.get() <= most)
        .ok_or_else(|| format!("must be a whole number from 1 to {most}, not {text:?}"))
}

pub(super) fn file(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("must name a file".to_owned()) } else { Ok(PathBuf::from(text)) }
}

pub(super) fn security_contact(text: &str) -> Result<SecurityContact, String> {
    SecurityContact::parse(text).ok_or_else(|| {
        format!("must be an e-mail address or a mailto:, https: or tel: URI, such as security@example.com, not {text:?}")
    })
}

/// Text that is validated together with other settings.
#[expect(clippy::unnecessary_wraps, reason = "parsers of settings have one signature")]
pub(super) fn text(text: &str) -> Result<String, String> {
    Ok(text.to_owned())
}

/// Opens the list of hosts that links must not lead to.
pub(super) fn target_blocklist(text: &str) -> Result<Arc<TargetBlocklistFile>, String> {
    TargetBlocklistFile::open(file(text)?).map(Arc::new).map_err(|error| error.to_string())
}

/// Reads a file of plans.
pub(super) fn plans(text: &str) -> Result<Plans, String> {
    plans_file::read(&file(text)?)
}

/// A size in bytes: a whole number of `MiB` or `GiB`, from 1 MiB to 1,024 GiB.
pub(super) fn size(text: &str) -> Result<u64, String> {
    const MEBIBYTE: u64 = 1024 * 1024;
    let bytes_of =
        |number: &str, unit: u64| number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let bytes = match (text.strip_suffix("MiB"), text.strip_suffix("GiB")) {
        (Some(number), _) => bytes_of(number, MEBIBYTE),
        (None, Some(number)) => bytes_of(number, 1024 * MEBIBYTE),
        (None, None) => None,
    };
    bytes
        .filter(|bytes| (MEBIBYTE..=1024 * 1024 * MEBIBYTE).contains(bytes))
        .ok_or_else(|| format!("must be a size from 1MiB to 1024GiB, such as 256MiB or 2GiB, not {text:?}"))
}

/// The items of a list. An empty text is an empty list.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    let list = if text.trim().is_empty() { None } else { Some(text.split(',').map(str::trim)) };
    list.into_iter().flatten()
}

pub(super) fn trusted_proxies(text: &str) -> Result<TrustedProxies, String> {
    let network = |item: &str| {
        let single = |_| item.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
        item.parse::<IpNet>().or_else(single).map_err(|_| {
            format!("must be a list of networks, such as 10.0.0.0/8,fd00::/8; {item:?} is not a network")
        })
    };
    items(text).map(network).collect::<Result<_, _>>().map(TrustedProxies::new)
}

pub(super) fn hostnames(text: &str) -> Result<Vec<Hostname>, String> {
    items(text)
        .map(|item| Hostname::parse(item).map_err(|error| format!("{item:?} {}", error.message())))
        .collect()
}

pub(super) fn scheme(text: &str) -> Result<CustomDomainScheme, String> {
    match text {
        "https" => Ok(CustomDomainScheme::Https),
        "http" => Ok(CustomDomainScheme::Http),
        _ => Err(format!("must be `https` or `http`, not {text:?}")),
    }
}

/// A hostname that a `CNAME` record can point to.
pub(super) fn edge_hostname(text: &str) -> Result<Hostname, String> {
    let hostname = Hostname::parse(text).map_err(|error| format!("{text:?} {}", error.message()))?;
    if hostname.as_str().starts_with('[') || hostname.as_str().parse::<IpAddr>().is_ok() {
        return Err(format!(
            "must be a name, because `CNAME` records point to it; {text:?} belongs in `edge-addresses`"
        ));
    }
    Ok(hostname)
}

/// Addresses for `A` and `AAAA` records.
pub(super) fn addresses(text: &str) -> Result<BTreeSet<IpAddr>, String> {
    let address = |item: &str| {
        item.parse::<IpAddr>().map_err(|_| {
            format!(
                "must be a list of IP addresses, such as 192.0.2.1,2001:db8::1; {item:?} is not an address"
            )
        })
    };
    items(text).map(address).collect()
}

/// Name servers: addresses with or without a port.
pub(super) fn name_servers(text: &str) -> Result<Vec<SocketAddr>, String> {
    const DNS_PORT: u16 = 53;
    let server = |item: &str| {
        let alone = |_| item.parse::<IpAddr>().map(|address| SocketAddr::new(address, DNS_PORT));
        item.parse::<SocketAddr>().or_else(alone).ok().filter(|server| server.port() != 0).ok_or_else(|| {
            format!(
                "must be a list of IP addresses, each with or without a port, such as \
                 192.0.2.53,127.0.0.1:5353,[2001:db8::53]:53; {item:?} is not a name server"
            )
        })
    };
    items(text).map(server).collect()
}

pub(super) fn special_use_names(text: &str) -> Result<BTreeSet<SpecialUseName>, String> {
    let name =
        |item: &str| SpecialUseName::parse(item).map_err(|error| format!("{item:?} {}", error.message()));
    items(text).map(name).collect()
}

/// The database. The message does not repeat a URL of another kind, which may hold a password.
pub(super) fn database(text: &str) -> Result<Database, String> {
    match text.split_once("://") {
        Some(("postgres" | "postgresql", _)) => {
            signpost_postgres::check_url(text).map_err(|error| error.to_string())?;
            Ok(Database::Server(ServerUrl::new(text.to_owned())))
        }
        Some((scheme, _)) if scheme != "sqlite" => {
            let scheme: String = scheme.chars().take(32).collect();
            Err(format!(
                "must be `sqlite://` and the path of a file, as in `sqlite://signpost.db`, or \
                 `postgres://user:password@host/name`; {scheme:?} is not supported"
            ))
        }
        Some(_) => DatabaseFile::from_url(text).map(Database::File).map_err(|error| error.to_string()),
        // The text may be a mistyped URL or a connection string in keywords, both with a password.
        None => Err("must begin with `sqlite://` or `postgres://`".to_owned()),
    }
}

/// The Redis server or cluster. The message does not repeat the URL, which may hold a password.
pub(super) fn redis(text: &str) -> Result<RedisUrl, String> {
    text.parse().map_err(|error: RedisUrlError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d61_trusted_proxies_are_networks_or_single_addresses() {
        let proxies = trusted_proxies("10.0.0.0/8, 192.0.2.1,fd00::/8").unwrap();
        for inside in ["10.1.2.3", "192.0.2.1", "fd12::1"] {
            assert!(proxies.contains(inside.parse().unwrap()), "{inside}");
        }
        assert!(!proxies.contains("192.0.2.2".parse().unwrap()));
        assert_eq!(trusted_proxies(" "), Ok(TrustedProxies::default()));
        for wrong in ["10.0.0.0/33", "proxy", "10.0.0.0/8,", "10.0.0.0/8;10.1.0.0/16"] {
            assert!(trusted_proxies(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lists_are_comma_separated() {
        let names: Vec<String> =
            hostnames("a.example, B.example").unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a.example", "b.example"]);
        assert_eq!(hostnames(""), Ok(Vec::new()));
        assert!(hostnames("a.example,,b.example").is_err());
        assert!(hostnames("http://a.example").unwrap_err().contains("\"http://a.example\""));
    }

    #[test]
    fn d61_the_port_of_name_servers_defaults_to_53() {
        let servers = name_servers("192.0.2.53, 127.0.0.1:5353,2001:db8::53,[::1]:5353").unwrap();
        let expected = ["192.0.2.53:53", "127.0.0.1:5353", "[2001:db8::53]:53", "[::1]:5353"];
        assert_eq!(servers.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
        for wrong in
            ["dns.example.com", "192.0.2.53:0", "192.0.2.53:", "192.0.2.53:65536", "192.0.2.53,", "[::1]"]
        {
            assert!(name_servers(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn d61_the_edge_has_a_hostname_and_addresses() {
        assert_eq!(edge_hostname("Edge.Example.com.").unwrap().as_str(), "edge.example.com");
        for wrong in ["", "192.0.2.1", "[::1]", "edge.example.com:443", "https://edge.example.com"] {
            assert!(edge_hostname(wrong).is_err(), "{wrong}");
        }
        assert_eq!(addresses("192.0.2.1, 2001:db8::1,192.0.2.1").unwrap().len(), 2);
        for wrong in ["192.0.2.1:80", "[::1]", "192.0.2.0/24", "edge.example.com"] {
            assert!(addresses(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn d37_some_special_use_names_may_be_allowed() {
        let names = special_use_names("test, .Internal").unwrap();
        assert_eq!(names, BTreeSet::from([SpecialUseName::Test, SpecialUseName::Internal]));
        assert!(special_use_names("com").is_err() && special_use_names("a.test").is_err());
    }

    #[test]
    fn database_urls_are_validated_and_passwords_not_repeated() {
        let path = |url: &str| match database(url).unwrap() {
            Database::File(file) => file.path().to_owned(),
            Database::Server(url) => panic!("{url}"),
        };
        assert!(path("sqlite://signpost.db").ends_with("signpost.db"));
        assert_eq!(path("sqlite:///var/lib/signpost/s.db"), PathBuf::from("/var/lib/signpost/s.db"));
        for wrong in
            ["", "signpost.db", "sqlite:", "sqlite://", "sqlite:a.db", "sqlite://:memory:", "sqlite://a?b=c"]
        {
            assert!(database(wrong).is_err(), "{wrong}");
        }
        for url in ["postgres://user:secret@db/signpost", "postgresql://user:secret@db/signpost"] {
            assert!(matches!(database(url), Ok(Database::Server(_))));
        }
        let message = database("mysql://user:secret@db/signpost").unwrap_err();
        assert!(message.contains("\"mysql\"") && !message.contains("secret"), "{message}");
        for url in [
            "postgres:user:secret@db/signpost",
            "host=db password=secret",
            "postgres://user:secret@db/signpost?sslmode=prefer",
            "postgres://user:secret@db:99999/signpost",
            "postgres://user:se/secret@db/signpost",
        ] {
            let message = database(url).unwrap_err();
            assert!(!message.contains("secret"), "{message}");
        }
        let message = redis("http://user:secret@cache").unwrap_err();
        assert!(!message.contains("secret"), "{message}");
    }

    #[test]
    fn a_listener_has_an_address_and_a_port() {
        assert!(listen_address("0.0.0.0:0").is_ok() && listen_address("[::]:8080").is_ok());
        for wrong in ["", ":8080", "8080", "localhost:8080", "127.0.0.1", "127.0.0.1:65536", "::1:80:"] {
            assert!(listen_address(wrong).is_err(), "{wrong}");
        }
    }
}
