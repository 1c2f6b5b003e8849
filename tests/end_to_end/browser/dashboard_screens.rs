//! Every screen of the dashboard, with nothing, with much and with errors, on small and large windows, light and dark.

use std::cell::Cell;
use std::env;

use serde_json::json;

use crate::accessibility::{assert_accessible, assert_fits};
use crate::dashboard::{Dashboard, EMAIL, origin_of};
use crate::dashboard_focus::{assert_focus_is_visible, assert_targets_are_large};
use crate::harness::{Person, Program};
use crate::soundness::assert_inert;
use crate::tab::Tab;
use crate::visitor::{Scheme, Visitor};

/// A word without a place to break, a name from right to left, and pictures.
const NAMES: [&str; 4] = [
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "قائمة الطعام والمشروبات لشهر رمضان",
    "🎧 Field recordings 👩‍👩‍👧‍👦",
    "Autumn sale",
];

/// Looks at screens of one tab.
pub(crate) struct Look<'a> {
    tab: &'a Tab,
    seen: Cell<usize>,
    wants_all: bool,
}

impl<'a> Look<'a> {
    pub(crate) fn of(tab: &'a Tab) -> Self {
        let wants_all =
            ["SIGNPOST_SOAK", "SIGNPOST_SCREENSHOTS"].iter().any(|name| env::var_os(name).is_some());
        Self { tab, seen: Cell::new(0), wants_all }
    }

    /// Asserts that the screen is sound: on each width and in each theme once, or with every width in every theme. 320 pixels
    /// are also what a window of 1280 pixels has left at 400 % (WCAG 1.4.10).
    #[track_caller]
    pub(crate) fn at(&self, name: &str) {
        let number = self.seen.replace(self.seen.get() + 1);
        let visitors = if self.wants_all {
            Visitor::default().on_every_screen()
        } else {
            let schemes = if number.is_multiple_of(2) { Scheme::ALL } else { [Scheme::Dark, Scheme::Light] };
            let of_width = |(width, scheme)| Visitor { width, scheme, ..Visitor::default() };
            [320, 1280].into_iter().zip(schemes).map(of_width).collect()
        };
        for visitor in visitors {
            self.tab.becomes(&visitor);
            let what = format!("dashboard-{name}-{}-{}", visitor.width, visitor.scheme.name());
            self.tab.screenshot(&what);
            // The bar of actions floats above the list unless the window shows its end.
            self.tab
                .run("if (document.querySelector('.rows :checked')) scrollTo(0, document.body.scrollHeight)");
            assert_accessible(self.tab, &what);
            assert_fits(self.tab, &what);
            assert_targets_are_large(self.tab, &what);
            assert_focus_is_visible(self.tab, &what);
        }
        self.tab.becomes(&Visitor::default());
    }
}

/// Opens everything that opens, such as menus that hide a form.
fn unfold(tab: &Tab, selector: &str) {
    tab.run(&format!("for (const it of document.querySelectorAll('{selector}')) it.open = true"));
}

fn look_at_empty_screens(dashboard: &Dashboard, look: &Look<'_>) {
    for (name, path) in [
        ("links-empty", "links"),
        ("new-redirect", "links/new"),
        ("new-landing", "links/new?kind=landing"),
        ("groups-empty", "groups"),
        ("pixels-empty", "pixels"),
        ("keys", "keys"),
        ("usage", "usage"),
        ("statistics-empty", "analytics"),
        ("members-alone", "members"),
        ("test-of-address", "test"),
        ("audit-empty", "audit?after=00000000000000000000000000000000"),
    ] {
        dashboard.screen(path);
        look.at(name);
    }
    for (name, path) in [
        ("me", "/me"),
        ("accounts", "/accounts"),
        ("confirm", "/confirm?next=/me"),
        ("missing", "/missing"),
        ("audit-of-all", "/audit"),
    ] {
        dashboard.visit(path);
        look.at(name);
    }
}

