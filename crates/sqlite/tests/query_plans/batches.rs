//! Methods that take many links at once.

use signpost_app::ports::{Insertion, PixelReads, Store, UnitOfWork};
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{
    AccountId, Address, ExternalId, GroupId, Landing, LandingId, Link, LinkId, LinkKind, PasswordHash,
    PixelId, TagName, Tags,
};
use signpost_port_contracts::samples;

use super::{Subject, assert_frugal, plan, recorder};

const PLENTY: u64 = 1_000_000;

/// How many statements of its own a method may run; `bulk_requests` counts those of whole requests.
const MOST: usize = 8;

/// The number of links in a call.
const SIZES: [usize; 3] = [1, 2, 100];

/// D30: a batch of 100 costs the same few statements as a batch of 2. Each statement finds its rows by id and does not read
/// all of the account's.
pub(crate) async fn cost_the_same_for_many_as_for_two(subject: &mut Subject) {
    for (what, method) in [
        ("insert_links, no conflicts", Method::Insert(Against::Nothing)),
        ("insert_links, in groups", Method::Insert(Against::NothingInGroups)),
        ("insert_links, every decision", Method::Insert(Against::Everything)),
        ("delete_links", Method::Delete),
        ("assign_links", Method::Assign),
        ("unassign_links", Method::Unassign),
        ("lock_links", Method::Lock),
        ("update_links, of one field", Method::Update(Fields::Name)),
        ("update_links, of all fields", Method::Update(Fields::All)),
        ("occupied", Method::Occupied),
        ("groups_among", Method::GroupsAmong),
        ("page_contents", Method::ReadPages),
        ("write_page_contents", Method::WritePages),
        ("write_link_passwords, new ones", Method::WritePasswords(true)),
        ("write_link_passwords, removals", Method::WritePasswords(false)),
    ] {
        let mut counts = Vec::new();
        for size in SIZES {
            let statements = statements_of(subject, method, size).await;
            for statement in statements.iter().filter(|statement| !recorder::is_steering(statement)) {
                let plan = plan(&mut subject.connection, statement);
                assert_frugal(statement, &plan);
                assert_narrow(statement, &plan);
            }
            counts.push(statements.len());
        }
        let [one, two, many] = counts.as_slice() else { panic!("{counts:?}") };
        assert!(one <= two && two == many && *many <= MOST, "{what}: {counts:?} statements for {SIZES:?}");
    }
}

/// As many pixels as a batch of links can name (D36): one statement that reads only the named ones.
pub(crate) async fn pixels_are_found_by_their_ids(subject: &mut Subject) {
    for size in [1, 2, 1_000] {
        let ids: Vec<PixelId> = (0..size).map(|_| samples::id()).collect();
        let (statements, found) =
            recorder::recorded(subject.store.pixels_with_ids(subject.account, &ids)).await;
        assert_eq!(found.unwrap(), []);
        // The writing thread may still be rolling back the previous work.
        let its_own: Vec<_> =
            statements.iter().filter(|statement| !recorder::is_steering(statement)).collect();
        let [statement] = its_own.as_slice() else { panic!("{statements:?}") };
        let plan = plan(&mut subject.connection, statement);
        assert_frugal(statement, &plan);
        assert_narrow(statement, &plan);
    }
}

/// Each step finds single rows: by an id, with or without the account, or by an address, a hostname, or the name of a tag.
fn assert_narrow(statement: &str, plan: &str) {
    const BY_ID: [&str; 7] = [
        "(id=?)",
        " AND id=?)",
        "(id=? AND account_id=?)",
        "(link_id=?)",
        "(host=? AND slug=?)",
        // The domain of a link.
        "(account_id=? AND hostname=?)",
        "(account_id=? AND name_key=?)",
    ];
    for step in plan.lines().filter(|step| step.starts_with("SEARCH")) {
        let step = step.trim_end_matches(" LEFT-JOIN");
        assert!(BY_ID.iter().any(|by_id| step.ends_with(by_id)), "{statement}\n{plan}");
    }
}

