//! Questions about clicks and their export (D45 to D51, D66, R46).

use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::analytics::{
    self, AnalyticsBounds, Asked, AskedClicks, Export, LinkChoice, export_of_account, export_of_link,
};
use signpost_app::{AppError, Application, Caller, links};
use signpost_domain::analytics::{
    Buckets, ClickId, ExportedClick, Period, RecordedClick, RecordedKind, Report, TimeZone, Values,
    VisitorHash,
};
use signpost_domain::id::{GroupKind, LandingKind, RedirectKind};
use signpost_domain::{
    AccountId, Change, GroupId, HostReference, IdReference, Landing, LinkId, LinkIdKind, Plan, PlanLimits,
    Precondition, Redirect, RedirectId, RedirectRequest, Refusal, Timestamp, ViolationCode,
};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, draft_on, given_domain, removed};
use crate::world::{World, draft, plan, refusal, violation, violations};

const HOST: &str = "links.example.net";

const DAY: i64 = 86_400_000;

fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

/// Records a click in this millisecond.
fn click(world: &World, account: AccountId, link: impl Into<LinkId>, millis: i64) {
    world.memory.click_store.record([RecordedClick {
        at: at(millis),
        account,
        link: link.into(),
        kind: RecordedKind::Click,
        visitor: VisitorHash([1; 6]),
        values: Values::default(),
    }]);
}

fn period(first: i64, last: i64) -> Period {
    Period::new(at(first), at(last)).unwrap()
}

pub(crate) fn question(period: Period, zone: &TimeZone) -> Asked {
    Asked {
        period,
        zone: zone.clone(),
        buckets: Buckets::new(vec![period.first()]).unwrap(),
        dimensions: Vec::new(),
        limit: 25,
        filters: Vec::new(),
    }
}

pub(crate) fn clicks_behind(after: Option<ClickId>, period: Period, zone: &TimeZone) -> AskedClicks {
    AskedClicks { period, zone: zone.clone(), filters: Vec::new(), after }
}

/// The first day in UTC.
pub(crate) fn first_day() -> (Period, TimeZone) {
    (period(0, DAY - 1), TimeZone::utc())
}

pub(crate) fn soon() -> Instant {
    Instant::now() + Duration::from_mins(1)
}

async fn ask_link<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
) -> Result<Report, AppError> {
    let (period, zone) = first_day();
    analytics::of_link(app, caller, id, question(period, &zone), soon()).await
}

async fn ask_account(app: &Application, caller: &Caller, links: LinkChoice) -> Result<Report, AppError> {
    let (period, zone) = first_day();
    analytics::of_account(app, caller, links, question(period, &zone), soon()).await
}

async fn export_link<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
) -> Result<Export, AppError> {
    let (period, zone) = first_day();
    export_of_link(app, caller, id, clicks_behind(None, period, &zone)).await
}

async fn export_account(
    app: &Application,
    caller: &Caller,
    links: LinkChoice,
    after: Option<ClickId>,
) -> Result<Export, AppError> {
    let (period, zone) = first_day();
    export_of_account(app, caller, links, clicks_behind(after, period, &zone)).await
}

/// All clicks of an export that come from now on.
async fn rest(app: &Application, mut export: Export) -> Vec<ExportedClick> {
    let mut clicks = Vec::new();
    loop {
        let page = export.next(app, soon()).await.unwrap();
        if page.is_empty() {
            return clicks;
        }
        clicks.extend(page);
    }
}

fn group(id: impl Into<IdReference<GroupKind>>) -> LinkChoice {
    LinkChoice { group: Some(Some(id.into())), domain: None }
}

fn domain(host: &str) -> LinkChoice {
    LinkChoice { group: None, domain: Some(HostReference::parse(host)) }
}

async fn store_landing(world: &World, account: AccountId, landing: &Landing) {
    let mut work = world.app.store.begin().await.unwrap();
    work.insert_links(account, &[landing.clone().into()], u64::MAX).await.unwrap();
    work.commit().await.unwrap();
}

