//! The part of a migration that the program runs: the hosts of the targets that state them in another way than ASCII (ADR 83).

use signpost_domain::TargetUrl;
use tokio_postgres::{Error, Transaction};

/// How the folder of the migration is named, after its number.
const NAME: &str = "_international_target_hosts";

/// How many links are written by a statement.
const AT_ONCE: i32 = 1_000;

/// The redirects whose host the server cannot find in the target, in the order in which nodes lock them. They are locked so that no
/// node changes a target between the look at it and the writing of its host.
const FIND: &str = "SELECT id::text, target_url FROM links \
    WHERE kind = 1 AND host_of_target(target_url, NULL) COLLATE \"C\" !~ '^[a-z0-9._-]+$' ORDER BY links.id FOR NO KEY UPDATE";

const WRITE: &str = "UPDATE links AS l SET target_host = n.host \
    FROM unnest($1::text[], $2::text[]) AS n (id, host) WHERE l.id = n.id::uuid";

/// Completes a migration after its statements, if it is the one.
pub(crate) async fn complete(transaction: &Transaction<'_>, name: &str) -> Result<(), Error> {
    if !name.ends_with(NAME) {
        return Ok(());
    }
    let find = transaction.prepare(FIND).await?;
    let write = transaction.prepare(WRITE).await?;
    let found = transaction.bind(&find, &[]).await?;
    loop {
        let rows = transaction.query_portal(&found, AT_ONCE).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let (mut ids, mut hosts) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in rows {
            let (id, target): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            // A corrupt target has no host.
            if let Ok(target) = TargetUrl::from_stored(target) {
                ids.push(id);
                hosts.push(target.host().to_owned());
            }
        }
        transaction.execute(&write, &[&ids, &hosts]).await?;
    }
}
