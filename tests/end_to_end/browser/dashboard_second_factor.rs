//! A second factor in a browser: set up, asked for, and required (ADR 73).

use std::time::{Duration, SystemTime};

use signpost_domain::{Timestamp, TotpSeed};

use crate::dashboard::{Dashboard, EMAIL, PASSWORD};
use crate::dashboard_screens::Look;
use crate::soundness::assert_inert;
use crate::visitor::Visitor;

/// The letters and digits of base32, in the order of their values.
const BASE_32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The seed that a person types into the app.
fn typed_seed(text: &str) -> TotpSeed {
    let mut bits = 0_u64;
    let (mut held, mut bytes) = (0_u32, Vec::new());
    for letter in text.chars().filter(|c| !c.is_whitespace()) {
        bits = (bits << 5) | u64::try_from(BASE_32.find(letter).unwrap()).unwrap();
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from((bits >> held) & 0xff).unwrap());
        }
    }
    TotpSeed::from_opened(&bytes).unwrap()
}

/// The code that the app shows so many steps from now.
fn code(seed: &TotpSeed, steps: u64) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    seed.code(Timestamp::EPOCH.plus(now + Duration::from_secs(30 * steps)))
}

#[test]
fn a_second_factor_is_set_up_and_asked_for() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let look = Look::of(&dashboard.tab);
    let tab = &dashboard.tab;
    dashboard.visit("/me");
    tab.follow(|tab| tab.click("main a[href='/me/second-factor']"));
    look.at("second-factor-off");
    tab.follow(|tab| tab.click("main a.go"));
    let seed = typed_seed(&dashboard.text("main pre"));
    look.at("second-factor-set-up");
    dashboard.send("main form", &[("code", "000000")]);
    look.at("second-factor-set-up-error");
    assert_eq!(typed_seed(&dashboard.text("main pre")).expose(), seed.expose(), "the same seed");
    dashboard.send("main form", &[("code", &code(&seed, 0))]);
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
    dashboard.send("main form", &[("code", &code(&seed, 1))]);
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
