//! The filter of link lists by state (D126).

use crate::life::LinkState;
use crate::link::{Content, Link};
use crate::link_id::LinkKind;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// Some states of links, at least one.
///
/// ```
/// use signpost_domain::{LinkState, LinkStates};
///
/// let states = LinkStates::parse("expired,exhausted").unwrap();
/// assert!(states.contains(LinkState::Expired) && !states.contains(LinkState::Active));
/// assert!(LinkStates::parse("expired,").is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkStates(u8);

impl LinkStates {
    /// The field of the filter.
    pub const FIELD: &'static str = "state";

    /// The states that a text names, separated by commas. A state may be named again.
    ///
    /// # Errors
    /// `invalid_value` for an unknown name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let mut bits = 0;
        for name in text.split(',') {
            bits |= LinkState::parse(name).map_err(|_| unknown_name())?.bit();
        }
        Ok(Self(bits))
    }

    /// These states; `None` if there are none.
    #[must_use]
    pub fn new(states: impl IntoIterator<Item = LinkState>) -> Option<Self> {
        let bits = states.into_iter().fold(0, |bits, state| bits | state.bit());
        (bits != 0).then_some(Self(bits))
    }

    /// Whether `state` is one of them.
    #[must_use]
    pub const fn contains(self, state: LinkState) -> bool {
        self.0 & state.bit() != 0
    }

    /// The bits of the states ([`LinkState::bit`]).
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether a link of this kind can have one of the states: only redirects have a limit of clicks.
    #[must_use]
    pub const fn are_of(self, kind: LinkKind) -> bool {
        match kind {
            LinkKind::Redirect => true,
            LinkKind::Landing => self.0 != LinkState::Exhausted.bit(),
        }
    }

    /// Where all links of the states are.
    #[must_use]
    pub const fn range(self) -> StateRange {
        const LOST: u8 = LinkState::Lost.bit();
        const INACTIVE: u8 = LinkState::Inactive.bit();
        const BY_DATES: u8 = LinkState::Scheduled.bit() | LinkState::Expired.bit();
        match self.0 {
            LOST => StateRange::Lost,
            INACTIVE => StateRange::Activity(false),
            bits if bits & !BY_DATES == 0 => StateRange::Dated,
            bits if bits & (LOST | INACTIVE) == 0 => StateRange::Activity(true),
            _ => StateRange::All,
        }
    }
}

fn unknown_name() -> FieldError {
    let names = LinkState::ALL.map(LinkState::as_str).join(", ");
    let message = format!("must be one or more of {names}, separated by commas");
    FieldError::new(ViolationCode::InvalidValue, message)
}

impl From<LinkState> for LinkStates {
    fn from(state: LinkState) -> Self {
        Self(state.bit())
    }
}

/// A part of an account's links that a store can read by an index. It has all links of some states, and perhaps others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateRange {
    /// The links that lost their domain. All of them have the state.
    Lost,
    /// The links with a start or an end.
    Dated,
    /// The links that are switched on, or those that are not.
    Activity(bool),
    /// All links.
    All,
}

impl StateRange {
    /// Whether all links of the range are switched on, or none is; `None` if some may be.
    #[must_use]
    pub const fn activity(self) -> Option<bool> {
        match self {
            Self::Activity(is_active) => Some(is_active),
            Self::Lost | Self::Dated | Self::All => None,
        }
    }
}

/// The filter `state`: only links that have one of some states at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateFilter {
    /// The states.
    pub states: LinkStates,
    /// The instant of the request.
    pub at: Timestamp,
}

impl StateFilter {
    /// Whether the link has one of the states.
    #[must_use]
    pub fn matches<C: Content>(self, link: &Link<C>) -> bool {
        self.states.contains(link.state(self.at))
    }

