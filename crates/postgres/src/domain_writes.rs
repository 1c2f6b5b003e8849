//! Changing custom domains.

use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::QueryFragment;
use diesel::result::{DatabaseErrorKind, Error as SqlError};
use diesel::sql_types::{BigInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_app::ports::{
    Claims, CustomDomainWrites, InsertCustomDomainError, InsertResourceError, LinksOf, ScheduledDomain,
    StoreError, UpdateCustomDomainError,
};
use signpost_domain::{
    AccountId, CheckPlan, CustomDomain, DnsObservation, DomainFiles, DomainId, Hostname, PlanResource,
    Timestamp,
};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::counters;
use crate::failure::{Failure, is_taken};
use crate::rows::custom_domain::{UpdateDomain, UpdateSettings};
use crate::schema::custom_domains;
use crate::statement::{both, statement};
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::columns::{IdBytes, Instant, signed};
use signpost_sql_rows::custom_domain::{CustomDomainRow, NewCustomDomain, ScheduledRow, WholeRow};
use signpost_sql_rows::listed::Listed;

/// The unique index that lets at most one domain hold a hostname.
const HOLDER: &str = "custom_domains_holder";

statement! {
    /// Locks some of the links on a hostname, of a range of accounts, in index order. It takes their
    /// addresses away, and returns the account of each. The rows are looked up again through an array, which
    /// PostgreSQL assumes to be short.
    LoseSomeLinks<'a> -> Identifier {
        hostname: &'a str => Text,
        first: IdBytes => Identifier,
        last: IdBytes => Identifier,
        at_most: i64 => BigInt,
        now: Instant => Moment,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h WHERE h.host = $1 AND h.host <> '' AND h.account_id >= \
     $2 AND h.account_id <= $3 ORDER BY h.account_id, h.kind, h.id LIMIT $4 FOR UPDATE) UPDATE links AS l SET host = \
     NULL, updated_at = greatest(l.updated_at, $5), revision = l.revision + 1 WHERE l.id = ANY (ARRAY(SELECT id FROM held)) RETURNING \
     l.account_id"
}

statement! {
    /// Locks all domains of a hostname in the order of their ids. What is stored about their certificates is only read.
    LockNamed<'a> -> AsSelect<ScheduledRow, Pg> {
        hostname: &'a str,
        columns: AsSelect<ScheduledRow, Pg>,
    } =
    "SELECT " { columns as QueryFragment::walk_ast }
    " FROM custom_domains LEFT JOIN certificates ON certificates.hostname = custom_domains.hostname AND \
     certificates.account_id = custom_domains.account_id WHERE custom_domains.hostname = "
    { hostname: Text } " ORDER BY custom_domains.id FOR UPDATE OF custom_domains"
}

statement! {
    /// Locks a domain of the account. What is stored about its certificate is only read.
    LockDomain -> AsSelect<WholeRow, Pg> {
        id: IdBytes,
        account: IdBytes,
        columns: AsSelect<WholeRow, Pg>,
    } =
    "SELECT " { columns as QueryFragment::walk_ast }
    " FROM custom_domains LEFT JOIN certificates ON certificates.hostname = custom_domains.hostname AND \
     certificates.account_id = custom_domains.account_id WHERE custom_domains.id = "
    { id: Identifier } " AND custom_domains.account_id = "
    { account: Identifier } " FOR UPDATE OF custom_domains"
}

statement! {
    /// Deletes a domain of the account with the row of its certificate, and returns its hostname. Whoever inserts such a row
    /// holds the domain. So a caller that has locked the domain before leaves no row behind.
    DeleteDomain -> Text {
        id: IdBytes => Identifier,
        account: IdBytes => Identifier,
    } =
    "WITH deleted AS (DELETE FROM custom_domains WHERE id = $1 AND account_id = $2 RETURNING hostname), forgotten AS \
     (DELETE FROM certificates WHERE hostname = ANY (ARRAY(SELECT hostname FROM deleted)) AND account_id = $2) SELECT \
     hostname FROM deleted"
}

/// The ranges of accounts that `whose` selects, both ends included.
fn ranges(whose: LinksOf) -> Vec<(IdBytes, IdBytes)> {
    match whose {
        LinksOf::Account(account) => vec![(account.into(), account.into())],
        LinksOf::AllBut(account) => {
            let number = IdBytes::from(account).number();
            let below = number.checked_sub(1).map(|last| (0, last));
            let above = number.checked_add(1).map(|first| (first, u128::MAX));
            let ranges = below.into_iter().chain(above);
            ranges.map(|(first, last)| (IdBytes::from_number(first), IdBytes::from_number(last))).collect()
        }
    }
}

