//! What operators do with accounts on pages (D69, D73, D78).

use std::time::Duration;

use signpost_app::{Operator, accounts};
use signpost_domain::{AccountId, AuditAction, AuditActor, Email, PageLimit, PlanName, Role};

use crate::harness::{Answer, Browser, Dashboard, ORIGIN, PASSWORD};

const ACCOUNTS: &str = "/operator/accounts";

pub(crate) async fn operator(dashboard: &Dashboard) -> Browser {
    dashboard.invited("o@example.com", None, true).await
}

/// The path of the link that a page shows once.
pub(crate) fn link_in(answer: &Answer, kind: &str) -> String {
    let start = format!("{ORIGIN}/{kind}/");
    let (_, rest) = answer.body.split_once(&start).unwrap_or_else(|| panic!("{}", answer.body));
    format!("/{kind}/{}", rest.get(..64).unwrap())
}

async fn account_with(dashboard: &Dashboard, email: &str) -> Option<AccountId> {
    let email = Email::parse(email).unwrap();
    dashboard.app.store.account_with_email(&email).await.unwrap().map(|account| account.id)
}

/// The newest entries of the installation: who did what, and from which network.
async fn audit(dashboard: &Dashboard) -> Vec<(AuditActor, AuditAction, Option<String>)> {
    let scope = signpost_app::ports::AuditScope::Installation;
    let page = dashboard.app.store.audit_entries(scope, PageLimit::MAX, None).await.unwrap();
    let shown = page.items.into_iter();
    shown.map(|it| (it.actor, it.action, it.network.map(|network| network.to_string()))).collect()
}

#[actix_web::test]
async fn d69_an_operator_creates_an_account_and_its_owner_joins_by_the_link() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let form = [("email", "New@Example.com"), ("name", "Bakery"), ("plan", "pro")];
    let created = operator.post(ACCOUNTS, &form).await;
    assert_eq!(created.status, 200, "{}", created.body);
    assert!(created.body.contains("You are invited to Bakery on Signpost"), "{}", created.body);
    let gives =
        "is on plan pro. Whoever accepts the invitation joins Bakery as Owner. Owners do what editors do";
    assert!(created.body.contains(gives), "{}", created.body);
    let account = account_with(&dashboard, "new@example.com").await.unwrap();
    let owner = dashboard.browser();
    let person = [("name", "New"), ("password", PASSWORD), ("time_zone", "UTC")];
    assert_eq!(owner.post(&link_in(&created, "invitation"), &person).await.status, 303);
    assert_eq!(owner.get(&format!("/{account}/keys")).await.status, 200);
    let entries = audit(&dashboard).await;
    let by_user = |wanted: AuditAction| {
        entries.iter().any(|(actor, action, network)| {
            let is_person = matches!(actor, AuditActor::User(_));
            is_person && *action == wanted && network.as_deref() == Some("203.0.113.0/24")
        })
    };
    assert!(by_user(AuditAction::AccountCreated) && by_user(AuditAction::TicketMade), "{entries:?}");
    // The operator is no member, so the account's content stays out of reach.
    assert_eq!(operator.get(&format!("/{account}/links")).await.status, 404);
}

/// The link of the first answer stays valid, because the second one makes no other.
#[actix_web::test]
async fn d12_an_account_form_that_is_sent_twice_creates_one_account_with_one_invitation() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let key = operator.get(ACCOUNTS).await.hidden("idempotency_key");
    let form = |name| {
        [("idempotency_key", key.as_str()), ("email", "new@example.com"), ("name", name), ("plan", "pro")]
    };
    let made = operator.post(ACCOUNTS, &form("Bakery")).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let link = link_in(&made, "invitation");
    let account = account_with(&dashboard, "new@example.com").await.unwrap();
    let entries = audit(&dashboard).await;
    let again = operator.post(ACCOUNTS, &form("Bakery")).await;
    assert_eq!(again.status, 200, "{}", again.body);
    let back = format!("href=\"{ACCOUNTS}/{account}\"");
    for part in ["Account created", "The account of Bakery is on plan pro.", "was made and shown once", &back]
    {
        assert!(again.body.contains(part), "{part}: {}", again.body);
    }
    assert!(!again.body.contains("/invitation/"), "no page shows the link again: {}", again.body);
    let changed = operator.post(ACCOUNTS, &form("Brewery")).await;
    assert_eq!(changed.status, 422, "{}", changed.body);
    for part in ["This form was sent before with other content.", "value=\"Brewery\""] {
        assert!(changed.body.contains(part), "{part}: {}", changed.body);
    }
    assert_ne!(changed.hidden("idempotency_key"), key);
    assert_eq!(audit(&dashboard).await, entries, "nothing was done again");
    assert_eq!(dashboard.browser().get(&link).await.status, 200);
}

