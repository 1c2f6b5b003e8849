use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use signpost_domain::{AccountId, LinkId, RedirectStatus, Timestamp};
use signpost_port_contracts::samples;

use super::*;

/// The sections of today, in the order of their bits.
const SECTIONS: [Section; 12] = [
    Section::SLOTS,
    Section::ANTIBOT,
    Section::COUNTRIES,
    Section::PIXELS,
    Section::RECORDED,
    Section::HOSTS,
    Section::SCHEDULE,
    Section::FALLBACK,
    Section::SENDING,
    Section::LIMIT,
    Section::PASSWORD,
    Section::RULES,
];

/// A redirect without anything that only some links have.
const PLAIN: LinkParts<'_> = LinkParts {
    leads: Leads::Location,
    payload: b"https://example.com/sale",
    owner: AccountNumber::NONE,
    slug: "sale",
    hostname: None,
    is_recorded: true,
    kind: LinkKind::Redirect,
    slots: &[],
    has_antibot: false,
    countries: &[],
    pixels: &[],
    recorded: &[],
    hosts: &[],
    schedule: Schedule::from_stored(None, None),
    fallback: "",
    sending: Sending { status: RedirectStatus::Found, forwards_query: false },
    limit: None,
    has_password: false,
    rules: &[],
    card: &[],
};

fn kind() -> impl Strategy<Value = LinkKind> {
    prop_oneof![Just(LinkKind::Redirect), Just(LinkKind::Landing)]
}

fn recorded() -> impl Strategy<Value = RecordedLink> {
    (kind(), any::<[u8; 16]>(), any::<[u8; 16]>()).prop_map(|(kind, link, account)| RecordedLink {
        id: LinkId::from_bytes(kind, link),
        account: AccountId::from_bytes(account),
    })
}

fn payload() -> impl Strategy<Value = (Leads, Vec<u8>)> {
    let location = prop_oneof![Just("https://"), Just("http://"), Just("HTTPS://"), Just("")]
        .prop_flat_map(|start| ".{0,200}".prop_map(move |rest| [start, &rest].concat().into_bytes()));
    let leads = prop_oneof![
        Just(Leads::Location),
        Just(Leads::Page),
        Just(Leads::Nothing),
        Just(Leads::ListedLocation)
    ];
    (leads, prop_oneof![location, vec(any::<u8>(), 0..40_000)])
}

fn instant() -> impl Strategy<Value = Option<Timestamp>> {
    proptest::option::of(
        (0..=Timestamp::LAST.unix_millis()).prop_map(|millis| Timestamp::from_unix_millis(millis).unwrap()),
    )
}

fn sending() -> impl Strategy<Value = Sending> {
    let status = proptest::sample::select(RedirectStatus::ALL.to_vec());
    let any = (status, any::<bool>()).prop_map(|(status, forwards_query)| Sending { status, forwards_query });
    prop_oneof![Just(Sending::default()), any]
}

fn limit() -> impl Strategy<Value = Option<ClickLimitView>> {
    proptest::option::of(
        (any::<u64>(), any::<u64>(), any::<bool>()).prop_map(|(max, since, is_exhausted)| ClickLimitView {
            max,
            since,
            is_exhausted,
        }),
    )
}

prop_compose! {
    fn sections()(
        slots in vec(any::<[u8; 2]>(), 0..4),
        has_antibot: bool,
        countries in subsequence(CountryCode::all().collect::<Vec<_>>(), 0..=CountryCode::COUNT),
        pixels in subsequence(PixelType::ALL.map(samples::pixel_code).to_vec(), 0..=PixelType::ALL.len()),
        recorded in vec(recorded(), 0..6),
        hosts in vec("[a-z.]{1,253}", 0..6),
    ) -> (Vec<Slot>, bool, Vec<CountryCode>, Vec<PixelCode>, Vec<RecordedLink>, Vec<String>) {
        (slots.into_iter().map(Slot::from_bytes).collect(), has_antibot, countries, pixels, recorded, hosts)
    }
}