/// A refused export does not use up the one export a minute.
#[tokio::test]
async fn d2_missing_and_foreign_links_start_no_export() {
    let world = World::new().await;
    let redirect = world.redirect("sale").await;
    let landing = samples::landing("menu");
    store_landing(&world, world.account.id, &landing).await;
    let stranger = world.stranger().await;
    click(&world, stranger.account_id(), redirect.id, 0);
    let app = &world.app;
    let malformed = IdReference::<RedirectKind>::Malformed;
    let of_other_kind = RedirectId::from_bytes(landing.id.to_bytes());
    for id in [redirect.id.into(), of_other_kind.into(), malformed] {
        assert_eq!(refusal(ask_link(app, &stranger, id).await), Refusal::RedirectNotFound);
        assert_eq!(refusal(export_link(app, &stranger, id).await), Refusal::RedirectNotFound);
    }
    let id: IdReference<LandingKind> = landing.id.into();
    assert_eq!(refusal(ask_link(app, &stranger, id).await), Refusal::LandingNotFound);
    assert_eq!(refusal(export_link(app, &stranger, id).await), Refusal::LandingNotFound);
    assert!(export_account(app, &stranger, LinkChoice::default(), None).await.is_ok());
}

#[tokio::test]
async fn d45_missing_and_foreign_groups_and_domains_have_no_links() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    world.active_domain(HOST).await;
    given_domain(&world.app, stranger.account_id(), "theirs.example.net", ACTIVE).await;
    let spring = world.group("Spring").await;
    let link = world
        .create(RedirectRequest { group: Change::Set(spring.id.into()), ..draft_on(HOST, None) })
        .await
        .unwrap();
    // Both accounts have clicks of this link, so a wrong choice of links would count them.
    for account in [world.account.id, stranger.account_id()] {
        click(&world, account, link.id, 0);
    }
    let caller = world.caller().await;
    for (choice, clicks) in [
        (group(spring.id), [1, 0]),
        (domain(HOST), [1, 0]),
        (group(GroupId::from_bytes([9; 16])), [0, 0]),
        (group(IdReference::Malformed), [0, 0]),
        (domain("theirs.example.net"), [0, 0]),
        (domain("nobodys.example.net"), [0, 0]),
        (domain(".."), [0, 0]),
        (LinkChoice { domain: Some(HostReference::parse("go.example.com")), ..group(spring.id) }, [0, 0]),
    ] {
        for (caller, clicks) in [&caller, &stranger].into_iter().zip(clicks) {
            let report = ask_account(&world.app, caller, choice.clone()).await.unwrap();
            assert_eq!(report.totals.clicks, clicks, "{choice:?}");
            // A new node, because each node starts one export a minute.
            let node = world.memory.application();
            let export = export_account(&node, caller, choice.clone(), None).await.unwrap();
            assert_eq!(rest(&node, export).await.len(), usize::try_from(clicks).unwrap(), "{choice:?}");
        }
    }
}

#[tokio::test]
async fn d43_d45_inactive_and_lost_links_keep_their_analytics() {
    let world = World::new().await;
    let taken = world.active_domain(HOST).await;
    let spring = world.group("Spring").await;
    let in_group = |draft: RedirectRequest| RedirectRequest { group: Change::Set(spring.id.into()), ..draft };
    let inactive = world.create(in_group(draft("sale"))).await.unwrap();
    world
        .update(inactive.id, RedirectRequest { is_active: Some(false), ..RedirectRequest::default() })
        .await
        .unwrap();
    let lost = world.create(in_group(draft_on(HOST, Some("sale")))).await.unwrap();
    for link in [inactive.id, lost.id] {
        click(&world, world.account.id, link, 0);
    }
    let caller = world.caller().await;
    let app = &world.app;
    assert_eq!(ask_account(app, &caller, domain(HOST)).await.unwrap().totals.clicks, 1);
    removed(app, &taken).await;
    for link in [inactive.id, lost.id] {
        assert_eq!(ask_link(app, &caller, IdReference::from(link)).await.unwrap().totals.clicks, 1);
    }
    for (choice, clicks) in [(group(spring.id), 2), (domain("go.example.com"), 1), (domain(HOST), 0)] {
        let report = ask_account(app, &caller, choice.clone()).await.unwrap();
        assert_eq!(report.totals.clicks, clicks, "{choice:?}");
    }
    // A deleted link has no analytics of its own, but the account still counts its clicks.
    links::delete(app, &caller, IdReference::from(lost.id), &Precondition::None).await.unwrap();
    let gone = ask_link(app, &caller, IdReference::from(lost.id)).await;
    assert_eq!(refusal(gone), Refusal::RedirectNotFound);
    for (choice, clicks) in [(LinkChoice::default(), 2), (group(spring.id), 1)] {
        let report = ask_account(app, &caller, choice.clone()).await.unwrap();
        assert_eq!(report.totals.clicks, clicks, "{choice:?}");
    }
}

