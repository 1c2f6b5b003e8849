//! Segments of busy accounts, and one of all others.

use std::collections::{BTreeMap, HashMap};

use signpost_app::ports::ClickBatch;
use signpost_click_store::MAX_LISTED_ACCOUNTS;
use signpost_clicks::{BuiltSegment, SegmentBuilder};
use signpost_domain::AccountId;
use signpost_domain::analytics::{RecordedClick, RecordedKind};

/// An account with this many clicks in a round gets segments of its own, so that the reports of others need not read them.
const MIN_CLICKS_OF_OWN_SEGMENT: u32 = 1_000;

/// The number of clicks of each kind, in the order of [`RecordedKind::ALL`].
pub(crate) type KindCounts = [u64; RecordedKind::ALL.len()];

/// A segment, and its clicks by kind.
pub(crate) struct CountedSegment {
    pub(crate) segment: BuiltSegment,
    pub(crate) counts: KindCounts,
}

/// Builds the segments of a round.
#[derive(Default)]
pub(crate) struct AccountSegments {
    own: BTreeMap<AccountId, CountingBuilder>,
    shared: CountingBuilder,
    /// More builders like `shared`, if the store could not list a batch under all accounts of one, and the place of each of
    /// their accounts.
    more_shared: Vec<CountingBuilder>,
    places: HashMap<AccountId, usize>,
    finished: Vec<CountedSegment>,
}

#[derive(Default)]
struct CountingBuilder {
    builder: SegmentBuilder,
    counts: KindCounts,
}

impl AccountSegments {
    /// Starts a round with the clicks of these batches.
    pub(crate) fn of(batches: &[ClickBatch]) -> Self {
        let mut clicks: HashMap<AccountId, u32> = HashMap::new();
        for click in batches.iter().flat_map(ClickBatch::iter) {
            let count = clicks.entry(click.account).or_default();
            *count = count.saturating_add(1);
        }
        let is_busy = |clicks: u32| clicks >= MIN_CLICKS_OF_OWN_SEGMENT;
        let busy = clicks.iter().filter(|(_, clicks)| is_busy(**clicks));
        let own = busy.map(|(account, _)| (*account, CountingBuilder::default())).collect();
        let others = clicks.into_iter().filter(|(_, clicks)| !is_busy(*clicks));
        let beyond_first = others.skip(MAX_LISTED_ACCOUNTS).enumerate();
        let places: HashMap<AccountId, usize> =
            beyond_first.map(|(number, (account, _))| (account, number / MAX_LISTED_ACCOUNTS)).collect();
        let mut more_shared = Vec::new();
        more_shared.resize_with(places.len().div_ceil(MAX_LISTED_ACCOUNTS), CountingBuilder::default);
        Self { own, more_shared, places, ..Self::default() }
    }

    /// Adds a click. Clicks with the same `alike` number have the same values, except for country, widget and rule.
    pub(crate) fn push(&mut self, click: &RecordedClick<'_>, alike: Option<u64>) {
        let building = self.own.get_mut(&click.account).unwrap_or_else(|| {
            let place = self.places.get(&click.account);
            place.and_then(|place| self.more_shared.get_mut(*place)).unwrap_or(&mut self.shared)
        });
        if building.builder.push_alike(click, alike).is_err() {
            self.finished.extend(std::mem::take(building).finish());
            // An empty builder accepts any click.
            let _ = building.builder.push_alike(click, alike);
        }
        for (count, kind) in building.counts.iter_mut().zip(RecordedKind::ALL) {
            *count += u64::from(kind == click.kind);
        }
    }

    /// The segments of all clicks.
    pub(crate) fn finish(self) -> Vec<CountedSegment> {
        let Self { own, shared, more_shared, places: _, mut finished } = self;
        let building = own.into_values().chain([shared]).chain(more_shared);
        finished.extend(building.filter_map(CountingBuilder::finish));
        finished
    }
}

impl CountingBuilder {
    fn finish(self) -> Option<CountedSegment> {
        let Self { builder, counts } = self;
        Some(CountedSegment { segment: builder.finish()?, counts })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use signpost_app::ports::Click;
    use signpost_domain::analytics::{Values, VisitorHash};

    use super::*;
    use crate::testing::click;

    fn account(number: u16) -> AccountId {
        AccountId::from_bytes(u128::from(number).to_be_bytes())
    }

    /// The accounts of each segment of a round with this many clicks of each account.
    fn accounts(clicks: &[(u16, u32)]) -> Vec<HashSet<AccountId>> {
        let mut batch = ClickBatch::default();
        for (number, count) in clicks {
            let account = account(*number);
            for _ in 0..*count {
                assert!(batch.push(&Click { account, ..click() }, usize::MAX));
            }
        }
        let batches = [batch];
        let mut segments = AccountSegments::of(&batches);
        for Click { at, account, link, .. } in batches.iter().flat_map(ClickBatch::iter) {
            let (kind, visitor) = (RecordedKind::Bot, VisitorHash([0; 6]));
            let values = Values::default();
            segments.push(&RecordedClick { at, account, link, kind, visitor, values }, None);
        }
        let accounts_of = |CountedSegment { segment, counts }: CountedSegment| {
            assert_eq!(counts, [0, u64::from(segment.clicks), 0, 0]);
            let mut accounts = HashSet::new();
            signpost_clicks::read(&segment.data, |row| {
                accounts.insert(row.account);
            })
            .unwrap();
            accounts
        };
        segments.finish().into_iter().map(accounts_of).collect()
    }

    #[test]
    fn r46_busy_accounts_get_segments_of_their_own() {
        let set = |numbers: &[u16]| -> HashSet<_> { numbers.iter().copied().map(account).collect() };
        let clicks = [(1, 999), (2, 1_000), (3, 1), (4, 1_500)];
        assert_eq!(accounts(&clicks), [set(&[2]), set(&[4]), set(&[1, 3])]);
        assert_eq!(accounts(&[(1, 999), (2, 1)]), [set(&[1, 2])]);
        assert_eq!(accounts(&[(1, 1_000)]), [set(&[1])]);
    }

    #[test]
    fn r46_segments_have_few_enough_accounts_to_be_listed_under_them() {
        // Accounts take turns, so an order of arrival would mix all of them.
        let clicks: Vec<(u16, u32)> = (0..5_000).map(|number| (number % 2_500, 1)).collect();
        let sizes: Vec<usize> = accounts(&clicks).iter().map(HashSet::len).collect();
        assert_eq!(sizes, [1_000, 1_000, 500]);
    }
}
