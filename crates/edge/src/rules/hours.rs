//! Hours of a local clock, compiled into numbers.
//!
//! The offsets of the clock are worked out when a link is compiled: the one at that time, and those after the next changes of the
//! clock. A visit then only compares numbers. At any other instant, which takes a link that was compiled more than a year ago or
//! a clock that was set back, the visit asks the data of time zones.

use signpost_domain::Timestamp;
use signpost_domain::routing::{Hours, ZoneName};

use crate::byte_codec::{Reader, TooLong, Writer};

/// How many offsets are worked out. Clocks are set at most a few times a year.
const OFFSETS: usize = 4;

/// The offsets begin so long before the link is compiled: a visit takes the time before it loads the link.
const BEFORE: i64 = DAY;

const MINUTE: i64 = 60_000;

const DAY: i64 = 24 * 60 * MINUTE;

/// Compiles hours as of `now`.
pub(super) fn encoded_hours(hours: &Hours, now: Timestamp) -> Result<Vec<u8>, TooLong> {
    let Hours { timezone, days, from, until } = hours;
    let days =
        days.iter().fold(0_u8, |set, day| set | 1_u8.checked_shl(u32::from(day.number())).unwrap_or(0));
    let mut writer = Writer::default();
    writer.bytes(&[days]);
    writer.bytes(&from.minutes().to_le_bytes());
    writer.bytes(&until.minutes().to_le_bytes());
    writer.text(timezone.as_str().as_bytes())?;
    let begin = now.unix_millis().saturating_sub(BEFORE);
    writer.bytes(&begin.to_le_bytes());
    let mut at = Timestamp::from_unix_millis(begin);
    for _ in 0..OFFSETS {
        let Some(offset) = at.and_then(|at| timezone.offset_at(at)) else { break };
        let end = offset.until.map_or(i64::MAX, Timestamp::unix_millis);
        writer.bytes(&end.to_le_bytes());
        writer.bytes(&offset.millis.to_le_bytes());
        at = offset.until;
    }
    Ok(writer.finish())
}

/// Whether an instant is in these hours. `None` if the data of time zones has no such zone.
pub(super) fn holds(operand: &[u8], at: Timestamp) -> Option<bool> {
    let mut reader = Reader::new(operand);
    let days = *reader.bytes(1).first()?;
    let from = number(&mut reader)?;
    let until = number(&mut reader)?;
    let zone = reader.text();
    let at_millis = at.unix_millis();
    let offset = match offset_at(reader, at_millis) {
        Some(offset) => offset,
        None => ZoneName::parse(str::from_utf8(zone).ok()?).ok()?.offset_at(at)?.millis,
    };
    let local = at_millis.saturating_add(offset);
    let minute = local.rem_euclid(DAY) / MINUTE;
    // 1970 began on a Thursday, whose number is 4.
    let weekday = (local.div_euclid(DAY) + 3).rem_euclid(7) + 1;
    let day_before = if weekday == 1 { 7 } else { weekday - 1 };
    let is_in = |day: i64| days >> day & 1 != 0;
    Some(if from < until {
        is_in(weekday) && (from..until).contains(&minute)
    } else {
        // The window passes midnight, and belongs to the day on which it begins.
        (is_in(weekday) && minute >= from) || (is_in(day_before) && minute < until)
    })
}

fn number(reader: &mut Reader<'_>) -> Option<i64> {
    reader.bytes(2).first_chunk().map(|bytes| i64::from(u16::from_le_bytes(*bytes)))
}

/// The offset at an instant, if it was worked out.
fn offset_at(mut offsets: Reader<'_>, at: i64) -> Option<i64> {
    let mut number = || offsets.bytes(8).first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
    if at < number()? {
        return None;
    }
    loop {
        let (end, offset) = (number()?, number()?);
        if at < end {
            return Some(offset);
        }
    }
}
