//! Rows of `certificates`.

use diesel::prelude::*;
use signpost_app::ports::{
    CertificateSummary, OrderUrl, RenewalId, RunningOrder, ServedCertificate, StoredCertificate, WorkPlan,
};
use signpost_domain::{
    AuthorityMessage, CertificateFailure, CertificateFailureReason, Hostname, SealedSecret, ValidationMethod,
    Validity,
};

use crate::Corrupt;
use crate::cell::RowName;
use crate::columns::{Instant, StoredId};
use crate::schema::certificates;

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        certificates (hostname) {
            hostname -> Text,
            account_id -> Nullable<Identifier>,
            authority -> Nullable<Text>,
            chain -> Nullable<Binary>,
            sealed_key -> Nullable<Binary>,
            not_before -> Nullable<Moment>,
            not_after -> Nullable<Moment>,
            issuer -> Nullable<Text>,
            renewal_id -> Nullable<Text>,
            renew_at -> Nullable<Moment>,
            order_authority -> Nullable<Text>,
            order_key -> Nullable<Binary>,
            order_url -> Nullable<Text>,
            order_validating -> Bool,
            order_begun_at -> Nullable<Moment>,
            next_attempt_at -> Nullable<Moment>,
            claims -> Integer,
            failures -> BigInt,
            last_attempt_at -> Nullable<Moment>,
            failure_reason -> Nullable<Text>,
            failure_message -> Nullable<Text>,
            validation_method -> Text,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "certificates";

/// The plan of the work on a certificate, and how often it was claimed.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = certificates, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct PlanRow {
    next_attempt_at: Option<Instant>,
    claims: i32,
    failures: i64,
    last_attempt_at: Option<Instant>,
    failure_reason: Option<String>,
    failure_message: Option<String>,
    validation_method: String,
}

impl PlanRow {
    fn into_plan(self, row: &RowName) -> Result<(WorkPlan, u32), Corrupt> {
        let Self {
            next_attempt_at,
            claims,
            failures,
            last_attempt_at,
            failure_reason,
            failure_message,
            validation_method,
        } = self;
        let instant = |column, at: Option<Instant>| at.map(|at| row.timestamp(column, at)).transpose();
        let failure = match failure_reason {
            None => None,
            Some(reason) => Some(CertificateFailure {
                reason: row.present("failure_reason", CertificateFailureReason::parse(&reason))?,
                message: failure_message.as_deref().and_then(AuthorityMessage::new),
            }),
        };
        let claims = row.cell("claims", u32::try_from(claims).map_err(|_| "is not a number of claims"))?;
        let failures =
            row.cell("failures", u32::try_from(failures).map_err(|_| "is not a number of failures"))?;
        let plan = WorkPlan {
            next_attempt_at: instant("next_attempt_at", next_attempt_at)?,
            last_attempt_at: instant("last_attempt_at", last_attempt_at)?,
            failures,
            failure,
            method: row.present("validation_method", ValidationMethod::parse(&validation_method))?,
        };
        Ok((plan, claims))
    }
}

/// What a domain shows of its certificate, as it is read beside the domain.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = certificates, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct SummaryRow {
    hostname: String,
    not_before: Option<Instant>,
    not_after: Option<Instant>,
    issuer: Option<String>,
    renew_at: Option<Instant>,
    order_authority: Option<String>,
    #[diesel(embed)]
    plan: PlanRow,
}

impl SummaryRow {
    /// The row as a value of the port.
    pub fn into_summary(self) -> Result<CertificateSummary, Corrupt> {
        let Self { hostname, not_before, not_after, issuer, renew_at, order_authority, plan } = self;
        let row = RowName::new(TABLE, hostname);
        let served = match issuer {
            None => None,
            Some(issuer) => {
                let renew_at = row.timestamp("renew_at", row.present("renew_at", renew_at)?)?;
                Some((validity(&row, not_before, not_after)?, issuer, renew_at))
            }
        };
        let (plan, claims) = plan.into_plan(&row)?;
        Ok(CertificateSummary { served, is_ordering: order_authority.is_some(), plan, claims })
    }
}

