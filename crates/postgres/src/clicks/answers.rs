//! Answering questions about clicks, each on one snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use diesel::sql_types::{Array, Binary, Integer};
use diesel_async::RunQueryDsl;
use signpost_clicks::{DigestScope, Inquiry, MalformedSegment, Unpacked};
use signpost_domain::AccountId;
use signpost_domain::analytics::{Question, Report, UtcDay};
use signpost_sql_rows::sql_types::Identifier;

use super::segments::{self, LinkRange, Until, malformed};
use crate::computing_threads::compute;
use crate::failure::Failure;
use crate::lease::Lease;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::IdBytes;

/// How many digests are read at once. The values of a day are capped, so these take a few MiB.
const DIGESTS_AT_ONCE: usize = 100;

statement! {
    Digests -> (Integer, Binary) {
        account: IdBytes,
        days: Vec<i32>,
        scope: IdBytes,
    } =
    "SELECT day, data FROM click_digests WHERE account_id = "
    { account: Identifier } " AND day = ANY ("
    { days: Array<Integer> } ") AND scope = "
    { scope: Identifier } ""
}

/// Why an attempt to answer ended.
enum Stop {
    Failed(Failure),
    /// Malformed segments or digests. Malformed unpacked batches are skipped instead.
    Malformed(&'static str, MalformedSegment),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

pub(super) async fn answer(
    store: &PostgresStore,
    question: &Question,
    until: &Until,
) -> Result<Report, Failure> {
    let ends = until.deadline();
    let period = question.selection.period;
    let mut lease = store.connections().lease_for(Purpose::ClickQuestion, ends).await?;
    lease.begin_snapshot(ends).await?;
    let read = lease
        .call(ends, async |connection| segments::unpacked(connection, period.first(), period.last()).await);
    let mut unpacked = Arc::new(read.await?);
    loop {
        match attempt(&mut lease, question, &unpacked, until).await {
            Ok(report) => return Ok(report),
            Err(Stop::Failed(failure)) => return Err(failure),
            Err(Stop::Malformed(table, error)) => {
                if Arc::make_mut(&mut unpacked).remove_malformed() == 0 {
                    return Err(malformed(table, question.selection.account, error));
                }
                tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not counted");
            }
        }
    }
}

async fn attempt(
    lease: &mut Lease,
    question: &Question,
    unpacked: &Arc<Unpacked>,
    until: &Until,
) -> Result<Report, Stop> {
    let account = question.selection.account;
    let (question, batches) = (question.clone(), Arc::clone(unpacked));
    let mut inquiry = compute(move || Inquiry::new(&question, batches)).await?;
    if let Some((scope, days)) = inquiry.digests() {
        for days in days.chunks(DIGESTS_AT_ONCE) {
            until.check()?;
            inquiry = add_digests(lease, inquiry, account, (scope, days), until).await?;
        }
    }
    let Some(days) = inquiry.scanned_days() else { return Ok(inquiry.finish()) };
    let links = LinkRange::of(inquiry.link_range());
    let sizes = lease
        .call(until.deadline(), async |connection| segments::sizes(connection, account, days, links).await)
        .await?;
    let mut windows = inquiry.windows(&sizes).into_iter();
    let mut next = read_next(lease, account, windows.next(), links, until).await?;
    while let Some(window) = next {
        // The server reads the next days while the previous ones are counted.
        let counted = count(inquiry, window, until.clone());
        let (read, counted) = tokio::join!(read_next(lease, account, windows.next(), links, until), counted);
        (next, inquiry) = (read?, counted?);
    }
    Ok(compute(move || inquiry.finish()).await?)
}

/// Days, and the segments of each.
type ReadDays = (Vec<UtcDay>, BTreeMap<UtcDay, Vec<Vec<u8>>>);

async fn read_next(
    lease: &mut Lease,
    account: AccountId,
    days: Option<Vec<UtcDay>>,
    links: LinkRange,
    until: &Until,
) -> Result<Option<ReadDays>, Stop> {
    let Some(days) = days else { return Ok(None) };
    until.check()?;
    let read = lease.call(until.deadline(), async |connection| {
        segments::of_days(connection, account, &days, links).await
    });
    let segments = read.await?;
    Ok(Some((days, segments)))
}

async fn count(mut inquiry: Inquiry, (days, mut segments): ReadDays, until: Until) -> Result<Inquiry, Stop> {
    let counted = compute(move || {
        for day in days {
            until.check()?;
            let segments = segments.remove(&day).unwrap_or_default();
            inquiry.add_day(day, &segments).map_err(|error| Stop::Malformed("click_segments", error))?;
        }
        Ok(inquiry)
    });
    counted.await?
}

async fn add_digests(
    lease: &mut Lease,
    mut inquiry: Inquiry,
    account: AccountId,
    (scope, days): (DigestScope, &[UtcDay]),
    until: &Until,
) -> Result<Inquiry, Stop> {
    let digests = Digests {
        account: account.into(),
        days: days.iter().map(|day| day.number()).collect(),
        scope: scope_bytes(account, scope),
    };
    let read = lease.call(until.deadline(), async |connection| Ok(digests.load(connection).await?));
    let rows: Vec<(i32, Vec<u8>)> = read.await?;
    let added = compute(move || {
        for (day, data) in rows {
            inquiry
                .add_digest(UtcDay::from_number(day), &data)
                .map_err(|error| Stop::Malformed("click_digests", error))?;
        }
        Ok::<_, Stop>(inquiry)
    });
    added.await?
}

/// The value of the column `scope`.
pub(super) fn scope_bytes(account: AccountId, scope: DigestScope) -> IdBytes {
    match scope {
        DigestScope::Account => account.into(),
        DigestScope::Link(link) => link.into(),
    }
}
