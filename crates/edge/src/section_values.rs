//! The bytes of single values in the sections of a link in memory (`link_layout.rs`).

use signpost_app::visits::{RecordedLink, Sending};
use signpost_domain::{AccountId, LinkId, LinkKind, RedirectStatus, Schedule, Timestamp};

/// The size of a recorded link: its kind, its id and its account's id.
const RECORDED_BYTES: usize = 1 + 16 + 16;

pub(crate) fn encoded_recorded(RecordedLink { id, account }: &RecordedLink) -> Vec<u8> {
    let is_landing = u8::from(id.kind() == LinkKind::Landing);
    [&[is_landing][..], &id.to_bytes(), &account.to_bytes()].concat()
}

pub(crate) fn recorded_of(bytes: &[u8; RECORDED_BYTES]) -> Option<RecordedLink> {
    let (is_landing, ids) = bytes.split_first()?;
    let (link, account) = ids.split_first_chunk()?;
    Some(RecordedLink {
        id: LinkId::from_bytes(kind_of(*is_landing != 0), *link),
        account: AccountId::from_bytes(account.try_into().ok()?),
    })
}

pub(crate) const fn kind_of(is_landing: bool) -> LinkKind {
    if is_landing { LinkKind::Landing } else { LinkKind::Redirect }
}

/// Two instants in milliseconds; empty if both are absent.
pub(crate) fn encoded_schedule(schedule: Schedule) -> Vec<u8> {
    if schedule == Schedule::default() {
        return Vec::new();
    }
    // No instant has that many milliseconds.
    let millis = |instant: Option<Timestamp>| instant.map_or(i64::MAX, Timestamp::unix_millis);
    [schedule.starts_at(), schedule.expires_at()].map(|instant| millis(instant).to_le_bytes()).concat()
}

pub(crate) fn schedule_of(bytes: &[u8]) -> Schedule {
    let (millis, _) = bytes.as_chunks();
    let instant = |bytes: &[u8; 8]| Timestamp::from_unix_millis(i64::from_le_bytes(*bytes));
    Schedule::from_stored(millis.first().and_then(instant), millis.get(1).and_then(instant))
}

/// The two lowest bits of how visitors are sent on.
const STATUS: u8 = 0b11;

/// The bit of links that forward queries.
const FORWARDS_QUERY: u8 = 1 << 2;

/// One byte; empty for a 302 that forwards nothing, as almost all links have it.
pub(crate) fn encoded_sending(sending: Sending) -> Vec<u8> {
    if sending == Sending::default() {
        return Vec::new();
    }
    let Sending { status, forwards_query } = sending;
    let status = match status {
        RedirectStatus::Found => 0,
        RedirectStatus::MovedPermanently => 1,
        RedirectStatus::TemporaryRedirect => 2,
        RedirectStatus::PermanentRedirect => 3,
    };
    vec![if forwards_query { status | FORWARDS_QUERY } else { status }]
}

pub(crate) fn sending_of(bytes: &[u8]) -> Sending {
    let bits = bytes.first().copied().unwrap_or_default();
    let status = match bits & STATUS {
        1 => RedirectStatus::MovedPermanently,
        2 => RedirectStatus::TemporaryRedirect,
        3 => RedirectStatus::PermanentRedirect,
        _ => RedirectStatus::Found,
    };
    Sending { status, forwards_query: bits & FORWARDS_QUERY != 0 }
}
