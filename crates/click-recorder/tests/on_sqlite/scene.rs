//! A recorder, the embedded store, and a store between them that the tests control.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_app::ports::{
    Appended, ClickBatch, ClickSink as _, ClickStore, EncodedClicks, NoCountries, OldClicks, Packed,
    StoreError, Upkeep,
};
use signpost_click_recorder::{ClickRecorder, FindFacts, RecorderOptions, RecorderPorts};
use signpost_domain::analytics::{
    Buckets, ClickId, ClickSelection, ExportedClick, LinkScope, Period, PlannedDeletion, Question,
    RecentClicks, Report, UtcDay, VisitorKey,
};
use signpost_domain::{AccountId, LinkId, Timestamp};
use signpost_memory::{ManualClock, SeededRandomness};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};

/// Longer than anything here takes. Only a failure waits for it.
pub(crate) const LONG: Duration = Duration::from_mins(2);

pub(crate) const ACCOUNT: AccountId = AccountId::from_bytes([1; 16]);

/// The store in a folder, which processes share.
pub(crate) fn open(folder: &Path) -> SqliteClickStore {
    let file = DatabaseFile::at(folder.join("signpost.db")).unwrap();
    let options = SqliteOptions { time_limit: LONG, ..SqliteOptions::default() };
    SqliteClickStore::open(&file, &options).unwrap()
}

/// A recorder whose spool is in this folder.
pub(crate) async fn start(
    store: Arc<dyn ClickStore>,
    facts: Box<dyn FindFacts>,
    folder: &Path,
    seed: u64,
) -> ClickRecorder {
    let clock = ManualClock::default();
    clock.set(samples::at(0));
    let ports = RecorderPorts {
        store,
        clock: Arc::new(clock),
        randomness: Arc::new(SeededRandomness::new(seed)),
        countries: Arc::new(NoCountries),
        facts,
        secrets: None,
        health: Arc::default(),
    };
    ClickRecorder::start(ports, &RecorderOptions::in_folder(folder.join("spool"))).await.unwrap()
}

/// Passes clicks on as one buffer, which becomes one batch.
pub(crate) fn take<'a>(
    recorder: &ClickRecorder,
    clicks: impl IntoIterator<Item = signpost_app::ports::Click<'a>>,
) {
    let mut batch = ClickBatch::default();
    for click in clicks {
        assert!(batch.push(&click, usize::MAX));
    }
    assert!(recorder.take(batch).is_empty());
}

/// The day of all clicks here.
pub(crate) fn selection() -> ClickSelection {
    let day = UtcDay::of(samples::at(0));
    let period = Period::new(day.first(), day.last()).unwrap();
    ClickSelection { account: ACCOUNT, scope: LinkScope::All, period, filters: Vec::new() }
}

/// How many clicks are stored.
pub(crate) async fn stored(store: &dyn ClickStore) -> u64 {
    let selection = selection();
    let buckets = Buckets::new(vec![UtcDay::of(samples::at(0)).first()]).unwrap();
    let question = Question { selection, buckets, dimensions: Vec::new(), limit: 1 };
    store.answer(&question, Instant::now() + LONG).await.unwrap().totals.clicks
}

/// The files of the spool.
pub(crate) fn spooled(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder.join("spool")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// How many processes have files in the spool.
pub(crate) fn processes_with_files(folder: &Path) -> usize {
    let files = spooled(folder);
    files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "spool")).count()
}

/// Decides what happens to batches.
#[async_trait]
pub(crate) trait Append: Send + Sync {
    async fn append(&self, store: &SqliteClickStore, batch: &EncodedClicks) -> Result<Appended, StoreError>;
}

/// A store whose `append` the test controls. Other calls pass through.
pub(crate) struct Before<A> {
    pub(crate) append: A,
    pub(crate) store: SqliteClickStore,
}

#[async_trait]
impl<A: Append> ClickStore for Before<A> {
    async fn append(&self, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        self.append.append(&self.store, batch).await
    }

    async fn answer(&self, question: &Question, deadline: Instant) -> Result<Report, StoreError> {
        self.store.answer(question, deadline).await
    }

    async fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        deadline: Instant,
    ) -> Result<Vec<ExportedClick>, StoreError> {
        self.store.clicks(selection, after, at_most, deadline).await
    }

    async fn recent_clicks(
        &self,
        account: AccountId,
        links: &[LinkId],
        since: Timestamp,
    ) -> Result<Vec<RecentClicks>, StoreError> {
        self.store.recent_clicks(account, links, since).await
    }

    async fn visitor_key(&self, day: UtcDay, proposed: VisitorKey) -> Result<VisitorKey, StoreError> {
        self.store.visitor_key(day, proposed).await
    }

    async fn forget_visitor_keys(&self, day: UtcDay) -> Result<(), StoreError> {
        self.store.forget_visitor_keys(day).await
    }

    async fn pack(&self, now: Timestamp) -> Result<Packed, StoreError> {
        self.store.pack(now).await
    }

    async fn digest(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        self.store.digest(now).await
    }

    async fn seal(&self, now: Timestamp) -> Result<Upkeep, StoreError> {
        self.store.seal(now).await
    }

    async fn accounts_with_clicks_before(
        &self,
        day: UtcDay,
        after: Option<AccountId>,
        at_most: usize,
    ) -> Result<Vec<AccountId>, StoreError> {
        self.store.accounts_with_clicks_before(day, after, at_most).await
    }

    async fn today(&self, now: Timestamp) -> Result<UtcDay, StoreError> {
        self.store.today(now).await
    }

    async fn old_clicks(&self, account: AccountId, day: UtcDay) -> Result<Option<OldClicks>, StoreError> {
        self.store.old_clicks(account, day).await
    }

    async fn planned_deletion(&self, account: AccountId) -> Result<Option<PlannedDeletion>, StoreError> {
        self.store.planned_deletion(account).await
    }

    async fn plan_deletion(
        &self,
        account: AccountId,
        planned: Option<PlannedDeletion>,
    ) -> Result<(), StoreError> {
        self.store.plan_deletion(account, planned).await
    }

    async fn forget_clicks(&self, account: AccountId, day: Option<UtcDay>) -> Result<Upkeep, StoreError> {
        self.store.forget_clicks(account, day).await
    }
}
