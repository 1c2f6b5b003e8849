//! One answering server is enough (contract D42, reliability R21).

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod asking;

use std::time::Duration;

use signpost_dns::{DnsOptions, DnsOptionsError, HickoryDns, NameServers};
use signpost_test_servers::dns::{Behaviour, NameServer, Record, Recursion, Transport};

use self::asking::{
    HOST, PROMPT, PROOF, Verdict, absent_server, ask, known, known_server, undisturbed, verdicts,
};

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
        // The first server gets the first query.
        broken.queried(PROOF, 1).await;
    }
}

#[tokio::test]
async fn second_server_answers_if_the_first_is_unreachable() {
    let ((_kept, absent), whole) = (absent_server(), known_server());
    assert_eq!(verdicts(&[absent, whole.address()], LONG).await, known());
}

/// "Yes" and "no" of the first server count alike: the operator chose the order.
#[tokio::test]
async fn second_server_is_not_asked_if_the_first_answers() {
    for records in [vec![Record::text("first")], Vec::new()] {
        let expected: Vec<&str> = records.iter().map(|_| "first").collect();
        let (found, queries) = undisturbed(PROMPT, async || {
            let (first, second) = (NameServer::start(), known_server());
            first.set(PROOF, records.clone());
            let found = ask(&[first.address(), second.address()], LONG).texts(PROOF).await.unwrap();
            (found, second.queries(PROOF, Transport::Udp))
        })
        .await;
        assert_eq!(found, expected);
        assert_eq!(queries, 0, "to the second server");
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
    let name = |number: usize| format!("n{number}.provider.net");
    let patience = DnsOptions { time_limit: LONG, ..DnsOptions::default() }.patience(2);
    let (found, later_queries) = undisturbed(patience + PROMPT, async || {
        let (dead, whole) = (NameServer::start(), NameServer::start());
        dead.behave(Behaviour::Silent);
        whole.set_recursion(Recursion::FirstAlias);
        whole.set(HOST, [Record::alias(&name(1))]);
        for number in 1..8 {
            whole.set(&name(number), [Record::alias(&name(number + 1))]);
        }
        whole.set(&name(8), [Record::address("192.0.2.1")]);
        let found = ask(&[dead.address(), whole.address()], LONG).resolution(HOST).await.unwrap();
        dead.queried(HOST, 1).await;
        (found, (1..=8).map(|number| dead.queries(&name(number), Transport::Udp)).sum::<usize>())
    })
    .await;
    assert_eq!(found.addresses, ["192.0.2.1".parse().unwrap()].into());
    assert_eq!(later_queries, 0, "to the dead server");
}

#[test]
fn empty_server_list_is_refused_at_creation() {
    let options = DnsOptions { servers: NameServers::Listed(Vec::new()), ..DnsOptions::default() };
    assert_eq!(HickoryDns::new(&options).unwrap_err(), DnsOptionsError::NoServer);
}