/// Takes the addresses of up to `at_most` links away, and returns the account of each.
async fn lose_some_links(
    connection: &mut &AsyncPgConnection,
    whose: LinksOf,
    hostname: &Hostname,
    at_most: u16,
    now: Timestamp,
) -> Result<Vec<IdBytes>, Failure> {
    let mut losers = Vec::new();
    let mut room = i64::from(at_most);
    for (first, last) in ranges(whose) {
        // Others may move some of the found links before they are locked. Only an empty result means that no link is left.
        while room > 0 {
            let (hostname, now) = (hostname.as_str(), now.into());
            let statement = LoseSomeLinks { hostname, first, last, at_most: room, now };
            let lost: Vec<IdBytes> = statement.load(connection).await?;
            if lost.is_empty() {
                break;
            }
            room = room.saturating_sub(signed(lost.len()));
            losers.extend(lost);
        }
    }
    Ok(losers)
}

/// Locks all domains of a hostname in the order of their ids.
async fn lock_named(
    connection: &mut &AsyncPgConnection,
    hostname: &Hostname,
) -> Result<Vec<ScheduledRow>, Failure> {
    let held = async |mut connection: &AsyncPgConnection| {
        let named = LockNamed { hostname: hostname.as_str(), columns: ScheduledRow::as_select() };
        Ok(named.load::<ScheduledRow>(&mut connection).await?)
    };
    // While the first statement waits, another domain may appear that it cannot see, because it started earlier. The second
    // statement starts after the wait.
    loop {
        let (first, second) = both(held(connection), held(connection)).await?;
        if first.iter().map(Listed::id).eq(second.iter().map(Listed::id)) {
            return Ok(second);
        }
    }
}

/// Inserts and counts a domain, or does neither and returns the reason.
async fn insert(
    connection: &mut &AsyncPgConnection,
    domain: &CustomDomain,
    checks: CheckPlan,
    limit: u64,
) -> Result<Result<(), InsertCustomDomainError>, Failure> {
    // No row on a conflict, also of the id.
    let statement = diesel::insert_into(custom_domains::table)
        .values(NewCustomDomain::new(domain, checks))
        .on_conflict_do_nothing()
        .returning(custom_domains::id);
    let (mut saving, mut inserting) = (*connection, *connection);
    // The savepoint keeps the transaction usable: PostgreSQL reports a missing account as an error, which would abort it.
    let save = async { Ok(saving.batch_execute("SAVEPOINT before_insert").await?) };
    let insert = async { Ok(statement.load::<IdBytes>(&mut inserting).await) };
    // In lock order the account comes after its domains, although its limit is reported first.
    let refusal = match both(save, insert).await?.1 {
        Ok(inserted) => {
            let counted =
                counters::count_one(connection, domain.account_id, PlanResource::Domains, limit).await?;
            match counted {
                Ok(()) if !inserted.is_empty() => return Ok(Ok(())),
                Ok(()) => InsertCustomDomainError::HostnameTaken,
                Err(refused) => refused.into(),
            }
        }
        Err(SqlError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _)) => {
            InsertResourceError::AccountMissing.into()
        }
        Err(error) => return Err(error.into()),
    };
    connection.batch_execute("ROLLBACK TO SAVEPOINT before_insert").await?;
    if matches!(refusal, InsertCustomDomainError::HostnameTaken) {
        let same_id = custom_domains::table.find(IdBytes::from(domain.id)).select(custom_domains::id);
        if same_id.first::<IdBytes>(connection).await.optional()?.is_some() {
            return Err(Failure::Other(format!("a domain with the id {} exists already", domain.id)));
        }
    }
    Ok(Err(refusal))
}

async fn update(
    connection: &mut &AsyncPgConnection,
    domain: &CustomDomain,
    checks: CheckPlan,
) -> Result<Result<(), UpdateCustomDomainError>, Failure> {
    let statement = UpdateDomain::of(domain, checks);
    // The savepoint keeps the transaction usable: PostgreSQL reports a taken hostname as an error, which would abort it.
    let may_be_refused = domain.status.holds_hostname();
    let (mut saving, mut updating) = (*connection, *connection);
    let save = async {
        if may_be_refused {
            saving.batch_execute("SAVEPOINT before_update").await?;
        }
        Ok(())
    };
    let update = async { Ok(statement.load::<IdBytes>(&mut updating).await) };
    match both(save, update).await?.1 {
        Ok(updated) if !updated.is_empty() => Ok(Ok(())),
        Ok(_) => Err(Failure::Other(format!("the domain {} was not locked", domain.id))),
        Err(error) if may_be_refused && is_taken(&error, HOLDER) => {
            connection.batch_execute("ROLLBACK TO SAVEPOINT before_update").await?;
            Ok(Err(UpdateCustomDomainError::HostnameTaken))
        }
        Err(error) => Err(error.into()),
    }
}

#[async_trait]
impl CustomDomainWrites for PostgresUnitOfWork {
    async fn lock_custom_domain(
        &mut self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        self.step(async |connection| {
            let lock = LockDomain { id: id.into(), account: account.into(), columns: WholeRow::as_select() };
            let found: Option<WholeRow> = lock.get_result(connection).await.optional()?;
            Ok(found.map(WholeRow::into_whole).transpose()?)
        })
        .await
    }

