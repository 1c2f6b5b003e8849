//! People: how many failed attempts to sign in are counted (D75), and which clock decides (D80, R22).

use std::net::Ipv4Addr;
use std::time::Duration;

use futures_util::future::{join_all, join3};
use signpost_app::ports::{AccountReads, AuditScope, PeopleReads, PeopleUpkeep, SignInTurn, Store};
use signpost_domain::{
    AUDIT_KEPT, ApiKey, AuditEntry, FAILURE_COUNTS_KEPT, FAILURES_KEPT, PageLimit, SESSION_IDLE,
    SESSION_KEPT, SESSION_SHORT, Session, SignInKey, Ticket, TicketPurpose, Timestamp,
};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::clocks::now;
use super::database::{account, insert, migrated, open};

const HOUR: Duration = Duration::from_hours(1);

fn key(number: u32) -> SignInKey {
    let email = samples::email(&format!("user-{number}@example.com"));
    SignInKey::new(&email, Ipv4Addr::new(192, 0, 2, 1).into())
}

async fn count(store: &PostgresStore, number: u32, at: Timestamp) {
    assert_eq!(store.count_sign_in(&key(number), at).await.unwrap(), SignInTurn::Allowed);
}

async fn failures(store: &PostgresStore, number: u32) -> u32 {
    store.sign_in_failures(&key(number)).await.unwrap().count
}

/// The number of rows, which the row about the table must name as well.
fn rows(database: &PostgresDatabase) -> u32 {
    let [rows, counted] = ["SELECT count(*) FROM sign_in_counts", "SELECT counts FROM sign_in_totals"]
        .map(|sql| database.query(sql).trim().parse().unwrap());
    assert_eq!(rows, counted);
    rows
}

/// The oldest are dropped, one for each new one, also by concurrent attempts.
#[tokio::test(flavor = "multi_thread")]
async fn d75_number_of_counts_is_bounded() {
    let database = migrated().await;
    let store = open(&database).await;
    count(&store, 1, samples::at(1_000_000)).await;
    count(&store, 2, samples::at(0)).await;
    let others = FAILURE_COUNTS_KEPT - 2;
    database.run(&format!(
        "INSERT INTO sign_in_counts SELECT sha256(n::text::bytea), 1, timestamptz '{}' + n * interval '1 ms' FROM \
         generate_series(1, {others}) AS n; UPDATE sign_in_totals SET counts = counts + {others}",
        samples::at(1)
    ));
    assert_eq!(rows(&database), FAILURE_COUNTS_KEPT);
    // One more failure with a known key drops nothing.
    count(&store, 1, samples::at(1_000_001)).await;
    assert_eq!((failures(&store, 1).await, failures(&store, 2).await), (2, 1));
    count(&store, 3, samples::at(1_000_000)).await;
    assert_eq!((failures(&store, 3).await, failures(&store, 2).await), (1, 0));
    assert_eq!(rows(&database), FAILURE_COUNTS_KEPT);
    let attempts = (10..40).map(|number| count(&store, number, samples::at(1_000_000)));
    join_all(attempts).await;
    assert_eq!(rows(&database), FAILURE_COUNTS_KEPT);
    for number in (10..40).chain([1, 3]) {
        assert_ne!(failures(&store, number).await, 0);
    }
    store.forget_sign_ins(&key(3)).await.unwrap();
    store.forget_sign_ins(&key(3)).await.unwrap();
    assert_eq!(rows(&database), FAILURE_COUNTS_KEPT - 1);
    // Attempts that succeed, others and the upkeep, all at once.
    let passed = samples::at(20_000).plus(FAILURES_KEPT);
    let attempts = (20..60).map(|number| count(&store, number, samples::at(1_000_000)));
    let successes = (10..30).map(async |number| store.forget_sign_ins(&key(number)).await.unwrap());
    let upkeep = (0..4).map(async |_| store.delete_expired_people(passed, 2_000).await.unwrap());
    join3(join_all(attempts), join_all(successes), join_all(upkeep)).await;
    assert!(rows(&database) <= FAILURE_COUNTS_KEPT - 2_000);
}

/// R22 and D80: a node that is behind accepts no key that has expired, and one that is ahead leaves the decision to its caller.
#[tokio::test(flavor = "multi_thread")]
async fn d80_key_that_has_expired_by_the_clock_of_the_server_is_not_found() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, now) = (account(&store).await, now(&database));
    let link = samples::redirect("a");
    insert(&store, account, link.clone()).await;
    for (expires_at, is_found) in [
        (None, true),
        (Some(now.plus(HOUR)), true),
        (Some(now), false),
        (Some(now.minus(HOUR)), false),
        (Some(Timestamp::EPOCH), false),
    ] {
        let key = ApiKey { expires_at, ..samples::key(account).0 };
        let mut work = store.begin().await.unwrap();
        assert!(work.insert_key(&key).await.unwrap());
        work.commit().await.unwrap();
        let found = store.key_holder(&key.hash).await.unwrap();
        assert_eq!(found.map(|holder| holder.key), is_found.then(|| key.clone()));
        let (holder, found) = store.key_holder_with_link(&key.hash, link.id.into()).await.unwrap();
        assert_eq!((holder.is_some(), found.is_some()), (is_found, is_found), "{expires_at:?}");
        assert!(store.keys(account).await.unwrap().contains(&key));
    }
}

/// R22: a node that is years ahead ends no session, voids no ticket, and forgets neither failures nor the audit.
#[tokio::test(flavor = "multi_thread")]
async fn r22_node_that_is_ahead_deletes_no_people() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, now) = (account(&store).await, now(&database));
    let user = samples::user();
    // What is kept so long from this instant on expires in an hour.
    let almost = |kept: Duration| now.minus(kept).plus(HOUR);
    let session =
        |is_kept, created_at, seen_at| Session { is_kept, created_at, seen_at, ..samples::session(user.id) };
    let sessions = [
        session(true, almost(SESSION_KEPT), now),
        session(true, almost(SESSION_IDLE), almost(SESSION_IDLE)),
        session(false, almost(SESSION_SHORT), now),
    ];
    let ticket = |email: &str, expires_at| {
        let email = samples::email(email);
        let purpose = TicketPurpose::Invitation { email, joins: None, is_operator: true };
        Ticket { expires_at, ..samples::ticket(purpose) }
    };
    let tickets = [ticket("a@example.com", now.plus(HOUR)), ticket("b@example.com", now.minus(HOUR))];
    let entry = AuditEntry { at: almost(AUDIT_KEPT), ..samples::audit_entry(account) };
    let mut work = store.begin().await.unwrap();
    work.insert_user(&user).await.unwrap();
    for session in &sessions {
        assert!(work.insert_session(session).await.unwrap());
    }
    for ticket in &tickets {
        assert!(work.insert_ticket(ticket).await.unwrap());
    }
    work.record(&entry).await.unwrap();
    work.commit().await.unwrap();
    count(&store, 1, almost(FAILURES_KEPT)).await;
    let years_ahead = now.plus(AUDIT_KEPT * 9);
    assert!(!store.delete_expired_people(years_ahead, 9).await.unwrap());
    assert_eq!(store.sessions(user.id).await.unwrap().len(), sessions.len());
    assert_eq!(store.ticket(&tickets[0].hash).await.unwrap().as_ref(), Some(&tickets[0]));
    assert_eq!(store.ticket(&tickets[1].hash).await.unwrap(), None);
    assert_eq!(
        store.audit_entries(AuditScope::Account(account), PageLimit::default(), None).await.unwrap().items,
        [entry]
    );
    assert_eq!(failures(&store, 1).await, 1);
}
