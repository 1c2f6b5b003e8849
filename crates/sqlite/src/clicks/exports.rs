//! Reading single clicks in the order of an export (D66).

use diesel::prelude::*;
use signpost_clicks::{MalformedSegment, Selector, Unpacked, windows};
use signpost_domain::analytics::{ClickId, ClickSelection, ExportedClick, UtcDay};

use super::segments::{self, LinkRange, Until, malformed};
use crate::failure::Failure;

pub(super) fn clicks(
    connection: &mut SqliteConnection,
    selection: &ClickSelection,
    after: Option<ClickId>,
    at_most: usize,
    until: &Until,
) -> Result<Vec<ExportedClick>, Failure> {
    let from = after.map_or(selection.period.first(), |click| click.at.max(selection.period.first()));
    let mut unpacked = segments::unpacked(connection, from, selection.period.last())?;
    loop {
        let mut selector = Selector::new(selection, after, at_most);
        match select(connection, &mut selector, selection, &unpacked, until)? {
            Ok(()) => return Ok(selector.finish()),
            Err(error) => {
                if unpacked.remove_malformed() == 0 {
                    return Err(malformed("click_segments", selection.account, error));
                }
                tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not exported");
            }
        }
    }
}

fn select(
    connection: &mut SqliteConnection,
    selector: &mut Selector,
    selection: &ClickSelection,
    unpacked: &Unpacked,
    until: &Until,
) -> Result<Result<(), MalformedSegment>, Failure> {
    let last = UtcDay::of(selection.period.last());
    let Some(first) = selector.first_day().filter(|first| *first <= last) else { return Ok(Ok(())) };
    let links = LinkRange::of(selector.link_range());
    let sizes = segments::sizes(connection, selection.account, (first, last), links)?;
    let days = (first.number()..=last.number()).map(UtcDay::from_number);
    let days = days.filter(|day| sizes.contains_key(day) || unpacked.touches(*day));
    for day in windows(days, &sizes).into_iter().flatten() {
        until.check()?;
        let stored = segments::of_day(connection, selection.account, day, links)?;
        let mut all: Vec<&[u8]> = stored.iter().map(Vec::as_slice).collect();
        all.extend(unpacked.of(day));
        match selector.add_day(day, &all) {
            Ok(true) => break,
            Ok(false) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}
