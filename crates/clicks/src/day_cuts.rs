//! The part of a day that a question covers, split into buckets.

use signpost_domain::Timestamp;
use signpost_domain::analytics::{Period, UtcDay};

use crate::segment_format::DAY_MILLIS;

/// A part of a day within one bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Its first millisecond of the day.
    pub(crate) first: u32,
    /// Its last millisecond of the day.
    pub(crate) last: u32,
    /// The index of the bucket.
    pub(crate) bucket: usize,
}

/// A day, split by period and buckets. It has at least one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DayCuts(Vec<Piece>);

impl DayCuts {
    /// Splits a day at the starts of buckets; `None` if the period does not touch it. Time before the first
    /// bucket belongs to that bucket.
    pub(crate) fn new(period: Period, starts: &[Timestamp], day: UtcDay) -> Option<Self> {
        let first = period.first().max(day.first());
        let last = period.last().min(day.last());
        if first > last {
            return None;
        }
        let of_day = |instant: i64| u32::try_from(instant - day.first().unix_millis()).unwrap_or(0);
        let begin = starts.partition_point(|start| *start <= first);
        let mut pieces = Vec::new();
        let mut from = first.unix_millis();
        for bucket in begin.saturating_sub(1).. {
            let next = starts.get(bucket + 1).filter(|next| **next <= last);
            let until = next.map_or(last.unix_millis(), |next| next.unix_millis() - 1);
            if from <= until {
                pieces.push(Piece { first: of_day(from), last: of_day(until), bucket });
            }
            from = until + 1;
            if next.is_none() {
                break;
            }
        }
        Some(Self(pieces))
    }

    /// The pieces, in order and without gaps.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The first and the last millisecond of the day.
    pub(crate) fn window(&self) -> (u32, u32) {
        let first = self.0.first().map_or(0, |piece| piece.first);
        (first, self.0.last().map_or(0, |piece| piece.last))
    }

    /// Whether the question covers the whole day.
    pub(crate) fn is_whole_day(&self) -> bool {
        self.window() == (0, DAY_MILLIS - 1)
    }

    /// The index of the piece that contains all these times of the day, if one does.
    pub(crate) fn one_piece(&self, first: u32, last: u32) -> Option<usize> {
        self.0.iter().position(|piece| piece.first <= first && last <= piece.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    #[test]
    fn day_is_split_at_buckets_and_at_the_period_end() {
        let day = UtcDay::from_number(1);
        let start = day.first().unix_millis();
        let starts = [at(start - 5), at(start + 10), at(start + 20), at(start + 86_400_010)];
        let pieces = |first, last| {
            let period = Period::new(at(first), at(last)).unwrap();
            DayCuts::new(period, &starts, day).map(|cuts| {
                cuts.pieces().iter().map(|piece| (piece.first, piece.last, piece.bucket)).collect::<Vec<_>>()
            })
        };
        assert_eq!(
            pieces(start - 5, start + 86_400_020),
            Some(vec![(0, 9, 0), (10, 19, 1), (20, DAY_MILLIS - 1, 2)])
        );
        assert_eq!(pieces(start + 3, start + 10), Some(vec![(3, 9, 0), (10, 10, 1)]));
        assert_eq!(pieces(start + 12, start + 12), Some(vec![(12, 12, 1)]));
        assert_eq!(pieces(start - 5, start - 1), None);
        assert_eq!(pieces(start + 86_400_000, start + 86_400_000), None);
    }
}
