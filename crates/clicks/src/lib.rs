//! Stores, packs, seals, digests and counts clicks, as pure functions on bytes.
//!
//! Clicks are stored as *segments*: compressed columns of up to [`MAX_CLICKS`] rows. A recorder writes them
//! with [`SegmentBuilder`]. A store merges them with [`Packer`], drops the visitors' hashes with [`seal`],
//! and sums up days with [`digest`]. [`Scanner`] answers questions, [`Selector`] finds the clicks of an
//! export, and [`RecentCounter`] counts the clicks of a few links. [`Inquiry`] and [`pack_batches`] decide
//! what a store reads and writes, and in which order. `docs/click-segments.md` describes both formats byte by
//! byte.

mod click_rows;
mod columns;
mod day_counter;
mod day_cuts;
mod day_digester;
mod day_pass;
mod day_plan;
mod decoded_segment;
mod digest;
mod digest_reader;
mod dimension_of_day;
mod distinct;
mod inquiry;
mod numbers;
mod packer;
mod packing;
mod recent;
mod rounds;
mod row_selection;
mod scanner;
mod scope_sums;
mod segment_builder;
mod segment_encoder;
mod segment_format;
mod segment_reader;
mod selector;
mod sorting;
mod tables;
mod tally;
mod value_limits;
mod visitor_bound;

pub use day_digester::{DayDigester, DigestedDay, digest};
pub use digest::{Digest, DigestScope, MIN_CLICKS_OF_LINK_DIGEST};
pub use inquiry::{Inquiry, MAX_UNPACKED_BYTES, Unpacked, UnpackedBatch, WINDOW_BYTES, windows};
pub use packer::{MAX_SORTED, PackedSegment, Packer, seal};
pub use packing::{
    MergedSegments, NewClicks, OpenSegment, PackedBatches, merge_segments, new_clicks, pack_batches,
};
pub use recent::RecentCounter;
pub use rounds::Round;
pub use scanner::{DayNeeds, Scanner};
pub use segment_builder::{BuiltSegment, SegmentBuilder, SegmentFull};
pub use segment_format::MalformedSegment;
pub use segment_reader::{accounts, read};
pub use selector::Selector;
pub use sorting::{DayRanges, PlaceReader, Places, RangeSorter};

/// Maximum number of clicks in a segment. Readers refuse larger ones.
pub const MAX_CLICKS: usize = 131_072;

/// Maximum length of a dimension's value in bytes. Longer values are truncated at a character when they are
/// recorded.
pub const MAX_VALUE_BYTES: usize = 512;
