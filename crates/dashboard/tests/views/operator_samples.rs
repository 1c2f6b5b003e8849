//! Samples of the pages for operators.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    DeleteAccountPage, Field, FoundFailures, HealthRow, Meter, NavItem, NodeList, NodeRow,
    OperatorAccountPage, OperatorAccountRow, OperatorAccountsPage, OperatorHealthPage, OperatorLinkPage,
    OperatorMemberRow, OperatorSignInsPage, OperatorUserPage, OperatorUserRow, OperatorUsersPage, Pager,
    Select, SettingsPage, Shell,
};

use crate::link_samples::LONG;
use crate::people_samples::open_invitations;
use crate::samples::{Maker, form, key};

const ACCOUNT: &str = "acc_019b5a3b11aa7c3e8899aabbccddee01";
const USER: &str = "usr_019b5a3b11aa7c3e8899aabbccddee01";

pub(crate) fn add(m: &Maker) {
    accounts(m);
    account(m);
    users(m);
    user(m);
    sign_ins(m);
    health(m);
}

/// A frame without an account, as pages for operators have it.
pub(crate) fn shell(m: &Maker, title: &str, nav: NavItem) -> Shell {
    m.own_shell(title, nav)
}

fn plans(m: &Maker) -> Select {
    m.select(&[("agency", "agency"), ("free", "free"), ("pro", "pro"), ("unlimited", "unlimited")])
}

