//! Turns clicks into recorded clicks.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use signpost_app::ports::{Click, ClickBatch, ClickKind, CountryLookup};
use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, UtcDay, VisitorHash, VisitorKey};

use crate::account_segments::{AccountSegments, CountedSegment};
use crate::facts::FindFacts;
use crate::value_limits::ValueLimits;
use crate::visitor_keys::VisitorKeys;
use crate::visitor_pace::VisitorPace;

/// Turns visitors' requests into recorded clicks. Its output never identifies a visitor.
pub(crate) struct Recording {
    facts: Box<dyn FindFacts>,
    countries: Arc<dyn CountryLookup>,
    keys: Arc<VisitorKeys>,
    limits: ValueLimits,
    pace: VisitorPace,
}

impl Recording {
    pub(crate) fn new(
        facts: Box<dyn FindFacts>,
        countries: Arc<dyn CountryLookup>,
        keys: Arc<VisitorKeys>,
    ) -> Self {
        Self { facts, countries, keys, limits: ValueLimits::default(), pace: VisitorPace::default() }
    }

    /// Does in advance what would take long at the first click.
    pub(crate) fn warm_up(&mut self) {
        self.facts.warm_up();
    }

    /// Builds segments of the clicks of some batches.
    pub(crate) fn segments(&mut self, batches: &[ClickBatch]) -> Vec<CountedSegment> {
        let mut segments = AccountSegments::of(batches);
        let mut key = None;
        for click in batches.iter().flat_map(ClickBatch::iter) {
            let day = UtcDay::of(click.at);
            if key.as_ref().is_none_or(|(known, _)| *known != day) {
                key = Some((day, self.keys.of(day).as_ref().and_then(keyed)));
            }
            let key = key.as_ref().and_then(|(_, key)| key.as_ref());
            let visitor = visitor_hash(key, &click);
            let country = click.country.or_else(|| self.countries.country(click.address));
            self.facts.find(&click, country, &mut |facts| {
                // Without a key all visitors look alike, so their pace says nothing.
                let is_bot = facts.is_bot || (key.is_some() && is_too_fast(&mut self.pace, &click, visitor));
                let Some(kind) = kind_of(&click, is_bot) else { return };
                let widget_or_rule = match click.kind {
                    ClickKind::Widget(widget) => Cow::Owned(widget.to_string()),
                    ClickKind::Sent | ClickKind::Shown | ClickKind::Blocked => Cow::Borrowed(click.rule),
                };
                let mut values = facts.values;
                // Which is also the place of the rule.
                let place = Dimension::Widget.recorded_place();
                if let Some(value) = place.and_then(|place| values.0.get_mut(place)) {
                    *value = &widget_or_rule;
                }
                let Click { at, account, link, .. } = click;
                // A click with replaced values is like no other: another link may have room for them.
                let has_replaced = self.limits.apply(at, link, facts.alike, &mut values);
                let alike = facts.alike.filter(|_| !has_replaced);
                let recorded = RecordedClick { at, account, link, kind, visitor, values };
                segments.push(&recorded, alike);
            });
        }
        segments.finish()
    }
}

/// Whether a visitor who is no known bot clicks faster than people do. Only visits that would be clicks count.
fn is_too_fast(pace: &mut VisitorPace, click: &Click<'_>, visitor: VisitorHash) -> bool {
    match click.kind {
        ClickKind::Sent | ClickKind::Shown => pace.count(visitor, click.at),
        ClickKind::Widget(_) => pace.is_exceeded(visitor, click.at),
        ClickKind::Blocked => false,
    }
}

/// The kind that a visit counts as. `None` if it is not recorded, such as a bot that follows a widget.
const fn kind_of(click: &Click<'_>, is_bot: bool) -> Option<RecordedKind> {
    match (click.kind, is_bot) {
        (ClickKind::Blocked, _) => Some(RecordedKind::Blocked),
        (ClickKind::Sent | ClickKind::Shown, true) => Some(RecordedKind::Bot),
        (ClickKind::Sent | ClickKind::Shown, false) => Some(RecordedKind::Click),
        (ClickKind::Widget(_), true) => None,
        (ClickKind::Widget(_), false) => Some(RecordedKind::Widget),
    }
}

/// The keyed start of a day's hashes.
fn keyed(key: &VisitorKey) -> Option<Hmac<Sha256>> {
    Hmac::new_from_slice(&key.0).ok()
}

