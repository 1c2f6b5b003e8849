//! Links.

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{
    InsertRedirectError, LinkReads, LinkWrites, PublishedLink, StoreError, UpdateRedirectError,
};
use signpost_domain::{
    AccountId, Address, GroupFilter, LinkFilter, Page, PageLimit, PagePosition, Redirect, RedirectId,
};

use crate::columns::IdBytes;
use crate::counters;
use crate::failure::{Failure, is_taken};
use crate::link_list;
use crate::rows::cell::RowName;
use crate::rows::redirect::{
    NewRedirect, PublishedRow, REDIRECT, RedirectColumns, RedirectRow, address_columns,
};
use crate::schema::{accounts, links};
use crate::some_links;
use crate::store::SqliteStore;
use crate::unit_of_work::{SqliteUnitOfWork, Stop};

#[async_trait]
impl LinkReads for SqliteStore {
    async fn redirect(&self, account: AccountId, id: RedirectId) -> Result<Option<Redirect>, StoreError> {
        self.readers().read(move |connection| read_redirect(connection, account, id)).await
    }

    async fn redirects(
        &self,
        account: AccountId,
        filter: &LinkFilter,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Redirect>, StoreError> {
        let filter = filter.clone();
        let is_long = may_read_many_rows(&filter);
        let read = move |connection: &mut SqliteConnection| {
            link_list::redirects(connection, account, filter, limit, after)
        };
        if is_long { self.readers().read_at_length(read).await } else { self.readers().read(read).await }
    }

    async fn published_link(&self, address: &Address) -> Result<Option<PublishedLink>, StoreError> {
        let (host, slug) = address_columns(address);
        let read = move |connection: &mut SqliteConnection| {
            let found = links::table
                .inner_join(accounts::table)
                .filter(links::host.eq(host))
                .filter(links::slug.eq(slug))
                .select((PublishedRow::as_select(), accounts::suspended_at.is_not_null()))
                .first::<(PublishedRow, bool)>(connection)
                .optional()?;
            let Some((link, is_suspended)) = found else { return Ok(None) };
            let (target_url, is_active) = link.into_target()?;
            Ok(Some(PublishedLink { target_url, is_active, is_suspended }))
        };
        self.readers().read(read).await
    }
}

/// Whether a page may read many more rows than it shows: a search looks at each, and of several other filters only
/// one chooses the range of an index.
fn may_read_many_rows(filter: &LinkFilter) -> bool {
    let LinkFilter { group, site, is_active, search } = filter;
    let others = [*group != GroupFilter::Any, site.is_some(), is_active.is_some()];
    search.is_some() || others.into_iter().filter(|is_set| *is_set).count() > 1
}

fn read_redirect(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: RedirectId,
) -> Result<Option<Redirect>, Failure> {
    let found = links::table
        .find(IdBytes::from(id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(REDIRECT))
        .select(RedirectRow::as_select())
        .first(connection)
        .optional()?;
    found.map(RedirectRow::into_redirect).transpose()
}

#[async_trait]
impl LinkWrites for SqliteUnitOfWork {
    /// The transaction holds the write lock from its beginning, so reading is all that locking takes.
    async fn lock_redirect(
        &mut self,
        account: AccountId,
        id: RedirectId,
    ) -> Result<Option<Redirect>, StoreError> {
        self.step(move |connection| read_redirect(connection, account, id)).await
    }

    async fn insert_redirect(
        &mut self,
        account: AccountId,
        redirect: &Redirect,
        links_limit: u64,
    ) -> Result<(), InsertRedirectError> {
        let redirect = redirect.clone();
        let step = move |connection: &mut SqliteConnection| {
            insert_redirect(connection, account, &redirect, links_limit)
        };
        self.decide(step).await?
    }

    async fn update_redirect(
        &mut self,
        account: AccountId,
        before: &Redirect,
        after: &Redirect,
    ) -> Result<(), UpdateRedirectError> {
        let (before, after) = (before.clone(), after.clone());
        let step =
            move |connection: &mut SqliteConnection| update_redirect(connection, account, &before, &after);
        self.decide(step).await?
    }

    async fn delete_redirect(&mut self, account: AccountId, id: RedirectId) -> Result<bool, StoreError> {
        self.step(move |connection| delete_redirect(connection, account, id)).await
    }

    async fn delete_some_links(&mut self, account: AccountId, at_most: u16) -> Result<u16, StoreError> {
        self.step(move |connection| some_links::delete(connection, account, at_most)).await
    }
}

/// Each statement is one decision, in the order in which the port reports them.
fn insert_redirect(
    connection: &mut SqliteConnection,
    account: AccountId,
    redirect: &Redirect,
    links_limit: u64,
) -> Result<(), Stop<InsertRedirectError>> {
    if let Some(group) = redirect.group_id
        && !counters::count_redirect_in(connection, account, group)?
    {
        return Err(Stop::Decided(InsertRedirectError::GroupMissing));
    }
    let (reached, missing) = (InsertRedirectError::LimitReached, InsertRedirectError::AccountMissing);
    counters::count_link(connection, account, links_limit, reached, missing)?;
    // Only the address may be taken: a second link with the same id is a defect and fails.
    let inserted = diesel::insert_into(links::table)
        .values(NewRedirect::new(account, redirect))
        .on_conflict((links::host, links::slug))
        .do_nothing()
        .execute(connection)?;
    if inserted == 0 { Err(Stop::Decided(InsertRedirectError::AddressTaken)) } else { Ok(()) }
}

fn update_redirect(
    connection: &mut SqliteConnection,
    account: AccountId,
    before: &Redirect,
    after: &Redirect,
) -> Result<(), Stop<UpdateRedirectError>> {
    if before.group_id != after.group_id {
        if let Some(group) = after.group_id
            && !counters::count_redirect_in(connection, account, group)?
        {
            return Err(Stop::Decided(UpdateRedirectError::GroupMissing));
        }
        if let Some(group) = before.group_id {
            counters::discount_redirect_in(connection, account, group)?;
        }
    }
    let link = links::table
        .find(IdBytes::from(after.id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(REDIRECT));
    match diesel::update(link).set(RedirectColumns::from(after)).execute(connection) {
        Ok(1) => Ok(()),
        Ok(_) => Err(Failure::Other(format!("the redirect {} was not locked", after.id)).into()),
        // SQLite undoes the statement alone, so the unit of work goes on.
        Err(error) if is_taken(&error, "links.host") => Err(Stop::Decided(UpdateRedirectError::AddressTaken)),
        Err(error) => Err(error.into()),
    }
}

fn delete_redirect(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: RedirectId,
) -> Result<bool, Failure> {
    let link = links::table
        .find(IdBytes::from(id))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(REDIRECT));
    let deleted: Option<Option<Vec<u8>>> =
        diesel::delete(link).returning(links::group_id).get_result(connection).optional()?;
    let Some(group) = deleted else { return Ok(false) };
    counters::discount_link(connection, account)?;
    if let Some(group) = group {
        let group = RowName::new("links", id).id("group_id", &group)?;
        counters::discount_redirect_in(connection, account, group)?;
    }
    Ok(true)
}
