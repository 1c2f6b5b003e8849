//! What programs with keys do is recorded (D78). Tests of the dashboard hold the same for people and commands.

use signpost_app::idempotency::Idempotency;
use signpost_app::ports::AuditScope;
use signpost_app::{groups, links};
use signpost_domain::id::RedirectKind;
use signpost_domain::{AuditAction, AuditActor, AuditEntry, Batch, ClientNetwork, PageLimit, Precondition};

use crate::domain_owners::{HOST, Owner};
use crate::domain_settings::root;
use crate::world::{HOME, World};

/// The entries of the account's keys, oldest first.
async fn recorded(world: &World) -> Vec<AuditEntry> {
    let scope = AuditScope::Account(world.account.id);
    let mut entries = world.app.store.audit_entries(scope, PageLimit::MAX, None).await.unwrap().items;
    entries.retain(|entry| entry.actor != AuditActor::Command);
    entries.reverse();
    entries
}

async fn actions(world: &World) -> Vec<(AuditAction, String)> {
    recorded(world).await.into_iter().map(|entry| (entry.action, entry.object)).collect()
}

/// A request that changes nothing, or is refused, is not recorded.
#[tokio::test]
async fn d78_a_domain_is_recorded_from_connecting_to_removal() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    owner.connect(HOST).await;
    assert_eq!(owner.verify(id).await, "pending", "there are no records");
    owner.publish_proof(HOST);
    world.point_here(HOST);
    assert_eq!(owner.verify(id).await, "active");
    assert_eq!(owner.verify(id).await, "active");
    for _ in 0..2 {
        owner.configure(id, root("https://example.com"), &Precondition::None).await.unwrap();
    }
    owner.configure(id, root(&format!("https://{HOST}")), &Precondition::None).await.unwrap_err();
    owner.delete(id).await.unwrap();
    owner.delete(id).await.unwrap_err();
    let named = format!("{id} {HOST}");
    let expected = [
        (AuditAction::DomainConnected, named.clone()),
        (AuditAction::DomainChecked, format!("{named}: active")),
        (AuditAction::DomainChanged, named.clone()),
        (AuditAction::DomainDeleted, named),
    ];
    assert_eq!(actions(&world).await, expected);
}

#[tokio::test]
async fn d78_deletions_by_a_key_are_recorded_with_key_and_network() {
    let world = World::new().await;
    let caller = world.caller().await;
    let kept = world.redirect("kept").await;
    let [first, second, third] =
        [world.redirect("a").await, world.redirect("b").await, world.redirect("c").await];
    links::delete::<RedirectKind>(&world.app, &caller, first.id.into(), &Precondition::None).await.unwrap();
    links::delete::<RedirectKind>(&world.app, &caller, first.id.into(), &Precondition::None)
        .await
        .unwrap_err();
    let ids = [second.id, first.id, third.id, second.id].map(|id| id.to_string()).to_vec();
    let ids = Batch::new(ids).unwrap();
    links::delete_many::<RedirectKind>(&world.app, &caller, &ids, Idempotency::disabled()).await.unwrap();
    links::delete_many::<RedirectKind>(&world.app, &caller, &ids, Idempotency::disabled()).await.unwrap();
    let group = world.group("Menus").await;
    groups::delete(&world.app, &caller, group.id.into(), &Precondition::None).await.unwrap();
    let entries = recorded(&world).await;
    let objects: Vec<&str> = entries.iter().map(|entry| entry.object.as_str()).collect();
    let (one, both, menus) =
        (first.id.to_string(), format!("{} {}", second.id, third.id), group.id.to_string());
    assert_eq!(objects, [one.as_str(), both.as_str(), menus.as_str()]);
    let network = Some(ClientNetwork::of(HOME.parse().unwrap()));
    for entry in &entries {
        assert!(matches!(entry.actor, AuditActor::Key(_)), "{entry:?}");
        assert_eq!((entry.network, entry.account_id), (network, Some(world.account.id)));
    }
    assert!(world.stored(kept.id).await.is_some());
}
