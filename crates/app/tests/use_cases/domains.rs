//! The life cycle of custom domains (D37 to D40, D43, D44).

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{CheckDomains, Job};
use signpost_app::domains;
use signpost_domain::{
    CustomDomainStatus, DnsRecordType, Edge, Feature, Plan, PlanLimits, PlanResource, Refusal, SystemDomain,
    ViolationCode,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::domain_owners::{HOST, Owner};
use crate::given_domains::{draft_on, given_domain};
use crate::world::{World, plan, refusal, violation, violations};

/// Contract "States and transitions".
const VERIFICATION_PERIOD: Duration = Duration::from_hours(72);

const MILLISECOND: Duration = Duration::from_millis(1);

/// Contract "States and transitions", D43 and D44: as owner and visitors see it.
#[tokio::test]
async fn d39_a_domain_lives_from_connecting_to_removal() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let connected = owner.try_to_connect(" Links.Shop.COM. ").await.unwrap();
    let domain = connected.domain.domain;
    assert!(connected.is_new);
    assert_eq!((domain.hostname.as_str(), domain.status.as_str()), (HOST, "pending"));
    assert_eq!(domain.status.expires_at(), Some(world.app.clock.now().plus(VERIFICATION_PERIOD)));
    let types: Vec<_> =
        connected.domain.dns_instructions.iter().map(|record| record.instruction.record_type).collect();
    assert_eq!(types, [DnsRecordType::Cname, DnsRecordType::Txt]);
    let shown = domains::get(&world.app, &owner.caller, domain.id.into()).await.unwrap();
    assert_eq!(shown.dns_instructions, connected.domain.dns_instructions);

    assert_eq!(owner.verify(domain.id).await, "pending", "there are no records");
    owner.publish_proof(HOST);
    assert_eq!(owner.verify(domain.id).await, "pending", "it does not point here");
    world.point_here(HOST);
    assert_eq!(owner.verify(domain.id).await, "active");
    assert_eq!(owner.get(domain.id).await.status.expires_at(), None);
    assert!(world.may_have_certificate(HOST).await);

    let (root, deep) = (owner.link(HOST, None).await, owner.link(HOST, Some("sale")).await);
    assert!(world.resolves(HOST, None).await && world.resolves(HOST, Some("sale")).await);

    assert_eq!(owner.delete(domain.id).await.unwrap(), domain.id);
    assert!(!world.resolves(HOST, None).await && !world.resolves(HOST, Some("sale")).await);
    assert!(!world.may_have_certificate(HOST).await);
    assert_eq!((owner.list().await, world.usage().await.domains), (vec![], 0));
    for (link, slug) in [(root, None), (deep, Some("sale"))] {
        let lost = world.stored(link.id).await.unwrap();
        assert_eq!(lost.placement, samples::lost(slug));
    }
}

/// Contract D39: pointing at the edge without the record proves nothing.
#[tokio::test]
async fn d39_pointing_to_the_edge_proves_nothing() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    world.point_here(HOST);
    assert_eq!(owner.verify(id).await, "pending");
    let other = Owner::another(&world).await;
    other.publish_proof(HOST);
    assert_eq!(owner.verify(id).await, "pending", "another account's record proves nothing");
}

/// The addresses of the edge are those that DNS reports for the edge hostname.
#[tokio::test]
async fn d39_addresses_count_if_all_are_the_edges() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let id = owner.connect(HOST).await.id;
    owner.publish_proof(HOST);
    let dns = &world.memory.dns;
    let by_dns = "198.51.100.7".parse().unwrap();
    dns.set_addresses(HOST, ["192.0.2.1".parse().unwrap(), by_dns]);
    assert_eq!(owner.verify(id).await, "pending");
    dns.set_name_unavailable("edge.example.net", true);
    assert_eq!(refusal(owner.try_to_verify(id).await), Refusal::DomainProviderUnavailable);
    dns.set_name_unavailable("edge.example.net", false);
    dns.set_addresses("edge.example.net", [by_dns]);
    assert_eq!(owner.verify(id).await, "active");
}

