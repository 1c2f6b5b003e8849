//! Rows of `accounts`.

use diesel::prelude::*;
use signpost_domain::{Account, AccountId, Email, Name, PlanName, Timestamp, Usage};

use super::cell::{RowName, own_id};
use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::accounts;

const TABLE: &str = "accounts";

/// An account as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct AccountRow {
    id: Vec<u8>,
    email: String,
    name: Option<String>,
    plan: String,
    suspended_at: Option<i64>,
    created_at: i64,
}

impl AccountRow {
    pub(crate) fn into_account(self) -> Result<Account, Failure> {
        let Self { id, email, name, plan, suspended_at, created_at } = self;
        let (id, row) = own_id(TABLE, &id)?;
        Ok(Account {
            id,
            email: row.cell("email", Email::from_stored(email))?,
            name: name.map(|name| row.cell("name", Name::from_stored(name))).transpose()?,
            plan: row.cell("plan", PlanName::from_stored(plan))?,
            suspended_at: suspended_at.map(|millis| row.timestamp("suspended_at", millis)).transpose()?,
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

/// The plans of accounts with the number of their accounts, sorted here because collations differ.
pub(crate) fn plan_uses(rows: Vec<(String, i64)>) -> Result<Vec<(PlanName, u64)>, Failure> {
    let mut uses = rows
        .into_iter()
        .map(|(plan, accounts)| {
            let row = RowName::new(TABLE, format_args!("with the plan {plan:?}"));
            Ok((row.cell("plan", PlanName::from_stored(plan))?, row.count("plan", accounts)?))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    uses.sort_unstable();
    Ok(uses)
}

impl Listed for AccountRow {
    type Item = Account;

    fn id(&self) -> &[u8] {
        &self.id
    }

    fn read(self) -> Result<Account, Failure> {
        self.into_account()
    }
}

/// The counts of an account.
#[derive(Queryable, Selectable)]
#[diesel(table_name = accounts, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct UsageRow {
    #[diesel(column_name = links_count)]
    links: i64,
    #[diesel(column_name = groups_count)]
    groups: i64,
    #[diesel(column_name = domains_count)]
    domains: i64,
    #[diesel(column_name = pixels_count)]
    pixels: i64,
}

impl UsageRow {
    pub(crate) fn into_usage(self, account: AccountId) -> Result<Usage, Failure> {
        let Self { links, groups, domains, pixels } = self;
        let row = RowName::new(TABLE, account);
        Ok(Usage {
            links: row.count("links_count", links)?,
            groups: row.count("groups_count", groups)?,
            domains: row.count("domains_count", domains)?,
            pixels: row.count("pixels_count", pixels)?,
        })
    }
}

/// An account as it is inserted; the counts begin at 0.
#[derive(Insertable)]
#[diesel(table_name = accounts, treat_none_as_default_value = false)]
pub(crate) struct NewAccount<'a> {
    id: IdBytes,
    email: &'a str,
    email_key: String,
    name: Option<&'a str>,
    plan: &'a str,
    suspended_at: Option<i64>,
    created_at: i64,
}

impl<'a> From<&'a Account> for NewAccount<'a> {
    fn from(account: &'a Account) -> Self {
        let Account { id, email, name, plan, suspended_at, created_at } = account;
        Self {
            id: (*id).into(),
            email: email.as_str(),
            email_key: email.comparison_key(),
            name: name.as_ref().map(Name::as_str),
            plan: plan.as_str(),
            suspended_at: suspended_at.map(Timestamp::unix_millis),
            created_at: created_at.unix_millis(),
        }
    }
}
