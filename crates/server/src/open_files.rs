//! The limit of open files, and how many connections fit below it.

use signpost_listener::ListenerOptions;

/// How many files the program wants beside connections of clients and of the database: the database's own files, Redis,
/// questions to name servers, files that are imported or read again.
const OTHER_FILES: usize = 64;

/// Those of the listener for metrics.
const METRICS_FILES: usize = 64;

/// The fewest connections of a listener. With fewer it could not serve anybody.
const FEWEST: usize = 16;

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

/// How many connections the API and the link listener may each hold at once: as many as the operator says, if they fit
/// below `limit` together with `others`, the files that the program has open for something else.
pub(crate) fn connections(wanted: usize, limit: Option<usize>, others: usize) -> usize {
    let Some(limit) = limit else { return wanted };
    let left = limit.saturating_sub(OTHER_FILES + METRICS_FILES + others);
    let fits = ListenerOptions::connections_within(left / 2).max(FEWEST);
    wanted.min(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r25_connections_stay_below_the_limit_of_open_files() {
        for limit in 300..5_000 {
            for others in [0, 10, 42] {
                let each = connections(10_000, Some(limit), others);
                let files = 2 * ListenerOptions::files_for(each) + OTHER_FILES + METRICS_FILES + others;
                assert!(files <= limit || each == FEWEST, "{limit}: {each} connections take {files} files");
            }
        }
        assert_eq!(connections(10_000, None, 42), 10_000);
        assert_eq!(connections(10_000, Some(1_048_576), 42), 10_000);
        assert_eq!(connections(20, Some(1_048_576), 42), 20);
        assert_eq!(connections(10_000, Some(10), 42), FEWEST);
    }
}
