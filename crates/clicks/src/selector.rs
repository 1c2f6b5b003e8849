//! Finds the clicks of an export.

use foldhash::fast::RandomState;
use hashbrown::HashSet;
use signpost_domain::analytics::{ClickId, ClickSelection, ExportedClick, Period, RecordedKind, UtcDay};
use signpost_domain::{LinkId, Timestamp};

use crate::MalformedSegment;
use crate::columns::{kind_number, kind_of_number};
use crate::day_cuts::DayCuts;
use crate::decoded_segment::{DecodedSegment, Kinds};
use crate::numbers::index;
use crate::rounds::Round;
use crate::row_selection::{RowSelection, link_range};
use crate::segment_format::DIMENSIONS;
use crate::segment_reader::{Decoder, Segment};

/// Finds the selected clicks after an id, in the order of ids. It ignores widget clicks.
///
/// The index in a click's id counts all clicks of its link and millisecond, selected or not. So a click has
/// the same id in every export, until a late click of the same link and millisecond is recorded.
#[derive(Debug)]
pub struct Selector {
    selection: ClickSelection,
    after: Option<ClickId>,
    at_most: usize,
    found: Vec<ExportedClick>,
    decoder: Decoder,
    rows: RowSelection,
    decoded: DecodedSegment,
    room: Vec<u8>,
    day: Option<SelectedDay>,
}

/// A millisecond of the day and a link.
type Moment = (u32, LinkId);

/// A click that may be exported. Within a moment, candidates are ordered by their fields.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    moment: Moment,
    kind: RecordedKind,
    values: [String; DIMENSIONS],
}

/// The day that is being added.
#[derive(Debug)]
struct SelectedDay {
    day: UtcDay,
    cuts: DayCuts,
    /// The moment of the last exported click, if it is on this day, and the click's place in it.
    after: Option<(Moment, u32)>,
    stage: Stage,
}

/// What a round looks for.
#[derive(Debug)]
enum Stage {
    /// The first moments with selected clicks.
    Moments(FirstMoments),
    /// All clicks of these moments.
    Clicks(WantedMoments, Vec<Candidate>),
}

/// Moments whose clicks are taken.
#[derive(Debug)]
struct WantedMoments {
    moments: HashSet<Moment, RandomState>,
    /// The first and the last of their milliseconds.
    window: (u32, u32),
}

impl WantedMoments {
    /// `None` without moments.
    fn new(moments: HashSet<Moment, RandomState>) -> Option<Self> {
        let times = moments.iter().map(|(time, _)| *time);
        let window = (times.clone().min()?, times.max()?);
        Some(Self { moments, window })
    }
}

/// The first moments with selected clicks, as many as there is room for.
#[derive(Debug, Default)]
struct FirstMoments {
    room: usize,
    moments: Vec<Moment>,
    /// Later ones are not needed.
    until: Option<Moment>,
}

impl FirstMoments {
    /// Keeps only the first moments once there are more than twice as many as there is room for.
    fn tidy(&mut self) {
        if self.moments.len() > self.room.saturating_mul(2).saturating_add(4_096) {
            self.keep_first();
            self.until = self.moments.iter().max().copied();
        }
    }

    fn keep_first(&mut self) {
        if self.moments.len() > self.room {
            self.moments.select_nth_unstable(self.room);
            self.moments.truncate(self.room);
        }
    }

    fn finish(mut self) -> HashSet<Moment, RandomState> {
        self.keep_first();
        self.moments.into_iter().collect()
    }
}

impl Selector {
    /// Looks for at most this many selected clicks after `after`.
    #[must_use]
    pub fn new(selection: &ClickSelection, after: Option<ClickId>, at_most: usize) -> Self {
        Self {
            selection: selection.clone(),
            after,
            at_most,
            found: Vec::new(),
            decoder: Decoder::new(),
            rows: RowSelection::default(),
            decoded: DecodedSegment::default(),
            room: Vec::new(),
            day: None,
        }
    }

    /// The first day that can have such clicks; `None` if no day can.
    #[must_use]
    pub fn first_day(&self) -> Option<UtcDay> {
        let period = self.period().filter(|_| !self.selection.scope.is_empty())?;
        Some(UtcDay::of(period.first()))
    }

