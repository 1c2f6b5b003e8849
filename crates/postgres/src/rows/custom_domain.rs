//! Rows of `custom_domains`.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text, Timestamptz, Uuid};
use signpost_app::ports::{CheckSchedule, DueCheck, ScheduledDomain};
use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, CustomDomainStatus, DnsObservation, FailureReason, Hostname,
};

use super::cell::RowName;
use crate::columns::{IdBytes, Instant};
use crate::failure::Failure;
use crate::listed::Listed;
use crate::schema::custom_domains;
use crate::statement::statement;

const TABLE: &str = "custom_domains";

/// What the column `status` says of a domain that is claimed.
const PENDING: &str = "pending";

/// What the column `status` says of a domain that is proven.
const SSL_PENDING: &str = "ssl_pending";

/// What the column `status` says of a domain that serves links.
pub(crate) const ACTIVE: &str = "active";

/// What the column `status` says of a domain that holds nothing.
pub(crate) const FAILED: &str = "failed";

/// What [`CustomDomainRow`] is made of where a statement is written by hand, in the order of its fields.
pub(crate) type DomainColumns = (
    Uuid,
    Uuid,
    Text,
    Text,
    Nullable<Timestamptz>,
    Nullable<Timestamptz>,
    Timestamptz,
    Nullable<Text>,
    Nullable<Timestamptz>,
    Nullable<Text>,
);

/// What [`ScheduledRow`] is made of, likewise.
pub(crate) type ScheduledColumns = (DomainColumns, Nullable<Timestamptz>, Integer);

/// A domain as it is read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::pg::Pg))]
pub(crate) struct CustomDomainRow {
    id: IdBytes,
    account_id: IdBytes,
    hostname: String,
    status: String,
    deadline: Option<Instant>,
    misdirected_since: Option<Instant>,
    created_at: Instant,
    failure_reason: Option<String>,
    checked_at: Option<Instant>,
    observed: Option<String>,
}

impl CustomDomainRow {
    pub(crate) const fn id(&self) -> IdBytes {
        self.id
    }

    pub(crate) fn is_of(&self, account: AccountId) -> bool {
        self.account_id == account.into()
    }

    /// Whether it holds its hostname, as far as it is stored.
    pub(crate) fn is_holder(&self) -> bool {
        self.status != FAILED
    }

