//! Concurrent units of work on the same rows: those in lock order wait for each other, and the others are retried.

use std::sync::Arc;

use signpost_app::ports::{
    AccountReads, GroupReads, Insertion, LinksOf, QuotaStore, Store, StoreError, UnitOfWork, UpdateLinkError,
};
use signpost_domain::{
    AccountId, ExternalId, GroupId, Link, LinkId, LinkKind, QuotaDecision, Redirect, RequestBudget,
};
use signpost_port_contracts::samples;
use signpost_postgres::PostgresStore;
use signpost_test_servers::postgres::PostgresDatabase;
use tokio::sync::Barrier;

use super::database::{PLENTY, account, group, migrated, open, until_one_waits, until_they_wait};

/// The number of links that two concurrent units of work share, of alternating kinds.
const LINKS: usize = 200;

/// How often they meet. With different lock orders, every second meeting would deadlock.
const MEETINGS: usize = 20;

/// How many units of work move links concurrently.
const MOVERS: usize = 6;

/// The hostname of all links of a crowd.
const HOST: &str = "go.example.com";

/// An account with two groups, and many links in the first group and on one domain. Ids and kinds are in different orders.
struct Crowd {
    database: PostgresDatabase,
    store: Arc<PostgresStore>,
    account: AccountId,
    groups: [GroupId; 2],
    links: Vec<LinkId>,
}

impl Crowd {
    async fn new() -> Self {
        let database = migrated().await;
        let store = Arc::new(open(&database).await);
        let account = account(&store).await;
        let groups = [group(&store, account).await.id, group(&store, account).await.id];
        let kinds = [LinkKind::Redirect, LinkKind::Landing].into_iter().cycle();
        let link = |(number, kind): (usize, LinkKind)| {
            let slug = format!("link-{number}");
            let mut link = samples::link_at(kind, samples::on_custom(HOST, Some(&slug)));
            link.move_to_group(Some(groups[0]), samples::at(0));
            link
        };
        let links: Vec<Link> = (0..LINKS).zip(kinds).map(link).collect();
        let mut work = store.begin().await.unwrap();
        work.insert_links(account, &links, PLENTY).await.unwrap();
        work.commit().await.unwrap();
        let links = links.iter().map(Link::id).collect();
        Self { database, store, account, groups, links }
    }

    #[track_caller]
    fn assert_no_deadlock(&self) {
        let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
        assert_eq!(self.database.query(deadlocks).trim(), "0");
    }
}

/// What a unit of work does with all links.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Act {
    /// Puts them into the group with this index.
    Assign(usize),
    /// Takes them out of the first group.
    Unassign,
    /// Takes some out of the first group, as its deletion does.
    Ungroup,
    DeleteGroup,
    DeleteNamed,
    DeleteSome,
    DeleteAccount,
    /// Takes their addresses away, as the removal of their domain does.
    Lose,
}

impl Act {
    async fn run(
        self,
        work: &mut dyn UnitOfWork,
        account: AccountId,
        groups: [GroupId; 2],
        links: &[LinkId],
    ) -> Result<(), StoreError> {
        let now = samples::at(1);
        match self {
            Self::Assign(number) => work.assign_links(account, groups[number], links, now).await.map(drop),
            Self::Unassign => work.unassign_links(account, groups[0], links, now).await.map(drop),
            Self::Ungroup => work.ungroup_some_links(account, groups[0], 1_000, now).await.map(drop),
            Self::DeleteGroup => work.delete_group(account, groups[0], now).await.map(drop),
            Self::DeleteNamed => work.delete_links(account, links).await.map(drop),
            Self::DeleteSome => work.delete_some_links(account, 1_000).await.map(drop),
            Self::DeleteAccount => work.delete_account(account).await.map(drop),
            Self::Lose => {
                let (whose, host) = (LinksOf::Account(account), samples::hostname(HOST));
                work.lose_some_links(whose, &host, 1_000, now).await.map(drop)
            }
        }
    }
}