    /// The first and the last link of the selection, in the order of their 16 bytes; `None` for all of the
    /// account. Segments outside this range may be skipped.
    #[must_use]
    pub fn link_range(&self) -> Option<(LinkId, LinkId)> {
        link_range(&self.selection)
    }

    /// Takes the clicks of a day from all its segments. Add days in ascending order. It ignores clicks of
    /// other accounts and days. Returns whether it has enough clicks, so later days are not needed.
    pub fn add_day(&mut self, day: UtcDay, segments: &[impl AsRef<[u8]>]) -> Result<bool, MalformedSegment> {
        self.begin_day(day);
        loop {
            self.add_part(segments)?;
            if self.end_round() == Round::Done {
                return Ok(self.has_enough());
            }
        }
    }

    /// Whether it has enough clicks, so later days are not needed.
    #[must_use]
    pub const fn has_enough(&self) -> bool {
        self.found.len() >= self.at_most
    }

    /// Begins a day whose segments are added in rounds, because they are too large to be in memory together. Begin days in
    /// ascending order.
    pub fn begin_day(&mut self, day: UtcDay) {
        let room = self.at_most.saturating_sub(self.found.len());
        let cuts = self.period().and_then(|period| DayCuts::new(period, &[], day));
        let after = self.after.filter(|after| UtcDay::of(after.at) == day);
        let after = after.map(|after| ((time_of(after.at, day), after.link), after.place));
        self.day = cuts.filter(|_| room > 0).map(|cuts| SelectedDay {
            day,
            cuts,
            after,
            stage: Stage::Moments(FirstMoments { room, ..FirstMoments::default() }),
        });
    }

    /// Adds some segments of the day that was begun, in a round. It ignores clicks of other accounts and days.
    pub fn add_part(&mut self, segments: &[impl AsRef<[u8]>]) -> Result<(), MalformedSegment> {
        let Some(mut selected) = self.day.take() else { return Ok(()) };
        for segment in segments {
            self.add(&mut selected, segment.as_ref())?;
        }
        self.day = Some(selected);
        Ok(())
    }

    fn add(&mut self, selected: &mut SelectedDay, segment: &[u8]) -> Result<(), MalformedSegment> {
        let SelectedDay { day, cuts, after, stage } = selected;
        match stage {
            Stage::Moments(first) => {
                let after = after.map(|(moment, _)| moment);
                self.find_moments(segment, (*day, cuts), after, first)
            }
            Stage::Clicks(moments, candidates) => self.take(segment, (*day, cuts), moments, candidates),
        }
    }

    /// Ends a round of a day.
    pub fn end_round(&mut self) -> Round {
        let Some(SelectedDay { day, cuts, after, stage }) = self.day.take() else { return Round::Done };
        match stage {
            Stage::Moments(first) => {
                let mut moments = first.finish();
                moments.extend(after.map(|(moment, _)| moment));
                let Some(moments) = WantedMoments::new(moments) else { return Round::Done };
                let stage = Stage::Clicks(moments, Vec::new());
                self.day = Some(SelectedDay { day, cuts, after, stage });
                Round::Again
            }
            Stage::Clicks(_, candidates) => {
                self.choose(day, after, candidates);
                Round::Done
            }
        }
    }

    /// Keeps the selected clicks of the day.
    fn choose(&mut self, day: UtcDay, after: Option<(Moment, u32)>, mut candidates: Vec<Candidate>) {
        candidates.sort_unstable();
        for same in candidates.chunk_by(|one, next| one.moment == next.moment) {
            for (candidate, place) in same.iter().zip(0..) {
                let (time, link) = candidate.moment;
                let behind = after.is_none_or(|after| (candidate.moment, place) > after);
                let millis = day.first().unix_millis() + i64::from(time);
                let Some(at) = Timestamp::from_unix_millis(millis).filter(|_| behind) else { continue };
                if self.selection.period.contains(at) && self.takes(candidate) {
                    let id = ClickId { at, link, place };
                    let (kind, values) = (candidate.kind, candidate.values.clone());
                    self.found.push(ExportedClick { id, kind, values });
                }
            }
        }
        self.found.truncate(self.at_most);
    }