/// R22: exact to the millisecond, before and after the background job.
#[tokio::test]
async fn d39_r22_a_claim_ends_at_its_deadline_on_every_read_path() {
    let world = World::new().await;
    let (owner, other) = (Owner::first(&world).await, Owner::another(&world).await);
    let domain = owner.connect(HOST).await;
    let deadline = domain.status.deadline().unwrap();
    for (now, status) in [(deadline.minus(MILLISECOND), "pending"), (deadline, "failed")] {
        world.memory.clock.set(now);
        assert_eq!(owner.status(domain.id).await, status);
        assert_eq!(owner.list().await.first().unwrap().status.as_str(), status);
        let draft = draft_on(HOST, None);
        assert_eq!(refusal(owner.try_to_link(draft).await), Refusal::DomainNotActive);
        let is_taken = other.try_to_connect(HOST).await.is_err();
        assert_eq!(is_taken, status == "pending");
    }
    world.memory.clock.set(deadline.plus(MILLISECOND));
    assert_eq!(owner.status(domain.id).await, "failed");
    assert_eq!(refusal(owner.try_to_verify(domain.id).await), owner.taken(HOST));
    assert_eq!(owner.delete(domain.id).await.unwrap(), domain.id, "and it can be deleted");
}

/// It may get a certificate until then.
#[tokio::test]
async fn d39_r22_an_ssl_pending_domain_fails_at_its_deadline() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let expires_at = world.app.clock.now().plus(Duration::from_hours(72));
    let status = CustomDomainStatus::SslPending { expires_at };
    let domain = crate::given_domains::given_domain(&world.app, owner.account(), HOST, status).await;
    world.memory.clock.set(expires_at.minus(MILLISECOND));
    assert_eq!(
        (owner.status(domain.id).await, world.may_have_certificate(HOST).await),
        ("ssl_pending", true)
    );
    world.memory.clock.set(expires_at);
    assert_eq!((owner.status(domain.id).await, world.may_have_certificate(HOST).await), ("failed", false));
    world.memory.clock.set(expires_at.minus(MILLISECOND));
    assert_eq!(owner.verify(domain.id).await, "active", "a proxy terminates TLS");
    assert_eq!(world.memory.dns.all_lookups(), 0, "certificates need no look-up");
}

#[tokio::test]
async fn d39_only_proven_hostnames_get_certificates() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    owner.connect("pending.shop.com").await;
    owner.activate(HOST).await;
    assert!(world.may_have_certificate("LINKS.shop.com.").await);
    for other in ["pending.shop.com", "unknown.shop.com", "go.example.com", "", "a b", "links.shop.com:443"] {
        assert!(!world.may_have_certificate(other).await, "{other}");
    }
}

/// Contract D37: an account may have connected the name before it became one of the installation's own.
#[tokio::test]
async fn d39_own_names_get_no_certificate_as_custom_domains() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.activate(HOST).await;
    owner.connect("pending.shop.com").await;
    let [own, pending] = [HOST, "pending.shop.com"].map(samples::hostname);
    let aliases = vec![own.clone(), pending.clone()];
    let system = SystemDomain::new("https://go.example.com", aliases).unwrap();
    let edge = Edge { hostname: Some(own.clone()), ..world.memory.edge.clone() };
    let as_alias = InMemory { system, ..world.memory.clone() }.application();
    let as_edge = InMemory { edge, ..world.memory.clone() }.application();
    for (app, held) in [(&*world.app, vec![]), (&as_alias, vec![&own, &pending]), (&as_edge, vec![&own])] {
        assert_eq!(domains::certifiable_hostname(app, HOST).is_some(), held.is_empty());
        assert_eq!(domains::own_names_held(app).await.unwrap(), held);
    }
    world.memory.clock.advance(VERIFICATION_PERIOD);
    owner.delete(domain.id).await.unwrap();
    for app in [&as_alias, &as_edge] {
        assert!(
            domains::own_names_held(app).await.unwrap().is_empty(),
            "contract D39: what has failed holds nothing"
        );
    }
}

