//! Helpers to query the servers of tests.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "tests fail by panicking; each test binary uses what it needs"
)]

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{DnsProvider as _, DnsUnavailable};
use signpost_dns::{DnsOptions, HickoryDns, NameServers};
use signpost_domain::{HostResolution, Hostname};
use signpost_test_servers::dns::{NameServer, Record};

pub const HOST: &str = "www.customer.com";
pub const PROOF: &str = "_signpost.www.customer.com";

/// A call that hangs fails after this, far longer than any test needs.
pub const GUARD: Duration = Duration::from_mins(2);

/// A call that takes less than this meets no deadline: after 333 ms without an answer a query is sent again,
/// and after half a second to the next server too.
pub const PROMPT: Duration = Duration::from_millis(300);

/// Repeats `attempt` until it takes less than `within`, and returns that outcome. On a busy machine a server may
/// answer so late that it counts as silent.
pub async fn undisturbed<T>(within: Duration, attempt: impl AsyncFn() -> T) -> T {
    let start = Instant::now();
    loop {
        let begun = Instant::now();
        let outcome = attempt().await;
        if begun.elapsed() < within {
            return outcome;
        }
        assert!(start.elapsed() < GUARD, "no attempt took less than {within:?}");
    }
}

/// The address of no server, and a socket that keeps other programs from it. The system rejects datagrams to a
/// connected socket that come from another address than its peer's.
pub fn absent_server() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect("127.0.0.1:9").unwrap();
    let address = socket.local_addr().unwrap();
    (socket, address)
}

/// The result of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict {
    Texts(Vec<String>),
    Leads(HostResolution),
    Unavailable(String),
}

/// A server that knows [`HOST`] and [`PROOF`].
pub fn known_server() -> NameServer {
    let server = NameServer::start();
    server.set(PROOF, [Record::text("signpost-verification=abc")]);
    server.set(HOST, [Record::alias("edge.example.com")]);
    server.set("edge.example.com", [Record::address("192.0.2.1"), Record::address("2001:db8::1")]);
    server
}

/// The expected results from [`known_server`].
pub fn known() -> [Verdict; 2] {
    let addresses = ["192.0.2.1", "2001:db8::1"].map(|address| address.parse().unwrap()).into();
    let leads = HostResolution { chain: vec!["edge.example.com".to_owned()], addresses };
    [Verdict::Texts(vec!["signpost-verification=abc".to_owned()]), Verdict::Leads(leads)]
}

pub fn asking_for(servers: &[SocketAddr], time_limit: Duration) -> Arc<HickoryDns> {
    let options = DnsOptions { servers: NameServers::Listed(servers.to_vec()), time_limit };
    Arc::new(HickoryDns::new(&options).unwrap())
}

pub async fn texts(dns: &HickoryDns, name: &str) -> Result<Vec<String>, DnsUnavailable> {
    let answer = tokio::time::timeout(GUARD, dns.txt_records(name)).await.expect("the call hangs");
    answer.map(|found| found.texts)
}

/// Calls to these servers, guarded against hanging.
pub struct Asking(Arc<HickoryDns>);

pub fn ask(servers: &[SocketAddr], time_limit: Duration) -> Asking {
    Asking(asking_for(servers, time_limit))
}

impl Asking {
    pub async fn texts(&self, name: &str) -> Result<Vec<String>, DnsUnavailable> {
        texts(&self.0, name).await
    }

    pub async fn resolution(&self, hostname: &str) -> Result<HostResolution, DnsUnavailable> {
        let hostname = Hostname::parse(hostname).unwrap();
        tokio::time::timeout(GUARD, self.0.resolution(&hostname)).await.expect("the call hangs")
    }
}

/// What these servers say about [`PROOF`] and [`HOST`].
pub async fn verdicts(servers: &[SocketAddr], time_limit: Duration) -> [Verdict; 2] {
    let asking = ask(servers, time_limit);
    let (texts, leads) = tokio::join!(asking.texts(PROOF), asking.resolution(HOST));
    [
        texts.map_or_else(|error| Verdict::Unavailable(error.reason), Verdict::Texts),
        leads.map_or_else(|error| Verdict::Unavailable(error.reason), Verdict::Leads),
    ]
}
