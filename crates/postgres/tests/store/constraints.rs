//! What the tables themselves reject, whichever program writes.

use signpost_domain::Redirect;
use signpost_port_contracts::samples;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{account, active_domain, group, insert, migrated, open};

/// A database with two accounts, each with a group and an active domain. The first account has a link at `/taken`.
async fn filled() -> PostgresDatabase {
    let database = migrated().await;
    let store = open(&database).await;
    for slug in ["taken", "other"] {
        let account = account(&store).await;
        let group_id = Some(group(&store, account).await.id);
        insert(&store, account, Redirect { group_id, ..samples::redirect(slug) }).await;
        active_domain(&store, account, &format!("{slug}.example.com")).await;
    }
    database
}

/// The error code of a statement.
fn refusal(database: &PostgresDatabase, sql: &str) -> String {
    let sql = sql.replace('\'', "''");
    let block = format!(
        "DO $do$ BEGIN EXECUTE '{sql}'; RAISE EXCEPTION 'it went through'; \
         EXCEPTION WHEN others THEN PERFORM set_config('test.code', SQLSTATE, false); END $do$; \
         SELECT current_setting('test.code')"
    );
    database.query(&block).trim().to_owned()
}

/// D20: a unique index decides, never a look before the write.
#[tokio::test(flavor = "multi_thread")]
async fn d20_address_belongs_to_one_link() {
    let database = filled().await;
    for sql in [
        "UPDATE links SET slug = 'taken' WHERE slug = 'other'",
        "UPDATE links SET host = 'a.example.net', slug = ''",
    ] {
        assert_eq!(refusal(&database, sql), "23505", "{sql}");
    }
    // Two links without a domain may have the same slug.
    database.run("UPDATE links SET host = NULL, slug = 'same'");
}

/// D41: at most one domain holds a hostname, whichever program writes. D40: an account has one domain for a hostname.
#[tokio::test(flavor = "multi_thread")]
async fn d41_hostname_has_one_holder() {
    let database = filled().await;
    assert_eq!(refusal(&database, "UPDATE custom_domains SET hostname = 'same.example.com'"), "23505");
    database.run("UPDATE custom_domains SET status = 'failed'");
    database.run("UPDATE custom_domains SET hostname = 'same.example.com'");
    assert_eq!(refusal(&database, "UPDATE custom_domains SET status = 'active'"), "23505");
    let again = "INSERT INTO custom_domains SELECT gen_random_uuid(), account_id, hostname, status, deadline, \
        misdirected_since, created_at, next_check_at, checks_made FROM custom_domains";
    assert_eq!(refusal(&database, again), "23505");
}