/// A failed domain becomes pending again.
#[tokio::test]
async fn d40_connecting_again_gives_the_same_domain() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let first = owner.connect(HOST).await;
    world.memory.clock.advance(Duration::from_hours(1));
    let again = owner.try_to_connect(HOST).await.unwrap();
    assert_eq!((again.domain.domain, again.is_new), (first.clone(), false));
    owner.publish_proof(HOST);
    world.point_here(HOST);
    assert_eq!(owner.verify(first.id).await, "active");
    assert_eq!(owner.connect(HOST).await.status.as_str(), "active");

    let failing = owner.connect("late.shop.com").await;
    world.memory.clock.advance(VERIFICATION_PERIOD);
    let again = owner.try_to_connect("late.shop.com").await.unwrap();
    let expires_at = world.app.clock.now().plus(VERIFICATION_PERIOD);
    let status = CustomDomainStatus::Pending { expires_at };
    let history = again.domain.domain.history.clone();
    assert_eq!(history.changes().count(), 3, "connected, failed, connected again");
    let (updated_at, revision) = (world.app.clock.now(), failing.revision.next().next());
    let expected = signpost_domain::CustomDomain { status, history, updated_at, revision, ..failing };
    assert_eq!((again.domain.domain, again.is_new), (expected, false));
    assert_eq!(world.usage().await.domains, 2);
}

/// The same answer of DNS may prove it.
#[tokio::test]
async fn d39_verifying_a_failed_domain_claims_it_again() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let domain = owner.connect(HOST).await;
    world.memory.clock.advance(VERIFICATION_PERIOD);
    world.memory.dns.set_unavailable(true);
    assert_eq!(refusal(owner.try_to_verify(domain.id).await), Refusal::DomainProviderUnavailable);
    assert_eq!(owner.status(domain.id).await, "failed", "nothing has changed");
    world.memory.dns.set_unavailable(false);
    assert_eq!(owner.verify(domain.id).await, "pending");
    let expires_at = owner.get(domain.id).await.status.expires_at();
    assert_eq!(expires_at, Some(world.app.clock.now().plus(VERIFICATION_PERIOD)));
    world.memory.clock.advance(VERIFICATION_PERIOD);
    owner.publish_proof(HOST);
    world.point_here(HOST);
    assert_eq!(owner.verify(domain.id).await, "active");
}

/// It does not matter which look-up failed.
#[tokio::test]
async fn d42_r21_an_unanswered_verification_changes_nothing() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let pending = owner.connect("a.shop.com").await;
    let active = owner.activate(HOST).await;
    owner.publish_proof("a.shop.com");
    for name in ["a.shop.com", "_signpost.a.shop.com", HOST] {
        world.memory.dns.set_name_unavailable(name, true);
    }
    for domain in [&pending, &active] {
        assert_eq!(refusal(owner.try_to_verify(domain.id).await), Refusal::DomainProviderUnavailable);
        assert_eq!(owner.get(domain.id).await, *domain);
    }
    world.memory.dns.set_name_unavailable("a.shop.com", false);
    assert_eq!(refusal(owner.try_to_verify(pending.id).await), Refusal::DomainProviderUnavailable);
}

/// Contract D37: the hostname can be connected. No record can prove it, so DNS is not asked.
#[tokio::test]
async fn d38_d65_a_hostname_too_long_for_its_record_stays_unproven() {
    let world = World::new().await;
    let owner = Owner::first(&world).await;
    let label = "a".repeat(60);
    let host = format!("{label}.{label}.{label}.{}.com", "a".repeat(61));
    assert_eq!(host.len(), 248);
    let id = owner.connect(&host).await.id;
    world.point_here(&host);
    assert_eq!(owner.verify(id).await, "pending");
    world.memory.clock.advance(Duration::from_hours(1));
    CheckDomains::new(Arc::clone(&world.app)).step().await.unwrap();
    world.memory.dns.set_unavailable(true);
    let verified = owner.try_to_verify(id).await.unwrap();
    assert_eq!(verified.domain.status.as_str(), "pending", "no look-up is needed");
    let checked_at = verified.domain.observation.map(|observation| observation.checked_at);
    assert_eq!((checked_at, world.memory.dns.all_lookups()), (Some(world.app.clock.now()), 0));
    let records: Vec<_> =
        verified.dns_instructions.iter().map(|record| record.finding.status.as_str()).collect();
    assert_eq!(records, ["unknown", "missing"]);
}

/// Own names are refused first of all.
#[tokio::test]
async fn d37_hostnames_are_judged_before_the_plan() {
    let world = World::with_plan(plan(&[])).await;
    let owner = Owner::first(&world).await;
    let expected = [violation("hostname", ViolationCode::InvalidFormat)];
    assert_eq!(violations(owner.try_to_connect("192.0.2.1").await), expected);
    let expected = [violation("hostname", ViolationCode::InvalidValue)];
    assert_eq!(violations(owner.try_to_connect("co.uk").await), expected);
    for ours in ["go.example.com", "a.go.example.com", "edge.example.net"] {
        assert_eq!(refusal(owner.try_to_connect(ours).await), Refusal::HostnameIsSystemDomain);
    }
    let missing = Refusal::FeatureNotAvailable(Feature::CustomDomains);
    assert_eq!(refusal(owner.try_to_connect(HOST).await), missing);
}