/// Deletions are rolled back, so that the next meeting has links to work on.
async fn meet(crowd: &Crowd, acts: [Act; 2]) {
    let barrier = Arc::new(Barrier::new(2));
    let tasks = acts.map(|act| {
        let (store, barrier) = (crowd.store.clone(), barrier.clone());
        let (account, groups, links) = (crowd.account, crowd.groups, crowd.links.clone());
        tokio::spawn(async move {
            let mut work = store.begin().await?;
            barrier.wait().await;
            act.run(work.as_mut(), account, groups, &links).await?;
            if matches!(act, Act::Assign(_) | Act::Unassign | Act::Ungroup) {
                work.commit().await
            } else {
                Ok(())
            }
        })
    });
    for (task, act) in tasks.into_iter().zip(acts) {
        let outcome = task.await.unwrap();
        assert!(outcome.is_ok(), "{act:?} of {acts:?}: {outcome:?}");
    }
}

/// D30: changes of many links lock them in one order, however they find them, and are not retried.
#[tokio::test(flavor = "multi_thread")]
async fn d30_batches_on_the_same_links_wait_for_each_other() {
    let crowd = Crowd::new().await;
    let others = [
        Act::Unassign,
        Act::Ungroup,
        Act::DeleteGroup,
        Act::DeleteNamed,
        Act::DeleteSome,
        Act::DeleteAccount,
        Act::Lose,
    ];
    for other in others {
        for _ in 0..MEETINGS {
            let mut work = crowd.store.begin().await.unwrap();
            let begin = Act::Assign(0).run(work.as_mut(), crowd.account, crowd.groups, &crowd.links);
            begin.await.unwrap();
            work.commit().await.unwrap();
            meet(&crowd, [Act::Assign(1), other]).await;
        }
    }
    crowd.assert_no_deadlock();
}

/// D30: any number of units of work that move the same links between groups run without retries.
#[tokio::test(flavor = "multi_thread")]
async fn d30_units_of_work_that_move_the_same_links_run_one_by_one() {
    let crowd = Arc::new(Crowd::new().await);
    let barrier = Arc::new(Barrier::new(MOVERS));
    let movers = (0..MOVERS).map(|mover| {
        let (crowd, barrier) = (crowd.clone(), barrier.clone());
        tokio::spawn(async move {
            let store = crowd.store.as_ref();
            for turn in mover..mover + MEETINGS {
                barrier.wait().await;
                let mut work = store.begin().await?;
                let act = [Act::Assign(0), Act::Assign(1), Act::Unassign, Act::Ungroup][turn % 4];
                let links: Vec<LinkId> =
                    crowd.links.iter().copied().cycle().skip(turn * 7).take(LINKS / 2).collect();
                if turn % 5 == 0 {
                    let (account, group) = (crowd.account, crowd.groups[turn % 2]);
                    move_one(work.as_mut(), account, links[0], group).await?;
                } else {
                    act.run(work.as_mut(), crowd.account, crowd.groups, &links).await?;
                }
                work.commit().await?;
            }
            Ok::<_, StoreError>(())
        })
    });
    for mover in movers.collect::<Vec<_>>() {
        mover.await.unwrap().unwrap();
    }
    crowd.assert_no_deadlock();
}

/// D123: of two batches that give the same addresses, or the same external ids, to different links, one gets them. The other one waits, in
/// whatever order it names its links, and is not retried.
#[tokio::test(flavor = "multi_thread")]
async fn d123_batches_that_claim_the_same_wait_for_each_other() {
    let crowd = Crowd::new().await;
    let barrier = Arc::new(Barrier::new(2));
    for meeting in 0..MEETINGS {
        let tasks = [0, 1].map(|half| {
            let (store, barrier, account) = (crowd.store.clone(), barrier.clone(), crowd.account);
            let ids: Vec<LinkId> = crowd.links.iter().copied().skip(half).step_by(2).collect();
            tokio::spawn(async move {
                let mut work = store.begin().await?;
                let before = work.lock_links(account, &ids).await?;
                let mut after = before.clone();
                for (number, link) in after.iter_mut().enumerate() {
                    let number = if half == 0 { number } else { ids.len() - number };
                    let claimed = format!("claimed-{meeting}-{number}");
                    if meeting % 2 == 0 {
                        link.placement = samples::on_custom(HOST, Some(&claimed));
                    } else {
                        link.external_id = ExternalId::parse(&claimed).ok();
                    }
                }
                let changes: Vec<(&Link, &Link)> = before.iter().zip(&after).collect();
                barrier.wait().await;
                match work.update_links(account, &changes).await {
                    Ok(()) => work.commit().await.map(|()| true),
                    Err(UpdateLinkError::AddressTaken | UpdateLinkError::ExternalIdTaken) => Ok(false),
                    Err(UpdateLinkError::Store(error)) => Err(error),
                    Err(other @ UpdateLinkError::GroupMissing) => panic!("{other}"),
                }
            })
        });
        let mut winners = 0;
        for task in tasks {
            winners += usize::from(task.await.unwrap().unwrap());
        }
        assert_eq!(winners, 1, "{meeting}");
    }
    crowd.assert_no_deadlock();
}