/// Fills the account, and looks at what refuses an input meanwhile.
fn look_at_errors(dashboard: &Dashboard, look: &Look<'_>) {
    let tab = &dashboard.tab;
    dashboard.screen("groups");
    dashboard.send("form.line", &[("name", NAMES[0])]);
    dashboard.send("form.line", &[("name", "")]);
    look.at("groups-error");
    dashboard.screen("pixels");
    dashboard.send("form.line", &[("pixel_id", "G-1A2BCD345E"), ("name", NAMES[1])]);
    dashboard.send("form.line", &[("pixel_id", "<b>")]);
    look.at("pixels-error");
    dashboard.screen("links/new");
    // The clock shows the first time twice, and the second never.
    let life = [
        ("zone", "Europe/Berlin"),
        ("starts_at", "2026-10-25T02:30"),
        ("expires_at", "2026-03-29T02:30:07.042"),
        ("fallback_url", "ftp://"),
    ];
    let values = [("target_url", "ftp://"), ("slug", "a b"), ("name", NAMES[0]), ("countries", "Germany")];
    let long = "utm".repeat(100);
    let way = [
        ("max_clicks", "many"),
        ("redirect_status", "308"),
        ("forward_query", "true"),
        ("utm_source", &long),
        ("link_password", "abc"),
        ("preview_description", NAMES[0]),
        ("preview_image_url", "ftp://"),
    ];
    dashboard.send("main form", &[&values[..], &life, &way].concat());
    look.at("new-redirect-error");
    dashboard.screen("links/new?kind=landing");
    dashboard
        .send("main form", &[&[("title", ""), ("slug", "/"), ("link_password", "fine")][..], &life].concat());
    look.at("new-landing-error");
    dashboard.screen("links/new");
    dashboard.send("main form", &[("target_url", "https://www.example.com/menu"), ("name", NAMES[3])]);
    look.at("new-link-is-live");
    dashboard.screen("test");
    dashboard
        .send("main form", &[("url", "ftp://"), ("address", "nobody"), ("user_agent", &"agent".repeat(500))]);
    look.at("test-error");
    dashboard.screen("keys");
    dashboard.send("main .box form", &[("all_scopes", "")]);
    look.at("keys-error");
    dashboard.send("main .box form", &[("all_scopes", "true"), ("name", NAMES[0])]);
    look.at("issued-key");
    dashboard.screen("members");
    dashboard.send("main .box form", &[("email", "nobody"), ("role", "viewer")]);
    look.at("members-error");
    dashboard.send("main .box form", &[("email", "sami@morgenbrot.example"), ("role", "viewer")]);
    look.at("invited");
    dashboard.visit("/me");
    dashboard.send("main form", &[("email", "nobody"), ("name", NAMES[0])]);
    look.at("me-error");
    dashboard.visit("/me");
    dashboard.send("form[action='/me/password']", &[("password", "password12")]);
    look.at("me-password-error");
    tab.run("document.activeElement.blur()");
}

/// Returns the id of a link.
fn look_at_full_screens(dashboard: &Dashboard, look: &Look<'_>) -> String {
    let tab = &dashboard.tab;
    let groups = dashboard.program.first_account().get("/v1/groups").expect_status(200).body;
    let group = groups["data"][0]["id"].clone();
    let long = format!("https://www.example.com/{}?utm_source=newsletter", "very-long-path/".repeat(12));
    let bodies: Vec<_> = (0..30)
        .map(|number| {
            let slug = if number == 27 { "s".repeat(64) } else { format!("link-{number}") };
            let (name, is_active) = (NAMES[number % 4], number % 5 != 4);
            let target = if number % 3 == 0 { long.as_str() } else { "https://example.org/" };
            let note = "A note with a line.\nAnd another one.";
            let (starts_at, expires_at) = match number % 5 {
                1 => (json!("2999-12-03T09:00:07.042Z"), json!(null)),
                2 => (json!(null), json!("2026-01-31T09:05:00Z")),
                _ => (json!(null), json!(null)),
            };
            json!({
                "name": name, "slug": slug, "target_url": target, "is_active": is_active, "group_id": group, "note": note,
                "starts_at": starts_at, "expires_at": expires_at,
            })
        })
        .collect();
    let ids = dashboard.add_redirects(&bodies);
    let page = json!({"title": NAMES[1], "slug": "page", "description": NAMES[0]});
    let page = dashboard.program.first_account().post("/v1/landings", &page).expect_status(201).body;
    let page = page["id"].as_str().unwrap();

    dashboard.screen("links");
    unfold(tab, "details.api");
    look.at("links");
    tab.click("[name=ids]");
    unfold(tab, ".find details");
    look.at("links-selected");
    dashboard.send("#bulk", &[("ids", "*")]);
    look.at("links-moved");
    dashboard.screen("links");
    tab.run("for (const box of document.querySelectorAll('[name=ids]')) box.checked = true");
    tab.run("document.querySelector('dialog#ask').remove()");
    tab.follow(|tab| tab.run("document.querySelector('.bulk [value=delete]').removeAttribute('data-ask'); document.querySelector('.bulk [value=delete]').click()"));
    look.at("bulk-delete");
    dashboard.screen("links?q=nothing-has-this-name&state=inactive");
    look.at("links-no-match");
    let edit = format!("links/{}", ids[27]);
    dashboard.screen(&edit);
    unfold(tab, "main details");
    look.at("edit");
    dashboard.screen(&format!("{edit}/test"));
    dashboard.send("main form", &[("country", "DE"), ("agent", "iphone"), ("query", "plan=pro")]);
    unfold(tab, "main details");
    look.at("test");
    dashboard.screen(&format!("test?url=http://localhost:8081/{}", "n".repeat(64)));
    look.at("test-not-found");
    dashboard.screen(&edit);
    let change = json!({"name": NAMES[2], "note": null, "target_url": "https://example.org/new"});
    dashboard
        .program
        .first_account()
        .patch(&format!("/v1/redirects/{}", ids[27]), &change)
        .expect_status(200);
    dashboard.send("#edit", &[("name", NAMES[1])]);
    look.at("conflict");
    dashboard.screen(&edit);
    dashboard.send("#edit", &[("slug", "link-3"), ("target_url", "")]);
    look.at("edit-error");
    dashboard.screen(&format!("links/{page}"));
    look.at("edit-landing");
    let program = &dashboard.program;
    for (name, role) in NAMES.iter().zip(["viewer", "editor", "owner", "viewer"]) {
        let email = format!("{}@morgenbrot.example", "very.long.address.".repeat(name.len() % 3 + 1));
        let member = ["--account", &dashboard.account, "--role", role];
        Person::invited_as(program, name, &email, &member);
    }
    dashboard.screen("audit");
    look.at("audit");
    for (name, path) in
        [("groups", "groups"), ("pixels", "pixels"), ("keys-full", "keys"), ("members", "members")]
    {
        dashboard.screen(path);
        look.at(name);
        tab.run("document.querySelector('.edit').open = true");
        look.at(&format!("{name}-asks"));
    }
    ids[27].clone()
}

