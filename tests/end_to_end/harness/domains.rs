//! Custom domains, with a name server that the test controls (D37 to D44).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_domain::id::AccountKind;
use signpost_domain::{Hostname, IdReference, VerificationRecord};
use signpost_test_servers::dns::{NameServer, Record};

use super::account::Account;
use super::answer::Answer;
use super::program::Program;
use super::program_builder::ProgramBuilder;
use super::store::Store;
use super::visitor::Visit;

/// The edge that domains point to.
pub const EDGE: &str = "edge.example.net";
const EDGE_ADDRESSES: [&str; 2] = ["192.0.2.10", "2001:db8::10"];

/// How long to wait for a change to show on other nodes (D58). `faults/nodes/freshness.rs`, which has the
/// machine to itself, measures how soon it shows.
const PATIENCE: Duration = Duration::from_secs(20);

/// How long to wait between two looks, so that the program gets the processor.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// How often a verification is sent until the name server has answered in time.
const VERIFICATIONS: usize = 5;

/// The programs on one store, two if the store can be shared, and the name server that they query.
pub struct DomainScene {
    pub nodes: Vec<Program>,
    pub dns: NameServer,
}

impl DomainScene {
    /// Nodes that accept hostnames under `.test`, and a name server without records.
    pub fn start() -> Self {
        Self::start_with(|node| node)
    }

    /// Nodes with additional settings.
    pub fn start_with(set_up: impl FnOnce(ProgramBuilder) -> ProgramBuilder) -> Self {
        Self::start_on(Store::of_this_run(), set_up)
    }

    /// Nodes with additional settings on this store, whatever the store of this run is.
    pub fn start_on(store: Store, set_up: impl FnOnce(ProgramBuilder) -> ProgramBuilder) -> Self {
        let dns = NameServer::start();
        let first = set_up(asking(Program::builder().on(store), &dns)).start();
        let further = match store {
            Store::Embedded => None,
            Store::Servers => Some(first.beside(&[])),
        };
        Self { nodes: [first].into_iter().chain(further).collect(), dns }
    }

    /// Clients of a new account at the first node and at the last, which may be the same node.
    pub fn clients(&self) -> [Account; 2] {
        let account = self.first().account("agency");
        [self.first(), self.last()].map(|node| node.client_of(&account))
    }

    pub fn first(&self) -> &Program {
        &self.nodes[0]
    }

    pub fn last(&self) -> &Program {
        self.nodes.last().unwrap()
    }

    /// Sets the records in DNS to those that the instructions of these domains ask for.
    pub fn publish(&self, domains: &[&Value]) {
        let mut zone: BTreeMap<&str, Vec<Record>> = BTreeMap::new();
        for instruction in domains.iter().flat_map(|domain| instructions(domain)) {
            let [record_type, name, value] =
                ["type", "name", "value"].map(|field| instruction[field].as_str().unwrap());
            let record = match record_type {
                "A" | "AAAA" => Record::address(value),
                "CNAME" => Record::alias(value),
                "TXT" => Record::text(value),
                other => panic!("cannot add a record of type {other}: {instruction}"),
            };
            let at_name = zone.entry(name).or_default();
            if !at_name.contains(&record) {
                at_name.push(record);
            }
        }
        for (name, records) in zone {
            self.dns.set(name, records);
        }
    }

    /// Sets the records of a subdomain that the account has not connected yet. So the first background check finds them,
    /// however soon it comes after the connection.
    pub fn publish_beforehand(&self, account: &Account, hostname: &str) {
        let account = IdReference::<AccountKind>::parse(account.id()).id().unwrap();
        let proof = VerificationRecord::of(account, &Hostname::parse(hostname).unwrap());
        self.dns.set(&proof.name(), [Record::text(&proof.value())]);
        self.dns.set(hostname, [Record::alias(EDGE)]);
    }

