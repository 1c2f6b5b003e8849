//! Both stores, driven through the port like in the program.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use signpost_app::ports::{Appended, ClickStore, EncodedClicks, Upkeep};
use signpost_clicks::SegmentBuilder;
use signpost_domain::analytics::{ClickSource, Report};
use signpost_domain::{AccountId, Timestamp};
use signpost_port_contracts::SyntheticClicks;
use signpost_postgres::{PostgresOptions, PostgresStore, migrate};
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};
use signpost_test_servers::postgres::{PostgresDatabase, PostgresServer};
use tempfile::TempDir;

use crate::Scenery;
use crate::cases::Case;
use crate::machine::{begin_peak, peak, processor_seconds};

/// The number of clicks of a batch: a node with 20,000 clicks a second sends a batch every 50 ms.
const BATCH: usize = 1_000;

/// Longer than any call takes.
const TIME_LIMIT: Duration = Duration::from_mins(2);

/// A measured store.
pub(crate) struct Subject {
    name: &'static str,
    store: Arc<dyn ClickStore>,
    /// The server's process and database, if the store has a server.
    server: Option<(u32, PostgresDatabase)>,
    /// The folder of the embedded store.
    _folder: Option<TempDir>,
    /// The number of sources that have sent batches.
    sources: u128,
}

/// A report and its costs.
pub(crate) struct Asked {
    pub(crate) report: Report,
    /// The median time.
    pub(crate) time: Duration,
    /// The peak allocation of the first query, in MiB.
    pub(crate) mebibytes: f64,
}

impl Subject {
    pub(crate) async fn postgres(server: &PostgresServer) -> Result<Self> {
        let database = server.database(None);
        migrate(&database.url()).await?;
        let options = PostgresOptions::with_time_limit(TIME_LIMIT);
        let store = Arc::new(PostgresStore::connect(&database.url(), &options).await?);
        let process = server.process().context("the server has ended")?;
        Ok(Self { name: "PostgreSQL", store, server: Some((process, database)), _folder: None, sources: 0 })
    }

    pub(crate) fn sqlite() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let path: PathBuf = folder.path().join("signpost.db");
        let options = SqliteOptions { time_limit: TIME_LIMIT, ..SqliteOptions::default() };
        let store = Arc::new(SqliteClickStore::open(&DatabaseFile::at(path)?, &options)?);
        Ok(Self { name: "SQLite", store, server: None, _folder: Some(folder), sources: 0 })
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The clicks a second that one caller appends, at least all of them once. They are deleted afterwards.
    pub(crate) async fn drain(&mut self, clicks: &SyntheticClicks, time: Duration) -> Result<f64> {
        // Use a separate account, because clicks appended for a deleted account are dropped.
        let account = AccountId::from_bytes([3; 16]);
        let few = SyntheticClicks { account, clicks: clicks.clicks.min(200_000), ..*clicks };
        let batches = self.batches(&few)?;
        let mut rounds = 0_u64;
        let began = Instant::now();
        while rounds == 0 || began.elapsed() < time {
            self.sources += 1;
            for batch in &batches {
                self.append(EncodedClicks {
                    source: ClickSource(self.sources.to_be_bytes()),
                    ..batch.clone()
                })
                .await?;
            }
            rounds += 1;
        }
        let rate = lossy(rounds * few.clicks) / began.elapsed().as_secs_f64();
        while self.store.forget_clicks(account, None).await? == Upkeep::More {}
        Ok(rate)
    }

    async fn append(&self, batch: EncodedClicks) -> Result<()> {
        let appended = self.store.append(&batch).await?;
        ensure!(appended == Appended::Now, "{appended:?}");
        Ok(())
    }

    /// Appends all clicks.
    pub(crate) async fn load(&mut self, scenery: &Scenery) -> Result<()> {
        for clicks in [scenery.hot, scenery.tail] {
            for batch in self.batches(&clicks)? {
                self.append(batch).await?;
            }
        }
        Ok(())
    }

    fn batches(&mut self, clicks: &SyntheticClicks) -> Result<Vec<EncodedClicks>> {
        self.sources += 1;
        let source = ClickSource(self.sources.to_be_bytes());
        let mut batches: Vec<EncodedClicks> = Vec::new();
        let mut builder = SegmentBuilder::new();
        let mut full = false;
        let end = |builder: SegmentBuilder, batches: &mut Vec<EncodedClicks>| {
            if let Some(built) = builder.finish() {
                let number = u64::try_from(batches.len()).unwrap_or(u64::MAX) + 1;
                let (clicks, first, last, segment) = (built.clicks, built.first, built.last, built.data);
                batches.push(EncodedClicks { source, number, clicks, first, last, segment });
            }
        };
        clicks.for_each(|click| {
            full |= builder.push(click).is_err();
            if builder.len() == BATCH {
                end(std::mem::take(&mut builder), &mut batches);
            }
        });
        end(builder, &mut batches);
        if full {
            bail!("a batch does not fit into a segment");
        }
        Ok(batches)
    }

    /// Packs, digests and seals everything. Returns the CPU seconds of this process and the server for each click.
    pub(crate) async fn keep_up(&self, now: Timestamp, clicks: u64) -> Result<f64> {
        let before = self.processor_seconds()?;
        while self.store.pack(now).await?.upkeep == Upkeep::More {}
        while self.store.digest(now).await? == Upkeep::More {}
        while self.store.seal(now).await? == Upkeep::More {}
        Ok((self.processor_seconds()? - before) / lossy(clicks))
    }

    fn processor_seconds(&self) -> Result<f64> {
        let mut seconds = processor_seconds("self")?;
        if let Some((server, _)) = &self.server {
            for process in crate::machine::children(*server)? {
                seconds += processor_seconds(&process)?;
            }
        }
        Ok(seconds)
    }

    /// The size of a sealed click of each account in bytes, if the store can report it.
    pub(crate) fn bytes_a_click(&self, scenery: &Scenery) -> Result<Option<[f64; 2]>> {
        let Some((_, database)) = &self.server else { return Ok(None) };
        let of = |clicks: &SyntheticClicks| -> Result<f64> {
            let account = u128::from_be_bytes(clicks.account.to_bytes());
            let bytes = database.query(&format!(
                "SELECT sum(octet_length(data))::float8 / sum(clicks) FROM click_segments \
                 WHERE account_id = '{account:032x}' AND sealed"
            ));
            Ok(bytes.trim().parse()?)
        };
        Ok(Some([of(&scenery.hot)?, of(&scenery.tail)?]))
    }

    /// Runs the query `rounds` times.
    pub(crate) async fn ask(&self, case: &Case, rounds: usize) -> Result<Asked> {
        let before = begin_peak();
        let mut mebibytes = None;
        let mut times = Vec::new();
        let mut report = None;
        for _ in 0..rounds.max(1) {
            let began = Instant::now();
            report = Some(self.store.answer(&case.question, began + TIME_LIMIT).await?);
            times.push(began.elapsed());
            mebibytes = mebibytes.or(Some(peak() - before));
        }
        times.sort_unstable();
        let time = times.get(times.len() / 2).copied().context("no round")?;
        Ok(Asked { report: report.context("no round")?, time, mebibytes: mebibytes.unwrap_or_default() })
    }
}

/// Converts a number for a ratio.
pub(crate) fn lossy(number: u64) -> f64 {
    f64::from(u32::try_from(number / 1_000).unwrap_or(u32::MAX)) * 1_000.0
        + f64::from(u32::try_from(number % 1_000).unwrap_or_default())
}
