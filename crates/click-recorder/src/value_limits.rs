//! Bounds the distinct values of each link, day and dimension before they are stored (D47).
//!
//! Strangers invent values at no cost. Without this bound their values would fill the spool and the store's inbox, long before
//! the store bounds them when it packs clicks. The memory of this bound is bounded too: it remembers what came last, in two
//! generations. A link keeps values while fewer than 4,000 of its own are remembered, so forgetting lets it keep more, never
//! fewer, and the store bounds it then. Forgetting takes 900,000 values or 28,000 links since a value or link came last.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

use signpost_domain::analytics::{Dimension, MAX_KEPT_VALUES, OTHER_VALUES, UtcDay, Values};
use signpost_domain::{LinkId, LinkKind, Timestamp};

use crate::generations::{Generations, Known};

/// The dimensions that are bounded here. The program itself has lists of all channels, countries and devices; the store
/// bounds these, too, so a mistake here has no lasting effect.
const LIMITED: [Dimension; 8] = [
    Dimension::Os,
    Dimension::Browser,
    Dimension::Language,
    Dimension::Referrer,
    Dimension::UtmSource,
    Dimension::UtmMedium,
    Dimension::UtmCampaign,
    Dimension::Widget,
];

/// How long after midnight the values of the day before are remembered, for clicks that were in flight then.
const KEEP_AFTER: Duration = Duration::from_mins(1);

/// How much is remembered.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// Values in a generation.
    values: usize,
    /// Links in a generation.
    links: usize,
    /// Visits that changed nothing, by link and facts.
    unchanged: usize,
}

/// About 22 MiB if all of it is taken: two tables of 9 MiB with values, two of 1.6 MiB with links, and 256 KiB. Each number
/// of entries is the most that a table of a power of two holds.
const USUAL_ROOM: Room = Room { values: 917_504, links: 28_672, unchanged: 32_768 };

/// The numbers of remembered values of a link and day, for each dimension of [`LIMITED`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ValueCounts {
    /// The generation of values that is the current one here.
    generation: u32,
    current: [u16; LIMITED.len()],
    previous: [u16; LIMITED.len()],
}

impl ValueCounts {
    /// Forgets what the generations of values have forgotten by now.
    fn advance(&mut self, generation: u32) {
        match generation.wrapping_sub(self.generation) {
            0 => return,
            1 => self.previous = self.current,
            _ => self.previous = [0; LIMITED.len()],
        }
        self.current = [0; LIMITED.len()];
        self.generation = generation;
    }

    /// Whether no more values of a dimension are kept. If they are, counts one of them, which was `known`.
    fn is_full(&mut self, dimension: usize, known: Known) -> bool {
        let counts = self.current.get_mut(dimension).zip(self.previous.get_mut(dimension));
        let Some((current, previous)) = counts else { return false };
        match known {
            Known::Current => return false,
            Known::Previous => *previous = previous.saturating_sub(1),
            Known::Never => {
                if usize::from(*current) + usize::from(*previous) >= MAX_KEPT_VALUES {
                    return true;
                }
            }
        }
        *current = current.saturating_add(1);
        false
    }
}

/// Knows the kept values of the links and days that were visited last.
///
/// Links, values and facts are known by 64-bit hashes with a random key, so that strangers cannot aim at collisions.
pub(crate) struct ValueLimits {
    hashes: RandomState,
    values: Generations<()>,
    counts: Generations<ValueCounts>,
    /// Visits whose values were all kept before, each at the place that its lowest bits say. Most visits are among them, and
    /// need one look-up instead of one for each value.
    unchanged: Box<[u64]>,
    /// The latest day.
    day: Option<UtcDay>,
    /// The generation of values in which it began, while the day before is remembered.
    generation_of_day: Option<u32>,
}

impl Default for ValueLimits {
    fn default() -> Self {
        Self::with_room(USUAL_ROOM)
    }
}

impl ValueLimits {
    fn with_room(room: Room) -> Self {
        Self {
            hashes: RandomState::new(),
            values: Generations::of(room.values),
            counts: Generations::of(room.links),
            unchanged: vec![0; room.unchanged].into_boxed_slice(),
            day: None,
            generation_of_day: None,
        }
    }

