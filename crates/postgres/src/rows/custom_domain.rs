//! Rows of `custom_domains` that are updated.

use diesel::query_builder::{AsChangeset, QueryFragment};
use signpost_domain::{CheckPlan, CustomDomain};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::custom_domain::StatusColumns;
use signpost_sql_rows::sql_types::Identifier;

use crate::statement::statement;

statement! {
    /// Writes the status of a domain of the account, the explanation and the checks, and returns its id. Diesel's own updates
    /// are prepared on each run, which costs a round trip.
    pub(crate) UpdateDomain<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        columns: <StatusColumns<'a> as AsChangeset>::Changeset,
    } =
    "UPDATE custom_domains SET "
    { columns as QueryFragment::walk_ast } " WHERE id = "
    { id: Identifier } " AND account_id = "
    { account: Identifier } " RETURNING id"
}

impl<'a> UpdateDomain<'a> {
    /// Hostname and creation time never change.
    pub(crate) fn of(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        Self {
            id: domain.id.into(),
            account: domain.account_id.into(),
            columns: StatusColumns::new(domain, checks).as_changeset(),
        }
    }
}
