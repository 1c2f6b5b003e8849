//! Rows of `custom_domains`.

use diesel::prelude::*;
use signpost_app::ports::{CheckSchedule, DueCheck, ScheduledDomain};
use signpost_domain::{
    CheckPlan, CustomDomain, CustomDomainStatus, DnsObservation, FailureReason, Hostname, Timestamp,
};

use super::cell::{RowName, own_id};
use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::custom_domains;

const TABLE: &str = "custom_domains";

/// What the column `status` says of domains that serve links.
pub(crate) const ACTIVE: &str = "active";

/// What the column `status` says of domains that hold nothing.
pub(crate) const FAILED: &str = "failed";

/// A domain as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct CustomDomainRow {
    id: Vec<u8>,
    account_id: Vec<u8>,
    hostname: String,
    status: String,
    deadline: Option<i64>,
    misdirected_since: Option<i64>,
    created_at: i64,
    failure_reason: Option<String>,
    checked_at: Option<i64>,
    observed: Option<String>,
}

impl CustomDomainRow {
    pub(crate) fn into_domain(self) -> Result<CustomDomain, Failure> {
        let Self { id, account_id, hostname, status, deadline, misdirected_since, created_at, .. } = self;
        let Self { failure_reason, checked_at, observed, .. } = self;
        let (id, row) = own_id(TABLE, &id)?;
        let status = status_from(&row, &status, deadline, misdirected_since)?;
        let checked_at = checked_at.map(|millis| row.timestamp("checked_at", millis)).transpose()?;
        // Only a failed domain has a reason, whatever the column says.
        let failure_reason = failure_reason.filter(|_| status == CustomDomainStatus::Failed);
        Ok(CustomDomain {
            id,
            account_id: row.id("account_id", &account_id)?,
            hostname: row.cell("hostname", Hostname::from_stored(hostname))?,
            status,
            created_at: row.timestamp("created_at", created_at)?,
            failure_reason: failure_reason.as_deref().and_then(FailureReason::parse),
            observation: checked_at.map(|at| DnsObservation::from_stored(at, observed.as_deref())),
        })
    }
}

/// A domain as it is read, with the plan of its checks.
#[derive(Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct ScheduledRow {
    #[diesel(embed)]
    domain: CustomDomainRow,
    next_check_at: Option<i64>,
    claims: i64,
}

impl ScheduledRow {
    pub(crate) fn into_scheduled(self) -> Result<ScheduledDomain, Failure> {
        let Self { domain, next_check_at, claims } = self;
        let domain = domain.into_domain()?;
        let row = RowName::new(TABLE, domain.id);
        let next_check_at = next_check_at.map(|millis| row.timestamp("next_check_at", millis)).transpose()?;
        let claims = row.cell("claims", u32::try_from(claims).map_err(|_| "is no number of claims"))?;
        Ok(ScheduledDomain { domain, schedule: CheckSchedule { next_check_at, claims } })
    }
}

impl Listed for ScheduledRow {
    type Item = ScheduledDomain;

    fn id(&self) -> &[u8] {
        &self.domain.id
    }

    fn read(self) -> Result<ScheduledDomain, Failure> {
        self.into_scheduled()
    }
}

fn status_from(
    row: &RowName,
    status: &str,
    deadline: Option<i64>,
    misdirected_since: Option<i64>,
) -> Result<CustomDomainStatus, Failure> {
    let unused = |column, is_unused: bool| {
        row.cell(column, is_unused.then_some(()).ok_or("is not for a domain of this status"))
    };
    match status {
        "pending" | "ssl_pending" => {
            unused("misdirected_since", misdirected_since.is_none())?;
            let expires_at = row.timestamp("deadline", row.present("deadline", deadline)?)?;
            Ok(if status == "pending" {
                CustomDomainStatus::Pending { expires_at }
            } else {
                CustomDomainStatus::SslPending { expires_at }
            })
        }
        ACTIVE => {
            unused("deadline", deadline.is_none())?;
            let since = misdirected_since.map(|millis| row.timestamp("misdirected_since", millis));
            Ok(CustomDomainStatus::Active { misdirected_since: since.transpose()? })
        }
        FAILED => {
            unused("deadline", deadline.is_none())?;
            unused("misdirected_since", misdirected_since.is_none())?;
            Ok(CustomDomainStatus::Failed)
        }
        _ => Err(row.corrupt("status", "is no status of a domain")),
    }
}

