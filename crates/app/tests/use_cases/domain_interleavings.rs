//! Random interleavings of two accounts that compete for one hostname (R7).

use std::time::Duration;

use proptest::prelude::*;
use signpost_app::background::{CheckDomains, Job, MaintainDomains};
use signpost_domain::{CustomDomain, CustomDomainStatus, LinkId, Placement, Slug};
use signpost_port_contracts::samples;

use crate::domain_owners::{HOST, Owner};
use crate::given_domains::draft_on;
use crate::world::World;

/// An act of one of the two accounts or of the world.
#[derive(Debug, Clone)]
enum Act {
    Connect(usize),
    Verify(usize),
    Delete(usize),
    /// Creates a link with one of two slugs, or at the root.
    Link(usize, Option<&'static str>),
    /// The account adds its record to those that are there, or all of its records are removed.
    Publish(usize),
    Unpublish(usize),
    PointHere,
    PointElsewhere,
    DnsIsAway(bool),
    Pass(Duration),
    /// The background checks what is due.
    Check,
    /// The background stores what the deadlines have done.
    Expire,
}

fn act() -> impl Strategy<Value = Act> {
    let who = 0..2_usize;
    let slug = prop_oneof![Just(None), Just(Some("sale")), Just(Some("news"))];
    let time = prop_oneof![
        Just(Duration::from_secs(15)),
        Just(Duration::from_hours(1)),
        Just(Duration::from_hours(36)),
        Just(Duration::from_hours(72)),
    ];
    prop_oneof![
        5 => who.clone().prop_map(Act::Connect),
        5 => who.clone().prop_map(Act::Verify),
        2 => who.clone().prop_map(Act::Delete),
        4 => (who.clone(), slug).prop_map(|(who, slug)| Act::Link(who, slug)),
        3 => who.clone().prop_map(Act::Publish),
        1 => who.prop_map(Act::Unpublish),
        3 => Just(Act::PointHere),
        1 => Just(Act::PointElsewhere),
        1 => any::<bool>().prop_map(Act::DnsIsAway),
        3 => time.prop_map(Act::Pass),
        3 => Just(Act::Check),
        1 => Just(Act::Expire),
    ]
}

/// Single acts, and sometimes a sequence that chance would hardly find.
fn course() -> impl Strategy<Value = Vec<Act>> {
    let who = 0..2_usize;
    let into_service = |who| {
        let (connect, publish, verify) = (Act::Connect(who), Act::Publish(who), Act::Verify(who));
        let link = Act::Link(who, Some("sale"));
        vec![Act::DnsIsAway(false), publish, Act::PointHere, connect, verify, link]
    };
    let three_days = Act::Pass(Duration::from_hours(72));
    let neglect = vec![
        Act::DnsIsAway(false),
        Act::PointElsewhere,
        three_days.clone(),
        Act::Check,
        three_days,
        Act::Check,
    ];
    prop_oneof![
        20 => act().prop_map(|act| vec![act]),
        3 => who.prop_map(into_service),
        1 => Just(neglect),
    ]
}

/// The expected state of one account.
#[derive(Default)]
struct Known {
    /// Whether its record is there.
    is_published: bool,
    /// The links that it has created, until they were seen lost.
    links: Vec<(LinkId, Option<&'static str>)>,
    lost: Vec<LinkId>,
    was_active: bool,
}

struct Scene<'a> {
    world: &'a World,
    owners: [Owner<'a>; 2],
    known: [Known; 2],
}

impl Scene<'_> {
    async fn domain(&self, who: usize) -> Option<CustomDomain> {
        self.owners[who].list().await.pop()
    }

    async fn run(&mut self, act: &Act) {
        let Self { world, owners, known } = self;
        match *act {
            // A refusal is fine; the invariants are checked afterwards.
            Act::Connect(who) => drop(owners[who].try_to_connect(HOST).await),
            Act::Verify(who) => {
                if let Some(domain) = self.domain(who).await {
                    drop(self.owners[who].try_to_verify(domain.id).await);
                }
            }
            Act::Delete(who) => {
                if let Some(domain) = self.domain(who).await {
                    self.owners[who].delete(domain.id).await.unwrap();
                }
            }
            Act::Link(who, slug) => {
                if let Ok(link) = owners[who].try_to_link(draft_on(HOST, slug)).await {
                    known[who].links.push((link.id.into(), slug));
                }
            }
            Act::Publish(who) => self.publish(who, true),
            Act::Unpublish(who) => self.publish(who, false),
            Act::PointHere => world.point_here(HOST),
            Act::PointElsewhere => world.point_elsewhere(HOST),
            Act::DnsIsAway(is_away) => world.memory.dns.set_unavailable(is_away),
            Act::Pass(time) => world.memory.clock.advance(time),
            Act::Check => {
                CheckDomains::new(world.app.clone()).step().await.unwrap();
            }
            Act::Expire => {
                let job = MaintainDomains::new(world.app.store.clone(), world.memory.clock.clone());
                job.step().await.unwrap();
            }
        }
    }

