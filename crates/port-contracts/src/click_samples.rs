//! Sample clicks for tests of click stores: one link, one click each millisecond, each by a different visitor.

use signpost_app::ports::EncodedClicks;
use signpost_clicks::SegmentBuilder;
use signpost_domain::analytics::{ClickSource, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, LinkKind, Timestamp};

use crate::samples;

/// How many clicks a batch has.
pub const CLICKS_OF_BATCH: u32 = 1_000;

/// An account with one clicked link.
#[derive(Debug, Clone, Copy)]
pub struct ClickedLink {
    /// The owner of the link.
    pub account: AccountId,
    /// The link.
    pub link: LinkId,
}

impl ClickedLink {
    /// Makes a new account and link.
    #[must_use]
    pub fn new() -> Self {
        Self { account: samples::id(), link: samples::link(LinkKind::Redirect, "clicked").id() }
    }

    /// A batch of one source. Batch 1 starts at instant 0, batch 2 at 1,000.
    #[must_use]
    pub fn batch(&self, number: u64) -> EncodedClicks {
        let mut builder = SegmentBuilder::new();
        let clicks = u64::from(CLICKS_OF_BATCH);
        for click in (number - 1) * clicks..number * clicks {
            let recorded = RecordedClick {
                at: at(i64::try_from(click).unwrap()),
                account: self.account,
                link: self.link,
                kind: RecordedKind::Click,
                visitor: VisitorHash(hash(click)),
                values: Values::default(),
            };
            builder.push(&recorded).unwrap();
        }
        let built = builder.finish().unwrap();
        EncodedClicks {
            source: ClickSource([1; 16]),
            number,
            clicks: built.clicks,
            first: built.first,
            last: built.last,
            segment: built.data,
        }
    }
}

impl Default for ClickedLink {
    fn default() -> Self {
        Self::new()
    }
}

/// The instant `millis` milliseconds after the first click.
#[must_use]
pub fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(1_790_000_000_000 + millis).unwrap()
}

/// The visitor hash of a click: incompressible, and long enough not to occur by chance.
#[must_use]
pub fn hash(click: u64) -> [u8; 6] {
    let one = (click + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (one ^ (click + 7).wrapping_mul(0xd1b5_4a32_d192_ed03)).to_be_bytes();
    std::array::from_fn(|place| mixed[place])
}
