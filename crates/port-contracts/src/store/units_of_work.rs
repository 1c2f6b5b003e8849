//! Changes stand or fall together, and nobody else sees them before that.

use std::time::Duration;

use signpost_app::ports::UnitOfWork;
use signpost_domain::{Account, Address, Group, LinkFilter, Redirect, Site, Usage};
use tokio::sync::oneshot;

use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, PLENTY, unit};
use crate::samples;

/// A long time for a store that has nothing to wait for.
const PROMPTLY: Duration = Duration::from_secs(10);

/// An account with one of each thing, and a change to all of them.
struct World {
    account: Account,
    group: Group,
    link: Redirect,
    second: Redirect,
    new_account: Account,
    new_group: Group,
    new_link: Redirect,
}

impl World {
    async fn new(store: &StoreUnderTest) -> Self {
        let account = samples::account();
        given::insert_account(store, &account).await.unwrap();
        let group = given::group(store, account.id).await;
        let link = given::redirect(store, account.id, samples::redirect("link")).await;
        let second = given::redirect(store, account.id, samples::redirect("second")).await;
        let new_link = Redirect { group_id: Some(group.id), ..samples::redirect("new") };
        let (new_account, new_group) = (samples::account(), samples::group("New"));
        Self { account, group, link, second, new_account, new_group, new_link }
    }

    /// Every kind of change.
    async fn change(&self, work: &mut dyn UnitOfWork) -> Result<(), given::Decision> {
        let account = self.account.id;
        work.insert_account(&self.new_account).await?;
        assert!(work.insert_key(&samples::key(account).0).await?);
        work.insert_group(account, &self.new_group, PLENTY).await?;
        work.insert_redirect(account, &self.new_link, PLENTY).await?;
        let renamed = Group { name: samples::name("Renamed"), ..self.group.clone() };
        work.update_group(account, &renamed).await?;
        let before = work.lock_redirect(account, self.link.id).await?.unwrap();
        work.update_redirect(account, &before, &self.moved_link()).await?;
        assert!(work.delete_redirect(account, self.second.id).await?);
        assert!(work.set_plan(account, &samples::plan("free")).await?);
        assert!(work.set_suspended(account, Some(samples::at(1))).await?);
        Ok(())
    }

    fn moved_link(&self) -> Redirect {
        Redirect { placement: samples::on_system("moved"), ..self.link.clone() }
    }

    async fn is_as_before(&self, store: &StoreUnderTest) {
        let account = self.account.id;
        assert_eq!(store.account(account).await.unwrap().as_ref(), Some(&self.account));
        assert_eq!(store.account(self.new_account.id).await.unwrap(), None);
        assert_eq!(store.keys(account).await.unwrap(), []);
        let groups = store.groups(account, given::limit(100), None).await.unwrap().items;
        assert_eq!(groups, std::slice::from_ref(&self.group));
        let links = store.redirects(account, &LinkFilter::default(), given::limit(100), None).await.unwrap();
        assert_eq!(links.items, [self.second.clone(), self.link.clone()]);
        let usage = Usage { links: 2, groups: 1, ..Usage::default() };
        assert_eq!(store.usage(account).await.unwrap(), Some(usage));
        for (slug, is_there) in [("link", true), ("second", true), ("new", false), ("moved", false)] {
            let address = Address { site: Site::System, slug: Some(samples::slug(slug)) };
            assert_eq!(store.published_link(&address).await.unwrap().is_some(), is_there, "{slug}");
        }
    }

    async fn is_changed(&self, store: &StoreUnderTest) {
        let account = self.account.id;
        let changed = Account {
            plan: samples::plan("free"),
            suspended_at: Some(samples::at(1)),
            ..self.account.clone()
        };
        assert_eq!(store.account(account).await.unwrap(), Some(changed));
        assert_eq!(store.account(self.new_account.id).await.unwrap().as_ref(), Some(&self.new_account));
        assert_eq!(store.keys(account).await.unwrap().len(), 1);
        let renamed = Group { name: samples::name("Renamed"), redirects_count: 1, ..self.group.clone() };
        let groups = store.groups(account, given::limit(100), None).await.unwrap().items;
        assert_eq!(groups, [self.new_group.clone(), renamed]);
        let links = store.redirects(account, &LinkFilter::default(), given::limit(100), None).await.unwrap();
        assert_eq!(links.items, [self.new_link.clone(), self.moved_link()]);
        let usage = Usage { links: 2, groups: 2, ..Usage::default() };
        assert_eq!(store.usage(account).await.unwrap(), Some(usage));
    }
}

pub(super) async fn changes_are_seen_once_they_are_committed(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let mut work = store.begin().await.unwrap();
    world.change(work.as_mut()).await.unwrap();
    world.is_as_before(&store).await;
    work.commit().await.unwrap();
    world.is_changed(&store).await;
}

pub(super) async fn a_unit_of_work_that_is_dropped_is_undone(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    for _ in 0..3 {
        let mut work = store.begin().await.unwrap();
        world.change(work.as_mut()).await.unwrap();
        drop(work);
        world.is_as_before(&store).await;
    }
    // What was undone can be done.
    unit!(&store, async |work| world.change(work).await).await.unwrap();
    world.is_changed(&store).await;
}

