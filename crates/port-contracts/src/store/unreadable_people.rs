//! Behaviour of a store with unreadable rows about people (ADR 35), for stores whose rows a test can corrupt with SQL.
//!
//! The runtime of a case that reads the log must have one thread.

use signpost_app::ports::{AuditScope, Store, StoreError};
use signpost_domain::analytics::TimeZone;
use signpost_domain::{Membership, Preferences, Role, Session, SignInKey, TicketPurpose, User};

use super::corrupt_rows::{CorruptibleStore, each_is_reported, is_of, report, rubbish};
use super::given;
use super::unreadable_rows::{LEFT_OUT, insert_account};
use crate::logs::Log;
use crate::samples;

/// How errors name a row by its hash.
fn hex(hash: [u8; 32]) -> String {
    let half = |position: usize| {
        let (halves, _) = hash.as_chunks::<16>();
        u128::from_be_bytes(halves[position])
    };
    format!("{:032x}{:032x}", half(0), half(1))
}

async fn insert_user(store: &dyn Store) -> User {
    let user = samples::user();
    let mut work = store.begin().await.unwrap();
    work.insert_user(&user).await.unwrap();
    work.commit().await.unwrap();
    user
}

/// Checks that every method that reads a user reports the same.
pub async fn corrupt_user_is_reported_with_column_and_id(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let user = User { second_factor: Some(samples::second_factor()), ..samples::user() };
    let session = samples::session(user.id);
    let mut work = store.begin().await.unwrap();
    work.insert_user(&user).await.unwrap();
    assert!(work.insert_session(&session).await.unwrap());
    work.commit().await.unwrap();
    let mut columns = rubbish([
        ("email", "''", "'a@example.com'"),
        ("name", "''", "NULL"),
        ("password_hash", "''", "NULL"),
        ("totp_last_step", "-1", "1"),
        ("totp_last_step", "NULL", "1"),
        ("theme", "'secret'", "'dark'"),
        ("date_language", "'secret'", "'fr'"),
    ]);
    columns.extend(literals.of_times(&["second_factor_at", "disabled_at", "created_at"]));
    let read = async || {
        let one = report(store.user(user.id).await);
        assert_eq!(report(store.user_with_email(&user.email).await), one);
        assert_eq!(report(store.session_holder(&session.hash, None).await), one);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_user(user.id).await), one);
        one
    };
    each_is_reported(run_sql, "users", user.id, columns, read).await;
    assert!(store.user(user.id).await.unwrap().is_some());
    // Half a second factor does not let its user in by the password alone.
    run_sql("UPDATE users SET totp_seed = NULL");
    is_of(&read().await, "users.totp_seed", &user.id.to_string());
}

/// Checks that a user whose time zone is unknown, as after a change of the time zone database, can still be read.
pub async fn unknown_time_zone_of_a_user_reads_as_utc(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let time_zone = TimeZone::parse("Europe/Berlin").unwrap();
    let user = User { preferences: Preferences::in_zone(time_zone), ..samples::user() };
    let mut work = store.begin().await.unwrap();
    work.insert_user(&user).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(store.user(user.id).await.unwrap().as_ref(), Some(&user));
    run_sql("UPDATE users SET time_zone = 'Europe/Atlantis'");
    let expected = User { preferences: Preferences::in_zone(TimeZone::utc()), ..user };
    assert_eq!(store.user(expected.id).await.unwrap(), Some(expected));
}

/// Checks the session, and the role of its user in the account.
pub async fn corrupt_session_is_reported_with_column_and_id(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let user = insert_user(store).await.id;
    let session = samples::session(user);
    let membership =
        Membership { user_id: user, account_id: account, role: Role::Owner, created_at: samples::at(0) };
    let mut work = store.begin().await.unwrap();
    assert!(work.insert_session(&session).await.unwrap());
    assert!(work.put_member(&membership).await.unwrap());
    work.commit().await.unwrap();
    let mut columns = rubbish([("agent", "''", "NULL"), ("network", "'secret'", "NULL")]);
    columns.extend(literals.of_times(&["created_at", "seen_at", "confirmed_at"]));
    let read = async || {
        assert_eq!(store.sessions(user).await.unwrap(), []);
        report(store.session_holder(&session.hash, None).await)
    };
    each_is_reported(run_sql, "sessions", session.id, columns, read).await;
    assert_eq!(store.sessions(user).await.unwrap().len(), 1);
    run_sql("UPDATE memberships SET role = 'secret'");
    let row = format!("{user} {account}");
    is_of(&report(store.session_holder(&session.hash, Some(account)).await), "memberships.role", &row);
    assert!(store.session_holder(&session.hash, None).await.unwrap().is_some());
    let mut work = store.begin().await.unwrap();
    is_of(&report(work.role_of(user, account).await), "memberships.role", &row);
}

