//! A corrupt row is reported with its table, column and key, and without its content.

use signpost_app::ports::{LinkReads, QuotaStore, Store};
use signpost_domain::{Address, RequestBudget, Site};
use signpost_port_contracts::samples;
use signpost_port_contracts::store::corrupt_rows::{CorruptibleStore, Literals, report};
use signpost_port_contracts::store::{
    corrupt_certificates, corrupt_links, corrupt_rows, unreadable_people, unreadable_rows,
};
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{account, active_domain, insert, migrated, open};

const HOST: &str = "go.example.com";

const LITERALS: Literals = Literals {
    instant: ("'2026-01-01T00:00:00Z'", 1_767_225_600_000),
    no_instants: &["'1969-12-31T23:59:59Z'", "'infinity'", "'-infinity'"],
    coffee: r"'\xc0ffee'",
    hash: "sha256('')",
    pixel_ids: |number| format!("ARRAY(SELECT gen_random_uuid() FROM generate_series(1, {number}))"),
    of_links: &[],
};

/// A database whose tables have no constraints.
pub(crate) async fn lenient() -> PostgresDatabase {
    let database = migrated().await;
    database.run(
        "DO $$ DECLARE c record; BEGIN FOR c IN SELECT conrelid::regclass AS of_table, conname FROM pg_constraint \
         WHERE contype = 'c' AND connamespace = 'public'::regnamespace \
         LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.of_table, c.conname); END LOOP; END $$",
    );
    database
}

macro_rules! contract {
    ($(#[$test:meta] $module:ident { $($case:ident)* })*) => {$($(
        #[$test]
        async fn $case() {
            let database = lenient().await;
            let store = open(&database).await;
            let run_sql = |sql: &str| database.run(sql);
            $module::$case(CorruptibleStore { store: &store, run_sql: &run_sql, literals: &LITERALS }).await;
        }
    )*)*};
}

// A statement may wait for a unit of work that was dropped, which only another thread can roll back.
contract! {
    #[tokio::test]
    unreadable_rows {
        lists_of_links_leave_out_what_cannot_be_read
        links_outlive_the_rules_that_accepted_them
        other_lists_leave_out_what_cannot_be_read
        visits_name_the_row_that_cannot_be_read
    }
    #[tokio::test(flavor = "multi_thread")]
    corrupt_links {
        corrupt_link_is_reported_with_column_and_id
        corrupt_page_content_is_reported_to_its_readers_only
        link_of_unknown_kind_is_corrupt_and_can_be_deleted
        corrupt_link_is_not_regrouped
        corrupt_link_count_stops_an_insertion
        corrupt_link_is_reported_to_look_ups_of_visitors
    }
    #[tokio::test]
    corrupt_rows {
        corrupt_key_is_reported_with_column_and_without_hash
        d42_corrupt_domain_blocks_no_check_of_another
    }
    #[tokio::test(flavor = "multi_thread")]
    corrupt_rows {
        corrupt_account_is_reported_with_column_and_id
        corrupt_resource_is_reported_with_column_and_id
        corrupt_pixel_is_reported_to_each_reader_and_can_be_deleted
        d12_corrupt_answer_is_reported_with_column_account_and_key
        corrupt_domain_is_reported_with_column_and_id
        d65_unreadable_explanation_is_left_out_and_hides_no_domain
    }
    #[tokio::test(flavor = "multi_thread")]
    corrupt_certificates {
        d194_corrupt_certificate_is_reported_with_column_and_hostname
    }
    #[tokio::test]
    corrupt_certificates {
        d185_unreadable_certificate_is_left_out_but_counts
        d186_unreadable_certificate_blocks_no_work_on_another
    }
    #[tokio::test]
    unreadable_people {
        lists_of_people_leave_out_what_cannot_be_read
    }
    #[tokio::test(flavor = "multi_thread")]
    unreadable_people {
        corrupt_user_is_reported_with_column_and_id
        unknown_time_zone_of_a_user_reads_as_utc
        corrupt_session_is_reported_with_column_and_id
        corrupt_ticket_is_reported_with_column_and_hash
        corrupt_sign_in_count_is_reported_and_can_be_forgotten
        unreadable_account_fails_only_its_own_requests
    }
}

/// D41: a failed domain of another account does not matter.
#[tokio::test(flavor = "multi_thread")]
async fn d41_corrupt_failed_domain_blocks_no_account() {
    let database = lenient().await;
    let store = open(&database).await;
    let (corrupt, fine) = (account(&store).await, account(&store).await);
    active_domain(&store, corrupt, HOST).await;
    database.run("UPDATE custom_domains SET status = 'failed', created_at = 'infinity'");
    let domain = active_domain(&store, fine, HOST).await;
    let mut work = store.begin().await.unwrap();
    let claims = work.lock_claims(fine, &samples::hostname(HOST)).await.unwrap();
    assert_eq!((claims.own.map(|own| own.domain), claims.holder), (Some(domain), None));
}

/// D44: only the exact status serves links.
#[tokio::test(flavor = "multi_thread")]
async fn d44_domain_of_unknown_status_serves_no_link() {
    let database = lenient().await;
    let store = open(&database).await;
    let account = account(&store).await;
    active_domain(&store, account, HOST).await;
    insert(&store, account, samples::redirect_at(samples::on_custom(HOST, None))).await;
    let address = Address { site: Site::Custom(samples::hostname(HOST)), slug: None };
    assert!(store.published_link(&address).await.unwrap().is_some());
    database.run("UPDATE custom_domains SET status = 'Active'");
    assert_eq!(store.published_link(&address).await.unwrap(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn corrupt_request_count_affects_only_its_account() {
    let database = lenient().await;
    let store = open(&database).await;
    let budget = RequestBudget { per_minute: 5, per_day: 5 };
    let (corrupt, fine) = (samples::id(), samples::id());
    store.admit(corrupt, budget, samples::at(0)).await.unwrap();
    database.run("UPDATE request_counts SET admitted = 5000000000");
    for report in [
        report(store.admit(corrupt, budget, samples::at(0)).await),
        report(store.remaining(corrupt, budget, samples::at(0)).await),
    ] {
        assert_eq!(report.place, "request_counts.admitted");
        assert!(report.row.contains(&corrupt.to_string()), "{report:?}");
    }
    store.admit(fine, budget, samples::at(0)).await.unwrap();
}
