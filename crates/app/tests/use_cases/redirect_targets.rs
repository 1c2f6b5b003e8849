//! Targets that may not be, and every violation in one answer (D8, D24).

use signpost_app::links;
use signpost_domain::{
    Change, FieldError, HostBlocklist, HostReference, RedirectContent, RedirectRequest, Refusal, Submitted,
    ViolationCode, Violations,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft, refusal, violation, violations, with_alias};

const BLOCKED: &str = "https://evil.example/x";

fn block(world: &World, hosts: &str) {
    world.memory.target_blocklist.replace(HostBlocklist::parse(hosts).unwrap());
}

fn target(text: &str) -> RedirectRequest {
    RedirectRequest::default().with(|content| content.target_url = Some(samples::target(text)))
}

fn too_long(field: &str) -> Violations {
    FieldError::new(ViolationCode::TooLong, "is too long").at(field).into()
}

#[tokio::test]
async fn d24_a_host_on_the_operators_list_is_no_target() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    block(&world, "evil.example\nbücher.example");
    let invalid = [violation("target_url", ViolationCode::InvalidValue)];
    for text in [
        BLOCKED,
        "http://WWW.evil.example.:8080/",
        "https://bücher.example/",
        "https://xn--bcher-kva.example",
    ] {
        let draft = draft("new").with(|content| content.target_url = Some(samples::target(text)));
        assert_eq!(violations(world.create(draft).await), invalid, "{text}");
        assert_eq!(violations(world.update(link.id, target(text)).await), invalid, "{text}");
    }
    world.redirect_to("ok", "https://notevil.example/").await;
    // The operator takes it off the list.
    block(&world, "");
    world.redirect_to("now", BLOCKED).await;
    world.update(link.id, target(BLOCKED)).await.unwrap();
}

/// It is refused when it is written; a link that has it already can be changed in other ways.
#[tokio::test]
async fn d24_a_target_listed_later_does_not_stand_in_the_way_of_other_changes() {
    let world = World::new().await;
    let link = world.redirect_to("mine", BLOCKED).await;
    block(&world, "evil.example");
    let patch = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    assert!(!world.update(link.id, patch).await.unwrap().is_active);
    let again = violations(world.update(link.id, target(BLOCKED)).await);
    assert_eq!(again, [violation("target_url", ViolationCode::InvalidValue)]);
}

/// Every spelling of the link's own public address would loop.
#[tokio::test]
async fn d24_a_link_must_not_point_at_itself() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    let link = world.redirect("sale").await;
    world.redirect_to("Sale", "https://example.com/another").await;
    for own in [
        "https://go.example.com/new",
        "http://go.example.com/new",
        "https://GO.example.com.:443/new/",
        "https://go.example.com/n%65w?from=mail#top",
        "https://old.example.com/new",
    ] {
        let draft = draft("new").with(|content| content.target_url = Some(samples::target(own)));
        let outcome = world.create(draft).await;
        assert_eq!(violations(outcome), [violation("target_url", ViolationCode::InvalidValue)], "{own}");
        let own = own.replace("new", "sale").replace("n%65w", "s%61le");
        let outcome = world.update(link.id, target(&own)).await;
        assert_eq!(violations(outcome), [violation("target_url", ViolationCode::InvalidValue)], "{own}");
    }
    // Another link's address is followed instead, and so is one that differs in the case of the slug.
    world.update(link.id, target("https://go.example.com/Sale")).await.unwrap();
    world.redirect_to("new", "https://go.example.com/sale").await;
}

/// The field to blame is the one that closes the loop.
#[tokio::test]
async fn d24_moving_a_link_to_its_own_target_is_refused() {
    let world = World::new().await;
    let link = world.redirect_to("a", "https://go.example.com/b").await;
    let slug = Change::Set(samples::slug("b"));
    let to_b = RedirectRequest { slug: slug.clone(), ..RedirectRequest::default() };
    let outcome = world.update(link.id, to_b.clone()).await;
    assert_eq!(violations(outcome), [violation("slug", ViolationCode::InvalidValue)]);
    // Both fields move, and the loop is gone.
    world.update(link.id, RedirectRequest { slug, ..target("https://go.example.com/a") }).await.unwrap();

    let lost = samples::redirect_at(samples::lost(Some("c")));
    let lost = lost.with(|content| content.target_url = samples::target("https://go.example.com/c"));
    let lost = world.store_as_it_is(lost).await;
    for domain in [Change::Clear, Change::Set(HostReference::parse("go.example.com"))] {
        let outcome = world.update(lost.id, RedirectRequest { domain, ..RedirectRequest::default() }).await;
        assert_eq!(violations(outcome), [violation("domain", ViolationCode::InvalidValue)]);
    }
}

