//! The screens for operators, in a browser (D69, D73).

use crate::dashboard::{Dashboard, EMAIL};
use crate::dashboard_screens::Look;
use crate::soundness::assert_inert;
use crate::visitor::Visitor;

/// A word without a place to break, and a name from right to left.
const NAMES: [&str; 2] = [
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "قائمة الطعام والمشروبات لشهر رمضان",
];

#[test]
fn d69_screens_of_operators_are_accessible_and_fit() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let look = Look::of(&dashboard.tab);
    look_at_accounts(&dashboard, &look);
    look_at_users(&dashboard, &look);
    look_at_the_node(&dashboard, &look);
    look_at_the_audit(&dashboard, &look);
    assert_inert(&dashboard.tab, &[&dashboard.origin], "the dashboard");
}

fn look_at_accounts(dashboard: &Dashboard, look: &Look<'_>) {
    let tab = &dashboard.tab;
    let path = "/operator/accounts";
    dashboard.visit(path);
    dashboard.send("main .box form", &[("email", "nobody"), ("name", NAMES[0])]);
    look.at("operator-accounts-error");
    for (number, name) in NAMES.iter().enumerate() {
        let email = format!("very.long.address.{number}@morgenbrot.example");
        dashboard.visit(path);
        dashboard.send("main .box form", &[("email", &email), ("name", name), ("plan", "pro")]);
    }
    look.at("operator-account-created");
    tab.follow(|tab| tab.click("main .act .go"));
    tab.follow(|tab| tab.run("document.querySelector('form[action$=suspend]').requestSubmit()"));
    assert!(dashboard.text("main .facts").contains("Suspended since"));
    look.at("operator-account-suspended");
    tab.follow(|tab| tab.click("main a.del"));
    dashboard.send("main form", &[("email", EMAIL)]);
    look.at("operator-delete-error");
    dashboard.visit(path);
    tab.run("document.querySelector('details.api').open = true");
    look.at("operator-accounts");
    dashboard.visit(&format!("{path}?q=nobody@example.com"));
    look.at("operator-accounts-none");
    dashboard.visit(&format!("{path}/{}", dashboard.account));
    look.at("operator-account");
}

fn look_at_users(dashboard: &Dashboard, look: &Look<'_>) {
    let tab = &dashboard.tab;
    let path = "/operator/users";
    dashboard.visit(path);
    dashboard.send("main .box form", &[("email", "sami@morgenbrot.example"), ("account", "gone")]);
    look.at("operator-users-error");
    dashboard.send("main .box form", &[("account", EMAIL)]);
    dashboard.visit(path);
    look.at("operator-users");
    tab.follow(|tab| tab.click("main .name"));
    look.at("operator-user");
    tab.follow(|tab| tab.run("document.querySelector('form[action$=reset]').requestSubmit()"));
    look.at("operator-reset");
}

fn look_at_the_node(dashboard: &Dashboard, look: &Look<'_>) {
    let pair = format!("email={EMAIL}&address=203.0.113.9");
    for (name, path) in [
        ("operator-sign-ins", format!("/operator/sign-ins?{pair}")),
        ("operator-sign-ins-error", "/operator/sign-ins?email=nobody&address=here".to_owned()),
        ("operator-health", "/operator/health".to_owned()),
    ] {
        dashboard.visit(&path);
        look.at(name);
    }
}

fn look_at_the_audit(dashboard: &Dashboard, look: &Look<'_>) {
    let tab = &dashboard.tab;
    dashboard.visit("/audit");
    tab.run("document.querySelector('.find details').open = true");
    look.at("operator-audit");
    dashboard.send(".find", &[("action", "ticket_made"), ("who", EMAIL), ("account", &dashboard.account)]);
    assert_eq!(dashboard.text("main .n"), "3");
    look.at("operator-audit-filtered");
    dashboard.send(".find", &[("who", "me"), ("from", "2026-01-01")]);
    assert!(dashboard.text("main .note").contains("Who did it"));
    look.at("operator-audit-error");
}
