//! The limit of open files, and how many connections fit below it.

use signpost_listener::ListenerOptions;

/// How many files the program wants beside connections of clients and of the database: the database's own files, Redis,
/// questions to name servers, files that are imported or read again.
const OTHER_FILES: usize = 64;

/// How many files each thread with a runtime of its own has open.
pub(crate) const FILES_OF_A_RUNTIME: usize = 4;

/// The fewest connections of a listener. With fewer it could not serve anybody.
const FEWEST: usize = 16;

/// The most connections of the listener for metrics: few ever ask for them.
const MOST_FOR_METRICS: usize = 256;

/// How many connections the listeners may hold at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Connections {
    /// The API and the link listener each.
    pub(crate) each: usize,
    /// The listener for metrics.
    pub(crate) metrics: usize,
}

impl Connections {
    /// As many as the operator says, if they fit below `limit` together with `others`, the files that the program has open
    /// for something else.
    pub(crate) fn within(limit: Option<usize>, others: usize, wanted: usize) -> Self {
        let left = limit.map_or(usize::MAX, |limit| limit.saturating_sub(OTHER_FILES + others));
        let metrics = ListenerOptions::connections_within(left / 8).clamp(FEWEST, MOST_FOR_METRICS);
        let left = left.saturating_sub(ListenerOptions::files_for(metrics));
        let each = ListenerOptions::connections_within(left / 2).max(FEWEST);
        Self { each: wanted.min(each), metrics }
    }
}

/// Raises the limit of open files to what the system allows the program, and answers with it. `None` if there is no limit.
pub(crate) fn raise_limit() -> Option<usize> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        // Where this is refused, the limit stays what it was.
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
            for others in [0, 10, 42] {
                let Connections { each, metrics } = Connections::within(Some(limit), others, 10_000);
                let files = 2 * ListenerOptions::files_for(each) + ListenerOptions::files_for(metrics);
                let fits = files + OTHER_FILES + others <= limit;
                assert!(
                    fits || each == FEWEST,
                    "{limit}: {each} and {metrics} connections take {files} files"
                );
            }
        }
    }

    #[test]
    fn as_many_connections_as_wanted_where_the_limit_is_high() {
        for limit in [None, Some(65_536), Some(1_048_576)] {
            let expected = Connections { each: 10_000, metrics: MOST_FOR_METRICS };
            assert_eq!(Connections::within(limit, 42, 10_000), expected);
        }
        assert_eq!(Connections::within(None, 0, 20).each, 20);
        assert_eq!(Connections::within(Some(10), 42, 10_000), Connections { each: FEWEST, metrics: FEWEST });
    }
}
