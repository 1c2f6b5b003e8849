//! One answering server is enough (contract D42, reliability R21).

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod asking;

use std::time::Duration;

use signpost_dns::{DnsOptions, DnsOptionsError, HickoryDns, NameServers};
use signpost_test_servers::dns::{Behaviour, NameServer, Record, Recursion, Transport};

use self::asking::{HOST, PROOF, Verdict, ask, known, known_server, verdicts};

const LONG: Duration = Duration::from_mins(10);

#[tokio::test]
async fn second_server_answers_if_the_first_fails() {
    for behaviour in [
        Behaviour::Silent,
        Behaviour::ServFail,
        Behaviour::Refused,
        Behaviour::Junk,
        Behaviour::CutOff,
        Behaviour::WrongId,
        Behaviour::TruncateAll,
        Behaviour::TruncateUdpAndResetTcp,
        Behaviour::Referral,
        Behaviour::Ignorant,
        Behaviour::ForeignRecords,
    ] {
        let (broken, whole) = (known_server(), known_server());
        broken.behave(behaviour);
        assert_eq!(verdicts(&[broken.address(), whole.address()], LONG).await, known(), "{behaviour:?}");
        assert!(
            broken.queries(PROOF, Transport::Udp) >= 1,
            "{behaviour:?}: the first server gets the first query"
        );
    }
}

#[tokio::test]
async fn second_server_answers_if_the_first_is_unreachable() {
    let (gone, whole) = (NameServer::start().address(), known_server());
    assert_eq!(verdicts(&[gone, whole.address()], LONG).await, known());
}

/// "Yes" and "no" of the first server count alike: the operator chose the order.
#[tokio::test]
async fn second_server_is_not_asked_if_the_first_answers() {
    for records in [vec![Record::text("first")], Vec::new()] {
        let (first, second) = (NameServer::start(), known_server());
        let expected: Vec<&str> = records.iter().map(|_| "first").collect();
        first.set(PROOF, records);
        let found = ask(&[first.address(), second.address()], LONG).texts(PROOF).await.unwrap();
        assert_eq!(found, expected);
        assert_eq!(second.queries(PROOF, Transport::Udp), 0);
    }
}

/// The log gets the reason of each server (D42).
#[tokio::test]
async fn failure_of_all_servers_reports_each_reason() {
    let (first, second) = (known_server(), known_server());
    first.behave(Behaviour::ServFail);
    second.behave(Behaviour::Refused);
    for verdict in verdicts(&[first.address(), second.address()], LONG).await {
        let Verdict::Unavailable(reason) = verdict else { panic!("{verdict:?}") };
        for (server, code) in [(&first, "code 2"), (&second, "code 5")] {
            assert!(reason.contains(&format!("{}: the {code}", server.address())), "{reason}");
        }
    }
}

/// A call waits once for a dead first server, not once for each alias, so a long chain is followed in time
/// (R21).
#[tokio::test]
async fn call_waits_once_for_a_dead_server() {
    let (dead, whole) = (NameServer::start(), NameServer::start());
    dead.behave(Behaviour::Silent);
    whole.set_recursion(Recursion::FirstAlias);
    let name = |number: usize| format!("n{number}.provider.net");
    whole.set(HOST, [Record::alias(&name(1))]);
    for number in 1..8 {
        whole.set(&name(number), [Record::alias(&name(number + 1))]);
    }
    whole.set(&name(8), [Record::address("192.0.2.1")]);
    let found = ask(&[dead.address(), whole.address()], LONG).resolution(HOST).await.unwrap();
    assert_eq!(found.addresses, ["192.0.2.1".parse().unwrap()].into());
    assert!(dead.queries(HOST, Transport::Udp) >= 1);
    assert_eq!((1..=8).map(|number| dead.queries(&name(number), Transport::Udp)).sum::<usize>(), 0);
}

#[test]
fn empty_server_list_is_refused_at_creation() {
    let options = DnsOptions { servers: NameServers::Listed(Vec::new()), ..DnsOptions::default() };
    assert_eq!(HickoryDns::new(&options).unwrap_err(), DnsOptionsError::NoServer);
}
