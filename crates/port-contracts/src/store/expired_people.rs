//! The deletion of sessions, tickets, failures and entries of the audit that have expired.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{AuditScope, SignInTurn, Store};
use signpost_domain::{
    AUDIT_KEPT, AuditEntry, FAILURES_KEPT, SESSION_IDLE, SESSION_KEPT, SESSION_SHORT, Session,
    SignInFailures, SignInKey, Ticket, TicketPurpose, Timestamp,
};

use super::fixture::Fresh;
use super::given;
use super::people_steps::{self, insert_session, insert_ticket, record};
use crate::samples;

cases! {
    $ expired_people
    d72_ended_sessions_are_deleted
    d70_expired_tickets_are_deleted
    d75_failures_that_no_longer_count_are_deleted
    d78_old_entries_of_the_audit_are_deleted
    expired_people_are_deleted_in_steps
}

const MILLI: Duration = Duration::from_millis(1);

/// More than any case stores.
const ALL: u16 = 500;

fn now() -> Timestamp {
    samples::at(0)
}

fn key(email: &str) -> SignInKey {
    let address = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
    SignInKey::new(&samples::email(email), address)
}

/// Deletes everything that has expired, and repeats it in vain.
async fn delete_all(store: &Arc<dyn Store>) {
    for _ in 0..2 {
        assert!(!store.delete_expired_people(now(), ALL).await.unwrap());
    }
}

pub(super) async fn d72_ended_sessions_are_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    let user = people_steps::user(&store).await.id;
    let session = |is_kept, created_at: Timestamp, seen_at: Timestamp| Session {
        is_kept,
        created_at,
        seen_at,
        confirmed_at: created_at,
        ..samples::session(user)
    };
    let [short, kept, idle] = [SESSION_SHORT, SESSION_KEPT, SESSION_IDLE].map(|length| now().minus(length));
    let sessions = [
        session(false, short.plus(MILLI), short.plus(MILLI)),
        session(false, short, now()),
        session(false, kept, now()),
        session(true, kept.plus(MILLI), now()),
        session(true, kept, now()),
        session(true, short, short),
        session(true, idle, idle.plus(MILLI)),
        session(true, idle, idle),
        session(true, kept.minus(MILLI), kept),
        session(true, Timestamp::EPOCH, Timestamp::EPOCH),
        session(false, now().plus(SESSION_SHORT), now()),
    ];
    for session in &sessions {
        assert!(insert_session(&store, session).await);
    }
    delete_all(&store).await;
    let mut left: Vec<Session> = sessions.iter().filter(|session| session.is_live(now())).cloned().collect();
    assert_eq!(left.len(), 5);
    left.reverse();
    assert_eq!(store.sessions(user).await.unwrap(), left);
}

pub(super) async fn d70_expired_tickets_are_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    let ticket = |email: &str, expires_at| {
        let email = samples::email(email);
        let purpose = TicketPurpose::Invitation { email, joins: None, is_operator: true };
        Ticket { expires_at, ..samples::ticket(purpose) }
    };
    let tickets = [
        ticket("a@example.com", now()),
        ticket("b@example.com", now().plus(MILLI)),
        ticket("c@example.com", Timestamp::EPOCH),
        ticket("d@example.com", Timestamp::LAST),
    ];
    for ticket in &tickets {
        assert!(insert_ticket(&store, ticket).await);
    }
    delete_all(&store).await;
    for ticket in tickets {
        let left = ticket.is_valid(now()).then(|| ticket.clone());
        assert_eq!(store.ticket(&ticket.hash).await.unwrap(), left);
    }
}

pub(super) async fn d75_failures_that_no_longer_count_are_deleted(fresh: Fresh) {
    let store = fresh.store().await;
    let last = now().minus(FAILURES_KEPT);
    let counts = [
        (key("a@example.com"), last),
        (key("b@example.com"), last.plus(MILLI)),
        (key("c@example.com"), Timestamp::EPOCH),
        (key("d@example.com"), now()),
    ];
    for (key, at) in &counts {
        assert_eq!(store.count_sign_in(key, *at).await.unwrap(), SignInTurn::Allowed);
    }
    delete_all(&store).await;
    for (key, at) in &counts {
        let counted = SignInFailures { count: 1, last_at: Some(*at) }.current(now());
        assert_eq!(store.sign_in_failures(key).await.unwrap(), counted);
    }
}