/// A domain that is to be checked, as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::sqlite::Sqlite))]
pub(crate) struct DueRow {
    #[diesel(embed)]
    domain: CustomDomainRow,
    checks_made: i64,
    claims: i64,
}

impl DueRow {
    /// The column `id`.
    pub(crate) fn id(&self) -> &[u8] {
        &self.domain.id
    }

    /// The check, as it was before it was claimed.
    pub(crate) fn into_due_check(self) -> Result<DueCheck, Failure> {
        let Self { domain, checks_made, claims } = self;
        let domain = domain.into_domain()?;
        let row = RowName::new(TABLE, domain.id);
        let made = u32::try_from(checks_made).map_err(|_| "is no number of checks");
        let claims = u32::try_from(claims.saturating_add(1)).map_err(|_| "is no number of claims");
        Ok(DueCheck {
            checks_made: row.cell("checks_made", made)?,
            claims: row.cell("claims", claims)?,
            domain,
        })
    }
}

/// The columns of a domain that events move. Writing a plan forgets who claimed the check of the one before.
#[derive(Insertable, AsChangeset)]
#[diesel(table_name = custom_domains, treat_none_as_default_value = false, treat_none_as_null = true)]
pub(crate) struct StatusColumns<'a> {
    status: &'a str,
    deadline: Option<i64>,
    misdirected_since: Option<i64>,
    next_check_at: Option<i64>,
    checks_made: i64,
    claims: i64,
    failure_reason: Option<&'a str>,
    checked_at: Option<i64>,
    observed: Option<String>,
}

impl<'a> StatusColumns<'a> {
    pub(crate) fn new(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { status, failure_reason, observation, .. } = domain;
        let CheckPlan { next_check_at, checks_made } = checks;
        let (name, deadline, misdirected_since) = match *status {
            CustomDomainStatus::Pending { expires_at } => ("pending", Some(expires_at), None),
            CustomDomainStatus::SslPending { expires_at } => ("ssl_pending", Some(expires_at), None),
            CustomDomainStatus::Active { misdirected_since } => (ACTIVE, None, misdirected_since),
            CustomDomainStatus::Failed => (FAILED, None, None),
        };
        Self {
            status: name,
            deadline: deadline.map(Timestamp::unix_millis),
            misdirected_since: misdirected_since.map(Timestamp::unix_millis),
            next_check_at: next_check_at.map(Timestamp::unix_millis),
            checks_made: checks_made.into(),
            claims: 0,
            failure_reason: failure_reason.as_ref().map(FailureReason::as_str),
            checked_at: observation.as_ref().map(|observation| observation.checked_at.unix_millis()),
            observed: observation.as_ref().map(DnsObservation::records_to_json),
        }
    }
}

/// A domain as it is inserted.
#[derive(Insertable)]
#[diesel(table_name = custom_domains, treat_none_as_default_value = false)]
pub(crate) struct NewCustomDomain<'a> {
    id: IdBytes,
    account_id: IdBytes,
    hostname: &'a str,
    created_at: i64,
    #[diesel(embed)]
    columns: StatusColumns<'a>,
}

impl<'a> NewCustomDomain<'a> {
    pub(crate) fn new(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { id, account_id, hostname, created_at, .. } = domain;
        Self {
            id: (*id).into(),
            account_id: (*account_id).into(),
            hostname: hostname.as_str(),
            created_at: created_at.unix_millis(),
            columns: StatusColumns::new(domain, checks),
        }
    }
}
