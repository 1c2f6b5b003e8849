//! Groups.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::Array;
use diesel_async::RunQueryDsl;
use signpost_app::ports::{GroupReads, GroupWrites, InsertGroupError, StoreError};
use signpost_domain::{
    AccountId, Group, GroupId, Link, LinkId, Name, Page, PageLimit, PagePosition, PlanResource, Timestamp,
};
use signpost_sql_rows::sql_types::Identifier;

use crate::counters;
use crate::failure::{Failure, contended_if_referred_to};
use crate::group_counts;
use crate::link_batches;
use crate::named_links;
use crate::newest_rows::NewestRows;
use crate::schema::{accounts, groups};
use crate::statement::{both, statement};
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId, named_among, whole_number};
use signpost_sql_rows::group::{GroupRow, NewGroup, TABLE};
use signpost_sql_rows::listed;

/// How many links one step takes out of a group that is deleted.
const AT_ONCE: u16 = 1_000;

statement! {
    /// Those of these ids that groups of any account have.
    TakenGroupIds -> Identifier {
        ids: Vec<IdBytes> => Array<Identifier>,
    } =
    "SELECT g.id FROM groups AS g WHERE g.id = ANY ($1)"
}

#[async_trait]
impl GroupReads for PostgresStore {
    async fn group(&self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        self.read(async |connection| {
            let found = groups::table
                .find((IdBytes::from(account), IdBytes::from(id)))
                .select(GroupRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(GroupRow::into_group).transpose()?)
        })
        .await
    }

    async fn taken_group_ids(&self, ids: &[GroupId]) -> Result<Vec<GroupId>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.read(async |connection| {
            let statement = TakenGroupIds { ids: ids.iter().copied().map(IdBytes::from).collect() };
            let found: Vec<StoredId> = statement.load(connection).await?;
            Ok(named_among(&found, ids))
        })
        .await
    }

    async fn groups(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Group>, StoreError> {
        self.read(async |connection| {
            let query = NewestRows::<GroupRow>::for_page(TABLE, account, limit, after);
            let rows = query.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }
}

#[async_trait]
impl GroupWrites for PostgresUnitOfWork {
    async fn lock_group(&mut self, account: AccountId, id: GroupId) -> Result<Option<Group>, StoreError> {
        self.step(async |connection| {
            let found = groups::table
                .find((IdBytes::from(account), IdBytes::from(id)))
                .select(GroupRow::as_select())
                .for_no_key_update()
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(GroupRow::into_group).transpose()?)
        })
        .await
    }

    async fn groups_among(
        &mut self,
        account: AccountId,
        ids: &[GroupId],
    ) -> Result<Vec<GroupId>, StoreError> {
        let bytes: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        self.step(async |connection| {
            let found: Vec<IdBytes> = groups::table
                .filter(groups::account_id.eq(IdBytes::from(account)))
                .filter(groups::id.eq_any(bytes))
                .select(groups::id)
                .load(connection)
                .await?;
            Ok(found.into_iter().map(IdBytes::id).collect())
        })
        .await
    }

    async fn lock_groups_named(
        &mut self,
        account: AccountId,
        names: &[Name],
    ) -> Result<Vec<Group>, StoreError> {
        self.step(async |connection| {
            let id = IdBytes::from(account);
            // Whoever inserts a group counts it in this row.
            let _: Option<IdBytes> = accounts::table
                .find(id)
                .select(accounts::id)
                .for_no_key_update()
                .first(connection)
                .await
                .optional()?;
            let names: Vec<&str> = names.iter().map(Name::as_str).collect();
            let of_names = groups::table
                .filter(groups::account_id.eq(id))
                .filter(groups::name.eq_any(names))
                .select(GroupRow::as_select());
            let found: Vec<GroupRow> = of_names.load(connection).await?;
            Ok(found.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }

    async fn insert_group(
        &mut self,
        account: AccountId,
        group: &Group,
        groups_limit: u64,
    ) -> Result<(), InsertGroupError> {
        let outcome = self.step(async |connection| {
            let resource = PlanResource::Groups;
            if let Err(refused) = counters::count_one(connection, account, resource, groups_limit).await? {
                return Ok(Err(refused.into()));
            }
            let insertion = diesel::insert_into(groups::table).values(NewGroup::new(account, group));
            // Every unique index contains the id, so a conflict means that the id is taken.
            if insertion.on_conflict_do_nothing().execute(connection).await? == 0 {
                counters::discount_one(connection, account, resource).await?;
                return Ok(Err(InsertGroupError::IdTaken));
            }
            Ok(Ok(()))
        });
        Ok(outcome.await??)
    }

    async fn update_group(&mut self, account: AccountId, group: &Group) -> Result<(), StoreError> {
        self.step(async |connection| {
            // The store owns the counts, and the creation time never changes.
            let Group {
                id,
                name,
                landings_count: _,
                redirects_count: _,
                created_at: _,
                updated_at,
                revision,
            } = group;
            let updated = diesel::update(groups::table.find((IdBytes::from(account), IdBytes::from(*id))))
                .set((
                    groups::name.eq(name.as_str()),
                    groups::updated_at.eq(Instant::from(*updated_at)),
                    groups::revision.eq(whole_number(revision.get())),
                ))
                .execute(connection)
                .await?;
            if updated == 0 {
                return Err(Failure::Other(format!("the group {id} was not locked")));
            }
            Ok(())
        })
        .await
    }

    async fn assign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError> {
        self.step(async |connection| named_links::assign(connection, account, group, ids, now).await).await
    }

    async fn unassign_links(
        &mut self,
        account: AccountId,
        group: GroupId,
        ids: &[LinkId],
        now: Timestamp,
    ) -> Result<Option<Vec<Link>>, StoreError> {
        self.step(async |connection| named_links::unassign(connection, account, group, ids, now).await).await
    }

    async fn ungroup_some_links(
        &mut self,
        account: AccountId,
        id: GroupId,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        self.step(async |connection| link_batches::ungroup(connection, account, id, at_most, now).await).await
    }

    async fn delete_group(
        &mut self,
        account: AccountId,
        id: GroupId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let group = groups::table.find((IdBytes::from(account), IdBytes::from(id)));
            let empty = group.filter(groups::landings_count.eq(0)).filter(groups::redirects_count.eq(0));
            let (mut locking, mut deleting) = (*connection, *connection);
            // A group that this unit of work has emptied is locked by it and stays empty.
            let delete = async { Ok(diesel::delete(empty).execute(&mut deleting).await) };
            let ((), mut deleted) =
                both(group_counts::lock_membership(&mut locking, account), delete).await?;
            if deleted == Ok(0) {
                while link_batches::ungroup(connection, account, id, AT_ONCE, now).await? == AT_ONCE {}
                deleted = diesel::delete(group).execute(connection).await;
            }
            let is_deleted = deleted.map_err(contended_if_referred_to)? > 0;
            if is_deleted {
                counters::discount_one(connection, account, PlanResource::Groups).await?;
            }
            Ok(is_deleted)
        })
        .await
    }
}
