//! Custom domains, and a name server that says of them what the test wants (D37 to D44).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_test_servers::dns::{NameServer, Record};

use super::account::Account;
use super::program::Program;
use super::program_builder::ProgramBuilder;
use super::store::Store;
use super::visitor::Visit;

/// Where domains point.
pub const EDGE: &str = "edge.example.net";
pub const EDGE_ADDRESSES: [&str; 2] = ["192.0.2.10", "2001:db8::10"];

/// How long to wait for a change to show on nodes that did not make it (D58). How soon it does is judged where the machine is
/// left to the test alone: `faults/nodes/freshness.rs`.
const AT_LAST: Duration = Duration::from_secs(20);

/// As many programs on one store as that can have, and the name server that they ask about domains.
pub struct DomainScene {
    pub nodes: Vec<Program>,
    pub dns: NameServer,
}

impl DomainScene {
    /// Nodes that take hostnames under `.test`, and a name server that knows none of them.
    pub fn start() -> Self {
        Self::start_with(|node| node)
    }

    /// Nodes with further settings.
    pub fn start_with(set_up: impl FnOnce(ProgramBuilder) -> ProgramBuilder) -> Self {
        let dns = NameServer::start();
        let first = set_up(asking(Program::builder(), &dns)).start();
        let further = match crate::STORE {
            Store::Embedded => None,
            Store::Servers => Some(first.beside(&[])),
        };
        Self { nodes: [first].into_iter().chain(further).collect(), dns }
    }

    /// A new account's client at the first node, and one at the last, which may be the same node.
    pub fn clients(&self) -> [Account; 2] {
        let account = self.first().account("agency");
        [self.first(), self.last()].map(|node| node.client_of(&account))
    }

    /// So many new accounts; their clients are at the nodes in turn.
    pub fn accounts(&self, count: usize) -> Vec<Account> {
        let node = |number: usize| &self.nodes[number % self.nodes.len()];
        (0..count).map(|number| node(number).client_of(&self.first().account("agency"))).collect()
    }

    pub fn first(&self) -> &Program {
        &self.nodes[0]
    }

    pub fn last(&self) -> &Program {
        self.nodes.last().unwrap()
    }