    pub(crate) fn into_domain(self) -> Result<CustomDomain, Failure> {
        let Self { id, account_id, hostname, status, deadline, misdirected_since, created_at, .. } = self;
        let Self { failure_reason, checked_at, observed, .. } = self;
        let id = id.id();
        let row = RowName::new(TABLE, id);
        let status = status_from(&row, &status, deadline, misdirected_since)?;
        let checked_at = checked_at.map(|instant| row.timestamp("checked_at", instant)).transpose()?;
        // A node of an older version may have left the reason of an earlier failure.
        let failure_reason = failure_reason.filter(|_| status == CustomDomainStatus::Failed);
        Ok(CustomDomain {
            id,
            account_id: account_id.id(),
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
#[diesel(table_name = custom_domains, check_for_backend(diesel::pg::Pg))]
pub(crate) struct ScheduledRow {
    #[diesel(embed)]
    pub(crate) domain: CustomDomainRow,
    next_check_at: Option<Instant>,
    claims: i32,
}

impl ScheduledRow {
    pub(crate) fn into_scheduled(self) -> Result<ScheduledDomain, Failure> {
        let Self { domain, next_check_at, claims } = self;
        let domain = domain.into_domain()?;
        let row = RowName::new(TABLE, domain.id);
        let next_check_at =
            next_check_at.map(|instant| row.timestamp("next_check_at", instant)).transpose()?;
        let claims = row.cell("claims", u32::try_from(claims).map_err(|_| "is no such count"))?;
        Ok(ScheduledDomain { domain, schedule: CheckSchedule { next_check_at, claims } })
    }
}

impl Listed for ScheduledRow {
    type Item = ScheduledDomain;

    fn id(&self) -> IdBytes {
        self.domain.id
    }

    fn read(self) -> Result<ScheduledDomain, Failure> {
        self.into_scheduled()
    }
}

fn status_from(
    row: &RowName,
    status: &str,
    deadline: Option<Instant>,
    misdirected_since: Option<Instant>,
) -> Result<CustomDomainStatus, Failure> {
    let unused = |column, value: Option<Instant>| match value {
        None => Ok(()),
        Some(_) => Err(row.corrupt(column, "is not for a domain of this status")),
    };
    let expires_at = || row.timestamp("deadline", row.present("deadline", deadline)?);
    match status {
        PENDING => {
            unused("misdirected_since", misdirected_since)?;
            Ok(CustomDomainStatus::Pending { expires_at: expires_at()? })
        }
        SSL_PENDING => {
            unused("misdirected_since", misdirected_since)?;
            Ok(CustomDomainStatus::SslPending { expires_at: expires_at()? })
        }
        ACTIVE => {
            unused("deadline", deadline)?;
            let since = misdirected_since.map(|since| row.timestamp("misdirected_since", since));
            Ok(CustomDomainStatus::Active { misdirected_since: since.transpose()? })
        }
        FAILED => {
            unused("deadline", deadline)?;
            unused("misdirected_since", misdirected_since)?;
            Ok(CustomDomainStatus::Failed)
        }
        _ => Err(row.corrupt("status", "is none of the four")),
    }
}

/// A domain whose check was claimed: which of the claimed ones it is, itself, its checks, and the claims of this one.
pub(crate) type ClaimedRow = (i64, CustomDomainRow, i64, i32);

/// What [`ClaimedRow`] is made of.
pub(crate) type ClaimedColumns = (BigInt, DomainColumns, BigInt, Integer);

/// The check that was claimed.
pub(crate) fn due_check((_, row, checks_made, claims): ClaimedRow) -> Result<DueCheck, Failure> {
    let domain = row.into_domain()?;
    let row = RowName::new(TABLE, domain.id);
    let checks_made = u32::try_from(checks_made).map_err(|_| "is no such count");
    let claims = u32::try_from(claims).map_err(|_| "is no such count");
    Ok(DueCheck {
        checks_made: row.cell("checks_made", checks_made)?,
        claims: row.cell("claims", claims)?,
        domain,
    })
}

/// How the columns write what explains a domain (D65).
struct DiagnosisColumns<'a> {
    reason: Option<&'a str>,
    checked_at: Option<Instant>,
    observed: Option<String>,
}

impl<'a> From<&'a CustomDomain> for DiagnosisColumns<'a> {
    fn from(domain: &'a CustomDomain) -> Self {
        let CustomDomain { failure_reason, observation, .. } = domain;
        Self {
            reason: failure_reason.as_ref().map(FailureReason::as_str),
            checked_at: observation.as_ref().map(|observation| observation.checked_at.into()),
            observed: observation.as_ref().map(DnsObservation::records_to_json),
        }
    }
}

/// How the columns write a status.
struct StatusColumns {
    status: &'static str,
    deadline: Option<Instant>,
    misdirected_since: Option<Instant>,
}

impl From<CustomDomainStatus> for StatusColumns {
    fn from(status: CustomDomainStatus) -> Self {
        let (word, deadline, misdirected_since) = match status {
            CustomDomainStatus::Pending { expires_at } => (PENDING, Some(expires_at), None),
            CustomDomainStatus::SslPending { expires_at } => (SSL_PENDING, Some(expires_at), None),
            CustomDomainStatus::Active { misdirected_since } => (ACTIVE, None, misdirected_since),
            CustomDomainStatus::Failed => (FAILED, None, None),
        };
        Self {
            status: word,
            deadline: deadline.map(Instant::from),
            misdirected_since: misdirected_since.map(Instant::from),
        }
    }
}

statement! {
    /// Inserts a domain and gives its id; nothing if a domain is in its way, by its id too.
    pub(crate) InsertDomain<'a> -> Uuid {
        id: IdBytes,
        account: IdBytes,
        hostname: &'a str,
        status: &'static str,
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
    { id: Uuid } ", "
    { account: Uuid } ", "
    { hostname: Text } ", "
    { status: Text } ", "
    { deadline: Nullable<Timestamptz> } ", "
    { misdirected: Nullable<Timestamptz> } ", "
    { created: Timestamptz } ", "
    { next_check: Nullable<Timestamptz> } ", "
    { checks: BigInt } ", "
    { reason: Nullable<Text> } ", "
    { checked: Nullable<Timestamptz> } ", "
    { observed: Nullable<Text> } ") ON CONFLICT DO NOTHING RETURNING id"
}

impl<'a> InsertDomain<'a> {
    pub(crate) fn of(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { id, account_id, hostname, status, created_at, .. } = domain;
        let StatusColumns { status, deadline, misdirected_since } = (*status).into();
        let DiagnosisColumns { reason, checked_at, observed } = domain.into();
        let CheckPlan { next_check_at, checks_made } = checks;
        Self {
            id: (*id).into(),
            account: (*account_id).into(),
            hostname: hostname.as_str(),
            status,
            deadline,
            misdirected: misdirected_since,
            created: (*created_at).into(),
            next_check: next_check_at.map(Instant::from),
            checks: checks_made.into(),
            reason,
            checked: checked_at,
            observed,
        }
    }
}

statement! {
    /// Writes the status, its explanation and the checks of a domain that the account has, and gives its id.
    pub(crate) UpdateDomain<'a> -> Uuid {
        id: IdBytes,
        account: IdBytes,
        status: &'static str,
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
    { deadline: Nullable<Timestamptz> } ", misdirected_since = "
    { misdirected: Nullable<Timestamptz> } ", next_check_at = "
    { next_check: Nullable<Timestamptz> } ", checks_made = "
    { checks: BigInt } ", claims = 0, failure_reason = "
    { reason: Nullable<Text> } ", checked_at = "
    { checked: Nullable<Timestamptz> } ", observed = "
    { observed: Nullable<Text> } " WHERE id = "
    { id: Uuid } " AND account_id = "
    { account: Uuid } " RETURNING id"
}

impl<'a> UpdateDomain<'a> {
    pub(crate) fn of(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        // Nothing moves a name or a creation.
        let CustomDomain { id, account_id, status, .. } = domain;
        let StatusColumns { status, deadline, misdirected_since } = (*status).into();
        let DiagnosisColumns { reason, checked_at, observed } = domain.into();
        let CheckPlan { next_check_at, checks_made } = checks;
        Self {
            id: (*id).into(),
            account: (*account_id).into(),
            status,
            deadline,
            misdirected: misdirected_since,
            next_check: next_check_at.map(Instant::from),
            checks: checks_made.into(),
            reason,
            checked: checked_at,
            observed,
        }
    }
}
