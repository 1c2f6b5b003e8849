//! Bytes that are not valid segments or digests. They must never cause a panic or be read as clicks.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking"
)]

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use signpost_clicks::{
    DigestScope, MalformedSegment, Packer, PlaceReader, RangeSorter, RecentCounter, Scanner, SegmentBuilder,
    Selector, digest, read, seal,
};
use signpost_domain::analytics::{
    Buckets, ClickSelection, Dimension, LinkScope, Period, Question, RecordedClick, RecordedKind, UtcDay,
    Values, VisitorHash,
};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

const ACCOUNT: AccountId = AccountId::from_bytes([1; 16]);

fn day() -> UtcDay {
    UtcDay::from_number(20_000)
}

fn built(clicks: u32) -> Vec<u8> {
    let mut builder = SegmentBuilder::new();
    for number in 0..clicks {
        let millis = day().first().unix_millis() + i64::from(number % 3_000 * 20_011);
        let [a, b, c, d] = (number % 71).to_be_bytes();
        let text = format!("value-{}", number % 300);
        let mut values = [""; 11];
        values[6] = &text;
        values[2] = ["desktop", "mobile", ""][usize::from(d % 3)];
        builder
            .push(&RecordedClick {
                at: Timestamp::from_unix_millis(millis).unwrap(),
                account: ACCOUNT,
                link: LinkId::from_bytes(LinkKind::Redirect, [d % 5; 16]),
                kind: RecordedKind::ALL[usize::from(d % 4)],
                visitor: VisitorHash([0, 9, a, b, c, d]),
                values: Values(values),
            })
            .unwrap();
    }
    builder.finish().unwrap().data
}

/// Segments of one frame and of many, unsealed and sealed, and a digest.
static SAMPLES: LazyLock<[Vec<u8>; 5]> = LazyLock::new(|| {
    let (small, large) = (built(40), built(9_000));
    let digest = signpost_clicks::digest(&[&large]).unwrap().digests.remove(0).data;
    let sealed = |segment: &Vec<u8>| seal(&[segment]).unwrap().remove(0).data;
    [sealed(&small), sealed(&large), small, large, digest]
});

/// All dimensions of an account. A digest of one has neither links nor rules.
fn question() -> Question {
    let of_account = |dimension: &Dimension| !matches!(dimension, Dimension::Link | Dimension::Rule);
    Question {
        selection: ClickSelection {
            account: ACCOUNT,
            scope: LinkScope::All,
            period: Period::new(day().first(), day().last()).unwrap(),
            filters: Vec::new(),
        },
        buckets: Buckets::new(vec![day().first()]).unwrap(),
        dimensions: Dimension::ALL.into_iter().filter(of_account).collect(),
        limit: 100,
    }
}

/// The results of every reader. Either all refuse the bytes, or none does.
fn read_all(data: &[u8]) -> Vec<Result<(), MalformedSegment>> {
    let question = question();
    let mut by_hour = question.clone();
    let hours = (0..24).map(|hour| day().first().unix_millis() + hour * 3_600_001);
    by_hour.buckets =
        Buckets::new(hours.map(|at| Timestamp::from_unix_millis(at).unwrap()).collect()).unwrap();
    by_hour.dimensions = Dimension::ALL.to_vec();
    let mut counter =
        RecentCounter::new(ACCOUNT, &[LinkId::from_bytes(LinkKind::Redirect, [1; 16])], day().first());
    vec![
        read(data, |_| {}),
        Scanner::new(&question).add_segments(day(), &[data]),
        Scanner::new(&by_hour).add_segments(day(), &[data, data]),
        Selector::new(&question.selection, None, 10).add_day(day(), &[data]).map(|_| ()),
        seal(&[data]).map(|_| ()),
        digest(&[data]).map(|_| ()),
        PlaceReader::new().read(data).map(|_| ()),
        match RangeSorter::new().sort(&[data]) {
            Err(MalformedSegment::Sealed) => Ok(()),
            sorted => sorted.map(|_| ()),
        },
        counter.add(data),
    ]
}

fn read_digest(data: &[u8]) -> Result<bool, MalformedSegment> {
    let mut scanner = Scanner::new(&question());
    assert_eq!(scanner.scope(), Some(DigestScope::Account));
    let read = scanner.add_digest(day(), data);
    if read == Ok(false) {
        assert_eq!(scanner.finish(), Scanner::new(&question()).finish(), "counted something");
    }
    read
}

