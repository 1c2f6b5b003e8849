//! What whole bulk requests cost, from the use case down.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use signpost_app::accounts::{self, CreateAccount};
use signpost_app::{Application, Caller, admission, groups, keys, links, redirects};
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    Batch, GroupId, Link, LinkFilter, LinkKind, PageLimit, RedirectDraft, Slug, SlugChoice,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteOptions, SqliteStore};

use super::recorder;

/// Contract D30: so many statements, BEGIN and COMMIT apart.
const MOST: usize = 12;

/// A batch of 100 costs as many statements as one of 2, and at most 12, also when some of the slugs that were drawn
/// are taken and are drawn again.
pub(crate) async fn cost_at_most_twelve_statements(folder: &Path) {
    let file = DatabaseFile::at(folder.join("requests.db")).unwrap();
    let memory = InMemory::default();
    let app = Application {
        store: Arc::new(SqliteStore::open(&file, &SqliteOptions::default()).unwrap()),
        ..memory.application()
    };
    let command =
        CreateAccount { email: samples::account().email, name: None, plan: samples::plan("agency") };
    let account = accounts::create(&app, command).await.unwrap();
    let (_, secret) = keys::issue(&app, account.id, None).await.unwrap();
    let caller = admission::admit(&app, Some(&secret), Ipv4Addr::LOCALHOST.into()).await.unwrap();
    let [group, other] = ["a", "b"].map(|name| groups::create(&app, &caller, samples::name(name)));
    let (group, other) = (group.await.unwrap().id, other.await.unwrap().id);

    let taken = Slug::from_random([7; 16]);
    let mut draft = draft(Some(group));
    draft.slug = SlugChoice::Exactly(taken.clone());
    redirects::create(&app, &caller, Ok(draft)).await.unwrap();

    let mut costs = Vec::new();
    for size in [2, 100] {
        costs.push([
            created(&app, &caller, &[None], size).await,
            created(&app, &caller, &[Some(group), Some(other), None], size).await,
            {
                memory.randomness.queue([7; 16]);
                created(&app, &caller, &[Some(group), Some(other), None], size).await
            },
            moved_and_deleted(&app, &caller, group, size).await,
        ]);
    }
    let [two, hundred] = costs.as_slice() else { panic!("{costs:?}") };
    assert_eq!(two, hundred, "a batch of 2 and one of 100");
    assert!(two.iter().all(|cost| *cost <= MOST), "{two:?} statements");
    assert!(two[2] > two[1], "no slug was drawn twice: {two:?}");
}

fn draft(group: Option<GroupId>) -> RedirectDraft {
    RedirectDraft {
        group: group.map(Into::into),
        ..RedirectDraft::new(samples::name("x"), samples::target("https://example.com/"))
    }
}

async fn created(app: &Application, caller: &Caller, groups: &[Option<GroupId>], size: usize) -> usize {
    let drafts = groups.iter().cycle().take(size).map(|group| Ok(draft(*group))).collect();
    let batch = Batch::new(drafts).unwrap();
    let (statements, outcomes) = recorder::recorded(redirects::create_many(app, caller, batch)).await;
    assert!(outcomes.unwrap().iter().all(Result::is_ok));
    cost(&statements)
}

/// The dearest of the other bulk operations, on links that are in several groups.
async fn moved_and_deleted(app: &Application, caller: &Caller, group: GroupId, size: usize) -> usize {
    let limit = PageLimit::new(u64::try_from(size).unwrap()).unwrap();
    let filter = LinkFilter::default();
    let page = app.store.links(caller.account_id(), LinkKind::Redirect, &filter, limit, None).await.unwrap();
    let ids = Batch::new(page.items.iter().map(Link::id).map(|id| id.to_string()).collect()).unwrap();
    let (assigning, outcomes) = recorder::recorded(groups::assign(app, caller, group.into(), &ids)).await;
    assert!(outcomes.unwrap().iter().all(Result::is_ok));
    let (unassigning, outcomes) = recorder::recorded(groups::unassign(app, caller, group.into(), &ids)).await;
    assert!(outcomes.unwrap().iter().all(Result::is_ok));
    let (deleting, outcomes) =
        recorder::recorded(links::delete_many::<RedirectKind>(app, caller, &ids)).await;
    assert!(outcomes.unwrap().iter().all(Result::is_ok));
    [assigning, unassigning, deleting].iter().map(|statements| cost(statements)).max().unwrap()
}

fn cost(statements: &[String]) -> usize {
    statements.iter().filter(|statement| !recorder::is_steering(statement)).count()
}
