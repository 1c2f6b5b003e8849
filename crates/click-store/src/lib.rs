//! Packs, digests, seals and counts clicks, once for all SQL stores (ADR 63).
//!
//! A store implements [`ClickTables`]: it reads rows on one snapshot, and applies a [`ClickChange`] as a whole, unless what the
//! change rests on has changed. The functions here decide what to read and what to change. They compute on threads of low
//! priority, where short questions do not wait for long ones. A store calls them to implement the port
//! [`ClickStore`](signpost_app::ports::ClickStore).

mod answering;
mod attempts;
mod computing;
mod digesting;
mod disk_space;
mod exporting;
mod forgetting;
mod inbox;
mod large_days;
mod packing;
mod policy;
mod reading_days;
mod recent;
mod sealing;
mod tables;
mod whole_days;

pub use answering::answer;
pub use computing::{ComputeError, Lane, Priority, compute};
pub use digesting::digest;
pub use disk_space::{DiskNearlyFull, DiskSpace, FreeSpace};
pub use exporting::clicks;
pub use forgetting::forget;
pub use inbox::{MAX_LISTED_ACCOUNTS, listed_accounts};
pub use packing::pack;
pub use recent::recent_clicks;
pub use sealing::seal;
pub use tables::{
    Applied, BatchHead, BatchKey, BatchSelection, ClickChange, ClickSnapshot, ClickTables, DayChange,
    DayEffect, DayVersion, LinkRange, PendingDays, Reading, Replacement, SegmentHead, SegmentKey,
};
