//! Reading single clicks in the order of an export (D66).

use std::sync::Arc;

use signpost_clicks::{MalformedSegment, Selector, Unpacked, windows};
use signpost_domain::analytics::{ClickId, ClickSelection, ExportedClick, UtcDay};

use super::segments::{self, LinkRange, Until, malformed};
use crate::computing_threads::compute;
use crate::failure::Failure;
use crate::lease::Lease;
use crate::permits::Purpose;
use crate::store::PostgresStore;

pub(super) async fn clicks(
    store: &PostgresStore,
    selection: &ClickSelection,
    (after, at_most): (Option<ClickId>, usize),
    until: &Until,
) -> Result<Vec<ExportedClick>, Failure> {
    let ends = until.deadline();
    let first = after.map_or(selection.period.first(), |click| click.at.max(selection.period.first()));
    let mut lease = store.connections().lease_for(Purpose::ClickQuestion, ends).await?;
    lease.begin_snapshot(ends).await?;
    let read = lease
        .call(ends, async |connection| segments::unpacked(connection, first, selection.period.last()).await);
    let mut unpacked = Arc::new(read.await?);
    loop {
        let selector = Selector::new(selection, after, at_most);
        match select(&mut lease, selector, selection, &unpacked, until).await? {
            Ok(selector) => return compute(move || selector.finish()).await,
            Err(error) => {
                if Arc::make_mut(&mut unpacked).remove_malformed() == 0 {
                    return Err(malformed("click_segments", selection.account, error));
                }
                tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not exported");
            }
        }
    }
}

async fn select(
    lease: &mut Lease,
    mut selector: Selector,
    selection: &ClickSelection,
    unpacked: &Arc<Unpacked>,
    until: &Until,
) -> Result<Result<Selector, MalformedSegment>, Failure> {
    let (account, ends) = (selection.account, until.deadline());
    let last = UtcDay::of(selection.period.last());
    let Some(first) = selector.first_day().filter(|first| *first <= last) else { return Ok(Ok(selector)) };
    let links = LinkRange::of(selector.link_range());
    let read =
        lease.call(ends, async |connection| segments::sizes(connection, account, (first, last), links).await);
    let sizes = read.await?;
    let days = (first.number()..=last.number()).map(UtcDay::from_number);
    let days = days.filter(|day| sizes.contains_key(day) || unpacked.touches(*day));
    for window in windows(days, &sizes) {
        until.check()?;
        let mut read = lease
            .call(ends, async |connection| segments::of_days(connection, account, &window, links).await)
            .await?;
        let (until, unpacked) = (until.clone(), Arc::clone(unpacked));
        let selected = compute(move || {
            for day in window {
                until.check()?;
                let stored = read.remove(&day).unwrap_or_default();
                let mut all: Vec<&[u8]> = stored.iter().map(Vec::as_slice).collect();
                all.extend(unpacked.of(day));
                match selector.add_day(day, &all) {
                    Ok(true) => return Ok(Ok((selector, true))),
                    Ok(false) => {}
                    Err(error) => return Ok(Err(error)),
                }
            }
            Ok::<_, Failure>(Ok((selector, false)))
        });
        match selected.await?? {
            Ok((selector, true)) => return Ok(Ok(selector)),
            Ok((more, false)) => selector = more,
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(selector))
}