    /// Removes all records at the names in the domain's instructions.
    pub fn withdraw(&self, domain: &Value) {
        for instruction in instructions(domain) {
            self.dns.remove(instruction["name"].as_str().unwrap());
        }
    }

    /// Connects a hostname, publishes its records, and verifies it.
    pub fn activate(&self, account: &Account, hostname: &str) -> Value {
        let domain = connect(account, hostname);
        self.publish(&[&domain]);
        let verified = verify(account, &domain);
        assert_eq!(verified["status"], "active");
        verified
    }

    /// Asserts where every node leads visitors of an address; `None` is the 404 page. A change shows at once on
    /// the node that made it, and on others within a second (D58).
    #[track_caller]
    pub fn assert_leads(&self, made_by: &Program, hostname: &str, path: &str, target: Option<&str>) {
        self.assert_led(Some(made_by), hostname, path, target);
    }

    /// Like [`Self::assert_leads`], for a change by a command or by background work, which shows on every node
    /// within a second.
    #[track_caller]
    pub fn assert_leads_soon(&self, hostname: &str, path: &str, target: Option<&str>) {
        self.assert_led(None, hostname, path, target);
    }

    #[track_caller]
    fn assert_led(&self, made_by: Option<&Program>, hostname: &str, path: &str, target: Option<&str>) {
        let status = if target.is_some() { 302 } else { 404 };
        let is_there = |visit: &Visit| (visit.status, visit.location()) == (status, target);
        self.assert_visits(made_by, hostname, path, &format!("{status} {target:?}"), is_there);
    }

    /// Like [`Self::assert_leads`], for a landing page that contains a text.
    #[track_caller]
    pub fn assert_shows(&self, made_by: &Program, hostname: &str, path: &str, text: &str) {
        let is_there = |visit: &Visit| visit.status == 200 && visit.body.contains(text);
        self.assert_visits(Some(made_by), hostname, path, text, is_there);
    }

    #[track_caller]
    fn assert_visits(
        &self,
        made_by: Option<&Program>,
        hostname: &str,
        path: &str,
        expected: &str,
        is_expected: impl Fn(&Visit) -> bool,
    ) {
        let answered = Instant::now();
        for node in &self.nodes {
            let is_maker = made_by.is_some_and(|maker| std::ptr::eq(node, maker));
            let visitor = node.visitor();
            loop {
                let visit = visitor.request("GET", path, &[("Host", hostname)]);
                if is_expected(&visit) {
                    break;
                }
                let may_wait = !is_maker && answered.elapsed() < PATIENCE;
                assert!(may_wait, "{hostname}{path} is not {expected} but {visit:?}");
                std::thread::sleep(POLL_INTERVAL);
            }
        }
    }

    /// Whether the nodes say that the hostname may have a certificate. They must agree.
    #[track_caller]
    pub fn may_have_certificate(&self, hostname: &str) -> bool {
        let mut said = self.nodes.iter().map(|node| may_have_certificate_by(node, hostname));
        let first = said.next().unwrap();
        assert!(said.all(|other| other == first), "the nodes disagree about {hostname}");
        first
    }
}