    /// Replaces the values that are not kept with [`OTHER_VALUES`]. Returns whether there were any. Visits with the same
    /// `alike` number have the same values, except for country, widget and rule.
    pub(crate) fn apply(
        &mut self,
        at: Timestamp,
        link: LinkId,
        alike: Option<u64>,
        values: &mut Values<'_>,
    ) -> bool {
        let day = UtcDay::of(at);
        self.begin(day, at);
        let link = self.link_hash(link, day);
        let visit = alike.map(|alike| self.visit_hash(link, alike, values));
        if visit.is_some_and(|visit| self.unchanged.get(self.place(visit)) == Some(&visit)) {
            return false;
        }
        if self.values.make_room(LIMITED.len()) | self.counts.make_room(1) {
            // The next visit of each kind marks its link and values as recent.
            self.unchanged.fill(0);
        }
        let found = self.counts.find(link);
        let mut counts = found.map(|(_, counts)| counts).unwrap_or_default();
        counts.advance(self.values.generation);
        let mut has_replaced = false;
        for (dimension, number) in LIMITED.into_iter().zip(0_u8..) {
            let value = dimension.recorded_place().and_then(|place| values.0.get_mut(place));
            let Some(value) = value.filter(|value| !matches!(**value, "" | OTHER_VALUES)) else { continue };
            let hash = self.value_hash(link, number, value);
            let known = self.values.known(hash);
            if counts.is_full(usize::from(number), known) {
                *value = OTHER_VALUES;
                has_replaced = true;
            } else if known != Known::Current {
                self.values.put(hash, ());
            }
        }
        if found != Some((Known::Current, counts)) {
            self.counts.put(link, counts);
        }
        if let (Some(visit), false) = (visit, has_replaced)
            && let Some(room) = self.unchanged.get_mut(self.place(visit))
        {
            *room = visit;
        }
        has_replaced
    }

    /// Forgets days that have ended.
    fn begin(&mut self, day: UtcDay, at: Timestamp) {
        if self.day.is_none_or(|known| known < day) {
            self.values.rotate();
            self.counts.rotate();
            self.unchanged.fill(0);
            (self.day, self.generation_of_day) = (Some(day), Some(self.values.generation));
        }
        if self.generation_of_day.is_some() && self.day == Some(day) && at >= day.first().plus(KEEP_AFTER) {
            // If the day filled a generation already, the one before it has values of its own.
            if self.generation_of_day == Some(self.values.generation) {
                self.values.forget_previous();
                self.counts.forget_previous();
                self.counts.change_all(|counts| counts.previous = [0; LIMITED.len()]);
            }
            self.generation_of_day = None;
        }
    }