/// Checks that a corrupt ticket lets nobody in.
pub async fn corrupt_ticket_is_reported_with_column_and_hash(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let account = insert_account(store).await.id;
    let user = insert_user(store).await;
    let instant = literals.instant.0;
    let times = [("created_at", instant), ("expires_at", instant)];
    let of_all = [("kind", "'secret'"), ("role", "'secret'")];
    let (email, joins) = (user.email.clone(), Some((account, Role::Owner)));
    for (purpose, rubbish) in [
        (TicketPurpose::FirstStart { account }, vec![("account_id", "NULL")]),
        (
            TicketPurpose::Invitation { email: email.clone(), joins, is_operator: false },
            vec![("email", "NULL"), ("email", "''"), ("role", "NULL")],
        ),
        (TicketPurpose::PasswordReset { user: user.id, email }, vec![("user_id", "NULL"), ("email", "NULL")]),
    ] {
        for (column, bad) in rubbish.into_iter().chain(of_all).chain(
            times.iter().flat_map(|(column, _)| literals.no_instants.iter().map(|bad| (*column, *bad))),
        ) {
            let ticket = samples::ticket(purpose.clone());
            let mut work = store.begin().await.unwrap();
            assert!(work.insert_ticket(&ticket).await.unwrap());
            work.commit().await.unwrap();
            run_sql(&format!("UPDATE tickets SET {column} = {bad}"));
            let row = hex(ticket.hash.to_bytes());
            let one = report(store.ticket(&ticket.hash).await);
            is_of(&one, &format!("tickets.{column}"), &row);
            let mut work = store.begin().await.unwrap();
            assert_eq!(report(work.take_ticket(&ticket.hash).await), one);
            drop(work);
            run_sql("DELETE FROM tickets");
        }
    }
}

/// Checks that a corrupt count of failures is reported, and is deleted by a success and with age.
pub async fn corrupt_sign_in_count_is_reported_and_can_be_forgotten(
    CorruptibleStore { store, run_sql, literals }: CorruptibleStore<'_>,
) {
    let client = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
    let key = SignInKey::new(&samples::email("ada@example.com"), client);
    let row = hex(key.to_bytes());
    store.count_sign_in(&key, samples::at(0)).await.unwrap();
    let mut columns = rubbish([("failures", "-1", "1"), ("failures", "5000000000", "1")]);
    columns.extend(literals.of_times(&["last_at"]));
    let read = async || {
        let one = report(store.sign_in_failures(&key).await);
        assert_eq!(report(store.count_sign_in(&key, samples::at(0)).await), one);
        one
    };
    each_is_reported(run_sql, "sign_in_counts", row, columns, read).await;
    run_sql("UPDATE sign_in_counts SET failures = -1");
    store.forget_sign_ins(&key).await.unwrap();
    assert_eq!(store.sign_in_failures(&key).await.unwrap().count, 0);
}