/// What is wrong with the request comes before what refuses it.
#[tokio::test]
async fn d8_a_violation_comes_before_every_refusal() {
    let world = World::new().await;
    block(&world, "evil.example");
    world.redirect("taken").await;
    let invalid = [violation("target_url", ViolationCode::InvalidValue)];
    let blocked = draft("taken").with(|content| content.target_url = Some(samples::target(BLOCKED)));
    for draft in [
        blocked.clone(),
        RedirectRequest { group: Change::Set(samples::id().into()), ..blocked.clone() },
        RedirectRequest { slug: Change::Clear, ..blocked.clone() },
        RedirectRequest { slug: Change::Set(samples::slug("admin")), ..blocked.clone() },
        RedirectRequest { domain: Change::Set(HostReference::parse("links.example.net")), ..blocked },
    ] {
        assert_eq!(violations(world.create(draft).await), invalid);
    }
    let link = world.redirect("mine").await;
    for patch in [
        RedirectRequest { slug: Change::Clear, ..target(BLOCKED) },
        RedirectRequest { group: Change::Set(samples::id().into()), ..target(BLOCKED) },
        RedirectRequest { domain: Change::Set(HostReference::Malformed), ..target(BLOCKED) },
    ] {
        assert_eq!(violations(world.update(link.id, patch).await), invalid);
    }
}

/// What is wrong with single fields and what shows only in the whole stand in one answer.
#[tokio::test]
async fn d8_a_creation_is_told_all_that_is_wrong_at_once() {
    let world = World::new().await;
    block(&world, "evil.example\ngo.example.com");
    let nameless = |target: &str, slug: Option<&str>| {
        let slug = slug.map_or(Change::Keep, |slug| Change::Set(samples::slug(slug)));
        let value = RedirectRequest { name: None, slug, ..draft("a") }
            .with(|content| content.target_url = Some(samples::target(target)));
        Submitted { value, violations: too_long("name") }
    };
    let name = violation("name", ViolationCode::TooLong);
    let target = violation("target_url", ViolationCode::InvalidValue);
    for (command, expected) in [
        (nameless("https://example.com", Some("a")), vec![name.clone()]),
        (nameless(BLOCKED, Some("a")), vec![name.clone(), target.clone()]),
        (nameless(BLOCKED, None), vec![name.clone(), target.clone()]),
        // On the list, and the link's own address.
        (nameless("https://go.example.com/a", Some("a")), vec![name, target.clone(), target]),
    ] {
        assert_eq!(violations(world.create_submitted(command).await), expected);
    }
    assert_eq!(world.usage().await.links, 0);
}

#[tokio::test]
async fn d8_an_update_is_told_all_that_is_wrong_at_once() {
    let world = World::new().await;
    block(&world, "evil.example");
    let link = world.redirect("mine").await;
    let caller = world.caller().await;
    let update = async |id: signpost_domain::RedirectId, value| {
        let command = Submitted { value, violations: too_long("note") };
        violations(links::update::<RedirectContent>(&world.app, &caller, id.into(), command).await)
    };
    let note = [violation("note", ViolationCode::TooLong)];
    let target_url = violation("target_url", ViolationCode::InvalidValue);
    assert_eq!(update(link.id, RedirectRequest::default()).await, note);
    assert_eq!(update(link.id, target(BLOCKED)).await, [note[0].clone(), target_url.clone()]);
    let own = target("https://go.example.com/mine");
    assert_eq!(update(link.id, own.clone()).await, [note[0].clone(), target_url]);
    let moved = RedirectRequest { slug: Change::Set(samples::slug("elsewhere")), ..own };
    assert_eq!(update(link.id, moved).await, note);
    // A refusal says nothing while there are violations, and nor does a redirect that the caller does not
    // have.
    let refused = RedirectRequest { slug: Change::Clear, ..RedirectRequest::default() };
    assert_eq!(update(link.id, refused).await, note);
    assert_eq!(update(samples::id(), RedirectRequest::default()).await, note);
    // Nothing of it was done.
    assert_eq!(world.stored(link.id).await, Some(link));
}

#[tokio::test]
async fn d2_a_valid_update_of_a_redirect_that_is_not_there_is_not_found() {
    let world = World::new().await;
    block(&world, "evil.example");
    // Its target would be a violation if there were such a redirect to judge.
    let outcome = world.update(samples::id::<signpost_domain::id::RedirectKind>(), target(BLOCKED)).await;
    assert_eq!(refusal(outcome), Refusal::RedirectNotFound);
}
