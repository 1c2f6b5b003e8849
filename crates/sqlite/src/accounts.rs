//! Accounts and their keys.

use async_trait::async_trait;
use diesel::dsl::{count_star, exists};
use diesel::prelude::*;
use signpost_app::ports::{AccountReads, AccountWrites, KeyHolder, StoreError, WriteAccountError};
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Email, KeyHash, Link, LinkId, Name, Page, PageLimit, PagePosition,
    PlanName, Timestamp, Usage,
};

use crate::certificates::forget_certificates_of_account;
use crate::columns::UpperBound;
use crate::failure::Failure;
use crate::links::read_link;
use crate::schema::{
    accounts, api_keys, custom_domains, groups, link_lateness, links, merged_counts, remembered_answers, tags,
};
use crate::sql_errors::{is_taken, refers_to_nothing};
use crate::store::SqliteStore;
use crate::unit_of_work::{SqliteUnitOfWork, Stop};
use signpost_sql_rows::account::{AccountRow, AccountUsageRow, NewAccount, UsageRow, plan_uses};
use signpost_sql_rows::api_key::{ApiKeyRow, NewApiKey};
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::listed;
use signpost_sql_rows::plain_tables::DeleteOwned;

#[async_trait]
impl AccountReads for SqliteStore {
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StoreError> {
        let hash = *hash;
        self.readers().read(move |connection| read_key_holder(connection, &hash)).await
    }

