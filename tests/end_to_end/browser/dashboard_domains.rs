//! Custom domains in a browser: from the hostname to the record that is wrong, and into service (D37 to D43, D65).

use std::time::{Duration, Instant};

use signpost_test_servers::dns::{NameServer, Record};

use crate::dashboard::Dashboard;
use crate::dashboard_screens::Look;
use crate::harness::Program;
use crate::harness::domains::{EDGE, asking};
use crate::tab::Tab;
use crate::visitor::Visitor;

const HOST: &str = "go.a-rather-long-name-of-a-shop.test";

/// How long to wait until the name server has answered in time.
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn d65_a_domain_goes_into_service_with_the_help_of_its_page() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let dns = NameServer::start();
    let dashboard = Dashboard::start(asking(Program::builder(), &dns).start(), tab);
    let look = Look::of(&dashboard.tab);
    dashboard.screen("domains");
    look.at("domains-empty");
    dashboard.send("form.line", &[("hostname", "localhost")]);
    look.at("domains-error");
    dns.set(HOST, [Record::address("203.0.113.9")]);
    dashboard.send("form.line", &[("hostname", HOST)]);
    look.at("domain-new");
    let proof = dashboard.text(".box:nth-of-type(2) .facts div:nth-child(2) code");
    dns.set(HOST, [Record::address("203.0.113.9"), Record::text(&proof)]);
    check_until(&dashboard, "Wrong");
    assert_eq!(dashboard.text(".err code"), HOST, "the old address is named");
    look.at("domain-mistakes");
    dns.set(HOST, [Record::alias(EDGE)]);
    dns.set(&format!("_signpost.{HOST}"), [Record::text(&proof)]);
    check_until(&dashboard, "Found");
    assert!(dashboard.text("h1").contains("Active"), "{}", dashboard.text("h1"));
    look.at("domain-active");
    dashboard.screen("domains");
    look.at("domains");
    dashboard.tab.follow(|tab| tab.click(".rows a.name"));
    dashboard.tab.run("document.querySelector('.sure').open = true");
    look.at("domain-deletion");
    dashboard.send(".sure form", &[]);
    assert_eq!(dashboard.text(".note.ok"), "The domain is deleted.");
}

/// Sends the form that checks the domain until its first record has this verdict.
fn check_until(dashboard: &Dashboard, verdict: &str) {
    let began = Instant::now();
    loop {
        dashboard.send("form[action$='/verify']", &[]);
        let said = dashboard.text("main .box .tag");
        if said == verdict {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "the record is {said}, not {verdict}");
    }
}
