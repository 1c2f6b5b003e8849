//! Groups.

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{GroupReads, GroupWrites, InsertGroupError, StoreError};
use signpost_domain::{
    AccountId, Group, GroupId, Link, LinkId, Name, Page, PageLimit, PagePosition, PlanResource, Timestamp,
};

use crate::columns::{UpperBound, later_of};
use crate::counters;
use crate::failure::Failure;
use crate::link_batches;
use crate::named_links;
use crate::schema::{groups, links};
use crate::store::SqliteStore;
use crate::unit_of_work::{SqliteUnitOfWork, Stop};
use signpost_sql_rows::cell::own_id;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, named_among, whole_number};
use signpost_sql_rows::group::{GroupRow, NewGroup, TABLE};
use signpost_sql_rows::listed;

/// How many names one statement looks up. SQLite bounds the number of values.
const NAMES_AT_ONCE: usize = 500;

#[async_trait]
impl GroupReads for SqliteStore {
    async fn group(&self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        self.readers().read(move |connection| read_group(connection, account, id)).await
    }

    async fn taken_group_ids(&self, ids: &[GroupId]) -> Result<Vec<GroupId>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = ids.to_vec();
        let read = move |connection: &mut SqliteConnection| {
            let named = ids.iter().copied().map(IdBytes::from);
            let found: Vec<StoredId> =
                groups::table.filter(groups::id.eq_any(named)).select(groups::id).load(connection)?;
            Ok(named_among(&found, &ids))
        };
        self.readers().read(read).await
    }

    async fn groups(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Group>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = groups::table
                .filter(groups::account_id.eq(IdBytes::from(account)))
                .filter(groups::id.lt(UpperBound::from(after)))
                .order(groups::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(GroupRow::as_select())
                .load::<GroupRow>(connection)?;
            Ok(rows)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }
}

fn read_group(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: GroupId,
) -> Result<Option<Group>, Failure> {
    let found = groups::table
        .find((IdBytes::from(account), IdBytes::from(id)))
        .select(GroupRow::as_select())
        .first(connection)
        .optional()?;
    Ok(found.map(GroupRow::into_group).transpose()?)
}

#[async_trait]
impl GroupWrites for SqliteUnitOfWork {
    /// The transaction holds the write lock from its start, so a plain read suffices as a lock.
    async fn lock_group(&mut self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        self.step(move |connection| read_group(connection, account, id)).await
    }

    async fn groups_among(
        &mut self,
        account: AccountId,
        ids: &[GroupId],
    ) -> Result<Vec<GroupId>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        let step = move |connection: &mut SqliteConnection| {
            let found: Vec<StoredId> = groups::table
                .filter(groups::account_id.eq(IdBytes::from(account)))
                .filter(groups::id.eq_any(ids))
                .select(groups::id)
                .load(connection)?;
            let ids = found.iter().map(|id| own_id(TABLE, id).map(|(id, _)| id));
            Ok(ids.collect::<Result<_, _>>()?)
        };
        self.step(step).await
    }

    /// The transaction holds the write lock from its start.
    async fn lock_groups_named(
        &mut self,
        account: AccountId,
        names: &[Name],
    ) -> Result<Vec<Group>, StoreError> {
        let names: Vec<String> = names.iter().map(|name| name.as_str().to_owned()).collect();
        let step = move |connection: &mut SqliteConnection| {
            let mut found = Vec::new();
            for names in names.chunks(NAMES_AT_ONCE) {
                let of_names = groups::table
                    .filter(groups::account_id.eq(IdBytes::from(account)))
                    .filter(groups::name.eq_any(names))
                    .select(GroupRow::as_select());
                found.extend(of_names.load::<GroupRow>(connection)?);
            }
            Ok(found.into_iter().filter_map(listed::readable).collect())
        };
        self.step(step).await
    }

    async fn insert_group(
        &mut self,
        account: AccountId,
        group: &Group,
        groups_limit: u64,
    ) -> Result<(), InsertGroupError> {
        let group = group.clone();
        let step = move |connection: &mut SqliteConnection| {
            counters::count_one(connection, account, PlanResource::Groups, groups_limit)?;
            let insertion = diesel::insert_into(groups::table).values(NewGroup::new(account, &group));
            // Every unique index contains the id, so a conflict means that the id is taken.
            let inserted = insertion.on_conflict_do_nothing().execute(connection)?;
            if inserted > 0 { Ok(()) } else { Err(Stop::Decided(InsertGroupError::IdTaken)) }
        };
        self.decide(step).await?
    }

    async fn update_group(&mut self, account: AccountId, group: &Group) -> Result<(), StoreError> {
        let group = group.clone();
        let step = move |connection: &mut SqliteConnection| {
            // The store owns the counts, and the creation time never changes.
            let Group {
                id,
                name,
                landings_count: _,
                redirects_count: _,
                created_at: _,
                updated_at,
                revision,
            } = &group;
            let updated = diesel::update(groups::table.find((IdBytes::from(account), IdBytes::from(*id))))
                .set((
                    groups::name.eq(name.as_str()),
                    groups::updated_at.eq(Instant::from(*updated_at)),
                    groups::revision.eq(whole_number(revision.get())),
                ))
                .execute(connection)?;
            if updated == 0 {
                return Err(Failure::Other(format!("the group {id} was not locked")));
            }
            Ok(())
        };
        self.step(step).await
    }

    async fn assign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError> {
        let ids = ids.to_vec();
        self.step(move |connection| named_links::assign(connection, account, group, &ids, now)).await
    }

    async fn unassign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError> {
        let ids = ids.to_vec();
        self.step(move |connection| named_links::unassign(connection, account, group, &ids, now)).await
    }

    async fn ungroup_some_links(
        &mut self,
        account: AccountId,
        id: GroupId,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        self.step(move |connection| link_batches::ungroup(connection, account, id, at_most, now)).await
    }

    async fn delete_group(
        &mut self,
        account: AccountId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let key = (IdBytes::from(account), IdBytes::from(id));
            let its_links =
                links::table.filter(links::account_id.eq(key.0)).filter(links::group_id.eq(key.1));
            diesel::update(its_links)
                .set((
                    links::group_id.eq(None::<IdBytes>),
                    links::updated_at.eq(later_of(links::updated_at, Instant::from(now))),
                    links::revision.eq(links::revision + 1),
                ))
                .execute(connection)?;
            let deleted = diesel::delete(groups::table.find(key)).execute(connection)? > 0;
            if deleted {
                counters::discount_one(connection, account, PlanResource::Groups)?;
            }
            Ok(deleted)
        };
        self.step(step).await
    }
}
