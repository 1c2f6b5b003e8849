//! The search index: after any sequence of writes, deletions and index steps, a search finds what a walk finds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use signpost_app::background::{IndexLinks, Job, Progress};
use signpost_app::ports::{AccountReads, Insertion, LinkReads, Store};
use signpost_domain::{
    AccountId, AnyContent, Id, Link, LinkFilter, LinkId, LinkKind, PageLimit, PagePosition, Redirect,
    SearchText,
};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{PLENTY, account, migrated, open};

/// The number of changes, searches and index steps in a run.
const ACTS: u32 = 400;

/// Reproducible random numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// An account with an index, and links in the order of their numbers.
pub(super) struct Indexed {
    pub(super) database: PostgresDatabase,
    pub(super) store: Arc<PostgresStore>,
    pub(super) account: AccountId,
    /// Above the numbers of all links that were inserted in order.
    next: u64,
}

/// The bytes of a link's id. Ids of links inserted in order leave gaps for others.
fn bytes(number: u64) -> [u8; 16] {
    u128::from(number).to_be_bytes()
}

impl Indexed {
    pub(super) async fn new() -> Self {
        let database = migrated().await;
        let store = Arc::new(open(&database).await);
        let account = account(&store).await;
        Self { database, store, account, next: 1_000 }
    }

    /// The id of the account as an SQL literal.
    fn account_sql(&self) -> String {
        format!("'{:032x}'::uuid", u128::from_be_bytes(self.account.to_bytes()))
    }

    /// Inserts links with numbers `step` apart. Their texts follow from their numbers.
    fn fill(&self, kind: i16, first: u64, step: u64, links: u64) {
        let account = self.account_sql();
        self.database.run(&format!(
            "WITH n AS (SELECT n, 'A ' || (ARRAY['sale', 'offer', 'spring', 'gift'])[n / 1000 % 4 + 1] || ' ' || n % 97 AS name, \
             'https://example.com/' || md5(n::text) || '/' || n / 7000 % 50 AS target \
             FROM generate_series({first}::bigint, {first} + ({links} - 1) * {step}, {step}) AS n), \
             new AS (INSERT INTO links (id, account_id, kind, name, host, slug, is_active, analytics_enabled, created_at, \
             updated_at, target_url, search_key) SELECT lpad(to_hex(n), 32, '0')::uuid, {account}, {kind}, name, '', \
             's-' || n, true, true, '2026-01-01', '2026-01-01', CASE {kind} WHEN 1 THEN target END, \
             lower(name) || chr(31) || 's-' || n || CASE {kind} WHEN 1 THEN chr(31) || target ELSE '' END FROM n \
             ON CONFLICT DO NOTHING RETURNING id) \
             UPDATE accounts SET links_count = links_count + (SELECT count(*) FROM new) WHERE id = {account}"
        ));
    }

    /// Inserts the next links in order.
    pub(super) fn append(&mut self, kind: i16, links: u64) {
        self.fill(kind, self.next, 1_000, links);
        self.next += links * 1_000;
    }

    fn delete(&self, first: u64, last: u64, modulus: u64) {
        self.database.run(&format!(
            "WITH gone AS (DELETE FROM links WHERE account_id = {0} AND id BETWEEN lpad(to_hex({first}), 32, '0')::uuid \
             AND lpad(to_hex({last}), 32, '0')::uuid AND substr(md5(id::text), 1, 4) > lpad(to_hex(65535 / {modulus}), 4, '0') \
             RETURNING id) UPDATE accounts SET links_count = links_count - (SELECT count(*) FROM gone) WHERE id = {0}",
            self.account_sql()
        ));
    }

    /// Runs steps of the job until no work is left.
    pub(super) async fn index(&self) {
        let store: Arc<dyn Store> = self.store.clone();
        let job = IndexLinks::new(store);
        while job.step().await.unwrap() == Progress::More {}
    }

    pub(super) fn count(&self, what: &str) -> u64 {
        self.database.query(&format!("SELECT count(*) FROM {what}")).trim().parse().unwrap()
    }

