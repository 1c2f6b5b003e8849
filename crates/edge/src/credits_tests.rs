//! The clicks that a node holds (D130).

use signpost_app::ports::{Insertion, LinkReads, Store, UnitOfWork};
use signpost_domain::{ClickLimit, Link, MaxClicks, Redirect, Revision};
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

use super::*;

/// A node beside others on one store, and a limited link.
struct World {
    memory: InMemory,
    app: Arc<Application>,
    link: LimitedLink,
}

impl World {
    async fn new(max: u64) -> Self {
        let memory = InMemory::default();
        let app = Arc::new(memory.application());
        let account = samples::account();
        let limit = ClickLimit::new(MaxClicks::new(max).unwrap(), 0, Revision::FIRST);
        let redirect: Redirect = samples::redirect("sale").with(|content| content.click_limit = Some(limit));
        let mut work = memory.store.begin().await.unwrap();
        work.insert_account(&account).await.unwrap();
        let inserted = work.insert_links(account.id, &[redirect.clone().into()], 9).await.unwrap();
        assert_eq!(inserted, [Insertion::Done]);
        commit(work).await;
        let key = LimitKey { link: redirect.id, max, since: 1 };
        let link = LimitedLink { key, account: account.id, address: redirect.placement.address() };
        Self { memory, app, link }
    }

    /// More links, each with this limit.
    async fn more(&self, number: usize, max: u64) -> Vec<LimitedLink> {
        let limit = ClickLimit::new(MaxClicks::new(max).unwrap(), 0, Revision::FIRST);
        let redirects: Vec<Redirect> = (0..number)
            .map(|number| samples::redirect(&format!("more-{number}")))
            .map(|redirect: Redirect| redirect.with(|content| content.click_limit = Some(limit)))
            .collect();
        let links: Vec<Link> = redirects.iter().cloned().map(Link::from).collect();
        let mut work = self.memory.store.begin().await.unwrap();
        work.insert_links(self.link.account, &links, 10_000).await.unwrap();
        commit(work).await;
        let of_link = |redirect: &Redirect| LimitedLink {
            key: LimitKey { link: redirect.id, max, since: 1 },
            account: self.link.account,
            address: redirect.placement.address(),
        };
        redirects.iter().map(of_link).collect()
    }

    fn node(&self) -> Arc<Credits> {
        Credits::new(Arc::clone(&self.app))
    }

    async fn left(&self) -> u64 {
        let found = self.memory.store.link(self.link.account, self.link.key.link.into()).await.unwrap();
        let redirect = found.unwrap().into_redirect().unwrap();
        redirect.content.click_limit.unwrap().left()
    }

    /// Gives the link another limit, of which the nodes do not know.
    async fn change(&self, limit: Option<ClickLimit>) {
        let (link, account) = (self.link.key.link, self.link.account);
        let mut work = self.memory.store.begin().await.unwrap();
        let before = work.lock_link(account, link.into()).await.unwrap().unwrap();
        let after = before.clone().into_redirect().unwrap().with(|content| content.click_limit = limit);
        work.update_link(account, &before, &after.into()).await.unwrap();
        commit(work).await;
    }

    /// Deletes the link, and stores it again with this limit.
    async fn restore(&self, limit: ClickLimit) {
        let (link, account) = (self.link.key.link, self.link.account);
        let mut work = self.memory.store.begin().await.unwrap();
        let stored = work.lock_link(account, link.into()).await.unwrap().unwrap();
        let deleted = work.delete_links(account, &[link.into()]).await.unwrap();
        assert_eq!(deleted.len(), 1);
        commit(work).await;
        let restored = stored.into_redirect().unwrap().with(|content| content.click_limit = Some(limit));
        let mut work = self.memory.store.begin().await.unwrap();
        let inserted = work.insert_links(account, &[restored.into()], 9).await.unwrap();
        assert_eq!(inserted, [Insertion::Done]);
        commit(work).await;
    }

    async fn use_one(&self, node: &Arc<Credits>) -> Credit {
        node.use_one(self.link.clone()).await
    }
}

#[expect(clippy::disallowed_methods, reason = "the test writes before anybody reads")]
async fn commit(work: Box<dyn UnitOfWork>) {
    work.commit().await.unwrap();
}