/// Checks that lists omit unreadable rows, and that the log names them.
pub async fn lists_of_people_leave_out_what_cannot_be_read(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let [user, _, unreadable] =
        [insert_user(store).await, insert_user(store).await, insert_user(store).await];
    let mut broken = vec![unreadable.id.to_string()];
    let mut accounts = Vec::new();
    for _ in 0..4 {
        accounts.push(insert_account(store).await);
    }
    let sessions = [(); 3].map(|()| samples::session(user.id));
    let entries = [(); 4].map(|()| samples::audit_entry(accounts[0].id));
    let log = Log::begin();
    let mut work = store.begin().await.unwrap();
    for session in &sessions {
        assert!(work.insert_session(session).await.unwrap());
    }
    for entry in &entries {
        work.record(entry).await.unwrap();
    }
    for account in &accounts {
        let membership = Membership {
            user_id: user.id,
            account_id: account.id,
            role: Role::Editor,
            created_at: samples::at(0),
        };
        assert!(work.put_member(&membership).await.unwrap());
    }
    work.commit().await.unwrap();
    run_sql(&format!("UPDATE users SET name = '' WHERE email = '{}'", unreadable.email));
    // The rows are told apart by their order, because the databases write ids differently.
    run_sql(
        "UPDATE sessions SET agent = '' WHERE id = (SELECT s.id FROM sessions AS s ORDER BY s.id LIMIT 1 OFFSET 1)",
    );
    for (column, bad, offset) in [("action", "'secret'", 0), ("actor", "'secret'", 1), ("actor", "'user'", 3)]
    {
        run_sql(&format!(
            "UPDATE audit_entries SET {column} = {bad} WHERE id = (SELECT e.id FROM audit_entries AS e ORDER BY e.id \
             LIMIT 1 OFFSET {offset})"
        ));
    }
    run_sql(&format!("UPDATE accounts SET plan = '' WHERE email = '{}'", accounts[1].email));
    run_sql(&format!(
        "UPDATE memberships SET role = 'secret' WHERE account_id = (SELECT a.id FROM accounts AS a WHERE a.email = '{}')",
        accounts[2].email
    ));
    broken.extend([sessions[1].id.to_string(), accounts[1].id.to_string()]);
    broken.push(format!("{} {}", user.id, accounts[2].id));
    broken.extend([0, 1, 3].map(|position| entries[position].id.to_string()));

    let users = store.users(given::limit(2), None).await.unwrap();
    assert_eq!((users.items.len(), users.left_out), (1, 1));
    assert_eq!(store.users(given::limit(2), users.next).await.unwrap().items, std::slice::from_ref(&user));
    let left: Vec<Session> = store.sessions(user.id).await.unwrap();
    assert_eq!(left, [sessions[2].clone(), sessions[0].clone()]);
    let left = store.accounts_of(user.id).await.unwrap();
    assert_eq!(left, [(accounts[0].clone(), Role::Editor), (accounts[3].clone(), Role::Editor)]);
    let named = store.accounts_with_ids(&[accounts[0].id, accounts[1].id]).await.unwrap();
    assert_eq!(named, std::slice::from_ref(&accounts[0]));
    let page = store.audit_entries(AuditScope::Account(accounts[0].id), given::limit(9), None).await.unwrap();
    assert_eq!((page.items, page.left_out), (vec![entries[2].clone()], 3));
    let logged = log.lines(LEFT_OUT);
    for id in &broken {
        assert!(logged.iter().any(|line| line.contains(id)), "{id}: {logged:#?}");
    }
    assert!(logged.iter().all(|line| !line.contains("secret")), "{logged:#?}");
}

/// Checks that an unreadable account does not hide the others from a session.
pub async fn unreadable_account_fails_only_its_own_requests(
    CorruptibleStore { store, run_sql, .. }: CorruptibleStore<'_>,
) {
    let [broken, fine] = [insert_account(store).await, insert_account(store).await];
    let user = insert_user(store).await.id;
    let session = samples::session(user);
    let mut work = store.begin().await.unwrap();
    assert!(work.insert_session(&session).await.unwrap());
    for account_id in [broken.id, fine.id] {
        let membership =
            Membership { user_id: user, account_id, role: Role::Owner, created_at: samples::at(0) };
        assert!(work.put_member(&membership).await.unwrap());
    }
    work.commit().await.unwrap();
    run_sql(&format!("UPDATE accounts SET plan = '' WHERE email = '{}'", broken.email));
    let failed = store.session_holder(&session.hash, Some(broken.id)).await;
    assert!(
        matches!(failed, Err(StoreError::Corrupt { table: "accounts", column: "plan", .. })),
        "{failed:?}"
    );
    let found = store.session_holder(&session.hash, Some(fine.id)).await.unwrap().unwrap();
    assert_eq!(found.member.unwrap().account, fine);
}
