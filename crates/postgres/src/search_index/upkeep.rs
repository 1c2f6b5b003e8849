//! The job: it seals links, writes their segments, and rewrites them.

use std::time::{Duration, Instant};

use diesel::sql_types::{BigInt, Double, Nullable, SmallInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::SearchUpkeep;
use signpost_click_store::{Lane, compute};
use signpost_domain::{AccountId, LinkKind};
use signpost_sql_rows::sql_types::Identifier;

use super::positions::MOST_LINKS;
use super::removal;
use super::sealing::{self, Links};
use super::segments::{self, NewSegment, Range, Segment};
use crate::failure::{Failure, is_contended};
use crate::lease::Lease;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::time_limit::end_of_call;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::kind_column;

/// How many links above the newest segment make a new segment.
const FEWEST_LINKS: i64 = 1_024;

/// An account with fewer links than this loses its index.
const FEWEST_OF_ACCOUNT: i64 = 1_024;

/// At this many notes of one kind, the segment with most of them is rewritten.
const MOST_NOTES: i64 = 512;

/// How many links of segments may be deleted, or a quarter of the account's links if that is more.
const MOST_GONE: i64 = 16_384;

/// How many segments of one size are merged into one of the next size.
const MERGED: usize = 4;

/// How often a step tries to seal links while others change them, and the pause between attempts.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(5);

/// A step rests this many times as long as it worked.
const REST: u32 = 3;

/// The longest rest, for steps that were slow because the server is busy.
const LONGEST_REST: Duration = Duration::from_secs(10);

/// How many accounts a step looks at. The statement contains the same number.
const ACCOUNTS: usize = 50;

statement! {
    /// Accounts that have an index or need one.
    Accounts -> (Identifier, BigInt) {
        after: IdBytes => Identifier,
    } =
    "SELECT a.id, a.links_count FROM accounts AS a WHERE a.id > $1 AND (a.links_count >= 4096 OR EXISTS (SELECT FROM \
     search_segments AS s WHERE s.account_id = a.id)) ORDER BY a.id LIMIT 50"
}

statement! {
    /// The state that decides what to do. It has the end of the newest segment, and the number of notes up to
    /// it. It also has the numbers of links above it, and in all segments of the account. It counts no
    /// further than the decision needs.
    Look -> (Nullable<Identifier>, BigInt, BigInt, BigInt) {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "SELECT n.last_id, (SELECT count(*) FROM (SELECT FROM search_changes AS c WHERE c.account_id = $1 AND c.kind = \
     $2 AND c.link_id <= n.last_id LIMIT 512) AS c), (SELECT count(*) FROM (SELECT l.id FROM links AS l WHERE \
     (l.account_id, l.kind) >= ($1, $2) AND (l.account_id, l.kind) <= ($1, $2) ORDER BY l.account_id DESC, l.kind \
     DESC, l.id DESC LIMIT 1024) AS l WHERE n.last_id IS NULL OR l.id > n.last_id), (SELECT coalesce(sum(s.links), \
     0)::bigint FROM search_segments AS s WHERE s.account_id = $1) FROM (SELECT (SELECT g.last_id FROM \
     search_segments AS g WHERE g.account_id = $1 AND g.kind = $2 ORDER BY g.last_id DESC LIMIT 1) AS last_id OFFSET \
     0) AS n"
}

statement! {
    /// The number of sealed links above an id, as far as they are among the newest links.
    SealedAbove -> BigInt {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        above: IdBytes => Identifier,
    } =
    "SELECT count(*) FROM (SELECT l.id FROM links AS l WHERE (l.account_id, l.kind) >= ($1, $2) AND (l.account_id, \
     l.kind) <= ($1, $2) ORDER BY l.account_id DESC, l.kind DESC, l.id DESC LIMIT 16384) AS l WHERE l.id > $3 AND \
     l.id <= (SELECT t.sealed_until FROM search_states AS t WHERE t.account_id = $1 AND t.kind = $2)"
}

statement! {
    /// The end of the segment with most notes.
    MostNoted -> Identifier {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "SELECT n.last_id FROM (SELECT (SELECT s.last_id FROM search_segments AS s WHERE s.account_id = c.account_id AND \
     s.kind = c.kind AND s.last_id >= c.link_id ORDER BY s.last_id LIMIT 1) AS last_id FROM search_changes AS c \
     WHERE c.account_id = $1 AND c.kind = $2) AS n WHERE n.last_id IS NOT NULL GROUP BY n.last_id ORDER BY count(*) \
     DESC, n.last_id LIMIT 1"
}

statement! {
    /// The end of the segment with the smallest remaining share of its links, and that share.
    MostGone -> (Identifier, Double) {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "SELECT s.last_id, (SELECT count(*) FROM links AS l WHERE l.account_id = s.account_id AND l.kind = s.kind AND \
     l.id > s.after_id AND l.id <= s.last_id) / s.links::float8 AS left FROM search_segments AS s WHERE s.account_id \
     = $1 AND s.kind = $2 ORDER BY 2, 1 LIMIT 1"
}

/// Which range to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// The sealed links above the newest segment, merged with small segments below it.
    Append { links: usize },
    /// The range of the segment with most notes.
    Refresh,
    /// The range of the segment that has lost most of its links.
    Shrink,
}

/// One step: it looks at some accounts and does the first task that it finds. Then it rests, so that requests get most of
/// the server while many links change.
pub(crate) async fn tend(store: &PostgresStore, after: Option<AccountId>) -> Result<SearchUpkeep, Failure> {
    let began = Instant::now();
    let done = match step(store, after).await {
        Err(Failure::Sql(error)) if is_contended(&error) => SearchUpkeep { after, has_worked: true },
        outcome => outcome?,
    };
    if done.has_worked {
        tokio::time::sleep((began.elapsed() * REST).min(LONGEST_REST)).await;
    }
    Ok(done)
}

async fn step(store: &PostgresStore, after: Option<AccountId>) -> Result<SearchUpkeep, Failure> {
    let ends = end_of_call(store.time_limit());
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    if after.is_none() && delete_orphan(&mut lease, ends).await? {
        return Ok(SearchUpkeep { after, has_worked: true });
    }
    let accounts = Accounts { after: after.map_or(IdBytes::lowest(), IdBytes::from) };
    let accounts: Vec<(IdBytes, i64)> =
        lease.call(ends, async |connection| Ok(accounts.load(connection).await?)).await?;
    for (account, links_count) in &accounts {
        for kind in [LinkKind::Landing, LinkKind::Redirect] {
            let links = Links { account: *account, kind: kind_column(kind) };
            if tend_links(&mut lease, ends, links, *links_count).await? {
                return Ok(SearchUpkeep { after: Some(account.id()), has_worked: true });
            }
        }
    }
    let last = accounts.last().filter(|_| accounts.len() == ACCOUNTS).map(|(account, _)| account.id());
    Ok(SearchUpkeep { after: last, has_worked: false })
}

async fn delete_orphan(lease: &mut Lease, ends: Instant) -> Result<bool, Failure> {
    let delete = async |connection: &mut &AsyncPgConnection| {
        let Some((links, last)) = removal::orphan(connection).await? else { return Ok(false) };
        removal::delete(connection, links, last).await?;
        Ok(true)
    };
    let is_deleted = lease.begin_with(ends, delete).await?;
    lease.commit(ends, Vec::new()).await?;
    Ok(is_deleted)
}

/// Does the next task for an account's links of a kind. Returns `false` if nothing is left to do.
async fn tend_links(
    lease: &mut Lease,
    ends: Instant,
    links: Links,
    links_count: i64,
) -> Result<bool, Failure> {
    let look = Look { account: links.account, kind: links.kind };
    let seen: (Option<IdBytes>, i64, i64, i64) =
        lease.call(ends, async |connection| Ok(look.get_result(connection).await?)).await?;
    let (newest, notes, above, in_segments) = seen;
    if links_count < FEWEST_OF_ACCOUNT {
        if newest.is_none() {
            return Ok(false);
        }
        let deletion =
            async |connection: &mut &AsyncPgConnection| removal::delete_newest(connection, links).await;
        let is_deleted = lease.begin_with(ends, deletion).await?;
        lease.commit(ends, Vec::new()).await?;
        return Ok(is_deleted);
    }
    if above >= FEWEST_LINKS {
        let Links { account, kind } = links;
        let sealed = SealedAbove { account, kind, above: newest.unwrap_or(IdBytes::lowest()) };
        let sealed: i64 =
            lease.call(ends, async |connection| Ok(sealed.get_result(connection).await?)).await?;
        if sealed < FEWEST_LINKS {
            return seal(lease, ends, links).await;
        }
        let links_above = usize::try_from(sealed).unwrap_or(MOST_LINKS);
        return write(lease, ends, links, Task::Append { links: links_above }).await;
    }
    if notes >= MOST_NOTES {
        return write(lease, ends, links, Task::Refresh).await;
    }
    if newest.is_some() && in_segments > links_count.saturating_add(MOST_GONE.max(links_count / 4)) {
        return write(lease, ends, links, Task::Shrink).await;
    }
    Ok(false)
}

/// Seals all existing links; `false` if others kept changing links.
async fn seal(lease: &mut Lease, ends: Instant, links: Links) -> Result<bool, Failure> {
    for _ in 0..TRIES {
        let sealing = async |connection: &mut &AsyncPgConnection| {
            sealing::add_state(connection, links).await?;
            let is_held = sealing::hold_from_all(connection, links).await?;
            if is_held {
                sealing::seal(connection, links).await?;
            }
            Ok(is_held)
        };
        let is_sealed = lease.begin_with(ends, sealing).await?;
        lease.commit(ends, Vec::new()).await?;
        if is_sealed {
            return Ok(true);
        }
        tokio::time::sleep(PAUSE).await;
    }
    Ok(false)
}

/// Writes the segment of a range; `false` if there is no such range or another node is writing one.
async fn write(lease: &mut Lease, ends: Instant, links: Links, task: Task) -> Result<bool, Failure> {
    let reading = async |connection: &mut &AsyncPgConnection| {
        let Some(sealed_until) = sealing::hold_from_writers(connection, links).await? else {
            return Ok(None);
        };
        let segments = segments::list(connection, links, IdBytes::highest()).await?;
        let Some(range) = range_of(connection, links, task, &segments, sealed_until).await? else {
            return Ok(None);
        };
        Ok(Some(segments::read(connection, links, range).await?))
    };
    let content = lease.begin_with(ends, reading).await?;
    let is_any = content.is_some();
    if let Some(content) = content {
        let segment = compute(Lane::SearchIndex, move || NewSegment::of(content)).await;
        let segment = segment.map_err(|error| Failure::Other(error.to_string()))?;
        lease.call(ends, async |connection| segment.write(connection, links).await).await?;
    }
    lease.commit(ends, Vec::new()).await?;
    Ok(is_any)
}

/// The range of a task. The row of the links is locked, so the segments do not change.
async fn range_of(
    connection: &mut &AsyncPgConnection,
    links: Links,
    task: Task,
    segments: &[Segment],
    sealed_until: IdBytes,
) -> Result<Option<Range>, Failure> {
    let Links { account, kind } = links;
    let last = match task {
        Task::Append { links } => {
            let merged = merged_with(links, segments);
            let after = segments.get(merged).map_or(IdBytes::lowest(), |segment| segment.last);
            return Ok(Some(Range { after, last: sealed_until }).filter(|range| range.after < range.last));
        }
        Task::Refresh => MostNoted { account, kind }.load::<IdBytes>(connection).await?.into_iter().next(),
        Task::Shrink => {
            let gone: Vec<(IdBytes, f64)> = MostGone { account, kind }.load(connection).await?;
            gone.into_iter().find(|(_, left)| *left < 0.9).map(|(last, _)| last)
        }
    };
    let position = segments.iter().position(|segment| Some(segment.last) == last);
    let Some((position, last)) = position.zip(last) else { return Ok(None) };
    let after = segments.get(position + 1).map_or(IdBytes::lowest(), |segment| segment.last);
    Ok(Some(Range { after, last }))
}

/// How many of the newest segments are merged with this many links above them. Enough segments of one size become one of the
/// next size, so each link is written only a few times.
fn merged_with(links: usize, segments: &[Segment]) -> usize {
    let of_size = |links: usize| match links {
        0..3_072 => 0,
        3_072..10_240 => 1,
        _ => 2,
    };
    let (mut merged, mut sum) = (0, links);
    loop {
        let size = of_size(sum);
        let is_alike =
            |segment: &&Segment| of_size(usize::try_from(segment.links).unwrap_or_default()) <= size;
        let alike = segments.iter().skip(merged).take_while(is_alike).take(MERGED);
        let (number, of_these) = alike.fold((0, 0), |(number, sum), segment| {
            (number + 1, sum + usize::try_from(segment.links).unwrap_or_default())
        });
        if size == 2 || number + 1 < MERGED {
            return merged;
        }
        merged += number;
        sum += of_these;
    }
}

#[cfg(test)]
mod tests {
    use super::super::buckets::BUCKETS;
    use super::*;

    /// Appends links repeatedly, and returns the sizes of the segments and how often a link was written.
    fn sizes_after(appends: usize, links: usize) -> (Vec<i32>, usize) {
        let segment = |links: usize| Segment {
            id: IdBytes::lowest(),
            after: IdBytes::lowest(),
            last: IdBytes::lowest(),
            links: i32::try_from(links).unwrap(),
            width: 1,
        };
        let (mut segments, mut written) = (Vec::<Segment>::new(), 0);
        for _ in 0..appends {
            let merged = merged_with(links, &segments);
            let replaced = segments.drain(..merged);
            let sum = links + replaced.map(|segment| usize::try_from(segment.links).unwrap()).sum::<usize>();
            assert!(sum <= 2 * MOST_LINKS, "{sum}");
            written += sum;
            segments.insert(0, segment(sum.min(MOST_LINKS)));
        }
        (segments.iter().map(|segment| segment.links).collect(), written / (appends * links))
    }

    #[test]
    fn merging_keeps_segments_few_and_writes_links_a_few_times() {
        for links in [1_024, 1_100, 2_000, 3_500, 5_000, 12_000, MOST_LINKS] {
            let appends = 40 * MOST_LINKS / links;
            let (sizes, written) = sizes_after(appends, links);
            assert!(sizes.len() <= 70, "{links}: {sizes:?}");
            assert!(written <= 4, "{links}: {written}");
        }
        assert_eq!(sizes_after(3, 1_024).0, [1_024, 1_024, 1_024]);
        assert_eq!(sizes_after(4, 1_024).0, [4_096]);
        assert_eq!(sizes_after(16, 1_024).0, [16_384]);
        assert_eq!(sizes_after(17, 1_024).0, [1_024, 16_384]);
    }

    #[test]
    fn statements_contain_the_numbers_of_the_constants() {
        assert_eq!((ACCOUNTS, FEWEST_LINKS, MOST_NOTES, MOST_LINKS), (50, 1_024, 512, 16_384));
        assert_eq!(BUCKETS, 4_096);
    }
}
