//! The most recent clicks of links.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use signpost_domain::analytics::{RecentClicks, RecordedKind};
use signpost_domain::{AccountId, LinkId, Timestamp};

use crate::MalformedSegment;
use crate::columns::{Run, kind_number};
use crate::decoded_segment::{Kinds, read_times};
use crate::numbers::index;
use crate::segment_reader::{Decoder, Segment};

/// Counts the clicks of a few links since an instant, and finds the last click of each.
#[derive(Debug)]
pub struct RecentCounter {
    account: AccountId,
    links: Vec<LinkId>,
    since: Timestamp,
    found: HashMap<LinkId, (u64, Option<Timestamp>), RandomState>,
}

impl RecentCounter {
    /// Counts for these links of an account.
    #[must_use]
    pub fn new(account: AccountId, links: &[LinkId], since: Timestamp) -> Self {
        let found = links.iter().map(|link| (*link, (0, None))).collect();
        Self { account, links: links.to_vec(), since, found }
    }

    /// Adds the clicks of a segment of any accounts and days. Add each segment once, in any order.
    pub fn add(&mut self, data: &[u8]) -> Result<(), MalformedSegment> {
        let Self { account, since, found, .. } = self;
        let wanted = |run: &Run, found: &HashMap<LinkId, _, RandomState>| {
            run.account == *account && found.contains_key(&run.link)
        };
        let mut new = Vec::new();
        each_click(data, |run| wanted(run, found), |run, at| new.push((run.link, at)))?;
        for (link, at) in new {
            if let Some((clicks, last)) = found.get_mut(&link) {
                *clicks += u64::from(at >= *since);
                *last = Some(last.map_or(at, |last| last.max(at)));
            }
        }
        Ok(())
    }

    /// One entry for each link, in order. `last` also considers clicks before `since`.
    #[must_use]
    pub fn finish(self) -> Vec<RecentClicks> {
        let Self { links, found, .. } = self;
        let entry = |link: LinkId| {
            let (clicks, last) = found.get(&link).copied().unwrap_or((0, None));
            RecentClicks { link, clicks, last }
        };
        links.into_iter().map(entry).collect()
    }
}

/// Calls `each` with the clicks of the selected runs.
fn each_click(
    data: &[u8],
    wanted: impl Fn(&Run) -> bool,
    mut each: impl FnMut(&Run, Timestamp),
) -> Result<(), MalformedSegment> {
    let (mut decoder, mut room) = (Decoder::new(), Vec::new());
    let segment = Segment::open(data, &mut decoder)?;
    let sections = segment.sections(&mut decoder, &mut room)?;
    let mut runs = Vec::new();
    segment.runs(&sections, &mut decoder, &mut room, &mut runs)?;
    let Some(last) = runs.iter().rposition(|run| wanted(&run.run)) else { return Ok(()) };
    runs.truncate(last + 1);
    let mut times = Vec::new();
    read_times(&segment, &runs, (&mut decoder, &mut room), &mut times)?;
    let kinds = Kinds::read(&segment, &mut decoder, &mut room)?;
    let mut begin = 0;
    for run in &runs {
        let end = begin + index(run.clicks);
        if wanted(&run.run) {
            let times = times.get(begin..end).unwrap_or_default();
            let clicks = |row: &usize| kinds.of(*row) == kind_number(RecordedKind::Click);
            for (time, _) in times.iter().zip(begin..).filter(|(_, row)| clicks(row)) {
                let millis = run.run.day.first().unix_millis() + i64::from(*time);
                if let Some(at) = Timestamp::from_unix_millis(millis) {
                    each(&run.run, at);
                }
            }
        }
        begin = end;
    }
    Ok(())
}
