//! The limit of open files, and how many connections fit below it.

use std::num::NonZeroUsize;

use signpost_listener::ListenerOptions;

use crate::listeners;
use crate::settings::{CommonSettings, Database, ServeSettings};
use crate::store_wiring::postgres_options;

/// Files that the program opens beside connections of clients and of the database. They are for the embedded
/// database, Redis, DNS queries, and files that it imports or reads again.
const OTHER_FILES: usize = 64;

/// Files that each thread with its own runtime has open.
const FILES_OF_A_RUNTIME: usize = 4;

/// The minimum number of connections of a listener. With fewer it could not serve.
const MIN_CONNECTIONS: usize = 16;

/// The maximum number of connections of the metrics listener, which has few clients.
const MAX_FOR_METRICS: usize = 256;

/// How many connections the listeners may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// The API, the link listener, the dashboard and the listener of HTTPS each.
    pub(crate) each: usize,
    /// The listener for metrics.
    pub(crate) metrics: usize,
}

impl Connections {
    /// As many as the settings want, if they fit below `limit`, the system's limit of open files.
    pub(crate) fn of_settings(
        common: &CommonSettings,
        settings: &ServeSettings,
        limit: Option<usize>,
    ) -> Self {
        let of_database = match common.database {
            Database::File(_) => 0,
            Database::Server(_) => {
                connections_to_postgres(postgres_options(common.store_timeout, common.pool).connections)
            }
        };
        // The API, the links, the dashboard and HTTPS.
        let listeners = if settings.https.is_some() { 4 } else { 3 };
        // Their threads, one for metrics, and the main runtime.
        let runtimes = listeners * listeners::workers().get() + 2;
        let others = of_database + runtimes * FILES_OF_A_RUNTIME;
        Self::within(limit, others, settings.plain.max_connections.get(), listeners)
    }

    /// As many as `wanted` for each of so many `listeners`, if they fit below `limit` together with `others`, the files that
    /// the program opens for other purposes.
    fn within(limit: Option<usize>, others: usize, wanted: usize, listeners: usize) -> Self {
        let left = limit.map_or(usize::MAX, |limit| limit.saturating_sub(OTHER_FILES + others));
        let metrics = ListenerOptions::connections_within(left / 8).clamp(MIN_CONNECTIONS, MAX_FOR_METRICS);
        let left = left.saturating_sub(ListenerOptions::files_for(metrics));
        let each = ListenerOptions::connections_within(left / listeners.max(1)).max(MIN_CONNECTIONS);
        Self { each: wanted.min(each), metrics }
    }
}

/// How many connections to PostgreSQL the store opens at most, if `of_requests` serve requests.
pub(crate) fn connections_to_postgres(of_requests: NonZeroUsize) -> usize {
    /// One for health checks, two for the node's own work, and two to store and pack clicks.
    const OF_THE_NODE: usize = 5;
    let of_requests = of_requests.get();
    // With fewer than four, the connection for shared reads comes on top.
    let shared_reads = usize::from(of_requests < 4);
    let visits = (of_requests / 8).max(1);
    // As many for short questions about clicks as for long ones.
    let click_questions = 2 * visits.max(2);
    of_requests + shared_reads + visits + click_questions + OF_THE_NODE
}

/// Raises the limit of open files as far as the system allows, and returns it. `None` if there is no limit.
pub(crate) fn raise_limit() -> Option<usize> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // If the system refuses, the limit stays as it was.
        let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
        let limit = if raised.is_ok() { maximum } else { current };
        limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }
    #[cfg(not(unix))]
    {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r25_connections_stay_below_the_limit_of_open_files() {
        for limit in 300..5_000 {
            for (others, listeners) in [(0, 3), (10, 3), (42, 3), (42, 4)] {
                let Connections { each, metrics } =
                    Connections::within(Some(limit), others, 10_000, listeners);
                let files =
                    listeners * ListenerOptions::files_for(each) + ListenerOptions::files_for(metrics);
                let fits = files + OTHER_FILES + others <= limit;
                assert!(
                    fits || each == MIN_CONNECTIONS,
                    "{limit}: {each} and {metrics} connections take {files} files"
                );
            }
        }
    }

    #[test]
    fn a_high_limit_allows_all_wanted_connections() {
        for limit in [None, Some(65_536), Some(1_048_576)] {
            let expected = Connections { each: 10_000, metrics: MAX_FOR_METRICS };
            assert_eq!(Connections::within(limit, 42, 10_000, 4), expected);
        }
        assert_eq!(Connections::within(None, 0, 20, 3).each, 20);
        assert_eq!(
            Connections::within(Some(10), 42, 10_000, 3),
            Connections { each: MIN_CONNECTIONS, metrics: MIN_CONNECTIONS }
        );
    }

    /// The numbers of `docs/operations.md`.
    #[test]
    fn r25_all_connections_to_postgres_count_as_open_files() {
        for (of_requests, all) in [(1, 12), (3, 14), (4, 14), (8, 18), (16, 27), (64, 93)] {
            assert_eq!(
                connections_to_postgres(NonZeroUsize::new(of_requests).unwrap()),
                all,
                "{of_requests}"
            );
        }
    }
}
