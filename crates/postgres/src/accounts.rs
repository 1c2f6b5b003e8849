//! Accounts and their keys.

use async_trait::async_trait;
use diesel::dsl::{AsSelect, count_star};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, SmallInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{AccountReads, AccountWrites, KeyHolder, StoreError, WriteAccountError};
use signpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Email, KeyHash, Link, LinkId, Name, Page, PageLimit, PagePosition,
    PlanName, Timestamp, Usage,
};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::account_deletion;
use crate::cached_query::cached_query;
use crate::failure::{Failure, is_taken};
use crate::schema::{accounts, api_keys, first_account, links};
use crate::statement::both;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::account::{AccountRow, AccountUsageRow, NewAccount, UsageRow, plan_uses};
use signpost_sql_rows::api_key::{ApiKeyRow, NewApiKey};
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::link::{LinkRow, kind_column};
use signpost_sql_rows::listed;

#[diesel::declare_sql_function]
extern "SQL" {
    /// The first of the two instants that is not null.
    #[sql_name = "coalesce"]
    fn first_set(a: Nullable<Moment>, b: Nullable<Moment>) -> Nullable<Moment>;

    /// The server's clock at the beginning of the statement.
    fn statement_timestamp() -> Moment;
}

cached_query! {
    /// A key that has not expired by the server's clock (D80), and its account. At most one key has a given hash.
    KeyHolderOf -> (AsSelect<ApiKeyRow, Pg>, AsSelect<AccountRow, Pg>, AsSelect<UsageRow, Pg>) {
        hash: Vec<u8> => Binary,
    } = api_keys::table
        .inner_join(accounts::table)
        .filter(api_keys::hash.eq(hash))
        .filter(api_keys::expires_at.is_null().or(api_keys::expires_at.gt(statement_timestamp().nullable())))
        .select((ApiKeyRow::as_select(), AccountRow::as_select(), UsageRow::as_select()))
}

cached_query! {
    /// A link of the account that a key belongs to, unless the key has expired.
    LinkOfKey -> AsSelect<LinkRow, Pg> {
        hash: Vec<u8> => Binary,
        id: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } = api_keys::table
        .inner_join(links::table.on(links::account_id.eq(api_keys::account_id)))
        .filter(api_keys::hash.eq(hash))
        .filter(api_keys::expires_at.is_null().or(api_keys::expires_at.gt(statement_timestamp().nullable())))
        .filter(links::id.eq(id))
        .filter(links::kind.eq(kind))
        .select(LinkRow::as_select())
}

#[async_trait]
impl AccountReads for PostgresStore {
    async fn key_holder(&self, hash: &KeyHash) -> Result<Option<KeyHolder>, StoreError> {
        self.read(async |connection| read_key_holder(connection, hash).await).await
    }

    async fn key_holder_with_link(
        &self,
        hash: &KeyHash,
        link: LinkId,
    ) -> Result<(Option<KeyHolder>, Option<Link>), StoreError> {
        self.read(async |connection| {
            let (mut first, mut second) = (*connection, *connection);
            let found = async { Ok(read_link_of_key(&mut second, hash, link).await.unwrap_or_default()) };
            both(read_key_holder(&mut first, hash), found).await
        })
        .await
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        self.read(async |connection| {
            let found = accounts::table
                .find(IdBytes::from(id))
                .select(AccountRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(AccountRow::into_account).transpose()?)
        })
        .await
    }

