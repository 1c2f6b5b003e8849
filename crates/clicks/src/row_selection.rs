//! The rows of a segment that a question selects.

use signpost_domain::LinkId;
use signpost_domain::analytics::{ClickSelection, Dimension, DimensionFilter, UtcDay};

use crate::MalformedSegment;
use crate::columns::link_order;
use crate::day_cuts::DayCuts;
use crate::decoded_segment::{Codes, each_value, read_times};
use crate::numbers::index;
use crate::segment_format::Column;
use crate::segment_reader::{Decoder, RunOfClicks, Segment};

/// The first and the last link of a selection, in the order of their bytes; `None` for all.
pub(crate) fn link_range(selection: &ClickSelection) -> Option<(LinkId, LinkId)> {
    use signpost_domain::analytics::LinkScope;
    match &selection.scope {
        LinkScope::All => None,
        LinkScope::One(link) => Some((*link, *link)),
        LinkScope::Some(links) => {
            let first = links.iter().min_by_key(|link| link_order(**link))?;
            let last = links.iter().max_by_key(|link| link_order(**link))?;
            Some((*first, *last))
        }
    }
}

/// Contiguous rows of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinkRows {
    /// The link.
    pub(crate) link: LinkId,
    /// The first row.
    pub(crate) begin: u32,
    /// The row after the last.
    pub(crate) end: u32,
}

/// The result of [`RowSelection::find_links`], for later use.
#[derive(Debug)]
pub(crate) struct FoundLinks {
    links: Vec<LinkRows>,
    runs: Vec<RunOfClicks>,
}

/// The selected rows of a segment, and the data read to find them. It reuses its memory from segment to
/// segment.
#[derive(Debug, Default)]
pub(crate) struct RowSelection {
    /// The runs of the selected links.
    pub(crate) links: Vec<LinkRows>,
    /// The selected rows, ascending.
    pub(crate) rows: Vec<u32>,
    /// The piece of the day of each selected row; empty if all are in `piece`.
    pub(crate) pieces: Vec<u32>,
    /// The piece of all selected rows, if `pieces` is empty.
    pub(crate) piece: usize,
    /// The time of each row of the segment, up to the last selected one; empty if not needed.
    pub(crate) times: Vec<u32>,
    runs: Vec<RunOfClicks>,
    takes: Vec<bool>,
    room: Vec<u8>,
}

impl RowSelection {
    /// Finds the runs with clicks of the account and the day on selected links that the filters take, and returns their number
    /// of clicks.
    pub(crate) fn find_links(
        &mut self,
        segment: &Segment<'_>,
        (selection, filters): (&ClickSelection, &[DimensionFilter]),
        day: UtcDay,
        decoder: &mut Decoder,
    ) -> Result<u32, MalformedSegment> {
        self.links.clear();
        let sections = segment.sections(decoder, &mut self.room)?;
        let ours = |account, of| account == selection.account && of == day;
        if !sections.iter().any(|section| ours(section.account, section.day)) {
            return Ok(0);
        }
        segment.runs(&sections, decoder, &mut self.room, &mut self.runs)?;
        let by_link: Vec<&DimensionFilter> =
            filters.iter().filter(|filter| filter.dimension == Dimension::Link).collect();
        let (mut begin, mut clicks) = (0, 0);
        for RunOfClicks { run, clicks: of_run } in &self.runs {
            let end = begin + of_run;
            let wanted = ours(run.account, run.day)
                && selection.scope.contains(run.link)
                && (by_link.is_empty() || by_link.iter().all(|filter| filter.takes(&run.link.to_string())));
            if wanted {
                self.links.push(LinkRows { link: run.link, begin, end });
                clicks += of_run;
            }
            begin = end;
        }
        Ok(clicks)
    }

    /// How many runs the last searched segment has.
    pub(crate) fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Takes the last result, so that it need not be found again.
    pub(crate) fn take_found(&mut self) -> FoundLinks {
        let mut found =
            FoundLinks { links: std::mem::take(&mut self.links), runs: std::mem::take(&mut self.runs) };
        found.links.shrink_to_fit();
        found.runs.shrink_to_fit();
        found
    }

    /// Restores an earlier result.
    pub(crate) fn restore(&mut self, found: FoundLinks) {
        FoundLinks { links: self.links, runs: self.runs } = found;
    }

