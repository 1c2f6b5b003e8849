//! D22 and D23: the rules apply to the placement after a PATCH.

use proptest::prelude::*;

use super::*;

fn system() -> SystemDomain {
    let alias = Hostname::parse("old.example.com").unwrap();
    SystemDomain::new("https://go.example.com", vec![alias]).unwrap()
}

fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

fn on_system(text: &str) -> Placement {
    Placement::System { slug: slug(text) }
}

fn on_custom(host: &str, path: Option<&str>) -> Placement {
    Placement::Custom { hostname: Hostname::parse(host).unwrap(), slug: path.map(slug) }
}

fn lost(path: Option<&str>) -> Placement {
    Placement::Lost { slug: path.map(slug) }
}

fn to(host: &str) -> Change<HostReference> {
    Change::Set(HostReference::parse(host))
}

fn change(domain: Change<HostReference>, slug_change: Change<&str>) -> PlacementChange {
    PlacementChange { domain, slug: slug_change.map(slug) }
}

const UNKNOWN: NamedDomain = NamedDomain::Unknown;
const ACTIVE: NamedDomain = NamedDomain::Active;
const NOT_ACTIVE: NamedDomain = NamedDomain::NotActive;

/// The same state for every domain of these tests.
fn each(named: NamedDomain) -> NamedDomains {
    let hosts = ["shop.example.org", "a.example.org", "b.example.org"];
    hosts.map(|host| (Hostname::parse(host).unwrap(), named)).into_iter().collect()
}

#[test]
fn d22_table_of_moves() {
    use Change::{Clear, Keep, Set};
    let shop = "shop.example.org";
    for (from, what, named, expected) in [
        // On the system domain.
        (on_system("a"), change(Keep, Set("b")), UNKNOWN, Ok(on_system("b"))),
        (on_system("a"), change(Keep, Clear), UNKNOWN, Err(Refusal::SlugRequiredForSystemDomain)),
        (on_system("a"), change(to("go.example.com"), Keep), UNKNOWN, Ok(on_system("a"))),
        (on_system("a"), change(to("OLD.example.com."), Keep), UNKNOWN, Ok(on_system("a"))),
        (on_system("a"), change(Clear, Keep), UNKNOWN, Ok(on_system("a"))),
        (on_system("a"), change(Keep, Set("admin")), UNKNOWN, Err(Refusal::SlugReserved)),
        // To a custom domain.
        (on_system("a"), change(to(shop), Keep), UNKNOWN, Err(Refusal::DomainNotFound)),
        (on_system("a"), change(to("no host"), Keep), ACTIVE, Err(Refusal::DomainNotFound)),
        (on_system("a"), change(to(shop), Keep), NOT_ACTIVE, Err(Refusal::DomainNotActive)),
        (on_system("a"), change(to(shop), Keep), ACTIVE, Ok(on_custom(shop, Some("a")))),
        (on_system("a"), change(to(shop), Clear), ACTIVE, Ok(on_custom(shop, None))),
        (on_system("a"), change(to(shop), Set("admin")), ACTIVE, Ok(on_custom(shop, Some("admin")))),
        // From a custom domain.
        (on_custom(shop, Some("a")), change(Keep, Clear), ACTIVE, Ok(on_custom(shop, None))),
        (on_custom(shop, None), change(Clear, Keep), ACTIVE, Err(Refusal::SlugRequiredForSystemDomain)),
        (on_custom(shop, None), change(Clear, Set("a")), ACTIVE, Ok(on_system("a"))),
        (on_custom(shop, Some("admin")), change(Clear, Keep), ACTIVE, Err(Refusal::SlugReserved)),
        // D23: a domain that is no longer active matters only when the placement changes.
        (on_custom(shop, Some("a")), change(Keep, Keep), NOT_ACTIVE, Ok(on_custom(shop, Some("a")))),
        (on_custom(shop, Some("a")), change(to(shop), Set("a")), NOT_ACTIVE, Ok(on_custom(shop, Some("a")))),
        (on_custom(shop, Some("a")), change(Keep, Set("b")), NOT_ACTIVE, Err(Refusal::DomainNotActive)),
        (on_custom(shop, Some("a")), change(Clear, Keep), NOT_ACTIVE, Ok(on_system("a"))),
        // A lost link.
        (lost(Some("a")), change(Keep, Set("b")), UNKNOWN, Ok(lost(Some("b")))),
        (lost(Some("a")), change(Keep, Clear), UNKNOWN, Ok(lost(None))),
        (lost(Some("a")), change(Clear, Keep), UNKNOWN, Ok(on_system("a"))),
        (lost(Some("a")), change(to("go.example.com"), Keep), UNKNOWN, Ok(on_system("a"))),
        (lost(None), change(Clear, Keep), UNKNOWN, Err(Refusal::SlugRequiredForSystemDomain)),
        (lost(None), change(to(shop), Keep), ACTIVE, Ok(on_custom(shop, None))),
    ] {
        let outcome = from.changed(what.clone(), &system(), &each(named));
        assert_eq!(outcome, expected, "{from:?} with {what:?}, domain {named:?}");
    }
}

