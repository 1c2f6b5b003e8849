//! Recorded clicks are read back after every stage of storage.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use signpost_clicks::{
    MAX_CLICKS, MAX_VALUE_BYTES, PackedSegment, Packer, SegmentBuilder, SegmentFull, digest, read, seal,
};
use signpost_domain::analytics::{RecordedClick, RecordedKind, UtcDay, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

/// A row that owns its values.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    account: AccountId,
    at: i64,
    link: LinkId,
    kind: RecordedKind,
    visitor: [u8; 6],
    values: [String; 11],
}

fn day() -> UtcDay {
    UtcDay::from_number(20_000)
}

/// A click of one account, this many milliseconds into the day.
fn row(millis: i64) -> Row {
    Row {
        account: AccountId::from_bytes([1; 16]),
        at: day().first().unix_millis() + millis,
        link: LinkId::from_bytes(LinkKind::Landing, [9; 16]),
        kind: RecordedKind::Click,
        visitor: [6; 6],
        values: std::array::from_fn(|_| String::new()),
    }
}

fn click(row: &Row) -> RecordedClick<'_> {
    RecordedClick {
        at: Timestamp::from_unix_millis(row.at).unwrap(),
        account: row.account,
        link: row.link,
        kind: row.kind,
        visitor: VisitorHash(row.visitor),
        values: Values(std::array::from_fn(|place| row.values[place].as_str())),
    }
}

fn built(rows: &[Row]) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    assert!(builder.is_empty());
    for row in rows {
        builder.push(&click(row)).unwrap();
    }
    assert_eq!(builder.len(), rows.len());
    builder.finish().unwrap().data
}

/// The rows of segments, sorted.
fn rows_of<'a>(segments: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<Row> {
    let mut rows = Vec::new();
    for segment in segments {
        let each = |click: RecordedClick<'_>| {
            rows.push(Row {
                account: click.account,
                at: click.at.unix_millis(),
                link: click.link,
                kind: click.kind,
                visitor: click.visitor.0,
                values: click.values.0.map(str::to_owned),
            });
        };
        read(segment, each).unwrap();
    }
    rows.sort();
    rows
}

fn packed(segments: &[Vec<u8>]) -> Vec<PackedSegment> {
    let mut packer = Packer::new();
    for segment in segments {
        packer.add(segment).unwrap();
    }
    packer.finish()
}

/// The rows without what sealing destroys: visitors are numbered by first appearance.
fn unnamed(mut rows: Vec<Row>) -> Vec<Row> {
    for row in &mut rows {
        row.visitor = [0; 6];
    }
    rows
}

/// Builds, packs and seals one day's rows, and checks them at each stage.
fn holds(mut rows: Vec<Row>) {
    let built = built(&rows);
    rows.sort();
    assert!(rows_of([&built]) == rows, "built");
    let packed = packed(&[built]);
    assert!(rows_of(packed.iter().map(|segment| &segment.data)) == rows, "packed");
    let data: Vec<&Vec<u8>> = packed.iter().map(|segment| &segment.data).collect();
    let sealed = seal(&data).unwrap();
    assert!(sealed.iter().all(|segment| segment.sealed && segment.clicks <= 8_192));
    assert!(unnamed(rows_of(sealed.iter().map(|segment| &segment.data))) == unnamed(rows), "sealed");
}

#[test]
fn one_click_of_each_kind_is_read_back() {
    for kind in RecordedKind::ALL {
        holds(vec![Row { kind, ..row(86_399_999) }]);
    }
    holds(
        RecordedKind::ALL
            .into_iter()
            .zip([5, 0, 86_399_999, 5])
            .map(|(kind, at)| Row { kind, ..row(at) })
            .collect(),
    );
}

#[test]
fn empty_and_long_values_are_read_back() {
    let mut long = row(7);
    long.values = std::array::from_fn(|place| "ü".repeat(50 + place));
    let mut longest = row(8);
    longest.values[6] = "x".repeat(MAX_VALUE_BYTES);
    holds(vec![long, row(3), longest]);
}

#[test]
fn seventy_thousand_distinct_values_are_read_back() {
    let rows = (0..70_000).map(|number| {
        let mut row = row(number);
        // A link keeps at most 4,000 of them.
        row.link = LinkId::from_bytes(LinkKind::Landing, [u8::try_from(number % 20).unwrap(); 16]);
        row.values[9] = format!("{number:0100}");
        row.values[7] = format!("{}", number % 256);
        row.visitor = [0, 0, 0, number.to_be_bytes()[5], number.to_be_bytes()[6], number.to_be_bytes()[7]];
        row
    });
    holds(rows.collect());
}

#[test]
fn overlong_values_are_truncated_at_a_character() {
    let mut row = row(0);
    row.values[6] = format!("x{}", "€".repeat(200));
    let read = rows_of([&built(&[row])]);
    assert_eq!(read[0].values[6], format!("x{}", "€".repeat((MAX_VALUE_BYTES - 1) / 3)));
}

