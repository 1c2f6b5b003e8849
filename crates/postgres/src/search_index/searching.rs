//! A search by the index: the newest matches first, and no more than the page needs.

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
use crate::first_rows::FirstRows;
use crate::list_range::{AmongRows, ListRange, RangeColumn};
use crate::pipeline::both;
use crate::schema::links;
use crate::search::strpos;
use crate::statement::statement;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::{LinkRow, kind_column};
use signpost_sql_rows::listed::Listed;

/// How many segments are looked at together: few at first, since the newest links may fill the page.
const TOGETHER: [usize; 3] = [2, 8, 32];

/// How many candidates are checked together at most.
const MOST_CHECKED: usize = 1_024;

/// A segment of which more than one link in so many is a candidate is walked instead, and so is one that cannot be read.
const DENSE: usize = 16;

/// After so many segments that had to be walked, all the rest is: the index does not help with such a text.
const MOST_WALKED: usize = 2;

statement! {
    /// The shortest rows of the buckets in each segment. The others would exclude few candidates more.
    ReadBuckets -> (Identifier, SmallInt, Binary) {
        segments: Vec<IdBytes>,
        widths: Vec<i16>,
        buckets: Vec<i16>,
    } =
    "SELECT s.segment, c.bucket, c.data FROM unnest("
    { segments: Array<Identifier> } ", "
    { widths: Array<SmallInt> } ") AS s (segment, width) CROSS JOIN LATERAL (SELECT p.bucket, b.data FROM unnest("
    { buckets: Array<SmallInt> } ") AS p (bucket) JOIN search_buckets AS b ON b.segment = s.segment \
     AND b.chunk = p.bucket / s.width ORDER BY octet_length(b.data) LIMIT 6) AS c"
}

/// A row of a bucket: the segment, the bucket, and the chunk that has it.
type BucketRow = (IdBytes, i16, Vec<u8>);

/// What is searched for.
#[derive(Debug, Clone, Copy)]
struct Search<'a> {
    links: Links,
    part: &'a str,
    /// The greatest id that the page may have.
    to: IdBytes,
    /// How many rows are wanted.
    number: u8,
}

/// The first so many links with a part in their texts, behind a position; `None` if there is no index that helps.
///
/// It is a transaction of its own, which reads everything as of one moment.
pub(crate) async fn search(
    connection: &mut &AsyncPgConnection,
    (account, kind): (AccountId, LinkKind),
    part: &str,
    number: u8,
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
    // After a failure, too: the connection may be lent again.
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
        // All at once: most pages are filled by these.
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

    /// Finds the matches in some segments, the newest first, until there are enough.
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

    /// Checks candidates from the newest on, some more each time, until there are enough matches or none is left.
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

    /// The first matches above an id, up to another, row by row.
    async fn walk(
        self,
        connection: &mut &AsyncPgConnection,
        above: IdBytes,
        to: IdBytes,
    ) -> Result<Vec<LinkRow>, Failure> {
        if above >= to {
            return Ok(Vec::new());
        }
        // The lowest and the highest of all ids are those of no link.
        let next = |id: IdBytes| IdBytes::from_number(id.number().saturating_add(1));
        let (from, below) = (next(above), next(to));
        let (Links { account, kind }, part) = (self.links, self.part);
        let walked = Walked { account, kind, from, below, part, at_most: self.number.into() };
        let rows: Vec<LinkRow> =
            links::table.select(LinkRow::as_select()).filter(walked).load(connection).await?;
        Ok(descending(rows))
    }

    /// The first matches up to an id, row by row, in the way of the lists.
    async fn walk_all(
        self,
        connection: &mut &AsyncPgConnection,
        to: IdBytes,
    ) -> Result<Vec<LinkRow>, Failure> {
        let Links { account, kind } = self.links;
        let below = Some(IdBytes::from_number(to.number().saturating_add(1)));
        let query = links::table
            .select(LinkRow::as_select())
            .filter(ListRange { account, column: RangeColumn::None, kind, below })
            .filter(strpos(links::search_key, self.part).gt(0))
            .order((links::account_id.desc(), links::kind.desc(), links::id.desc()));
        Ok(FirstRows { query, number: self.number }.load(connection).await?)
    }

    /// The matches at these positions, the newest first.
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

    /// The matches among the links that have changed since their segment was written, the newest first.
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

/// The candidates of a segment; `None` if it is to be walked.
fn candidates(segment: &Segment, rows: &[BucketRow]) -> Option<PositionSet> {
    let links = usize::try_from(segment.links).ok()?;
    let width = usize::try_from(segment.width).ok().filter(|width| *width > 0)?;
    let mut found: Option<PositionSet> = None;
    for (_, bucket, chunk) in rows.iter().filter(|(of, _, _)| *of == segment.id) {
        let bucket = usize::try_from(*bucket).ok()? % width;
        let Some(set) = PositionSet::decode(chunk, bucket, width, links) else {
            tracing::error!(segment = ?segment.id, "a segment of the search index cannot be read");
            return None;
        };
        match &mut found {
            None => found = Some(set),
            Some(found) => found.intersect(&set),
        }
    }
    found.filter(|candidates| candidates.len() <= links.div_ceil(DENSE))
}

/// Candidates that were not checked yet, the newest first: the segment and the position of each.
type Pending = Vec<(IdBytes, i32)>;

/// The matches so far.
struct Found {
    /// Those of the walks and of the segments. They descend, and there is none between them that is not here.
    rows: Vec<LinkRow>,
    /// All that have changed since their segment was written.
    changed: Vec<LinkRow>,
    number: usize,
    /// How many segments were walked.
    walked: usize,
    /// Whether nothing is left to be looked into.
    is_over: bool,
}

impl Found {
    /// Whether no link that was not found yet can be on the page.
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

    /// The newest of them, each once.
    fn page(self) -> Vec<LinkRow> {
        let Self { rows, changed, number, walked: _, is_over: _ } = self;
        let mut all = descending(rows.into_iter().chain(changed).collect());
        all.dedup_by(|one, other| Listed::id(one) == Listed::id(other));
        all.truncate(number);
        all
    }
}
