//! Tags, and which links have them (D122).

use std::collections::{BTreeSet, HashMap};

use async_trait::async_trait;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use signpost_app::ports::{NeededTags, RenameTagError, StoreError, TagReads, TagWrites, tags_to_create};
use signpost_domain::{
    AccountId, Link, Page, PageLimit, PagePosition, PlanResource, Tag, TagId, TagName, Timestamp,
};

use crate::columns::UpperBound;
use crate::failure::Failure;
use crate::schema::{accounts, link_tags, tags};
use crate::sql_errors::is_taken;
use crate::store::SqliteStore;
use crate::unit_of_work::{SqliteUnitOfWork, Stop};
use signpost_sql_rows::cell::{RowName, own_id};
use signpost_sql_rows::columns::{IdBytes, StoredId, signed};
use signpost_sql_rows::listed;
use signpost_sql_rows::plan_counter::MoveCounter;
use signpost_sql_rows::tag::{NewTag, TABLE, TagRow, named_tags, tag_name_from};

/// How many tags, or links with a tag, one statement writes or looks up. SQLite bounds the number of values.
const MOST_IN_A_STATEMENT: usize = 5_000;

#[async_trait]
impl TagReads for SqliteStore {
    async fn tags(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Tag>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = tags::table
                .filter(tags::account_id.eq(IdBytes::from(account)))
                .filter(tags::id.lt(UpperBound::from(after)))
                .order(tags::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(TagRow::as_select())
                .load::<TagRow>(connection)?;
            Ok(rows)
        };
        Ok(listed::page(self.readers().read_at_length(read).await?, limit))
    }
}

/// The account's tags with one of these keys.
fn named(
    connection: &mut SqliteConnection,
    account: AccountId,
    keys: &BTreeSet<&str>,
) -> Result<Vec<(TagId, TagName)>, Failure> {
    let keys: Vec<&str> = keys.iter().copied().collect();
    let mut found = Vec::with_capacity(keys.len());
    for part in keys.chunks(MOST_IN_A_STATEMENT) {
        let rows = tags::table
            .filter(tags::account_id.eq(IdBytes::from(account)))
            .filter(tags::name_key.eq_any(part))
            .select((tags::id, tags::name))
            .load(connection)?;
        found.extend(named_tags(rows)?);
    }
    Ok(found)
}

/// Gives each of these links those of its tags that the account has.
pub(crate) fn write<'a>(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: impl Iterator<Item = &'a Link>,
) -> Result<(), Failure> {
    let tagged: Vec<&Link> = links.filter(|link| !link.tags.is_empty()).collect();
    if tagged.is_empty() {
        return Ok(());
    }
    let keys = tagged.iter().flat_map(|link| link.tags.iter()).map(TagName::key).collect();
    let found = named(connection, account, &keys)?;
    let ids: HashMap<&str, TagId> = found.iter().map(|(id, name)| (name.key(), *id)).collect();
    let mut rows = Vec::new();
    for link in tagged {
        let its_tags = link.tags.iter().filter_map(|name| ids.get(name.key()));
        rows.extend(its_tags.map(|tag| {
            (link_tags::tag_id.eq(IdBytes::from(*tag)), link_tags::link_id.eq(IdBytes::from(link.id())))
        }));
    }
    for part in rows.chunks(MOST_IN_A_STATEMENT) {
        diesel::insert_into(link_tags::table).values(part).execute(connection)?;
    }
    Ok(())
}

/// Gives links the tags that they have after a change, in place of those before.
pub(crate) fn rewrite(
    connection: &mut SqliteConnection,
    account: AccountId,
    changes: &[(Link, Link)],
) -> Result<(), Failure> {
    let retagged = changes.iter().filter(|(before, after)| before.tags != after.tags);
    let retagged: Vec<&Link> = retagged.map(|(_, after)| after).collect();
    if retagged.is_empty() {
        return Ok(());
    }
    let ids = retagged.iter().map(|link| IdBytes::from(link.id()));
    diesel::delete(link_tags::table.filter(link_tags::link_id.eq_any(ids))).execute(connection)?;
    write(connection, account, retagged.into_iter())
}

fn provide(
    connection: &mut SqliteConnection,
    account: AccountId,
    needs: &[NeededTags],
    tags_limit: u64,
    now: Timestamp,
) -> Result<Vec<(TagId, TagName)>, Failure> {
    let count = accounts::table
        .find(IdBytes::from(account))
        .select(accounts::tags_count)
        .first(connection)
        .optional()?;
    let Some(count) = count else { return Ok(Vec::new()) };
    let count = RowName::new("accounts", account).count("tags_count", count)?;
    let keys = needs.iter().flatten().map(|(_, name)| name.key()).collect();
    let mut provided = named(connection, account, &keys)?;
    let existing = provided.iter().map(|(_, name)| name.key().to_owned()).collect();
    let created = tags_to_create(needs, &existing, tags_limit.saturating_sub(count));
    for part in created.chunks(MOST_IN_A_STATEMENT) {
        let rows: Vec<NewTag<'_>> = part.iter().map(|tag| NewTag::new(account, tag, now)).collect();
        diesel::insert_into(tags::table).values(rows).execute(connection)?;
    }
    count_more(connection, account, signed(created.len()))?;
    provided.extend(created);
    Ok(provided)
}

/// Adds to the count of tags; a negative number subtracts.
fn count_more(connection: &mut SqliteConnection, account: AccountId, by: i64) -> QueryResult<()> {
    if by != 0 {
        MoveCounter::by(by, account, PlanResource::Tags).execute(connection)?;
    }
    Ok(())
}