fn accounts(m: &Maker) {
    let usage = ["Links 4,997 of 5,000", "Groups 12 of 100", "Domains 3 of 10", "Pixels 0 of 20"];
    let row = |number: usize| OperatorAccountRow {
        id: format!("acc_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        name: m.w(["Morgenbrot Bakery", LONG, "قائمة الطعام والمشروبات"][number % 3]),
        email: m.some("ines@morgenbrot.example"),
        plan: m.w("agency"),
        usage: usage.map(|text| m.w(text)).to_vec(),
        is_suspended: number == 2,
        created: m.w("26 Nov 2026"),
    };
    let full = OperatorAccountsPage {
        shell: shell(m, ENGLISH.operator.accounts, NavItem::Accounts),
        sought: String::new(),
        rows: (0..25).map(row).collect(),
        pager: Pager { newest: m.some("accounts"), older: m.some("?after=x") },
        form: form(400),
        email: Field::default(),
        name: Field::default(),
        plan: plans(m),
    };
    m.add("operator-accounts", &full);
    let nothing = OperatorAccountsPage { rows: Vec::new(), pager: Pager::default(), ..full.clone() };
    m.add("operator-accounts-empty", &nothing);
    m.add("operator-accounts-none", &OperatorAccountsPage { sought: m.w("nobody@example.com"), ..nothing });
    let plan = Select { error: m.some("Must be one of the plans."), ..plans(m) };
    let email = m.bad("nobody", "Must contain `@`.");
    let rows = vec![OperatorAccountRow { email: None, ..row(0) }];
    m.add(
        "operator-accounts-error",
        &OperatorAccountsPage { rows, email, plan, form: m.refused(400), ..full },
    );
}

fn meter(m: &Maker, used: u64) -> Meter {
    Meter {
        label: m.w("Links"),
        used,
        allowed: 5_000,
        used_text: m.w("4,997"),
        allowed_text: m.w("5,000"),
        note: m.w("Starts again at 00:00 UTC."),
    }
}

fn member_row(m: &Maker, number: usize) -> OperatorMemberRow {
    let OperatorUserRow { id, name, email, is_disabled, .. } = user_row(m, number);
    OperatorMemberRow { id, name, email, role: m.w("Editor"), is_disabled }
}

fn account(m: &Maker) {
    let full = OperatorAccountPage {
        shell: shell(m, "Morgenbrot Bakery", NavItem::Accounts),
        id: ACCOUNT.to_owned(),
        email: m.w("ines@morgenbrot.example"),
        problem: None,
        suspended_since: None,
        created: m.w("26 Nov 2026, 20:47"),
        limits: vec![meter(m, 12), meter(m, 4_500), meter(m, 5_000), meter(m, 0)],
        requests: vec![meter(m, 12), meter(m, 4_500)],
        no_requests: ENGLISH.operator.plan_without_api,
        requires_second_factor: true,
        members: (0..25).map(|number| member_row(m, number)).collect(),
        pager: Pager { newest: m.some("accounts"), older: m.some("?after=x") },
        invitations: open_invitations(m, "/operator/invitations/withdraw", Some(ACCOUNT.to_owned())),
        form: form(410),
        plan: plans(m),
    };
    m.add("operator-account", &full);
    let suspended = OperatorAccountPage {
        problem: m.some("This node does not know the plan gold."),
        suspended_since: m.some("26 Nov 2026, 20:47"),
        limits: Vec::new(),
        requests: Vec::new(),
        requires_second_factor: false,
        members: Vec::new(),
        pager: Pager::default(),
        plan: Select { error: m.some("Must be one of the plans."), ..plans(m) },
        ..full
    };
    m.add("operator-account-error", &suspended);
    let counts = "5,000 links, 12 groups, 3 custom domains, 0 pixels, 2 valid keys, 4 members and 1,204,311 recorded clicks (without those of the last minute)";
    let settings = SettingsPage {
        shell: m.shell(ENGLISH.operator.account_settings, NavItem::Settings),
        form: form(419),
        name: m.field("Morgenbrot Bakery"),
        email: m.field("a-rather-long-address@department.morgenbrot.example"),
        can_change: true,
        requires_second_factor: false,
        missing_factors: m.some(&(ENGLISH.second_factor.missing_of)(3, 100, false)),
        plan: m.w("agency"),
        created: m.w("26 Nov 2026, 20:47"),
        why_not_delete: None,
    };
    m.add("settings", &settings);
    let refused = SettingsPage {
        form: m.refused(419),
        name: m.bad("\u{1}", "Must not contain control characters."),
        email: m.bad("nobody", "Must contain `@`."),
        requires_second_factor: true,
        missing_factors: None,
        ..settings.clone()
    };
    m.add("settings-error", &refused);
    let own_shell = m.loud_shell(ENGLISH.operator.account_settings, NavItem::Settings);
    m.add(
        "settings-viewer",
        &SettingsPage {
            shell: own_shell,
            why_not_delete: Some(ENGLISH.operator.delete_owner_only),
            name: Field::default(),
            can_change: false,
            missing_factors: None,
            ..settings
        },
    );
    let deletion = DeleteAccountPage {
        shell: shell(m, ENGLISH.operator.delete_account, NavItem::Accounts),
        action: format!("/operator/accounts/{ACCOUNT}/delete"),
        back: format!("/operator/accounts/{ACCOUNT}"),
        back_label: ENGLISH.operator.back_to_account,
        losses: m.w(&(ENGLISH.operator.delete_account_text)("ines@morgenbrot.example", counts)),
        email: m.w("ines@morgenbrot.example"),
        form: form(420),
        typed: Field::default(),
    };
    m.add("operator-delete", &deletion);
    let typed = m.bad("someone@example.com", "Must be ines@morgenbrot.example.");
    m.add("operator-delete-error", &DeleteAccountPage { typed, ..deletion });
}

fn user_row(m: &Maker, number: usize) -> OperatorUserRow {
    OperatorUserRow {
        id: format!("usr_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        name: m.w(["Ines Okafor", LONG, "محمد الأحمد"][number % 3]),
        email: m.some("ines@morgenbrot.example"),
        is_operator: number.is_multiple_of(4),
        is_disabled: number == 3,
        is_self: number == 0,
        created: m.w("26 Nov 2026"),
    }
}

fn users(m: &Maker) {
    let roles = [("viewer", "Viewer"), ("editor", "Editor"), ("owner", "Owner")];
    let full = OperatorUsersPage {
        shell: shell(m, ENGLISH.operator.users, NavItem::Users),
        sought: String::new(),
        rows: (0..25).map(|number| user_row(m, number)).collect(),
        pager: Pager { newest: m.some("users"), older: m.some("?after=x") },
        invitations: open_invitations(m, "/operator/invitations/withdraw", None),
        form: form(430),
        email: Field::default(),
        account: Field::default(),
        role: m.select(&roles),
        is_operator: false,
    };
    m.add("operator-users", &full);
    let sought = m.w("nobody@example.com");
    let (rows, pager) = (Vec::new(), Pager::default());
    m.add("operator-users-none", &OperatorUsersPage { sought, rows, pager, ..full.clone() });
    let refused = OperatorUsersPage {
        rows: vec![OperatorUserRow { email: None, ..user_row(m, 0) }],
        form: m.refused(430),
        email: m.bad("nobody", "Must contain `@`."),
        account: m.bad("gone@example.com", ENGLISH.operator.must_be_account),
        role: Select { error: m.some("Must be one of the roles."), ..m.select(&roles) },
        is_operator: true,
        ..full
    };
    m.add("operator-users-error", &refused);
}

fn user(m: &Maker) {
    let full = OperatorUserPage {
        shell: shell(m, "Ines Okafor", NavItem::Users),
        user: OperatorUserRow { id: USER.to_owned(), is_self: false, ..user_row(m, 0) },
        email: m.w("ines@morgenbrot.example"),
        factor_since: m.some("26 Nov 2026, 20:47"),
        connected_since: m.some("26 Nov 2026, 20:47"),
        disabled_since: None,
        accounts: [LONG, "Morgenbrot Bakery"]
            .map(|name| (ACCOUNT.to_owned(), m.w(name), m.w("Owner")))
            .to_vec(),
        idempotency_key: key(440),
    };
    m.add("operator-user", &full);
    let own = OperatorUserRow { is_self: true, ..full.user.clone() };
    m.add(
        "operator-user-own",
        &OperatorUserPage { user: own, factor_since: None, accounts: Vec::new(), ..full.clone() },
    );
    m.add(
        "operator-user-disabled",
        &OperatorUserPage { disabled_since: m.some("26 Nov 2026, 20:47"), ..full },
    );
    let url =
        "https://links.example.com/reset/3f0c2a4e9b7d5f1133557799bbddff00aa22446688cceef013579bdf02468ace";
    let link = OperatorLinkPage {
        shell: shell(m, ENGLISH.operator.title_reset, NavItem::Users),
        back: (format!("/operator/users/{USER}"), m.w(LONG)),
        what: m.w(&(ENGLISH.operator.reset_made)("Ines Okafor")),
        email: m.w("ines@morgenbrot.example"),
        url: m.some(url),
        once: ENGLISH.operator.reset_once,
        shown_once: m.w(&(ENGLISH.operator.reset_shown_once)("Ines Okafor")),
        message: m.w(&(ENGLISH.operator.reset_message)(url)),
    };
    m.add("operator-link", &link);
    m.add("operator-link-repeated", &OperatorLinkPage { url: None, message: String::new(), ..link });
}

fn sign_ins(m: &Maker) {
    let full = OperatorSignInsPage {
        shell: shell(m, ENGLISH.operator.sign_ins, NavItem::SignIns),
        form: form(450),
        email: Field::default(),
        address: Field::default(),
        found: Vec::new(),
        can_forget: false,
        limits: [
            (ENGLISH.operator.limit_per_address, ENGLISH.operator.limit_per_address_is),
            (ENGLISH.operator.limit_per_pair, "30 s, 1 min, 2 min, 4 min, 8 min, 15 min, and so on"),
        ]
        .map(|(name, value)| (name, m.w(value)))
        .to_vec(),
    };
    m.add("operator-sign-ins", &full);
    let wait = m.w("Wait 2 minutes.");
    let found = ["7 failed passwords count.", "7 wrong codes count."]
        .map(|count| FoundFailures { waits: true, count: m.w(count), wait: wait.clone() })
        .to_vec();
    let (email, address) = (m.field("ines@morgenbrot.example"), m.field("2001:db8:1:2:3:4:5:6"));
    m.add(
        "operator-sign-ins-waits",
        &OperatorSignInsPage { found, can_forget: true, email, address, ..full.clone() },
    );
    let (email, address) = (m.bad("nobody", "Must contain `@`."), m.bad("nowhere", "Must be an IP address."));
    m.add("operator-sign-ins-error", &OperatorSignInsPage { email, address, ..full });
}

/// A node that answers, others that are heard from, and some that are silent, replaced or failing.
fn nodes(m: &Maker) -> NodeList {
    let texts = ENGLISH.operator;
    let works = NodeRow {
        name: m.w("web-1.internal.example.com"),
        is_here: false,
        state: texts.works,
        is_silent: false,
        is_failing: false,
        what: m.w("Version 0.1.0, started 26 Nov 2026, 20:47."),
        heard: (texts.node_heard)("4 seconds"),
        failing: Vec::new(),
    };
    let here = NodeRow { is_here: true, heard: String::new(), ..works.clone() };
    let silent = NodeRow {
        name: m.w(LONG),
        state: texts.silent,
        is_silent: true,
        heard: (texts.node_not_heard)("3 minutes"),
        ..works.clone()
    };
    let error = ((texts.node_error)("Redis", "26 Nov 2026, 20:47"), m.w(LONG));
    let failing = NodeRow { state: texts.fails, is_failing: true, failing: vec![error; 2], ..works.clone() };
    let replaced =
        NodeRow { state: texts.replaced, heard: (texts.node_replaced)("5 hours"), ..works.clone() };
    let rows = [here, silent.clone(), silent, failing, replaced].into_iter();
    NodeList { rows: rows.chain((0..5).map(|_| works.clone())).collect(), note: (texts.more_nodes)("12") }
}

fn health(m: &Maker) {
    let row = |name: &str, is_failing: bool| HealthRow {
        name: m.w(name),
        what: "Takes recorded clicks. While it is away, they wait in the spool.",
        state: if is_failing { ENGLISH.operator.fails } else { ENGLISH.operator.works },
        is_failing,
        worked: m.w("Last worked: 26 Nov 2026, 20:47."),
        last_error: is_failing.then(|| (m.w(LONG), m.w("26 Nov 2026, 20:47"))),
    };
    let names =
        ["Database, reading", "Database, writing", "Change log", "Redis", "Click store", "Spool of clicks"];
    let full = OperatorHealthPage {
        shell: shell(m, ENGLISH.operator.health, NavItem::Health),
        refusals: Some(vec![
            ((ENGLISH.operator.refused_api)(&m.w("validation_failed")), m.w("1,204,311")),
            (m.w(ENGLISH.operator.refused_sign_ins), m.w("4")),
        ]),
        state: (m.w(ENGLISH.operator.all_works), false),
        warnings: Vec::new(),
        nodes: None,
        facts: vec![
            (ENGLISH.operator.version, m.w("0.1.0")),
            (ENGLISH.operator.now, m.w("26 Nov 2026, 20:47")),
        ],
        parts: names.map(|name| row(name, false)).to_vec(),
        jobs: (0..16).map(|_| row("delete-expired-people", false)).collect(),
    };
    m.add("operator-health", &full);
    let failing = OperatorHealthPage {
        refusals: None,
        state: (m.w(&(ENGLISH.operator.some_fail)(22)), true),
        warnings: vec![(ENGLISH.operator.nodes_silent)(2), (ENGLISH.operator.nodes_fail)(2)],
        nodes: Some(nodes(m)),
        parts: names.map(|name| row(name, true)).to_vec(),
        jobs: (0..16).map(|_| row("delete-expired-people", true)).collect(),
        ..full.clone()
    };
    m.add("operator-health-error", &failing);
    let note = (ENGLISH.operator.no_nodes)(&m.w("the store cannot be reached"));
    let unread = Some(NodeList { rows: Vec::new(), note });
    m.add(
        "operator-health-empty",
        &OperatorHealthPage { refusals: Some(Vec::new()), jobs: Vec::new(), nodes: unread, ..full },
    );
}