pub(super) async fn d78_old_entries_of_the_audit_are_deleted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let entry = |account_id, at| AuditEntry { account_id, at, ..samples::audit_entry(account) };
    let oldest = now().minus(AUDIT_KEPT);
    let mut entries = vec![
        entry(Some(account), oldest),
        entry(Some(account), now()),
        entry(Some(account), oldest.minus(MILLI)),
        entry(Some(account), Timestamp::EPOCH),
        entry(None, oldest.minus(MILLI)),
    ];
    record(&store, &entries).await;
    delete_all(&store).await;
    entries.truncate(2);
    entries.reverse();
    assert_eq!(
        store.audit_entries(AuditScope::Account(account), given::limit(9), None).await.unwrap().items,
        entries
    );
}

/// Each step deletes at most so many of each kind, the caller repeats it as long as there may be more, and what has not
/// expired stays.
pub(super) async fn expired_people_are_deleted_in_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let user = people_steps::user(&store).await.id;
    assert!(!store.delete_expired_people(now(), 2).await.unwrap());
    let session = people_steps::session(&store, user).await;
    let entry = samples::audit_entry(account);
    record(&store, std::slice::from_ref(&entry)).await;
    let invitation = |number: usize, expires_at| {
        let email = samples::email(&format!("user-{number}@example.com"));
        let purpose = TicketPurpose::Invitation { email, joins: None, is_operator: true };
        Ticket { expires_at, ..samples::ticket(purpose) }
    };
    let ticket = invitation(99, Timestamp::LAST);
    assert!(insert_ticket(&store, &ticket).await);
    assert_eq!(store.count_sign_in(&key("now@example.com"), now()).await.unwrap(), SignInTurn::Allowed);
    let past = Timestamp::EPOCH;
    let mut tickets = Vec::new();
    for number in 0..5 {
        let is_kept = number % 2 == 0;
        let old = Session { is_kept, created_at: past, seen_at: past, ..samples::session(user) };
        assert!(insert_session(&store, &old).await);
        record(&store, &[AuditEntry { at: past, ..samples::audit_entry(account) }]).await;
        tickets.push(invitation(number, past));
        assert!(insert_ticket(&store, &tickets[number]).await);
        let key = key(&format!("user-{number}@example.com"));
        assert_eq!(store.count_sign_in(&key, past).await.unwrap(), SignInTurn::Allowed);
    }
    let left = async || {
        let mut left_tickets = 0;
        for ticket in &tickets {
            left_tickets += usize::from(store.ticket(&ticket.hash).await.unwrap().is_some());
        }
        let mut left_counts = 0;
        for number in 0..5 {
            let failures = store.sign_in_failures(&key(&format!("user-{number}@example.com"))).await.unwrap();
            left_counts += usize::from(failures.count > 0);
        }
        let sessions = store.sessions(user).await.unwrap().len() - 1;
        let audit = store
            .audit_entries(AuditScope::Account(account), given::limit(9), None)
            .await
            .unwrap()
            .items
            .len()
            - 1;
        [sessions, left_tickets, left_counts, audit]
    };
    for (expected, has_more) in [(3, true), (1, true), (0, false), (0, false)] {
        assert_eq!(store.delete_expired_people(now(), 2).await.unwrap(), has_more);
        assert_eq!(left().await, [expected; 4]);
    }
    assert_eq!(store.sessions(user).await.unwrap(), [session]);
    assert_eq!(
        store.audit_entries(AuditScope::Account(account), given::limit(9), None).await.unwrap().items,
        [entry]
    );
    assert_eq!(store.ticket(&ticket.hash).await.unwrap(), Some(ticket));
    assert_eq!(store.sign_in_failures(&key("now@example.com")).await.unwrap().count, 1);
}