#[tokio::test]
async fn d61_without_an_edge_no_hostname_is_connected() {
    let world = World::new().await;
    let connected = Owner::first(&world).await.connect(HOST).await;
    let unset = Edge { hostname: None, addresses: BTreeSet::new() };
    let by_address = Edge { hostname: None, addresses: world.memory.edge.addresses.clone() };
    let by_name = Edge { hostname: world.memory.edge.hostname.clone(), addresses: BTreeSet::new() };
    for (edge, is_offered) in [(unset, false), (by_address, false), (by_name, true)] {
        let memory = InMemory { edge, ..world.memory.clone() };
        let app = Arc::new(memory.application());
        let world = World { memory, app, account: world.account.clone(), secret: world.secret.clone() };
        let owner = Owner::first(&world).await;
        assert_eq!(owner.try_to_connect("new.shop.com").await.is_ok(), is_offered);
        if !is_offered {
            assert_eq!(refusal(owner.try_to_connect("new.shop.com").await), Refusal::DomainsNotOffered);
        }
        assert_eq!(owner.connect(HOST).await.id, connected.id, "D40: what is held stays");
    }
}

fn plan_for(features: &[Feature], domains: u64) -> Plan {
    let tailored = plan(features);
    Plan { limits: PlanLimits { domains, ..tailored.limits }, ..tailored }
}

/// Failed domains count. A connected domain may be connected again at the limit.
#[tokio::test]
async fn d15_domains_never_exceed_the_limit() {
    let world = World::with_plan(plan_for(&[Feature::CustomDomains], 2)).await;
    let owner = Owner::first(&world).await;
    let first = owner.connect("a.shop.com").await;
    owner.connect("b.shop.com").await;
    world.memory.clock.advance(VERIFICATION_PERIOD);
    let reached = Refusal::PlanLimitReached { resource: PlanResource::Domains, limit: 2 };
    assert_eq!(refusal(owner.try_to_connect(HOST).await), reached);
    assert_eq!(owner.connect("a.shop.com").await.id, first.id);
    assert_eq!(world.usage().await.domains, 2);
    owner.delete(first.id).await.unwrap();
    owner.connect(HOST).await;
    assert_eq!(refusal(owner.try_to_connect("a.shop.com").await), reached);
}

/// An account without the feature keeps its domains (D40) and may not reconnect failed ones.
#[tokio::test]
async fn d15_only_new_connections_need_the_feature() {
    let memory = InMemory::default();
    let mut without = memory.clone();
    without.plans = without.plans.with(Plan { name: samples::plan("agency"), ..plan_for(&[], 0) });
    let mut world = World::on(memory, "agency").await;
    let domain = Owner::first(&world).await.activate(HOST).await;
    world.app = Arc::new(without.application());
    let owner = Owner::first(&world).await;
    let missing = Refusal::FeatureNotAvailable(Feature::CustomDomains);
    let failed = given_domain(&world.app, owner.account(), "b.shop.com", CustomDomainStatus::Failed).await;
    for host in ["a.shop.com", "b.shop.com"] {
        assert_eq!(refusal(owner.try_to_connect(host).await), missing, "{host}");
    }
    owner.delete(failed.id).await.unwrap();
    assert_eq!(owner.connect(HOST).await, domain);
    assert_eq!(owner.list().await, std::slice::from_ref(&domain));
    assert_eq!(owner.verify(domain.id).await, "active");
    world.memory.clock.advance(Duration::from_hours(1));
    owner.delete(domain.id).await.unwrap();
    assert_eq!(owner.list().await, []);
}

#[tokio::test]
async fn d2_verifying_a_missing_or_foreign_domain_asks_dns_nothing() {
    let world = World::new().await;
    let domain = Owner::first(&world).await.connect(HOST).await;
    let stranger = Owner::another(&world).await;
    for id in [samples::id(), domain.id] {
        assert_eq!(refusal(stranger.try_to_verify(id).await), Refusal::DomainNotFound);
    }
    assert_eq!(world.memory.dns.all_lookups(), 0);
}