#[tokio::test]
async fn d130_nodes_use_exactly_the_limit_together() {
    for max in [1, 10, 500] {
        let world = World::new(max).await;
        let nodes = [world.node(), world.node(), world.node()];
        let mut visits = tokio::task::JoinSet::new();
        for node in nodes.iter().cycle().take(24) {
            let (node, link) = (Arc::clone(node), world.link.clone());
            visits.spawn(async move {
                let mut used = 0_u64;
                while node.use_one(link.clone()).await == Credit::Used {
                    used += 1;
                    tokio::task::yield_now().await;
                }
                used
            });
        }
        assert_eq!(visits.join_all().await.into_iter().sum::<u64>(), max);
        assert_eq!(world.left().await, 0);
    }
}

#[tokio::test]
async fn d130_a_node_asks_the_store_only_when_it_has_no_click() {
    let world = World::new(640).await;
    let node = world.node();
    assert_eq!(world.use_one(&node).await, Credit::Used);
    assert_eq!(world.left().await, 630);
    world.memory.store.faults().set_unavailable(true);
    for _ in 0..9 {
        assert!(node.has(&world.link.key));
        assert_eq!(world.use_one(&node).await, Credit::Used);
    }
    assert!(!node.has(&world.link.key));
    assert_eq!(world.use_one(&node).await, Credit::Unavailable);
    world.memory.store.faults().set_unavailable(false);
    assert_eq!(world.use_one(&node).await, Credit::Used);
}

#[tokio::test]
async fn d130_unused_clicks_go_back_after_five_idle_seconds() {
    let world = World::new(640).await;
    let node = world.node();
    assert_eq!(world.use_one(&node).await, Credit::Used);
    let now = Instant::now();
    node.give_back_idle(now).await;
    assert_eq!(world.left().await, 630);
    // The store is away when they are due: the node keeps them, and visitors may use them.
    world.memory.store.faults().set_unavailable(true);
    node.give_back_idle(now + IDLE_LIMIT).await;
    assert_eq!(world.use_one(&node).await, Credit::Used);
    world.memory.store.faults().set_unavailable(false);
    node.give_back_idle(Instant::now() + IDLE_LIMIT).await;
    assert_eq!(world.left().await, 638);
    assert!(!node.has(&world.link.key));
}

#[tokio::test]
async fn d130_unused_clicks_go_back_after_a_change_and_at_the_end() {
    let world = World::new(640).await;
    let node = world.node();
    let address = world.link.address.clone().unwrap();
    for (account, affected, is_back) in [
        (world.link.account, Affected::Addresses([address.clone()].into()), true),
        (world.link.account, Affected::Account, true),
        (world.link.account, Affected::Domain(samples::hostname("a.example.net")), false),
        (samples::id(), Affected::Addresses([address].into()), false),
    ] {
        assert_eq!(world.use_one(&node).await, Credit::Used);
        node.subscriber().changed(&VisibleChange { account, affected: affected.clone() }, Origin::Log);
        node.give_back_idle(Instant::now()).await;
        assert_eq!(!node.has(&world.link.key), is_back, "{affected:?}");
        node.give_back_all().await;
        assert!(!node.has(&world.link.key));
    }
    assert_eq!(world.left().await, 636);
}

/// Visits of an older limit do not get clicks of the one that is in force.
#[tokio::test]
async fn d130_clicks_belong_to_one_count() {
    let world = World::new(640).await;
    let node = world.node();
    let later = LimitKey { since: 2, ..world.link.key };
    let stale = LimitedLink { key: later, ..world.link.clone() };
    assert_eq!(node.use_one(stale).await, Credit::Unavailable);
    assert_eq!((world.left().await, node.has(&later)), (640, false));
}

