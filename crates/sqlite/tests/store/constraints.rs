//! What the tables themselves reject, whichever program writes.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::result::{DatabaseErrorKind, Error};
use signpost_domain::Redirect;
use signpost_port_contracts::samples;

use super::database::{Database, account, domain, group, insert};

/// A database with two accounts, each with a group, a domain, and a link in the group. The first account's link is at
/// `/taken`.
async fn filled() -> (Database, SqliteConnection) {
    let database = Database::new();
    let store = database.open();
    for slug in ["taken", "other"] {
        let account = account(&store).await;
        let group_id = Some(group(&store, account).await.id);
        domain(&store, account, &format!("{slug}.example.net")).await;
        insert(&store, account, Redirect { group_id, ..samples::redirect(slug) }).await;
    }
    drop(store);
    let mut connection = database.raw();
    connection.batch_execute("PRAGMA foreign_keys = ON").unwrap();
    (database, connection)
}

fn refused(connection: &mut SqliteConnection, sql: &str) -> DatabaseErrorKind {
    match diesel::sql_query(sql).execute(connection) {
        Err(Error::DatabaseError(kind, _)) => kind,
        other => panic!("{sql}: {other:?}"),
    }
}

fn is_same(one: DatabaseErrorKind, other: DatabaseErrorKind) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

/// D20: a unique index decides, never a look before the write.
#[tokio::test]
async fn d20_address_belongs_to_one_link() {
    let (_database, mut connection) = filled().await;
    for sql in [
        "UPDATE links SET slug = 'taken' WHERE slug = 'other'",
        "UPDATE links SET host = 'a.example.net', slug = ''",
    ] {
        assert!(is_same(refused(&mut connection, sql), DatabaseErrorKind::UniqueViolation), "{sql}");
    }
    // Two links without a domain may have the same slug.
    let lost = diesel::sql_query("UPDATE links SET host = NULL, slug = 'same'").execute(&mut connection);
    assert_eq!(lost.unwrap(), 2);
}

/// D41: at most one domain holds a hostname, whichever program writes; a failed claim holds none. An account has one domain
/// for a hostname, in any state (D40).
#[tokio::test]
async fn d41_hostname_has_one_holder() {
    let (_database, mut connection) = filled().await;
    let both = "UPDATE custom_domains SET hostname = 'same.example.net'";
    assert!(is_same(refused(&mut connection, both), DatabaseErrorKind::UniqueViolation));
    connection.batch_execute("UPDATE custom_domains SET status = 'failed', deadline = NULL").unwrap();
    assert_eq!(diesel::sql_query(both).execute(&mut connection).unwrap(), 2);
    connection
        .batch_execute(
            "UPDATE custom_domains SET status = 'active' WHERE id = (SELECT min(id) FROM custom_domains)",
        )
        .unwrap();
    let second = "UPDATE custom_domains SET status = 'active'";
    assert!(is_same(refused(&mut connection, second), DatabaseErrorKind::UniqueViolation));
    let again = "INSERT INTO custom_domains (id, account_id, hostname, status, created_at, checks_made) \
        SELECT randomblob(16), account_id, hostname, 'failed', 0, 0 FROM custom_domains";
    assert!(is_same(refused(&mut connection, again), DatabaseErrorKind::UniqueViolation));
}

#[tokio::test]
async fn references_point_to_existing_rows() {
    let (_database, mut connection) = filled().await;
    for sql in [
        "DELETE FROM accounts",
        "DELETE FROM groups",
        "UPDATE links SET account_id = randomblob(16), group_id = NULL",
        "UPDATE links SET group_id = randomblob(16)",
        "INSERT INTO api_keys VALUES (randomblob(16), randomblob(16), NULL, randomblob(32), 'abcd', 0, NULL, NULL, NULL, NULL, NULL)",
        "INSERT INTO pixels VALUES (randomblob(16), randomblob(16), 'meta', '1', NULL, 0)",
        "INSERT INTO tags VALUES (randomblob(16), randomblob(16), 'A', 'a', 0)",
        "INSERT INTO link_tags SELECT randomblob(16), id FROM links",
        "INSERT INTO link_credits VALUES (randomblob(16), 1, 0, 1)",
        "INSERT INTO link_passwords VALUES (randomblob(16), 'x')",
        "INSERT INTO custom_domains (id, account_id, hostname, status, created_at, checks_made) \
         VALUES (randomblob(16), randomblob(16), 'a.example.net', 'failed', 0, 0)",
        "INSERT INTO memberships SELECT randomblob(16), id, 'owner', 0 FROM accounts",
        "INSERT INTO sessions VALUES (randomblob(16), randomblob(32), randomblob(16), 0, 0, 0, 1, NULL, NULL)",
        "INSERT INTO tickets VALUES (randomblob(32), 'first_start', NULL, '', randomblob(16), NULL, NULL, 0, 0, 1)",
        "INSERT INTO tickets VALUES (randomblob(32), 'password_reset', 'a@b', 'a@b', NULL, randomblob(16), NULL, 0, 0, 1)",
        // A group of another account.
        "UPDATE links SET group_id = (SELECT id FROM groups WHERE groups.account_id <> links.account_id)",
    ] {
        assert!(is_same(refused(&mut connection, sql), DatabaseErrorKind::ForeignKeyViolation), "{sql}");
    }
}

