//! The links that one worker answered with lately, each in two lines of the processor's cache.
//!
//! A look-up in the shared cache is four memory accesses that wait for each other, and a lock that other cores write to.
//! Here it is one. Links that do not fit stay in the shared cache.

use std::cell::RefCell;

use crate::compiled_link::CompiledLink;
use crate::generations::Moment;
use crate::link_view::LinkView;
use crate::wanted::Wanted;

/// How many links there is room for, half a mebibyte in all. The place of a link follows from its hash.
const PLACES: usize = 4096;

/// The most bytes of a link that fits.
const MOST_BYTES: usize = 95;

/// A link with its bytes in it.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct InlineLink {
    hash: u64,
    moment: u64,
    id: [u8; 16],
    length: u8,
    bytes: [u8; MOST_BYTES],
}

impl InlineLink {
    const NONE: Self = Self { hash: 0, moment: 0, id: [0; 16], length: 0, bytes: [0; MOST_BYTES] };

    pub(crate) fn view(&self) -> LinkView<'_> {
        LinkView { id: self.id, bytes: self.bytes.get(..usize::from(self.length)).unwrap_or_default() }
    }

    pub(crate) const fn moment(&self) -> Moment {
        Moment::from_number(self.moment)
    }
}

/// The links of one worker.
pub(crate) struct Front(RefCell<Box<[InlineLink]>>);

impl Front {
    pub(crate) fn new() -> Self {
        Self(RefCell::new(vec![InlineLink::NONE; PLACES].into_boxed_slice()))
    }

    /// The link at `wanted`, if it is here. It may be out of date.
    pub(crate) fn get(&self, wanted: &Wanted<'_>) -> Option<InlineLink> {
        let hash = wanted.hash().number();
        let links = self.0.borrow();
        let link = links.get(place_of(hash)).filter(|link| link.hash == hash && link.length > 0)?;
        link.view().is_at(wanted).then_some(*link)
    }

    /// Keeps a link, if it fits.
    pub(crate) fn keep(&self, wanted: &Wanted<'_>, link: &CompiledLink) {
        let LinkView { id, bytes } = link.view();
        let mut inline = InlineLink {
            hash: wanted.hash().number(),
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
        if let Some(place) = self.0.borrow_mut().get_mut(place_of(inline.hash)) {
            *place = inline;
        }
    }

    /// The link at `wanted` is as of `moment` too.
    pub(crate) fn renew(&self, wanted: &Wanted<'_>, moment: Moment) {
        let hash = wanted.hash().number();
        if let Some(link) = self.0.borrow_mut().get_mut(place_of(hash)).filter(|link| link.hash == hash) {
            link.moment = link.moment.max(moment.number());
        }
    }
}

fn place_of(hash: u64) -> usize {
    usize::try_from(hash & 0xffff).unwrap_or_default() % PLACES
}

#[cfg(test)]
mod tests {
    use signpost_app::visits::{Dependencies, Missing, Resolution, Resolved, VisitorGates};
    use signpost_domain::Site;
    use signpost_port_contracts::samples;

    use super::*;
    use crate::generations::Generations;
    use crate::link_view::LeadsTo;
    use crate::wanted::KnownSite;

    fn system(generations: &Generations) -> KnownSite {
        KnownSite::at(&signpost_domain::Address { site: Site::System, slug: None }, generations)
    }

    fn link(wanted: &Wanted<'_>, target: &str, generations: &Generations) -> CompiledLink {
        let resolved = Resolved {
            resolution: Resolution::Redirect(samples::target(target)),
            missing: Missing::default(),
            link: None,
            gates: VisitorGates::default(),
            recorded: Vec::new(),
            target_hosts: Vec::new(),
            depends_on: Dependencies {
                addresses: vec![wanted.to_address().unwrap()],
                accounts: vec![samples::id()],
            },
        };
        CompiledLink::new(wanted, &resolved, false, generations.now(), generations).unwrap()
    }

    #[test]
    fn short_links_are_kept_as_they_are_and_long_ones_are_not() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let front = Front::new();
        for (slug, length, fits) in
            [("a", 10, true), ("b", MOST_BYTES - 4, true), ("c", MOST_BYTES - 3, false)]
        {
            let target = format!("https://{}", "x.y/".repeat(length).get(..length).unwrap());
            let wanted = Wanted::new(&site, Some(slug), &generations);
            let link = link(&wanted, &target, &generations);
            front.keep(&wanted, &link);
            let kept = front.get(&wanted);
            assert_eq!(kept.is_some(), fits, "{length}");
            if let Some(kept) = kept {
                assert_eq!(kept.view().leads_to(), link.view().leads_to());
                assert_eq!(kept.view().id, link.view().id);
                assert_eq!(kept.moment(), link.moment());
            }
        }
    }

    /// Two links that share a place push each other out, and are never taken for each other.
    #[test]
    fn links_that_meet_are_told_apart() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let front = Front::new();
        let slugs: Vec<String> = (0..3 * PLACES).map(|number| format!("s{number}")).collect();
        let mut kept = 0;
        for slug in &slugs {
            let wanted = Wanted::new(&site, Some(slug), &generations);
            front.keep(&wanted, &link(&wanted, &format!("https://{slug}.example"), &generations));
        }
        for slug in &slugs {
            let Some(link) = front.get(&Wanted::new(&site, Some(slug), &generations)) else { continue };
            kept += 1;
            let rest = format!("{slug}.example");
            assert_eq!(
                link.view().leads_to(),
                LeadsTo::Location { start: "https://", rest: rest.as_bytes() }
            );
        }
        assert!((PLACES / 2..=PLACES).contains(&kept), "{kept}");
    }

    /// A copy rests on what the link rests on: it ends with the same change, in each worker.
    #[test]
    fn r12_a_copy_ends_with_the_change_that_ends_the_link() {
        let generations = Generations::new(0);
        let site = system(&generations);
        let wanted = Wanted::new(&site, Some("a"), &generations);
        let fronts = [Front::new(), Front::new()];
        let link = link(&wanted, "https://example.com", &generations);
        for front in &fronts {
            front.keep(&wanted, &link);
        }
        let holds = || {
            fronts.each_ref().map(|front| {
                let copy = front.get(&wanted).unwrap();
                copy.view().holds(copy.moment(), &wanted, &generations)
            })
        };
        assert_eq!(holds(), [true, true]);
        generations.note_change(&signpost_app::ports::VisibleChange {
            account: samples::id(),
            affected: signpost_app::ports::Affected::Addresses([wanted.to_address().unwrap()].into()),
        });
        assert_eq!(holds(), [false, false]);
        let moment = generations.now();
        fronts[0].renew(&wanted, moment);
        assert_eq!(fronts[0].get(&wanted).unwrap().moment(), moment);
    }
}
