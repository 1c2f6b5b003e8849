//! Tags of accounts (D122). Which links have them: [`link_tags`](crate::link_tags).
//!
//! Whoever creates tags of an account locks the row that counts them, so of several that create a tag of one name, one creates it, and
//! the others find it. Whoever gives tags to links holds these tags `FOR KEY SHARE`: they may be merged and emptied meanwhile, but
//! neither renamed nor deleted.

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_app::ports::{NeededTags, RenameTagError, StoreError, TagReads, TagWrites, tags_to_create};
use signpost_domain::{
    AccountId, Page, PageLimit, PagePosition, PlanResource, Tag, TagId, TagName, Timestamp,
};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::{Failure, contended_if_referred_to, is_taken};
use crate::newest_rows::NewestRows;
use crate::schema::tags;
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, signed};
use signpost_sql_rows::listed;
use signpost_sql_rows::plan_counter::MoveCounter;
use signpost_sql_rows::tag::{TABLE, TagRow, named_tags, tag_name_from};

#[async_trait]
impl TagReads for PostgresStore {
    async fn tags(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Tag>, StoreError> {
        // It counts the links of the tags, which may be many.
        self.search(async |connection| {
            let query = NewestRows::<TagRow>::for_page(TABLE, account, limit, after);
            let rows = query.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }
}

statement! {
    /// The account's tags with some keys. They keep their names until the transaction ends.
    HoldNamedTags -> (Identifier, Text) {
        account: IdBytes => Identifier,
        keys: Vec<String> => Array<Text>,
    } =
    "SELECT t.id, t.name FROM tags AS t WHERE t.account_id = $1 AND t.name_key = ANY ($2) ORDER BY t.id FOR KEY SHARE"
}

statement! {
    /// How many tags an account has. The row stays locked until the transaction ends.
    HoldTagsCount -> BigInt {
        account: IdBytes => Identifier,
    } =
    "SELECT tags_count FROM accounts WHERE id = $1 FOR NO KEY UPDATE"
}

statement! {
    /// Inserts tags, and counts them. A name that another transaction has just given to a tag by renaming it is skipped.
    InsertTags -> Identifier {
        account: IdBytes => Identifier,
        ids: Vec<IdBytes> => Array<Identifier>,
        names: Vec<String> => Array<Text>,
        keys: Vec<String> => Array<Text>,
        now: Instant => Moment,
    } =
    "WITH inserted AS (INSERT INTO tags (id, account_id, name, name_key, created_at) SELECT n.id, $1, n.name, n.name_key, \
     $5 FROM unnest($2, $3, $4) AS n (id, name, name_key) ON CONFLICT (account_id, name_key) DO NOTHING RETURNING id), \
     counted AS (UPDATE accounts SET tags_count = tags_count + (SELECT count(*) FROM inserted) WHERE id = $1) SELECT id \
     FROM inserted"
}

statement! {
    /// Locks some of the links of a tag in lock order.
    HoldLinksOfTag -> Identifier {
        tag: IdBytes => Identifier,
        at_most: usize,
    } =
    "WITH chosen AS MATERIALIZED (SELECT x.link_id FROM link_tags AS x WHERE x.tag_id >= $1 AND x.tag_id <= $1 ORDER BY \
     x.tag_id, x.link_id LIMIT $2) SELECT l.id FROM links AS l JOIN chosen ON l.id = chosen.link_id ORDER BY l.kind, \
     l.id FOR NO KEY UPDATE OF l"
}

statement! {
    /// Takes a tag off locked links, and gives them another one. Returns how many had it.
    MoveLinksOfTag -> BigInt {
        from: IdBytes => Identifier,
        to: IdBytes => Identifier,
        links: Vec<IdBytes> => Array<Identifier>,
    } =
    "WITH moved AS (DELETE FROM link_tags WHERE tag_id = $1 AND link_id = ANY ($3) RETURNING link_id), given AS (INSERT \
     INTO link_tags (tag_id, link_id) SELECT $2, m.link_id FROM moved AS m ON CONFLICT DO NOTHING) SELECT count(*) \
     FROM moved"
}

statement! {
    /// Takes a tag off locked links. Returns how many had it.
    UntagLinks -> BigInt {
        tag: IdBytes => Identifier,
        links: Vec<IdBytes> => Array<Identifier>,
    } =
    "WITH untagged AS (DELETE FROM link_tags WHERE tag_id = $1 AND link_id = ANY ($2) RETURNING link_id) SELECT \
     count(*) FROM untagged"
}

statement! {
    /// Deletes those of some tags that no link has.
    DeleteUnusedTags -> Bool {
        account: IdBytes => Identifier,
        ids: Vec<IdBytes> => Array<Identifier>,
    } =
    "DELETE FROM tags AS t WHERE t.account_id = $1 AND t.id = ANY ($2) AND NOT EXISTS (SELECT 1 FROM link_tags AS x \
     WHERE x.tag_id = t.id)"
}

statement! {
    /// Deletes all tags of an account, whose links are deleted.
    pub(crate) DeleteAllTags -> Bool {
        account: IdBytes => Identifier,
    } =
    "DELETE FROM tags WHERE account_id = $1"
}

/// The account's tags with one of these keys, which keep their names until the transaction ends.
async fn hold_named(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    keys: &BTreeSet<&str>,
) -> Result<Vec<(TagId, TagName)>, Failure> {
    let keys = keys.iter().map(|key| (*key).to_owned()).collect();
    let rows = HoldNamedTags { account: account.into(), keys }.load::<(StoredId, String)>(connection).await?;
    Ok(named_tags(rows)?)
}

async fn provide(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    needs: &[NeededTags],
    tags_limit: u64,
    now: Timestamp,
) -> Result<Vec<(TagId, TagName)>, Failure> {
    let keys: BTreeSet<&str> = needs.iter().flatten().map(|(_, name)| name.key()).collect();
    let found = hold_named(connection, account, &keys).await?;
    if found.len() == keys.len() {
        return Ok(found);
    }
    let count = HoldTagsCount { account: account.into() }.get_result::<i64>(connection).await.optional()?;
    let Some(count) = count else { return Ok(Vec::new()) };
    let count = RowName::new("accounts", account).count("tags_count", count)?;
    // Another transaction may have created some while this one waited.
    let mut provided = hold_named(connection, account, &keys).await?;
    let existing = provided.iter().map(|(_, name)| name.key().to_owned()).collect();
    let created = tags_to_create(needs, &existing, tags_limit.saturating_sub(count));
    if created.is_empty() {
        return Ok(provided);
    }
    let statement = InsertTags {
        account: account.into(),
        ids: created.iter().map(|(id, _)| (*id).into()).collect(),
        names: created.iter().map(|(_, name)| name.as_str().to_owned()).collect(),
        keys: created.iter().map(|(_, name)| name.key().to_owned()).collect(),
        now: now.into(),
    };
    let inserted: Vec<IdBytes> = statement.load(connection).await?;
    if inserted.len() < created.len() {
        let skipped = created.iter().filter(|(id, _)| !inserted.contains(&(*id).into()));
        let keys: BTreeSet<&str> = skipped.map(|(_, name)| name.key()).collect();
        let renamed = hold_named(connection, account, &keys).await?;
        if renamed.len() < keys.len() {
            // The tag that had the name has lost it since.
            return Err(Failure::Contended);
        }
        provided.extend(renamed);
    }
    provided.extend(created.into_iter().filter(|(id, _)| inserted.contains(&(*id).into())));
    Ok(provided)
}

/// Subtracts from the count of tags.
async fn count_less(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    by: usize,
) -> Result<(), Failure> {
    if by > 0 {
        MoveCounter::by(-signed(by), account, PlanResource::Tags).execute(connection).await?;
    }
    Ok(())
}

/// Takes a tag off up to `at_most` links, and gives them the tag `to`, if there is one.
async fn take_off(
    connection: &mut &AsyncPgConnection,
    tag: TagId,
    to: Option<TagId>,
    at_most: u16,
) -> Result<u16, Failure> {
    let mut room = usize::from(at_most);
    // Others may take the tag off some of the links before they are locked. Only an empty result means that no link is left.
    while room > 0 {
        let links: Vec<IdBytes> = HoldLinksOfTag { tag: tag.into(), at_most: room }.load(connection).await?;
        if links.is_empty() {
            break;
        }
        let taken: i64 = match to {
            Some(to) => {
                let statement = MoveLinksOfTag { from: tag.into(), to: to.into(), links };
                statement.get_result(connection).await?
            }
            None => UntagLinks { tag: tag.into(), links }.get_result(connection).await?,
        };
        room = room.saturating_sub(usize::try_from(taken).unwrap_or_default());
    }
    Ok(u16::try_from(usize::from(at_most) - room).unwrap_or(at_most))
}

async fn rename(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: TagId,
    name: &TagName,
) -> Result<Result<(), RenameTagError>, Failure> {
    // To PostgreSQL a taken name is an error, which would end the whole transaction.
    connection.batch_execute("SAVEPOINT before_rename").await?;
    let tag = tags::table.find(IdBytes::from(id)).filter(tags::account_id.eq(IdBytes::from(account)));
    let change = (tags::name.eq(name.as_str()), tags::name_key.eq(name.key()));
    match diesel::update(tag).set(change).execute(connection).await {
        Ok(1) => return Ok(Ok(())),
        Ok(_) => return Err(not_locked(id)),
        Err(error) if is_taken(&error, "tags_of_name") => {}
        Err(error) => return Err(error.into()),
    }
    connection.batch_execute("ROLLBACK TO SAVEPOINT before_rename").await?;
    let others = hold_named(connection, account, &[name.key()].into()).await?;
    // Without one, the tag that had the name has lost it since.
    let (other, _) = others.into_iter().next().ok_or(Failure::Contended)?;
    Ok(Err(RenameTagError::NameTaken(other)))
}

fn not_locked(id: TagId) -> Failure {
    Failure::Other(format!("the tag {id} was not locked"))
}

#[async_trait]
impl TagWrites for PostgresUnitOfWork {
    async fn provide_tags(
        &mut self,
        account: AccountId,
        needs: &[NeededTags],
        tags_limit: u64,
        now: Timestamp,
    ) -> Result<Vec<(TagId, TagName)>, StoreError> {
        self.step(async |connection| provide(connection, account, needs, tags_limit, now).await).await
    }

    async fn delete_unused_tags(&mut self, account: AccountId, ids: &[TagId]) -> Result<(), StoreError> {
        self.step(async |connection| {
            let ids = ids.iter().copied().map(IdBytes::from).collect();
            let deleted = DeleteUnusedTags { account: account.into(), ids }.execute(connection).await;
            let deleted = deleted.map_err(contended_if_referred_to)?;
            count_less(connection, account, deleted).await
        })
        .await
    }

    /// It lets others give the tag to links meanwhile: they hold their links, for which a merge or a deletion waits.
    async fn lock_tag(&mut self, account: AccountId, id: TagId) -> Result<Option<TagName>, StoreError> {
        self.step(async |connection| {
            let found: Option<String> = tags::table
                .find(IdBytes::from(id))
                .filter(tags::account_id.eq(IdBytes::from(account)))
                .select(tags::name)
                .for_no_key_update()
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(|name| tag_name_from(id, name)).transpose()?)
        })
        .await
    }

    async fn locked_tag(&mut self, account: AccountId, id: TagId) -> Result<Tag, StoreError> {
        self.step(async |connection| {
            let found: Option<TagRow> = tags::table
                .find(IdBytes::from(id))
                .filter(tags::account_id.eq(IdBytes::from(account)))
                .select(TagRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.ok_or_else(|| not_locked(id))?.into_tag()?)
        })
        .await
    }

    async fn rename_tag(
        &mut self,
        account: AccountId,
        id: TagId,
        name: &TagName,
    ) -> Result<(), RenameTagError> {
        self.step(async |connection| rename(connection, account, id, name).await).await?
    }

    async fn move_tagged_links(
        &mut self,
        _: AccountId,
        from: TagId,
        to: TagId,
        at_most: u16,
    ) -> Result<u16, StoreError> {
        self.step(async |connection| take_off(connection, from, Some(to), at_most).await).await
    }

    async fn untag_links(&mut self, _: AccountId, id: TagId, at_most: u16) -> Result<u16, StoreError> {
        self.step(async |connection| take_off(connection, id, None, at_most).await).await
    }

    async fn delete_tag(&mut self, account: AccountId, id: TagId) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let tag = tags::table.find(IdBytes::from(id)).filter(tags::account_id.eq(IdBytes::from(account)));
            // Another transaction may just have given the tag to a link.
            let deleted = diesel::delete(tag).execute(connection).await.map_err(contended_if_referred_to)?;
            count_less(connection, account, deleted).await?;
            Ok(deleted > 0)
        })
        .await
    }
}
