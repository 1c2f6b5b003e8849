//! What pages of the dashboard cost: the statements that reach PostgreSQL.

use serde_json::{Value, json};
use signpost_test_servers::Absence;
use signpost_test_servers::dns::NameServer;
use signpost_test_servers::postgres::{self, PostgresDatabase};

use super::request_costs::is_of_the_background;
use crate::harness::domains::{asking, connect};
use crate::harness::{Account, Person, Program, migrate, redirect_body};

/// How often a page is opened. The cheapest time counts, because background work adds to the others.
const MEASURED: usize = 5;

struct Scene {
    database: PostgresDatabase,
    program: Program,
    person: Person,
    account: String,
    client: Account,
    /// The only name server that the program asks.
    _dns: NameServer,
}

impl Scene {
    /// An account of an owner who is operator; `None`, with a notice, if the server is not installed.
    fn start() -> Option<Self> {
        let database = match postgres::try_shared().map_err(Absence::clone) {
            Ok(postgres) => postgres.database(None),
            Err(absence) => {
                absence.tell("what a page of the dashboard costs");
                return None;
            }
        };
        migrate(&database.url());
        database.record_statements();
        let dns = NameServer::start();
        let program = asking(Program::builder(), &dns)
            .setting_of_all("database-url", &database.url())
            .setting("database-connections", "1")
            .start();
        let client = program.account("agency");
        let account = client.id().to_owned();
        let owner = ["--account", &account, "--role", "owner", "--operator"];
        let person = Person::invited(&program, "ines@example.com", &owner);
        Some(Self { database, program, person, account, client, _dns: dns })
    }

    /// The statements of the cheapest of some requests, without those of background work.
    fn cheapest(&mut self, request: impl Fn(&mut Person)) -> Vec<String> {
        request(&mut self.person);
        let measured = (0..MEASURED).map(|_| {
            let statements = self.database.statements_during(|| request(&mut self.person));
            let own = statements.into_iter().filter(|statement| !is_of_the_background(statement));
            own.collect::<Vec<_>>()
        });
        measured.min_by_key(Vec::len).unwrap()
    }

    /// Asserts that the pages take at most so many statements outside the reading of clicks.
    #[track_caller]
    fn assert_cost(&mut self, pages: &[(String, usize)]) {
        for (path, most) in pages {
            let statements = self.cheapest(|person| drop(person.get(path).expect_status(200)));
            // The reading of clicks begins and ends a transaction of its own; nothing else here has one.
            let is_about_clicks = |statement: &String| {
                ["click_segments", "click_digests", "READ ONLY", "ROLLBACK"]
                    .iter()
                    .any(|part| statement.contains(part))
            };
            let own: Vec<_> =
                statements.into_iter().filter(|statement| !is_about_clicks(statement)).collect();
            assert!(own.len() <= *most, "{path}: {own:#?}");
        }
    }
}

/// The question about clicks goes to the click store, and is not counted here. What a link does now, how many clicks it has
/// left, and whether it asks for a password, need no further statement (D128, D131).
#[test]
fn a_list_of_links_costs_four_statements_and_a_link_five() {
    let Some(mut scene) = Scene::start() else { return };
    let account = scene.account.clone();
    let life = json!({
        "starts_at": "2026-01-31T09:05:07.042Z", "fallback_url": "https://example.com/over", "max_clicks": 10,
        "password": "plover",
    });
    let link = scene.client.create_redirect(&redirect_body(life));
    let link = format!("/{account}/links/{}", link["id"].as_str().unwrap());
    scene.assert_cost(&[
        (format!("/{account}/links"), 4),
        (format!("/{account}/links?kind=redirect"), 3),
        (format!("/{account}/links?q=example&state=active"), 4),
        (link, 5),
        (format!("/{account}/domains"), 2),
        (format!("/{account}/groups"), 2),
        (format!("/{account}/usage"), 2),
    ]);
}

/// How many accounts the list of operators has.
const ACCOUNTS: usize = 3;