proptest! {
    #[test]
    fn every_part_of_a_link_is_read_as_it_was_written(
        (leads, payload) in payload(),
        owner: u32,
        slug in "[a-z0-9-]{0,64}",
        hostname in proptest::option::of("[a-z.]{1,253}"),
        is_recorded: bool,
        kind in kind(),
        (slots, has_antibot, countries, pixels, recorded, hosts) in sections(),
        (starts_at, expires_at) in (instant(), instant()),
        fallback in "(https?://[a-z.]{1,253})?",
        sending in sending(),
        (limit, has_password) in (limit(), any::<bool>()),
        (rules, card) in (vec(any::<u8>(), 0..40), vec(any::<u8>(), 0..40)),
        (which, other) in (0_u8..=255, "[a-z.]{1,9}"),
    ) {
        // Every combination of sections occurs, also few at once.
        let slots = if which & 1 == 0 { &[] } else { slots.as_slice() };
        let countries = if which & 2 == 0 { &[] } else { countries.as_slice() };
        let pixels = if which & 4 == 0 { &[] } else { pixels.as_slice() };
        let recorded = if which & 8 == 0 { &[] } else { recorded.as_slice() };
        let hosts = if which & 16 == 0 { &[] } else { hosts.as_slice() };
        let has_antibot = has_antibot && which & 32 != 0;
        let schedule = if which & 64 == 0 { Schedule::default() } else { Schedule::from_stored(starts_at, expires_at) };
        let fallback = if which & 128 == 0 { "" } else { fallback.as_str() };
        let owner = AccountNumber::from_number(owner);
        let parts = LinkParts {
            leads, payload: &payload, owner, slug: &slug, hostname: hostname.as_deref(), is_recorded, kind,
            slots, has_antibot, countries, pixels, recorded, hosts, schedule, fallback, sending, limit,
            has_password, rules: &rules, card: &card,
        };
        let bytes = parts.to_bytes().unwrap();
        let link = LinkBytes::new(&bytes);
        prop_assert_eq!((link.leads(), link.owner(), link.kind(), link.is_recorded()), (leads, owner, kind, is_recorded));
        prop_assert_eq!([link.location_start().as_bytes(), link.payload()].concat(), payload.clone());
        prop_assert!(link.is_at(hostname.as_deref(), &slug));
        let (other_slug, own) = (format!("{slug}x"), hostname.as_deref());
        let other_hostname = format!("{}x{other}", own.unwrap_or_default());
        prop_assert!(!link.is_at(own, &other_slug) && !link.is_at(Some(&other_hostname), &slug));
        prop_assert_eq!(link.is_at(None, &slug), hostname.is_none());
        let is_plain = !has_antibot
            && slots.is_empty() && countries.is_empty() && pixels.is_empty() && recorded.is_empty() && hosts.is_empty()
            && schedule == Schedule::default() && fallback.is_empty() && sending == Sending::default() && limit.is_none() && !has_password
            && rules.is_empty() && card.is_empty();
        prop_assert_eq!(link.sections().is_none(), is_plain);
        if let Some(sections) = link.sections() {
            prop_assert_eq!(sections.slots().collect::<Vec<_>>(), slots);
            prop_assert_eq!(sections.has_antibot(), has_antibot);
            let letters: Vec<&[u8]> = sections.countries().iter().map(<[u8; 2]>::as_slice).collect();
            prop_assert_eq!(letters, countries.iter().map(|code| code.as_str().as_bytes()).collect::<Vec<_>>());
            prop_assert_eq!(sections.pixels(), pixels);
            prop_assert_eq!(sections.recorded().collect::<Vec<_>>(), recorded);
            prop_assert_eq!(sections.hosts().collect::<Vec<_>>(), hosts.iter().map(String::as_bytes).collect::<Vec<_>>());
            prop_assert_eq!((sections.schedule(), sections.fallback()), (schedule, fallback.as_bytes()));
            prop_assert_eq!(sections.sending(), sending);
            prop_assert_eq!((sections.limit(), sections.has_password()), (limit, has_password));
            prop_assert_eq!(sections.rules().is_none(), rules.is_empty());
            prop_assert_eq!(sections.content(Section::RULES), rules.as_slice());
            prop_assert_eq!(sections.card().is_none(), card.is_empty());
            prop_assert_eq!(sections.content(Section::CARD), card.as_slice());
        }
    }

    /// Nothing that memory holds ends a worker.
    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, flags: u8) {
        let bytes = [&[flags][..], &bytes].concat();
        let link = LinkBytes::new(&bytes);
        let _ = (link.leads(), link.payload(), link.is_at(Some("a.example"), "a"));
        if let Some(sections) = link.sections() {
            let _ = (sections.slots().count(), sections.countries(), sections.pixels(), sections.hosts().count());
            let _ = (sections.recorded().count(), sections.schedule(), sections.fallback(), sections.sending());
            let _ = (sections.limit(), sections.has_password(), sections.rules(), sections.card());
        }
    }

    /// Sections that follow later change nothing about the others.
    #[test]
    fn later_section_leaves_those_of_today_readable(
        later in 12_u32..32,
        present in subsequence(SECTIONS.to_vec(), 0..=SECTIONS.len()),
        content in vec(any::<u8>(), 0..300),
    ) {
        let later = Section(1 << later);
        let all = present.iter().map(|section| (*section, section.0.to_le_bytes().to_vec()));
        let all: BTreeMap<_, _> = all.chain([(later, content.clone())]).collect();
        let bytes = encoded_sections(&all).unwrap();
        let mut reader = Reader::new(&bytes);
        let sections = Sections { present: reader.number(), contents: reader };
        prop_assert_eq!(sections.content(later), &content[..]);
        for section in SECTIONS {
            let expected = all.get(&section).cloned().unwrap_or_default();
            prop_assert_eq!(sections.content(section), &expected[..]);
        }
    }
}