fn refused_by_all(data: &[u8]) {
    assert!(read_all(data).iter().all(Result::is_err), "{:?}", read_all(data));
    assert!(Packer::new().add(data).is_err());
    assert!(read_digest(data).is_err());
}

/// The same bytes with a valid checksum, to test what the checksum would hide.
fn with_checksum(mut data: Vec<u8>) -> Vec<u8> {
    if data.len() >= 6 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&data[..2]);
        hasher.update(&data[6..]);
        let sum = hasher.finalize().to_le_bytes();
        data[2..6].copy_from_slice(&sum);
    }
    data
}

#[test]
fn valid_bytes_are_accepted_by_all_readers() {
    let samples = &*SAMPLES;
    for segment in &samples[..4] {
        assert!(read_all(segment).iter().all(Result::is_ok));
        assert!(read_digest(segment).is_err());
    }
    assert_eq!(read_digest(&samples[4]), Ok(true));
    assert!(read_all(&samples[4]).iter().all(Result::is_err));
    assert_eq!(Packer::new().add(&samples[0]), Err(MalformedSegment::Sealed));
    for sample in samples {
        assert_eq!(&with_checksum(sample.clone()), sample);
    }
}

#[test]
fn every_truncation_is_refused() {
    for sample in &*SAMPLES {
        for end in 0..sample.len().min(700) {
            refused_by_all(&sample[..end]);
        }
        for end in (700.min(sample.len())..sample.len()).step_by(97) {
            refused_by_all(&sample[..end]);
        }
    }
}

#[test]
fn truncation_with_a_valid_checksum_is_refused() {
    for sample in &*SAMPLES {
        for end in (6..sample.len()).step_by(if sample.len() > 2_000 { 211 } else { 3 }) {
            refused_by_all(&with_checksum(sample[..end].to_vec()));
        }
    }
}

#[test]
fn unknown_version_is_named() {
    let mut segment = built(3);
    segment[0] = 2;
    assert_eq!(read(&segment, |_| {}), Err(MalformedSegment::UnknownVersion(2)));
}

#[test]
fn segments_of_two_days_are_not_sealed_together() {
    let mut builder = SegmentBuilder::new();
    for at in [day().first(), day().plus(1).first()] {
        builder
            .push(&RecordedClick {
                at,
                account: ACCOUNT,
                link: LinkId::from_bytes(LinkKind::Landing, [2; 16]),
                kind: RecordedKind::Click,
                visitor: VisitorHash([0; 6]),
                values: Values::default(),
            })
            .unwrap();
    }
    let data = builder.finish().unwrap().data;
    assert_eq!(seal(&[&data]).unwrap_err(), MalformedSegment::SeveralDays);
    assert_eq!(digest(&[&data]).unwrap_err(), MalformedSegment::SeveralDays);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn random_bytes_are_refused(mut data in prop::collection::vec(any::<u8>(), 0..300), first in 0..4_u8) {
        if let Some(version) = data.first_mut() {
            *version = [1, 0x81, 2, *version][usize::from(first)];
        }
        refused_by_all(&data);
        // Readers may accept or refuse them, but must not panic.
        let data = with_checksum(data);
        read_all(&data);
        let _ = read_digest(&data);
    }

    #[test]
    fn flipped_bits_are_refused(which in 0..5_usize, bits in prop::collection::vec(any::<Index>(), 1..4)) {
        let mut data = SAMPLES[which].clone();
        let bits: std::collections::BTreeSet<usize> = bits.iter().map(|bit| bit.index(data.len() * 8)).collect();
        for bit in bits {
            data[bit / 8] ^= 1 << (bit % 8);
        }
        refused_by_all(&data);
    }

    #[test]
    fn flipped_bits_with_a_valid_checksum_never_panic(
        which in 0..5_usize,
        in_header in any::<bool>(),
        changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..5),
    ) {
        let mut data = SAMPLES[which].clone();
        let end = if in_header { data.len().min(150) } else { data.len() };
        for (at, byte) in changes {
            data[at.index(end)] = byte;
        }
        let data = with_checksum(data);
        read_all(&data);
        let _ = Packer::new().add(&data);
        let _ = read_digest(&data);
    }
}
