//! Rules of redirects: what visits read of them (D24, D133, D134), and how files move them.

use signpost_app::transfer::{Field, FieldValue, Imported, Record};
use signpost_app::visits::{Missing, Resolution};
use signpost_domain::{
    Feature, Link, Precondition, Redirect, RedirectStatus, Rules, SplitKey, Utm, UtmPart, UtmValue,
};
use signpost_port_contracts::samples;

use crate::transfer::{exported, import, row, stored};
use crate::world::{World, plan};

const END: &str = "https://target.example/end";

fn to(slug: &str, target: &str) -> Redirect {
    samples::redirect(slug).with(|content| content.target_url = samples::target(target))
}

fn ruled(slug: &str, target: &str, json: &str) -> Redirect {
    to(slug, target).with(|content| content.rules = samples::rules(json))
}

const GERMANS: &str = r#"[{"name": "germans", "conditions": [{"type": "country", "in": ["DE"]}],
    "target_url": "https://target.example/de"}]"#;

/// What follows has gates of its own, which do not count for the visitors of another target.
#[tokio::test]
async fn d133_a_link_with_rules_leads_to_its_targets_as_they_are() {
    let world = World::new().await;
    let utm = Utm::new(|part| UtmValue::parse("mail").ok().filter(|_| part == UtmPart::Source));
    let first = ruled("a", "https://go.example.com/b", GERMANS).with(|content| content.way.utm = utm);
    let next = to("b", END).with(|content| content.antibot_enabled = true);
    for redirect in [first.clone(), next] {
        world.store_as_it_is(redirect).await;
    }
    let resolved = world.resolved("go.example.com", Some("a")).await;
    let own = samples::target("https://go.example.com/b?utm_source=mail");
    assert_eq!(resolved.resolution, Resolution::Redirect(own));
    let targets: Vec<_> = resolved.rules.targets().map(|target| target.as_str().to_owned()).collect();
    assert_eq!(targets, ["https://target.example/de?utm_source=mail"]);
    assert_eq!(resolved.rules.split_key(), first.content.rules.split_key());
    assert!(!resolved.gates.antibot_enabled);
    assert_eq!(resolved.recorded.iter().map(|link| link.id).collect::<Vec<_>>(), [first.id.into()]);
    assert_eq!(resolved.target_hosts, ["go.example.com", "target.example"]);
}

/// D24: it decides for each visitor, so nobody is led through it.
#[tokio::test]
async fn d133_a_chain_ends_before_a_link_with_rules() {
    let world = World::new().await;
    for redirect in [to("a", "https://go.example.com/b"), ruled("b", END, GERMANS)] {
        world.store_as_it_is(redirect).await;
    }
    let resolved = world.resolved("go.example.com", Some("a")).await;
    assert_eq!(resolved.resolution, Resolution::Redirect(samples::target("https://go.example.com/b")));
    assert_eq!((resolved.rules, resolved.recorded.len()), (Rules::default(), 1));
}

#[tokio::test]
async fn d24_a_default_chain_that_returns_to_a_link_with_rules_leads_nowhere() {
    let world = World::new().await;
    for redirect in [ruled("a", "https://go.example.com/b", GERMANS), to("b", "https://go.example.com/a")] {
        world.store_as_it_is(redirect).await;
    }
    for slug in ["a", "b"] {
        let resolved = world.resolved("go.example.com", Some(slug)).await;
        assert_eq!((resolved.resolution, resolved.missing), (Resolution::NotThere, Missing::Loop), "{slug}");
    }
}

/// No request makes such a redirect, but a row may have both.
#[tokio::test]
async fn d132_rules_make_a_status_temporary() {
    let world = World::new().await;
    let permanent = RedirectStatus::PermanentRedirect;
    let redirect = ruled("a", END, GERMANS).with(|content| content.way.redirect_status = permanent);
    world.store_as_it_is(redirect).await;
    let resolved = world.resolved("go.example.com", Some("a")).await;
    assert_eq!(resolved.sending.status, RedirectStatus::TemporaryRedirect);
}

fn with_rules(json: &str) -> Record {
    let mut record = row("x", END);
    record.set(Field::Rules, FieldValue::Json(json.to_owned()));
    record
}