/// The costs do not depend on how much there is.
#[test]
fn statistics_domain_members_settings_audit_and_operators_pages_cost_few_statements() {
    let Some(mut scene) = Scene::start() else { return };
    let account = scene.account.clone();
    let link = |number| json!({"name": format!("Link {number}"), "target_url": "https://example.com/"});
    let redirects: Vec<Value> = (0..50).map(link).collect();
    scene.client.post("/v1/redirects/bulk", &json!({"redirects": redirects})).expect_status(200);
    let redirects = scene.client.get("/v1/redirects").expect_status(200).body;
    let redirect = redirects["data"][0]["id"].as_str().unwrap().to_owned();
    let landing = scene.client.post("/v1/landings", &json!({"title": "Menu"})).expect_status(201).body;
    let landing = landing["id"].as_str().unwrap().to_owned();
    let domain = connect(&scene.client, "go.shop.test")["id"].as_str().unwrap().to_owned();
    for number in 1..ACCOUNTS {
        let email = format!("other-{number}@example.com");
        scene.program.command(&["account", "create", "--json", "--email", &email]);
        let email = format!("member-{number}@example.com");
        Person::invited(&scene.program, &email, &["--account", &account, "--role", "editor"]);
    }
    let users = scene.program.command(&["user", "list", "--json"]);
    let user = users[0]["id"].as_str().unwrap().to_owned();
    let of = |screen: &str| format!("/{account}/{screen}");
    scene.assert_cost(&[
        // The session with the account, the groups and the domains.
        (of("analytics"), 3),
        // The links of the choice: for the period, the one before it and the last half hour.
        (of("analytics?range=7d&part=devices&group=none"), 6),
        (of("analytics?domain=go.shop.test"), 6),
        (of("analytics.csv"), 1),
        (of("analytics/live"), 1),
        // The link: for the page and each of the three questions, and for the names of its widgets.
        (of(&format!("links/{redirect}/analytics")), 5),
        (of(&format!("links/{landing}/analytics?part=targets")), 6),
        (of(&format!("domains/{domain}")), 3),
        (of("members"), 3),
        (of("settings"), 2),
        (of("settings/delete"), 5),
        (of("audit"), 3),
        (of("audit?q=link&who=ines@example.com"), 5),
        (of("keys"), 3),
        (of("pixels"), 2),
        (of("links/new"), 4),
        // The link: for the page with its pixels, for the test, and for what serves visits, which reads it anew.
        (of(&format!("links/{redirect}/test")), 5),
        (of("test"), 1),
        ("/me".to_owned(), 3),
        ("/accounts".to_owned(), 2),
        // The accounts, and what each of them uses.
        ("/operator/accounts".to_owned(), 4),
        (format!("/operator/accounts/{account}"), 7),
        (format!("/operator/accounts/{account}/delete"), 6),
        ("/operator/users".to_owned(), 4),
        (format!("/operator/users/{user}"), 4),
        ("/operator/sign-ins".to_owned(), 2),
        ("/operator/health".to_owned(), 5),
        ("/audit".to_owned(), 5),
    ]);
}

#[test]
fn a_page_of_a_hundred_widgets_costs_two_statements_and_ten_to_save() {
    let Some(mut scene) = Scene::start() else { return };
    let widgets: Vec<Value> =
        (0..100).map(|number| json!({"type": "heading", "text": format!("Number {number}")})).collect();
    let page = json!({"title": "Everything", "widgets": widgets});
    let page = scene.client.post("/v1/landings", &page).expect_status(201).body;
    let id = page["id"].as_str().unwrap();
    let path = format!("/{}/links/{id}/page", scene.account);
    scene.assert_cost(&[(path.clone(), 2), (format!("{path}/preview"), 2)]);
    let measured = (0..MEASURED).map(|number| {
        let stored = scene.client.get(&format!("/v1/landings/{id}")).expect_status(200).body;
        let fields = form_of(&stored, &format!("Version {number}"));
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let save = || drop(scene.person.post(&path, &fields).expect_status(303));
        let statements = scene.database.statements_during(save);
        statements.into_iter().filter(|statement| !is_of_the_background(statement)).collect::<Vec<_>>()
    });
    let cheapest = measured.min_by_key(Vec::len).unwrap();
    // To lock a link and to read it are two.
    assert!(cheapest.len() <= 10, "{cheapest:#?}");
    let saved = scene.client.get(&format!("/v1/landings/{id}")).expect_status(200).body;
    let title = format!("Version {}", MEASURED - 1);
    assert_eq!(saved["title"], title);
    assert_eq!(saved["widgets"][99]["text"], format!("{title}, number 99"));
}

/// What the editor sends for a page of headings, with another title and other texts.
fn form_of(page: &Value, title: &str) -> Vec<(String, String)> {
    let mut fields = vec![
        ("do".to_owned(), "save".to_owned()),
        ("revision".to_owned(), page["revision"].to_string()),
        ("title".to_owned(), title.to_owned()),
        ("theme".to_owned(), "auto".to_owned()),
        ("has_widgets".to_owned(), "true".to_owned()),
    ];
    for (number, widget) in page["widgets"].as_array().unwrap().iter().enumerate() {
        let text = |field: &str| widget[field].as_str().unwrap().to_owned();
        fields.push(("widget".to_owned(), format!("w{number}")));
        fields.push((format!("w{number}.type"), text("type")));
        fields.push((format!("w{number}.id"), text("id")));
        fields.push((format!("w{number}.text"), format!("{title}, number {number}")));
    }
    fields
}
