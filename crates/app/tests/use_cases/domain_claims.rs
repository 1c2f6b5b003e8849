//! Holders of hostnames: claims, proofs and the links (D22, D41, D43, R7, R8).

use std::time::Duration;

use signpost_domain::{Change, CustomDomainStatus, HostReference, RedirectRequest, Refusal};
use signpost_port_contracts::samples;

use crate::domain_owners::{HOST, Owner};
use crate::given_domains::{ACTIVE, becomes, given_domain};
use crate::world::{World, refusal};

const PERIOD: Duration = Duration::from_hours(72);

#[tokio::test]
async fn connecting_a_free_hostname_asks_dns_nothing() {
    let world = World::new().await;
    let (owner, other) = (Owner::first(&world).await, Owner::another(&world).await);
    world.memory.dns.set_unavailable(true);
    owner.connect("a.shop.com").await;
    owner.connect("a.shop.com").await;
    let failed = other.connect(HOST).await;
    world.memory.clock.advance(PERIOD);
    owner.connect(HOST).await;
    assert_eq!(other.status(failed.id).await, "failed");
    assert_eq!(world.memory.dns.all_lookups(), 0);
}

/// The refusal names the record of the caller.
#[tokio::test]
async fn d41_a_pending_claim_blocks_accounts_without_proof() {
    let world = World::new().await;
    let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await;
    squatter.publish_proof(HOST);
    assert_eq!(refusal(owner.try_to_connect(HOST).await), owner.taken(HOST));
    let name = owner.record(HOST).name();
    assert_eq!((world.memory.dns.lookups(&name), world.memory.dns.all_lookups()), (1, 1));
    assert_eq!(squatter.get(claim.id).await, claim);
    assert_eq!(owner.list().await, []);
}

#[tokio::test]
async fn r8_d41_a_proof_displaces_a_pending_claim() {
    let world = World::new().await;
    let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await;
    owner.publish_proof(HOST);
    let connected = owner.try_to_connect(HOST).await.unwrap();
    assert!(connected.is_new);
    assert_eq!(connected.domain.domain.status.as_str(), "pending");
    assert_eq!(squatter.status(claim.id).await, "failed");
    let asked = world.memory.dns.all_lookups();
    assert_eq!(refusal(squatter.try_to_verify(claim.id).await), squatter.taken(HOST));
    assert_eq!(world.memory.dns.all_lookups(), asked, "no look-up is needed");
    world.point_here(HOST);
    assert_eq!(owner.verify(connected.domain.domain.id).await, "active");
    assert_eq!(refusal(squatter.try_to_connect(HOST).await), squatter.taken(HOST));
}

#[tokio::test]
async fn r8_a_returning_squatter_is_displaced_again() {
    let world = World::new().await;
    let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await;
    owner.publish_proof(HOST);
    let id = owner.connect(HOST).await.id;
    world.memory.clock.advance(PERIOD);
    assert_eq!(squatter.try_to_connect(HOST).await.unwrap().domain.domain.id, claim.id);
    assert_eq!(refusal(owner.try_to_verify(id).await), owner.taken(HOST), "verifying displaces no holder");
    let again = owner.try_to_connect(HOST).await.unwrap();
    assert_eq!((again.domain.domain.id, again.is_new), (id, false));
    assert_eq!(squatter.status(claim.id).await, "failed");
}

/// DNS is not asked.
#[tokio::test]
async fn d41_a_proven_domain_is_never_displaced() {
    let world = World::new().await;
    let (holder, other) = (Owner::first(&world).await, Owner::another(&world).await);
    let expires_at = world.app.clock.now().plus(PERIOD);
    other.publish_proof(HOST);
    let domain =
        given_domain(&world.app, holder.account(), HOST, CustomDomainStatus::SslPending { expires_at }).await;
    assert_eq!(refusal(other.try_to_connect(HOST).await), other.taken(HOST));
    becomes(&world.app, &domain, ACTIVE).await;
    assert_eq!(refusal(other.try_to_connect(HOST).await), other.taken(HOST));
    assert_eq!(world.memory.dns.all_lookups(), 0);
    assert_eq!(holder.status(domain.id).await, "active");
}

