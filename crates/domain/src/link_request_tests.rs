//! Requests for links of any kind: the properties, and the rules of D2, D6, D8, D22, D28 and D33.

use proptest::prelude::*;

use super::*;
use crate::id::GroupId;
use crate::landing::{LandingPage, LandingRequest};
use crate::life::tests::{any_life, keeps_absent_fields};
use crate::page_content::PageContentRequest;
use crate::plan::{Feature, FeatureSet};
use crate::redirect::{Redirect, RedirectContentRequest, RedirectRequest};
use crate::tag::TagName;

#[path = "link_request_world.rs"]
mod world;

pub(crate) use world::{World, at, blocks, fields, new_redirect, pixel, slug, target};

#[test]
fn d28_a_new_link_has_the_defaults() {
    let redirect: Redirect = World::new().create(new_redirect()).unwrap();
    assert!(redirect.is_active && redirect.analytics_enabled && !redirect.content.antibot_enabled);
    assert_eq!((redirect.note, redirect.external_id, redirect.group_id), (None, None, None));
    assert_eq!((redirect.life, redirect.is_domain_active), (Life::default(), true));
    assert!(redirect.content.geo_blocklist.is_empty());
    assert_eq!((redirect.created_at, redirect.updated_at), (at(1_000), at(1_000)));
}

#[test]
fn d28_a_creation_must_have_the_required_fields_of_its_kind() {
    let world = World::new();
    let missing = |fields: &[&str]| {
        fields.iter().map(|field| ((*field).to_owned(), ViolationCode::Required)).collect::<Vec<_>>()
    };
    let redirect = world.create::<crate::RedirectContent>(RedirectRequest::default());
    assert_eq!(fields(redirect.unwrap_err()), missing(&["name", "target_url"]));
    let page = world.create::<crate::PageContent>(LandingRequest::default());
    assert_eq!(fields(page.unwrap_err()), missing(&["title"]));
}

#[test]
fn d28_null_clears_nullable_fields() {
    let world = World::new();
    let full = RedirectRequest {
        note: Change::Set(Note::parse("n").unwrap()),
        group: Change::Set(GroupId::from_bytes([9; 16]).into()),
        ..new_redirect()
    };
    let full: Redirect = world.create(full).unwrap();
    let nulls = RedirectRequest {
        note: Change::Clear,
        group: Change::Clear,
        domain: Change::Clear,
        ..RedirectRequest::default()
    };
    let bare = world.create(new_redirect()).unwrap();
    let bare = Redirect { updated_at: at(2_000), revision: full.revision.next(), ..bare };
    assert_eq!(world.update(&full, nulls).unwrap(), bare);
}

/// A link on the system domain needs a slug (D22), and some slugs are reserved there (D21).
#[test]
fn d22_a_new_link_needs_a_valid_placement() {
    let world = World::new();
    for (slug, domain, refusal) in [
        (Change::Clear, None, Refusal::SlugRequiredForSystemDomain),
        (Change::Set(slug("Admin")), None, Refusal::SlugReserved),
        (Change::Keep, Some("links.example.org"), Refusal::DomainNotFound),
        (Change::Keep, Some("not a host"), Refusal::DomainNotFound),
    ] {
        let domain = domain.map_or(Change::Keep, |domain| Change::Set(HostReference::parse(domain)));
        let request = RedirectRequest { slug, domain, ..new_redirect() };
        assert_eq!(world.create::<crate::RedirectContent>(request), Err(Rejection::Refused(refusal)));
    }
    let domain = Change::Set(HostReference::parse("GO.example.com"));
    let request = RedirectRequest { domain, ..new_redirect() };
    let plain: Redirect = world.create(new_redirect()).unwrap();
    assert_eq!(world.create(request), Ok(plain));
}

#[test]
fn d22_an_update_cannot_leave_a_link_on_the_system_domain_without_a_slug() {
    let world = World::new();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    let request = RedirectRequest { slug: Change::Clear, ..RedirectRequest::default() };
    let refused = Err(Rejection::Refused(Refusal::SlugRequiredForSystemDomain));
    assert_eq!(world.update(&redirect, request), refused);
}

#[test]
fn violations_come_before_refusals() {
    let world = World::new();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    let request = RedirectRequest {
        slug: Change::Clear,
        group: Change::Set(IdReference::Malformed),
        ..RedirectRequest::default()
    }
    .with(|content| content.target_url = Some(target("https://blocked.example.net")));
    let rejection = world.update(&redirect, request).unwrap_err();
    assert_eq!(fields(rejection), [("target_url".to_owned(), ViolationCode::InvalidValue)]);
}