/// Up to `at_most` links of a tag.
fn some_links(connection: &mut SqliteConnection, tag: TagId, at_most: u16) -> QueryResult<Vec<StoredId>> {
    link_tags::table
        .filter(link_tags::tag_id.eq(IdBytes::from(tag)))
        .select(link_tags::link_id)
        .limit(i64::from(at_most))
        .load(connection)
}

/// Takes a tag off links that have it.
fn take_off(connection: &mut SqliteConnection, tag: TagId, links: &[StoredId]) -> QueryResult<usize> {
    let rows = link_tags::table
        .filter(link_tags::tag_id.eq(IdBytes::from(tag)))
        .filter(link_tags::link_id.eq_any(links));
    diesel::delete(rows).execute(connection)
}

fn rename(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: TagId,
    name: &TagName,
) -> Result<(), Stop<RenameTagError>> {
    let tag = tags::table.find(IdBytes::from(id)).filter(tags::account_id.eq(IdBytes::from(account)));
    let change = (tags::name.eq(name.as_str()), tags::name_key.eq(name.key()));
    match diesel::update(tag).set(change).execute(connection) {
        Ok(1) => Ok(()),
        Ok(_) => Err(not_locked(id).into()),
        // The index of names, whose first column is the account. SQLite rolls back only the statement.
        Err(error) if is_taken(&error, "tags.account_id") => {
            let other: StoredId = tags::table
                .filter(tags::account_id.eq(IdBytes::from(account)))
                .filter(tags::name_key.eq(name.key()))
                .select(tags::id)
                .first(connection)?;
            let (other, _) = own_id(TABLE, &other).map_err(Failure::from)?;
            Err(Stop::Decided(RenameTagError::NameTaken(other)))
        }
        Err(error) => Err(error.into()),
    }
}

fn not_locked(id: TagId) -> Failure {
    Failure::Other(format!("the tag {id} was not locked"))
}

#[async_trait]
impl TagWrites for SqliteUnitOfWork {
    async fn provide_tags(
        &mut self,
        account: AccountId,
        needs: &[NeededTags],
        tags_limit: u64,
        now: Timestamp,
    ) -> Result<Vec<(TagId, TagName)>, StoreError> {
        let needs = needs.to_vec();
        self.step(move |connection| provide(connection, account, &needs, tags_limit, now)).await
    }

    async fn delete_unused_tags(&mut self, account: AccountId, ids: &[TagId]) -> Result<(), StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        let step = move |connection: &mut SqliteConnection| {
            for part in ids.chunks(MOST_IN_A_STATEMENT) {
                let its_links = link_tags::table.filter(link_tags::tag_id.eq(tags::id));
                let unused = tags::table
                    .filter(tags::account_id.eq(IdBytes::from(account)))
                    .filter(tags::id.eq_any(part))
                    .filter(not(exists(its_links)));
                let deleted = diesel::delete(unused).execute(connection)?;
                count_more(connection, account, -signed(deleted))?;
            }
            Ok(())
        };
        self.step(step).await
    }

    /// The transaction holds the write lock from its start, so a plain read suffices as a lock.
    async fn lock_tag(&mut self, account: AccountId, id: TagId) -> Result<Option<TagName>, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let found = tags::table
                .find(IdBytes::from(id))
                .filter(tags::account_id.eq(IdBytes::from(account)))
                .select(tags::name)
                .first(connection)
                .optional()?;
            Ok(found.map(|name| tag_name_from(id, name)).transpose()?)
        };
        self.step(step).await
    }

    async fn locked_tag(&mut self, account: AccountId, id: TagId) -> Result<Tag, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let found = tags::table
                .find(IdBytes::from(id))
                .filter(tags::account_id.eq(IdBytes::from(account)))
                .select(TagRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.ok_or_else(|| not_locked(id))?.into_tag()?)
        };
        self.step(step).await
    }

    async fn rename_tag(
        &mut self,
        account: AccountId,
        id: TagId,
        name: &TagName,
    ) -> Result<(), RenameTagError> {
        let name = name.clone();
        self.decide(move |connection| rename(connection, account, id, &name)).await?
    }

    async fn move_tagged_links(
        &mut self,
        _: AccountId,
        from: TagId,
        to: TagId,
        at_most: u16,
    ) -> Result<u16, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let links = some_links(connection, from, at_most)?;
            let row = |link: &StoredId| {
                (link_tags::tag_id.eq(IdBytes::from(to)), link_tags::link_id.eq(link.clone()))
            };
            let rows: Vec<_> = links.iter().map(row).collect();
            if rows.is_empty() {
                return Ok(0);
            }
            diesel::insert_into(link_tags::table)
                .values(rows)
                .on_conflict_do_nothing()
                .execute(connection)?;
            Ok(u16::try_from(take_off(connection, from, &links)?).unwrap_or(at_most))
        };
        self.step(step).await
    }

    async fn untag_links(&mut self, _: AccountId, id: TagId, at_most: u16) -> Result<u16, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let links = some_links(connection, id, at_most)?;
            Ok(u16::try_from(take_off(connection, id, &links)?).unwrap_or(at_most))
        };
        self.step(step).await
    }

    async fn delete_tag(&mut self, account: AccountId, id: TagId) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let tag = tags::table.find(IdBytes::from(id)).filter(tags::account_id.eq(IdBytes::from(account)));
            let deleted = diesel::delete(tag).execute(connection)?;
            count_more(connection, account, -signed(deleted))?;
            Ok(deleted > 0)
        };
        self.step(step).await
    }
}
