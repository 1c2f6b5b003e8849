//! The ids of clicks in an export (D66).

use crate::link_id::{LinkId, LinkKind};
use crate::timestamp::Timestamp;

const PREFIX: &str = "clk_";

/// The id of an exported click: its time, its link, and its position among the clicks of the same link and
/// millisecond. So ids sort in the order of the export, and clicks need no stored id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClickId {
    /// The time of the click.
    pub at: Timestamp,
    /// The link.
    pub link: LinkId,
    /// The number of clicks before it with the same link and millisecond, sorted by kind and values.
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

/// The text is not the id of a click.
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
        // Each id has only one spelling: no signs, no capitals, no additional zeros.
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
