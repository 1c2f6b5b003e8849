//! The cost of whole bulk requests, from the use case down.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use signpost_app::accounts::{self, CreateAccount};
use signpost_app::idempotency::{Idempotency, KeyedRequest, recall};
use signpost_app::ports::{RememberedAnswer, RequestFingerprint};
use signpost_app::{AppError, Application, Caller, Operator, admission, groups, keys, links};
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    AccountId, Batch, Change, CheckPlan, CustomDomain, CustomDomainStatus, GroupId, HostReference,
    IdempotencyKey, Link, LinkFilter, LinkKind, PageLimit, RedirectContent, RedirectRequest, Refusal,
    Rejection, Slug, Submitted,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteStore};

use super::{bulk_changes, options, recorder};

/// D30: the maximum number of statements, without BEGIN and COMMIT.
const MOST: usize = 12;

/// A batch of 100 costs as many statements as one of 2, and at most 12, including the remembered answer. That also holds if
/// it spans several domains, and if some generated slugs are taken and generated again.
pub(crate) async fn cost_at_most_twelve_statements(folder: &Path) {
    let file = DatabaseFile::at(folder.join("requests.db")).unwrap();
    let memory = InMemory::default();
    let app = Application {
        store: Arc::new(SqliteStore::open(&file, &options()).unwrap()),
        ..memory.application()
    };
    let command =
        CreateAccount { email: samples::account().email, name: None, plan: samples::plan("agency") };
    let account = accounts::create(&app, &Operator::COMMAND, command).await.unwrap();
    let (_, secret) = keys::issue(&app, account.id, None).await.unwrap();
    let caller =
        admission::admit(&app, Some(&secret), Ipv4Addr::LOCALHOST.into(), None).await.unwrap().caller;
    let [group, other] =
        ["a", "b"].map(|name| groups::create(&app, &caller, samples::name(name), Idempotency::disabled()));
    let (group, other) = (group.await.unwrap().id, other.await.unwrap().id);

    let taken = Slug::from_random([7; 16]);
    let in_the_way = RedirectRequest { slug: Change::Set(taken.clone()), ..draft(Some(group)) };
    links::create::<RedirectContent>(&app, &caller, Submitted::valid(in_the_way), Idempotency::disabled())
        .await
        .unwrap();

    let hosts = ["a.example.net", "b.example.net"];
    activate(&app, account.id, hosts).await;
    let on_domains =
        hosts.map(|host| RedirectRequest { domain: Change::Set(HostReference::parse(host)), ..draft(None) });

    let mut costs = Vec::new();
    for size in [2, 100] {
        costs.push([
            created(&app, &caller, &[None], size).await,
            created(&app, &caller, &[Some(group), Some(other), None], size).await,
            {
                memory.randomness.queue([7; 16]);
                created(&app, &caller, &[Some(group), Some(other), None], size).await
            },
            created_of(&app, &caller, &on_domains, size).await,
            refused_as_taken(&app, &caller, &taken, size).await,
            moved_and_deleted(&app, &caller, group, size).await,
        ]);
    }
    bulk_changes::cost_few_statements(&app, &caller, group, hosts[0]).await;
    let [two, hundred] = costs.as_slice() else { panic!("{costs:?}") };
    assert_eq!(two, hundred, "a batch of 2 and one of 100");
    assert!(two.iter().all(|cost| *cost <= MOST), "{two:?} statements");
    assert!(two[2] > two[1], "no slug was generated twice: {two:?}");
}

fn draft(group: Option<GroupId>) -> RedirectRequest {
    RedirectRequest {
        group: group.map(Into::into).map_or(Change::Keep, Change::Set),
        ..RedirectRequest::new(samples::name("x"), samples::target("https://example.com/"))
    }
}

/// Commits domains that serve links.
async fn activate(app: &Application, account: AccountId, hosts: [&str; 2]) {
    let mut work = app.store.begin().await.unwrap();
    for host in hosts {
        let domain = CustomDomain::connect(samples::id(), account, samples::hostname(host), samples::at(0));
        let status = CustomDomainStatus::Active { misdirected_since: None };
        let checks = CheckPlan { next_check_at: None, checks_made: 0 };
        work.insert_custom_domain(&CustomDomain { status, ..domain }, checks, 2).await.unwrap();
    }
    work.commit().await.unwrap();
}

