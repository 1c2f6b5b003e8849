//! Which click of an export is meant (D66).

use crate::link_id::{LinkId, LinkKind};
use crate::timestamp::Timestamp;

const PREFIX: &str = "clk_";

/// A click of an export. It says when, on which link, and the how-manyth of that millisecond, so that the order of ids is the
/// order of the export, and no click needs room for an id of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClickId {
    /// When.
    pub at: Timestamp,
    /// On which link.
    pub link: LinkId,
    /// How many clicks of the same link and millisecond come before it, when they are sorted by kind and values.
    pub place: u32,
}

impl std::fmt::Display for ClickId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = match self.link.kind() {
            LinkKind::Landing => 'l',
            LinkKind::Redirect => 'r',
        };
        let link = u128::from_be_bytes(self.link.to_bytes());
        write!(f, "{PREFIX}{:012x}{kind}{link:032x}{:x}", self.at.unix_millis(), self.place)
    }
}

/// The text is no id of a click.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is not a click id ({PREFIX}…)")]
pub struct MalformedClickId;

impl std::str::FromStr for ClickId {
    type Err = MalformedClickId;

    fn from_str(text: &str) -> Result<Self, MalformedClickId> {
        let read = || {
            let rest = text.strip_prefix(PREFIX)?;
            let (at, rest) = rest.split_at_checked(12)?;
            let (kind, rest) = rest.split_at_checked(1)?;
            let (link, place) = rest.split_at_checked(32)?;
            let kind = match kind {
                "l" => LinkKind::Landing,
                "r" => LinkKind::Redirect,
                _ => return None,
            };
            let at = i64::from_str_radix(at, 16).ok().and_then(Timestamp::from_unix_millis)?;
            let link = LinkId::from_bytes(kind, u128::from_str_radix(link, 16).ok()?.to_be_bytes());
            Some(Self { at, link, place: u32::from_str_radix(place, 16).ok()? })
        };
        // Each id has one spelling: no signs, no capitals, no further zeros.
        read().filter(|id: &Self| id.to_string() == text).ok_or(MalformedClickId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d66_an_id_reads_back_and_sorts_as_clicks_do() {
        let id = |millis, kind, link: u128, place| ClickId {
            at: Timestamp::from_unix_millis(millis).unwrap(),
            link: LinkId::from_bytes(kind, link.to_be_bytes()),
            place,
        };
        let mut ids = Vec::new();
        for at in [0, 1, 1_769_850_307_042, Timestamp::LAST.unix_millis()] {
            for kind in [LinkKind::Landing, LinkKind::Redirect] {
                for link in [0, 7, u128::MAX] {
                    ids.extend([0, 1, u32::MAX].map(|place| id(at, kind, link, place)));
                }
            }
        }
        for id in &ids {
            assert_eq!(id.to_string().parse(), Ok(*id));
        }
        assert!(ids.is_sorted());
        let one = ids[7].to_string();
        for bad in [
            "",
            "clk_",
            &one[1..],
            &one.to_uppercase(),
            &format!("{one}0000000000"),
            &one.replace("clk_0", "clk_+"),
        ] {
            assert_eq!(bad.parse::<ClickId>(), Err(MalformedClickId), "{bad}");
        }
    }
}