    async fn lock_claims(&mut self, account: AccountId, hostname: &Hostname) -> Result<Claims, StoreError> {
        self.step(async |connection| {
            let mut claims = Claims::default();
            for row in lock_named(connection, hostname).await? {
                if row.domain.is_of(account) {
                    claims.own = Some(row.into_scheduled()?);
                } else if row.domain.is_holder() {
                    claims.holder = Some(row.domain.into_domain()?);
                }
            }
            Ok(claims)
        })
        .await
    }

    async fn hold_custom_domains(
        &mut self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError> {
        if hostnames.is_empty() {
            return Ok(Vec::new());
        }
        let hostnames: Vec<&str> = hostnames.iter().map(Hostname::as_str).collect();
        self.step(async |connection| {
            let rows = custom_domains::table
                .filter(custom_domains::account_id.eq(IdBytes::from(account)))
                .filter(custom_domains::hostname.eq_any(hostnames))
                .order((custom_domains::hostname, custom_domains::id))
                .select(CustomDomainRow::as_select())
                // Blocks `FOR UPDATE`, but lets check plans be written.
                .for_key_share()
                .load(connection)
                .await?;
            Ok(rows.into_iter().map(CustomDomainRow::into_domain).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn insert_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
        domains_limit: u64,
    ) -> Result<(), InsertCustomDomainError> {
        self.step(async |connection| insert(connection, domain, checks, domains_limit).await).await?
    }

    async fn update_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
    ) -> Result<(), UpdateCustomDomainError> {
        self.step(async |connection| update(connection, domain, checks).await).await??;
        self.noted().note_domain(domain.account_id, &domain.hostname);
        Ok(())
    }

    async fn update_domain_settings(
        &mut self,
        domain: &CustomDomain,
        files: &DomainFiles,
    ) -> Result<(), StoreError> {
        let CustomDomain { id, account_id, hostname, .. } = domain;
        self.step(async |connection| {
            let update = UpdateSettings::of(domain, files);
            match update.get_result::<IdBytes>(connection).await.optional()? {
                Some(_) => Ok(()),
                None => Err(Failure::Other(format!("the domain {id} was not locked"))),
            }
        })
        .await?;
        self.noted().note_domain(*account_id, hostname);
        Ok(())
    }

    async fn record_observation(
        &mut self,
        account: AccountId,
        id: DomainId,
        observation: &DnsObservation,
    ) -> Result<(), StoreError> {
        self.step(async |connection| {
            let row = custom_domains::table.find(IdBytes::from(id));
            let written = diesel::update(row.filter(custom_domains::account_id.eq(IdBytes::from(account))))
                .set((
                    custom_domains::checked_at.eq(Instant::from(observation.checked_at)),
                    custom_domains::observed.eq(observation.records_to_json()),
                ))
                .execute(connection)
                .await?;
            match written {
                1 => Ok(()),
                _ => Err(Failure::Other(format!("the domain {id} was not locked"))),
            }
        })
        .await
    }

    async fn delete_custom_domain(&mut self, account: AccountId, id: DomainId) -> Result<bool, StoreError> {
        let deleted = self.step(async |connection| {
            let delete = DeleteDomain { id: id.into(), account: account.into() };
            let hostname: Option<String> = delete.get_result(connection).await.optional()?;
            if hostname.is_some() {
                counters::discount_one(connection, account, PlanResource::Domains).await?;
            }
            Ok(hostname)
        });
        let Some(hostname) = deleted.await? else { return Ok(false) };
        // A corrupt hostname could never be visited, so it must not block the deletion.
        if let Ok(hostname) = Hostname::from_stored(hostname) {
            self.noted().note_domain(account, &hostname);
        }
        Ok(true)
    }

    async fn lose_some_links(
        &mut self,
        whose: LinksOf,
        hostname: &Hostname,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        let lose = async |connection: &mut &AsyncPgConnection| {
            lose_some_links(connection, whose, hostname, at_most, now).await
        };
        let losers = self.step(lose).await?;
        for loser in &losers {
            self.noted().note_domain(loser.id(), hostname);
        }
        Ok(u16::try_from(losers.len()).unwrap_or(at_most))
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::Id;

    use super::*;

    /// The ranges of all accounts but one leave out exactly that account, also at both ends of the id space.
    #[test]
    fn all_but_one_account_are_the_ranges_on_both_sides_of_it() {
        let numbers = |whose| -> Vec<_> {
            let ranges = ranges(whose);
            ranges.into_iter().map(|(first, last)| (first.number(), last.number())).collect()
        };
        let account = |number: u128| Id::from_bytes(number.to_be_bytes());
        assert_eq!(numbers(LinksOf::Account(account(7))), [(7, 7)]);
        assert_eq!(numbers(LinksOf::AllBut(account(7))), [(0, 6), (8, u128::MAX)]);
        assert_eq!(numbers(LinksOf::AllBut(account(0))), [(1, u128::MAX)]);
        assert_eq!(numbers(LinksOf::AllBut(account(u128::MAX))), [(0, u128::MAX - 1)]);
    }
}
