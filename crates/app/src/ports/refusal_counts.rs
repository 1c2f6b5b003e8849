//! How often this node has refused something.

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refused {
    /// Requests to the API, by error code.
    ApiRequests,
    /// Visits that reached no link, by reason.
    Visits,
    /// Sign-ins and confirmations of people.
    SignIns,
    /// Requests to the dashboard beyond a limit, sign-ins among them.
    DashboardRequests,
}

/// How often something was refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusalCount {
    /// What was refused.
    pub refused: Refused,
    /// The label of the reason in the metrics, such as `country`; empty if there is only one.
    pub reason: String,
    /// How often, since the program started.
    pub times: u64,
}

/// Counts what this node refuses.
pub trait RefusalCounts: Send + Sync {
    /// Every count that is not 0, sorted by what was refused and by reason.
    fn since_start(&self) -> Vec<RefusalCount>;
}
