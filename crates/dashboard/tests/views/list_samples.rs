//! Samples of an account's other pages.

use signpost_dashboard::texts::ENGLISH;
use signpost_dashboard::views::{
    Choice, CurlExample, Field, GroupRow, GroupsPage, IssueKeyForm, IssuedKeyPage, KeyRow, KeyState,
    KeysPage, LinkTag, Meter, NavItem, Notice, Pager, PixelRow, PixelsPage, PlanFeature, Select, TagRow,
    TagsPage, UsagePage,
};

use crate::link_samples::LONG;
use crate::samples::{Maker, form, key};

pub(crate) fn add(m: &Maker) {
    groups(m);
    tags(m);
    pixels(m);
    keys(m);
    usage(m);
}

fn groups(m: &Maker) {
    let row = |number: usize, name: &str| GroupRow {
        id: format!("grp_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        name: m.w(name),
        redirects: m.w(&(ENGLISH.count_redirects)(number)),
        landings: m.w(&(ENGLISH.count_landings)(1)),
        revision: m.w("7"),
        idempotency_key: key(130 + number),
        rename: None,
    };
    let mut shell = m.shell(ENGLISH.groups, NavItem::Groups);
    shell.notice = Some(Notice::ok(m.w(ENGLISH.said.group_created)));
    let mut rows: Vec<_> = ["Newsletter", "Print", "العربية", LONG, "Partners 🥐"]
        .iter()
        .enumerate()
        .map(|(at, name)| row(at, name))
        .collect();
    let pager = Pager { newest: m.some("groups"), older: m.some("?after=x") };
    let full = GroupsPage {
        shell,
        can_write: true,
        rows: rows.clone(),
        pager,
        part: m.w("?after=x"),
        form: form(128),
        name: Field::default(),
    };
    m.add("groups", &full);
    m.add(
        "groups-empty",
        &GroupsPage { rows: Vec::new(), pager: Pager::default(), part: String::new(), ..full.clone() },
    );
    rows[1].rename = Some(m.bad("", "A name has 1 to 100 characters."));
    let name = m.bad(LONG, "Your plan allows 5 groups.");
    m.add("groups-error", &GroupsPage { rows, name, form: m.refused(128), ..full.clone() });
    let shell = m.loud_shell(ENGLISH.groups, NavItem::Groups);
    m.add("groups-viewer", &GroupsPage { shell, can_write: false, ..full });
}

fn tags(m: &Maker) {
    let row = |number: usize, name: &str| TagRow {
        id: format!("tag_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        tag: LinkTag { name: m.w(name), query: m.w("?tag=mail") },
        links: m.w(&(ENGLISH.tags.count_links)(number)),
        idempotency_key: key(140 + number),
        rename: None,
    };
    let names = ["mail", "Sale", "العربية", &"Fifty ".repeat(8), "🥐"];
    let mut rows: Vec<_> = names.iter().enumerate().map(|(at, name)| row(at, name)).collect();
    let full = TagsPage {
        shell: m.shell(ENGLISH.tags.title, NavItem::Links),
        can_write: true,
        rows: rows.clone(),
        pager: Pager::default(),
        part: String::new(),
    };
    m.add("tags", &full);
    m.add("tags-empty", &TagsPage { rows: Vec::new(), ..full.clone() });
    rows[1].rename = Some(m.bad("a,b", "A name has no commas."));
    m.add("tags-error", &TagsPage { rows, ..full.clone() });
    m.add("tags-viewer", &TagsPage { can_write: false, ..full });
}

fn pixels(m: &Maker) {
    let row = |number: usize, vendor: &str, id: &str, name: Option<&str>| PixelRow {
        id: format!("pxl_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        vendor: m.w(vendor),
        pixel_id: m.w(id),
        name: name.map(|name| m.w(name)),
        created: m.w("26 Nov"),
        idempotency_key: key(150 + number),
    };
    let full = PixelsPage {
        shell: m.shell(ENGLISH.pixels, NavItem::Pixels),
        can_write: true,
        unavailable: None,
        rows: vec![
            row(1, "Meta", "123456789012345", Some("Shop")),
            row(2, "Google Tag Manager", "GTM-AB12CDE", None),
            row(3, "Snapchat", "1a2b3c4d-1234-5678-9abc-1a2b3c4d5e6f", Some(LONG)),
        ],
        pager: Pager::default(),
        form: form(148),
        pixel_type: m.select(&[("meta", "Meta"), ("google_tag_manager", "Google Tag Manager")]),
        pixel_id: Field::default(),
        name: Field::default(),
    };
    m.add("pixels", &full);
    m.add("pixels-empty", &PixelsPage { rows: Vec::new(), ..full.clone() });
    let refused = PixelsPage {
        pixel_type: Select { error: m.some("There is no such vendor."), ..full.pixel_type.clone() },
        pixel_id: m.bad("12", "An id of Meta has 15 or 16 digits."),
        name: m.bad(LONG, "A name has at most 100 characters."),
        form: m.refused(148),
        ..full.clone()
    };
    m.add("pixels-error", &refused);
    m.add("pixels-plan", &PixelsPage { unavailable: m.some(ENGLISH.plan_without_pixels), ..full });
}

fn keys(m: &Maker) {
    let row = |number: usize, name: Option<&str>, state| KeyRow {
        id: format!("key_019b5a3b11aa7c3e8899aabbccdd{number:04}"),
        name: name.map(|name| m.w(name)),
        last_four: m.w("x7Qa"),
        issuer: (number % 2 == 1).then(|| m.w("Ines Okafor")),
        created: m.w("3 Nov"),
        last_used: (number % 2 == 1).then(|| m.w("today, 20:41")),
        expires: (number % 2 == 1).then(|| m.w("3 Feb 2027")),
        scopes: if number == 1 { vec![m.w("Read"), m.w("Links")] } else { Vec::new() },
        state,
        idempotency_key: key(170 + number),
    };
    let scopes =
        [("read", ENGLISH.scope_read), ("links", ENGLISH.scope_links), ("domains", ENGLISH.scope_domains)];
    let issue = IssueKeyForm {
        form: form(168),
        name: Field::default(),
        expires: m.select(&[("never", "Never"), ("30", "In 30 days")]),
        all_scopes: false,
        scopes: scopes.map(|(value, label)| Choice::new(value, m.w(label), value == "read")).to_vec(),
        scopes_error: None,
    };
    let full = KeysPage {
        shell: m.shell(ENGLISH.keys, NavItem::Keys),
        can_manage: true,
        unavailable: None,
        rows: vec![
            row(1, Some("Newsletter script"), KeyState::Active),
            row(2, None, KeyState::Active),
            row(3, Some(LONG), KeyState::Expired),
            row(4, Some("Old laptop"), KeyState::Revoked),
        ],
        pager: Pager::default(),
        issue,
    };
    m.add("keys", &full);
    let refused = IssueKeyForm {
        form: m.refused(168),
        name: m.bad(LONG, "A name has at most 100 characters."),
        expires: Select { error: m.some("Choose one of the times."), ..full.issue.expires.clone() },
        scopes_error: m.some("Choose at least one permission."),
        ..full.issue.clone()
    };
    let unavailable = m.some(ENGLISH.plan_without_api);
    let refused =
        KeysPage { issue: refused, unavailable: unavailable.clone(), rows: Vec::new(), ..full.clone() };
    m.add("keys-error", &refused);
    let shell = m.loud_shell(ENGLISH.keys, NavItem::Keys);
    m.add("keys-viewer", &KeysPage { shell, can_manage: false, ..full });
    let command = "curl http://localhost:8080/v1/account -H \"Authorization: Bearer sk_live_Zr8m2Vq5Yt1Wd7Xh3Lp9Kc4Nb6Gs0JfEuAoTiRx7Qa\"";
    let issued = IssuedKeyPage {
        shell: m.shell(ENGLISH.title_key_issued, NavItem::Keys),
        name: m.some("Newsletter script"),
        last_four: m.w("x7Qa"),
        secret: m.some("sk_live_Zr8m2Vq5Yt1Wd7Xh3Lp9Kc4Nb6Gs0JfEuAoTiRx7Qa"),
        example: Some(CurlExample { title: m.w("Try it"), command: m.w(command) }),
        unavailable: None,
    };
    m.add("key-issued", &issued);
    m.add("key-repeated", &IssuedKeyPage { secret: None, name: None, example: None, unavailable, ..issued });
}

fn usage(m: &Maker) {
    let meter = |label: &str, used, allowed, used_text: &str, allowed_text: &str, note: &str| Meter {
        label: m.w(label),
        used,
        allowed,
        used_text: m.w(used_text),
        allowed_text: m.w(allowed_text),
        note: m.w(note),
    };
    let feature = |name: &str, included| PlanFeature { name: m.w(name), included };
    let full = UsagePage {
        shell: m.shell(ENGLISH.usage, NavItem::Usage),
        plan: m.w("agency"),
        requests: vec![
            meter("This minute", 12, 600, "12", "600", ""),
            meter("Today", 48_120, 50_000, "48,120", "50,000", ENGLISH.meter_day_note),
        ],
        limits: vec![
            meter("Links", 1_204, 5_000, "1,204", "5,000", ""),
            meter("Groups", 85, 100, "85", "100", ""),
            meter("Domains", 5, 5, "5", "5", ""),
            meter("Pixels", 0, 0, "0", "0", ""),
        ],
        analytics: m.w(&(ENGLISH.analytics_days)(365)),
        features: vec![
            feature("Custom domains", true),
            feature("Pixels", false),
            feature("Bot protection", true),
        ],
    };
    m.add("usage", &full);
    m.add("usage-unknown", &UsagePage { requests: Vec::new(), analytics: String::new(), ..full });
}