#[derive(Debug, Clone, Copy)]
enum Method {
    Insert(Against),
    Delete,
    Assign,
    Unassign,
    Lock,
    Update(Fields),
    Occupied,
    GroupsAmong,
    ReadPages,
    WritePages,
    /// Whether they are written or removed.
    WritePasswords(bool),
}

/// What an update changes.
#[derive(Debug, Clone, Copy)]
enum Fields {
    Name,
    All,
}

/// Conflicts of inserted links.
#[derive(Debug, Clone, Copy)]
enum Against {
    Nothing,
    NothingInGroups,
    Everything,
}

/// The statements of a method, without those of its unit of work. Everything is rolled back.
async fn statements_of(subject: &Subject, method: Method, size: usize) -> Vec<String> {
    let owner = samples::account();
    let account = owner.id;
    let mut work = subject.store.begin().await.unwrap();
    work.insert_account(&owner).await.unwrap();
    let groups = [samples::group("a"), samples::group("b"), samples::group("c")];
    for group in &groups {
        work.insert_group(account, group, PLENTY).await.unwrap();
    }
    let [first, second, third] = groups.map(|group| group.id);
    let groups = [first, second];
    let now = samples::at(1);
    let (statements, changed) = match method {
        Method::Insert(against) => return insert(work.as_mut(), account, groups, against, size).await,
        Method::Delete => {
            let ids = some(work.as_mut(), account, groups, size).await;
            let (statements, deleted) = recorder::recorded(work.delete_links(account, &ids)).await;
            (statements, deleted.unwrap().len())
        }
        Method::Assign => {
            let ids = some(work.as_mut(), account, groups, size).await;
            let (statements, links) = recorder::recorded(work.assign_links(account, third, &ids, now)).await;
            (statements, links.unwrap().unwrap().len())
        }
        Method::Unassign => {
            let ids = some(work.as_mut(), account, groups, size).await;
            work.assign_links(account, first, &ids, now).await.unwrap().unwrap();
            let (statements, links) =
                recorder::recorded(work.unassign_links(account, first, &ids, now)).await;
            (statements, links.unwrap().unwrap().len())
        }
        Method::Lock => {
            let ids = some(work.as_mut(), account, groups, size).await;
            work.expect_move();
            let (statements, links) = recorder::recorded(work.lock_links(account, &ids)).await;
            (statements, links.unwrap().len())
        }
        Method::Update(fields) => {
            return update(work.as_mut(), account, [first, second, third], fields, size).await;
        }
        Method::Occupied => {
            let ids = some(work.as_mut(), account, groups, size).await;
            let links = work.lock_links(account, &ids).await.unwrap();
            let addresses: Vec<Address> = links.iter().filter_map(|link| link.placement.address()).collect();
            let (statements, found) = recorder::recorded(work.occupied(account, &addresses)).await;
            (statements, found.unwrap().len())
        }
        Method::GroupsAmong => {
            let ids: Vec<GroupId> = [third].into_iter().chain((1..size).map(|_| samples::id())).collect();
            let (statements, found) = recorder::recorded(work.groups_among(account, &ids)).await;
            assert_eq!(found.unwrap(), [third]);
            return statements;
        }
        Method::ReadPages => {
            let ids = pages(work.as_mut(), account, size).await;
            let (statements, found) = recorder::recorded(work.page_contents(account, &ids)).await;
            (statements, found.unwrap().len())
        }
        Method::WritePages => {
            let ids = pages(work.as_mut(), account, size).await;
            let content = samples::page_content();
            let written: Vec<_> = ids.iter().map(|id| (*id, &content)).collect();
            let (statements, done) = recorder::recorded(work.write_page_contents(account, &written)).await;
            done.unwrap();
            (statements, size)
        }
        Method::WritePasswords(are_new) => {
            let ids = pages(work.as_mut(), account, size).await;
            let hash = are_new.then(|| PasswordHash::new("$argon2id$".to_owned()));
            let written: Vec<_> = ids.iter().map(|id| (LinkId::from(*id), hash.clone())).collect();
            let (statements, done) = recorder::recorded(work.write_link_passwords(account, &written)).await;
            done.unwrap();
            (statements, size)
        }
    };
    assert_eq!(changed, size);
    statements
}

