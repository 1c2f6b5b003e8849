//! A second factor in a browser: set up, asked for, and required (ADR 73).

use crate::dashboard::{Dashboard, EMAIL, PASSWORD};
use crate::dashboard_screens::Look;
use crate::harness::Authenticator;
use crate::soundness::assert_inert;
use crate::visitor::Visitor;

#[test]
fn a_second_factor_is_set_up_and_asked_for() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let look = Look::of(&dashboard.tab);
    let tab = &dashboard.tab;
    dashboard.visit("/me");
    tab.follow(|tab| tab.click("main a[href='/me/second-factor']"));
    look.at("second-factor-off");
    tab.follow(|tab| tab.click("main a.go"));
    let app = Authenticator::with_typed(&dashboard.text("main pre"));
    look.at("second-factor-set-up");
    dashboard.send("main form", &[("code", "000000")]);
    look.at("second-factor-set-up-error");
    assert!(Authenticator::with_typed(&dashboard.text("main pre")).has_same_seed(&app));
    dashboard.send("main form", &[("code", &app.code(0))]);
    look.at("recovery-codes");
    let shown = dashboard.text("main pre");
    let codes: Vec<&str> = shown.lines().collect();
    assert_eq!(codes.len(), 10);
    tab.follow(|tab| tab.click("main a.go"));
    look.at("second-factor");

    tab.follow(|tab| tab.run("document.querySelector('form[action=\"/sign-out\"]').requestSubmit()"));
    dashboard.send("main form", &[("email", EMAIL), ("password", PASSWORD)]);
    assert_eq!(dashboard.path(), "/sign-in/code");
    look.at("sign-in-code");
    dashboard.send("main form", &[("code", "000000")]);
    look.at("sign-in-code-error");
    // The code of the next step: that of this one was used for setting up.
    dashboard.send("main form", &[("code", &app.code(1))]);
    assert_eq!(dashboard.path(), format!("/{}/links", dashboard.account));

    dashboard.screen("settings");
    dashboard.send("form[action$='/second-factor']", &[]);
    assert!(dashboard.text("main").contains("Every member who signs in with a password"));
    look.at("settings-second-factor");
    dashboard.visit("/confirm");
    look.at("confirm-with-code");
    dashboard.send("main form", &[("password", PASSWORD), ("code", codes[0])]);
    dashboard.visit("/me/second-factor");
    dashboard.send("form[action$='/remove']", &[]);
    assert!(dashboard.text("main").contains("Your second factor is off."));
    dashboard.screen("links");
    assert_eq!(dashboard.path(), "/me/second-factor");
    look.at("second-factor-needed");
    assert_inert(tab, &[&dashboard.origin], "the dashboard");
}