/// Moves one link into a group, as a PATCH does.
async fn move_one(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    link: LinkId,
    group: GroupId,
) -> Result<(), StoreError> {
    work.expect_move();
    let before = work.lock_link(account, link).await?.expect("the link exists");
    let mut after = before.clone();
    after.move_to_group(Some(group), samples::at(1));
    match work.update_link(account, &before, &after).await {
        Ok(()) => Ok(()),
        Err(UpdateLinkError::Store(error)) => Err(error),
        Err(other) => panic!("{other}"),
    }
}

/// D30: the deletion of a group locks it before its links. So no link enters it, and no link leaves it while it holds the
/// link and waits for the group.
#[tokio::test(flavor = "multi_thread")]
async fn d30_deletion_locks_a_group_before_its_links() {
    let crowd = Crowd::new().await;
    let (account, [doomed, other]) = (crowd.account, crowd.groups);
    let newcomer = samples::redirect("newcomer").into_any();
    let mut work = crowd.store.begin().await.unwrap();
    work.insert_links(account, std::slice::from_ref(&newcomer), PLENTY).await.unwrap();
    work.commit().await.unwrap();
    // Another unit of work holds a link of the group, so the deletion must wait.
    let mut holder = crowd.store.begin().await.unwrap();
    holder.lock_link(account, crowd.links[0]).await.unwrap();
    let store = crowd.store.clone();
    let deletion = tokio::spawn(async move {
        let mut work = store.begin().await?;
        work.ungroup_some_links(account, doomed, 1_000, samples::at(1)).await?;
        assert!(work.delete_group(account, doomed, samples::at(1)).await?);
        work.commit().await
    });
    until_they_wait(&crowd.database, 1).await;
    let (store, newcomer, leaver) = (crowd.store.clone(), newcomer.id(), crowd.links[1]);
    let entering = tokio::spawn(async move {
        let mut work = store.begin().await?;
        let entered = work.assign_links(account, doomed, &[newcomer], samples::at(1)).await?;
        work.commit().await.map(|()| entered.map(drop))
    });
    let store = crowd.store.clone();
    let leaving = tokio::spawn(async move {
        let mut work = store.begin().await?;
        work.expect_move();
        let before = work.lock_link(account, leaver).await?.expect("the link exists");
        let mut after = before.clone();
        after.move_to_group(Some(other), samples::at(1));
        work.update_link(account, &before, &after).await.expect("it may");
        work.commit().await
    });
    until_they_wait(&crowd.database, 3).await;
    holder.commit().await.unwrap();
    deletion.await.unwrap().unwrap();
    assert_eq!(entering.await.unwrap().unwrap(), None);
    leaving.await.unwrap().unwrap();
    crowd.assert_no_deadlock();
}

/// D30: PostgreSQL aborts one of two deadlocked transactions. It reports contention, and its retry succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn d30_deadlock_is_reported_as_contention() {
    let crowd = Crowd::new().await;
    // By default, PostgreSQL looks for a deadlock after a second. The setting applies to the connections of a new store.
    let name = crowd.database.name();
    crowd.database.run(&format!("ALTER DATABASE {name} SET deadlock_timeout = '50ms'"));
    let store = Arc::new(open(&crowd.database).await);
    let [here, there] = [crowd.links[0], crowd.links[1]];
    let barrier = Arc::new(Barrier::new(2));
    let tasks = [[here, there], [there, here]].map(|[first, second]| {
        let (store, barrier, account) = (store.clone(), barrier.clone(), crowd.account);
        tokio::spawn(async move {
            let mut work = store.begin().await?;
            work.lock_link(account, first).await?;
            barrier.wait().await;
            work.lock_link(account, second).await?;
            work.commit().await
        })
    });
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes.sort_by_key(Result::is_err);
    assert!(matches!(outcomes.as_slice(), [Ok(()), Err(StoreError::Contended)]), "{outcomes:?}");
    let mut again = store.begin().await.unwrap();
    assert!(again.lock_link(crowd.account, there).await.unwrap().is_some());
    assert!(again.lock_link(crowd.account, here).await.unwrap().is_some());
    again.commit().await.unwrap();
}

