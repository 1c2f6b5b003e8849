use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;
use signpost_app::ports::{Affected, PublishedLanding, VisibleChange};
use signpost_app::visits::{Dependencies, Missing, RecordedLink, Sending, VisitorGates};
use signpost_domain::routing::Rules;
use signpost_domain::{
    Address, ClickLimit, CountryCode, GeoBlocklist, MaxClicks, PixelType, RedirectStatus, Revision, Schedule,
    Timestamp, WidgetBody,
};
use signpost_port_contracts::samples;

use super::*;
use crate::requested_address::HashedSite;

fn plain(target: &str) -> Resolved {
    let target_url = samples::target(target);
    let recorded = RecordedLink { id: samples::redirect("sale").id.into(), account: samples::id() };
    Resolved {
        target_hosts: vec![target_url.host().to_owned()],
        resolution: Resolution::Redirect(target_url),
        missing: Missing::default(),
        link: Some(recorded.id),
        life: Life::default(),
        click_limit: None,
        has_password: false,
        gates: VisitorGates::default(),
        sending: Sending::default(),
        rules: Rules::default(),
        card: None,
        recorded: vec![recorded],
        depends_on: Dependencies { addresses: Vec::new(), accounts: vec![recorded.account] },
    }
}

/// Compiles it for an address, and reads it with `look`.
fn compiled<T>(
    address: &Address,
    resolved: Resolved,
    look: impl FnOnce(&LinkView<'_>, &RequestedAddress<'_>, &Generations) -> T,
) -> T {
    compiled_with(address, resolved, |link, requested, generations| {
        look(&link.view(), requested, generations)
    })
}

