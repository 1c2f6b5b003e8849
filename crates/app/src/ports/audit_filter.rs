//! Which entries of the audit are wanted.

use std::time::Duration;

use signpost_domain::{AuditAction, AuditActor, AuditEntry, Timestamp};

/// How many entries of its scope one read of a filtered audit looks at, at most.
pub const AUDIT_ENTRIES_SEARCHED: u16 = 2_000;

/// By how much the order of entries by their ids may differ from the order by their instants. Nodes take both from their own
/// clocks.
pub const AUDIT_CLOCKS_DIFFER: Duration = Duration::from_hours(1);

/// Conditions on entries of the audit. One that is `None` holds for every entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// What was done.
    pub action: Option<AuditAction>,
    /// Who did it.
    pub actor: Option<AuditActor>,
    /// A part of the object. The case of ASCII letters makes no difference.
    pub text: Option<String>,
    /// The first instant.
    pub from: Option<Timestamp>,
    /// The instant before which it was done.
    pub until: Option<Timestamp>,
}

impl AuditFilter {
    /// Whether all conditions hold for an entry.
    #[must_use]
    pub fn holds_for(&self, entry: &AuditEntry) -> bool {
        let Self { action, actor, text, from, until } = self;
        action.is_none_or(|action| entry.action == action)
            && actor.is_none_or(|actor| entry.actor == actor)
            && text
                .as_ref()
                .is_none_or(|text| entry.object.to_ascii_lowercase().contains(&text.to_ascii_lowercase()))
            && from.is_none_or(|from| entry.at >= from)
            && until.is_none_or(|until| entry.at < until)
    }

    /// The instant by which entries are skipped that are too new, with room for clocks that differ.
    #[must_use]
    pub fn skipped_until(&self) -> Option<Timestamp> {
        self.until.map(|until| until.plus(AUDIT_CLOCKS_DIFFER))
    }

    /// The instant from which on entries are looked at, with room for clocks that differ.
    #[must_use]
    pub fn searched_from(&self) -> Option<Timestamp> {
        let slack = i64::try_from(AUDIT_CLOCKS_DIFFER.as_millis()).unwrap_or(i64::MAX);
        self.from.map(|from| {
            Timestamp::from_unix_millis(from.unix_millis().saturating_sub(slack)).unwrap_or(Timestamp::EPOCH)
        })
    }
}
