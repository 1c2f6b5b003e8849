//! Rows of `custom_domains`.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable};
use diesel::sqlite::Sqlite;
use signpost_app::ports::{CheckSchedule, DueCheck, ScheduledDomain};
use signpost_domain::{
    AccountId, AppFile, CheckPlan, CustomDomain, CustomDomainStatus, DnsObservation, DomainFiles, DomainUrls,
    FailureReason, Hostname, StatusHistory,
};

use crate::Corrupt;
use crate::cell::{RowName, own_id};
use crate::certificate::SummaryRow;
use crate::column_by_statement::column_by_statement;
use crate::columns::{IdBytes, Instant, StoredId, whole_number};
use crate::domain_settings;
use crate::listed::Listed;
use crate::schema::custom_domains;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        custom_domains (id) {
            id -> Identifier,
            account_id -> Identifier,
            hostname -> Text,
            status -> Text,
            deadline -> Nullable<Moment>,
            misdirected_since -> Nullable<Moment>,
            created_at -> Moment,
            next_check_at -> Nullable<Moment>,
            checks_made -> BigInt,
            claims -> Integer,
            failure_reason -> Nullable<Text>,
            checked_at -> Nullable<Moment>,
            observed -> Nullable<Text>,
            history -> Nullable<Text>,
            updated_at -> Nullable<Moment>,
            revision -> BigInt,
            root_url -> Nullable<Text>,
            not_found_url -> Nullable<Text>,
            expired_url -> Nullable<Text>,
            apple_app_site_association -> Nullable<Text>,
            asset_links -> Nullable<Text>,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "custom_domains";

/// The column `status` of a claimed domain.
const PENDING: &str = "pending";

/// The column `status` of a proven domain.
const SSL_PENDING: &str = "ssl_pending";

/// The column `status` of a domain that serves links.
pub const ACTIVE: &str = "active";

/// The column `status` of a domain that holds no hostname.
pub const FAILED: &str = "failed";

column_by_statement! {
    /// Whether the custom domain of the row of `links` serves no links (D128). Null or false on the system domain, for a lost link, and
    /// if the account does not have the domain.
    ///
    /// A scalar subquery, because PostgreSQL might read all domains for an `EXISTS`. There the account is no condition of the search, so
    /// that a plan of an empty table already uses the index of hostnames, and not that of the account's domains (ADR 17).
    IsDomainInactive -> Nullable<Bool> {
        Pg => [
            "(CASE WHEN links.host <> '' THEN (SELECT bool_or(d.status <> 'active' AND d.account_id = links.account_id) ",
            "FROM custom_domains AS d WHERE d.hostname = links.host) END)"
        ],
        Sqlite => [
            "(CASE WHEN links.host <> '' THEN (SELECT d.status <> 'active' FROM custom_domains AS d WHERE ",
            "d.account_id = links.account_id AND d.hostname = links.host) END)"
        ],
    }
}

/// A domain as it is read, without its files.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct CustomDomainRow {
    id: StoredId,
    account_id: StoredId,
    hostname: String,
    status: String,
    deadline: Option<Instant>,
    misdirected_since: Option<Instant>,
    created_at: Instant,
    failure_reason: Option<String>,
    checked_at: Option<Instant>,
    observed: Option<String>,
    history: Option<String>,
    updated_at: Option<Instant>,
    revision: i64,
    root_url: Option<String>,
    not_found_url: Option<String>,
    expired_url: Option<String>,
}

impl CustomDomainRow {
    /// The column `id`.
    #[must_use]
    pub const fn id(&self) -> &StoredId {
        &self.id
    }

    /// Whether the account has the domain.
    #[must_use]
    pub fn is_of(&self, account: AccountId) -> bool {
        self.account_id == IdBytes::from(account).into()
    }

    /// Whether the domain holds its hostname, by the stored status.
    #[must_use]
    pub fn is_holder(&self) -> bool {
        self.status != FAILED
    }