    /// Returns the clicks.
    #[must_use]
    pub fn finish(self) -> Vec<ExportedClick> {
        self.found
    }

    /// The period from the last exported click on.
    fn period(&self) -> Option<Period> {
        let period = self.selection.period;
        let first = self.after.map_or(period.first(), |after| after.at.max(period.first()));
        Period::new(first, period.last())
    }

    /// Adds the moments of the first selected clicks after `after`.
    fn find_moments(
        &mut self,
        segment: &[u8],
        (day, cuts): (UtcDay, &DayCuts),
        after: Option<Moment>,
        first: &mut FirstMoments,
    ) -> Result<(), MalformedSegment> {
        let segment = Segment::open(segment, &mut self.decoder)?;
        let (from, until) = cuts.window();
        let until = first.until.map_or(until, |(time, _)| time.min(until));
        if !segment.may_have_clicks(day, (from, until)) {
            return Ok(());
        }
        let filters = &self.selection.filters;
        if self.rows.find_links(&segment, (&self.selection, filters), day, &mut self.decoder)? == 0 {
            return Ok(());
        }
        self.rows.select(&segment, filters, (day, cuts), true, &mut self.decoder)?;
        let kinds = Kinds::read(&segment, &mut self.decoder, &mut self.room)?;
        for link in &self.rows.links {
            let begin = self.rows.rows.partition_point(|row| *row < link.begin);
            let end = self.rows.rows.partition_point(|row| *row < link.end);
            for row in self.rows.rows.get(begin..end).unwrap_or_default() {
                let Some(time) = self.rows.times.get(index(*row)) else { continue };
                let moment = (*time, link.link);
                let wanted = after.is_none_or(|after| moment > after)
                    && first.until.is_none_or(|until| moment < until)
                    && kinds.of(index(*row)) != kind_number(RecordedKind::Widget);
                if wanted {
                    first.moments.push(moment);
                }
            }
            first.tidy();
        }
        Ok(())
    }

    /// Takes all clicks of these moments, including those that filters exclude.
    fn take(
        &mut self,
        data: &[u8],
        (day, cuts): (UtcDay, &DayCuts),
        moments: &WantedMoments,
        out: &mut Vec<Candidate>,
    ) -> Result<(), MalformedSegment> {
        let segment = Segment::open(data, &mut self.decoder)?;
        if !segment.may_have_clicks(day, moments.window) {
            return Ok(());
        }
        if self.rows.find_links(&segment, (&self.selection, &[]), day, &mut self.decoder)? == 0 {
            return Ok(());
        }
        self.rows.select(&segment, &[], (day, cuts), true, &mut self.decoder)?;
        let mut decoded = false;
        for link in &self.rows.links {
            let begin = self.rows.rows.partition_point(|row| *row < link.begin);
            let end = self.rows.rows.partition_point(|row| *row < link.end);
            for row in self.rows.rows.get(begin..end).unwrap_or_default() {
                let row = index(*row);
                let Some(time) = self.rows.times.get(row) else { continue };
                let moment = (*time, link.link);
                if !moments.moments.contains(&moment) {
                    continue;
                }
                if !decoded {
                    self.decoded.read(data, &mut self.decoder)?;
                    decoded = true;
                }
                let kind = self.decoded.kinds.get(row).and_then(|kind| kind_of_number(*kind));
                let Some(kind) = kind.filter(|kind| *kind != RecordedKind::Widget) else { continue };
                let values = std::array::from_fn(|dimension| self.decoded.value(dimension, row).to_owned());
                out.push(Candidate { moment, kind, values });
            }
        }
        Ok(())
    }

    fn takes(&self, candidate: &Candidate) -> bool {
        self.selection.filters.iter().all(|filter| match filter.dimension.recorded_place() {
            Some(dimension) => candidate.values.get(dimension).is_some_and(|value| filter.takes(value)),
            // The link, which is not a recorded value.
            None => filter.takes(&candidate.moment.1.to_string()),
        })
    }
}

fn time_of(at: Timestamp, day: UtcDay) -> u32 {
    u32::try_from(at.unix_millis() - day.first().unix_millis()).unwrap_or(0)
}