/// The clock of Berlin goes back on 2026-10-25, which makes seven days there an hour longer.
#[tokio::test]
async fn d49_the_plans_range_is_counted_in_local_days() {
    let limits = PlanLimits { analytics_days: 7, ..plan(&[]).limits };
    let world = World::with_plan(Plan { limits, ..plan(&[]) }).await;
    let link: IdReference<RedirectKind> = world.redirect("sale").await.id.into();
    let caller = world.caller().await;
    let (utc, berlin) = (TimeZone::utc(), TimeZone::parse("Europe/Berlin").unwrap());
    let start = Timestamp::parse("2026-10-19T22:00:00Z").unwrap().unix_millis();
    let week = 7 * DAY;
    for (zone, longest) in [(&utc, week), (&berlin, week + 3_600_000)] {
        for (length, is_allowed) in [(longest, true), (longest + 1, false)] {
            let period = period(start, start + length - 1);
            let asked = || question(period, zone);
            let clicks = || clicks_behind(None, period, zone);
            let (app, node, all) = (&world.app, world.memory.application(), LinkChoice::default());
            let outcomes = [
                analytics::of_link(app, &caller, link, asked(), soon()).await.map(drop),
                analytics::of_account(app, &caller, all.clone(), asked(), soon()).await.map(drop),
                export_of_link(&world.memory.application(), &caller, link, clicks()).await.map(drop),
                export_of_account(&node, &caller, all.clone(), clicks()).await.map(drop),
            ];
            for outcome in outcomes {
                if is_allowed {
                    outcome.unwrap();
                } else {
                    assert_eq!(refusal(outcome), Refusal::AnalyticsRangeTooLong { days: 7 });
                    // The refusal does not count as the export of this minute.
                    drop(
                        export_account(&world.memory.application(), &caller, all.clone(), None)
                            .await
                            .unwrap(),
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn d45_a_group_or_domain_of_too_many_links_is_out_of_range() {
    let analytics_bounds = AnalyticsBounds { links: 2, ..AnalyticsBounds::default() };
    let world = World::on(InMemory { analytics_bounds, ..InMemory::default() }, "agency").await;
    let spring = world.group("Spring").await;
    let both = LinkChoice { domain: Some(HostReference::parse("go.example.com")), ..group(spring.id) };
    let caller = world.caller().await;
    for (number, slug) in ["one", "two", "three"].into_iter().enumerate() {
        let link = RedirectRequest { group: Change::Set(spring.id.into()), ..draft(slug) };
        let link = world.create(link).await.unwrap();
        click(&world, world.account.id, link.id, 0);
        let ungrouped = LinkChoice { group: Some(None), domain: None };
        for (choice, field) in [
            (group(spring.id), "group_id"),
            (domain("go.example.com"), "domain"),
            (both.clone(), "group_id"),
            (ungrouped, ""),
            (LinkChoice::default(), ""),
        ] {
            let answer = ask_account(&world.app, &caller, choice.clone()).await;
            if number < 2 || field.is_empty() {
                answer.unwrap();
                continue;
            }
            let expected = [violation(field, ViolationCode::OutOfRange)];
            assert_eq!(violations(answer), expected);
            let export = export_account(&world.app, &caller, choice, None).await;
            assert_eq!(violations(export), expected, "a refused export does not count");
        }
    }
}

/// There are more clicks than one read returns, several in each millisecond. Another node resumes the
/// export.
#[tokio::test]
async fn d66_an_export_resumes_after_any_click() {
    let world = World::new().await;
    let links = [world.redirect("one").await, world.redirect("two").await].map(|link: Redirect| link.id);
    for number in 0..20_010 {
        click(&world, world.account.id, links[usize::from(number % 3 == 0)], number / 7);
    }
    let caller = world.caller().await;
    let all = LinkChoice::default;
    let whole = rest(&world.app, export_account(&world.app, &caller, all(), None).await.unwrap()).await;
    assert_eq!(whole.len(), 20_010);
    assert!(whole.is_sorted_by(|one, next| one.id < next.id), "each click once, in order");
    for seen in [0, 3, 6, 9_999, 19_999, 20_008, 20_009] {
        let node = world.memory.application();
        let resumed = export_account(&node, &caller, all(), Some(whole[seen].id)).await.unwrap();
        assert_eq!(rest(&node, resumed).await, whole[seen + 1..], "behind {seen}");
    }
}

/// The id of a click is only a position, so it reveals nothing about its account.
#[tokio::test]
async fn d66_an_export_resumes_after_another_accounts_click() {
    let world = World::new().await;
    let link = world.redirect("sale").await;
    for millis in [1, 2, 3] {
        click(&world, world.account.id, link.id, millis);
    }
    let stranger = world.stranger().await;
    let theirs: RedirectId = samples::id();
    for millis in [0, 2, 4] {
        click(&world, stranger.account_id(), theirs, millis);
    }
    let caller = world.caller().await;
    let positions = [(0, vec![1, 2, 3]), (4, vec![])];
    for (millis, expected) in positions {
        let after = ClickId { at: at(millis), link: theirs.into(), place: 0 };
        let node = world.memory.application();
        let export = export_account(&node, &caller, LinkChoice::default(), Some(after)).await.unwrap();
        let clicks = rest(&node, export).await;
        assert!(clicks.iter().all(|click| click.id.link == link.id.into()));
        let times: Vec<i64> = clicks.iter().map(|click| click.id.at.unix_millis()).collect();
        assert_eq!(times, expected);
    }
}

#[tokio::test]
async fn d66_a_node_limits_its_concurrent_exports() {
    let analytics_bounds = AnalyticsBounds { exports: 1, ..AnalyticsBounds::default() };
    let world = World::on(InMemory { analytics_bounds, ..InMemory::default() }, "agency").await;
    let (caller, stranger) = (world.caller().await, world.stranger().await);
    let running = export_account(&world.app, &caller, LinkChoice::default(), None).await.unwrap();
    let refused = export_account(&world.app, &stranger, LinkChoice::default(), None).await;
    assert!(matches!(refused, Err(AppError::AnalyticsBusy)), "{refused:?}");
    let again = export_account(&world.app, &caller, LinkChoice::default(), None).await;
    assert!(matches!(again, Err(AppError::TooManyExports { retry_after_seconds: 1..=60 })), "{again:?}");
    drop(running);
    export_account(&world.app, &stranger, LinkChoice::default(), None).await.unwrap();
}

#[tokio::test]
async fn r46_a_page_of_an_export_waits_for_the_accounts_question() {
    let world = World::on(InMemory::default(), "agency").await;
    let link = world.redirect("sale").await;
    click(&world, world.account.id, link.id, 0);
    let (caller, stranger) = (world.caller().await, world.stranger().await);
    let export = export_account(&world.app, &caller, LinkChoice::default(), None).await.unwrap();
    let store = Arc::clone(&world.memory.click_store);
    let held = store.hold();
    let release = async {
        store.wait_for_begun(2).await;
        // By now every question that need not wait has begun.
        tokio::task::yield_now().await;
        let begun = store.begun();
        drop(held);
        begun
    };
    let (report, clicks, of_other, begun) = tokio::join!(
        ask_account(&world.app, &caller, LinkChoice::default()),
        rest(&world.app, export),
        ask_account(&world.app, &stranger, LinkChoice::default()),
        release
    );
    assert_eq!((report.unwrap().totals.clicks, clicks.len()), (1, 1));
    assert_eq!(of_other.unwrap().totals.clicks, 0);
    assert_eq!((begun, store.begun()), (2, 3), "one question of each account, then the page");
}