fn validity(
    row: &RowName,
    not_before: Option<Instant>,
    not_after: Option<Instant>,
) -> Result<Validity, Corrupt> {
    Ok(Validity {
        not_before: row.timestamp("not_before", row.present("not_before", not_before)?)?,
        not_after: row.timestamp("not_after", row.present("not_after", not_after)?)?,
    })
}

/// The certificate that is served, as it is read.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = certificates, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct ServedRow {
    authority: Option<String>,
    chain: Option<Vec<u8>>,
    sealed_key: Option<Vec<u8>>,
    not_before: Option<Instant>,
    not_after: Option<Instant>,
    issuer: Option<String>,
    renewal_id: Option<String>,
    renew_at: Option<Instant>,
}

impl ServedRow {
    fn into_served(self, row: &RowName) -> Result<Option<ServedCertificate>, Corrupt> {
        let Some(authority) = self.authority else { return Ok(None) };
        Ok(Some(ServedCertificate {
            authority,
            chain: row.cell("chain", chain_from_stored(&row.present("chain", self.chain)?))?,
            key: SealedSecret(row.present("sealed_key", self.sealed_key)?),
            validity: validity(row, self.not_before, self.not_after)?,
            issuer: row.present("issuer", self.issuer)?,
            renewal_id: self.renewal_id.map(RenewalId),
            renew_at: row.timestamp("renew_at", row.present("renew_at", self.renew_at)?)?,
        }))
    }
}

/// The order that is running, as it is read.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = certificates, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
#[expect(clippy::struct_field_names, reason = "they are the columns of these names")]
pub struct OrderRow {
    order_authority: Option<String>,
    order_key: Option<Vec<u8>>,
    order_url: Option<String>,
    order_validating: bool,
    order_begun_at: Option<Instant>,
}

impl OrderRow {
    fn into_order(self, row: &RowName) -> Result<Option<RunningOrder>, Corrupt> {
        let Some(authority) = self.order_authority else { return Ok(None) };
        Ok(Some(RunningOrder {
            authority,
            key: SealedSecret(row.present("order_key", self.order_key)?),
            url: self.order_url.map(OrderUrl),
            is_validating: self.order_validating,
            begun_at: row.timestamp("order_begun_at", row.present("order_begun_at", self.order_begun_at)?)?,
        }))
    }
}

/// A certificate as it is read.
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = certificates, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct CertificateRow {
    hostname: String,
    account_id: Option<StoredId>,
    #[diesel(embed)]
    served: ServedRow,
    #[diesel(embed)]
    order: OrderRow,
    #[diesel(embed)]
    plan: PlanRow,
}

impl CertificateRow {
    /// The column `hostname`.
    #[must_use]
    pub fn hostname(&self) -> &str {
        &self.hostname
    }

    /// The columns as they are after the row was claimed.
    #[must_use]
    pub fn claimed(mut self, until: Instant, claims: i32) -> Self {
        self.plan.next_attempt_at = Some(until);
        self.plan.claims = claims;
        self
    }

    /// The column `claims`.
    #[must_use]
    pub const fn claims(&self) -> i32 {
        self.plan.claims
    }

    /// The row as a value of the port.
    pub fn into_certificate(self) -> Result<StoredCertificate, Corrupt> {
        let row = RowName::new(TABLE, &self.hostname);
        let (served, order) = (self.served.into_served(&row)?, self.order.into_order(&row)?);
        let (plan, claims) = self.plan.into_plan(&row)?;
        Ok(StoredCertificate {
            hostname: row.cell("hostname", Hostname::from_stored(self.hostname))?,
            account: self.account_id.map(|id| row.id("account_id", &id)).transpose()?,
            served,
            order,
            plan,
            claims,
        })
    }
}

/// A certificate for the list, in which an unreadable one is logged and left out.
pub fn readable(row: CertificateRow) -> Option<StoredCertificate> {
    match row.into_certificate() {
        Ok(certificate) => Some(certificate),
        Err(failure) => {
            tracing::error!(%failure, "a certificate cannot be read");
            None
        }
    }
}

/// The columns of the certificate that is served.
#[derive(Debug, AsChangeset)]
#[diesel(table_name = certificates, treat_none_as_null = true)]
pub struct ServedColumns {
    authority: Option<String>,
    chain: Option<Vec<u8>>,
    sealed_key: Option<Vec<u8>>,
    not_before: Option<Instant>,
    not_after: Option<Instant>,
    issuer: Option<String>,
    renewal_id: Option<String>,
    renew_at: Option<Instant>,
}