#[tokio::test(flavor = "multi_thread")]
async fn references_point_to_existing_rows() {
    let database = filled().await;
    for sql in [
        "DELETE FROM accounts",
        "DELETE FROM groups",
        "INSERT INTO pixels VALUES (gen_random_uuid(), gen_random_uuid(), 'meta', '1', NULL, now())",
        "INSERT INTO tags VALUES (gen_random_uuid(), gen_random_uuid(), 'A', 'a', now())",
        "INSERT INTO link_tags SELECT gen_random_uuid(), id FROM links",
        "INSERT INTO link_credits VALUES (gen_random_uuid(), 1, 0, 1)",
        "INSERT INTO link_passwords VALUES (gen_random_uuid(), 'x')",
        "UPDATE custom_domains SET account_id = gen_random_uuid()",
        "UPDATE links SET account_id = gen_random_uuid(), group_id = NULL",
        "UPDATE links SET group_id = gen_random_uuid()",
        "INSERT INTO memberships SELECT gen_random_uuid(), id, 'owner', now() FROM accounts",
        "INSERT INTO sessions VALUES (gen_random_uuid(), sha256(''), gen_random_uuid(), now(), now(), now(), true, NULL, NULL)",
        "INSERT INTO tickets VALUES (sha256(''), 'first_start', NULL, '', gen_random_uuid(), NULL, NULL, false, now(), now())",
        "INSERT INTO tickets VALUES (sha256(''), 'password_reset', 'a@b', 'a@b', NULL, gen_random_uuid(), NULL, false, now(), now())",
        // A group of another account.
        "UPDATE links SET group_id = (SELECT g.id FROM groups AS g WHERE g.id <> links.group_id)",
    ] {
        assert_eq!(refusal(&database, sql), "23503", "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_consistent_with_each_other() {
    let database = filled().await;
    for sql in [
        "UPDATE links SET kind = 0",
        "UPDATE links SET kind = 7",
        "UPDATE links SET target_url = NULL",
        "UPDATE links SET host = '', slug = ''",
        "UPDATE accounts SET links_count = -1",
        "UPDATE groups SET redirects_count = -1",
        "UPDATE accounts SET pixels_count = -1",
        "UPDATE accounts SET tags_count = -1",
        "INSERT INTO link_credits SELECT id, 0, 0, 1 FROM links",
        "INSERT INTO link_credits SELECT id, 1000000001, 0, 1 FROM links",
        "INSERT INTO link_credits SELECT id, 1, -1, 1 FROM links",
        "INSERT INTO link_credits SELECT id, 1, 0, 0 FROM links",
        "INSERT INTO link_passwords SELECT id, '' FROM links",
        "UPDATE accounts SET domains_count = -1",
        "UPDATE custom_domains SET status = 'lost'",
        "UPDATE custom_domains SET status = 'pending'",
        "UPDATE custom_domains SET status = 'ssl_pending'",
        "UPDATE custom_domains SET deadline = now()",
        "UPDATE custom_domains SET status = 'failed', misdirected_since = now()",
        "UPDATE custom_domains SET status = 'pending', deadline = now(), misdirected_since = now()",
        "UPDATE custom_domains SET checks_made = -1",
        "UPDATE custom_domains SET claims = -1",
        "UPDATE links SET pixel_ids = ARRAY(SELECT gen_random_uuid() FROM generate_series(1, 11))",
        "UPDATE links SET pixel_ids = '{NULL}'",
        "UPDATE links SET kind = 0, target_url = NULL, pixel_ids = ARRAY[gen_random_uuid()]",
        "UPDATE links SET page = '{}'",
        "INSERT INTO remembered_answers VALUES (gen_random_uuid(), 'k', sha256(''), 0, NULL, '', now())",
        "INSERT INTO remembered_answers VALUES (gen_random_uuid(), 'k', sha256(''), 99, NULL, '', now())",
        "INSERT INTO remembered_answers VALUES (gen_random_uuid(), 'k', '', 201, NULL, '', now())",
        "INSERT INTO sessions VALUES (gen_random_uuid(), 'short', gen_random_uuid(), now(), now(), now(), true, NULL, NULL)",
        "INSERT INTO tickets VALUES ('short', 'first_start', NULL, '', NULL, NULL, NULL, false, now(), now())",
        "INSERT INTO sign_in_counts VALUES ('short', 1, now())",
        "INSERT INTO sign_in_counts VALUES (sha256(''), -1, now())",
        "INSERT INTO first_user VALUES (false)",
        "INSERT INTO sign_in_totals VALUES (false, 0)",
        "INSERT INTO node_reports VALUES (gen_random_uuid(), repeat('a', 301), '', now(), now(), '{}', '{}', '{}')",
        "INSERT INTO node_reports VALUES (gen_random_uuid(), '', '', now(), now(), '{a}', '{}', '{a}')",
        "INSERT INTO node_reports VALUES (gen_random_uuid(), '', '', now(), now(), '{}', '{}', '{a}')",
        "INSERT INTO node_reports VALUES (gen_random_uuid(), '', '', now(), now(), '{}', '{}', '{}', 1)",
        "INSERT INTO node_reports VALUES (gen_random_uuid(), '', '', now(), now(), '{}', '{}', '{}', -1, 0)",
        "INSERT INTO node_reports VALUES (gen_random_uuid(), '', '', now(), now(), '{}', '{}', '{}', NULL, NULL, now())",
        "INSERT INTO changes (account_id, hosts) VALUES (gen_random_uuid(), '{a}')",
        "INSERT INTO changes (account_id, hosts, slugs) VALUES (gen_random_uuid(), '{a}', '{b,c}')",
        "INSERT INTO changes (account_id, hosts, slugs, hostname) VALUES (gen_random_uuid(), '{a}', '{b}', 'a.example.com')",
    ] {
        assert_eq!(refusal(&database, sql), "23514", "{sql}");
    }
}

/// An e-mail address has one user, and at most one ticket of each kind (D70).
#[tokio::test(flavor = "multi_thread")]
async fn d70_email_address_has_one_user_and_one_ticket_of_a_kind() {
    let database = filled().await;
    let user = "INSERT INTO users VALUES (gen_random_uuid(), 'A@b', 'a@b', NULL, NULL, false, NULL, 'UTC', 'auto', \
        'en', true, now())";
    let ticket = "INSERT INTO tickets VALUES (sha256(gen_random_uuid()::text::bytea), 'invitation', 'A@b', 'a@b', NULL, \
        NULL, NULL, true, now(), now())";
    for sql in [user, ticket] {
        database.run(sql);
        assert_eq!(refusal(&database, sql), "23505", "{sql}");
    }
}