    fn link_hash(&self, link: LinkId, day: UtcDay) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        hasher.write(&link.to_bytes());
        hasher.write_u8(match link.kind() {
            LinkKind::Landing => 0,
            LinkKind::Redirect => 1,
        });
        hasher.write_i32(day.number());
        hasher.finish()
    }

    fn visit_hash(&self, link: u64, alike: u64, values: &Values<'_>) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        hasher.write_u64(link);
        hasher.write_u64(alike);
        // Alike visits may follow different widgets, or different rules, which have the same place.
        hasher.write(values.get(Dimension::Widget).unwrap_or_default().as_bytes());
        hasher.finish()
    }

    fn value_hash(&self, link: u64, dimension: u8, value: &str) -> u64 {
        let mut hasher = self.hashes.build_hasher();
        hasher.write_u64(link);
        hasher.write_u8(dimension);
        hasher.write(value.as_bytes());
        hasher.finish()
    }

    fn place(&self, visit: u64) -> usize {
        let places = u64::try_from(self.unchanged.len()).unwrap_or(1).max(1);
        usize::try_from(visit % places).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::RedirectId;

    use super::*;
    use crate::testing::click;

    fn link(number: u8) -> LinkId {
        RedirectId::from_bytes([number; 16]).into()
    }

    /// The campaign of a visit after the limits.
    fn campaign<'a>(limits: &mut ValueLimits, link: LinkId, at: Timestamp, campaign: &'a str) -> &'a str {
        let place = Dimension::UtmCampaign.recorded_place().unwrap();
        let mut values = Values::default();
        values.0[place] = campaign;
        let has_replaced = limits.apply(at, link, None, &mut values);
        assert_eq!(has_replaced, values.0[place] != campaign);
        values.0[place]
    }

    fn fill(limits: &mut ValueLimits, of: LinkId, at: Timestamp) {
        for number in 0..MAX_KEPT_VALUES {
            let name = number.to_string();
            assert_eq!(campaign(limits, of, at, &name), name);
        }
    }

    #[test]
    fn d47_values_after_the_first_4000_of_a_link_and_day_become_other() {
        let mut limits = ValueLimits::default();
        let at = click().at;
        for exempt in ["", OTHER_VALUES] {
            assert_eq!(campaign(&mut limits, link(1), at, exempt), exempt);
        }
        fill(&mut limits, link(1), at);
        assert_eq!(campaign(&mut limits, link(1), at, "new"), OTHER_VALUES);
        for kept in ["0", "3999", "", OTHER_VALUES] {
            assert_eq!(campaign(&mut limits, link(1), at, kept), kept);
        }
        // Other links, days and dimensions have bounds of their own.
        assert_eq!(campaign(&mut limits, link(2), at, "new"), "new");
        assert_eq!(campaign(&mut limits, link(1), at.plus(Duration::from_hours(24)), "new"), "new");
        let mut values = Values::default();
        values.0[Dimension::Referrer.recorded_place().unwrap()] = "new";
        assert!(!limits.apply(at, link(1), None, &mut values));
    }

    #[test]
    fn d47_alike_visits_cannot_bypass_the_limit() {
        let mut limits = ValueLimits::default();
        let at = click().at;
        let place = Dimension::Widget.recorded_place().unwrap();
        let mut kept = 0;
        for number in 0..MAX_KEPT_VALUES + 100 {
            let widget = number.to_string();
            let mut values = Values::default();
            values.0[place] = &widget;
            // Twice, because the second time there is a short cut.
            for _ in 0..2 {
                limits.apply(at, link(1), Some(7), &mut values);
            }
            kept += usize::from(values.0[place] != OTHER_VALUES);
        }
        assert_eq!(kept, MAX_KEPT_VALUES);
    }

    #[test]
    fn d47_day_before_is_remembered_for_a_minute_and_then_forgotten() {
        let mut limits = ValueLimits::default();
        let yesterday = UtcDay::of(click().at);
        let midnight = yesterday.last().plus(Duration::from_millis(1));
        fill(&mut limits, link(1), yesterday.last());
        assert_eq!(campaign(&mut limits, link(1), midnight, "new"), "new");
        assert_eq!(campaign(&mut limits, link(1), yesterday.last(), "new"), OTHER_VALUES);
        assert_eq!(campaign(&mut limits, link(1), yesterday.last(), "0"), "0");
        let full = limits.values.bytes();
        campaign(&mut limits, link(1), midnight.plus(KEEP_AFTER), "new");
        assert!(limits.values.bytes() < full / 2, "{} of {full}", limits.values.bytes());
        // A clock that is set back finds nothing remembered of it, so there is room.
        assert_eq!(campaign(&mut limits, link(1), yesterday.last(), "new"), "new");
    }

    #[test]
    fn d47_full_memory_forgets_what_came_longest_ago() {
        let room = Room { values: 6_000, links: 50, unchanged: 64 };
        let mut limits = ValueLimits::with_room(room);
        let at = click().at;
        fill(&mut limits, link(0), at);
        for number in 1..200 {
            for name in 0..100 {
                campaign(&mut limits, link(number), at, &name.to_string());
            }
            // Recent values are never forgotten.
            assert_eq!(campaign(&mut limits, link(0), at, "7"), "7", "after {number}");
        }
        assert!(limits.values.generation > 1 && limits.counts.generation > 1);
    }

    #[test]
    fn d47_flood_of_another_link_costs_a_link_none_of_its_values() {
        let mut limits = ValueLimits::with_room(Room { values: 20_000, links: 50, unchanged: 64 });
        let at = click().at;
        for round in 0..20 {
            // Its own values, over and over: fewer than the bound.
            for name in 0..3_000 {
                let name = name.to_string();
                assert_eq!(campaign(&mut limits, link(1), at, &name), name, "in round {round}");
            }
            // Enough of others that its values are forgotten, while its counts would not be.
            for flooding in 2..12 {
                for name in 0..MAX_KEPT_VALUES {
                    campaign(&mut limits, link(flooding), at, &format!("{round} {name}"));
                }
                campaign(&mut limits, link(1), at, "0");
            }
        }
        assert!(limits.values.generation > 20);
    }

    #[test]
    fn d47_values_that_are_seen_again_count_once() {
        let mut limits = ValueLimits::with_room(Room { values: 6_000, links: 50, unchanged: 64 });
        let at = click().at;
        fill(&mut limits, link(1), at);
        for round in 0..5_u8 {
            // A new generation, in which all values of the link are seen again.
            for name in 0..2_500 {
                campaign(&mut limits, link(2), at, &format!("{round} {name}"));
            }
            fill(&mut limits, link(1), at);
            assert_eq!(campaign(&mut limits, link(1), at, "new"), OTHER_VALUES, "in round {round}");
        }
        assert!(limits.values.generation > 3);
    }

    #[test]
    fn d47_memory_is_bounded() {
        let mut limits = ValueLimits::default();
        let at = click().at;
        for number in 0..60_u8 {
            for name in 0..MAX_KEPT_VALUES {
                let name = name.to_string();
                limits.apply(at, link(number), None, &mut Values([&name; Dimension::RECORDED.len()]));
            }
        }
        assert!(limits.values.generation > 2);
        let bytes = limits.values.bytes() + limits.counts.bytes() + size_of_val(&*limits.unchanged);
        assert!(bytes < 24 * 1024 * 1024, "{bytes}");
    }
}
