//! The rows of the change log: how changes are written and read.

use std::collections::BTreeSet;

use diesel::prelude::*;
use signpost_app::ports::{Affected, ChangeId, LoggedChange, VisibleChange};
use signpost_domain::{Address, Hostname};
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{address_columns, address_from};

use crate::failure::Failure;
use crate::schema::changes;

/// The table's name.
pub(crate) const TABLE: &str = "changes";

/// A change: number, account, addresses and hostname.
pub(crate) type LoggedRow = (i64, Vec<u8>, Option<String>, Option<String>);

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

/// The change of a row.
pub(crate) fn logged_change((number, account, lines, hostname): LoggedRow) -> Result<LoggedChange, Failure> {
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