async fn insert(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    [first, second]: [GroupId; 2],
    against: Against,
    size: usize,
) -> Vec<String> {
    let (batch, limit) = match against {
        Against::Nothing => (links(size, &[None]), PLENTY),
        Against::NothingInGroups => (links(size, &[Some(first), Some(second), None]), PLENTY),
        Against::Everything => {
            let mut batch = links(size, &[Some(first), Some(second), Some(samples::id())]);
            if let [taken, .., last] = batch.as_mut_slice()
                && size > 2
            {
                *last = samples::link_at(LinkKind::Landing, taken.placement.clone());
            }
            // Half of the links that could be inserted, so that some must be taken back.
            let fine = batch.iter().filter(|link| [Some(first), Some(second)].contains(&link.group_id));
            let limit = u64::try_from(fine.count() / 2).unwrap();
            (batch, limit.max(1))
        }
    };
    let (statements, insertions) = recorder::recorded(work.insert_links(account, &batch, limit)).await;
    let insertions = insertions.unwrap();
    let is_all_done = insertions.iter().all(|insertion| *insertion == Insertion::Done);
    let is_clear = matches!(against, Against::Nothing | Against::NothingInGroups);
    assert_eq!(is_all_done, is_clear || size == 1, "{insertions:?}");
    statements
}

/// Of all fields: also those that other tables and counters depend on.
async fn update(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    [first, second, third]: [GroupId; 3],
    fields: Fields,
    size: usize,
) -> Vec<String> {
    let ids = some(work, account, [first, second], size).await;
    let names = ["a", "b"].map(|name| TagName::parse(name).unwrap());
    let needs = vec![names.iter().map(|name| (samples::id(), name.clone())).collect()];
    work.provide_tags(account, &needs, PLENTY, samples::at(0)).await.unwrap();
    let before = work.lock_links(account, &ids).await.unwrap();
    let renewed = |link: &Link| {
        let mut after = Link { name: samples::name("New"), ..link.clone() };
        if let Fields::All = fields {
            let text = samples::id::<RedirectKind>().to_string();
            after.placement = samples::on_system(&text);
            after.external_id = ExternalId::parse(&text).ok();
            after.tags = Tags::new(names.clone()).unwrap();
            after.group_id = Some(third);
        }
        after.mark_changed(samples::at(1));
        after
    };
    let after: Vec<Link> = before.iter().map(renewed).collect();
    let changes: Vec<(&Link, &Link)> = before.iter().zip(&after).collect();
    let (statements, updated) = recorder::recorded(work.update_links(account, &changes)).await;
    updated.unwrap();
    statements.into_iter().filter(|statement| !recorder::is_steering(statement)).collect()
}

/// The ids of newly inserted landing pages.
async fn pages(work: &mut dyn UnitOfWork, account: AccountId, size: usize) -> Vec<LandingId> {
    let page = |_| samples::landing(&samples::id::<LandingKind>().to_string());
    let pages: Vec<Landing> = (0..size).map(page).collect();
    let links: Vec<Link> = pages.iter().cloned().map(Link::from).collect();
    work.insert_links(account, &links, PLENTY).await.unwrap();
    pages.into_iter().map(|page| page.id).collect()
}

/// The ids of newly inserted links, some of them in groups.
async fn some(
    work: &mut dyn UnitOfWork,
    account: AccountId,
    [first, second]: [GroupId; 2],
    size: usize,
) -> Vec<LinkId> {
    let links = links(size, &[Some(first), Some(second), None]);
    let insertions = work.insert_links(account, &links, PLENTY).await.unwrap();
    assert!(insertions.iter().all(|insertion| *insertion == Insertion::Done));
    links.iter().map(Link::id).collect()
}

/// Links of both kinds, spread over the groups.
fn links(number: usize, groups: &[Option<GroupId>]) -> Vec<Link> {
    let kinds = [LinkKind::Redirect, LinkKind::Landing];
    let turns = kinds.into_iter().cycle().zip(groups.iter().cycle());
    let link = |(kind, group): (LinkKind, &Option<GroupId>)| {
        let id = LinkId::Redirect(samples::id());
        let mut link = samples::link(kind, &id.to_string());
        link.move_to_group(*group, samples::at(0));
        link
    };
    turns.take(number).map(link).collect()
}