    pub(super) async fn page(
        &self,
        kind: LinkKind,
        text: &str,
        limit: u64,
        after: Option<PagePosition>,
        walks: bool,
    ) -> (Vec<Link>, Option<PagePosition>) {
        let filter = LinkFilter {
            search: Some(SearchText::parse(text).unwrap()),
            // All links are active, and the index does not serve this filter.
            is_active: walks.then_some(true),
            ..LinkFilter::default()
        };
        let limit = PageLimit::new(limit).unwrap();
        let page = self.store.links(self.account, kind, &filter, limit, after).await.unwrap();
        (page.items, page.next)
    }

    /// Checks that a search finds what a walk finds, and returns it.
    async fn search(
        &self,
        kind: LinkKind,
        text: &str,
        limit: u64,
        after: Option<PagePosition>,
        what: &str,
    ) -> Vec<Link> {
        let walked = self.page(kind, text, limit, after, true).await;
        let found = self.page(kind, text, limit, after, false).await;
        let ids = |links: &[Link]| links.iter().map(|link| link.id().to_string()).collect::<Vec<_>>();
        assert_eq!(ids(&found.0), ids(&walked.0), "{text} {limit} {after:?} {what}");
        assert_eq!(found, walked, "{text} {limit} {after:?} {what}");
        found.0
    }

    /// Changes the texts of a link, if it exists.
    async fn change(&self, id: LinkId, number: u64) {
        let mut work = self.store.begin().await.unwrap();
        let Some(before) = work.lock_link(self.account, id).await.unwrap() else { return };
        let mut after = before.clone();
        match (&mut after.content, number % 3) {
            (AnyContent::Redirect(redirect), 0) => {
                redirect.target_url = samples::target(&format!("https://changed.example/{number}/rare"));
            }
            (AnyContent::Redirect(_), 1) => after.placement = samples::on_system(&format!("moved-{number}")),
            (AnyContent::Redirect(_) | AnyContent::Landing, _) => {
                after.name = samples::name(&format!("Renamed spring {number}"));
            }
        }
        if work.update_link(self.account, &before, &after).await.is_ok() {
            work.commit().await.unwrap();
        }
    }
}