#[tokio::test]
async fn values_have_the_right_type_and_length() {
    let (_database, mut connection) = filled().await;
    for sql in [
        "UPDATE accounts SET id = x'00'",
        "UPDATE accounts SET links_count = -1",
        "UPDATE accounts SET pixels_count = -1",
        "UPDATE accounts SET tags_count = -1",
        "INSERT INTO tags SELECT randomblob(15), id, 'A', 'a', 0 FROM accounts",
        "UPDATE accounts SET groups_count = groups_count - 2",
        "UPDATE groups SET redirects_count = redirects_count - 2",
        "UPDATE groups SET landings_count = landings_count - 1",
        "UPDATE links SET slug = '' WHERE slug = 'taken'",
        "UPDATE links SET target_url = NULL",
        "UPDATE links SET kind = 0",
        "UPDATE links SET kind = 2",
        "UPDATE links SET is_active = 2",
        "UPDATE links SET pixel_ids = randomblob(17)",
        "INSERT INTO link_credits SELECT id, 0, 0, 1 FROM links",
        "INSERT INTO link_credits SELECT id, 1000000001, 0, 1 FROM links",
        "INSERT INTO link_credits SELECT id, 1, -1, 1 FROM links",
        "INSERT INTO link_credits SELECT id, 1, 0, 0 FROM links",
        "INSERT INTO link_passwords SELECT id, '' FROM links",
        "INSERT INTO pixels SELECT randomblob(15), id, 'meta', '1', NULL, 0 FROM accounts",
        "UPDATE accounts SET domains_count = -1",
        "UPDATE custom_domains SET id = randomblob(15)",
        "UPDATE custom_domains SET status = 'unknown'",
        "UPDATE custom_domains SET deadline = NULL",
        "UPDATE custom_domains SET status = 'active'",
        "UPDATE custom_domains SET misdirected_since = 1",
        "UPDATE custom_domains SET status = 'failed', deadline = NULL, misdirected_since = 1",
        "UPDATE custom_domains SET checks_made = -1",
        "UPDATE custom_domains SET claims = -1",
        "INSERT INTO changes (account_id, addresses, hostname) VALUES (randomblob(16), '/a', 'a.example.net')",
        "INSERT INTO remembered_answers VALUES (randomblob(15), 'k', randomblob(32), 201, NULL, '', 0)",
        "INSERT INTO remembered_answers VALUES (randomblob(16), 'k', randomblob(31), 201, NULL, '', 0)",
        "INSERT INTO remembered_answers VALUES (randomblob(16), 'k', randomblob(32), 65536, NULL, '', 0)",
        "INSERT INTO users VALUES (randomblob(15), 'a@b', 'a@b', NULL, NULL, 0, NULL, 'UTC', 'auto', 'en', 1, 0, NULL, NULL, NULL, NULL)",
        "INSERT INTO users VALUES (randomblob(16), 'a@b', 'a@b', NULL, NULL, 2, NULL, 'UTC', 'auto', 'en', 1, 0, NULL, NULL, NULL, NULL)",
        "INSERT INTO sessions VALUES (randomblob(16), randomblob(31), randomblob(16), 0, 0, 0, 1, NULL, NULL)",
        "INSERT INTO tickets VALUES (randomblob(31), 'first_start', NULL, '', NULL, NULL, NULL, 0, 0, 1)",
        "INSERT INTO sign_in_counts VALUES (randomblob(31), 1, 0)",
        "INSERT INTO sign_in_counts VALUES (randomblob(32), 0, 0)",
        "INSERT INTO sign_in_totals VALUES (2, 0)",
        "INSERT INTO audit_entries VALUES (randomblob(16), randomblob(15), 'command', NULL, 'key_issued', '', NULL, 0)",
        "INSERT INTO request_counts VALUES (randomblob(16), 0, 0, 0)",
        "INSERT INTO request_counts VALUES (randomblob(15), 0, 0, 1)",
        "INSERT INTO request_counts VALUES (randomblob(16), 2, 0, 1)",
    ] {
        assert!(is_same(refused(&mut connection, sql), DatabaseErrorKind::CheckViolation), "{sql}");
    }
    // Tables are strict.
    let error =
        diesel::sql_query("UPDATE links SET created_at = 'yesterday'").execute(&mut connection).unwrap_err();
    assert!(error.to_string().contains("cannot store TEXT value"), "{error}");
}

/// An e-mail address has one user, and at most one ticket of each kind (D70).
#[tokio::test]
async fn d70_email_address_has_one_user_and_one_ticket_of_a_kind() {
    let (_database, mut connection) = filled().await;
    let user = "INSERT INTO users VALUES (randomblob(16), 'A@b', 'a@b', NULL, NULL, 0, NULL, 'UTC', 'auto', 'en', 1, 0, NULL, NULL, NULL, NULL)";
    let ticket =
        "INSERT INTO tickets VALUES (randomblob(32), 'invitation', 'A@b', 'a@b', NULL, NULL, NULL, 1, 0, 1)";
    for sql in [user, ticket] {
        assert_eq!(diesel::sql_query(sql).execute(&mut connection).unwrap(), 1);
        assert!(is_same(refused(&mut connection, sql), DatabaseErrorKind::UniqueViolation), "{sql}");
    }
}
