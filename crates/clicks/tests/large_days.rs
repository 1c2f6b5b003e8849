//! Days that are sorted and digested in parts, compared with days in memory.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use signpost_clicks::{
    DayDigester, DayRanges, DigestedDay, MalformedSegment, PlaceReader, Places, RangeSorter, Round,
    SegmentBuilder, digest, read, seal,
};
use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, UtcDay, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

#[derive(Debug, Clone)]
struct Click {
    link: LinkId,
    millis: i64,
    kind: RecordedKind,
    visitor: u16,
    campaign: String,
    country: &'static str,
}

fn day() -> UtcDay {
    UtcDay::from_number(20_000)
}

fn segment(clicks: &[Click]) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for click in clicks {
        let mut values = Values::default();
        values.0[Dimension::UtmCampaign.recorded_place().unwrap()] = &click.campaign;
        values.0[Dimension::Country.recorded_place().unwrap()] = click.country;
        let [high, low] = click.visitor.to_be_bytes();
        let recorded = RecordedClick {
            at: Timestamp::from_unix_millis(day().first().unix_millis() + click.millis).unwrap(),
            account: AccountId::from_bytes([1; 16]),
            link: click.link,
            kind: click.kind,
            visitor: VisitorHash([high, low, 0, 0, 0, 0]),
            values,
        };
        builder.push(&recorded).unwrap();
    }
    builder.finish().unwrap().data
}

/// The clicks without their visitors, in order.
fn texts(segments: &[Vec<u8>]) -> Vec<(i64, String)> {
    let mut texts = Vec::new();
    for segment in segments {
        let each = |click: RecordedClick<'_>| {
            let RecordedClick { at, account: _, link, kind, visitor: _, values } = click;
            let text = format!("{link:?} {kind:?} {values:?}");
            texts.push((at.unix_millis(), text));
        };
        read(segment, each).unwrap();
    }
    texts.sort();
    texts
}

fn places(segments: &[Vec<u8>]) -> Vec<Places> {
    let mut reader = PlaceReader::new();
    segments.iter().map(|segment| reader.read(segment).unwrap()).collect()
}

fn ranges(segments: &[Vec<u8>], clicks: u64) -> DayRanges {
    let places = places(segments);
    let sizes = segments.iter().map(|segment| u64::try_from(segment.len()).unwrap());
    DayRanges::new(places.iter().zip(sizes), clicks, u64::MAX)
}

/// The segments of a day after sorting, in order; at most two of the given ones are in memory at once.
fn sorted(segments: &[Vec<u8>], clicks_of_range: u64) -> Vec<Vec<u8>> {
    let ranges = ranges(segments, clicks_of_range);
    let mut by_range: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
    for group in segments.chunks(2) {
        for split in ranges.split(group).unwrap() {
            let range = PlaceReader::new().read(&split.data).map(|places| ranges.range_of(&places));
            by_range.entry(range.unwrap().unwrap()).or_default().push(split.data);
        }
    }
    let mut sorter = RangeSorter::new();
    by_range
        .into_values()
        .flat_map(|range| sorter.sort(&range).unwrap())
        .map(|segment| segment.data)
        .collect()
}

/// Digests a day with one segment in memory at a time, and counts the rounds.
fn digested(segments: &[Vec<u8>], array_bytes: u64) -> (DigestedDay, usize) {
    let mut digester = DayDigester::with_array_bytes(array_bytes);
    let mut rounds = 0;
    loop {
        for segment in segments {
            digester.add_part(&[segment]).unwrap();
        }
        rounds += 1;
        if digester.end_round() == Round::Done {
            return (digester.finish(), rounds);
        }
    }
}

