//! People, their memberships and sessions, tickets, failed sign-ins, the audit, and the last uses of keys.

use std::net::Ipv4Addr;

use signpost_app::ports::{
    AccountReads, AuditFilter, AuditScope, MemberChange, PeopleReads, PeopleUpkeep, SignInTurn, Store,
};
use signpost_domain::{
    ApiKeyId, AuditAction, Id, Membership, PageLimit, PagePosition, Role, SignInKey, TicketPurpose,
    Timestamp, User, UserId,
};
use signpost_port_contracts::samples;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, own, recorder, resources};

/// How many rows each table has before the test.
const ROWS: u32 = 20_000;

/// How many rows of each table are deleted at once.
const AT_ONCE: u16 = 500;

/// As many counts of failures as are kept, and as many rows of each other table, half of them expired.
pub(crate) fn fill(database: &PostgresDatabase) {
    let now = samples::at(0);
    let id = "('02' || lpad(to_hex(n), 30, '0'))::uuid";
    let account = "(SELECT min(a.id::text)::uuid FROM accounts AS a)";
    let at = format!(
        "timestamptz '{now}' - (n % 2) * interval '500 days' + (n * 7919 % {ROWS}) * interval '1 ms'"
    );
    database.run(&format!(
        "INSERT INTO users SELECT {id}, 'user-' || n, 'user-' || n, NULL, NULL, false, NULL, 'UTC', 'auto', 'en', true, \
         {at} FROM generate_series(1, {ROWS}) AS n; \
         INSERT INTO memberships SELECT {id}, {account}, 'viewer', {at} FROM generate_series(1, {ROWS}) AS n; \
         INSERT INTO sessions SELECT {id}, sha256(n::text::bytea), ('02' || lpad(to_hex(n / 50 + 1), 30, '0'))::uuid, \
         {at}, {at}, {at}, n % 4 < 2, NULL, NULL FROM generate_series(1, {ROWS}) AS n; \
         INSERT INTO tickets SELECT sha256(n::text::bytea), 'invitation', 'a-' || n, 'a-' || n, \
         CASE WHEN n % 2 = 0 THEN {account} END, NULL, 'viewer', false, {at}, {at} + interval '7 days' \
         FROM generate_series(1, {ROWS}) AS n; \
         INSERT INTO sign_in_counts SELECT sha256(n::text::bytea), 1, {at} FROM generate_series(1, 100000) AS n; \
         UPDATE sign_in_totals SET counts = 100000; \
         INSERT INTO audit_entries SELECT {id}, CASE WHEN n % 3 > 0 THEN {account} END, 'command', NULL, 'key_issued', \
         '', NULL, {at} FROM generate_series(1, {ROWS}) AS n; \
         INSERT INTO api_keys (id, account_id, hash, last_four, created_at) SELECT {id}, {account}, \
         sha256(n::text::bytea), 'abcd', {at} FROM generate_series(1, {ROWS}) AS n; \
         ANALYZE users, memberships, sessions, tickets, sign_in_counts, audit_entries, api_keys"
    ));
}

fn assert_indexed(plans: &str) {
    for table in
        ["users", "memberships", "sessions", "tickets", "sign_in_counts", "audit_entries", "api_keys"]
    {
        assert!(!plans.contains(&format!("Seq Scan on {table}")), "{plans}");
    }
}

/// The user with this number.
fn user(number: u32) -> UserId {
    Id::from_bytes(resources::bytes(number))
}

/// Repeated, because PostgreSQL may choose another plan from the sixth run on.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    for turn in 0..8 {
        reads(subject).await;
        writes(subject, turn).await;
        upkeep(subject, turn).await;
    }
    for _ in 0..8 {
        expired_rows(subject).await;
    }
}

/// Four statements each, of which every one reads a part of an index.
async fn searches(subject: &Subject, behind: Option<PagePosition>) {
    let Subject { store, account, .. } = subject;
    for scope in [AuditScope::Account(*account), AuditScope::Installation] {
        let filter = AuditFilter {
            action: Some(AuditAction::KeyRevoked),
            text: Some("nothing".to_owned()),
            from: Some(samples::at(-1)),
            until: Some(samples::at(i64::from(ROWS))),
            ..AuditFilter::default()
        };
        let plans = subject
            .plans(async {
                let (statements, page) = recorder::recorded(store.matching_audit_entries(
                    scope,
                    &filter,
                    PageLimit::default(),
                    behind,
                ))
                .await;
                assert_eq!(statements.len(), 4, "{statements:#?}");
                assert!(page.unwrap().items.is_empty());
            })
            .await;
        assert_indexed(&plans);
        // One entry at each end of the period. The entries themselves are found by their ids, which bounds their number.
        assert_eq!(plans.matches("audit_entries_age on").count(), 2, "{plans}");
    }
}

