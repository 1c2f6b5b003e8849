//! Reading single clicks in the order of an export (D66).

use std::sync::Arc;
use std::time::Instant;

use signpost_app::ports::StoreError;
use signpost_clicks::{MalformedSegment, Round, Selector, Unpacked, windows};
use signpost_domain::analytics::{ClickId, ClickSelection, ExportedClick, UtcDay};

use crate::computing::{Lane, compute};
use crate::inbox::{WaitingBatches, without_malformed};
use crate::reading_days::{DaySegments, Window, by, malformed, read_part};
use crate::tables::{BatchSelection, ClickSnapshot, ClickTables, Reading};

/// The selected clicks after `after`, at most `at_most`; see
/// [`ClickStore::clicks`](signpost_app::ports::ClickStore::clicks).
///
/// # Errors
/// [`StoreError::Unavailable`] if the deadline passes first.
pub async fn clicks(
    tables: &(impl ClickTables + ?Sized),
    selection: &ClickSelection,
    after: Option<ClickId>,
    at_most: usize,
    deadline: Instant,
) -> Result<Vec<ExportedClick>, StoreError> {
    if selection.scope.is_empty() {
        return Ok(Vec::new());
    }
    let selected = async {
        let mut snapshot = tables.snapshot(Reading::LongQuestion, deadline).await?;
        let first = after.map_or(selection.period.first(), |click| click.at.max(selection.period.first()));
        let batches =
            BatchSelection { account: Some(selection.account), first, last: selection.period.last() };
        let waiting = WaitingBatches::find(&mut *snapshot, batches).await?;
        let mut unpacked = Arc::new(waiting.read(&mut *snapshot).await?);
        loop {
            let selector = Selector::new(selection, after, at_most);
            match select(&mut *snapshot, selector, selection, &unpacked).await? {
                Ok(selector) => return Ok(compute(Lane::Long, move || selector.finish()).await?),
                Err(error) => {
                    let rest = without_malformed(Lane::Long, unpacked).await?;
                    unpacked = rest.ok_or_else(|| malformed("click_segments", selection.account, error))?;
                    tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not exported");
                }
            }
        }
    };
    by(deadline, Box::pin(selected)).await
}

async fn select(
    snapshot: &mut dyn ClickSnapshot,
    mut selector: Selector,
    selection: &ClickSelection,
    unpacked: &Arc<Unpacked>,
) -> Result<Result<Selector, MalformedSegment>, StoreError> {
    let last = UtcDay::of(selection.period.last());
    let Some(first) = selector.first_day().filter(|first| *first <= last) else { return Ok(Ok(selector)) };
    let days: Vec<UtcDay> = (first.number()..=last.number()).map(UtcDay::from_number).collect();
    let stored = DaySegments::find(snapshot, selection.account, &days, selector.link_range()).await?;
    let days = days.into_iter().filter(|day| stored.sizes().contains_key(day) || unpacked.touches(*day));
    for window in stored.windows(windows(days, stored.sizes())) {
        let days = match window {
            Window::Days(days) => days,
            Window::LargeDay(day) => {
                match Box::pin(select_in_rounds(&stored, snapshot, selector, day, unpacked)).await? {
                    Ok(more) if !more.has_enough() => selector = more,
                    ended => return Ok(ended),
                }
                continue;
            }
        };
        let (days, mut segments) = stored.read(snapshot, days).await?;
        let unpacked = Arc::clone(unpacked);
        let selected = compute(Lane::Long, move || {
            for day in days {
                let segments = segments.remove(&day).unwrap_or_default();
                let mut all: Vec<&[u8]> = segments.iter().map(Vec::as_slice).collect();
                all.extend(unpacked.of(day));
                if selector.add_day(day, &all)? {
                    return Ok((selector, true));
                }
            }
            Ok((selector, false))
        });
        match selected.await? {
            Ok((selector, true)) => return Ok(Ok(selector)),
            Ok((more, false)) => selector = more,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(selector))
}

/// Takes the clicks of a day that is too large to be in memory as a whole.
async fn select_in_rounds(
    stored: &DaySegments,
    snapshot: &mut dyn ClickSnapshot,
    mut selector: Selector,
    day: UtcDay,
    unpacked: &Arc<Unpacked>,
) -> Result<Result<Selector, MalformedSegment>, StoreError> {
    let parts = stored.parts(day);
    selector.begin_day(day);
    loop {
        for part in &parts {
            let part = read_part(snapshot, Some(part)).await?.unwrap_or_default();
            let added = compute(Lane::Long, move || selector.add_part(&part).map(|()| selector));
            match added.await? {
                Ok(more) => selector = more,
                Err(error) => return Ok(Err(error)),
            }
        }
        let unpacked = Arc::clone(unpacked);
        let ended = compute(Lane::Long, move || {
            selector.add_part(&unpacked.of(day))?;
            let round = selector.end_round();
            Ok((selector, round))
        });
        match ended.await? {
            Ok((selector, Round::Done)) => return Ok(Ok(selector)),
            Ok((more, Round::Again)) => selector = more,
            Err(error) => return Ok(Err(error)),
        }
    }
}