async fn world(features: &[Feature]) -> World {
    let world = World::with_plan(plan(features)).await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

async fn one(world: &World, record: Record) -> Imported {
    import(&world.app, world.account.id, vec![record]).await.pop().unwrap()
}

async fn redirect(world: &World) -> Redirect {
    let (_, links) = stored(&world.app, world.account.id).await;
    links.into_iter().find_map(Link::into_redirect).unwrap()
}

#[tokio::test]
async fn d133_rules_of_records_are_judged_as_those_of_creations() {
    let world = world(&[Feature::Routing]).await;
    for (json, field) in [
        ("[", "rules"),
        (
            r#"[{"conditions": [{"type": "country", "in": ["XX"]}], "target_url": "https://a.example/"}]"#,
            "rules[0].conditions[0].in[0]",
        ),
        (r#"[{"conditions": [], "target_url": "https://go.example.com/x"}]"#, "rules[0].target_url"),
        (
            r#"[{"conditions": [], "target_url": "https://a.example/"}, {"conditions": [], "target_url": "https://a.example/"}]"#,
            "rules[0].conditions",
        ),
        // A rule for every visitor says so.
        (r#"[{"target_url": "https://a.example/"}]"#, "rules[0].conditions"),
        (r#"[{"conditions": null, "target_url": "https://a.example/"}]"#, "rules[0].conditions"),
        (
            r#"[{"conditions": [{"type": "country", "in": ["DE"], "not": null}], "target_url": "https://a.example/"}]"#,
            "rules[0].conditions[0].not",
        ),
    ] {
        match one(&world, with_rules(json)).await {
            Imported::Failed { code, message } => {
                assert_eq!(code.as_str(), "invalid_request");
                assert!(message.contains(&format!("`{field}` ")), "{message}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
    let without = self::world(&[]).await;
    match one(&without, with_rules(GERMANS)).await {
        Imported::Failed { code, .. } => assert_eq!(code.as_str(), "feature_not_available_on_current_plan"),
        other => panic!("not refused: {other:?}"),
    }
}

/// The same link keeps the ids of its rules, and its visitors their variants. Another link gets new ones.
#[tokio::test]
async fn d133_d134_a_redirect_moves_with_its_rules() {
    let (here, there) = (world(&[Feature::Routing]).await, world(&[Feature::Routing]).await);
    assert_eq!(one(&here, with_rules(GERMANS)).await, Imported::Created);
    let rules = redirect(&here).await.content.rules;
    assert_ne!(rules.split_key(), Some(SplitKey::default()));
    let record = exported(&here.app, here.account.id).await.remove(0);
    assert_eq!(one(&there, record.clone()).await, Imported::Created);
    let moved = redirect(&there).await;
    assert_eq!(moved.content.rules, rules);
    assert_eq!(one(&there, record.clone()).await, Imported::Unchanged);

    let caller = there.caller().await;
    signpost_app::links::delete(&there.app, &caller, moved.id.into(), &Precondition::None).await.unwrap();
    let mut other = record.clone();
    other.set(Field::Id, FieldValue::Null);
    assert_eq!(one(&there, other.clone()).await, Imported::Created);
    let copied = redirect(&there).await.content.rules;
    assert_ne!(copied.as_slice()[0].id, rules.as_slice()[0].id);
    assert_eq!(copied.split_key(), rules.split_key());
    assert_eq!(one(&there, other.clone()).await, Imported::Unchanged, "other ids are no difference");

    other.set(Field::Rules, FieldValue::Json(GERMANS.replace("DE", "AT")));
    assert_eq!(one(&there, other).await, Imported::Conflict { differing: vec![Field::Rules] });
}

#[tokio::test]
async fn d134_an_invalid_key_of_splits_is_refused() {
    let world = world(&[Feature::Routing]).await;
    let mut record = with_rules(GERMANS);
    record.set(Field::SplitKey, FieldValue::Text("0123".to_owned()));
    match one(&world, record).await {
        Imported::Failed { message, .. } => assert!(message.contains("`split_key` "), "{message}"),
        other => panic!("not refused: {other:?}"),
    }
}