/// One statement each. Lists read a range of an index.
async fn reads(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let behind = Some(PagePosition::behind(resources::bytes(ROWS / 2)));
    let plans = subject
        .plans(async {
            for account in [Some(*account), None] {
                let (statements, found) =
                    recorder::recorded(store.session_holder(&samples::token_hash(), account)).await;
                assert_eq!((statements.len(), found.unwrap()), (1, None), "{statements:#?}");
            }
            assert!(store.user(user(7)).await.unwrap().is_some());
            assert!(store.user_with_email(&samples::email("nobody@example.com")).await.unwrap().is_none());
            assert!(store.any_user().await.unwrap());
            assert_eq!(store.accounts_of(user(7)).await.unwrap().len(), 1);
            assert_eq!(store.sessions(user(7)).await.unwrap().len(), 50);
            assert_eq!(store.ticket(&samples::token_hash()).await.unwrap(), None);
            store.sign_in_failures(&key(0)).await.unwrap();
            assert_eq!(store.users_with_ids(&[user(7), user(8)]).await.unwrap().len(), 2);
        })
        .await;
    assert_indexed(&plans);
    for wrong in ["Sort", "Bitmap"] {
        assert!(!plans.contains(wrong), "{plans}");
    }
    let (statements, named) = recorder::recorded(store.accounts_with_ids(&[*account, samples::id()])).await;
    assert_eq!((statements.len(), named.unwrap().len()), (1, 1), "{statements:#?}");
    let (statements, used) = recorder::recorded(store.usage_of_each(&[*account, samples::id()])).await;
    assert_eq!((statements.len(), used.unwrap().len()), (1, 1), "{statements:#?}");
    searches(subject, behind).await;
    for after in [None, behind] {
        let plans = subject
            .plans(async {
                let limit = PageLimit::default();
                let (statements, page) =
                    recorder::recorded(store.audit_entries(AuditScope::Account(*account), limit, after))
                        .await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(page.unwrap().items.len(), usize::from(limit.get()));
                let (statements, page) =
                    recorder::recorded(store.audit_entries(AuditScope::Installation, limit, after)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(page.unwrap().items.len(), usize::from(limit.get()));
                let (statements, page) = recorder::recorded(store.members(*account, limit, after)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(page.unwrap().items.len(), usize::from(limit.get()));
                let (statements, page) = recorder::recorded(store.users(limit, after)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(page.unwrap().items.len(), usize::from(limit.get()));
            })
            .await;
        assert_indexed(&plans);
        for index in
            ["audit_entries_of_account", "audit_entries_pkey", "memberships_of_account", "users_pkey"]
        {
            let index = format!("Index Scan Backward using {index}");
            assert!(plans.contains(&index), "{plans}");
        }
        for wrong in ["Sort", "Bitmap", "Filter:"] {
            assert!(!plans.contains(wrong), "{plans}");
        }
    }
}

async fn writes(subject: &Subject, turn: u32) {
    let Subject { store, account, .. } = subject;
    let plans = subject
        .plans(async {
            let mut work = store.begin().await.unwrap();
            assert!(work.lock_first_user().await.unwrap());
            assert!(work.oldest_account().await.unwrap().is_some());
            let user = samples::user();
            work.insert_user(&user).await.unwrap();
            let locked = work.lock_user(user.id).await.unwrap().unwrap();
            work.update_user(&User { is_operator: true, ..locked }).await.unwrap();
            for role in [Role::Viewer, Role::Owner] {
                let membership =
                    Membership { user_id: user.id, account_id: *account, role, created_at: samples::at(0) };
                assert!(work.put_member(&membership).await.unwrap());
            }
            assert_eq!(work.role_of(user.id, *account).await.unwrap(), Some(Role::Owner));
            assert!(work.lock_members(*account).await.unwrap());
            let lowered = work.change_role(user.id, *account, Role::Viewer).await.unwrap();
            assert_eq!(lowered, MemberChange::LastOwner);
            let other = Id::from_bytes(resources::bytes(turn + 1));
            let raised = work.change_role(other, *account, Role::Owner).await.unwrap();
            assert_eq!(raised, MemberChange::Done);
            let removed = work.remove_member(user.id, *account).await.unwrap();
            assert_eq!(removed, MemberChange::Done);
            let membership = Membership {
                user_id: other,
                account_id: *account,
                role: Role::Viewer,
                created_at: samples::at(0),
            };
            assert!(work.put_member(&membership).await.unwrap());
            let session = samples::session(user.id);
            assert!(work.insert_session(&session).await.unwrap());
            let hash = samples::token_hash();
            let confirmed = work.confirm_session(session.id, &session.hash, &hash, samples::at(1)).await;
            assert!(confirmed.unwrap());
            assert!(work.end_session(user.id, session.id).await.unwrap());
            assert_eq!(work.end_sessions(user.id, None).await.unwrap(), 0);
            assert_eq!(work.end_sessions(user.id, Some(session.id)).await.unwrap(), 0);
            let email = samples::email(&format!("invited-{turn}@example.com"));
            let joins = Some((*account, Role::Viewer));
            for purpose in [
                TicketPurpose::FirstStart { account: *account },
                TicketPurpose::Invitation { email: email.clone(), joins, is_operator: false },
                TicketPurpose::PasswordReset { user: user.id, email: email.clone() },
            ] {
                let ticket = samples::ticket(purpose);
                assert!(work.insert_ticket(&ticket).await.unwrap());
                assert!(work.take_ticket(&ticket.hash).await.unwrap().is_some());
            }
            work.void_tickets(&email).await.unwrap();
            work.record(&samples::audit_entry(*account)).await.unwrap();
            // Rolled back explicitly: a rollback in the background would run beside the next recorded statements.
            work.commit().await.unwrap();
            let doomed = samples::account();
            let mut work = store.begin().await.unwrap();
            work.insert_account(&doomed).await.unwrap();
            assert!(work.delete_account(doomed.id).await.unwrap());
            work.commit().await.unwrap();
        })
        .await;
    assert_indexed(&plans);
}

fn key(number: u32) -> SignInKey {
    let email = samples::email(&format!("user-{number}@example.com"));
    SignInKey::new(&email, Ipv4Addr::new(192, 0, 2, 1).into())
}

async fn upkeep(subject: &Subject, turn: u32) {
    let Subject { store, .. } = subject;
    let uses: Vec<(ApiKeyId, Timestamp)> = (1..=100)
        .map(|number| (Id::from_bytes(resources::bytes(number)), samples::at(turn.into())))
        .collect();
    let plans = subject
        .plans(async {
            // It is a new one, so the oldest one is dropped.
            let key_of_turn = key(turn);
            let counting = store.count_sign_in(&key_of_turn, samples::at(0));
            let (statements, counted) = recorder::recorded(counting).await;
            assert_eq!(counted.unwrap(), SignInTurn::Allowed);
            assert!(own(&statements) <= 5, "{statements:#?}");
            store.forget_sign_ins(&key(99)).await.unwrap();
            store.see_session(Id::from_bytes(resources::bytes(1)), samples::at(turn.into())).await.unwrap();
            let (statements, noted) = recorder::recorded(store.note_key_uses(&uses)).await;
            noted.unwrap();
            assert_eq!(statements.len(), 1, "{statements:#?}");
        })
        .await;
    assert_indexed(&plans);
    assert!(plans.contains("using sign_in_counts_age on sign_in_counts"), "{plans}");
}

/// One statement a table, which finds the oldest rows by age.
async fn expired_rows(subject: &Subject) {
    let Subject { store, .. } = subject;
    let plans = subject
        .plans(async {
            let (statements, has_more) =
                recorder::recorded(store.delete_expired_people(samples::at(0), AT_ONCE)).await;
            assert_eq!(statements.len(), 4, "{statements:#?}");
            assert!(has_more.unwrap());
        })
        .await;
    assert_indexed(&plans);
    for index in [
        "sessions_age on sessions",
        "sessions_seen on sessions",
        "tickets_age on tickets",
        "audit_entries_age on",
    ] {
        assert!(plans.contains(&format!("using {index}")), "{index}: {plans}");
    }
    assert!(!plans.contains("Sort"), "{plans}");
}
