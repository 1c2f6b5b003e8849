//! Screens that people seldom see: accessible on small and large windows, light and dark, like all others.

use serde_json::json;
use signpost_test_servers::dns::{NameServer, Record};

use crate::dashboard::{Dashboard, EMAIL, PASSWORD, origin_of};
use crate::dashboard_screens::Look;
use crate::harness::domains::{asking, path_of, record_in_refusal};
use crate::harness::https::{HttpsScene, await_found};
use crate::harness::{Program, Store};
use crate::soundness::assert_inert;
use crate::tab::Tab;
use crate::visitor::Visitor;

const HOST: &str = "go.a-rather-long-name-of-a-shop.test";

/// A domain that another account has proven, a conflict in the editor, a form that outlives its session, and the deletion of the
/// account by its owner.
#[test]
fn d67_rare_screens_of_an_account_are_accessible_and_fit() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let dns = NameServer::start();
    let dashboard = Dashboard::start(asking(Program::builder(), &dns).start(), tab);
    let look = Look::of(&dashboard.tab);
    look_at_failed_domain(&dashboard, &dns, &look);
    look_at_conflict_in_editor(&dashboard, &look);
    look_at_kept_form(&dashboard, &look);
    look_at_deletion(&dashboard, &look);
    assert_inert(&dashboard.tab, &[&dashboard.origin], "the dashboard");
}

fn look_at_failed_domain(dashboard: &Dashboard, dns: &NameServer, look: &Look<'_>) {
    dashboard.screen("domains");
    dashboard.send("form.line", &[("hostname", HOST)]);
    let other = dashboard.program.account("agency");
    let body = json!({"hostname": HOST});
    let (name, value) = record_in_refusal(&other.post("/v1/domains", &body));
    dns.set(&name, [Record::text(&value)]);
    // A busy machine may delay the answer of the name server.
    await_found("the proof", || (other.post("/v1/domains", &body).status == 201).then_some(()));
    dashboard.screen("domains");
    look.at("domains-failed");
    dashboard.tab.follow(|tab| tab.click(".rows a.name"));
    assert!(dashboard.text("h1").contains("Failed"), "{}", dashboard.text("h1"));
    look.at("domain-failed");
    dashboard.send("form[action$='/verify']", &[]);
    assert!(!dashboard.text("main .note.bad").is_empty(), "{}", dashboard.text("main"));
    look.at("domain-failed-again");
}

fn look_at_conflict_in_editor(dashboard: &Dashboard, look: &Look<'_>) {
    let account = dashboard.program.first_account();
    let widgets = json!([{"type": "heading", "text": "Opening hours"}, {"type": "divider"}]);
    let page = json!({"title": "Morgenbrot", "slug": "bread", "widgets": widgets});
    let page = account.post("/v1/landings", &page).expect_status(201).body;
    dashboard.screen(&format!("links/{}/page", page["id"].as_str().unwrap()));
    let theirs =
        json!({"title": "قائمة الطعام والمشروبات", "widgets": [], "description": "New.\nAnd longer."});
    account.patch(&path_of(&page), &theirs).expect_status(200);
    dashboard.send("#editor", &[("title", "Brot & Söhne"), ("w0.text", "Hours")]);
    assert!(
        dashboard.text("main .note.warn h2").contains("was changed meanwhile"),
        "{}",
        dashboard.text("main .note.warn")
    );
    look.at("editor-conflict");
    dashboard.tab.follow(|tab| tab.click(".note.warn .go"));
    assert_eq!(dashboard.text(".note.ok"), "Saved.");
}

fn look_at_kept_form(dashboard: &Dashboard, look: &Look<'_>) {
    dashboard.screen("groups");
    let group = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
    dashboard.program.command(&["user", "sign-out", "--json", EMAIL]);
    dashboard.send("form.line", &[("name", group)]);
    assert_eq!(dashboard.text("h1"), "Your session has ended");
    look.at("kept-form");
    dashboard.visit("/sign-in");
    dashboard.send("form", &[("email", EMAIL), ("password", PASSWORD)]);
}

fn look_at_deletion(dashboard: &Dashboard, look: &Look<'_>) {
    let tab = &dashboard.tab;
    dashboard.screen("settings");
    look.at("settings");
    dashboard.send("main .box form", &[("email", "nobody"), ("name", "")]);
    look.at("settings-error");
    dashboard.screen("settings");
    tab.follow(|tab| tab.click("main a.del"));
    look.at("account-deletion");
    dashboard.send("main form", &[("email", "somebody.else@morgenbrot.example")]);
    look.at("account-deletion-error");
    let contact = dashboard.program.first_account().get("/v1/account").body["email"].clone();
    let contact = contact.as_str().map_or_else(|| "owner@localhost".to_owned(), str::to_owned);
    dashboard.send("main form", &[("email", &contact)]);
    assert_eq!(dashboard.path(), "/accounts");
    assert!(!dashboard.text(".note.ok").is_empty(), "{}", dashboard.text("main"));
    look.at("account-deleted");
}

/// A domain before and after its certificate.
#[test]
fn d182_a_domain_with_a_certificate_is_accessible_and_fits() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let Some(mut scene) = HttpsScene::start_on(Store::Embedded, |node| node) else { return };
    let host = "go.shop.test";
    let account = scene.domains.first().first_account();
    let domain = scene.activate(&account, host);
    let dashboard = Dashboard::start(scene.domains.nodes.remove(0), tab);
    let look = Look::of(&dashboard.tab);
    dashboard.screen(&format!("domains/{}", domain["id"].as_str().unwrap()));
    let facts = dashboard.text("aside section.box");
    let certificate = &domain["certificate"];
    assert_eq!(certificate["status"], "active", "{domain}");
    assert!(facts.contains(certificate["issuer"].as_str().unwrap()), "{facts}");
    look.at("domain-certificate");
    dashboard.screen("domains");
    look.at("domains-with-certificate");
    assert_inert(&dashboard.tab, &[&dashboard.origin], "the dashboard");
}

/// A proxy signs people in.
#[test]
fn d77_screens_behind_a_proxy_that_signs_people_in_are_accessible_and_fit() {
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    let program = Program::builder()
        .setting_of_all("sign-in-header", "Remote-Email")
        .setting_of_all("sign-in-proxies", "127.0.0.0/8,::1")
        .start();
    let dashboard = Dashboard { origin: origin_of(&program), account: String::new(), program, tab };
    let look = Look::of(&dashboard.tab);
    dashboard.visit("/sign-in");
    assert!(dashboard.text("main").contains("The proxy sent no name"), "{}", dashboard.text("main"));
    look.at("proxy-no-name");
    dashboard.tab.becomes(&Visitor::default().with_header("Remote-Email", EMAIL));
    dashboard.visit("/sign-in");
    assert!(dashboard.text("main").contains("No user of Signpost"), "{}", dashboard.text("main"));
    look.at("proxy-no-user");
    dashboard.tab.open(dashboard.program.start_url.as_deref().unwrap());
    look.at("proxy-start");
    dashboard.send("form", &[("name", ""), ("email", EMAIL)]);
    look.at("proxy-start-error");
}