#[test]
fn full_builder_refuses_clicks_and_keeps_its_own() {
    let mut builder = SegmentBuilder::new();
    let one = row(1);
    for _ in 0..MAX_CLICKS {
        builder.push(&click(&one)).unwrap();
    }
    assert_eq!(builder.push(&click(&one)), Err(SegmentFull));
    let built = builder.finish().unwrap();
    assert_eq!(usize::try_from(built.clicks).unwrap(), MAX_CLICKS);
    let packed = packed(&[built.data]);
    assert_eq!(packed.iter().map(|segment| segment.clicks).collect::<Vec<_>>(), [65_536, 65_536]);

    let mut builder = SegmentBuilder::new();
    let mut taken = 0_i64;
    loop {
        let mut long = row(taken);
        long.values = std::array::from_fn(|place| format!("{taken:0400}-{place}"));
        if builder.push(&click(&long)).is_err() {
            break;
        }
        taken += 1;
    }
    assert!((3_000..4_000).contains(&taken), "{taken}");
    assert_eq!(i64::from(builder.finish().unwrap().clicks), taken);
}

#[test]
fn day_with_too_many_long_values_packs_into_several_segments() {
    let mut segments = Vec::new();
    let mut rows = Vec::new();
    for batch in 0..3 {
        let of_batch: Vec<Row> = (0..2_000)
            .map(|number| {
                let mut row = row(batch * 2_000 + number);
                // A link keeps at most 4,000 of the values.
                row.link = LinkId::from_bytes(LinkKind::Landing, [u8::try_from(batch).unwrap(); 16]);
                row.values = std::array::from_fn(|place| format!("{batch}-{number:0400}-{place}"));
                row
            })
            .collect();
        segments.push(built(&of_batch));
        rows.extend(of_batch);
    }
    rows.sort();
    let packed = packed(&segments);
    assert!(packed.len() > 1);
    assert!(rows_of(packed.iter().map(|segment| &segment.data)) == rows);
    let sealed = seal(&packed.iter().map(|segment| &segment.data).collect::<Vec<_>>()).unwrap();
    assert!(unnamed(rows_of(sealed.iter().map(|segment| &segment.data))) == unnamed(rows));
}

#[test]
fn packing_splits_by_account_and_day_and_names_links() {
    let link = |kind, byte| LinkId::from_bytes(kind, [byte; 16]);
    let account = |byte| AccountId::from_bytes([byte; 16]);
    let of = |of, day: i64, on| Row { account: account(of), link: on, ..row(day * 86_400_000) };
    let (early, late) = (link(LinkKind::Redirect, 1), link(LinkKind::Landing, 2));
    let rows = [of(2, 0, late), of(2, 0, early), of(1, 1, late), of(1, 0, early), of(1, 0, early)];
    let packed = packed(&[built(&rows[..2]), built(&rows[2..])]);
    let parts: Vec<_> = packed
        .iter()
        .map(|segment| {
            (
                segment.account,
                segment.day,
                segment.first_link,
                segment.last_link,
                segment.clicks,
                segment.sealed,
            )
        })
        .collect();
    assert_eq!(
        parts,
        [
            (account(1), day(), early, early, 2, false),
            (account(1), day().plus(1), late, late, 1, false),
            (account(2), day(), early, late, 2, false),
        ]
    );
}

#[test]
fn d48_sealing_removes_hashes_and_distinguishes_visitors() {
    let hash = |byte| [0xa0 | byte, 0xb1, 0xc2, 0xd3, 0xe4, 0xf5];
    let rows: Vec<Row> = (0..9_000)
        .map(|number: i64| Row { visitor: hash((number % 3).to_le_bytes()[0]), ..row(number * 9_000) })
        .collect();
    let segment = built(&rows);
    assert!(segment.windows(6).any(|window| window == hash(1)));
    let sealed = seal(&[segment]).unwrap();
    let mut visitors = std::collections::BTreeMap::new();
    for segment in &sealed {
        assert!(!segment.data.windows(4).any(|window| window == [0xb1, 0xc2, 0xd3, 0xe4]));
        for row in rows_of([&segment.data]) {
            *visitors.entry(row.visitor).or_insert(0) += 1;
        }
    }
    assert_eq!(visitors.into_values().collect::<Vec<_>>(), [3_000, 3_000, 3_000]);
}

#[test]
fn last_clicks_consider_each_link_and_only_clicks() {
    let other = LinkId::from_bytes(LinkKind::Redirect, [3; 16]);
    let rows = [
        row(5),
        row(6),
        Row { kind: RecordedKind::Bot, ..row(7) },
        Row { link: other, ..row(8) },
        Row { link: other, kind: RecordedKind::Widget, ..row(10) },
    ];
    let found = digest(&[built(&rows[..2]), built(&rows[2..])]).unwrap().last_clicks;
    let found: Vec<_> = found.into_iter().map(|(link, at)| (link, at.unix_millis())).collect();
    let expected = [&rows[1], &rows[3]].map(|row| (row.link, row.at));
    assert_eq!(found, expected);
}

#[test]
fn alike_clicks_are_written_like_others() {
    let rows: Vec<Row> = (0..200)
        .map(|number| {
            let mut row = row(number);
            let alike = number % 5;
            row.values = std::array::from_fn(|place| format!("{place} of {alike}"));
            // Country and widget differ between alike clicks.
            row.values[1] = format!("country {}", number % 7);
            row.values[10] = format!("widget {}", number % 3);
            row
        })
        .collect();
    let mut builder = SegmentBuilder::new();
    for row in &rows {
        let alike = u64::try_from((row.at - rows[0].at) % 5).unwrap();
        // Some of them have no number.
        builder.push_alike(&click(row), Some(alike).filter(|alike| *alike < 4)).unwrap();
    }
    assert_eq!(builder.finish().unwrap().data, built(&rows));
}
