//! Rows of `accounts`.

use diesel::prelude::*;
use diesel::query_source::Column;
use signpost_domain::{Account, AccountId, Email, Name, PlanName, PlanResource, Usage};

use crate::Corrupt;
use crate::cell::{RowName, own_id};
use crate::columns::{IdBytes, Instant, StoredId};
use crate::listed::Listed;
use crate::schema::accounts;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        accounts (id) {
            id -> Identifier,
            email -> Text,
            email_key -> Text,
            name -> Nullable<Text>,
            plan -> Text,
            suspended_at -> Nullable<Moment>,
            requires_second_factor -> Bool,
            created_at -> Moment,
            links_count -> BigInt,
            groups_count -> BigInt,
            domains_count -> BigInt,
            pixels_count -> BigInt,
            tags_count -> BigInt,
        }
    }
}

const TABLE: &str = "accounts";

/// An account as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct AccountRow {
    id: StoredId,
    email: String,
    name: Option<String>,
    plan: String,
    suspended_at: Option<Instant>,
    requires_second_factor: bool,
    created_at: Instant,
}

impl AccountRow {
    /// The row as a value of the domain.
    pub fn into_account(self) -> Result<Account, Corrupt> {
        let Self { id, email, name, plan, suspended_at, requires_second_factor, created_at } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Account {
            id,
            email: row.cell("email", Email::from_stored(email))?,
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            plan: row.cell("plan", PlanName::from_stored(plan))?,
            suspended_at: suspended_at.map(|at| row.timestamp("suspended_at", at)).transpose()?,
            requires_second_factor,
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

/// The plans of accounts with the number of their accounts, sorted here because collations differ.
pub fn plan_uses(rows: Vec<(String, i64)>) -> Result<Vec<(PlanName, u64)>, Corrupt> {
    let mut uses = rows
        .into_iter()
        .map(|(plan, accounts)| {
            let row = RowName::new(TABLE, format_args!("with the plan {plan:?}"));
            Ok((row.cell("plan", PlanName::from_stored(plan))?, row.count("plan", accounts)?))
        })
        .collect::<Result<Vec<_>, Corrupt>>()?;
    uses.sort_unstable();
    Ok(uses)
}

impl Listed for AccountRow {
    type Item = Account;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Account, Corrupt> {
        self.into_account()
    }
}

/// The column of `accounts` that counts a resource.
#[must_use]
pub const fn counter_column(resource: PlanResource) -> &'static str {
    match resource {
        PlanResource::Links => accounts::links_count::NAME,
        PlanResource::Groups => accounts::groups_count::NAME,
        PlanResource::Domains => accounts::domains_count::NAME,
        PlanResource::Pixels => accounts::pixels_count::NAME,
        PlanResource::Tags => accounts::tags_count::NAME,
    }
}

/// The counts of an account.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct UsageRow {
    #[diesel(column_name = links_count)]
    links: i64,
    #[diesel(column_name = groups_count)]
    groups: i64,
    #[diesel(column_name = domains_count)]
    domains: i64,
    #[diesel(column_name = pixels_count)]
    pixels: i64,
    #[diesel(column_name = tags_count)]
    tags: i64,
}

impl UsageRow {
    /// The row as a value of the domain.
    pub fn into_usage(self, account: AccountId) -> Result<Usage, Corrupt> {
        let Self { links, groups, domains, pixels, tags } = self;
        let row = RowName::new(TABLE, account);
        Usage::try_of_each(|resource| {
            let count = match resource {
                PlanResource::Links => links,
                PlanResource::Groups => groups,
                PlanResource::Domains => domains,
                PlanResource::Pixels => pixels,
                PlanResource::Tags => tags,
            };
            row.count(counter_column(resource), count)
        })
    }
}

/// The id and the counts of an account.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct AccountUsageRow {
    id: StoredId,
    #[diesel(embed)]
    usage: UsageRow,
}

impl Listed for AccountUsageRow {
    type Item = (AccountId, Usage);

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Self::Item, Corrupt> {
        let (id, _) = own_id(TABLE, &self.id)?;
        Ok((id, self.usage.into_usage(id)?))
    }
}

/// An account as it is inserted; the counts begin at 0.
#[derive(Debug, Insertable)]
#[diesel(table_name = accounts, treat_none_as_default_value = false)]
pub struct NewAccount<'a> {
    id: IdBytes,
    email: &'a str,
    email_key: String,
    name: Option<&'a str>,
    plan: &'a str,
    suspended_at: Option<Instant>,
    requires_second_factor: bool,
    created_at: Instant,
}

impl<'a> From<&'a Account> for NewAccount<'a> {
    fn from(account: &'a Account) -> Self {
        let Account { id, email, name, plan, suspended_at, requires_second_factor, created_at } = account;
        Self {
            id: (*id).into(),
            email: email.as_str(),
            email_key: email.comparison_key(),
            name: name.as_ref().map(Name::as_str),
            plan: plan.as_str(),
            suspended_at: suspended_at.map(Instant::from),
            requires_second_factor: *requires_second_factor,
            created_at: (*created_at).into(),
        }
    }
}
