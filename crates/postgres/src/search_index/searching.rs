//! A search through the index: newest matches first, and only as many as the page needs.

use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, SmallInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_domain::{AccountId, LinkKind, PagePosition};
use signpost_sql_rows::sql_types::Identifier;

use super::buckets;
use super::positions::PositionSet;
use super::ranges::{AtPositions, Changed, Walked};
use super::sealing::Links;
use super::segments::{self, Segment};
use crate::failure::Failure;
use crate::list_range::{AmongRows, ListRange, RangeColumn};
use crate::range_walk::{RangeWalk, RowTests};
use crate::schema::links;
use crate::search::strpos;
use crate::statement::{both, statement};
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{LinkRow, kind_column};
use signpost_sql_rows::listed::Listed;

/// How many segments are read together: few at first, because the newest links may fill the page.
const TOGETHER: [usize; 3] = [2, 8, 32];

/// The maximum number of candidates that are checked together.
const MOST_CHECKED: usize = 1_024;

/// A segment is walked instead if more than one link in this many is a candidate, or if it is corrupt.
const DENSE: usize = 16;

/// After this many walked segments, all remaining links are walked: the index does not help with such a text.
const MOST_WALKED: usize = 2;

statement! {
    /// The shortest rows of the buckets in each segment. The others would exclude few more candidates.
    ReadBuckets -> (Identifier, SmallInt, Binary) {
        segments: Vec<IdBytes> => Array<Identifier>,
        widths: Vec<i16> => Array<SmallInt>,
        buckets: Vec<i16> => Array<SmallInt>,
    } =
    "SELECT s.segment, c.bucket, c.data FROM unnest($1, $2) AS s (segment, width) CROSS JOIN LATERAL (SELECT \
     p.bucket, b.data FROM unnest($3) AS p (bucket) JOIN search_buckets AS b ON b.segment = s.segment AND b.chunk = \
     p.bucket / s.width ORDER BY octet_length(b.data) LIMIT 6) AS c"
}

/// A row of a bucket: the segment, the bucket, and its chunk.
type BucketRow = (IdBytes, i16, Vec<u8>);

/// A search.
#[derive(Debug, Clone, Copy)]
struct Search<'a> {
    links: Links,
    part: &'a str,
    /// The greatest id that the page may contain.
    to: IdBytes,
    /// The number of rows to find.
    number: u16,
}

/// The first links with a part in their texts, below a position; `None` if no index helps.
///
/// It runs in its own transaction, on one snapshot.
pub(crate) async fn search(
    connection: &mut &AsyncPgConnection,
    (account, kind): (AccountId, LinkKind),
    part: &str,
    number: u16,
    after: Option<PagePosition>,
) -> Result<Option<Vec<LinkRow>>, Failure> {
    let Some(buckets) = buckets::of_part(part) else { return Ok(None) };
    let to = match after.map(|position| IdBytes::from(position).number().checked_sub(1)) {
        None => IdBytes::highest(),
        Some(Some(to)) => IdBytes::from_number(to),
        Some(None) => return Ok(Some(Vec::new())),
    };
    let links = Links { account: account.into(), kind: kind_column(kind) };
    let search = Search { links, part, to, number };
    let (mut beginning, mut listing) = (*connection, *connection);
    let begin =
        async { Ok(beginning.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?) };
    let listed = both(begin, segments::list(&mut listing, links, to)).await;
    let found = match listed {
        Ok(((), segments)) if segments.is_empty() => Ok(None),
        Ok(((), segments)) => search.run(connection, &segments, &buckets).await.map(Some),
        Err(failure) => Err(failure),
    };
    // Also after a failure, because the connection may be lent again.
    connection.batch_execute("ROLLBACK").await?;
    found
}

