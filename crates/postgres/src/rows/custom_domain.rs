//! Rows of `custom_domains`.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text, Timestamptz, Uuid};
use signpost_app::ports::DueCheck;
use signpost_domain::{AccountId, CheckPlan, CustomDomain, CustomDomainStatus, Hostname};

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
pub(crate) type DomainColumns =
    (Uuid, Uuid, Text, Text, Nullable<Timestamptz>, Nullable<Timestamptz>, Timestamptz);

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
        let Self { id, account_id, hostname, status, deadline, misdirected_since, created_at } = self;
        let id = id.id();
        let row = RowName::new(TABLE, id);
        let status = status_from(&row, &status, deadline, misdirected_since)?;
        Ok(CustomDomain {
            id,
            account_id: account_id.id(),
            hostname: row.cell("hostname", Hostname::from_stored(hostname))?,
            status,
            created_at: row.timestamp("created_at", created_at)?,
        })
    }
}

impl Listed for CustomDomainRow {
    type Item = CustomDomain;

    fn id(&self) -> IdBytes {
        self.id
    }

    fn read(self) -> Result<CustomDomain, Failure> {
        self.into_domain()
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
    } =
    "INSERT INTO custom_domains (id, account_id, hostname, status, deadline, misdirected_since, created_at, next_check_at, \
     checks_made) VALUES ("
    { id: Uuid } ", "
    { account: Uuid } ", "
    { hostname: Text } ", "
    { status: Text } ", "
    { deadline: Nullable<Timestamptz> } ", "
    { misdirected: Nullable<Timestamptz> } ", "
    { created: Timestamptz } ", "
    { next_check: Nullable<Timestamptz> } ", "
    { checks: BigInt } ") ON CONFLICT DO NOTHING RETURNING id"
}

impl<'a> InsertDomain<'a> {
    pub(crate) fn of(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { id, account_id, hostname, status, created_at } = domain;
        let StatusColumns { status, deadline, misdirected_since } = (*status).into();
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
        }
    }
}

statement! {
    /// Writes the status and the checks of a domain that the account has, and gives its id.
    pub(crate) UpdateDomain -> Uuid {
        id: IdBytes,
        account: IdBytes,
        status: &'static str,
        deadline: Option<Instant>,
        misdirected: Option<Instant>,
        next_check: Option<Instant>,
        checks: i64,
    } =
    "UPDATE custom_domains SET status = "
    { status: Text } ", deadline = "
    { deadline: Nullable<Timestamptz> } ", misdirected_since = "
    { misdirected: Nullable<Timestamptz> } ", next_check_at = "
    { next_check: Nullable<Timestamptz> } ", checks_made = "
    { checks: BigInt } ", claims = 0 WHERE id = "
    { id: Uuid } " AND account_id = "
    { account: Uuid } " RETURNING id"
}

impl UpdateDomain {
    pub(crate) fn of(domain: &CustomDomain, checks: CheckPlan) -> Self {
        // Nothing moves a name or a creation.
        let CustomDomain { id, account_id, hostname: _, status, created_at: _ } = domain;
        let StatusColumns { status, deadline, misdirected_since } = (*status).into();
        let CheckPlan { next_check_at, checks_made } = checks;
        Self {
            id: (*id).into(),
            account: (*account_id).into(),
            status,
            deadline,
            misdirected: misdirected_since,
            next_check: next_check_at.map(Instant::from),
            checks: checks_made.into(),
        }
    }
}
