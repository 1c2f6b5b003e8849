//! Wrong and hostile answers cost bounded time, and never count as a "no" (contract D42, reliability R21).
//!
//! The time limit proves it: with a limit of minutes, a call ends because of the answer; with a short limit,
//! it ends although no answer comes.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

mod asking;

use std::time::{Duration, Instant};

use signpost_domain::HostResolution;
use signpost_test_servers::dns::{Behaviour, NameServer, Record, Recursion, Transport};

use self::asking::{
    GUARD, HOST, PROMPT, PROOF, Verdict, absent_server, ask, asking_for, known_server, undisturbed, verdicts,
};

/// A short limit for calls that get no answer.
const MOMENT: Duration = Duration::from_millis(250);
/// Too long to reach: the tests' own guard ends earlier.
const LONG: Duration = Duration::from_mins(10);

/// Refusals and malformed answers fail at once, without waiting for the time limit.
#[tokio::test]
async fn invalid_answer_fails_at_once() {
    for (behaviour, reason) in [
        (Behaviour::ServFail, "code 2"),
        (Behaviour::Refused, "code 5"),
        (Behaviour::TruncateAll, "cut short"),
        (Behaviour::TruncateUdpAndResetTcp, "not reached"),
        (Behaviour::ForeignRecords, "does not fit"),
        (Behaviour::Referral, "without authority"),
        (Behaviour::Ignorant, "without authority"),
    ] {
        let server = known_server();
        server.behave(behaviour);
        let [texts, addresses] = verdicts(&[server.address()], LONG).await;
        for verdict in [texts, addresses] {
            let Verdict::Unavailable(told) = verdict else { panic!("{behaviour:?}: {verdict:?}") };
            assert!(told.contains(reason), "{behaviour:?}: {told}");
            assert!(!told.contains("elsewhere") && !told.contains("verification"), "{told}");
        }
    }
}

/// The call waits out silence, and answers that may be forged, until the time limit (R21).
#[tokio::test]
async fn missing_answer_fails_at_the_time_limit() {
    for behaviour in [
        Behaviour::Silent,
        Behaviour::Delay(LONG),
        Behaviour::WrongId,
        Behaviour::WrongQuestion,
        Behaviour::Echo,
        Behaviour::Junk,
        Behaviour::CutOff,
    ] {
        let server = known_server();
        server.behave(behaviour);
        for verdict in verdicts(&[server.address()], MOMENT).await {
            assert!(matches!(verdict, Verdict::Unavailable(_)), "{behaviour:?}: {verdict:?}");
        }
        server.queried(PROOF, 1).await;
    }
}

/// No process listens there, so datagrams are lost.
#[tokio::test]
async fn unreachable_server_is_a_failure() {
    let (_kept, absent) = absent_server();
    for verdict in verdicts(&[absent], MOMENT).await {
        assert!(matches!(verdict, Verdict::Unavailable(_)), "{verdict:?}");
    }
}

/// A definite "no such record" is an answer (D42), in every form that servers use.
#[tokio::test]
async fn definite_no_is_an_answer() {
    for behaviour in [Behaviour::NxDomain, Behaviour::NoData] {
        let server = known_server();
        server.behave(behaviour);
        let nothing = [Verdict::Texts(Vec::new()), Verdict::Leads(HostResolution::default())];
        assert_eq!(verdicts(&[server.address()], LONG).await, nothing, "{behaviour:?}");
    }
    for recursion in [Recursion::WholeChain, Recursion::FirstAlias] {
        let server = NameServer::start();
        server.set_recursion(recursion);
        server.behave(Behaviour::AnswerWithoutSoa);
        let nothing = [Verdict::Texts(Vec::new()), Verdict::Leads(HostResolution::default())];
        assert_eq!(verdicts(&[server.address()], LONG).await, nothing, "{recursion:?}");
    }
}

/// An answer that exceeds a datagram is requested over TCP.
#[tokio::test]
async fn truncated_answer_is_requested_again_over_tcp() {
    let server = known_server();
    let expected = verdicts(&[server.address()], LONG).await;
    assert_eq!(server.queries(PROOF, Transport::Tcp), 0);
    server.behave(Behaviour::TruncateUdp);
    assert_eq!(verdicts(&[server.address()], LONG).await, expected);
    assert_eq!(server.queries(PROOF, Transport::Tcp), 1);
}

#[tokio::test]
async fn answer_of_60_kilobytes_is_read_completely() {
    let server = NameServer::start();
    let mut texts: Vec<String> = (0..250).map(|number| format!("{number:03}{}", "x".repeat(230))).collect();
    texts.push("signpost-verification=abc".to_owned());
    server.set(PROOF, texts.iter().map(|text| Record::text(text)));
    let found = ask(&[server.address()], LONG).texts(PROOF).await.unwrap();
    assert_eq!(found, texts);
}

/// An answer holds at most 64 KiB, so only that many of 10,000 records arrive.
#[tokio::test]
async fn answer_with_10_000_records_is_limited_to_64_kilobytes() {
    let server = NameServer::start();
    server.set(PROOF, (0..10_000).map(|number| Record::text(&format!("{number:04}"))));
    let found = ask(&[server.address()], LONG).texts(PROOF).await.unwrap();
    assert!((3_000..10_000).contains(&found.len()), "{}", found.len());
    assert_eq!(found.last(), Some(&format!("{:04}", found.len() - 1)));
}

