//! Whether the database and Redis can be used.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{CountId, MergingQuotaStore as _};
use signpost_redis::{RedisOptions, RedisQuotaStore, RedisUrl};
use signpost_sqlite::{DatabaseFile, OpenError, upgrade_to_undo};

use tokio::time::timeout;

use super::finding::Finding;
use crate::open_files::connections_to_postgres;
use crate::settings::{CommonSettings, Database};
use crate::store_wiring::postgres_options;
use crate::system::SystemClock;
use crate::with_causes;

const SUBJECT: &str = "database";

/// How long Redis has to answer.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Whether the database answers, has the tables of this version, and has enough connections.
pub(super) async fn check(common: &CommonSettings) -> Vec<Finding> {
    match &common.database {
        Database::File(file) => vec![embedded(file, common)],
        Database::Server(url) => {
            let mut findings = vec![server(&common.database, url.expose()).await];
            findings.extend(connections(common, url.expose()).await);
            findings
        }
    }
}

fn embedded(file: &DatabaseFile, common: &CommonSettings) -> Finding {
    let path = file.path().display();
    if !file.path().exists() {
        return Finding::ok(SUBJECT, format!("{path} does not exist yet; the first start creates it"));
    }
    // The service's user writes to it; a file that this user cannot write to is a sign of wrong rights.
    if let Err(error) = std::fs::File::options().write(true).open(file.path()) {
        return Finding::fail(
            SUBJECT,
            format!("{path} cannot be written to: {error}"),
            format!("Give it to the user of the service: chown --reference=$(dirname {path}) {path}"),
        );
    }
    let pending = [file.clone(), file.of_clicks()].into_iter().filter(|file| file.path().exists()).try_fold(
        0,
        |count, file| {
            signpost_sqlite::pending_migrations(&file, common.store_timeout)
                .map(|pending| count + pending.len())
        },
    );
    match pending {
        Ok(0) => Finding::ok(SUBJECT, format!("{path} has the tables of this version")),
        Ok(_) => Finding::warn(
            SUBJECT,
            format!("{path} is from an earlier version"),
            "The next start copies and upgrades it; to do so now: signpost migrate",
        ),
        Err(error @ OpenError::Newer { .. }) => {
            let advice = upgrade_to_undo(file).map_or_else(
                || "Start the newer version again".to_owned(),
                |version| {
                    format!("Start the newer version again, or undo its upgrade: signpost restore --before {version}")
                },
            );
            Finding::fail(SUBJECT, error.to_string(), advice)
        }
        Err(error) => Finding::refusal(SUBJECT, error.to_string()),
    }
}

async fn server(database: &Database, url: &str) -> Finding {
    match signpost_postgres::pending_migrations(url).await {
        Ok(pending) if pending.is_empty() => {
            Finding::ok(SUBJECT, format!("{database} has the tables of this version"))
        }
        Ok(pending) => Finding::fail(
            SUBJECT,
            format!("{database} lacks {} migrations of this version", pending.len()),
            "Run: signpost migrate",
        ),
        Err(error) => Finding::fail(
            SUBJECT,
            format!("{database}: {error}"),
            "Try the value of `database-url` with the server's own tool, psql",
        ),
    }
}

/// Whether the server allows as many connections as this node opens. `None` if it does not say; then another line says why.
async fn connections(common: &CommonSettings, url: &str) -> Option<Finding> {
    let capacity = signpost_postgres::capacity(url).await.ok()?;
    let of_requests = postgres_options(common.store_timeout, common.pool).connections;
    let needed = connections_to_postgres(of_requests);
    let allowed = capacity.allowed();
    Some(if needed <= allowed {
        Finding::ok(
            SUBJECT,
            format!(
                "PostgreSQL {} allows {allowed} connections; this node opens {needed} at most",
                capacity.version
            ),
        )
    } else {
        Finding::fail(
            SUBJECT,
            format!(
                "PostgreSQL {} allows {allowed} connections, but this node opens up to {needed}",
                capacity.version
            ),
            "Raise max_connections of the server, or lower `database-connections`",
        )
    })
}

/// Whether Redis takes a write without effect.
pub(super) async fn check_redis(url: &RedisUrl) -> Finding {
    let refused = |reason: String| {
        Finding::warn(
            "redis",
            format!("Redis cannot be used: {reason}"),
            "Each node counts requests alone until it can; check that the server runs, and `redis-url`",
        )
    };
    let redis = match RedisQuotaStore::open(url.clone(), RedisOptions::default(), Arc::new(SystemClock)) {
        Ok(redis) => redis,
        Err(error) => return refused(error.to_string()),
    };
    match timeout(TIME_LIMIT, redis.try_write(CountId::from_u128(0))).await {
        Ok(Ok(_)) => Finding::ok("redis", "Redis answers"),
        Ok(Err(error)) => refused(with_causes(&anyhow::Error::from(error))),
        Err(_) => refused(format!("no answer within {} s", TIME_LIMIT.as_secs())),
    }
}