    /// The domain.
    pub fn into_domain(self) -> Result<CustomDomain, Corrupt> {
        let Self { id, account_id, hostname, status, deadline, misdirected_since, created_at, .. } = self;
        let Self { failure_reason, checked_at, observed, history, updated_at, revision, .. } = self;
        let Self { root_url, not_found_url, expired_url, .. } = self;
        let (id, row) = own_id(TABLE, &id)?;
        let status = status_from(&row, &status, deadline, misdirected_since)?;
        let checked_at = checked_at.map(|instant| row.timestamp("checked_at", instant)).transpose()?;
        // A node of an older version may have kept the reason of an earlier failure.
        let failure_reason = failure_reason.filter(|_| status == CustomDomainStatus::Failed);
        Ok(CustomDomain {
            id,
            account_id: row.id("account_id", &account_id)?,
            hostname: row.cell("hostname", Hostname::from_stored(hostname))?,
            status,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: match updated_at {
                Some(updated_at) => row.timestamp("updated_at", updated_at)?,
                None => row.timestamp("created_at", created_at)?,
            },
            revision: row.revision("revision", revision)?,
            failure_reason: failure_reason.as_deref().and_then(FailureReason::parse),
            observation: checked_at.map(|at| DnsObservation::from_stored(at, observed.as_deref())),
            history: history.as_deref().map(StatusHistory::from_stored).unwrap_or_default(),
            urls: DomainUrls {
                root_url: domain_settings::url_from(&row, "root_url", root_url)?,
                not_found_url: domain_settings::url_from(&row, "not_found_url", not_found_url)?,
                expired_url: domain_settings::url_from(&row, "expired_url", expired_url)?,
            },
        })
    }
}

/// A domain as it is read, with the plan of its checks.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct ScheduledRow {
    /// The domain.
    #[diesel(embed)]
    pub domain: CustomDomainRow,
    next_check_at: Option<Instant>,
    claims: i32,
    /// What is stored about the certificate of its hostname for its account.
    #[diesel(embed)]
    certificate: Option<SummaryRow>,
}

impl ScheduledRow {
    /// The domain with the plan of its checks.
    pub fn into_scheduled(self) -> Result<ScheduledDomain, Corrupt> {
        let Self { domain, next_check_at, claims, certificate } = self;
        let domain = domain.into_domain()?;
        let row = RowName::new(TABLE, domain.id);
        let next_check_at = next_check_at.map(|at| row.timestamp("next_check_at", at)).transpose()?;
        let claims = row.cell("claims", u32::try_from(claims).map_err(|_| "is not a number of claims"))?;
        let certificate = certificate.map(SummaryRow::into_summary).transpose()?;
        let schedule = CheckSchedule { next_check_at, claims };
        Ok(ScheduledDomain { domain, schedule, certificate, files: None })
    }
}

/// A domain as it is read, with the plan of its checks and its files. It does not embed a [`ScheduledRow`]: the compiler takes
/// minutes for one more level of rows in rows.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = custom_domains, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct WholeRow {
    #[diesel(embed)]
    domain: CustomDomainRow,
    next_check_at: Option<Instant>,
    claims: i32,
    apple_app_site_association: Option<String>,
    asset_links: Option<String>,
    #[diesel(embed)]
    certificate: Option<SummaryRow>,
}

impl WholeRow {
    /// The domain with everything that is stored about it.
    pub fn into_whole(self) -> Result<ScheduledDomain, Corrupt> {
        let Self { domain, next_check_at, claims, apple_app_site_association, asset_links, certificate } =
            self;
        let files = DomainFiles {
            apple_app_site_association: apple_app_site_association.map(AppFile::from_stored),
            asset_links: asset_links.map(AppFile::from_stored),
        };
        let scheduled = ScheduledRow { domain, next_check_at, claims, certificate }.into_scheduled()?;
        Ok(ScheduledDomain { files: Some(files), ..scheduled })
    }
}

impl Listed for ScheduledRow {
    type Item = ScheduledDomain;

    fn id(&self) -> &StoredId {
        &self.domain.id
    }