    async fn accounts_with_ids(&self, ids: &[AccountId]) -> Result<Vec<Account>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        self.read(async |connection| {
            let query = accounts::table.filter(accounts::id.eq_any(ids)).select(AccountRow::as_select());
            let rows: Vec<AccountRow> = query.load(connection).await?;
            Ok(rows.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }

    async fn account_with_email(&self, email: &Email) -> Result<Option<Account>, StoreError> {
        self.read(async |connection| {
            let found = accounts::table
                .filter(accounts::email_key.eq(email.comparison_key()))
                .select(AccountRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(AccountRow::into_account).transpose()?)
        })
        .await
    }

    async fn usage(&self, id: AccountId) -> Result<Option<Usage>, StoreError> {
        self.read(async |connection| {
            let found = accounts::table
                .find(IdBytes::from(id))
                .select(UsageRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(|usage| usage.into_usage(id)).transpose()?)
        })
        .await
    }

    async fn usage_of_each(&self, ids: &[AccountId]) -> Result<Vec<(AccountId, Usage)>, StoreError> {
        let ids: Vec<IdBytes> = ids.iter().copied().map(IdBytes::from).collect();
        self.read(async |connection| {
            let query = accounts::table.filter(accounts::id.eq_any(ids)).select(AccountUsageRow::as_select());
            let rows: Vec<AccountUsageRow> = query.load(connection).await?;
            Ok(rows.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }

    async fn accounts(
        &self,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<Account>, StoreError> {
        self.read(async |connection| {
            let mut query = accounts::table
                .order(accounts::id.desc())
                .limit(i64::from(limit.get()) + 1)
                .select(AccountRow::as_select())
                .into_boxed();
            if let Some(position) = after {
                query = query.filter(accounts::id.lt(IdBytes::from(position)));
            }
            let rows = query.load(connection).await?;
            Ok(listed::page(rows, limit))
        })
        .await
    }

    async fn plans_in_use(&self) -> Result<Vec<(PlanName, u64)>, StoreError> {
        self.read(async |connection| {
            let plans = accounts::table
                .group_by(accounts::plan)
                .select((accounts::plan, count_star()))
                .load::<(String, i64)>(connection)
                .await?;
            Ok(plan_uses(plans)?)
        })
        .await
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<ApiKey>, StoreError> {
        self.read(async |connection| {
            let rows = api_keys::table
                .filter(api_keys::account_id.eq(IdBytes::from(account)))
                .order(api_keys::id.desc())
                .select(ApiKeyRow::as_select())
                .load(connection)
                .await?;
            Ok(rows.into_iter().filter_map(listed::readable).collect())
        })
        .await
    }
}

async fn read_key_holder(
    connection: &mut &AsyncPgConnection,
    hash: &KeyHash,
) -> Result<Option<KeyHolder>, Failure> {
    let query = KeyHolderOf { hash: hash.to_bytes().to_vec() };
    let found: Vec<(ApiKeyRow, AccountRow, UsageRow)> = query.load(connection).await?;
    let Some((key, account, usage)) = found.into_iter().next() else { return Ok(None) };
    let account = account.into_account()?;
    let usage = usage.into_usage(account.id)?;
    Ok(Some(KeyHolder { key: key.into_api_key()?, account, usage }))
}

/// The link with this id, if it belongs to the account of the key. An unknown key reads no link.
async fn read_link_of_key(
    connection: &mut &AsyncPgConnection,
    hash: &KeyHash,
    id: LinkId,
) -> Result<Option<Link>, Failure> {
    let query =
        LinkOfKey { hash: hash.to_bytes().to_vec(), id: IdBytes::from(id), kind: kind_column(id.kind()) };
    let found: Vec<LinkRow> = query.load(connection).await?;
    Ok(found.into_iter().next().map(LinkRow::into_link).transpose()?)
}

async fn has_accounts(connection: &mut &AsyncPgConnection) -> Result<bool, Failure> {
    let any = accounts::table.select(accounts::plan).limit(1);
    Ok(any.first::<String>(connection).await.optional()?.is_some())
}

#[async_trait]
impl AccountWrites for PostgresUnitOfWork {
    async fn any_account(&mut self) -> Result<bool, StoreError> {
        self.step(async |connection| {
            if has_accounts(connection).await? {
                return Ok(true);
            }
            // An inserting transaction holds this row until it commits or rolls back.
            let row = first_account::table.select(first_account::is_the_row);
            row.for_update().first::<bool>(connection).await?;
            has_accounts(connection).await
        })
        .await
    }

    async fn insert_account(&mut self, account: &Account) -> Result<(), WriteAccountError> {
        let is_inserted = self.step(async |connection| {
            // A shared lock: concurrent inserts do not block each other, but `any_account` blocks them.
            let row = first_account::table.select(first_account::is_the_row);
            row.for_key_share().first::<bool>(connection).await?;
            let inserted = diesel::insert_into(accounts::table)
                .values(NewAccount::from(account))
                .on_conflict(accounts::email_key)
                .do_nothing()
                .execute(connection)
                .await?;
            Ok(inserted > 0)
        });
        if is_inserted.await? { Ok(()) } else { Err(WriteAccountError::EmailTaken) }
    }

    async fn set_plan(&mut self, id: AccountId, plan: &PlanName) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let account = accounts::table.find(IdBytes::from(id));
            let changed =
                diesel::update(account).set(accounts::plan.eq(plan.as_str())).execute(connection).await?;
            Ok(changed > 0)
        })
        .await
    }

    async fn rename_account(
        &mut self,
        id: AccountId,
        email: &Email,
        name: Option<&Name>,
    ) -> Result<bool, WriteAccountError> {
        let id = IdBytes::from(id);
        let is_renamed = self.step(async |connection| {
            let holder = accounts::table.filter(accounts::email_key.eq(email.comparison_key()));
            let other = holder.filter(accounts::id.ne(id)).select(accounts::plan);
            if other.first::<String>(connection).await.optional()?.is_some() {
                return Ok(None);
            }
            let renamed = (
                accounts::email.eq(email.as_str()),
                accounts::email_key.eq(email.comparison_key()),
                accounts::name.eq(name.map(Name::as_str)),
            );
            match diesel::update(accounts::table.find(id)).set(renamed).execute(connection).await {
                Ok(updated) => Ok(Some(updated > 0)),
                // Another transaction has taken the address since; the next attempt sees its account.
                Err(error) if is_taken(&error, "accounts_email") => Err(Failure::Contended),
                Err(error) => Err(error.into()),
            }
        });
        is_renamed.await?.ok_or(WriteAccountError::EmailTaken)
    }

    async fn require_second_factor(&mut self, id: AccountId, is_required: bool) -> Result<bool, StoreError> {
        self.step(async |connection| {
            let account = accounts::table.find(IdBytes::from(id));
            let required = accounts::requires_second_factor.eq(is_required);
            Ok(diesel::update(account).set(required).execute(connection).await? > 0)
        })
        .await
    }

    async fn set_suspended(&mut self, id: AccountId, since: Option<Timestamp>) -> Result<bool, StoreError> {
        let is_changed = self.step(async |connection| {
            let account = diesel::update(accounts::table.find(IdBytes::from(id)));
            let changed = match since.map(Instant::from) {
                // A second suspension keeps the first instant.
                Some(since) => {
                    let first = first_set(accounts::suspended_at, Some(since));
                    account.set(accounts::suspended_at.eq(first)).execute(connection).await?
                }
                None => account.set(accounts::suspended_at.eq(None::<Instant>)).execute(connection).await?,
            };
            Ok(changed > 0)
        });
        let is_changed = is_changed.await?;
        if is_changed {
            self.noted().note_account(id);
        }
        Ok(is_changed)
    }

    async fn delete_account(&mut self, id: AccountId) -> Result<bool, StoreError> {
        let is_deleted = self.step(async |connection| account_deletion::delete(connection, id).await);
        let is_deleted = is_deleted.await?;
        if is_deleted {
            self.noted().note_account(id);
        }
        Ok(is_deleted)
    }

    async fn insert_key(&mut self, key: &ApiKey) -> Result<bool, StoreError> {
        self.step(async |connection| {
            // The lock prevents a foreign-key error, which would abort the whole transaction.
            let account = accounts::table.find(IdBytes::from(key.account_id)).select(accounts::plan);
            if account.for_key_share().first::<String>(connection).await.optional()?.is_none() {
                return Ok(false);
            }
            diesel::insert_into(api_keys::table).values(NewApiKey::from(key)).execute(connection).await?;
            Ok(true)
        })
        .await
    }

    async fn revoke_key(&mut self, id: ApiKeyId, at: Timestamp) -> Result<Option<ApiKey>, StoreError> {
        self.step(async |connection| {
            // A second revocation keeps the first instant.
            let first = first_set(api_keys::revoked_at, Some(Instant::from(at)));
            let revoked = diesel::update(api_keys::table.find(IdBytes::from(id)))
                .set(api_keys::revoked_at.eq(first))
                .returning(ApiKeyRow::as_returning())
                .get_result(connection)
                .await
                .optional()?;
            Ok(revoked.map(ApiKeyRow::into_api_key).transpose()?)
        })
        .await
    }
}
