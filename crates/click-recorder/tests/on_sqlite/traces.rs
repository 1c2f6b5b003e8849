//! What is stored about visitors, compressed or not: no header or query as they sent it, and no address (R31,
//! D48).

use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::Binary;
use signpost_app::ports::{Appended, Click, ClickKind, ClickStore, EncodedClicks, StoreError, Upkeep};
use signpost_click_recorder::ClickRecorder;
use signpost_domain::analytics::{Buckets, Dimension, Question, UtcDay};
use signpost_domain::{RedirectId, Timestamp};
use signpost_enrichment::{Enricher, Sources};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteClickStore};

use crate::scene::{ACCOUNT, Append, Before, LONG, open, processes_with_files, selection, start, take};

/// More than a link needs for its own digest.
const CLICKS: usize = 1_200;

const ADDRESSES: [&str; 3] = ["198.51.100.77", "203.0.113.213", "2001:db8:5ec::77:1"];

/// Words of the visitors' headers and queries.
const WORDS: [&str; 8] = [
    "secretagent",
    "secretpath",
    "secretreferrer",
    "secretquery",
    "secret%40person",
    "secret@person",
    "secretlanguage",
    "Gecko/20100101",
];

fn visits() -> impl Iterator<Item = Click<'static>> {
    (0..CLICKS).map(|number| Click {
        at: samples::at(number.try_into().unwrap()),
        link: RedirectId::from_bytes([7; 16]).into(),
        account: ACCOUNT,
        kind: ClickKind::Sent,
        rule: "",
        address: ADDRESSES[number % ADDRESSES.len()].parse().unwrap(),
        country: None,
        user_agent: b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0 secretagent",
        referrer: b"https://news.example.org/secretpath?secretreferrer",
        accept_language: b"de-AT, secretlanguage;q=0.5",
        query: b"utm_source=letter&token=secretquery&email=secret%40person.example",
        purpose: b"",
    })
}

/// The bytes that would identify a visitor.
fn secrets() -> Vec<Vec<u8>> {
    let mut secrets: Vec<Vec<u8>> = WORDS.iter().map(|word| word.as_bytes().to_vec()).collect();
    for address in ADDRESSES {
        let octets = match address.parse().unwrap() {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        let mut digits = String::new();
        for octet in &octets {
            write!(digits, "{octet:02x}").unwrap();
        }
        secrets.extend([address.as_bytes().to_vec(), digits.into_bytes(), octets]);
    }
    secrets
}

#[track_caller]
fn no_secret_in(place: &str, bytes: &[u8]) {
    for secret in secrets() {
        let is_there = bytes.windows(secret.len()).any(|window| window == secret);
        assert!(!is_there, "{:?} is in {place}", String::from_utf8_lossy(&secret));
    }
}

/// All files in a folder and its subfolders.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn no_secret_on_disk(folder: &Path) {
    for path in files(folder) {
        no_secret_in(&path.display().to_string(), &std::fs::read(&path).unwrap());
    }
}

/// Decodes a segment, and returns its number of clicks.
fn no_secret_in_segment(place: &str, segment: &[u8]) -> usize {
    let mut clicks = 0;
    signpost_clicks::read(segment, |click| {
        for value in click.values.0 {
            no_secret_in(place, value.as_bytes());
        }
        no_secret_in(place, &click.visitor.0);
        assert_eq!(click.values.get(Dimension::Referrer), Some("news.example.org"));
        assert_eq!(click.values.get(Dimension::UtmSource), Some("letter"));
        clicks += 1;
    })
    .unwrap();
    clicks
}

#[derive(QueryableByName)]
struct Data {
    #[diesel(sql_type = Binary)]
    data: Vec<u8>,
}

/// The segments of a table in the file of clicks.
fn segments(folder: &Path, table: &str) -> Vec<Vec<u8>> {
    let file = DatabaseFile::at(folder.join("signpost.db")).unwrap().of_clicks();
    let mut connection = SqliteConnection::establish(file.path().to_str().unwrap()).unwrap();
    let rows: Vec<Data> =
        diesel::sql_query(format!("SELECT data FROM {table}")).load(&mut connection).unwrap();
    rows.into_iter().map(|row| row.data).collect()
}

fn no_secret_in_table(folder: &Path, table: &str) -> usize {
    segments(folder, table).iter().map(|segment| no_secret_in_segment(table, segment)).sum()
}

/// Refuses batches and keeps them.
#[derive(Default)]
struct RefuseAndKeep(Mutex<Vec<EncodedClicks>>);

#[async_trait]
impl Append for RefuseAndKeep {
    async fn append(&self, _: &SqliteClickStore, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        self.0.lock().unwrap().push(batch.clone());
        Err(StoreError::unavailable("away"))
    }
}

async fn recorder(store: Arc<dyn ClickStore>, folder: &Path, seed: u64) -> ClickRecorder {
    start(store, Box::new(Enricher::new(Sources::default())), folder, seed).await
}

/// Every value of every dimension that the store reports, from digests where they exist.
async fn no_secret_in_answers(store: &SqliteClickStore) {
    let dimensions = Dimension::RECORDED.to_vec();
    let buckets = Buckets::new(vec![UtcDay::of(samples::at(0)).first()]).unwrap();
    let question = Question { selection: selection(), buckets, dimensions, limit: 1_000 };
    let report = store.answer(&question, Instant::now() + LONG).await.unwrap();
    assert_eq!(report.totals.clicks, u64::try_from(CLICKS).unwrap());
    assert_eq!(report.totals.visitors, u64::try_from(ADDRESSES.len()).unwrap());
    no_secret_in("an answer", format!("{report:?}").as_bytes());
}

async fn until_done<Work: Future<Output = Result<Upkeep, StoreError>>>(work: impl Fn() -> Work) {
    while work().await.unwrap() == Upkeep::More {}
}

#[tokio::test(flavor = "multi_thread")]
async fn r31_d48_stored_data_never_identifies_a_visitor() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let refusing = Arc::new(Before { append: RefuseAndKeep::default(), store: open(folder) });
    let first = recorder(Arc::<Before<RefuseAndKeep>>::clone(&refusing), folder, 1).await;
    take(&first, visits());
    first.close(LONG);
    no_secret_on_disk(folder);
    assert_eq!(processes_with_files(folder), 1);
    let batches = refusing.append.0.lock().unwrap().clone();
    assert_eq!(no_secret_in_segment("a batch of the spool", &batches[0].segment), CLICKS);

    let store = Arc::new(open(folder));
    let second = recorder(Arc::<SqliteClickStore>::clone(&store), folder, 2).await;
    let since = Instant::now();
    while no_secret_in_table(folder, "click_batches") < CLICKS {
        assert!(since.elapsed() < LONG, "clicks did not reach the store in time");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    second.close(LONG);
    no_secret_on_disk(folder);
    no_secret_in_answers(&store).await;

    let later: Timestamp = UtcDay::of(samples::at(0)).plus(4).first();
    until_done(|| async { Ok(store.pack(later).await?.upkeep) }).await;
    assert_eq!(no_secret_in_table(folder, "click_segments"), CLICKS);
    no_secret_in_answers(&store).await;
    until_done(|| store.digest(later)).await;
    until_done(|| store.seal(later)).await;
    assert_eq!(no_secret_in_table(folder, "click_segments"), CLICKS);
    assert!(!segments(folder, "click_digests").is_empty());
    no_secret_in_answers(&store).await;
    no_secret_on_disk(folder);
}
