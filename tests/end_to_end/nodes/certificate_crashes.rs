//! A node that is killed in the middle of an order (D187). It has stored each step before the next one, so another run of the
//! program goes on.

use serde_json::Value;
use signpost_test_servers::dns::{NameServer, Record};
use signpost_test_servers::fake_authority::{Endpoint, FakeAuthority, Misbehaviour};
use signpost_test_servers::postgres;

use crate::harness::https::{SYSTEM, await_found, ordering_at, with_secrets_key};
use crate::harness::{Program, Store, concurrently};

/// A moment of an order at which the authority does not answer.
struct Moment {
    endpoint: Endpoint,
    /// Whether the authority does what is asked, although no answer comes.
    is_done: bool,
    /// How many orders the authority has at the end.
    orders: usize,
}

/// One moment of each step. Only an order whose URL was never stored is made again.
const MOMENTS: [Moment; 10] = [
    Moment { endpoint: Endpoint::NewAccount, is_done: true, orders: 1 },
    Moment { endpoint: Endpoint::NewOrder, is_done: false, orders: 1 },
    Moment { endpoint: Endpoint::NewOrder, is_done: true, orders: 2 },
    Moment { endpoint: Endpoint::Order, is_done: false, orders: 1 },
    Moment { endpoint: Endpoint::Authorization, is_done: false, orders: 1 },
    Moment { endpoint: Endpoint::Challenge, is_done: false, orders: 1 },
    Moment { endpoint: Endpoint::Challenge, is_done: true, orders: 1 },
    Moment { endpoint: Endpoint::Finalize, is_done: false, orders: 1 },
    Moment { endpoint: Endpoint::Finalize, is_done: true, orders: 1 },
    Moment { endpoint: Endpoint::Certificate, is_done: false, orders: 1 },
];

/// How many programs run at the same time.
const AT_ONCE: usize = 2;

/// The dead node's claim of the hostname, and its lease of the account, end after two minutes. This ends them at once.
const END_OF_CLAIMS: &str =
    "UPDATE certificates SET next_attempt_at = now(); DELETE FROM leases WHERE name = 'acme-account'";

fn kill_and_go_on(moment: &Moment) {
    let Moment { endpoint, is_done, orders } = moment;
    let at = format!("{endpoint:?}, done: {is_done}");
    let authority = FakeAuthority::start();
    let silence = if *is_done { Misbehaviour::lost_answer() } else { Misbehaviour::silence() };
    authority.misbehave(*endpoint, silence);
    let (_secrets, node) = with_secrets_key(Program::builder().on(Store::Servers));
    // The node asks for CAA records.
    let dns = NameServer::start();
    dns.set(SYSTEM, [Record::address("127.0.0.1")]);
    let mut node = ordering_at(node, &authority.directory(), &authority.roots().display().to_string())
        .setting("dns-servers", &dns.address().to_string())
        .start();
    await_found(&format!("the request: {at}"), || (authority.held_back() > 0).then_some(()));
    node.kill();
    authority.behave(*endpoint);
    let database = node.database().unwrap();
    assert_eq!(database.query("SELECT count(*) FROM certificates WHERE claims = 1"), "1", "{at}");
    let key = || database.query("SELECT encode(order_key, 'hex') FROM certificates");
    let key_before = key();
    database.run(END_OF_CLAIMS);
    node.start_again();
    let shown = await_found(&format!("the certificate: {at}"), || {
        let shown = node.command(&["certificate", "show", SYSTEM, "--json"]);
        (shown["status"] == "active").then_some(shown)
    });
    assert_eq!((&shown["failures"], &shown["failure_reason"]), (&0.into(), &Value::Null), "{at}");
    assert_eq!(authority.orders(), *orders, "{at}");
    let database = node.database().unwrap();
    let state = "SELECT order_url IS NULL AND order_key IS NULL AND claims = 0 FROM certificates";
    assert_eq!(database.query(state), "t", "{at}: the order is over");
    // The key was stored before the order, and is the certificate's.
    let served = database.query("SELECT encode(sealed_key, 'hex') FROM certificates");
    if *endpoint != Endpoint::NewAccount && *endpoint != Endpoint::NewOrder {
        assert_eq!(served, key_before, "{at}");
    }
}

#[test]
fn d187_an_order_survives_a_kill_at_each_step() {
    if let Err(absence) = postgres::try_shared() {
        return absence.tell("crashes during an order");
    }
    concurrently(AT_ONCE, |number| MOMENTS.iter().skip(number).step_by(AT_ONCE).for_each(kill_and_go_on));
}
