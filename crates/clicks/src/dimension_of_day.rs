//! Counts the clicks of one day by the values of a dimension.

use signpost_domain::LinkId;
use signpost_domain::analytics::Dimension;

use crate::MalformedSegment;
use crate::decoded_segment::{Codes, each_value, packed};
use crate::distinct::{DistinctPairs, NONE};
use crate::numbers::index;
use crate::row_selection::LinkRows;
use crate::segment_format::Column;
use crate::segment_reader::{Decoder, Segment};
use crate::tables::{KeyTable, ValueTable};
use crate::tally::{Tally, ValueSums};

/// The selected rows of one kind, with each row's piece of the day and visitor.
#[derive(Debug, Default)]
pub(crate) struct KindOfRows {
    /// The rows.
    pub(crate) rows: Vec<u32>,
    /// The piece of each row, if there are several pieces.
    pub(crate) pieces: Vec<u32>,
    /// The visitor of each row.
    pub(crate) visitors: Vec<u32>,
}

impl KindOfRows {
    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.pieces.clear();
        self.visitors.clear();
    }

    /// Counts a row. It keeps clicks here and widget clicks in `widgets`.
    #[inline]
    pub(crate) fn take(
        &mut self,
        row: u32,
        kind: u8,
        piece: Option<u32>,
        widgets: &mut Self,
        counts: &mut [u64; 4],
    ) {
        if let Some(count) = counts.get_mut(usize::from(kind)) {
            *count += 1;
        }
        let kept = match kind {
            0 => self,
            3 => widgets,
            _ => return,
        };
        kept.rows.push(row);
        kept.pieces.extend(piece);
    }
}

/// The order of a day's links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrderOfLinks {
    /// The clicks of each link are contiguous, and there is one pass.
    Once,
    /// The clicks of each link are contiguous, in each of several passes.
    InEachPass,
    /// Any order.
    Any,
}

/// The counts of a dimension on one day.
#[derive(Debug)]
pub(crate) struct DimensionOfDay {
    /// The dimension.
    pub(crate) dimension: Dimension,
    values: ValueTable,
    links: KeyTable<LinkId>,
    sums: Vec<ValueSums>,
    pairs: DistinctPairs,
    /// The day's number of each value of a segment.
    known: Vec<u32>,
}

impl DimensionOfDay {
    /// Starts without counts.
    pub(crate) fn new(dimension: Dimension) -> Self {
        Self {
            dimension,
            values: ValueTable::default(),
            links: KeyTable::default(),
            sums: Vec::new(),
            pairs: DistinctPairs::default(),
            known: Vec::new(),
        }
    }

    /// Starts to count distinct visitors, with room for this many.
    pub(crate) fn reset(&mut self, visitors: usize) {
        self.pairs.reset(visitors);
    }

    /// Counts rows by a recorded dimension: clicks in the first pass, visitors in every pass.
    pub(crate) fn count_values(
        &mut self,
        segment: &Segment<'_>,
        dimension: usize,
        rows: &KindOfRows,
        first: bool,
        decoder: &mut Decoder,
        room: &mut Vec<u8>,
    ) -> Result<(), MalformedSegment> {
        if rows.rows.is_empty() {
            return Ok(());
        }
        let Self { values, sums, pairs, known, .. } = self;
        known.clear();
        let dictionary = segment.column(Column::Dictionary(dimension), decoder, room)?;
        each_value(dictionary, segment.header.clicks, |value| known.push(values.number(value)))?;
        sums.resize(values.len(), ValueSums::default());
        let column = segment.column(Column::Codes(dimension), decoder, room)?;
        let codes = Codes::new(column, segment.header.clicks, known.len())?;
        let mut add = |code: Option<&u32>, visitor: u32| {
            let value = *code?;
            let sums = sums.get_mut(index(value))?;
            sums.clicks += u64::from(first);
            if visitor != NONE && pairs.add(visitor, value) {
                sums.visitors += 1;
            }
            Some(())
        };
        let mut each = rows.rows.iter().zip(&rows.visitors);
        // One loop for each code width moves the choice out of the loop.
        let counted = match codes {
            Codes::One => each.try_for_each(|(_, visitor)| add(known.first(), *visitor)),
            Codes::Bytes(codes) => each.try_for_each(|(row, visitor)| {
                add(known.get(usize::from(*codes.get(index(*row))?)), *visitor)
            }),
            Codes::Packed(codes, bits) => each.try_for_each(|(row, visitor)| {
                add(known.get(index(packed(codes, bits, index(*row)))), *visitor)
            }),
            Codes::Pairs(..) | Codes::Triples(..) => {
                each.try_for_each(|(row, visitor)| add(known.get(index(codes.of(index(*row)))), *visitor))
            }
        };
        counted.ok_or(MalformedSegment::Value(Column::Codes(dimension).name()))
    }

    /// Counts rows by link.
    pub(crate) fn count_links(
        &mut self,
        links: &[LinkRows],
        rows: &KindOfRows,
        first: bool,
        order: OrderOfLinks,
    ) {
        let mut links = links.iter();
        let mut current = None::<(u32, u32)>;
        for (row, visitor) in rows.rows.iter().zip(&rows.visitors) {
            while current.is_none_or(|(_, end)| *row >= end) {
                let Some(next) = links.next() else { return };
                if *row < next.end {
                    let known = match order {
                        OrderOfLinks::Once => self.links.number_in_order(next.link),
                        OrderOfLinks::InEachPass | OrderOfLinks::Any => self.links.number(next.link),
                    };
                    self.sums.resize(self.links.len(), ValueSums::default());
                    current = Some((known, next.end));
                }
            }
            let Some((link, _)) = current else { return };
            if let Some(sums) = self.sums.get_mut(index(link)) {
                sums.clicks += u64::from(first);
                let new = if *visitor == NONE {
                    false
                } else {
                    match order {
                        OrderOfLinks::Once | OrderOfLinks::InEachPass => {
                            self.pairs.add_in_order(*visitor, link)
                        }
                        OrderOfLinks::Any => self.pairs.add(*visitor, link),
                    }
                };
                sums.visitors += u64::from(new);
            }
        }
    }

    /// Adds the day to the sums of the question, and resets.
    pub(crate) fn finish(&mut self, tally: &mut Tally) {
        for (value, sums) in (0..).zip(&self.sums).take(self.values.len()) {
            tally.add_value(self.values.value(value), *sums);
        }
        for (link, sums) in self.links.keys().iter().zip(&self.sums) {
            tally.add_link(*link, *sums);
        }
        self.values.clear();
        self.links.clear();
        self.sums.clear();
    }
}
