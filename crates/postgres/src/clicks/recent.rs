//! The recent clicks of a few links (D66).

use std::collections::BTreeMap;

use diesel::sql_types::{Array, BigInt, Binary, Integer};
use diesel_async::RunQueryDsl;
use signpost_clicks::{RecentCounter, WINDOW_BYTES};
use signpost_domain::analytics::{RecentClicks, UtcDay};
use signpost_domain::{AccountId, LinkId, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use super::segments::{self, Until, malformed};
use crate::computing_threads::compute;
use crate::failure::Failure;
use crate::lease::Lease;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant};

statement! {
    /// The segments of the last days, and of undigested days, that may have clicks on the links.
    SegmentsOfLinks -> (Integer, Identifier, BigInt) {
        account: IdBytes,
        first_day: i32,
        links: Vec<IdBytes>,
    } =
    "SELECT s.day, s.segment, octet_length(s.data)::bigint FROM click_days AS d \
     JOIN click_segments AS s ON s.account_id = d.account_id AND s.day = d.day WHERE d.account_id = "
    { account: Identifier } " AND (d.day >= "
    { first_day: Integer } " OR NOT d.digested) AND EXISTS (SELECT FROM unnest("
    { links: Array<Identifier> } ") AS l (id) WHERE l.id BETWEEN s.first_link AND s.last_link)"
}

statement! {
    SegmentData -> Binary {
        account: IdBytes,
        days: Vec<i32>,
        segments: Vec<IdBytes>,
    } =
    "SELECT s.data FROM unnest("
    { days: Array<Integer> } ", "
    { segments: Array<Identifier> } ") AS t (day, segment) JOIN click_segments AS s ON s.account_id = "
    { account: Identifier } " AND s.day = t.day AND s.segment = t.segment"
}

statement! {
    LastClicks -> (Identifier, Moment) {
        account: IdBytes,
        links: Vec<IdBytes>,
    } =
    "SELECT link_id, at FROM last_clicks WHERE account_id = "
    { account: Identifier } " AND link_id = ANY ("
    { links: Array<Identifier> } ")"
}

/// Counts recent clicks in the segments of the last days and of undigested days, which are not yet in `last_clicks`.
pub(super) async fn recent_clicks(
    store: &PostgresStore,
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
    until: &Until,
) -> Result<Vec<RecentClicks>, Failure> {
    let ends = until.deadline();
    let mut lease = store.connections().lease_for(Purpose::Search, ends).await?;
    lease.begin_snapshot(ends).await?;
    let ids: Vec<IdBytes> = links.iter().map(|link| (*link).into()).collect();
    let find = SegmentsOfLinks {
        account: account.into(),
        first_day: UtcDay::of(since).number(),
        links: ids.clone(),
    };
    let known = LastClicks { account: account.into(), links: ids };
    let read = lease.call(ends, async |connection| {
        let epoch = Timestamp::from_unix_millis(0).unwrap_or(Timestamp::LAST);
        let unpacked = segments::unpacked(connection, epoch, Timestamp::LAST).await?;
        let found: Vec<(i32, IdBytes, i64)> = find.load(connection).await?;
        let known: Vec<(IdBytes, Instant)> = known.load(connection).await?;
        Ok((unpacked, found, known))
    });
    let (unpacked, found, known) = read.await?;
    let mut counter = RecentCounter::new(account, links, since);
    counter = compute(move || {
        for segment in unpacked.segments() {
            if let Err(error) = counter.add(segment) {
                tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not counted");
            }
        }
        counter
    })
    .await?;
    for window in windows(found) {
        until.check()?;
        counter = add_segments(&mut lease, counter, account, window, until).await?;
    }
    let known: BTreeMap<IdBytes, Instant> = known.into_iter().collect();
    let mut recent = counter.finish();
    for entry in &mut recent {
        let row = RowName::new("last_clicks", entry.link);
        let known = known.get(&entry.link.into()).map(|at| row.timestamp("at", *at)).transpose()?;
        entry.last = entry.last.max(known);
    }
    Ok(recent)
}

type Found = (i32, IdBytes, i64);

/// Groups segments so that each group fits into memory.
fn windows(found: Vec<Found>) -> Vec<Vec<Found>> {
    let most = i64::try_from(WINDOW_BYTES).unwrap_or(i64::MAX);
    let (mut windows, mut window, mut bytes) = (Vec::new(), Vec::new(), 0_i64);
    for segment in found {
        bytes = bytes.saturating_add(segment.2);
        window.push(segment);
        if bytes >= most {
            windows.push(std::mem::take(&mut window));
            bytes = 0;
        }
    }
    if !window.is_empty() {
        windows.push(window);
    }
    windows
}

async fn add_segments(
    lease: &mut Lease,
    mut counter: RecentCounter,
    account: AccountId,
    window: Vec<Found>,
    until: &Until,
) -> Result<RecentCounter, Failure> {
    let (days, segments) = window.into_iter().map(|(day, segment, _)| (day, segment)).unzip();
    let data = SegmentData { account: account.into(), days, segments };
    let read = lease.call(until.deadline(), async |connection| Ok(data.load(connection).await?));
    let data: Vec<Vec<u8>> = read.await?;
    let until = until.clone();
    compute(move || {
        for segment in data {
            until.check()?;
            counter.add(&segment).map_err(|error| malformed("click_segments", account, error))?;
        }
        Ok(counter)
    })
    .await?
}