/// A chain may have at most eight aliases (D39), which bounds the queries.
#[tokio::test]
async fn endless_chain_costs_at_most_nine_rounds() {
    for recursion in [Recursion::WholeChain, Recursion::FirstAlias] {
        let (found, first_queries, queries_beyond) = undisturbed(PROMPT, async || {
            let server = NameServer::start();
            server.set_recursion(recursion);
            server.set(HOST, [Record::alias("n0.provider.net")]);
            let name = |number: usize| format!("n{number}.provider.net");
            for number in 0..1_000 {
                server.set(&name(number), [Record::alias(&name(number + 1))]);
            }
            let found = ask(&[server.address()], LONG).resolution(HOST).await.unwrap();
            let asked = |name: &str| server.queries(name, Transport::Udp);
            (found, asked(HOST), (8..1_000).map(|number| asked(&name(number))).sum::<usize>())
        })
        .await;
        assert_eq!((found.chain.len(), found.addresses.len()), (8, 0));
        assert!((1..=2).contains(&first_queries), "each family once");
        assert_eq!(queries_beyond, 0, "{recursion:?}");
    }
}

/// Several aliases at one name, and an alias beside addresses, violate the standard. They are read the same
/// way each time.
#[tokio::test]
async fn contradictory_records_are_read_consistently() {
    let server = NameServer::start();
    server.set("a.provider.net", [Record::address("192.0.2.1")]);
    server.set("b.provider.net", [Record::address("192.0.2.2")]);
    let [a, b] = ["a.provider.net", "b.provider.net"].map(Record::alias);
    let own = Record::address("192.0.2.3");
    for records in [vec![a.clone(), b.clone()], vec![b.clone(), own.clone(), a.clone()], vec![own, a, b]] {
        server.set(HOST, records);
        let found = ask(&[server.address()], LONG).resolution(HOST).await.unwrap();
        assert_eq!(found.chain, ["a.provider.net"]);
        assert_eq!(found.addresses, ["192.0.2.1".parse().unwrap()].into());
    }
}

/// Records at the end of the chain do not count if the next round shows that the chain continues. The first
/// datagram of that round is lost, and the second sees the change.
#[tokio::test]
async fn chain_that_changes_meanwhile_is_read_as_one() {
    let start = Instant::now();
    let found = loop {
        let server = NameServer::start();
        server.set(HOST, [Record::alias("edge.example.com")]);
        server.set("edge.example.com", [Record::address("192.0.2.1")]);
        let elsewhere = ["198.51.100.1", "2001:db8::1"].map(Record::address);
        server.set("elsewhere.example.org", elsewhere);
        server.behave_for("edge.example.com", Behaviour::Silent);
        let asking = ask(&[server.address()], Duration::from_secs(5));
        let (found, ()) = tokio::join!(asking.resolution(HOST), async {
            server.queried("edge.example.com", 1).await;
            server.set("edge.example.com", [Record::alias("elsewhere.example.org")]);
            server.behave_for("edge.example.com", Behaviour::Answer);
        });
        // The query is sent three times within a second. A busy server may receive all of them before the change.
        match found {
            Ok(found) => break found,
            Err(error) => assert!(start.elapsed() < GUARD, "{error:?}"),
        }
    };
    assert_eq!(found.chain, ["edge.example.com", "elsewhere.example.org"]);
    let expected = ["198.51.100.1", "2001:db8::1"].map(|address| address.parse().unwrap());
    assert_eq!(found.addresses, expected.into());
}

/// A failure on the way makes the result unknown; it does not make the end of the chain empty (D42).
#[tokio::test]
async fn failure_within_the_chain_fails_the_call() {
    let server = NameServer::start();
    server.set_recursion(Recursion::FirstAlias);
    server.set(HOST, [Record::alias("edge.example.com")]);
    server.set("edge.example.com", [Record::address("192.0.2.1")]);
    server.behave_for("edge.example.com", Behaviour::Refused);
    ask(&[server.address()], LONG).resolution(HOST).await.unwrap_err();
    server.behave_for("edge.example.com", Behaviour::Answer);
    let found = ask(&[server.address()], LONG).resolution(HOST).await.unwrap();
    assert_eq!(found.addresses, ["192.0.2.1".parse().unwrap()].into());
}

/// Two concurrent calls send two queries: the second must not get the state from the first one's start (D42).
#[tokio::test]
async fn concurrent_calls_do_not_share_an_answer() {
    let server = NameServer::start();
    server.behave(Behaviour::Delay(Duration::from_millis(200)));
    let dns = asking_for(&[server.address()], LONG);
    let first = tokio::spawn({
        let dns = dns.clone();
        async move { asking::texts(&dns, PROOF).await }
    });
    server.queried(PROOF, 1).await;
    server.set(PROOF, [Record::text("fresh")]);
    assert_eq!(asking::texts(&dns, PROOF).await.unwrap(), ["fresh"]);
    // Its answer is not checked: if a busy machine delays it, the first call asks again too.
    first.await.unwrap().unwrap();
}