#[actix_web::test]
async fn a_refused_account_keeps_what_was_typed_and_names_the_field() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    for (form, reason) in [
        ([("email", "nobody"), ("name", "Kept"), ("plan", "pro")], "href=\"#f-email\""),
        ([("email", "TEAM@example.com"), ("name", "Kept"), ("plan", "pro")], "Is that of another account."),
        ([("email", "x@example.com"), ("name", "Kept"), ("plan", "gold")], "Must be one of the plans."),
    ] {
        let answer = operator.post(ACCOUNTS, &form).await;
        assert_eq!(answer.status, 422, "{form:?}");
        for kept in [reason, form[0].1, "value=\"Kept\""] {
            assert!(answer.body.contains(kept), "{form:?} without {kept}: {}", answer.body);
        }
    }
    assert_eq!(account_with(&dashboard, "x@example.com").await, None);
}

#[actix_web::test]
async fn d69_accounts_are_listed_with_their_usage_and_found_by_id_and_address() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let form = [("kind", "redirect"), ("target_url", "https://example.com/"), ("is_active", "on")];
    owner.post(&dashboard.path("links"), &form).await.followed_id();
    for number in 0..30 {
        dashboard.account(&format!("a{number}@example.com"), "free").await;
    }
    let first = operator.get(ACCOUNTS).await;
    assert_eq!(first.body.matches("class=\"name\"").count(), 25);
    assert!(first.body.contains("a29@example.com") && !first.body.contains("team@example.com"));
    let (before, _) = first.body.split_once("\">Older").unwrap();
    let older = before.rsplit("href=\"").next().unwrap();
    assert!(operator.get(older).await.body.contains("team@example.com"));
    for sought in [dashboard.account.to_string(), "TEAM@example.com".to_owned()] {
        let found = operator.get(&format!("{ACCOUNTS}?q={sought}")).await;
        assert_eq!(found.body.matches("class=\"name\"").count(), 1, "{}", found.body);
        assert!(found.body.contains("Links 1 of ") && found.body.contains("Tags 0 of "));
    }
    for sought in ["nobody@example.com", "acc_00000000000000000000000000000000", "team"] {
        let none = operator.get(&format!("{ACCOUNTS}?q={sought}")).await;
        assert!(none.body.contains("No account has this id or contact address"), "{}", none.body);
    }
}

#[actix_web::test]
async fn d69_the_page_of_an_account_lists_its_members_page_by_page() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let path = format!("{ACCOUNTS}/{}", dashboard.account);
    let empty = operator.get(&path).await.body;
    assert!(empty.contains("No user is a member of this account."), "{empty}");
    dashboard.member("owner@example.com", Role::Owner).await;
    for number in 0..25 {
        dashboard.member(&format!("m{number}@example.com"), Role::Viewer).await;
    }
    let page = operator.get(&path).await.body;
    assert_eq!(page.matches("href=\"/operator/users/usr_").count(), 25, "{page}");
    for part in ["<bdi>Ada</bdi></a> · <bdi>m24@example.com</bdi></dt><dd>Viewer</dd>", "Not required"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let (before, _) = page.split_once("\">Older").unwrap();
    let older = operator.get(before.rsplit("href=\"").next().unwrap()).await.body;
    assert!(older.contains("<bdi>owner@example.com</bdi></dt><dd>Owner</dd>"), "{older}");
}

#[actix_web::test]
async fn d69_the_page_of_an_account_has_the_requests_of_its_budget() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let page = async |account: AccountId| operator.get(&format!("{ACCOUNTS}/{account}")).await.body;
    let meter = |label: &str, counts: &str| {
        format!("<b>{label}</b><span class=\"num\">{counts}</span></div><svg class=\"meter")
    };
    let budget = dashboard.app.plans.get(&PlanName::parse("agency").unwrap()).unwrap().budget;
    let now = dashboard.app.clock.now();
    for _ in 0..3 {
        dashboard.app.quota.admit(dashboard.account, budget, now).await.unwrap();
    }
    let used = page(dashboard.account).await;
    for meter in [meter("This minute", "3 of 120"), meter("Today", "3 of 10,000")] {
        assert!(used.contains(&meter), "{meter}: {used}");
    }
    let free = page(dashboard.account("free@example.com", "free").await).await;
    assert!(free.contains("The plan has no API") && !free.contains("This minute"), "{free}");
    dashboard.memory.quota.set_unavailable(true);
    let unknown = page(dashboard.account).await;
    assert!(unknown.contains("The budget cannot be read right now."), "{unknown}");
}

#[actix_web::test]
async fn a_page_without_an_account_leads_to_the_accounts_of_the_person() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let links = format!("href=\"{}\"><bdi>team@example.com</bdi>", dashboard.path("links"));
    assert!(!operator.get("/me").await.body.contains("Your accounts"), "the operator is no member");
    let joins = Some((dashboard.account, Role::Viewer));
    let both = dashboard.invited("both@example.com", joins, true).await;
    for path in ["/me", "/me/second-factor", ACCOUNTS, "/operator/health", "/audit"] {
        let page = both.get(path).await.body;
        assert!(page.contains("Your accounts") && page.contains(&links), "{path}: {page}");
        assert!(page.contains("href=\"/accounts\""), "{path}: {page}");
    }
    assert!(!both.get(&dashboard.path("links")).await.body.contains("Your accounts"));
}

