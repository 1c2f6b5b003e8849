//! Warnings about the hosts that visits name (D54).

use signpost_app::ports::Store as _;
use signpost_app::visits::HostLog;
use signpost_domain::{CheckPlan, Timestamp};
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;

const HOUR: i64 = 3_600;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_000 * seconds).unwrap()
}

#[tokio::test]
async fn d54_an_unknown_host_is_logged_once_an_hour() {
    let (log, hosts, memory) = (Log::begin(), HostLog::default(), InMemory::default());
    let miss = async |host: &str, seconds| {
        hosts.note_miss(&memory.store, &samples::hostname(host), at(seconds)).await;
    };
    miss("one.example", 0).await;
    for seconds in 1..HOUR {
        miss("two.example", seconds).await;
    }
    miss("three.example", HOUR).await;
    assert_eq!(log.count(""), 2);
    for part in ["\"one.example\"", "\"three.example\""] {
        assert_eq!(log.lines(part).iter().filter(|line| line.contains("`system-url`")).count(), 1, "{part}");
    }
}

#[tokio::test]
async fn d54_connected_domains_and_outages_are_no_unknown_hosts() {
    let (log, hosts, memory) = (Log::begin(), HostLog::default(), InMemory::default());
    let account = samples::account();
    let mut work = memory.store.begin().await.unwrap();
    work.insert_account(&account).await.unwrap();
    let domain = samples::custom_domain(account.id, "go.example");
    let unchecked = CheckPlan { next_check_at: None, checks_made: 0 };
    work.insert_custom_domain(&domain, unchecked, 10).await.unwrap();
    work.commit().await.unwrap();
    let miss = async |host: &str, seconds| {
        hosts.note_miss(&memory.store, &samples::hostname(host), at(seconds)).await;
    };
    miss("go.example", 0).await;
    memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    miss("one.example", 10).await;
    // A look-up was made less than 10 seconds ago.
    miss("two.example", 19).await;
    assert_eq!(log.count("WARN"), 0);
    miss("three.example", 20).await;
    assert_eq!(log.count("\"three.example\""), 1);
}

#[test]
fn d54_a_replaced_host_is_logged_once_an_hour_with_both_names() {
    let (log, hosts) = (Log::begin(), HostLog::default());
    for seconds in [0, 1, HOUR - 1, HOUR] {
        hosts.note_replaced("signpost_links", &samples::hostname("go.example"), at(seconds));
    }
    let lines = log.lines("\"signpost_links\"");
    assert_eq!((lines.len(), log.count("")), (2, 2));
    assert!(
        lines.iter().all(|line| line.contains("\"go.example\"") && line.contains("proxy_set_header Host"))
    );
}

#[test]
fn r31_hosts_are_quoted_within_one_line() {
    let longest = "a".repeat(10_000);
    for (host, quoted) in [
        ("a_b:80", "\"a_b:80\"".to_owned()),
        ("a\"\n\u{202e}\u{1b}", r#""a\"\n\u{202e}\u{1b}""#.to_owned()),
        (&longest, format!("\"{}\"", "a".repeat(253))),
    ] {
        let (log, hosts) = (Log::begin(), HostLog::default());
        hosts.note_unknown(host, at(0));
        assert_eq!(log.count(&format!("the host {quoted},")), 1, "{:?}", log.lines(""));
    }
}
