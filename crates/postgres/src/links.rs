//! Links.

use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::SmallInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_app::ports::{
    InsertLinksError, Insertion, LinkReads, LinkWrites, PublishedLink, StoreError, UpdateLinkError,
};
use signpost_domain::{
    AccountId, Address, ExternalId, GroupFilter, LandingId, LandingPage, Link, LinkFilter, LinkId, LinkKind,
    Page, PageContent, PageLimit, PagePosition, Site,
};
use signpost_sql_rows::sql_types::Identifier;

use crate::cached_query::cached_query;
use crate::changed_links;
use crate::external_ids;
use crate::failure::Failure;
use crate::group_counts;
use crate::insertions;
use crate::link_batches;
use crate::link_ids;
use crate::link_list;
use crate::list_range::AmongRows;
use crate::named_links::{self, Deleted};
use crate::page_content;
use crate::schema::links;
use crate::statement::both;
use crate::store::PostgresStore;
use crate::taken_addresses;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkRow, kind_column};

cached_query! {
    /// An account's link.
    ReadLink -> AsSelect<LinkRow, Pg> {
        id: IdBytes => Identifier,
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } = links::table
        .find(id)
        .filter(AmongRows(links::account_id.eq(account).and(links::kind.eq(kind))))
        .select(LinkRow::as_select())
}

#[async_trait]
impl LinkReads for PostgresStore {
    async fn link(&self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.read(async |connection| read_link(connection, account, id).await).await
    }

    async fn links_with_ids(&self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError> {
        self.read(async |connection| named_links::read(connection, account, ids).await).await
    }

    async fn occupied(
        &self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError> {
        self.read(async |connection| taken_addresses::occupied(connection, account, addresses).await).await
    }

    async fn taken_link_ids(&self, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError> {
        self.read(async |connection| link_ids::taken(connection, ids).await).await
    }

    async fn links_with_external_ids(
        &self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError> {
        self.read(async |connection| external_ids::find(connection, account, ids).await).await
    }

    async fn landing_page(
        &self,
        account: AccountId,
        id: LandingId,
    ) -> Result<Option<LandingPage>, StoreError> {
        self.read(async |connection| page_content::landing_page(connection, account, id).await).await
    }

    async fn links(
        &self,
        account: AccountId,
        kind: LinkKind,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Link>, StoreError> {
        let list = async |connection: &mut &AsyncPgConnection| {
            link_list::links(connection, account, kind, filter, limit, after).await
        };
        if filter.is_search() { self.search(list).await } else { self.read(list).await }
    }

    async fn link_ids(
        &self,
        account: AccountId,
        group: GroupFilter,
        site: Option<&Site>,
        at_most: usize,
    ) -> Result<Vec<LinkId>, StoreError> {
        let read = async |connection: &mut &AsyncPgConnection| {
            link_ids::link_ids(connection, account, group, site, at_most).await
        };
        self.search(read).await
    }

    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError> {
        self.visits().published_link(address).await
    }
}

#[async_trait]
impl LinkWrites for PostgresUnitOfWork {
    fn expect_move(&mut self) {
        self.note_move();
    }

    async fn lock_link(&mut self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError> {
        if !self.expects_move() {
            return self.step(async |connection| lock_link(connection, account, id).await).await;
        }
        self.step(async |connection| {
            let (mut locking, mut holding) = (*connection, *connection);
            let link = Box::pin(lock_link(&mut holding, account, id));
            let ((), link) = both(group_counts::lock_membership(&mut locking, account), link).await?;
            Ok(link)
        })
        .await
    }

    async fn lock_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError> {
        let expects_move = self.expects_move();
        self.step(async |connection| named_links::lock(connection, account, ids, expects_move).await).await
    }

    async fn insert_links(
        &mut self,
        account: AccountId,
        links: &[Link],
        links_limit: u64,
    ) -> Result<Vec<Insertion>, InsertLinksError> {
        let insert = async |connection: &mut &AsyncPgConnection| {
            insertions::insert(connection, account, links, links_limit).await
        };
        // A missing account has no groups to count in, and nothing was inserted.
        let insertions = self.step(insert).await?.ok_or(InsertLinksError::AccountMissing)?;
        let with_outcomes = links.iter().zip(&insertions);
        let done =
            with_outcomes.filter(|(_, insertion)| **insertion == Insertion::Done).map(|(link, _)| link);
        self.noted().note_links(account, done);
        Ok(insertions)
    }

    async fn update_links(
        &mut self,
        account: AccountId,
        changes: &[(&Link, &Link)],
    ) -> Result<(), UpdateLinkError> {
        self.step(async |connection| changed_links::update(connection, account, changes).await).await??;
        self.noted().note_links(account, changes.iter().flat_map(|(before, after)| [*before, *after]));
        Ok(())
    }

    async fn occupied(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError> {
        self.step(async |connection| taken_addresses::occupied(connection, account, addresses).await).await
    }

    async fn links_at(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, LinkId)>, StoreError> {
        self.step(async |connection| taken_addresses::find(connection, account, addresses).await).await
    }

    async fn links_with_external_ids(
        &mut self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError> {
        self.step(async |connection| external_ids::find(connection, account, ids).await).await
    }

    async fn page_contents(
        &mut self,
        account: AccountId,
        ids: &[LandingId],
    ) -> Result<Vec<(LandingId, PageContent)>, StoreError> {
        self.step(async |connection| page_content::read(connection, account, ids).await).await
    }

    async fn write_page_contents(
        &mut self,
        account: AccountId,
        pages: &[(LandingId, &PageContent)],
    ) -> Result<(), StoreError> {
        let write =
            async |connection: &mut &AsyncPgConnection| page_content::write(connection, account, pages).await;
        let addresses = self.step(write).await?;
        self.noted().note_addresses(account, addresses);
        Ok(())
    }

    async fn delete_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError> {
        let delete =
            async |connection: &mut &AsyncPgConnection| named_links::delete(connection, account, ids).await;
        let Deleted { ids, addresses } = self.step(delete).await?;
        self.noted().note_addresses(account, addresses);
        Ok(ids)
    }

    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError> {
        let delete = async |connection: &mut &AsyncPgConnection| {
            link_batches::delete(connection, account, at_most).await
        };
        let deleted = self.step(delete).await?;
        if deleted > 0 {
            self.noted().note_account(account);
        }
        Ok(deleted)
    }
}

async fn read_link(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: LinkId,
) -> Result<Option<Link>, Failure> {
    let query = ReadLink { id: id.into(), account: account.into(), kind: kind_column(id.kind()) };
    let found: Vec<LinkRow> = query.load(connection).await?;
    Ok(found.into_iter().next().map(LinkRow::into_link).transpose()?)
}

/// Locks a link, and reads it, pipelined. A single statement would read the tags of before it waited for the lock. The first statement
/// is not prepared, and so always runs first.
async fn lock_link(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    id: LinkId,
) -> Result<Option<Link>, Failure> {
    let (link, owner) = (IdBytes::from(id).number(), IdBytes::from(account).number());
    let lock = format!(
        "SELECT 1 FROM links WHERE id = '{link:032x}' AND CASE WHEN account_id = '{owner:032x}' AND kind = {} THEN true \
         ELSE false END FOR UPDATE",
        kind_column(id.kind())
    );
    let (mut locking, mut reading) = (*connection, *connection);
    let hold = async { Ok(locking.batch_execute(&lock).await?) };
    let ((), link) = both(hold, read_link(&mut reading, account, id)).await?;
    Ok(link)
}
