//! Rows of `custom_domains` that are inserted or updated.

use diesel::sql_types::{BigInt, Nullable, Text};
use signpost_domain::{CheckPlan, CustomDomain};
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::custom_domain::StatusColumns;
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::statement::statement;

statement! {
    /// Inserts a domain and returns its id, or no row on a conflict, also of the id.
    pub(crate) InsertDomain<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        hostname: &'a str,
        status: &'a str,
        deadline: Option<Instant>,
        misdirected: Option<Instant>,
        created: Instant,
        next_check: Option<Instant>,
        checks: i64,
        reason: Option<&'a str>,
        checked: Option<Instant>,
        observed: Option<String>,
    } =
    "INSERT INTO custom_domains (id, account_id, hostname, status, deadline, misdirected_since, created_at, next_check_at, \
     checks_made, failure_reason, checked_at, observed) VALUES ("
    { id: Identifier } ", "
    { account: Identifier } ", "
    { hostname: Text } ", "
    { status: Text } ", "
    { deadline: Nullable<Moment> } ", "
    { misdirected: Nullable<Moment> } ", "
    { created: Moment } ", "
    { next_check: Nullable<Moment> } ", "
    { checks: BigInt } ", "
    { reason: Nullable<Text> } ", "
    { checked: Nullable<Moment> } ", "
    { observed: Nullable<Text> } ") ON CONFLICT DO NOTHING RETURNING id"
}

impl<'a> InsertDomain<'a> {
    pub(crate) fn of(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { id, account_id, hostname, created_at, .. } = domain;
        let columns = StatusColumns::new(domain, checks);
        Self {
            id: (*id).into(),
            account: (*account_id).into(),
            hostname: hostname.as_str(),
            status: columns.status,
            deadline: columns.deadline,
            misdirected: columns.misdirected_since,
            created: (*created_at).into(),
            next_check: columns.next_check_at,
            checks: columns.checks_made,
            reason: columns.failure_reason,
            checked: columns.checked_at,
            observed: columns.observed,
        }
    }
}

statement! {
    /// Writes the status of a domain of the account, the explanation and the checks, and returns its id.
    pub(crate) UpdateDomain<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        status: &'a str,
        deadline: Option<Instant>,
        misdirected: Option<Instant>,
        next_check: Option<Instant>,
        checks: i64,
        reason: Option<&'a str>,
        checked: Option<Instant>,
        observed: Option<String>,
    } =
    "UPDATE custom_domains SET status = "
    { status: Text } ", deadline = "
    { deadline: Nullable<Moment> } ", misdirected_since = "
    { misdirected: Nullable<Moment> } ", next_check_at = "
    { next_check: Nullable<Moment> } ", checks_made = "
    { checks: BigInt } ", claims = 0, failure_reason = "
    { reason: Nullable<Text> } ", checked_at = "
    { checked: Nullable<Moment> } ", observed = "
    { observed: Nullable<Text> } " WHERE id = "
    { id: Identifier } " AND account_id = "
    { account: Identifier } " RETURNING id"
}

impl<'a> UpdateDomain<'a> {
    pub(crate) fn of(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        // Hostname and creation time never change.
        let CustomDomain { id, account_id, .. } = domain;
        let columns = StatusColumns::new(domain, checks);
        Self {
            id: (*id).into(),
            account: (*account_id).into(),
            status: columns.status,
            deadline: columns.deadline,
            misdirected: columns.misdirected_since,
            next_check: columns.next_check_at,
            checks: columns.checks_made,
            reason: columns.failure_reason,
            checked: columns.checked_at,
            observed: columns.observed,
        }
    }
}
