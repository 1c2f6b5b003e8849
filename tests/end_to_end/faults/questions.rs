//! Analytics queries do not slow down redirects (R46).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::harness::{Account, Program, SetWhenDropped, Visitor, redirect_body};
use crate::size::{count, report};

/// How many accounts query.
const ACCOUNTS: usize = 10;

/// Each account queries its last 365 days by day, with three dimensions.
const YEAR: Duration = Duration::from_hours(365 * 24);

/// How long to wait for an answer. Only a failure waits so long.
const PATIENCE: Duration = Duration::from_mins(1);

/// Opens every link equally often, and returns the times of the redirects, the shortest first.
fn visit_all(visitor: &Visitor, slugs: &[String], rounds: usize) -> Vec<Duration> {
    let mut took: Vec<Duration> = (0..rounds)
        .flat_map(|_| slugs)
        .map(|slug| {
            let begin = Instant::now();
            assert_eq!(visitor.open(&format!("/{slug}")).status, 302, "{slug}");
            begin.elapsed()
        })
        .collect();
    took.sort_unstable();
    took
}

fn p99(took: &[Duration]) -> Duration {
    took[took.len() * 99 / 100]
}

/// The path of the query over a year.
fn question() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let (start, end) = (now.checked_sub(YEAR).unwrap().as_millis(), now.as_millis());
    format!(
        "/v1/analytics?start_date={start}&end_date={end}&interval=day&dimensions=country,browser,referrer"
    )
}

/// Queries until the test is over. Under load a query may get the documented 503 (D51), but no other error.
fn ask(account: &Account, question: &str, answered: &AtomicU64, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let answer = account.get(question);
        match answer.status {
            200 => answered.fetch_add(1, Ordering::Relaxed),
            503 => continue,
            status => panic!("{status}: {:?}", answer.body),
        };
    }
}

#[test]
fn r46_redirects_stay_fast_while_ten_accounts_query_a_year() {
    let program = Program::builder()
        .setting("throttle-per-minute", "0")
        .setting("miss-throttle-per-minute", "0")
        .start();
    let accounts: Vec<Account> = (0..ACCOUNTS).map(|_| program.account("agency")).collect();
    let slugs: Vec<String> = (0..ACCOUNTS).map(|number| format!("sale-{number}")).collect();
    for (account, slug) in accounts.iter().zip(&slugs) {
        account.create_redirect(&redirect_body(json!({"slug": slug})));
    }
    let visitor = program.visitor();
    // Every account has clicks to count.
    visit_all(&visitor, &slugs, 20);
    let rounds = count(30, 1_000);
    let alone = visit_all(&visitor, &slugs, rounds);
    let question = question();
    let answered: Vec<AtomicU64> = accounts.iter().map(|_| AtomicU64::new(0)).collect();
    let is_over = AtomicBool::new(false);
    let meanwhile = std::thread::scope(|scope| {
        let _over = SetWhenDropped(&is_over);
        for (account, answered) in accounts.iter().zip(&answered) {
            let (question, is_over) = (&question, &is_over);
            scope.spawn(move || ask(account, question, answered, is_over));
        }
        let meanwhile = visit_all(&visitor, &slugs, rounds);
        let since = Instant::now();
        while answered.iter().any(|answers| answers.load(Ordering::Relaxed) == 0) {
            assert!(since.elapsed() < PATIENCE, "an account gets no answer: {answered:?}");
            visit_all(&visitor, &slugs, 1);
        }
        meanwhile
    });
    let [alone, meanwhile] = [p99(&alone), p99(&meanwhile)];
    let ratio = meanwhile.as_secs_f64() / alone.as_secs_f64();
    let questions: u64 = answered.into_iter().map(AtomicU64::into_inner).sum();
    let measured = format!(
        "p99 of redirects {alone:.2?} alone, {meanwhile:.2?} during {questions} questions: {ratio:.2} times"
    );
    report("R46, questions", &measured);
}
