//! The latest changes of a custom domain's status, for the person who wonders what happened to it (D39).

use crate::custom_domain_status::CustomDomainStatus;
use crate::failure_reason::FailureReason;
use crate::timestamp::Timestamp;

/// A status without its deadlines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusKind {
    /// Claimed, but not proven yet.
    Pending,
    /// Proven, and waiting for its certificate.
    SslPending,
    /// It serves links.
    Active,
    /// It serves no links, and does not hold the hostname.
    Failed,
}

impl StatusKind {
    const ALL: [Self; 4] = [Self::Pending, Self::SslPending, Self::Active, Self::Failed];

    /// The kind of a status.
    #[must_use]
    pub const fn of(status: CustomDomainStatus) -> Self {
        match status {
            CustomDomainStatus::Pending { .. } => Self::Pending,
            CustomDomainStatus::SslPending { .. } => Self::SslPending,
            CustomDomainStatus::Active { .. } => Self::Active,
            CustomDomainStatus::Failed => Self::Failed,
        }
    }

    /// The word in stores, which is also that of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::SslPending => "ssl_pending",
            Self::Active => "active",
            Self::Failed => "failed",
        }
    }
}

/// One change of a status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusChange {
    /// When it changed.
    pub at: Timestamp,
    /// The status since then.
    pub status: StatusKind,
    /// Why the domain failed, if it did and the reason is known.
    pub failure_reason: Option<FailureReason>,
}

/// The latest changes, oldest first. Rows of versions without a history have an empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusHistory(Vec<StatusChange>);

impl StatusHistory {
    /// How many changes are kept.
    pub const MAX_CHANGES: usize = 20;

    /// The history with one more change. The oldest one leaves if there are too many.
    #[must_use]
    pub fn with(&self, change: StatusChange) -> Self {
        Self::latest(self.0.iter().cloned().chain([change]).collect())
    }

    fn latest(mut changes: Vec<StatusChange>) -> Self {
        changes.drain(..changes.len().saturating_sub(Self::MAX_CHANGES));
        Self(changes)
    }

    /// The changes, oldest first.
    #[must_use]
    pub fn changes(&self) -> impl DoubleEndedIterator<Item = &StatusChange> {
        self.0.iter()
    }

    /// The stored format: a line for each change, with its instant in milliseconds since 1970, the status, and the reason
    /// of a failure. Stores append such lines themselves when deadlines pass.
    ///
    /// ```
    /// use signpost_domain::{StatusChange, StatusHistory, StatusKind, Timestamp};
    ///
    /// let claimed = StatusChange { at: Timestamp::EPOCH, status: StatusKind::Pending, failure_reason: None };
    /// let history = StatusHistory::default().with(claimed);
    /// assert_eq!(history.to_stored(), "0 pending");
    /// let expired = StatusHistory::from_stored("0 pending\n259200000 failed deadline_passed");
    /// assert_eq!(expired.changes().count(), 2);
    /// ```
    #[must_use]
    pub fn to_stored(&self) -> String {
        let line = |change: &StatusChange| {
            let StatusChange { at, status, failure_reason } = change;
            let reason = failure_reason.as_ref().map(|reason| format!(" {}", reason.as_str()));
            format!("{} {}{}", at.unix_millis(), status.as_str(), reason.unwrap_or_default())
        };
        let lines: Vec<String> = self.0.iter().map(line).collect();
        lines.join("\n")
    }

    /// Reads the stored format. An unreadable line is left out: the history only explains a domain, so it must not keep it
    /// from being shown or checked.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self::latest(text.lines().filter_map(change).collect())
    }
}

fn change(line: &str) -> Option<StatusChange> {
    let mut words = line.split(' ');
    let at = Timestamp::from_unix_millis(words.next()?.parse().ok()?)?;
    let word = words.next()?;
    let status = StatusKind::ALL.into_iter().find(|status| status.as_str() == word)?;
    Some(StatusChange { at, status, failure_reason: words.next().and_then(FailureReason::parse) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    #[test]
    fn d39_a_history_reads_back_as_it_was_stored() {
        let mut history = StatusHistory::default();
        assert_eq!(StatusHistory::from_stored(&history.to_stored()), history);
        for (number, status) in (0..).zip(StatusKind::ALL) {
            history = history.with(StatusChange { at: at(number), status, failure_reason: None });
            let failure_reason = FailureReason::parse("of_a_newer_version");
            history = history.with(StatusChange { at: Timestamp::LAST, status, failure_reason });
        }
        assert_eq!(StatusHistory::from_stored(&history.to_stored()), history);
    }

    #[test]
    fn d39_the_latest_twenty_changes_are_kept() {
        let mut history = StatusHistory::default();
        for number in 0..25 {
            history = history.with(StatusChange {
                at: at(number),
                status: StatusKind::Active,
                failure_reason: None,
            });
        }
        let kept: Vec<i64> = history.changes().map(|change| change.at.unix_millis()).collect();
        assert_eq!(kept, (5..25).collect::<Vec<_>>());
        let appended = format!("{}\n25 failed", history.to_stored());
        assert_eq!(StatusHistory::from_stored(&appended).changes().count(), StatusHistory::MAX_CHANGES);
    }

    #[test]
    fn d39_unreadable_lines_are_left_out() {
        for line in ["", "pending", "x pending", "1", "1 lost", "99999999999999999 failed"] {
            assert_eq!(StatusHistory::from_stored(line), StatusHistory::default(), "{line:?}");
        }
        assert_eq!(StatusHistory::from_stored("x\n1 failed No word\n").changes().count(), 1);
    }
}