impl From<&ServedCertificate> for ServedColumns {
    fn from(certificate: &ServedCertificate) -> Self {
        let ServedCertificate { authority, chain, key, validity, issuer, renewal_id, renew_at } = certificate;
        Self {
            authority: Some(authority.clone()),
            chain: Some(chain_to_stored(chain)),
            sealed_key: Some(key.0.clone()),
            not_before: Some(validity.not_before.into()),
            not_after: Some(validity.not_after.into()),
            issuer: Some(issuer.clone()),
            renewal_id: renewal_id.as_ref().map(|id| id.0.clone()),
            renew_at: Some((*renew_at).into()),
        }
    }
}

/// The columns of the running order.
#[derive(Debug, AsChangeset)]
#[expect(clippy::struct_field_names, reason = "they are the columns of these names")]
#[diesel(table_name = certificates, treat_none_as_null = true)]
pub struct OrderColumns {
    order_authority: Option<String>,
    order_key: Option<Vec<u8>>,
    order_url: Option<String>,
    order_validating: bool,
    order_begun_at: Option<Instant>,
}

impl OrderColumns {
    /// The columns of an order; of no order if there is none.
    #[must_use]
    pub fn new(order: Option<&RunningOrder>) -> Self {
        Self {
            order_authority: order.map(|order| order.authority.clone()),
            order_key: order.map(|order| order.key.0.clone()),
            order_url: order.and_then(|order| order.url.as_ref()).map(|url| url.0.clone()),
            order_validating: order.is_some_and(|order| order.is_validating),
            order_begun_at: order.map(|order| order.begun_at.into()),
        }
    }
}

/// The columns of the plan. Writing them ends the claim.
#[derive(Debug, AsChangeset)]
#[diesel(table_name = certificates, treat_none_as_null = true)]
pub struct PlanColumns {
    next_attempt_at: Option<Instant>,
    claims: i32,
    failures: i64,
    last_attempt_at: Option<Instant>,
    failure_reason: Option<String>,
    failure_message: Option<String>,
    validation_method: &'static str,
}

impl From<&WorkPlan> for PlanColumns {
    fn from(plan: &WorkPlan) -> Self {
        let WorkPlan { next_attempt_at, last_attempt_at, failures, failure, method } = plan;
        Self {
            next_attempt_at: next_attempt_at.map(Instant::from),
            claims: 0,
            failures: i64::from(*failures),
            last_attempt_at: last_attempt_at.map(Instant::from),
            failure_reason: failure.as_ref().map(|failure| failure.reason.as_str().to_owned()),
            failure_message: failure
                .as_ref()
                .and_then(|failure| failure.message.as_ref())
                .map(ToString::to_string),
            validation_method: method.as_str(),
        }
    }
}

/// The chain in one value: each certificate after its length in four bytes.
fn chain_to_stored(chain: &[Vec<u8>]) -> Vec<u8> {
    let mut stored = Vec::with_capacity(chain.iter().map(|der| der.len() + 4).sum());
    for der in chain {
        stored.extend_from_slice(&u32::try_from(der.len()).unwrap_or(u32::MAX).to_be_bytes());
        stored.extend_from_slice(der);
    }
    stored
}

fn chain_from_stored(mut stored: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut chain = Vec::new();
    while let Some((length, rest)) = stored.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|_| "is damaged")?;
        let (der, rest) = rest.split_at_checked(length).ok_or("is damaged")?;
        chain.push(der.to_vec());
        stored = rest;
    }
    if stored.is_empty() && !chain.is_empty() { Ok(chain) } else { Err("is damaged") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d187_a_chain_reads_back_and_a_damaged_one_does_not() {
        for chain in [vec![vec![1]], vec![vec![1; 300], Vec::new(), vec![2, 3]]] {
            let stored = chain_to_stored(&chain);
            assert_eq!(chain_from_stored(&stored), Ok(chain));
            for end in 0..stored.len().min(8) {
                assert!(chain_from_stored(&stored[..end]).is_err(), "{end}");
            }
        }
    }
}
