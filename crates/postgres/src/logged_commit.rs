//! Commits that write their changes to the change log.

use diesel::QueryResult;
use diesel::sql_types::{Array, Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl, SimpleAsyncConnection};
use signpost_app::ports::{Affected, VisibleChange};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::address_columns;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::{both, statement};

statement! {
    /// Logs one change for each of the given accounts.
    LogChange -> Bool {
        accounts: Vec<IdBytes> => Array<Identifier>,
        hosts: Option<Vec<String>> => Nullable<Array<Text>>,
        slugs: Option<Vec<String>> => Nullable<Array<Text>>,
        hostname: Option<String> => Nullable<Text>,
    } =
    "INSERT INTO changes (account_id, hosts, slugs, hostname) SELECT a.id, $2, $3, $4 FROM unnest($1) AS a (id)"
}

impl LogChange {
    fn of(change: VisibleChange) -> Self {
        let VisibleChange { account, affected } = change;
        let accounts = vec![account.into()];
        match affected {
            Affected::Account => Self { accounts, hosts: None, slugs: None, hostname: None },
            Affected::Domain(hostname) => {
                Self { accounts, hosts: None, slugs: None, hostname: Some(hostname.as_str().to_owned()) }
            }
            Affected::Addresses(addresses) => {
                let (hosts, slugs) = addresses.iter().map(address_columns).unzip();
                Self { accounts, hosts: Some(hosts), slugs: Some(slugs), hostname: None }
            }
        }
    }
}

/// Prepares the logging statement on a new connection, so that [`log_and_commit`] saves a round trip. This runs before the
/// connection is lent.
pub(crate) async fn prepare(mut connection: &AsyncPgConnection) -> QueryResult<()> {
    let nothing = LogChange { accounts: vec![], hosts: None, slugs: None, hostname: None };
    nothing.execute(&mut connection).await.map(drop)
}

/// Commits a transaction with its changes in the log. The last change, usually the only one, is pipelined with the COMMIT,
/// so logging costs no extra round trip.
pub(crate) async fn log_and_commit(
    connection: &AsyncPgConnection,
    mut changes: Vec<VisibleChange>,
) -> Result<(), Failure> {
    let (mut logging, mut committing) = (connection, connection);
    let Some(last) = changes.pop() else { return Ok(committing.batch_execute("COMMIT").await?) };
    for change in changes {
        LogChange::of(change).execute(&mut logging).await?;
    }
    let log = async { Ok(LogChange::of(last).execute(&mut logging).await?) };
    // After a failed statement, COMMIT silently rolls back. The result of the logging statement reports that failure.
    let commit = async { Ok(committing.batch_execute("COMMIT").await?) };
    both(log, commit).await.map(drop)
}
