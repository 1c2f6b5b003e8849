//! Counting the changes that this node is told of.

use super::change_feed::{ChangeSubscriber, Origin};
use crate::ports::VisibleChange;

const CHANGES: &str = "signpost_changes_total";
const GAPS: &str = "signpost_change_gaps_total";

/// Shows in the metrics how many changes this node has been told of, and how often some may have been missed.
#[derive(Debug)]
pub struct ChangeCounter(());

impl ChangeCounter {
    /// Makes the metrics known.
    #[must_use]
    pub fn new() -> Self {
        metrics::describe_counter!(
            CHANGES,
            "Changes that visitors can see, by how this node knows of them: `own`, or read from the `log`."
        );
        metrics::describe_counter!(
            GAPS,
            "How often this node had to take it that anything may have changed."
        );
        for origin in [Origin::ThisNode, Origin::Log] {
            metrics::counter!(CHANGES, "origin" => label(origin)).increment(0);
        }
        metrics::counter!(GAPS).increment(0);
        Self(())
    }
}

impl Default for ChangeCounter {
    fn default() -> Self {
        Self::new()
    }
}

impl ChangeSubscriber for ChangeCounter {
    fn changed(&self, _: &VisibleChange, origin: Origin) {
        metrics::counter!(CHANGES, "origin" => label(origin)).increment(1);
    }

    fn anything_may_have_changed(&self) {
        metrics::counter!(GAPS).increment(1);
    }
}

const fn label(origin: Origin) -> &'static str {
    match origin {
        Origin::ThisNode => "own",
        Origin::Log => "log",
    }
}