    /// From now on DNS has what the instructions of these domains ask for, and nothing else at those names.
    pub fn publish(&self, domains: &[&Value]) {
        let mut zone: BTreeMap<&str, Vec<Record>> = BTreeMap::new();
        for instruction in domains.iter().flat_map(|domain| instructions(domain)) {
            let [record_type, name, value] =
                ["type", "name", "value"].map(|field| instruction[field].as_str().unwrap());
            let record = match record_type {
                "A" | "AAAA" => Record::address(value),
                "CNAME" => Record::alias(value),
                "TXT" => Record::text(value),
                other => panic!("{other} is no record to add: {instruction}"),
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

    /// From now on DNS has nothing at the names in the domain's instructions.
    pub fn withdraw(&self, domain: &Value) {
        for instruction in instructions(domain) {
            self.dns.remove(instruction["name"].as_str().unwrap());
        }
    }

    /// Connects a hostname, publishes what is asked for, and has it verified.
    pub fn activate(&self, account: &Account, hostname: &str) -> Value {
        let domain = connect(account, hostname);
        self.publish(&[&domain]);
        let verified = verify(account, &domain);
        assert_eq!(verified["status"], "active");
        verified
    }

    /// Where visitors of an address are led, at every node: `None` is the 404 page. A change that was made by one of these
    /// nodes shows there at once, and elsewhere within a second (D58).
    #[track_caller]
    pub fn assert_leads(&self, made_by: &Program, hostname: &str, path: &str, target: Option<&str>) {
        self.assert_led(Some(made_by), hostname, path, target);
    }

    /// Likewise where an operator's command made the change, which shows on every node within one second.
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

    /// Likewise for a landing page, and a text that is on it.
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
            loop {
                let visit = visit(node, hostname, path);
                if is_expected(&visit) {
                    break;
                }
                let may_wait = !is_maker && answered.elapsed() < AT_LAST;
                assert!(may_wait, "{hostname}{path} is not {expected} but {visit:?}");
            }
        }
    }

    /// What the nodes say to whoever asks whether the hostname may have a certificate; they must agree.
    #[track_caller]
    pub fn may_have_certificate(&self, hostname: &str) -> bool {
        let says = |node: &Program| tls_allowed(node, &format!("?domain={hostname}")).status == 200;
        let said: Vec<bool> = self.nodes.iter().map(says).collect();
        assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
        said[0]
    }
}

/// A program that asks this name server, and takes hostnames under `.test`.
pub fn asking(node: ProgramBuilder, dns: &NameServer) -> ProgramBuilder {
    node.setting("dns-servers", &dns.address().to_string())
        .with_edge()
        .setting("edge-addresses", &EDGE_ADDRESSES.join(","))
        .setting("allow-special-use", "test")
        .setting("custom-domain-scheme", "http")
        .setting("miss-throttle-per-minute", "0")
        .setting("metrics-listen", "127.0.0.1:0")
}

/// Connects a hostname that the account does not have; it must be free. Without the [diagnosis](steady).
#[track_caller]
pub fn connect(account: &Account, hostname: &str) -> Value {
    steady(&account.post("/v1/domains", &json!({"hostname": hostname})).expect_status(201).body)
}

/// A domain without its diagnosis (D65), which every check moves, also those that the background makes during a test.
pub fn steady(domain: &Value) -> Value {
    let mut domain = domain.clone();
    let fields = domain.as_object_mut().unwrap();
    for field in ["next_check_at", "checked_at", "failure_reason"] {
        assert!(fields.remove(field).is_some(), "{fields:?} has no {field}");
    }
    for instruction in fields["dns_instructions"].as_array_mut().unwrap() {
        let instruction = instruction.as_object_mut().unwrap();
        for field in ["status", "observed"] {
            assert!(instruction.remove(field).is_some(), "{instruction:?} has no {field}");
        }
    }
    domain
}

/// A domain of the account as it is shown now, without its diagnosis.
#[track_caller]
pub fn shown(account: &Account, domain: &Value) -> Value {
    steady(&account.get(&path_of(domain)).expect_status(200).body)
}

/// The account's domains as the list shows them, without their diagnosis.
#[track_caller]
pub fn listed(account: &Account) -> Vec<Value> {
    account.walk("/v1/domains", "").iter().map(steady).collect()
}

/// The address of a resource.
pub fn path_of(resource: &Value) -> String {
    let [object, id] = ["object", "id"].map(|field| resource[field].as_str().unwrap());
    format!("/v1/{object}s/{id}")
}

/// Where a domain is verified.
pub fn verify_path(domain: &Value) -> String {
    format!("{}/verify", path_of(domain))
}

/// Has a domain verified; DNS must answer. Without the diagnosis.
#[track_caller]
pub fn verify(account: &Account, domain: &Value) -> Value {
    steady(&account.post(&verify_path(domain), &json!({})).expect_status(200).body)
}

/// Opens an address of a custom domain.
pub fn visit(node: &Program, hostname: &str, path: &str) -> Visit {
    node.visitor().request("GET", path, &[("Host", hostname)])
}

/// Asks as the program does that ends TLS: without a key.
pub fn tls_allowed(node: &Program, query: &str) -> super::answer::Answer {
    node.with_key("").send_with("GET", &format!("/tls-allowed{query}"), &[], None)
}

/// The name and the value of the record that would prove the hostname to be the caller's, as the refusal tells people (D41).
#[track_caller]
pub fn record_in_refusal(refusal: &super::answer::Answer) -> (String, String) {
    let message = refusal.body["error"]["message"].as_str().unwrap();
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    let [name, value] = quoted.as_slice() else { panic!("no record in {message}") };
    assert!(name.starts_with("_signpost.") && value.starts_with("signpost-verification="), "{message}");
    ((*name).to_owned(), (*value).to_owned())
}

fn instructions(domain: &Value) -> &[Value] {
    domain["dns_instructions"].as_array().unwrap()
}