    async fn key_holder_with_link(
        &self,
        hash: &KeyHash,
        link: LinkId,
    ) -> Result<(Option<KeyHolder>, Option<Link>), StoreError> {
        let hash = *hash;
        let read = move |connection: &mut SqliteConnection| {
            let Some(holder) = read_key_holder(connection, &hash)? else { return Ok((None, None)) };
            let link = read_link(connection, holder.account.id, link).unwrap_or_default();
            Ok((Some(holder), link))
        };
        self.readers().read(read).await
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let found = accounts::table
                .find(IdBytes::from(id))
                .select(AccountRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(AccountRow::into_account).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn accounts_with_ids(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        let read = move |connection: &mut SqliteConnection| {
            let found = accounts::table.filter(accounts::id.eq_any(ids)).select(AccountRow::as_select());
            Ok(found.load::<AccountRow>(connection)?)
        };
        Ok(self.readers().read(read).await?.into_iter().filter_map(listed::readable).collect())
    }

    async fn account_with_email(&self, email: &Email) -> Result<Option<Account>, StoreError> {
        let key = email.comparison_key();
        let read = move |connection: &mut SqliteConnection| {
            let found = accounts::table
                .filter(accounts::email_key.eq(key))
                .select(AccountRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(AccountRow::into_account).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn usage(&self, id: AccountId) -> Result<Option<Usage>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let found = accounts::table
                .find(IdBytes::from(id))
                .select(UsageRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(|usage| usage.into_usage(id)).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn usage_of_each(&self, ids: &[AccountId]) -> Result<Vec<(AccountId, Usage)>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        let read = move |connection: &mut SqliteConnection| {
            let found = accounts::table.filter(accounts::id.eq_any(ids)).select(AccountUsageRow::as_select());
            Ok(found.load::<AccountUsageRow>(connection)?)
        };
        Ok(self.readers().read(read).await?.into_iter().filter_map(listed::readable).collect())
    }

    async fn accounts(
        &self,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Account>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = accounts::table
                .filter(accounts::id.lt(UpperBound::from(after)))
                .order(accounts::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(AccountRow::as_select())
                .load::<AccountRow>(connection)?;
            Ok(rows)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }

    async fn plans_in_use(&self) -> Result<Vec<(PlanName, u64)>, StoreError> {
        let read = |connection: &mut SqliteConnection| {
            let plans = accounts::table
                .group_by(accounts::plan)
                .select((accounts::plan, count_star()))
                .load::<(String, i64)>(connection)?;
            Ok(plan_uses(plans)?)
        };
        self.readers().read(read).await
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = api_keys::table
                .filter(api_keys::account_id.eq(IdBytes::from(account)))
                .order(api_keys::id.desc())
                .select(ApiKeyRow::as_select())
                .load::<ApiKeyRow>(connection)?;
            Ok(rows)
        };
        Ok(self.readers().read(read).await?.into_iter().filter_map(listed::readable).collect())
    }
}

fn read_key_holder(connection: &mut SqliteConnection, hash: &KeyHash) -> Result<Option<KeyHolder>, Failure> {
    let found = api_keys::table
        .inner_join(accounts::table)
        .filter(api_keys::hash.eq(hash.to_bytes().to_vec()))
        .select((ApiKeyRow::as_select(), AccountRow::as_select(), UsageRow::as_select()))
        .first(connection)
        .optional()?;
    let Some((key, account, usage)) = found else { return Ok(None) };
    let account = account.into_account()?;
    let usage = usage.into_usage(account.id)?;
    Ok(Some(KeyHolder { key: key.into_api_key()?, account, usage }))
}

#[async_trait]
impl AccountWrites for SqliteUnitOfWork {
    async fn any_account(&mut self) -> Result<bool, StoreError> {
        let step = |connection: &mut SqliteConnection| {
            let newest = accounts::table
                .filter(accounts::id.lt(UpperBound::None))
                .select(accounts::plan)
                .first::<String>(connection)
                .optional()?;
            Ok(newest.is_some())
        };
        self.step(step).await
    }

    async fn insert_account(&mut self, account: &Account) -> Result<(), WriteAccountError> {
        let account = account.clone();
        let step = move |connection: &mut SqliteConnection| {
            let inserted = diesel::insert_into(accounts::table)
                .values(NewAccount::from(&account))
                .on_conflict(accounts::email_key)
                .do_nothing()
                .execute(connection)?;
            if inserted == 0 { Err(Stop::Decided(WriteAccountError::EmailTaken)) } else { Ok(()) }
        };
        self.decide(step).await?
    }

    async fn set_plan(&mut self, id: AccountId, plan: &PlanName) -> Result<bool, StoreError> {
        let plan = plan.as_str().to_owned();
        let step = move |connection: &mut SqliteConnection| {
            let account = accounts::table.find(IdBytes::from(id));
            Ok(diesel::update(account).set(accounts::plan.eq(plan)).execute(connection)? > 0)
        };
        self.step(step).await
    }

    async fn rename_account(
        &mut self,
        id: AccountId,
        email: &Email,
        name: Option<&Name>,
    ) -> Result<bool, WriteAccountError> {
        let (email, name) = (email.clone(), name.map(|name| name.as_str().to_owned()));
        let step = move |connection: &mut SqliteConnection| {
            let renamed = (
                accounts::email.eq(email.as_str()),
                accounts::email_key.eq(email.comparison_key()),
                accounts::name.eq(name),
            );
            match diesel::update(accounts::table.find(IdBytes::from(id))).set(renamed).execute(connection) {
                Ok(updated) => Ok(updated > 0),
                Err(error) if is_taken(&error, "accounts.email_key") => {
                    Err(Stop::Decided(WriteAccountError::EmailTaken))
                }
                Err(error) => Err(error.into()),
            }
        };
        self.decide(step).await?
    }

    async fn require_second_factor(&mut self, id: AccountId, is_required: bool) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let account = accounts::table.find(IdBytes::from(id));
            let required = accounts::requires_second_factor.eq(is_required);
            Ok(diesel::update(account).set(required).execute(connection)? > 0)
        };
        self.step(step).await
    }

    async fn set_suspended(&mut self, id: AccountId, since: Option<Timestamp>) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let account = accounts::table.find(IdBytes::from(id));
            let since = since.map(Instant::from);
            // A second suspension keeps the first instant.
            let changeable = account.filter(accounts::suspended_at.is_null());
            let changed = match since {
                Some(_) => {
                    diesel::update(changeable).set(accounts::suspended_at.eq(since)).execute(connection)?
                }
                None => diesel::update(account).set(accounts::suspended_at.eq(since)).execute(connection)?,
            };
            Ok(changed > 0 || diesel::select(exists(account)).get_result(connection)?)
        };
        let is_there = self.step(step).await?;
        if is_there {
            self.noted().note_account(id);
        }
        Ok(is_there)
    }

    async fn delete_account(&mut self, id: AccountId) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let (account, id) = (id, IdBytes::from(id));
            // Explicit deletes instead of cascades: a forgotten table makes the last statement fail in a test instead of
            // losing data silently. Links come before the groups that they refer to, and their tags go with them.
            diesel::delete(links::table.filter(links::account_id.eq(id))).execute(connection)?;
            diesel::delete(link_lateness::table.filter(link_lateness::account_id.eq(id)))
                .execute(connection)?;
            diesel::delete(tags::table.filter(tags::account_id.eq(id))).execute(connection)?;
            diesel::delete(groups::table.filter(groups::account_id.eq(id))).execute(connection)?;
            forget_certificates_of_account(connection, account)?;
            diesel::delete(custom_domains::table.filter(custom_domains::account_id.eq(id)))
                .execute(connection)?;
            diesel::delete(merged_counts::table.filter(merged_counts::account_id.eq(id)))
                .execute(connection)?;
            diesel::delete(remembered_answers::table.filter(remembered_answers::account_id.eq(id)))
                .execute(connection)?;
            for plain in DeleteOwned::of_account(account) {
                plain.execute(connection)?;
            }
            Ok(diesel::delete(accounts::table.find(id)).execute(connection)? > 0)
        };
        let is_deleted = self.step(step).await?;
        if is_deleted {
            self.noted().note_account(id);
        }
        Ok(is_deleted)
    }

    async fn insert_key(&mut self, key: &ApiKey) -> Result<bool, StoreError> {
        let key = key.clone();
        let step = move |connection: &mut SqliteConnection| match diesel::insert_into(api_keys::table)
            .values(NewApiKey::from(&key))
            .execute(connection)
        {
            Ok(_) => Ok(true),
            Err(error) if refers_to_nothing(&error) => Ok(false),
            Err(error) => Err(error.into()),
        };
        self.step(step).await
    }

    async fn revoke_key(&mut self, id: ApiKeyId, at: Timestamp) -> Result<Option<ApiKey>, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let key = api_keys::table.find(IdBytes::from(id));
            // A second revocation keeps the first instant.
            diesel::update(key.filter(api_keys::revoked_at.is_null()))
                .set(api_keys::revoked_at.eq(Instant::from(at)))
                .execute(connection)?;
            let revoked = key.select(ApiKeyRow::as_select()).first(connection).optional()?;
            Ok(revoked.map(ApiKeyRow::into_api_key).transpose()?)
        };
        self.step(step).await
    }
}
