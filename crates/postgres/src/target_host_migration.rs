//! The part of a migration that the program runs: the hosts of the targets that state them in another way than ASCII (ADR 83).

use signpost_domain::TargetUrl;
use tokio_postgres::{Client, Error};

/// How the folder of the migration is named, after its number.
const NAME: &str = "_international_target_hosts";

/// How many links are read and written in one transaction. Clients that change one of them wait for its end.
const AT_ONCE: i64 = 500;

/// Precedes the ids of all links.
const BEFORE_ALL: &str = "00000000-0000-0000-0000-000000000000";

/// The next redirects whose host the server cannot find in the target, in the order in which nodes lock them. They are locked so that
/// no node changes a target between the look at it and the writing of its host.
const FIND: &str = "SELECT id::text, target_url FROM links WHERE kind = 1 AND links.id > $1::text::uuid \
    AND host_of_target(target_url, NULL) COLLATE \"C\" !~ '^[a-z0-9._-]+$' ORDER BY links.id LIMIT $2 FOR NO KEY UPDATE";

const WRITE: &str = "UPDATE links AS l SET target_host = n.host \
    FROM unnest($1::text[], $2::text[]) AS n (id, host) WHERE l.id = n.id::uuid";

/// Prepares a migration before its transaction, if it is the one. It commits in steps, because one transaction would keep the links
/// locked for too long. If it ends early, it begins again.
pub(crate) async fn prepare(client: &mut Client, name: &str) -> Result<(), Error> {
    if !name.ends_with(NAME) {
        return Ok(());
    }
    let find = client.prepare(FIND).await?;
    let write = client.prepare(WRITE).await?;
    let mut last = BEFORE_ALL.to_owned();
    loop {
        let transaction = client.transaction().await?;
        let rows = transaction.query(&find, &[&last, &AT_ONCE]).await?;
        if rows.is_empty() {
            return Ok(());
        }
        let (mut ids, mut hosts) = (Vec::with_capacity(rows.len()), Vec::with_capacity(rows.len()));
        for row in rows {
            let target: String = row.try_get(1)?;
            last = row.try_get(0)?;
            // A corrupt target has no host.
            if let Ok(target) = TargetUrl::from_stored(target) {
                ids.push(last.clone());
                hosts.push(target.host().to_owned());
            }
        }
        transaction.execute(&write, &[&ids, &hosts]).await?;
        transaction.commit().await?;
    }
}