/// D32: a search with the index finds what a search without it finds.
async fn run(seed: u64) {
    let mut subject = Indexed::new().await;
    let mut numbers = Numbers(seed);
    let mut trace = Vec::new();
    subject.append(1, 5_000);
    subject.append(0, 1_500);
    let mut after = None;
    let mut segments_seen = 0;
    for act in 0..ACTS {
        let any = 1 + numbers.below(subject.next);
        match numbers.below(20) {
            0 => {
                let links = 1 + numbers.below(1_500);
                trace.push(format!("append {links}"));
                subject.append(i16::from(numbers.below(4) > 0), links);
            }
            1 => {
                let most = if numbers.below(8) == 0 { 3_000 } else { 60 };
                let links = 1 + numbers.below(most);
                trace.push(format!("insert {links} at {any}"));
                subject.fill(1, any, 1 + numbers.below(999), links);
            }
            2 => {
                let most = if numbers.below(4) == 0 { subject.next } else { 300_000 };
                let last = any + numbers.below(most);
                trace.push(format!("delete {any} to {last}"));
                subject.delete(any, last, 1 + numbers.below(3));
            }
            3..=6 => {
                let kind = if numbers.below(4) > 0 { LinkKind::Redirect } else { LinkKind::Landing };
                let number = any / 1_000 * 1_000;
                trace.push(format!("change {number}"));
                subject.change(LinkId::from_bytes(kind, bytes(number)), numbers.below(1_000_000)).await;
            }
            7..=10 => {
                let done = subject.store.tend_search_index(after).await.unwrap();
                trace.push(format!("step {done:?}"));
                after = done.after;
            }
            _ => {
                let texts = [
                    "sale".to_owned(),
                    "Spring".to_owned(),
                    "https://ex".to_owned(),
                    "changed.example".to_owned(),
                    "moved-".to_owned(),
                    "renamed spring 1".to_owned(),
                    format!("s-{any}"),
                    format!("s-{}", any / 1_000 * 1_000),
                    format!("{:03x}", numbers.below(4_096)),
                    format!("{:04x}", numbers.below(65_536)),
                    format!("/{}", numbers.below(50)),
                    format!(" {}", numbers.below(97)),
                    "nowhere".to_owned(),
                ];
                let text = &texts[usize::try_from(numbers.below(13)).unwrap()];
                let kind = if numbers.below(4) > 0 { LinkKind::Redirect } else { LinkKind::Landing };
                let limit = [1, 7, 10, 25, 100][usize::try_from(numbers.below(5)).unwrap()];
                let position = (numbers.below(3) > 0).then(|| PagePosition::behind(bytes(any)));
                subject.search(kind, text, limit, position, &format!("{seed} {act}: {trace:#?}")).await;
                continue;
            }
        }
        if act % 40 == 39 {
            segments_seen += subject.count("search_segments");
        }
    }
    assert!(segments_seen > 0, "no segment was ever written");
    subject.index().await;
    for text in ["sale", "rare", "renamed spring 1", "abc", "nowhere", "moved-"] {
        for kind in [LinkKind::Redirect, LinkKind::Landing] {
            subject.search(kind, text, 100, None, &format!("{seed} at the end: {trace:#?}")).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d32_searches_find_the_same_with_and_without_the_index() {
    let seeds = std::env::var("SIGNPOST_SEARCH_SEEDS").map_or(1, |seeds| seeds.parse().unwrap());
    for seed in 1..=seeds {
        run(seed).await;
    }
}

/// A writer finds its link at once, and no longer by its old texts, whatever the job does meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d32_writers_find_their_links_while_the_job_indexes_them() {
    const WRITERS: u64 = 4;
    const LINKS: u64 = 40;
    const STEPS: u64 = 11;
    let mut subject = Indexed::new().await;
    subject.append(1, 4_096);
    let first = subject.next;
    // Above all other links, so that it is sealed while writers insert theirs.
    let top = Arc::new(AtomicU64::new(first));
    let subject = Arc::new(subject);
    let is_over = Arc::new(AtomicBool::new(false));
    let worked = Arc::new(AtomicU64::new(0));
    let job = tokio::spawn({
        let (subject, is_over, top) = (Arc::clone(&subject), Arc::clone(&is_over), Arc::clone(&top));
        let worked = Arc::clone(&worked);
        async move {
            let (mut after, mut round) = (None, 0);
            while !is_over.load(Ordering::Relaxed) {
                round += 1;
                // Keeps the job sealing and rewriting segments.
                if round % 5 == 0 && round <= 100 {
                    let next = first + round * 1_000_000_000;
                    // On a separate thread, because it blocks.
                    let filled = Arc::clone(&subject);
                    tokio::task::spawn_blocking(move || filled.fill(1, next, 1, 1_100)).await.unwrap();
                    top.store(next, Ordering::Relaxed);
                }
                let done = subject.store.tend_search_index(after).await.unwrap();
                worked.fetch_add(done.has_worked.into(), Ordering::Relaxed);
                after = done.after;
            }
        }
    });
    let writers = (0..WRITERS).map(|writer| {
        let (subject, top, worked) = (Arc::clone(&subject), Arc::clone(&top), Arc::clone(&worked));
        tokio::spawn(async move {
            // At least this many, and until the job has run beside them often enough.
            for number in (0..).take_while(|number| *number < LINKS || worked.load(Ordering::Relaxed) < STEPS)
            {
                let name = format!("Writer {writer} wrote {number} end");
                // Every third one lies between older links.
                let newest = top.load(Ordering::Relaxed) + 100_000;
                let from = if number % 3 == 0 { first / 2 } else { newest };
                let id = from + number * WRITERS + writer + 1;
                let new = Redirect {
                    id: Id::from_bytes(bytes(id)),
                    name: samples::name(&name),
                    ..samples::redirect(&format!("w-{writer}-{number}"))
                };
                let new = new.into_any();
                let mut work = subject.store.begin().await.unwrap();
                let inserted = work.insert_links(subject.account, std::slice::from_ref(&new), PLENTY).await;
                assert_eq!(inserted.unwrap(), [Insertion::Done]);
                work.commit().await.unwrap();
                let (found, _) = subject.page(LinkKind::Redirect, &name, 10, None, false).await;
                assert_eq!(found, std::slice::from_ref(&new), "{name}");

                let renamed = format!("Renamed {writer} of {number} end");
                let mut work = subject.store.begin().await.unwrap();
                let before = work.lock_link(subject.account, new.id()).await.unwrap().unwrap();
                let after = Link { name: samples::name(&renamed), ..before.clone() };
                work.update_link(subject.account, &before, &after).await.unwrap();
                work.commit().await.unwrap();
                let (found, _) = subject.page(LinkKind::Redirect, &renamed, 10, None, false).await;
                assert_eq!(found, [after], "{renamed}");
                let (found, _) = subject.page(LinkKind::Redirect, &name, 10, None, false).await;
                assert_eq!(found, [], "{name}");
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    is_over.store(true, Ordering::Relaxed);
    job.await.unwrap();
    subject.index().await;
    for text in ["renamed", "wrote", "writer 1", "of 77 end", "sale"] {
        subject.search(LinkKind::Redirect, text, 100, None, "at the end").await;
    }
}

/// The job seals no links while a transaction that writes some is open: it would see neither these links nor their notes.
#[tokio::test(flavor = "multi_thread")]
async fn d32_links_of_open_transactions_are_found_after_their_commit() {
    let mut subject = Indexed::new().await;
    subject.append(1, 5_000);
    let new = Redirect { id: Id::from_bytes(bytes(500)), ..samples::redirect("inserted-late") };
    let new = new.into_any();
    let mut work = subject.store.begin().await.unwrap();
    work.insert_links(subject.account, std::slice::from_ref(&new), PLENTY).await.unwrap();
    subject.index().await;
    assert_eq!(subject.count("search_segments"), 0);
    work.commit().await.unwrap();
    subject.index().await;
    assert!(subject.count("search_segments") > 0);
    let found = subject.search(LinkKind::Redirect, "inserted-late", 10, None, "inserted").await;
    assert_eq!(found, [new]);

    let id = LinkId::from_bytes(LinkKind::Redirect, bytes(7_000));
    let mut work = subject.store.begin().await.unwrap();
    let before = work.lock_link(subject.account, id).await.unwrap().unwrap();
    let mut after = before.clone();
    after.move_to_group(None, samples::at(9));
    after.name = samples::name("Named late");
    work.update_link(subject.account, &before, &after).await.unwrap();
    subject.append(1, 5_000);
    subject.index().await;
    work.commit().await.unwrap();
    let found = subject.search(LinkKind::Redirect, "named late", 10, None, "changed").await;
    assert_eq!(found.len(), 1);
}

/// The index of a deleted account, or of one with few links, is removed.
#[tokio::test(flavor = "multi_thread")]
async fn index_is_removed_with_the_links_and_the_account() {
    let mut subject = Indexed::new().await;
    subject.append(1, 40_000);
    subject.index().await;
    assert_eq!(subject.count("search_segments"), 3);
    assert_eq!(subject.count("search_buckets"), 2 * 4_096 + 2_048);

    // Most links of the first segments, so that these are rewritten.
    subject.delete(1, 30_000_000, 100);
    subject.index().await;
    assert_eq!(subject.count("search_buckets"), 4_096 + 2_048 + 256);
    subject.search(LinkKind::Redirect, "sale", 25, None, "with most deleted").await;

    subject.database.run("DELETE FROM links WHERE id > lpad(to_hex(500000), 32, '0')::uuid; UPDATE accounts SET links_count = 500");
    subject.change(LinkId::from_bytes(LinkKind::Redirect, bytes(1_000)), 2).await;
    subject.index().await;
    for table in ["search_segments", "search_buckets", "search_changes"] {
        assert_eq!(subject.count(table), 0, "{table}");
    }
    assert_eq!(subject.count("search_states WHERE sealed_until IS NOT NULL"), 0);

    subject.append(1, 6_000);
    subject.index().await;
    assert!(subject.count("search_segments") > 0);
    let mut work = subject.store.begin().await.unwrap();
    assert!(work.delete_account(subject.account).await.unwrap());
    work.commit().await.unwrap();
    assert!(subject.store.account(subject.account).await.unwrap().is_none());
    subject.index().await;
    for table in ["search_segments", "search_buckets", "search_changes", "search_states"] {
        assert_eq!(subject.count(table), 0, "{table}");
    }
}