#[test]
fn set_of_sections_has_room_for_many_more() {
    let taken = SECTIONS.iter().fold(0, |taken, Section(bit)| taken | bit);
    assert_eq!(taken.count_ones(), 12, "each has its own bit");
    // A preview.
    assert!(taken.count_zeros() >= 2 * 2);
}

#[test]
fn plain_redirect_has_three_bytes_beside_its_address_and_target() {
    let length = |parts: LinkParts<'_>| parts.to_bytes().unwrap().len();
    assert_eq!(length(PLAIN), 3 + "sale".len() + "example.com/sale".len());
    let hostname = "links.example.net";
    assert_eq!(length(LinkParts { hostname: Some(hostname), ..PLAIN }), length(PLAIN) + 1 + hostname.len());
}

#[test]
fn section_costs_its_content_and_at_most_four_bytes() {
    let length = |parts: LinkParts<'_>| parts.to_bytes().unwrap().len() - PLAIN.to_bytes().unwrap().len();
    assert_eq!(length(LinkParts { has_antibot: true, ..PLAIN }), 3);
    let countries = ["DE", "AT"].map(|code| CountryCode::parse(code).unwrap());
    assert_eq!(length(LinkParts { countries: &countries, ..PLAIN }), 3 + 4);
    assert_eq!(length(LinkParts { countries: &countries, has_antibot: true, ..PLAIN }), 3 + 4 + 1);
    assert_eq!(length(LinkParts { slots: &[Slot::from_bytes([1, 2])], ..PLAIN }), 3 + 2);
    let schedule = Schedule::from_stored(Some(samples::at(0)), None);
    assert_eq!(length(LinkParts { schedule, ..PLAIN }), 3 + 2 * 8);
    // Its bit begins the second byte of the set.
    let sending = Sending { status: RedirectStatus::PermanentRedirect, forwards_query: true };
    assert_eq!(length(LinkParts { sending, ..PLAIN }), 4 + 1);
    let limit = Some(ClickLimitView { max: 10, since: 1, is_exhausted: false });
    assert_eq!(length(LinkParts { limit, ..PLAIN }), 4 + 1 + 8 + 8);
    assert_eq!(length(LinkParts { has_password: true, ..PLAIN }), 4);
}

#[test]
fn slug_longer_than_its_length_can_say_is_refused() {
    let slug = "s".repeat(256);
    assert_eq!(LinkParts { slug: &slug, ..PLAIN }.to_bytes(), Err(TooLong));
}
