//! Refused targets, and all violations in one answer (D8, D24).

use signpost_app::links;
use signpost_domain::{
    Change, FieldError, HostBlocklist, HostReference, Precondition, RedirectContent, RedirectRequest,
    Refusal, Submitted, ViolationCode, Violations,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft, refusal, violation, violations};

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

/// The operator may change the list while the node runs.
#[tokio::test]
async fn d24_targets_are_judged_by_the_current_blocklist() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    block(&world, "evil.example");
    let invalid = [violation("target_url", ViolationCode::InvalidValue)];
    let draft = draft("new").with(|content| content.target_url = Some(samples::target(BLOCKED)));
    assert_eq!(violations(world.create(draft).await), invalid);
    assert_eq!(violations(world.update(link.id, target(BLOCKED)).await), invalid);
    block(&world, "");
    world.redirect_to("now", BLOCKED).await;
    world.update(link.id, target(BLOCKED)).await.unwrap();
}

/// Violations are reported before any refusal.
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

/// Violations of single fields and violations that depend on several fields are in one answer.
#[tokio::test]
async fn d8_a_creation_lists_all_violations_together() {
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
        // Blocked, and also the link's own address.
        (nameless("https://go.example.com/a", Some("a")), vec![name, target.clone(), target]),
    ] {
        assert_eq!(violations(world.create_submitted(command).await), expected);
    }
    assert_eq!(world.usage().await.links, 0);
}

#[tokio::test]
async fn d8_an_update_lists_all_violations_together() {
    let world = World::new().await;
    block(&world, "evil.example");
    let link = world.redirect("mine").await;
    let caller = world.caller().await;
    let update = async |id: signpost_domain::RedirectId, value| {
        let command = Submitted { value, violations: too_long("note") };
        violations(
            links::update::<RedirectContent>(&world.app, &caller, id.into(), command, &Precondition::None)
                .await,
        )
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
    // Nothing has changed.
    assert_eq!(world.stored(link.id).await, Some(link));
}

#[tokio::test]
async fn d2_an_update_of_a_missing_redirect_is_not_found() {
    let world = World::new().await;
    block(&world, "evil.example");
    // The blocked target is no violation, because there is no redirect to judge.
    let outcome = world.update(samples::id::<signpost_domain::id::RedirectKind>(), target(BLOCKED)).await;
    assert_eq!(refusal(outcome), Refusal::RedirectNotFound);
}
