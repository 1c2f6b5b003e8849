//! The accounts of a segment.

use signpost_domain::AccountId;

use crate::MalformedSegment;
use crate::segment_reader::{Decoder, Segment};

/// The accounts that have clicks in a segment, each once, in ascending order. Clicks are not read.
pub fn accounts(data: &[u8]) -> Result<Vec<AccountId>, MalformedSegment> {
    let mut decoder = Decoder::new();
    let segment = Segment::open(data, &mut decoder)?;
    let sections = segment.sections(&mut decoder, &mut Vec::new())?;
    let mut accounts: Vec<AccountId> = sections.into_iter().map(|section| section.account).collect();
    accounts.sort_unstable();
    accounts.dedup();
    Ok(accounts)
}
