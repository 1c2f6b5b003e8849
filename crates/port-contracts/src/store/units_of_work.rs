//! Units of work are atomic and isolated.

use std::time::Duration;

use signpost_app::ports::{Insertion, UnitOfWork};
use signpost_domain::{
    Account, CustomDomain, CustomDomainStatus, Group, Landing, Link, PageContent, Pixel, Redirect, Usage,
};
use tokio::sync::oneshot;

use super::domain_steps::{self, ACTIVE, NO_CHECKS};
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, KINDS, PLENTY, unit};
use super::page_values::described;
use super::stored;
use crate::samples;

cases! {
    $ units_of_work
    changes_are_visible_after_the_commit
    a_dropped_unit_of_work_is_rolled_back
    an_empty_unit_of_work_changes_nothing
    cancelling_a_task_rolls_its_unit_of_work_back
    cancelling_at_any_moment_leaves_all_or_nothing
    a_unit_of_work_sees_its_own_changes
    reads_do_not_wait_for_units_of_work
    committed_changes_survive_reopening
}

/// Longer than any call takes that does not wait, even on a busy machine, but shorter than the time limit of these stores.
const PROMPTLY: Duration = Duration::from_mins(1);

/// An account with one resource of each kind, and a change to all of them.
struct World {
    account: Account,
    group: Group,
    link: Redirect,
    second: Redirect,
    page: Landing,
    pixel: Pixel,
    domain: CustomDomain,
    new_account: Account,
    new_group: Group,
    new_link: Redirect,
    new_page: Landing,
    new_pixel: Pixel,
    new_domain: CustomDomain,
    /// The content of both pages.
    content: PageContent,
}

impl World {
    async fn new(store: &StoreUnderTest) -> Self {
        let account = samples::account();
        given::insert_account(store, &account).await.unwrap();
        let group = given::group(store, account.id).await;
        let link = given::link(store, account.id, samples::redirect("link")).await;
        let second = given::link(store, account.id, samples::redirect("second")).await;
        let page = given::link(store, account.id, samples::landing("page")).await;
        given::write_page(store, account.id, page.id, &described("As it was")).await;
        let pixel = given::pixel(store, account.id).await;
        let domain = domain_steps::domain(store, account.id, "a.example.net", ACTIVE).await;
        let new_link = Redirect { group_id: Some(group.id), ..samples::redirect("new") };
        let new_page = Landing { group_id: Some(group.id), ..samples::landing("new-page") };
        let (new_account, new_group) = (samples::account(), samples::group("New"));
        let new_domain = samples::custom_domain(account.id, "b.example.net");
        let (new_pixel, content) = (samples::pixel("New"), samples::page_content());
        Self {
            account,
            group,
            link,
            second,
            page,
            pixel,
            domain,
            new_account,
            new_group,
            new_link,
            new_page,
            new_pixel,
            new_domain,
            content,
        }
    }

    /// Makes every kind of change.
    async fn change(&self, work: &mut dyn UnitOfWork) -> Result<(), given::Decision> {
        let account = self.account.id;
        work.insert_account(&self.new_account).await?;
        assert!(work.insert_key(&samples::key(account).0).await?);
        work.insert_group(account, &self.new_group, PLENTY).await?;
        let new_links =
            [self.new_link.clone().into(), samples::redirect("link").into(), self.new_page.clone().into()];
        let inserted = work.insert_links(account, &new_links, PLENTY).await?;
        assert_eq!(inserted, [Insertion::Done, Insertion::AddressTaken, Insertion::Done]);
        let renamed = Group { name: samples::name("Renamed"), ..self.group.clone() };
        work.update_group(account, &renamed).await?;
        let before = work.lock_link(account, self.link.id.into()).await?.unwrap();
        work.update_link(account, &before, &self.moved_link().into()).await?;
        for page in [&self.page, &self.new_page] {
            work.lock_link(account, page.id.into()).await?.unwrap();
            work.write_page_content(account, page.id, &self.content).await?;
            assert_eq!(work.page_content(account, page.id).await?, self.content);
        }
        work.insert_pixel(account, &self.new_pixel, PLENTY).await?;
        assert!(work.delete_pixel(account, self.pixel.id).await?);
        work.insert_custom_domain(&self.new_domain, NO_CHECKS, PLENTY).await?;
        assert!(work.lock_custom_domain(account, self.domain.id).await?.is_some());
        work.update_custom_domain(&self.failed_domain(), NO_CHECKS).await?;
        let locked = work.lock_custom_domain(account, self.domain.id).await?;
        assert_eq!(locked.map(|locked| locked.domain), Some(self.failed_domain()));
        let assigned =
            work.assign_links(account, self.new_group.id, &[self.page.id.into()], samples::at(2)).await?;
        assert_eq!(assigned, Some(vec![self.assigned_page().into()]));
        let within = work.lock_group(account, self.new_group.id).await?.unwrap();
        assert_eq!((within.landings_count, within.redirects_count), (1, 0));
        let unassigned =
            work.unassign_links(account, self.group.id, &[self.new_page.id.into()], samples::at(3)).await?;
        assert_eq!(unassigned, Some(vec![self.unassigned_page().into()]));
        let second = self.second.id.into();
        assert_eq!(work.delete_links(account, &[second]).await?, [second]);
        assert!(work.set_plan(account, &samples::plan("free")).await?);
        assert!(work.set_suspended(account, Some(samples::at(1))).await?);
        Ok(())
    }

