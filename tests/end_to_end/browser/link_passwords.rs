//! The form that asks for the password of a link, and the field that sets it (D131).

use serde_json::json;

use crate::dashboard::Dashboard;
use crate::harness::{Program, redirect_body};
use crate::soundness::assert_sound;
use crate::tab::{Tab, url_of};
use crate::visitor::Visitor;

const PASSWORD: &str = "plover egg tin";

/// A link that leads to another origin.
fn protect(program: &Program, slug: &str) -> String {
    let target = format!("http://{}/docs", program.api);
    let link = json!({"slug": slug, "target_url": target, "password": PASSWORD});
    program.first_account().create_redirect(&redirect_body(link));
    target
}

/// Types a password into the form that the tab shows, and presses Enter.
fn type_password(tab: &Tab, password: &str) {
    tab.click("input[name=password]");
    tab.type_text(password);
    tab.press("Enter");
}

fn status(tab: &Tab) -> u16 {
    tab.evaluate("performance.getEntriesByType('navigation')[0].responseStatus")
}

#[test]
fn d131_the_form_for_a_password_is_sound() {
    let program = Program::start();
    protect(&program, "link");
    assert_sound("password", &[], |tab| assert_eq!(status(tab.visit(&program, "/link")), 200));
    assert_sound("password-wrong", &[], |tab| {
        tab.visit(&program, "/link");
        tab.follow(|tab| type_password(tab, "wrong"));
        assert_eq!(status(tab), 403);
    });
    assert_sound("password-too-long", &[], |tab| {
        tab.visit(&program, "/link");
        tab.follow(|tab| {
            tab.run(
                "const it = document.querySelector('input[name=password]'); it.removeAttribute('maxlength')",
            );
            tab.run("document.querySelector('input[name=password]').value = 'x'.repeat(5000)");
            tab.run("document.querySelector('form').submit()");
        });
        assert_eq!(status(tab), 413);
    });
}

#[test]
fn d131_the_page_for_too_many_wrong_passwords_is_sound() {
    let program = Program::start();
    protect(&program, "link");
    assert_sound("password-throttled", &[], |tab| {
        tab.visit(&program, "/link");
        // A minute may end between the first wrong one and the last.
        while status(tab) != 429 {
            tab.follow(|tab| type_password(tab, "wrong"));
        }
    });
}

/// Chromium applies `form-action` of a policy to where a form is redirected, and the target is another origin. Browsers without
/// scripts send forms too.
#[test]
fn d131_the_right_password_leads_to_another_origin_and_back_leads_to_the_form() {
    let program = Program::start();
    let target = protect(&program, "link");
    for visitor in [Visitor::default(), Visitor::default().without_scripts()] {
        let Some(tab) = Tab::of(&visitor) else { return };
        tab.visit(&program, "/link?ref=mail");
        tab.follow(|tab| type_password(tab, "wrong"));
        assert_eq!(tab.evaluate::<String>("location.search"), "?ref=mail");
        tab.follow(|tab| type_password(tab, PASSWORD));
        assert_eq!(tab.evaluate::<String>("location.href"), target);
        assert_eq!(tab.evaluate::<String>("document.cookie"), "", "of the API");
        tab.visit(&program, "/link");
        assert_eq!(status(&tab), 200);
        let [cookies, kept]: [String; 2] =
            tab.evaluate("[document.cookie, document.querySelector('input[name=password]').value]");
        assert_eq!([cookies, kept], ["", ""], "each visit asks");
    }
}

#[test]
fn d131_a_refused_form_of_a_link_demands_its_password_again() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let tab = &dashboard.tab;
    dashboard.screen("links/new");
    let typed = [("target_url", "https://example.com/"), ("name", "Prices"), ("link_password", PASSWORD)];
    dashboard.send("main form", &[&typed[..], &[("slug", "two words")]].concat());
    let [value, name]: [String; 2] = tab.evaluate(
        "[document.querySelector('#f-link_password').value, document.querySelector('#f-name').value]",
    );
    assert_eq!([value.as_str(), name.as_str()], ["", "Prices"]);
    assert!(dashboard.text("#e-link_password").contains("Type the password again"));
    tab.run("document.querySelector('#f-slug').value = 'prices'");
    let is_valid = "document.querySelector('main form').checkValidity()";
    assert!(!tab.evaluate::<bool>(is_valid), "the browser does not send the form without the password");
    tab.run("document.querySelector('#f-link_password').value = ''");
    dashboard.type_into("#f-link_password", PASSWORD);
    assert!(tab.evaluate::<bool>(is_valid));
    tab.follow(|tab| tab.press("Enter"));
    assert!(dashboard.text("dl.facts").contains("Visitors are asked for it"), "{}", dashboard.path());
    tab.open(&url_of(&dashboard.program, "/prices"));
    assert_eq!(status(tab), 200);
}