/// Whether the node says that the hostname may have a certificate. It answers two such questions at once, and refuses one
/// that has waited for half a second, which is neither a yes nor a no.
#[track_caller]
fn may_have_certificate_by(node: &Program, hostname: &str) -> bool {
    let asked = Instant::now();
    loop {
        let answer = tls_allowed(node, &format!("?domain={hostname}"));
        match answer.status {
            200 => return true,
            404 => return false,
            _ => assert!(asked.elapsed() < PATIENCE, "{hostname}: {answer:?}"),
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A program that queries this name server, and accepts hostnames under `.test`.
pub fn asking(node: ProgramBuilder, dns: &NameServer) -> ProgramBuilder {
    node.setting("dns-servers", &dns.address().to_string())
        .with_edge()
        .setting("edge-addresses", &EDGE_ADDRESSES.join(","))
        .setting("allow-special-use", "test")
        .setting("custom-domain-scheme", "http")
        .setting("miss-throttle-per-minute", "0")
        .setting("metrics-listen", "127.0.0.1:0")
}

/// Connects a free hostname that the account does not have. Returns the domain without its [diagnosis](steady).
#[track_caller]
pub fn connect(account: &Account, hostname: &str) -> Value {
    steady(&account.post("/v1/domains", &json!({"hostname": hostname})).expect_status(201).body)
}

/// A domain without its diagnosis (D65), which every check changes, including background checks during a test. Also without
/// its revision, which grows with the status, and without its files, which lists do not show (D127).
pub fn steady(domain: &Value) -> Value {
    let mut domain = domain.clone();
    let fields = domain.as_object_mut().unwrap();
    for field in ["apple_app_site_association", "asset_links"] {
        fields.remove(field);
    }
    for field in ["next_check_at", "checked_at", "failure_reason", "updated_at", "revision"] {
        assert!(fields.remove(field).is_some(), "{fields:?} has no {field}");
    }
    for instruction in fields["dns_instructions"].as_array_mut().unwrap() {
        let instruction = instruction.as_object_mut().unwrap();
        for field in ["status", "observed", "hint"] {
            assert!(instruction.remove(field).is_some(), "{instruction:?} has no {field}");
        }
    }
    domain
}

/// A domain of the account as the API shows it now, without its diagnosis.
#[track_caller]
pub fn shown(account: &Account, domain: &Value) -> Value {
    steady(&account.get(&path_of(domain)).expect_status(200).body)
}

/// The account's domains as the list shows them, without their diagnosis.
#[track_caller]
pub fn listed(account: &Account) -> Vec<Value> {
    account.walk("/v1/domains", "").iter().map(steady).collect()
}

/// The path of a resource.
pub fn path_of(resource: &Value) -> String {
    let [object, id] = ["object", "id"].map(|field| resource[field].as_str().unwrap());
    format!("/v1/{object}s/{id}")
}

/// The path that verifies a domain.
pub fn verify_path(domain: &Value) -> String {
    format!("{}/verify", path_of(domain))
}

/// Verifies a domain; DNS must answer. Returns the domain without its diagnosis.
#[track_caller]
pub fn verify(account: &Account, domain: &Value) -> Value {
    steady(&send_verification(account, domain).expect_status(200).body)
}

/// Verifies a domain whose name server answers. A busy machine may delay it for longer than the program waits, which is a
/// 503 that changes nothing, so the verification is then sent again.
pub fn send_verification(account: &Account, domain: &Value) -> Answer {
    let send = || account.post(&verify_path(domain), &json!({}));
    let mut answer = send();
    for _ in 1..VERIFICATIONS {
        if answer.status != 503 {
            break;
        }
        answer = send();
    }
    answer
}

/// Opens an address of a custom domain.
pub fn visit(node: &Program, hostname: &str, path: &str) -> Visit {
    node.visitor().request("GET", path, &[("Host", hostname)])
}

/// Asks whether a hostname may have a certificate, without a key, as a TLS front end does.
pub fn tls_allowed(node: &Program, query: &str) -> Answer {
    node.with_key("").send_with("GET", &format!("/tls-allowed{query}"), &[], None)
}

/// The name and the value of the record that would prove ownership of the hostname, from the message of the
/// refusal (D41).
#[track_caller]
pub fn record_in_refusal(refusal: &Answer) -> (String, String) {
    let message = refusal.body["error"]["message"].as_str().unwrap();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let [name, value] = quoted.as_slice() else { panic!("no record in {message}") };
    assert!(name.starts_with("_signpost.") && value.starts_with("signpost-verification="), "{message}");
    ((*name).to_owned(), (*value).to_owned())
}

fn instructions(domain: &Value) -> &[Value] {
    domain["dns_instructions"].as_array().unwrap()
}
