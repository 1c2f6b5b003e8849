//! Sums up the values of a dimension over the days of a question.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use signpost_domain::LinkId;
use signpost_domain::analytics::ValueCounts;

/// Maximum number of values kept for a question's dimensions together. It bounds memory against a flood of
/// invented values.
pub(crate) const MAX_TALLIED: usize = 400_000;

/// Clicks and distinct visitors of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ValueSums {
    /// Clicks.
    pub(crate) clicks: u64,
    /// Distinct visitors among them.
    pub(crate) visitors: u64,
}

impl ValueSums {
    fn add(&mut self, other: Self) {
        self.clicks += other.clicks;
        self.visitors += other.visitors;
    }
}

/// The sums of a dimension.
#[derive(Debug)]
pub(crate) enum Tally {
    /// Sums of recorded values.
    Values {
        /// The sums by value.
        sums: HashMap<Box<str>, ValueSums, RandomState>,
        /// Maximum number of values.
        at_most: usize,
    },
    /// Sums of links.
    Links(HashMap<LinkId, ValueSums, RandomState>),
}

impl Tally {
    /// Starts with no recorded values.
    pub(crate) fn of_values(at_most: usize) -> Self {
        Self::Values { sums: HashMap::default(), at_most }
    }

    /// Starts with no links.
    pub(crate) fn of_links() -> Self {
        Self::Links(HashMap::default())
    }

    /// Adds the sums of a value on a day.
    pub(crate) fn add_value(&mut self, value: &str, counted: ValueSums) {
        let Self::Values { sums, at_most } = self else { return };
        if counted.clicks == 0 {
            return;
        }
        if let Some(known) = sums.get_mut(value) {
            known.add(counted);
            return;
        }
        if sums.len() >= *at_most {
            drop_rarest(sums, *at_most / 2);
        }
        sums.insert(value.into(), counted);
    }

    /// Adds the sums of a link on a day.
    pub(crate) fn add_link(&mut self, link: LinkId, counted: ValueSums) {
        if let Self::Links(sums) = self
            && counted.clicks > 0
        {
            sums.entry(link).or_default().add(counted);
        }
    }

    /// The values with the most clicks. Values with equal counts are in the order of values.
    pub(crate) fn finish(self, limit: usize) -> Vec<ValueCounts> {
        match self {
            Self::Values { sums, .. } => most(sums.into_iter().collect(), limit, Into::into),
            // Ids sort like their texts.
            Self::Links(sums) => most(sums.into_iter().collect(), limit, |link| link.to_string()),
        }
    }
}

fn most<K: Ord>(
    mut values: Vec<(K, ValueSums)>,
    limit: usize,
    text: impl Fn(K) -> String,
) -> Vec<ValueCounts> {
    values.sort_unstable_by(|one, other| other.1.clicks.cmp(&one.1.clicks).then_with(|| one.0.cmp(&other.0)));
    values
        .into_iter()
        .take(limit)
        .map(|(value, sums)| ValueCounts { value: text(value), clicks: sums.clicks, visitors: sums.visitors })
        .collect()
}

/// Keeps this many values, those with the most clicks. A dropped value had at most the average clicks per
/// kept value, so a value that appears again lacks at most that.
fn drop_rarest(sums: &mut HashMap<Box<str>, ValueSums, RandomState>, keep: usize) {
    let mut clicks: Vec<u64> = sums.values().map(|sums| sums.clicks).collect();
    let at = clicks.len().saturating_sub(keep).min(clicks.len().saturating_sub(1));
    if clicks.is_empty() {
        return;
    }
    let (_, least, _) = clicks.select_nth_unstable(at);
    let least = *least;
    let more = sums.values().filter(|sums| sums.clicks > least).count();
    let mut room_for_equals = keep.saturating_sub(more);
    sums.retain(|_, sums| {
        let kept_equal = sums.clicks == least && room_for_equals > 0;
        room_for_equals -= usize::from(kept_equal);
        sums.clicks > least || kept_equal
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d46_values_are_ordered_by_clicks_then_value_and_limited() {
        let mut tally = Tally::of_values(10);
        for (value, clicks) in [("b", 2), ("a", 2), ("c", 5), ("d", 0), ("e", 1), ("b", 1)] {
            tally.add_value(value, ValueSums { clicks, visitors: 1 });
        }
        let values: Vec<_> = tally.finish(3).into_iter().map(|found| (found.value, found.clicks)).collect();
        assert_eq!(values, [("c".to_owned(), 5), ("b".to_owned(), 3), ("a".to_owned(), 2)]);
    }

    #[test]
    fn frequent_values_stay_exact_in_a_flood_of_values() {
        let mut tally = Tally::of_values(100);
        for flood in 0..10_000 {
            tally.add_value(&format!("flood-{flood}"), ValueSums { clicks: 1, visitors: 1 });
            tally.add_value(["one", "two", "three"][flood % 3], ValueSums { clicks: 2, visitors: 1 });
        }
        if let Tally::Values { sums, .. } = &tally {
            assert!(sums.len() <= 100);
        }
        let values: Vec<_> = tally.finish(3).into_iter().map(|found| (found.value, found.clicks)).collect();
        assert_eq!(
            values,
            [("one".to_owned(), 6_668), ("three".to_owned(), 6_666), ("two".to_owned(), 6_666)]
        );
    }
}