impl Search<'_> {
    async fn run(
        self,
        connection: &mut &AsyncPgConnection,
        mut segments: &[Segment],
        buckets: &[i16],
    ) -> Result<Vec<LinkRow>, Failure> {
        let newest = segments.first().map_or(IdBytes::lowest(), |segment| segment.last);
        let (mut walking, mut checking, mut reading) = (*connection, *connection, *connection);
        let mut sizes = TOGETHER.into_iter();
        let mut together = sizes.next().unwrap_or(1);
        let group = segments.split_at(together.min(segments.len())).0;
        // Pipelined, because these fill most pages.
        let walk_and_check =
            both(self.walk(&mut walking, newest, self.to), self.changed(&mut checking, newest));
        let ((walked, changed), mut rows) =
            both(walk_and_check, read_buckets(&mut reading, group, buckets)).await?;
        let mut found =
            Found { rows: walked, changed, number: usize::from(self.number), walked: 0, is_over: false };
        loop {
            let (group, rest) = segments.split_at(together.min(segments.len()));
            self.look_into(connection, group, &rows, &mut found).await?;
            segments = rest;
            if segments.is_empty() || found.is_complete() {
                return Ok(found.page());
            }
            together = sizes.next().unwrap_or(together);
            let group = segments.split_at(together.min(segments.len())).0;
            rows = read_buckets(connection, group, buckets).await?;
        }
    }

    /// Finds matches in some segments, newest first, until there are enough.
    async fn look_into(
        self,
        connection: &mut &AsyncPgConnection,
        group: &[Segment],
        rows: &[BucketRow],
        found: &mut Found,
    ) -> Result<(), Failure> {
        let mut pending = Pending::default();
        for segment in group {
            if found.is_complete() {
                return Ok(());
            }
            let Some(candidates) = candidates(segment, rows) else {
                self.check(connection, &mut pending, found).await?;
                if !found.is_complete() {
                    let to = segment.last.min(self.to);
                    found.walked += 1;
                    if found.walked > MOST_WALKED {
                        found.rows.extend(self.walk_all(connection, to).await?);
                        found.is_over = true;
                        return Ok(());
                    }
                    found.rows.extend(self.walk(connection, segment.after, to).await?);
                }
                continue;
            };
            pending.extend(candidates.descending().map(|position| (segment.id, position)));
            if pending.len() >= MOST_CHECKED {
                self.check(connection, &mut pending, found).await?;
            }
        }
        self.check(connection, &mut pending, found).await
    }

    /// Checks candidates from the newest down, in growing batches, until there are enough matches or no candidates.
    async fn check(
        self,
        connection: &mut &AsyncPgConnection,
        pending: &mut Pending,
        found: &mut Found,
    ) -> Result<(), Failure> {
        let all = std::mem::take(pending);
        let mut left = all.as_slice();
        let mut number = usize::from(self.number) * 2;
        while !left.is_empty() && !found.is_complete() {
            let (some, rest) = left.split_at(number.min(left.len()));
            left = rest;
            number = (number * 2).min(MOST_CHECKED);
            let (segments, positions) = some.iter().copied().unzip();
            found.rows.extend(self.at(connection, AtPositions { segments, positions }).await?);
        }
        Ok(())
    }

    /// The first matches above one id, up to another, found row by row.
    async fn walk(
        self,
        connection: &mut &AsyncPgConnection,
        above: IdBytes,
        to: IdBytes,
    ) -> Result<Vec<LinkRow>, Failure> {
        if above >= to {
            return Ok(Vec::new());
        }
        // No link has the lowest or the highest possible id.
        let next = |id: IdBytes| IdBytes::from_number(id.number().saturating_add(1));
        let (from, below) = (next(above), next(to));
        let (Links { account, kind }, part) = (self.links, self.part);
        let walked = Walked { account, kind, from, below, part, at_most: self.number.into() };
        let rows: Vec<LinkRow> =
            links::table.select(LinkRow::as_select()).filter(walked).load(connection).await?;
        Ok(descending(rows))
    }

    /// The first matches up to an id, found row by row, as the lists do it.
    async fn walk_all(
        self,
        connection: &mut &AsyncPgConnection,
        to: IdBytes,
    ) -> Result<Vec<LinkRow>, Failure> {
        let Links { account, kind } = self.links;
        let below = Some(IdBytes::from_number(to.number().saturating_add(1)));
        let range = ListRange { account, column: RangeColumn::None, kind, below };
        let mut tests = RowTests::default();
        tests.add(strpos(links::search_key, self.part).gt(0));
        Ok(RangeWalk::rows(range, tests, self.number).load(connection).await?)
    }

    /// The matches at these positions, newest first.
    async fn at(
        self,
        connection: &mut &AsyncPgConnection,
        positions: AtPositions,
    ) -> Result<Vec<LinkRow>, Failure> {
        let query = links::table
            .select(LinkRow::as_select())
            .filter(positions)
            .filter(AmongRows(links::account_id.eq(self.links.account)))
            .filter(AmongRows(links::kind.eq(self.links.kind)))
            .filter(AmongRows(links::id.le(self.to)))
            .filter(strpos(links::search_key, self.part).gt(0));
        let rows: Vec<LinkRow> = query.load(connection).await?;
        Ok(descending(rows))
    }

    /// The matches among the links that changed after their segment was written, newest first.
    async fn changed(
        self,
        connection: &mut &AsyncPgConnection,
        newest: IdBytes,
    ) -> Result<Vec<LinkRow>, Failure> {
        let query = links::table
            .select(LinkRow::as_select())
            .filter(Changed { account: self.links.account, kind: self.links.kind })
            .filter(AmongRows(links::account_id.eq(self.links.account)))
            .filter(AmongRows(links::kind.eq(self.links.kind)))
            .filter(AmongRows(links::id.le(self.to.min(newest))))
            .filter(strpos(links::search_key, self.part).gt(0));
        let rows: Vec<LinkRow> = query.load(connection).await?;
        Ok(descending(rows))
    }
}

