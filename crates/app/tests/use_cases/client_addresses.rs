//! The client address of a request, and the warning about untrusted proxies (D18).

use signpost_app::admission::{ClientAddresses, Sender};
use signpost_domain::{Timestamp, TrustedProxies};
use signpost_port_contracts::logs::Log;

const PROXY: &str = "10.0.0.1";
const STRANGER: &str = "198.51.100.7";

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

fn addresses() -> ClientAddresses {
    ClientAddresses::new(TrustedProxies::new(vec!["10.0.0.0/8".parse().unwrap()]))
}

/// How many warnings were logged when requests came like this at these times.
fn warnings(peer: &str, forwarded_for: &[&str], has_forwarded: bool, times: &[i64]) -> usize {
    let (log, addresses) = (Log::begin(), addresses());
    for time in times {
        let sender = Sender { peer: peer.parse().ok(), forwarded_for: forwarded_for.to_vec(), has_forwarded };
        addresses.of(&sender, at(*time));
    }
    log.count("`trusted-proxies`")
}

#[test]
fn d18_an_untrusted_proxy_is_warned_of_once_an_hour() {
    let an_hour = 3_600_000;
    assert_eq!(warnings(STRANGER, &["203.0.113.9"], false, &[0, 1, an_hour - 1]), 1);
    assert_eq!(warnings(STRANGER, &[], true, &[0, an_hour - 1, an_hour]), 2);
}

#[test]
fn d18_trusted_proxies_and_plain_requests_are_not_warned_of() {
    assert_eq!(warnings(PROXY, &["203.0.113.9"], true, &[0]), 0);
    assert_eq!(warnings(STRANGER, &[], false, &[0]), 0);
    assert_eq!(warnings(PROXY, &[], true, &[0, 1]), 1, "a trusted one that sends only Forwarded");
}
