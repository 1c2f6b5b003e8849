//! Answering questions about clicks, each on one snapshot.

use std::sync::Arc;
use std::time::Instant;

use signpost_app::ports::StoreError;
use signpost_clicks::{DigestScope, Inquiry, Round, Unpacked};
use signpost_domain::AccountId;
use signpost_domain::analytics::{Question, Report, UtcDay};

use crate::attempts::{Limits, Stop};
use crate::computing::{Lane, compute};
use crate::inbox::{WaitingBatches, without_malformed};
use crate::policy::BYTES_OF_DIGESTS;
use crate::reading_days::{DaySegments, ReadDays, Window, by, read_part};
use crate::tables::{BatchSelection, ClickSnapshot, ClickTables, Reading};

/// Answers a question, in a short attempt if that suffices.
///
/// # Errors
/// [`StoreError::Unavailable`] if the deadline passes first.
pub async fn answer(
    tables: &(impl ClickTables + ?Sized),
    question: &Question,
    deadline: Instant,
) -> Result<Report, StoreError> {
    let answered = async {
        let mut limits = Limits::short(Reading::ShortQuestion);
        loop {
            let mut snapshot = tables.snapshot(limits.reading, deadline).await?;
            match answer_from(&mut *snapshot, question, limits, deadline).await {
                Err(Stop::TooLong) => limits = Limits::long(Reading::LongQuestion),
                outcome => return outcome.map_err(|stop| stop.into_error(question.selection.account)),
            }
        }
    };
    by(deadline, answered).await
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
    let waiting = WaitingBatches::find(snapshot, selection).await?;
    limits.take(waiting.bytes())?;
    let mut unpacked = Arc::new(waiting.read(snapshot).await?);
    loop {
        match attempt(snapshot, question, &unpacked, limits, deadline).await {
            Err(Stop::Malformed(table, error)) => {
                let rest = without_malformed(limits.lane, unpacked).await?;
                unpacked = rest.ok_or(Stop::Malformed(table, error))?;
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
        inquiry = add_digests(snapshot, inquiry, account, (scope, &days), &mut limits).await?;
    }
    let scanned = inquiry.scanned_days();
    if scanned.is_empty() {
        return Ok(inquiry.finish());
    }
    let stored = DaySegments::find(snapshot, account, &scanned, inquiry.link_range()).await?;
    limits.take(stored.bytes())?;
    let mut windows = stored.windows(inquiry.windows(stored.sizes()));
    let mut next = read_next(&stored, snapshot, windows.next()).await?;
    while let Some(window) = next {
        (next, inquiry) = match window {
            ReadWindow::Days(days) => {
                // The store reads the next days while the previous ones are counted.
                let counted = count(limits.lane, inquiry, days, deadline);
                let (read, counted) = tokio::join!(read_next(&stored, snapshot, windows.next()), counted);
                (read?, counted?)
            }
            ReadWindow::LargeDay(day) => {
                let counted = count_in_rounds(&stored, snapshot, limits.lane, inquiry, day, deadline);
                let counted = Box::pin(counted).await?;
                (read_next(&stored, snapshot, windows.next()).await?, counted)
            }
        };
    }
    Ok(compute(limits.lane, move || inquiry.finish()).await?)
}

/// A window, with its segments unless it is too large.
enum ReadWindow {
    Days(ReadDays),
    LargeDay(UtcDay),
}

async fn read_next(
    stored: &DaySegments,
    snapshot: &mut dyn ClickSnapshot,
    window: Option<Window>,
) -> Result<Option<ReadWindow>, StoreError> {
    Ok(match window {
        Some(Window::Days(days)) => Some(ReadWindow::Days(stored.read(snapshot, days).await?)),
        Some(Window::LargeDay(day)) => Some(ReadWindow::LargeDay(day)),
        None => None,
    })
}

/// Counts a day that is too large to be in memory as a whole.
async fn count_in_rounds(
    stored: &DaySegments,
    snapshot: &mut dyn ClickSnapshot,
    lane: Lane,
    mut inquiry: Inquiry,
    day: UtcDay,
    deadline: Instant,
) -> Result<Inquiry, Stop> {
    let parts = stored.parts(day);
    inquiry.begin_day(day);
    let mut round = Round::Again;
    while round == Round::Again {
        let mut left = parts.iter();
        let mut next = read_part(snapshot, left.next()).await?;
        while let Some(part) = next {
            // The store reads the next part while the previous one is counted.
            let counted = compute(lane, move || {
                in_time(deadline)?;
                inquiry.add_part(&part).map_err(|error| Stop::Malformed("click_segments", error))?;
                Ok::<_, Stop>(inquiry)
            });
            let (read, counted) = tokio::join!(read_part(snapshot, left.next()), counted);
            (next, inquiry) = (read?, counted??);
        }
        let ended = compute(lane, move || {
            in_time(deadline)?;
            let round = inquiry.end_round(day).map_err(|error| Stop::Malformed("click_segments", error))?;
            Ok::<_, Stop>((inquiry, round))
        });
        (inquiry, round) = ended.await??;
    }
    Ok(inquiry)
}

fn in_time(deadline: Instant) -> Result<(), StoreError> {
    if Instant::now() < deadline {
        return Ok(());
    }
    Err(StoreError::unavailable("the deadline of the question has passed"))
}

async fn count(
    lane: Lane,
    mut inquiry: Inquiry,
    (days, mut segments): ReadDays,
    deadline: Instant,
) -> Result<Inquiry, Stop> {
    let counted = compute(lane, move || {
        for day in days {
            in_time(deadline)?;
            let segments = segments.remove(&day).unwrap_or_default();
            inquiry.add_day(day, &segments).map_err(|error| Stop::Malformed("click_segments", error))?;
        }
        Ok(inquiry)
    });
    counted.await?
}

/// Adds the digests of some days in ascending order, and reads hardly more of them than the limits allow.
async fn add_digests(
    snapshot: &mut dyn ClickSnapshot,
    mut inquiry: Inquiry,
    account: AccountId,
    (scope, mut days): (DigestScope, &[UtcDay]),
    limits: &mut Limits,
) -> Result<Inquiry, Stop> {
    while !days.is_empty() {
        let at_once = BYTES_OF_DIGESTS.min(limits.bytes_left().saturating_add(1));
        let digests = snapshot.digests(account, days, scope, at_once).await?;
        let bytes = digests.iter().fold(0_u64, |sum, (_, data)| sum.saturating_add(size(data)));
        limits.take(bytes)?;
        let last = digests.last().map(|(day, _)| *day).filter(|_| bytes >= at_once);
        let added = compute(limits.lane, move || {
            for (day, data) in digests {
                inquiry.add_digest(day, &data).map_err(|error| Stop::Malformed("click_digests", error))?;
            }
            Ok::<_, Stop>(inquiry)
        });
        inquiry = added.await??;
        let Some(last) = last else { break };
        days = days.get(days.partition_point(|day| *day <= last)..).unwrap_or_default();
    }
    Ok(inquiry)
}

fn size(data: &[u8]) -> u64 {
    u64::try_from(data.len()).unwrap_or(u64::MAX)
}
