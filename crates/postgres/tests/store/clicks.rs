//! Clicks in the tables (ADR 47).

use signpost_app::ports::{Appended, ClickStore, EncodedClicks, Upkeep};
use signpost_domain::Timestamp;
use signpost_domain::analytics::ClickSource;
use signpost_port_contracts::click_samples::{ClickedLink, at, hash};
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{migrated, open};

async fn filled(database: &PostgresDatabase) -> (PostgresStore, ClickedLink) {
    let store = open(database).await;
    let clicked = ClickedLink::new();
    for number in 1..=5 {
        assert_eq!(store.append(&clicked.batch(number)).await.unwrap(), Appended::Now);
    }
    (store, clicked)
}

async fn pack(store: &PostgresStore, now: Timestamp) {
    while store.pack(now).await.unwrap().upkeep == Upkeep::More {}
}

fn number(database: &PostgresDatabase, of: &str) -> i64 {
    database.query(&format!("SELECT {of}")).trim().parse().unwrap()
}

const BATCHES: &str = "count(*) FROM click_batches";

#[tokio::test(flavor = "multi_thread")]
async fn packing_starts_at_an_age_or_at_a_number_of_batches_or_clicks() {
    let database = migrated().await;
    let store = open(&database).await;
    let clicked = ClickedLink::new();
    store.append(&clicked.batch(1)).await.unwrap();
    assert_eq!(store.pack(at(59_999)).await.unwrap().upkeep, Upkeep::Done);
    assert_eq!(number(&database, BATCHES), 1);
    assert_eq!(store.pack(at(60_000)).await.unwrap().upkeep, Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    for next in 2..=50 {
        store.append(&clicked.batch(next)).await.unwrap();
    }
    assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::Done);
    store.append(&clicked.batch(51)).await.unwrap();
    assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    let small =
        |number| EncodedClicks { source: ClickSource([2; 16]), number, clicks: 1, ..clicked.batch(1) };
    for next in 1..=256 {
        assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::Done);
        store.append(&small(next)).await.unwrap();
    }
    assert_eq!(store.pack(at(0)).await.unwrap().upkeep, Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    assert_eq!(number(&database, "sum(clicks) FROM click_segments"), 51_000 + 256_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_batch_is_set_aside() {
    let database = migrated().await;
    let (store, clicked) = filled(&database).await;
    let malformed = EncodedClicks { segment: vec![7; 100], ..clicked.batch(6) };
    store.append(&malformed).await.unwrap();
    pack(&store, at(3_600_000)).await;
    assert_eq!(number(&database, BATCHES), 0);
    assert_eq!(number(&database, "sum(clicks) FROM click_segments"), 5_000);
    let aside = "count(*) FROM unreadable_click_batches WHERE number = 6 AND octet_length(data) = 100";
    assert_eq!(number(&database, aside), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_sealed_segments_contain_no_visitor_hash() {
    let database = migrated().await;
    let (store, _) = filled(&database).await;
    pack(&store, at(3_600_000)).await;
    let found = || {
        let has = |hash: [u8; 6]| {
            let hex = format!("{:012x}", hash.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte)));
            number(
                &database,
                &format!("count(*) FROM click_segments WHERE position('\\x{hex}'::bytea IN data) > 0"),
            )
        };
        (0..5_000).step_by(500).map(|number| has(hash(number))).sum::<i64>()
    };
    assert_eq!(found(), 10, "the hashes are missing before sealing");
    while store.seal(at(86_400_000 * 4)).await.unwrap() == Upkeep::More {}
    assert_eq!(number(&database, "sum(clicks) FROM click_segments WHERE sealed"), 5_000);
    assert_eq!(found(), 0);
}

/// A running packer that has already checked for deleted accounts stores nothing after the deletion.
#[tokio::test(flavor = "multi_thread")]
async fn r36_deletion_waits_for_running_packers() {
    let database = migrated().await;
    let (store, clicked) = filled(&database).await;
    pack(&store, at(3_600_000)).await;
    for next in 6..=200 {
        store.append(&clicked.batch(next)).await.unwrap();
    }
    let packing = async { pack(&store, at(3_600_000)).await };
    let forgetting =
        async { while store.forget_clicks(clicked.account, None).await.unwrap() == Upkeep::More {} };
    tokio::join!(packing, forgetting);
    pack(&store, at(3_600_000)).await;
    for table in ["click_batches", "click_segments", "click_days", "click_digests"] {
        assert_eq!(number(&database, &format!("count(*) FROM {table}")), 0, "{table}");
    }
}