    fn failed_domain(&self) -> CustomDomain {
        CustomDomain { status: CustomDomainStatus::Failed, ..self.domain.clone() }
    }

    fn moved_link(&self) -> Redirect {
        Redirect { placement: samples::on_system("moved"), ..self.link.clone() }
    }

    fn assigned_page(&self) -> Landing {
        let mut page = self.page.clone().into_any();
        page.move_to_group(Some(self.new_group.id), samples::at(2));
        page.into_landing().expect("it is a page")
    }

    fn unassigned_page(&self) -> Landing {
        let mut page = self.new_page.clone().into_any();
        page.move_to_group(None, samples::at(3));
        page.into_landing().expect("it is a page")
    }

    async fn is_as_before(&self, store: &StoreUnderTest) {
        let account = self.account.id;
        assert_eq!(store.account(account).await.unwrap().as_ref(), Some(&self.account));
        assert_eq!(store.account(self.new_account.id).await.unwrap(), None);
        assert_eq!(store.keys(account).await.unwrap(), []);
        assert_eq!(stored::groups(store, account).await, std::slice::from_ref(&self.group));
        let links: [Link; 3] =
            [self.page.clone().into(), self.link.clone().into(), self.second.clone().into()];
        assert_eq!(stored::links(store, account).await, links);
        assert_eq!(stored::links_count(store, account).await, 3);
        stored::counters_are_right(store, account).await;
        assert_eq!(stored::pixels(store, account).await, std::slice::from_ref(&self.pixel));
        assert_eq!(stored::custom_domains(store, account).await, std::slice::from_ref(&self.domain));
        let content = stored::page_content(store, account, self.page.id).await;
        assert_eq!(content, Some(described("As it was")));
        assert_eq!(stored::page_content(store, account, self.new_page.id).await, None);
        for (slug, is_there) in [
            ("link", true),
            ("second", true),
            ("page", true),
            ("new", false),
            ("moved", false),
            ("new-page", false),
        ] {
            let published = stored::published(store, &samples::on_system(slug)).await;
            assert_eq!(published.is_some(), is_there, "{slug}");
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
        let new_group = Group { landings_count: 1, ..self.new_group.clone() };
        assert_eq!(stored::groups(store, account).await, [renamed, new_group]);
        let links: [Link; 4] = [
            self.assigned_page().into(),
            self.unassigned_page().into(),
            self.moved_link().into(),
            self.new_link.clone().into(),
        ];
        assert_eq!(stored::links(store, account).await, links);
        assert_eq!(stored::links_count(store, account).await, 4);
        stored::counters_are_right(store, account).await;
        assert_eq!(stored::pixels(store, account).await, std::slice::from_ref(&self.new_pixel));
        let domains = [self.failed_domain(), self.new_domain.clone()];
        assert_eq!(stored::custom_domains(store, account).await, domains);
        for page in [&self.page, &self.new_page] {
            let content = stored::page_content(store, account, page.id).await;
            assert_eq!(content.as_ref(), Some(&self.content));
        }
    }
}

pub(super) async fn changes_are_visible_after_the_commit(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let mut work = store.begin().await.unwrap();
    world.change(work.as_mut()).await.unwrap();
    world.is_as_before(&store).await;
    work.commit().await.unwrap();
    world.is_changed(&store).await;
}

pub(super) async fn a_dropped_unit_of_work_is_rolled_back(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    for _ in 0..3 {
        let mut work = store.begin().await.unwrap();
        world.change(work.as_mut()).await.unwrap();
        drop(work);
        world.is_as_before(&store).await;
    }
    // The same changes can be made again after the rollback.
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

/// Cancelling the task that owns a unit of work rolls it back, and the next one proceeds.
pub(super) async fn cancelling_a_task_rolls_its_unit_of_work_back(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    for _ in 0..5 {
        let (changed, is_changed) = oneshot::channel();
        let (task_store, account) = (store.clone(), world.account.id);
        let task = tokio::spawn(async move {
            let mut work = task_store.begin().await.unwrap();
            given::insert(work.as_mut(), account, &samples::redirect("cancelled"), PLENTY).await.unwrap();
            assert!(work.set_plan(account, &samples::plan("free")).await.unwrap());
            changed.send(()).unwrap();
            std::future::pending::<()>().await;
            work.commit().await.unwrap();
        });
        is_changed.await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
        let following = samples::redirect("next");
        let next = unit!(&store, async |work| {
            given::insert(work, account, &following, PLENTY).await?;
            Ok(work.set_plan(account, &world.account.plan).await?)
        });
        assert!(tokio::time::timeout(PROMPTLY, next).await.expect("the next one proceeds").unwrap());
        assert_eq!(stored::published(&store, &samples::on_system("cancelled")).await, None);
        assert_eq!(stored::redirect(&store, account, following.id).await.as_ref(), Some(&following));
        assert!(given::delete_link(&store, account, following.id).await);
    }
    world.is_as_before(&store).await;
}

/// Tasks are cancelled at random moments, between calls or within one. Each leaves all of its changes or none.
pub(super) async fn cancelling_at_any_moment_leaves_all_or_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    for round in 0..60_u32 {
        let task_store = store.clone();
        let task = tokio::spawn(async move {
            let pair = unit!(&task_store, async |work| {
                for (half, kind) in ["left", "right"].into_iter().zip(KINDS) {
                    let link = given::in_group(Some(group), kind, &format!("{half}-{round}"));
                    given::insert(work, account, &link, PLENTY).await?;
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
        // A commit in progress locks the group until it ends or rolls back.
        let mut barrier = store.begin().await.unwrap();
        barrier.lock_group(account, group).await.unwrap();
        drop(barrier);
        let mut there = 0;
        for half in ["left", "right"] {
            let placement = samples::on_system(&format!("{half}-{round}"));
            there += u32::from(stored::published(&store, &placement).await.is_some());
        }
        assert!(there == 2 || (is_cancelled && there == 0), "round {round}: {there} of 2");
    }
    let pairs = stored::links_count(&store, account).await / 2;
    assert_eq!(stored::group_counts(&store, account, group).await, [pairs, pairs]);
    stored::counters_are_right(&store, account).await;
}

pub(super) async fn a_unit_of_work_sees_its_own_changes(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let outcome = unit!(&store, async |work| {
            let (group, other) = (samples::group("Within"), samples::group("Other"));
            work.insert_group(account, &group, PLENTY).await?;
            work.insert_group(account, &other, PLENTY).await?;
            assert_eq!(work.lock_group(account, group.id).await?.as_ref(), Some(&group));
            let link = given::in_group(Some(group.id), kind, "within");
            given::insert(work, account, &link, PLENTY).await?;
            assert_eq!(work.lock_link(account, link.id()).await?.as_ref(), Some(&link));
            let mut after = link.clone();
            after.move_to_group(Some(other.id), samples::at(2));
            work.update_link(account, &link, &after).await?;
            assert_eq!(work.lock_link(account, link.id()).await?.as_ref(), Some(&after));
            after.move_to_group(Some(group.id), samples::at(3));
            let assigned = work.assign_links(account, group.id, &[link.id()], samples::at(3)).await?;
            assert_eq!(assigned, Some(vec![after.clone()]));
            assert_eq!(work.lock_link(account, link.id()).await?.as_ref(), Some(&after));
            assert!(work.delete_group(account, group.id, samples::at(5)).await?);
            assert_eq!(work.lock_group(account, group.id).await?, None);
            assert_eq!(work.assign_links(account, group.id, &[link.id()], samples::at(6)).await?, None);
            let mut ungrouped = after;
            ungrouped.move_to_group(None, samples::at(5));
            assert_eq!(work.lock_link(account, link.id()).await?, Some(ungrouped));
            assert_eq!(work.delete_links(account, &[link.id()]).await?, [link.id()]);
            assert_eq!(work.lock_link(account, link.id()).await?, None);
            assert!(work.delete_group(account, other.id, samples::at(7)).await?);
            Ok(())
        });
        outcome.await.unwrap();
        assert_eq!(store.usage(account).await.unwrap(), Some(Usage::default()));
    }
}

/// Reads do not wait for an open unit of work.
pub(super) async fn reads_do_not_wait_for_units_of_work(fresh: Fresh) {
    let store = fresh.store().await;
    let world = World::new(&store).await;
    let mut work = store.begin().await.unwrap();
    world.change(work.as_mut()).await.unwrap();
    for _ in 0..20 {
        tokio::time::timeout(PROMPTLY, world.is_as_before(&store)).await.expect("readers waited");
    }
    store.check().await.unwrap();
    drop(work);
}

/// Changes survive a restart once the commit has returned; uncommitted changes do not.
pub(super) async fn committed_changes_survive_reopening(fresh: Fresh) {
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
