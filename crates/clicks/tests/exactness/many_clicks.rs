//! Days that fill several segments, with dictionaries of every width and digests of links.

use signpost_clicks::{DigestScope, MIN_CLICKS_OF_LINK_DIGEST, SegmentBuilder};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, LinkScope, Period, Question, RecordedKind,
};

use crate::generated::{account, day, instant, link};
use crate::model::{self, Row};
use crate::storage::{Storage, Use};

/// Pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

const PER_DAY: u64 = 20_000;

/// Two days of three links: one has nearly all clicks, one just enough for a digest, one too few.
fn rows() -> Vec<Row> {
    let mut numbers = Numbers(1);
    let mut rows = Vec::new();
    for day_number in 0..2 {
        for click in 0..PER_DAY {
            let of_link = if click < 1_000 {
                1
            } else if click < 1_999 {
                2
            } else {
                0
            };
            let millis = day_number * 86_400_000 + i64::try_from(numbers.below(86_400_000)).unwrap();
            // 1, 2, 4, 16, 256 and more than 256 values.
            let widths = [1, 2, 4, 5, 16, 17, 256, 257, 3_000, 3_900, 3];
            let mut values = widths.map(|width: u64| match numbers.below(width) {
                0 => String::new(),
                value => format!("value-{value}"),
            });
            // More than 4,096 values of the account, but no more than 4,000 of a link (D47).
            values[9].push_str(["-a", "-b", "-c"][usize::from(of_link)]);
            let kind = RecordedKind::ALL[usize::try_from(numbers.below(8).saturating_sub(4)).unwrap()];
            if kind == RecordedKind::Widget {
                values[10] = format!("wgt_{}", numbers.below(3));
            }
            let visitor = numbers.below(9_000).to_be_bytes();
            rows.push(Row {
                at: instant(millis),
                account: account(0),
                link: link(of_link),
                kind,
                visitor: [visitor[2], visitor[3], visitor[4], visitor[5], visitor[6], visitor[7]],
                values,
                sealed_by: None,
            });
        }
    }
    rows
}

fn question(scope: LinkScope, dimensions: &[Dimension], offset: i64, step: i64) -> Question {
    let period = Period::new(day(0).first(), day(1).last()).unwrap();
    let starts = (0..=2 * 86_400_000 / step + 1).map(|place| instant(place * step - offset));
    let starts: Vec<Timestamp> = starts.filter(|start| *start <= day(1).last()).collect();
    Question {
        selection: ClickSelection { account: account(0), scope, period, filters: Vec::new() },
        buckets: Buckets::new(starts).unwrap(),
        dimensions: dimensions.to_vec(),
        limit: 100,
    }
}

const HOUR: i64 = 3_600_000;

/// Packed by day in several portions; the first day is sealed.
fn storage() -> Storage {
    let mut storage = Storage::default();
    for (number, batch) in rows().chunks(1_500).enumerate() {
        storage.append(batch);
        if number % 7 == 6 {
            storage.pack(false);
        }
    }
    storage.pack(false);
    storage.seal(account(0), day(0));
    storage
}

#[test]
fn d46_scans_and_digests_of_busy_days_agree_with_brute_force() {
    let storage = storage();
    let rows = storage.rows();
    let few_with = |last: Dimension| -> Vec<Dimension> {
        let recorded = Dimension::RECORDED.into_iter();
        let others =
            recorded.filter(|dimension| ![Dimension::Widget, Dimension::UtmCampaign].contains(dimension));
        others.chain([last]).collect()
    };
    let (few, of_redirects) = (few_with(Dimension::Widget), few_with(Dimension::Rule));
    let narrow: Vec<Dimension> = few.iter().copied().take(5).collect();
    // Scope, dimensions, the offset of days from midnight, and how many of the two days digests can answer.
    let cases: [(LinkScope, &[Dimension], i64, i64, usize); 15] = [
        (LinkScope::All, &few, 0, 24 * HOUR, 2),
        (LinkScope::All, &narrow, HOUR * 23 / 4, 24 * HOUR, 2),
        (LinkScope::All, &[], HOUR * 11 / 2, HOUR, 2),
        (LinkScope::All, &[], 0, HOUR, 2),
        (LinkScope::All, &[], HOUR / 4, HOUR, 2),
        (LinkScope::All, &[], 0, HOUR / 2, 0),
        (LinkScope::All, &[], 1, 24 * HOUR, 0),
        (LinkScope::All, &[Dimension::UtmCampaign], 0, 24 * HOUR, 0),
        (LinkScope::All, &[Dimension::Link, Dimension::Widget], 0, 24 * HOUR, 0),
        (LinkScope::One(link(0)), &of_redirects, HOUR * 2, 24 * HOUR, 2),
        (LinkScope::One(link(0)), &few, 0, 24 * HOUR, 0),
        (LinkScope::One(link(1)), &of_redirects, 0, 24 * HOUR, 0),
        (LinkScope::All, &of_redirects, 0, 24 * HOUR, 0),
        (LinkScope::One(link(1)), &few, 0, HOUR, 2),
        (LinkScope::One(link(2)), &few, 0, 24 * HOUR, 0),
    ];
    for (scope, dimensions, offset, step, by_digest) in cases {
        let question = question(scope, dimensions, offset, step);
        let expected = model::answer(&rows, &question);
        assert!(expected.totals.visitors > 0);
        for using in [Use::Segments, Use::SegmentsInParts] {
            assert_eq!(storage.answer(&question, using), (expected.clone(), 0), "{using:?} {question:?}");
        }
        assert_eq!(storage.answer(&question, Use::Digests), (expected, by_digest), "{question:?}");
    }
}

#[test]
fn link_gets_a_digest_from_1000_clicks() {
    let mut builder = SegmentBuilder::new();
    for row in rows().iter().filter(|row| row.day() == day(0)) {
        builder.push(&row.click()).unwrap();
    }
    let digests = signpost_clicks::digest(&[builder.finish().unwrap().data]).unwrap().digests;
    let scopes: Vec<_> = digests.iter().map(|digest| digest.scope).collect();
    // In the order of their bytes: link 1 has those of link 0, and is a landing page.
    assert_eq!(scopes, [DigestScope::Account, DigestScope::Link(link(1)), DigestScope::Link(link(0))]);
    assert_eq!(MIN_CLICKS_OF_LINK_DIGEST, 1_000);
}

#[test]
fn d66_export_of_busy_days_is_complete_and_ordered() {
    let storage = storage();
    let selection = question(LinkScope::All, &[], 0, 24 * HOUR).selection;
    let expected = model::exported(&storage.rows(), &selection);
    let mut found = Vec::new();
    loop {
        let after = found.last().map(|click: &signpost_domain::analytics::ExportedClick| click.id);
        let page = storage.clicks(&selection, after, 7_000, true);
        let last = page.len() < 7_000;
        found.extend(page);
        if last {
            break;
        }
    }
    assert!(found == expected, "{} of {}", found.len(), expected.len());
}
