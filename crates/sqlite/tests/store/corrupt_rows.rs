//! A corrupt row is reported with its table, column and key, and without its content.

use signpost_app::ports::{AccountReads, LinkReads, QuotaStore, Store};
use signpost_domain::{Address, LinkId, LinkKind, PageLimit, RequestBudget, Site};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;
use signpost_port_contracts::store::corrupt_rows::{CorruptibleStore, Literals, report};
use signpost_port_contracts::store::{
    corrupt_certificates, corrupt_links, corrupt_rows, unreadable_people, unreadable_rows,
};

use super::database::{Database, account, insert};

const LITERALS: Literals = Literals {
    instant: ("5", 5),
    no_instants: &["-1", "9223372036854775807"],
    coffee: "x'c0ffee'",
    hash: "randomblob(32)",
    pixel_ids: |number| if number == 0 { "x''".to_owned() } else { format!("randomblob({number} * 16)") },
    of_links: &[("group_id", "x'0011'", "NULL"), ("pixel_ids", "x'0011'", "x''")],
};

macro_rules! contract {
    ($($module:ident { $($case:ident)* })*) => {$($(
        #[tokio::test]
        async fn $case() {
            let database = Database::new();
            let store = database.open();
            let run_sql = |sql: &str| database.run_sql(sql);
            $module::$case(CorruptibleStore { store: &store, run_sql: &run_sql, literals: &LITERALS }).await;
        }
    )*)*};
}

contract! {
    unreadable_rows {
        lists_of_links_leave_out_what_cannot_be_read
        links_outlive_the_rules_that_accepted_them
        other_lists_leave_out_what_cannot_be_read
        visits_name_the_row_that_cannot_be_read
    }
    corrupt_links {
        corrupt_link_is_reported_with_column_and_id
        corrupt_page_content_is_reported_to_its_readers_only
        link_of_unknown_kind_is_corrupt_and_can_be_deleted
        corrupt_link_is_not_regrouped
        corrupt_link_count_stops_an_insertion
        corrupt_link_is_reported_to_look_ups_of_visitors
    }
    corrupt_rows {
        corrupt_account_is_reported_with_column_and_id
        corrupt_key_is_reported_with_column_and_without_hash
        corrupt_resource_is_reported_with_column_and_id
        corrupt_pixel_is_reported_to_each_reader_and_can_be_deleted
        d12_corrupt_answer_is_reported_with_column_account_and_key
        corrupt_domain_is_reported_with_column_and_id
        d65_unreadable_explanation_is_left_out_and_hides_no_domain
        d42_corrupt_domain_blocks_no_check_of_another
    }
    corrupt_certificates {
        d194_corrupt_certificate_is_reported_with_column_and_hostname
        d185_unreadable_certificate_is_left_out_but_counts
        d186_unreadable_certificate_blocks_no_work_on_another
    }
    unreadable_people {
        corrupt_user_is_reported_with_column_and_id
        unknown_time_zone_of_a_user_reads_as_utc
        corrupt_session_is_reported_with_column_and_id
        corrupt_ticket_is_reported_with_column_and_hash
        corrupt_sign_in_count_is_reported_and_can_be_forgotten
        lists_of_people_leave_out_what_cannot_be_read
        unreadable_account_fails_only_its_own_requests
    }
}

/// A row of the other kind, with its own kind's columns, is found by the other kind's id and is corrupt.
#[tokio::test]
async fn link_whose_kind_and_columns_disagree_is_corrupt() {
    for (kind, other) in [(LinkKind::Redirect, 0), (LinkKind::Landing, 1)] {
        let database = Database::new();
        let store = database.open();
        let account = account(&store).await;
        let link = samples::link(kind, "link");
        insert(&store, account, link.clone()).await;
        database.run_sql(&format!("UPDATE links SET kind = {other}"));
        assert_eq!(store.link(account, link.id()).await.unwrap(), None);
        let other = [LinkKind::Landing, LinkKind::Redirect].into_iter().find(|other| *other != kind).unwrap();
        let id = LinkId::from_bytes(other, link.id().to_bytes());
        let one = report(store.link(account, id).await);
        let mut work = store.begin().await.unwrap();
        assert_eq!(report(work.lock_link(account, id).await), one);
        drop(work);
        assert_eq!((one.place.as_str(), one.row), ("links.target_url", id.to_string()));
        let address = Address { site: Site::System, slug: Some(samples::slug("link")) };
        assert_eq!(report(store.published_link(&address).await).place, "links.target_url");
    }
}

#[tokio::test]
async fn corrupt_id_is_reported_in_hexadecimal_and_skipped() {
    let (log, database) = (Log::begin(), Database::new());
    let store = database.open();
    account(&store).await;
    let fine = account(&store).await;
    database.run_sql("UPDATE accounts SET id = x'ff00ff' WHERE id = (SELECT min(id) FROM accounts)");
    let limit = PageLimit::new(1).unwrap();
    let first = store.accounts(limit, None).await.unwrap();
    assert_eq!((first.items.len(), first.left_out), (0, 1));
    let second = store.accounts(limit, first.next).await.unwrap();
    assert_eq!((second.items[0].id, second.next), (fine, None));
    assert_eq!(log.count("accounts.id is corrupt in row ff00ff"), 1);
}

/// A corrupt count affects one account; the others' requests in the same batch succeed.
#[tokio::test]
async fn corrupt_request_count_affects_only_its_account() {
    let database = Database::new();
    let store = database.open();
    let budget = RequestBudget { per_minute: 5, per_day: 5 };
    let (corrupt, fine) = (samples::id(), samples::id());
    store.admit(corrupt, budget, samples::at(0)).await.unwrap();
    database.run_sql("UPDATE request_counts SET admitted = 5000000000");
    let (one, other) =
        tokio::join!(store.admit(corrupt, budget, samples::at(0)), store.admit(fine, budget, samples::at(0)));
    let report = report(one);
    assert_eq!(report.place, "request_counts.admitted");
    assert!(report.row.contains(&corrupt.to_string()), "{report:?}");
    other.unwrap();
}
