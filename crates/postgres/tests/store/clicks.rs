//! Clicks in the tables (ADR 47).

use signpost_app::ports::{Appended, ClickStore, EncodedClicks, Upkeep};
use signpost_clicks::SegmentBuilder;
use signpost_domain::analytics::{ClickSource, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{migrated, open};

const FIRST: i64 = 1_790_000_000_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(FIRST + millis).unwrap()
}

/// Hashes that no compression makes smaller, and that appear nowhere by chance.
fn hash(number: u64) -> [u8; 6] {
    let mixed =
        (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (number + 7).wrapping_mul(0xd1b5_4a32_d192_ed03);
    let [a, b, c, d, e, f, ..] = mixed.to_be_bytes();
    [a, b, c, d, e, f]
}

fn batch(account: AccountId, link: LinkId, number: u64) -> EncodedClicks {
    let mut builder = SegmentBuilder::new();
    for click in number * 1_000..(number + 1) * 1_000 {
        let recorded = RecordedClick {
            at: at(i64::try_from(click).unwrap()),
            account,
            link,
            kind: RecordedKind::Click,
            visitor: VisitorHash(hash(click)),
            values: Values::default(),
        };
        builder.push(&recorded).unwrap();
    }
    let built = builder.finish().unwrap();
    EncodedClicks {
        source: ClickSource([1; 16]),
        number: number + 1,
        clicks: built.clicks,
        first: built.first,
        last: built.last,
        segment: built.data,
    }
}

async fn filled(database: &PostgresDatabase) -> (PostgresStore, AccountId, LinkId) {
    let store = open(database).await;
    let (account, link) = (samples::id(), samples::link(LinkKind::Redirect, "hot").id());
    for number in 0..5 {
        assert_eq!(store.append(&batch(account, link, number)).await.unwrap(), Appended::Now);
    }
    (store, account, link)
}

async fn pack(store: &PostgresStore, now: Timestamp) {
    while store.pack(now).await.unwrap() == Upkeep::More {}
}

fn number(database: &PostgresDatabase, of: &str) -> i64 {
    database.query(&format!("SELECT {of}")).trim().parse().unwrap()
}

const BATCHES: &str = "count(*) FROM click_batches";

#[tokio::test(flavor = "multi_thread")]
async fn packing_begins_at_an_age_a_number_of_batches_or_of_clicks() {
    let database = migrated().await;
    let store = open(&database).await;
    let (account, link) = (samples::id(), samples::link(LinkKind::Redirect, "hot").id());
    store.append(&batch(account, link, 0)).await.unwrap();
    assert_eq!(store.pack(at(59_999)).await.unwrap(), Upkeep::Done);
    assert_eq!(number(&database, BATCHES), 1);
    assert_eq!(store.pack(at(60_000)).await.unwrap(), Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    for next in 1..=49 {
        store.append(&batch(account, link, next)).await.unwrap();
    }
    assert_eq!(store.pack(at(0)).await.unwrap(), Upkeep::Done);
    store.append(&batch(account, link, 50)).await.unwrap();
    assert_eq!(store.pack(at(0)).await.unwrap(), Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    let small =
        |number| EncodedClicks { source: ClickSource([2; 16]), number, clicks: 1, ..batch(account, link, 0) };
    for next in 1..=256 {
        assert_eq!(store.pack(at(0)).await.unwrap(), Upkeep::Done);
        store.append(&small(next)).await.unwrap();
    }
    assert_eq!(store.pack(at(0)).await.unwrap(), Upkeep::More);
    assert_eq!(number(&database, BATCHES), 0);
    assert_eq!(number(&database, "sum(clicks) FROM click_segments"), 51_000 + 256_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_batch_is_set_aside() {
    let database = migrated().await;
    let (store, account, link) = filled(&database).await;
    let malformed = EncodedClicks { segment: vec![7; 100], ..batch(account, link, 5) };
    store.append(&malformed).await.unwrap();
    pack(&store, at(3_600_000)).await;
    assert_eq!(number(&database, BATCHES), 0);
    assert_eq!(number(&database, "sum(clicks) FROM click_segments"), 5_000);
    let aside = "count(*) FROM unreadable_click_batches WHERE number = 6 AND octet_length(data) = 100";
    assert_eq!(number(&database, aside), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_sealed_segments_hold_no_hash_of_a_visitor() {
    let database = migrated().await;
    let (store, ..) = filled(&database).await;
    pack(&store, at(3_600_000)).await;
    let found = || {
        let has = |hash: [u8; 6]| {
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            number(
                &database,
                &format!("count(*) FROM click_segments WHERE position('\\x{hex}'::bytea IN data) > 0"),
            )
        };
        (0..5_000).step_by(500).map(|number| has(hash(number))).sum::<i64>()
    };
    assert_eq!(found(), 10, "before sealing the hashes are there");
    while store.seal(at(86_400_000 * 4)).await.unwrap() == Upkeep::More {}
    assert_eq!(number(&database, "sum(clicks) FROM click_segments WHERE sealed"), 5_000);
    assert_eq!(found(), 0);
}

/// A packer that has looked for deleted accounts, and has not committed yet, stores nothing behind the deletion's back.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_deletion_waits_for_packers_at_work() {
    let database = migrated().await;
    let (store, account, link) = filled(&database).await;
    pack(&store, at(3_600_000)).await;
    for next in 5..200 {
        store.append(&batch(account, link, next)).await.unwrap();
    }
    let packing = async { pack(&store, at(3_600_000)).await };
    let forgetting = async { while store.forget_clicks(account, None).await.unwrap() == Upkeep::More {} };
    tokio::join!(packing, forgetting);
    pack(&store, at(3_600_000)).await;
    for table in ["click_batches", "click_segments", "click_days", "click_digests"] {
        assert_eq!(number(&database, &format!("count(*) FROM {table}")), 0, "{table}");
    }
}
