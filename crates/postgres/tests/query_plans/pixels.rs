//! The reads of pixels.

use signpost_app::ports::PixelReads;
use signpost_domain::{Id, PageLimit, PagePosition, PixelId};
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, recorder};

/// The number of pixels; every second one belongs to the first account.
const PIXELS: u32 = 20_000;

/// How many pixels a batch of links can name.
const MOST_NAMED: u32 = 1_000;

/// Pixels of all accounts, in turn.
pub(crate) fn fill(database: &PostgresDatabase) {
    database.run(&format!(
        "INSERT INTO pixels SELECT ('02' || lpad(to_hex(n), 30, '0'))::uuid, a.id, 'meta', '1234567890', NULL, \
         '2026-01-01' FROM generate_series(1, {PIXELS}) AS n \
         JOIN (SELECT id, row_number() OVER (ORDER BY id) AS turn, count(*) OVER () AS turns FROM accounts) AS a \
         ON a.turn = (n - 1) % a.turns + 1; \
         ANALYZE pixels"
    ));
}

pub(crate) fn id(number: u32) -> PixelId {
    Id::from_bytes(bytes(number))
}

fn bytes(number: u32) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[0] = 2;
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// Each is one statement. A page, the first and a late one, reads one row more of the list's index than it shows. Named
/// pixels are found by id.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let limit = PageLimit::new(25).unwrap();
    for after in [None, Some(PagePosition::behind(bytes(PIXELS / 2)))] {
        // Repeated, because PostgreSQL may choose another plan from the sixth run on.
        for _ in 0..8 {
            let plans = subject
                .plans(async {
                    let (statements, page) = recorder::recorded(store.pixels(*account, limit, after)).await;
                    assert_eq!(statements.len(), 1, "{statements:#?}");
                    assert_eq!(page.unwrap().items.len(), 25);
                })
                .await;
            assert!(plans.contains("using pixels_of_account on pixels"), "{after:?}: {plans}");
            for wrong in ["Seq Scan", "Sort", "Bitmap", "Filter:"] {
                assert!(!plans.contains(wrong), "{after:?}: {plans}");
            }
        }
    }
    for number in [1, 2, MOST_NAMED] {
        let ids: Vec<PixelId> = (1..=number).map(|number| id(number * 2 - 1)).collect();
        let plans = subject
            .plans(async {
                let (statements, found) = recorder::recorded(store.pixels_with_ids(*account, &ids)).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert_eq!(found.unwrap().len(), ids.len());
                let (statements, found) = recorder::recorded(store.pixel(*account, id(1))).await;
                assert_eq!(statements.len(), 1, "{statements:#?}");
                assert!(found.unwrap().is_some());
            })
            .await;
        assert!(!plans.contains("Seq Scan on pixels"), "{number}: {plans}");
    }
}