/// Clicks of three links, two of which have the same bytes. Most clicks are of one link, which has more values than are kept if
/// `spread` is large.
fn clicks() -> impl Strategy<Value = Vec<Click>> {
    let spread = prop_oneof![Just(30_u64), 8_000..30_000_u64];
    let instants = prop_oneof![Just(1_u64), Just(300), Just(86_400_000)];
    (any::<u64>(), prop_oneof![1_u64..500, 6_000..12_000_u64], spread, instants).prop_map(
        |(seed, clicks, spread, instants)| {
            let mut state = seed;
            let mut below = |end: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % end
            };
            (0..clicks)
                .map(|_| Click {
                    link: match below(8) {
                        0 => LinkId::from_bytes(LinkKind::Landing, [4; 16]),
                        1 => LinkId::from_bytes(LinkKind::Redirect, [2; 16]),
                        _ => LinkId::from_bytes(LinkKind::Redirect, [4; 16]),
                    },
                    millis: i64::try_from(below(instants)).unwrap(),
                    kind: RecordedKind::ALL[usize::try_from(below(12).saturating_sub(8)).unwrap()],
                    visitor: u16::try_from(below(900)).unwrap(),
                    campaign: format!("campaign-{}", below(spread)),
                    country: ["", "de", "fr"][usize::try_from(below(3)).unwrap()],
                })
                .collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn d47_a_day_sorted_and_digested_in_parts_is_that_in_memory(
        clicks in clicks(),
        parts in 1..7_usize,
        clicks_of_range in prop_oneof![1..3_u64, 100..2_000_u64],
        array_bytes in prop_oneof![Just(u64::MAX), 8_000..40_000_u64],
    ) {
        let segments: Vec<Vec<u8>> = clicks.chunks(clicks.len().div_ceil(parts)).map(segment).collect();
        let of_day = digest(&segments).unwrap();
        let sealed: Vec<Vec<u8>> = seal(&segments).unwrap().into_iter().map(|segment| segment.data).collect();
        let sorted = sorted(&segments, clicks_of_range);
        let places = places(&sorted);
        prop_assert!(places.windows(2).all(|pair| pair[0].is_before(&pair[1])), "segments overlap");
        prop_assert!(texts(&sorted) == texts(&sealed), "the sorted day has other clicks than the sealed one");
        let (in_parts, rounds) = digested(&sorted, array_bytes);
        prop_assert!(in_parts == of_day, "the digests differ");
        prop_assert!(rounds == 2 || array_bytes < u64::MAX, "{rounds} rounds");
        let (of_sealed, _) = digested(&sealed, array_bytes);
        prop_assert!(of_sealed == of_day, "the digests of sealed segments differ");
    }
}

#[test]
fn many_visitors_take_several_passes_and_too_many_have_no_digest() {
    let click = |number: u16| Click {
        link: LinkId::from_bytes(LinkKind::Redirect, [4; 16]),
        millis: i64::from(number),
        kind: RecordedKind::Click,
        visitor: number,
        campaign: String::new(),
        country: "de",
    };
    let segments: Vec<Vec<u8>> = (0..4)
        .map(|part| segment(&(part * 1_000..(part + 1) * 1_000).map(click).collect::<Vec<_>>()))
        .collect();
    let of_day = digest(&segments).unwrap();
    assert_eq!(of_day.digests.len(), 2);
    let (in_passes, rounds) = digested(&segments, 20_000);
    assert!(in_passes == of_day && (10..30).contains(&rounds), "{rounds}");
    let (too_many, rounds) = digested(&segments, 2_000);
    assert_eq!((too_many.digests.len(), too_many.last_clicks, rounds), (0, of_day.last_clicks, 1));
}

#[test]
fn sealed_segments_are_not_sorted() {
    let one = Click {
        link: LinkId::from_bytes(LinkKind::Redirect, [4; 16]),
        millis: 5,
        kind: RecordedKind::Click,
        visitor: 1,
        campaign: String::new(),
        country: "",
    };
    let sealed = seal(&[segment(&[one])]).unwrap().remove(0).data;
    let ranges = ranges(std::slice::from_ref(&sealed), 1_000);
    assert_eq!(ranges.count(), 1);
    assert_eq!(ranges.split(&[&sealed]).unwrap_err(), MalformedSegment::Sealed);
    assert_eq!(RangeSorter::new().sort(&[&sealed]).unwrap_err(), MalformedSegment::Sealed);
}
