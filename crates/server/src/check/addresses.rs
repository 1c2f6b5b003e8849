//! Whether a name leads to this machine.

use std::collections::BTreeSet;
use std::net::IpAddr;

use signpost_domain::{HostResolution, Hostname};

use super::finding::Finding;

const SUBJECT: &str = "names";

/// The addresses at which the installation is reached, as far as this machine knows.
#[derive(Debug, Clone, Default)]
pub(super) struct OwnAddresses {
    /// Addresses of this machine that are not of its own network only.
    pub(super) public: BTreeSet<IpAddr>,
    /// Its other addresses: loopback and private ones.
    pub(super) private: BTreeSet<IpAddr>,
    /// Those of `edge-addresses`, at which visitors reach the installation.
    pub(super) edge: BTreeSet<IpAddr>,
}

impl OwnAddresses {
    pub(super) fn of(
        interfaces: impl IntoIterator<Item = IpAddr>,
        edge: impl IntoIterator<Item = IpAddr>,
    ) -> Self {
        let (public, private) = interfaces.into_iter().partition(is_public);
        Self { public, private, edge: edge.into_iter().collect() }
    }

    fn include(&self, address: &IpAddr) -> bool {
        [&self.public, &self.private, &self.edge].iter().any(|known| known.contains(address))
    }

    /// The addresses that records should have: those of the setting, or else of this machine.
    fn for_records(&self) -> &BTreeSet<IpAddr> {
        if self.edge.is_empty() { &self.public } else { &self.edge }
    }

    /// Those of them that a record of the same type could have.
    fn of_same_family(&self, as_this: &IpAddr) -> Option<String> {
        let same: Vec<_> =
            self.for_records().iter().filter(|own| own.is_ipv4() == as_this.is_ipv4()).collect();
        (!same.is_empty()).then(|| same.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "))
    }
}

/// An address that DNS may publish: neither loopback nor private, link-local or shared (RFC 1918, 4193, 6598).
fn is_public(address: &IpAddr) -> bool {
    match address {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            let is_shared = a == 100 && (64..128).contains(&b);
            !(ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified() || is_shared)
        }
        IpAddr::V6(ip) => {
            !(ip.is_loopback() || ip.is_unspecified() || ip.is_unicast_link_local() || ip.is_unique_local())
        }
    }
}

/// What the records of a name say. Only addresses are judged: aliases lead to them.
pub(super) fn verdict(name: &Hostname, resolution: &HostResolution, own: &OwnAddresses) -> Finding {
    let record = |address: &IpAddr| if address.is_ipv4() { "A" } else { "AAAA" };
    if resolution.addresses.is_empty() {
        let first = own.for_records().first();
        let example = first.map_or_else(|| "the address of this machine".to_owned(), ToString::to_string);
        let kind = first.map_or("A", record);
        return Finding::fail(
            SUBJECT,
            format!("{name} has no address in DNS"),
            format!("Add the record at your DNS provider: {name}. {kind} {example}"),
        );
    }
    let (ours, foreign): (Vec<_>, Vec<_>) =
        resolution.addresses.iter().partition(|address| own.include(address));
    let Some(wrong) = foreign.first() else {
        return Finding::ok(SUBJECT, format!("{name} leads to this machine"));
    };
    let kind = record(wrong);
    match own.of_same_family(wrong) {
        // Behind a router this machine does not know the address at which it is reached.
        None if ours.is_empty() && own.for_records().is_empty() => Finding::warn(
            SUBJECT,
            format!("{name} leads to {wrong}, and this machine has only private addresses"),
            format!(
                "That is right if a router or balancer at {wrong} passes ports 80 and 443 on to this machine; then say so: \
                 edge-addresses = [\"{wrong}\"]"
            ),
        ),
        None => Finding::fail(
            SUBJECT,
            format!("{name} also leads to {wrong}, but this machine has no public address of that kind"),
            format!(
                "Remove the {kind} record of {name}, because visitors and the certificate authority may use it"
            ),
        ),
        Some(expected) => Finding::fail(
            SUBJECT,
            format!("{name} leads to {wrong} instead of {expected}"),
            format!(
                "Change its {kind} record at your DNS provider, or, if {wrong} passes connections on to this machine, say so: \
                 edge-addresses = [\"{wrong}\"]"
            ),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::finding::Severity;
    use super::*;

    fn addresses(texts: &[&str]) -> BTreeSet<IpAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn found(interfaces: &[&str], edge: &[&str], dns: &[&str]) -> Finding {
        let own = OwnAddresses::of(addresses(interfaces), addresses(edge));
        let resolution = HostResolution { chain: Vec::new(), addresses: addresses(dns) };
        verdict(&Hostname::parse("go.example.com").unwrap(), &resolution, &own)
    }

    #[test]
    fn d206_names_that_lead_here_are_fine() {
        for (interfaces, edge, dns) in [
            (&["127.0.0.1", "198.51.100.7"][..], &[][..], &["198.51.100.7"][..]),
            (&["198.51.100.7", "2001:db8::7"], &[], &["198.51.100.7", "2001:db8::7"]),
            (&["10.0.0.7"], &["198.51.100.7"], &["198.51.100.7"]),
            (&["10.0.0.7"], &[], &["10.0.0.7"]),
        ] {
            let finding = found(interfaces, edge, dns);
            assert_eq!(finding.severity, Severity::Ok, "{}", finding.line());
        }
    }

    #[test]
    fn d206_advice_names_the_addresses_of_the_setting() {
        let interfaces = &["192.0.2.2", "10.0.0.7"];
        let edge = &["203.0.113.5"];
        let missing = found(interfaces, edge, &[]).line();
        assert!(missing.contains("go.example.com. A 203.0.113.5"), "{missing}");
        let wrong = found(interfaces, edge, &["198.51.100.1"]).line();
        assert!(wrong.contains("198.51.100.1 instead of 203.0.113.5"), "{wrong}");
        assert_eq!(found(interfaces, edge, &["192.0.2.2"]).severity, Severity::Ok);
    }

    #[test]
    fn d206_names_that_lead_elsewhere_name_the_record() {
        for (interfaces, dns, severity, named) in [
            (&["198.51.100.7"][..], &[][..], Severity::Fail, "go.example.com. A 198.51.100.7"),
            (&["198.51.100.7"], &["203.0.113.9"], Severity::Fail, "203.0.113.9 instead of 198.51.100.7"),
            (&["198.51.100.7"], &["198.51.100.7", "2001:db8::9"], Severity::Fail, "Remove the AAAA record"),
            (
                &["198.51.100.7", "2001:db8::7"],
                &["198.51.100.7", "2001:db8::9"],
                Severity::Fail,
                "2001:db8::9 instead",
            ),
            (&["10.0.0.7", "fd00::7", "fe80::1"], &["203.0.113.9"], Severity::Warn, "edge-addresses"),
        ] {
            let finding = found(interfaces, &[], dns);
            assert_eq!(finding.severity, severity, "{}", finding.line());
            assert!(finding.line().contains(named), "{}", finding.line());
        }
    }
}