#[test]
fn d6_a_malformed_group_is_not_found() {
    let world = World::new();
    let refused = Err(Refusal::GroupNotFound.into());
    let group = Change::Set(IdReference::Malformed);
    assert_eq!(world.create::<crate::RedirectContent>(RedirectRequest { group, ..new_redirect() }), refused);
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    assert_eq!(world.update(&redirect, RedirectRequest { group, ..RedirectRequest::default() }), refused);
}

/// Only the store can say that a well-formed id is unknown, so a malformed one must not be refused earlier.
#[test]
fn d2_a_malformed_group_is_refused_last() {
    let mut world = World::new();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    world.features = FeatureSet::none();
    let lacking = Err(Refusal::FeatureNotAvailable(Feature::Antibot).into());
    let group = Change::Set(IdReference::Malformed);
    let antibot = |request: RedirectRequest| request.with(|content| content.antibot_enabled = Some(true));
    let creation = antibot(RedirectRequest { group, ..new_redirect() });
    assert_eq!(world.create::<crate::RedirectContent>(creation), lacking);
    let update = antibot(RedirectRequest { group, ..RedirectRequest::default() });
    assert_eq!(world.update(&redirect, update), lacking);
    let update = RedirectRequest { slug: Change::Clear, group, ..RedirectRequest::default() };
    assert_eq!(world.update(&redirect, update), Err(Refusal::SlugRequiredForSystemDomain.into()));
}

#[test]
fn d33_updated_at_never_moves_back() {
    let world = World::new();
    let redirect: Redirect = world.create(new_redirect()).unwrap();
    let request = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    let updated = redirect.apply(&Submitted::valid(request), &world.at(0)).unwrap();
    assert_eq!((updated.is_active, updated.updated_at), (false, redirect.updated_at));
}

#[test]
fn d8_an_invalid_creation_lists_violations_of_combined_fields() {
    let world = World::new();
    let mut violations = Violations::from(FieldError::new(ViolationCode::Required, "is required").at("name"));
    // An item that is not a string gets this violation, and no second one for an unknown pixel.
    violations.push(FieldError::new(ViolationCode::InvalidType, "must be a string").at("pixel_ids[0]"));
    let value =
        RedirectRequest { name: None, slug: Change::Set(slug("mine")), ..new_redirect() }.with(|content| {
            content.target_url = Some(target("https://go.example.com/mine"));
            content.pixels = Change::Set(vec![None, Some(pixel(3))]);
        });
    let request = Submitted { value, violations };
    let found = fields(world.create_submitted::<crate::RedirectContent>(&request).unwrap_err());
    let expected = [
        ("name", ViolationCode::Required),
        ("pixel_ids[0]", ViolationCode::InvalidType),
        ("target_url", ViolationCode::InvalidValue),
        ("pixel_ids[1]", ViolationCode::InvalidValue),
    ];
    assert_eq!(found, expected.map(|(field, code)| (field.to_owned(), code)));
}

/// An update is judged by the placement and the target that it results in (D22), and these are unknown here.
#[test]
fn d8_d22_an_unreadable_slug_domain_or_target_closes_no_loop() {
    let world = World::new();
    let own_address = |content: &mut RedirectContentRequest| {
        content.target_url = Some(target("https://go.example.com/mine"));
    };
    let other = RedirectRequest { slug: Change::Set(slug("other")), ..new_redirect() }.with(own_address);
    let at_other: Redirect = world.create(other).unwrap();
    let at_mine: Redirect = world.create(new_redirect()).unwrap();
    let new = RedirectRequest { slug: Change::Set(slug("mine")), ..new_redirect() };
    let moved = RedirectRequest { slug: Change::Set(slug("mine")), ..RedirectRequest::default() };
    for (field, link, value) in [
        ("domain", None, new.with(own_address)),
        ("slug", None, new_redirect().with(own_address)),
        ("domain", Some(&at_mine), RedirectRequest::default().with(own_address)),
        ("slug", Some(&at_mine), RedirectRequest::default().with(own_address)),
        ("domain", Some(&at_other), moved.clone()),
        ("target_url", Some(&at_other), moved),
    ] {
        let violation = FieldError::new(ViolationCode::InvalidType, "must be a string").at(field);
        let request = Submitted { value, violations: violation.into() };
        let outcome = match link {
            None => world.create_submitted::<crate::RedirectContent>(&request),
            Some(link) => link.apply(&request, &world.at(2_000)),
        };
        let found = fields(outcome.unwrap_err());
        assert_eq!(found, [(field.to_owned(), ViolationCode::InvalidType)], "{link:?}");
    }
}

fn tags_named(names: &[impl AsRef<str>]) -> Tags {
    Tags::new(names.iter().map(|name| TagName::parse(name.as_ref()).unwrap())).unwrap()
}