/// Compiles it for an address, and passes the link to `look`.
fn compiled_with<T>(
    address: &Address,
    resolved: Resolved,
    look: impl FnOnce(&CompiledLink, &RequestedAddress<'_>, &Generations) -> T,
) -> T {
    compiled_in(Forms::All, address, resolved, look)
}

fn compiled_in<T>(
    forms: Forms,
    address: &Address,
    mut resolved: Resolved,
    look: impl FnOnce(&CompiledLink, &RequestedAddress<'_>, &Generations) -> T,
) -> T {
    let generations = Generations::new(0);
    resolved.depends_on.addresses.insert(0, address.clone());
    let site = HashedSite::at(address, &generations);
    let requested =
        RequestedAddress::new(&site, address.slug.as_ref().map(signpost_domain::Slug::as_str), &generations);
    let link = CompiledLink::new(
        &requested,
        &resolved,
        &HostBlocklist::default(),
        generations.now(),
        Timestamp::EPOCH,
        forms,
        &generations,
    )
    .unwrap();
    look(&link, &requested, &generations)
}

fn addresses() -> [Address; 3] {
    let custom = |slug| samples::on_custom("links.example.net", slug).address().unwrap();
    [samples::on_system("sale").address().unwrap(), custom(Some("sale")), custom(None)]
}

/// A page that is only explained is as that of visitors, and is not compressed.
#[test]
fn d136_an_explained_page_has_no_compressed_forms() {
    let page = PublishedLanding { title: samples::name("Menu"), content: samples::page_content() };
    let url = "https://go.example.com/sale".to_owned();
    let resolution = Resolution::Landing { page: Box::new(page), url };
    let resolved = Resolved { resolution, ..plain("https://example.com") };
    let [address, ..] = addresses();
    let forms = |forms| {
        compiled_in(forms, &address, resolved.clone(), |link, _, _| {
            let view = link.view();
            let Destination::Page(page) = view.destination() else { panic!("a page") };
            let compressed = Encoding::ALL.map(|form| page.form(Some(form)).len());
            (page.policy.to_vec(), page.form(None).to_vec(), compressed)
        })
    };
    let (policy, html, compressed) = forms(Forms::All);
    assert!(!html.is_empty() && compressed.iter().all(|length| *length > 0));
    assert_eq!(forms(Forms::Plain), (policy, html, compressed.map(|_| 0)));
}

#[test]
fn plain_redirect_holds_only_its_location_at_any_address() {
    for address in addresses() {
        for (target, start, rest) in [
            ("https://example.com/a?b#c", "https://", "example.com/a?b#c"),
            ("http://example.com", "", "http://example.com"),
            ("HTTPS://example.com", "", "HTTPS://example.com"),
        ] {
            let resolved = plain(target);
            let recorded = resolved.recorded.clone();
            compiled(&address, resolved, |link, requested, generations| {
                assert!(link.is_at(requested));
                assert_eq!(link.destination(), Destination::Location { start, rest: rest.as_bytes() });
                assert!(link.gates().is_none() && link.pixels().is_empty() && !link.has_password());
                assert!(link.schedule() == Schedule::default() && link.fallback().is_none());
                assert_eq!(link.sending(), Sending::default());
                assert_eq!(link.recorded(generations).collect::<Vec<_>>(), recorded);
                assert!(link.has_target(|host| host == "example.com"));
                assert!(!link.has_target(|host| host != "example.com"));
            });
        }
    }
}

#[test]
fn d24_chain_with_every_gate_compiles_completely() {
    let second = RecordedLink { id: samples::landing("menu").id.into(), account: samples::id() };
    let pixels = vec![samples::pixel_code(PixelType::Meta), samples::pixel_code(PixelType::X)];
    let countries = ["DE", "AT"].map(|code| CountryCode::parse(code).unwrap());
    for address in addresses() {
        let mut resolved = plain("https://example.com/end");
        resolved.recorded.push(second);
        resolved.target_hosts.push("links.example.org".to_owned());
        resolved.gates = VisitorGates {
            antibot_enabled: true,
            geo_blocklist: GeoBlocklist::new(countries.to_vec()),
            pixels: pixels.clone(),
        };
        resolved.depends_on.addresses.push(samples::on_custom("links.example.org", None).address().unwrap());
        resolved.depends_on.accounts.push(second.account);
        let recorded = resolved.recorded.clone();
        compiled(&address, resolved, |link, requested, generations| {
            assert_eq!(
                link.destination(),
                Destination::Location { start: "https://", rest: b"example.com/end" }
            );
            assert!(link.is_at(requested));
            assert_eq!(link.recorded(generations).collect::<Vec<_>>(), recorded);
            assert_eq!(link.pixels(), pixels);
            let gates = link.gates().unwrap();
            assert!(gates.antibot && countries.iter().all(|country| gates.countries.blocks(*country)));
            assert!(!gates.countries.blocks(CountryCode::parse("FR").unwrap()));
            for host in ["example.com", "links.example.org"] {
                assert!(link.has_target(|listed| listed == host));
            }
            // A change of anything on the way ends it.
            let changes = [
                (samples::id(), Affected::Domain(samples::hostname("links.example.org"))),
                (second.account, Affected::Account),
                (recorded[0].account, Affected::Account),
            ];
            for (account, affected) in changes {
                let before = generations.now();
                assert!(link.holds(before, requested, generations));
                generations.note_change(&VisibleChange { account, affected });
                assert!(!link.holds(before, requested, generations));
            }
        });
    }
}

/// The owner of the first link is not recorded as the owner of another account's link.
#[test]
fn d50_chain_records_its_other_links_when_the_first_records_nothing() {
    let second = RecordedLink { id: samples::redirect("b").id.into(), account: samples::id() };
    let mut resolved = plain("https://example.com/end");
    resolved.recorded = vec![second];
    resolved.depends_on.accounts.push(second.account);
    compiled(&addresses()[0], resolved, |link, _, generations| {
        assert_eq!(link.recorded(generations).collect::<Vec<_>>(), [second]);
    });
}

#[test]
fn links_at_other_addresses_do_not_match() {
    let [system, custom, root] = addresses();
    for (at, other) in [(&system, &custom), (&custom, &root), (&root, &system), (&custom, &system)] {
        compiled(at, plain("https://example.com"), |link, _, generations| {
            let site = HashedSite::at(other, generations);
            let slug = other.slug.as_ref().map(signpost_domain::Slug::as_str);
            assert!(!link.is_at(&RequestedAddress::new(&site, slug, generations)));
        });
    }
}

prop_compose! {
    fn any_gates()(
        antibot_enabled: bool,
        countries in subsequence(CountryCode::all().collect::<Vec<_>>(), 0..=5),
        pixels in subsequence(PixelType::ALL.map(samples::pixel_code).to_vec(), 0..=3),
    ) -> VisitorGates {
        VisitorGates { antibot_enabled, geo_blocklist: GeoBlocklist::new(countries), pixels }
    }
}

prop_compose! {
    fn any_life()(
        starts_at in proptest::option::of(0_i64..1_000_000),
        expires_at in proptest::option::of(0_i64..1_000_000),
        fallback in proptest::option::of("https?://[a-z]{1,20}\\.example/é"),
    ) -> Life {
        let [starts_at, expires_at] = [starts_at, expires_at].map(|millis| millis.and_then(Timestamp::from_unix_millis));
        Life {
            schedule: Schedule::from_stored(starts_at, expires_at),
            fallback_url: fallback.map(|url| samples::target(&url)),
        }
    }
}

prop_compose! {
    fn any_sending()(
        status in proptest::sample::select(RedirectStatus::ALL.to_vec()),
        forwards_query: bool,
    ) -> Sending {
        Sending { status, forwards_query }
    }
}

fn any_resolution() -> impl Strategy<Value = (Resolution, Missing)> {
    let target = "https?://[a-z]{1,20}\\.example(/[a-z0-9]{0,90})?";
    let missing = prop_oneof![
        Just(Missing::Unknown),
        Just(Missing::Inactive),
        Just(Missing::Suspended),
        Just(Missing::Loop)
    ];
    let url = "https://go.example.com/menu".to_owned();
    let page = PublishedLanding { title: samples::name("Menu"), content: samples::page_content() };
    let page = Resolution::Landing { page: Box::new(page), url: url.clone() };
    prop_oneof![
        target.prop_map(|url| (Resolution::Redirect(samples::target(&url)), Missing::default())),
        Just((Resolution::LandingElsewhere { url }, Missing::default())),
        Just((page, Missing::default())),
        missing.prop_map(|missing| (Resolution::NotThere, missing)),
    ]
}

fn any_limit() -> impl Strategy<Value = Option<ClickLimit>> {
    let limit = (1..=MaxClicks::MAX, 0..=MaxClicks::MAX, 1..u64::MAX).prop_map(|(max, taken, since)| {
        ClickLimit::new(MaxClicks::new(max).unwrap(), taken, Revision::from_stored(since).unwrap())
    });
    proptest::option::of(limit)
}

prop_compose! {
    /// What any chain of links may resolve to. The first link may be one that records nothing.
    fn any_resolved()(
        (resolution, missing) in any_resolution(),
        gates in any_gates(),
        life in any_life(),
        sending in any_sending(),
        click_limit in any_limit(),
        has_password: bool,
        kinds in vec(any::<bool>(), 1..6),
        first_records: bool,
        further_hosts in vec("[a-z]{1,20}\\.example", 0..5),
    ) -> Resolved {
        let chain: Vec<RecordedLink> = kinds
            .into_iter()
            .map(|is_landing| {
                let id = if is_landing {
                    samples::landing("menu").id.into()
                } else {
                    samples::redirect("sale").id.into()
                };
                RecordedLink { id, account: samples::id() }
            })
            .collect();
        let hosts = match &resolution {
            Resolution::Redirect(target) => vec![target.host().to_owned()],
            Resolution::LandingElsewhere { .. } | Resolution::Landing { .. } | Resolution::NotThere => vec![],
        };
        Resolved {
            link: Some(chain[0].id),
            rules: Rules::default(),
            card: None,
            recorded: chain.iter().copied().skip(usize::from(!first_records)).collect(),
            depends_on: Dependencies {
                addresses: chain.iter().skip(1).map(|_| samples::redirect_at(samples::on_system("next")))
                    .filter_map(|next| next.placement.address()).collect(),
                accounts: chain.iter().map(|link| link.account).collect(),
            },
            target_hosts: [hosts, further_hosts].concat(),
            resolution,
            missing,
            life,
            click_limit,
            has_password,
            gates,
            sending,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_compiled_is_read_back(resolved in any_resolved(), place in 0_usize..3) {
        let mut expected = resolved.clone();
        if resolved.resolution == Resolution::NotThere {
            // Without a link there is no visit to record for it.
            expected.recorded.retain(|link| Some(link.id) != resolved.link);
        }
        compiled(&addresses()[place], resolved, |link, requested, generations| {
            assert!(link.is_at(requested));
            match (link.destination(), &expected.resolution) {
                (Destination::Location { start, rest }, Resolution::Redirect(target)) => {
                    assert_eq!([start.as_bytes(), rest].concat(), target.location().as_bytes());
                }
                (Destination::Location { start, rest }, Resolution::LandingElsewhere { url }) => {
                    assert_eq!([start.as_bytes(), rest].concat(), url.as_bytes());
                }
                (Destination::Page(page), Resolution::Landing { page: published, .. }) => {
                    let html = str::from_utf8(page.form(None)).unwrap();
                    assert!(html.contains(published.title.as_str()) && !page.policy.is_empty());
                    assert!(Encoding::ALL.into_iter().all(|form| !page.form(Some(form)).is_empty()));
                    for widget in published.content.widgets.as_slice() {
                        let target = match &widget.body {
                            WidgetBody::Known(content) => content.leads_to().map(|(_, url)| url.as_target().location()),
                            WidgetBody::Unknown(_) => None,
                        };
                        assert_eq!(page.widget(widget.id).map(|target| target.location()), target);
                    }
                }
                (Destination::Nothing, Resolution::NotThere) => assert_eq!(link.missing(), expected.missing),
                (read, compiled) => panic!("{read:?} is not {compiled:?}"),
            }
            assert_eq!(Some(link.link_id()), expected.link);
            assert_eq!(link.recorded(generations).collect::<Vec<_>>(), expected.recorded);
            assert_eq!(link.pixels(), expected.gates.pixels);
            assert_eq!(link.sending(), expected.sending);
            let Life { schedule, fallback_url } = &expected.life;
            assert_eq!(link.schedule(), *schedule);
            assert_eq!(link.limit(), expected.click_limit.map(ClickLimitView::from));
            assert_eq!(link.has_password(), expected.has_password);
            let may_end = schedule.expires_at().is_some() || expected.click_limit.is_some();
            let fallback_url = fallback_url.as_ref().filter(|_| may_end);
            assert_eq!(link.fallback().map(|url| url.location()), fallback_url.map(TargetUrl::location));
            assert_eq!(link.ends_without_fallback(), may_end && fallback_url.is_none());
            let (antibot, blocked) = link.gates().map(|gates| (gates.antibot, gates.countries)).unwrap_or_default();
            assert_eq!(antibot, expected.gates.antibot_enabled);
            for country in CountryCode::all() {
                assert_eq!(blocked.blocks(country), expected.gates.geo_blocklist.countries().contains(&country));
            }
            for host in &expected.target_hosts {
                assert!(link.has_target(|listed| listed == host));
            }
            assert!(!link.has_target(|listed| listed == "other.example"));
            for account in &expected.depends_on.accounts {
                let moment = generations.now();
                assert!(link.holds(moment, requested, generations));
                generations.note_change(&VisibleChange { account: *account, affected: Affected::Account });
                assert!(!link.holds(moment, requested, generations));
            }
        });
    }
}

/// The goal of the links in memory: 166 MiB for a million with targets of 60 characters.
#[test]
fn million_plain_links_weigh_at_most_166_mib() {
    let target = format!("https://example.com/{}", "x".repeat(40));
    let address = samples::on_system("abc1234").address().unwrap();
    let weight = compiled_with(&address, plain(&target), |link, _, _| link.weight());
    assert!(weight * 1_000_000 <= 166 * 1024 * 1024, "{weight}");
}
