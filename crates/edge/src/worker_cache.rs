//! The links that one worker served recently, each in two cache lines of the processor.
//!
//! A look-up in the shared cache takes four dependent memory accesses and a lock that other cores write to.
//! Here it takes one access. Links that do not fit stay in the shared cache.

use std::cell::RefCell;

use crate::compiled_link::CompiledLink;
use crate::generations::Moment;
use crate::link_layout::LinkBytes;
use crate::link_view::LinkView;
use crate::requested_address::RequestedAddress;

/// Number of entries, half a mebibyte in all. The hash of a link determines its entry.
const ENTRIES: usize = 4096;

/// Maximum size of a link that fits.
const MAX_BYTES: usize = 95;

/// A link with its bytes inline.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct InlineLink {
    hash: u64,
    moment: u64,
    id: [u8; 16],
    length: u8,
    bytes: [u8; MAX_BYTES],
}

impl InlineLink {
    const NONE: Self = Self { hash: 0, moment: 0, id: [0; 16], length: 0, bytes: [0; MAX_BYTES] };

    pub(crate) fn view(&self) -> LinkView<'_> {
        let bytes = self.bytes.get(..usize::from(self.length)).unwrap_or_default();
        LinkView { id: self.id, bytes: LinkBytes::new(bytes) }
    }

    pub(crate) const fn moment(&self) -> Moment {
        Moment::from_number(self.moment)
    }
}

/// The cache of one worker.
pub(crate) struct WorkerCache(RefCell<Box<[InlineLink]>>);

impl WorkerCache {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(vec![InlineLink::NONE; ENTRIES].into_boxed_slice()))
    }

    /// Returns the link at `requested` if it is cached. It may be out of date.
    pub(crate) fn get(&self, requested: &RequestedAddress<'_>) -> Option<InlineLink> {
        let hash = requested.hash().number();
        let links = self.0.borrow();
        let link = links.get(index_of(hash)).filter(|link| link.hash == hash && link.length > 0)?;
        link.view().is_at(requested).then_some(*link)
    }

    /// Caches a link if it fits.
    pub(crate) fn keep(&self, requested: &RequestedAddress<'_>, link: &CompiledLink) {
        let LinkView { id, bytes } = link.view();
        let bytes = bytes.as_slice();
        let mut inline = InlineLink {
            hash: requested.hash().number(),
            moment: link.moment().number(),
            id,
            ..InlineLink::NONE
        };
        let (Some(room), Ok(length)) = (inline.bytes.get_mut(..bytes.len()), u8::try_from(bytes.len()))
        else {
            return;
        };
        room.copy_from_slice(bytes);
        inline.length = length;
        if let Some(place) = self.0.borrow_mut().get_mut(index_of(inline.hash)) {
            *place = inline;
        }
    }

    /// Marks the link at `requested` as current at `moment` too.
    pub(crate) fn renew(&self, requested: &RequestedAddress<'_>, moment: Moment) {
        let hash = requested.hash().number();
        if let Some(link) = self.0.borrow_mut().get_mut(index_of(hash)).filter(|link| link.hash == hash) {
            link.moment = link.moment.max(moment.number());
        }
    }
}

fn index_of(hash: u64) -> usize {
    usize::try_from(hash & 0xffff).unwrap_or_default() % ENTRIES
}

#[cfg(test)]
mod tests {
    use signpost_app::visits::{Dependencies, Missing, Resolution, Resolved, Sending, VisitorGates};
    use signpost_domain::routing::Rules;
    use signpost_domain::{HostBlocklist, Life, Schedule, Site, Timestamp};
    use signpost_port_contracts::samples;

    use super::*;
    use crate::generations::Generations;
    use crate::landing_page::Forms;
    use crate::link_view::Destination;
    use crate::requested_address::HashedSite;

    fn system(generations: &Generations) -> HashedSite {
        HashedSite::at(&signpost_domain::Address { site: Site::System, slug: None }, generations)
    }

    fn link(requested: &RequestedAddress<'_>, target: &str, generations: &Generations) -> CompiledLink {
        link_with(requested, target, Life::default(), generations)
    }

