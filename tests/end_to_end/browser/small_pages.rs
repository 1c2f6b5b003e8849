//! The pages that visitors see instead of a link's target (D53 to D56, D58).

use std::collections::BTreeSet;

use serde_json::json;
use signpost_test_servers::Absence;
use signpost_test_servers::postgres;
use signpost_test_servers::proxy::{Behaviour, Proxy};

use crate::accessibility::{assert_accessible, assert_fits};
use crate::harness::{Program, body_with, migrate, redirect_body};
use crate::soundness::{assert_sound, assert_sound_for};
use crate::tab::{Tab, url_of};
use crate::visitor::{Scheme, Visitor};

fn status(tab: &Tab) -> u16 {
    tab.evaluate("performance.getEntriesByType('navigation')[0].responseStatus")
}

#[test]
fn d54_the_404_page_is_sound() {
    let program = Program::start();
    assert_sound("not-found", &[], |tab| assert_eq!(status(tab.visit(&program, "/nothing")), 404));
}

#[test]
fn d128_the_page_of_an_expired_link_is_sound() {
    let program = Program::start();
    let link = json!({"slug": "link", "expires_at": "2020-01-31T09:05:07Z"});
    program.first_account().create_redirect(&redirect_body(link));
    assert_sound("expired", &[], |tab| assert_eq!(status(tab.visit(&program, "/link")), 410));
}

#[test]
fn the_root_of_the_system_domain_is_sound() {
    let program = Program::start();
    assert_sound("root", &[], |tab| assert_eq!(status(tab.visit(&program, "/")), 200));
}

#[test]
fn d53_the_page_for_a_wrong_method_is_sound() {
    let program = Program::start();
    program.first_account().create_redirect(&redirect_body(json!({"slug": "link"})));
    assert_sound("wrong-method", &[], |tab| {
        let url = url_of(&program, "/link");
        // Pages of the program send no forms.
        tab.open("about:blank");
        tab.run(&format!(
            "document.body.innerHTML = '<form method=post action=\"{url}\"></form>'; document.forms[0].submit()"
        ));
        tab.wait_for_page(&url);
        assert_eq!(status(tab), 405);
    });
}

#[test]
fn d54_the_page_for_too_many_misses_is_sound() {
    let program = Program::builder().setting("miss-throttle-per-minute", "1").start();
    assert_sound("throttled", &[], |tab| {
        // A minute may end between the two visits.
        while status(tab.visit(&program, "/nothing")) != 429 {}
    });
}

#[test]
fn d55_the_page_for_a_blocked_country_is_sound() {
    let program = Program::builder().setting("country-header", "X-Country").start();
    let link = json!({"slug": "link", "geo_blocklists": {"countries": ["PT"]}});
    program.first_account().create_redirect(&redirect_body(link));
    let visitor = Visitor::default().with_header("X-Country", "PT");
    assert_sound_for(&visitor, "country", &[], |tab| {
        assert_eq!(status(tab.visit(&program, "/link")), 403);
    });
}

#[test]
fn d56_the_page_for_bots_is_sound() {
    let program = Program::start();
    let link = json!({"slug": "link", "antibot_enabled": true});
    program.first_account().create_redirect(&redirect_body(link));
    // The browser of the tests is headless, and says so.
    assert_sound("for-people-only", &[], |tab| assert_eq!(status(tab.visit(&program, "/link")), 403));
}

#[test]
fn d58_the_page_during_a_database_outage_is_sound() {
    const WHO: &str = "the page during a database outage";
    let server = match postgres::try_shared().map_err(Absence::clone) {
        Ok(server) => server,
        Err(absence) => return absence.tell(WHO),
    };
    let (database, proxy) = (server.database(None), Proxy::to(server.port()));
    migrate(&database.url());
    let program = Program::builder()
        .setting_of_all("database-url", &database.url_through(&proxy))
        .setting("store-timeout", "1s")
        .start();
    proxy.set(Behaviour::Refuse);
    assert_sound("unavailable", &[], |tab| assert_eq!(status(tab.visit(&program, "/nothing")), 503));
}

/// Other languages have longer words than the language of the design.
#[test]
fn small_pages_are_sound_in_six_languages() {
    let program = Program::builder().setting("country-header", "X-Country").start();
    for (slug, gate) in [
        ("country", json!({"geo_blocklists": {"countries": ["PT"]}})),
        ("people", json!({"antibot_enabled": true})),
        ("expired", json!({"expires_at": "2020-01-31T09:05:07Z"})),
        ("password", json!({"password": "plover egg tin"})),
    ] {
        program.first_account().create_redirect(&redirect_body(body_with(gate, json!({"slug": slug}))));
    }
    let mut headings = BTreeSet::new();
    for language in ["en", "de", "es", "fr", "ru", "pt"] {
        let visitor = Visitor::default().with_header("Accept-Language", language);
        let visitor = visitor.with_header("X-Country", "PT");
        let Some(tab) = Tab::of(&visitor) else { return };
        for (page, path) in [
            ("root", "/"),
            ("not-found", "/nothing"),
            ("country", "/country"),
            ("for-people-only", "/people"),
            ("expired", "/expired"),
            ("password", "/password"),
        ] {
            let (tag, heading): (String, String) = tab
                .visit(&program, path)
                .evaluate("[document.documentElement.lang, document.querySelector('h1').textContent]");
            assert_eq!(tag, language, "{page}");
            headings.insert(heading);
            let screens = visitor.on_every_screen().into_iter();
            for visitor in screens.filter(|visitor| visitor.scheme == Scheme::Light) {
                tab.becomes(&visitor);
                let what = format!("{page}-{language}-{}", visitor.width);
                assert_fits(&tab, &what);
                if visitor.width == 320 {
                    assert_accessible(&tab, &what);
                }
                tab.screenshot(&what);
            }
        }
    }
    assert_eq!(headings.len(), 6 * 6, "{headings:?}");
}