#[tokio::test]
async fn d41_an_unanswered_look_up_changes_nothing() {
    let world = World::new().await;
    let (squatter, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let claim = squatter.connect(HOST).await;
    owner.publish_proof(HOST);
    world.memory.dns.set_name_unavailable(&owner.record(HOST).name(), true);
    assert_eq!(refusal(owner.try_to_connect(HOST).await), Refusal::DomainProviderUnavailable);
    assert_eq!((squatter.get(claim.id).await, owner.list().await), (claim, vec![]));
}

/// The claims may change during the look-up.
#[tokio::test]
async fn d41_a_look_up_is_judged_by_the_current_claims() {
    for has_proof in [true, false] {
        let world = World::new().await;
        let (holder, other) = (Owner::first(&world).await, Owner::another(&world).await);
        let claim = holder.connect(HOST).await;
        if has_proof {
            other.publish_proof(HOST);
        }
        let name = other.record(HOST).name();
        let held = world.memory.dns.hold(&name);
        let meanwhile = async {
            world.memory.dns.looked_up(&name, 1).await;
            if has_proof {
                becomes(&world.app, &claim, ACTIVE).await;
            } else {
                holder.delete(claim.id).await.unwrap();
            }
            drop(held);
        };
        let (connected, ()) = tokio::join!(other.try_to_connect(HOST), meanwhile);
        if has_proof {
            assert_eq!(refusal(connected), other.taken(HOST), "the hostname is proven by now");
            assert_eq!(holder.status(claim.id).await, "active");
        } else {
            assert!(connected.unwrap().is_new, "the hostname is free by now");
        }
    }
}

#[tokio::test]
async fn d43_a_domain_deleted_during_its_verification_is_not_found() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.connect(HOST).await;
    owner.publish_proof(HOST);
    world.point_here(HOST);
    let held = world.memory.dns.hold(HOST);
    let meanwhile = async {
        world.memory.dns.looked_up(HOST, 1).await;
        owner.delete(domain.id).await.unwrap();
        owner.connect(HOST).await;
        drop(held);
    };
    let (verified, ()) = tokio::join!(owner.try_to_verify(domain.id), meanwhile);
    assert_eq!(refusal(verified), Refusal::DomainNotFound);
    assert_eq!(owner.list().await.first().unwrap().status.as_str(), "pending");
}

/// Contract D22: the links never return under the new owner. R7: the former owner's records are still in
/// place.
#[tokio::test]
async fn d41_r7_the_former_owner_loses_its_links_with_the_hostname() {
    let world = World::new().await;
    let (former, owner) = (Owner::first(&world).await, Owner::another(&world).await);
    let domain = former.activate(HOST).await;
    let (root, deep) = (former.link(HOST, None).await, former.link(HOST, Some("sale")).await);
    becomes(&world.app, &domain, CustomDomainStatus::Failed).await;
    assert!(!world.resolves(HOST, None).await, "a failed domain serves nothing");
    assert_eq!(
        world.stored(root.id).await.unwrap().placement,
        root.placement,
        "its links keep their placement"
    );
    world.memory.clock.advance(Duration::from_secs(1));

    let claim = owner.connect(HOST).await;
    for (link, slug) in [(&root, None), (&deep, Some("sale"))] {
        let lost = world.stored(link.id).await.unwrap();
        assert_eq!((&lost.placement, lost.updated_at), (&samples::lost(slug), world.app.clock.now()));
    }
    assert_eq!(owner.verify(claim.id).await, "pending", "the former owner's record proves nothing here");
    owner.publish_proof(HOST);
    assert_eq!(owner.verify(claim.id).await, "active");
    assert!(!world.resolves(HOST, None).await && !world.resolves(HOST, Some("sale")).await);
    let patch =
        RedirectRequest { domain: Change::Set(HostReference::parse(HOST)), ..RedirectRequest::default() };
    assert_eq!(refusal(world.update(root.id, patch).await), Refusal::DomainNotActive);
    owner.link(HOST, None).await;
    assert!(world.resolves(HOST, None).await);
}

/// Contract D40: the account reclaims its failed domain by connecting or by verifying it.
#[tokio::test]
async fn d41_reclaiming_a_hostname_loses_the_links_of_interim_owners() {
    for by_verifying in [false, true] {
        let world = World::new().await;
        let (between, owner) = (Owner::first(&world).await, Owner::another(&world).await);
        let mine = owner.connect(HOST).await;
        world.memory.clock.advance(PERIOD);
        let theirs = between.activate(HOST).await;
        let link = between.link(HOST, Some("sale")).await;
        becomes(&world.app, &theirs, CustomDomainStatus::Failed).await;
        owner.publish_proof(HOST);
        if by_verifying {
            assert_eq!(owner.verify(mine.id).await, "active");
        } else {
            assert_eq!(owner.connect(HOST).await.id, mine.id);
        }
        assert_eq!(world.stored(link.id).await.unwrap().placement, samples::lost(Some("sale")));
    }
}
