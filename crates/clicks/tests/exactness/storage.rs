//! A miniature store: an inbox of batches, packed and sealed segments, digests.

use std::collections::BTreeMap;

use signpost_clicks::{
    DayNeeds, DigestScope, PackedSegment, Packer, RecentCounter, Round, Scanner, SegmentBuilder, Selector,
    digest, seal,
};
use signpost_domain::analytics::{
    ClickId, ClickSelection, ExportedClick, Question, RecentClicks, Report, UtcDay,
};
use signpost_domain::{AccountId, LinkId, Timestamp};

use crate::model::Row;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Inbox,
    Packed,
    Sealed,
}

#[derive(Debug, Default)]
pub(crate) struct Storage {
    rows: Vec<(Row, State)>,
    inbox: Vec<Vec<u8>>,
    packed: BTreeMap<(AccountId, UtcDay), Vec<PackedSegment>>,
    sealings: usize,
}

/// Whether a day is answered from digests where they exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Digests,
    Segments,
    /// With very little memory, so that a day's visitors are counted in several passes.
    SegmentsInPasses,
    /// With at most two segments of a day in memory.
    SegmentsInParts,
    /// Both.
    SegmentsInPassesAndParts,
}

impl Storage {
    pub(crate) fn append(&mut self, rows: &[Row]) {
        let mut builder = SegmentBuilder::new();
        for row in rows {
            builder.push(&row.click()).unwrap();
        }
        let Some(built) = builder.finish() else { return };
        assert_eq!(usize::try_from(built.clicks).unwrap(), rows.len());
        assert_eq!(Some(built.first), rows.iter().map(|row| row.at).min());
        assert_eq!(Some(built.last), rows.iter().map(|row| row.at).max());
        self.inbox.push(built.data);
        self.rows.extend(rows.iter().map(|row| (row.clone(), State::Inbox)));
    }

    /// Packs the inbox, with open segments of the same days if `merging`.
    pub(crate) fn pack(&mut self, merging: bool) {
        let mut packer = Packer::new();
        for batch in self.inbox.drain(..) {
            packer.add(&batch).unwrap();
        }
        if merging {
            for segments in self.packed.values_mut() {
                for open in segments.extract_if(.., |segment| !segment.sealed) {
                    packer.add(&open.data).unwrap();
                }
            }
        }
        for segment in packer.finish() {
            self.packed.entry((segment.account, segment.day)).or_default().push(segment);
        }
        for (_, state) in &mut self.rows {
            if *state == State::Inbox {
                *state = State::Packed;
            }
        }
    }

    pub(crate) fn seal(&mut self, account: AccountId, day: UtcDay) {
        let Some(segments) = self.packed.get_mut(&(account, day)) else { return };
        let data: Vec<&[u8]> = segments.iter().map(|segment| segment.data.as_slice()).collect();
        let sealed = seal(&data).unwrap();
        assert!(
            sealed.iter().all(|segment| segment.sealed && segment.account == account && segment.day == day)
        );
        *segments = sealed;
        self.sealings += 1;
        for (row, state) in &mut self.rows {
            if *state == State::Packed && row.account == account && row.day() == day {
                (*state, row.sealed_by) = (State::Sealed, Some(self.sealings));
            }
        }
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        self.rows.iter().map(|(row, _)| row.clone()).collect()
    }

    /// All segments of an account's day that may have clicks on these links, and the whole inbox.
    fn segments(&self, account: AccountId, day: UtcDay, range: Option<(LinkId, LinkId)>) -> Vec<&[u8]> {
        let packed = self.packed.get(&(account, day)).into_iter().flatten();
        let touched = packed.filter(|segment| {
            range.is_none_or(|(first, last)| {
                segment.first_link.to_bytes() <= last.to_bytes()
                    && first.to_bytes() <= segment.last_link.to_bytes()
            })
        });
        touched.map(|segment| &segment.data).chain(&self.inbox).map(Vec::as_slice).collect()
    }

    fn digest(&self, account: AccountId, day: UtcDay, scope: DigestScope) -> Option<Vec<u8>> {
        let unpacked = |(row, state): &(Row, State)| {
            *state == State::Inbox && row.account == account && row.day() == day
        };
        if self.rows.iter().any(unpacked) {
            return None;
        }
        let segments: Vec<&[u8]> =
            self.packed.get(&(account, day))?.iter().map(|segment| &*segment.data).collect();
        let found = digest(&segments).unwrap().digests.into_iter().find(|digest| digest.scope == scope);
        found.map(|digest| digest.data)
    }

    /// The answer, and how many days digests answered.
    pub(crate) fn answer(&self, question: &Question, using: Use) -> (Report, usize) {
        let mut scanner = match using {
            Use::Digests | Use::Segments | Use::SegmentsInParts => Scanner::new(question),
            Use::SegmentsInPasses | Use::SegmentsInPassesAndParts => Scanner::with_array_bytes(question, 48),
        };
        let account = question.selection.account;
        let mut by_digest = 0;
        for day in question.selection.period.days() {
            let needs = scanner.needs(day);
            if needs == DayNeeds::Nothing {
                continue;
            }
            if needs == DayNeeds::Digest && using == Use::Digests {
                let digest = scanner.scope().and_then(|scope| self.digest(account, day, scope));
                if let Some(digest) = digest
                    && scanner.add_digest(day, &digest).unwrap()
                {
                    by_digest += 1;
                    continue;
                }
            }
            let segments = self.segments(account, day, scanner.link_range());
            if !matches!(using, Use::SegmentsInParts | Use::SegmentsInPassesAndParts) {
                scanner.add_segments(day, &segments).unwrap();
                continue;
            }
            scanner.begin_day(day);
            loop {
                segments.chunks(2).for_each(|part| scanner.add_part(part).unwrap());
                if scanner.end_round() == Round::Done {
                    break;
                }
            }
        }
        (scanner.finish(), by_digest)
    }

    pub(crate) fn clicks(
        &self,
        selection: &ClickSelection,
        after: Option<ClickId>,
        at_most: usize,
        in_parts: bool,
    ) -> Vec<ExportedClick> {
        let mut selector = Selector::new(selection, after, at_most);
        if let Some(first) = selector.first_day() {
            for day in selection.period.days().filter(|day| *day >= first) {
                let segments = self.segments(selection.account, day, selector.link_range());
                if !in_parts && selector.add_day(day, &segments).unwrap() {
                    break;
                }
                if !in_parts {
                    continue;
                }
                selector.begin_day(day);
                loop {
                    segments.chunks(2).for_each(|part| selector.add_part(part).unwrap());
                    if selector.end_round() == Round::Done {
                        break;
                    }
                }
                if selector.has_enough() {
                    break;
                }
            }
        }
        selector.finish()
    }

    pub(crate) fn recent(&self, account: AccountId, links: &[LinkId], since: Timestamp) -> Vec<RecentClicks> {
        let mut counter = RecentCounter::new(account, links, since);
        for data in self.packed.values().flatten().map(|segment| &segment.data).chain(&self.inbox) {
            counter.add(data).unwrap();
        }
        counter.finish()
    }
}