fn descending(mut rows: Vec<LinkRow>) -> Vec<LinkRow> {
    rows.sort_by(|one, other| Listed::id(other).cmp(Listed::id(one)));
    rows
}

async fn read_buckets(
    connection: &mut &AsyncPgConnection,
    group: &[Segment],
    buckets: &[i16],
) -> Result<Vec<BucketRow>, Failure> {
    let (segments, widths) = group.iter().map(|segment| (segment.id, segment.width)).unzip();
    Ok(ReadBuckets { segments, widths, buckets: buckets.to_vec() }.load(connection).await?)
}

/// The candidates of a segment; `None` if it must be walked.
fn candidates(segment: &Segment, rows: &[BucketRow]) -> Option<PositionSet> {
    let links = usize::try_from(segment.links).ok()?;
    let width = usize::try_from(segment.width).ok().filter(|width| *width > 0)?;
    let mut found: Option<PositionSet> = None;
    for (_, bucket, chunk) in rows.iter().filter(|(of, _, _)| *of == segment.id) {
        let bucket = usize::try_from(*bucket).ok()? % width;
        let Some(set) = PositionSet::decode(chunk, bucket, width, links) else {
            tracing::error!(segment = ?segment.id, "a segment of the search index is corrupt");
            return None;
        };
        match &mut found {
            None => found = Some(set),
            Some(found) => found.intersect(&set),
        }
    }
    found.filter(|candidates| candidates.len() <= links.div_ceil(DENSE))
}

/// Unchecked candidates, newest first: segment and position.
type Pending = Vec<(IdBytes, i32)>;

/// The matches so far.
struct Found {
    /// Matches from walks and segments, in descending order without gaps.
    rows: Vec<LinkRow>,
    /// Matches among the links that changed after their segment was written.
    changed: Vec<LinkRow>,
    number: usize,
    /// The number of walked segments.
    walked: usize,
    /// Whether everything has been searched.
    is_over: bool,
}

impl Found {
    /// Whether no further match can be on the page.
    fn is_complete(&self) -> bool {
        if self.is_over || self.rows.len() >= self.number {
            return true;
        }
        let Some(last) = self.rows.last().map(Listed::id) else { return false };
        if self.rows.len() + self.changed.len() < self.number {
            return false;
        }
        let newer = self.changed.iter().map(Listed::id).filter(|id| *id >= last);
        let ids: BTreeSet<&StoredId> = self.rows.iter().map(Listed::id).chain(newer).collect();
        ids.len() >= self.number
    }

    /// The newest matches, without duplicates.
    fn page(self) -> Vec<LinkRow> {
        let Self { rows, changed, number, walked: _, is_over: _ } = self;
        let mut all = descending(rows.into_iter().chain(changed).collect());
        all.dedup_by(|one, other| Listed::id(one) == Listed::id(other));
        all.truncate(number);
        all
    }
}
