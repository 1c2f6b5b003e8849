//! Rows of `custom_domains` that are updated.

use diesel::query_builder::{AsChangeset, QueryFragment};
use diesel::sql_types::{Bool, Text};
use signpost_domain::{CheckPlan, CustomDomain, DomainFiles};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::custom_domain::StatusColumns;
use signpost_sql_rows::domain_settings::SettingsColumns;
use signpost_sql_rows::sql_types::Identifier;

use crate::statement::statement;

statement! {
    /// Writes the status of a domain of the account, the explanation and the checks, and returns its id. If the status may have
    /// no certificate, the row of its hostname is deleted as well. Diesel's own updates are prepared on each run, which costs a
    /// round trip.
    pub(crate) UpdateDomain<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        hostname: &'a str,
        forgets_certificate: bool,
        columns: <StatusColumns<'a> as AsChangeset>::Changeset,
    } =
    "WITH forgotten AS (DELETE FROM certificates WHERE "
    { forgets_certificate: Bool } " AND hostname = "
    { hostname: Text } " AND account_id = "
    { account: Identifier } ") UPDATE custom_domains SET "
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
            hostname: domain.hostname.as_str(),
            forgets_certificate: !domain.status.may_have_certificate(),
            columns: StatusColumns::new(domain, checks).as_changeset(),
        }
    }
}

statement! {
    /// Writes the settings of a domain of the account (D127), and returns its id. Diesel's own updates are prepared on each
    /// run, which costs a round trip.
    pub(crate) UpdateSettings<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        columns: <SettingsColumns<'a> as AsChangeset>::Changeset,
    } =
    "UPDATE custom_domains SET "
    { columns as QueryFragment::walk_ast } " WHERE id = "
    { id: Identifier } " AND account_id = "
    { account: Identifier } " RETURNING id"
}

impl<'a> UpdateSettings<'a> {
    pub(crate) fn of(domain: &'a CustomDomain, files: &'a DomainFiles) -> Self {
        Self {
            id: domain.id.into(),
            account: domain.account_id.into(),
            columns: SettingsColumns::new(domain, files).as_changeset(),
        }
    }
}