pub(super) async fn an_empty_unit_of_work_changes_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    drop(store.begin().await.unwrap());
    store.begin().await.unwrap().commit().await.unwrap();
    world.is_as_before(&store).await;
}

/// A unit of work is undone when the task that owns it is cancelled, and the next one proceeds.
pub(super) async fn a_unit_of_work_of_a_cancelled_task_is_undone(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    for _ in 0..5 {
        let (changed, is_changed) = oneshot::channel();
        let (task_store, account) = (store.clone(), world.account.id);
        let task = tokio::spawn(async move {
            let mut work = task_store.begin().await.unwrap();
            work.insert_redirect(account, &samples::redirect("cancelled"), PLENTY).await.unwrap();
            assert!(work.set_plan(account, &samples::plan("free")).await.unwrap());
            changed.send(()).unwrap();
            std::future::pending::<()>().await;
            work.commit().await.unwrap();
        });
        is_changed.await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        let next = unit!(&store, async |work| {
            work.insert_redirect(account, &samples::redirect("next"), PLENTY).await?;
            Ok(work.set_plan(account, &world.account.plan).await?)
        });
        assert!(tokio::time::timeout(PROMPTLY, next).await.expect("the next one proceeds").unwrap());
        let links = store.redirects(account, &LinkFilter::default(), given::limit(1), None).await.unwrap();
        assert_eq!(links.items[0].placement, samples::on_system("next"));
        assert!(given::delete_redirect(&store, account, &links.items[0]).await);
    }
    world.is_as_before(&store).await;
}

/// Tasks that are cancelled at any moment, between two calls or within one, leave all or nothing behind.
pub(super) async fn cancelling_at_any_moment_leaves_all_or_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await.id;
    for round in 0..60_u32 {
        let task_store = store.clone();
        let task = tokio::spawn(async move {
            let pair = unit!(&task_store, async |work| {
                for half in ["left", "right"] {
                    let link =
                        Redirect { group_id: Some(group), ..samples::redirect(&format!("{half}-{round}")) };
                    work.insert_redirect(account, &link, PLENTY).await?;
                }
                Ok(())
            });
            pair.await.unwrap();
        });
        for _ in 0..round * 3 {
            tokio::task::yield_now().await;
        }
        task.abort();
        let is_cancelled = task.await.is_err_and(|error| error.is_cancelled());
        // A commit that was under way holds the group until it is through, or undone.
        let mut barrier = store.begin().await.unwrap();
        barrier.lock_group(account, group).await.unwrap();
        drop(barrier);
        let both = ["left", "right"].map(|half| samples::slug(&format!("{half}-{round}")));
        let mut there = 0;
        for slug in both {
            let address = Address { site: Site::System, slug: Some(slug) };
            there += u32::from(store.published_link(&address).await.unwrap().is_some());
        }
        assert!(there == 2 || (is_cancelled && there == 0), "round {round}: {there} of 2");
    }
    let links = store.usage(account).await.unwrap().unwrap().links;
    assert_eq!(links % 2, 0);
    assert_eq!(store.group(account, group).await.unwrap().unwrap().redirects_count, links);
}

/// A unit of work sees its own changes.
pub(super) async fn a_unit_of_work_sees_its_own_changes(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let outcome = unit!(&store, async |work| {
        let group = samples::group("Within");
        work.insert_group(account, &group, PLENTY).await?;
        assert_eq!(work.lock_group(account, group.id).await?.as_ref(), Some(&group));
        let link = Redirect { group_id: Some(group.id), ..samples::redirect("within") };
        work.insert_redirect(account, &link, PLENTY).await?;
        assert_eq!(work.lock_redirect(account, link.id).await?.as_ref(), Some(&link));
        let after = Redirect { name: samples::name("Renamed"), ..link.clone() };
        work.update_redirect(account, &link, &after).await?;
        assert_eq!(work.lock_redirect(account, link.id).await?, Some(after));
        assert!(work.delete_group(account, group.id, samples::at(5)).await?);
        assert_eq!(work.lock_group(account, group.id).await?, None);
        let ungrouped = work.lock_redirect(account, link.id).await?.unwrap();
        assert_eq!((ungrouped.group_id, ungrouped.updated_at), (None, samples::at(5)));
        assert!(work.delete_redirect(account, link.id).await?);
        assert_eq!(work.lock_redirect(account, link.id).await?, None);
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.usage(account).await.unwrap(), Some(Usage::default()));
}

/// Readers need no turn.
pub(super) async fn reading_goes_on_beside_a_unit_of_work(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let mut work = store.begin().await.unwrap();
    world.change(work.as_mut()).await.unwrap();
    for _ in 0..20 {
        tokio::time::timeout(PROMPTLY, world.is_as_before(&store)).await.expect("readers do not wait");
    }
    store.check().await.unwrap();
    drop(work);
}

/// Once a commit has returned, the changes last; what was not committed is not there.
pub(super) async fn what_was_committed_is_there_when_the_store_is_opened_again(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let mut work = store.begin().await.unwrap();
    world.change(work.as_mut()).await.unwrap();
    drop(work);
    let store = store.reopened().await;
    world.is_as_before(&store).await;
    unit!(&store, async |work| world.change(work).await).await.unwrap();
    let store = store.reopened().await;
    world.is_changed(&store).await;
    store.check().await.unwrap();
}