/// The first six bytes of HMAC-SHA-256 of account, address and user agent, with the day's key. Without a key
/// all visitors look alike.
fn visitor_hash(key: Option<&Hmac<Sha256>>, click: &Click<'_>) -> VisitorHash {
    const UNKNOWN_VISITOR: VisitorHash = VisitorHash([0; 6]);
    let Some(mut mac) = key.cloned() else { return UNKNOWN_VISITOR };
    let address = match click.address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    // The first two always take 16 bytes, so different visitors never give the same input.
    mac.update(&click.account.to_bytes());
    mac.update(&address.octets());
    mac.update(click.user_agent);
    let hash = mac.finalize().into_bytes();
    hash.first_chunk().map_or(UNKNOWN_VISITOR, |first| VisitorHash(*first))
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use signpost_app::ports::NoCountries;
    use signpost_domain::analytics::{MAX_KEPT_VALUES, OTHER_VALUES, Values};
    use signpost_domain::{CountryCode, LinkId, Timestamp};
    use signpost_memory::{FixedCountries, SeededRandomness};
    use signpost_port_contracts::samples;

    use super::*;
    use crate::facts::Facts;
    use crate::testing::{PlainFacts, click};

    fn recording(countries: Arc<dyn CountryLookup>) -> Recording {
        let keys = Arc::new(VisitorKeys::new(Arc::new(SeededRandomness::default()), None));
        Recording::new(Box::new(PlainFacts), countries, keys)
    }

    fn record(clicks: &[Click<'_>]) -> Vec<(RecordedKind, VisitorHash, Vec<String>)> {
        let mut batch = ClickBatch::default();
        assert!(clicks.iter().all(|click| batch.push(click, usize::MAX)));
        let segments = recording(Arc::new(NoCountries)).segments(&[batch]);
        let mut rows = Vec::new();
        let mut counts = [0; RecordedKind::ALL.len()];
        for CountedSegment { segment, counts: of_segment } in &segments {
            counts.iter_mut().zip(of_segment).for_each(|(count, more)| *count += more);
            signpost_clicks::read(&segment.data, |row| {
                let values = row.values.0.iter().map(ToString::to_string).collect();
                rows.push((row.kind, row.visitor, values));
            })
            .unwrap();
        }
        for (kind, count) in RecordedKind::ALL.into_iter().zip(counts) {
            assert_eq!(rows.iter().filter(|row| row.0 == kind).count(), usize::try_from(count).unwrap());
        }
        rows
    }

    #[test]
    fn d48_visit_counts_by_its_kind_and_by_its_agent() {
        let widget = ClickKind::Widget(samples::id());
        for (kind, agent, expected) in [
            (ClickKind::Sent, "person", Some(RecordedKind::Click)),
            (ClickKind::Shown, "person", Some(RecordedKind::Click)),
            (ClickKind::Sent, "bot", Some(RecordedKind::Bot)),
            (ClickKind::Shown, "bot", Some(RecordedKind::Bot)),
            (ClickKind::Blocked, "bot", Some(RecordedKind::Blocked)),
            (ClickKind::Blocked, "person", Some(RecordedKind::Blocked)),
            (widget, "person", Some(RecordedKind::Widget)),
            (widget, "bot", None),
        ] {
            let rows = record(&[Click { kind, user_agent: agent.as_bytes(), ..click() }]);
            assert_eq!(rows.first().map(|row| row.0), expected, "{kind:?} by a {agent}");
        }
    }

    #[test]
    fn d48_clicks_of_a_visitor_beyond_6000_a_minute_count_as_bots() {
        let minute = Timestamp::from_unix_millis(click().at.unix_millis() / 60_000 * 60_000).unwrap();
        let clicks = |kind, count| std::iter::repeat_n(Click { at: minute, kind, ..click() }, count);
        let widget = ClickKind::Widget(samples::id());
        let bot = Click { user_agent: b"bot", ..click() };
        let fast: Vec<_> = clicks(ClickKind::Sent, 3_000)
            .chain(clicks(ClickKind::Shown, 3_000))
            // None of these counts.
            .chain(clicks(widget, 1))
            .chain(clicks(ClickKind::Blocked, 1))
            .chain([Click { at: minute, ..bot }])
            // These are too fast.
            .chain(clicks(ClickKind::Sent, 1))
            .chain(clicks(ClickKind::Shown, 1))
            .chain(clicks(widget, 1))
            .chain(clicks(ClickKind::Blocked, 1))
            // These are not.
            .chain([
                Click { at: minute, user_agent: b"another person", ..click() },
                Click { at: minute.plus(std::time::Duration::from_mins(1)), ..click() },
            ])
            .collect();
        let rows = record(&fast);
        let count = |kind| rows.iter().filter(|row| row.0 == kind).count();
        assert_eq!(RecordedKind::ALL.map(count), [6_002, 3, 2, 1]);
    }

    #[test]
    fn d59_only_a_widget_click_names_a_widget() {
        let place = Dimension::Widget.recorded_place().unwrap();
        let widget = samples::id();
        let rows = record(&[Click { kind: ClickKind::Widget(widget), ..click() }]);
        assert_eq!(rows[0].2[place], widget.to_string());
        assert_eq!(record(&[click()])[0].2[place], "");
    }

    #[test]
    fn d134_the_rule_is_recorded_also_for_bots() {
        let place = Dimension::Rule.recorded_place().unwrap();
        for agent in ["person", "bot"] {
            let click = Click { rule: "phones.new", user_agent: agent.as_bytes(), ..click() };
            assert_eq!(record(&[click])[0].2[place], "phones.new");
        }
    }

    #[test]
    fn d48_account_address_and_agent_identify_a_visitor_within_a_day() {
        let day_later = click().at.plus(std::time::Duration::from_hours(24));
        let others = [
            click(),
            Click { account: samples::id(), ..click() },
            Click { address: "192.0.2.8".parse().unwrap(), ..click() },
            Click { user_agent: b"another person", ..click() },
            Click { at: day_later, ..click() },
        ];
        let hashes: HashSet<_> = record(&others).iter().map(|row| row.1).collect();
        assert_eq!(hashes.len(), others.len());
        let same = [
            click(),
            Click { link: samples::redirect("other").id.into(), query: b"q=1", ..click() },
            Click { at: Timestamp::from_unix_millis(click().at.unix_millis() + 1).unwrap(), ..click() },
        ];
        let hashes: HashSet<_> = record(&same).iter().map(|row| row.1).collect();
        assert_eq!(hashes.len(), 1);
    }

    #[test]
    fn d55_country_of_the_proxy_overrides_the_database() {
        let code = |text| CountryCode::parse(text).unwrap();
        let countries = FixedCountries::default();
        countries.put("192.0.2.7".parse().unwrap(), code("AT"));
        let mut recording = recording(Arc::new(countries));
        let mut batch = ClickBatch::default();
        batch.push(&click(), usize::MAX);
        batch.push(&Click { country: Some(code("DE")), ..click() }, usize::MAX);
        let segments = recording.segments(&[batch]);
        let mut found = HashSet::new();
        signpost_clicks::read(&segments[0].segment.data, |row| {
            found.insert(row.values.get(Dimension::Country).unwrap_or_default().to_owned());
        })
        .unwrap();
        assert_eq!(found, HashSet::from(["AT".to_owned(), "DE".to_owned()]));
    }

    /// Takes the referrer for the campaign. Clicks with the same one are alike.
    struct Campaigns;

    impl FindFacts for Campaigns {
        fn find(&mut self, click: &Click<'_>, _: Option<CountryCode>, use_facts: &mut dyn FnMut(Facts<'_>)) {
            let campaign = str::from_utf8(click.referrer).unwrap();
            let mut values = Values::default();
            values.0[Dimension::UtmCampaign.recorded_place().unwrap()] = campaign;
            use_facts(Facts { is_bot: false, values, alike: campaign.parse().ok() });
        }
    }

    #[test]
    fn d47_alike_clicks_of_other_links_keep_their_values() {
        let keys = Arc::new(VisitorKeys::new(Arc::new(SeededRandomness::default()), None));
        let mut recording = Recording::new(Box::new(Campaigns), Arc::new(NoCountries), keys);
        let (full, other) = (click().link, samples::redirect("other").id.into());
        let mut batch = ClickBatch::default();
        for number in 0..=MAX_KEPT_VALUES {
            let referrer = number.to_string();
            batch.push(&Click { referrer: referrer.as_bytes(), ..click() }, usize::MAX);
        }
        let beyond = MAX_KEPT_VALUES.to_string();
        for link in [other, full, other, full] {
            batch.push(&Click { link, referrer: beyond.as_bytes(), ..click() }, usize::MAX);
        }
        let segments = recording.segments(&[batch]);
        let mut found: HashMap<(LinkId, String), usize> = HashMap::new();
        signpost_clicks::read(&segments[0].segment.data, |row| {
            let campaign = row.values.get(Dimension::UtmCampaign).unwrap_or_default().to_owned();
            *found.entry((row.link, campaign)).or_default() += 1;
        })
        .unwrap();
        assert_eq!(found.len(), MAX_KEPT_VALUES + 2);
        assert_eq!(found[&(full, OTHER_VALUES.to_owned())], 3);
        assert_eq!(found[&(other, beyond)], 2);
    }

    #[test]
    fn too_many_clicks_for_a_segment_make_several() {
        let mut batch = ClickBatch::default();
        let clicks = u64::try_from(signpost_clicks::MAX_CLICKS).unwrap() + 1;
        assert!((0..clicks).all(|_| batch.push(&click(), usize::MAX)));
        let segments = recording(Arc::new(NoCountries)).segments(&[batch]);
        let held: u64 = segments.iter().map(|counted| u64::from(counted.segment.clicks)).sum();
        let counted: u64 = segments.iter().flat_map(|counted| counted.counts).sum();
        assert_eq!((segments.len(), held, counted), (2, clicks, clicks));
    }
}
