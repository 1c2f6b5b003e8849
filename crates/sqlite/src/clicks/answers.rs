//! Answering questions about clicks, each on one snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use diesel::prelude::*;
use signpost_clicks::{DigestScope, Inquiry, MalformedSegment, Unpacked};
use signpost_domain::AccountId;
use signpost_domain::analytics::{Question, Report, UtcDay};

use super::schema::click_digests;
use super::segments::{self, LinkRange, Until, malformed};
use crate::failure::Failure;
use signpost_sql_rows::columns::IdBytes;

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

pub(super) fn answer(
    connection: &mut SqliteConnection,
    question: &Question,
    until: &Until,
) -> Result<Report, Failure> {
    let period = question.selection.period;
    let mut unpacked = Arc::new(segments::unpacked(connection, period.first(), period.last())?);
    loop {
        match attempt(connection, question, &unpacked, until) {
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

fn attempt(
    connection: &mut SqliteConnection,
    question: &Question,
    unpacked: &Arc<Unpacked>,
    until: &Until,
) -> Result<Report, Stop> {
    let account = question.selection.account;
    let mut inquiry = Inquiry::new(question, Arc::clone(unpacked));
    if let Some((scope, days)) = inquiry.digests() {
        for day in days {
            until.check()?;
            if let Some(data) = digest(connection, account, day, scope)? {
                inquiry.add_digest(day, &data).map_err(|error| Stop::Malformed("click_digests", error))?;
            }
        }
    }
    let Some(days) = inquiry.scanned_days() else { return Ok(inquiry.finish()) };
    let links = LinkRange::of(inquiry.link_range());
    let sizes: BTreeMap<UtcDay, u64> = segments::sizes(connection, account, days, links)?;
    // Days are read one at a time, so the windows are not needed.
    for day in inquiry.windows(&sizes).into_iter().flatten() {
        until.check()?;
        let segments = segments::of_day(connection, account, day, links)?;
        inquiry.add_day(day, &segments).map_err(|error| Stop::Malformed("click_segments", error))?;
    }
    Ok(inquiry.finish())
}

fn digest(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
    scope: DigestScope,
) -> Result<Option<Vec<u8>>, Failure> {
    let scope = scope_bytes(account, scope);
    let digest = click_digests::table
        .filter(click_digests::account_id.eq(IdBytes::from(account)))
        .filter(click_digests::day.eq(day.number()))
        .filter(click_digests::scope.eq(scope));
    Ok(digest.select(click_digests::data).first(connection).optional()?)
}

/// The value of the column `scope`.
pub(super) fn scope_bytes(account: AccountId, scope: DigestScope) -> IdBytes {
    match scope {
        DigestScope::Account => account.into(),
        DigestScope::Link(link) => link.into(),
    }
}