    fn read(self) -> Result<ScheduledDomain, Corrupt> {
        self.into_scheduled()
    }
}

/// The claimed check of a domain, with the number of earlier checks and the number of the claim.
pub fn due_check(domain: CustomDomainRow, checks_made: i64, claims: i32) -> Result<DueCheck, Corrupt> {
    let domain = domain.into_domain()?;
    let row = RowName::new(TABLE, domain.id);
    let made = u32::try_from(checks_made).map_err(|_| "is not a number of checks");
    let claims = u32::try_from(claims).map_err(|_| "is not a number of claims");
    Ok(DueCheck { checks_made: row.cell("checks_made", made)?, claims: row.cell("claims", claims)?, domain })
}

fn status_from(
    row: &RowName,
    status: &str,
    deadline: Option<Instant>,
    misdirected_since: Option<Instant>,
) -> Result<CustomDomainStatus, Corrupt> {
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
        _ => Err(row.corrupt("status", "is not a status of a domain")),
    }
}

/// The columns of a domain that events change. Writing a plan clears the claim on the previous check.
#[derive(Debug, Insertable, AsChangeset)]
#[diesel(table_name = custom_domains, treat_none_as_default_value = false, treat_none_as_null = true)]
#[expect(missing_docs, reason = "they are the columns of these names")]
pub struct StatusColumns<'a> {
    pub status: &'a str,
    pub deadline: Option<Instant>,
    pub misdirected_since: Option<Instant>,
    pub next_check_at: Option<Instant>,
    pub checks_made: i64,
    pub claims: i32,
    pub failure_reason: Option<&'a str>,
    pub checked_at: Option<Instant>,
    pub observed: Option<String>,
    pub history: Option<String>,
    pub updated_at: Option<Instant>,
    pub revision: i64,
}

impl<'a> StatusColumns<'a> {
    /// The columns of a domain with this plan.
    #[must_use]
    pub fn new(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { status, failure_reason, observation, history, updated_at, revision, .. } = domain;
        let CheckPlan { next_check_at, checks_made } = checks;
        let (name, deadline, misdirected_since) = match *status {
            CustomDomainStatus::Pending { expires_at } => (PENDING, Some(expires_at), None),
            CustomDomainStatus::SslPending { expires_at } => (SSL_PENDING, Some(expires_at), None),
            CustomDomainStatus::Active { misdirected_since } => (ACTIVE, None, misdirected_since),
            CustomDomainStatus::Failed => (FAILED, None, None),
        };
        Self {
            status: name,
            deadline: deadline.map(Instant::from),
            misdirected_since: misdirected_since.map(Instant::from),
            next_check_at: next_check_at.map(Instant::from),
            checks_made: checks_made.into(),
            claims: 0,
            failure_reason: failure_reason.as_ref().map(FailureReason::as_str),
            checked_at: observation.as_ref().map(|observation| observation.checked_at.into()),
            observed: observation.as_ref().map(DnsObservation::records_to_json),
            history: Some(history.to_stored()).filter(|stored| !stored.is_empty()),
            updated_at: Some((*updated_at).into()),
            revision: whole_number(revision.get()),
        }
    }
}

/// A domain as it is inserted: without settings.
#[derive(Debug, Insertable)]
#[diesel(table_name = custom_domains, treat_none_as_default_value = false)]
pub struct NewCustomDomain<'a> {
    id: IdBytes,
    account_id: IdBytes,
    hostname: &'a str,
    created_at: Instant,
    #[diesel(embed)]
    columns: StatusColumns<'a>,
}

impl<'a> NewCustomDomain<'a> {
    /// The row of a domain with this plan.
    #[must_use]
    pub fn new(domain: &'a CustomDomain, checks: CheckPlan) -> Self {
        let CustomDomain { id, account_id, hostname, created_at, .. } = domain;
        Self {
            id: (*id).into(),
            account_id: (*account_id).into(),
            hostname: hostname.as_str(),
            created_at: (*created_at).into(),
            columns: StatusColumns::new(domain, checks),
        }
    }
}