/// Contract D23: each domain has its own state.
#[test]
fn d23_each_domain_has_its_own_state() {
    let hostname = |host| Hostname::parse(host).unwrap();
    let known: NamedDomains =
        [(hostname("a.example.org"), ACTIVE), (hostname("b.example.org"), NOT_ACTIVE)].into_iter().collect();
    let moved = |host| on_system("a").changed(change(to(host), Change::Keep), &system(), &known);
    assert_eq!(moved("a.example.org"), Ok(on_custom("a.example.org", Some("a"))));
    assert_eq!(moved("b.example.org"), Err(Refusal::DomainNotActive));
    assert_eq!(moved("c.example.org"), Err(Refusal::DomainNotFound));
}

#[test]
fn d22_the_api_shows_domain_and_url_of_each_placement() {
    let system = system();
    let shown = |placement: &Placement| {
        let host = placement.hostname(&system).map(|host| host.as_str().to_owned());
        (host, placement.url(&system, CustomDomainScheme::Https))
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(shown(&on_system("a")), (some("go.example.com"), some("https://go.example.com/a")));
    assert_eq!(
        shown(&on_custom("shop.example.org", Some("a"))),
        (some("shop.example.org"), some("https://shop.example.org/a"))
    );
    assert_eq!(
        shown(&on_custom("shop.example.org", None)),
        (some("shop.example.org"), some("https://shop.example.org/"))
    );
    assert_eq!(shown(&lost(Some("a"))), (None, None));
    assert_eq!(lost(Some("a")).address(), None);
}

#[test]
fn d24_a_placement_knows_its_own_address() {
    let system = system();
    let target = |url| TargetUrl::parse(url).unwrap();
    assert!(on_system("a").is_addressed_by(&target("https://GO.example.com/a/?x=1"), &system));
    assert!(on_system("a").is_addressed_by(&target("https://old.example.com/%61"), &system));
    assert!(!on_system("a").is_addressed_by(&target("https://go.example.com/A"), &system));
    assert!(on_custom("shop.example.org", None).is_addressed_by(&target("http://shop.example.org"), &system));
    assert!(
        !on_custom("shop.example.org", Some("a"))
            .is_addressed_by(&target("http://shop.example.org"), &system)
    );
    assert!(!lost(Some("a")).is_addressed_by(&target("https://go.example.com/a"), &system));
}

fn any_slug() -> impl Strategy<Value = Slug> {
    "[abc]{1,2}|admin".prop_map(|text| slug(&text))
}

fn any_placement() -> impl Strategy<Value = Placement> {
    prop_oneof![
        "[abc]{1,2}".prop_map(|text| on_system(&text)),
        ("[ab][.]example[.]org", proptest::option::of(any_slug()))
            .prop_map(|(host, slug)| Placement::Custom { hostname: Hostname::parse(&host).unwrap(), slug }),
        proptest::option::of(any_slug()).prop_map(|slug| Placement::Lost { slug }),
    ]
}

fn any_change() -> impl Strategy<Value = PlacementChange> {
    let domain = prop_oneof![
        Just(Change::Keep),
        Just(Change::Clear),
        "[ab][.]example[.]org|go[.]example[.]com|not a host".prop_map(|host| to(&host)),
    ];
    let slug = prop_oneof![Just(Change::Keep), Just(Change::Clear), any_slug().prop_map(Change::Set)];
    (domain, slug).prop_map(|(domain, slug)| PlacementChange { domain, slug })
}

fn any_standing() -> impl Strategy<Value = NamedDomain> {
    prop_oneof![Just(UNKNOWN), Just(NOT_ACTIVE), Just(ACTIVE)]
}

proptest! {
    #[test]
    fn an_empty_change_is_the_identity(from in any_placement(), named in any_standing()) {
        prop_assert_eq!(from.changed(PlacementChange::default(), &system(), &each(named)), Ok(from));
    }

    #[test]
    fn changing_twice_is_changing_once(from in any_placement(), change in any_change(), named in any_standing()) {
        if let Ok(once) = from.changed(change.clone(), &system(), &each(named)) {
            prop_assert_eq!(once.changed(change, &system(), &each(named)), Ok(once));
        }
    }

    #[test]
    fn only_a_lost_link_is_without_an_address(from in any_placement(), change in any_change(), named in any_standing()) {
        if let Ok(placement) = from.changed(change, &system(), &each(named)) {
            let is_lost = matches!(placement, Placement::Lost { .. });
            prop_assert_eq!(placement.address().is_none(), is_lost);
            prop_assert_eq!(placement.url(&system(), CustomDomainScheme::Https).is_none(), is_lost);
            prop_assert!(!is_lost || matches!(from, Placement::Lost { .. }), "a PATCH never loses a link");
        }
    }
}
