//! Reading the links of a range, and writing their segment.

use diesel::prelude::*;
use diesel::sql_types::{Array, Binary, Bool, Integer, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_sql_rows::sql_types::Identifier;

use super::buckets::{self, BUCKETS};
use super::positions::{self, MOST_LINKS};
use super::sealing::Links;
use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

/// A segment without its content.
#[derive(Debug, Clone, Copy, Queryable)]
pub(super) struct Segment {
    pub(super) id: IdBytes,
    pub(super) after: IdBytes,
    pub(super) last: IdBytes,
    pub(super) links: i32,
    pub(super) width: i16,
}

/// The links above `after`, up to and including `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) after: IdBytes,
    pub(super) last: IdBytes,
}

statement! {
    /// The segments with links below an id, newest first.
    ListSegments -> (Identifier, Identifier, Identifier, Integer, SmallInt) {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        below: IdBytes => Identifier,
    } =
    "SELECT id, after_id, last_id, links, width FROM search_segments WHERE account_id = $1 AND kind = $2 AND \
     after_id < $3 ORDER BY last_id DESC"
}

statement! {
    NotesOfRange -> (Identifier, Identifier) {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        after: IdBytes => Identifier,
        last: IdBytes => Identifier,
    } =
    "SELECT id, link_id FROM search_changes WHERE account_id = $1 AND kind = $2 AND link_id > $3 AND link_id <= $4"
}

statement! {
    KeysOfRange -> (Identifier, Text) {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        after: IdBytes => Identifier,
        last: IdBytes => Identifier,
        at_most: usize,
    } =
    "SELECT l.id, l.search_key FROM links AS l WHERE (l.account_id, l.kind, l.id) > ($1, $2, $3) AND (l.account_id, \
     l.kind, l.id) <= ($1, $2, $4) ORDER BY l.account_id, l.kind, l.id LIMIT $5"
}

statement! {
    DeleteSegments -> Identifier {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        after: IdBytes => Identifier,
        last: IdBytes => Identifier,
    } =
    "DELETE FROM search_segments WHERE account_id = $1 AND kind = $2 AND last_id > $3 AND last_id <= $4 RETURNING id"
}

statement! {
    DeleteBuckets -> Bool {
        segments: Vec<IdBytes> => Array<Identifier>,
    } =
    "DELETE FROM search_buckets WHERE segment = ANY ($1)"
}

statement! {
    /// Removes the links up to an id from the segment whose range includes that id and continues beyond it.
    ShortenNext -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        last: IdBytes => Identifier,
    } =
    "UPDATE search_segments SET after_id = $3 WHERE account_id = $1 AND kind = $2 AND last_id > $3 AND after_id < $3"
}

statement! {
    InsertSegment -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        after: IdBytes => Identifier,
        last: IdBytes => Identifier,
        links: i32 => Integer,
        width: i16 => SmallInt,
        ids: Vec<u8> => Binary,
        chunks: Vec<Vec<u8>> => Array<Binary>,
    } =
    "WITH new AS (INSERT INTO search_segments (id, account_id, kind, after_id, last_id, links, width, ids) VALUES \
     (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7) RETURNING id) INSERT INTO search_buckets (segment, chunk, data) \
     SELECT n.id, c.number - 1, c.data FROM new AS n, unnest($8) WITH ORDINALITY AS c (data, number)"
}

statement! {
    ForgetNotes -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
        notes: Vec<IdBytes> => Array<Identifier>,
    } =
    "DELETE FROM search_changes WHERE account_id = $1 AND kind = $2 AND id = ANY ($3)"
}

/// The segments with links below an id, newest first.
pub(super) async fn list(
    connection: &mut &AsyncPgConnection,
    links: Links,
    below: IdBytes,
) -> Result<Vec<Segment>, Failure> {
    let list = ListSegments { account: links.account, kind: links.kind, below };
    Ok(list.load(connection).await?)
}

/// The input of a segment.
pub(super) struct Content {
    /// The notes, each with the id of its link.
    notes: Vec<(IdBytes, IdBytes)>,
    /// The links with their texts, in the order of their ids.
    keys: Vec<(IdBytes, String)>,
    /// The range of the segment: the requested one, or its first part if it has too many links.
    range: Range,
}

/// Reads the input for the segment of a range, or of its first part. The row of the links is locked.
pub(super) async fn read(
    connection: &mut &AsyncPgConnection,
    links: Links,
    range: Range,
) -> Result<Content, Failure> {
    let Links { account, kind } = links;
    let Range { after, last } = range;
    // The notes come first, so that the links read later include all noted changes.
    let notes = NotesOfRange { account, kind, after, last }.load(connection).await?;
    let keys = KeysOfRange { account, kind, after, last, at_most: MOST_LINKS };
    let keys: Vec<(IdBytes, String)> = keys.load(connection).await?;
    let last = keys.last().filter(|_| keys.len() == MOST_LINKS).map_or(last, |(id, _)| *id);
    Ok(Content { notes, keys, range: Range { after, last } })
}

/// A segment that is ready to be written.
pub(super) struct NewSegment {
    range: Range,
    notes: Vec<IdBytes>,
    links: i32,
    width: i16,
    ids: Vec<u8>,
    chunks: Vec<Vec<u8>>,
}

impl NewSegment {
    /// Builds the segment, which takes a while.
    pub(super) fn of(content: Content) -> Self {
        let Content { notes, keys, range } = content;
        let mut positions = vec![Vec::<u16>::new(); usize::from(BUCKETS)];
        for ((_, key), position) in keys.iter().zip(0_u16..) {
            for bucket in buckets::of_key(key) {
                if let Some(positions) = positions.get_mut(usize::from(bucket))
                    && positions.last() != Some(&position)
                {
                    positions.push(position);
                }
            }
        }
        let width = positions::width_for(keys.len());
        let chunks = positions.chunks(usize::from(width));
        Self {
            range,
            notes: notes.into_iter().filter(|(_, link)| *link <= range.last).map(|(note, _)| note).collect(),
            links: i32::try_from(keys.len()).unwrap_or(i32::MAX),
            width: i16::try_from(width).unwrap_or(i16::MAX),
            chunks: chunks.map(|buckets| positions::encode(buckets, keys.len())).collect(),
            ids: keys.iter().flat_map(|(id, _)| id.get()).collect(),
        }
    }

    /// Writes the segment and deletes those that it replaces. A range without links gets no segment.
    pub(super) async fn write(
        self,
        connection: &mut &AsyncPgConnection,
        links: Links,
    ) -> Result<(), Failure> {
        let Self { range: Range { after, last }, notes, links: number, width, ids, chunks } = self;
        let Links { account, kind } = links;
        delete(connection, links, Range { after, last }).await?;
        ShortenNext { account, kind, last }.execute(connection).await?;
        if number > 0 {
            let insert = InsertSegment { account, kind, after, last, links: number, width, ids, chunks };
            insert.execute(connection).await?;
        }
        if !notes.is_empty() {
            ForgetNotes { account, kind, notes }.execute(connection).await?;
        }
        Ok(())
    }
}

/// Deletes the segments that end in a range.
pub(super) async fn delete(
    connection: &mut &AsyncPgConnection,
    links: Links,
    range: Range,
) -> Result<(), Failure> {
    let Range { after, last } = range;
    let delete = DeleteSegments { account: links.account, kind: links.kind, after, last };
    let segments: Vec<IdBytes> = delete.load(connection).await?;
    if !segments.is_empty() {
        DeleteBuckets { segments }.execute(connection).await?;
    }
    Ok(())
}