/// The owner gives up the role, and the account is suspended: the longest notices, and no forms.
fn look_at_screens_of_viewers(dashboard: &Dashboard, look: &Look<'_>, link: &str) {
    dashboard.screen("members");
    dashboard.send(".rows li:last-child .panel form", &[("role", "viewer")]);
    dashboard.program.command(&["account", "suspend", "--json", &dashboard.account]);
    let edit = format!("links/{link}");
    for (name, path) in [
        ("links-viewer", "links"),
        ("edit-viewer", edit.as_str()),
        ("keys-viewer", "keys"),
        ("members-viewer", "members"),
    ] {
        dashboard.screen(path);
        look.at(name);
    }
    dashboard.program.command(&["account", "resume", "--json", &dashboard.account]);
}

/// As many links as a large account has.
fn look_at_ten_thousand_links(dashboard: &Dashboard, look: &Look<'_>) {
    let account = dashboard.program.first_account();
    let link = |number: usize| json!({"name": NAMES[number % 4], "target_url": "https://example.org/"});
    for batch in 0..100 {
        let redirects: Vec<_> = (0..100).map(|number| link(batch * 100 + number)).collect();
        account.post("/v1/redirects/bulk", &json!({"redirects": redirects})).expect_status(200);
    }
    for (name, path) in [
        ("links-10000", "links"),
        ("links-10000-last", "links?after=00000000000000000000000000000001"),
        ("links-10000-found", "links?q=autumn"),
    ] {
        dashboard.screen(path);
        look.at(name);
    }
}

fn look_at_screens_of_strangers(dashboard: &Dashboard, look: &Look<'_>) {
    let (tab, program) = (&dashboard.tab, &dashboard.program);
    dashboard.screen("links");
    dashboard.send("form[action='/sign-out']", &[]);
    look.at("sign-in");
    dashboard.send("form", &[("email", EMAIL), ("password", "wrong password")]);
    look.at("sign-in-error");
    tab.open(program.start_url.as_deref().unwrap());
    look.at("start-used");
    let member = ["--account", &dashboard.account, "--role", "editor"];
    let invite = ["user", "invite", "--json", "--email", "sami@morgenbrot.example"];
    let invited = program.command(&[invite.as_slice(), &member].concat());
    tab.open(&at(dashboard, &invited["invite_url"]));
    look.at("invitation");
    dashboard.send("form", &[("name", ""), ("password", "short")]);
    look.at("invitation-error");
    let reset = program.command(&["user", "reset", "--json", EMAIL]);
    tab.open(&at(dashboard, &reset["reset_url"]));
    look.at("reset");
    dashboard.send("form", &[("password", "password12")]);
    look.at("reset-error");
}

/// The commands do not know the port of the running program.
fn at(dashboard: &Dashboard, url: &serde_json::Value) -> String {
    let path = url.as_str().unwrap().splitn(4, '/').nth(3).unwrap();
    format!("{}/{path}", dashboard.origin)
}

#[test]
fn every_screen_is_accessible_fits_and_shows_the_focus() {
    let program = Program::start();
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let origin = origin_of(&program);
    let newcomer = Dashboard { program, tab, origin, account: String::new() };
    newcomer.tab.open(newcomer.program.start_url.as_deref().unwrap());
    Look::of(&newcomer.tab).at("start");
    newcomer.send("form", &[("email", "nobody"), ("password", "password12")]);
    Look::of(&newcomer.tab).at("start-error");
    let Dashboard { program, tab, .. } = newcomer;
    let dashboard = Dashboard::start(program, tab);
    let look = Look::of(&dashboard.tab);
    look_at_empty_screens(&dashboard, &look);
    look_at_errors(&dashboard, &look);
    let link = look_at_full_screens(&dashboard, &look);
    if look.wants_all {
        look_at_ten_thousand_links(&dashboard, &look);
    }
    look_at_screens_of_viewers(&dashboard, &look, &link);
    look_at_screens_of_strangers(&dashboard, &look);
    assert_inert(&dashboard.tab, &[&dashboard.origin], "the dashboard");
    assert!(look.seen.get() > 40, "only {} screens", look.seen.get());
}
