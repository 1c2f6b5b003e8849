//! The change log: numbered rows. There is one writer, so rows become visible in the order of their numbers.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use signpost_app::ports::{
    Affected, ChangeId, ChangeLog, ChangePosition, LoggedChange, ReadChanges, StoreError, VisibleChange,
};
use signpost_domain::{Address, Hostname};

use crate::failure::Failure;
use crate::schema::{changes, sqlite_sequence};
use crate::store::SqliteStore;
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{address_columns, address_from};

const TABLE: &str = "changes";

/// A change: number, account, addresses and hostname.
type LoggedRow = (i64, Vec<u8>, Option<String>, Option<String>);

/// Writes changes to the log, as the last step of their unit of work.
pub(crate) fn log(connection: &mut SqliteConnection, made: &[VisibleChange]) -> Result<(), Failure> {
    for VisibleChange { account, affected } in made {
        let (addresses, hostname) = match affected {
            Affected::Account => (None, None),
            Affected::Addresses(addresses) => (Some(lines(addresses)), None),
            Affected::Domain(hostname) => (None, Some(hostname.as_str())),
        };
        diesel::insert_into(changes::table)
            .values((
                changes::account_id.eq(IdBytes::from(*account)),
                changes::addresses.eq(addresses),
                changes::hostname.eq(hostname),
            ))
            .execute(connection)?;
    }
    Ok(())
}

fn lines(addresses: &BTreeSet<Address>) -> String {
    let lines = addresses.iter().map(|address| {
        let (host, slug) = address_columns(address);
        format!("{host}/{slug}")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn addresses(row: &RowName, lines: &str) -> Result<BTreeSet<Address>, Corrupt> {
    let address = |line: &str| {
        let (host, slug) = row.present("addresses", line.split_once('/'))?;
        address_from(row, host.to_owned(), slug.to_owned())
    };
    lines.lines().map(address).collect()
}

/// The highest number ever assigned; 0 before the first row.
fn end(connection: &mut SqliteConnection) -> Result<i64, Failure> {
    let number = sqlite_sequence::table.find(TABLE).select(sqlite_sequence::seq);
    Ok(number.first(connection).optional()?.unwrap_or(0))
}

fn read(connection: &mut SqliteConnection, position: i64, at_most: u32) -> Result<ReadChanges, Failure> {
    let end = end(connection)?;
    let too_many = ReadChanges::TooMany { position: ChangePosition::from_store(end) };
    let wanted = end.checked_sub(position).filter(|wanted| (0..=i64::from(at_most)).contains(wanted));
    let Some(wanted) = wanted else { return Ok(too_many) };
    if wanted == 0 {
        return Ok(ReadChanges::These { changes: vec![], position: ChangePosition::from_store(end) });
    }
    let rows: Vec<LoggedRow> = changes::table
        .filter(changes::number.gt(position))
        .filter(changes::number.le(end))
        .order(changes::number)
        .select((changes::number, changes::account_id, changes::addresses, changes::hostname))
        .load(connection)?;
    // Numbers have no gaps, so a missing row was deleted.
    if i64::try_from(rows.len()) != Ok(wanted) {
        return Ok(too_many);
    }
    let changes = rows.into_iter().map(logged_change).collect::<Result<_, _>>()?;
    Ok(ReadChanges::These { changes, position: ChangePosition::from_store(end) })
}

fn logged_change((number, account, lines, hostname): LoggedRow) -> Result<LoggedChange, Failure> {
    let row = RowName::new(TABLE, number);
    let account = row.id("account_id", &account.into())?;
    let affected = match (lines, hostname) {
        (None, None) => Affected::Account,
        (Some(lines), None) => Affected::Addresses(addresses(&row, &lines)?),
        (None, Some(hostname)) => Affected::Domain(row.cell("hostname", Hostname::from_stored(hostname))?),
        (Some(_), Some(_)) => return Err(row.corrupt("hostname", "is set together with addresses").into()),
    };
    let id = ChangeId::from_bytes(i128::from(number).to_be_bytes());
    Ok(LoggedChange { id, change: VisibleChange { account, affected } })
}

#[async_trait]
impl ChangeLog for SqliteStore {
    async fn end_of_changes(&self) -> Result<ChangePosition, StoreError> {
        self.readers().read(|connection| Ok(ChangePosition::from_store(end(connection)?))).await
    }

    async fn changes_since(&self, position: ChangePosition, at_most: u32) -> Result<ReadChanges, StoreError> {
        self.readers().read(move |connection| read(connection, position.to_store(), at_most)).await
    }

    async fn forget_changes(&self, kept: Duration, at_most: u32) -> Result<u64, StoreError> {
        let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let forget = move |connection: &mut SqliteConnection| {
            let last =
                sql::<BigInt>("CAST(unixepoch('subsec') * 1000 AS INTEGER) - ").bind::<BigInt, _>(kept);
            let old: Vec<i64> = changes::table
                .filter(changes::at.le(last))
                .order(changes::at)
                .select(changes::number)
                .limit(at_most.into())
                .load(connection)?;
            if old.is_empty() {
                return Ok(0);
            }
            Ok(diesel::delete(changes::table.filter(changes::number.eq_any(old))).execute(connection)?)
        };
        Ok(u64::try_from(self.write(forget).await?).unwrap_or_default())
    }
}