#[actix_web::test]
async fn d69_plan_and_suspension_hold_for_the_next_request_and_are_recorded() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let path = format!("{ACCOUNTS}/{}", dashboard.account);
    let moved = operator.post(&format!("{path}/plan"), &[("plan", "free")]).await;
    assert_eq!(moved.location(), format!("{path}?said=plan-changed"));
    assert!(owner.get(&dashboard.path("usage")).await.body.contains("free"));
    assert_eq!(operator.post(&format!("{path}/plan"), &[("plan", "gold")]).await.status, 422);
    operator.post(&format!("{path}/suspend"), &[]).await;
    for screen in ["links", "analytics", "members", "settings"] {
        let page = owner.get(&dashboard.path(screen)).await.body;
        assert!(page.contains("its links do not open") && page.contains("Ask the operator"), "{screen}");
    }
    let page = operator.get(&path).await;
    assert!(page.body.contains("Suspended since") && page.body.contains("Resume account"), "{}", page.body);
    operator.post(&format!("{path}/resume"), &[]).await;
    assert!(!owner.get(&dashboard.path("links")).await.body.contains("suspended"));
    let actions: Vec<AuditAction> =
        audit(&dashboard).await.into_iter().map(|(_, action, _)| action).collect();
    let expected = [AuditAction::AccountResumed, AuditAction::AccountSuspended, AuditAction::PlanChanged];
    assert_eq!(actions[..3], expected);
}

#[actix_web::test]
async fn d73_a_deletion_says_what_it_deletes_and_needs_the_address() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let form = [("kind", "redirect"), ("target_url", "https://example.com/"), ("is_active", "on")];
    owner.post(&dashboard.path("links"), &form).await.followed_id();
    owner.post(&dashboard.path("groups"), &[("name", "Menus")]).await;
    dashboard.key().await;
    let path = format!("{ACCOUNTS}/{}/delete", dashboard.account);
    let asked = operator.get(&path).await;
    let losses = "the account team@example.com with 1 link, 1 group, 0 custom domains, 0 pixels, 0 tags, 1 valid key, 1 \
                  member and 0 recorded clicks (without those of the last minute)";
    assert!(asked.body.contains(losses), "{}", asked.body);
    let refused = operator.post(&path, &[("email", "other@example.com")]).await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("Must be team@example.com") && refused.body.contains("other@example.com"));
    assert_eq!(owner.get(&dashboard.path("links")).await.status, 200);
    let deleted = operator.post(&path, &[("email", "TEAM@example.com ")]).await;
    assert_eq!(deleted.location(), "/operator/accounts?said=account-deleted", "{}", deleted.body);
    assert_eq!(owner.get(&dashboard.path("links")).await.status, 404);
    assert!(owner.is_signed_in().await, "members keep their users");
    assert_eq!(operator.get(&path).await.status, 404);
    let (actor, action, _) = audit(&dashboard).await.remove(0);
    assert!(matches!(actor, AuditActor::User(_)) && action == AuditAction::AccountDeleted);
}

#[actix_web::test]
async fn d73_operators_confirm_the_password_and_lose_nothing_that_they_typed() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    dashboard.memory.clock.advance(Duration::from_mins(16));
    let path = format!("{ACCOUNTS}/{}", dashboard.account);
    for shown in [ACCOUNTS, &path, &format!("{path}/delete"), "/operator/users"] {
        let answer = operator.get(shown).await;
        assert_eq!(answer.location(), format!("/confirm?next={}", shown.replace('/', "%2F")));
    }
    let form = [("email", "new@example.com"), ("name", "Bakery"), ("plan", "pro")];
    let asked = operator.post(ACCOUNTS, &form).await;
    let confirmed = operator.post("/confirm", &[("password", PASSWORD), ("next", &next_of(&asked))]).await;
    assert_eq!(confirmed.status, 303, "{}", confirmed.body);
    let again = operator.get(confirmed.location()).await;
    assert!(again.body.contains("value=\"new@example.com\"") && again.body.contains("value=\"Bakery\""));
    assert_eq!(account_with(&dashboard, "new@example.com").await, None, "a GET creates nothing");
}

/// The value of `next` in the address of the confirmation.
fn next_of(answer: &Answer) -> String {
    let (_, query) = answer.location().split_once('?').unwrap();
    url::form_urlencoded::parse(query.as_bytes()).next().unwrap().1.into_owned()
}

/// The operator was disabled while the request was on its way.
#[actix_web::test]
async fn d69_what_an_operator_does_ends_with_the_session() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let user = "o@example.com".parse().unwrap();
    signpost_app::people::users::disable(&dashboard.app, &Operator::COMMAND, &user).await.unwrap();
    let answer = operator.post(&format!("{ACCOUNTS}/{}/suspend", dashboard.account), &[]).await;
    assert!(answer.location().starts_with("/sign-in"), "{answer:?}");
    let account = dashboard.app.store.account(dashboard.account).await.unwrap().unwrap();
    assert!(!account.is_suspended());
    accounts::suspend(&dashboard.app, &Operator::COMMAND, dashboard.account).await.unwrap();
}
