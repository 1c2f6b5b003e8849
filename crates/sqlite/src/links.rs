//! Links.

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{
    InsertLinksError, Insertion, LinkReads, LinkWrites, PublishedLink, StoreError, UpdateLinkError,
};
use signpost_domain::{
    AccountId, Address, ExternalId, GroupFilter, LandingId, LandingPage, Link, LinkFilter, LinkId, LinkKind,
    Page, PageContent, PageLimit, PagePosition, Site,
};

use crate::changed_links;
use crate::external_ids;
use crate::failure::Failure;
use crate::insertions;
use crate::link_batches;
use crate::link_ids;
use crate::link_list;
use crate::named_links::{self, Deleted};
use crate::page_content;
use crate::schema::links;
use crate::store::SqliteStore;
use crate::taken_addresses;
use crate::unit_of_work::SqliteUnitOfWork;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkRow, address_columns, kind_column};
use signpost_sql_rows::listed;

#[async_trait]
impl LinkReads for SqliteStore {
    async fn link(&self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.readers().read(move |connection| read_link(connection, account, id)).await
    }

    async fn links_with_ids(&self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError> {
        let ids = ids.to_vec();
        self.readers().read(move |connection| named_links::read(connection, account, &ids)).await
    }

    async fn occupied(
        &self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError> {
        let addresses = addresses.to_vec();
        self.readers().read(move |connection| taken_addresses::occupied(connection, account, addresses)).await
    }

    async fn taken_link_ids(&self, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError> {
        let ids = ids.to_vec();
        self.readers().read(move |connection| link_ids::taken(connection, &ids)).await
    }

    async fn links_with_external_ids(
        &self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError> {
        let ids = ids.to_vec();
        self.readers().read(move |connection| external_ids::find(connection, account, &ids)).await
    }

    async fn landing_page(
        &self,
        account: AccountId,
        id: LandingId,
    ) -> Result<Option<LandingPage>, StoreError> {
        self.readers().read(move |connection| page_content::landing_page(connection, account, id)).await
    }

    async fn links(
        &self,
        account: AccountId,
        kind: LinkKind,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Link>, StoreError> {
        let filter = filter.clone();
        // Only half of the threads run these, so that visits and short reads always find one.
        let is_long = filter.is_search();
        let read = move |connection: &mut SqliteConnection| {
            link_list::links(connection, account, kind, filter, limit, after)
        };
        let rows = if is_long {
            self.readers().read_at_length(read).await?
        } else {
            self.readers().read(read).await?
        };
        Ok(listed::page(rows, limit))
    }

    async fn link_ids(
        &self,
        account: AccountId,
        group: GroupFilter,
        site: Option<&Site>,
        at_most: usize,
    ) -> Result<Vec<LinkId>, StoreError> {
        let site = site.cloned();
        let read = move |connection: &mut SqliteConnection| {
            link_ids::link_ids(connection, account, group, site.as_ref(), at_most)
        };
        self.readers().read_at_length(read).await
    }

    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError> {
        let (host, slug) = address_columns(address);
        self.readers().visits().published_link(host, slug).await
    }
}

/// The account's link with this id.
pub(crate) fn read_link(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: LinkId,
) -> Result<Option<Link>, Failure> {
    let found = links::table
        .find(IdBytes::from(id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(id.kind())))
        .select(LinkRow::as_select())
        .first(connection)
        .optional()?;
    Ok(found.map(LinkRow::into_link).transpose()?)
}

#[async_trait]
impl LinkWrites for SqliteUnitOfWork {
    /// The transaction holds the write lock from its start, so a plain read suffices as a lock.
    async fn lock_link(&mut self, account: AccountId, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.step(move |connection| read_link(connection, account, id)).await
    }

    async fn lock_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<Link>, StoreError> {
        let ids = ids.to_vec();
        self.step(move |connection| named_links::read(connection, account, &ids)).await
    }

    async fn insert_links(
        &mut self,
        account: AccountId,
        links: &[Link],
        links_limit: u64,
    ) -> Result<Vec<Insertion>, InsertLinksError> {
        let inserted = links.to_vec();
        let step = move |connection: &mut SqliteConnection| {
            insertions::insert(connection, account, &inserted, links_limit)
        };
        // The only decision about all links comes before the first write, so nothing needs to be rolled back.
        let insertions = self.step(step).await?.ok_or(InsertLinksError::AccountMissing)?;
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
        let links: Vec<(Link, Link)> =
            changes.iter().map(|(before, after)| ((*before).clone(), (*after).clone())).collect();
        let step =
            move |connection: &mut SqliteConnection| changed_links::update(connection, account, &links);
        self.decide(step).await??;
        self.noted().note_links(account, changes.iter().flat_map(|(before, after)| [*before, *after]));
        Ok(())
    }

    async fn occupied(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, Option<LinkId>)>, StoreError> {
        let addresses = addresses.to_vec();
        self.step(move |connection| taken_addresses::occupied_now(connection, account, &addresses)).await
    }

    async fn links_at(
        &mut self,
        account: AccountId,
        addresses: &[Address],
    ) -> Result<Vec<(Address, LinkId)>, StoreError> {
        let addresses = addresses.to_vec();
        self.step(move |connection| taken_addresses::find(connection, account, &addresses)).await
    }

    async fn links_with_external_ids(
        &mut self,
        account: AccountId,
        ids: &[ExternalId],
    ) -> Result<Vec<(ExternalId, LinkId)>, StoreError> {
        let ids = ids.to_vec();
        self.step(move |connection| external_ids::find(connection, account, &ids)).await
    }

    async fn page_contents(
        &mut self,
        account: AccountId,
        ids: &[LandingId],
    ) -> Result<Vec<(LandingId, PageContent)>, StoreError> {
        let ids = ids.to_vec();
        self.step(move |connection| page_content::contents(connection, account, &ids)).await
    }

    async fn write_page_contents(
        &mut self,
        account: AccountId,
        pages: &[(LandingId, &PageContent)],
    ) -> Result<(), StoreError> {
        let pages: Vec<_> = pages.iter().map(|(id, content)| (*id, (*content).clone())).collect();
        let write = move |connection: &mut SqliteConnection| page_content::write(connection, account, &pages);
        let addresses = self.step(write).await?;
        self.noted().note_addresses(account, addresses);
        Ok(())
    }

    async fn delete_links(&mut self, account: AccountId, ids: &[LinkId]) -> Result<Vec<LinkId>, StoreError> {
        let ids = ids.to_vec();
        let delete = move |connection: &mut SqliteConnection| named_links::delete(connection, account, &ids);
        let Deleted { ids, addresses } = self.step(delete).await?;
        self.noted().note_addresses(account, addresses);
        Ok(ids)
    }

    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError> {
        let deleted = self.step(move |connection| link_batches::delete(connection, account, at_most)).await?;
        if deleted > 0 {
            self.noted().note_account(account);
        }
        Ok(deleted)
    }
}