/// A limit that was removed or replaced is not exhausted: visits of the older one must not be told that the link is at its end.
#[tokio::test]
async fn d128_only_the_count_that_a_node_knows_ends_its_link() {
    let world = World::new(1).await;
    let node = world.node();
    assert_eq!(world.use_one(&node).await, Credit::Used);
    assert_eq!(world.use_one(&node).await, Credit::Exhausted);
    let second = Revision::FIRST.next();
    let exhausted = ClickLimit::new(MaxClicks::new(1).unwrap(), 1, second);
    for limit in [None, Some(exhausted)] {
        world.change(limit).await;
        assert_eq!(world.use_one(&node).await, Credit::Unavailable, "{limit:?}");
    }
    let known = LimitKey { since: second.get(), ..world.link.key };
    let link = LimitedLink { key: known, ..world.link.clone() };
    assert_eq!(node.use_one(link).await, Credit::Exhausted);
    let missing = LimitKey { link: samples::id(), ..world.link.key };
    let link = LimitedLink { key: missing, ..world.link.clone() };
    assert_eq!(node.use_one(link).await, Credit::Unavailable);
}

/// A link that was deleted and restored with its id begins another count. Clicks of the dead one are neither used for it nor given back
/// into it.
#[tokio::test]
async fn d130_held_clicks_of_a_dead_link_are_not_those_of_the_restored_one() {
    let world = World::new(640).await;
    let node = world.node();
    assert_eq!(world.use_one(&node).await, Credit::Used);
    assert!(node.has(&world.link.key));
    let since = ClickLimit::name_of_count(samples::at(1_000), Revision::FIRST);
    world.restore(ClickLimit::new(MaxClicks::new(640).unwrap(), 0, since)).await;
    let key = LimitKey { since: since.get(), ..world.link.key };
    assert!(!node.has(&key));
    let restored = LimitedLink { key, ..world.link.clone() };
    assert_eq!(node.use_one(restored).await, Credit::Used);
    assert_eq!(world.left().await, 630);
    // Nine clicks of the new count come back.
    node.give_back_all().await;
    assert_eq!(world.left().await, 639);
}

async fn holding(world: &World, links: &[LimitedLink]) -> Arc<Credits> {
    let node = world.node();
    for link in links {
        assert_eq!(node.use_one(link.clone()).await, Credit::Used);
        assert!(node.has(&link.key));
    }
    node
}

fn number_held(node: &Credits, links: &[LimitedLink]) -> usize {
    links.iter().filter(|link| node.has(&link.key)).count()
}

/// A store that does not answer must not keep visits from the clicks of all links.
#[tokio::test]
async fn d130_a_round_ends_when_the_store_does_not_answer() {
    let world = World::new(640).await;
    let links = world.more(20, 640).await;
    let node = holding(&world, &links).await;
    world.memory.store.faults().fail_next(Step::Begin, Fault::Unavailable, 1);
    node.give_back_idle(Instant::now() + IDLE_LIMIT).await;
    assert_eq!(number_held(&node, &links), 20);
    // The commit of the first portion, of one link, has no known outcome: its clicks are lost, and the rest stays.
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    node.give_back_idle(Instant::now() + IDLE_LIMIT).await;
    assert_eq!(number_held(&node, &links), 19);
    node.give_back_idle(Instant::now() + IDLE_LIMIT).await;
    assert_eq!(number_held(&node, &links), 0);
}

/// A link that the store cannot read keeps its own clicks only.
#[tokio::test]
async fn d130_an_unreadable_link_does_not_keep_the_clicks_of_others() {
    let world = World::new(640).await;
    let links = world.more(7, 640).await;
    let node = holding(&world, &links).await;
    // Of portions of one, two and four links, the first two fail, and then the first link of the second.
    world.memory.store.faults().fail_next(Step::Write, Fault::Corrupt, 3);
    node.give_back_idle(Instant::now() + IDLE_LIMIT).await;
    assert_eq!(number_held(&node, &links), 2);
}

/// D130: a node that stops gives back many limits in a few units of work.
#[tokio::test]
async fn d130_clicks_of_many_links_go_back_when_a_node_stops() {
    let world = World::new(640).await;
    let links = world.more(300, 640).await;
    let node = holding(&world, &links).await;
    node.give_back_all().await;
    assert_eq!(number_held(&node, &links), 0);
    for link in links.iter().step_by(29) {
        let found = world.memory.store.link(link.account, link.key.link.into()).await.unwrap().unwrap();
        let limit = found.into_redirect().unwrap().content.click_limit.unwrap();
        assert_eq!(limit.left(), 639);
    }
}
