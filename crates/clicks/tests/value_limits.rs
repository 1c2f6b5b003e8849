//! The bound of distinct values of each link, day and dimension (D47), compared with a simple model.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use signpost_clicks::{Packer, SegmentBuilder, digest, read, seal};
use signpost_domain::analytics::{
    Dimension, MAX_KEPT_VALUES, OTHER_VALUES, RecordedClick, RecordedKind, UtcDay, Values, VisitorHash,
};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

const CAMPAIGN: Dimension = Dimension::UtmCampaign;
const REFERRER: Dimension = Dimension::Referrer;

/// A row with values of two dimensions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    link: u8,
    millis: i64,
    visitor: u8,
    campaign: String,
    referrer: String,
}

fn day() -> UtcDay {
    UtcDay::from_number(20_000)
}

fn segment(rows: &[Row]) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for row in rows {
        let mut values = Values::default();
        values.0[CAMPAIGN.recorded_place().unwrap()] = &row.campaign;
        values.0[REFERRER.recorded_place().unwrap()] = &row.referrer;
        let click = RecordedClick {
            at: Timestamp::from_unix_millis(day().first().unix_millis() + row.millis).unwrap(),
            account: AccountId::from_bytes([1; 16]),
            link: LinkId::from_bytes(LinkKind::Redirect, [row.link; 16]),
            kind: RecordedKind::Click,
            visitor: VisitorHash([row.visitor; 6]),
            values,
        };
        builder.push(&click).unwrap();
    }
    builder.finish().unwrap().data
}

/// The rows of segments without visitors, sorted.
fn rows_of<'a>(segments: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<Row> {
    let mut rows = Vec::new();
    for segment in segments {
        let each = |click: RecordedClick<'_>| {
            rows.push(Row {
                link: click.link.to_bytes()[0],
                millis: click.at.unix_millis() - day().first().unix_millis(),
                visitor: 0,
                campaign: click.values.get(CAMPAIGN).unwrap().to_owned(),
                referrer: click.values.get(REFERRER).unwrap().to_owned(),
            });
        };
        read(segment, each).unwrap();
    }
    rows.sort();
    rows
}

/// The rows as they are stored: of each link, the first 4,000 values in the order of time and of their texts.
fn limited(rows: &[Row]) -> Vec<Row> {
    let kept = |value: fn(&Row) -> &String| {
        let mut firsts: BTreeMap<(u8, &str), i64> = BTreeMap::new();
        for row in rows {
            let first = firsts.entry((row.link, value(row))).or_insert(row.millis);
            *first = row.millis.min(*first);
        }
        let mut by_link: BTreeMap<u8, BTreeSet<(i64, String)>> = BTreeMap::new();
        for ((link, text), first) in firsts {
            if !text.is_empty() && text != OTHER_VALUES {
                by_link.entry(link).or_default().insert((first, text.to_owned()));
            }
        }
        let first_of = |(link, values): (u8, BTreeSet<(i64, String)>)| {
            values.into_iter().take(MAX_KEPT_VALUES).map(move |(_, text)| (link, text))
        };
        let kept: BTreeSet<(u8, String)> = by_link.into_iter().flat_map(first_of).collect();
        move |row: &Row| {
            let text = value(row);
            let is_kept = text.is_empty() || kept.contains(&(row.link, text.clone()));
            if is_kept { text.clone() } else { OTHER_VALUES.to_owned() }
        }
    };
    let (campaign, referrer) = (kept(|row| &row.campaign), kept(|row| &row.referrer));
    let mut limited: Vec<Row> = rows
        .iter()
        .map(|row| Row { visitor: 0, campaign: campaign(row), referrer: referrer(row), ..row.clone() })
        .collect();
    limited.sort();
    limited
}

/// Clicks of two links, most of them of the first. Their values are chosen from `spread` ones, and their times from `instants`
/// milliseconds: with few of these, many clicks coincide.
fn rows() -> impl Strategy<Value = Vec<Row>> {
    let spread = prop_oneof![Just(3_990_u64), Just(4_010), 4_000..12_000_u64];
    let instants = prop_oneof![Just(1_u64), Just(300), Just(86_400_000)];
    (any::<u64>(), 3_990..6_500_usize, spread, instants).prop_map(|(seed, clicks, spread, instants)| {
        let mut state = seed;
        let mut below = |end: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % end
        };
        (0..clicks)
            .map(|_| Row {
                link: u8::from(below(20) == 0),
                millis: i64::try_from(below(instants)).unwrap(),
                visitor: u8::try_from(below(200)).unwrap(),
                campaign: match below(spread) {
                    0 => String::new(),
                    1 => OTHER_VALUES.to_owned(),
                    value => format!("campaign-{value}"),
                },
                referrer: format!("host-{}", below(40)),
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn d47_first_values_of_a_link_and_day_are_kept(rows in rows(), parts in 1..4_usize) {
        let expected = limited(&rows);
        let mut segments: Vec<Vec<u8>> = rows.chunks(rows.len().div_ceil(parts)).map(segment).collect();
        let mut packer = Packer::new();
        for segment in &segments {
            packer.add(segment).unwrap();
        }
        let packed: Vec<Vec<u8>> = packer.finish().into_iter().map(|segment| segment.data).collect();
        prop_assert!(rows_of(&packed) == expected, "packed");
        let of_day = digest(&segments).unwrap();
        // The store need not read a day's segments in the same order each time.
        segments.reverse();
        let sealed: Vec<Vec<u8>> = seal(&segments).unwrap().into_iter().map(|segment| segment.data).collect();
        prop_assert!(rows_of(&sealed) == expected, "sealed");
        prop_assert!(digest(&sealed).unwrap() == of_day, "the digests differ from the sealed segments");
        let sealed_again: Vec<Vec<u8>> = seal(&sealed).unwrap().into_iter().map(|segment| segment.data).collect();
        prop_assert!(rows_of(&sealed_again) == expected, "sealed again");
    }
}
