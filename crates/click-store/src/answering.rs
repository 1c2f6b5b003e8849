//! Answering questions about clicks, each on one snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use signpost_app::ports::StoreError;
use signpost_clicks::{DigestScope, Inquiry, MalformedSegment, Unpacked};
use signpost_domain::AccountId;
use signpost_domain::analytics::{Question, Report, UtcDay};

use crate::computing::{ComputeError, Lane, compute};
use crate::inbox::unpacked;
use crate::reading_days::{DaySegments, ReadDays, by, malformed};
use crate::tables::{BatchSelection, ClickSnapshot, ClickTables, Reading};

/// How many digests are read at once. The values of a day are capped, so these take a few MiB.
const DIGESTS_AT_ONCE: usize = 100;

/// How many bytes a short question may read. Counting them takes some ten milliseconds of a core.
const BYTES_OF_SHORT_QUESTION: u64 = 512 * 1024;

/// Why an attempt to answer ended.
enum Stop {
    Failed(StoreError),
    /// Malformed segments or digests. Malformed unpacked batches are skipped instead.
    Malformed(&'static str, MalformedSegment),
    /// It would read more than its lane allows.
    TooLong,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl From<ComputeError> for Stop {
    fn from(error: ComputeError) -> Self {
        Self::Failed(error.into())
    }
}

/// Answers a question. It first tries as a short one, so it waits for no long one. If it turns out to be long, it waits for
/// its turn among those, and starts again.
///
/// # Errors
/// [`StoreError::Unavailable`] if the deadline passes first.
pub async fn answer(
    tables: &(impl ClickTables + ?Sized),
    question: &Question,
    deadline: Instant,
) -> Result<Report, StoreError> {
    let answered = async {
        let short = Limits { lane: Lane::Short, bytes_left: BYTES_OF_SHORT_QUESTION };
        let mut snapshot = tables.snapshot(Reading::ShortQuestion, deadline).await?;
        match answer_from(&mut *snapshot, question, short, deadline).await {
            Err(Stop::TooLong) => drop(snapshot),
            outcome => return outcome.map_err(|stop| stop.into_error(question)),
        }
        let long = Limits { lane: Lane::Long, bytes_left: u64::MAX };
        let mut snapshot = tables.snapshot(Reading::LongQuestion, deadline).await?;
        let outcome = answer_from(&mut *snapshot, question, long, deadline).await;
        outcome.map_err(|stop| stop.into_error(question))
    };
    by(deadline, answered).await
}

impl Stop {
    fn into_error(self, question: &Question) -> StoreError {
        match self {
            Self::Failed(error) => error,
            Self::Malformed(table, error) => malformed(table, question.selection.account, error),
            Self::TooLong => StoreError::unavailable("the question reads too many clicks"),
        }
    }
}

/// What an attempt may use.
#[derive(Clone, Copy)]
struct Limits {
    lane: Lane,
    bytes_left: u64,
}

impl Limits {
    fn take(&mut self, bytes: u64) -> Result<(), Stop> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(Stop::TooLong)?;
        Ok(())
    }
}

async fn answer_from(
    snapshot: &mut dyn ClickSnapshot,
    question: &Question,
    mut limits: Limits,
    deadline: Instant,
) -> Result<Report, Stop> {
    let period = question.selection.period;
    let selection = BatchSelection {
        account: Some(question.selection.account),
        first: period.first(),
        last: period.last(),
    };
    let mut unpacked = Arc::new(unpacked(snapshot, selection).await?);
    limits.take(unpacked.segments().map(size).sum())?;
    loop {
        match attempt(snapshot, question, &unpacked, limits, deadline).await {
            Err(Stop::Malformed(table, error)) => {
                if Arc::make_mut(&mut unpacked).remove_malformed() == 0 {
                    return Err(Stop::Malformed(table, error));
                }
                tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not counted");
            }
            outcome => return outcome,
        }
    }
}

async fn attempt(
    snapshot: &mut dyn ClickSnapshot,
    question: &Question,
    unpacked: &Arc<Unpacked>,
    mut limits: Limits,
    deadline: Instant,
) -> Result<Report, Stop> {
    let account = question.selection.account;
    let (question, batches) = (question.clone(), Arc::clone(unpacked));
    let mut inquiry = compute(limits.lane, move || Inquiry::new(&question, batches)).await?;
    if let Some((scope, days)) = inquiry.digests() {
        for days in days.chunks(DIGESTS_AT_ONCE) {
            inquiry = add_digests(snapshot, inquiry, account, (scope, days), &mut limits).await?;
        }
    }
    let scanned = inquiry.scanned_days();
    if scanned.is_empty() {
        return Ok(inquiry.finish());
    }
    let stored = DaySegments::find(snapshot, account, &scanned, inquiry.link_range()).await?;
    limits.take(stored.bytes())?;
    let mut windows = inquiry.windows(stored.sizes()).into_iter();
    let mut next = read_next(&stored, snapshot, windows.next()).await?;
    while let Some(window) = next {
        // The store reads the next days while the previous ones are counted.
        let counted = count(limits.lane, inquiry, window, deadline);
        let (read, counted) = tokio::join!(read_next(&stored, snapshot, windows.next()), counted);
        (next, inquiry) = (read?, counted?);
    }
    Ok(compute(limits.lane, move || inquiry.finish()).await?)
}

async fn read_next(
    stored: &DaySegments,
    snapshot: &mut dyn ClickSnapshot,
    window: Option<Vec<UtcDay>>,
) -> Result<Option<ReadDays>, StoreError> {
    match window {
        Some(window) => stored.read(snapshot, window).await.map(Some),
        None => Ok(None),
    }
}

async fn count(
    lane: Lane,
    mut inquiry: Inquiry,
    (days, mut segments): ReadDays,
    deadline: Instant,
) -> Result<Inquiry, Stop> {
    let counted = compute(lane, move || {
        for day in days {
            if Instant::now() >= deadline {
                return Err(Stop::Failed(StoreError::unavailable("the deadline of the question has passed")));
            }
            let segments = segments.remove(&day).unwrap_or_default();
            inquiry.add_day(day, &segments).map_err(|error| Stop::Malformed("click_segments", error))?;
        }
        Ok(inquiry)
    });
    counted.await?
}

async fn add_digests(
    snapshot: &mut dyn ClickSnapshot,
    mut inquiry: Inquiry,
    account: AccountId,
    (scope, days): (DigestScope, &[UtcDay]),
    limits: &mut Limits,
) -> Result<Inquiry, Stop> {
    let digests = snapshot.digests(account, days, scope).await?;
    limits.take(digests.iter().map(|(_, data)| size(data)).sum())?;
    let digests: BTreeMap<UtcDay, Vec<u8>> = digests.into_iter().collect();
    let added = compute(limits.lane, move || {
        for (day, data) in digests {
            inquiry.add_digest(day, &data).map_err(|error| Stop::Malformed("click_digests", error))?;
        }
        Ok::<_, Stop>(inquiry)
    });
    added.await?
}

fn size(data: &[u8]) -> u64 {
    u64::try_from(data.len()).unwrap_or(u64::MAX)
}