    fn publish(&mut self, who: usize, is_published: bool) {
        self.known[who].is_published = is_published;
        let published = self.owners.iter().zip(&self.known).filter(|(_, known)| known.is_published);
        let values: Vec<_> = published.map(|(owner, _)| owner.record(HOST).value()).collect();
        self.world.memory.dns.set_texts(&self.owners[0].record(HOST).name(), values);
    }

    /// Checks the invariants after an act.
    async fn assert_holds(&mut self, act: &Act) {
        let domains = [self.domain(0).await, self.domain(1).await];
        let status = |who: usize| domains[who].as_ref().map(|domain| domain.status);
        let holders =
            [0, 1].into_iter().filter(|who| status(*who).is_some_and(CustomDomainStatus::holds_hostname));
        assert!(holders.count() <= 1, "the hostname is held by both");
        let is_active = |who: usize| status(who).is_some_and(CustomDomainStatus::serves_links);
        let is_certified = [0, 1].into_iter().any(is_active);
        assert_eq!(self.world.may_have_certificate(HOST).await, is_certified);
        for who in [0, 1] {
            if is_active(who) && !self.known[who].was_active {
                assert!(self.known[who].is_published, "active without its own record");
                assert!(matches!(act, Act::Verify(_) | Act::Check), "active without a question to DNS");
            }
            self.known[who].was_active = is_active(who);
            self.assert_links(who, domains[who].as_ref(), is_active(who), is_active(1 - who)).await;
        }
    }

    async fn assert_links(
        &mut self,
        who: usize,
        domain: Option<&CustomDomain>,
        is_active: bool,
        is_others: bool,
    ) {
        let account = self.owners[who].account();
        for (id, slug) in std::mem::take(&mut self.known[who].links) {
            let link = self.world.app.store.link(account, id).await.unwrap().unwrap();
            match link.placement {
                Placement::Custom { .. } => {
                    assert!(domain.is_some() && !is_others, "a link is left where its account has no domain");
                    assert_eq!(self.world.resolves(HOST, slug).await, is_active, "{slug:?}");
                    self.known[who].links.push((id, slug));
                }
                Placement::Lost { slug: kept } => {
                    assert_eq!(kept.as_ref().map(Slug::as_str), slug);
                    self.known[who].lost.push(id);
                }
                Placement::System { .. } => panic!("no act moves it there"),
            }
        }
        for id in &self.known[who].lost {
            let link = self.world.app.store.link(account, *id).await.unwrap().unwrap();
            assert_eq!(link.placement.address(), None, "a lost link has returned");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Contract D38 to D44: an active domain has its own account's record. Only active domains serve links and get
    /// certificates. Links of a former owner never return.
    #[test]
    fn r7_no_service_without_proof(courses in prop::collection::vec(course(), 10..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = World::new().await;
            let owners = [Owner::first(&world).await, Owner::another(&world).await];
            let mut scene = Scene { world: &world, owners, known: Default::default() };
            for act in courses.iter().flatten() {
                scene.run(act).await;
                scene.assert_holds(act).await;
            }
            // At the end, a proof wins the hostname unless the other account has proven it (R8).
            world.memory.dns.set_unavailable(false);
            world.point_here(HOST);
            let is_others = scene.known[0].was_active;
            scene.publish(1, true);
            let connected = scene.owners[1].try_to_connect(HOST).await;
            assert_eq!(connected.is_err(), is_others);
            if let Ok(connected) = connected {
                assert_eq!(scene.owners[1].verify(connected.domain.domain.id).await, "active");
                scene.assert_holds(&Act::Verify(1)).await;
                let known: Vec<_> = scene.known[0].links.drain(..).collect();
                assert!(known.is_empty(), "links of the other account were left: {known:?}");
                let hostname = samples::hostname(HOST);
                let holder = world.app.store.holder_of(&hostname).await.unwrap().unwrap();
                assert_eq!(holder.account_id, scene.owners[1].account());
            }
        });
    }
}
