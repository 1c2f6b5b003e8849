//! The contract suite of the DNS port, with a name server that resolves whole chains and with one that gives
//! only the first alias.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::DnsProvider;
use signpost_dns::{DnsOptions, HickoryDns, NameServers};
use signpost_domain::CaaRecord;
use signpost_port_contracts::DnsFixture;
use signpost_port_contracts::dns::Record as GivenRecord;
use signpost_test_servers::dns::{Behaviour, NameServer, Record, Recursion};

struct Fixture {
    server: NameServer,
    dns: Arc<HickoryDns>,
}

impl Fixture {
    fn with(recursion: Recursion) -> Self {
        let server = NameServer::start();
        server.set_recursion(recursion);
        let options = DnsOptions {
            servers: NameServers::Listed(vec![server.address()]),
            time_limit: Duration::from_secs(30),
        };
        Self { dns: Arc::new(HickoryDns::new(&options).unwrap()), server }
    }
}

impl DnsFixture for Fixture {
    fn dns(&self) -> Arc<dyn DnsProvider> {
        self.dns.clone()
    }

    fn set(&self, name: &str, records: Vec<GivenRecord>) {
        let records = records.into_iter().map(|record| match record {
            GivenRecord::Txt(strings) => Record::Txt(strings),
            GivenRecord::Address(IpAddr::V4(address)) => Record::A(address),
            GivenRecord::Address(IpAddr::V6(address)) => Record::Aaaa(address),
            GivenRecord::Alias(target) => Record::Cname(target),
            GivenRecord::Caa(CaaRecord { is_critical, tag, value }) => {
                Record::Caa(if is_critical { 0x80 } else { 0 }, tag, value)
            }
        });
        self.server.set(name, records);
    }

    fn remove(&self, name: &str) {
        self.server.remove(name);
    }

    fn set_unavailable(&self, is_unavailable: bool) {
        self.server.behave(if is_unavailable { Behaviour::ServFail } else { Behaviour::Answer });
    }
}

mod at_a_resolver {
    use super::{Fixture, Recursion};

    async fn fresh_dns() -> Fixture {
        Fixture::with(Recursion::WholeChain)
    }

    signpost_port_contracts::dns_contract!(fresh_dns);
}

mod at_an_authority {
    use super::{Fixture, Recursion};

    async fn fresh_dns() -> Fixture {
        Fixture::with(Recursion::FirstAlias)
    }

    signpost_port_contracts::dns_contract!(fresh_dns);
}