    fn link_with(
        requested: &RequestedAddress<'_>,
        target: &str,
        life: Life,
        generations: &Generations,
    ) -> CompiledLink {
        let resolved = Resolved {
            resolution: Resolution::Redirect(samples::target(target)),
            missing: Missing::default(),
            link: None,
            life,
            click_limit: None,
            has_password: false,
            gates: VisitorGates::default(),
            sending: Sending::default(),
            rules: Rules::default(),
            card: None,
            recorded: Vec::new(),
            target_hosts: Vec::new(),
            depends_on: Dependencies {
                addresses: vec![requested.to_address().unwrap()],
                accounts: vec![samples::id()],
            },
        };
        CompiledLink::new(
            requested,
            &resolved,
            &HostBlocklist::default(),
            generations.now(),
            Timestamp::EPOCH,
            Forms::All,
            generations,
        )
        .unwrap()
    }

    #[test]
    fn short_links_are_cached_unchanged_and_long_ones_are_not() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let cache = WorkerCache::new();
        for (slug, length, fits) in [("a", 10, true), ("b", MAX_BYTES - 4, true), ("c", MAX_BYTES - 3, false)]
        {
            let target = format!("https://{}", "x.y/".repeat(length).get(..length).unwrap());
            let requested = RequestedAddress::new(&site, Some(slug), &generations);
            let link = link(&requested, &target, &generations);
            cache.keep(&requested, &link);
            let kept = cache.get(&requested);
            assert_eq!(kept.is_some(), fits, "{length}");
            if let Some(kept) = kept {
                assert_eq!(kept.view().destination(), link.view().destination());
                assert_eq!(kept.view().id, link.view().id);
                assert_eq!(kept.moment(), link.moment());
            }
        }
    }

    /// Both dates of a link with a target of sixty characters leave room in its entry.
    #[test]
    fn d128_links_with_dates_are_cached() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let cache = WorkerCache::new();
        let requested = RequestedAddress::new(&site, Some("abc1234"), &generations);
        let schedule = Schedule::new(Some(samples::at(1)), Some(samples::at(2))).unwrap();
        let target = format!("https://example.com/{}", "x".repeat(40));
        let life = Life { schedule, fallback_url: None };
        cache.keep(&requested, &link_with(&requested, &target, life, &generations));
        assert_eq!(cache.get(&requested).unwrap().view().schedule(), schedule);
    }

    /// Two links with the same entry evict each other, and neither is served in place of the other.
    #[test]
    fn links_with_the_same_entry_are_not_confused() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let cache = WorkerCache::new();
        let slugs: Vec<String> = (0..3 * ENTRIES).map(|number| format!("s{number}")).collect();
        let mut kept = 0;
        for slug in &slugs {
            let requested = RequestedAddress::new(&site, Some(slug), &generations);
            cache.keep(&requested, &link(&requested, &format!("https://{slug}.example"), &generations));
        }
        for slug in &slugs {
            let Some(link) = cache.get(&RequestedAddress::new(&site, Some(slug), &generations)) else {
                continue;
            };
            kept += 1;
            let rest = format!("{slug}.example");
            assert_eq!(
                link.view().destination(),
                Destination::Location { start: "https://", rest: rest.as_bytes() }
            );
        }
        assert!((ENTRIES / 2..=ENTRIES).contains(&kept), "{kept}");
    }

    /// A copy depends on the same things as the link, so one change ends it in every worker.
    #[test]
    fn r12_change_that_ends_a_link_ends_its_copies() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let requested = RequestedAddress::new(&site, Some("a"), &generations);
        let caches = [WorkerCache::new(), WorkerCache::new()];
        let link = link(&requested, "https://example.com", &generations);
        for cache in &caches {
            cache.keep(&requested, &link);
        }
        let holds = || {
            caches.each_ref().map(|cache| {
                let copy = cache.get(&requested).unwrap();
                copy.view().holds(copy.moment(), &requested, &generations)
            })
        };
        assert_eq!(holds(), [true, true]);
        generations.note_change(&signpost_app::ports::VisibleChange {
            account: samples::id(),
            affected: signpost_app::ports::Affected::Addresses([requested.to_address().unwrap()].into()),
        });
        assert_eq!(holds(), [false, false]);
        let moment = generations.now();
        caches[0].renew(&requested, moment);
        assert_eq!(caches[0].get(&requested).unwrap().moment(), moment);
    }
}