    /// Selects rows of the links that were found. `with_times` reads the times in any case.
    pub(crate) fn select(
        &mut self,
        segment: &Segment<'_>,
        filters: &[DimensionFilter],
        (day, cuts): (UtcDay, &DayCuts),
        with_times: bool,
        decoder: &mut Decoder,
    ) -> Result<(), MalformedSegment> {
        self.rows.clear();
        self.pieces.clear();
        self.times.clear();
        let of_day = |instant: i64| {
            let begin = day.first().unix_millis();
            let end = day.last().unix_millis();
            u32::try_from(instant.clamp(begin, end) - begin).unwrap_or(0)
        };
        let (first, last) = (of_day(segment.header.first), of_day(segment.header.last));
        let one_piece = cuts.one_piece(first, last);
        if one_piece.is_none() || with_times {
            self.read_times(segment, decoder)?;
        }
        if let Some(piece) = one_piece {
            self.piece = piece;
            self.rows.extend(self.links.iter().flat_map(|link| link.begin..link.end));
        } else {
            self.cut(cuts);
        }
        self.filter(segment, filters, decoder)
    }

    /// Reads the times up to the last selected run.
    fn read_times(&mut self, segment: &Segment<'_>, decoder: &mut Decoder) -> Result<(), MalformedSegment> {
        let end = self.links.last().map_or(0, |link| link.end);
        let mut rows = 0;
        let runs = self.runs.iter().take_while(|run| {
            let before = rows;
            rows += run.clicks;
            before < end
        });
        let needed = runs.count();
        let runs = self.runs.get(..needed).unwrap_or_default();
        read_times(segment, runs, (decoder, &mut self.room), &mut self.times)
    }

    /// Selects the rows of each piece. The times of a run ascend.
    fn cut(&mut self, cuts: &DayCuts) {
        for link in &self.links {
            let Some(times) = self.times.get(index(link.begin)..index(link.end)) else { continue };
            let row = |at: usize| link.begin + crate::numbers::number(at);
            let mut from = times.partition_point(|time| *time < cuts.window().0);
            for (piece, number) in cuts.pieces().iter().zip(0..) {
                let rest = times.get(from..).unwrap_or_default();
                if rest.is_empty() {
                    break;
                }
                let until = from + rest.partition_point(|time| *time <= piece.last);
                self.rows.extend(row(from)..row(until));
                self.pieces.resize(self.rows.len(), number);
                from = until;
            }
        }
    }

    fn filter(
        &mut self,
        segment: &Segment<'_>,
        filters: &[DimensionFilter],
        decoder: &mut Decoder,
    ) -> Result<(), MalformedSegment> {
        for filter in filters {
            let Some(dimension) = filter.dimension.recorded_place() else { continue };
            if self.rows.is_empty() {
                break;
            }
            self.takes.clear();
            let dictionary = segment.column(Column::Dictionary(dimension), decoder, &mut self.room)?;
            let takes = &mut self.takes;
            each_value(dictionary, segment.header.clicks, |value| takes.push(filter.takes(value)))?;
            let column = segment.column(Column::Codes(dimension), decoder, &mut self.room)?;
            let codes = Codes::new(column, segment.header.clicks, self.takes.len())?;
            let mut unknown = false;
            let by_code = self.takes.as_slice();
            let keep = |row: u32| {
                let takes = by_code.get(index(codes.of(index(row)))).copied();
                unknown |= takes.is_none();
                takes.unwrap_or(false)
            };
            retain(&mut self.rows, &mut self.pieces, keep);
            if unknown {
                return Err(MalformedSegment::Value(Column::Codes(dimension).name()));
            }
        }
        Ok(())
    }
}

/// Keeps some of the rows, and their pieces if there are any.
pub(crate) fn retain(rows: &mut Vec<u32>, pieces: &mut Vec<u32>, mut keep: impl FnMut(u32) -> bool) {
    if pieces.is_empty() {
        rows.retain(|row| keep(*row));
        return;
    }
    let kept: Vec<(u32, u32)> =
        rows.iter().copied().zip(pieces.iter().copied()).filter(|(row, _)| keep(*row)).collect();
    rows.clear();
    pieces.clear();
    for (row, piece) in kept {
        rows.push(row);
        pieces.push(piece);
    }
}
