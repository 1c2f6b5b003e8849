//! The resources that a plan limits, as the contract declares them. Custom domains are in `domains`.

use signpost_app::ports::Store;
use signpost_domain::PagePosition;
use signpost_port_contracts::store::resources::{ResourceKind, insert_one};
use signpost_test_servers::postgres::PostgresDatabase;

use super::{PLENTY, Subject, own, recorder};

/// The number of rows of each kind; every second one belongs to the first account.
const ROWS: u32 = 20_000;

fn kinds() -> impl Iterator<Item = ResourceKind> {
    ResourceKind::ALL.into_iter().filter(|kind| kind.can_be_copied())
}

/// Copies of one row of each kind, for all accounts in turn.
pub(crate) async fn fill(subject: &Subject, database: &PostgresDatabase) {
    let Subject { store, account, .. } = subject;
    for kind in kinds() {
        let (table, sample) = (kind.table(), kind.sample(*account, "sample"));
        insert_one(store, *account, &sample).await;
        let id = sample.id_text();
        let (_, id) = id.split_once('_').unwrap();
        database.run(&format!(
            "INSERT INTO {table} SELECT copy.* FROM {table} AS sample, generate_series(1, {ROWS}) AS n \
             JOIN (SELECT id, row_number() OVER (ORDER BY id) AS turn, count(*) OVER () AS turns FROM accounts) AS a \
             ON a.turn = (n - 1) % a.turns + 1, jsonb_populate_record(sample, jsonb_build_object( \
             'id', ('02' || lpad(to_hex(n), 30, '0'))::uuid, 'account_id', a.id)) AS copy WHERE sample.id = '{id}'::uuid; \
             ANALYZE {table}"
        ));
    }
}

/// The id of a copy.
pub(crate) fn bytes(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = 2;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A page, the first and a late one, is one statement, which reads one row more of the list's index than it shows. Single
/// resources are found by id.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    for kind in kinds() {
        let table = kind.table();
        for after in [None, Some(PagePosition::behind(bytes(ROWS / 2)))] {
            // Repeated, because PostgreSQL may choose another plan from the sixth run on.
            for _ in 0..8 {
                let plans = subject
                    .plans(async {
                        let (statements, page) =
                            recorder::recorded(kind.page(store, *account, 25, after)).await;
                        assert_eq!(statements.len(), 1, "{statements:#?}");
                        assert_eq!(page.items.len(), 25);
                    })
                    .await;
                assert!(plans.contains(&format!("Index Scan Backward using {table}_")), "{after:?}: {plans}");
                for wrong in ["Seq Scan", "Sort", "Bitmap", "Filter:"] {
                    assert!(!plans.contains(wrong), "{after:?}: {plans}");
                }
            }
        }
        for _ in 0..8 {
            let resource = kind.sample(*account, "new");
            let plans = subject
                .plans(async {
                    let mut work = store.begin().await.unwrap();
                    let inserting = resource.insert(work.as_mut(), *account, PLENTY);
                    let (statements, inserted) = recorder::recorded(inserting).await;
                    inserted.unwrap();
                    assert_eq!(own(&statements), 2, "{statements:#?}");
                    work.commit().await.unwrap();
                    let (statements, found) = recorder::recorded(resource.read(store, *account)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert!(found.unwrap().is_some());
                    let mut work = store.begin().await.unwrap();
                    assert!(resource.delete(work.as_mut(), *account).await.unwrap());
                    work.commit().await.unwrap();
                })
                .await;
            assert!(!plans.contains(&format!("Seq Scan on {table}")), "{plans}");
        }
    }
}