    /// Whether the range of the states may have links of other states, so that a store reads links that do not match.
    #[must_use]
    pub const fn is_scan(self) -> bool {
        !matches!(self.states.range(), StateRange::Lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::external_id::ExternalId;
    use crate::life::{Life, Schedule};
    use crate::link::AnyContent;
    use crate::link_filter::LinkFilter;
    use crate::link_request::tests::{World, at, new_redirect};
    use crate::placement::{Placement, Site};
    use crate::redirect::RedirectContent;

    /// All sets of states.
    fn every_set() -> impl Iterator<Item = LinkStates> {
        (1..1 << LinkState::ALL.len()).map(LinkStates)
    }

    fn filter(states: LinkStates) -> LinkFilter {
        LinkFilter { state: Some(StateFilter { states, at: at(1_000) }), ..LinkFilter::default() }
    }

    #[test]
    fn d126_states_are_named_with_commas_between_them() {
        for (text, states) in [
            ("active", &[LinkState::Active][..]),
            ("lost,inactive", &[LinkState::Inactive, LinkState::Lost]),
            ("expired,expired", &[LinkState::Expired]),
        ] {
            assert_eq!(LinkStates::parse(text).ok(), LinkStates::new(states.iter().copied()), "{text}");
        }
        for text in ["", ",", "active,", "Active", " active", "active;lost", "on", "domain-inactive"] {
            let error = LinkStates::parse(text).unwrap_err();
            assert_eq!(error.code(), ViolationCode::InvalidValue, "{text}");
            assert!(error.message().contains("one or more of"), "{}", error.message());
            assert!(error.message().ends_with(", separated by commas"), "{}", error.message());
            for state in LinkState::ALL {
                assert!(error.message().contains(state.as_str()), "{}", error.message());
            }
        }
        assert_eq!(LinkStates::new([]), None);
        let all = LinkState::ALL.map(LinkState::as_str).join(",");
        assert_eq!(LinkStates::parse(&all).ok(), LinkStates::new(LinkState::ALL));
    }

    #[test]
    fn d126_each_state_has_a_bit_of_its_own() {
        let all: u32 = LinkState::ALL.into_iter().map(|state| u32::from(state.bit())).sum();
        assert_eq!(all, (1 << LinkState::ALL.len()) - 1);
        for states in every_set() {
            let named = LinkState::ALL.into_iter().filter(|state| states.contains(*state));
            assert_eq!(LinkStates::new(named), Some(states));
        }
    }

    /// A redirect in each combination of what makes up its state.
    fn every_link() -> Vec<Link> {
        let redirect = World::new().create::<RedirectContent>(new_redirect()).unwrap().into_any();
        let (placed, lost) = (redirect.placement.clone(), Placement::Lost { slug: None });
        let mut links = Vec::new();
        for placement in [placed, lost] {
            for (is_active, is_domain_active) in [(true, true), (true, false), (false, true), (false, false)]
            {
                for (start, end) in
                    [(None, None), (Some(2_000), None), (None, Some(1_000)), (Some(500), Some(1_001))]
                {
                    let schedule = Schedule::from_stored(start.map(at), end.map(at));
                    links.push(Link {
                        placement: placement.clone(),
                        is_active,
                        is_domain_active,
                        life: Life { schedule, fallback_url: None },
                        ..redirect.clone()
                    });
                }
            }
        }
        links
    }

    #[test]
    fn d126_a_filter_has_the_links_whose_state_it_names_at_its_instant() {
        for states in every_set() {
            for link in every_link() {
                let is_named = states.contains(link.state(at(1_000)));
                assert_eq!(filter(states).matches(&link), is_named, "{states:?} {link:?}");
                let is_in_range = match states.range() {
                    StateRange::Lost => matches!(link.placement, Placement::Lost { .. }),
                    StateRange::Dated => link.life.schedule != Schedule::default(),
                    StateRange::Activity(is_active) => link.is_active == is_active,
                    StateRange::All => true,
                };
                assert!(is_in_range || !is_named, "{states:?} {link:?}");
                let is_whole = states.range() == StateRange::Lost && is_in_range;
                assert!(is_named || !is_whole, "{states:?} {link:?}");
            }
        }
        let scheduled =
            every_link().into_iter().find(|link| link.state(at(1_000)) == LinkState::Scheduled).unwrap();
        let [before, from] =
            [1_999, 2_000].map(|now| StateFilter { states: LinkState::Scheduled.into(), at: at(now) });
        assert!(before.matches(&scheduled) && !from.matches(&scheduled));
    }

    #[test]
    fn d126_only_the_lost_links_are_no_search() {
        for states in every_set() {
            let filter = filter(states);
            assert_eq!(filter.is_search(), states != LinkState::Lost.into(), "{states:?}");
            let on_system = LinkFilter { site: Some(Site::System), ..filter.clone() };
            assert!(on_system.is_search(), "two filters");
            let external_id = ExternalId::parse("a").ok();
            assert!(!LinkFilter { external_id, ..filter }.is_search(), "at most one link has an external id");
        }
    }

    #[test]
    fn d126_no_landing_page_is_exhausted() {
        let exhausted = LinkStates::from(LinkState::Exhausted);
        for states in every_set() {
            assert!(filter(states).may_match(LinkKind::Redirect));
            assert_eq!(filter(states).may_match(LinkKind::Landing), states != exhausted, "{states:?}");
        }
        let page = Link { content: AnyContent::Landing, ..every_link().remove(0) };
        assert!(!filter(exhausted).matches(&page));
    }
}