/// D16: a request whose attempt PostgreSQL aborted is still counted, once.
#[tokio::test(flavor = "multi_thread")]
async fn d16_request_is_counted_despite_contention() {
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    for code in ["40001", "40P01"] {
        database.run(&format!(
            "DROP SEQUENCE IF EXISTS attempts CASCADE; CREATE SEQUENCE attempts; \
             CREATE OR REPLACE FUNCTION end_the_first() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('attempts') <= 2 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '{code}'; END IF; \
             RETURN NEW; END $$; \
             CREATE OR REPLACE TRIGGER counting BEFORE UPDATE ON request_counts \
             FOR EACH ROW EXECUTE FUNCTION end_the_first()"
        ));
        let budget = RequestBudget { per_minute: 9, per_day: 9 };
        let decision = store.admit(account, budget, samples::at(0)).await.unwrap();
        assert!(matches!(decision, QuotaDecision::Admitted { .. }), "{code}: {decision:?}");
    }
    assert_eq!(database.query("SELECT admitted FROM request_counts WHERE span = 1").trim(), "2");
}

/// D30: a full account is not filled and emptied again.
#[tokio::test(flavor = "multi_thread")]
async fn d30_no_link_is_inserted_into_a_full_account() {
    let crowd = Crowd::new().await;
    crowd.database.run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'inserted'; END $$; \
         CREATE TRIGGER inserting BEFORE INSERT ON links FOR EACH ROW EXECUTE FUNCTION refuse(); \
         CREATE TRIGGER counting BEFORE UPDATE ON groups FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    let mut links = [samples::redirect("a"), samples::redirect("b"), samples::redirect("link-0")];
    links[1].group_id = Some(crowd.groups[1]);
    links[2].group_id = Some(samples::id());
    let limit = u64::try_from(LINKS).unwrap();
    let mut work = crowd.store.begin().await.unwrap();
    let insertions = work.insert_links(crowd.account, &links.map(Link::from), limit).await.unwrap();
    assert_eq!(insertions, [Insertion::LimitReached, Insertion::LimitReached, Insertion::GroupMissing]);
    work.commit().await.unwrap();
}

/// D30: the locked row decides whether an account is full, not an earlier read.
#[tokio::test(flavor = "multi_thread")]
async fn d30_room_that_a_concurrent_deletion_makes_is_used() {
    let crowd = Crowd::new().await;
    let mut others = crowd.store.begin().await.unwrap();
    assert_eq!(others.delete_links(crowd.account, &crowd.links[..2]).await.unwrap().len(), 2);
    let (store, account, group) = (crowd.store.clone(), crowd.account, crowd.groups[1]);
    let waiting = tokio::spawn(async move {
        let mut work = store.begin().await.unwrap();
        let links = ["a", "b", "c"].map(|slug| {
            let redirect = samples::redirect(slug);
            Redirect { group_id: Some(group), ..redirect }.into_any()
        });
        let insertions = work.insert_links(account, &links, u64::try_from(LINKS).unwrap()).await.unwrap();
        work.commit().await.unwrap();
        insertions
    });
    until_one_waits(&crowd.database).await;
    others.commit().await.unwrap();
    let insertions = waiting.await.unwrap();
    assert_eq!(insertions, [Insertion::Done, Insertion::Done, Insertion::LimitReached]);
    let group = crowd.store.group(crowd.account, group).await.unwrap().unwrap();
    assert_eq!((group.redirects_count, group.landings_count), (2, 0));
    let usage = crowd.store.usage(crowd.account).await.unwrap().unwrap();
    assert_eq!(usage.links, u64::try_from(LINKS).unwrap());
}