async fn created(app: &Application, caller: &Caller, groups: &[Option<GroupId>], size: usize) -> usize {
    let drafts: Vec<RedirectRequest> = groups.iter().map(|group| draft(*group)).collect();
    created_of(app, caller, &drafts, size).await
}

async fn created_of(app: &Application, caller: &Caller, drafts: &[RedirectRequest], size: usize) -> usize {
    let drafts = drafts.iter().cycle().take(size).map(|draft| Ok(Submitted::valid(draft.clone()))).collect();
    let batch = Batch::new(drafts).unwrap();
    let creation = cost_of(app, caller, async |idempotency| {
        links::create_many::<RedirectContent>(app, caller, batch, idempotency).await
    });
    let (cost, outcomes) = creation.await;
    assert!(outcomes.iter().all(Result::is_ok));
    cost
}

/// A batch in which every other item asks for a taken address (D20): one statement finds all their links.
async fn refused_as_taken(app: &Application, caller: &Caller, taken: &Slug, size: usize) -> usize {
    let there = RedirectRequest { slug: Change::Set(taken.clone()), ..draft(None) };
    let drafts = [there, draft(None)];
    let drafts = drafts.iter().cycle().take(size).map(|draft| Ok(Submitted::valid(draft.clone()))).collect();
    let batch = Batch::new(drafts).unwrap();
    let (cost, outcomes) = cost_of(app, caller, async |idempotency| {
        links::create_many::<RedirectContent>(app, caller, batch, idempotency).await
    })
    .await;
    let named = |outcome: &&Result<_, Rejection>| {
        matches!(outcome, Err(Rejection::Refused(Refusal::AddressTaken { existing: Some(_) })))
    };
    assert_eq!(outcomes.iter().filter(named).count(), size / 2);
    cost
}

/// The most expensive of the other bulk operations, on links in several groups.
async fn moved_and_deleted(app: &Application, caller: &Caller, group: GroupId, size: usize) -> usize {
    let limit = PageLimit::new(u64::try_from(size).unwrap()).unwrap();
    let filter = LinkFilter::default();
    let page = app.store.links(caller.account_id(), LinkKind::Redirect, &filter, limit, None).await.unwrap();
    let ids = Batch::new(page.items.iter().map(Link::id).map(|id| id.to_string()).collect()).unwrap();
    let group = group.into();
    let assigning =
        cost_of(app, caller, async |idempotency| groups::assign(app, caller, group, &ids, idempotency).await);
    let (assigning, outcomes) = assigning.await;
    assert!(outcomes.iter().all(Result::is_ok));
    let unassigning = cost_of(app, caller, async |idempotency| {
        groups::unassign(app, caller, group, &ids, idempotency).await
    });
    let (unassigning, outcomes) = unassigning.await;
    assert!(outcomes.iter().all(Result::is_ok));
    let deleting = cost_of(app, caller, async |idempotency| {
        links::delete_many::<RedirectKind>(app, caller, &ids, idempotency).await
    });
    let (deleting, outcomes) = deleting.await;
    assert!(outcomes.iter().all(Result::is_ok));
    [assigning, unassigning, deleting].into_iter().max().unwrap()
}

/// The cost of an idempotent request (D12), and its outcome.
async fn cost_of<T>(
    app: &Application,
    caller: &Caller,
    operation: impl AsyncFnOnce(Idempotency<'_, T>) -> Result<T, AppError>,
) -> (usize, T) {
    let once = KeyedRequest {
        key: IdempotencyKey::parse(&samples::id::<RedirectKind>().to_string()).unwrap(),
        fingerprint: RequestFingerprint::of("POST", "/", b""),
        answer_to_refusal: |_| None,
    };
    let answer = || RememberedAnswer { status: 200, location: None, body: "{}".to_owned() };
    let (statements, outcome) = recorder::recorded(async {
        assert_eq!(recall(app, caller, &once).await.unwrap(), None);
        operation(Idempotency::of_request(Some(&once), |_| Some(answer()))).await
    })
    .await;
    let outcome = outcome.unwrap();
    assert_eq!(recall(app, caller, &once).await.unwrap(), Some(answer()));
    (statements.iter().filter(|statement| !recorder::is_steering(statement)).count(), outcome)
}
