//! Samples of the pages about members and the audit.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    AuditAccount, AuditFilterForm, AuditPage, AuditRow, Choice, Field, InvitationRow, InvitedPage, MemberRow,
    MembersPage, NavItem, OpenInvitations, Pager,
};
use signpost_domain::AuditAction;

use crate::link_samples::LONG;
use crate::samples::{Maker, form, key};

pub(crate) fn add(m: &Maker) {
    members(m);
    audit(m);
}

fn roles() -> Vec<Choice> {
    [("viewer", "Viewer"), ("editor", "Editor"), ("owner", "Owner")]
        .map(|(value, label)| Choice::new(value, label, value == "editor"))
        .to_vec()
}

/// Invitations of every kind.
pub(crate) fn open_invitations(m: &Maker, action: &str, account: Option<String>) -> OpenInvitations {
    let row = |email: &str, gives: &str| InvitationRow {
        email: m.w(email),
        gives: m.w(gives),
        until: m.w("3 Dec 2026, 20:47"),
    };
    OpenInvitations {
        rows: vec![
            row("zoe@morgenbrot.example", "Editor"),
            row("someone.with.a.long.address@department.example.org", "Owner, Operator"),
        ],
        is_cut: true,
        action: action.to_owned(),
        account,
        idempotency_key: key(298),
    }
}

fn members(m: &Maker) {
    let row = |number: usize, name: &str, email: Option<&str>, is_self| MemberRow {
        id: format!("usr_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        name: m.w(name),
        email: email.map(|email| m.w(email)),
        role: m.w("Editor"),
        roles: roles(),
        joined: m.w("26 Nov 2026"),
        is_self,
        is_disabled: number == 3,
        has_second_factor: number != 4,
        idempotency_key: key(300 + number),
    };
    let rows = vec![
        row(0, "Ines Okafor", Some("ines@morgenbrot.example"), true),
        row(1, "someone.with.a.long.address@department.example.org", None, false),
        row(2, "محمد الأحمد", Some("m@morgenbrot.example"), false),
        row(3, LONG, Some("long@morgenbrot.example"), false),
        row(4, "Zoë 🥐", Some("zoe@morgenbrot.example"), false),
    ];
    let full = MembersPage {
        shell: m.shell(ENGLISH.members, NavItem::Members),
        can_manage: true,
        rows,
        pager: Pager { newest: m.some("members"), older: m.some("?after=x") },
        invitations: open_invitations(m, "/acc_019b5a3b11aa7c3e8899aabbccddee01/members/withdraw", None),
        form: form(299),
        email: Field::default(),
        role: m.select(&[("viewer", "Viewer"), ("editor", "Editor"), ("owner", "Owner")]),
    };
    m.add("members", &full);
    let alone = full.rows[..1].to_vec();
    let (pager, invitations) = (Pager::default(), OpenInvitations::default());
    m.add("members-alone", &MembersPage { rows: alone, pager, invitations, ..full.clone() });
    m.add("members-waits", &MembersPage { email: m.field("zoe@morgenbrot.example"), ..full.clone() });
    let email = m.bad("nobody", "Must contain `@`.");
    m.add("members-error", &MembersPage { email, form: m.refused(299), ..full.clone() });
    let shell = m.loud_shell(ENGLISH.members, NavItem::Members);
    let others = full.rows[1..].to_vec();
    let invitations = OpenInvitations::default();
    m.add("members-viewer", &MembersPage { shell, can_manage: false, rows: others, invitations, ..full });

    let url = "https://links.example.com/invitation/3f0c2a4e9b7d5f1133557799bbddff00aa22446688cceef013579bdf02468ace";
    let invited = InvitedPage {
        shell: m.shell(ENGLISH.title_invited, NavItem::Members),
        email: m.w("zoe@morgenbrot.example"),
        gives: m.w(&(ENGLISH.operator.invitation_makes_member)(
            "Morgenbrot Bakery",
            "Editor",
            ENGLISH.role_editor_does,
        )),
        url: m.some(url),
        message: m.w(&(ENGLISH.invited_text)("Morgenbrot Bakery", url)),
    };
    m.add("invited", &invited);
    m.add("invited-repeated", &InvitedPage { url: None, message: String::new(), ..invited });
}

fn filter(m: &Maker, account: Option<String>) -> AuditFilterForm {
    let action = |action: &AuditAction| Choice::new(action.as_str(), (ENGLISH.audit_action)(*action), false);
    AuditFilterForm {
        action: "/audit".to_owned(),
        actions: AuditAction::ALL.iter().map(action).collect(),
        from: m.w("2026-11-01"),
        account,
        ..AuditFilterForm::default()
    }
}

fn audit(m: &Maker) {
    let row = |action: &AuditAction| AuditRow {
        action: (ENGLISH.audit_action)(*action),
        object: m.w("rdr_019b5a3b11aa7c3e8899aabbccddee01 rdr_019b5a3b11aa7c3e8899aabbccddee02 and 98 more"),
        actor: m.w("Ines Okafor"),
        network: m.w("203.0.113.0/24"),
        account: None,
        at: m.w("26 Nov 2026, 20:47"),
    };
    let mut rows: Vec<AuditRow> = AuditAction::ALL.iter().take(25).map(row).collect();
    rows[1] = AuditRow {
        actor: m.w(ENGLISH.by_command),
        network: String::new(),
        object: String::new(),
        ..rows[1].clone()
    };
    rows[2].actor = m.w(LONG);
    let full = AuditPage {
        shell: m.shell(ENGLISH.audit, NavItem::Audit),
        lead: ENGLISH.audit_lead,
        rows,
        pager: Pager { newest: m.some("audit"), older: m.some("?after=x") },
        export: "/acc_019b5a3b11aa7c3e8899aabbccddee01/audit.ndjson".to_owned(),
        filter: filter(m, None),
    };
    m.add("audit", &full);
    m.add("audit-empty", &AuditPage { rows: Vec::new(), pager: Pager::default(), ..full.clone() });
    let rows = full.rows.iter().cloned();
    let account = m.some("acc_019b5a3b11aa7c3e8899aabbccddee01");
    let names = [Some("Morgenbrot Bakery"), Some(LONG), None].into_iter().cycle();
    let of = |name: Option<&str>| {
        let id = "acc_019b5a3b11aa7c3e8899aabbccddee01".to_owned();
        Some(AuditAccount { id, name: name.map(|name| m.w(name)) })
    };
    let rows = rows.zip(names).map(|(row, name)| AuditRow { account: of(name), ..row }).collect();
    let shell = m.own_shell(ENGLISH.audit_all, NavItem::Audit);
    let searched = AuditFilterForm { text: m.w("rdr_"), who: m.w(LONG), count: 1, ..filter(m, None) };
    let problem = AuditFilterForm { problem: m.some("From: Must be a date."), ..searched.clone() };
    let nothing = AuditPage { rows: Vec::new(), pager: Pager::default(), ..full.clone() };
    m.add("audit-error", &AuditPage { filter: problem, ..nothing.clone() });
    let partial = AuditFilterForm { is_partial: true, ..searched };
    m.add("audit-partial", &AuditPage { filter: partial, ..nothing });
    m.add(
        "audit-all",
        &AuditPage { shell, rows, lead: ENGLISH.audit_all_lead, filter: filter(m, account), ..full.clone() },
    );
}