#[test]
fn d122_d33_another_spelling_of_the_same_tags_changes_nothing() {
    let world = World::new();
    let given =
        |names: &[&str]| RedirectRequest { tags: Some(tags_named(names)), ..RedirectRequest::default() };
    let new = RedirectRequest { tags: Some(tags_named(&["Sale", "new"])), ..new_redirect() };
    let redirect: Redirect = world.create(new).unwrap();
    for same in [given(&["NEW", "sale", "SALE"]), RedirectRequest::default()] {
        assert_eq!(world.update(&redirect, same).unwrap(), redirect);
    }
    for (names, expected) in [(&["sale"][..], &["sale"][..]), (&["sale", "x"], &["sale", "x"]), (&[], &[])] {
        let updated = world.update(&redirect, given(names)).unwrap();
        assert_eq!(updated.tags, tags_named(expected));
        assert_eq!(updated.revision, redirect.revision.next());
    }
}

pub(crate) fn any_change<T: Clone + Debug + 'static>(
    values: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Change<T>> {
    prop_oneof![2 => Just(Change::Keep), 1 => Just(Change::Clear), 3 => values.prop_map(Change::Set)]
}

prop_compose! {
    pub(crate) fn any_request()(
        name in proptest::option::of("[ab]"),
        new_slug in any_change("[ab]|admin"),
        note in any_change("[ab]?"),
        external_id in any_change("[ab]"),
        domain in any_change("go[.]example[.]com|shop[.]example[.]org"),
        group in any_change(any::<bool>()),
        tags in proptest::option::of(proptest::collection::vec("[abB]", 0..3)),
        is_active in any::<Option<bool>>(),
        life in any_life(),
        password in any_change("[ab]{4}"),
    ) -> LinkRequest<()> {
        LinkRequest {
            name: name.map(|name| Name::parse(&name).unwrap()),
            slug: new_slug.map(|text| slug(&text)),
            note: note.map(|note| Note::parse(&note).unwrap()),
            external_id: external_id.map(|id| ExternalId::parse(&id).unwrap()),
            domain: domain.map(|host| HostReference::parse(&host)),
            group: group.map(|known| {
                if known { IdReference::Id(GroupId::from_bytes([9; 16])) } else { IdReference::Malformed }
            }),
            tags: tags.map(|names| tags_named(&names)),
            is_active,
            life,
            password: password.map(|text| LinkPassword::choose(&text).unwrap()),
            analytics_enabled: None,
            content: (),
        }
    }
}

prop_compose! {
    fn any_landing_request()(
        shared in any_request(),
        search_engines in any::<Option<bool>>(),
    ) -> LandingRequest {
        shared.with_content(PageContentRequest { search_engines, ..PageContentRequest::default() })
    }
}

/// D33: `updated_at` moves exactly when something changed, and never back. Applying twice is applying once, but a password that
/// is set is always another one (D131). Only the fields of the request change.
pub(crate) fn assert_laws<C: ContentRules>(
    link: &Link<C>,
    request: LinkRequest<C::Request>,
    now: i64,
) -> Result<(), TestCaseError> {
    let world = World::new();
    prop_assert_eq!(link.apply(&Submitted::default(), &world.at(now)), Ok(link.clone()));
    let request = Submitted::valid(request);
    let Ok(once) = link.apply(&request, &world.at(now)) else { return Ok(()) };
    let sets_password = matches!(request.value.password, Change::Set(_));
    if !sets_password {
        prop_assert_eq!(once.apply(&request, &world.at(now + 1)), Ok(once.clone()));
    }
    let is_changed = sets_password
        || Link { updated_at: link.updated_at, revision: link.revision, ..once.clone() } != *link;
    prop_assert_eq!(once.revision, if is_changed { link.revision.next() } else { link.revision });
    prop_assert_eq!(once.updated_at, if is_changed { at(now).max(link.updated_at) } else { link.updated_at });
    let request = request.value;
    prop_assert!(request.name.is_some() || once.name == link.name);
    prop_assert!(!request.note.is_keep() || once.note == link.note);
    prop_assert!(!request.group.is_keep() || once.group_id == link.group_id);
    prop_assert!(request.is_active.is_some() || once.is_active == link.is_active);
    prop_assert_eq!(once.has_password, LinkPassword::is_there_after(&request.password, link.has_password));
    prop_assert!(keeps_absent_fields(&request.life, &link.life, &once.life));
    prop_assert!(!(request.slug.is_keep() && request.domain.is_keep()) || once.placement == link.placement);
    let fixed = |link: &Link<C>| (link.id, link.created_at, link.analytics_enabled);
    prop_assert_eq!(fixed(&once), fixed(link));
    Ok(())
}

proptest! {
    #[test]
    fn d33_updates_of_landing_pages_obey_the_laws(request in any_landing_request(), now in 0..3_000_i64) {
        let page: LandingPage = World::new().create(LandingRequest::new(Name::parse("Mine").unwrap())).unwrap();
        assert_laws(&page, request, now)?;
    }
}
